"""The book on paper: nothing is lost on the way, every link arrives, and it fits the page."""

import json
import posixpath
import re
import zipfile
from collections import Counter
from contextlib import closing
from io import BytesIO
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

import pypdfium2
import pytest

from preview.notebook import BookError
from preview.paper.epub import epub
from preview.paper.gather import gather
from preview.paper.pdf import pdf, source

pytestmark = [pytest.mark.slow, pytest.mark.processes]
ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
XHTML = "{http://www.w3.org/1999/xhtml}"
OPF = "{http://www.idpf.org/2007/opf}"
SIDE, FOOT = (mm * 72 / 25.4 for mm in (18, 24))


def cells(kind: str) -> list[str]:
    """The cells of all notebooks of one kind."""
    books = [json.loads(path.read_text(encoding="utf-8"))["cells"] for path in NOTEBOOKS]
    return [
        "".join(cell["source"])
        for book in books
        for cell in book
        if cell["cell_type"] == kind
    ]


def read(page: pypdfium2.PdfPage) -> str:
    text = page.get_textpage().get_text_bounded()
    return text.replace("\r\n", "\n").replace("\u00a0", " ")


def letters(text: str) -> str:
    """`text` without what typesetting changes: spaces, hyphens at a line's end, quotes, marks."""
    return re.sub(r".\u0302|[\W_]", "", text)  # of a letter with a hat PDFium reads two


# The whole book --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def volume(tmp_path_factory):
    return gather(ROOT, tmp_path_factory.mktemp("volume"))


@pytest.fixture(scope="module")
def pages(volume):
    """The pages of the PDF, read by another program than the one that wrote them."""
    with closing(pypdfium2.PdfDocument(pdf(volume))) as document:
        yield [document[i] for i in range(len(document))]


@pytest.fixture(scope="module")
def texts(pages) -> list[str]:
    return [read(page) for page in pages]


@pytest.fixture(scope="module")
def typst_text(volume, pages) -> str:
    """What Typst was given to make the pages."""
    return (volume.folder / "main.typ").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def archive(volume) -> zipfile.ZipFile:
    return zipfile.ZipFile(BytesIO(epub(volume)))


def test_every_caption_and_every_title_is_printed(texts):
    printed = letters("".join(texts))
    titles = [re.search(r"^# (.+?)(?: \{.*)?$", text, re.M) for text in cells("markdown")]
    titles = [found[1] for found in titles if found]
    captions = [
        found[1]
        for text in cells("code")
        for found in re.finditer(r"^#\| (?:fig|tbl)-cap: (.+)$", text, re.M)
    ]
    assert len(titles) == len(NOTEBOOKS)
    assert len(captions) > 100
    # What formulas and references become is another matter: compare the words around them.
    wanted = titles + [
        part for text in captions for part in re.split(r"\$.*?\$|@[\w-]+", text)
    ]
    assert [text for text in wanted if letters(text) not in printed] == []


def test_nothing_is_left_unresolved(texts):
    everything = "".join(texts)
    for sign in ("\ufffd", "@sec-", "@fig-", "@eq-", "@tbl-", ":::", "<div", "\\mathrm"):
        assert sign not in everything
    assert "Not solved yet" not in everything


def test_figures_and_tables_have_numbers_of_their_own(typst_text):
    numbers = re.findall(r"^#strong\[((?:Figure|Table)~[\w.]+)\]", typst_text, re.M)
    twice = [number for number, times in Counter(numbers).items() if times > 1]
    assert len(numbers) > 100
    assert twice == []


def test_nothing_is_printed_outside_of_the_page(pages):
    """Long lines and wide tables would stand in a margin, a table that should break at the foot."""
    outside = []
    for number, page in enumerate(pages, start=1):
        right_edge = page.get_width() - SIDE
        text = page.get_textpage()
        for box in (text.get_rect(i) for i in range(text.count_rects())):
            left, bottom, right, _ = box
            if left < SIDE or right > right_edge or bottom < FOOT:
                outside.append((number, text.get_text_bounded(*box).strip()))
    outside = [(number, words) for number, words in outside if words != str(number)]
    assert outside == []


def test_it_is_a_book_of_some_hundred_pages_with_running_heads(texts):
    assert 150 < len(texts) < 500
    middle = next(i for i, text in enumerate(texts) if "Figure 2.1" in text)
    assert "From a staircase to a slope" in texts[middle]
    assert str(middle + 1) in texts[middle].split()


def test_solutions_stand_at_the_end_and_both_ways_are_linked(typst_text):
    before, after = typst_text.split("[Solutions] <appendix-solution>")
    written = re.findall(
        r'<details class="solution">\s?<summary>Solution</summary>',
        "".join(cells("markdown")),
    )
    # Pages for teachers, with answers of their own, stand behind.
    there = re.findall(r"#there\(<(solution-[^>]+)>\)", typst_text)
    back = re.findall(r"<(solution-[^>]+)>$", after, re.M)
    assert there == back
    assert len(written) <= len(there) < len(written) + 15  # and answers of another name
    assert len(re.findall(r"#there\(<(?!solution-)", after)) == len(there)
    solution = re.search(
        r"summary>Solution</summary>.*?```python\n(.+?)```",
        "".join(cells("markdown")),
        re.S,
    )
    assert solution[1].strip() in after
    assert solution[1].strip() not in before


# The EPUB --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def documents(archive) -> dict[str, ElementTree.Element]:
    """The archive's pages, name -> tree: what is not well-formed cannot be read at all."""
    names = [name for name in archive.namelist() if name.endswith(".xhtml")]
    return {name: ElementTree.fromstring(archive.read(name)) for name in names}


def test_every_link_of_the_epub_arrives(documents):
    ids = {
        name: [e.get("id") for e in tree.iter() if e.get("id")]
        for name, tree in documents.items()
    }
    for name, found in ids.items():
        assert len(found) == len(set(found)), name
    n_links = 0
    for name, tree in documents.items():
        for anchor in tree.iter(f"{XHTML}a"):
            href = anchor.get("href", "")
            if re.match(r"\w+:", href):
                continue
            page, _, place = unquote(href).partition("#")
            target = posixpath.normpath(posixpath.join(posixpath.dirname(name), page))
            assert not place or place in ids[target if page else name], (name, href)
            n_links += 1
    assert n_links > 1000


def test_every_picture_of_the_epub_is_there_and_has_words(documents, archive):
    images = [
        (name, image)
        for name, tree in documents.items()
        for image in tree.iter(f"{XHTML}img")
    ]
    assert len(images) > 50
    for name, image in images:
        target = posixpath.normpath(
            posixpath.join(posixpath.dirname(name), image.get("src"))
        )
        assert len(image.get("alt", "")) > 10, (name, image.get("src"))
        assert target in archive.namelist()


def test_names_in_formulas_of_the_epub_stand_apart(archive):
    """No pandoc puts a space between log and what it is the logarithm of."""
    pages = [archive.read(n).decode() for n in archive.namelist() if n.endswith(".xhtml")]
    text = "".join(pages)
    applied = re.findall(r">log</mi><mo>\u2061</mo></mrow>(.{20})", text)
    assert len(applied) > 10
    assert [after for after in applied if after.startswith(("<mi", "<msub>"))] == []
    for page in pages:
        ElementTree.fromstring(page)


def test_the_epub_lists_what_it_holds(archive):
    first = archive.infolist()[0]
    assert (first.filename, first.compress_type) == ("mimetype", zipfile.ZIP_STORED)
    assert archive.read("mimetype") == b"application/epub+zip"
    container = ElementTree.fromstring(archive.read("META-INF/container.xml"))
    [root] = [e.get("full-path") for e in container.iter() if e.get("full-path")]
    package = ElementTree.fromstring(archive.read(root))
    listed = [
        posixpath.join(posixpath.dirname(root), unquote(item.get("href")))
        for item in package.iter(f"{OPF}item")
    ]
    held = {n for n in archive.namelist() if not n.startswith("META-INF/")} - {
        root,
        "mimetype",
    }
    assert sorted(listed) == sorted(held)
    order = {item.get("idref") for item in package.iter(f"{OPF}itemref")}
    assert order <= {item.get("id") for item in package.iter(f"{OPF}item")}


# Books of a few lines --------------------------------------------------------------------


@pytest.fixture
def small(tmp_path):
    """`small(text)` gathers a book whose one chapter is `text`."""

    def make(text):
        root = tmp_path / "book"
        root.mkdir()
        chapters = {
            "index.qmd": "# Home {.unnumbered}\n",
            "one.qmd": f"# One {{#sec-one}}\n\n{text}\n",
            "two.qmd": "# After {.unnumbered}\n\n| a |\n|---|\n| 1 |\n\n: Words. {#tbl-after}\n",
            "references.qmd": "# References {#sec-references .unnumbered}\n\n::: {#refs}\n:::\n",
        }
        for name, content in chapters.items():
            (root / name).write_text(content, encoding="utf-8")
        names = "".join(f"\n    - {name}" for name in chapters)
        (root / "_quarto.yml").write_text(
            f"book:\n  title: Book, a small one\n  subtitle: S\n  chapters:{names}\n"
            "lang: en-GB\nbibliography: references.bib\n"
        )
        (root / "references.bib").write_text("")
        (root / "CITATION.cff").write_text("version: 1.2.3\nauthors:\n  - name: N. N.\n")
        for name in ("LICENSE", "LICENSE-TEXT"):
            (root / name).write_text("Do as you like.")
        folder = tmp_path / "volume"
        folder.mkdir()
        return gather(root, folder)

    return make


def printed(volume) -> str:
    with closing(pypdfium2.PdfDocument(pdf(volume))) as document:
        return "\n".join(read(page) for page in document)


def test_both_are_the_same_bytes_at_the_same_time(small, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    volume = small("Text, $x$, and a picture of its own.")
    assert pdf(volume) == pdf(volume)
    assert epub(volume) == epub(volume)
    before = pdf(volume)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1800000000")
    assert pdf(volume) != before


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("See @sec-none.", "@sec-none points at nothing"),
        ("See [there](two.qmd#none).", "a link points at nothing: #two-none"),
    ],
)
def test_what_points_at_nothing_stops_the_build(small, text, words):
    with pytest.raises(BookError, match=words):
        small(text)


def test_numbers_go_on_after_the_chapters(small):
    text = printed(
        small("See @tbl-after and [the page](two.qmd).\n\n$$ x $$ {#eq-x}\n\nAnd @eq-x.")
    )
    assert "See Table A.1 and the page" in text
    assert "And Equation 1.1" in text
    assert "Appendix A" in text


def test_formulas_keep_their_shape(small):
    text = source(small(r"$\mathrm{GAP}_m$ $|Y|$ $\bigl(\|a\|\bigr)$ $x\!y\;z$"))
    assert 'upright("GAP")_m' in text
    assert "lr(|Y|)" in text
    for trap in ("scale(", "h(-1em)", "h(0em)", "G A P"):
        assert trap not in text


def test_what_folds_stays_in_place_unless_it_answers_a_question(small):
    fold = "<details class='{0}'>\n<summary>{1}</summary>\n\n{2}\n\n</details>\n\n".replace(
        "'", '"'
    )
    folds = [("deeper", "Going deeper: why", "Depth."), ("solution", "Solution", "Answer.")]
    folds += [("hint", "Hint 1", "Nudge."), ("hint", "Hint 2", "Push.")]
    exercise = "".join(fold.format(*one) for one in folds)
    text = printed(small(f"## Exercise 1: try\n\n{exercise}\n\nThe end of it."))
    place = {
        word: text.rindex(word)
        for word in ("Going deeper: why", "Depth.", "The end of it.")
    }
    place |= {word: text.index(word) for word in ("Nudge.", "Push.", "Answer.")}
    assert list(place) == sorted(place, key=place.get)
    assert re.search(r"Hints, page \d", text)
    assert text.count("back to the text, page") == 2


def test_a_table_of_pandas_is_a_table(small, archive):
    frame = """```{=html}
<div><style scoped>.dataframe { color: red }</style>
<table class="dataframe"><thead><tr><th></th><th>a</th></tr><tr><th>name</th><th></th></tr></thead>
<tbody><tr><th>one</th><td>-1.5</td></tr><tr><th>two</th><td>20</td></tr></tbody></table></div>
```"""
    text = source(small(frame))
    assert "align: (left,right,)" in text
    assert "table.header([name], [a],)" in text
    assert "[one], [−1.5]" in text
    assert "color" not in text
