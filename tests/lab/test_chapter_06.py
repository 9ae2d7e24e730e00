"""What notebook 06 leans on: sampled lists, readings of GAP@5, choosing on the test, the tables."""

import numpy as np
import pandas as pd
import pytest

from gapfm_lab import chapter_06
from gapfm_lab.baselines import MeanRating, Popularity
from gapfm_lab.paper import PAPER
from gapfm_lab.primary.measure import split
from gapfm_teach import simulate_ratings, split_given
from gapfm_teach.evaluation import top_n_per_user


def test_measures_of_a_list_by_hand():
    """Δ(4) = 26/32 and Δ(5) = 57/32; hits of grade 4 at rank 1 and 5 at rank 3."""
    found = chapter_06.list_measures([4, 0, 5, 0, 0, 5, 3, 2], -np.arange(8))
    gain = 26 + (26 + 57) / 3
    assert found["P@5"] == 1 / 5
    assert found["GAP@5 (ideal)"] == pytest.approx(gain / (57 + 57 + 26 + 11 + 4))
    assert found["GAP@5 (hits)"] == pytest.approx(gain / (26 + 57))
    ideal = 31 + 31 / np.log2(3) + 15 / 2 + 7 / np.log2(5) + 3 / np.log2(6)
    assert found["NDCG@5"] == pytest.approx((15 + 31 / 2) / ideal)


def test_levels_written_plainly_agree_with_the_compiled_evaluation():
    ratings = simulate_ratings(400, 150, random_state=0)
    plain = chapter_06.popularity_levels(ratings, 10, 10)
    train, known, test, *_ = split("top_n", ratings, 10, 0)
    users = top_n_per_user(Popularity().fit(train), known, test, random_state=0)
    # Fewer than 1,000 items are unrated, so both rank all of them: only ties differ.
    assert plain["NDCG@5"] == pytest.approx(users["NDCG@5"].mean(), abs=0.03)
    assert plain["GAP@5 (hits)"] == pytest.approx(users["GAP@5 (hits)"].mean(), abs=0.06)


def test_choosing_among_equal_variants_only_claims_to_gain():
    """Pure noise: what is reported is the mean of a maximum, what is true is the mean, 0."""
    noise = np.random.default_rng(0).normal(size=(2000, 40))
    reported, true = chapter_06.chosen_on_test(noise, 40, n_users=100)
    alone, alone_true = chapter_06.chosen_on_test(noise, 1, n_users=100)
    assert reported == pytest.approx(2.16 / 10, abs=0.05)  # E max of 40 normals, sd 1/10
    assert max(abs(true), abs(alone), abs(alone_true)) < 0.05


def test_a_truly_better_variant_is_found():
    values = np.zeros((300, 3))
    values[:, 1] = 1.0
    assert chapter_06.chosen_on_test(values, 3) == (1.0, 1.0)


def test_the_papers_sentences_against_its_numbers():
    found = chapter_06.claims()
    holds = found.groupby(level=0)["it holds"].agg(list).to_dict()
    assert holds["GAPfm over all baselines, P@5: over 30%"] == ["yes"]
    assert holds["GAPfm over all baselines, GAP@5: over 10%"] == ["no"]  # .195 / .181
    assert holds["SVD++ worse than PopRec in NDCG@5"] == ["no"]  # .087 and .085 at Given 30
    assert holds["adaptive selection: GAP drops by around 5%"] == ["yes", "no"]
    assert holds["nearly 75% of the runtime can be saved"] == ["no"] * 3
    assert "at least 7.7%, kindly rounded 8.3%" in set(found["its numbers give"])


def test_more_variants_than_there_are_is_named():
    with pytest.raises(ValueError, match="n_variants"):
        chapter_06.chosen_on_test(np.zeros((200, 3)), 4)


def test_full_ranks_count_the_unrated_films_above_each_held_out_one():
    train, test = split_given(
        simulate_ratings(30, 200, mean_ratings=40, random_state=0), 10, random_state=0
    )
    systems = {"PopRec": Popularity().fit(train), "mean": MeanRating(5).fit(train)}
    n_unrated = 200 - int((np.diff(train.indptr) + np.diff(test.indptr)).max())
    data = chapter_06.full_ranks(systems, train, test, n_unrated=n_unrated)
    assert data["users"] == test.n_users
    for name, system in systems.items():
        assert sum(data["systems"][name]) == test.n_ratings
        if n_unrated == 200:
            continue
        mean = data["systems"][name] @ np.arange(n_unrated + 1) / test.n_ratings
        plain = []
        for user in range(test.n_users):
            scores = system.predict(user)
            rated = np.append(train.row(user)[0], test.row(user)[0])
            others = np.delete(scores, rated)
            hidden = scores[test.row(user)[0]][:, None]
            plain += list(
                np.mean((others > hidden) + 0.5 * (others == hidden), axis=1) * n_unrated
            )
        assert abs(mean - np.mean(plain)) < 0.05 * n_unrated


def test_users_with_too_few_unrated_films_are_left_out():
    train, test = split_given(
        simulate_ratings(30, 60, mean_ratings=30, random_state=0), 10, random_state=0
    )
    rated = np.diff(train.indptr) + np.diff(test.indptr)
    data = chapter_06.full_ranks(
        {"PopRec": Popularity().fit(train)}, train, test, n_unrated=30
    )
    assert data["users"] == np.sum(60 - rated >= 30)


def test_of_stored_tables_the_repairs_are_left_out_and_each_given_is_there(tmp_path):
    for n, given in ((2, 10), (3, 50)):
        rows = f"given,system,candidates\n{given},GAPfm,all\n"
        rows += f'{given},"GAPfm, geometric",all\n{given},GAPfm + random selection,all\n'
        (tmp_path / f"table{n}.csv").write_text("# a command\n" + rows)
    found = chapter_06.tables_2_and_3(tmp_path)
    assert found["given"].tolist() == [10, 10, 50, 50]
    assert set(found["system"]) == {"GAPfm", "GAPfm + random selection"}


def test_places_are_those_of_the_means_and_the_papers_lead_is_its_own():
    means = pd.DataFrame({"A": [0.4], "GAPfm": [0.3], "PopRec": [0.2]}, index=[10])
    found = chapter_06.places(means)[10]
    assert found.tolist()[:3] == ["A", "2 of 3", "+50%"]
    paper = PAPER["table2"].query("given == 10 and metric == 'NDCG@5'").set_index("system")
    lead = paper.loc["GAPfm", "value"] / paper.loc["PopRec", "value"] - 1
    assert found["ahead of PopRec, in the paper"] == f"{lead:+.0%}"


def test_pairs_that_change_order_in_full_lists_are_counted():
    drawn, whole = (
        [0.5, 0.4, 0.2, 0.1],
        [0.1, 0.3, 0.15, 0.05],
    )  # the first falls behind two
    rows = [
        (10, system, candidates, "NDCG@5", value)
        for candidates, values in {"1000": drawn, "all": whole}.items()
        for system, value in zip("ABCD", values, strict=True)
    ]
    table = pd.DataFrame(rows, columns=["given", "system", "candidates", "metric", "mean"])
    found = chapter_06.in_full_lists(table)[10]
    assert found["pairs that change order"] == "2 of 6"
    assert found["lost, in %"] == "25 to 80"
