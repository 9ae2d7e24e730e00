"""What notebook 06 leans on: readings of GAP@5, the constructed catalogue, choosing on the test."""

import numpy as np
import pandas as pd
import pytest

from gapfm_teach import simulate_ratings
from gapfm_teach.evaluation import top_n_per_user
from gapfm_teach.lab import protocols
from gapfm_teach.lab.experiments import protocol_effects, results
from gapfm_teach.lab.paper import PAPER
from gapfm_teach.lab.systems import SYSTEMS


def test_a_stored_table_comes_back_and_one_that_is_not_there_is_named(tmp_path):
    (tmp_path / "one.csv").write_text("# a command\nsystem,candidates\nours,1000\n")
    assert results.read_results(tmp_path / "one.csv")["candidates"].tolist() == ["1000"]
    with pytest.raises(FileNotFoundError, match=r"other\.csv"):
        results.read_results(tmp_path / "other.csv")


def test_measures_of_a_list_by_hand():
    """Δ(4) = 26/32 and Δ(5) = 57/32; hits of grade 4 at rank 1 and 5 at rank 3."""
    found = protocol_effects.list_measures([4, 0, 5, 0, 0, 5, 3, 2], -np.arange(8))
    gain = 26 + (26 + 57) / 3
    assert found["P@5"] == 1 / 5
    assert found["GAP@5 (ideal)"] == pytest.approx(gain / (57 + 57 + 26 + 11 + 4))
    assert found["GAP@5 (hits)"] == pytest.approx(gain / (26 + 57))
    ideal = 31 + 31 / np.log2(3) + 15 / 2 + 7 / np.log2(5) + 3 / np.log2(6)
    assert found["NDCG@5"] == pytest.approx((15 + 31 / 2) / ideal)


def test_levels_written_plainly_agree_with_the_compiled_evaluation():
    ratings = simulate_ratings(400, 150, random_state=0)
    plain = protocol_effects.popularity_levels(ratings, 10, 10)
    train, known, test = protocols.split("top_n", ratings, 10, 0)
    system = SYSTEMS["PopRec"].build({}, 0).fit(train)
    users = top_n_per_user(system, known, test, random_state=0)
    # Fewer than 1,000 items are unrated, so both rank all of them: only ties differ.
    assert plain["NDCG@5"] == pytest.approx(users["NDCG@5"].mean(), abs=0.03)
    assert plain["GAP@5 (hits)"] == pytest.approx(users["GAP@5 (hits)"].mean(), abs=0.06)


def test_choosing_among_equal_variants_only_claims_to_gain():
    """Pure noise: what is reported is the mean of a maximum, what is true is the mean, 0."""
    noise = np.random.default_rng(0).normal(size=(2000, 40))
    reported, true = protocol_effects.chosen_on_test(noise, 40, n_users=100)
    alone, alone_true = protocol_effects.chosen_on_test(noise, 1, n_users=100)
    assert reported == pytest.approx(2.16 / 10, abs=0.05)  # E max of 40 normals, sd 1/10
    assert max(abs(true), abs(alone), abs(alone_true)) < 0.05


def test_a_truly_better_variant_is_found():
    values = np.zeros((300, 3))
    values[:, 1] = 1.0
    assert protocol_effects.chosen_on_test(values, 3) == (1.0, 1.0)


def test_the_papers_sentences_against_its_numbers():
    found = protocol_effects.claims()
    holds = found.groupby(level=0)["it holds"].agg(list).to_dict()
    assert holds["GAPfm over all baselines, P@5: over 30%"] == ["yes"]
    assert holds["GAPfm over all baselines, GAP@5: over 10%"] == ["no"]  # .195 / .181
    assert holds["SVD++ worse than PopRec in NDCG@5"] == ["no"]  # .087 and .085 at Given 30
    assert holds["adaptive selection: GAP drops by around 5%"] == ["yes", "no"]
    assert holds["nearly 75% of the runtime can be saved"] == ["no"] * 3
    assert "at least 7.7%, kindly rounded 8.3%" in set(found["its numbers give"])


def test_more_variants_than_there_are_is_named():
    with pytest.raises(ValueError, match="n_variants"):
        protocol_effects.chosen_on_test(np.zeros((200, 3)), 4)


def test_our_table_stands_beside_the_papers():
    rows = [
        (10, system, "1000", metric, mean, mean - 0.01, mean + 0.01)
        for system, mean in {"GAPfm": 0.1, "EASE": 0.2}.items()
        for metric in protocol_effects.METRICS
    ]
    columns = ["given", "system", "candidates", "metric", "mean", "ci_low", "ci_high"]
    table = results.beside_paper(pd.DataFrame(rows, columns=columns), "table2", 10)
    assert table.index.tolist() == ["EASE", "GAPfm"]
    assert table.loc["EASE", ("MovieLens 100K", "P@5")] == ".200\N{NO-BREAK SPACE}±.010"
    paper = PAPER["table2"].query("given == 10 and system == 'GAPfm' and metric == 'P@5'")
    assert float(table.loc["GAPfm", ("paper, on Netflix", "P@5")]) == paper["value"].item()
    assert table.loc["EASE", ("paper, on Netflix", "P@5")] == ""


@pytest.fixture
def rows():
    values = {
        "A": (0.3, 0.2, 0.5, 0, 0),
        "B": (0.1, 0.0, 0.2, 1, 2),
        "C": (0.2, 0.1, 0.3, 0, 0),
    }
    columns = ["mean", "ci_low", "ci_high", "n_failed", "n_collapsed"]
    table = pd.DataFrame(values, columns).T.rename_axis("system").reset_index()
    counts = ["n_failed", "n_collapsed"]
    return table.assign(n_splits=4).astype(dict.fromkeys(counts, int))


def test_a_folded_table_holds_all_its_rows():
    table = pd.DataFrame({"x": range(200)})
    folded = results.Folded("A & B", table)
    page = folded._repr_html_()
    assert page.startswith("<details")
    assert "A &amp; B</summary>" in page
    assert page.count("<tr") == 201
    assert str(folded).count("\n") == 201


def test_costs_are_means_and_warnings_are_counted(rows):
    choices = pd.DataFrame(
        {
            "system": ["A", "A", "B"],
            "n_trials": [10, 20, 3],
            "fits": [12, 24, 9],
            "seconds": [1.2, 2.4, 7.0],
            "at_edge": ["reg", np.nan, ""],
        }
    )
    found = results.costs(choices, rows)
    assert found.loc["A"].tolist() == [15, 18, 2, 1, 0, 0]
    assert found.loc["B", ["at an edge", "failed", "collapsed"]].tolist() == [0, 1, 2]
