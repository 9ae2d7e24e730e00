"""Files in the formats of the Netflix Prize data, from a known latent truth.

The data themselves may not be passed on and can no longer be had from Netflix. These files have
their formats, sizes and long tails, so that whatever reads or learns from the real ones can be
tried, timed and taught without them. They say nothing about real people or movies.
"""

import os
import secrets
import shutil
from pathlib import Path
from typing import Literal

import numpy as np

from gapfm_teach._support.checks import (
    check_choice,
    check_path,
    check_random_state,
    check_real,
)
from gapfm_teach.datasets.netflix import names
from gapfm_teach.datasets.netflix.names import LABEL, PROBE

from . import marginals
from . import simulation_kernels as simulation
from .latent import Sizes, Truth, draw_choices, draw_days, draw_scores, draw_truth
from .titles import title_lines

SMALLEST_SCALE = 1e-4
BYTES_A_RATING = 21  # at most: user 7, grade 1, date 10, two commas and a line end
BYTES_A_HEADER = 7  # at most: movie 5, colon and line end
RATINGS_A_WRITE = 2_000_000


def simulate_netflix(
    folder,
    scale: float = 1.0,
    *,
    layout: Literal["kaggle", "original"] = "kaggle",
    random_state=None,
) -> Path:
    """Write simulated ratings to `folder`, in the files of the Netflix Prize; return its path.

    At scale 1 there are 480,189 users, 17,770 movies and 100,480,507 ratings, 1,408,395 of them
    in the probe, with the grade shares, the activity of users and the popularity of movies of
    the real data. Users, ratings and probe shrink in proportion to `scale`, movies with its
    fourth root, so that each user stays as active. A user meets movies by popularity and rates
    those that suit a taste of 8 factors; the grade follows biases, the same taste and chance.
    Dates carry no signal but the order of each user's ratings: the probe comes last.

    Parameters
    ----------
    folder : where to write; must not exist, or be empty. Everything is first written beside it
        and renamed at the end, so that a stopped run leaves nothing.
    scale : 0.0001 to 1. Full size takes about 2.1 GB of disk, 1.3 GiB of memory and a minute or two.
    layout : "kaggle" (combined_data_1.txt to _4.txt, movie_titles.csv, probe.txt) or
        "original" (a training_set/mv_0000001.txt for each movie, movie_titles.txt, probe.txt).
        The qualifying set, whose grades were secret, has no counterpart.
    random_state : None, an int or a NumPy Generator; the same int gives the same files.

    A file SIMULATED.txt says that the data are simulated, and how.

    Raises ValueError or TypeError for an argument out of range, and when `folder` cannot be
    replaced (the current folder, the top of a disk), FileExistsError when it holds something,
    OSError when the disk has too little room.

    >>> from gapfm_lab.netflix_simulation import simulate_netflix
    >>> folder = simulate_netflix("films", scale=0.0001, random_state=0)
    >>> sorted(path.name for path in folder.iterdir())[-2:]
    ['movie_titles.csv', 'probe.txt']
    >>> (folder / "SIMULATED.txt").read_text().splitlines()[2]
    '48 users, 1777 movies, 10048 ratings, 141 of them in the probe'
    """
    scale = check_real(scale, "scale", low=SMALLEST_SCALE)
    if scale > 1:
        raise ValueError(
            f"scale must be at most 1, the size of the real data; got {scale:g}"
        )
    check_choice(layout, "layout", ("kaggle", "original"))
    rng = check_random_state(random_state)
    folder = check_path(folder, "folder", "name a new folder").resolve()
    _check_free(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    _check_room(folder.parent, Sizes(scale))
    temporary = folder.with_name(f"{folder.name}.{secrets.token_hex(4)}.part")
    temporary.mkdir()
    try:
        _write_all(temporary, draw_truth(scale, rng), layout, rng)
        (temporary / LABEL).write_text(_label(scale, random_state), encoding="ascii")
        _check_empty(folder)  # another program may have been faster
        if folder.exists():
            folder.rmdir()  # empty, else this raises; a folder can't be renamed onto it everywhere
        os.rename(temporary, folder)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    return folder


def _label(scale: float, random_state) -> str:
    sizes = Sizes(scale)
    known = not (random_state is None or isinstance(random_state, np.random.Generator))
    return (
        f"simulated, in Netflix's formats, scale {scale:g}\n"
        "Not the Netflix Prize data: no line here was ever a person's rating of a movie.\n"
        f"{sizes.n_users} users, {sizes.n_movies} movies, {sizes.n_ratings} ratings, "
        f"{sizes.n_probe} of them in the probe\n"
        f"random_state: {random_state if known else 'not an int, so not to be repeated'}\n"
    )


def _check_empty(folder: Path) -> None:
    if os.path.lexists(folder) and (not folder.is_dir() or any(folder.iterdir())):
        raise FileExistsError(
            f"{folder} exists and is not an empty folder; name a new one, or remove it first"
        )


def _check_free(folder: Path) -> None:
    _check_empty(folder)
    if folder == Path.cwd() or os.path.ismount(folder):
        what = "the current folder" if folder == Path.cwd() else "a disk of its own"
        raise ValueError(
            f"folder {folder} is {what} and cannot be replaced by a finished one; name a folder "
            "inside it"
        )


def _check_room(place: Path, sizes: Sizes) -> None:
    needed = sizes.n_ratings * BYTES_A_RATING + sizes.n_movies * BYTES_A_HEADER
    free = shutil.disk_usage(place).free
    if free < needed:
        raise OSError(
            f"{place} has {free / 1e9:.2f} GB free and the files need up to "
            f"{needed / 1e9:.2f} GB; choose another folder or a smaller scale"
        )


class _ByMovie:
    """All ratings sorted by movie, movie i at `indptr[i]:indptr[i + 1]`."""

    def __init__(self, truth: Truth, rng: np.random.Generator):
        n_movies, n_ratings = truth.sizes.n_movies, truth.sizes.n_ratings
        by_user, movies = draw_choices(truth, rng)
        steps, grade_of_step = draw_scores(truth, by_user, movies, rng)
        first, last = np.datetime64(marginals.FIRST_DAY), np.datetime64(marginals.LAST_DAY)
        dates = np.arange(first, last + np.timedelta64(1, "D")).astype("S10")
        self.date_text = dates.view(np.uint8).reshape(-1, 10)
        joined, left = draw_days(truth.sizes.n_users, dates.size, rng)
        counts = np.zeros(n_movies, np.int64)
        simulation.count(movies, counts)
        self.indptr = np.concatenate(([0], np.cumsum(counts)))
        self.users = np.empty(n_ratings, np.int32)
        self.grades = np.empty(n_ratings, np.uint8)
        self.days = np.empty(n_ratings, np.uint16)
        simulation.group_by_movie(
            by_user, movies, steps, grade_of_step, truth.ids, joined, left, truth.n_probe,
            self.indptr[:-1].copy(), self.users, self.grades, self.days,
        )  # fmt: skip


def _write_all(folder: Path, truth: Truth, layout: str, rng: np.random.Generator) -> None:
    ratings = _ByMovie(truth, rng)
    n_movies = truth.sizes.n_movies
    if layout == "kaggle":
        titles = "movie_titles.csv"
        ends = [round(end * n_movies / names.N_MOVIES) for end in marginals.FILE_ENDS]
        for number, (first, last) in enumerate(zip([0, *ends], ends, strict=False), 1):
            _write_movies(folder / f"combined_data_{number}.txt", ratings, first, last)
    else:
        titles = "movie_titles.txt"
        (folder / "training_set").mkdir()
        for movie in range(n_movies):
            path = folder / "training_set" / f"mv_{movie + 1:07d}.txt"
            _write_movies(path, ratings, movie, movie + 1)
    (folder / titles).write_bytes(title_lines(n_movies, rng))
    # In the real file movie 10 comes after movie 1, and movie 2 after all that begin with 1.
    order = np.array(sorted(range(n_movies), key=lambda movie: str(movie + 1)))
    room = np.empty(truth.sizes.n_probe * 8 + n_movies * BYTES_A_HEADER, np.uint8)
    filled = simulation.probe_lines(
        order, ratings.indptr, ratings.users, ratings.days, room
    )
    (folder / PROBE).write_bytes(room[:filled].data)


def _write_movies(path: Path, ratings: _ByMovie, first: int, last: int) -> None:
    """Write movies first to last - 1, a few million lines at a time."""
    indptr = ratings.indptr
    with open(path, "xb") as file:
        while first < last:
            reach = np.searchsorted(indptr, indptr[first] + RATINGS_A_WRITE)
            until = min(max(int(reach), first + 1), last)
            size = (indptr[until] - indptr[first]) * BYTES_A_RATING
            room = np.empty(size + (until - first) * BYTES_A_HEADER, np.uint8)
            filled = simulation.rating_lines(
                first, until, indptr, ratings.users, ratings.grades, ratings.days,
                ratings.date_text, room,
            )  # fmt: skip
            file.write(room[:filled].data)
            first = until
