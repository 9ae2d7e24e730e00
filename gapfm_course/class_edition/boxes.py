"""Boxes and folds with their looks written into them.

JupyterLab keeps `style` on an element, and throws away sheets of styles and scripts. Colours are
thin, and so fit a light theme and a dark one.
"""

import re

BLUE, GREEN, AMBER, VIOLET, GREY = (
    "70, 130, 220",
    "60, 160, 90",
    "220, 140, 20",
    "150, 100, 210",
    "128, 128, 128",
)
BOXES = {
    "callout-note": BLUE,
    "callout-tip": GREEN,
    "callout-warning": AMBER,
    "column-margin": AMBER,
    "objectives": GREY,
    "quiz": BLUE,
    "recap": GREEN,
}
FOLDS = {"hint": BLUE, "solution": GREEN, "deeper": VIOLET, "choice": GREY}

BOX = re.compile(r'<div class="(?P<kind>[\w-]+)">')
TITLE = re.compile(r"^#### (?P<title>.+)$", re.M)
FOLD = re.compile(
    r'<details class="(?P<kind>[\w-]+)">\n?<summary>(?P<summary>.+?)</summary>'
)
SOLUTION = re.compile(
    r'<details class="solution">\s?<summary>Solution.*?</details>\n*', re.S
)


def styled(text: str) -> str:
    """Markdown with its boxes and folds ready to be looked at. ValueError for an unknown one."""
    text = BOX.sub(_box, text)
    text = FOLD.sub(_fold, text)
    return TITLE.sub(r"**\g<title>**", text)


def without_solutions(text: str) -> str:
    return SOLUTION.sub("", text)


def fold(summary: str, inside: str) -> str:
    """A closed fold of what only some readers need."""
    return f"<details>\n<summary>{summary}</summary>\n\n{inside}\n\n</details>"


def _box(found: re.Match) -> str:
    colour = _colour(found["kind"], BOXES)
    return (
        f'<div style="border-left: 4px solid rgb({colour}); '
        f'background-color: rgba({colour}, 0.1); padding: 8px 16px 1px; margin: 16px 0;">'
    )


def _fold(found: re.Match) -> str:
    colour = _colour(found["kind"], FOLDS)
    return (
        f'<details style="border-left: 4px solid rgba({colour}, 0.5); padding: 2px 16px; '
        f'margin: 8px 0;">\n<summary style="cursor: pointer;"><b>{found["summary"]}</b></summary>'
    )


def _colour(kind: str, known: dict[str, str]) -> str:
    if kind not in known:
        raise ValueError(f"unknown box or fold {kind!r}; known: {', '.join(known)}")
    return known[kind]
