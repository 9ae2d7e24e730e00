"""Boxes in which what is wider than a screen scrolls alone, for the pages of Quarto.

They are those that `filter.lua` makes: a displayed equation stands in `.equation-body`, one with a
number in `.equation`, and the number at its right. Quarto leaves the bare formula, its number at
the end.
"""

import re

SCRIPT = re.compile(r"(<script\b.*?</script>)", re.S)
NUMBERED = re.compile(
    r'<span id="(?P<id>eq-[\w-]+)">\s*(?P<math><math display="block".*?</math>)\s*</span>',
    re.S,
)
# What Quarto appends is `\qquad(2.6)`: in the formula, and in the TeX that it keeps for copying.
END = re.compile(
    r'<mspace width="2(?:\.0)?em"\s*(?:/>|></mspace>)\s*(?:<mrow>)?\s*<mo[^>]*>\(</mo>'
    r"(?:\s*<m[ino][^>]*>[^<()]*</m[ino]>)+\s*<mo[^>]*>\)</mo>\s*(?:</mrow>)?(?=\s*</mrow>\s*<annotation)"
)
TEX_END = re.compile(r"\s*\\qquad\((?P<number>[^()]*)\)(?=</annotation>)")
DISPLAYED = re.compile(r'(?<!"equation-body">)<math display="block".*?</math>', re.S)
INLINE = re.compile(r'(?<!"long-formula">)<math(?! display="block")[^>]*>.*?</math>', re.S)
TABLE = re.compile(
    r'(?<!"table-scroll">)<table (?=[^>]*"caption-top)[^>]*>.*?</table>', re.S
)
LONG = 20  # signs in a line of text, which fit on the narrowest phone


def boxed(page: str) -> str:
    """`page` with a box around each wide thing that has none; again does nothing."""
    parts = SCRIPT.split(page)
    parts[::2] = [_boxed(part) for part in parts[::2]]
    return "".join(parts)


def _boxed(part: str) -> str:
    part = NUMBERED.sub(_equation, part)
    part = DISPLAYED.sub(r'<span class="equation-body">\g<0></span>', part)
    part = INLINE.sub(_long, part)
    return TABLE.sub(r'<div class="table-scroll">\g<0></div>', part)


def _equation(found: re.Match) -> str:
    math, tex = found["math"], TEX_END.search(found["math"])
    number = ""
    if tex and END.search(math):
        number = f'<span class="equation-number">({tex["number"]})</span>'
        math = TEX_END.sub("", END.sub("", math))
    body = f'<span class="equation-body">{math}</span>'
    return f'<span id="{found["id"]}" class="equation">{body}{number}</span>'


def _long(found: re.Match) -> str:
    math = found[0]
    shown = re.sub(r"<annotation.*?</annotation>|<[^>]*>|\s", "", math, flags=re.S)
    return f'<span class="long-formula">{math}</span>' if len(shown) > LONG else math
