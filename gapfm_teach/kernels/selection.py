"""Orders of a user's ratings: by grade, and by how misranked they are. Algorithm 1.

Training arranges each user's ratings in descending order of grade. Algorithm 1 breaks its ties in
the order in which `Ratings` has the row, as `paper.adaptive_selection` does: hence `row_grades`,
the grades in that order, which say where in the layout each item of a row went. Kernels take the
first of the users they are for, and the one after the last: see `threads`.
"""

import numpy as np

from .jit import jit


@jit()
def places_by_grade(grades, max_grade):
    """Where each item of a row goes in descending order of grade; equal grades keep their order."""
    following = np.zeros(max_grade + 1, dtype=np.int64)
    for grade in grades:
        following[grade] += 1
    begin = 0
    for grade in range(max_grade, 0, -1):
        following[grade], begin = begin, begin + following[grade]
    places = np.empty(grades.shape[0], dtype=np.int64)
    for k in range(grades.shape[0]):
        places[k] = following[grades[k]]
        following[grades[k]] += 1
    return places


@jit(nogil=True)
def arrange_by_grade(begin, end, indptr, items, grades, max_grade, items_out, grades_out):
    """Copy each user's ratings in descending order of grade; equal grades keep their order."""
    for m in range(begin, end):
        row = slice(indptr[m], indptr[m + 1])
        places = places_by_grade(grades[row], max_grade)
        for k in range(places.shape[0]):
            items_out[indptr[m] + places[k]] = items[indptr[m] + k]
            grades_out[indptr[m] + places[k]] = grades[indptr[m] + k]


@jit()
def _highest_first(values, places):
    """A user's places from the highest value down; ties in the order of `places`."""
    return places[np.argsort(-values[places], kind="mergesort")]


@jit()
def misranking_of_user(scores, places):
    """|r - r̂| of Algorithm 1 for one user's items, whose place is r, as `places` has them."""
    distance = np.empty(scores.shape[0])
    by_score = _highest_first(scores, places)
    for place in range(scores.shape[0]):
        distance[by_score[place]] = abs(by_score[place] - place)
    return distance


@jit()
def mark_highest(priority, places, k, marks):
    """Mark the k highest priorities; ties go to the one that `places` has first."""
    marks[:] = False
    for place in _highest_first(priority, places)[:k]:
        marks[place] = True


@jit(nogil=True)
def misranking(begin, end, scores, indptr, row_grades, max_grade, out):
    """|r - r̂| of Algorithm 1 for every rating."""
    for m in range(begin, end):
        row = slice(indptr[m], indptr[m + 1])
        out[row] = misranking_of_user(
            scores[row], places_by_grade(row_grades[row], max_grade)
        )


@jit(nogil=True)
def select_highest(begin, end, priority, indptr, row_grades, max_grade, k, selected):
    """Mark the k highest priorities of each user; ties go to the one first in the row."""
    for m in range(begin, end):
        row = slice(indptr[m], indptr[m + 1])
        places = places_by_grade(row_grades[row], max_grade)
        mark_highest(priority[row], places, k, selected[row])
