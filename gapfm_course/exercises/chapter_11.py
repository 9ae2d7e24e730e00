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
        right="Yes. Neither users nor ratings occur in it: that is why the users are shared out, and "
        "not the items.",
        inputs=[(2, 1682, 10), (16, 17_770, 10), (1, 1000, 10), (1000, 10**6, 50)],
        mistakes={
            "That is one way only. V goes out to the workers, "
            "and sums of its size come back.": lambda w, n, d: (w - 1) * 8 * n * d,
            "One worker makes the next V: it need not send it to itself, nor its own sum. "
            "A single worker sends nothing.": lambda w, n, d: 2 * w * 8 * n * d,
            "That is everybody to everybody else. Follow the arrows of the picture: each "
            "worker is told V once, "
            "and its sum leaves it once.": lambda w, n, d: w * (w - 1) * 8 * n * d,
            "That counts numbers; a float64 takes 8 bytes.": lambda w, n, d: (
                2 * (w - 1) * n * d
            ),
            "That is how long it takes, where many send at once. Counted "
            "here is what is sent.": lambda w, n, d: 2 * np.ceil(np.log2(w)) * 8 * n * d,
            "You counted the levels of the tree. On each of them many send at the same "
            "time; what is sent is a message for each worker but one, in each direction.": [
                lambda w, n, d: 2 * np.log2(w) * 8 * n * d,
                lambda w, n, d: np.ceil(np.log2(w)) * 8 * n * d,
                lambda w, n, d: np.log2(w) * 8 * n * d,
                lambda w, n, d: w * np.log2(w) * 8 * n * d,
                lambda w, n, d: 2 * w * np.log2(w) * 8 * n * d,
            ],
            "Two slips: that is one way only; and one worker makes the next V, "
            "so it need not send it to itself.": lambda w, n, d: w * 8 * n * d,
            "Those are bits.": lambda w, n, d: 2 * (w - 1) * 64 * n * d,
        },
    ),
    Exercise(
        name="best-number",
        solution=_best_number,
        right="Yes. Twice as fast a network is worth twice as many machines. Around the best number "
        "the curve is flat: half as many machines are nearly as fast, for little more than half "
        "the cost.",
        inputs=[(60.0, 0.5), (1200.0, 2.0), (10.0, 0.01)],
        mistakes={
            "Nearly: the derivative of log2(W) is 1 / (W ln 2), "
            "not 1 / W.": lambda alone, level: alone / level,
            "The logarithm of 2 is on the wrong side: solve a "
            "/ W² = c / (W ln 2) for W.": lambda alone, level: alone / (level * np.log(2)),
            "That is for a cost that grows with W itself. "
            "Here it grows with log2(W).": lambda alone, level: np.sqrt(alone / level),
            "That is a number of levels. Asked "
            "for is the number of workers.": lambda alone, level: np.log2(alone / level),
            "Upside down: the dearer a level, the fewer workers.": lambda alone, level: (
                level / (alone * np.log(2))
            ),
            "One of the two W cancels: −a/W² + c/(W ln 2) = 0 gives W itself, "
            "not its square.": lambda alone, level: np.sqrt(alone * np.log(2) / level),
        },
    ),
]
