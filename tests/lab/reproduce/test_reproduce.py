"""Tables and figures made again: what is reported, what is kept, and the command."""

import _thread
import json
import signal
import threading
import time

import numpy as np
import pandas as pd
import pytest
from reproduce_sample import SYSTEMS, make_run, put_small_tables, small_protocol

import gapfm_course.command_line as commands
import gapfm_teach.__main__ as command_line
from gapfm_lab.paper import PAPER
from gapfm_lab.primary import run as running
from gapfm_lab.primary.measure import build, split
from gapfm_lab.protocols import PROTOCOLS, STEPS
from gapfm_lab.reproduce import command
from gapfm_lab.reproduce import make as reproduce
from gapfm_lab.reproduce.figures import FIGURES, Figure, draw_table
from gapfm_lab.reproduce.timing import epoch_times, thread_times
from gapfm_teach import Ratings, simulate_ratings
from gapfm_teach.evaluation import ranking_per_user
from gapfm_teach.intervals import compare_splits, summarize_splits
from gapfm_teach.training.recommender import Recommender

NAMES = list(SYSTEMS)


@pytest.fixture(scope="module")
def ratings():
    return simulate_ratings(60, 90, mean_ratings=45, random_state=0)


@pytest.fixture
def small(monkeypatch):
    put_small_tables(monkeypatch)


# --------------------------------------------------------------------------- the numbers


def test_a_table_says_what_the_splits_say(ratings, small, tmp_path):
    made = reproduce.reproduce(make_run(ratings, tmp_path))
    stored = pd.read_csv(tmp_path / "table4.csv", comment="#")
    pd.testing.assert_frame_equal(stored, made, rtol=1e-5, check_dtype=False)
    choices = pd.read_csv(tmp_path / "table4_choices.csv", comment="#")
    chosen = choices.query("given == 15").set_index(["system", "seed"])["settings"]
    runs: dict[str, list[pd.DataFrame]] = {"PopRec": [], "GAPfm": []}
    for name, tables in runs.items():
        for seed in range(3):
            parts = split("ranking", ratings, 15, seed)
            model = build(SYSTEMS[name], json.loads(chosen[name, seed]), seed)
            table = ranking_per_user(model.fit(parts.train), parts.test, random_state=seed)
            others = parts.train.users[~parts.validation]
            tables.append(table.loc[others, ["NDCG@1", "NDCG@5"]])
    counts = np.diff(ratings.indptr)
    overlap = np.mean(15 / counts[counts >= 25])
    for name, tables in runs.items():
        rows = made[(made["system"] == name) & (made["given"] == 15)]
        due = summarize_splits(tables, overlap=overlap)
        columns = ["metric", "mean", "ci_low", "ci_high", "n_users", "n_splits"]
        pd.testing.assert_frame_equal(rows[columns].reset_index(drop=True), due[columns])
    apart = pd.read_csv(tmp_path / "table4_differences.csv", comment="#")
    row = apart[(apart["system"] == "PopRec") & (apart["given"] == 15)].iloc[0]
    due = compare_splits(runs["PopRec"], runs["GAPfm"], overlap=overlap).iloc[0]
    for column in ("difference", "ci_low", "ci_high"):
        assert row[column] == pytest.approx(due[column], rel=1e-4)
    assert set(apart["reference"]) == {"GAPfm"}
    assert set(apart["system"]) == set(NAMES) - {"GAPfm"}
    assert not {"p_value", "p_holm"} & set(apart)  # these comparisons test nothing


def test_top_n_is_measured_against_both_sets_of_candidates(ratings, small, tmp_path):
    made = reproduce.reproduce(make_run(ratings, tmp_path, "table2", n_splits=1))
    assert set(made["candidates"]) == {"1000", "all"}
    assert {"P@5", "NDCG@5", "GAP@5 (hits)"} < set(made["metric"])
    # There are fewer than 1,000 items here, so both are all of them, in another random order.
    means = made.pivot_table(index=["given", "system"], columns="candidates", values="mean")
    np.testing.assert_allclose(means["1000"], means["all"], atol=0.05)


def test_the_file_says_how_it_was_made(ratings, small, tmp_path):
    reproduce.reproduce(make_run(ratings, tmp_path))
    text = (tmp_path / "table4.csv").read_text("utf-8")
    assert text.startswith("# python -m gapfm_teach reproduce it\n")
    for fact in (repr(ratings), "seeds 0 to 2", "steps by 3", f"numpy {np.__version__}"):
        assert fact in text
    assert (tmp_path / "table4.png").read_bytes().startswith(b"\x89PNG")
    assert not (tmp_path / "table4.unfinished").exists()


@pytest.mark.parametrize(
    "name", ["table4.csv", "table4_choices.csv", "table4_differences.csv"]
)
def test_a_strangers_file_stays_and_stops_the_run(ratings, small, tmp_path, name):
    (tmp_path / name).write_text("my own numbers")
    with pytest.raises(FileExistsError, match=rf"{name} is there already"):
        reproduce.reproduce(make_run(ratings, tmp_path))
    assert (tmp_path / name).read_text() == "my own numbers"


def test_a_system_without_its_library_is_left_out_by_name(
    ratings, small, tmp_path, monkeypatch, capsys
):
    monkeypatch.setitem(reproduce.NEEDS, "PopRec", "no_such_library")
    made = reproduce.reproduce(make_run(ratings, tmp_path, n_splits=1))
    assert set(made["system"]) == set(NAMES) - {"PopRec"}
    assert "PopRec is left out" in capsys.readouterr().err
    assert "# PopRec is left out for want of its library" in (
        tmp_path / "table4.csv"
    ).read_text("utf-8")


def test_the_papers_numbers():
    assert {name: len(table) for name, table in PAPER.items()} == {
        "table2": 36, "table3": 15, "table4": 24,
    }  # fmt: skip
    for name, table in PAPER.items():
        assert set(table["system"]) <= set(PROTOCOLS[name].systems)
        assert set(table["given"]) == set(PROTOCOLS[name].givens)
        assert not table.duplicated(["given", "system", "metric"]).any()
    cells = PAPER["table4"].pivot(
        index=["given", "metric"], columns="system", values="value"
    )
    assert cells.loc[(40, "NDCG@5"), "GAPfm"] == 0.704
    assert (cells["GAPfm"] > cells["WLT"]).sum() == 5  # as many as are printed bold


@pytest.mark.parametrize("name", PROTOCOLS)
def test_every_start_builds_its_system_and_comparisons_are_of_systems(name):
    protocol = PROTOCOLS[name]
    for space in protocol.systems.values():
        start = {key: values[0] for key, values in space.choices.items()}
        assert isinstance(build(space, dict(space.numbers) | start, 0), Recommender)
    assert {one for pair in protocol.comparisons for one in pair} <= set(protocol.systems)
    files = [piece.file_name for piece in running.pieces(protocol)]
    assert len(set(files)) == len(files)
    assert not any("/" in file for file in files)


def test_each_change_is_compared_with_the_step_before_or_with_all():
    changes = dict(PROTOCOLS["ablation"].comparisons)
    assert changes["+ unrated in ranks"] == "+ smooth ranks"
    assert changes["- item bias"] == "+ large start"
    assert set(changes) == set(STEPS) - {"printed"}


# --------------------------------------------------------------------------- what is kept


@pytest.fixture
def ctrl_c_heard():
    """Python's own answer to Ctrl-C, which a run in the background begins without."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c_heard")
def test_at_ctrl_c_the_running_piece_is_finished_and_nothing_is_made_twice(
    tmp_path, monkeypatch
):
    made, said, heard = [], [], threading.Event()

    def listen(*words, **_):
        said.extend(words)
        heard.set()

    def make(piece):
        if piece == 1 and len(made) == 1:
            _thread.interrupt_main()
            assert heard.wait(60)
            time.sleep(0.5)  # until what waits is cancelled, right behind the words
        made.append(piece)
        return pd.DataFrame({"x": [piece]})

    monkeypatch.setattr(running, "print", listen, raising=False)
    todo = {f"{piece}.csv": piece for piece in range(3)}
    with pytest.raises(KeyboardInterrupt):
        running.run(todo, make, tmp_path / "pieces", n_jobs=1)
    assert "as soon as what runs is done" in said[0]
    assert len(list((tmp_path / "pieces").glob("*.csv"))) == len(made) < 3
    found = running.run(todo, make, tmp_path / "pieces", n_jobs=1)
    assert sorted(made) == [0, 1, 2]
    assert {piece: table["x"].tolist() for piece, table in found.items()} == {
        0: [0], 1: [1], 2: [2],
    }  # fmt: skip


def test_a_piece_that_failed_is_not_stored(tmp_path):
    with pytest.raises(ZeroDivisionError):
        running.run({"a.csv": 0}, lambda piece: 1 / piece, tmp_path / "pieces", n_jobs=1)
    assert not list((tmp_path / "pieces").iterdir())


def test_a_stopped_run_ends_like_a_whole_one_and_takes_no_others_pieces(
    ratings, small, tmp_path, monkeypatch
):
    """The pieces of mirrored ratings, of the same name and size, are left alone."""
    mirrored = Ratings(
        ratings.indptr, ratings.indices, 6 - ratings.grades, n_items=ratings.n_items,
        max_grade=5, source=ratings.source,
    )  # fmt: skip
    whole = reproduce.reproduce(make_run(ratings, tmp_path / "whole", n_splits=1))
    real = running.measure

    def failing(space, *rest):
        if space is SYSTEMS["GAPfm"]:
            raise ZeroDivisionError
        return real(space, *rest)

    for data in (mirrored, ratings):
        with monkeypatch.context() as patch:
            patch.setattr(running, "measure", failing)
            with pytest.raises(ZeroDivisionError):
                reproduce.reproduce(make_run(data, tmp_path, n_splits=1))
    assert len(list((tmp_path / "table4.unfinished").iterdir())) == 2
    assert reproduce.reproduce(make_run(ratings, tmp_path, n_splits=1)).equals(whole)
    [others] = (tmp_path / "table4.unfinished").iterdir()
    assert "00 given 10 PopRec.csv" in [file.name for file in others.iterdir()]


def test_a_file_where_the_pieces_go_stops_the_run_before_any_work(ratings, tmp_path):
    (tmp_path / "table4.unfinished").write_text("mine")
    with pytest.raises(OSError, match=r"cannot be written to .*--out"):
        reproduce.reproduce(make_run(ratings, tmp_path, "table4"))
    assert (tmp_path / "table4.unfinished").read_text() == "mine"


# --------------------------------------------------------------------------- figures


def test_figures_2_and_3_count_what_they_time(ratings):
    times = epoch_times(ratings, [0], n_given=(10, None), shares=(0.5, 1.0))
    assert times["n_given"].tolist() == [10, 10, 0, 0]
    counts = np.diff(ratings.indptr)
    last = times.iloc[-1]
    assert last["pairs"] == sum(int(n) ** 2 for n in counts)
    assert last["n_ratings"] == ratings.n_ratings
    kept = int((counts >= 20).sum())
    assert times.iloc[0]["pairs"] == round(kept / 2) * 100
    threads = thread_times(ratings, [0, 1], n_threads=[1])
    assert threads["random_state"].tolist() == [0, 1]
    assert (threads["seconds"] > 0).all()


def test_figure_3_is_drawn_from_its_table(ratings):
    table = epoch_times(ratings, [0], n_given=(10, None), shares=(0.5, 1.0))
    left, right = FIGURES["figure3"].draw(table).axes
    assert [line.get_label() for line in left.get_lines()] == ["Given 10", "all ratings"]
    np.testing.assert_allclose(right.get_lines()[1].get_xdata(), table["pairs"][2:])


def test_the_interval_plot_shows_every_system(ratings, small, tmp_path):
    made = reproduce.reproduce(make_run(ratings, tmp_path, n_splits=2))
    (ax,) = draw_table(made).axes
    assert [tick.get_text() for tick in ax.get_yticklabels()] == NAMES
    for container, given in zip(ax.containers, (10, 15), strict=True):
        rows = made[(made["given"] == given) & (made["metric"] == "NDCG@5")]
        np.testing.assert_allclose(
            container.lines[0].get_xdata().astype(float), rows["mean"]
        )


# --------------------------------------------------------------------------- the command


@pytest.fixture
def typed(ratings, small, tmp_path, monkeypatch):
    """Types a reproduce command for the simulated ratings; returns the exit code."""
    monkeypatch.setattr(command, "load_movielens", lambda name, path=None: ratings)
    return lambda *words: command_line.main(
        ["reproduce", *words, "--out", str(tmp_path / "out")]
    )


@pytest.mark.slow
def test_the_command_writes_table_and_picture(typed, tmp_path, capsys):
    assert typed("table4", "--quick", "--data", "1m") == 0
    file = tmp_path / "out" / "1m_table4.csv"
    assert str(file) in capsys.readouterr().out
    first = file.read_text("utf-8").splitlines()[0]
    assert first == "# python -m gapfm_teach reproduce table4 --data 1m --quick"
    assert set(pd.read_csv(file, comment="#")["n_splits"]) == {2}


def test_the_command_makes_figures(typed, tmp_path, monkeypatch):
    quick = FIGURES["figure3"].draw
    measured = epoch_times(
        simulate_ratings(20, 30, mean_ratings=25, random_state=0), [0], n_given=(10,)
    )
    figure = Figure(
        lambda ratings, seed: measured.assign(random_state=seed), quick, "words"
    )
    monkeypatch.setitem(FIGURES, "figure3", figure)
    assert typed("figure3", "--splits", "2") == 0
    out = tmp_path / "out"
    stored = pd.read_csv(out / "figure3.csv", comment="#")
    assert stored["random_state"].tolist() == [0] * len(measured) + [1] * len(measured)
    assert (out / "figure3.png").is_file()


def test_everything_that_can_be_made_can_be_asked_for():
    known = {"primary", "table1", *PROTOCOLS, *FIGURES}
    assert {*commands.RESULTS, *commands.BEYOND} == known


def test_bad_input_ends_with_a_word(typed, capsys, monkeypatch, ratings):
    assert typed("table4", "--splits", "0") == 1
    assert "--splits" in capsys.readouterr().err
    monkeypatch.setitem(PROTOCOLS, "table4", small_protocol(givens=(5000,)))
    assert typed("table4") == 1
    assert "n_given=5000" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        typed("table9")


def test_ctrl_c_says_how_to_go_on(typed, capsys, monkeypatch):
    def stopped(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(reproduce, "measure_all", stopped)
    assert typed("table4", "--quick") == 130
    assert "The same command goes on" in capsys.readouterr().err


@pytest.mark.slow
def test_quick_results_leave_the_full_ones_alone(
    ratings, small, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(command, "load_movielens", lambda name, path=None: ratings)
    results = tmp_path / "notebooks" / "results"
    assert command_line.main(["reproduce", "table4", "--splits", "3"]) == 0
    before = {file.name: file.read_bytes() for file in results.iterdir()}
    assert set(before) == {
        "table4.csv", "table4.png", "table4_choices.csv", "table4_differences.csv",
    }  # fmt: skip
    assert command_line.main(["reproduce", "table4", "--quick"]) == 0
    for name, content in before.items():
        assert (results / name).read_bytes() == content
    quick = pd.read_csv(results / "quick" / "table4.csv", comment="#")
    assert set(quick["n_splits"]) == {2}
    assert str(command.RESULTS / "quick" / "table4.csv") in capsys.readouterr().out


def test_a_folder_that_cannot_be_written_to_is_named_before_any_work(
    typed, tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr(reproduce, "measure_all", None)  # to be called would be an error
    (tmp_path / "out").write_text("a file where the folder should be")
    assert typed("table4", "--quick") == 1
    said = capsys.readouterr().err
    assert f"{tmp_path / 'out'}" in said
    assert "cannot be written to" in said
    assert "--out" in said


@pytest.mark.parametrize(
    "error", [FloatingPointError("not finite"), ImportError("this system needs x")], ids=str
)
def test_what_stops_a_system_ends_the_run_with_a_word(typed, capsys, monkeypatch, error):
    def fails(self, train, validation=None):
        raise error

    monkeypatch.setattr(SYSTEMS["PopRec"].make, "fit", fails)
    assert typed("table4", "--quick", "--splits", "1") == 1
    assert str(error) in capsys.readouterr().err
