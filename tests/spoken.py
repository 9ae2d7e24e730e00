"""Numbers in what an explorable says."""

import re

RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
# A number in words, for a regular expression; `number` reads it.
NUMBER = r"([+-]?10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+|[+-]?\d*\.?\d+(?: · 10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?)"


def number(text: str) -> float:
    """A number as `written` of kit.js writes it.

    >>> [number(text) for text in ("0.5", "−3.6 · 10⁻⁵", "10⁴", "none")]
    [0.5, -3.6e-05, 10000.0, nan]
    """
    if text == "none":
        return float("nan")
    plain = text.replace("−", "-")
    power = re.fullmatch(r"([+-]?)(?:([\d.]+) · )?10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)", plain)
    if power is None:
        return float(plain)
    return float(f"{power[1]}{power[2] or 1}e{power[3].translate(RAISED)}")


def numbers(words: str) -> list[float]:
    """All numbers of `words` in their order.

    >>> numbers("12 nodes leave 3.9 · 10⁻⁶ of 10⁴")
    [12.0, 3.9e-06, 10000.0]
    """
    return [number(found) for found in re.findall(NUMBER, words)]
