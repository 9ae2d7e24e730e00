"""The model in JavaScript beside its twins in Python: lists, whole trainings, what is drawn."""

import json
from itertools import islice
from statistics import NormalDist

import numpy as np
import pytest
from engine_page import call, js, one_step, open_page
from page_random import mulberry32

from gapfm_teach import (
    GAPfm,
    Ratings,
    adaptive_selection,
    cumulative_weights,
    graded_average_precision,
    simulate_ratings,
    smoothed_gap,
    smoothed_gap_gradient,
    thresholding_probabilities,
)
from gapfm_teach.consistent.gap import consistent_gap
from gapfm_teach.consistent.ranks import pairwise_sigmoid
from gapfm_teach.paper import logistic, pair_weights
from gapfm_teach.training.data import TrainingData
from gapfm_teach.training.loop import Training
from gapfm_teach.training.objectives import OBJECTIVES

N_ITER, N_FACTORS = 40, 4


@pytest.fixture(scope="module")
def page(browser):
    page = open_page(browser)
    yield page
    page.close()


# ---------------------------------------------------------------- one list


def lists():
    """Grades and scores: random, tied and extreme ones, one item, all of one grade."""
    rng = np.random.default_rng(0)
    for n in (1, 2, 3, 10, 60):
        grades = rng.integers(1, 6, n)
        for scores in (
            rng.normal(0, 1, n),
            rng.normal(0, 30, n),
            rng.integers(-2, 3, n),
            rng.choice([-1e3, 1e3], n),
            rng.uniform(-1e3, 1e3, n),
            1e3 + rng.normal(0, 1, n),
            -1e3 + rng.normal(0, 1, n),
            690 + rng.normal(0, 30, n),
            np.full(n, 0.3),
        ):
            yield grades, scores.astype(float)
            yield np.full(n, 3), scores.astype(float)


def with_unrated():
    rng = np.random.default_rng(1)
    for grades, scores in lists():
        yield grades, scores
        more = rng.choice(scores, 7) + rng.choice([0.0, 0.5], 7)
        order = rng.permutation(grades.size + 7)
        yield np.append(grades, np.zeros(7, int))[order], np.append(scores, more)[order]
    yield np.zeros(3, int), np.array([0.5, 0.2, 0.9])
    yield np.zeros(0, int), np.zeros(0)


def compare(page, cases):
    """`cases`: (name, arguments for JavaScript, what Python says, what its terms come to without
    their signs, as what they cancel to has no digits)."""
    cases = list(cases)
    found = call(page, [[name, given] for name, given, *_ in cases])
    for (name, given, expected, terms), got in zip(cases, found, strict=True):
        got, expected = np.asarray(got, dtype=float), np.asarray(expected)
        assert got.shape == expected.shape
        # The least number that is not denormal: below it no digits are left.
        bad = np.abs(got - expected) > 1e-12 * np.abs(terms) + 1e-307
        bad |= np.isnan(got) != np.isnan(expected)
        assert not np.any(bad), f"{name}{given} is {got} and not {expected}"


def smoothed_terms(scores, grades, delta):
    """The terms of `smoothed_gap_gradient` added up without their signs."""
    g, h, t = logistic(scores), logistic(-scores), pairwise_sigmoid(scores, 1.0)
    weights = pair_weights(grades, delta)
    gain = np.outer(h, g) + np.outer(g, h)
    return g * h * np.sum(weights * t, axis=1) + np.sum(weights * gain * t * t.T, axis=1)


def test_thresholding_probabilities_are_those_of_equation_5(page):
    compare(
        page,
        (
            ("thresholdingProbabilities", [n], *2 * [thresholding_probabilities(n)])
            for n in (1, 2, 5, 10, 1000)
        ),
    )


def test_accumulated_weights_and_the_logistic_function(page):
    deltas = ([1.0], [0.125, 0.375, 0.875], [0.5, 0.0, 2.0])
    xs = (-800.0, -40.0, -1.0, 0.0, 0.3, 40.0, 800.0)
    compare(
        page,
        (("accumulated", [one], *2 * [cumulative_weights(one)]) for one in deltas),
    )
    compare(page, (("logistic", [x], *2 * [logistic(np.float64(x))]) for x in xs))


def test_gap_with_every_cutoff_and_normalizer(page):
    def cases():
        for grades, scores in with_unrated():
            y, f = js(grades, scores)
            expected = graded_average_precision(grades, scores)
            yield "gradedAveragePrecision", [y, f], expected, expected
            for normalizer in ("all", "ideal", "hits"):
                for at in (1, 5, 100):
                    options = {"at": at, "normalizer": normalizer}
                    expected = graded_average_precision(grades, scores, **options)
                    yield "gradedAveragePrecision", [y, f, options], expected, expected
            delta = [0.0, 0.5, 2.0, 0.25, 1.0, 3.0]
            expected = graded_average_precision(grades, scores, delta=delta)
            yield "gradedAveragePrecision", [y, f, {"delta": delta}], expected, expected

    compare(page, cases())


def test_smoothed_gap_and_its_gradient(page):
    def cases():
        for delta in (thresholding_probabilities(5), np.array([0.0, 1.0, 1.0, 0.5, 2.0])):
            for grades, scores in lists():
                given = [*js(scores, grades), {"delta": delta.tolist()}]
                expected = smoothed_gap(scores, grades, delta)
                yield "smoothedGap", given, expected, expected
                expected = smoothed_gap_gradient(scores, grades, delta)
                terms = smoothed_terms(scores, grades, delta)
                yield "smoothedGapGradient", given, expected, terms

    compare(page, cases())


def test_consistent_gap(page):
    delta, rng = thresholding_probabilities(5), np.random.default_rng(2)

    def cases():
        for grades, scores in with_unrated():
            for tau in (1.0, 0.07):
                for weights in (None, rng.uniform(0, 30, grades.size)):
                    options = {"delta": delta.tolist(), "temperature": tau}
                    if weights is not None:
                        options["weights"] = weights.tolist()
                    given, twin = [*js(scores, grades), options], (delta, tau, weights)
                    expected = consistent_gap(scores, grades, *twin)
                    yield "consistentGap", given, expected, expected

    compare(page, cases())


# ---------------------------------------------------------------- whole trainings


def close(found, expected, tolerance):
    """Within `tolerance` of the largest entry."""
    found, expected = np.asarray(found, dtype=float), np.asarray(expected, dtype=float)
    assert found.shape == expected.shape
    scale = np.max(np.abs(expected), initial=0.0)
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * scale)


@pytest.fixture(scope="module")
def ratings():
    """Sixty users and one without ratings, whose lists no kernel interpolates."""
    made = simulate_ratings(60, 80, mean_ratings=14, random_state=5)
    return Ratings(
        np.append(made.indptr, made.n_ratings), made.indices, made.grades, n_items=80
    )


TRAININGS = [
    ("paper", {}),
    ("paper", {"n_selected": 3}),
    ("consistent", {"n_negatives": 20}),
    ("consistent", {"n_negatives": 200, "temperature": 0.5}),
    ("geometric", {"n_negatives": 20}),
    ("geometric", {"n_negatives": 200, "unrated_weight": 0.7}),
]


def trained(ratings, objective, options):
    """A model, and what JavaScript needs to come to the same."""
    own = OBJECTIVES[objective]
    rate = 0.05 if objective == "paper" else own.learning_rate
    model = GAPfm(
        N_FACTORS, objective=objective, learning_rate=rate, n_iter=N_ITER, random_state=3,
        init_scale=0.3, **options,
    )  # fmt: skip
    settings, data = model.settings(), TrainingData(ratings)
    training = Training(data, settings.objective, own.optimizer, settings.reg, rate)
    start = training.start(N_FACTORS, 0.3, np.random.default_rng(3))
    U, V = training.parameters(start)
    given = {
        "indptr": ratings.indptr.tolist(), "items": ratings.indices.tolist(),
        "grades": ratings.grades.tolist(), "nItems": ratings.n_items,
        "nFactors": N_FACTORS, "reg": settings.reg,
        "learningRate": rate, "nIter": N_ITER, "objective": objective,
        "userFactors": U.ravel().tolist(),
        "itemFactors": V[:, :N_FACTORS].ravel().tolist(),
    }  # fmt: skip
    if "n_selected" in options:
        given["nSelected"] = options["n_selected"]
    if objective != "paper":
        given["temperature"] = settings.objective.temperature
        given["unratedWeight"] = settings.objective.unrated_weight
        n = min(settings.objective.n_negatives, ratings.n_items)
        if n < ratings.n_items:
            given["nNegatives"] = n
            given["drawn"] = [
                np.random.default_rng([*start.sample_key, t]).random((ratings.n_users, n))
                .ravel().tolist() for t in range(1, N_ITER + 2)
            ]  # fmt: skip
    return model.fit(ratings), given


TRAIN = """async (text) => {
  const {drawn, ...options} = JSON.parse(text), start = options.userFactors.slice(), seen = [];
  if (drawn) options.uniforms = (iteration) => drawn[iteration - 1];
  options.onIteration = ({iteration, objective, userFactors}) =>
    seen.push([iteration, objective, userFactors[0]]);
  const learned = await engine.train(options);
  const untouched = start.every((x, i) => x === options.userFactors[i]);
  const plain = (_, v) => ArrayBuffer.isView(v) ? Array.from(v) : v;
  return JSON.stringify({...learned, seen, untouched}, plain);
}"""
CAMEL = {
    "user_factors": "userFactors",
    "item_factors": "itemFactors",
    "item_bias": "itemBias",
}


@pytest.mark.parametrize(("objective", "options"), TRAININGS)
def test_a_whole_training_and_folding_in_come_to_the_same(
    page, ratings, objective, options
):
    model, given = trained(ratings, objective, options)
    found = json.loads(page.evaluate(TRAIN, json.dumps(given)))
    for name in CAMEL:
        if not hasattr(model, f"{name}_"):
            continue
        close(found[CAMEL[name]], getattr(model, f"{name}_").ravel(), 1e-9)
    history = model.history_
    close([row["objective"] for row in found["history"]], history.objective, 1e-9)
    assert [row["iteration"] for row in found["history"]] == history.iteration.tolist()
    assert [row[:2] for row in found["seen"]] == [
        [row["iteration"], row["objective"]] for row in found["history"]
    ]
    assert len({row[2] for row in found["seen"]}) == N_ITER  # each with its own factors
    assert found["untouched"]

    folding = {k: v for k, v in given.items() if k not in ("indptr", "items", "grades")}
    folding |= {"itemBias": found.get("itemBias"), "maxGrade": ratings.max_grade}
    cases = [([4, 70, 9], [2, 5, 4]), ([33], [1]), ([], [])]
    got = call(page, [["foldIn", [found["itemFactors"], *case, folding]] for case in cases])
    for (items, grades), u in zip(cases, got, strict=True):
        expected = model.fold_in(np.array(items, dtype=int), grades)
        close(u, expected, 1e-8)


# ---------------------------------------------------------------- Algorithm 1 and random numbers


def moved(page, trainings):
    """Which items each training has moved."""
    learned = call(page, [["train", [options]] for options in trainings])
    return [
        np.flatnonzero(np.array(after["itemFactors"]) != options["itemFactors"]).tolist()
        for options, after in zip(trainings, learned, strict=True)
    ]


def test_the_most_misranked_move_and_ties_go_to_whom_the_row_has_first(page):
    rng, trainings, expected = np.random.default_rng(4), [], []
    for n in (1, 2, 5, 9):
        for k in (1, 2, 4, 9):
            for scores in (rng.normal(size=n), rng.integers(-1, 2, n) / 2, np.zeros(n)):
                grades = rng.integers(1, 6, n)
                trainings.append(one_step(*js(scores, grades), nSelected=k))
                expected.append(sorted(adaptive_selection(grades, scores, k).tolist()))
    assert moved(page, trainings) == expected


def test_a_random_choice_has_k_items_and_a_seed_repeats_it(page):
    scores, grades = js(np.linspace(-1, 1, 12), np.arange(12) % 5 + 1)
    trainings = [
        one_step(scores, grades, nSelected=4, selection="random", seed=seed)
        for seed in [*range(200), 0]
    ]
    chosen = moved(page, trainings)
    assert {len(items) for items in chosen} == {4}
    assert chosen[0] == chosen[-1]
    often = np.bincount(np.concatenate(chosen[:-1]), minlength=12)
    assert np.all(np.abs(often - 200 / 3) < 35)  # over five standard deviations


def test_unrated_items_are_drawn_by_the_seed(page, ratings):
    _, given = trained(ratings, "consistent", {"n_negatives": 20})
    del given["drawn"]
    seeds = [{**given, "nIter": 3, "seed": seed} for seed in (1, 1, 2)]
    first, again, other = call(page, [["train", [options]] for options in seeds])
    assert first == again != other


def test_random_numbers_are_those_of_the_seed_and_normal(page):
    uniform, normal = page.evaluate("""() => {
      const rng = engine.mulberry32(7);
      return [Array.from({length: 5}, rng), Array.from(engine.normals(rng, 20000, 0.3))];
    }""")
    assert uniform == list(islice(mulberry32(7), 5))
    z = np.sort(normal) / 0.3
    expected = np.array([NormalDist().inv_cdf(q) for q in (0.001, 0.1, 0.5, 0.9, 0.999)])
    found = z[(np.array([0.001, 0.1, 0.5, 0.9, 0.999]) * z.size).astype(int)]
    np.testing.assert_allclose(found, expected, atol=0.4)
    np.testing.assert_allclose(found[1:4], expected[1:4], atol=0.06)
