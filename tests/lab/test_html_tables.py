"""HTML tables: which signs and powers are formatted, and what is left as it is."""

import pytest

from gapfm_lab.html_tables import format_html


@pytest.mark.parametrize(
    ("plain", "expected"),
    [
        ("<td>-0.5</td>", "<td>−0.5</td>"),
        ("<td>[-0.03, -.1]</td>", "<td>[−0.03, −.1]</td>"),
        ("<td>-0.042 (-3)</td>", "<td>−0.042 (−3)</td>"),
        ("<td>1e-05</td>", "<td>10⁻⁵</td>"),
        ("<td>-2.5e+06</td>", "<td>−2.5 × 10⁶</td>"),
        ("<td>4.8e-10</td>", "<td>4.8 × 10⁻¹⁰</td>"),
        ('<th class="level-0">top-N, 5-8, Se7en, 1e</th>', None),
        ('<td style="margin: 2em 1e3px">2013-11-05</td>', None),
    ],
)
def test_only_minus_signs_and_powers_of_ten_are_formatted(plain, expected):
    assert format_html(plain) == (expected or plain)
