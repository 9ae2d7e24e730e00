"""Formulas as pandocs write them, and as a browser then sets them as TeX would."""

import pytest

from preview.formulas import well_set

THIN = '<mspace width="0.167em"></mspace>'
# TeX, as the pandocs before 3.8 write it, as the later ones do, and with its spaces, `_` for each.
LOG = '<mrow><mi mathvariant="normal">log</mi><mo>\u2061</mo></mrow>'
MAX = '<munder><mi mathvariant="normal">max</mi><mi>i</mi></munder>'
X, TWO = "<mi>x</mi>", "<mn>2</mn>"
CLOSE = '<mo stretchy="false" form="postfix">)</mo>'
OPEN = '<mo stretchy="false" form="prefix">(</mo>'
FORMULAS = {
    r"\log x": ("<mo>log</mo>" + X, LOG + X, f"{LOG}_{X}"),
    r"2\log x": (TWO + "<mo>log</mo>" + X, TWO + LOG + X, f"{TWO}_{LOG}_{X}"),
    r"-\log(x)": (
        f"<mo>−</mo><mo>log</mo>{OPEN}{X}{CLOSE}",
        f"<mo>−</mo>{LOG}{OPEN}{X}{CLOSE}",
        f"<mo>−</mo>{LOG}{OPEN}{X}{CLOSE}",
    ),
    r"(x)\log\log x": (
        f"{OPEN}{X}{CLOSE}<mo>log</mo><mo>log</mo>{X}",
        f"{OPEN}{X}{CLOSE}{LOG}{LOG}{X}",
        f"{OPEN}{X}{CLOSE}_{LOG}_{LOG}_{X}",
    ),
    r"x\log_2 x": (
        f"{X}<msub><mo>log</mo>{TWO}</msub>{X}",
        f"{X}<msub>{LOG}{TWO}</msub>{X}",
        f"{X}_<msub>{LOG}{TWO}</msub>_{X}",
    ),
    r"\max_i\Delta_i": (
        "<munder><mo>max</mo><mi>i</mi></munder><msub><mi>Δ</mi><mi>i</mi></msub>",
        MAX + '<msub><mi mathvariant="normal">Δ</mi><mi>i</mi></msub>',
        MAX + '_<msub><mi mathvariant="normal">Δ</mi><mi>i</mi></msub>',
    ),
    # A name as an index: what has just two children has no room for a space.
    r"x_{\max}": (
        f"<msub>{X}<mo>max</mo></msub>",
        f'<msub>{X}<mi mathvariant="normal">max</mi></msub>',
        f'<msub>{X}<mi mathvariant="normal">max</mi></msub>',
    ),
    r"\frac{\min}{x}": (
        f"<mfrac><mo>min</mo>{X}</mfrac>",
        f'<mfrac><mi mathvariant="normal">min</mi>{X}</mfrac>',
        f'<mfrac><mi mathvariant="normal">min</mi>{X}</mfrac>',
    ),
}


def written(inside, tex):
    math = '<math display="inline" xmlns="http://www.w3.org/1998/Math/MathML"><semantics><mrow>'
    note = f'</mrow><annotation encoding="application/x-tex">{tex}</annotation></semantics></math>'
    return f"<p>So {math}{inside}{note} it is</p>"


@pytest.mark.parametrize("tex", FORMULAS)
def test_a_name_stands_apart_from_what_it_is_applied_to(tex):
    old, new, spaced = FORMULAS[tex]
    wanted = written(spaced.replace("_", THIN), tex)
    assert well_set(written(new, tex)) == well_set(wanted) == wanted
    # An older pandoc writes no sign that it is applied.
    plain = wanted.replace(LOG, '<mi mathvariant="normal">log</mi>')
    assert well_set(written(old, tex)) == plain


def test_brackets_are_as_large_as_asked_for():
    half = "<mfrac><mn>1</mn><mn>2</mn></mfrac>"
    tall_open, tall_close = (s.replace("false", "true") for s in (OPEN, CLOSE))
    tall, low = tall_open + half + tall_close, OPEN + half + CLOSE
    assert well_set(written(tall, r"(\tfrac12)")) == written(low, r"(\tfrac12)")
    left = r"\left(\frac12\right)"
    assert well_set(written(tall, left)) == written(tall, left)
    within = f"{tall_open}{X}{tall_open}{X}{tall_close}{tall_close}"
    plain = within.replace("true", "false")
    assert well_set(written(within + tall, left)) == written(plain + tall, left)
    big = '<mo minsize="{0}" maxsize="{0}" stretchy="{1}" form="prefix">(</mo>'
    set_big = written(big.format("120%", "true"), r"\big(")
    assert well_set(written(big.format("1.2", "false"), r"\big(")) == set_big
    assert well_set(set_big) == set_big


def test_what_no_space_parts_from_a_formula_stays_with_it():
    math = "<math><mi>x</mi></math>"
    page = f"<p>If ({math}, or</p> <p>the {math}th; {math} &amp; the&nbsp;{math}.</p><td>{math}</td>"
    set_page = (
        f'<p>If <span class="whole">({math},</span> or</p> <p>the <span class="whole">{math}th;</span>'
        f' {math} &amp; the&nbsp;<span class="whole">{math}.</span></p><td>{math}</td>'
    )
    assert well_set(page) == well_set(set_page) == set_page
    script = f"<script>const t = `({math})`;</script>"
    assert well_set(script) == script
    display = f'<p>so:<math display="block"><mi>x</mi></math></p>, {math}'
    assert well_set(display) == display
