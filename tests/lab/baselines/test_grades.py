"""How much a grade counts, and that every system listens to it."""

import numpy as np
import pytest

from gapfm_lab.baselines import (
    BPR,
    EASE,
    IALS,
    SLIM,
    GradedGAPfm,
    GradeWeightedPopularity,
    ItemKNN,
    PairwiseLogistic,
    RP3beta,
    UserKNN,
)
from gapfm_lab.grades import CURVES, grade_weights, rating_weights
from gapfm_teach import GAPfm, Ratings


def test_curves_by_hand():
    assert grade_weights("1", 4).tolist() == [0, 1, 1, 1, 1]
    assert grade_weights("y", 4).tolist() == [0, 0.25, 0.5, 0.75, 1]
    assert grade_weights("y²", 4).tolist() == [0, 0.0625, 0.25, 0.5625, 1]
    # δ = 1/16, 3/16, 7/16, 15/16, by (5)
    np.testing.assert_allclose(grade_weights("Δ", 4), np.array([0, 1, 4, 11, 26]) / 26)


def test_weights_of_ratings_are_1_on_average(train):
    for curve in CURVES:
        weights = rating_weights(train, curve)
        assert np.isclose(weights.mean(), 1)
        assert (np.diff(weights[np.argsort(train.grades, kind="stable")]) >= 0).all()


def test_an_unknown_curve_is_named():
    with pytest.raises(ValueError, match="'y3'"):
        grade_weights("y3", 5)


# Twelve people gave item 0 and another five stars, twelve item 1 and another one; six know neither.
def _two_alike() -> Ratings:
    rows = [[(0, 5), (2 + user % 3, 5)] for user in range(12)]
    rows += [[(1, 1), (2 + user % 3, 1)] for user in range(12)]
    rows += [[(2 + user % 3, 3)] for user in range(6)]
    indptr = np.cumsum([0, *map(len, rows)])
    items, grades = zip(*(pair for row in rows for pair in row), strict=True)
    return Ratings(indptr, items, grades, n_items=6, max_grade=5)


SYSTEMS = {
    "popularity": lambda grades: GradeWeightedPopularity(grades),
    "items": lambda grades: ItemKNN(4, 1.0, grades),
    "users": lambda grades: UserKNN(17, 1.0, grades),
    "walk": lambda grades: RP3beta(5, 1.0, 0.0, grades),
    "EASE": lambda grades: EASE(3.0, grades),
    "SLIM": lambda grades: SLIM(0.01, 1.0, grades),
    "iALS": lambda grades: IALS(2, reg=0.5, grades=grades, random_state=0),
    "BPR": lambda grades: BPR(2, grades=grades, random_state=0),
    "pairs": lambda grades: PairwiseLogistic(
        2, reg=1.0, n_iter=50, grades=grades, random_state=0
    ),
    "geometric": lambda grades: GradedGAPfm(
        2, objective="geometric", reg=0.5, unrated_weight=0.1, grades=grades, random_state=0
    ),
}


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_steeper_curve_raises_what_has_high_grades(name):
    train = _two_alike()

    def lead(curve: str) -> float:
        model = SYSTEMS[name](curve).fit(train)
        scores = np.array([model.predict(user) for user in range(24, 30)])
        return float(np.mean(scores[:, 0] - scores[:, 1]) / np.abs(scores).max())

    assert lead("y²") > lead("1") + 0.01


@pytest.mark.parametrize(("objective", "curve"), [("consistent", "Δ"), ("geometric", "y")])
def test_with_its_own_curve_graded_gapfm_is_gapfm(train, objective, curve):
    mean = grade_weights(curve, train.max_grade)[train.grades].mean()
    scale = 1 / mean if objective == "geometric" else 1.0  # a sum of weights, scaled
    own = GAPfm(4, objective=objective, reg=2.0, n_iter=5, random_state=0).fit(train)
    graded = GradedGAPfm(
        4, objective=objective, reg=2.0 * scale, n_iter=5, random_state=0, grades=curve,
        unrated_weight=own.objective_.unrated_weight,
    ).fit(train)  # fmt: skip
    np.testing.assert_allclose(graded.predict(0), own.predict(0), rtol=1e-9)
