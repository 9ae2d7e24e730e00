"""How to cite the book, in BibTeX, from what CITATION.cff says."""

from pathlib import Path

import yaml


def bibtex(path: Path) -> str:
    """The entry for the work that the file at `path` describes."""
    work = yaml.safe_load(path.read_text(encoding="utf-8"))
    key = work["title"].partition(":")[0]
    fields = {
        "title": f"{{{work['title']}}}",
        "author": " and ".join(map(_author, work["authors"])),
        "version": work["version"],
    }
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items()]
    return "\n".join([f"@software{{{key},", *lines, "}"])


def _author(person: dict[str, str]) -> str:
    """Braces keep the name of a group together."""
    if "name" in person:
        return f"{{{person['name']}}}"
    return f"{person['family-names']}, {person['given-names']}"
