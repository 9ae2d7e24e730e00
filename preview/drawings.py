"""The figures of a page as a part of it, so that its style gives them their colours.

What is stored in a file stands alone, on white and in the colours of the day; in a page a drawing has
no ground of its own, and `shared.css` says what its colours are by day and by night.
"""

import html
import itertools
import re
from collections.abc import Callable
from urllib.parse import unquote

from gapfm_course.notebook_output.svg import GROUND

IMAGE = re.compile(r"<img\b[^>]*>")
SOURCE = re.compile(r'\bsrc="(?!data:|https?:)([^"]+\.svg)"')
ALT = re.compile(r'\balt="([^"]*)"')
SIZE = re.compile(r'viewBox="0 0 ([\d.]+) ')
LETTERS = re.compile(r'<(?:svg|text)\b[^>]* font-size="([\d.]+)"')
LAZY = '<img loading="lazy"'
NAMED = re.compile(r'(\bid="|url\(#)')
LEAST = 9.1  # pixels of the smallest letters: where a screen has no room, it scrolls


def drawn(page: str, read: Callable[[str], bytes]) -> str:
    """`page` with each drawing that an <img> names in its place; other pictures load when they are
    near. `read(name)` gives the file. Again it does nothing.
    """
    counted = itertools.count(1)

    def shown(found: re.Match) -> str:
        source, alt = SOURCE.search(found[0]), ALT.search(found[0])
        svg = read(unquote(html.unescape(source[1]))).decode() if source else ""
        if alt and SIZE.search(svg) and LETTERS.search(svg):
            return _part_of_page(svg, alt[1], f"drawing-{next(counted)}-")
        return found[0] if "loading=" in found[0] else found[0].replace("<img", LAZY, 1)

    return IMAGE.sub(shown, page)


def _part_of_page(svg: str, alt: str, prefix: str) -> str:
    """A drawing with words for who cannot see it and names that no other drawing of the page has."""
    [width], letters = SIZE.findall(svg), min(map(float, LETTERS.findall(svg)))
    least = LEAST * float(width) / letters
    opening = f'<svg class="drawing" role="img" aria-label="{alt}" style="min-width:{least:.0f}px"'
    inside = svg[svg.index("<svg") + len("<svg") :].replace(GROUND, "").replace("\n", "")
    named = NAMED.sub(rf"\g<1>{prefix}", inside)
    return f'<span class="drawing-box">{opening}{named}</span>'
