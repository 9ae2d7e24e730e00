"""One number that stands for the shape of each measure with smooth ranks, for tests of them all."""

from gapfm_teach.consistent.measures import consistent_measure


def options_of(name, n):
    """The cut-off n; for the power mean an exponent, one of -1/2, 0, 1/2 and 1."""
    if name == "geometric":
        return {"exponent": (n % 4 - 1) / 2}
    return {"cutoff": n} if name.startswith("graded") else {}


def shape_of(name, n):
    """The same as the kernels take it."""
    return float(next(iter(options_of(name, n).values()), 0.0))


def measure_of(name, max_grade, n=5):
    """(value, gradient) in plain NumPy."""
    return consistent_measure(name, max_grade, **options_of(name, n))
