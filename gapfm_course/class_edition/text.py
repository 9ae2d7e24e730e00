"""The Markdown of a chapter as a notebook shows it: first its numbers, then what refers to them."""

import re
from collections.abc import Mapping

from .bibliography import Work
from .boxes import styled
from .masks import masked
from .numbers import CAPTION, EQUATION, HEADING, KIND, Numbers, anchor, captioned

COMMENT = re.compile("<!--.*?-->", re.S)
EMPTY_LINES = re.compile(r"\n{3,}")
PAGE = re.compile(r"\[(?P<words>[^\]]+)\]\((?P<target>[^):#]+\.(?:qmd|ipynb))\)")
KEY = r"[a-z]\w*(?:-\w+)*"
GROUP = re.compile(rf"\[(?P<keys>@{KEY}(?:; @{KEY})*)\]")
BARE = re.compile(rf"\[-@(?P<key>{KEY})\]")
SINGLE = re.compile(rf"(?<![\w\\@.])@(?P<key>{KEY})")
# What a notebook never shows, should one of the forms above be written in another way.
IN_BRACKETS = re.compile(rf"\[[^\]\[]*(?<![\w\\])@{KEY}[^\]\[]*\]")
LEFT_OVER = re.compile(r"\{[#.][^}]*\}?|(?<![\w\\])@[a-z]\S*|^:::.*", re.M)


def numbered(text: str, numbers: Numbers) -> str:
    """`text` with its headings, equations and captions counted on in `numbers`."""

    def heading(found: re.Match) -> str:
        given = (found["given"] or "").split()
        label = next((name[1:] for name in given if name.startswith("#")), "")
        number = numbers.section(len(found["marks"]), label)
        title = f"{found['marks']} {number} {found['title']}".replace("  ", " ")
        return f"{anchor(label)}\n\n{title}" if label else title

    def equation(found: re.Match) -> str:
        number = numbers.next(found["label"])
        return (
            f"{anchor(found['label'])}\n\n$${found['tex'].rstrip()} \\tag{{{number}}}\n$$"
        )

    def caption(found: re.Match) -> str:
        name = captioned(found["label"], numbers.next(found["label"]))
        return f"{anchor(found['label'])}\n\n{name} {found['words']}"

    text = COMMENT.sub("", text)
    text = EQUATION.sub(equation, text)
    text = masked(
        lambda seen: styled(CAPTION.sub(caption, HEADING.sub(heading, seen))), text
    )
    return EMPTY_LINES.sub("\n\n", text).strip("\n")


class References:
    """Puts words and links where `text` refers to labels, works and pages.

    labels : {label: (file, number)} of the whole book
    works : {key: Work}
    pages : the files that the edition has
    cited : the works that were referred to
    """

    def __init__(
        self,
        labels: Mapping[str, tuple[str, str]],
        works: Mapping[str, Work],
        pages: set[str],
    ):
        self._labels, self._works, self._pages = labels, works, pages
        self.cited: set[Work] = set()

    def resolve(self, text: str, file: str) -> str:
        """`text`, of the notebook `file`; ValueError for what leads nowhere."""

        def single(found: re.Match) -> str:
            key = found["key"]
            if key in self._works:
                return self._cite(key, "{} ({})")
            return self._refer(key, file, bare=False)

        def group(found: re.Match) -> str:
            keys = [key.strip("@ ") for key in found["keys"].split(";")]
            if not all(key in self._works for key in keys):
                return ", ".join(self._refer(key, file, bare=False) for key in keys)
            return f"({'; '.join(self._cite(key, '{} {}') for key in keys)})"

        def replace(seen: str) -> str:
            seen = PAGE.sub(self._page, seen)
            seen = GROUP.sub(group, seen)
            seen = BARE.sub(lambda found: self._refer(found["key"], file, bare=True), seen)
            _refuse(IN_BRACKETS, seen)
            seen = SINGLE.sub(single, seen)
            _refuse(LEFT_OVER, seen)
            return seen

        return masked(replace, text)

    def _refer(self, label: str, file: str, *, bare: bool) -> str:
        if label not in self._labels:
            raise ValueError(
                f"@{label} points at nothing that has a number, and at no work"
            )
        home, number = self._labels[label]
        kind = KIND.get(label.partition("-")[0]) or (
            "Section" if "." in number else "Chapter"
        )
        words = number if bare else f"{kind} {number}"
        return f"[{words}]({'' if home == file else home}#{label})"

    def _cite(self, key: str, form: str) -> str:
        work = self._works[key]
        self.cited.add(work)
        return f"[{form.format(work.name, work.year)}](#ref-{key})"

    def _page(self, found: re.Match) -> str:
        """A link to a notebook; of a page that is none, the words alone."""
        name = found["target"].rpartition("/")[2].replace(".qmd", ".ipynb")
        return f"[{found['words']}]({name})" if name in self._pages else found["words"]


def _refuse(pattern: re.Pattern, text: str) -> None:
    if wrong := pattern.search(text):
        raise ValueError(f"{wrong[0]!r} is nothing that a notebook shows")
