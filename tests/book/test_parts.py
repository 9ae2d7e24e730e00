"""Pages that stand in a part of `_quarto.yml`: a heading in the contents, and pages like all others."""

import re

import pytest

from preview.build import build

CONFIG = """book:
  title: B
  subtitle: S
  chapters:
    - index.qmd
    - one.qmd
    - part: For some & all
      chapters:
        - two.qmd
        - three.qmd
    - references.qmd
lang: en
bibliography: references.bib
"""
PAGES = {
    "index.qmd": "# Home {.unnumbered}\n",
    "one.qmd": "# One {#sec-one}\n\nSee [the second](two.qmd).\n",
    "two.qmd": "# Two {.unnumbered}\n",
    "three.qmd": "# Three {#sec-three}\n\nAfter @sec-one.\n",
    "references.qmd": "# References {.unnumbered}\n\n::: {#refs}\n:::\n",
}


@pytest.mark.processes
def test_a_part_is_named_once_above_its_first_page(tmp_path):
    for name, text in PAGES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "_quarto.yml").write_text(CONFIG)
    (tmp_path / "references.bib").write_text("")
    (tmp_path / "CITATION.cff").write_text(
        'title: "B"\nauthors: [{name: N}]\nversion: 0.1.0\nlicense: [MIT]\n'
    )
    written = build(tmp_path, tmp_path / "_site")
    assert written == [
        "index.html",
        "one.html",
        "two.html",
        "three.html",
        "references.html",
    ]
    for name in written:
        page = (tmp_path / "_site" / name).read_text(encoding="utf-8")
        contents = page[page.index('id="contents"') : page.index("<footer")]
        entries = re.findall(r'<li class="part">([^<]*)|<li><a href="([^"#]+)"', contents)
        assert [part or href for part, href in entries] == [
            *written[:2],
            "For some &amp; all",
            *written[2:],
        ]
    three = (tmp_path / "_site" / "three.html").read_text(encoding="utf-8")
    assert '<span class="number">2</span> Three' in three
    assert 'href="one.html#sec-one" class="xref">Chapter&nbsp;1</a>' in three
