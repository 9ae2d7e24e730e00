"""GAPfm with smooth ranks from the outside: what it maximises, keeps, refuses and gives back."""

import numba
import numpy as np
import pytest
from scipy.stats import spearmanr
from smooth_measures import measure_of, options_of

from gapfm_teach import (
    GAPfm,
    Ratings,
    kernels,
    simulate_ratings,
    split_given,
    top_n_per_user,
)
from gapfm_teach.consistent.measures import consistent_objective
from gapfm_teach.gradcheck import central_difference, relative_error
from gapfm_teach.metrics import (
    average_precision,
    expected_reciprocal_rank,
    graded_average_precision,
    graded_precision,
    graded_recall,
)
from gapfm_teach.paper import thresholding_probabilities
from gapfm_teach.training.data import TrainingData
from gapfm_teach.training.objectives import SMOOTH_RANKS, configured

every_measure = pytest.mark.parametrize("name", SMOOTH_RANKS)


@pytest.fixture(scope="module")
def data():
    ratings = simulate_ratings(80, 60, mean_ratings=25, random_state=0)
    return split_given(ratings, 8, min_test=5, random_state=1)


def model(**settings):
    common = {
        "objective": "consistent", "learning_rate": 0.1, "n_iter": 25, "reg": 0.01,
        "random_state": 0, "unrated_weight": 1.0, "n_negatives": 50, "init_scale": 0.01,
    }  # fmt: skip
    return GAPfm(4, **(common | settings))


@pytest.fixture(scope="module")
def fitted(data):
    return model().fit(*data)


def test_history_has_true_values(data, fitted):
    """With as many unrated items as there are, the sample is the catalogue."""
    train, validation = data
    whole = model(n_negatives=60).fit(train, validation)
    learned = (whole.user_factors_, whole.item_factors_, whole.item_bias_)
    last = whole.history_.iloc[-1]
    expected = consistent_objective(*learned, train, reg=0.01)
    assert last["objective"] == pytest.approx(expected, rel=1e-10)
    delta, gaps = thresholding_probabilities(train.max_grade), []
    for user in range(train.n_users):
        grades = np.zeros(train.n_items, dtype=int)
        items, held_out = validation.row(user)
        grades[items] = held_out
        unseen = np.setdiff1d(np.arange(train.n_items), train.row(user)[0])
        scores = whole.predict(user, unseen)
        gaps.append(graded_average_precision(grades[unseen], scores, delta=delta))
    assert last["validation_gap"] == pytest.approx(np.mean(gaps))
    sampled = fitted.history_["objective"].iloc[-1]
    assert sampled != pytest.approx(expected, rel=1e-10)  # 50 of up to 52


@pytest.mark.slow
def test_first_step_is_adagrads_along_the_gradient():
    """Two steps written out, with derivatives that know nothing of the formula."""
    train = simulate_ratings(15, 25, mean_ratings=8, random_state=0)
    settings = {
        "n_negatives": 60, "init_scale": 0.5, "temperature": 0.8, "unrated_weight": 0.4,
    }  # fmt: skip
    one, two = (model(n_iter=n, **settings).fit(train) for n in (1, 2))
    rng = np.random.default_rng(0)
    U, V = rng.normal(0, 0.5, (train.n_users, 4)), rng.normal(0, 0.5, (train.n_items, 4))
    b, sums = np.zeros(train.n_items), [0.0, 0.0, 0.0]
    for stepped in (one, two):
        parts, new = [U, V, b], []
        for place in range(3):

            def value(x, place=place, parts=parts):
                here = [*parts[:place], x, *parts[place + 1 :]]
                return consistent_objective(
                    *here, train, tau=0.8, unrated_weight=0.4, reg=0.01
                )

            slope = central_difference(value, parts[place], 1e-5)
            sums[place] = sums[place] + slope**2
            new.append(parts[place] + 0.1 * slope / np.sqrt(sums[place]))
        found = (stepped.user_factors_, stepped.item_factors_, stepped.item_bias_)
        for ours, theirs in zip(found, new, strict=True):
            # Where a gradient is all but 0, its sign is all that the first step keeps.
            assert np.mean(np.abs(ours - theirs) < 1e-4) > 0.99
        U, V, b = found


@pytest.mark.slow
@every_measure
def test_gradients_of_a_sample_match_differences(data, name):
    train = simulate_ratings(15, 30, mean_ratings=10, random_state=0)
    rng = np.random.default_rng(3)
    U, V = rng.normal(0, 0.7, (train.n_users, 3)), rng.normal(0, 0.7, (train.n_items, 3))
    b, uniforms = rng.normal(0, 0.5, train.n_items), rng.random((train.n_users, 9))
    options = {"temperature": 0.8, "unrated_weight": 0.4, **options_of(name, 3)}
    value, by_user, by_item = configured(name, options).sampled_gradients(
        TrainingData(train), U, np.c_[V, b], uniforms
    )
    settings = {
        "tau": 0.8, "unrated_weight": 0.4, "reg": 0.0, "uniforms": uniforms,
        "objective": name, **options_of(name, 3),
    }  # fmt: skip
    assert value == pytest.approx(consistent_objective(U, V, b, train, **settings))
    for found, at, known in (
        (by_user, U, lambda x: consistent_objective(x, V, b, train, **settings)),
        (by_item[:, :3], V, lambda x: consistent_objective(U, x, b, train, **settings)),
        (by_item[:, 3], b, lambda x: consistent_objective(U, V, x, train, **settings)),
    ):
        assert relative_error(found, central_difference(known, at)) < 1e-6


@every_measure
def test_climbing_raises_the_exact_measure_of_the_training_lists(data, name):
    """Among all items, and not the smooth one alone."""
    train, _ = data
    exact = {
        "consistent": graded_average_precision,
        "geometric": graded_average_precision,
        "average_precision": lambda grades, scores: average_precision(grades > 0, scores),
        "graded_precision": lambda grades, scores: graded_precision(grades, scores, at=5),
        "graded_recall": lambda grades, scores: graded_recall(grades, scores, at=5),
        "expected_reciprocal_rank": expected_reciprocal_rank,
    }[name]
    start, end = (model(objective=name, n_iter=n).fit(train) for n in (1, 25))

    def mean(fitted):
        values = []
        for user in range(train.n_users):
            grades = np.zeros(train.n_items, dtype=int)
            items, given = train.row(user)
            grades[items] = given
            values.append(exact(grades, fitted.predict(user)))
        return np.mean(values)

    assert mean(end) > 1.5 * mean(start)


def test_err_of_long_lists_needs_a_low_temperature():
    """At τ = 1 nobody comes through dozens of items that are all but tied at the start."""
    train = simulate_ratings(60, 100, mean_ratings=60, random_state=0)
    settings = {"objective": "expected_reciprocal_rank", "n_iter": 30}
    hot, cool = (model(temperature=t, **settings).fit(train) for t in (1.0, 0.1))
    found = [m.history_["objective"].iloc[-1] / train.n_users for m in (hot, cool)]
    assert found[1] > 0.7
    assert found[0] < 0.5 * found[1]


def test_each_measure_is_climbed_to_another_place(data):
    found = {name: model(objective=name).fit(data[0]).item_bias_ for name in SMOOTH_RANKS}
    found["another n"] = model(objective="graded_recall", cutoff=2).fit(data[0]).item_bias_
    for one in found:
        for other in found:
            assert one == other or not np.allclose(found[one], found[other], rtol=0.01)


@every_measure
def test_same_seed_same_bits_for_any_number_of_threads(name):
    # Enough ratings for several blocks.
    train = simulate_ratings(300, 60, mean_ratings=25, random_state=0)
    most = numba.config.NUMBA_NUM_THREADS
    one, again, other = (
        model(objective=name, n_iter=5, random_state=s, n_threads=n).fit(train)
        for s, n in ((0, 1), (0, most), (1, 1))
    )
    np.testing.assert_array_equal(one.item_factors_, again.item_factors_)
    np.testing.assert_array_equal(one.item_bias_, again.item_bias_)
    assert not np.array_equal(one.item_factors_, other.item_factors_)


@every_measure
def test_users_who_rated_nothing_or_everything_are_no_trouble(name):
    ratings = Ratings([0, 0, 1, 5], [2, 0, 1, 2, 3], [5, 3, 4, 1, 2], n_items=4)
    found = model(objective=name, n_negatives=3).fit(ratings)
    assert np.isfinite(found.item_factors_).all()
    assert np.isfinite(found.history_["objective"]).all()


def touched(**settings):
    """Unrated items that have moved. 20 users rated one and the same of 1,000 items."""
    train = Ratings(np.arange(21), np.zeros(20, int), np.full(20, 5), n_items=1000)
    found = model(n_negatives=1, reg=0.0, **settings).fit(train)
    return set(np.flatnonzero(found.item_bias_).tolist()) - {0}


@every_measure
def test_unrated_items_are_drawn_anew_for_each_user_iteration_and_seed(name):
    one, more = (touched(objective=name, n_iter=n) for n in (1, 10))
    assert 15 < len(one) <= 20  # by chance two users draw the same item
    assert 150 < len(more) <= 200
    other = touched(objective=name, n_iter=1, random_state=1)
    assert len(one & other) < 5


@every_measure
def test_more_unrated_items_than_there_are_means_all(data, name):
    """And takes no memory for the rest."""
    all_of_them, too_many = (
        model(objective=name, n_iter=3, n_negatives=n).fit(data[0]) for n in (60, 10**12)
    )
    np.testing.assert_array_equal(too_many.item_factors_, all_of_them.item_factors_)


def test_predict_and_recommend_add_the_bias(data, fitted):
    train, held = data
    scores = fitted.predict(7)
    expected = fitted.item_factors_ @ fitted.user_factors_[7] + fitted.item_bias_
    np.testing.assert_allclose(scores, expected)
    np.testing.assert_allclose(fitted.predict(7, [3, 5]), expected[[3, 5]])
    seen = train.row(7)[0]
    best = [i for i in np.argsort(-scores) if i not in seen][:6]
    assert fitted.recommend(7, 6).tolist() == best

    class Plain:
        """The same scores, and nothing that an evaluation could take for factors."""

        predict = staticmethod(fitted.predict)

    whole = {"n_candidates": None, "random_state": 0}
    found = top_n_per_user(fitted, train, held, **whole)
    assert found.equals(top_n_per_user(Plain(), train, held, **whole))


@every_measure
def test_fold_in_ends_where_the_gradient_is_zero(data, name):
    train, _ = data
    reg = 0.5 if name == "geometric" else 0.05
    settings = {"n_iter": 400, "reg": reg, "unrated_weight": 0.5, **options_of(name, 3)}
    found = model(objective=name, **settings).fit(train)
    items, grades = train.row(2)
    u = found.fold_in(items[::-1], grades[::-1])
    all_grades = np.zeros(train.n_items, dtype=int)
    all_grades[items] = grades
    V, b = found.item_factors_, found.item_bias_
    _, gradient = measure_of(name, 5, 3)
    weights = np.where(all_grades > 0, 1.0, 0.5)
    slope = V.T @ gradient(V @ u + b, all_grades, weights=weights)
    assert np.linalg.norm(u) > 0.1
    assert np.linalg.norm(slope - reg * u) < 0.02 * np.linalg.norm(reg * u)
    assert spearmanr(V @ u + b, found.predict(2)).statistic > 0.7
    assert found.fold_in([], []).tolist() == [0.0] * 4


@every_measure
def test_saved_and_loaded_it_is_the_same_model(tmp_path, data, name):
    fitted = model(objective=name, **options_of(name, 3)).fit(*data)
    fitted.save(tmp_path / "model.npz")
    loaded = GAPfm.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(loaded.predict(3), fitted.predict(3))
    items, grades = data[0].row(2)
    np.testing.assert_array_equal(
        loaded.fold_in(items, grades), fitted.fold_in(items, grades)
    )
    assert loaded.history_.equals(fitted.history_)
    assert loaded.objective_ == fitted.objective_
    assert loaded.settings().by_name() == fitted.settings().by_name()
    stored = dict(np.load(tmp_path / "model.npz"))
    for file, bias in (("nan", stored["item_bias"] * np.nan), ("cut", np.zeros(3))):
        np.savez(tmp_path / f"{file}.npz", **(stored | {"item_bias": bias}))
        with pytest.raises(ValueError, match=rf"{file}\.npz is not a saved GAPfm"):
            GAPfm.load(tmp_path / f"{file}.npz")


@every_measure
def test_resumed_it_comes_to_the_same_bits(tmp_path, data, name):
    settings = {"objective": name, "n_iter": 12, "n_negatives": 7}
    straight = model(**settings).fit(*data)
    path = tmp_path / "run.npz"

    def stop(iteration, _):
        return iteration == 7

    model(**settings).fit(*data, stop, checkpoint=path)
    resumed = model(**settings).fit(*data, resume=path)
    np.testing.assert_array_equal(resumed.user_factors_, straight.user_factors_)
    np.testing.assert_array_equal(resumed.item_bias_, straight.item_bias_)
    assert resumed.history_.equals(straight.history_)
    others: list[dict] = [
        {"n_negatives": 8}, {"temperature": 2.0},
        {"unrated_weight": 2.0}, {"objective": "graded_recall", "cutoff": 4},
    ]  # fmt: skip
    for other in others:
        with pytest.raises(ValueError, match="|".join(other)):
            model(**(settings | other)).fit(*data, resume=path)
    with pytest.raises(ValueError, match="objective"):
        GAPfm(4).fit(*data, resume=path)


def test_overflow_stops_and_keeps_the_last_good_factors(data, monkeypatch):
    whole = kernels.consistent_gradients

    def breaking(begin, end, *arrays):
        whole(begin, end, *arrays)
        passes.append(begin)
        if len(passes) == 5:  # the first is before iteration 1
            arrays[-3][:] = np.inf  # the values

    passes = []
    monkeypatch.setattr(kernels, "consistent_gradients", breaking)
    broken = model(n_threads=1)
    with pytest.raises(FloatingPointError, match=r"iteration 4; .*iteration 3 are kept"):
        broken.fit(data[0])
    assert broken.n_iter_ == 3
    assert np.isfinite(broken.item_bias_).all()


@pytest.mark.parametrize(
    ("settings", "advice"),
    [
        ({"learning_rate": 1e300}, r"below 1e\+300, such as 0\.1 or 'auto', and"),
        ({"learning_rate": 0.3, "init_scale": 1e160}, "not help, milder .*init_scale"),
        (
            {"learning_rate": 0.3, "unrated_weight": 1e308},
            "not help, .*temperature, unrated_weight",
        ),
    ],
)
def test_what_overflows_at_once_is_answered_with_advice_that_helps(data, settings, advice):
    broken = model(**{"objective": "graded_recall"} | settings)
    with pytest.raises(FloatingPointError, match=f"iteration 1; .*{advice}"):
        broken.fit(data[0])
    milder = {name: 0.1 for name in settings}
    assert model(**{"objective": "graded_recall", "n_iter": 2} | milder).fit(data[0])


def test_auto_is_a_fixed_step(data):
    auto = model(learning_rate="auto", n_iter=2).fit(data[0])
    assert auto.learning_rate_ == 0.3
    same = model(learning_rate=0.3, n_iter=2).fit(data[0])
    np.testing.assert_array_equal(auto.item_factors_, same.item_factors_)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (
            {"objective": "gap"},
            "objective must be one of 'paper', 'consistent', .*got 'gap'",
        ),
        ({"objective": None}, "objective must be one of .*got None"),
        (
            {"objective": "graded_recall", "cutoff": 0},
            "cutoff must be from 1 to 2147483647, got 0",
        ),
        (
            {"objective": "geometric", "exponent": -2},
            "exponent must be finite and at least -1",
        ),
        ({"n_negatives": 0}, "n_negatives must be at least 1, got 0"),
        ({"temperature": 0}, "temperature must be finite and above 0"),
        ({"unrated_weight": -1}, "unrated_weight must be finite and above 0"),
    ],
)
def test_bad_parameters_are_named(data, settings, words):
    with pytest.raises(ValueError, match=words):
        model(**settings).fit(data[0])


@pytest.mark.parametrize(
    ("objective", "option"),
    [
        ("graded_recall", {"n_selected": 5}),
        ("consistent", {"update": "sequential"}),
        ("consistent", {"cutoff": 4}),
        ("average_precision", {"exponent": 0.5}),
        ("graded_recall", {"exponent": 0.5}),
        ("paper", {"temperature": 0.5}),
    ],
)
def test_an_objective_refuses_what_it_does_not_know(data, objective, option):
    name, value = next(iter(option.items()))
    words = rf"objective='{objective}' knows no {name}={value!r}; it has \w+, \w+"
    with pytest.raises(TypeError, match=words):
        GAPfm(objective=objective, **option).fit(data[0])


def test_what_is_not_given_is_the_objectives_own():
    paper, repaired = GAPfm().settings(), GAPfm(objective="consistent").settings()
    assert (paper.reg, paper.learning_rate, paper.init_scale) == (0.001, 0.01, 0.01)
    assert (repaired.reg, repaired.learning_rate, repaired.init_scale) == (0.06, 0.3, 0.3)
    own = {
        "objective": "consistent",
        "reg": 0.0,
        "learning_rate": "auto",
        "init_scale": 1.0,
    }
    given = GAPfm(**own).settings()
    assert (given.reg, given.learning_rate, given.init_scale) == (0.0, "auto", 1.0)
