"""MovieLens' files in all their layouts: what is read, and which line is refused."""

import hashlib
import lzma
import pickle
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from movielens_files import (
    CSV,
    DAT,
    MOVIES_CSV,
    MOVIES_DAT,
    RECBOLE_INTER,
    SMALL_100K,
    SMALL_CSV,
    SMALL_RECBOLE,
    make_folder,
    make_zip,
    triples,
)

from gapfm_teach.datasets import load_movielens, movielens_files
from gapfm_teach.datasets.movielens_files import display_title

HEADER = "userId,movieId,rating,timestamp"
pytestmark = pytest.mark.usefixtures("data_folder")


def folder_with(tmp_path, name, member, content):
    """A folder with a small data set, one file of which has another content."""
    dat = {"ratings.dat": DAT.format(half=4).encode(), "movies.dat": MOVIES_DAT.encode()}
    inter = SMALL_RECBOLE if "ml-100k" in member else SMALL_100K
    files = {"100k": inter, "1m": dat, "20m": SMALL_CSV}[name]
    files = {Path(key).name: value for key, value in files.items()}
    return make_folder(tmp_path / "folder", files | {member: content.encode()})


@pytest.mark.parametrize("pack", [make_zip, make_folder])
@pytest.mark.parametrize("files", [SMALL_100K, SMALL_RECBOLE], ids=["official", "recbole"])
@pytest.mark.usefixtures("accept_small")
def test_100k_reads_the_same_from_the_official_files_and_from_recbole(
    tmp_path, pack, files
):
    ratings = load_movielens("100k", path=pack(tmp_path / "archive", files))
    assert triples(ratings) == [(186, 267, 1), (196, 12, 3), (196, 543, 5)]
    assert list(ratings.titles) == [
        "The Usual Suspects (1995)",
        "unknown",
        "Les Misérables (1995)",
    ]
    assert ratings.times.tolist() == [891717742, 881250949, 878887116]
    assert ratings.max_grade == 5
    assert ratings.source == "MovieLens 100K (content checked)"
    assert ratings.origin == "path"


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_1m_is_read_in_both_encodings_and_windows_line_ends(tmp_path, encoding):
    movies = MOVIES_DAT.replace("Boomerang", "Bómerang").replace("\n", "\r\n")
    ratings_dat = DAT.format(half=4).replace("\n", "\r\n").encode()
    files = {"ratings.dat": ratings_dat, "movies.dat": movies.encode(encoding)}
    ratings = load_movielens("1m", path=make_zip(tmp_path / "ml-1m.zip", files))
    assert triples(ratings) == [(1, 122, 5), (1, 185, 4), (7, 122, 3)]
    assert ratings.times.tolist() == [838985046, 838983525, 838983392]
    assert list(ratings.titles) == ["Bómerang (1992)", "Net, The: A Film (1995)"]
    assert ratings.max_grade == 5
    assert "1M" in ratings.source


def test_10m_doubles_half_stars(tmp_path):
    files = {
        "ml-10M100K/ratings.dat": DAT.format(half=0.5).encode(),
        "ml-10M100K/movies.dat": MOVIES_DAT.encode(),
    }
    ratings = load_movielens("10m", path=make_zip(tmp_path / "ml-10m.zip", files))
    assert triples(ratings) == [(1, 122, 10), (1, 185, 1), (7, 122, 6)]
    assert ratings.times.tolist() == [838985046, 838983525, 838983392]
    assert ratings.max_grade == 10


def test_a_bad_byte_spoils_one_title(tmp_path):
    movies = MOVIES_DAT.replace("Boomerang", "Bómerang").encode() + b"3::\xff::Drama\n"
    files = {"ratings.dat": DAT.format(half=4).encode(), "movies.dat": movies}
    ratings = load_movielens("1m", path=make_folder(tmp_path / "folder", files))
    assert ratings.titles[0] == "Bómerang (1992)"
    assert ratings.source == "MovieLens 1M (3 ratings)"  # and not the whole of it


def test_a_zip_with_backslashes_is_read_and_one_with_two_files_of_ratings_is_not(tmp_path):
    files = {f"ml\\{Path(name).name}": text for name, text in SMALL_CSV.items()}
    archive = make_zip(tmp_path / "a.zip", files)
    assert load_movielens("20m", path=archive).n_ratings == 3
    archive = make_zip(tmp_path / "b.zip", {"a/ratings.csv": b"", "b/ratings.csv": b""})
    with pytest.raises(ValueError, match=r"b\.zip holds two: a/ratings\.csv and b/ratings"):
        load_movielens("20m", path=archive)


@pytest.mark.parametrize("name", ["20m", "25m", "32m", "latest-small-2018"])
def test_later_editions_are_csv_with_half_stars(tmp_path, name):
    ratings = load_movielens(name, path=make_zip(tmp_path / "archive.zip", SMALL_CSV))
    assert triples(ratings) == [(1, 2, 7), (1, 29, 1), (2, 29, 10)]
    assert ratings.times.tolist() == [1112486027, 1112484676, 1112484819]
    assert list(ratings.titles) == ["Jumanji (1995)", 'City, The: "É" (1995)']
    assert ratings.max_grade == 10


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        ("Usual Suspects, The (1995)", "The Usual Suspects (1995)"),
        ("Hate (Haine, La) (1995)", "Hate (La Haine) (1995)"),
        (
            "Star Maker, The (Uomo delle stelle, L') (1995)",
            "The Star Maker (L'Uomo delle stelle) (1995)",
        ),
        (
            "Maybe, Maybe Not (Bewegte Mann, Der) (1994)",
            "Maybe, Maybe Not (Der Bewegte Mann) (1994)",
        ),
        (
            "I, Worst of All (Yo, la peor de todas) (1990)",
            "I, Worst of All (Yo, la peor de todas) (1990)",
        ),
        (
            "Land Before Time III: The Time (1995) (V)",
            "Land Before Time III: The Time (1995) (V)",
        ),
        ("Shadow and Light (1996) ", "Shadow and Light (1996)"),
        ("unknown", "unknown"),
    ],
)
def test_titles_are_shown_as_people_say_them(stored, shown):
    assert display_title(stored) == shown
    assert display_title(shown) == shown


@pytest.mark.parametrize(
    ("name", "member", "content", "message"),
    [
        ("100k", "u.data", "1\t2\t3\t4\n1\t3\n", r"u\.data, line 2: '1\\t3'"),
        ("100k", "u.data", "1\t2\t3\t4\n\n1\tx\t3\t4\n", r"u\.data, line 3: '1\\tx"),
        ("100k", "u.data", "1\t2\t6\t4\n", r"u\.data, line 1.*stars \(1 to 5\)"),
        ("100k", "u.data", "1\t2\t3.5\t4\n", r"u\.data, line 1"),
        ("100k", "u.data", "1\t2\tnan\t4\n", r"u\.data, line 1"),
        ("100k", "u.data", "", r"u\.data holds no ratings"),
        (
            "100k",
            "u.item",
            "12|Usual Suspects|x\nhalf a line\n",
            r"u\.item, line 2: 'half a line'",
        ),
        ("1m", "ratings.dat", "1::2::3::4\n1:2:3:4\n", r"ratings\.dat, line 2: '1:2:3:4'"),
        (
            "20m",
            "ratings.csv",
            "userId,movieId,rating,timestamp\n1,2,5.5,3\n",
            r"ratings\.csv, line 2.*0\.5",
        ),
        (
            "20m",
            "ratings.csv",
            "userId,movieId,rating,timestamp\n1,2,0.3,3\n",
            r"ratings\.csv, line 2",
        ),
        ("20m", "movies.csv", "movieId,title,genres\n,x,y\n", r"movies\.csv, line 2"),
        ("20m", "ratings.csv", f"{HEADER}\nTrue,TRUE,True,true\n", r"line 2: 'True,TRUE"),
        ("100k", "u.data", "99999999999\t2\t3\t4\n", r"u\.data, line 1: '99999999999"),
        ("100k", "u.data", "1\t2\t3\t4\n1\t3\t4\t5\t6\n", r"line 2: '1\\t3.* 4 fields"),
        ("20m", "ratings.csv", f'{HEADER}\n1,2,3,4\n1,"3,4,5\n', r"line 3: '1,\"3,4,5'"),
        (
            "20m",
            "ratings.csv",
            f"{HEADER}\n",
            r"ratings\.csv holds no ratings",
        ),
        ("100k", "u.data", "1\t2\t3\t\n", r"line 1: '1\\t2\\t3\\t'.* seconds since 1970"),
        ("1m", "ratings.dat", "1::2::3::then\n", r"ratings\.dat, line 1: '1::2::3::then'"),
        ("20m", "movies.csv", 'movieId,title,genres\n2,"J,x\n', r"""line 2: '2,"J,x'"""),
        ("20m", "movies.csv", "movieId,title,genres\n2,J, K,x\n", r"line 2: '2,J, K,x'"),
        ("20m", "movies.csv", "movieId,title,genres\n²,J,x\n", r"movies\.csv, line 2: '²"),
    ],
)
def test_a_bad_line_is_named_with_file_and_number(tmp_path, name, member, content, message):
    with pytest.raises(ValueError, match=message):
        load_movielens(name, path=folder_with(tmp_path, name, member, content))


# --- columns that are named -------------------------------------------------------------------


def reordered(content: str, separator: str, order) -> str:
    lines = (line.split(separator) for line in content.splitlines())
    return "".join(separator.join(line[k] for k in order) + "\n" for line in lines)


@pytest.mark.parametrize("order", [(3, 2, 1, 0), (1, 0, 2, 3), (2, 3, 0, 1)])
def test_columns_are_found_by_name_wherever_they_stand(tmp_path, order):
    films = "genres,title,movieId\nx,Jumanji (1995),2\ny,Heat (1995),29\n"
    swapped = {"ratings.csv": reordered(CSV, ",", order).encode()}
    swapped["movies.csv"] = films.encode()
    ratings = load_movielens("20m", path=make_folder(tmp_path / "folder", swapped))
    assert triples(ratings) == [(1, 2, 7), (1, 29, 1), (2, 29, 10)]
    assert ratings.times.tolist() == [1112486027, 1112484676, 1112484819]
    assert list(ratings.titles) == ["Jumanji (1995)", "Heat (1995)"]


def test_a_mark_of_utf_8_and_quoted_names_are_no_obstacle(tmp_path):
    quoted = CSV.replace("userId,movieId", '"userId","movieId"')
    files = {"ratings.csv": b"\xef\xbb\xbf" + quoted.encode()}
    files["movies.csv"] = b"\xef\xbb\xbf" + MOVIES_CSV.encode()
    ratings = load_movielens("20m", path=make_folder(tmp_path / "folder", files))
    assert triples(ratings) == [(1, 2, 7), (1, 29, 1), (2, 29, 10)]
    assert ratings.titles[0] == "Jumanji (1995)"


@pytest.mark.parametrize(
    ("name", "member", "content"),
    [
        ("20m", "ratings.csv", CSV.partition("\n")[2]),
        ("20m", "ratings.csv", "userId,movieId,userId,rating\n1,2,3,4\n"),
        ("20m", "movies.csv", MOVIES_CSV.partition("\n")[2]),
        ("100k", "ml-100k.inter", RECBOLE_INTER.partition("\n")[2]),
    ],
    ids=[
        "no header",
        "a name twice",
        "titles without a header",
        "RecBole without a header",
    ],
)
def test_without_the_names_a_file_is_refused_and_its_first_line_shown(
    tmp_path, name, member, content
):
    first = content.partition("\n")[0]
    message = f"{member}, line 1: {first!r} does not name the columns"
    with pytest.raises(ValueError, match=re.escape(message)):
        load_movielens(name, path=folder_with(tmp_path, name, member, content))


def test_blank_lines_change_nothing_but_are_counted(tmp_path):
    path = folder_with(tmp_path, "20m", "ratings.csv", CSV.replace("\n2,", "\n\n \n2,"))
    assert triples(load_movielens("20m", path=path)) == [(1, 2, 7), (1, 29, 1), (2, 29, 10)]
    path = folder_with(tmp_path, "20m", "ratings.csv", CSV + "\n\n3,29,5.0,1\n3,2,x,1")
    with pytest.raises(ValueError, match=r"ratings\.csv, line 8: '3,2,x,1'"):
        load_movielens("20m", path=path)


def test_a_file_larger_than_the_data_set_is_refused(tmp_path):
    path = folder_with(tmp_path, "100k", "u.data", "9" * 6_400_002)
    with pytest.raises(
        ValueError, match=r"u\.data in folder holds more than 6,400,000 bytes"
    ):
        load_movielens("100k", path=path)


# --- the copy of latest-small in a pickle ------------------------------------------------------


def frozen(table: pd.DataFrame) -> bytes:
    return lzma.compress(pickle.dumps(table))


def test_latest_small_is_read_from_the_one_pickle_that_is_known(tmp_path, monkeypatch):
    table = pd.DataFrame(
        {"movieId": [31, 29, 31], "title": ["Sea, The", None, "Sea, The"]}
        | {"year": [1995.0, np.nan, 1995.0], "userId": [1, 1, 2]}
        | {"rating": [2.5, 3.0, 5.0], "timestamp": [7, 8, 9]}
    )
    content = frozen(table.fillna({"title": "No year"}))
    monkeypatch.setattr(
        movielens_files, "FROZEN_SHA256", hashlib.sha256(content).hexdigest()
    )
    ours, titles = movielens_files.read_movielens(
        make_zip(tmp_path / "a.whl", {"x/movielens.pkl.compress": content}),
        ["movielens.pkl.compress"],
        2,
        1000,
    )
    assert ours.to_numpy().tolist() == [[1, 31, 5, 7], [1, 29, 6, 8], [2, 31, 10, 9]]
    assert titles == {31: "The Sea (1995)", 29: "No year"}


class Intruder:
    def __reduce__(self):
        return (Path.touch, (Path("intruder"),))


def test_no_other_pickle_is_loaded(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = make_zip(tmp_path / "a.whl", {"x/movielens.pkl.compress": frozen(Intruder())})
    with pytest.raises(ValueError, match="so no other one is loaded"):
        load_movielens("latest-small", path=path)
    assert not Path("intruder").exists()


def test_another_edition_of_latest_small_is_named(tmp_path):
    path = make_zip(tmp_path / "a.zip", SMALL_CSV)
    with pytest.raises(ValueError, match=r"not MovieLens latest-small, edition of 2016"):
        load_movielens("latest-small", path=path)
    ratings = load_movielens("latest-small-2018", path=path)
    assert ratings.source == "MovieLens latest-small, edition of 2018 (3 ratings)"
