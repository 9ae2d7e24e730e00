"""Exercises of Chapter 3: the gradient of an item, and a check of gradients."""

import numpy as np

from gapfm_teach.gradcheck import central_difference, relative_error

from .core import Exercise


def _item_gradient(c, U, v, reg):
    return U.T @ c - reg * v


def _comparison(agree):
    """A check by `agree`, a function of the claimed gradient and of the one by differences."""
    return lambda f, gradient, x: bool(agree(gradient(x), central_difference(f, x)))


def _is_close(of, tolerance=1e-6):
    """A check that compares `of` the two gradients, relative to their size."""
    return _comparison(lambda a, b: relative_error(of(a), of(b)) < tolerance)


def _raters(seed: int, n_raters: int, n_factors: int, reg: float) -> tuple:
    """What one item's gradient needs: c of each rater, their factors, the item's, and λ."""
    rng = np.random.default_rng(seed)
    return (
        rng.normal(size=n_raters),
        rng.normal(size=(n_raters, n_factors)),
        rng.normal(size=n_factors),
        reg,
    )


# What a verdict calls these functions is their docstring.


def _waves(x):
    """f(x) = the sum of sin(x)"""
    return np.sum(np.sin(x))


def _small_waves(x):
    """f(x) = 1e-10 times the sum of sin(x)"""
    return 1e-10 * np.sum(np.sin(x))


def _large_waves(x):
    """f(x) = 1e8 times the sum of sin(x)"""
    return 1e8 * np.sum(np.sin(x))


def _high_waves(x):
    """f(x) = a million plus the sum of sin(x)"""
    return 1e6 + np.sum(np.sin(x))


def _slope(x):
    """gradient(x) = cos(x)"""
    return np.cos(x)


def _small_slope(x):
    """gradient(x) = 1e-10 cos(x)"""
    return 1e-10 * np.cos(x)


def _large_slope(x):
    """gradient(x) = 1e8 cos(x)"""
    return 1e8 * np.cos(x)


def _reversed_small_slope(x):
    """gradient(x) = -1e-10 cos(x), the sign reversed"""
    return -1e-10 * np.cos(x)


def _last_entry_lost(x):
    """gradient(x) = cos(x) with 0 for its last entry"""
    return np.append(np.cos(x[:-1]), 0.0)


def _a_percent_too_long(x):
    """gradient(x) = 1.01 cos(x)"""
    return 1.01 * np.cos(x)


def _twice_too_long(x):
    """gradient(x) = 2 cos(x)"""
    return 2 * np.cos(x)


def _in_the_wrong_order(x):
    """gradient(x) = cos(x) with its entries in the reverse order"""
    return np.cos(x)[::-1]


_POINT = np.array([0.3, -0.7, 1.1])
_CLAIMS = [
    (_waves, _slope, _POINT),
    (_waves, _last_entry_lost, _POINT),
    (_waves, _a_percent_too_long, _POINT),
    (_waves, _twice_too_long, _POINT),
    (_waves, _in_the_wrong_order, _POINT),
    (_large_waves, _large_slope, _POINT),
    (_small_waves, _small_slope, _POINT),
    (_small_waves, _reversed_small_slope, _POINT),
    (_high_waves, _a_percent_too_long, _POINT),
]


def _goes_up(f, gradient, x):
    return bool(f(x + 1e-3 * gradient(x)) > f(x))


def _by_the_value(f, gradient, x):
    error = np.max(np.abs(gradient(x) - central_difference(f, x)))
    return bool(error < 1e-6 * abs(f(x)))


def _cosine(claimed, found):
    return claimed @ found > (1 - 1e-6) * np.sqrt(claimed @ claimed * (found @ found))


EXERCISES: list[Exercise] = [
    Exercise(
        name="item-gradient",
        solution=_item_gradient,
        inputs=[_raters(0, 2, 2, 0.1), _raters(1, 5, 3, 0.5), _raters(2, 1, 4, 0.0)],
        right="Each rater pulls along their own vector, with their own strength c. The "
        "regulariser pulls back once, however many raters there are.",
        mistakes={
            "The part of the raters is right, but "
            "the regulariser's -λV_i is missing.": lambda c, U, v, reg: U.T @ c,
            "The regulariser has the wrong sign. It is subtracted in (9), "
            "so it pulls the vector towards zero.": lambda c, U, v, reg: U.T @ c + reg * v,
            "You subtract λV_i once for each rater. In (9) the item's vector occurs in "
            "‖V‖² once, so its derivative "
            "is subtracted once.": lambda c, U, v, reg: U.T @ c - reg * len(c) * v,
            "You average over the raters. (9) is a sum over users, "
            "so their parts of the gradient add up, too.": lambda c, U, v, reg: (
                U.T @ c / len(c) - reg * v
            ),
            "Your regulariser is twice too large. (9) has λ/2, "
            "so that its derivative is λV_i.": lambda c, U, v, reg: U.T @ c - 2 * reg * v,
            "Half of the regulariser is missing. The derivative of λ/2 ‖V_i‖² is λV_i, "
            "because the square brings a 2.": lambda c, U, v, reg: U.T @ c - reg / 2 * v,
            "You subtract λ times V_i divided by its length, which belongs to the norm "
            "‖V_i‖. (9) has its *square*, and the derivative is λV_i.": lambda c, U, v, reg: (
                U.T @ c - reg * v / np.linalg.norm(v)
            ),
            "The gradient must point along the users' vectors: "
            "∂f/∂V_i = U_m, not V_i.": lambda c, U, v, reg: c.sum() * v - reg * v,
            "You subtract λ times the *users'* vectors. In ∂F/∂V_i it "
            "is the item's own vector, -λV_i.": lambda c, U, v, reg: (
                U.T @ c - reg * U.sum(axis=0)
            ),
            "c is missing. Rater m pulls along "
            "U_m with the strength c_mi.": lambda c, U, v, reg: U.sum(axis=0) - reg * v,
            "This is the part of the first rater alone. All of them pull, so "
            "sum over the raters.": lambda c, U, v, reg: c[0] * U[0] - reg * v,
            "Your sign is reversed: this is the gradient of -F. "
            "GAPfm maximises F.": lambda c, U, v, reg: reg * v - U.T @ c,
            "The derivative of λ/2 ‖V_i‖² is λV_i, "
            "but yours still contains the square.": lambda c, U, v, reg: (
                U.T @ c - reg * v**2
            ),
        },
    ),
    Exercise(
        name="gradient-check",
        solution=_is_close(np.asarray),
        inputs=_CLAIMS,
        right="It accepts right gradients, large and small. It refuses a lost entry, one "
        "percent too much, and a reversed sign.",
        mistakes={
            "You test that a step along the gradient raises f. "
            "A gradient that lost an entry or is 1% too long passes that test.": _goes_up,
            "You compare the difference itself with the tolerance. Then a right gradient in "
            "large units fails, and one in small units passes even with its "
            "sign reversed. Divide by the "
            "gradient's own size.": _comparison(lambda a, b: np.max(np.abs(a - b)) < 1e-6),
            "You divide by the size of f(x). A million added to f changes that size, "
            "but not the gradient. Divide by the gradient's own size.": _by_the_value,
            "Your tolerance lets an error of 1% through. Central differences are "
            "good to about ten digits, so ask for six.": _is_close(
                np.asarray, tolerance=0.1
            ),
            "You compare the first entry only. One "
            "of the gradients is wrong in its last.": _is_close(
                lambda gradient: gradient[:1]
            ),
            "Your check accepts everything, but "
            "some of these gradients are wrong.": lambda f, gradient, x: True,
            "Your check refuses everything. No difference quotient is exact, so ask for "
            "agreement to about six digits, "
            "not for equality.": lambda f, gradient, x: False,
            "You compare directions. The cosine does not see the length, so a gradient that "
            "is twice too long passes.": _comparison(_cosine),
            "You compare lengths only. A gradient with its sign reversed, or with its "
            "entries in another order, "
            "is as long as the right one.": _is_close(np.linalg.norm),
            "You compare the sums of the entries, or their means. A wrong gradient with its "
            "entries in another order has the same sum and mean, so "
            "compare entry by entry.": _is_close(np.sum),
            "`any` is content with a single right entry. "
            "They `all` have to be right.": _comparison(
                lambda a, b: np.any(np.abs(a - b) <= 1e-6 * np.abs(b))
            ),
            "`np.allclose` also accepts every difference below its `atol`, which is 1e-8 by "
            "default. In small units, even a reversed sign passes. "
            "Set `atol=0`, or divide by the gradient's size.": _comparison(np.allclose),
            "Yes and no have changed places. Return `True` for a gradient "
            "that is right.": _comparison(lambda a, b: relative_error(a, b) >= 1e-6),
        },
    ),
]
