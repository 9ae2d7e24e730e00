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
from gapfm_teach._support.parquet import read_manifest, read_part

pytest.importorskip("pyarrow")
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
    with pytest.raises(ValueError, match="users of mixed or unusual types, such as 1"):
        mixed.to_parquet(tmp_path / "x")


# ------------------------------------------------------------------ folders that are refused


def cut_short(path):
    path.write_bytes(path.read_bytes()[:-20])


def remove(path):
    path.unlink()


def another_version(path):
    path.write_text(path.read_text().replace('"version": 3', '"version": 2'))


@pytest.mark.parametrize(
    ("name", "spoil", "error", "words"),
    [
        ("part-00001.parquet", remove, FileNotFoundError, "is missing"),
        ("ratings.json", remove, FileNotFoundError, "is missing"),
        ("items.parquet", remove, FileNotFoundError, "is missing"),
        ("ratings.json", cut_short, ValueError, "is damaged"),
        ("part-00001.parquet", cut_short, ValueError, "is damaged"),
        ("ratings.json", another_version, ValueError, "version 2.*version 3 is read"),
    ],
)
def test_a_spoilt_folder_is_refused_by_name(folder, name, spoil, error, words):
    spoil(folder / name)
    with pytest.raises(error, match=rf"{name} .*{words}") as caught:
        Ratings.from_parquet(folder)
    assert "Ratings.to_parquet" in str(caught.value)


def test_a_part_of_other_ratings_is_refused(ratings, folder, tmp_path):
    """Of the same sizes: a silent mix-up."""
    other = Ratings(
        ratings.indptr, ratings.indices, 6 - ratings.grades, n_items=20, max_grade=5
    )
    other.to_parquet(tmp_path / "other", 3)
    shutil.copy(tmp_path / "other" / "part-00001.parquet", folder)
    with pytest.raises(
        ValueError, match=r"holds other ratings than ratings\.json describes"
    ):
        Ratings.from_parquet(folder)


def test_one_part_is_read_without_the_others_and_not_in_place_of_them(ratings, folder):
    first, part, last = read_manifest(folder).parts
    (folder / first.file).rename(folder / last.file)
    starts, indices, marks = read_part(folder, part)
    for row in range(part.n_users):
        expected = ratings.row(first.n_users + row)
        np.testing.assert_array_equal(indices[starts[row] : starts[row + 1]], expected[0])
        np.testing.assert_array_equal(marks[starts[row] : starts[row + 1]], expected[1])
    with pytest.raises(ValueError, match=r"part-00002.* holds other ratings"):
        read_part(folder, last)


@pytest.mark.parametrize(("path", "error"), [(3, TypeError), ("", ValueError)])
def test_what_is_no_path_is_refused(path, error):
    with pytest.raises(error, match="path must be"):
        Ratings.from_parquet(path)


def test_without_pyarrow_the_extra_is_named(ratings, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install 'gapfm-teach\[distributed\]'"):
        ratings.to_parquet(tmp_path / "x")
