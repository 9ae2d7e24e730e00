"""GAPfm from the outside: what it learns, keeps, refuses and gives back."""

import json
import os
import signal
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy.stats import spearmanr

from gapfm_teach import (
    GAPfm,
    Ratings,
    adaptive_selection,
    kernels,
    paper,
    simulate_ratings,
    split_given,
)
from gapfm_teach.metrics import graded_average_precision
from gapfm_teach.paper import thresholding_probabilities


@pytest.fixture(scope="module")
def data():
    ratings = simulate_ratings(80, 60, mean_ratings=25, random_state=0)
    return split_given(ratings, 8, min_test=5, random_state=1)


@pytest.fixture(scope="module")
def fitted(data):
    return GAPfm(4, learning_rate=0.03, n_iter=25, init_scale=0.1, random_state=0).fit(
        *data
    )


def test_history_has_a_row_an_iteration_and_true_values(data, fitted):
    train, validation = data
    history = fitted.history_
    assert history["iteration"].tolist() == list(range(1, 26))
    U, V = fitted.user_factors_, fitted.item_factors_
    last = history.iloc[-1]
    assert last["objective"] == pytest.approx(paper.objective(U, V, train, reg=fitted.reg_))
    delta = thresholding_probabilities(train.max_grade)
    gaps = []
    for user in range(train.n_users):
        grades = np.zeros(train.n_items, dtype=int)
        items, held_out = validation.row(user)
        grades[items] = held_out
        unseen = np.setdiff1d(np.arange(train.n_items), train.row(user)[0])
        scores = fitted.predict(user, unseen)
        gaps.append(graded_average_precision(grades[unseen], scores, delta=delta))
    assert last["validation_gap"] == pytest.approx(np.mean(gaps))


def test_small_steps_never_lower_the_objective(data):
    history = GAPfm(4, learning_rate=0.002, n_iter=40, init_scale=0.2, random_state=0).fit(
        data[0]
    )
    assert (np.diff(history.history_["objective"]) > 0).all()


@pytest.mark.parametrize("selection", ["adaptive", "random"])
@pytest.mark.parametrize("update", ["batch", "sequential"])
@pytest.mark.parametrize("inner_sum", ["rated", "selected"])
def test_each_option_reaches_the_step(data, selection, update, inner_sum):
    """One iteration against Algorithm 2 written out: no option may be taken and then ignored."""
    train, k, rate, reg = data[0], 3, 0.1, 0.02
    rng = np.random.default_rng(5)
    U, V = rng.normal(0, 0.7, (train.n_users, 4)), rng.normal(0, 0.7, (train.n_items, 4))
    expected = V * (1 - rate * reg) if update == "batch" else V.copy()
    for user in range(train.n_users):
        items, grades = train.row(user)
        if selection == "adaptive":
            chosen = adaptive_selection(grades, V[items] @ U[user], k)
        else:  # the numbers are drawn for the items in descending order of grade
            order = np.argsort(-grades, kind="stable")
            chosen = order[np.argsort(-rng.random(items.size))[:k]]
        inner = chosen if inner_sum == "selected" else np.arange(items.size)
        now, shrink = (V, 0.0) if update == "batch" else (expected, reg)
        each = paper.item_gradients(
            U[user], now[items[inner]], grades[inner],
            delta=thresholding_probabilities(5), reg=shrink,
        )  # fmt: skip
        taken = np.isin(inner, chosen)
        expected[items[inner[taken]]] += rate * each[taken]
    model = GAPfm(
        4, reg=reg, learning_rate=rate, n_iter=1, n_selected=k, selection=selection,
        inner_sum=inner_sum, update=update, init_scale=0.7, random_state=5,
    ).fit(train)  # fmt: skip
    np.testing.assert_allclose(model.item_factors_, expected, rtol=0, atol=1e-12)


def test_selecting_everything_equals_selecting_nothing(data):
    common = {"n_iter": 5, "random_state": 3}
    all_items = GAPfm(**common).fit(data[0])
    for selection in ("adaptive", "random"):
        chosen = GAPfm(n_selected=8, selection=selection, **common).fit(data[0])
        np.testing.assert_array_equal(chosen.user_factors_, all_items.user_factors_)


def test_same_seed_same_bits_and_another_seed_others(data):
    one, two, other = (GAPfm(n_iter=5, random_state=s).fit(data[0]) for s in (0, 0, 1))
    np.testing.assert_array_equal(one.item_factors_, two.item_factors_)
    assert not np.array_equal(one.item_factors_, other.item_factors_)


def test_users_without_ratings_and_with_one_only_shrink_or_learn():
    ratings = Ratings([0, 0, 1, 3], [2, 0, 1], [5, 3, 4], n_items=4, max_grade=5)
    model = GAPfm(2, n_iter=10, reg=0.1, learning_rate=0.1, random_state=0).fit(ratings)
    start = np.random.default_rng(0).normal(0, 0.01, (3, 2))
    np.testing.assert_allclose(model.user_factors_[0], start[0] * 0.99**10)
    assert np.isfinite(model.item_factors_).all()


def test_equal_grades_make_a_finite_model(data):
    train, _ = data
    flat = Ratings(train.indptr, train.indices, np.full(train.n_ratings, 3), n_items=60)
    assert np.isfinite(GAPfm(n_iter=10, random_state=0).fit(flat).item_factors_).all()


def test_callback_sees_each_iteration_and_can_stop(data):
    seen = []

    def watch(iteration, model):
        seen.append((iteration, len(model.history_)))
        return iteration == 4

    model = GAPfm(n_iter=30, random_state=0).fit(data[0], callback=watch)
    assert seen == [(1, 1), (2, 2), (3, 3), (4, 4)]
    assert model.n_iter_ == 4


def test_an_error_in_the_callback_comes_through_and_the_model_stays(data):
    model = GAPfm(n_iter=30, random_state=0)
    with pytest.raises(ZeroDivisionError):
        model.fit(data[0], callback=lambda iteration, _: 1 // (3 - iteration) > 1)
    assert model.n_iter_ == 3
    assert model.recommend(0).shape == (10,)


@pytest.mark.skipif(os.name == "nt", reason="Windows cannot send SIGINT to its own process")
def test_ctrl_c_stops_after_the_iteration_and_keeps_what_was_learned(data):
    def press(iteration, _):
        if iteration == 3:
            os.kill(os.getpid(), signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    model = GAPfm(n_iter=30, random_state=0).fit(data[0], callback=press)
    same = GAPfm(n_iter=3, random_state=0).fit(data[0])
    assert model.n_iter_ == 3
    np.testing.assert_array_equal(model.user_factors_, same.user_factors_)
    assert signal.getsignal(signal.SIGINT) is before


def test_fits_in_several_threads_take_turns_and_a_callback_may_fit(data):
    def fit(callback=None):
        n_threads = min(2, kernels.MOST_THREADS)
        model = GAPfm(4, n_iter=3, random_state=0, n_threads=n_threads)
        return model.fit(data[0], callback=callback).user_factors_

    known = fit(lambda iteration, model: fit() is None)
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: fit(), range(8)):
            np.testing.assert_array_equal(found, known)


def test_overflow_stops_with_advice_and_keeps_the_last_good_factors(data):
    model = GAPfm(n_iter=50, reg=1e6, learning_rate=1e4, random_state=0)
    with pytest.raises(
        FloatingPointError, match=r"iteration \d+.*learning_rate below 10000"
    ):
        model.fit(data[0])
    assert 0 < model.n_iter_ < 50
    assert np.isfinite(model.user_factors_).all()
    assert len(model.history_) == model.n_iter_


def test_recommend_ranks_by_score_and_leaves_out_what_it_should(data, fitted):
    train, _ = data
    scores = fitted.predict(7)
    np.testing.assert_allclose(scores, fitted.item_factors_ @ fitted.user_factors_[7])
    seen = train.row(7)[0]
    best = [i for i in np.argsort(-scores) if i not in seen][:6]
    assert fitted.recommend(7, 6).tolist() == best
    assert fitted.recommend(7, 60, exclude=None).tolist() == np.argsort(-scores).tolist()
    assert len(fitted.recommend(7, 60)) == 60 - len(seen)
    assert fitted.recommend(7, 1, exclude=[best[0]])[0] != best[0]


def test_a_mask_is_not_taken_for_positions(fitted):
    mask = np.ones(60, dtype=bool)
    for ask in (
        lambda: fitted.recommend(0, exclude=mask),
        lambda: fitted.predict(0, mask),
        lambda: fitted.fold_in(mask, np.ones(60)),
    ):
        with pytest.raises(ValueError, match=r"bool.*np\.flatnonzero\(mask\)"):
            ask()


def test_fold_in_raises_the_users_objective_and_agrees_with_training(data, fitted):
    train, _ = data
    delta = thresholding_probabilities(train.max_grade)
    items, grades = train.row(5)
    u = fitted.fold_in(items, grades)
    V = fitted.item_factors_[items]
    at_start = paper.smoothed_gap(np.zeros(items.size), grades, delta)
    assert paper.smoothed_gap(V @ u, grades, delta) > at_start
    order = spearmanr(fitted.item_factors_ @ u, fitted.predict(5)).statistic
    assert order > 0.7  # the trained vector began elsewhere and met a moving V


def test_fold_in_ends_where_equation_10_with_its_lambda_is_zero(data):
    train, _ = data
    model = GAPfm(3, n_iter=300, learning_rate=0.03, init_scale=0.5, random_state=0)
    model.fit(train).reg_ = 0.5
    items, grades = train.row(2)
    u = model.fold_in(items, grades)
    slope = paper.user_gradient(
        u, model.item_factors_[items], grades, delta=thresholding_probabilities(5), reg=0.5
    )
    assert np.linalg.norm(u) > 0.1
    assert np.linalg.norm(slope) < 1e-3 * np.linalg.norm(0.5 * u)


def test_saved_and_loaded_it_is_the_same_model(tmp_path, data, fitted):
    path = tmp_path / "model.npz"
    fitted.save(path)
    loaded = GAPfm.load(path)
    np.testing.assert_array_equal(loaded.user_factors_, fitted.user_factors_)
    assert loaded.history_.equals(fitted.history_)
    assert loaded.recommend(3).tolist() == fitted.recommend(3).tolist()
    items, grades = data[0].row(2)
    np.testing.assert_array_equal(
        loaded.fold_in(items, grades), fitted.fold_in(items, grades)
    )
    assert loaded.train_.titles.tolist() == fitted.train_.titles.tolist()
    assert loaded.settings() == fitted.settings()
    assert os.listdir(tmp_path) == ["model.npz"]


def json_bytes(value):
    return np.frombuffer(json.dumps(value).encode(), np.uint8)


def test_other_files_are_refused_by_name(tmp_path, fitted):
    text = tmp_path / "text.npz"
    text.write_text("not a model")
    arrays = tmp_path / "arrays.npz"
    np.savez(arrays, a=np.arange(3))
    cut = tmp_path / "cut.npz"
    fitted.save(cut)
    cut.write_bytes(cut.read_bytes()[:2000])
    other = tmp_path / "other.npz"
    np.savez(
        other, header=np.array(json.dumps({"format": "gapfm_teach.GAPfm", "version": 1}))
    )
    fitted.save(tmp_path / "good.npz")
    good = dict(np.load(tmp_path / "good.npz"))
    edited = {
        "list.npz": {"header": json_bytes([1])},
        "shape.npz": {"user_factors": good["user_factors"][:, :2]},
        "nan.npz": {"item_factors": good["item_factors"] * np.nan},
        "history.npz": {"history": good["history"][:, :2]},
    }
    for name, change in edited.items():
        np.savez(tmp_path / name, **(good | change))
    strange = [(tmp_path / name, "not a saved") for name in edited]
    for path, words in ((text, "not a saved"), (arrays, "not a saved"), (cut, "not a saved"),
                        (other, "made by an older version.*train it again"), *strange):  # fmt: skip
        with pytest.raises(ValueError, match=words) as caught:
            GAPfm.load(path)
        assert path.name in str(caught.value)
    with pytest.raises(FileNotFoundError):
        GAPfm.load(tmp_path / "missing.npz")


def test_what_comes_with_fitting_is_not_there_before():
    """`hasattr` and `getattr` with a default, as debuggers and copies use them, get an answer."""
    model = GAPfm()
    assert not hasattr(model, "history_")
    assert getattr(model, "history_", "none") == "none"
    with pytest.raises(ValueError, match="this GAPfm is not fitted yet; call fit"):
        _ = model.history_


def test_parameters_are_as_scikit_learn_has_them(data):
    """`__init__` keeps what it is given, so that copies and grids of parameters work."""
    base, model_selection = (
        pytest.importorskip(f"sklearn.{name}") for name in ("base", "model_selection")
    )
    rng = np.random.default_rng(0)
    model = GAPfm(7, objective="geometric", exponent=0.5, reg=1, random_state=rng)
    params = model.get_params()
    assert params["random_state"] is rng
    assert (params["exponent"], params["learning_rate"]) == (0.5, None)
    copied = base.clone(model)
    assert type(copied) is GAPfm
    assert {k: v for k, v in copied.get_params().items() if k != "random_state"} == {
        k: v for k, v in params.items() if k != "random_state"
    }
    bad = GAPfm(n_factors=-1, temperature="hot")
    assert base.clone(bad).n_factors == -1  # only `fit` checks
    with pytest.raises(TypeError, match="knows no temperature='hot'"):
        bad.fit(data[0])
    grid = model_selection.ParameterGrid(
        {"objective": ["consistent"], "unrated_weight": [0.1, 0.5], "n_iter": [2]}
    )
    fits = [base.clone(GAPfm(3, random_state=0)).set_params(**p).fit(data[0]) for p in grid]
    assert [f.objective_.unrated_weight for f in fits] == [0.1, 0.5]
    assert repr(fits[0]) == (
        "GAPfm(n_factors=3, objective='consistent', n_iter=2, unrated_weight=0.1, "
        "random_state=0; fitted, 2 iterations)"
    )
    with pytest.raises(
        ValueError, match="no parameter 'gamma'; it has n_factors, objective"
    ):
        model.set_params(gamma=1)
