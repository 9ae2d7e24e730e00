"""Files of arrays: sizes that must agree before anything is unpacked, and every NumPy 2."""

import io
import json
import subprocess
import sys
import warnings
import zipfile

import numpy as np
import pytest

from gapfm_teach import GAPfm, simulate_ratings
from gapfm_teach._support.npz import MOST_FOR_FREE, read_npz, write_npz
from gapfm_teach.datasets import cache

DATA = simulate_ratings(40, 30, mean_ratings=10, random_state=0)
D, T = 3, 2


@pytest.fixture
def saved(tmp_path):
    """A good model, a good checkpoint of it, and the data kept, in three files by name."""
    model = GAPfm(D, n_iter=T, random_state=0)
    model.fit(DATA, checkpoint=tmp_path / "checkpoint.npz").save(tmp_path / "model.npz")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GAPFM_TEACH_DATA", str(tmp_path))
        cache.write_cache("cache", DATA)
    return tmp_path


def read_model(folder):
    return GAPfm.load(folder / "model.npz").train_


def read_checkpoint(folder):
    model = GAPfm(D, n_iter=T, random_state=0).fit(DATA, resume=folder / "checkpoint.npz")
    return model.train_


def read_cache(folder):
    """The data kept, or its warning as an error."""
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        patch.setenv("GAPFM_TEACH_DATA", str(folder))
        warnings.simplefilter("error")
        try:
            return cache.read_cache("cache")
        except UserWarning as warning:
            raise ValueError(str(warning)) from None


READERS = {"model": read_model, "checkpoint": read_checkpoint, "cache": read_cache}
every_file = pytest.mark.parametrize("name", sorted(READERS))


def stored(shape, dtype, content: bytes) -> bytes:
    """A member with this header and content, whether they agree or not."""
    member = io.BytesIO()
    about = {"descr": np.dtype(dtype).str, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(member, about)
    return member.getvalue() + content


def replace(path, **members: bytes):
    """Write the file anew, deflated, with these members in place of or beside the old ones."""
    with zipfile.ZipFile(path) as archive:
        old = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in (old | {f"{k}.npy": v for k, v in members.items()}).items():
            archive.writestr(name, content)


def refused(path, name, words):
    with pytest.raises(ValueError, match=words) as caught:
        READERS[name](path)
    assert f"{name}.npz" in str(caught.value)


# ------------------------------------------------------------------ every NumPy 2


@every_file
def test_no_array_is_stored_that_is_none_of_ours(saved, name):
    with np.load(saved / f"{name}.npz") as file:
        assert "header" in file.files
        assert "allow_pickle" not in file.files


def test_nothing_is_asked_of_numpy_that_2_0_takes_for_an_array(saved, monkeypatch):
    """There every argument of savez by name is an array to be stored."""
    given = []
    for function in ("savez", "savez_compressed"):
        monkeypatch.setattr(np, function, lambda file, **named: given.append(named))
    model = GAPfm(D, n_iter=T, random_state=0)
    model.fit(DATA, checkpoint=saved / "new.npz").save(saved / "model.npz")
    monkeypatch.setenv("GAPFM_TEACH_DATA", str(saved))
    cache.write_cache("cache", DATA)
    assert len(given) == 3
    for named in given:
        assert all(isinstance(array, np.ndarray) for array in named.values())


@every_file
def test_files_that_older_code_wrote_with_numpy_2_0_are_read(saved, name):
    replace(saved / f"{name}.npz", allow_pickle=stored((), bool, b"\0"))
    ratings = READERS[name](saved)
    np.testing.assert_array_equal(ratings.grades, DATA.grades)


def test_objects_are_refused_before_anything_is_written(tmp_path):
    objects = np.array([{}, 1], dtype=object)
    with pytest.raises(ValueError, match="a holds Python objects; make it numbers or text"):
        write_npz(tmp_path / "file.npz", {"a": objects})
    assert not list(tmp_path.iterdir())


# ------------------------------------------------------------------ bombs


@every_file
def test_what_unfolds_beyond_all_measure_is_refused_before_it_is_read(saved, name):
    path = saved / f"{name}.npz"
    n = MOST_FOR_FREE + 64 * path.stat().st_size + 10**7  # zeros shrink to a thousandth
    replace(path, extra=stored((n,), np.uint8, bytes(n)))
    refused(saved, name, "would unfold to")


@every_file
def test_a_member_that_nobody_knows_is_not_read(saved, name):
    replace(saved / f"{name}.npz", extra=stored((9,), float, b"cut short"))
    assert READERS[name](saved).n_ratings == DATA.n_ratings


FIRST = {"model": "user_factors", "checkpoint": "user_factors", "cache": "indices"}


@every_file
@pytest.mark.parametrize("shape", [(10**15,), (10**6, 10**9), (-1,), (-1, -1), (0, 0), ()])
def test_a_shape_that_does_not_fit_the_content_is_refused(saved, name, shape):
    replace(saved / f"{name}.npz", **{FIRST[name]: stored(shape, np.int8, bytes(8))})
    refused(
        saved, name, f"{FIRST[name]} takes .* by its header|{FIRST[name]} has|not 1 numb"
    )


@pytest.mark.parametrize(
    ("name", "array", "shape", "dtype"),
    [
        ("model", "user_factors", (41, D), float),
        ("model", "user_factors", (40, D + 1), float),
        ("model", "user_factors", (40 * D,), float),
        ("model", "item_factors", (29, D), float),
        ("model", "train_indptr", (40,), np.int64),
        ("model", "train_grades", (DATA.n_ratings + 1,), np.int8),
        ("model", "history", (T, 5), float),
        ("checkpoint", "user_factors", (41, D), float),
        ("checkpoint", "history", (T * 4,), float),
        ("cache", "indptr", (40,), np.int64),
        ("cache", "grades", (DATA.n_ratings + 1,), np.int8),
        ("cache", "items", (29,), np.int64),
    ],
)
def test_shapes_that_do_not_fit_each_other_are_refused(saved, name, array, shape, dtype):
    replace(saved / f"{name}.npz", **{array: np_bytes(np.ones(shape, dtype))})
    refused(saved, name, "has .* of shape|has shape|n_items is 29 but indices reaches")


def test_a_bias_in_a_model_whose_objective_has_none_is_refused(saved):
    """Programs that add item_bias, as the file says, would rank otherwise than this package."""
    bias = np.zeros(30)
    replace(saved / "model.npz", item_bias=np_bytes(bias))
    assert GAPfm.load(saved / "model.npz").n_iter_ == T
    bias[7] = -0.5
    replace(saved / "model.npz", item_bias=np_bytes(bias))
    refused(saved, "model", r"item_bias\[7\] is -0\.5, and objective='paper' has none")


def np_bytes(array) -> bytes:
    member = io.BytesIO()
    np.lib.format.write_array(member, array)
    return member.getvalue()


def test_content_beyond_the_size_in_the_archive_is_not_read(tmp_path):
    """The archive's list says 8 numbers, as does the member's header; then come a million."""
    path, n = tmp_path / "file.npz", 10**6
    inside = stored((8,), np.uint8, bytes(8))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.npy", inside + bytes(n))
        archive.getinfo("a.npy").file_size = len(inside)  # as the list will have it
    with read_npz(path) as found, pytest.raises(zipfile.BadZipFile, match="CRC"):
        found.numbers("a", np.uint8, (8,))


@pytest.mark.parametrize(
    "text", [b"[0" + b",[]" * 10**5 + b"]", b"[" * 10**5], ids=["many values", "deep"]
)
def test_a_header_with_far_more_values_than_users_and_items_is_refused(saved, text):
    path = saved / "model.npz"
    with np.load(path) as file:
        header = file["header"].tobytes()
    longer = header[:-1] + b', "users": ' + text + b"}"
    replace(path, header=stored((len(longer),), np.uint8, longer))
    refused(saved, "model", "header has more than 140 values|recursion")


def test_titles_may_have_any_commas_quotes_and_backslashes(tmp_path):
    titles = [',,,"\\",' * 40 + str(i) for i in range(30)]
    header = {"titles": titles}
    text = json.dumps(header).encode()
    assert text.count(b",") > 3000
    write_npz(tmp_path / "f.npz", {"header": np.frombuffer(text, np.uint8)})
    with read_npz(tmp_path / "f.npz") as found:
        assert found.header(30) == header


def test_what_shrinks_without_measure_is_stored_as_it_is_and_read(tmp_path):
    """Whatever is written can be read: nobody's data are a bomb."""
    zeros = np.zeros(MOST_FOR_FREE // 4)
    write_npz(tmp_path / "zeros.npz", {"a": zeros})
    with read_npz(tmp_path / "zeros.npz") as found:
        assert not found.numbers("a", np.float64, zeros.shape).any()
    write_npz(tmp_path / "fewer.npz", {"a": zeros[:1000]})
    assert (tmp_path / "fewer.npz").stat().st_size < 1000


BOMB = """
import resource, sys
from gapfm_teach import GAPfm
GAPfm.load(sys.argv[1])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    GAPfm.load(sys.argv[2])
except ValueError as error:
    assert "would unfold" in str(error), error
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.processes
@pytest.mark.skipif(sys.platform != "linux", reason="others count the memory otherwise")
def test_a_bomb_takes_no_memory(saved):
    """100 KB that would unfold to 100 MB of factors, all of whose shapes agree."""
    good, bomb, n = saved / "model.npz", saved / "bomb.npz", 200_000
    with np.load(good) as file:
        header = json.loads(file["header"].tobytes())
    header["params"]["n_factors"] = n
    bomb.write_bytes(good.read_bytes())
    text = json.dumps(header).encode()
    replace(
        bomb,
        header=stored((len(text),), np.uint8, text),
        user_factors=stored((40, n), float, bytes(8 * 40 * n)),
        item_factors=stored((30, n), float, bytes(8 * 30 * n)),
    )
    assert bomb.stat().st_size < 10**6
    done = subprocess.run(
        [sys.executable, "-c", BOMB, good, bomb], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 20_000  # kilobytes
