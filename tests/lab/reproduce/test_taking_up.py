"""A run that was stopped is taken up: pieces, trials, Ctrl-C, damaged files."""

import _thread
import signal
import time

import numpy as np
import pandas as pd
import pytest
from reproduce_sample import NAMES, make_run, put_small_tables

from gapfm_teach import Ratings, simulate_ratings
from gapfm_teach.lab import tuning
from gapfm_teach.lab.protocols import PROTOCOLS, Protocol, measure, split
from gapfm_teach.lab.reproduce import make as reproduce
from gapfm_teach.lab.reproduce.journal import Journal, Stopped, stoppable


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

    monkeypatch.setattr(reproduce, "measure", counted)
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
        patch.setattr(reproduce, "measure", stops)
        with pytest.raises(KeyboardInterrupt):
            reproduce.reproduce(make_run(ratings, tmp_path / "halves"))
    reproduce.reproduce(make_run(ratings, tmp_path / "halves"))
    for file in ("table4.csv", "trials.csv"):
        one, other = (tmp_path / where / file for where in ("whole", "halves"))
        assert one.read_bytes() == other.read_bytes()


@pytest.fixture
def tried(monkeypatch):
    """Counts the trials of tuning that are really run."""
    count, real = [], tuning._measure
    monkeypatch.setattr(tuning, "_measure", lambda *args: count.append(1) or real(*args))
    return count


@pytest.mark.slow
def test_stored_trials_are_taken_over_until_told_otherwise(ratings, small, tmp_path, tried):
    reproduce.reproduce(make_run(ratings, tmp_path))
    n_trials = len(tried)
    assert n_trials == 2 * (1 + 2 + 2)  # PopRec has nothing to tune
    first = (tmp_path / "trials.csv").read_bytes()
    reproduce.reproduce(make_run(ratings, tmp_path, n_splits=1))
    assert len(tried) == n_trials
    reproduce.reproduce(make_run(ratings, tmp_path, n_splits=1, n_trials=3))
    assert len(tried) == n_trials + 2  # a third trial of the mean, at each Given
    reproduce.reproduce(make_run(ratings, tmp_path, n_splits=1, tune_again=True))
    assert len(tried) == 2 * n_trials + 2
    stored = pd.read_csv(tmp_path / "trials.csv", comment="#")
    assert len(stored) == n_trials + 2
    now = (tmp_path / "trials.csv").read_bytes().splitlines()
    assert set(first.splitlines()) <= set(now)  # the same trials give the same numbers


@pytest.mark.slow
def test_trials_are_run_once_for_all_metrics(ratings, small, tmp_path, tried, monkeypatch):
    several = Protocol(
        "catalogue", (10,), NAMES, "small", tuned_for=("NDCG@5", "ERR@5", "AP@5")
    )
    monkeypatch.setitem(PROTOCOLS, "family", several)
    for n_runs in (1, 2):
        run = make_run(ratings, tmp_path, "family", n_splits=1, tune_again=True)
        reproduce.reproduce(run)
        assert len(tried) == n_runs * (1 + 2 + 2)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "due"), [("table2", [5, 5]), ("table4", [5, 7])])
def test_a_validation_list_has_half_of_what_is_given_or_five(
    ratings, small, tmp_path, monkeypatch, name, due
):
    held_out, real = [], tuning.tune

    def noted(*args, **options):
        held_out.append(options["n_held_out"])
        return real(*args, **options)

    monkeypatch.setattr("gapfm_teach.lab.reproduce.trials.tune", noted)
    reproduce.reproduce(make_run(ratings, tmp_path, name, n_splits=1, n_trials=1))
    assert held_out == due  # of Given 10 and 15


def test_tuning_never_sees_a_test(ratings, small, tmp_path, monkeypatch):
    """What is tuned on does not depend on how many splits are measured, nor on their seeds."""
    seen = []
    real = split

    def noted(task, ratings, given, seed):
        seen.append(seed)
        return real(task, ratings, given, seed)

    monkeypatch.setattr("gapfm_teach.lab.reproduce.trials.split", noted)
    reproduce.reproduce(make_run(ratings, tmp_path))
    assert set(seen) == {1000}


def test_the_journal_makes_each_piece_once(tmp_path):
    journal, made = Journal(tmp_path / "j"), []
    table = pd.DataFrame({"user": ["a", "b"], "x": [0.1 + 0.2, np.pi / 1e9]})

    def make():
        made.append(1)
        return table

    first, later = (journal.get({"seed": 1}, make) for _ in range(2))
    assert len(made) == 1
    pd.testing.assert_frame_equal(first, later, check_exact=True)
    # Some versions of pandas read the last binary digit of 0.30000000000000004 wrongly.
    pd.testing.assert_frame_equal(first, table, rtol=1e-15)
    again = Journal(tmp_path / "j")
    again.get({"seed": 1}, make)
    assert len(made) == 1
    again.get({"seed": 2}, make)
    assert len(made) == 2
    again.clear()
    again.get({"seed": 1}, make)
    assert len(made) == 3


def test_a_piece_that_failed_is_not_stored(tmp_path):
    journal = Journal(tmp_path)
    with pytest.raises(ZeroDivisionError):
        journal.get({"seed": 1}, lambda: 1 / 0)
    assert len(journal.get({"seed": 1}, lambda: pd.DataFrame({"x": [1]}))) == 1


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
    assert "as soon as the running piece is done" in capsys.readouterr().err
    assert stoppable(lambda check: 7) == 7


DAMAGE = {
    "emptied": lambda content: b"",
    "cut short": lambda content: content[: len(content) * 2 // 3],
    "cut at a line": lambda content: content[: content.rindex(b"\n", 0, -1) + 1],
    "one digit changed": lambda content: content[:-2] + b"7" + content[-1:],
    "another piece": lambda content: content.replace(b'"seed": 1', b'"seed": 2'),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_piece_is_made_anew_and_said_to_be(tmp_path, damage):
    table = pd.DataFrame({"user": [1, 2, 3], "x": [0.25, 0.5, 0.125]})
    journal, made = Journal(tmp_path), []
    journal.get({"seed": 1}, lambda: table)
    (file,) = tmp_path.iterdir()
    content = file.read_bytes()
    file.write_bytes(DAMAGE[damage](content))
    assert file.read_bytes() != content
    with pytest.warns(UserWarning, match=r"\.csv is damaged; this piece is made anew"):
        again = journal.get({"seed": 1}, lambda: made.append(1) or table)
    assert made == [1]
    pd.testing.assert_frame_equal(again, table)
    assert file.read_bytes() == content


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
        patch.setattr(reproduce, "summarize", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            reproduce.reproduce(make_run(ratings, tmp_path / "mixed"))
    mixed = reproduce.reproduce(make_run(mirrored, tmp_path / "mixed"))
    whole = pd.read_csv(tmp_path / "whole" / "table4.csv", comment="#")
    pd.testing.assert_frame_equal(mixed, whole, rtol=1e-5)


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
