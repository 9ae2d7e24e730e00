"""GAPfm(objective="consistent") from the outside: what it climbs, keeps, refuses and gives back."""

import numba
import numpy as np
import pytest
from scipy.stats import spearmanr

from gapfm_teach import GAPfm, Ratings, simulate_ratings, split_given, top_n_per_user
from gapfm_teach.baselines import SmoothedAP
from gapfm_teach.consistent import consistent_gap_gradient, consistent_objective
from gapfm_teach.gradcheck import central_difference, relative_error
from gapfm_teach.metrics import graded_average_precision, thresholding_probabilities
from gapfm_teach.objectives import SampledProblem


@pytest.fixture(scope="module")
def data():
    ratings = simulate_ratings(80, 60, mean_ratings=25, random_state=0)
    return split_given(ratings, 8, min_test=5, random_state=1)


def model(**settings):
    common = {
        "objective": "consistent", "learning_rate": 0.1, "n_iter": 25, "reg": 0.01,
        "random_state": 0,
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


def test_first_step_is_adagrads_along_the_gradient(data):
    """Two steps written out, with derivatives that know nothing of the formula."""
    train, _ = data
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


def test_gradients_of_a_sample_match_differences(data):
    train, rng = data[0], np.random.default_rng(3)
    U, V = rng.normal(0, 0.7, (train.n_users, 3)), rng.normal(0, 0.7, (train.n_items, 3))
    b, uniforms = rng.normal(0, 0.5, train.n_items), rng.random((train.n_users, 9))
    with_bias = np.c_[U, np.ones(train.n_users)], np.c_[V, b]
    value, by_user, by_item = SampledProblem(train, None).sampled_gradients(
        *with_bias, uniforms, 0.8, 0.4
    )
    settings = {"tau": 0.8, "unrated_weight": 0.4, "reg": 0.0, "uniforms": uniforms}
    assert value == pytest.approx(consistent_objective(U, V, b, train, **settings))
    for found, at, known in (
        (by_user[:, :3], U, lambda x: consistent_objective(x, V, b, train, **settings)),
        (by_item[:, :3], V, lambda x: consistent_objective(U, x, b, train, **settings)),
        (by_item[:, 3], b, lambda x: consistent_objective(U, V, x, train, **settings)),
    ):
        assert relative_error(found, central_difference(known, at)) < 1e-6


def test_climbing_raises_gap_of_the_training_lists(data, fitted):
    """Exact GAP among all items, and not the smooth one alone."""
    train, _ = data
    start = model(n_iter=1).fit(train)

    def gap(fitted):
        values = []
        for user in range(train.n_users):
            grades = np.zeros(train.n_items, dtype=int)
            items, given = train.row(user)
            grades[items] = given
            values.append(graded_average_precision(grades, fitted.predict(user)))
        return np.mean(values)

    assert gap(fitted) > 1.5 * gap(start)


def test_same_seed_same_bits_for_any_number_of_threads():
    # Enough ratings for several blocks.
    train = simulate_ratings(300, 60, mean_ratings=25, random_state=0)
    most = numba.config.NUMBA_NUM_THREADS
    one, again, other = (
        model(n_iter=5, random_state=s, n_threads=n).fit(train)
        for s, n in ((0, 1), (0, most), (1, 1))
    )
    np.testing.assert_array_equal(one.item_factors_, again.item_factors_)
    np.testing.assert_array_equal(one.item_bias_, again.item_bias_)
    assert not np.array_equal(one.item_factors_, other.item_factors_)


def test_users_who_rated_nothing_or_everything_are_no_trouble():
    ratings = Ratings([0, 0, 1, 5], [2, 0, 1, 2, 3], [5, 3, 4, 1, 2], n_items=4)
    found = model(n_negatives=3).fit(ratings)
    assert np.isfinite(found.item_factors_).all()
    assert np.isfinite(found.history_["objective"]).all()


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


def test_fold_in_ends_where_the_gradient_is_zero(data):
    train, _ = data
    found = model(n_iter=400, reg=0.05, unrated_weight=0.5).fit(train)
    items, grades = train.row(2)
    u = found.fold_in(items[::-1], grades[::-1])
    all_grades = np.zeros(train.n_items, dtype=int)
    all_grades[items] = grades
    V, b = found.item_factors_, found.item_bias_
    slope = V.T @ consistent_gap_gradient(
        V @ u + b, all_grades, thresholding_probabilities(5),
        weights=np.where(all_grades > 0, 1.0, 0.5),
    )  # fmt: skip
    assert np.linalg.norm(u) > 0.1
    assert np.linalg.norm(slope - 0.05 * u) < 0.02 * np.linalg.norm(0.05 * u)
    assert spearmanr(V @ u + b, found.predict(2)).statistic > 0.7
    assert found.fold_in([], []).tolist() == [0.0] * 4


def test_saved_and_loaded_it_is_the_same_model(tmp_path, data, fitted):
    fitted.save(tmp_path / "model.npz")
    loaded = GAPfm.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(loaded.predict(3), fitted.predict(3))
    items, grades = data[0].row(2)
    np.testing.assert_array_equal(
        loaded.fold_in(items, grades), fitted.fold_in(items, grades)
    )
    assert loaded.history_.equals(fitted.history_)
    assert repr(loaded) == repr(fitted)
    stored = dict(np.load(tmp_path / "model.npz"))
    for name, bias in (("nan", stored["item_bias"] * np.nan), ("cut", np.zeros(3))):
        np.savez(tmp_path / f"{name}.npz", **(stored | {"item_bias": bias}))
        with pytest.raises(ValueError, match=rf"{name}\.npz is not a saved GAPfm"):
            GAPfm.load(tmp_path / f"{name}.npz")


def test_files_of_the_papers_objective_name_none_of_the_others_parameters(tmp_path, data):
    """So files from before there was a choice, and runs begun then, go on."""
    paper = GAPfm(2, n_iter=1, random_state=0)
    paper.fit(data[0], checkpoint=tmp_path / "run.npz").save(tmp_path / "model.npz")
    for name in ("run", "model"):
        header = str(np.load(tmp_path / f"{name}.npz")["header"])
        assert '"reg"' in header
        assert "temperature" not in header
        assert "objective" not in header
    assert GAPfm.load(tmp_path / "model.npz").objective == "paper"


def test_resumed_it_comes_to_the_same_bits(tmp_path, data):
    straight = model(n_iter=12, n_negatives=7).fit(*data)
    path = tmp_path / "run.npz"

    def stop(iteration, _):
        return iteration == 7

    model(n_iter=12, n_negatives=7).fit(*data, stop, checkpoint=path)
    resumed = model(n_iter=12, n_negatives=7).fit(*data, resume=path)
    np.testing.assert_array_equal(resumed.user_factors_, straight.user_factors_)
    np.testing.assert_array_equal(resumed.item_bias_, straight.item_bias_)
    assert resumed.history_.equals(straight.history_)
    for other in ({"objective": "paper"}, {"n_negatives": 8}, {"temperature": 2.0},
                  {"unrated_weight": 2.0}):  # fmt: skip
        with pytest.raises(ValueError, match=next(iter(other))):
            model(**({"n_iter": 12, "n_negatives": 7} | other)).fit(*data, resume=path)


def test_overflow_stops_and_keeps_the_last_good_factors(data):
    broken = model(reg=1e200, learning_rate=1e150)
    with pytest.raises(FloatingPointError, match="learning_rate below"):
        broken.fit(data[0])
    assert np.isfinite(broken.item_bias_).all()


def test_smoothed_ap_takes_it_too(data):
    found = SmoothedAP(3, objective="consistent", random_state=0).fit(data[0])
    inner = found.model_
    expected = inner.item_factors_ @ inner.user_factors_[1] + inner.item_bias_
    np.testing.assert_allclose(found.predict(1), expected)


def test_auto_is_a_tenth(data):
    auto = model(learning_rate="auto", n_iter=2).fit(data[0])
    assert auto.learning_rate_ == 0.1
    same = model(n_iter=2).fit(data[0])
    np.testing.assert_array_equal(auto.item_factors_, same.item_factors_)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"objective": "gap"}, "objective must be one of 'paper', 'consistent', got 'gap'"),
        ({"n_negatives": 0}, "n_negatives must be at least 1, got 0"),
        ({"temperature": 0}, "temperature must be finite and above 0"),
        ({"unrated_weight": -1}, "unrated_weight must be finite and above 0"),
        ({"n_selected": 5}, "n_selected=5"),
        ({"update": "sequential"}, "update='sequential'"),
    ],
)
def test_bad_parameters_are_named(settings, words):
    with pytest.raises(ValueError, match=words):
        model(**settings)
