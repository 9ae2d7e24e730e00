"""Small files in the Netflix Prize's layouts and what they hold, for the tests that read them."""

import io
import tarfile
import traceback
import zipfile
from pathlib import Path

import numpy as np
import pytest

from gapfm_teach import Ratings, load_netflix

LAYOUTS = ("Kaggle folder", "Kaggle zip", "original folder", "original archive")
TITLES = (
    "1,2003,Dinosaur Planet\n"
    "2,NULL,Señor, No, Nunca\n"
    "30,1994,Été\x85suite\n"  # \x85: a letter's place in Latin-1, a line's end to str.splitlines
    "17770,2003,Alien Hunter\n"
)
# (user, movie) -> grade, and the pairs among them that the probe names
SMALL = {
    (1, 1): 5,
    (7, 1): 3,
    (2_649_429, 1): 1,
    (7, 2): 4,
    (1, 30): 2,
    (7, 30): 5,
    (123_456, 30): 4,
    (7, 17_770): 1,
}
SMALL_PROBE = [(7, 1), (123_456, 30), (7, 17_770)]


def header_and_lines(movie: int, ratings: dict) -> str:
    lines = [
        f"{user},{grade},2005-09-06\n"
        for (user, rated), grade in ratings.items()
        if rated == movie
    ]
    return "".join([f"{movie}:\n", *lines])


def texts(layout: str, ratings: dict, probe: list, titles: str = TITLES) -> dict[str, str]:
    """The files of a layout: name -> content, none of them empty. Kaggle's movies are dealt to
    its four files."""
    movies = sorted({movie for _, movie in ratings})
    if layout.startswith("Kaggle"):
        files = {f"combined_data_{n}.txt": "" for n in (1, 2, 3, 4)}
        for place, movie in enumerate(movies):
            name = f"combined_data_{1 + 4 * place // len(movies)}.txt"
            files[name] += header_and_lines(movie, ratings)
    else:
        files = {
            f"training_set/mv_{movie:07d}.txt": header_and_lines(movie, ratings)
            for movie in movies
        }
    # The order of the real file: as text.
    for movie in sorted({movie for _, movie in probe}, key=str):
        users = "".join(f"{user}\n" for user, named in probe if named == movie)
        files["probe.txt"] = files.get("probe.txt", "") + f"{movie}:\n{users}"
    files["movie_titles." + ("csv" if layout.startswith("Kaggle") else "txt")] = titles
    return {name: text for name, text in files.items() if text}


def write(layout: str, files: dict[str, str], folder: Path) -> Path:
    """Write `files` in a layout and return the path to pass."""
    contents = {name: text.encode("latin-1") for name, text in files.items()}
    folder.mkdir(parents=True, exist_ok=True)
    if layout.endswith("folder"):
        for name, content in contents.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_bytes(content)
        return folder
    if layout == "Kaggle zip":
        with zipfile.ZipFile(folder / "archive.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in contents.items():
                archive.writestr(name, content)
        return folder / "archive.zip"
    inner = {name: contents[name] for name in contents if name.startswith("training_set/")}
    outer = {f"download/{name}": contents[name] for name in contents if name not in inner}
    outer = {"download/training_set.tar": tar(inner), **outer}
    (folder / "nf_prize_dataset.tar.gz").write_bytes(tar(outer, "gz"))
    return folder / "nf_prize_dataset.tar.gz"


def tar(contents: dict[str, bytes], compression: str = "") -> bytes:
    """The bytes of a tar file, with an entry for each folder as the real one has."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=f"w:{compression}") as archive:
        for place in sorted(
            {name.partition("/")[0] for name in contents} - {*contents, "", ".."}
        ):
            entry = tarfile.TarInfo(place)
            entry.type = tarfile.DIRTYPE
            archive.addfile(entry)
        for name, content in contents.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return out.getvalue()


def small(tmp_path, layout="Kaggle folder", **changes) -> Path:
    files = texts(layout, SMALL, SMALL_PROBE) | changes
    kept = {name: text for name, text in files.items() if text is not None}
    return write(layout, kept, tmp_path / "netflix")


def refused(path, tmp_path) -> str:
    """The message of the ValueError of `load_netflix`, after checking that it stands alone, with
    no other error before it, and that no cache was begun in `tmp_path / "data"`."""
    with pytest.raises(ValueError, match=r".") as failure:
        load_netflix(path)
    shown = "".join(traceback.format_exception(failure.value))
    assert shown.count("Traceback (most recent call last)") == 1
    assert not (tmp_path / "data").exists()
    return str(failure.value)


def triples(ratings: Ratings) -> dict:
    """(user id, movie id) -> grade, after checking that no pair is lost in it."""
    frame = ratings.to_frame()
    found = {(u, i): g for u, i, g in frame.itertuples(index=False)}
    assert len(found) == ratings.n_ratings == len(frame)
    return found


def without(pairs, ratings=SMALL):
    return {pair: grade for pair, grade in ratings.items() if pair not in pairs}


def same(one: Ratings, other: Ratings) -> None:
    for name in ("indptr", "indices", "grades", "users", "items", "titles"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
        assert getattr(one, name).dtype == getattr(other, name).dtype
    assert (one.n_users, one.n_items, one.max_grade, one.n_ratings, one.source) == (
        (other.n_users, other.n_items, other.max_grade, other.n_ratings, other.source)
    )
