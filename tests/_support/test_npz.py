"""Files of arrays: what is read from them, what is refused, and every NumPy 2."""

import json

import numpy as np
import pytest

from gapfm_teach import GAPfm, simulate_ratings
from gapfm_teach._support.npz import MOST_FOR_FREE, read_npz, write_npz

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


def test_nothing_is_asked_of_numpy_that_2_0_takes_for_an_array(saved, monkeypatch):
    """There every argument of savez by name is an array to be stored."""
    given = []
    for function in ("savez", "savez_compressed"):
        monkeypatch.setattr(np, function, lambda file, **named: given.append(named))
    model = GAPfm(D, n_iter=T, random_state=0)
    model.fit(DATA, checkpoint=saved / "new.npz").save(saved / "model.npz")
    assert len(given) == 2
    for named in given:
        assert all(isinstance(array, np.ndarray) for array in named.values())


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
        ("model", "user_factors", (40, D), complex),
        ("model", "item_factors", (29, D), float),
        ("model", "item_bias", (29,), float),
        ("model", "train_indptr", (40,), np.int64),
        ("model", "train_grades", (DATA.n_ratings + 1,), np.int8),
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
    refused(saved, name, f"{array} has numbers that are not finite")


def test_objects_are_refused_and_leave_no_file(tmp_path):
    with pytest.raises(ValueError, match="a holds Python objects; make it numbers or text"):
        write_npz(tmp_path / "file.npz", {"a": np.array([{}, 1], dtype=object)})
    assert not list(tmp_path.iterdir())


def test_what_shrinks_without_measure_is_stored_as_it_is_and_read(tmp_path):
    """Whatever is written can be read: nobody's data are a bomb."""
    zeros = np.zeros(MOST_FOR_FREE // 4)
    write_npz(tmp_path / "zeros.npz", {"a": zeros})
    assert not read_npz(tmp_path / "zeros.npz")["a"].any()
    write_npz(tmp_path / "fewer.npz", {"a": zeros[:1000]})
    assert (tmp_path / "fewer.npz").stat().st_size < 1000


def test_titles_may_have_any_commas_quotes_and_backslashes(saved):
    header = json.loads(np.load(saved / "model.npz")["header"].tobytes())
    header["titles"] = [',,,"\\",' * 40 + str(i) for i in range(30)]
    text = np.frombuffer(json.dumps(header).encode(), np.uint8)
    change(saved / "model.npz", header=text)
    assert GAPfm.load(saved / "model.npz").train_.titles.tolist() == header["titles"]
