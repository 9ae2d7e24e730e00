"""The judges of gradients, judged on functions whose derivatives are known."""

import numpy as np
import pytest

from gapfm_teach.gradcheck import (
    central_difference,
    complex_step,
    relative_error,
    step_size_curve,
)

MATRIX = np.random.default_rng(0).normal(size=(4, 4))

KNOWN = {
    "quadratic form": (lambda x: x @ MATRIX @ x, lambda x: (MATRIX + MATRIX.T) @ x),
    "sum of sines": (lambda x: np.sum(np.sin(x)), np.cos),
    "log of sum of exponentials": (
        lambda x: np.log(np.sum(np.exp(x))),
        lambda x: np.exp(x) / np.sum(np.exp(x)),
    ),
    "product": (np.prod, lambda x: np.prod(x) / x),
}
POINT = np.array([0.3, -1.2, 2.0, 0.7])


@pytest.mark.parametrize("name", KNOWN)
def test_central_differences_find_ten_digits(name):
    f, gradient = KNOWN[name]
    assert relative_error(central_difference(f, POINT), gradient(POINT)) < 1e-9


@pytest.mark.parametrize("name", KNOWN)
def test_complex_step_finds_all_digits(name):
    f, gradient = KNOWN[name]
    assert relative_error(complex_step(f, POINT), gradient(POINT)) < 1e-15


@pytest.mark.parametrize("method", [central_difference, complex_step])
@pytest.mark.parametrize("shape", [(), (1,), (2, 3), (2, 1, 2)])
def test_the_gradient_has_the_shape_of_x(method, shape):
    x = np.random.default_rng(1).normal(size=shape)
    gradient = method(lambda z: np.sum(z**3), x)
    assert gradient.shape == shape
    np.testing.assert_allclose(gradient, 3 * x**2, rtol=1e-8)


@pytest.mark.parametrize("method", [central_difference, complex_step])
def test_neither_x_nor_whole_numbers_in_it_are_harmed(method):
    x = np.array([1, 2, 3])
    np.testing.assert_allclose(method(lambda z: np.sum(z**2), x), [2, 4, 6], rtol=1e-9)
    np.testing.assert_array_equal(x, [1, 2, 3])


@pytest.mark.parametrize("method", [central_difference, complex_step])
def test_an_array_of_one_number_is_a_number(method):
    np.testing.assert_allclose(method(lambda z: z[:1] ** 2, [3.0, 1.0]), [6, 0], rtol=1e-9)


def test_central_difference_divides_by_the_step_that_was_taken():
    # Near 1e6 a step of 1e-9 is rounded by 12%; a straight line shows whether that is divided by.
    slope = central_difference(lambda x: x[0], [1e6], step=1e-9)
    np.testing.assert_allclose(slope, [1.0], rtol=1e-12)


def test_the_step_size_curve_is_a_v():
    f, gradient = KNOWN["sum of sines"]
    steps = np.logspace(-12, 0, 25)
    error = step_size_curve(f, gradient, POINT, steps)
    best = np.argmin(error)
    assert error.shape == steps.shape
    assert 1e-7 < steps[best] < 1e-3
    assert error[best] < 1e-9 < 1e-5 < min(error[0], error[-1])
    # Truncation falls as h²: a step 100 times smaller is 10,000 times better.
    assert error[20] / error[24] == pytest.approx(1e-4, rel=0.1)


def test_relative_error_is_relative_to_the_largest_entry():
    assert relative_error([10.0, 1e-9], [10.0, 0.0]) == pytest.approx(1e-10)
    assert relative_error([1.0, 2.0], [1.0, 4.0]) == relative_error([1.0, 4.0], [1.0, 2.0])
    assert relative_error([1.0, 2.0], [1.0, 4.0]) == 0.5
    assert relative_error([1.0], [-1.0]) == 2


def test_relative_error_of_zeros_and_of_nothing_is_0():
    assert relative_error(np.zeros((2, 2)), np.zeros((2, 2))) == 0
    assert relative_error([], []) == 0


def test_relative_error_does_not_hide_a_nan():
    assert np.isnan(relative_error([1.0, np.nan], [1.0, 2.0]))
