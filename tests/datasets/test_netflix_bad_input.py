"""Netflix files that are damaged, cut or wrong: one error that says where, and no cache."""

import re
import zipfile

import netflix_files
import pytest
from netflix_files import LAYOUTS, SMALL, SMALL_PROBE, refused, small, texts, write

from gapfm_teach import load_netflix
from gapfm_teach.datasets.netflix import parse


@pytest.fixture(autouse=True)
def data_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("GAPFM_TEACH_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


BAD_LINES = [
    "5,6,2005-09-06", "5,0,2005-09-06", "5,10,2005-09-06", "5,-1,2005-09-06", "5,4", "5",
    "5,4,2005/09/06", "0,4,2005-09-06", "2649430,4,2005-09-06", "-5,4,2005-09-06",
    "99999999999999999999999,4,2005-09-06", "0:", "17771:", ":", "CustomerID,Rating,Date",
]  # fmt: skip


@pytest.mark.parametrize("line", BAD_LINES)
def test_a_bad_line_is_named_with_file_and_number(tmp_path, line):
    layout = "Kaggle folder"
    files = texts(layout, SMALL, SMALL_PROBE)
    file = next(name for name, text in files.items() if "\n7,5," in text)
    lines = files[file].split("\n")
    lines.insert(2, line)
    lines.insert(1, "")
    files[file] = "\n".join(lines)
    said = refused(write(layout, files, tmp_path / "netflix"), tmp_path)
    assert said.startswith(f"{file.split('/')[-1]}, line 4: {line!r} must be 'MOVIE:'")
    assert "grade 1 to 5" in said


@pytest.mark.parametrize("block", [10, 50])
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


@pytest.mark.parametrize("probe", [SMALL_PROBE, []])
def test_a_second_rating_of_one_movie_is_named(tmp_path, probe):
    files = texts("Kaggle folder", SMALL, probe)
    file = next(name for name, text in files.items() if "\n123456," in text)
    files[file] += "123456,1,2001-01-01\n"
    said = refused(write("Kaggle folder", files, tmp_path / "netflix"), tmp_path)
    assert said.startswith("user 123456 rates movie 30 a second time; keep one")


def test_a_second_rating_in_another_file_is_named(tmp_path):
    files = texts("Kaggle folder", SMALL, SMALL_PROBE)
    files["combined_data_4.txt"] += "1:\r\n1,2,2005-09-06\r\n"
    said = refused(write("Kaggle folder", files, tmp_path / "netflix"), tmp_path)
    assert said == (
        "combined_data_4.txt, line 3: '1:' begins movie 1 a second time, after "
        "combined_data_1.txt, line 1; keep one of them, or get a whole copy"
    )


@pytest.mark.parametrize("block", [6, 1000])
def test_a_movie_that_begins_twice_is_named_with_both_places(tmp_path, monkeypatch, block):
    """No user rated anything twice here: without a look at the headers all would be read."""
    monkeypatch.setattr(parse, "BLOCK", block)
    path = tmp_path / "combined_data_1.txt"
    path.write_text("\n2:\n7,4,2005-09-06\n1:\n8,4,2005-09-06\n2: \r\n9,4,2005-09-06\n")
    assert refused(path, tmp_path) == (
        "combined_data_1.txt, line 6: '2:' begins movie 2 a second time, after "
        "combined_data_1.txt, line 2; keep one of them, or get a whole copy"
    )


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("which", ["ratings", "probe.txt", "movie_titles", "SIMULATED.txt"])
def test_an_empty_file_is_named(tmp_path, layout, which):
    files = texts(layout, SMALL, SMALL_PROBE) | {"SIMULATED.txt": "simulated\n"}
    first = "combined_data_2" if layout.startswith("Kaggle") else "training_set/mv_0000002"
    start = first if which == "ratings" else which
    name = next(name for name in files if name.startswith(start))
    path = write(layout, files | {name: ""}, tmp_path / "netflix")
    assert refused(path, tmp_path).startswith(
        f"{name.split('/')[-1]} is empty; get the file"
    )


def test_more_ratings_than_there_are_in_all_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(parse, "N_RATINGS", 3)
    path = tmp_path / "combined_data_1.txt"
    path.write_text("1:\n" + "".join(f"{user},4,2005-09-06\n" for user in range(1, 5)))
    assert "combined_data_1.txt brings more than 3 ratings" in refused(path, tmp_path)


@pytest.mark.parametrize("layout", ["Kaggle zip", "original archive"])
def test_an_archive_cut_short_is_refused(tmp_path, layout):
    path = write(layout, texts(layout, SMALL, SMALL_PROBE), tmp_path / "netflix")
    content = path.read_bytes()
    path.write_bytes(content[: int(0.6 * len(content))])
    words = "is damaged, cut short or not an archive|holds no ratings"
    assert re.search(words, refused(path, tmp_path))


@pytest.mark.parametrize(
    ("probe", "message"),
    [
        ("1:\n7\n\n2:\n7\n1:\n1\n", "probe.txt, line 6: '1:' begins movie 1 a second time"),
        ("1:\n7\n7\n", "probe.txt asks for movie 1 and a user twice; get"),
        (
            "1:\n7\n\n123456\n",
            "probe.txt asks for movie 1 and user 123456, who has no rating",
        ),
        ("7\n", "probe.txt, line 1: '7' must be 'MOVIE:' or, below such a line, 'USER'"),
        ("1:\n7,2005-09-06\n", "probe.txt, line 2: '7,2005-09-06' must be"),
        ("1:\n7\n17771:\n", "probe.txt, line 3: '17771:' must be"),
    ],
)
def test_a_wrong_probe_is_named_with_its_line(tmp_path, probe, message):
    files = texts("Kaggle folder", SMALL, SMALL_PROBE) | {"probe.txt": probe}
    said = refused(write("Kaggle folder", files, tmp_path / "netflix"), tmp_path)
    assert said.startswith(message)


@pytest.mark.parametrize(
    "line",
    [
        "2,2003", "x,2003,Title", "2,2003,", "0,2003,Title", "17771,2003,Title", "2,20030,Title",
    ],
)  # fmt: skip
def test_a_wrong_title_is_named_with_its_line(tmp_path, line):
    titles = f"1,2003,Dinosaur Planet\n\n{line}\r\n"
    files = texts("Kaggle folder", SMALL, SMALL_PROBE, titles)
    said = refused(write("Kaggle folder", files, tmp_path / "netflix"), tmp_path)
    assert said.startswith(
        f"movie_titles.csv, line 3: {line[:80]!r} must be 'ID,YEAR,TITLE'"
    )


@pytest.mark.parametrize("layout", LAYOUTS)
def test_titles_in_both_files_are_refused(tmp_path, layout):
    other = "movie_titles." + ("txt" if layout.startswith("Kaggle") else "csv")
    path = small(tmp_path, layout, **{other: "1,2003,Another\n"})
    assert "holds both movie_titles.txt and movie_titles.csv; keep one" in (
        refused(path, tmp_path)
    )


# --- folders ---------------------------------------------------------------------------------


def test_paths_that_hold_no_such_data_say_what_to_pass(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere' does not exist; pass Kaggle's"):
        load_netflix(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    assert "holds no combined_data_1.txt" in refused(tmp_path / "empty", tmp_path)
    (tmp_path / "notes.txt").write_text("1:\n5,4,2005-09-06\n")
    assert "notes.txt is damaged, cut short or not an archive" in refused(
        tmp_path / "notes.txt", tmp_path
    )
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("u.data", "1\t2\t3\t4\n")
    assert refused(tmp_path / "other.zip", tmp_path).startswith(
        "other.zip holds no ratings"
    )
    (tmp_path / "probe.txt").write_text("1:\n5\n")
    assert refused(tmp_path / "probe.txt", tmp_path).startswith(
        "probe.txt holds no ratings"
    )


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
        "holds .*twice, as 'a/.*' and as 'b/.*'; pass the",
        refused(tmp_path / "both", tmp_path),
    )
    path = write("Kaggle zip", both, tmp_path / "packed")
    assert "archive.zip holds combined_data_1.txt a second time" in refused(path, tmp_path)
    path = tmp_path / "both.tar"
    path.write_bytes(
        netflix_files.tar({n: text.encode("latin-1") for n, text in both.items()})
    )
    assert "both.tar holds combined_data_1.txt a second time" in refused(path, tmp_path)


@pytest.mark.parametrize("path", [None, 5, b"netflix"])
def test_something_that_is_no_path_is_named(path):
    with pytest.raises(
        TypeError, match=f"path must be text or a Path, got {path!r}; pass Kaggle"
    ):
        load_netflix(path)
