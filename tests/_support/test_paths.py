"""Where things are written: through links, never over a device, whole or not at all; and `~`."""

import os
import tempfile
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

from gapfm_lab.experiments.netflix_size import netflix
from gapfm_lab.experiments.results import read_results
from gapfm_lab.netflix_simulation import simulate_netflix
from gapfm_teach import GAPfm, Ratings, load_movielens, load_netflix, simulate_ratings
from gapfm_teach.__main__ import main
from gapfm_teach._support.checks import check_path
from gapfm_teach._support.files import replacing

DATA = simulate_ratings(40, 30, mean_ratings=10, random_state=0)
MODEL = GAPfm(3, n_iter=2, random_state=0).fit(DATA)
unix_only = pytest.mark.skipif(os.name == "nt", reason="Windows has other special files")


def save(path):
    MODEL.save(path)


def checkpoint(path):
    there = Path(path).is_file()  # a checkpoint replaces only the one that it goes on from
    model = GAPfm(3, n_iter=2 if there else 1, random_state=0)
    model.fit(DATA, checkpoint=path, resume=path if there else None)


WRITERS = [save, checkpoint]


# ------------------------------------------------------------------ links


@pytest.fixture
def link(tmp_path):
    """A link in one folder to a place in another, where nothing is yet."""
    (tmp_path / "here").mkdir()
    made = tmp_path / "here" / "model.npz"
    try:
        made.symlink_to(tmp_path / "there" / "real.npz")
    except OSError:
        pytest.skip("this system lets nobody make links")
    return made


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize("old", [False, True], ids=["dangling", "old"])
def test_a_link_stays_and_its_target_is_written(link, tmp_path, write, old):
    target = tmp_path / "there" / "real.npz"
    if old:
        write(target)
    before = target.stat().st_ino if old else None
    write(link)
    assert link.is_symlink()
    assert target.read_bytes()[:2] == b"PK"
    assert target.stat().st_ino != before
    assert os.listdir(link.parent) == ["model.npz"]
    assert os.listdir(target.parent) == ["real.npz"]


# ------------------------------------------------------------------ what is no file


@unix_only
@pytest.mark.parametrize("path", ["a folder", os.devnull])
def test_what_is_no_file_is_not_replaced(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    os.mkdir("a folder")
    with pytest.raises(ValueError, match=f"'{path}' is not a file; pass a file's name"):
        save(path)
    with pytest.raises(OSError, match=r"is not a file.*pass a file's name"):
        checkpoint(path)
    assert os.listdir() == ["a folder"]
    assert not os.path.isfile(path)


# ------------------------------------------------------------------ no room


@contextmanager
def no_file_above(size: int):
    """As on a full disk, a file takes no more than so many bytes."""
    import resource

    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, old[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)


@unix_only
@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o400])
def test_a_file_that_is_replaced_leaves_its_mode(tmp_path, write, mode):
    """What only its owner could read stays so, from the first byte on."""
    path = tmp_path / "model.npz"
    write(path)
    assert os.stat(path).st_mode & 0o777 == 0o666 & ~umask()
    path.chmod(mode)
    write(path)
    assert os.stat(path).st_mode & 0o777 == mode
    with replacing(path) as file:
        assert os.stat(file.name).st_mode & 0o777 == mode


def umask() -> int:
    now = os.umask(0)
    os.umask(now)
    return now


@unix_only
def test_a_place_closed_to_us_is_named_and_not_what_lies_beside():
    with tempfile.TemporaryDirectory() as place, nobody_special(place):
        path = Path(place, "model.npz")
        writers = [save]
        if find_spec("pyarrow"):
            writers.append(DATA.to_parquet)
        for write in writers:
            with pytest.raises(PermissionError, match=r"model\.npz'$") as caught:
                write(path)
            assert caught.value.filename == str(path)
        with pytest.raises(
            OSError, match=rf"checkpoint '{path}' cannot be written \(.*denied"
        ):
            checkpoint(path)


@contextmanager
def nobody_special(place):
    """Inside the block the folder may be looked into only, even by an administrator, who may
    write everywhere and is nobody in particular."""
    me = os.geteuid()
    os.chmod(place, 0o555)
    if me == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(me)
        os.chmod(place, 0o700)


@unix_only
@pytest.mark.parametrize("write", WRITERS)
def test_a_full_disk_is_named_with_the_path_and_leaves_what_was(tmp_path, write):
    path = tmp_path / "model.npz"
    write(path)
    before = path.read_bytes()
    with (
        no_file_above(1000),
        pytest.raises(OSError, match=r"nothing was written.*model\.npz") as caught,
    ):
        write(path)
    assert caught.value.filename == str(path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["model.npz"]


# ------------------------------------------------------------------ no path


@pytest.mark.parametrize(
    ("bad", "error"), [("", ValueError), ("a\0b", ValueError), (1, TypeError),
                       (True, TypeError), (b"x", TypeError), (None, TypeError)],
)  # fmt: skip
@pytest.mark.parametrize(
    ("function", "name"),
    [
        (save, "path"),
        (GAPfm.load, "path"),
        (DATA.to_parquet, "path"),
        (Ratings.from_parquet, "path"),
        (load_netflix, "path"),
        (simulate_netflix, "folder"),
        (read_results, "path"),
    ],
    ids=["save", "load", "to_parquet", "from_parquet", "load_netflix", "simulate_netflix",
         "read_results"],
)  # fmt: skip
def test_what_is_no_path_is_refused_with_what_to_give(
    tmp_path, monkeypatch, function, name, bad, error
):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=rf"{name} must be .*got .*; (pass|name) "):
        function(bad)
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize("bad", ["", 3, False])
def test_a_path_that_is_given_but_is_none_does_not_count_as_left_out(bad):
    for load in (lambda path: load_movielens(path=path), lambda path: netflix(1, path)):
        with pytest.raises((TypeError, ValueError), match=r"path must be .*got .*; pass "):
            load(bad)


def test_an_empty_option_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for option, data in (("--path", "100k"), ("--path", "netflix"), ("--out", "100k")):
        monkeypatch.setattr(
            "gapfm_lab.reproduce.command.load_movielens",
            lambda name, path: DATA if path is None else load_movielens(name, path),
        )
        assert main(["reproduce", "figure1", "--data", data, option, ""]) == 1
        assert "must be a path, got ''" in capsys.readouterr().err
    assert not os.listdir(tmp_path)


# ------------------------------------------------------------------ the home folder


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home folder of its own, and a working folder that nothing may be written to."""
    (tmp_path / "home").mkdir()
    (tmp_path / "work").mkdir()
    for variable in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(variable, str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path / "work")
    yield tmp_path / "home"
    assert not os.listdir(tmp_path / "work")


@pytest.mark.parametrize("kind", [str, Path])
def test_a_model_and_a_checkpoint_in_the_home_folder(home, kind):
    save(kind("~/new/model.npz"))
    assert GAPfm.load(kind("~/new/model.npz")).n_iter_ == 2
    checkpoint(kind("~/run.npz"))
    again = GAPfm(3, n_iter=2, random_state=0)
    assert again.fit(DATA, resume=kind("~/run.npz")).n_iter_ == 2
    assert sorted(os.listdir(home)) == ["new", "run.npz"]


def test_parquet_in_the_home_folder(home):
    pytest.importorskip("pyarrow")
    DATA.to_parquet("~/ratings", 2)
    assert Ratings.from_parquet("~/ratings").n_ratings == DATA.n_ratings
    assert os.listdir(home) == ["ratings"]


@pytest.mark.usefixtures("home")
def test_data_in_the_home_folder(tmp_path):
    lines = "1\t5\t3\t0\n2\t5\t4\t0\n"
    (tmp_path / "home" / "ml-100k").mkdir()
    (tmp_path / "home" / "ml-100k" / "u.data").write_text(lines)
    (tmp_path / "home" / "ml-100k" / "u.item").write_text("5|A film (1990)|||\n")
    with pytest.raises(ValueError, match="2 users, 1 films, 2 ratings"):
        load_movielens("100k", "~/ml-100k")  # found and read, though not as published
    with pytest.raises(FileNotFoundError, match="home"):
        load_netflix("~/nothing")


def test_the_command_writes_into_the_home_folder(home, monkeypatch):
    class Enough(Exception):
        pass

    def keep(run):
        seen.append(run.out)
        raise Enough

    seen: list[Path] = []
    monkeypatch.setattr("gapfm_lab.reproduce.command.reproduce", keep)
    monkeypatch.setattr("gapfm_lab.reproduce.command.load_movielens", lambda *_: DATA)
    with pytest.raises(Enough):
        main(["reproduce", "figure1", "--out", "~/out"])
    assert seen == [home / "out"]


def test_the_home_of_somebody_unknown_is_refused(monkeypatch):
    def unknown(self):
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "expanduser", unknown)
    with pytest.raises(
        ValueError, match=r"path must be a path, got '~nobody/x' \(Could not"
    ):
        check_path("~nobody/x", "path", "pass a file's name")
