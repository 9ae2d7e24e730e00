"""Which files of a site a build wrote: a list in the site, without which nothing is removed."""

import json
from pathlib import Path

LIST = "written.json"
FORMAT, VERSION = "gapfm_teach site", 1
# What a system puts into any folder that somebody looks at: nobody's work.
_OF_SYSTEMS = {".DS_Store", "Thumbs.db", "desktop.ini"}


def leave_list(site: Path) -> None:
    """Write down that all files now in the folder `site` came from a build."""
    stored = {"format": FORMAT, "version": VERSION, "files": sorted(_files(site))}
    (site / LIST).write_text(json.dumps(stored, indent=0), encoding="utf-8")


def check_replaceable(site: Path) -> None:
    """Raise FileExistsError, naming it, for anything at `site` that no build put there."""
    if site.is_symlink() or (site.exists() and not site.is_dir()):
        raise FileExistsError(
            f"{site.name} is no folder; remove or rename it, and build again"
        )
    strange = sorted(_files(site) - _listed(site))
    name = next((name for name in strange if Path(name).name not in _OF_SYSTEMS), None)
    if name is not None:
        raise FileExistsError(
            f"{site.name}/ holds {name}, which is in no build's list of files and would be lost; "
            f"move it away, or remove or rename {site.name}/, and build again"
        )


def _files(site: Path) -> set[str]:
    found = (path for path in site.rglob("*") if path.is_symlink() or not path.is_dir())
    return {path.relative_to(site).as_posix() for path in found}


def _listed(site: Path) -> set[str]:
    try:
        stored = json.loads((site / LIST).read_text(encoding="utf-8"))
        ours = (stored["format"], stored["version"]) == (FORMAT, VERSION)
        return {LIST, *stored["files"]} if ours else set()
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return set()
