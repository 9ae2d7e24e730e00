"""The volume as an EPUB, by pandoc."""

import uuid
import zipfile
from io import BytesIO

from preview.formulas import well_set
from preview.pandoc import run_pandoc
from preview.paper.gather import HERE, Volume

FONT = HERE.parent / "fonts" / "stix-two-math.woff2"


def epub(volume: Volume) -> bytes:
    """The EPUB: a file for each chapter, formulas as MathML with a font for them.

    The same bytes for the same sources, where the environment has SOURCE_DATE_EPOCH.
    """
    target = volume.folder / "book.epub"
    settings = {
        "from": "json",
        "to": "epub3",
        "html-math-method": {"method": "mathml"},
        "filters": [str(HERE / "epub.lua")],
        "css": [str(HERE / "epub.css")],
        "epub-fonts": [str(FONT)],
        "table-of-contents": True,
        "toc-depth": 2,
        "split-level": 1,
        "resource-path": [str(volume.folder)],
        "output-file": str(target),
        "metadata": {
            "title": volume.title,
            "subtitle": volume.subtitle,
            "lang": volume.language,
            "rights": "CC BY 4.0; code: MIT",
            "identifier": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, volume.title)}",
            "author": volume.authors,
        },
    }
    run_pandoc(settings, volume.document, "the book")
    return _with_formulas_well_set(target.read_bytes())


def _with_formulas_well_set(book: bytes) -> bytes:
    """The same files in the same order, for a reader wants `mimetype` first and as it is."""
    out = BytesIO()
    with zipfile.ZipFile(BytesIO(book)) as old, zipfile.ZipFile(out, "w") as new:
        for entry in old.infolist():
            body = old.read(entry)
            if entry.filename.endswith(".xhtml"):
                body = well_set(body.decode()).encode()
            new.writestr(entry, body)
    return out.getvalue()
