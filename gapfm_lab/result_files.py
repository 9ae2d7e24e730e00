"""Files of results that `reproduce` writes: how, and which of those in a folder it may replace."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd

from gapfm_teach._support.files import replacing

# How the first line of a table begins. A picture is its table's: it has none.
MARK = b"# python -m gapfm_teach reproduce"


def check_overwrite(paths: Iterable[Path]) -> None:
    """Raise FileExistsError, naming it, for the first of `paths` that is there and not ours.

    A .csv is ours by its first line, anything else if the .csv of the same name beside it is.
    """
    for path in paths:
        if path.exists() and not _is_ours(path.with_suffix(".csv")):
            raise FileExistsError(
                f"{path} is there already and is no result of reproduce, which would replace it; "
                "move it away, or name another folder with --out"
            )


def _is_ours(table: Path) -> bool:
    if not table.exists():
        return False
    with open(table, "rb") as file:
        return file.readline(200).startswith(MARK)


def write_csv(path: Path, table: pd.DataFrame, header: Sequence[str]) -> None:
    """Write `table` under lines of `header`, each behind a '#', whole or not at all.

    Six significant digits. Read it by `pandas.read_csv(path, comment="#")`.
    """
    lines = [f"# {' '.join(line.split())}" for line in header]
    body = table.to_csv(index=False, float_format="%.6g", lineterminator="\n")
    with replacing(path) as file:
        file.write("\n".join([*lines, body]).encode())
