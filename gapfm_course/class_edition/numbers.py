"""What has a number, counted through a notebook as Quarto counts: 3.2, Equation 3.4, Figure 3.1."""

import re
from collections import Counter

KIND = {"eq": "Equation", "fig": "Figure", "tbl": "Table"}

HEADING = re.compile(r"^(?P<marks>#{1,3}) (?P<title>.+?)(?: \{(?P<given>[^}]*)\})?$", re.M)
EQUATION = re.compile(
    r"^\$\$(?P<tex>(?:(?!\$\$).)+)\$\$ \{#(?P<label>eq-[\w-]+)\}", re.M | re.S
)
CAPTION = re.compile(r"^: (?P<words>.+?) \{#(?P<label>tbl-[\w-]+)\}$", re.M)


class Numbers:
    """Counts one notebook's sections, equations, figures and tables; remembers its labels.

    chapter : the notebook's number, "" for one whose sections have none
    labels : {label: number} of what was counted so far
    """

    def __init__(self, chapter: str):
        self.chapter = chapter
        self.labels: dict[str, str] = {}
        self._sections = [0, 0]
        self._counted: Counter[str] = Counter()

    def section(self, level: int, label: str) -> str:
        """The number of the next heading of `level` 1 to 3, "" where sections have none."""
        if level > 1:
            self._sections[level - 2] += 1
            self._sections[level - 1 :] = [0] * (3 - level)
        if not self.chapter:
            return ""
        number = ".".join([self.chapter, *map(str, self._sections[: level - 1])])
        return self._remembered(label, number)

    def next(self, label: str) -> str:
        """The number of the next equation, figure or table."""
        kind = label.partition("-")[0]
        self._counted[kind] += 1
        before = f"{self.chapter}." if self.chapter else ""
        return self._remembered(label, f"{before}{self._counted[kind]}")

    def _remembered(self, label: str, number: str) -> str:
        if label in self.labels:
            raise ValueError(f"label {label!r} is used twice")
        if label:
            self.labels[label] = number
        return number


def captioned(label: str, number: str) -> str:
    """The name in front of a caption."""
    return f"**{KIND[label.partition('-')[0]]} {number}**"


def anchor(label: str) -> str:
    """A place to link to, of no height. Editors show one inside a heading as it is written."""
    return f'<div id="{label}"></div>'
