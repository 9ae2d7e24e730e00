"""Which files in a folder of results `reproduce` wrote: only those may it replace."""

from collections.abc import Iterable
from pathlib import Path

# How the first line of a table or of choices begins. A picture is its table's: it has none.
MARKS = (b"# python -m gapfm_teach reproduce", b"# What tuning chose")


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
        return file.readline(200).startswith(MARKS)
