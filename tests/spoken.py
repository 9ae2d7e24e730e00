"""Numbers in what an explorable says."""

import re

POWER = r"(?:(-?\d+(?:\.\d+)?) · )?10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)"
NUMBER = re.compile(POWER + r"|(-?\d+(?:\.\d+)?)")
PLAIN = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def numbers(words: str) -> list[float]:
    """All numbers of `words` in their order: "3.9 · 10⁻⁶" is one.

    >>> numbers("12 nodes leave 3.9 · 10⁻⁶ of 10⁴")
    [12.0, 3.9e-06, 10000.0]
    """
    return [
        float(plain) if plain else float(f"{factor or 1}e{power.translate(PLAIN)}")
        for factor, power, plain in NUMBER.findall(words)
    ]
