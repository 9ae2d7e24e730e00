"""Ratings of one's own, as people have them."""

import numpy as np
import pandas as pd
import pytest

from gapfm_lab.primary.own_data import read_ratings


@pytest.fixture
def write(tmp_path):
    def write(text: str, encoding: str = "utf-8"):
        file = tmp_path / "ratings.csv"
        file.write_bytes(text.encode(encoding))
        return file

    return write


@pytest.mark.parametrize(
    ("header", "separator"),
    [
        ("userId,movieId,rating,timestamp", ","),
        ("User-ID;film;Stars;when", ";"),
        ("user_id\titem_id\tscore\tt", "\t"),
        ("\ufeffReviewer ID|ASIN|Overall|x", "|"),
    ],
)
def test_columns_by_their_names(write, header, separator):
    rows = [("7", "a", "4", "1"), ("7", "b", "2", "2"), ("9", "a", "5", "3")]
    text = "\n".join([header, *(separator.join(row) for row in rows)])
    found = read_ratings(write(text)).to_frame()
    assert found["user"].tolist() == [7, 7, 9]
    assert found["item"].tolist() == ["a", "b", "a"]
    assert found["grade"].tolist() == [4, 2, 5]


def test_columns_in_another_order(write):
    found = read_ratings(write("rating,user,item\n3,1,10\n5,2,11\n")).to_frame()
    assert found[["user", "item", "grade"]].to_numpy().tolist() == [[1, 10, 3], [2, 11, 5]]


@pytest.mark.parametrize(
    ("grades", "whole", "words"),
    [
        ([1, 3, 5], [1, 3, 5], "ratings.csv"),
        ([0.5, 3.5, 5.0], [1, 7, 10], "ratings.csv, grades times 2"),
        ([0, 4, 10], [1, 5, 11], "ratings.csv, grades plus 1"),
        ([-1, 0, 1], [1, 2, 3], "ratings.csv, grades plus 2"),
        ([0.25, 1.5, 4.75], [1, 6, 19], "ratings.csv, grades times 4"),
    ],
)
def test_scales(write, grades, whole, words):
    lines = "".join(f"{user},x,{grade}\n" for user, grade in enumerate(grades))
    ratings = read_ratings(write(f"user,item,rating\n{lines}"))
    assert ratings.grades.tolist() == whole
    assert ratings.source == words


def test_repeated_and_incomplete_lines(write):
    text = "user,item,rating\n1,a,2\n1,a,5\n,b,3\n2,a,4\n"
    ratings = read_ratings(write(text))
    assert ratings.grades.tolist() == [5, 4]
    assert "2 repeated or incomplete lines left out" in ratings.source


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "user,thing,rating\n1,2,3\n",
            "no column for the item; its columns are user, thing",
        ),
        (
            "user,item,rating\n1,2,3\n1,3,good\n",
            "rating 2: the grade 'good' is not a number",
        ),
        ("user,item,rating\n1,2,3.33333\n", "not in steps"),
        ("user,item,rating\n1,2,1\n1,3,5000\n", "100 are the most"),
    ],
)
def test_what_cannot_be_read_is_named(write, text, message):
    with pytest.raises(ValueError, match=message):
        read_ratings(write(text))


def test_titles_in_another_encoding_do_not_stop_it(write):
    ratings = read_ratings(write("user,item,rating\n1,Amélie,5\n2,Amélie,4\n", "latin-1"))
    assert ratings.n_items == 1


def test_no_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_ratings(tmp_path / "none.csv")


def test_what_was_read_is_what_pandas_reads(write):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {"user": rng.integers(50, size=400), "item": rng.integers(60, size=400)}
    ).drop_duplicates()
    table["rating"] = rng.integers(1, 6, size=len(table))
    found = read_ratings(write(table.to_csv(index=False))).to_frame()
    expected = table.sort_values(["user", "item"])["rating"].tolist()
    assert found.sort_values(["user", "item"])["grade"].tolist() == expected
