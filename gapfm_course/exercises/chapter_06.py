"""Exercises of notebook 06: sampled ranks, the effect size."""

from functools import partial

import numpy as np

from .core import Exercise


def _full_rank(sampled, n_drawn, n_unrated):
    return 1 + (sampled - 1) * n_unrated / n_drawn


def _lowest_ranks(values):
    return 1 + np.sum(values[:, None] > values, axis=1)


def _highest_ranks(values):
    return np.sum(values[:, None] >= values, axis=1)


def _dense_ranks(values):
    return 1 + np.searchsorted(np.unique(values), values)


def _mid_ranks(values):
    return (_lowest_ranks(values) + _highest_ranks(values)) / 2


def _without_zeros(differences):
    return differences[differences != 0]


def _effect_size(differences, ranked=_mid_ranks, keep=_without_zeros, size=np.abs):
    """Wins minus losses in ranks, over all ranks, with places where a slip can be put in."""
    d = keep(differences)
    rank = ranked(size(d))
    return np.sum(rank * np.sign(d)) / rank.sum()


def _ranks_by_chance(values):
    return 1 + np.argsort(np.argsort(values))


def _cohens_d(differences, keep, ddof):
    d = keep(differences)
    return np.mean(d) / np.std(d, ddof=ddof)


EXERCISES: list[Exercise] = [
    Exercise(
        name="full-rank",
        solution=_full_rank,
        right="Yes. With the paper's sizes, sampled rank 5 is about rank 72 of the full list.",
        inputs=[(5, 1000, 17_769), (1, 1000, 1682), (3.5, 100, 2000)],
        mistakes={
            "For sampled = 1 this is not 1. It is the films *above*, sampled − 1 of them, "
            "that are thinned out.": lambda sampled, n_drawn, n_unrated: (
                sampled * n_unrated / n_drawn
            ),
            "For sampled = 1 this is not 1. "
            "Only sampled − 1 films stand above it.": lambda sampled, n_drawn, n_unrated: (
                1 + sampled * n_unrated / n_drawn
            ),
            "This is how many films stand above it. "
            "Its rank is one more.": lambda sampled, n_drawn, n_unrated: (
                (sampled - 1) * n_unrated / n_drawn
            ),
            "This goes from the full list to the sampled one. "
            "The other way round, ranks get larger.": lambda sampled, n_drawn, n_unrated: (
                1 + (sampled - 1) * n_drawn / n_unrated
            ),
            "Two slips: this goes from the full list to the sampled one; and it is the "
            "films *above*, sampled − 1 of them, "
            "that are thinned out.": lambda sampled, n_drawn, n_unrated: (
                sampled * n_drawn / n_unrated
            ),
            "You begin with the sampled rank. The film itself is one: "
            "1 + what stands above it.": lambda sampled, n_drawn, n_unrated: (
                sampled + (sampled - 1) * n_unrated / n_drawn
            ),
        },
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
        mistakes={
            "The users for whom both systems are equal take up the lowest ranks. "
            "Leave them out before ranking.": partial(_effect_size, keep=np.asarray),
            "You ranked the differences themselves, so that losses got the lowest ranks. "
            "Rank their sizes, abs(d).": partial(_effect_size, size=np.asarray),
            "This is wins minus losses, each counting once. "
            "Weigh each by the rank of its size.": lambda differences: np.mean(
                np.sign(_without_zeros(differences))
            ),
            "This is the share of the ranks that A wins, from 0 to 1. The effect size is "
            "wins minus losses, "
            "from −1 to 1.": lambda differences: (1 + _effect_size(differences)) / 2,
            "Users with equal sizes must share their ranks, here 2 and 3 become 2.5 twice; "
            "in yours chance decides who is ahead. "
            "`scipy.stats.rankdata` does it.": partial(
                _effect_size, ranked=_ranks_by_chance
            ),
            "You weighed each user by the size of the difference. "
            "Put the *rank* of that size in its place.": lambda differences: (
                np.sum(differences) / np.sum(np.abs(differences))
            ),
            "Equal sizes share the *mean* of the ranks that they take up, here 2.5 for two "
            "at ranks 2 and 3. "
            "`scipy.stats.rankdata` does so unless another `method` is asked for.": [
                partial(_effect_size, ranked=ranked)
                for ranked in (_lowest_ranks, _highest_ranks, _dense_ranks)
            ],
            "That is Cohen's d, the mean over the standard deviation. Asked for is the "
            "matched-pairs rank-biserial correlation, "
            "which looks at ranks and signs only.": [
                partial(_cohens_d, keep=keep, ddof=ddof)
                for keep in (np.asarray, _without_zeros)
                for ddof in (0, 1)
            ],
            "These are wins minus losses, in ranks. "
            "Divide by the sum of all ranks.": lambda differences: np.sum(
                _mid_ranks(np.abs(_without_zeros(differences)))
                * np.sign(_without_zeros(differences))
            ),
            "This is the share of users for whom A wins. Weigh each by the rank of its "
            "size, and subtract the losses.": lambda differences: np.mean(differences > 0),
            "This is wins minus losses, each counting once, and the ties as well. Weigh "
            "each "
            "by the rank of its size.": lambda differences: np.mean(np.sign(differences)),
        },
    ),
]
