"""Archives and folders: missing, damaged, closed, or made to fill the memory."""

import contextlib
import os
import re
import struct
import tempfile
import zipfile
from pathlib import Path

import pytest
from movielens_files import (
    CSV,
    SMALL_100K,
    SMALL_CSV,
    SMALL_RECBOLE,
    make_folder,
    make_zip,
    triples,
)

from gapfm_teach.datasets import DownloadError, cache, load_movielens, movielens

pytestmark = pytest.mark.usefixtures("data_folder")


def test_a_path_that_is_something_else_is_explained(tmp_path):
    with pytest.raises(FileNotFoundError, match="does not exist"):
        load_movielens(path=tmp_path / "missing.zip")
    text = tmp_path / "page.zip"
    text.write_text("<html>Not found</html>")
    with pytest.raises(
        ValueError, match="no zip file, or one cut short; pass the archive as downloaded"
    ):
        load_movielens(path=text)
    with pytest.raises(ValueError, match=r"holds none of u\.data"):
        load_movielens("100k", path=make_zip(tmp_path / "other.zip", SMALL_CSV))
    with pytest.raises(ValueError, match=r"holds no movies\.csv"):
        load_movielens("20m", path=make_zip(tmp_path / "a.zip", {"ratings.csv": CSV}))
    with pytest.raises(
        ValueError, match=r"not MovieLens 100K as published: 2 users, 3 films"
    ):
        load_movielens("100k", path=make_zip(tmp_path / "small.zip", SMALL_100K))
    with pytest.raises(ValueError, match=r"name must be one of '100k'.*got '100K'"):
        load_movielens("100K")


@contextlib.contextmanager
def without_rights():
    """Inside the block an administrator, who may read everything, is nobody in particular."""
    me = os.geteuid()
    if me == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(me)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="Windows: modes keep nobody out")
def test_what_may_not_be_read_is_not_called_something_else(monkeypatch):
    with tempfile.TemporaryDirectory() as place:  # only its owner may look into tmp_path
        os.chmod(place, 0o755)
        archive = make_zip(Path(place) / "ml-100k.zip", SMALL_100K)
        folder = make_folder(Path(place) / "ml-100k", SMALL_100K)
        archive.chmod(0)
        folder.chmod(0)
        monkeypatch.setenv("GAPFM_TEACH_DATA", str(folder))
        with without_rights():
            for path in (archive, folder):
                with pytest.raises(PermissionError, match=path.name):
                    load_movielens(path=path)
            assert cache.read_cache("movielens-100k") is None
            labels = [label for label, _ in movielens._sources(movielens.EDITIONS["100k"])]
            assert labels[0] == "official archive"
        folder.chmod(0o755)


def test_a_zip_damaged_inside_is_explained(tmp_path):
    file = make_zip(tmp_path / "ml-20m.zip", SMALL_CSV)
    content = file.read_bytes()
    file.write_bytes(content.replace(b"1112486027", b"1112486028"))
    with pytest.raises(ValueError, match=r"ratings\.csv in ml-20m\.zip is damaged"):
        load_movielens("20m", path=file)


# --- damage -----------------------------------------------------------------------------------


def packed(path):
    """Small files packed as the official ones are."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in SMALL_100K.items():
            archive.writestr(name, content)
    return path


def content_or_error(file):
    try:
        ratings = load_movielens("100k", path=file)
    except ValueError as error:
        return str(error)
    return triples(ratings), ratings.titles.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("mask", [0x01, 0xFF])
@pytest.mark.usefixtures("accept_small")
def test_whatever_byte_of_a_zip_is_flipped_the_error_is_clear(tmp_path, mask):
    file = packed(tmp_path / "ml-100k.zip")
    good, content = content_or_error(file), file.read_bytes()
    found = []
    for place in range(len(content)):
        flipped = bytearray(content)
        flipped[place] ^= mask
        file.write_bytes(flipped)
        found.append(content_or_error(file))
    errors = [what for what in found if what != good]
    assert len(errors) > len(content) / 2
    clear = re.compile("is damaged|is no zip file|holds no|holds [0-9]")
    assert [error for error in errors if not clear.search(error)] == []


@pytest.mark.parametrize("damage", [b"PK\1\2", b"PK\3\4", b"PK\5\6"])
@pytest.mark.usefixtures("accept_small")
def test_after_a_damaged_zip_the_next_source_is_tried(data_folder, pip, damage):
    data_folder.mkdir()
    file = packed(data_folder / "ml-100k.zip")
    file.write_bytes(file.read_bytes().replace(damage, b"PK\7\7"))
    pip.files = SMALL_RECBOLE
    assert load_movielens("100k").origin == "RecBole 1.2.1 wheel"


@pytest.mark.usefixtures("accept_small")
def test_a_damaged_wheel_is_one_more_reason(pip):
    pip.files = SMALL_RECBOLE
    pip.damage = lambda content: content.replace(b"PK\1\2", b"PK\7\7")
    with pytest.raises(DownloadError, match=r"wheel: package\.whl is damaged \(.+\)"):
        load_movielens("100k")


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_another_way_of_packing_is_refused(tmp_path, method):
    with zipfile.ZipFile(tmp_path / "a.zip", "w", method) as archive:
        for name, content in SMALL_100K.items():
            archive.writestr(name, content)
    with pytest.raises(ValueError, match=rf"u\.data in a\.zip .*packed by method {method}"):
        load_movielens("100k", path=tmp_path / "a.zip")


# --- files made to fill the memory ------------------------------------------------------------


def bomb_zip(path, member, size):
    """A zip a thousandth as large as what it unpacks to."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in SMALL_100K.items():
            bomb = Path(name).name == member
            archive.writestr(name, bytes(size) if bomb else content)
    return path


def bomb_folder(path, member, size):
    make_folder(path, SMALL_100K)
    os.truncate(path / member, size)
    return path


@pytest.mark.parametrize("pack", [bomb_zip, bomb_folder])
@pytest.mark.parametrize(
    ("member", "size", "message"),
    [
        ("u.data", 6_400_001, r"holds 6,400,001 bytes, where .* at most 6,400,000"),
        ("u.item", 17_000_000, r"holds 17,000,000 bytes, where .* at most 16,777,216"),
    ],
)
def test_more_than_a_data_set_can_hold_is_refused_unread(
    tmp_path, pack, member, size, message
):
    path = pack(tmp_path / "ml-100k", member, size)
    with pytest.raises(ValueError, match=rf"{member} in ml-100k {message}"):
        load_movielens("100k", path=path)


def test_a_zip_that_lies_about_its_size_is_read_no_further(tmp_path):
    file = bomb_zip(tmp_path / "ml-100k", "u.item", 17_000_000)
    true, said = (struct.pack("<I", size) for size in (17_000_000, 1000))
    file.write_bytes(file.read_bytes().replace(true, said))
    with pytest.raises(ValueError, match=r"u\.item in ml-100k is damaged"):
        load_movielens("100k", path=file)


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="no file here is endless")
def test_a_link_to_a_file_that_never_ends_is_refused(tmp_path):
    folder = make_folder(tmp_path / "ml-100k", SMALL_100K)
    (folder / "u.item").unlink()
    (folder / "u.item").symlink_to("/dev/zero")
    with pytest.raises(ValueError, match=r"u\.item' is a device, a pipe"):
        load_movielens("100k", path=folder)
