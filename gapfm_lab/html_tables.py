"""HTML tables for readers: true minus signs, and powers of ten."""

import re

STYLE = re.compile(r"<style scoped>.*?</style>\n", re.DOTALL)
MINUS = re.compile(r"(?<=[>\s\[(])-(?=[\d.])")
POWER = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)e([+-]?)0*(\d+)(?!\w)")
SUPERSCRIPT = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "+")


def format_html(table: str) -> str:
    """`table`, the HTML of a pandas table, with −0.5 for -0.5 and 2 × 10⁻⁵ for 2e-05.

    The style sheet that pandas repeats in each table is left out, because pages have their own.
    """
    return POWER.sub(_power, MINUS.sub("−", STYLE.sub("", table)))


def _power(found: re.Match) -> str:
    factor = "" if found[1] == "1" else f"{found[1]} × "
    return f"{factor}10{(found[2] + found[3]).translate(SUPERSCRIPT)}"
