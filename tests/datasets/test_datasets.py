"""MovieLens from all its sources, and what is kept of it."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from movielens_files import CERTIFICATES, SMALL_100K, SMALL_RECBOLE, make_zip, triples

from gapfm_teach.datasets import DownloadError, download, load_movielens, movielens

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
    assert load_movielens("100k").origin == "recbole-1.2.1.whl in the data folder"
    assert load_movielens("100k", path=given).origin == "path"
    (data_folder / "recbole-1.2.1.whl").unlink()
    make_zip(official / "ml-100k.zip", SMALL_100K)
    assert load_movielens("100k").origin == "official archive"
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
        "official archive: MD5 hash of downloaded file (ml-100k.zip) does not match",
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


@pytest.mark.parametrize(
    "error", [subprocess.TimeoutExpired("pip", 1), FileNotFoundError("no")]
)
def test_a_pip_that_does_not_run_is_one_more_reason(monkeypatch, error):
    def broken(*_arguments, **_options):
        raise error

    monkeypatch.setattr(download.subprocess, "run", broken)
    with pytest.raises(DownloadError, match=f"pip did not finish .{type(error).__name__}"):
        load_movielens("100k")


# --- the data folder and the network -----------------------------------------------------------


@pytest.mark.usefixtures("accept_small")
def test_a_data_folder_that_cannot_be_written_to_costs_a_warning_only(data_folder, pip):
    data_folder.write_bytes(b"a file stands where the folder should be")
    pip.files = SMALL_RECBOLE
    with pytest.warns(UserWarning, match="could not be kept for next time"):
        assert load_movielens("100k").n_ratings == 3


def test_without_the_variable_the_platforms_user_cache_is_used(monkeypatch):
    monkeypatch.delenv("GAPFM_TEACH_DATA")
    assert download.data_folder().name == "gapfm_teach"
    monkeypatch.setenv("GAPFM_TEACH_DATA", "~/films")
    assert download.data_folder() == Path.home() / "films"


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


@pytest.mark.parametrize("damage", [lambda content: content[:200], bytes.upper])
@pytest.mark.usefixtures("accept_small")
def test_a_damaged_file_in_the_data_folder_is_one_more_reason(data_folder, pip, damage):
    pip.files = SMALL_RECBOLE
    load_movielens("100k")
    wheel = data_folder / "recbole-1.2.1.whl"
    wheel.write_bytes(damage(wheel.read_bytes()))
    assert load_movielens("100k").origin == "RecBole 1.2.1 wheel"
    pip.files = None
    wheel.write_bytes(damage(wheel.read_bytes()))
    with pytest.raises(DownloadError, match=r"recbole-1\.2\.1\.whl in the data folder: "):
        load_movielens("100k")


def download_fails(tmp_path, url, known_hash=None):
    with pytest.raises(DownloadError) as failure:
        download.download(url, tmp_path, "file", known_hash)
    assert not (tmp_path / "file").exists()
    return str(failure.value)


def test_a_failed_download_says_why_and_leaves_nothing_behind(tmp_path, serve, monkeypatch):
    (serve.root / "wrong").write_bytes(b"something else")
    base = serve()
    monkeypatch.setattr(download, "TIMEOUT", 0.5)
    assert "the server answered 404" in download_fails(tmp_path, f"{base}/missing")
    assert "does not match" in download_fails(tmp_path, f"{base}/wrong", "md5:" + "0" * 32)
    assert "no answer within 0.5" in download_fails(tmp_path, f"{base}/silence")
    assert "cannot be reached" in download_fails(tmp_path, "http://localhost:1/file")


@pytest.mark.parametrize(("certificate", "trusted"), [("valid", False), ("expired", True)])
def test_certificates_are_always_verified(
    tmp_path, serve, monkeypatch, certificate, trusted
):
    (serve.root / "file").write_bytes(b"content")
    url = f"{serve(f'{certificate}.pem')}/file"
    if trusted:
        monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATES / f"{certificate}.pem"))
    assert "TLS certificate is not valid" in download_fails(tmp_path, url)


def test_the_systems_own_certificates_count(tmp_path, serve, monkeypatch):
    (serve.root / "file").write_bytes(b"content")
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATES / "valid.pem"))
    stored = download.download(f"{serve('valid.pem')}/file", tmp_path, "file", None)
    assert stored.read_bytes() == b"content"


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
