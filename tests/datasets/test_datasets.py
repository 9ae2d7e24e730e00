"""MovieLens from all its sources, and what is kept of it."""

import hashlib
import json
import os
import subprocess
import zipfile
from pathlib import Path

import numpy as np
import pytest
from movielens_files import CERTIFICATES, SMALL_100K, SMALL_RECBOLE, make_zip, triples

from gapfm_teach.datasets import DownloadError, cache, download, load_movielens, movielens
from gapfm_teach.ratings import Ratings

pytestmark = pytest.mark.usefixtures("data_folder")


# --- which source is used ----------------------------------------------------------------------


@pytest.fixture
def official(serve, monkeypatch):
    """An official server, trusted, that has nothing yet."""
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATES / "valid.pem"))
    monkeypatch.setattr(movielens, "BASE_URL", serve("valid.pem"))
    return serve.root


@pytest.mark.usefixtures("accept_small")
def test_sources_are_tried_in_the_documented_order(tmp_path, data_folder, official, pip):
    given = make_zip(tmp_path / "given.zip", SMALL_100K)
    with pytest.raises(DownloadError):
        load_movielens("100k")
    pip.files = SMALL_RECBOLE
    assert load_movielens("100k").origin == "RecBole 1.2.1 wheel"
    assert load_movielens("100k").origin == "data folder (first from: RecBole 1.2.1 wheel)"
    assert load_movielens("100k", path=given).origin == "path"
    (data_folder / "movielens-100k.npz").unlink()
    make_zip(official / "ml-100k.zip", SMALL_100K)
    assert load_movielens("100k").origin == "official archive"
    (data_folder / "movielens-100k.npz").unlink()
    make_zip(data_folder / "ml-100k.zip", SMALL_100K)
    assert load_movielens("100k").origin == "ml-100k.zip in the data folder"
    assert pip.asked == ("recbole==1.2.1",) * 2


@pytest.mark.usefixtures("accept_small")
def test_what_is_loaded_is_the_same_whatever_the_source(tmp_path, pip):
    pip.files = SMALL_RECBOLE
    copies = [
        load_movielens("100k"),
        load_movielens("100k"),
        load_movielens("100k", path=make_zip(tmp_path / "a.zip", SMALL_100K)),
    ]
    assert len({copy.origin for copy in copies}) == 3
    assert len({repr(copy) for copy in copies}) == 1
    assert (
        len({json.dumps([copy.titles.tolist(), str(triples(copy))]) for copy in copies})
        == 1
    )
    assert [copy.times.tolist() for copy in copies] == [
        [891717742, 881250949, 878887116],
    ] * 3


def test_when_nothing_works_every_source_is_listed_with_reason_and_remedy(official, pip):
    make_zip(official / "ml-100k.zip", SMALL_100K)
    with pytest.raises(DownloadError) as failure:
        load_movielens("100k")
    said = str(failure.value)
    for part in (
        "MovieLens 100K could not be loaded",
        "official archive: https://localhost",
        "wrong file: its MD5 is",
        "RecBole 1.2.1 wheel: pip: ERROR: no such wheel",
        'load_movielens("100k", path=...)',
        "GAPFM_TEACH_DATA",
    ):
        assert part in said
    with pytest.raises(DownloadError, match="404") as failure:
        load_movielens("32m")
    assert "wheel" not in str(failure.value)


def test_a_package_with_other_content_is_not_trusted(pip, data_folder):
    pip.files = SMALL_RECBOLE
    with pytest.raises(
        DownloadError, match="wheel: this is not MovieLens 100K as published"
    ):
        load_movielens("100k")
    assert not data_folder.exists() or list(data_folder.iterdir()) == []


@pytest.mark.parametrize(
    "error", [subprocess.TimeoutExpired("pip", 1), FileNotFoundError("no")]
)
def test_a_pip_that_does_not_run_is_one_more_reason(monkeypatch, error):
    def broken(*_arguments, **_options):
        raise error

    monkeypatch.setattr(download.subprocess, "run", broken)
    with pytest.raises(DownloadError, match=f"pip did not finish .{type(error).__name__}"):
        load_movielens("100k")


# --- the cache ---------------------------------------------------------------------------------


def small_ratings(**more):
    return Ratings(
        [0, 2, 2, 3],
        [0, 3, 1],
        [1, 5, 2],
        n_items=5,
        max_grade=10,
        users=[3, 5, 8],
        items=[10, 20, 30, 40, 50],
        titles=["É (1990)", "B", "C", "D", "E"],
        source="a test",
        origin="here",
        **more,
    )


def test_cache_round_trip_keeps_everything(data_folder):
    assert cache.read_cache("small") is None
    ratings = small_ratings()
    cache.write_cache("small", ratings)
    again = cache.read_cache("small")
    for name in ("indptr", "indices", "grades", "users", "items", "titles"):
        np.testing.assert_array_equal(getattr(again, name), getattr(ratings, name))
        assert getattr(again, name).dtype == getattr(ratings, name).dtype
    assert (again.n_items, again.max_grade, again.source) == (5, 10, "a test")
    assert again.origin == "data folder (first from: here)"
    assert again.times is None
    assert [file.name for file in data_folder.iterdir()] == ["small.npz"]


def test_the_cache_keeps_times_to_the_second():
    cache.write_cache("small", small_ratings(times=[-5, 881250949, 2**53 - 1]))
    again = cache.read_cache("small").times
    assert again.tolist() == [-5, 881250949, 2**53 - 1]
    assert again.dtype == np.int64


def flip_a_byte(file):
    with zipfile.ZipFile(file) as archive:
        first, second = archive.infolist()[:2]
    content = bytearray(file.read_bytes())
    content[second.header_offset - first.compress_size // 2] ^= 0xFF
    file.write_bytes(content)


def empty(file):
    file.write_bytes(b"")


def cut_in_half(file):
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def change_one_grade(file):
    with np.load(file) as stored:
        parts = dict(stored)
    parts["grades"] = parts["grades"][::-1]
    np.savez_compressed(file, **parts)


def drop_the_times(file):
    with np.load(file) as stored:
        parts = dict(stored)
    del parts["times"]
    np.savez_compressed(file, **parts)


@pytest.mark.parametrize(
    "damage", [flip_a_byte, cut_in_half, change_one_grade, drop_the_times, empty]
)
@pytest.mark.usefixtures("accept_small")
def test_a_damaged_cache_file_is_reported_and_built_again(data_folder, pip, damage):
    pip.files = SMALL_RECBOLE
    good = load_movielens("100k")
    file = data_folder / "movielens-100k.npz"
    damage(file)
    with pytest.warns(
        UserWarning, match=r"movielens-100k\.npz in the data folder is damaged"
    ):
        again = load_movielens("100k")
    assert again.origin == "RecBole 1.2.1 wheel"
    assert triples(again) == triples(good)
    assert load_movielens("100k").origin.startswith("data folder")


def test_another_version_of_the_cache_is_passed_over(monkeypatch, recwarn):
    cache.write_cache("small", small_ratings())
    monkeypatch.setattr(cache, "VERSION", cache.VERSION + 1)
    assert cache.read_cache("small") is None
    assert not recwarn.list


def as_version_1(file):
    """Rewrite a cache file as it was before there were times: none in it, nor in its digest."""
    with np.load(file) as stored:
        parts = dict(stored)
    header = json.loads(parts.pop("header").tobytes())
    del parts["times"]
    digest = hashlib.sha256()
    for key in sorted(parts):
        digest.update(f"{key} {parts[key].dtype.str} {parts[key].shape}".encode())
        digest.update(parts[key].tobytes())
    header |= {"version": 1, "digest": digest.hexdigest()}
    header_bytes = np.frombuffer(json.dumps(header).encode(), np.uint8)
    np.savez_compressed(file, **parts, header=header_bytes)


@pytest.mark.usefixtures("accept_small")
def test_a_cache_of_before_there_were_times_is_made_again_in_silence(
    data_folder, pip, recwarn
):
    pip.files = SMALL_RECBOLE
    load_movielens("100k")
    as_version_1(data_folder / "movielens-100k.npz")
    for origin in ("RecBole 1.2.1 wheel", "data folder (first from: RecBole 1.2.1 wheel)"):
        ratings = load_movielens("100k")
        assert ratings.origin == origin
        assert ratings.times.tolist() == [891717742, 881250949, 878887116]
    assert not recwarn.list


@pytest.mark.usefixtures("accept_small")
def test_a_data_folder_that_cannot_be_written_to_costs_a_warning_only(data_folder, pip):
    data_folder.write_bytes(b"a file stands where the folder should be")
    pip.files = SMALL_RECBOLE
    with pytest.warns(UserWarning, match="could not be kept for next time"):
        assert load_movielens("100k").n_ratings == 3


def test_without_the_variable_the_platforms_user_cache_is_used(monkeypatch):
    monkeypatch.delenv("GAPFM_TEACH_DATA")
    assert cache.data_folder().name == "gapfm_teach"
    monkeypatch.setenv("GAPFM_TEACH_DATA", "~/films")
    assert cache.data_folder() == Path.home() / "films"


@pytest.mark.skipif(os.name == "nt", reason="Windows finds the home folder in other ways")
@pytest.mark.parametrize(
    ("chosen", "named"),
    [(None, "for the data"), ("~/films", "GAPFM_TEACH_DATA = '~/films'")],
)
def test_a_user_without_a_home_folder_is_told_which_variable_to_set(
    monkeypatch, chosen, named
):
    for variable in ("HOME", "XDG_CACHE_HOME", "GAPFM_TEACH_DATA"):
        monkeypatch.delenv(variable, raising=False)
    if chosen:
        monkeypatch.setenv("GAPFM_TEACH_DATA", chosen)
    monkeypatch.setattr("pwd.getpwuid", lambda number: {}[number])  # KeyError, as for real
    with pytest.raises(
        RuntimeError, match=r"set GAPFM_TEACH_DATA to the full path"
    ) as raised:
        load_movielens()
    assert named in str(raised.value)


# --- the real thing ----------------------------------------------------------------------------


def test_the_real_movielens_100k(monkeypatch):
    monkeypatch.undo()  # the real servers and the real data folder
    ratings = load_movielens("100k")
    assert (ratings.n_users, ratings.n_items, ratings.n_ratings) == (943, 1682, 100_000)
    frame = ratings.to_frame()
    assert frame["user"].nunique() == 943
    assert sorted(frame["item"].unique()) == list(range(1, 1683))
    shares = np.bincount(ratings.grades, minlength=6)
    np.testing.assert_array_equal(shares[1:], frame["grade"].value_counts().sort_index())
    # Known from the data set's own description: everyone has rated at least 20 films.
    assert np.diff(ratings.indptr).min() == 20
    assert ratings.titles[0] == "Toy Story (1995)"
    # Too: "from September 19th, 1997 through April 22nd, 1998", by clocks west of Greenwich.
    days = ratings.times.astype("datetime64[s]").astype("datetime64[D]")
    assert [str(days.min()), str(days.max())] == ["1997-09-20", "1998-04-22"]
    assert "content checked" in repr(ratings)
