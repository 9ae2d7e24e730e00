"""Exercises of notebook 09: what a list is charged for, and two gradients."""

from functools import partial

import numpy as np

from gapfm_teach.paper import logistic

from .core import Exercise


def _charge(worth, t, *, worse=None, own=0.5, over=None, counted=None):
    """1 - consistent GAP, with places where a slip can be put in."""
    if worse is None:
        worse = np.maximum(worth[:, None] - worth[None, :], 0)
    ranks = own + (t if counted is None else counted).sum(axis=1)
    return ((worse * t).sum(axis=1) / ranks).sum() / (
        np.sum(worth) if over is None else over
    )


def _above(scores, tau):
    return logistic((scores[None, :] - scores[:, None]) / tau)


def _charge_inputs() -> list[tuple]:
    rng = np.random.default_rng(9)
    inputs = [(np.array([0.5, 1.375, 0.125]), _above(np.array([2.0, 1.0, 0.0]), 1.0))]
    for size, tau in ((5, 0.5), (9, 2.0)):
        worth = rng.choice([0, 0.125, 0.5, 1.375], size)
        worth[:2] = 0, 0.5
        inputs.append((worth, _above(rng.normal(size=size), tau)))
    return inputs


def _collect(t, m, tau, *, d=None, axis=0):
    return ((t * t.T if d is None else d) * (m - m.T)).sum(axis=axis) / tau


def _collect_inputs() -> list[tuple]:
    rng = np.random.default_rng(10)
    inputs = []
    for size, tau in ((2, 1.0), (4, 0.5), (7, 3.0)):
        inputs.append(
            (_above(rng.normal(size=size), tau), rng.normal(size=(size, size)), tau)
        )
    return inputs


def _log_slope(v, beta, w, N, R, *, power=1):
    return v[:, None] * (beta / N[:, None] - w[None, :] / R[:, None] ** power)


def _log_slope_inputs() -> list[tuple]:
    """Two rated films of lists with 3 and 5 others, unrated ones among them."""
    rng, inputs = np.random.default_rng(11), []
    for size in (5, 7):
        worth = np.zeros(size)
        worth[:3] = 1.375, 0.5, 0.125
        t = _above(rng.normal(size=size), 0.8)[:2]
        w = np.where(worth > 0, 1.0, 0.3)
        beta = np.minimum(worth[:2, None], worth[None, :])
        N = (beta * t).sum(axis=1) + worth[:2] / 2
        inputs.append((np.array([1.0, 0.6]), beta, w, N, 0.5 + t @ w))
    return inputs


CHARGE = Exercise(
    name="charge",
    solution=_charge,
    inputs=_charge_inputs(),
    right="Every term is 0 or more, so GAP is at most 1; and a pair is charged only where the "
    "worse film has a share in standing above.",
    mistakes={
        "You also counted better films above worse ones, as a refund. "
        "Nothing is paid for those: take the positive part.": lambda worth, t: _charge(
            worth, t, worse=worth[:, None] - worth[None, :]
        ),
        "The difference is the wrong way round: "
        "film i is charged for films j that are worth *less* than i.": lambda worth, t: (
            _charge(worth, t, worse=np.maximum(worth[None, :] - worth[:, None], 0))
        ),
        "The absolute value charges every pair of different films twice. "
        "Only the film that is worth more is charged.": lambda worth, t: _charge(
            worth, t, worse=np.abs(worth[:, None] - worth[None, :])
        ),
        "Half a rank too many: t has ½ on its diagonal, "
        "so only ½ stands in front of the sum.": partial(_charge, own=1.0),
        "Half a rank is missing: in front of the sum over j there stands a ½.": partial(
            _charge, own=0.0
        ),
        "The ranks are missing: "
        "what film i is charged is divided by its smooth rank.": lambda worth, t: (
            (np.maximum(worth[:, None] - worth[None, :], 0) * t).sum() / worth.sum()
        ),
        "Z is missing: divide by the sum of all worth.": partial(_charge, over=1.0),
        "You took the mean over the films. Divide by Z, "
        "the sum of all worth.": lambda worth, t: _charge(worth, t, over=worth.size),
        "That is consistent GAP itself. The "
        "exercise asks for what is missing to 1.": lambda worth, t: 1 - _charge(worth, t),
        "t[i, j] says how much j stands above i. "
        "You read it the other way round.": lambda worth, t: _charge(worth, t.T),
        "You summed the ranks over the wrong axis. Who stands above i stands in "
        "*row* i of t: `t.sum(axis=1)`.": lambda worth, t: _charge(worth, t, counted=t.T),
        "You divided by the rank of the *column*. What film i is charged stands in "
        "its row: sum it with `axis=1`, or divide by `ranks[:, None]`.": lambda worth, t: (
            (
                (np.maximum(worth[:, None] - worth[None, :], 0) * t).sum(axis=0)
                / (0.5 + t.sum(axis=1))
            ).sum()
            / worth.sum()
        ),
        "You charged all that stands above i with Δ_i. "
        "A film is only charged the *difference* Δ_i − Δ_j.": lambda worth, t: _charge(
            worth, t, worse=np.tile(worth[:, None], worth.size)
        ),
    },
)

COLLECT = Exercise(
    name="collect",
    solution=_collect,
    inputs=_collect_inputs(),
    right="The sum of your slopes is 0: every pair gives one film what it takes from the other.",
    mistakes={
        "All signs are turned round: you summed over k. In `m - m.T` row i, column "
        "k is m_ik − m_ki, and the sum is over i, the rows.": partial(_collect, axis=1),
        "τ is not used: divide by it.": lambda t, m, tau: _collect(t, m, 1.0),
        "m_ki enters with a minus: the score of k lifts t_ik "
        "and *lowers* t_ki.": lambda t, m, tau: (t * t.T * (m + m.T)).sum(axis=0) / tau,
        "Only what the score of k lifts is there. It also lowers t_ki, "
        "for every other i.": lambda t, m, tau: (t * t.T * m).sum(axis=0) / tau,
        "d_ij is the slope of the switch, "
        "t_ij (1 − t_ij), and not t_ij itself.": lambda t, m, tau: _collect(t, m, tau, d=t),
        "You multiplied by τ: the slope "
        "of g(x/τ) is g'(x/τ) *divided* by τ.": lambda t, m, tau: _collect(t, m, 1 / tau),
    },
)

LOG_SLOPE = Exercise(
    name="log-slope",
    solution=_log_slope,
    inputs=_log_slope_inputs(),
    right="A film far down, where R is large, loses 1/R for a rank and not 1/R²: it is still heard.",
    mistakes={
        "1/R² belongs to 1/R. Here the rank stands in a logarithm: "
        "d log R = dR / R.": partial(_log_slope, power=2),
        "That is the slope of N/R, the arithmetic mean's. "
        "Divide it by N/R: d log x = dx / x.": lambda v, beta, w, N, R: (
            v[:, None] * (beta / R[:, None] - w[None, :] * N[:, None] / R[:, None] ** 2)
        ),
        "v is missing: each logarithm counts v_i.": lambda v, beta, w, N, R: (
            beta / N[:, None] - w[None, :] / R[:, None]
        ),
        "w is missing: an unrated film j takes up w_j ranks.": lambda v, beta, w, N, R: (
            v[:, None] * (beta / N[:, None] - 1 / R[:, None])
        ),
        "The sign of the second term: "
        "R is a divisor, so losing ranks costs.": lambda v, beta, w, N, R: (
            v[:, None] * (beta / N[:, None] + w[None, :] / R[:, None])
        ),
        "Only N has moved. The rank R_i depends on t_ij, too.": lambda v, beta, w, N, R: (
            v[:, None] * beta / N[:, None]
        ),
        "Only the rank has moved. N_i depends on t_ij, too.": lambda v, beta, w, N, R: (
            -v[:, None] * w[None, :] / R[:, None]
        ),
        "Each of the two terms is divided by its own: "
        "β by N, w by R.": lambda v, beta, w, N, R: (
            v[:, None] * (beta - w[None, :]) / (N / R)[:, None]
        ),
    },
)

EXERCISES: list[Exercise] = [CHARGE, COLLECT, LOG_SLOPE]
