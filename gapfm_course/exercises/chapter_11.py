"""Exercises of notebook 11: bytes of an iteration, how many machines."""

import numpy as np

from .core import Exercise


def _bytes_sent(n_workers, n_items, n_factors):
    return 2 * (n_workers - 1) * 8 * n_items * n_factors


def _best_number(alone, level):
    return alone * np.log(2) / level


EXERCISES: list[Exercise] = [
    Exercise(
        name="bytes-sent",
        solution=_bytes_sent,
        right="Yes. The formula contains neither the number of users nor the number "
        "of ratings. This is why we share out the users and not the items.",
        inputs=[(2, 1682, 10), (16, 17_770, 10), (1, 1000, 10), (1000, 10**6, 50)],
        mistakes={
            "This is one way only. V goes out to the workers, and sums of its size "
            "come back.": lambda w, n, d: (w - 1) * 8 * n * d,
            "One worker makes the next V. It does not have to send V or its own sum "
            "to itself, so a single worker sends nothing.": lambda w, n, d: (
                2 * w * 8 * n * d
            ),
            "Here everybody sends to everybody else. Follow the arrows of the "
            "picture: every worker but one receives V once and sends a sum once.": lambda w, n, d: (
                w * (w - 1) * 8 * n * d
            ),
            "This counts numbers, and each of them, a float64, takes 8 bytes.": lambda w, n, d: (
                2 * (w - 1) * n * d
            ),
            "This measures how long it takes when many send at once. The exercise "
            "asks how much is sent.": lambda w, n, d: 2 * np.ceil(np.log2(w)) * 8 * n * d,
            "You counted the levels of the tree. On each level, many workers send "
            "at the same time. In total, every worker but one takes a message in "
            "each direction.": [
                lambda w, n, d: 2 * np.log2(w) * 8 * n * d,
                lambda w, n, d: np.ceil(np.log2(w)) * 8 * n * d,
                lambda w, n, d: np.log2(w) * 8 * n * d,
                lambda w, n, d: w * np.log2(w) * 8 * n * d,
                lambda w, n, d: 2 * w * np.log2(w) * 8 * n * d,
            ],
            "There are two mistakes. This is one way only, and the worker that "
            "makes the next V does not have to send it to itself.": lambda w, n, d: (
                w * 8 * n * d
            ),
            "These are bits. Count bytes.": lambda w, n, d: 2 * (w - 1) * 64 * n * d,
        },
    ),
    Exercise(
        name="best-number",
        solution=_best_number,
        right="Yes. If the network becomes twice as fast, the best number of machines "
        "doubles. Near the best number the curve is flat: half as many machines "
        "are nearly as fast, for little more than half the cost.",
        inputs=[(60.0, 0.5), (1200.0, 2.0), (10.0, 0.01)],
        mistakes={
            "Nearly. The derivative of log2(W) is 1 / (W ln 2) and not 1 / W.": lambda alone, level: (
                alone / level
            ),
            "The logarithm of 2 is on the wrong side. Solve a / W² = c / (W ln 2) "
            "for W.": lambda alone, level: alone / (level * np.log(2)),
            "This would be right for a cost that grows with W itself. Here it grows "
            "with log2(W).": lambda alone, level: np.sqrt(alone / level),
            "This is the right number, but rounded. Return it unrounded.": lambda alone, level: (
                np.round(alone * np.log(2) / level)
            ),
            "This is a number of levels. The exercise asks for the number of "
            "workers.": lambda alone, level: np.log2(alone / level),
            "This is upside down. The more time a level takes, the fewer workers "
            "are best.": lambda alone, level: level / (alone * np.log(2)),
            "One of the two W cancels. −a/W² + c/(W ln 2) = 0 gives W itself and "
            "not its square.": lambda alone, level: np.sqrt(alone * np.log(2) / level),
        },
    ),
]
