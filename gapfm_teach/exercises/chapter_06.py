"""Exercises of notebook 06: the ceiling of precision, sampled ranks, the effect size."""

import numpy as np

from .core import Exercise, Mistake


def _precision_ceiling(grades, n):
    return min(np.sum(grades == 5), n) / n


def _full_rank(sampled, n_drawn, n_unrated):
    return 1 + (sampled - 1) * n_unrated / n_drawn


def _mid_ranks(values):
    below = np.sum(values[:, None] > values, axis=1)
    up_to = np.sum(values[:, None] >= values, axis=1)
    return (below + 1 + up_to) / 2


def _effect_size(differences):
    d = differences[differences != 0]
    rank = _mid_ranks(np.abs(d))
    return np.sum(rank * np.sign(d)) / rank.sum()


def _effect_with_zeros(differences):
    rank = _mid_ranks(np.abs(differences))
    return np.sum(rank * np.sign(differences)) / rank.sum()


def _effect_of_signed_ranks(differences):
    d = differences[differences != 0]
    rank = _mid_ranks(d)
    return np.sum(rank * np.sign(d)) / rank.sum()


def _effect_without_shared_ranks(differences):
    d = differences[differences != 0]
    rank = 1 + np.argsort(np.argsort(np.abs(d)))
    return np.sum(rank * np.sign(d)) / rank.sum()


def _sign_only(differences):
    return np.mean(np.sign(differences[differences != 0]))


def _share_won(differences):
    return (1 + _effect_size(differences)) / 2


EXERCISES: list[Exercise] = [
    Exercise(
        name="precision-ceiling",
        solution=_precision_ceiling,
        right="Yes. A P@5 should be read against this ceiling: for many users it is far below 1.",
        inputs=[
            (np.array([5, 5, 4, 3, 2]), 5),
            (np.array([5, 5, 5, 5, 5, 5, 5, 4]), 5),
            (np.array([4, 4, 3, 5]), 2),
            (np.array([3, 5]), 5),
        ],
        mistakes=[
            Mistake(
                lambda grades, n: np.sum(grades == 5) / n,
                "Somebody with seven films of grade 5 would get a P@5 of 7/5. Only n of them fit "
                "into n places.",
            ),
            Mistake(
                lambda grades, n: min(np.sum(grades == 5), n) / min(len(grades), n),
                "P@n always divides by n, also for a user with fewer held-out films: the other "
                "places are filled with unrated ones.",
            ),
            Mistake(
                lambda grades, n: min(np.sum(grades >= 4), n) / n,
                "Here a film is relevant with grade 5 only, as in the paper; you counted the 4s "
                "as well.",
            ),
            Mistake(
                lambda grades, n: min(len(grades), n) / n,
                "This counts all held-out films. That is the paper's slip: five held-out films "
                "are not five relevant ones.",
            ),
        ],
    ),
    Exercise(
        name="full-rank",
        solution=_full_rank,
        right="Yes. With the paper's sizes, sampled rank 5 is about rank 72 of the full list.",
        inputs=[(5, 1000, 17_769), (1, 1000, 1682), (3.5, 100, 2000)],
        mistakes=[
            Mistake(
                lambda sampled, n_drawn, n_unrated: sampled * n_unrated / n_drawn,
                "For sampled = 1 this is not 1. It is the films *above*, sampled − 1 of them, "
                "that are thinned out.",
            ),
            Mistake(
                lambda sampled, n_drawn, n_unrated: 1 + sampled * n_unrated / n_drawn,
                "For sampled = 1 this is not 1. Only sampled − 1 films stand above it.",
            ),
            Mistake(
                lambda sampled, n_drawn, n_unrated: (sampled - 1) * n_unrated / n_drawn,
                "This is how many films stand above it. Its rank is one more.",
            ),
            Mistake(
                lambda sampled, n_drawn, n_unrated: 1 + (sampled - 1) * n_drawn / n_unrated,
                "This goes from the full list to the sampled one. The other way round, ranks get "
                "larger.",
            ),
        ],
    ),
    Exercise(
        name="effect-size",
        solution=_effect_size,
        right="Yes. It does not grow with the number of users, as 1/p does.",
        inputs=[
            (np.array([0.3, -0.1, 0.0, 0.2]),),
            (np.array([-0.5, 0.2, 0.2, -0.2, 0.0, 0.0, 0.1]),),
            (np.array([0.3, -0.3, 0.1]),),  # whoever lets one of the equals win is off
            (np.array([0.4, 0.1, 0.9]),),
        ],
        mistakes=[
            Mistake(
                _effect_with_zeros,
                "The users for whom both systems are equal take up the lowest ranks. Leave them "
                "out before ranking.",
            ),
            Mistake(
                _effect_of_signed_ranks,
                "You ranked the differences themselves, so that losses got the lowest ranks. Rank "
                "their sizes, abs(d).",
            ),
            Mistake(
                _sign_only,
                "This is wins minus losses, each counting once. Weigh each by the rank of its "
                "size.",
            ),
            Mistake(
                _share_won,
                "This is the share of the ranks that A wins, from 0 to 1. The effect size is wins "
                "minus losses, from −1 to 1.",
            ),
            Mistake(
                _effect_without_shared_ranks,
                "Users with equal sizes must share their ranks, here 2 and 3 become 2.5 twice; in "
                "yours chance decides who is ahead. `scipy.stats.rankdata` does it.",
            ),
            Mistake(
                lambda differences: np.sum(differences) / np.sum(np.abs(differences)),
                "You weighed each user by the size of the difference. Put the *rank* of that size "
                "in its place.",
            ),
        ],
    ),
]
