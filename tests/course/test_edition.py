"""What a student opens: nothing of the sources' own language, the same code, no dead link."""

import json
import os
import re
import subprocess
import sys

import nbformat
import pytest

from gapfm_course.class_edition.bibliography import read_bibliography
from gapfm_course.class_edition.edition import edition
from gapfm_course.class_edition.sources import CHECKOUT
from gapfm_teach.__main__ import main

NOTEBOOKS = sorted((CHECKOUT / "notebooks").glob("[0-9][0-9]_*.ipynb"))
FOR_QUARTO = ["{#", "@sec-", "@eq-", "@fig-", "@tbl-", "[@", "[-@", "#|", ":::", "<!--"]
TO_BE_STYLED = re.compile(
    r"<(?:div|details)\b(?! style=| id=)(?!>\n<summary>The figure)[^>]*>"
)
CODE = re.compile(r"^```.*?^```$|`[^`\n]+`", re.M | re.S)
LINK = re.compile(r"\]\((?!https?:)(?P<file>[^)#]*)(?:#(?P<place>[^)]*))?\)")
PLACE = re.compile(r'<(?:a|div) id="([^"]+)"></')


def cells(notebook, kind):
    return [cell for cell in notebook["cells"] if cell["cell_type"] == kind]


def words(notebook):
    """All the prose, without code."""
    return CODE.sub("", "\n\n".join(cell["source"] for cell in cells(notebook, "markdown")))


def code_alone(source):
    """A cell's code without its `#|` lines, found without the edition's help."""
    lines = [line for line in source.splitlines() if not line.startswith("#|")]
    return "\n".join(lines)


def chapter(tmp_path, *sources):
    """A book of one chapter, a cell for each of `sources`; made into an edition."""
    notebook = nbformat.v4.new_notebook()
    for source in sources:
        new = (
            nbformat.v4.new_code_cell
            if source.startswith("#|")
            else nbformat.v4.new_markdown_cell
        )
        notebook.cells.append(new(source))
    (tmp_path / "pages").mkdir()
    (tmp_path / "notebooks").mkdir()
    nbformat.write(notebook, tmp_path / "notebooks" / "01_one.ipynb")
    (tmp_path / "pages/notation.qmd").write_text("# Notation {.unnumbered}\n")
    (tmp_path / "pages/references.bib").write_text(BIBLIOGRAPHY)
    return edition(tmp_path, solutions=True)["01_one.ipynb"]


BIBLIOGRAPHY = r"""@article{one2001,
  author = {One, Ada},
  title = {A {Title}},
  journal = {A Journal},
  year = {2001},
  volume = {3},
  number = {4},
  pages = {5--6},
  doi = {10.1/x}
}

@book{three2002,
  author = {R{\'e}, Bo and Two, Cy and Four, Di},
  title = {Why?},
  publisher = {House},
  year = {2002}
}

@book{again2002,
  author = {R{\'e}, Bo and others},
  title = {More},
  publisher = {House},
  year = {2002}
}

@book{two2003,
  author = {Two, Cy and Four, Di},
  title = {Pairs},
  publisher = {House},
  year = {2003}
}
"""


def test_all_chapters_are_there_and_valid(made):
    assert made.keys() == {path.name for path in NOTEBOOKS} | {"notation.ipynb"}
    for notebook in made.values():
        nbformat.validate(nbformat.from_dict(notebook))


def test_nothing_is_left_of_the_language_that_quarto_reads(made):
    for name, notebook in made.items():
        text = words(notebook)
        assert [sign for sign in FOR_QUARTO if sign in text] == [], name
        assert TO_BE_STYLED.findall(text) == [], name
        assert not [
            cell["id"] for cell in cells(notebook, "code") if "#|" in cell["source"]
        ]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_code_and_stored_outputs_are_those_of_the_sources(path, made):
    """Why `make test` re-runs the sources alone: a second run of all chapters would cost as much
    as the first, minutes, and could find nothing. The edition's code is the sources', cell for
    cell, but for `#|` lines, which Python does not read; its stored outputs are equal, too; and
    what lies beside it, `results/`, `test_course_folder.py` compares. One small notebook is run
    from a folder all the same, `test_a_notebook_runs_from_the_folder` below."""
    source = json.loads(path.read_text(encoding="utf-8"))
    theirs, ours = cells(source, "code"), cells(made[path.name], "code")
    assert [code_alone("".join(cell["source"])) for cell in theirs] == [
        c["source"] for c in ours
    ]
    for what in ("id", "execution_count"):
        assert [cell[what] for cell in theirs] == [cell[what] for cell in ours]
    for stored, shown in zip(theirs, ours, strict=True):
        assert stored["outputs"] == shown["outputs"], stored["id"]
    assert any("#|" in "".join(cell["source"]) for cell in theirs)


@pytest.mark.processes
@pytest.mark.slow
def test_a_notebook_runs_from_the_folder(tmp_path):
    """Judged by nbval as the sources are: every output once more."""
    folder = tmp_path / "course"
    main(["course", str(folder), "--outputs"])
    where = {"PYTHONPATH": str(CHECKOUT)}
    command = [
        *(sys.executable, "-m", "pytest", "-c", os.devnull, "-p", "no:cacheprovider"),
        *("-p", "notebooks.conftest", "--nbval"),
        "01_from_ap_to_gap.ipynb",
    ]
    done = subprocess.run(
        command, cwd=folder, env=os.environ | where, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_link_leads_to_a_place_that_is_there(made):
    places = {name: set(PLACE.findall(words(notebook))) for name, notebook in made.items()}
    followed = 0
    for name, notebook in made.items():
        for found in LINK.finditer(words(notebook)):
            target = found["file"] or name
            assert target in made, f"{name}: {found[0]}"
            assert found["place"] is None or found["place"] in places[target], (
                f"{name}: {found[0]}"
            )
            followed += 1
    assert followed > 300


def test_each_place_is_there_once(made):
    for name, notebook in made.items():
        places = PLACE.findall(words(notebook))
        assert len(places) == len(set(places)), name


def test_what_a_figure_shows_stands_below_it_in_words(made):
    for path in NOTEBOOKS:
        source = json.loads(path.read_text(encoding="utf-8"))
        shown = [cell["source"] for cell in cells(made[path.name], "markdown")]
        for cell in cells(source, "code"):
            alt = re.search(r'^#\| fig-alt: (".*")$', "".join(cell["source"]), re.M)
            if alt:
                plain = [re.sub(r"\\(\W)", r"\1", text) for text in shown]
                assert any(json.loads(alt[1]) in text for text in plain), cell["id"]


def test_without_solutions_hints_stay(made):
    bare = edition(CHECKOUT, solutions=False)
    for name, notebook in made.items():
        full, less = words(notebook), words(bare[name])
        folds = re.findall(r"<summary[^>]*>(?:<b>)?(.*?)(?:</b>)?</summary>", full)
        kept = re.findall(r"<summary[^>]*>(?:<b>)?(.*?)(?:</b>)?</summary>", less)
        assert kept == [title for title in folds if not title.startswith("Solution")], name
        assert cells(bare[name], "code") == cells(notebook, "code")
    assert "Solution" in words(made["03_gradients.ipynb"])


def test_numbers_references_and_captions(tmp_path):
    notebook = chapter(
        tmp_path,
        "# One {#sec-one}\n\nSee @eq-a, [-@eq-a], @fig-b and @tbl-c in @sec-two, not `@eq-a`.\n\n"
        "## Two {#sec-two}\n\n$$\nx\n$$ {#eq-a}\n\n| a |\n|:--|\n| 1 |\n\n: With $x$. {#tbl-c}",
        '#| label: fig-b\n#| fig-cap: "As @tbl-c."\n#| fig-alt: "A_b *c* $5."\n#| code-fold: true\nx = 1',
    )
    text, code, caption = notebook["cells"]
    assert "# 1 One" in text["source"]
    assert "## 1.1 Two" in text["source"]
    assert (
        "See [Equation 1.1](#eq-a), [1.1](#eq-a), [Figure 1.1](#fig-b) and [Table 1.1](#tbl-c) in "
        "[Section 1.1](#sec-two), not `@eq-a`."
    ) in text["source"]
    assert "$$\nx \\tag{1.1}\n$$" in text["source"]
    assert '<div id="tbl-c"></div>\n\n**Table 1.1** With $x$.' in text["source"]
    assert text["source"].endswith(
        '<div id="fig-b"></div>'
    )  # above the code, not below the figure
    assert code["source"] == "x = 1"
    assert code["metadata"]["jupyter"] == {"source_hidden": True}
    assert code["metadata"]["gapfm_teach"]["fig-cap"] == "As @tbl-c."
    assert caption["source"].startswith("**Figure 1.1** As [Table 1.1](#tbl-c).")
    assert r"A\_b \*c\* \$5." in caption["source"]


def test_an_equation_without_a_label_has_no_number(tmp_path):
    (cell,) = chapter(tmp_path, "# One\n\n$$\nx\n$$\n\nAnd\n\n$$\ny\n$$ {#eq-y}")["cells"]
    assert cell["source"] == (
        '# 1 One\n\n$$\nx\n$$\n\nAnd\n\n<div id="eq-y"></div>\n\n$$\ny \\tag{1.1}\n$$'
    )


def test_works_are_named_and_listed(tmp_path):
    notebook = chapter(
        tmp_path, "# One\n\n@one2001 and [@three2002; @two2003], me@three.org."
    )
    text, works = (cell["source"] for cell in notebook["cells"])
    assert text.endswith(
        "[One (2001)](#ref-one2001) and ([Ré et al. 2002a](#ref-three2002); "
        "[Two and Four 2003](#ref-two2003)), me@three.org."
    )
    assert works == (
        "## References\n\n"
        '- <a id="ref-one2001"></a>One, Ada. 2001. *A Title*. A Journal 3 (4), 5–6. '
        "[doi:10.1/x](https://doi.org/10.1/x).\n"
        '- <a id="ref-three2002"></a>Ré, Bo, Cy Two and Di Four. 2002a. *Why?*. House.\n'
        '- <a id="ref-two2003"></a>Two, Cy and Di Four. 2003. *Pairs*. House.'
    )


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ("Text @sec-nowhere.", "@sec-nowhere points at nothing"),
        ("Text [see @one2001, p. 3].", "[see @one2001"),
        ('<div class="callout-danger">\n\nx\n\n</div>', "'callout-danger'"),
        ("::: {.callout-note}\n:::", "':::"),
        ("Text {#sec-floating} goes on.", "'{#sec-floating}'"),
        ("$$\nx\n$$ {#eq-a}\n\n$$\ny\n$$ {#eq-a}", "'eq-a' is used twice"),
        ("#| label: fig-b\n#| fig-width: 3\nx", "fig-width"),
    ],
)
def test_what_is_not_known_is_an_error_that_names_the_cell(source, what, tmp_path):
    with pytest.raises(ValueError, match=r"01_one\.ipynb, cell \w+: ") as caught:
        chapter(tmp_path, "# One", source)
    assert what in str(caught.value)


def test_every_work_of_the_bibliography_is_read():
    works = read_bibliography(CHECKOUT / "pages/references.bib")
    text = (CHECKOUT / "pages/references.bib").read_text(encoding="utf-8")
    assert len(works) == len(re.findall(r"^@", text, re.M))
    named = [(work.name, work.year) for work in works.values()]
    assert len(set(named)) == len(named)
