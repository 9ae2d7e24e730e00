"""Compiled code of evaluation: scores and ranks of held-out items, and batches of candidate lists.

What takes `begin` and `end` is for users, or lists, begin..end - 1: see `threads`.
"""

import numpy as np

from .jit import jit
from .scores import score_items


@jit(nogil=True)
def score_rated(begin, end, U, V, indptr, items, scores):
    """f_mi of (1) for every rating."""
    for m in range(begin, end):
        row = slice(indptr[m], indptr[m + 1])
        score_items(U[m], V, items[row], scores[row])


# Loops of their own: inside the parallel one they come out scalar.
@jit()
def _count_above(scores, score):
    count = 0
    for i in range(scores.shape[0]):
        count += scores[i] > score
    return count


@jit()
def _count_equal(scores, score):
    count = 0
    for i in range(scores.shape[0]):
        count += scores[i] == score
    return count


@jit()
def _scores_of_user(u, by_factor, scores):
    scores[:] = 0.0
    for d in range(u.shape[0]):
        for i in range(scores.shape[0]):
            scores[i] += u[d] * by_factor[d, i]


@jit(nogil=True)
def held_out_ranks(
    begin, end, U, by_factor, seen_indptr, seen_items, indptr, items, ranks
):  # fmt: skip
    """Rank of each held-out item among all items the user has not seen; ties go to item order.

    by_factor: V transposed, (D, n_items), so that the loop over the items runs along memory.
    """
    scores = np.empty(by_factor.shape[1])
    for m in range(begin, end):
        if indptr[m] == indptr[m + 1]:
            continue
        _scores_of_user(U[m], by_factor, scores)
        for k in range(seen_indptr[m], seen_indptr[m + 1]):
            scores[seen_items[k]] = -np.inf
        for k in range(indptr[m], indptr[m + 1]):
            item = items[k]
            score = scores[item]
            above = _count_above(scores, score)
            ranks[k] = 1 + above + _count_equal(scores[:item], score)


@jit(nogil=True)
def gap_at_ranks(begin, end, ranks, indptr, grades, delta, out):
    """GAP (2)-(4) of every user from the ranks of the rated items; nan without any."""
    at_least = np.empty(delta.shape[0])  # how many of the items so far have grade > l
    for m in range(begin, end):
        row = slice(indptr[m], indptr[m + 1])
        at_least[:] = 0.0
        gain = 0.0
        normalizer = 0.0
        for k in np.argsort(ranks[row], kind="mergesort"):
            for level in range(grades[row][k]):
                at_least[level] += 1.0
                gain += delta[level] * at_least[level] / ranks[row][k]
                normalizer += delta[level]
        out[m] = gain / normalizer if normalizer > 0.0 else np.nan


# A batch of lists: list k belongs to user users[k] and fills the places
# list_indptr[k]..list_indptr[k + 1] of the flat arrays `items`, `grades` (0 = unrated), `scores`.


@jit()
def draw_lists(
    users, train_indptr, train_items, test_indptr, test_items, test_grades,
    pool, draws, draw_indptr, list_indptr, items, grades,
):  # fmt: skip
    """Fill each list, in random order, with the user's test items and unrated items of `pool`.

    The places that the test items leave are filled by walking down a random permutation of
    `pool`, which holds every rated item, past what the user rated. `draws` are uniform in
    [0, 1): for list k at least (places + rated items of the user) of them from draw_indptr[k].
    `pool` stays permuted: the next user's walk is as random from there, and needs no copy.
    """
    rated = np.zeros(pool.max() + 1, dtype=np.bool_)
    for k in range(users.shape[0]):
        m = users[k]
        seen = train_items[train_indptr[m] : train_indptr[m + 1]]
        held_out = test_items[test_indptr[m] : test_indptr[m + 1]]
        rated[seen] = True
        rated[held_out] = True
        begin, draw, step = list_indptr[k], draw_indptr[k], 0
        place = begin
        while place < list_indptr[k + 1] - held_out.shape[0]:
            other = step + int(draws[draw] * (pool.shape[0] - step))
            pool[step], pool[other] = pool[other], pool[step]
            if not rated[pool[step]]:
                items[place] = pool[step]
                grades[place] = 0
                place += 1
            step += 1
            draw += 1
        for j in range(held_out.shape[0]):  # each takes a random place from who goes last
            other = begin + int(draws[draw] * (place + 1 - begin))
            items[place], grades[place] = items[other], grades[other]
            items[other], grades[other] = held_out[j], test_grades[test_indptr[m] + j]
            place += 1
            draw += 1
        rated[seen] = False
        rated[held_out] = False


@jit(nogil=True)
def top_grades(begin, end, scores, grades, list_indptr, out):
    """The grades at ranks 1..n of each list, out (n_lists, n); 0 beyond the end of a list.

    Equal scores keep their order.
    """
    best = np.empty(out.shape[1])
    for k in range(begin, end):
        best[:] = -np.inf
        out[k] = 0
        for place in range(list_indptr[k], list_indptr[k + 1]):
            if scores[place] > best[-1]:
                rank = out.shape[1] - 1
                while rank > 0 and scores[place] > best[rank - 1]:
                    best[rank] = best[rank - 1]
                    out[k, rank] = out[k, rank - 1]
                    rank -= 1
                best[rank] = scores[place]
                out[k, rank] = grades[place]


@jit(nogil=True)
def list_measures(
    begin, end, top, users, test_indptr, test_grades, delta, weight, gain, discount, at, out
):
    """P, NDCG and GAP ("ideal", "all", "hits") at rank `at` of each list: out (n_lists, 5).

    top (n_lists, n): grades at ranks 1..n; discount (min(at, n),): of NDCG, fewer than `at` where
    lists are shorter; weight Δ(y) and gain 2^y - 1 for each grade y = 0..max_grade.
    """
    max_grade, n_ranks = delta.shape[0], discount.shape[0]
    count = np.empty(max_grade + 1, dtype=np.int64)
    at_least = np.empty(max_grade)  # how many of the ranks so far have grade > l
    for k in range(begin, end):
        count[:] = 0
        for place in range(test_indptr[users[k]], test_indptr[users[k] + 1]):
            count[test_grades[place]] += 1
        best_dcg = z_ideal = z_all = 0.0
        rank = 0
        for grade in range(max_grade, 0, -1):
            z_all += count[grade] * weight[grade]
            for _ in range(min(count[grade], n_ranks - rank)):
                best_dcg += gain[grade] * discount[rank]
                z_ideal += weight[grade]
                rank += 1
        dcg = z_hits = graded = 0.0
        at_least[:] = 0.0
        hits = 0
        for rank in range(n_ranks):
            grade = top[k, rank]
            hits += grade == max_grade
            dcg += gain[grade] * discount[rank]
            z_hits += weight[grade]
            for level in range(grade):
                at_least[level] += 1.0
                graded += delta[level] * at_least[level] / (rank + 1)
        out[k, 0] = hits / at
        out[k, 1] = dcg / best_dcg
        out[k, 2] = min(1.0, graded / z_ideal)
        out[k, 3] = min(1.0, graded / z_all)
        out[k, 4] = min(1.0, graded / z_hits) if z_hits > 0.0 else 0.0
