"""Tables of pandas as a page shows them."""

import pandas as pd
import pytest
from IPython.core.interactiveshell import InteractiveShell

from gapfm_teach import plots
from gapfm_teach._support.typeset import typeset


@pytest.mark.parametrize(
    ("plain", "typeset_as"),
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
def test_minus_signs_and_powers_of_ten_are_set_and_all_else_is_left(plain, typeset_as):
    assert typeset(plain) == (typeset_as or plain)


def test_a_notebook_in_our_style_shows_tables_so():
    shell = InteractiveShell.instance()
    try:
        plots.use_style()
        table = pd.DataFrame({"x": [-0.5, 1.25]})
        shown, _ = shell.display_formatter.format(table)
    finally:
        InteractiveShell.clear_instance()
    assert "<td>−0.50</td>" in shown["text/html"]
    assert "<style" not in shown["text/html"]
    assert "-0.50" in shown["text/plain"]  # which programs may read
