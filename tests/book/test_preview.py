"""The small renderer, on books of a few lines: numbers, links, boxes, errors."""

import html
import json
import re
import shutil
from pathlib import Path

import nbformat
import nbformat.v4 as nb
import pytest
from nbclient import NotebookClient

from gapfm_teach import average_precision, graded_average_precision
from preview.build import build
from preview.notebook import BookError

ROOT = Path(__file__).resolve().parents[2]
WIDGET = "application/vnd.jupyter.widget-view+json"
BIBLIOGRAPHY = """@book{euler1748, author={Euler, Leonhard}, title={Introductio}, year={1748}}
@book{gauss1801, author={Gauss, Carl}, title={Disquisitiones}, year={1801}}
"""
CITATION = """title: "B: a book"
authors: [{name: "The B group"}, {family-names: Euler, given-names: Leonhard}]
version: 0.1.0
license: [MIT]
"""
PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5E"
    "rkJggg=="
)


def code(source, *outputs):
    return nb.new_code_cell(source, execution_count=1, outputs=list(outputs))


def shows(**data):
    """An output with the given MIME types, written text_html, image_png, …"""
    bundle = {mime.replace("_", "/", 1): text for mime, text in data.items()}
    return nb.new_output("display_data", data=bundle)


@pytest.fixture
def book(tmp_path):
    """`book(one, two)` renders two chapters, each a list of cells; returns name -> page."""

    def render(*chapters):
        names = ["one.ipynb", "two.ipynb"][: len(chapters)]
        for name, cells in zip(names, chapters, strict=True):
            cells = [nb.new_markdown_cell(c) if isinstance(c, str) else c for c in cells]
            text = json.dumps(nb.new_notebook(cells=cells))
            (tmp_path / name).write_text(text, encoding="utf-8")
        (tmp_path / "index.qmd").write_text("# Home {.unnumbered}\n", encoding="utf-8")
        references = "# References {.unnumbered}\n\n::: {#refs}\n:::\n"
        (tmp_path / "references.qmd").write_text(references, encoding="utf-8")
        (tmp_path / "references.bib").write_text(BIBLIOGRAPHY, encoding="utf-8")
        (tmp_path / "CITATION.cff").write_text(CITATION, encoding="utf-8")
        config = {
            "book": {
                "title": "B",
                "subtitle": "S",
                "site-url": "https://example.org/course",
                "chapters": ["index.qmd", *names, "references.qmd"],
            },
            "lang": "en",
            "bibliography": "references.bib",
        }
        (tmp_path / "_quarto.yml").write_text(json.dumps(config), encoding="utf-8")
        pages = build(tmp_path, tmp_path / "_site")
        return {n: (tmp_path / "_site" / n).read_text(encoding="utf-8") for n in pages}

    return render


def links(page):
    """text -> target of every cross-reference."""
    found = re.findall(r'<a href="([^"]*)" class="xref">([^<]*)</a>', page)
    return {text.replace("&nbsp;", " "): target for target, text in found}


def test_numbers_and_links_cross_chapters(book):
    figure = code(
        "#| label: fig-a\n#| fig-cap: 'Cap $x$, by @eq-a.'\n#| fig-alt: 'A \"dot\"'\nplot()",
        shows(image_png=PIXEL),
    )
    table = code("#| label: tbl-a\n#| tbl-cap: Cap\ndf", shows(text_html="<table></table>"))
    one = [
        "# One {#sec-one}\n\n$$ a $$\n\n$$ b $$ {#eq-b}\n\n$$ a $$ {#eq-a}",
        figure,
        table,
    ]
    refs = "@eq-a, @fig-a, @tbl-a, @sec-one, @sec-two-b, [-@eq-b], [part @eq-two]"
    two = [f"# Two {{#sec-two}}\n\n## B {{#sec-two-b}}\n\n$$ c $$ {{#eq-two}}\n\n{refs}"]
    pages = book(one, two)
    assert links(pages["two.html"]) == {
        "Equation 1.2": "one.html#eq-a",
        "Figure 1.1": "one.html#fig-a",
        "Table 1.1": "one.html#tbl-a",
        "Chapter 1": "one.html#sec-one",
        "Section 2.1": "#sec-two-b",
        "1.1": "one.html#eq-b",
        "2.1": "#eq-two",
    }
    assert links(pages["one.html"]) == {"Equation 1.2": "#eq-a"}
    assert 'alt="A &quot;dot&quot;"' in pages["one.html"]
    assert "<strong>Figure 1.1</strong>" in re.sub(r"\s| ", " ", pages["one.html"])


def test_an_unnumbered_chapter_leaves_the_numbers_to_the_others(book):
    first = "<!-- a comment -->\n# Zero {.unnumbered}\n\n$$ z $$ {#eq-z}\n\n@eq-z"
    pages = book([first], ["# One {#sec-one}\n\n@eq-z, @sec-one"])
    assert links(pages["two.html"]) == {
        "Equation 1": "one.html#eq-z",
        "Chapter 1": "#sec-one",
    }


def test_boxes_fold_where_they_are_asked_to(book):
    page = book(
        [
            "# One",
            '::: {.callout-tip collapse="true" title="Hint $x$"}\nInside\n:::',
            "::: {.callout-note}\n## Own title\n\nOpen\n:::",
            code("#| code-fold: true\n#| code-summary: Show it\nx = 1"),
        ]
    )["one.html"]
    tip = re.search(r'<details class="callout callout-tip">.*?</details>', page, re.S)[0]
    assert "Hint <math" in tip
    assert "Inside" in tip
    note = re.search(r'<div class="callout callout-note".*?</div>', page, re.S)[0]
    assert "Own title" in note
    assert "<details" not in note
    fold = re.search(r'<details class="code-fold">.*?</details>', page, re.S)[0]
    assert "<summary>Show it</summary>" in fold
    assert ">x <" in fold


def test_hidden_cells_stay_hidden(book):
    text = shows(text_plain="shown-out")
    page = book(
        [
            "# One",
            code("#| echo: false\nsecret_code", text),
            code("#| output: false\nvisible_code", shows(text_plain="secret_out")),
            code("#| include: false\nsecret_cell", shows(text_plain="secret_out")),
            code(
                "#| warning: false\n1",
                nb.new_output("stream", name="stderr", text="secret"),
            ),
        ]
    )["one.html"]
    main = re.search(r"<main.*</main>", page, re.S)[0]
    assert "secret" not in main
    assert "shown-out" in main
    assert "visible_code" in main


def test_html_output_comes_through_untouched(book):
    raw = '<div id="t"><script>if (a < b && `c`) {\n\n  $x$ = "@eq-none ```"; }</script></div>'
    assert raw in book(["# One", code("shown()", shows(text_html=raw))])["one.html"]


def test_a_long_formula_in_a_line_has_a_box_of_its_own(book):
    page = book(["# One", "Short $a = b$, and long $a + b + c + d + e + f + g + h + i$."])
    boxes = re.findall(r'<span class="long-formula">(.*?)</span>', page["one.html"], re.S)
    assert len(boxes) == 1
    assert "<mi>i</mi>" in boxes[0]


def test_a_page_says_how_to_cite_where_it_comes_from_and_what_it_is_about(book, tmp_path):
    page = book(["# One", 'A "promise" & more.', code("x = 1")])["one.html"]
    cited = html.unescape(
        re.search(r'<pre class="citation"><code>(.*?)</code>', page, re.S)[1]
    )
    assert cited.startswith("@software{B,\n")
    assert "author = {{The B group} and Euler, Leonhard}," in cited
    assert '<a href="one.ipynb" download>' in page
    assert (tmp_path / "_site" / "one.ipynb").read_bytes() == (
        tmp_path / "one.ipynb"
    ).read_bytes()
    assert re.search(r'<meta name="description" content="A .promise. &amp; more\.">', page)
    assert 'content="https://example.org/course/cover.png"' in page
    addresses = (tmp_path / "_site" / "sitemap.xml").read_text(encoding="utf-8")
    assert "<loc>https://example.org/course/one.html</loc>" in addresses


def test_what_is_searched_holds_prose_names_in_code_and_captions_but_no_output(
    book, tmp_path
):
    figure = code(
        "#| label: fig-a\n#| fig-cap: 'A caption, @eq-b.'\n#| fig-alt: A dot\ndraw(curve, curve)",
        shows(image_png=PIXEL),
    )
    printed = code("print(1)", nb.new_output("stream", name="stdout", text="secret output"))
    text = "# One {#sec-one}\n\nProse.\n\n$$ \\alpha $$ {#eq-b}\n\n## Part\n\nMore."
    book([text, figure, printed])
    script = (tmp_path / "_site" / "search_index.js").read_text(encoding="utf-8")
    index = json.loads(script.removeprefix("bookIndex = ").rstrip(";\n"))
    assert index["pages"][:2] == [["index.html", "Home", 1], ["one.html", "1 One", 1]]
    assert [entry for page, *entry in index["entries"] if page == 1] == [
        ["sec-one", "1 One", "Prose.", ""],
        ["eq-b", "Equation 1.1", "b", ""],
        ["part", "1.1 Part", "More.", "draw curve print"],
        ["fig-a", "Figure 1.1", "A caption, Equation 1.1.", ""],
    ]


def test_one_switch_opens_all_code_that_is_folded(book, tmp_path, browser):
    fold = "#| code-fold: true\nimport numpy"
    book(["# One", code(fold), code(fold), code("x = 1")])
    page = browser.new_page()
    page.goto((tmp_path / "_site" / "one.html").as_uri())
    is_open = "() => [...document.querySelectorAll('details.code-fold')].map((e) => e.open)"
    for before, after in (
        ("Show all code", [True, True]),
        ("Fold the code away", [False, False]),
    ):
        page.get_by_role("button", name=before).click()
        assert page.evaluate(is_open) == after
    page.locator("summary").first.click()
    page.get_by_role("button", name="Show all code").wait_for()
    page.close()


def test_printed_text_stored_in_pieces_is_one_piece(book):
    pieces = [nb.new_output("stream", name="stdout", text=text) for text in ("a\n", "b\n")]
    page = book(["# One", code("print()", *pieces)])["one.html"]
    assert "<code>a\nb</code>" in page


def test_works_cited_are_listed_once_at_the_end(book):
    pages = book(
        ["# One\n\nSee [@euler1748]."],
        ["# Two\n\n@euler1748 and a footnote.[^1]\n\n[^1]: F"],
    )
    assert "Euler 1748" in re.sub("<[^>]*>", "", pages["one.html"])
    assert 'href="references.html#ref-euler1748"' in pages["two.html"]
    assert pages["references.html"].count('id="ref-euler1748"') == 1
    assert "gauss1801" not in pages["references.html"]
    assert 'id="ref-' not in pages["one.html"]


# the words that say so: what was written
REFUSED = {
    "unknown option '#| fig-width": code("#| fig-width: 3\nx"),
    "'#| echo: perhaps' is not a bool": code("#| echo: perhaps\nx"),
    "KeyError": code("x", nb.new_output("error", ename="KeyError", evalue="")),
    "not executed": nb.new_code_cell("x"),
    "raw cell": nb.new_raw_cell("x"),
    "without '#| fig-alt:'": code("x", shows(image_png=PIXEL)),
    "needs a '#| fig-cap": code(
        "#| label: fig-a\n#| fig-alt: a\nx", shows(image_png=PIXEL)
    ),
    "exactly one output, found 0": code("#| label: fig-a\n#| fig-cap: c\nx"),
    "unknown callout 'hint'": "::: {.callout-hint}\nx\n:::",
    "unknown box '::: {.panel-tabset}'": "::: {.panel-tabset}\nx\n:::",
    "unknown box '::: {#thm-a}'": "::: {#thm-a}\nx\n:::",
    "a paragraph that begins with '(6)' becomes a list": "(6) and (7) do this.",
    "unknown span": "[x]{.aside}",
    "run at render time: {python}": "```{python}\nx\n```",
    "run at render time": "`{python} x`",
    "shortcodes": "{{< video x >}}",
    "@eq-nowhere points at nothing": "See @eq-nowhere.",
    "'@thm-a' is not a reference": "See @thm-a.",
    "nobody1900": "See @nobody1900.",
    "\\tag": "$$ a \\tag{1} $$",
    "nosuchmacro": "$$ \\nosuchmacro{a} $$",
    "'wrong' is not a label": "$$ a $$ {#wrong}",
    "'eq-a' is used twice": "$$ a $$ {#eq-a}\n\n$$ b $$ {#eq-a}",
    "not closed": "::: {.callout-note}\nx",
    "nothing.png": "![](nothing.png){fig-alt='a'}",
}


@pytest.mark.parametrize(("complaint", "cell"), REFUSED.items(), ids=REFUSED)
def test_what_it_does_not_know_stops_it_with_the_place(book, cell, complaint):
    with pytest.raises(BookError, match=re.escape(complaint)) as raised:
        book(["# One", "Fine.", cell, "After."])
    assert "one.ipynb" in str(raised.value)


@pytest.mark.parametrize(
    "cell",
    [
        nb.new_code_cell("x"),
        code("x", nb.new_output("error", ename="KeyError", evalue="")),
        code("x", shows(application_pdf="JVBERi0=")),
    ],
    ids=["not executed", "an error", "an output of no known kind"],
)
def test_what_was_saved_by_hand_is_refused_with_the_remedy(book, cell):
    with pytest.raises(BookError, match=r"one\.ipynb, cell 2: .*`make notebooks`"):
        book(["# One", cell])


def test_a_widget_shows_its_still_and_a_progress_bar_nothing(book):
    widget = {WIDGET: {"model_id": "a"}}
    still = code("x", shows(text_plain="HBox()", text_html="<b>a still</b>", **widget))
    source = "#| label: fig-a\n#| fig-cap: c\n#| fig-alt: a\nx"
    figure = code(source, shows(text_plain="42%|####", **widget), shows(image_png=PIXEL))
    page = book(["# One", still, "Words.", figure])["one.html"]
    assert "<b>a still</b>" in page
    assert "<img" in page
    assert "42%" not in page


@pytest.fixture(scope="module")
def lived_with(tmp_path_factory):
    """The project's pages, with chapter 1 as a run in JupyterLab saves it."""
    root = tmp_path_factory.mktemp("project")
    for name in ("notebooks", "pages", "images", "preview"):
        shutil.copytree(ROOT / name, root / name)
    others = [ROOT / name for name in ("index.qmd", "_quarto.yml", "CITATION.cff")]
    for page in others:
        shutil.copy(page, root)
    path = root / "notebooks" / "01_from_ap_to_gap.ipynb"
    notebook = nbformat.read(path, as_version=4)
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("GAPFM_TEACH_STATIC", raising=False)
        NotebookClient(
            notebook, timeout=600, resources={"metadata": {"path": str(path.parent)}}
        ).execute()
    nbformat.write(notebook, path)
    return root


@pytest.mark.processes
def test_a_notebook_lived_with_and_saved_still_builds(lived_with):
    saved = (lived_with / "notebooks" / "01_from_ap_to_gap.ipynb").read_text(
        encoding="utf-8"
    )
    assert WIDGET in saved
    build(lived_with, lived_with / "_site")
    page = (lived_with / "_site" / "notebooks" / "01_from_ap_to_gap.html").read_text(
        encoding="utf-8"
    )
    assert page.count('<div class="gapfm-explorable" data-view="drag_list">') == 1
    assert page.count('<script src="../explorables.js" defer>') == 1
    assert WIDGET not in page


def test_a_failed_build_leaves_the_last_site_as_it_was(book, tmp_path):
    before = book(["# One"])
    with pytest.raises(BookError):
        book(["# One", "@fig-none"])
    assert (tmp_path / "_site" / "one.html").read_text(encoding="utf-8") == before[
        "one.html"
    ]
    assert [p.name for p in tmp_path.glob("_site*")] == ["_site"]


def test_a_folder_that_no_build_wrote_is_left_as_it_is(book, tmp_path):
    mine = tmp_path / "_site" / "posts" / "thesis.txt"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    with pytest.raises(
        FileExistsError, match="_site/ was not written by a build; remove or"
    ):
        book(["# One"])
    assert [path for path in (tmp_path / "_site").rglob("*") if path.is_file()] == [mine]
    assert [p.name for p in tmp_path.glob("_site*")] == ["_site"]


def test_an_empty_folder_and_an_earlier_site_are_replaced(book, tmp_path):
    (tmp_path / "_site").mkdir()
    book(["# One"], ["# Two"])
    book(["# One"])
    assert (tmp_path / "_site" / "one.html").exists()
    assert not (tmp_path / "_site" / "two.html").exists()


def test_a_file_in_place_of_the_site_stays(book, tmp_path):
    (tmp_path / "_site").write_text("mine")
    with pytest.raises(FileExistsError, match="_site is not a folder; remove or rename it"):
        book(["# One"])
    assert (tmp_path / "_site").read_text() == "mine"


def test_the_cell_is_named(book):
    with pytest.raises(BookError, match=re.escape("one.ipynb, cell 3: ")):
        book(["# One", "Fine.", "::: {.callout-hint}\nx\n:::"])
    with pytest.raises(BookError, match=re.escape("one.ipynb, cell 2: @fig-none")):
        book(["# One", "@fig-none"])


def test_the_cover_picture_says_what_the_code_computes():
    grades, scores, delta = [3, 1, 2, 2], [4.0, 3.0, 2.0, 1.0], [1, 1, 1]
    gap = graded_average_precision(grades, scores, delta=delta)
    second = average_precision([grade >= 2 for grade in grades], scores)
    picture = (ROOT / "images" / "gap-as-mean-of-aps.svg").read_text(encoding="utf-8")
    assert f"GAP {gap:.3f}<" in picture
    assert f"AP {second:.3f}<" in picture
