"""The works cited, read from BibTeX: as they are named in the text, and in full."""

import re
import unicodedata
from dataclasses import dataclass, field
from pathlib import Path

ENTRY = re.compile(r"^@\w+\{(?P<key>[\w-]+),\n(?P<fields>.*?)^\}", re.M | re.S)
FIELD = re.compile(r"^\s*(?P<name>\w+) = \{(?P<value>.*)\},?$", re.M)
ACCENT = re.compile(r"\\(?P<accent>['`\"^~])(?P<letter>[A-Za-z])")
ACCENTS = {"'": "\u0301", "`": "\u0300", '"': "\u0308", "^": "\u0302", "~": "\u0303"}
OTHERS = "others"


@dataclass(frozen=True)
class Work:
    """A work cited: its authors as (family name, given names), and what else BibTeX says of it."""

    key: str
    authors: tuple[tuple[str, str], ...]
    fields: dict[str, str] = field(hash=False)

    @property
    def year(self) -> str:
        return self.fields["year"]

    @property
    def name(self) -> str:
        """Whom the text names: one author, two, or the first of more."""
        first, *more = [family for family, _ in self.authors]
        if not more:
            return first
        two = len(more) == 1 and more[0] != OTHERS
        return f"{first} and {more[0]}" if two else f"{first} et al."

    @property
    def entry(self) -> str:
        """The work in full, in Markdown."""
        given = self.fields
        where = given.get("journal") or given.get("booktitle") or given.get("publisher", "")
        if "volume" in given:
            where += f" {given['volume']}"
        if "number" in given:
            where += f" ({given['number']})"
        if "pages" in given:
            where += f", {given['pages']}"
        note = [f"{given['note']}."] if "note" in given else []
        doi = given.get("doi")
        link = [f"[doi:{doi}](https://doi.org/{doi})."] if doi else []
        facts = [f"{self._full_names()}. {self.year}.", f"*{given['title']}*.", f"{where}."]
        return " ".join([*facts, *note, *link])

    def _full_names(self) -> str:
        (family, given), *more = self.authors
        names = [f"{family}, {given}", *(f"{g} {f}" for f, g in more if f != OTHERS)]
        if more and more[-1][0] == OTHERS:
            return ", ".join([*names, "et al"])
        return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def read_bibliography(path: Path) -> dict[str, Work]:
    """{key: Work} of a file in BibTeX with one field a line, each in braces."""
    works = {}
    for found in ENTRY.finditer(path.read_text(encoding="utf-8")):
        fields = {name: _plain(value) for name, value in FIELD.findall(found["fields"])}
        authors = tuple(map(_author, fields["author"].split(" and ")))
        works[found["key"]] = Work(found["key"], authors, fields)
    return works


def _author(name: str) -> tuple[str, str]:
    family, _, given = name.partition(", ")
    return family, given


def _plain(value: str) -> str:
    """A field's text without TeX."""
    text = ACCENT.sub(lambda m: m["letter"] + ACCENTS[m["accent"]], value)
    text = unicodedata.normalize("NFC", re.sub("[{}]", "", text)).replace("--", "–")
    if "\\" in text:
        raise ValueError(
            f"a command of TeX that is not known in the bibliography: {value!r}"
        )
    return text
