"""Chapter 8's bytes: those drawn are those of the arrays that the package makes."""

import numpy as np
import pytest
from spoken import numbers

from gapfm_teach import simulate_ratings
from gapfm_teach.training.data import TrainingData
from gapfm_teach.training.objectives import PaperObjective

UNITS = {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "PB": 1e15}


@pytest.fixture
def stage(show):
    return show("memory", {"D": 10}, touch=True)


def drawn(stage) -> list[float]:
    """Bytes of each bar, from the top, as their names say."""
    _, *names = stage.root.locator(".gx-name").all_text_contents()  # first the laptop's
    parts = [name.replace("\u202f", "").split(",")[0].split() for name in names]
    return [float(number) * UNITS[unit] for number, unit in parts]


def bytes_of(M: int, N: int, Y: int, D: int) -> list[float]:
    """The same by the arithmetic of the chapter."""
    blocks = max(1, min(64, Y // (2 * N), 2**28 // (8 * N * D)))
    kept = [2 * 5 * Y + 8 * (M + 1), 8 * D * (M + N), 8 * D * (M + N), blocks * 8 * N * D]
    return [M * N, 24 * Y, 16 * Y, *kept, sum(kept)]


def test_it_begins_with_netflix_and_goes_to_others(stage):
    sizes = {
        "Netflix": (480_189, 17_770, 100_480_507),
        "MovieLens 100K": (943, 1682, 100_000),
        "a hundred million users": (10**8, 10**6, 2 * 10**10),
    }
    for name, (M, N, Y) in sizes.items():
        stage.after(stage.root.get_by_role("button", name=name, exact=True).click)
        assert drawn(stage) == pytest.approx(bytes_of(M, N, Y, 10), rel=5e-3)
    said = stage.said()
    assert numbers(said)[0] == 20
    assert "20 billion ratings" in said
    assert "laptops" in said


def test_sliders_move_it_with_finger_and_keys(stage):
    before = drawn(stage)
    stage.press("[id$='-D']", *["ArrowRight"] * 20)
    more = drawn(stage)
    assert more[:3] == before[:3]  # no factors in them
    assert more[4] > before[4]
    stage.slide("users", 0)
    M, each = 500, 100_480_507 / 480_189
    D = float(stage.root.locator("output").last.inner_text())
    assert drawn(stage) == pytest.approx(
        bytes_of(M, 17_770, round(M * each), int(D)), rel=5e-3
    )
    stage.after(stage.root.get_by_text("Reset", exact=True).click)
    assert drawn(stage) == before


@pytest.mark.parametrize("D", [3, 10])
def test_the_arithmetic_is_that_of_the_arrays(D):
    ratings = simulate_ratings(400, 60, random_state=0)
    problem, train = TrainingData(ratings), ratings
    U, V = np.zeros((train.n_users, D)), np.zeros((train.n_items, D))
    _, by_user, by_item = PaperObjective().gradients(problem, U, V)
    held = [train.indices, train.grades, train.indptr, problem.items, problem.grades]
    blocks = problem.blocks(D).size - 1
    expected = bytes_of(train.n_users, train.n_items, train.n_ratings, D)
    assert sum(array.nbytes for array in held) == expected[3]
    assert U.nbytes + V.nbytes == expected[4]
    assert by_user.nbytes + by_item.nbytes == expected[5]
    assert blocks * V.nbytes == expected[6]
