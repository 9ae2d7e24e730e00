"""Bad input to smoothing, selection, the model and the evaluation: named, with the remedy."""

import numpy as np
import pytest

from gapfm_teach import (
    GAPfm,
    Ratings,
    adaptive_selection,
    evaluate_ranking,
    evaluate_top_n,
    item_gradients,
    objective,
    smoothed_gap,
    smoothed_gap_gradient,
    user_gradient,
)
from gapfm_teach.consistent.gap import consistent_gap
from gapfm_teach.consistent.measures import consistent_objective
from gapfm_teach.consistent.ranks import consistent_rank
from gapfm_teach.gradcheck import central_difference, complex_step, relative_error
from gapfm_teach.paper import logistic, logistic_derivative

NAN = float("nan")
DELTA = [0.1, 0.2, 0.7]
TRAIN = Ratings([0, 2, 3, 3], [0, 1, 2], [3, 1, 2], n_items=4)
OTHER = Ratings([0, 1], [0], [3], n_items=4)
EMPTY = Ratings([0, 0, 0, 0], [], [], n_items=4, max_grade=3)
MODEL = GAPfm(2, n_iter=3, random_state=0).fit(TRAIN)
U, V = MODEL.user_factors_, MODEL.item_factors_
TOP = Ratings([0, 1, 1, 1], [3], [5], n_items=4)
MASKED = np.ma.array([1.0, 2.0], mask=[False, True])
UNRATED_NAN = np.where(np.arange(8).reshape(4, 2) == 7, NAN, V)
PRODUCT = {"V": np.ones((3, 2)), "grades": [1, 2, 3], "delta": DELTA}


def fit(**params):
    return GAPfm(**params).fit(TRAIN)


# what an argument of a user's list can be, and what the message must name
BAD_LISTS = [
    ({"scores": [1, NAN, 2], "grades": [1, 2, 3]}, ["scores[1]", "nan", "finite"]),
    ({"scores": [1, 2], "grades": [1, 2, 3]}, ["scores", "2", "3", "one score"]),
    ({"scores": [[1, 2, 3]], "grades": [1, 2, 3]}, ["scores", "(1, 3)"]),
    ({"scores": [1, 2, 3], "grades": [1, -2, 3]}, ["grades[1]", "-2"]),
    ({"scores": [1, 2, 3], "grades": [1, 2.5, 3]}, ["grades[1]", "2.5", "multiply"]),
    ({"scores": [1, 2, 3], "grades": [1, 1e30, 3]}, ["grades[1]", "1e+30", "at most"]),
]
RATED_ONLY = ({"scores": [1, 2, 3], "grades": [1, 0, 3]}, ["grades[1]", "0", "rated"])

CASES = [
    *[
        (function, {**lists, **rest}, ValueError, words)
        for function, rest in (
            (smoothed_gap, {"delta": DELTA}),
            (smoothed_gap_gradient, {"delta": DELTA}),
            (adaptive_selection, {"k": 1}),
        )
        for lists, words in [*BAD_LISTS, RATED_ONLY]
    ],
    *[(consistent_gap, {**lists, "delta": DELTA}, ValueError, w) for lists, w in BAD_LISTS],
    (
        smoothed_gap,
        {"scores": [1], "grades": [4], "delta": DELTA},
        ValueError,
        ["delta", "3", "4"],
    ),
    (
        smoothed_gap,
        {"scores": [1], "grades": [1], "delta": [-1]},
        ValueError,
        ["delta[0]", "-1"],
    ),
    (consistent_rank, {"scores": [1, 2], "tau": 0}, ValueError, ["tau", "above 0", "0.0"]),
    (adaptive_selection, {"grades": [1], "scores": [1], "k": 0}, ValueError, ["k", "0"]),
    *[
        (gradient, {**PRODUCT, **bad}, ValueError, words)
        for gradient in (user_gradient, item_gradients)
        for bad, words in [
            ({"u": [1, 2, 3], "reg": 0}, ["u", "(3,)", "(3, 2)"]),
            ({"u": [[1, 2]], "reg": 0}, ["u", "(1, 2)"]),
            ({"u": [1, 2], "reg": -0.5}, ["reg", "-0.5", "at least 0"]),
            ({"u": [1, NAN], "reg": 0}, ["u[1]", "nan"]),
            ({"u": [1, 2], "V": [[1, 2], [NAN, 0], [3, 4]], "reg": 0}, ["V[1, 0]", "nan"]),
            ({"u": MASKED, "reg": 0}, ["u has masked", "fill"]),
            ({"u": [1, 2], "V": np.ma.stack([MASKED] * 3), "reg": 0}, ["V has masked"]),
            ({"u": ["a", "b"], "reg": 0}, ["u must be numbers", "'b'"]),
            (
                {"u": [1, 2], "V": [[1, 2], [3]], "reg": 0},
                ["V must be an even array", "alike"],
            ),
        ]
    ],
    *[
        (gradient, {**PRODUCT, **huge, "reg": 1e9}, ValueError, ["the gradient", "-inf"])
        for gradient, huge in (
            (user_gradient, {"u": [1, 1e300], "V": [[1, 0]] * 3}),
            (item_gradients, {"u": [1, 0], "V": [[1, 1e300]] * 3}),
        )
    ],
    *[
        (
            function,
            {"user_factors": U, "item_factors": V, "ratings": TRAIN, "reg": 0.1}
            | bias
            | bad,
            ValueError,
            words,
        )
        for function, bias in (
            (objective, {}),
            (consistent_objective, {"item_bias": np.zeros(4)}),
        )
        for bad, words in [
            ({"item_factors": UNRATED_NAN}, ["item_factors[3, 1]", "nan"]),
            ({"user_factors": U * np.inf}, ["user_factors[0, 0]", "inf"]),
            ({"user_factors": U / U * 1e200, "item_factors": 0 * V}, ["1e+200", "0.1"]),
            ({"user_factors": np.ma.stack([MASKED] * 3)}, ["user_factors has masked"]),
            ({"user_factors": [["a", "b"]] * 3}, ["user_factors must be numbers"]),
        ]
    ],
    *[
        (function, {"x": bad}, ValueError, words)
        for function in (logistic, logistic_derivative)
        for bad, words in [
            (MASKED, ["x has masked"]),
            ("a", ["x must be numbers", "'a'"]),
            (["1", "b"], ["x must be numbers", "'b'"]),
        ]
    ],
    (consistent_rank, {"scores": [1, 2], "weights": MASKED}, ValueError, ["weights has m"]),
    (consistent_rank, {"scores": [1, 2], "weights": "ab"}, ValueError, ["weights", "'ab'"]),
    *[
        (relative_error, {"a": [1, 2], "b": bad}, ValueError, words)
        for bad, words in [(MASKED, ["b has masked"]), (["a", "b"], ["b must be numbers"])]
    ],
    *[
        (derivative, {"f": np.sum, "x": bad}, ValueError, words)
        for derivative in (central_difference, complex_step)
        for bad, words in [(MASKED, ["x has masked"]), (["a"], ["x must be numbers"])]
    ],
    (
        objective,
        {"user_factors": U[:2], "item_factors": V, "ratings": TRAIN, "reg": 0},
        ValueError,
        ["user_factors (2, 2)", "3 users", "columns"],
    ),
    (
        objective,
        {"user_factors": U, "item_factors": V[:, :1], "ratings": TRAIN, "reg": 0},
        ValueError,
        ["user_factors", "(3, 2)", "(4, 1)"],
    ),
    (
        objective,
        {"user_factors": U, "item_factors": V, "ratings": TRAIN, "reg": -1},
        ValueError,
        ["reg", "-1"],
    ),
    (fit, {"n_factors": 0}, ValueError, ["n_factors", "0", "at least 1"]),
    (fit, {"n_factors": 2.5}, TypeError, ["n_factors", "2.5", "whole"]),
    (fit, {"reg": -0.1}, ValueError, ["reg", "-0.1", "at least 0"]),
    (fit, {"reg": NAN}, ValueError, ["reg", "nan"]),
    (fit, {"reg": "0.1"}, TypeError, ["reg", "'0.1'"]),
    (fit, {"reg": np.array([0.1])}, TypeError, ["reg", "array([0.1])"]),
    (fit, {"reg": np.complex128(1)}, TypeError, ["reg", "(1+0j)"]),
    (fit, {"reg": np.timedelta64(1, "s")}, TypeError, ["reg", "timedelta"]),
    (fit, {"reg": 10**400}, ValueError, ["reg", "inf"]),
    (fit, {"learning_rate": 0}, ValueError, ["learning_rate", "above 0"]),
    (fit, {"learning_rate": -1e-3}, ValueError, ["learning_rate", "-0.001"]),
    (fit, {"learning_rate": "fast"}, TypeError, ["learning_rate", "'fast'"]),
    (fit, {"n_iter": 0}, ValueError, ["n_iter", "0"]),
    (fit, {"n_selected": 0}, ValueError, ["n_selected", "0"]),
    (fit, {"selection": "greedy"}, ValueError, ["selection", "'greedy'", "'adaptive'"]),
    (fit, {"update": "async"}, ValueError, ["update", "'async'", "'batch'"]),
    (fit, {"inner_sum": "none"}, ValueError, ["inner_sum", "'none'", "'rated'"]),
    (
        fit,
        {"temperature": 2},
        TypeError,
        ["objective='paper' knows no temperature=2", "n_sel"],
    ),
    (
        MODEL.set_params,
        {"seletion": 1},
        ValueError,
        ["no parameter 'seletion'", "selection"],
    ),
    (GAPfm, {"n_selectd": 1}, TypeError, ["n_selectd"]),
    (fit, {"init_scale": 0}, ValueError, ["init_scale", "above 0"]),
    (fit, {"random_state": -3}, ValueError, ["random_state", "-3"]),
    (fit, {"random_state": "x"}, TypeError, ["random_state", "'x'"]),
    (fit, {"n_threads": 10**6}, ValueError, ["n_threads", "1000000"]),
    (GAPfm().fit, {"train": [[1, 2]]}, TypeError, ["train", "list", "from_frame"]),
    (GAPfm().fit, {"train": EMPTY}, ValueError, ["train", "0 ratings"]),
    (GAPfm().fit, {"train": TRAIN, "validation": "no"}, TypeError, ["validation", "str"]),
    (GAPfm().fit, {"train": TRAIN, "validation": OTHER}, ValueError, ["(1, 4)", "(3, 4)"]),
    (
        GAPfm().fit,
        {"train": TRAIN, "validation": TRAIN},
        ValueError,
        ["validation repeats"],
    ),
    (
        GAPfm().fit,
        {"train": TRAIN, "validation": TOP},
        ValueError,
        ["grade 5", "max_grade 3"],
    ),
    (GAPfm().predict, {"user": 0}, ValueError, ["not fitted", "fit(train)"]),
    (GAPfm().save, {"path": "x.npz"}, ValueError, ["not fitted"]),
    (MODEL.predict, {"user": 3}, ValueError, ["user", "3", "0 to 2"]),
    (MODEL.predict, {"user": -1}, ValueError, ["user", "-1"]),
    (MODEL.predict, {"user": 0, "items": [0, 4]}, ValueError, ["items", "4", "0 to 3"]),
    (MODEL.predict, {"user": 0, "items": [-1]}, ValueError, ["items[0]", "-1"]),
    (MODEL.recommend, {"user": 0, "n": 0}, ValueError, ["n must", "0"]),
    (MODEL.recommend, {"user": 0, "exclude": "seen"}, ValueError, ["exclude", "'seen'"]),
    (MODEL.recommend, {"user": 0, "exclude": [9]}, ValueError, ["exclude", "9"]),
    (MODEL.fold_in, {"items": [0, 1], "grades": [1]}, ValueError, ["2 items", "1 grades"]),
    (
        MODEL.fold_in,
        {"items": [1, 1], "grades": [1, 2]},
        ValueError,
        ["distinct", "[1, 1]"],
    ),
    (MODEL.fold_in, {"items": [1], "grades": [4]}, ValueError, ["at most 3", "4"]),
    (MODEL.fold_in, {"items": [1], "grades": [0]}, ValueError, ["grades[0]", "0"]),
    (evaluate_ranking, {"model": MODEL, "test": EMPTY}, ValueError, ["test", "0 ratings"]),
    (
        evaluate_ranking,
        {"model": MODEL, "test": TRAIN, "at": (0,)},
        ValueError,
        ["at", "0"],
    ),
    (
        evaluate_top_n,
        {"model": MODEL, "train": TRAIN, "test": OTHER},
        ValueError,
        ["(1, 4)"],
    ),
    (
        evaluate_top_n,
        {"model": MODEL, "train": EMPTY, "test": TRAIN, "n_candidates": 0},
        ValueError,
        ["n_candidates", "0"],
    ),
]


@pytest.mark.parametrize(
    ("function", "arguments", "error", "words"),
    CASES,
    ids=[f"{function.__qualname__}: {', '.join(words)}" for function, _, _, words in CASES],
)
def test_bad_input_is_named(function, arguments, error, words):
    with np.errstate(over="ignore"), pytest.raises(error) as caught:
        function(**arguments)
    missing = [word for word in words if word not in str(caught.value)]
    assert not missing, f"{caught.value} does not mention {missing}"


def test_one_item_users_equal_grades_and_large_k_are_no_errors():
    assert smoothed_gap([0.0], [3], DELTA) == pytest.approx(0.25 * sum(DELTA))
    assert smoothed_gap([], [], DELTA) == 0.0
    assert adaptive_selection([2, 2], [0.1, 0.9], 10).tolist() == [0, 1]
