"""Smoothed AP: GAPfm where there is one grade only, against Appendix D's formulas."""

import numpy as np
import pytest
from scipy.special import expit

from gapfm_lab.baselines import SmoothedAP
from gapfm_teach import (
    GAPfm,
    Ratings,
)

SETTINGS = {"learning_rate": 0.03, "n_iter": 15, "init_scale": 0.1}


def binary(ratings, threshold=1):
    frame = ratings.to_scipy().toarray()
    relevant = frame >= threshold
    counts = relevant.sum(axis=1)
    return Ratings(
        np.concatenate([[0], np.cumsum(counts)]),
        np.nonzero(relevant)[1],
        np.ones(counts.sum(), dtype=int),
        n_items=ratings.n_items,
    )


@pytest.mark.parametrize("threshold", [1, 4])
def test_smoothed_ap_is_gapfm_on_binary_data(train, threshold):
    ours = SmoothedAP(3, threshold=threshold, random_state=2, **SETTINGS).fit(train)
    theirs = GAPfm(3, random_state=2, **SETTINGS).fit(binary(train, threshold))
    np.testing.assert_array_equal(ours.user_factors_, theirs.user_factors_)
    np.testing.assert_array_equal(ours.item_factors_, theirs.item_factors_)


def test_its_objective_is_smoothed_average_precision(train):
    """Appendix D: Σ_m S_m · (1/S_m) Σ_i g(f_i) Σ_j g(f_j − f_i), as a loop over the pairs."""
    model = SmoothedAP(3, random_state=2, reg=0.0, **SETTINGS).fit(train)
    total = 0.0
    for user in range(train.n_users):
        f = model.predict(user, train.row(user)[0])
        for i in range(f.shape[0]):
            total += expit(f[i]) * sum(expit(f_j - f[i]) for f_j in f)
    assert model.model_.history_["objective"].iloc[-1] == pytest.approx(total)


def test_what_falls_below_the_threshold_is_still_known_to_be_rated(small):
    model = SmoothedAP(2, threshold=3, random_state=0, **SETTINGS).fit(small)
    assert 2 not in model.recommend(1)
    with pytest.raises(ValueError, match="threshold=6"):
        SmoothedAP(2, threshold=6).fit(small)
