"""Reading the Netflix Prize data: every layout on small files, judged by dictionaries and pandas."""

import os
import tempfile
import zipfile
from pathlib import Path
from unittest import mock

import netflix_files
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from netflix_files import (
    LAYOUTS,
    SMALL,
    SMALL_PROBE,
    same,
    small,
    texts,
    triples,
    without,
    write,
)

from gapfm_lab import paper
from gapfm_lab.netflix_simulation import simulate_netflix
from gapfm_lab.paper import table1
from gapfm_teach import Ratings, load_netflix
from gapfm_teach.datasets.netflix import load, parse


@pytest.fixture(autouse=True)
def data_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("GAPFM_TEACH_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


# --- what is read ------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_probe_leaves_training_and_both_share_users_and_movies(tmp_path, layout):
    train, probe = load_netflix(small(tmp_path, layout))
    assert triples(train) == without(SMALL_PROBE)
    assert triples(probe) == {pair: SMALL[pair] for pair in SMALL_PROBE}
    for part in (train, probe):
        # User 123,456 and movie 17,770 have ratings in the probe only.
        assert part.users.tolist() == [1, 7, 123_456, 2_649_429]
        assert part.items.tolist() == [1, 2, 30, 17_770]
        assert part.max_grade == 5
        assert "not the whole of its data" in part.source
    assert train.row(2)[0].size == 0


@pytest.mark.parametrize("layout", LAYOUTS)
def test_titles_are_latin_1_with_commas_and_sometimes_without_a_year(tmp_path, layout):
    train, _ = load_netflix(small(tmp_path, layout))
    assert train.titles.tolist() == [
        "Dinosaur Planet (2003)",
        "Señor, No, Nunca",
        "Été\x85suite (1994)",
        "Alien Hunter (2003)",
    ]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_titles_saved_again_in_utf_8_keep_their_letters(tmp_path, encoding):
    """The second as some programs write it, with a mark in front; "Œ" Latin-1 does not have."""
    path = small(tmp_path)
    titles = netflix_files.TITLES.replace("Été", "Œuvre").encode(encoding)
    for file in path.glob("*.txt"):
        file.write_bytes(file.read_text().encode(encoding))
    (path / "movie_titles.csv").write_bytes(titles.replace(b"Alien", b"Alien\xff"))
    assert load_netflix(path)[0].titles.tolist() == [
        "Dinosaur Planet (2003)",
        "Señor, No, Nunca",
        "Œuvre\x85suite (1994)",
        "Alienÿ Hunter (2003)",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.removesuffix("\n"),
        lambda text: text.replace("\n", "\r\n").removesuffix("\r\n"),
        lambda text: "\n \n" + text.replace("\n", "\n\n"),
        lambda text: text.replace("\n", " \t\r\n\r\n"),
    ],
    ids=["CRLF", "no last newline", "both", "blank lines", "blanks everywhere"],
)
def test_line_ends_and_blank_lines_change_nothing(tmp_path, layout, spoil):
    files = texts(layout, SMALL, SMALL_PROBE)
    plain = load_netflix(write(layout, files, tmp_path / "plain"))
    spoilt = {name: spoil(text) for name, text in files.items()}
    again = load_netflix(write(layout, spoilt, tmp_path / "spoilt"))
    for one, other in zip(plain, again, strict=True):
        same(one, other)


IDS = st.sampled_from([1, 2, 9, 10, 99, 100, 1000, 12_345, 123_456, 2_649_429])
MOVIES = st.sampled_from([1, 2, 9, 10, 123, 5000, 17_770])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:without|.* have no")
@pytest.mark.parametrize("layout", LAYOUTS)
@settings(max_examples=6, deadline=None)  # the text itself has a test of its own, with many
@given(
    ratings=st.dictionaries(
        st.tuples(IDS, MOVIES), st.integers(1, 5), min_size=1, max_size=60
    ),
    data=st.data(),
    block=st.integers(1, 70),
)
def test_whatever_is_written_is_read_in_every_layout(layout, ratings, data, block):
    probe = data.draw(st.lists(st.sampled_from(sorted(ratings)), unique=True))
    titles = "".join(
        f"{movie},2000,Film {movie}\n" for movie in sorted({i for _, i in ratings})
    )
    files = texts(layout, ratings, probe, titles)
    with (
        tempfile.TemporaryDirectory() as folder,
        mock.patch.dict(os.environ, {"GAPFM_TEACH_DATA": f"{folder}/data"}),
        mock.patch.object(parse, "BLOCK", block),
    ):
        path = write(layout, files, Path(folder) / "netflix")
        parts = load_netflix(path)
        for part, again in zip(parts, load_netflix(path), strict=True):
            same(part, again)  # from the cache
    assert triples(parts[0]) == without(probe, ratings)
    assert triples(parts[1]) == {pair: ratings[pair] for pair in probe}
    for part in parts:
        assert part.users.tolist() == sorted({user for user, _ in ratings})
        assert part.items.tolist() == sorted({movie for _, movie in ratings})
        # Rows as the checking constructor wants them.
        names = ("n_items", "max_grade", "users", "items", "titles", "source")
        rest = {name: getattr(part, name) for name in names}
        same(part, Ratings(part.indptr, part.indices, part.grades, **rest))


@pytest.mark.filterwarnings("ignore:without")
def test_movies_and_users_may_stand_in_any_order(tmp_path):
    first = "30:\n7,5,2005-09-06\n1,2,2005-09-06\n123456,4,2005-09-06\n"
    first += "1:\n7,3,2005-09-06\n2649429,1,2005-09-06\n1,5,2005-09-06\n"
    last = "17770:\n7,1,2005-09-06\n2:\n7,4,2005-09-06\n"
    parts = {"combined_data_1.txt": first, "combined_data_4.txt": last}
    probe = "30:\n123456\n1:\n7\n17770:\n7\n"
    missing = {f"combined_data_{n}.txt": None for n in (2, 3)}
    train, held_out = load_netflix(
        small(tmp_path, **parts, **missing, **{"probe.txt": probe})
    )
    assert triples(train) == without(SMALL_PROBE)
    assert set(triples(held_out)) == set(SMALL_PROBE)


def test_the_same_as_pandas_reads_from_a_simulation(tmp_path):
    folder = simulate_netflix(tmp_path / "simulated", scale=1e-3, random_state=0)
    train, probe = load_netflix(folder)
    assert train.source == probe.source == "simulated, in Netflix's formats, scale 0.001"
    names = [folder / f"combined_data_{n}.txt" for n in (1, 2, 3, 4)]
    lines = pd.concat(pd.read_csv(name, names=["user", "grade", "date"]) for name in names)
    header = lines["grade"].isna()
    lines["item"] = lines["user"].where(header).ffill().str.rstrip(":").astype(int)
    table = lines[~header].astype({"user": int, "grade": int})
    every = dict(
        zip(zip(table["user"], table["item"], strict=True), table["grade"], strict=True)
    )
    named, movie = [], 0
    for line in (folder / "probe.txt").read_text().split():
        if line.endswith(":"):
            movie = int(line[:-1])
        else:
            named.append((int(line), movie))
    assert triples(probe) == {pair: every[pair] for pair in named}
    assert triples(train) == without(set(named), every)


def test_unpacked_in_part_one_folder_deeper_or_with_the_inner_archive_left(tmp_path):
    files = texts("original archive", SMALL, SMALL_PROBE)
    archive = write("original archive", files, tmp_path / "packed")
    wanted = load_netflix(archive)
    half = tmp_path / "half"
    half.mkdir()
    inner = {name: text.encode() for name, text in files.items() if "mv_" in name}
    (half / "training_set.tar").write_bytes(netflix_files.tar(inner))
    for name in ("probe.txt", "movie_titles.txt"):
        (half / name).write_bytes(files[name].encode("latin-1"))
    deep = write("original folder", files, tmp_path / "deep" / "download").parent
    (deep / "download" / "training_set.tar").write_bytes(b"unpacked already")
    for path in (half, deep):
        for one, other in zip(wanted, load_netflix(str(path)), strict=True):
            same(one, other)


def zipped(path, files, prefix=""):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, text in files.items():
            archive.writestr(prefix + name, text.encode("latin-1"))
    return path


@pytest.mark.parametrize("prefix", ["./", "Netflix Prize/", "a//", "netflix\\"])
def test_zips_may_be_packed_in_any_program(tmp_path, prefix):
    """Some name entries ./x or a\\x, and a Mac's adds files of its own."""
    files = texts("Kaggle zip", SMALL, SMALL_PROBE)
    extra = {"training_set.tar/": "", ".DS_Store": "x", "._combined_data_1.txt": "\0\5"}
    train, probe = load_netflix(zipped(tmp_path / "a.zip", files | extra, prefix))
    assert triples(train) == without(SMALL_PROBE)
    assert set(triples(probe)) == set(SMALL_PROBE)


# --- what is missing ---------------------------------------------------------------------------


def load_with_notes(path):
    with pytest.warns(UserWarning, match=r".") as caught:
        train, probe = load_netflix(path)
    notes = [str(warning.message) for warning in caught]
    assert all(part.source.endswith("; ".join(notes)) for part in (train, probe))
    assert all(warning.filename == __file__ for warning in caught)
    return train, probe, notes


def test_a_subset_says_what_is_missing_at_every_load(tmp_path):
    path = small(tmp_path, **{f"combined_data_{n}.txt": None for n in (2, 3, 4)})
    for _ in ("read", "from the cache"):
        train, probe, notes = load_with_notes(path)
        assert notes == [
            "without combined_data_2.txt, combined_data_3.txt, combined_data_4.txt",
            "3 of 4 movies have no ratings here",
            "2 of 3 probe ratings are of movies not here",
        ]
        assert train.items.tolist() == [1]
        assert triples(probe) == {(7, 1): 3}


def test_a_single_file_is_a_subset(tmp_path):
    train, probe, notes = load_with_notes(small(tmp_path) / "combined_data_1.txt")
    assert triples(train) == {pair: grade for pair, grade in SMALL.items() if pair[1] == 1}
    assert probe.n_ratings == 0
    assert [note.split(":")[0] for note in notes] == [
        "without combined_data_2.txt, combined_data_3.txt, combined_data_4.txt",
        "without movie_titles",
        "without probe.txt",
    ]
    assert train.titles.tolist() == ["1"]


def test_a_single_file_of_a_simulation_says_so(tmp_path):
    path = small(tmp_path, **{"SIMULATED.txt": "simulated, so to speak\nmore\n"})
    train, _, notes = load_with_notes(path / "combined_data_1.txt")
    assert train.source.startswith("simulated, so to speak; without")
    assert len(notes) == 3


def test_missing_titles_movies_and_probe_are_each_named(tmp_path):
    missing = {
        "movie_titles.txt": "1,2003,Dinosaur Planet\n5,2001,Nobody's\n",
        "probe.txt": None,
    }
    train, probe, notes = load_with_notes(small(tmp_path, "original folder", **missing))
    assert notes == [
        "1 of 2 movies have no ratings here",
        "3 movies have no title and show their numbers",
        "without probe.txt: the probe is empty and nothing is held out",
    ]
    assert triples(train) == SMALL
    assert probe.n_users == train.n_users
    assert train.titles.tolist() == ["Dinosaur Planet (2003)", "2", "30", "17770"]


def test_only_the_whole_data_are_called_the_netflix_prize(tmp_path, monkeypatch):
    monkeypatch.setattr(load, "WHOLE", (4, 4, len(SMALL) - 3, 3))
    assert load_netflix(small(tmp_path))[0].source == "Netflix Prize"
    other = netflix_files.TITLES.replace("Dinosaur", "Fish")
    path = small(tmp_path, **{"movie_titles.csv": other})
    assert "not the whole" in load_netflix(path)[0].source
    path = small(tmp_path, **{"SIMULATED.txt": "simulated, so to speak\nmore\n"})
    assert load_netflix(path)[0].source == "simulated, so to speak"


# --- Table 1 -----------------------------------------------------------------------------------


def test_table_1_counts_users_with_fifty_ratings(capsys):
    counts = (50, 49, 60, 0)
    indptr = np.concatenate(([0], np.cumsum(counts)))
    items = np.concatenate([np.arange(n) for n in counts])
    train = Ratings(indptr, items, [3] * indptr[-1], n_items=80, source="by hand")
    here = table1(train).loc["here"]
    assert here[["users", "movies", "ratings"]].tolist() == [2, 80, 110]
    assert here["sparseness"] == pytest.approx(1 - 110 / 160)
    printed = capsys.readouterr().out
    assert "319,275 17,770 95,085,018     98.32%" in printed
    assert "31.25%" in printed
    assert "by hand" in printed
    assert "this is not the Netflix Prize data" in printed


def test_table_1_of_the_right_counts_says_nothing_more(capsys, monkeypatch):
    monkeypatch.setattr(paper, "TABLE_1", {"users": 1, "movies": 70, "ratings": 60})
    table1(Ratings([0, 60], range(60), [1] * 60, n_items=70))
    assert "not the Netflix" not in capsys.readouterr().out


def test_table_1_without_such_users_has_no_sparseness(capsys):
    assert np.isnan(table1(Ratings([0, 1], [0], [1])).loc["here", "sparseness"])
    with pytest.raises(TypeError, match="train must be Ratings, got tuple"):
        table1((1, 2))
