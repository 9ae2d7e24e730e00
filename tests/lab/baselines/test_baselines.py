"""The systems of the tables, each against something it does not know of."""

import sys
import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from gapfm_lab import baselines
from gapfm_lab.baselines import (
    BPR,
    EASE,
    IALS,
    WLT,
    CofiRank,
    GradedGAPfm,
    GradeWeightedPopularity,
    MeanRating,
    PairwiseLogistic,
    Popularity,
    SmoothedAP,
    SVDpp,
)
from gapfm_teach import (
    Ratings,
    simulate_ratings,
    smoothed_gap_gradient,
    top_n_per_user,
)
from gapfm_teach.paper import thresholding_probabilities
from gapfm_teach.splits import hold_out

DRAWING = [
    SVDpp, BPR, IALS, PairwiseLogistic, SmoothedAP, CofiRank, WLT,
    GradedGAPfm,
]  # fmt: skip
LIBRARY = {
    SVDpp: "surprise",
    baselines.SLIM: "sklearn",
}
SYSTEMS = [getattr(baselines, name) for name in baselines.__all__]


@pytest.fixture(scope="module")
def two_camps():
    """Users 0-19 rate items 0-14, users 20-39 items 15-29, each 8 of them at random.

    Odd items get 5, even ones 2; nobody crosses over.
    """
    rng = np.random.default_rng(0)
    own = [rng.choice(15, 8, replace=False) + 15 * (user >= 20) for user in range(40)]
    items = np.concatenate([np.sort(row) for row in own])
    return Ratings(np.arange(0, 321, 8), items, np.where(items % 2, 5, 2), n_items=30)


def make(system, **settings):
    if system in LIBRARY:
        pytest.importorskip(LIBRARY[system], reason='needs the extra "baselines"')
    return system(**settings)


def seeded(system, seed: int):
    return make(system, random_state=seed) if system in DRAWING else make(system)


def scores_of_all(model, n_users: int) -> np.ndarray:
    return np.stack([model.predict(user) for user in range(n_users)])


# ---------------------------------------------------------------------- all of them


@pytest.mark.parametrize("system", SYSTEMS)
class TestEverySystem:
    def test_before_fit_it_says_so(self, system):
        model = make(system)
        with pytest.raises(ValueError, match=f"{system.__name__} is not fitted"):
            model.predict(0)
        assert repr(model).endswith("not fitted)")

    def test_fit_returns_itself_without_a_warning(self, system, train):
        model = seeded(system, 0)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert model.fit(train) is model
        assert system.__name__ in repr(model)
        assert "not fitted" not in repr(model)

    def test_scores_are_the_callers_own_and_agree_with_their_parts(self, system, train):
        model = seeded(system, 0).fit(train)
        scores = model.predict(3)
        assert scores.shape == (train.n_items,)
        assert scores.dtype == np.float64
        np.testing.assert_allclose(model.predict(3, [7, 0, 7]), scores[[7, 0, 7]])
        scores[:] = 0
        assert model.predict(3).any()

    def test_the_best_of_the_unseen_is_recommended_first(self, system, train):
        model = seeded(system, 0).fit(train)
        best = model.recommend(3, n=5)
        unseen = np.setdiff1d(np.arange(train.n_items), train.row(3)[0])
        assert np.isin(best, unseen).all()
        assert model.predict(3)[best[0]] == model.predict(3)[unseen].max()

    def test_users_and_items_outside_are_refused(self, system, train):
        model = seeded(system, 0).fit(train)
        for bad in (-1, train.n_users):
            with pytest.raises(ValueError, match="user"):
                model.predict(bad)
        with pytest.raises(ValueError, match="positions 0 to"):
            model.predict(0, [train.n_items])

    def test_unfit_ratings_are_refused(self, system, train):
        model = make(system)
        with pytest.raises(TypeError, match="train must be Ratings"):
            model.fit(train.to_frame())
        with pytest.raises(ValueError, match=r"validation repeats \d+ ratings"):
            model.fit(train, train)

    def test_it_repeats_to_the_last_bit(self, system, train):
        one, two = (seeded(system, 4).fit(train) for _ in range(2))
        np.testing.assert_array_equal(
            *(scores_of_all(m, train.n_users) for m in (one, two))
        )
        for name in vars(one):
            if name.endswith(("factors_", "offsets_", "weights_")):
                pair = getattr(one, name), getattr(two, name)
                dense = [x.toarray() if sparse.issparse(x) else x for x in pair]
                np.testing.assert_array_equal(*dense)

    def test_users_without_ratings_and_items_without_raters_are_scored(self, system):
        """User 2 rated nothing, nobody item 4, and user 1 gave one grade only."""
        train = Ratings([0, 3, 5, 5, 8], [0, 2, 3, 1, 2, 0, 1, 3], [5, 1, 3, 4, 4, 2, 5, 2],
                        n_items=5)  # fmt: skip
        model = seeded(system, 0).fit(train)
        assert np.isfinite(scores_of_all(model, 4)).all()


@pytest.mark.parametrize("system", DRAWING)
def test_another_seed_gives_other_scores(system, train):
    one, other = (seeded(system, seed).fit(train).predict(0) for seed in (4, 5))
    assert (one != other).any()


@pytest.mark.parametrize("system", [Popularity, MeanRating, GradeWeightedPopularity])
def test_a_list_for_all_is_one_factor_too(system):
    """So that evaluation scores it without asking user after user, to the same lists."""
    ratings = simulate_ratings(60, 40, mean_ratings=20, random_state=0)
    fitting, held_out = hold_out(ratings, random_state=0)
    model = system().fit(fitting)
    scores = model.user_factors_ @ model.item_factors_.T
    np.testing.assert_array_equal(scores[5], model.predict(5))
    asked = SimpleNamespace(predict=model.predict)
    one, other = (
        top_n_per_user(each, fitting, held_out, random_state=0) for each in (model, asked)
    )
    pd.testing.assert_frame_equal(one, other)


@pytest.mark.parametrize(
    ("system", "settings", "message"),
    [
        (MeanRating, {"shrinkage": -1}, "shrinkage"),
        (EASE, {"reg": 0}, "reg"),
        (SVDpp, {"n_factors": 0}, "n_factors"),
        (BPR, {"n_iter": 0}, "n_iter"),
        (PairwiseLogistic, {"unrated_weight": 0}, "unrated_weight"),
        (IALS, {"unobserved_weight": 0}, "unobserved_weight"),
        (SmoothedAP, {"threshold": 0}, "threshold"),
        (CofiRank, {"tol": 0.0}, "tol"),
        (WLT, {"n_neighbors": 0}, "n_neighbors must be at least 1, got 0"),
    ],
)
def test_bad_settings_are_refused_at_once(system, settings, message):
    with pytest.raises(ValueError, match=message):
        system(**settings)


@pytest.mark.parametrize("system", LIBRARY)
def test_a_missing_library_is_named_with_its_cure(system, train, monkeypatch):
    for name in ("surprise", "sklearn.linear_model"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=r"pip install 'gapfm-teach\[baselines\]'"):
        system().fit(train)


# ---------------------------------------------------------------------- the same list for all


def test_popularity_counts(small):
    np.testing.assert_array_equal(Popularity().fit(small).predict(2), [3, 1, 1, 0])


def test_mean_rating_by_hand(small):
    # Item 0 has 5, 4, 2; the mean of all five grades is 3, which is what item 3 gets.
    np.testing.assert_allclose(MeanRating().fit(small).predict(0), [11 / 3, 3, 1, 3])
    shrunken = MeanRating(shrinkage=2).fit(small).predict(0)
    np.testing.assert_allclose(shrunken, [17 / 5, 3, 7 / 3, 3])


def test_grade_weighted_popularity_by_hand(small):
    # δ = (1, 3, 7, 15, 31)/32 by (5), so Δ(1..5) = (1, 4, 11, 26, 57)/32.
    scores = GradeWeightedPopularity().fit(small).predict(1)
    np.testing.assert_allclose(scores / scores[2], [57 + 26 + 4, 11, 1, 0])


def first_push(train):
    """Σ_m ∂F/∂f_mi where all scores are 0, (n_items,)."""
    delta = thresholding_probabilities(train.max_grade)
    push = np.zeros(train.n_items)
    for user in range(train.n_users):
        items, grades = train.row(user)
        push[items] += smoothed_gap_gradient(np.zeros(items.shape[0]), grades, delta)
    return push


def test_it_is_that_step_where_each_user_gives_one_grade_only(train):
    own_grade = np.repeat(1 + np.arange(train.n_users) % 5, np.diff(train.indptr))
    even = Ratings(train.indptr, train.indices, own_grade, n_items=train.n_items)
    scores = GradeWeightedPopularity().fit(even).predict(0)
    push = first_push(even)
    np.testing.assert_allclose(push / push.sum(), scores / scores.sum())


# ---------------------------------------------------------------------- EASE


def test_ease_is_the_constrained_least_squares_solution(train):
    """Column j of B is the ridge regression of column j of X on all the others."""
    X = (train.to_scipy().toarray() > 0).astype(float)
    scores = np.stack([EASE(7.0).fit(train).predict(user) for user in range(train.n_users)])
    for j in (0, 5, 39):
        others = np.delete(X, j, axis=1)
        system = np.vstack([others, np.sqrt(7.0) * np.eye(others.shape[1])])
        target = np.concatenate([X[:, j], np.zeros(others.shape[1])])
        ridge = np.linalg.lstsq(system, target, rcond=None)[0]
        np.testing.assert_allclose(scores[:, j], others @ ridge, atol=1e-10)


def test_ease_names_a_regularisation_that_is_too_small():
    """Without any there is no solution here: all columns are alike."""
    alike = Ratings([0, 3, 6], [0, 1, 2, 0, 1, 2], [5] * 6)
    with pytest.raises(ValueError, match="reg=1e-300 is too small"):
        EASE(1e-300).fit(alike)


@pytest.mark.parametrize(
    ("system", "settings"),
    [
        (EASE, {}),
        (BPR, {"reg": 0.1}),
        (IALS, {}),
        (PairwiseLogistic, {"reg": 6.0, "unrated_weight": 0.2}),
    ],
)
def test_planted_camps_are_found(system, settings, two_camps):
    drawn = {} if system is EASE else {"n_factors": 4, "random_state": 0}
    model = make(system, **settings, **drawn).fit(two_camps)
    for user in range(40):
        own = set(range(15)) if user < 20 else set(range(15, 30))
        assert set(model.recommend(user, n=7).tolist()) <= own


# ---------------------------------------------------------------------- libraries


def test_svdpp_predicts_as_its_library_does(train):
    surprise = pytest.importorskip("surprise", reason='needs the extra "baselines"')
    model = SVDpp(4, n_iter=5, random_state=3).fit(train)
    seed = int(np.random.default_rng(3).integers(2**31))
    frame = train.to_frame()
    reader = surprise.Reader(rating_scale=(1, train.max_grade))
    data = surprise.Dataset.load_from_df(frame, reader).build_full_trainset()
    library = surprise.SVDpp(4, n_epochs=5, random_state=seed).fit(data)
    for user in (0, 17, 45):
        theirs = [
            library.predict(train.users[user], item, clip=False).est for item in train.items
        ]
        np.testing.assert_allclose(model.predict(user), theirs, rtol=1e-9)


def test_bpr_ranks_rated_items_above_unrated_ones_and_ignores_grades(train):
    model = make(BPR, reg=0.001, random_state=0).fit(train)
    auc = []
    for user in range(train.n_users):
        scores, rated = model.predict(user), train.row(user)[0]
        unrated = np.delete(scores, rated)
        auc.append(np.mean(scores[rated][:, None] > unrated[None, :]))
    assert np.mean(auc) > 0.9
    flat = Ratings(
        train.indptr, train.indices, np.full(train.n_ratings, 1), n_items=train.n_items
    )
    np.testing.assert_array_equal(
        model.predict(0), make(BPR, reg=0.001, random_state=0).fit(flat).predict(0)
    )


@pytest.mark.parametrize(
    ("system", "settings"),
    [
        (BPR, {"learning_rate": 1e308}),
        (PairwiseLogistic, {"learning_rate": 1e308}),
        (PairwiseLogistic, {"learning_rate": 1000.0}),  # finite, but too far apart
        (SVDpp, {"learning_rate": 1e300}),
    ],
)
def test_every_factor_model_diverges_with_the_same_error(system, settings, train):
    """It is the one that tuning puts down as a failed trial."""
    with pytest.raises(FloatingPointError, match="left the finite numbers"):
        make(system, random_state=0, **settings).fit(train)
