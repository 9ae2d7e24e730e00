"""Bad input: one clear error that names the argument, the offending value and the remedy."""

import numpy as np
import pytest

from gapfm_teach import gradcheck, metrics

NAN, INF = float("nan"), float("inf")

# What every metric that reads grades and scores must refuse: (grades, scores, fragments).
BAD_LISTS = {
    "fractional grade": ([1, 2.5], [1, 2], ["grades", "2.5", "whole"]),
    "negative grade": ([1, -2], [1, 2], ["grades", "-2", "unrated"]),
    "nan grade": ([NAN, 2], [1, 2], ["grades[0]", "nan"]),
    "infinite grade": ([1, INF], [1, 2], ["grades[1]", "inf"]),
    "a time for a grade": ([1, 881250949], [1, 2], ["grades[1]", "8.8", "not times"]),
    "grades with two axes": ([[1, 2]], [1, 2], ["grades", "(1, 2)", "one-dimensional"]),
    "grades as words": (["good", "bad"], [1, 2], ["grades", "good"]),
    "nan score": ([1, 2], [1, NAN], ["scores[1]", "nan"]),
    "infinite score": ([1, 2], [-INF, 0], ["scores[0]", "-inf"]),
    "scores with two axes": ([1, 2], [[1], [2]], ["scores", "(2, 1)", "one-dimensional"]),
    "complex grade": ([1, 2 + 0j], [1, 2], ["grades must be numbers"]),
    "a span of time for a grade": (np.array([1, 2], "m8[D]"), [1, 2], ["grades", "numb"]),
    "masked grade": (np.ma.array([1, 2], mask=[0, 1]), [1, 2], ["grades", "masked"]),
    "masked score": ([1, 2], np.ma.array([1, 2], mask=[0, 1]), ["scores", "masked"]),
    "a time for a score": ([1, 2], np.array([1, 2], "M8[D]"), ["scores", "numbers"]),
    "unequal lengths": ([1, 2, 3], [1, 2], ["scores", "2", "3"]),
    "no scores": ([1, 2], [], ["scores", "0", "2"]),
}
READ_LISTS = {
    metrics.graded_average_precision: {},
    metrics.ndcg: {},
    metrics.precision: {"at": 1, "threshold": 1},
    metrics.expected_reciprocal_rank: {},
    metrics.graded_precision: {"at": 1},
    metrics.graded_recall: {"at": 1},
}
LIST = {"grades": [3, 1, 0], "scores": [0.1, 0.2, 0.3]}
BAD_CUTS = {
    0: ValueError,
    -1: ValueError,
    1.5: TypeError,
    "top": TypeError,
    True: TypeError,
}
READ_DELTA = (
    metrics.graded_average_precision,
    metrics.graded_precision,
    metrics.graded_recall,
)
BAD_DELTAS = {
    "short": ([1.0, 1.0], ["2 entries", "3"]),
    "negative": ([1.0, -0.5, 1.0], ["delta[1]", "-0.5"]),
    "nan": ([1, NAN, 1], ["delta[1]", "nan"]),
    "a number": (0.5, ["one-dimensional", "()"]),
    "complex": ([1, 1, 1j], ["delta must be numbers", "1j"]),
    "masked": (np.ma.array([1, 1, 1], mask=[0, 0, 1]), ["masked"]),
}
DERIVATIVES = (gradcheck.central_difference, gradcheck.complex_step)

# what is wrong: (callable, keyword arguments, error, fragments of the message)
BAD_CALLS = {
    **{
        f"{metric.__name__}, {wrong}": (
            metric,
            {"grades": grades, "scores": scores, **rest},
            ValueError,
            fragments,
        )
        for metric, rest in READ_LISTS.items()
        for wrong, (grades, scores, fragments) in BAD_LISTS.items()
    },
    **{
        f"{metric.__name__}, at={at!r}": (
            metric,
            {**LIST, **rest, "at": at},
            error,
            ["at", repr(at)],
        )
        for metric, rest in READ_LISTS.items()
        for at, error in BAD_CUTS.items()
    },
    **{
        f"{metric.__name__}, delta {wrong}": (
            metric,
            {**LIST, **READ_LISTS[metric], "delta": delta},
            ValueError,
            ["delta", *fragments],
        )
        for metric in READ_DELTA
        for wrong, (delta, fragments) in BAD_DELTAS.items()
    },
    "thresholding_probabilities, max_grade=0": (
        metrics.thresholding_probabilities,
        {"max_grade": 0},
        ValueError,
        ["max_grade", "0"],
    ),
    "thresholding_probabilities, huge max_grade": (
        metrics.thresholding_probabilities,
        {"max_grade": 10**10},
        ValueError,
        ["max_grade", "10000000000", "1000000"],
    ),
    "thresholding_probabilities, max_grade=2.5": (
        metrics.thresholding_probabilities,
        {"max_grade": 2.5},
        TypeError,
        ["max_grade", "2.5"],
    ),
    "graded_average_precision, unknown normalizer": (
        metrics.graded_average_precision,
        {**LIST, "normalizer": "best"},
        ValueError,
        ["normalizer", "'best'", "'all'", "'ideal'", "'hits'"],
    ),
    "average_precision, grades for relevant": (
        metrics.average_precision,
        {"relevant": [0, 3, 5], "scores": [1, 2, 3]},
        ValueError,
        ["relevant[1]", "3", "grades >= 4"],
    ),
    "average_precision, unequal lengths": (
        metrics.average_precision,
        {"relevant": [True], "scores": [1, 2]},
        ValueError,
        ["scores", "2", "1"],
    ),
    "precision, threshold=0": (
        metrics.precision,
        {**LIST, "at": 1, "threshold": 0},
        ValueError,
        ["threshold", "0"],
    ),
    "precision, threshold=3.5": (
        metrics.precision,
        {**LIST, "at": 1, "threshold": 3.5},
        TypeError,
        ["threshold", "3.5"],
    ),
    "expected_reciprocal_rank, a grade above max_grade": (
        metrics.expected_reciprocal_rank,
        {**LIST, "max_grade": 2},
        ValueError,
        ["max_grade", "2", "3"],
    ),
    "ranks, nan score": (
        metrics.ranks,
        {"scores": [1, NAN]},
        ValueError,
        ["scores[1]", "nan"],
    ),
    **{
        f"{method.__name__}, step={step}": (
            method,
            {"f": np.sum, "x": [1.0], "step": step},
            ValueError,
            ["step", str(step)],
        )
        for method in DERIVATIVES
        for step in (0.0, -1e-5, NAN)
    },
    **{
        f"{method.__name__}, a function that sums nothing": (
            method,
            {"f": np.sin, "x": [1.0, 2.0]},
            ValueError,
            ["f must", "(2,)", "sum it"],
        )
        for method in DERIVATIVES
    },
    "central_difference, nan": (
        gradcheck.central_difference,
        {"f": np.sum, "x": [1, NAN]},
        ValueError,
        ["x", "nan"],
    ),
    "complex_step, a function that drops the imaginary part": (
        gradcheck.complex_step,
        {"f": lambda x: np.abs(x).sum(), "x": [1.0]},
        TypeError,
        ["f", "imaginary"],
    ),
    "relative_error, unequal shapes": (
        gradcheck.relative_error,
        {"a": [1.0, 2.0], "b": [[1.0, 2.0]]},
        ValueError,
        ["a and b", "(2,)", "(1, 2)"],
    ),
}


@pytest.mark.parametrize(
    ("function", "arguments", "error", "fragments"), BAD_CALLS.values(), ids=BAD_CALLS
)
def test_bad_input_is_named(function, arguments, error, fragments):
    with pytest.raises(error) as caught:
        function(**arguments)
    missing = [fragment for fragment in fragments if fragment not in str(caught.value)]
    assert not missing, f"{caught.value} does not mention {missing}"
