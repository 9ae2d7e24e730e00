"""Formulas as TeX sets them, which a browser does not make of everything that pandocs write.

No pandoc puts the thin space beside `log x`; those before 3.8 write names as signs like `+`, take
`\\Delta` for a variable, and make no difference between `(x)` and `\\left(x\\right)`, nor of `\\big(`.
"""

import re
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

SCRIPT = re.compile(r"(<script\b.*?</script>)", re.S)
FORMULA = re.compile(r"<math\b.*?</math>", re.S)
NAME = re.compile("[A-Za-z]{2,}")
NAMED = re.compile(f"<m[io][^>]*>{NAME.pattern}</m[io]>")
APPLIED = "\u2061"
BIG = re.compile(r'minsize="([\d.]+)" maxsize="[\d.]+" stretchy="false"')
FENCE = re.compile(r'<mo stretchy="true" (?=form="(?:pre|post)fix")')
# Brackets around nothing that is tall: told to stretch, they stand apart from what they hold.
LOW = re.compile(
    r'<mo stretchy="true" (form="prefix">[^<]*</mo>(?:(?!stretchy="true"|<mfrac|<msqrt|<mtable'
    r'|<m\w*(?:sup|over|under)\b).)*)<mo stretchy="true" (?=form="postfix")',
    re.S,
)
GREEK = re.compile(r"<mi>(?=[\u0391-\u03a9]</mi>)")
SCRIPTS = ("msub", "msup", "msubsup", "munder", "mover", "munderover")
ORDINARY = ("mi", "mn", "mfrac", "msqrt", "mtext")
# Whose children stand side by side, any number of them.
ROWS = ("mrow", "mtd", "msqrt", "math")
WHOLE = '<span class="whole">'
THIN = "0.167em"
# A formula in a line with what stands right before and behind it, where a browser would break.
WORD = re.compile(
    r'(?P<before>[^\s<>&;]{0,9})(?P<math><math(?! display="block")[^>]*>(?:(?!</math>).)*</math>)'
    r"(?P<behind>[^\s<>&]{0,9})",
    re.S,
)


def well_set(page: str) -> str:
    """`page` with its formulas as TeX sets them; again does nothing."""
    parts = SCRIPT.split(page)
    for at, part in enumerate(parts[::2]):
        parts[2 * at] = WORD.sub(_together, FORMULA.sub(_formula, part))
    return "".join(parts)


def _together(found: re.Match) -> str:
    alone = not (found["before"] or found["behind"])
    if alone or found.string.endswith(WHOLE, 0, found.start()):
        return found[0]
    return f"{WHOLE}{found[0]}</span>"


def _formula(found: re.Match) -> str:
    math = BIG.sub(_big, found[0])
    math = GREEK.sub('<mi mathvariant="normal">', math)
    if "<annotation" in math and r"\left" not in math:
        math = FENCE.sub('<mo stretchy="false" ', math)
    while LOW.search(math):
        math = LOW.sub(r'<mo stretchy="false" \1<mo stretchy="false" ', math)
    return _spaced(math) if NAMED.search(math) else math


def _big(found: re.Match) -> str:
    size = f"{float(found[1]):.0%}"
    return f'minsize="{size}" maxsize="{size}" stretchy="true"'


def _spaced(math: str) -> str:
    """`math` with a thin space between the name of a function and a letter or number beside it."""
    opening = math[: math.index(">") + 1]
    root = ElementTree.fromstring(math.replace(opening, "<math>", 1))
    around = {child: parent for parent in root.iter() for child in parent}
    for name in [element for element in root.iter() if _is_name(element)]:
        if name.tag == "mo":
            name.tag = "mi"
            name.set("mathvariant", "normal")
        whole = name
        while _is_no_more_than(whole, around[whole]):
            whole = around[whole]
        row = around[whole]
        if row.tag not in ROWS:
            continue
        at = list(row).index(whole)
        if at + 1 < len(row) and _end(row[at + 1], 0).tag in ORDINARY:
            row.insert(at + 1, Element("mspace", width=THIN))
        before = _end(row[at - 1], -1) if at else row
        if before.tag in ORDINARY or before.get("form") == "postfix":
            row.insert(at, Element("mspace", width=THIN))
    text = ElementTree.tostring(root, encoding="unicode", short_empty_elements=False)
    return text.replace("<math>", opening, 1)


def _is_name(element: Element) -> bool:
    return element.tag in ("mi", "mo") and bool(NAME.fullmatch(element.text or ""))


def _is_no_more_than(name: Element, parent: Element) -> bool:
    """Is `parent` the name itself, with its scripts or the sign that it is applied to something?"""
    if parent.tag == "mrow":
        return [child.text for child in parent if child is not name] in ([], [APPLIED])
    return parent.tag in SCRIPTS and parent[0] is name


def _end(element: Element, side: int) -> Element:
    """What stands at the left (0) or right (-1) of an expression, scripts left aside."""
    while element.tag in ("mrow", *SCRIPTS) and len(element):
        element = element[0 if element.tag in SCRIPTS else side]
    return element
