"""Text changes that leave code and mathematics alone."""

import re
from collections.abc import Callable

FENCE = r"^(?P<fence>`{3,})[^\n]*\n.*?^(?P=fence)[ \t]*$"
SPAN = r"(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`)"
DISPLAY = r"\$\$.+?\$\$"
# As pandoc reads it: no space inside the dollars, and no digit behind the second.
INLINE = r"(?<![\\$])\$(?![\s$])(?:[^$\\]|\\.)*?(?<!\s)\$(?!\d)"
VERBATIM = re.compile("|".join([FENCE, SPAN, DISPLAY, INLINE]), re.M | re.S)
MARK = "\ue000{}\ue001"  # of Unicode's private use: in no text
MARKED = re.compile("\ue000(\\d+)\ue001")


def masked(change: Callable[[str], str], text: str) -> str:
    """`change(text)`, where code and mathematics are out of its sight, and come back after."""
    hidden: list[str] = []

    def hide(found: re.Match) -> str:
        hidden.append(found[0])
        return MARK.format(len(hidden) - 1)

    changed = change(VERBATIM.sub(hide, text))
    return MARKED.sub(lambda found: hidden[int(found[1])], changed)
