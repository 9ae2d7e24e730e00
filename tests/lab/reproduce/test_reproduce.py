"""Tables and figures made again: the protocols, what is reported, and the command."""

import json

import numpy as np
import pandas as pd
import pytest
from reproduce_sample import NAMES, make_run, put_small_tables

import gapfm_course.command_line as commands
import gapfm_teach.__main__ as command_line
from gapfm_lab import protocols
from gapfm_lab.baselines import Popularity
from gapfm_lab.paper import PAPER
from gapfm_lab.protocols import PROTOCOLS, Protocol, measure, split
from gapfm_lab.reproduce import choices, command, tables
from gapfm_lab.reproduce import make as reproduce
from gapfm_lab.reproduce.figures import FIGURES, Figure, draw_table
from gapfm_lab.reproduce.timing import epoch_times, thread_times
from gapfm_lab.systems import SYSTEMS
from gapfm_lab.tuning import folds_of, tune
from gapfm_teach import simulate_ratings
from gapfm_teach.intervals import compare_splits, holm, summarize_splits

TASKS = ["ranking", "catalogue", "top_n"]


@pytest.fixture(scope="module")
def ratings():
    return simulate_ratings(60, 90, mean_ratings=45, random_state=0)


@pytest.fixture
def small(monkeypatch):
    put_small_tables(monkeypatch)


def triples(ratings):
    return set(ratings.to_frame().itertuples(index=False, name=None))


# --------------------------------------------------------------------------- the protocols


@pytest.mark.parametrize("task", TASKS)
def test_a_split_gives_every_user_the_same_number_and_nothing_twice(ratings, task):
    train, known, test = split(task, ratings, 12, seed=3)
    counts = np.diff(ratings.indptr)
    least = 12 + (protocols.N_TEST + 1 if task == "top_n" else 10)
    assert train.users.tolist() == ratings.users[counts >= least].tolist()
    assert set(np.diff(train.indptr).tolist()) == {12}
    assert triples(train) <= triples(known)
    assert not triples(known) & triples(test)
    of_these = ratings.to_frame()[lambda df: df["user"].isin(train.users)]
    assert len(triples(known) | triples(test)) == len(of_these)
    if task == "top_n":
        assert set(np.diff(test.indptr).tolist()) == {protocols.N_TEST}
    else:
        assert triples(known) == triples(train)


@pytest.mark.parametrize("task", TASKS)
def test_the_seed_draws_the_split(ratings, task):
    one, same, other = (split(task, ratings, 12, seed) for seed in (3, 3, 4))
    for first, second, third in zip(one, same, other, strict=True):
        assert triples(first) == triples(second) != triples(third)


@pytest.mark.parametrize("task", TASKS)
def test_the_seed_breaks_ties_where_lists_are_measured(ratings, task):
    class Tied:
        def predict(self, user, items):
            return np.zeros(len(items))

    _, known, test = split(task, ratings, 12, 0)
    one, same, other = (measure(task, Tied(), known, test, seed) for seed in (3, 3, 4))
    assert one.equals(same)
    assert not one.equals(other)


def test_ratings_left_aside_are_no_candidates(ratings):
    """A system that puts them first, then the test items by grade, makes perfect lists."""
    train, known, test = split("top_n", ratings, 12, seed=0)
    held, aside = test.to_scipy().toarray(), known.to_scipy().toarray() > 0
    aside &= train.to_scipy().toarray() == 0
    assert aside.any()

    class Oracle:
        def predict(self, user, items):
            return np.where(aside[user], 100, held[user])[items].astype(float)

    table = measure("top_n", Oracle(), known, test, seed=0)
    ideal = [f"{name} {m}" for name in ("1000", "all") for m in ("NDCG@5", "GAP@5 (ideal)")]
    np.testing.assert_allclose(table[ideal], 1.0)


# --------------------------------------------------------------------------- the numbers


def test_a_table_says_what_the_splits_say(ratings, small, tmp_path):
    made = reproduce.reproduce(make_run(ratings, tmp_path))
    stored = pd.read_csv(tmp_path / "table4.csv", comment="#")
    pd.testing.assert_frame_equal(stored, made, rtol=1e-5, check_dtype=False)
    runs: dict[str, list[pd.DataFrame]] = {"PopRec": [], "GAPfm": []}
    for name, found in runs.items():
        row = made[(made["system"] == name) & (made["given"] == 15)].iloc[0]
        for seed, settings in enumerate(json.loads(row["settings"])):
            train, known, test = split("ranking", ratings, 15, seed)
            folds = folds_of(train, known, seed, n_held_out=7)
            search = tune(SYSTEMS[name], folds, "ranking", n_trials=2, random_state=seed)
            assert settings == search.chosen()
            model = SYSTEMS[name].build(settings, seed).fit(train)
            found.append(measure("ranking", model, train, test, seed))
        counts = np.diff(ratings.indptr)
        overlap = np.mean(15 / counts[counts >= 25])
        due = summarize_splits(found, overlap=overlap).iloc[0]
        assert (row["metric"], row["n_splits"], row["n_failed"]) == ("NDCG@1", 3, 0)
        for column in ("mean", "ci_low", "ci_high", "split_sd", "n_users"):
            assert row[column] == pytest.approx(due[column])
    apart = pd.read_csv(tmp_path / "table4_differences.csv", comment="#")
    row = apart[(apart["system"] == "PopRec") & (apart["given"] == 15)].iloc[0]
    due = compare_splits(runs["PopRec"], runs["GAPfm"], overlap=overlap).iloc[0]
    for column in ("difference", "ci_low", "ci_high", "p_value", "effect_size"):
        assert row[column] == pytest.approx(due[column], rel=1e-4)
    assert set(apart["reference"]) == {"GAPfm"}
    assert set(apart["system"]) == set(NAMES) - {"GAPfm"}
    np.testing.assert_allclose(apart["p_holm"], holm(apart["p_value"]), rtol=1e-4)


def test_what_failed_or_collapsed_is_counted(ratings, small, tmp_path, monkeypatch):
    """One split without a result, and one far below popularity, in three."""
    real = measure

    def measured(task, model, known, test, seed):
        found = real(task, model, known, test, seed)
        return found * (0.01 if seed == 2 and type(model).__name__ == "MeanRating" else 1)

    def fails(self, train, validation=None):
        if train.source.endswith("given for each user") and self.random_state == 1:
            raise FloatingPointError("not finite")
        return fit(self, train, validation)

    fit = SYSTEMS["GAPfm"].make.fit
    monkeypatch.setattr(tables, "measure", measured)
    monkeypatch.setattr(SYSTEMS["GAPfm"].make, "fit", fails)
    made = reproduce.reproduce(make_run(ratings, tmp_path)).set_index("system")
    assert set(made.loc["GAPfm", "n_failed"]) == {1}
    assert set(made.loc["GAPfm", "n_splits"]) == {2}
    assert set(made.loc["Shrunken mean rating", "n_collapsed"]) == {1}
    assert set(made.loc["PopRec", "n_collapsed"]) == {0}


def test_tuning_sees_nothing_of_the_split_it_is_for(ratings, small, tmp_path, monkeypatch):
    """Validation parts are taken from the very training ratings, and the test is in no list."""
    seen, real = [], choices.folds_of

    def noted(train, known, seed, **options):
        seen.append((train, known, seed))
        return real(train, known, seed, **options)

    monkeypatch.setattr(choices, "folds_of", noted)
    reproduce.reproduce(make_run(ratings, tmp_path, "table2", n_splits=2))
    assert sorted({seed for *_, seed in seen}) == [0, 1]
    for train, known, seed in seen:
        given = int(np.diff(train.indptr)[0])
        due, all_known, test = split("top_n", ratings, given, seed)
        assert triples(train) == triples(due)
        assert triples(known) == triples(all_known)
        assert not triples(known) & triples(test)


@pytest.mark.slow
def test_top_n_is_measured_against_both_sets_of_candidates(ratings, small, tmp_path):
    made = reproduce.reproduce(make_run(ratings, tmp_path, "table2", n_splits=1))
    assert set(made["candidates"]) == {"1000", "all"}
    assert {"P@5", "NDCG@5", "GAP@5 (hits)"} < set(made["metric"])
    # There are fewer than 1,000 items here, so both are all of them, in another random order.
    means = made.pivot_table(index=["given", "system"], columns="candidates", values="mean")
    np.testing.assert_allclose(means["1000"], means["all"], atol=0.02)


@pytest.mark.slow
def test_each_metric_is_measured_with_the_settings_best_by_it(
    ratings, small, tmp_path, monkeypatch
):
    metrics = ("NDCG@5", "ERR@5")
    several = Protocol(
        "catalogue", (10,), NAMES, "small", references=("PopRec",), tuned_for=metrics
    )
    monkeypatch.setitem(PROTOCOLS, "family", several)
    reproduce.reproduce(make_run(ratings, tmp_path, "family", n_splits=1))
    file = tmp_path / "family_choices.csv"
    stored = pd.read_csv(file, comment="#")
    mine = (stored["system"] == "GAPfm") & (stored["metric"] == "ERR@5")
    other = (
        '{"learning_rate": 0.5, "n_iter": 2}'  # as if the metrics wanted different settings
    )
    stored.loc[mine, "settings"] = other
    file.write_text(f"# {choices.HEADER}\n{stored.to_csv(index=False)}")
    made = reproduce.reproduce(make_run(ratings, tmp_path, "family", n_splits=1))
    assert made["metric"].tolist() == ["NDCG@5", "ERR@5"] * 3
    text = (tmp_path / "family.csv").read_text()
    assert "Each metric with the settings best by it" in text
    train, known, test = split("catalogue", ratings, 10, 0)
    for metric in metrics:
        row = made[(made["metric"] == metric) & (made["system"] == "GAPfm")].iloc[0]
        [settings] = json.loads(row["settings"])
        assert (settings == json.loads(other)) == (metric == "ERR@5")
        model = SYSTEMS["GAPfm"].build(settings, 0).fit(train)
        due = measure("catalogue", model, known, test, 0)[metric].mean()
        assert row["mean"] == pytest.approx(due)


def test_the_file_says_how_it_was_made(ratings, small, tmp_path):
    reproduce.reproduce(make_run(ratings, tmp_path))
    header = [
        line
        for line in (tmp_path / "table4.csv").read_text("utf-8").splitlines()
        if line.startswith("#")
    ]
    assert header[0] == "# python -m gapfm_teach reproduce it"
    text = "\n".join(header)
    for fact in (
        repr(ratings),
        "seeds 0 to 2",
        "2 points drawn",
        f"numpy {np.__version__}",
    ):
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
    monkeypatch.setitem(tables.NEEDS, "PopRec", "no_such_library")
    made = reproduce.reproduce(make_run(ratings, tmp_path))
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
    made = reproduce.reproduce(make_run(ratings, tmp_path, n_splits=1))
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
    monkeypatch.setitem(PROTOCOLS, "table4", Protocol("ranking", (5000,), NAMES, ""))
    assert typed("table4") == 1
    assert "n_given=5000" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        typed("table9")


def test_ctrl_c_says_how_to_go_on(typed, capsys, monkeypatch):
    def stopped(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(tables, "measure", stopped)
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
    monkeypatch.setattr(choices, "tune", None)  # to be called would be an error
    (tmp_path / "out").write_text("a file where the folder should be")
    assert typed("table4", "--quick") == 1
    said = capsys.readouterr().err
    assert f"{tmp_path / 'out'} cannot be written to" in said
    assert "--out" in said


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (FloatingPointError("not finite"), "PopRec, Given 10: training left the finite"),
        (ImportError("this system needs x"), "this system needs x"),
    ],
)
def test_what_stops_a_system_ends_the_run_with_a_word(
    typed, capsys, monkeypatch, error, words
):
    typed("table4", "--quick", "--splits", "1")  # tunes

    def fails(self, train, validation=None):
        raise error

    monkeypatch.setattr(Popularity, "fit", fails)
    assert typed("table4", "--quick", "--splits", "1") == 1
    assert words in capsys.readouterr().err
