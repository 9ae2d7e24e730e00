"""Tables and figures on data of Netflix's kind, at a 200th of its size and less."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from matplotlib.image import imread
from reproduce_sample import EXTENT

import gapfm_teach.__main__ as command_line
from gapfm_lab.baselines import Popularity
from gapfm_lab.experiments.netflix_size import PLACE, active_users
from gapfm_lab.netflix_simulation import simulate_netflix
from gapfm_lab.primary.declared import Space
from gapfm_lab.primary.measure import measure, split
from gapfm_lab.protocols import against
from gapfm_lab.reproduce import make as reproduce
from gapfm_lab.reproduce import netflix
from gapfm_lab.reproduce.make import Run
from gapfm_lab.reproduce.table1 import at_least, statistics
from gapfm_teach import GAPfm, load_netflix, simulate_ratings, top_n_per_user
from gapfm_teach.splits import sample_n, subset

SCALE, LEAST = 0.005, 5  # of the probe's users, those with so many ratings in it count
QUICK = {"learning_rate": "auto", "n_iter": 4}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return simulate_netflix(
        tmp_path_factory.mktemp("data") / "netflix", SCALE, random_state=0
    )


@pytest.fixture(scope="module")
def data(folder, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GAPFM_TEACH_DATA", str(tmp_path_factory.mktemp("cache")))
        return active_users(*load_netflix(folder))


@pytest.fixture
def typed(folder, tmp_path, monkeypatch):
    """Types a reproduce command for these files, with two systems; returns the exit code."""
    monkeypatch.setenv("GAPFM_TEACH_DATA", str(tmp_path / "data"))
    monkeypatch.delenv(PLACE, raising=False)
    put_small_table(monkeypatch)

    def run(name, *words):
        out = ("--out", str(tmp_path / "out"))
        words = words or ("--path", str(folder), "--quick")
        return command_line.main(["reproduce", name, "--data", "netflix", *words, *out])

    return run


def put_small_table(monkeypatch):
    """Of Table 2: two quick systems at two Givens."""
    systems = {
        "PopRec": Space(Popularity),
        "GAPfm": Space(GAPfm, {"reg": 3.0}, fixed=QUICK),
    }
    pairs = against(systems, "GAPfm")
    table = replace(
        netflix.TABLES["table2"], givens=(10, 30), systems=systems, comparisons=pairs,
        extent=EXTENT,
    )  # fmt: skip
    monkeypatch.setitem(netflix.TABLES, "table2", table)


def header(file):
    lines = file.read_text("utf-8").splitlines()
    return "\n".join(line for line in lines if line.startswith("#"))


def run_of(data, out, name="table2"):
    train, probe = data
    return Run(
        name, train, "netflix", out, "python -m gapfm_teach reproduce it", probe=probe
    )


# --------------------------------------------------------------------------- tables 2 and 3


@pytest.mark.slow
def test_table_2_at_a_200th_of_the_size(typed, data, tmp_path):
    assert typed("table2") == 0
    out = tmp_path / "out"
    assert {file.name for file in out.iterdir()} == {
        "netflix_table2.csv", "netflix_table2.png", "netflix_table2_choices.csv",
        "netflix_table2_differences.csv",
    }  # fmt: skip
    words = header(out / "netflix_table2.csv")
    assert words.startswith(
        "# python -m gapfm_teach reproduce table2 --data netflix --scale 1 --quick\n"
    )
    assert "source: simulated, in Netflix's formats, scale 0.005" in words
    assert str(tmp_path) not in words
    made = pd.read_csv(out / "netflix_table2.csv", comment="#")
    choices = pd.read_csv(out / "netflix_table2_choices.csv", comment="#")
    chosen = choices.set_index(["given", "system"])["settings"]
    train, probe = data
    for (given, name), rows in made.groupby(["given", "system"]):
        _, _, _, validation, *_ = split("probe", train, given, 0, probe)
        few = sample_n(train, given, random_state=0)
        settings = json.loads(chosen[given, name])
        model = (
            Popularity() if name == "PopRec" else GAPfm(**settings, **QUICK, random_state=0)
        )
        found = top_n_per_user(model.fit(few), train, probe, random_state=0)
        found = found[~found.index.isin(train.users[validation])]
        assert set(rows["n_users"]) == {len(found)}
        due = found.mean()[rows["metric"]]
        np.testing.assert_allclose(rows.set_index("metric")["mean"], due, rtol=1e-5)


def test_training_ratings_are_drawn_and_the_probe_is_the_test(data):
    train, known, test, *_ = split("probe", data[0], 30, 1, data[1])
    assert (known, test) == data
    assert set(np.diff(train.indptr).tolist()) == {30}
    cells = [part.to_scipy().astype(bool) for part in (train, known, test)]
    assert (cells[0] > cells[1]).nnz == 0
    assert cells[1].multiply(cells[2]).nnz == 0
    same, other = (split("probe", data[0], 30, seed, data[1])[0] for seed in (1, 2))
    assert np.array_equal(same.indices, train.indices)
    assert not np.array_equal(other.indices, train.indices)


def test_users_with_few_ratings_stay_with_all_they_have():
    ratings = simulate_ratings(60, 90, mean_ratings=20, random_state=0)
    before = np.diff(ratings.indptr)
    few = sample_n(ratings, 15, random_state=0)
    assert before.min() < 15 < before.max()
    assert np.diff(few.indptr).tolist() == np.minimum(before, 15).tolist()
    assert few.users.tolist() == ratings.users.tolist()
    assert (few.to_scipy() != ratings.to_scipy()).nnz == ratings.n_ratings - few.n_ratings


def test_of_many_users_a_share_is_tuned_on_and_the_others_measured(data, monkeypatch):
    parts, seen = split("probe", data[0], 10, 0, data[1]), []

    class Spy(Popularity):
        def fit(self, train, validation=None):
            seen.append(set(train.users.tolist()))
            return super().fit(train, validation)

    monkeypatch.setattr("gapfm_lab.primary.measure.MOST_USERS", 300)
    table = measure(Space(Spy), parts, EXTENT)
    assert [len(users) for users in seen] == [300, data[0].n_users]
    held = np.diff(data[1].indptr) >= LEAST
    assert set(table["user"]) == set(data[0].users[held & ~parts.validation].tolist())


# --------------------------------------------------------------------------- table 1


def test_table_1_counts(data, tmp_path, typed):
    assert typed("table1") == 0
    table = pd.read_csv(tmp_path / "out" / "netflix_table1.csv", comment="#")
    frame = data[0].to_frame()
    of_users = frame.groupby("user").size()
    kept = of_users[of_users >= 50]
    row = table.iloc[0]
    assert row["data"] == "simulated, in Netflix's formats, scale 0.005"
    assert (row["users"], row["ratings"]) == (len(kept), kept.sum())
    pairs = len(kept) * data[0].n_items
    assert row["sparseness"] == pytest.approx(1 - kept.sum() / pairs, rel=1e-5)
    assert table["users"].iloc[1] == 319_275
    assert imread(tmp_path / "out" / "netflix_table1.png").std() > 0


def test_table_1_of_movielens(monkeypatch, tmp_path):
    ratings = simulate_ratings(60, 90, mean_ratings=45, random_state=0)
    monkeypatch.setattr(
        "gapfm_lab.reproduce.command.load_movielens", lambda name, path=None: ratings
    )
    assert command_line.main(["reproduce", "table1", "--out", str(tmp_path)]) == 0
    table = pd.read_csv(tmp_path / "table1.csv", comment="#")
    counts = np.diff(ratings.indptr)
    assert table["users"].iloc[0] == (counts >= 50).sum()
    pd.testing.assert_frame_equal(table, statistics(ratings), rtol=1e-5)


def test_the_share_that_reaches_a_count():
    counts = np.array([3, 0, 5, 3, 1])
    values, shares = at_least(counts)
    assert values.tolist() == [1, 3, 5]
    assert shares.tolist() == [np.mean(counts >= value) for value in values]


# --------------------------------------------------------------------------- figures


@pytest.mark.slow
@pytest.mark.parametrize("name", netflix.FIGURES)
def test_figures_are_made_and_say_that_the_data_are_simulated(
    data, tmp_path, monkeypatch, name
):
    few = np.arange(data[0].n_users) < 200
    small = [
        subset(part, np.repeat(few, np.diff(part.indptr)), "200 users", few)
        for part in data
    ]
    monkeypatch.setattr("gapfm_lab.reproduce.timing.REPETITIONS", 2)
    drawn, figure = [], netflix.FIGURES[name]

    def draw(table):
        drawn.append(figure.draw(table))
        return drawn[-1]

    monkeypatch.setitem(netflix.FIGURES, name, replace(figure, draw=draw))
    made = reproduce.reproduce(run_of(small, tmp_path, name))
    assert drawn[0].get_suptitle() == "simulated, in Netflix's formats, scale 0.005"
    assert (made["seconds"] > 0).all()
    assert "Machine: " in header(tmp_path / f"netflix_{name}.csv")


def test_figure_4_on_the_probe_is_what_models_trained_apart_give(data):
    train, probe = data
    made = netflix.probe_sweep(train, probe, 0, n_selected=(20, 30), n_given=30, n_iter=3)
    assert made["selection"].tolist() == ["adaptive", "random", "all"]
    few = sample_n(train, 30, random_state=0)
    every = GAPfm(learning_rate="auto", n_iter=3, random_state=0).fit(few)
    some = GAPfm(
        learning_rate=every.learning_rate_, n_iter=3, random_state=0, n_selected=20
    ).fit(few)
    for selection, model in {"all": every, "adaptive": some}.items():
        found = top_n_per_user(model, train, probe, random_state=0)["GAP@5 (ideal)"].mean()
        row = made[made["selection"] == selection].iloc[0]
        assert row["held_out_gap"] == pytest.approx(found)
    assert made["pairs_two_passes"].tolist()[0] == train.n_users * (30**2 + 20**2)


# --------------------------------------------------------------------------- the command


def test_files_named_by_the_environment_are_used_whole(
    typed, folder, tmp_path, monkeypatch
):
    monkeypatch.setenv(PLACE, str(folder))
    assert typed("table1", "--quick") == 0
    words = header(tmp_path / "out" / "netflix_table1.csv")
    assert "--data netflix --scale 1 --quick" in words
    assert "scale 0.005" in words


@pytest.mark.slow
def test_without_files_a_simulation_is_made_once(typed, tmp_path):
    for _ in range(2):
        assert typed("table1", "--scale", "0.002") == 0
    assert [p.name for p in (tmp_path / "data").glob("simulated*")] == [
        "simulated-netflix-0.002"
    ]
    words = header(tmp_path / "out" / "netflix_table1.csv")
    assert "--data netflix --scale 0.002" in words
    assert "simulated, in Netflix's formats, scale 0.002" in words


@pytest.mark.parametrize(
    ("name", "words", "said"),
    [
        ("figure1", (), "figure1 is not made from Netflix's data; choose table1"),
        ("table4", (), "table4 is not made from Netflix's data; choose table1"),
        ("table1", ("--scale", "2"), "scale must be at most 1"),
        ("table1", ("--path", "nowhere"), "nowhere"),
    ],
)
def test_bad_input_ends_with_a_word(typed, capsys, name, words, said):
    assert typed(name, *words) == 1
    assert said in capsys.readouterr().err


def test_a_scale_goes_with_netflix_alone(capsys):
    assert command_line.main(["reproduce", "table1", "--scale", "0.5"]) == 1
    assert "--scale goes with --data netflix, got --data 100k" in capsys.readouterr().err
