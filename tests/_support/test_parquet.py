"""Ratings in Parquet: what comes back, for whom, and which folders are refused."""

import json
import os
import shutil

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gapfm_teach import Ratings, simulate_ratings
from gapfm_teach._support import parquet
from gapfm_teach._support.parquet import Part, read_manifest, read_part

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
NAMES = ("indptr", "indices", "grades", "users", "items", "titles")
WHOLE = ("n_users", "n_items", "n_ratings", "max_grade", "source", "origin")


@pytest.fixture(scope="module")
def ratings():
    return simulate_ratings(30, 20, mean_ratings=8, random_state=0)


@pytest.fixture
def folder(ratings, tmp_path):
    ratings.to_parquet(tmp_path / "kept", 3)
    return tmp_path / "kept"


def assert_same(one, other):
    for name in NAMES:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
        assert getattr(one, name).dtype.kind == getattr(other, name).dtype.kind
    assert [getattr(one, name) for name in WHOLE] == [
        getattr(other, name) for name in WHOLE
    ]


@st.composite
def any_ratings(draw):
    rows = draw(st.lists(st.sets(st.integers(0, 6)), min_size=1, max_size=9))
    indices = [item for row in rows for item in sorted(row)]
    max_grade = draw(st.integers(1, 127))
    one_grade = st.integers(1, max_grade)
    n = len(indices)
    ids = st.one_of(st.integers(-(2**62), 2**62), st.text("aé9 ", min_size=1, max_size=4))
    first = draw(ids)
    kind = (
        st.integers(-(2**62), 2**62)
        if isinstance(first, int)
        else st.text("aé9 ", max_size=4)
    )
    unique = draw(st.lists(kind, min_size=len(rows), max_size=len(rows), unique=True))
    return Ratings(
        np.cumsum([0, *map(len, rows)]),
        np.array(indices, dtype=int),
        draw(st.lists(one_grade, min_size=n, max_size=n)),
        n_items=7,
        max_grade=max_grade,
        users=np.array(unique),
        titles=draw(st.lists(st.text("xyz'ß,"), min_size=7, max_size=7)),
        source=draw(st.text(max_size=9)),
        origin="made up",
    )


@settings(max_examples=40, deadline=None)
@given(any_ratings(), st.data())
def test_what_was_written_is_read_back(tmp_path_factory, ratings, data):
    n_parts = data.draw(st.integers(1, ratings.n_users))
    path = tmp_path_factory.mktemp("any") / "folder"
    ratings.to_parquet(path, n_parts)
    assert_same(Ratings.from_parquet(path), ratings)
    parts = read_manifest(path).parts
    assert len(parts) == n_parts
    assert all(part.n_users >= 1 for part in parts)
    assert sum(part.n_ratings for part in parts) == ratings.n_ratings


def test_parts_hold_about_equally_many_ratings():
    ratings = simulate_ratings(400, 60, mean_ratings=20, random_state=1)
    heaviest = np.diff(ratings.indptr).max()
    sizes = [part.n_ratings for part in _written(ratings, 8)]
    assert max(sizes) - min(sizes) <= 2 * heaviest


def _written(ratings, n_parts):
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        ratings.to_parquet(f"{name}/x", n_parts)
        return read_manifest(f"{name}/x").parts


def test_pandas_reads_the_parts(ratings, folder):
    frames = [pd.read_parquet(folder / part.file) for part in read_manifest(folder).parts]
    table = pd.concat(frames, ignore_index=True)
    items = pd.read_parquet(folder / "items.parquet")
    lines = table.explode(["items", "grades"]).dropna()
    found = pd.DataFrame(
        {
            "user": lines["user"].to_numpy(),
            "item": items["item"].to_numpy()[lines["items"].astype(int)],
            "grade": lines["grades"].astype(int).to_numpy(),
        }
    )
    pd.testing.assert_frame_equal(found, ratings.to_frame())
    assert items["title"].tolist() == ratings.titles.tolist()


def test_a_folder_appears_whole_or_not_at_all(ratings, tmp_path, monkeypatch):
    def fail(*_, **__):
        raise OSError("no space left on device")

    monkeypatch.setattr(json, "dumps", fail)  # the last thing that is written
    with pytest.raises(OSError, match="no space"):
        ratings.to_parquet(tmp_path / "kept", 2)
    assert os.listdir(tmp_path) == []


def test_nothing_is_overwritten(ratings, folder):
    before = sorted(path.stat().st_mtime_ns for path in folder.iterdir())
    with pytest.raises(FileExistsError, match="exists already; remove it"):
        ratings.to_parquet(folder)
    assert sorted(path.stat().st_mtime_ns for path in folder.iterdir()) == before


def test_a_folder_that_came_meanwhile_is_not_overwritten(ratings, tmp_path, monkeypatch):
    path, real = tmp_path / "kept", parquet._write_part

    def write_part(*args):
        path.mkdir(exist_ok=True)
        (path / "theirs.txt").write_text("theirs")
        return real(*args)

    monkeypatch.setattr(parquet, "_write_part", write_part)
    with pytest.raises(FileExistsError, match="kept exists already; remove it"):
        ratings.to_parquet(path, 2)
    assert [one.name for one in tmp_path.iterdir()] == ["kept"]
    assert (path / "theirs.txt").read_text() == "theirs"


def test_a_link_that_leads_nowhere_is_not_overwritten(ratings, tmp_path):
    try:
        (tmp_path / "kept").symlink_to(tmp_path / "unplugged")
    except OSError:
        pytest.skip("no links can be made here")
    with pytest.raises(FileExistsError, match="kept exists already; remove it"):
        ratings.to_parquet(tmp_path / "kept")
    assert (tmp_path / "kept").is_symlink()


@pytest.mark.parametrize(
    ("n_parts", "error", "words"),
    [(0, ValueError, "at least 1"), (31, ValueError, "30 users"), (1.5, TypeError, "1.5")],
)
def test_impossible_numbers_of_parts_are_refused(ratings, tmp_path, n_parts, error, words):
    with pytest.raises(error, match=rf"n_partitions.*{words}"):
        ratings.to_parquet(tmp_path / "x", n_parts)
    assert not (tmp_path / "x").exists()


def test_ids_of_mixed_types_are_refused(tmp_path):
    mixed = Ratings([0, 1, 1], [0], [3], users=np.array([1, "b"], dtype=object))
    with pytest.raises(ValueError, match="users are of type object, such as 1"):
        mixed.to_parquet(tmp_path / "x")


# ------------------------------------------------------------------ folders that are refused


def edit(name, change):
    def spoil(folder):
        table = pq.read_table(folder / name)
        pq.write_table(change(table), folder / name)

    return spoil


def lists(rows, kind):
    return pa.array(rows, pa.list_(kind))


def with_column(name, make):
    """Replace a column by lists made from the old ones."""

    def change(table):
        place = table.column_names.index(name)
        return table.set_column(place, name, make(table.column(name).to_pylist()))

    return edit("part-00001.parquet", change)


def grades(make):
    return with_column("grades", lambda rows: lists(make(rows), pa.int8()))


def items(make):
    return with_column("items", lambda rows: lists(make(rows), pa.int32()))


def first_to(value):
    def make(rows):
        busy = next(i for i, row in enumerate(rows) if len(row) > 1)
        rows[busy][0] = value
        return rows

    return make


def flip_a_bit(folder):
    """In the last of the users' ids: still a legal file, with others."""
    path = folder / "part-00001.parquet"
    chunk = pq.ParquetFile(path).metadata.row_group(0).column(0)
    raw = bytearray(path.read_bytes())
    raw[chunk.dictionary_page_offset + chunk.total_compressed_size - 3] ^= 1
    path.write_bytes(raw)


def cut_short(folder):
    path = folder / "part-00001.parquet"
    path.write_bytes(path.read_bytes()[:-20])


def fewer_rows(table):
    return table.slice(1)


def swap_parts(folder):
    (folder / "part-00000.parquet").rename(folder / "x")
    (folder / "part-00001.parquet").rename(folder / "part-00000.parquet")
    (folder / "x").rename(folder / "part-00001.parquet")


SPOILT = {
    "a part is missing": (
        lambda f: (f / "part-00001.parquet").unlink(),
        FileNotFoundError,
        "is missing",
    ),
    "the description is missing": (
        lambda f: (f / "ratings.json").unlink(),
        FileNotFoundError,
        "ratings.json is missing",
    ),
    "the items are missing": (
        lambda f: (f / "items.parquet").unlink(),
        FileNotFoundError,
        "items.parquet",
    ),
    "an unfinished description": (
        lambda f: (f / "ratings.json").write_text("{"),
        ValueError,
        "ratings.json is damaged",
    ),
    "a list for a description": (
        lambda f: (f / "ratings.json").write_text("[]"),
        ValueError,
        "ratings.json is damaged",
    ),
    "cut short": (cut_short, ValueError, "is damaged"),
    "one bit flipped": (flip_a_bit, ValueError, "is damaged"),
    "two parts swapped": (swap_parts, ValueError, r"\(users, ratings\)"),
    "no grades": (
        edit("part-00001.parquet", lambda t: t.drop_columns("grades")),
        ValueError,
        "no column",
    ),
    "items twice": (
        edit("part-00001.parquet", lambda t: t.append_column("items", t.column(1))),
        ValueError,
        "2 columns 'items'",
    ),
    "grades of 64 bits": (
        with_column("grades", lambda rows: lists(rows, pa.int64())),
        ValueError,
        "of int64",
    ),
    "one grade a user": (
        with_column("grades", lambda rows: pa.array([1] * len(rows), pa.int8())),
        ValueError,
        "type int8, not list",
    ),
    "grade 0": (grades(first_to(0)), ValueError, r"grades outside 1\.\.5, such as 0"),
    "grade 6": (grades(first_to(6)), ValueError, r"grades outside 1\.\.5, such as 6"),
    "a grade is missing": (
        grades(first_to(None)),
        ValueError,
        "missing values in 'grades'",
    ),
    "a user's grades are missing": (
        grades(lambda rows: [None, *rows[1:]]),
        ValueError,
        "missing values in 'grades'",
    ),
    "a grade too many": (
        grades(lambda rows: [[*rows[0], 1], *rows[1:]]),
        ValueError,
        "unequally many",
    ),
    "item -1": (items(first_to(-1)), ValueError, r"items outside 0\.\.19, such as -1"),
    "item 20": (items(first_to(20)), ValueError, r"items outside 0\.\.19, such as 20"),
    "an item twice": (items(first_to(19)), ValueError, "do not increase"),
    "a user too few": (
        edit("part-00001.parquet", fewer_rows),
        ValueError,
        r"\(users, ratings\)",
    ),
}


@pytest.mark.parametrize(("spoil", "error", "words"), SPOILT.values(), ids=SPOILT)
def test_a_spoilt_folder_is_refused_by_name(folder, spoil, error, words):
    spoil(folder)
    with pytest.raises(error, match=words) as caught:
        Ratings.from_parquet(folder)
    assert str(folder) in str(caught.value)
    assert "Ratings.to_parquet" in str(caught.value)


def test_other_ratings_of_the_same_sizes_are_refused(ratings, folder, tmp_path):
    """Each part is sound, but the whole is not what was written."""
    grades = ratings.grades.copy()
    grades[-1] = 1 + grades[-1] % 5
    labels = {"items": ratings.items, "titles": ratings.titles}
    other = Ratings(ratings.indptr, ratings.indices, grades, max_grade=5, **labels)
    other.to_parquet(tmp_path / "other", 3)
    last = read_manifest(folder).parts[-1].file
    shutil.copy(tmp_path / "other" / last, folder / last)
    with pytest.raises(ValueError, match=rf"{last} has other ratings than ratings\.json"):
        Ratings.from_parquet(folder)
    shutil.copy(tmp_path / "other" / "ratings.json", folder)  # of which the part is one
    np.testing.assert_array_equal(Ratings.from_parquet(folder).grades, grades)


def change_manifest(folder, change):
    stored = json.loads((folder / "ratings.json").read_text())
    change(stored)
    (folder / "ratings.json").write_text(json.dumps(stored))


OTHER = {
    int: lambda n: n + 1,
    str: lambda text: text + "x",
    list: lambda parts: parts[::-1],
}


def places(stored):
    """The keys on the way to each number, text and list of a manifest."""
    of_parts = [("parts", 1, name) for name in stored["parts"][1]]
    return [*((name,) for name in stored), *of_parts]


def test_a_manifest_is_read_only_as_it_was_written(folder):
    """By `read_manifest` itself, for training opens no file of which it knows nothing."""
    text = (folder / "ratings.json").read_text()
    change_manifest(folder, lambda stored: None)  # laid out otherwise
    read_manifest(folder)
    found = places(json.loads(text))
    assert len(found) == 17
    for *way, last in found:

        def change(stored, way=way, last=last):
            for key in way:
                stored = stored[key]
            stored[last] = OTHER[type(stored[last])](stored[last])

        (folder / "ratings.json").write_text(text)
        change_manifest(folder, change)
        with pytest.raises(ValueError, match=r"ratings\.json (is damaged|has format)"):
            read_manifest(folder)


def forge(folder, change):
    """Let the manifest say something else, with a checksum that fits."""

    def forged(stored):
        change(stored)
        stored["checksum"] = parquet._text_hash(
            {k: v for k, v in stored.items() if k not in ("format", "version", "checksum")}
        )

    change_manifest(folder, forged)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("n_users", r"ratings\.json is damaged \(its parts have n_users \d+ together"),
        ("n_ratings", r"ratings\.json is damaged \(its parts have n_ratings \d+ together"),
        ("n_items", r"has \(users, items\) \(\d+, \d+\), where ratings\.json has"),
        ("hash", r"has other ratings in all than ratings\.json describes"),
    ],
)
def test_totals_that_the_parts_do_not_add_up_to_are_refused(folder, name, words):
    forge(folder, lambda stored: None)
    Ratings.from_parquet(folder)
    forge(
        folder,
        lambda stored: stored.update({name: OTHER[type(stored[name])](stored[name])}),
    )
    with pytest.raises(ValueError, match=words):
        Ratings.from_parquet(folder)


def test_parts_in_another_order_are_other_ratings(folder):
    forge(folder, lambda stored: stored["parts"].reverse())
    with pytest.raises(ValueError, match="other ratings in all than"):
        Ratings.from_parquet(folder)


@pytest.mark.parametrize("text", ["[" * 10**5, '{"a":' * 10**5])
def test_a_manifest_nested_too_deeply_is_damaged(folder, text):
    (folder / "ratings.json").write_text(text)
    with pytest.raises(ValueError, match=r"ratings\.json is damaged .*nested too deeply"):
        Ratings.from_parquet(folder)


def reverse(table):
    return table.take(list(range(len(table)))[::-1])


def swap_values(*names):
    """Two values of each column change places; all others stay, and so do sizes."""

    def change(table):
        for name in names:
            values = table.column(name).to_pylist()
            values[0], values[1] = values[1], values[0]
            kind = table.schema.field(name)
            place = table.column_names.index(name)
            table = table.set_column(place, kind, pa.array(values, kind.type))
        return table

    return change


def as_text(table):
    users = [str(user) for user in table.column("user").to_pylist()]
    return table.set_column(0, "user", pa.array(users))


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("items.parquet", reverse, "another 'item' or 'title'"),
        ("items.parquet", swap_values("item"), "another 'item' or 'title'"),
        ("items.parquet", swap_values("title"), "another 'item' or 'title'"),
        ("items.parquet", fewer_rows, "another 'item' or 'title'"),
        ("part-00001.parquet", swap_values("user"), "another 'user'"),
        ("part-00001.parquet", as_text, "another 'user'"),
        ("part-00001.parquet", reverse, "other ratings"),
        ("part-00001.parquet", swap_values("user", "items", "grades"), "other ratings"),
    ],
    ids=[
        "items backwards",
        "two items swapped",
        "two titles swapped",
        "an item too few",
        "two users swapped",
        "users as text",
        "users backwards",
        "two users' ratings swapped",
    ],
)
def test_other_ids_titles_and_orders_are_refused(tmp_path, name, change, words):
    full = simulate_ratings(30, 20, mean_ratings=8, random_state=0)
    titles = [f"Film {n}" for n in range(20)]
    one = Ratings(full.indptr, full.indices, full.grades, n_items=20, titles=titles)
    one.to_parquet(tmp_path / "x", 3)
    edit(name, lambda table: table)(tmp_path / "x")  # written again, it is the same
    assert_same(Ratings.from_parquet(tmp_path / "x"), one)
    edit(name, change)(tmp_path / "x")
    with pytest.raises(ValueError, match=rf"{name} has {words} than ratings\.json"):
        Ratings.from_parquet(tmp_path / "x")


@pytest.mark.parametrize(
    ("ids", "words"),
    [
        ([None, *range(29)], "missing values in 'user'"),
        ([[1]] * 30, "'user' of type list.*neither numbers nor text"),
        ([True] * 30, "'user' of type bool, neither numbers nor text"),
    ],
    ids=["missing", "lists", "yes or no"],
)
def test_ids_that_were_not_written_here_are_refused(ratings, tmp_path, ids, words):
    ratings.to_parquet(tmp_path / "x")
    edit("part-00000.parquet", lambda table: table.set_column(0, "user", pa.array(ids)))(
        tmp_path / "x"
    )
    with pytest.raises(ValueError, match=words):
        Ratings.from_parquet(tmp_path / "x")


@pytest.mark.parametrize("version", [1, 3])
def test_another_version_is_refused(folder, version):
    """An older one, too: nothing in it tells whether ids and titles are those written."""
    change_manifest(folder, lambda stored: stored.update(version=version))
    with pytest.raises(ValueError, match=rf"version {version}.*version 2 is read.*again"):
        Ratings.from_parquet(folder)


@pytest.mark.parametrize(("path", "error"), [(3, TypeError), ("", ValueError)])
def test_what_is_no_path_is_refused(path, error):
    with pytest.raises(error, match="path must be"):
        Ratings.from_parquet(path)


def test_without_pyarrow_the_extra_is_named(ratings, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install 'gapfm-teach\[distributed\]'"):
        ratings.to_parquet(tmp_path / "x")


def test_one_part_is_read_without_the_others(ratings, folder):
    manifest = read_manifest(folder)
    for part in (manifest.parts[0], manifest.parts[2]):
        (folder / part.file).unlink()
    starts, indices, marks = read_part(folder, manifest.parts[1], 20, 5)
    first = manifest.parts[0].n_users
    for row in range(manifest.parts[1].n_users):
        expected = ratings.row(first + row)
        np.testing.assert_array_equal(indices[starts[row] : starts[row + 1]], expected[0])
        np.testing.assert_array_equal(marks[starts[row] : starts[row + 1]], expected[1])
    with pytest.raises(FileNotFoundError, match="part-00000"):
        read_part(folder, Part("part-00000.parquet", 1, 1, "", ""), 20, 5)
