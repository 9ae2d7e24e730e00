"""A run that was stopped is taken up: pieces, choices, Ctrl-C, damaged files."""

import _thread
import signal
import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from reproduce_sample import NAMES, make_run, put_small_tables

from gapfm_lab.protocols import PROTOCOLS, Protocol, measure
from gapfm_lab.reproduce import choices, tables
from gapfm_lab.reproduce import make as reproduce
from gapfm_lab.reproduce.result_cache import ResultCache, Stopped, stoppable
from gapfm_lab.systems import SYSTEMS
from gapfm_teach import Ratings, simulate_ratings


@pytest.fixture(scope="module")
def ratings():
    return simulate_ratings(60, 90, mean_ratings=45, random_state=0)


@pytest.fixture
def small(monkeypatch):
    put_small_tables(monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["table2", "table4"])
def test_a_stopped_run_goes_on_and_repeats_nothing(
    ratings, small, tmp_path, monkeypatch, name
):
    done, stop_at = [], [2, 7]

    def counted(task, system, known, test, seed):
        if len(done) in stop_at[:1]:
            raise KeyboardInterrupt
        table = measure(task, system, known, test, seed)
        done.append(seed)
        return table

    monkeypatch.setattr(tables, "measure", counted)
    while stop_at:
        with pytest.raises(KeyboardInterrupt):
            reproduce.reproduce(make_run(ratings, tmp_path, name))
        assert not (tmp_path / f"{name}.csv").exists()
        stop_at.pop(0)
    reproduce.reproduce(make_run(ratings, tmp_path, name))
    assert sorted(done) == sorted([0, 1, 2] * 2 * len(NAMES))


@pytest.mark.slow
def test_a_run_that_was_stopped_ends_like_one_that_was_not(
    ratings, small, tmp_path, monkeypatch
):
    reproduce.reproduce(make_run(ratings, tmp_path / "whole"))
    left = [4]

    def stops(*args):
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        return measure(*args)

    with monkeypatch.context() as patch:
        patch.setattr(tables, "measure", stops)
        with pytest.raises(KeyboardInterrupt):
            reproduce.reproduce(make_run(ratings, tmp_path / "halves"))
    reproduce.reproduce(make_run(ratings, tmp_path / "halves"))
    whole, halves = (
        pd.read_csv(tmp_path / where / "table4.csv", comment="#").drop(columns="seconds")
        for where in ("whole", "halves")
    )
    assert whole.equals(halves)


@pytest.fixture
def searched(monkeypatch):
    """Notes the searches that are really made: which system, and with how many points."""
    calls, real = [], choices.tune

    def noted(system, folds, task, **options):
        search = real(system, folds, task, **options)
        calls.append((system.make.__name__, len(search.trials)))
        return search

    monkeypatch.setattr(choices, "tune", noted)
    return calls


@pytest.mark.slow
def test_stored_choices_are_taken_over_until_told_otherwise(
    ratings, small, tmp_path, searched
):
    reproduce.reproduce(make_run(ratings, tmp_path, n_splits=2))
    n = len(searched)
    assert n == 2 * 2 * len(NAMES)
    first = (tmp_path / "table4_choices.csv").read_text()
    reproduce.reproduce(make_run(ratings, tmp_path, n_splits=1))
    assert len(searched) == n
    reproduce.reproduce(make_run(ratings, tmp_path, n_splits=3))
    assert len(searched) == n + 2 * len(NAMES)  # the third split's
    reproduce.reproduce(make_run(ratings, tmp_path, n_splits=1, n_trials=3))
    assert len(searched) == n + 4 * len(NAMES)
    reproduce.reproduce(make_run(ratings, tmp_path, n_splits=1, tune_again=True))
    assert len(searched) == n + 6 * len(NAMES)
    now = pd.read_csv(tmp_path / "table4_choices.csv", comment="#")
    assert len(now) == 2 * len(NAMES) * (3 + 1)
    rows = first.splitlines()[2:]
    assert len(rows) == 1 + 2 * 2 * len(NAMES)


@pytest.mark.slow
def test_a_search_is_made_once_for_all_metrics(
    ratings, small, tmp_path, searched, monkeypatch
):
    several = Protocol(
        "catalogue", (10,), NAMES, "small", tuned_for=("NDCG@5", "ERR@5", "AP@5")
    )
    monkeypatch.setitem(PROTOCOLS, "family", several)
    run = make_run(ratings, tmp_path, "family", n_splits=1)
    reproduce.reproduce(run)
    assert len(searched) == len(NAMES)
    stored = pd.read_csv(run.choices, comment="#")
    assert stored.groupby("system").size().to_dict() == dict.fromkeys(NAMES, 3)


def test_another_grid_is_searched_anew(ratings, small, tmp_path, searched, monkeypatch):
    reproduce.reproduce(make_run(ratings, tmp_path, n_splits=1))
    n = len(searched)
    wider = replace(SYSTEMS["GAPfm"], grid={"learning_rate": [0.02], "n_iter": [3]})
    monkeypatch.setitem(SYSTEMS, "GAPfm", wider)
    made = reproduce.reproduce(make_run(ratings, tmp_path, n_splits=1))
    assert searched[n:] == [("GAPfm", 1)] * 2
    chosen = made[made["system"] == "GAPfm"]["settings"]
    assert set(chosen) == {'[{"learning_rate": 0.02, "n_iter": 3}]'}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "due"), [("table2", [5, 5]), ("table4", [5, 7])])
def test_a_validation_list_has_half_of_what_is_given_or_five(
    ratings, small, tmp_path, monkeypatch, name, due
):
    held_out, real = [], choices.folds_of

    def noted(*args, **options):
        held_out.append(options["n_held_out"])
        return real(*args, **options)

    monkeypatch.setattr(choices, "folds_of", noted)
    reproduce.reproduce(make_run(ratings, tmp_path, name, n_splits=1, n_trials=1))
    assert held_out == due  # of Given 10 and 15


def test_the_cache_makes_each_entry_once(tmp_path):
    cache, made = ResultCache(tmp_path / "j"), []
    table = pd.DataFrame({"user": ["a", "b"], "x": [0.1 + 0.2, np.pi / 1e9]})

    def make():
        made.append(1)
        return table

    first, later = (cache.get({"seed": 1}, make) for _ in range(2))
    assert len(made) == 1
    pd.testing.assert_frame_equal(first, later, check_exact=True)
    # Some versions of pandas read the last binary digit of 0.30000000000000004 wrongly.
    pd.testing.assert_frame_equal(first, table, rtol=1e-15)
    again = ResultCache(tmp_path / "j")
    again.get({"seed": 1}, make)
    assert len(made) == 1
    again.get({"seed": 2}, make)
    assert len(made) == 2
    again.clear()
    again.get({"seed": 1}, make)
    assert len(made) == 3


def test_a_piece_that_failed_is_not_stored(tmp_path):
    cache = ResultCache(tmp_path)
    with pytest.raises(ZeroDivisionError):
        cache.get({"seed": 1}, lambda: 1 / 0)
    assert len(cache.get({"seed": 1}, lambda: pd.DataFrame({"x": [1]}))) == 1


@pytest.fixture
def ctrl_c_heard():
    """Python's own answer to Ctrl-C, which a run in the background begins without."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c_heard")
def test_ctrl_c_waits_for_the_running_piece_and_says_so(capsys):
    pieces, ends = [], []

    def work(check):
        try:
            for piece in range(1000):
                check()
                if piece == 1:
                    _thread.interrupt_main()
                time.sleep(0.01)
                pieces.append(piece)
        except Stopped:
            ends.append("between pieces")
            raise

    with pytest.raises(KeyboardInterrupt):
        stoppable(work)
    assert pieces == list(range(len(pieces)))
    assert 1 in pieces
    assert ends == ["between pieces"]
    assert "as soon as the running entry is done" in capsys.readouterr().err
    assert stoppable(lambda check: 7) == 7


@pytest.mark.slow
def test_pieces_of_other_ratings_are_not_taken_for_ones_own(
    ratings, small, tmp_path, monkeypatch
):
    """Two data sets of the same name and size: the content decides."""
    mirrored = Ratings(
        ratings.indptr, ratings.indices, 6 - ratings.grades, n_items=ratings.n_items,
        max_grade=5, source=ratings.source,
    )  # fmt: skip
    assert repr(mirrored) == repr(ratings)
    reproduce.reproduce(make_run(mirrored, tmp_path / "whole"))

    with monkeypatch.context() as patch:  # all pieces of the first are there, no table
        patch.setattr(tables, "summarize", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            reproduce.reproduce(make_run(ratings, tmp_path / "mixed"))
    mixed = reproduce.reproduce(make_run(mirrored, tmp_path / "mixed"))
    whole = pd.read_csv(tmp_path / "whole" / "table4.csv", comment="#")
    pd.testing.assert_frame_equal(
        mixed.drop(columns="seconds"),
        whole.drop(columns="seconds"),
        rtol=1e-5,
        check_dtype=False,
    )


def test_what_others_keep_among_the_pieces_stays(ratings, small, tmp_path):
    """Theirs is in the folder before the run, and named nearly like a piece."""
    folder = tmp_path / "table4.unfinished"
    names = ["notes.txt", "0123456789abcdef01234567.csv.bak", "0123456789abcdef.csv"]
    (folder / "chapter").mkdir(parents=True)
    for name in [*names, "chapter/1.txt"]:
        (folder / name).write_text("my thesis")
    half = folder / "0123456789abcdef01234567.csv.0123abcd.part"  # a killed run wrote at it
    half.write_text("# {")
    reproduce.reproduce(make_run(ratings, tmp_path, "table4"))
    assert (tmp_path / "table4.csv").exists()
    assert sorted(path.name for path in folder.iterdir()) == sorted([*names, "chapter"])
    assert all((folder / name).read_text() == "my thesis" for name in names)
    assert (folder / "chapter" / "1.txt").read_text() == "my thesis"


def test_a_file_where_the_pieces_go_stops_the_run_before_any_work(ratings, tmp_path):
    (tmp_path / "table4.unfinished").write_text("mine")
    with pytest.raises(OSError, match=r"table4\.unfinished cannot be written to .*--out"):
        reproduce.reproduce(make_run(ratings, tmp_path, "table4"))
    assert (tmp_path / "table4.unfinished").read_text() == "mine"
    assert len(list(tmp_path.iterdir())) == 1
