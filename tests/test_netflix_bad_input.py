"""Netflix files that are damaged, cut or wrong: one error that says where, and no cache."""

import re
import zipfile

import netflix_files
import pytest
from netflix_files import LAYOUTS, SMALL, SMALL_PROBE, texts, write

from gapfm_teach import load_netflix
from gapfm_teach.datasets.netflix import parse


@pytest.fixture(autouse=True)
def data_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("GAPFM_TEACH_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


def refused(path, tmp_path) -> str:
    """The message of the ValueError, after checking that no cache was begun."""
    with pytest.raises(ValueError, match=r".") as failure:
        load_netflix(path)
    assert not (tmp_path / "data").exists()
    return str(failure.value)


BAD_LINES = [
    "5,6,2005-09-06",
    "5,0,2005-09-06",
    "5,10,2005-09-06",
    "5,-1,2005-09-06",
    "5,4.0,2005-09-06",
    "5,,2005-09-06",
    "5,,,2005-09-06",
    "5,4",
    "5,4,",
    "5,4,2005-09-0",
    "5,4,2005-09-066",
    "5,4,2005/09/06",
    "5,4,20050-9-06",
    "5;4;2005-09-06",
    "5",
    "0,4,2005-09-06",
    "2649430,4,2005-09-06",
    "99999999999999999999999,4,2005-09-06",
    "-5,4,2005-09-06",
    " 5,4,2005-09-06",
    "five,4,2005-09-06",
    "0:",
    "17771:",
    "123456789:",
    "1:5,4,2005-09-06",
    ":",
    "CustomerID,Rating,Date",
    "5,4,2005-09-06\0",
    "ÿ",
]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("line", BAD_LINES)
def test_a_bad_line_is_named_with_file_and_number(tmp_path, layout, line):
    files = texts(layout, SMALL, SMALL_PROBE)
    file = next(name for name, text in files.items() if "\n7,5," in text)
    lines = files[file].split("\n")
    lines.insert(2, line)
    lines.insert(1, "")
    files[file] = "\n".join(lines)
    said = refused(write(layout, files, tmp_path / "netflix"), tmp_path)
    assert said.startswith(f"{file.split('/')[-1]}, line 4: {line!r} must be 'MOVIE:'")
    assert "grade 1 to 5" in said


@pytest.mark.parametrize("block", [10, 16, 17, 50, 1000])
def test_the_line_is_the_same_in_blocks_of_any_size(tmp_path, monkeypatch, block):
    monkeypatch.setattr(parse, "BLOCK", block)
    files = texts("Kaggle folder", SMALL, SMALL_PROBE)
    files["combined_data_3.txt"] += "\n\n1,3,2005-09-06\n1,9,2005-09-06\n1,8,2005-09-06"
    said = refused(write("Kaggle folder", files, tmp_path / "netflix"), tmp_path)
    assert said.startswith("combined_data_3.txt, line 8: '1,9,2005-09-06' must be")


def test_a_file_without_a_line_is_refused_before_it_fills_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(parse, "BLOCK", 50)
    path = tmp_path / "combined_data_1.txt"
    path.write_bytes(b"1" * 3000)
    assert refused(path, tmp_path).startswith("combined_data_1.txt, line 1: '11111")


@pytest.mark.parametrize("block", [15, 1000])
def test_a_rating_above_the_first_movie_is_refused_in_every_file(
    tmp_path, monkeypatch, block
):
    monkeypatch.setattr(parse, "BLOCK", block)
    files = texts("Kaggle folder", SMALL, SMALL_PROBE)
    files["combined_data_2.txt"] = "\n\n1,4,2005-09-06\n" + files["combined_data_2.txt"]
    said = refused(write("Kaggle folder", files, tmp_path / "netflix"), tmp_path)
    assert said.startswith(
        "combined_data_2.txt, line 3: '1,4,2005-09-06' must be 'MOVIE:' or"
    )


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("held_out", [False, True])
def test_a_second_rating_of_one_movie_is_named(tmp_path, layout, held_out):
    files = texts(layout, SMALL, SMALL_PROBE if held_out else [])
    file = next(name for name, text in files.items() if "\n123456," in text)
    again = "123456,1,2001-01-01"
    files[file] += f"\n{again}\n5,1,2005-09-06\n"
    said = refused(write(layout, files, tmp_path / "netflix"), tmp_path)
    assert said == (
        f"{file.split('/')[-1]}, line 6: {again!r} rates movie 30 a second time; keep one of "
        "this user's ratings of it"
    )


def test_a_second_rating_in_another_file_is_named(tmp_path):
    files = texts("Kaggle folder", SMALL, SMALL_PROBE)
    files["combined_data_4.txt"] += "1:\r\n1,2,2005-09-06\r\n"
    said = refused(write("Kaggle folder", files, tmp_path / "netflix"), tmp_path)
    assert said.startswith("combined_data_4.txt, line 4: '1,2,2005-09-06' rates movie 1 a")


def test_a_second_rating_is_found_behind_leading_zeros(tmp_path):
    files = texts("Kaggle folder", SMALL, SMALL_PROBE)
    files["combined_data_1.txt"] += "\n0001:\n00001,4,2005-09-06\n0000012,4,2005-09-06"
    said = refused(write("Kaggle folder", files, tmp_path / "netflix"), tmp_path)
    assert said.startswith(
        "combined_data_1.txt, line 7: '00001,4,2005-09-06' rates movie 1 a"
    )


@pytest.mark.parametrize(
    ("probe", "message"),
    [
        ("1:\n7\n\n2:\n7\n1:\n1\n7\n", "probe.txt, line 8: '7' asks for movie 1 again"),
        ("1:\n7\n7\n", "probe.txt, line 3: '7' asks for movie 1 again"),
        ("1:\n7\n\n123456\n", "probe.txt, line 4: '123456' has not rated movie 1, and"),
        ("7\n", "probe.txt, line 1: '7' must be 'MOVIE:' or, below such a line, 'USER'"),
        ("1:\n7,2005-09-06\n", "probe.txt, line 2: '7,2005-09-06' must be"),
        ("1:\n7\n17771:\n", "probe.txt, line 3: '17771:' must be"),
    ],
)
def test_a_wrong_probe_is_named_with_its_line(tmp_path, probe, message):
    files = texts("Kaggle folder", SMALL, SMALL_PROBE) | {"probe.txt": probe}
    said = refused(write("Kaggle folder", files, tmp_path / "netflix"), tmp_path)
    assert said.startswith(message)


@pytest.mark.parametrize("line", ["2,2003", "x,2003,Title", "2,2003.0,Title", ",,", "2"])
def test_a_wrong_title_is_named_with_its_line(tmp_path, line):
    titles = f"1,2003,Dinosaur Planet\n\n{line}\r\n"
    files = texts("Kaggle folder", SMALL, SMALL_PROBE, titles)
    said = refused(write("Kaggle folder", files, tmp_path / "netflix"), tmp_path)
    assert said.startswith(f"movie_titles.csv, line 3: {line!r} must be 'ID,YEAR,TITLE'")


# --- archives and folders ----------------------------------------------------------------------


@pytest.mark.parametrize("layout", ["Kaggle zip", "original archive"])
def test_a_truncated_archive_is_refused_wherever_it_is_cut(tmp_path, layout):
    whole = write(layout, texts(layout, SMALL, SMALL_PROBE), tmp_path / "netflix")
    content = whole.read_bytes()
    for end in {*range(0, len(content), 7), len(content) - 1}:
        whole.write_bytes(content[:end])
        assert re.search("damaged|holds no ratings", refused(whole, tmp_path)), end
    whole.write_bytes(content)
    load_netflix(whole)


def test_a_truncated_inner_archive_is_refused_wherever_it_is_cut(tmp_path):
    files = texts("original archive", SMALL, SMALL_PROBE)
    inner = {name: text.encode() for name, text in files.items() if "mv_" in name}
    content = netflix_files.tar(inner)
    path = tmp_path / "training_set.tar"
    end_marker = len(content.rstrip(b"\0")) // 512 * 512 + 512
    # Between two files and inside a header, where Python's reader sees the archive's end, too.
    for place in {*range(0, end_marker, 100), *range(0, end_marker, 512)}:
        path.write_bytes(content[:place])
        assert "training_set.tar is damaged" in refused(path, tmp_path), place


@pytest.mark.parametrize("layout", ["Kaggle zip", "original archive"])
def test_a_flipped_byte_is_noticed(tmp_path, layout):
    path = write(layout, texts(layout, SMALL, SMALL_PROBE), tmp_path / "netflix")
    content = bytearray(path.read_bytes())
    content[len(content) // 3] ^= 0xFF
    path.write_bytes(content)
    refused(path, tmp_path)


def test_a_zip_with_a_spoilt_directory_is_refused(tmp_path):
    files = texts("Kaggle zip", SMALL, SMALL_PROBE)
    path = write("Kaggle zip", files, tmp_path / "netflix")
    path.write_bytes(path.read_bytes().replace(b"PK\x01\x02", b"PK\x01\x03"))
    assert refused(path, tmp_path).startswith("archive.zip is damaged")


def test_a_zip_with_a_password_is_refused(tmp_path):
    files = texts("Kaggle zip", SMALL, SMALL_PROBE)
    path = write("Kaggle zip", files, tmp_path / "netflix")
    content = bytearray(path.read_bytes())
    for signature, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        for found in re.finditer(re.escape(signature), bytes(content)):
            content[found.start() + place] |= 1
    path.write_bytes(content)
    assert "password required" in refused(path, tmp_path)


def test_paths_that_hold_no_such_data_say_what_to_pass(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere' does not exist; pass Kaggle's"):
        load_netflix(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    assert "holds no combined_data_1.txt" in refused(tmp_path / "empty", tmp_path)
    (tmp_path / "notes.txt").write_text("1:\n5,4,2005-09-06\n")
    assert "notes.txt is damaged, cut short or no archive" in refused(
        tmp_path / "notes.txt", tmp_path
    )
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("u.data", "1\t2\t3\t4\n")
    assert refused(tmp_path / "other.zip", tmp_path).startswith(
        "other.zip holds no ratings"
    )
    (tmp_path / "combined_data_1.txt").write_text("1:\n2:\n")
    said = refused(tmp_path / "combined_data_1.txt", tmp_path)
    assert said.startswith("combined_data_1.txt holds no ratings")


def test_a_folder_with_both_layouts_is_refused(tmp_path):
    for layout in ("Kaggle folder", "original folder"):
        write(layout, texts(layout, SMALL, SMALL_PROBE), tmp_path / "both")
    assert "holds the data set twice" in refused(tmp_path / "both", tmp_path)


def test_a_file_that_is_there_twice_is_refused(tmp_path):
    """Two data sets below one folder, or in one archive, would be mixed."""
    files = texts("Kaggle folder", SMALL, SMALL_PROBE)
    both = {f"{place}/{name}": text for place in "ab" for name, text in files.items()}
    for place in "ab":
        write("Kaggle folder", files, tmp_path / "both" / place)
    assert re.search(
        "holds .*twice, in 'a' and 'b'; pass the", refused(tmp_path / "both", tmp_path)
    )
    path = write("Kaggle zip", both, tmp_path / "packed")
    assert "archive.zip holds combined_data_1.txt twice" in refused(path, tmp_path)
    path = tmp_path / "both.tar"
    path.write_bytes(
        netflix_files.tar({n: text.encode("latin-1") for n, text in both.items()})
    )
    assert "both.tar holds combined_data_1.txt twice" in refused(path, tmp_path)


@pytest.mark.parametrize("path", [None, 5, b"netflix"])
def test_something_that_is_no_path_is_named(path):
    with pytest.raises(
        TypeError, match=f"path must be text or a Path, got {path!r}; pass Kaggle"
    ):
        load_netflix(path)
