"""Print the lowest version of each package that pyproject.toml allows, as constraints for pip."""

import itertools
import re
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parent.parent / "pyproject.toml"
FLOOR = re.compile(r"(?P<name>[\w.-]+)>=(?P<version>[\w.]+)(?P<marker>\s*;.*)?")


def lowest(project: Path = PROJECT) -> list[str]:
    """One "name==version" for each requirement, of the extras too, in their order.

    Raises ValueError for a requirement that is not of the form "name>=version".
    """
    table = tomllib.loads(project.read_text(encoding="utf-8"))["project"]
    extras = table["optional-dependencies"].values()
    asked = itertools.chain(table["dependencies"], *extras)
    own = re.compile(rf"{table['name']}\[[\w,]+\]")  # an extra that takes in others
    return [_floor(requirement) for requirement in asked if not own.fullmatch(requirement)]


def _floor(requirement: str) -> str:
    parts = FLOOR.fullmatch(requirement)
    if parts is None:
        raise ValueError(
            f"the requirement {requirement!r} has no lowest version; write it as name>=version"
        )
    return f"{parts['name']}=={parts['version']}{parts['marker'] or ''}"


if __name__ == "__main__":
    print("\n".join(lowest()))
