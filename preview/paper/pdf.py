"""The volume as a PDF, through Typst."""

import json
import os
import shutil
import time
from pathlib import Path

import matplotlib
import typst

from preview.notebook import BookError
from preview.pandoc import run_pandoc
from preview.paper.gather import HERE, Volume

# For the words in drawings, whose places matplotlib has measured with them.
FACES = Path(matplotlib.get_data_path()) / "fonts" / "ttf"


def pdf(volume: Volume) -> bytes:
    """The PDF: tagged, with what each picture and formula is in words (PDF/UA-1).

    The same bytes for the same sources, where the environment has SOURCE_DATE_EPOCH.
    """
    shutil.copy(HERE / "book.typ", volume.folder)
    return compiled(volume.folder / "main.typ", source(volume))


def compiled(main: Path, text: str) -> bytes:
    """The PDF of `text` in Typst's language, kept as `main` beside what it names."""
    main.write_text(text, encoding="utf-8")
    try:
        return typst.compile(
            main,
            ignore_system_fonts=True,
            font_paths=[FACES],
            pdf_standards=["ua-1"],
            timestamp=int(os.environ.get("SOURCE_DATE_EPOCH", time.time())),
        )
    except typst.TypstError as error:
        raise BookError(f"Typst cannot set the book:\n{error.diagnostic}") from error


def source(volume: Volume) -> str:
    """The volume in Typst's language."""
    facts = {
        "title": volume.title,
        "subtitle": volume.subtitle,
        "version": volume.version,
        "language": volume.language,
    }
    body = to_typst(volume.document, "the book", "typst.lua")
    looks = given(facts, volume.authors)
    return f'#import "book.typ": *\n#show: book.with({looks})\n{body}'


def to_typst(document: str, name: str, *filters: str) -> str:
    """A document in pandoc's JSON in Typst's language, after these filters of this folder."""
    settings = {
        "from": "json",
        "to": "typst",
        "wrap": "preserve",
        "filters": [str(HERE / name) for name in filters],
    }
    return run_pandoc(settings, document, name)


def given(facts: dict[str, str], authors: list[str]) -> str:
    """The arguments of what sets the pages, in Typst's language."""
    texts = [
        f"{name}: {json.dumps(text, ensure_ascii=False)}" for name, text in facts.items()
    ]
    names = "".join(json.dumps(name, ensure_ascii=False) + ", " for name in authors)
    return ", ".join([*texts, f"authors: ({names})"])
