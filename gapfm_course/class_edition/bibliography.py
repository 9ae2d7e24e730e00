"""The works cited, read from BibTeX: as they are named in the text, and in full."""

import re
import unicodedata
from collections import defaultdict
from dataclasses import dataclass, field, replace
from pathlib import Path
from string import ascii_lowercase

ENTRY = re.compile(r"^@\w+\{(?P<key>[\w-]+),\n(?P<fields>.*?)^\}", re.M | re.S)
FIELD = re.compile(r"^\s*(?P<name>\w+) = \{(?P<value>.*)\},?$", re.M)
ACCENT = re.compile(r"\\(?P<accent>['`\"^~])(?P<letter>[A-Za-z])")
ACCENTS = {"'": "\u0301", "`": "\u0300", '"': "\u0308", "^": "\u0302", "~": "\u0303"}
OTHERS = "others"


@dataclass(frozen=True)
class Work:
    """A work cited: its authors as (family name, given names), and what else BibTeX says of it.

    year : with a letter where the same people have published more in it
    """

    key: str
    authors: tuple[tuple[str, str], ...]
    fields: dict[str, str] = field(hash=False)
    year: str = ""

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
        doi = given.get("doi")
        facts = [
            self._full_names(),
            self.year,
            f"*{given['title']}*",
            where,
            given.get("note", ""),
            f"[doi:{doi}](https://doi.org/{doi})" if doi else "",
        ]
        return " ".join(
            fact if fact.endswith(".") else f"{fact}." for fact in facts if fact
        )

    def _full_names(self) -> str:
        (family, given), *more = self.authors
        names = [f"{family}, {given}", *(f"{g} {f}" for f, g in more if f != OTHERS)]
        if more and more[-1][0] == OTHERS:
            return ", ".join([*names, "et al"])
        return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def read_bibliography(path: Path) -> dict[str, Work]:
    """{key: Work} of a file in BibTeX with one field a line, each in braces."""
    alike = defaultdict(list)  # in the text
    for found in ENTRY.finditer(path.read_text(encoding="utf-8")):
        fields = {name: _plain(value) for name, value in FIELD.findall(found["fields"])}
        authors = tuple(map(_author, fields["author"].split(" and ")))
        work = Work(found["key"], authors, fields)
        alike[work.name, fields["year"]].append(work)
    works = {}
    for (_, year), group in alike.items():
        for letter, work in zip(ascii_lowercase, group, strict=False):
            works[work.key] = replace(work, year=year + letter * (len(group) > 1))
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
