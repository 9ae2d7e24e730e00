"""One model's GAP by all its names: the rows differ by what is ranked and against what."""

import numpy as np
import pytest

from gapfm_teach import GAPfm, graded_average_precision, simulate_ratings
from gapfm_teach.lab.experiments import names_of_gap, split_three
from gapfm_teach.lab.experiments.names_of_gap import together


@pytest.fixture(scope="module")
def parts():
    ratings = simulate_ratings(40, 70, mean_ratings=40, random_state=0)
    return split_three(ratings, 10, random_state=0)


@pytest.fixture(scope="module")
def model(parts):
    return GAPfm(learning_rate=0.02, n_iter=15, random_state=0).fit(parts[0])


def test_the_rows_are_what_their_columns_say(model, parts):
    """Each row again, user by user, from lists that are put together here."""
    train, validation, test = parts
    values = names_of_gap(model, *parts)["value"]

    def by_hand(ranked, left_out):
        found = []
        for user in range(train.n_users):
            grades = np.zeros(train.n_items, dtype=int)
            for part in ranked:
                grades[part.row(user)[0]] = part.row(user)[1]
            kept = left_out(user, grades)
            scores = model.predict(user)
            found.append(graded_average_precision(grades[kept], scores[kept]))
        return np.mean(found)

    def rated(user, grades):
        return grades > 0

    def not_trained(user, grades):
        return ~np.isin(np.arange(train.n_items), train.row(user)[0])

    for name, ranked, kept in (
        ("training lists", [train], rated),
        ("held out, chapter 2", [validation, test], rated),
        ("held-out GAP, here", [validation], not_trained),
        ("held-out GAP, start", [validation, test], not_trained),
    ):
        assert values[name] == pytest.approx(by_hand(ranked, kept)), name


def test_ratings_of_both_are_all_there(parts):
    train, validation, _ = parts
    both = together(train, validation)
    for user in range(train.n_users):
        pairs = [zip(*part.row(user), strict=True) for part in (train, validation)]
        assert sorted(zip(*both.row(user), strict=True)) == sorted([*pairs[0], *pairs[1]])
