"""Files of arrays: what is read from them, and what is refused."""

import numpy as np
import pytest

from gapfm_teach import GAPfm, simulate_ratings
from gapfm_teach._support.files import MOST_FOR_FREE

DATA = simulate_ratings(40, 30, mean_ratings=10, random_state=0)
D, T = 3, 2


@pytest.fixture
def saved(tmp_path):
    """A good model and a good checkpoint of it, in two files by name."""
    model = GAPfm(D, n_iter=T, random_state=0)
    model.fit(DATA, checkpoint=tmp_path / "checkpoint.npz").save(tmp_path / "model.npz")
    return tmp_path


def read_model(folder):
    return GAPfm.load(folder / "model.npz").train_


def read_checkpoint(folder):
    model = GAPfm(D, n_iter=T, random_state=0).fit(DATA, resume=folder / "checkpoint.npz")
    return model.train_


READERS = {"model": read_model, "checkpoint": read_checkpoint}
every_file = pytest.mark.parametrize("name", sorted(READERS))


def change(path, **arrays):
    """Write the file anew with these arrays in place of or beside the old ones."""
    np.savez_compressed(path, **(dict(np.load(path)) | arrays))


def refused(folder, name, words):
    with pytest.raises(ValueError, match=words) as caught:
        READERS[name](folder)
    assert f"{name}.npz" in str(caught.value)


@every_file
def test_pickles_are_not_run(saved, name):
    """Nothing in a file is executed."""
    ran = []

    class Trap:
        def __reduce__(self):
            return ran.append, (1,)

    change(saved / f"{name}.npz", header=np.array([Trap()], dtype=object))
    ran.clear()  # writing asks for it, too
    refused(saved, name, "pickle")
    assert not ran


@every_file
def test_what_unfolds_beyond_all_measure_is_refused_before_it_is_read(saved, name):
    path = saved / f"{name}.npz"
    change(path, extra=np.zeros(MOST_FOR_FREE + 64 * path.stat().st_size + 10**7, np.uint8))
    refused(saved, name, "would unfold to")


@pytest.mark.parametrize(
    ("name", "array", "shape", "dtype"),
    [
        ("model", "user_factors", (41, D), float),
        ("model", "item_factors", (29, D), float),
        ("model", "item_bias", (29,), float),
        ("model", "train_indptr", (40,), np.int64),
        ("model", "history", (T, 5), float),
        ("checkpoint", "users", (41, D), float),
        ("checkpoint", "items", (30, D + 1), float),
        ("checkpoint", "history", (T * 4,), float),
    ],
)
def test_shapes_and_types_that_do_not_fit_are_refused(saved, name, array, shape, dtype):
    change(saved / f"{name}.npz", **{array: np.ones(shape, dtype)})
    refused(saved, name, "is not a ")


@pytest.mark.parametrize("name", ["model", "checkpoint"])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_factors_that_are_not_finite_are_refused(saved, name, bad):
    array = "item_factors" if name == "model" else "items"
    change(saved / f"{name}.npz", **{array: np.full((30, D), bad)})
    refused(saved, name, f"{array} must be finite")
