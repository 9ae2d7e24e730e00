"""What a build wrote into a site: a list in the site, without which nothing is removed."""

import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path

LIST = "written.json"
FORMAT, VERSION = "gapfm_teach site", 2  # version 1, still read, has no hashes
# What a system puts into any folder that somebody looks at: nobody's work.
_OF_SYSTEMS = {".DS_Store", "Thumbs.db", "desktop.ini"}
# What is renewed with each page, by Quarto and by the step after it.
_OF_ALL_PAGES = (
    "search.json",
    "search.js",
    "from_file.js",
    "sitemap.xml",
    "explorables.js",
)
_SHOWN = 3  # names in an error


def leave_list(site: Path) -> None:
    """Write down that all files now in the folder `site` came from a build, as they are."""
    files = {name: _content(site / name) for name in sorted(_files(site))}
    stored = {"format": FORMAT, "version": VERSION, "files": files}
    (site / LIST).write_text(json.dumps(stored, indent=0), encoding="utf-8")


def renew_list(site: Path, pages: Iterable[Path]) -> None:
    """Write down that a build has renewed `pages`, with the files that belong to them; nothing
    where no list is."""
    listed = _listed(site)
    if not listed:
        return
    homes = [page.with_name(f"{page.stem}_files") for page in pages]
    renewed = {*pages, *(site / name for name in _OF_ALL_PAGES)}
    for name in _files(site):
        path = site / name
        if path in renewed or any(home in path.parents for home in homes):
            listed[name] = _content(path)
    stored = {"format": FORMAT, "version": VERSION, "files": listed}
    (site / LIST).write_text(json.dumps(stored, indent=0), encoding="utf-8")


def check_replaceable(site: Path) -> None:
    """Raise FileExistsError, naming it, for anything at `site` that no build put there so."""
    if site.is_symlink() or (site.exists() and not site.is_dir()):
        raise FileExistsError(
            f"{site.name} is no folder; remove or rename it, and build again"
        )
    listed = _listed(site)
    found = sorted(n for n in _files(site) if Path(n).name not in _OF_SYSTEMS)
    strange = [
        name for name in found if name not in listed and not (listed and name == LIST)
    ]
    edited = [
        name
        for name in found
        if listed.get(name) is not None and listed[name] != _content(site / name)
    ]
    for names, what in (
        (strange, "which is in no build's list of files"),
        (edited, "changed since it was built"),
    ):
        if names:
            more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
            raise FileExistsError(
                f"{site.name}/ holds {', '.join(names[:_SHOWN])}{more}, {what} and would be "
                f"lost; move it away, or remove or rename {site.name}/, and build again"
            )


def _files(site: Path) -> set[str]:
    found = (path for path in site.rglob("*") if path.is_symlink() or not path.is_dir())
    return {path.relative_to(site).as_posix() for path in found}


def _content(path: Path) -> str:
    """What tells a file as it is from what may become of it."""
    if path.is_symlink():
        return f"link to {os.readlink(path)}"
    if not path.is_file():
        return "device or pipe"
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _listed(site: Path) -> dict[str, str | None]:
    """Each file that a build wrote, and its content, None where that is not known."""
    if not (site / LIST).is_file():
        return {}
    try:
        stored = json.loads((site / LIST).read_text(encoding="utf-8"))
        found = stored["format"], stored["version"]
        if found == (FORMAT, 1):
            return dict.fromkeys(stored["files"])
        return dict(stored["files"]) if found == (FORMAT, VERSION) else {}
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}
