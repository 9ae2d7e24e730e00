"""Archives of the Netflix data that are cut, spoilt, or made to do harm: one error, no cache."""

import io
import re
import shutil
import stat
import tarfile
import warnings
import zipfile

import netflix_files
import pytest
from netflix_files import SMALL, SMALL_PROBE, refused, same, small, texts, write

from gapfm_teach import load_netflix
from gapfm_teach.datasets.netflix import archives, names

ARCHIVES = ("Kaggle zip", "original archive")


@pytest.fixture(autouse=True)
def data_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("GAPFM_TEACH_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


def contents(layout="Kaggle zip", **more) -> dict[str, bytes]:
    files = texts(layout, SMALL, SMALL_PROBE)
    return {name: text.encode("latin-1") for name, text in files.items()} | more


# --- damaged -----------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", ARCHIVES)
def test_a_truncated_archive_is_refused_wherever_it_is_cut(tmp_path, layout):
    whole = write(layout, texts(layout, SMALL, SMALL_PROBE), tmp_path / "netflix")
    content = whole.read_bytes()
    for end in {*range(0, len(content), 7), len(content) - 1}:
        whole.write_bytes(content[:end])
        assert re.search("damaged|holds no ratings", refused(whole, tmp_path)), end
    whole.write_bytes(content)
    load_netflix(whole)


def test_a_truncated_tar_is_refused_wherever_it_is_cut(tmp_path):
    content = netflix_files.tar(contents("original archive"))
    path = tmp_path / "training_set.tar"
    end_marker = len(content.rstrip(b"\0")) // 512 * 512 + 512
    # Between two files and inside a header, where Python's reader sees the archive's end, too.
    for place in {*range(0, end_marker, 100), *range(0, end_marker, 512)}:
        path.write_bytes(content[:place])
        assert "training_set.tar is damaged" in refused(path, tmp_path), place


def spoilt(content: bytes, place: int, mask: int) -> bytes:
    return content[:place] + bytes([content[place] ^ mask]) + content[place + 1 :]


def read(path, tmp_path):
    """The parts and the warnings of a first load, or None when it is refused."""
    shutil.rmtree(tmp_path / "data", ignore_errors=True)
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        try:
            parts = load_netflix(path)
        except ValueError:
            return None
    shutil.rmtree(tmp_path / "data")
    return parts, [str(note.message) for note in notes]


def check_spoilt_bytes(path, tmp_path, places, mask):
    """Each is refused, by one error that names the file and what to do; or nothing changes; or
    what is not found any more, for its name was spoilt, is said to be missing."""
    whole, notes = read(path, tmp_path)
    content = path.read_bytes()
    for place in places:
        path.write_bytes(spoilt(content, place, mask))
        result = read(path, tmp_path)
        if result is None:
            assert re.search(rf"{path.name}.*; |, line \d+: ", refused(path, tmp_path)), (
                place
            )
        elif result[1] == notes:
            for one, other in zip(whole, result[0], strict=True):
                same(one, other)
        else:
            assert re.search("without|no ratings|no title", "".join(result[1])), place


@pytest.mark.slow
@pytest.mark.parametrize("mask", [0x01, 0xFE])
def test_no_spoilt_byte_of_a_zip_is_passed_over(tmp_path, mask):
    kept = ("combined_data_1.txt", "probe.txt", "movie_titles.csv")
    files = {
        name: text for name, text in texts("Kaggle zip", SMALL, []).items() if name in kept
    }
    path = write("Kaggle zip", files | {"probe.txt": "1:\n7\n"}, tmp_path / "netflix")
    content = path.read_bytes()
    directory = content.index(b"PK\x01\x02")
    places = [*range(0, directory, 9), *range(directory + mask % 2, len(content), 2)]
    check_spoilt_bytes(path, tmp_path, places, mask)


def test_no_spoilt_byte_of_a_gzipped_tar_is_passed_over(tmp_path):
    path = small(tmp_path, "original archive")
    size = path.stat().st_size
    places = [*range(20), *range(20, size - 8, 11), *range(size - 8, size)]
    check_spoilt_bytes(path, tmp_path, places, 0xFF)


def test_no_spoilt_byte_of_a_tars_headers_is_passed_over(tmp_path):
    """Python's reader takes a header that does not fit its checksum for the archive's end."""
    path = tmp_path / "training_set.tar"
    content = netflix_files.tar(contents("original archive"))
    path.write_bytes(content)
    with tarfile.open(path) as archive:
        headers = [entry.offset for entry in archive.getmembers()]
    for offset in headers:
        for place in {*range(offset, offset + 512, 7)} - {
            offset + 154
        }:  # behind the checksum
            path.write_bytes(spoilt(content, place, 0x11))
            assert "training_set.tar is damaged" in refused(path, tmp_path), place


def test_a_second_archive_behind_the_end_of_one_is_not_passed_over(tmp_path):
    path = tmp_path / "training_set.tar"
    files = contents("original archive")
    probe = {"probe.txt": files.pop("probe.txt")}
    path.write_bytes(netflix_files.tar(files) + netflix_files.tar(probe))
    assert "something stands behind its end" in refused(path, tmp_path)


def test_a_zip_with_a_spoilt_directory_is_refused(tmp_path):
    path = small(tmp_path, "Kaggle zip")
    path.write_bytes(path.read_bytes().replace(b"PK\x01\x02", b"PK\x01\x03"))
    assert refused(path, tmp_path).startswith("archive.zip is damaged")


def test_a_zip_with_a_password_is_refused(tmp_path):
    path = small(tmp_path, "Kaggle zip")
    content = bytearray(path.read_bytes())
    for signature, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        for found in re.finditer(re.escape(signature), bytes(content)):
            content[found.start() + place] |= 1
    path.write_bytes(content)
    assert "password required" in refused(path, tmp_path)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_zip_of_which_a_few_bytes_may_unfold_to_gigabytes_is_refused(tmp_path, method):
    with zipfile.ZipFile(tmp_path / "a.zip", "w", method) as archive:
        archive.writestr("combined_data_1.txt", "1:\n7,4,2005-09-06\n")
    assert (
        f"a.zip is damaged, cut short or no archive (packed by method {method}, where"
        in (refused(tmp_path / "a.zip", tmp_path))
    )


# --- links and names -----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE])
@pytest.mark.parametrize("name", ["training_set/mv_0000002.txt", "probe.txt"])
def test_a_link_inside_a_tar_is_refused(tmp_path, kind, name):
    files = contents("original archive")
    path = tmp_path / "training_set.tar"
    with tarfile.open(path, "w") as archive:
        for held, content in files.items():
            entry = tarfile.TarInfo(held)
            if held == name:
                entry.type, entry.linkname = kind, "training_set/mv_0000001.txt"
            entry.size = len(content) if entry.isreg() else 0
            archive.addfile(entry, io.BytesIO(content))
    assert refused(path, tmp_path).startswith(
        f"{name.split('/')[-1]} in training_set.tar is a link or device instead of a file"
    )


def test_a_link_inside_a_zip_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for name, content in contents().items():
            entry = zipfile.ZipInfo(name)
            kind = stat.S_IFLNK if name == "probe.txt" else stat.S_IFREG
            entry.external_attr = (kind | 0o644) << 16
            archive.writestr(entry, content)
    assert refused(tmp_path / "a.zip", tmp_path).startswith("probe.txt in a.zip is a link")


OUTSIDE = [
    "../{}",
    "/{}",
    "a/../../{}",
    "..\\{}",
    "\\{}",
    "C:\\{}",
    "C:{}",
    "\\\\host\\x\\{}",
]


@pytest.mark.parametrize("outside", OUTSIDE)
@pytest.mark.parametrize("name", ["combined_data_1.txt", "innocent.txt"])
def test_a_name_that_leads_outside_is_refused(tmp_path, outside, name):
    files = contents()
    files[outside.format(name)] = files.pop(name, b"hello")
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for held, content in files.items():
            archive.writestr(held, content)
    (tmp_path / "a.tar").write_bytes(netflix_files.tar(files))
    for archive_name in ("a.zip", "a.tar"):
        said = refused(tmp_path / archive_name, tmp_path)
        assert said.startswith(
            f"{archive_name} holds {outside.format(name)!r}, a name that"
        )


def test_an_inner_archive_holds_no_other(tmp_path):
    """Archives in archives, a thousand deep, would end in an error of Python's own."""
    content = netflix_files.tar(contents("original archive"))
    for _ in range(3):
        content = netflix_files.tar({"training_set.tar": content})
    (tmp_path / "a.tar").write_bytes(content)
    assert "it holds a training_set.tar itself" in refused(tmp_path / "a.tar", tmp_path)


def test_a_file_beside_an_archive_and_inside_it_is_there_twice(tmp_path):
    folder = tmp_path / "netflix"
    folder.mkdir()
    files = contents("original archive")
    (folder / "training_set.tar").write_bytes(netflix_files.tar(files))
    (folder / "probe.txt").write_bytes(b"1:\n1\n")
    assert "training_set.tar holds probe.txt a second time" in refused(folder, tmp_path)


# --- more than there can be --------------------------------------------------------------------


BOMBS = ["combined_data_1.txt", "mv_0000001.txt", "probe.txt", "movie_titles.txt"]
BOMBS += ["training_set.tar", "SIMULATED.txt"]


@pytest.mark.parametrize("name", BOMBS)
def test_what_declares_more_than_it_can_hold_is_refused_unread(tmp_path, name):
    """Four billion bytes: only the header is there, which says so."""
    entry = tarfile.TarInfo(f"x/{name}")
    entry.size = 4_000_000_000
    (tmp_path / "a.tar").write_bytes(entry.tobuf() + b"1:\n".ljust(512, b"\0"))
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(entry.name, b"1:\n")
    content = (tmp_path / "a.zip").read_bytes()
    at = content.index(b"PK\x01\x02") + 24
    size = entry.size.to_bytes(4, "little")
    (tmp_path / "a.zip").write_bytes(content[:at] + size + content[at + 4 :])
    for archive_name in ("a.tar", "a.zip"):
        said = refused(tmp_path / archive_name, tmp_path)
        assert f"{archive_name} unfolds to more than the" in said
        assert "get another copy, or pass Kaggle's" in said


@pytest.mark.parametrize("layout", netflix_files.LAYOUTS)
@pytest.mark.parametrize("start", ["combined_data_1|mv_0000001", "probe", "movie_titles"])
def test_what_is_larger_than_it_can_be_is_refused(tmp_path, monkeypatch, layout, start):
    path = small(tmp_path, layout)
    name = next(
        bare
        for bare in (held.split("/")[-1] for held in texts(layout, SMALL, SMALL_PROBE))
        if re.match(start, bare)
    )
    limits = {re.compile(re.escape(name)): 3, re.compile(".*"): 10**6}
    monkeypatch.setattr(names, "MOST_BYTES", limits)
    assert re.match(f"{name}.* unfolds to more than the 3 bytes", refused(path, tmp_path))


def test_the_size_is_compared_while_reading_too():
    """A file that grows meanwhile, or a tar's hole, is not as long as it was declared."""
    member = archives.Member(
        "SIMULATED.txt", io.BytesIO(b"1" * 10_001), netflix_files.Path("a.zip"), 1
    )
    assert member.read(10_000) == b"1" * 10_000
    with pytest.raises(ValueError, match=r"a.zip unfolds to more than the 10,000 bytes"):
        member.read()


@pytest.mark.parametrize("kind", [tarfile.GNUTYPE_LONGNAME, tarfile.XHDTYPE])
def test_a_name_as_long_as_the_memory_is_refused(tmp_path, monkeypatch, kind):
    """Python's reader would read all of a header's name before it looks at it."""
    monkeypatch.setattr(archives, "HEADER_ROOM", 1000)
    monkeypatch.setattr(archives, "BLOCK", 512)
    entry = tarfile.TarInfo("x")
    entry.type, entry.size = kind, 5120
    (tmp_path / "a.tar").write_bytes(entry.tobuf() + b"1" * 5120 + bytes(1024))
    assert "over 1,000 bytes between two files" in refused(tmp_path / "a.tar", tmp_path)


def test_zeros_without_an_end_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "HEADER_ROOM", 1000)
    monkeypatch.setattr(archives, "BLOCK", 512)
    content = netflix_files.tar(contents("original archive"))
    (tmp_path / "a.tar").write_bytes(content + bytes(20_000))
    assert "over 1,000 bytes between two files" in refused(tmp_path / "a.tar", tmp_path)


@pytest.mark.parametrize("layout", ARCHIVES)
def test_an_archive_of_countless_files_or_bytes_is_refused(tmp_path, monkeypatch, layout):
    path = small(tmp_path, layout)
    for limit in ("MOST_ENTRIES", "MOST_IN_ARCHIVE"):
        with monkeypatch.context() as patch:
            patch.setattr(archives, limit, 2)
            assert f"{path.name} unfolds to more than the " in refused(path, tmp_path)


def test_the_limits_leave_room_for_the_whole_data():
    """With the sizes of the real files, rounded up."""
    real = {
        "combined_data_1.txt": 540_000_000,
        "mv_0000001.txt": 22 * 232_944,
        "probe.txt": 11_000_000,
        "movie_titles.txt": 600_000,
        "training_set.tar": 2_200_000_000,
    }
    for name, size in real.items():
        assert names.most_bytes(name) > size
    assert names.MOST_IN_ARCHIVE > 2_200_000_000 + 11_000_000 + 60_000_000
