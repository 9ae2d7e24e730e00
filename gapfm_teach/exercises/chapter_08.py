"""Exercises of notebook 08: a counting sort, bytes, mean and mean square, how many nodes."""

import numpy as np

from .core import Exercise, Mistake


def _new_places(users, n_users):
    counts = np.bincount(users, minlength=n_users)
    ends = np.cumsum(counts) - counts
    places = np.empty_like(users)
    for k, user in enumerate(users):
        places[k] = ends[user]
        ends[user] += 1
    return places


def _never_moved_on(users, n_users):
    counts = np.bincount(users, minlength=n_users)
    return (np.cumsum(counts) - counts)[users]


def _begins_too_late(users, n_users):
    counts = np.bincount(users, minlength=n_users)
    return _new_places(users, n_users) + counts[users]


def _filled_from_the_end(users, n_users):
    ends, places = np.cumsum(np.bincount(users, minlength=n_users)), np.empty_like(users)
    for k, user in enumerate(users):
        ends[user] -= 1
        places[k] = ends[user]
    return places


def _within_the_row(users, n_users):
    counts = np.bincount(users, minlength=n_users)
    return _new_places(users, n_users) - (np.cumsum(counts) - counts)[users]


def _bytes_needed(
    n_users, n_items, n_ratings, n_factors, *, ends=1, film=4, grade=1, real=8
):
    rows = 8 * (n_users + ends) + (film + grade) * n_ratings
    return rows + real * (n_users + n_items) * n_factors


def _spread_of_counts(counts):
    return np.mean(counts**2) / np.mean(counts) ** 2


def _log_rho(spread):
    slope = 2 * np.pi / spread
    return np.log(slope + np.sqrt(1 + slope**2))


def _nodes_needed(spread, tolerance):
    return np.ceil(np.log(1 / tolerance) / _log_rho(spread))


EXERCISES: list[Exercise] = [
    Exercise(
        name="new-places",
        solution=_new_places,
        right="Yes. A counting sort finds these places in one pass to count and one to move, without "
        "comparing two users anywhere, and a user's ratings keep the order of the file.",
        inputs=[
            (np.array([2, 0, 2, 1, 0]), 3),
            (np.array([4, 4, 1, 0, 4, 1]), 5),
            (np.array([1, 3, 3, 0, 3, 1, 2]), 4),
        ],
        mistakes=[
            Mistake(
                lambda users, n_users: np.argsort(users, kind="stable"),
                "This is the opposite direction: which rating stands at each place of the rows. "
                "Asked for is the place that each rating goes to.",
            ),
            Mistake(
                _never_moved_on,
                "All ratings of a user go to the same place. After each one, move the place on.",
            ),
            Mistake(
                _begins_too_late,
                "Your rows begin where they should end: `cumsum` counts the user's own ratings, "
                "too. Subtract the counts.",
            ),
            Mistake(
                _within_the_row,
                "You count within the user's row. Add the place where the row begins.",
            ),
            Mistake(
                _filled_from_the_end,
                "The rows are right, but each is filled from its end: a user's films come out in "
                "the reverse order of the file.",
            ),
            Mistake(
                lambda users, n_users: np.sort(users),
                "These are the users in the order of the rows. Asked for is the place of each rating.",
            ),
            Mistake(
                lambda users, n_users: _new_places(users, n_users) + 1,
                "Your places begin at 1; an array's begin at 0.",
            ),
        ],
    ),
    Exercise(
        name="bytes-needed",
        solution=_bytes_needed,
        right="Yes. At Netflix's size nearly all of it is the 5 bytes of each rating.",
        inputs=[(3, 4, 7, 2), (480_189, 17_770, 99_072_112, 10), (1000, 200, 50_000, 50)],
        mistakes=[
            Mistake(
                lambda m, n, s, d: _bytes_needed(m, n, s, d, ends=0),
                "Nearly: where the last row ends has to be stored, too. The row starts are one "
                "more than the users.",
            ),
            Mistake(
                lambda m, n, s, d: _bytes_needed(m, n, s, d, grade=8),
                "A grade of 8 bytes? int8 takes one.",
            ),
            Mistake(
                lambda m, n, s, d: _bytes_needed(m, n, s, d, real=4),
                "The factors are float64: 8 bytes each.",
            ),
            Mistake(
                lambda m, n, s, d: _bytes_needed(m, n, s, 0),
                "The factors are missing: D numbers for every user and every item.",
            ),
            Mistake(
                lambda m, n, s, d: _bytes_needed(m, n, s, d) - 8 * n * d,
                "V is missing: D numbers for every film, too.",
            ),
            Mistake(
                lambda m, n, s, d: _bytes_needed(m, n, s, d) + 4 * s,
                "You stored the films as int64; int32 takes 4 bytes.",
            ),
            Mistake(
                lambda m, n, s, d: _bytes_needed(m, n, s, d) / 1e9,
                "That is in GB; asked for are bytes.",
            ),
            Mistake(
                lambda m, n, s, d: _bytes_needed(m, n, s, d, film=8, grade=8),
                "You gave every number 8 bytes. Films are int32, 4 bytes, and grades int8, one byte.",
            ),
            Mistake(
                lambda m, n, s, d: _bytes_needed(m, n, s, d) - 8 * m * d,
                "U is missing: D numbers for every user, too.",
            ),
            Mistake(
                lambda m, n, s, d: (4 + 1) * s + 8 * (m + n) * d,
                "The row starts are missing: 8 bytes for each user, and for the end of the last row.",
            ),
            Mistake(
                lambda m, n, s, d: 8 * (m + 1) + (4 + 1) * s + 8 * m * n * d,
                "The factors are D numbers a user *plus* D a film: (users + films) · D, not users · films · D.",
            ),
            Mistake(
                lambda m, n, s, d: 8 * _bytes_needed(m, n, s, d),
                "Those are bits.",
            ),
        ],
    ),
    Exercise(
        name="counts-ratio",
        solution=_spread_of_counts,
        right="Yes: 1 + (standard deviation / mean)². It is 1 only if all users rate equally much, "
        "and that is the case the paper's count describes.",
        inputs=[
            (np.array([1, 2, 3]),),
            (np.array([10, 10, 10, 10]),),
            (np.array([5, 40, 7, 300, 12]),),
        ],
        mistakes=[
            Mistake(
                lambda counts: 1 / _spread_of_counts(counts),
                "Upside down: the true count is divided by the paper's. It is never below 1.",
            ),
            Mistake(
                lambda counts: np.sum(counts**2) / np.sum(counts) ** 2,
                "M is missing. The paper's count is M times the square of the mean.",
            ),
            Mistake(
                lambda counts: np.sum(counts**2) / np.mean(counts) ** 2,
                "You summed the squares, where their mean belongs: the M below is missing.",
            ),
            Mistake(
                lambda counts: _spread_of_counts(counts) - 1,
                "That is the variance over the squared mean. The mean of the squares is the "
                "variance and the squared mean together.",
            ),
            Mistake(
                lambda counts: 1 + np.std(counts) / np.mean(counts),
                "The standard deviation over the mean has to be squared.",
            ),
            Mistake(
                lambda counts: np.mean(counts) ** 2 / np.sum(counts**2),
                "Upside down, and a sum of squares where their mean belongs.",
            ),
            Mistake(
                lambda counts: np.mean(counts**2) / np.mean(counts),
                "The mean below the line has to be squared: S̄² M.",
            ),
            Mistake(
                lambda counts: 1 + np.var(counts, ddof=1) / np.mean(counts) ** 2,
                "The variance here divides by M − 1. Divide by M: these are all users, not a sample of them.",
            ),
        ],
    ),
    Exercise(
        name="nodes-needed",
        solution=_nodes_needed,
        right="Yes. Twice the digits take twice the nodes, and so does twice a wide range; the number "
        "of films does not come in.",
        inputs=[(5.0, 1e-8), (2.0, 1e-6), (20.0, 1e-8), (10.0, 1e-12)],
        mistakes=[
            Mistake(
                lambda spread, tolerance: np.ceil(
                    np.log(1 / tolerance) / _log_rho(spread / 2)
                ),
                "You halved the range twice: 2π/L is the distance of the pole in units of L/2.",
            ),
            Mistake(
                lambda spread, tolerance: np.ceil(
                    np.log10(1 / tolerance) / _log_rho(spread)
                ),
                "Two kinds of logarithm: use the same for the tolerance and for ρ.",
            ),
            Mistake(
                lambda spread, tolerance: np.floor(
                    np.log(1 / tolerance) / _log_rho(spread)
                ),
                "That is one node short: ρ^(-p) is still above the tolerance. Round up.",
            ),
            Mistake(
                lambda spread, tolerance: np.log(1 / tolerance) / _log_rho(spread),
                "Half a node does not exist: round up to a whole number.",
            ),
            Mistake(
                lambda spread, tolerance: np.round(
                    np.log(1 / tolerance) / _log_rho(spread)
                ),
                "Rounded to the nearest number, ρ^(-p) can be above the tolerance. Round up.",
            ),
            Mistake(
                lambda spread, tolerance: np.ceil(np.log(tolerance) / _log_rho(spread)),
                "The sign: log(tolerance) is negative. Take log(1 / tolerance).",
            ),
            Mistake(
                lambda spread, tolerance: np.ceil(
                    np.log(1 / tolerance) / _log_rho(2 * spread)
                ),
                "You took π/L, the distance of the pole in units of the whole range. The interval -1 to 1 is "
                "two units long: L/2 is one unit, so it is 2π/L.",
            ),
            Mistake(
                lambda spread, tolerance: np.ceil(
                    np.log(1 / tolerance) / np.log(4 * np.pi / spread)
                ),
                "ρ is the pole's distance plus the root of 1 + its square; you took twice the distance.",
            ),
            Mistake(
                lambda spread, tolerance: (
                    np.ceil(np.log(1 / tolerance) / _log_rho(spread)) + 1
                ),
                "One node too many: at the rounded number the tolerance is reached.",
            ),
        ],
    ),
]
