"""Build the book: every chapter through pandoc, then the references between chapters."""

import html
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from gapfm_course.class_edition.numbers import KIND
from preview import drawings, explorables, search
from preview.build_folder import check_replaceable, mark
from preview.citation import bibtex
from preview.notebook import BookError, notebook_markdown
from preview.pandoc import run_pandoc
from preview.polish import polished
from preview.slides.deck import decks, write_decks

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
ASSETS = ("shared.css", "page.css", "page.js", "search.js", "third_party", "cover.png")
ASSETS += ("favicon.svg", "404.html", "fonts")
TITLE = re.compile(r"^# +(?P<title>.+?)\s*(?:\{(?P<attributes>[^}]*)\})?\s*$", re.MULTILINE)
XREF = re.compile(r'<a href="#([\w-]+)"\s+class="xref( bare)?"\s+data-cell="(\d*)">\?</a>')
LABEL = re.compile(
    r'<\w+(?=[^>]*\sid="((?:eq|fig|tbl|sec)-[\w-]+)")(?=[^>]*\sdata-number="([^"]*)")'
)
IMAGE = re.compile(r'<img\s+src="(?!data:|https?:)([^"]+)"')


@dataclass
class Chapter:
    """One page of the book; `number` is empty for an unnumbered one, `part` outside of parts."""

    source: Path
    href: str
    title: str
    number: str
    markdown: str
    files: dict[str, bytes] = field(default_factory=dict)
    part: str = ""
    page: str = ""

    @property
    def root(self) -> str:
        return "../" * self.href.count("/")

    @property
    def name(self) -> str:
        return f"{self.number} {self.title}".strip()


def build(root: Path, target: Path) -> list[str]:
    """Render the book at `root` into the folder `target`; return the pages written.

    The site replaces `target` once it is complete. Raises BookError on
    anything that this renderer does not know, with the file, the cell and what it is, and
    FileExistsError where `target` is not a folder that a build wrote.
    """
    config = yaml.safe_load((root / "_quarto.yml").read_text(encoding="utf-8"))
    chapters = read_chapters(root, config)
    for chapter in chapters:
        render(chapter, chapters, config, root)
    numbers = label_numbers(chapters)
    for chapter in chapters:
        chapter.page = resolve(chapter, numbers)
        page = drawings.drawn(polished(chapter.page), chapter.files.__getitem__)
        chapter.page = explorables.alive(page, chapter.root)
        # What has become a part of the page need not lie beside it.
        chapter.files = {
            name: f for name, f in chapter.files.items() if f'"{name}"' in page
        }
    index = search.script([(c.href, c.name, c.page) for c in chapters])
    write(chapters, index, decks(root), site_address(config), target)
    return [chapter.href for chapter in chapters]


def read_chapters(root: Path, config: dict) -> list[Chapter]:
    """The chapters of `_quarto.yml`, numbered from 1 where Quarto numbers them."""
    chapters: list[Chapter] = []
    number = 0
    for name, part in listed(config):
        source = root / name
        if not source.is_file():
            raise BookError(f"_quarto.yml: chapter {name} does not exist")
        files: dict[str, bytes] = {}
        if source.suffix == ".ipynb":
            markdown = notebook_markdown(source, files)
        else:
            markdown = source.read_text(encoding="utf-8")
        heading = TITLE.search(markdown)
        if not heading:
            raise BookError(f"{name}: no '# Title' heading")
        numbered = ".unnumbered" not in (heading["attributes"] or "")
        number += numbered
        href = Path(name).with_suffix(".html").as_posix()
        label = str(number) if numbered else ""
        chapters.append(
            Chapter(source, href, heading["title"], label, markdown, files, part)
        )
    return chapters


def listed(config: dict) -> Iterator[tuple[str, str]]:
    """Each chapter of `_quarto.yml`, and the title of the part that it stands in, if any."""
    for entry in config["book"]["chapters"]:
        if isinstance(entry, str):
            yield entry, ""
        else:
            yield from ((name, entry["part"]) for name in entry["chapters"])


def cited_keys(chapters: list[Chapter]) -> list[str]:
    cites = re.findall(r'data-cites="([^"]+)"', "".join(c.page for c in chapters))
    return sorted({key for group in cites for key in group.split()})


def render(chapter: Chapter, chapters: list[Chapter], config: dict, root: Path) -> None:
    """Run pandoc on one chapter and keep the page in `chapter.page`."""
    markdown = chapter.markdown
    listing = next(other for other in chapters if "{#refs}" in other.markdown)
    if chapter is listing:
        cited = ", ".join("@" + key for key in cited_keys(chapters))
        markdown += f"\n\n---\nnocite: |\n  {cited}\n---\n"
    settings = {
        "defaults": [str(HERE / "pandoc.yaml")],
        "bibliography": str(root / config["bibliography"]),
        "number-sections": bool(chapter.number),
        "number-offset": [int(chapter.number or 1) - 1],
        "metadata": {
            "lang": config["lang"],
            "link-citations": True,
            "references": chapter.root + listing.href if chapter is not listing else "",
            "chapter": chapter.number,
            "source": chapter.source.name,
            "pagetitle": chapter.title,
        },
        "variables": page_variables(chapter, chapters, config)
        | {"citation": html.escape(bibtex(root / "CITATION.cff"))},
    }
    chapter.page = run_pandoc(settings, markdown, chapter.source.name)
    for name in IMAGE.findall(chapter.page):
        if name not in chapter.files:
            chapter.files[name] = read_image(chapter.source, name)


def read_image(source: Path, name: str) -> bytes:
    """A picture that the text shows from a file beside it."""
    try:
        return (source.parent / name).read_bytes()
    except OSError as error:
        raise BookError(f"{source.name}: the image {name} cannot be read") from error


def page_variables(chapter: Chapter, chapters: list[Chapter], config: dict) -> dict:
    """What the template prints around the text."""

    firsts = {other.part: other for other in reversed(chapters)}

    def entry(other: Chapter) -> dict:
        return {
            "part": other is firsts[other.part] and html.escape(other.part),
            "href": chapter.root + other.href,
            "title": html.escape(other.title),
            "number": other.number,
            "current": other is chapter,
        }

    position = chapters.index(chapter)
    book = config["book"]
    return {
        "root": chapter.root,
        # Who shows a link with a picture asks for its whole address.
        "address": site_address(config),
        "number": chapter.number,
        "source": chapter.source.name,
        "notebook": chapter.source.suffix == ".ipynb",
        "book-title": html.escape(book["title"]),
        "book-subtitle": html.escape(book["subtitle"]),
        "home": position == 0,
        "chapters": [entry(other) for other in chapters],
        "previous": entry(chapters[position - 1]) if position else False,
        "next": entry(chapters[position + 1]) if position + 1 < len(chapters) else False,
    }


def site_address(config: dict) -> str:
    """Where the site will be, with a slash at its end; empty where `_quarto.yml` does not say."""
    address = config["book"].get("site-url", "")
    return address and address.rstrip("/") + "/"


def sitemap(pages: list[str], address: str) -> str:
    """What search engines read: the whole addresses of `pages`."""
    rows = "".join(
        f"<url><loc>{address}{html.escape(page)}</loc></url>\n" for page in pages
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{rows}</urlset>\n'
    )


def label_numbers(chapters: list[Chapter]) -> dict[str, tuple[str, str]]:
    """label -> (page, number) over the whole book."""
    numbers: dict[str, tuple[str, str]] = {}
    for chapter in chapters:
        for label, number in LABEL.findall(chapter.page):
            if label in numbers:
                raise BookError(f"{chapter.source.name}: label '{label}' is used twice")
            numbers[label] = (chapter.href, number)
    return numbers


def resolve(chapter: Chapter, numbers: dict[str, tuple[str, str]]) -> str:
    """The page with its references to labels filled in."""

    def reference(match: re.Match) -> str:
        label, bare, cell = match.groups()
        if label not in numbers:
            where = f"{chapter.source.name}, cell {cell}" if cell else chapter.source.name
            raise BookError(f"{where}: @{label} points at nothing that has a number")
        href, number = numbers[label]
        kind = KIND.get(label.partition("-")[0]) or (
            "Section" if "." in number else "Chapter"
        )
        text = number if bare else f"{kind}&nbsp;{number}"
        page = "" if href == chapter.href else chapter.root + href
        return f'<a href="{page}#{label}" class="xref">{text}</a>'

    return XREF.sub(reference, chapter.page)


def write(
    chapters: list[Chapter], index: str, slides: dict[str, str], address: str, target: Path
) -> None:
    """Write everything into a folder beside `target`, which then replaces `target`."""
    check_replaceable(target)
    fresh = target.with_name(f"{target.name}.unfinished")
    shutil.rmtree(fresh, ignore_errors=True)
    for chapter in chapters:
        page = fresh / chapter.href
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(chapter.page, encoding="utf-8")
        shutil.copyfile(chapter.source, page.with_name(chapter.source.name))
        for name, content in chapter.files.items():
            image = page.parent / name
            image.parent.mkdir(parents=True, exist_ok=True)
            image.write_bytes(content)
    for name in ASSETS:
        copy = shutil.copytree if (HERE / name).is_dir() else shutil.copyfile
        copy(HERE / name, fresh / name)
    (fresh / explorables.NAME).write_bytes(explorables.script())
    (fresh / search.NAME).write_text(index, encoding="utf-8")
    write_decks(slides, fresh)
    if address:
        pages = sitemap([chapter.href for chapter in chapters], address)
        (fresh / "sitemap.xml").write_text(pages, encoding="utf-8")
    mark(fresh)
    if target.exists():
        shutil.rmtree(target)
    fresh.rename(target)


def main() -> None:
    try:
        pages = build(ROOT, ROOT / "_site")
    except (BookError, FileExistsError) as error:
        sys.exit(f"The site was not built.\n  {error}")
    print(f"_site/: {len(pages)} pages, built by the preview renderer.")
    print("Open _site/index.html")
