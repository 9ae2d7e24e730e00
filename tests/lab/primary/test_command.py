"""`python -m gapfm_teach reproduce primary`: from a file of ratings to the tables."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import gapfm_lab.reproduce.command  # noqa: F401  what it declares is read before a test changes it
from gapfm_lab.primary import command, declared
from gapfm_lab.primary.command import primary, with_holm
from gapfm_lab.primary.run import Piece, folder_name, pieces
from gapfm_lab.primary.search import FULL, REDUCED
from gapfm_lab.primary.table import make_tables
from gapfm_teach import Ratings, simulate_ratings
from gapfm_teach.__main__ import main


@pytest.fixture
def worker_processes():
    """Marks what starts other processes."""


@pytest.fixture(scope="module")
def ratings():
    return simulate_ratings(60, 80, mean_ratings=30, random_state=1)


def test_from_a_file_to_the_tables(
    tmp_path, ratings, capsys, monkeypatch, worker_processes
):
    few = {name: declared.SYSTEMS[name] for name in ("PopRec", "EASE", "RP3β")}
    monkeypatch.setattr(declared, "SYSTEMS", few)
    file, out = tmp_path / "mine.csv", tmp_path / "out"
    frame = ratings.to_frame()[["user", "item", "grade"]]
    frame.rename(columns={"grade": "rating"}).to_csv(file, index=False)
    typed = [
        "reproduce",
        "primary",
        "--path",
        str(file),
        "--splits",
        "2",
        "--out",
        str(out),
    ]
    others = out / command.UNFINISHED / "another-00000000"  # of a run that was interrupted
    others.mkdir(parents=True)
    assert main(typed) == 0
    table = pd.read_csv(out / "primary.csv", comment="#")
    assert list(table.columns) == [
        "data", "given", "system", "metric", "mean", "ci_low", "ci_high", "n_users", "n_splits",
    ]  # fmt: skip
    assert set(table["system"]) == set(few)
    assert set(table["n_splits"]) == {2}
    assert (table["data"] == "mine").all()
    assert table["mean"].between(table["ci_low"], table["ci_high"]).all()
    compared = pd.read_csv(out / "primary_differences.csv", comment="#")
    assert set(zip(compared["system"], compared["reference"], strict=True)) == {
        ("RP3β", "EASE")
    }
    assert (
        len(pd.read_csv(out / "primary_choices.csv", comment="#"))
        == table.groupby(["given", "system"]).ngroups * 2
    )
    assert "NDCG@5, mine, Given 10, 2 splits" in capsys.readouterr().out
    assert list((out / command.UNFINISHED).iterdir()) == [others]
    assert str(tmp_path) not in (out / "primary.csv").read_text(encoding="utf-8")


def test_too_few_ratings_are_refused(tmp_path, capsys):
    file = tmp_path / "few.csv"
    file.write_text("user,item,rating\n1,2,3\n2,2,5\n")
    assert main(["reproduce", "primary", "--path", str(file)]) == 1
    assert "fewer than 30 users have 10 ratings" in capsys.readouterr().err


def test_no_splits_are_refused_and_a_readers_file_stays(tmp_path, ratings, capsys):
    file, out = tmp_path / "mine.csv", tmp_path / "out"
    frame = ratings.to_frame()[["user", "item", "grade"]]
    frame.rename(columns={"grade": "rating"}).to_csv(file, index=False)
    typed = ["reproduce", "primary", "--path", str(file), "--out", str(out)]
    assert main([*typed, "--splits", "0"]) == 1
    assert "--splits" in capsys.readouterr().err
    out.mkdir(exist_ok=True)
    (out / "primary.csv").write_text("my own table\n")
    assert main([*typed, "--splits", "1"]) == 1
    assert "is there already" in capsys.readouterr().err
    assert (out / "primary.csv").read_text() == "my own table\n"


def test_dear_systems_have_fewer_splits():
    todo = [
        piece for piece in pieces(primary(declared.N_SPLITS, FULL)) if piece.given == 10
    ]
    for name, space in declared.SYSTEMS.items():
        n = sum(piece.system == name for piece in todo)
        assert n == (declared.N_SPLITS_DEAR if space.dear else declared.N_SPLITS)
    assert [piece.seed for piece in todo] == sorted(piece.seed for piece in todo)


def test_other_ratings_or_another_search_have_pieces_of_their_own(ratings):
    changed = ratings.grades.copy()
    changed[0] = 1 + changed[0] % ratings.max_grade
    other = Ratings(ratings.indptr, ratings.indices, changed, n_items=ratings.n_items)
    names = {
        folder_name("a", FULL, ratings), folder_name("a", REDUCED, ratings),
        folder_name("a", FULL, other),
    }  # fmt: skip
    assert len(names) == 3


def test_differences_are_paired_and_holm_is_over_the_primary_endpoint_alone(ratings):
    rng = np.random.default_rng(0)
    one, other = declared.COMPARISONS[0]
    measured = {}
    for seed in range(4):
        base = pd.DataFrame(rng.random((20, len(_COLUMNS))), columns=_COLUMNS)
        fixed = {"user": range(20), "coverage@5": 0.1 * seed, "seconds a fit": 1.0,
                 "settings": "{}", "value": 0.5, "n_fits": 3, "at_edge": ""}  # fmt: skip
        measured[Piece(10, other, seed)] = base.assign(**fixed)
        measured[Piece(10, one, seed)] = (base + 0.1).assign(**fixed)
    protocol = replace(primary(4, FULL), givens=(10,))
    means, differences, choices = make_tables(protocol, ratings, measured)
    np.testing.assert_allclose(differences["difference"], 0.1)
    table = with_holm(differences)
    tested = table["p_holm"].notna()
    assert (table.loc[tested, "metric"] == declared.METRIC).all()
    assert tested.sum() == 1
    coverage = means[means["metric"] == "coverage@5"]
    np.testing.assert_allclose(coverage["mean"], 0.15)
    assert len(choices) == 8


_COLUMNS = [*declared.PER_USER, declared.FEW_CANDIDATES]
