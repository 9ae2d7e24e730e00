"""Print the lowest version of each package that pyproject.toml allows, as constraints for pip."""

import itertools
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parent.parent / "pyproject.toml"


def lowest(project: Path = PROJECT) -> list[str]:
    """One "name==version" for each requirement, of the extras too, in their order.

    Raises ValueError for a requirement that is not of the form "name>=version".
    """
    table = tomllib.loads(project.read_text(encoding="utf-8"))["project"]
    extras = table["optional-dependencies"].values()
    asked = itertools.chain(table["dependencies"], *extras)
    own = f"{table['name']}["  # an extra that takes in others
    floors = [requirement for requirement in asked if not requirement.startswith(own)]
    for requirement in floors:
        if ">=" not in requirement or "," in requirement:
            raise ValueError(
                f"{requirement!r} has no lowest version; write it as name>=version"
            )
    return [requirement.replace(">=", "==", 1) for requirement in floors]


if __name__ == "__main__":
    print("\n".join(lowest()))
