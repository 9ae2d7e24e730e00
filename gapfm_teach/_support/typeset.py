"""Numbers in tables as they are set in a text: true minus signs, and powers of ten."""

import re

MINUS = re.compile(r"(?<=[>\s\[(])-(?=[\d.])")
POWER = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)e([+-]?)0*(\d+)(?!\w)")
RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "+")


def typeset(table: str) -> str:
    """`table`, in HTML, with the numbers in its cells set: −0.5 for -0.5, 2 × 10⁻⁵ for 2e-05."""
    return POWER.sub(_power, MINUS.sub("−", table))


def _power(found: re.Match) -> str:
    times = "" if found[1] == "1" else f"{found[1]} × "
    return f"{times}10{(found[2] + found[3]).translate(RAISED)}"
