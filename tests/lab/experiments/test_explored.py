"""The data of explorables: ranks counted as they are, and nothing that says who rated what."""

import numpy as np

from gapfm_teach import simulate_ratings, split_given
from gapfm_teach.lab.baselines import MeanRating, Popularity
from gapfm_teach.lab.experiments.explored import full_ranks


def test_full_ranks_count_the_unrated_films_above_each_held_out_one():
    train, test = split_given(
        simulate_ratings(30, 200, mean_ratings=40, random_state=0), 10, random_state=0
    )
    systems = {"PopRec": Popularity().fit(train), "mean": MeanRating(5).fit(train)}
    n_unrated = 200 - int((np.diff(train.indptr) + np.diff(test.indptr)).max())
    data = full_ranks(systems, train, test, n_unrated=n_unrated)
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
    data = full_ranks({"PopRec": Popularity().fit(train)}, train, test, n_unrated=30)
    assert data["users"] == np.sum(60 - rated >= 30)
