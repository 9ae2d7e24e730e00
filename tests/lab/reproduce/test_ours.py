"""What `reproduce` may replace: its own results, and nobody's work."""

from pathlib import Path

import pytest

import gapfm_teach
from gapfm_lab.result_files import check_overwrite

STORED = Path(gapfm_teach.__file__).parent.parent / "notebooks" / "results"
MADE = ["family", "figure1", "figure2", "table4", "netflix_figure3"]


def test_what_was_stored_may_be_replaced(tmp_path):
    names = [f"{name}{suffix}" for name in MADE for suffix in (".csv", ".png")]
    names += ["family_differences.csv"]
    check_overwrite(STORED / name for name in names)
    check_overwrite([tmp_path / "table1.csv", tmp_path / "table1.png"])  # nothing is there


@pytest.mark.parametrize("name", ["table1.csv", "table1.png", "table2_choices.csv"])
@pytest.mark.parametrize(
    "text", ["", "my,own,numbers\n", "# my own\n", "\n# python -m gapfm_teach reproduce"]
)
def test_a_file_of_the_users_is_refused_and_named(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    with pytest.raises(FileExistsError, match=rf"{name} is there already.*--out"):
        check_overwrite([tmp_path / "figure1.csv", tmp_path / name])
    assert (tmp_path / name).read_text() == text


def test_a_picture_is_its_tables(tmp_path):
    (tmp_path / "table1.png").write_bytes(b"a picture")
    (tmp_path / "table1.csv").write_text("# python -m gapfm_teach reproduce table1\na\n1\n")
    check_overwrite([tmp_path / "table1.png"])
    (tmp_path / "table1.csv").write_text("a\n1\n")
    with pytest.raises(FileExistsError, match=r"table1\.png is there"):
        check_overwrite([tmp_path / "table1.png"])
