"""The compiled kernels against their plain NumPy twins, and against finite differences."""

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gapfm_teach import kernels, paper
from gapfm_teach.datasets import simulate_ratings
from gapfm_teach.gradcheck import central_difference, relative_error
from gapfm_teach.metrics import graded_average_precision
from gapfm_teach.paper import thresholding_probabilities
from gapfm_teach.ratings import Ratings
from gapfm_teach.training.data import TrainingData
from gapfm_teach.training.loop import held_out_gap
from gapfm_teach.training.objectives import PaperObjective

REG = 0.03


def a_user(rng, n_items, max_grade, spread):
    """Grades in descending order, as the kernels want them, and scores."""
    grades = np.sort(rng.integers(1, max_grade + 1, n_items))[::-1]
    return grades, rng.uniform(-spread, spread, n_items)


def run_pair_sums(grades, scores, delta):
    coefficients = np.empty(grades.shape[0])
    value = kernels.pair_sums(scores, paper.cumulative_weights(delta)[grades], coefficients)
    return value, coefficients


@settings(max_examples=200, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n_items=st.integers(1, 60),
    max_grade=st.integers(1, 10),
    spread=st.sampled_from([0.0, 1e-9, 0.01, 1.0, 30.0, 690.0, 699.9, 720.0, 5000.0]),
    shift=st.sampled_from([-700.0, -40.0, 0.0, 25.0, 40.0, 700.0]),
)
@example(seed=41, n_items=6, max_grade=2, spread=690.0, shift=700.0)  # exp(-middle) is 0
def test_pair_sums_is_the_twin_of_smooth(seed, n_items, max_grade, spread, shift):
    rng = np.random.default_rng(seed)
    grades, scores = a_user(rng, n_items, max_grade, spread)
    scores = scores + shift
    delta = thresholding_probabilities(max_grade)
    value, coefficients = run_pair_sums(grades, scores, delta)
    known = paper.smoothed_gap(scores, grades, delta)
    assert value == pytest.approx(known, rel=1e-12, abs=1e-290)
    expected = paper.smoothed_gap_gradient(scores, grades, delta)
    # Numbers below 1e-308 have fewer digits, in the twin too.
    off = np.abs(coefficients - expected).max()
    assert off <= 1e-10 * np.abs(expected).max() + 1e-300


def test_pair_sums_is_right_where_the_middle_of_the_scores_is_far_below_0():
    grades, scores = np.array([5, 3, 1]), np.array([-31.0, -30.0, -1390.0])
    delta = thresholding_probabilities(5)
    _, coefficients = run_pair_sums(grades, scores, delta)
    expected = paper.smoothed_gap_gradient(scores, grades, delta)
    assert relative_error(coefficients, expected) < 1e-12


@pytest.fixture(scope="module")
def problem():
    ratings = simulate_ratings(30, 25, mean_ratings=9, random_state=3)
    rng = np.random.default_rng(1)
    U, V = rng.normal(0, 0.7, (30, 4)), rng.normal(0, 0.7, (25, 4))
    return TrainingData(ratings), U, V


def gradients(made, U, V, marks=None, reg=REG, **options):
    """(9), (10) and (11)."""
    value, *found = PaperObjective(**options).gradients(made, U, V, marks=marks)
    by_user, by_item = (x - reg * at for x, at in zip(found, (U, V), strict=True))
    return value - reg / 2 * (np.sum(U**2) + np.sum(V**2)), by_user, by_item


def test_the_objective_is_equation_9_and_its_gradients_match_differences(problem):
    made, U, V = problem
    by_user = central_difference(lambda X: paper.objective(X, V, made.train, reg=REG), U)
    by_item = central_difference(lambda X: paper.objective(U, X, made.train, reg=REG), V)
    value, user_gradient, item_gradient = gradients(made, U, V)
    assert value == pytest.approx(paper.objective(U, V, made.train, reg=REG), rel=1e-12)
    assert relative_error(user_gradient, by_user) < 1e-6
    assert relative_error(item_gradient, by_item) < 1e-6


def test_item_gradient_of_a_selection_adds_up_equation_11(problem):
    made, U, V = problem
    selected = made.select(made.scores(U, V), 3, "random", np.random.default_rng(0))
    expected = -REG * V
    for m in range(made.train.n_users):
        row = slice(made.indptr[m], made.indptr[m + 1])
        items, grades = made.items[row], made.grades[row]
        each = paper.item_gradients(U[m], V[items], grades, delta=made.delta, reg=0.0)
        chosen = selected[row]
        np.add.at(expected, items[chosen], each[chosen])
    found = gradients(made, U, V, selected)[2]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


def test_inner_sums_over_the_selection_ignore_the_other_items(problem):
    made, U, V = problem
    selected = made.select(made.scores(U, V), 3, "adaptive", None)
    expected = -REG * V
    for m in range(made.train.n_users):
        row = slice(made.indptr[m], made.indptr[m + 1])
        items, grades = made.items[row][selected[row]], made.grades[row][selected[row]]
        if items.size:
            each = paper.item_gradients(U[m], V[items], grades, delta=made.delta, reg=0.0)
            np.add.at(expected, items, each)
    found = gradients(made, U, V, n_selected=3, inner_sum="selected")[2]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


def test_in_turn_with_inner_sums_over_the_selection_is_algorithm_2_written_out(problem):
    made, U, V = problem
    selected = made.select(made.scores(U, V), 4, "adaptive", None)
    expected, rate = V.copy(), 0.05
    for m in range(made.train.n_users):
        row = slice(made.indptr[m], made.indptr[m + 1])
        items, grades = made.items[row][selected[row]], made.grades[row][selected[row]]
        if items.size:
            step = paper.item_gradients(
                U[m], expected[items], grades, delta=made.delta, reg=REG
            )
            expected[items] += rate * step
    got = V.copy()
    kernels.update_items_in_turn(
        U, got, made.indptr, made.items, made.grades, made.cumulative_weights,
        selected, True, REG, rate,
    )  # fmt: skip
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-12)


def marked_by_the_twin(made, V, U, k):
    """Algorithm 1 on each row as `Ratings` has it, as marks in the kernels' layout."""
    marks = np.zeros(made.items.shape[0], dtype=bool)
    for m in range(made.train.n_users):
        items, grades = made.train.row(m)
        chosen = paper.adaptive_selection(grades, V[items] @ U[m], k)
        row = slice(made.indptr[m], made.indptr[m + 1])
        marks[row] = np.isin(made.items[row], items[chosen])
    return marks


def test_misranking_is_the_twin_of_algorithm_1(problem):
    made, U, V = problem
    train, scores = made.train, made.scores(U, V)
    distance = np.empty(train.n_ratings)
    rows = made.indptr, train.grades, train.max_grade
    kernels.misranking(0, train.n_users, scores, *rows, distance)
    for m in range(train.n_users):
        items, grades = train.row(m)
        row = slice(made.indptr[m], made.indptr[m + 1])
        by_item = distance[row][np.argsort(made.items[row])]
        np.testing.assert_array_equal(by_item, paper.misranking(grades, V[items] @ U[m]))


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(
    rows=st.lists(
        st.lists(
            st.tuples(st.integers(1, 3), st.sampled_from([0.0, -0.5, 0.25])), max_size=12
        ),
        min_size=1,
        max_size=5,
    ),
    same=st.booleans(),
    k=st.integers(1, 9),
)
@example(rows=[[(1, 0.0), (3, 0.0), (2, 0.0), (3, 0.0)]], same=True, k=1)
def test_ties_are_broken_in_the_order_of_the_row(rows, same, k):
    """Equal grades, equal scores and equal distances, in each of the three ways to select."""
    counts = [len(row) for row in rows]
    pairs = np.array([pair for row in rows for pair in row]).reshape(-1, 2)
    V = pairs[:, 1:] * (not same)  # an item for each rating: any scores whatever
    ratings = Ratings(
        np.cumsum([0, *counts]), np.arange(len(pairs)), pairs[:, 0].astype(int),
        n_items=max(1, len(pairs)), max_grade=3,
    )  # fmt: skip
    V, U = np.resize(V, (ratings.n_items, 1)), np.ones((len(rows), 1))
    made = TrainingData(ratings)
    marks = marked_by_the_twin(made, V, U, k)
    found = made.select(made.scores(U, V), k, "adaptive", None)
    np.testing.assert_array_equal(found, marks)
    for inner in ("rated", "selected"):
        expected = gradients(made, U, V, marks, inner_sum=inner)[2]
        found = gradients(made, U, V, n_selected=k, inner_sum=inner)[2]
        np.testing.assert_array_equal(found, expected)


def test_held_out_ranks_and_gap_match_sorting_and_the_metric():
    rng = np.random.default_rng(5)
    whole = simulate_ratings(12, 40, mean_ratings=16, random_state=6)
    frame = whole.to_frame()
    held = rng.random(len(frame)) < 0.4
    made = {}
    for name, part in (("train", frame[~held]), ("held", frame[held])):
        counts = np.bincount(part["user"], minlength=whole.n_users)
        indptr = np.concatenate([[0], np.cumsum(counts)])
        made[name] = Ratings(indptr, part["item"], part["grade"], n_items=40, max_grade=5)
    U, V = rng.normal(size=(12, 3)), rng.normal(size=(40, 3))
    V[7] = V[11]  # a tie: the lower position goes first
    gaps, delta = [], thresholding_probabilities(5)
    for m in range(12):
        grades = np.zeros(40, dtype=int)
        items, grades_of = made["held"].row(m)
        grades[items] = grades_of
        unseen = np.setdiff1d(np.arange(40), made["train"].row(m)[0])
        scores = (V @ U[m])[unseen]
        gaps.append(graded_average_precision(grades[unseen], scores, delta=delta))
    assert held_out_gap(U, V, made["train"], made["held"]) == pytest.approx(
        np.nanmean(gaps), rel=1e-12
    )


def run_python(code: str, **environment) -> str:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env=os.environ | environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


FIT = """
    import hashlib
    from gapfm_teach import GAPfm, kernels, simulate_ratings
    def watch(iteration, model):
        assert kernels.n_threads() == {threads}
    ratings = simulate_ratings(60, 50, mean_ratings=12, random_state=0)
    model = GAPfm(n_iter=15, learning_rate=0.02, n_selected={k}, selection="{selection}",
                  update="{update}", random_state=1, n_threads={threads})
    model.fit(ratings, callback=watch)
    assert kernels.n_threads() == 2  # as it was before
    both = model.user_factors_.tobytes() + model.item_factors_.tobytes()
    print(hashlib.sha256(both).hexdigest())
"""


@pytest.mark.processes
@pytest.mark.parametrize(
    ("k", "selection", "update"),
    [
        (None, "adaptive", "batch"),
        (5, "random", "batch"),
        (5, "adaptive", "batch"),
        (5, "random", "sequential"),
    ],
)
def test_one_and_two_threads_give_the_same_bits(k, selection, update):
    options = {"k": k, "selection": selection, "update": update}
    one, two = (
        run_python(FIT.format(**options, threads=n), NUMBA_NUM_THREADS="2") for n in (1, 2)
    )
    assert one == two


@pytest.mark.processes
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_may_fit_what_its_parent_has_fitted():
    printed = run_python(
        """
        import os
        from gapfm_teach import GAPfm, simulate_ratings
        ratings = simulate_ratings(60, 50, random_state=0)
        fit = lambda: GAPfm(n_iter=2, n_threads=2, random_state=0).fit(ratings).user_factors_
        known = fit()
        child = os.fork()
        if child == 0:
            os._exit(0 if (fit() == known).all() else 1)
        print("child ended with", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """,
        NUMBA_NUM_THREADS="2",
    )
    assert "child ended with 0" in printed


@pytest.mark.processes
def test_without_a_place_for_the_cache_it_compiles_and_says_so():
    printed = run_python("""
        from numba.core import caching
        caching.CacheImpl._locator_classes = []
        import numpy as np
        from gapfm_teach import kernels
        print("enabled", kernels.CACHE_ENABLED)
        print(kernels.pair_sums(np.array([0.0]), np.array([1.0]), np.empty(1)))
    """)
    assert "enabled False" in printed
    assert "0.25" in printed
    assert printed.count("set NUMBA_CACHE_DIR") == 1


LOOK_AND_USE = """
    import numpy as np
    from gapfm_teach import kernels
    from gapfm_course.doctor import environment as doctor
    print("doctor", *(c.state + c.detail for c in doctor._compiled()))
    print(kernels.pair_sums(np.array([0.0]), np.array([1.0]), np.empty(1)))
    print("hits", sum(kernels.pair_sums.stats.cache_hits.values()))
"""


@pytest.mark.processes
@pytest.mark.parametrize("kind", ["nbc", "nbi"])
def test_a_folder_in_place_of_compiled_code_ends_no_computation(tmp_path, kind):
    def run():
        return run_python(LOOK_AND_USE, NUMBA_CACHE_DIR=str(tmp_path))

    assert "hits 0" in run()
    kept = list(tmp_path.glob(f"*/*.{kind}"))
    assert kept
    for file in kept:
        file.unlink()
        file.mkdir()
    for _ in range(2):  # nothing can be mended while they are there
        printed = run()
        assert f"doctor note{len(kept)} functions damaged in {tmp_path}" in printed
        assert "0.25" in printed
        assert printed.count("cannot be kept in") == 1
    for folder in kept:
        folder.rmdir()
    assert "cannot be kept" not in run()
    assert "hits 1" in run()


@pytest.mark.processes
@pytest.mark.parametrize("kind", ["nbc", "nbi"])
def test_damaged_compiled_code_is_found_and_made_anew(tmp_path, kind):
    def run():
        return run_python(LOOK_AND_USE, NUMBA_CACHE_DIR=str(tmp_path))

    assert "hits 0" in run()
    kept = list(tmp_path.glob(f"*/*.{kind}"))
    assert kept
    for file in kept:
        os.truncate(file, min(100, file.stat().st_size - 1))
    printed = run()
    assert f"doctor note{len(kept)} functions damaged in {tmp_path}" in printed
    assert "0.25" in printed
    assert printed.count("is damaged and made anew") == 1
    printed = run()
    assert "doctor notenot all compiled yet" in printed
    assert "hits 1" in printed
