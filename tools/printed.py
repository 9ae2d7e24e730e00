"""Printed numbers, compared with a tolerance of one unit in the last place.

The order in which a processor adds changes the last bits of a sum. Training amplifies the change, and
a number close to a rounding boundary is then printed as .093 on one machine and as .092 on another.
"""

import re
from typing import NamedTuple

# Pictures and explorables: only what comes before one of these is compared.
DRAWN = ('<div class="gapfm-explorable', "<Figure size ", "<svg ")
POWER = re.compile(r"(?:(?<=\d) × |(?<![\w.]))10(?=[⁺⁻]?[⁰¹²³⁴-⁹])")
RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻−", "0123456789+--")
NUMBER = re.compile(
    r"""(?<![\w.])(?P<sign>(?:(?<![\w)\]])[-+])?)
    (?P<digits>(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.(?:\d+|(?=[^][]*\])))?|\.\d+)
    (?P<power>(?:e[-+]?\d+)?)(?P<percent>(?:\s?%)?)""",
    re.VERBOSE | re.IGNORECASE,
)


class Number(NamedTuple):
    """A number as printed; `unit` is one in its last digit."""

    value: float
    unit: float
    exact: bool  # an integer, without a decimal point, percent sign or exponent


def plain(text: str) -> str:
    """`text` with -2e-5 for −2 × 10⁻⁵."""
    text = POWER.sub(lambda found: "e" if found[0].startswith(" ") else "1e", text)
    return text.translate(RAISED)


def parse(found: re.Match) -> Number:
    digits = found["digits"].replace(",", "")
    power = int(found["power"][1:] or 0)
    unit = 10.0 ** (power - len(digits.partition(".")[2]))
    exact = "." not in digits and not found["power"] and not found["percent"]
    return Number(float(f"{found['sign']}{digits}e{power}"), unit, exact)


def split(text: str) -> tuple[list[str], list[Number]]:
    """The words around and between the numbers of `text`, one more than there are; the numbers."""
    text = plain(text)
    words, numbers, end = [], [], 0
    for found in NUMBER.finditer(text):
        words.append(text[end : found.start()])
        numbers.append(parse(found))
        end = found.end()
    words.append(text[end:])
    return [_laid_out(word) for word in words], numbers


def _laid_out(word: str) -> str:
    """Without what only lays out a table: wider columns, longer rules."""
    return " ".join(re.sub(r"-{2,}|─+", "─", word).split())


def close(stored: Number, new: Number) -> bool:
    """Whether the two may be one number, printed by two processors.

    The finer unit counts: `.2g` prints 0.895 as 0.9 or 0.89, and 9.96 as 10 or 9.9.
    """
    if stored.exact and new.exact:
        return stored.value == new.value
    return abs(stored.value - new.value) <= min(stored.unit, new.unit) * (1 + 1e-6)


def agree(stored: str, new: str) -> bool:
    """Whether two outputs have the same words, and numbers that are `close`."""
    for sign in DRAWN:
        if sign in stored and sign in new:
            stored, new = stored.partition(sign)[0], new.partition(sign)[0]
    (words, numbers), (new_words, new_numbers) = split(stored), split(new)
    return words == new_words and all(map(close, numbers, new_numbers))
