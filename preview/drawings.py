"""The figures of a page as a part of it, so that its style gives them their colours.

What is stored in a file stands alone, on white and in the colours of the day; in a page a drawing has
no ground of its own, and `shared.css` says what its colours are by day and by night.
"""

import html
import re
from collections.abc import Callable

from gapfm_teach._support.svg import GROUND

IMAGE = re.compile(r"<img\b[^>]*>")
SOURCE = re.compile(r'\bsrc="(?!data:|https?:)([^"]+\.svg)"')
ALT = re.compile(r'\balt="([^"]*)"')
SIZE = re.compile(r'viewBox="0 0 ([\d.]+) .*? font-size="([\d.]+)"', re.S)
NAMED = re.compile(r'(\bid="|url\(#)')
LEAST = (
    9.1  # pixels of a drawing's letters: where a screen has no room for that, it scrolls
)


def drawn(page: str, read: Callable[[str], bytes]) -> str:
    """`page` with each drawing that an <img> names in its place; other pictures load when they are
    near. `read(name)` gives the file. Again it does nothing.
    """
    counted = 0

    def shown(found: re.Match) -> str:
        nonlocal counted
        source = SOURCE.search(found[0])
        if not source:
            lazy = "" if "loading=" in found[0] else ' loading="lazy"'
            return f"<img{lazy}{found[0].removeprefix('<img')}"
        counted += 1
        alt = ALT.search(found[0])
        svg = read(html.unescape(source[1])).decode()
        return _part_of_page(svg, alt[1] if alt else "", f"drawing-{counted}-")

    return IMAGE.sub(shown, page)


def _part_of_page(svg: str, alt: str, prefix: str) -> str:
    """A drawing with words for who cannot see it and names that no other drawing of the page has."""
    svg = svg[svg.index("<svg") :].replace(GROUND, "").replace("\n", "")
    width, letters = map(float, SIZE.search(svg).groups())  # type: ignore[union-attr]
    least = round(LEAST * width / letters)
    opening = (
        f'<svg class="drawing" role="img" aria-label="{alt}" style="min-width:{least}px"'
    )
    named = NAMED.sub(rf"\g<1>{prefix}", svg.removeprefix("<svg"))
    return f'<span class="drawing-box">{opening}{named}</span>'
