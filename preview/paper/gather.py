"""All chapters as one pandoc document, with its pictures in a folder beside it."""

import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

from gapfm_course.explorables.linked import HERE as WIDGETS
from preview.build import Chapter, read_chapters, read_image
from preview.pandoc import run_pandoc

HERE = Path(__file__).resolve().parent
ROMAN = ("i", "ii", "iii", "iv", "v", "vi")


@dataclass
class Volume:
    """`document` is pandoc's JSON; the pictures that it names lie in `folder`."""

    document: str
    folder: Path
    title: str
    subtitle: str
    language: str
    authors: list[str]
    version: str


def gather(root: Path, folder: Path) -> Volume:
    """Read the book at `root` and put its pictures into `folder`.

    Raises BookError with the file and what it is on anything that paper cannot hold.
    """
    config = yaml.safe_load((root / "_quarto.yml").read_text(encoding="utf-8"))
    citation = yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8"))
    chapters = read_chapters(root, config)
    shutil.copytree(WIDGETS / "pictures", folder / "pictures")
    document: dict = {}
    labels = [*label_figures(chapters), ""]
    chapters.append(licences(root))
    for chapter, label in zip(chapters, labels, strict=True):
        part = read(chapter, label, live(chapter, config), root)
        keep_pictures(part, chapter, root, folder)
        part["blocks"] = document.get("blocks", []) + part["blocks"]
        document = part
    document["meta"] = {"last": {"t": "MetaString", "c": labels[-3]}}
    settings = {
        "from": "json",
        "to": "json",
        "filters": [str(HERE / "volume.lua"), {"type": "citeproc"}],
        "bibliography": str(root / config["bibliography"]),
        "metadata": {"link-citations": True, "lang": config["lang"]},
    }
    return Volume(
        document=run_pandoc(settings, json.dumps(document), "the book"),
        folder=folder,
        title=config["book"]["title"],
        subtitle=config["book"]["subtitle"],
        language=config["lang"],
        authors=[author["name"] for author in citation["authors"]],
        version=citation["version"],
    )


def label_figures(chapters: list[Chapter]) -> Iterator[str]:
    """What the numbers in each chapter begin with.

    Chapters have numbers; the pages before them i, ii, ..., for the figures in one volume
    need different numbers, and those after them A, B, ..., as appendices; the last, the
    list of works cited, has none.
    """
    last = max(i for i, chapter in enumerate(chapters) if chapter.number)
    for i, chapter in enumerate(chapters):
        if chapter is chapters[-1]:
            yield ""
        else:
            yield chapter.number or (ROMAN[i] if i < last else chr(ord("A") + i - last - 1))


def licences(root: Path) -> Chapter:
    """The last page: what a reader may do with the text and with the code."""
    parts = ["# Licences"]
    for title, name in {"Text and figures": "LICENSE-TEXT", "Code": "LICENSE"}.items():
        text = (root / name).read_text(encoding="utf-8")
        parts += [f"## {title}", re.sub(r"(https?://\S+)", r"<\1>", text)]
    return Chapter(root / "LICENSE", "licences.html", "Licences", "", "\n\n".join(parts))


def live(chapter: Chapter, config: dict) -> str:
    """Where a reader finds a picture's explorable: a sentence in Markdown."""
    number = f"chapter {chapter.number}, " if chapter.number else ""
    place = f"{number}*{chapter.title}*"
    site = config["book"].get("site-url")
    if site:
        place = f"[{place}]({site.rstrip('/')}/{chapter.href})"
    return f"A still. To move it, open the rendered course at {place}."


def read(chapter: Chapter, label: str, place: str, root: Path) -> dict:
    """The chapter as pandoc's tree, after the preview's filter and the one for paper."""
    above = chapter.source.parent.relative_to(root).as_posix()
    metadata = {
        "source": chapter.source.name,
        "stem": chapter.source.stem,
        "chapter": label,
        "folder": "" if above == "." else above + "/",
        "place": place,
    }
    settings = {
        "from": "markdown",
        "to": "json",
        "filters": [str(HERE.parent / "filter.lua"), str(HERE / "chapter.lua")],
        "metadata": metadata,
    }
    return json.loads(run_pandoc(settings, chapter.markdown, chapter.source.name))


def keep_pictures(part: dict, chapter: Chapter, root: Path, folder: Path) -> None:
    """Write the pictures that the chapter shows into `folder`."""
    above = chapter.source.parent
    for name in pictures(part["blocks"]):
        target = folder / name
        if target.exists():
            continue
        inside = (root / name).relative_to(above).as_posix()
        content = chapter.files.get(inside) or read_image(chapter.source, inside)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


def pictures(tree: list | dict) -> Iterator[str]:
    """The files of all images in a part of pandoc's tree."""
    if isinstance(tree, dict) and tree.get("t") == "Image":
        yield tree["c"][2][0]
    elif isinstance(tree, dict | list):
        for part in tree.values() if isinstance(tree, dict) else tree:
            yield from pictures(part)
