import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata

from gapfm_teach import adaptive_selection
from gapfm_teach.paper import misranking


def test_the_papers_example_selects_the_third_item():
    assert adaptive_selection([2, 4, 5], [0.3, 0.5, 0.1], 1).tolist() == [2]


@given(st.lists(st.tuples(st.integers(1, 5), st.floats(-9, 9)), min_size=1, max_size=25))
def test_misranking_is_the_distance_between_two_stable_rankings(pairs):
    grades, scores = map(np.array, zip(*pairs, strict=True))
    expected = np.abs(
        rankdata(-grades, method="ordinal") - rankdata(-scores, method="ordinal")
    )
    np.testing.assert_array_equal(misranking(grades, scores), expected)


@given(
    st.lists(st.integers(1, 5), min_size=1, max_size=25),
    st.integers(1, 30),
    st.integers(0, 99),
)
def test_selected_items_are_no_less_misranked_than_the_others(grades, k, seed):
    scores = np.random.default_rng(seed).normal(size=len(grades))
    chosen = adaptive_selection(grades, scores, k)
    distance = misranking(grades, scores)
    rest = np.setdiff1d(np.arange(len(grades)), chosen)
    assert len(set(chosen)) == min(k, len(grades))
    if rest.size:
        assert distance[chosen].min() >= distance[rest].max()


def test_a_perfect_order_has_nothing_misranked():
    assert misranking([5, 4, 2, 1], [4.0, 3.0, 2.0, 1.0]).tolist() == [0, 0, 0, 0]
