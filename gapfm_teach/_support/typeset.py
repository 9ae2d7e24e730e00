"""Numbers in tables as they are set in a text: true minus signs, and powers of ten."""

import re

STYLE = re.compile(r"<style scoped>.*?</style>\n", re.DOTALL)
MINUS = re.compile(r"(?<=[>\s\[(])-(?=[\d.])")
POWER = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)e([+-]?)0*(\d+)(?!\w)")
RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "+")


def typeset(table: str) -> str:
    """`table`, as pandas makes it in HTML, with −0.5 for -0.5 and 2 × 10⁻⁵ for 2e-05.

    And without the style sheet that stands in each table anew: whoever shows them has his own.
    """
    return POWER.sub(_power, MINUS.sub("−", STYLE.sub("", table)))


def _power(found: re.Match) -> str:
    times = "" if found[1] == "1" else f"{found[1]} × "
    return f"{times}10{(found[2] + found[3]).translate(RAISED)}"
