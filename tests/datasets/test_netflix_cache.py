"""What the first reading of the Netflix data leaves for the second, whatever happens meanwhile."""

import os
import pickle
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from netflix_files import SMALL_PROBE, same, small, triples, without

from gapfm_teach import load_netflix
from gapfm_teach.datasets.netflix import cache, load


@pytest.fixture(autouse=True)
def data_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("GAPFM_TEACH_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


def forbid_reading(monkeypatch):
    def read(*_arguments):
        raise AssertionError("read again")

    monkeypatch.setattr(load, "_read", read)


def test_the_second_load_is_mapped_from_the_cache(tmp_path, data_folder, monkeypatch):
    path = small(tmp_path)
    first = load_netflix(path)
    assert first[0].origin == "netflix"
    forbid_reading(monkeypatch)
    again = load_netflix(path)
    for one, other in zip(first, again, strict=True):
        same(one, other)
        assert other.origin == "data folder (first from: netflix)"
        for part in (one, other, pickle.loads(pickle.dumps(other))):
            assert not any(
                getattr(part, name).flags.writeable for name in (*cache.ROWS, *cache.SHARED)
            )
        assert isinstance(other.indices.base, np.memmap)
    assert len(list(data_folder.iterdir())) == 1


def test_a_moved_folder_is_known_again_and_a_changed_one_is_not(tmp_path, monkeypatch):
    path = small(tmp_path)
    load_netflix(path)
    moved = path.rename(tmp_path / "moved")
    file = moved / "combined_data_1.txt"
    status = file.stat()
    with monkeypatch.context() as patch:
        forbid_reading(patch)
        load_netflix(moved)
    file.write_bytes(file.read_bytes().replace(b"7,3,", b"7,2,"))
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert triples(load_netflix(moved)[1])[7, 1] == 2  # same size and time, another sample
    os.utime(file, ns=(0, 0))
    forbid_reading(monkeypatch)
    with pytest.raises(AssertionError, match="read again"):
        load_netflix(moved)


def test_large_files_are_known_by_samples_and_times(tmp_path, monkeypatch):
    monkeypatch.setattr(cache, "SAMPLE", 4)
    monkeypatch.setattr(cache, "N_SAMPLES", 3)
    inputs = {name: tmp_path / name for name in "ab"}
    for file in inputs.values():
        file.write_bytes(bytes(100))
        os.utime(file, ns=(0, 0))
    keys = [cache.key_of(inputs)]
    for name, place in (("a", 0), ("a", 98), ("b", 99), ("b", 50)):
        content = bytearray(inputs[name].read_bytes())
        content[place] += 1
        inputs[name].write_bytes(content)
        os.utime(inputs[name], ns=(0, 0))
        keys.append(cache.key_of(inputs))
    assert len(set(keys[:4])) == 4
    assert keys[4] == keys[3]  # the documented limit
    os.utime(inputs["b"], ns=(0, 1))
    assert cache.key_of(inputs) not in keys


def flip_last_byte(file):
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)


DAMAGES = [flip_last_byte, Path.unlink, lambda file: file.write_bytes(b"")]
FILES = ["train_indices.npy", "probe_grades.npy", "users.npy", cache.HEADER]


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("damage", DAMAGES, ids=["flip", "unlink", "empty"])
def test_a_damaged_cache_is_reported_and_built_again(
    tmp_path, data_folder, monkeypatch, name, damage
):
    path = small(tmp_path)
    first = load_netflix(path)
    (folder,) = data_folder.iterdir()
    damage(folder / name)
    with pytest.warns(UserWarning, match="in the data folder is damaged and is not used"):
        again = load_netflix(path)
    assert [entry.name for entry in data_folder.iterdir()] == [folder.name]
    forbid_reading(monkeypatch)
    for triple in zip(first, again, load_netflix(path), strict=True):
        same(triple[0], triple[1])
        same(triple[0], triple[2])


def test_another_version_of_the_cache_is_passed_over(tmp_path, monkeypatch, recwarn):
    path = small(tmp_path)
    load_netflix(path)
    monkeypatch.setattr(cache, "VERSION", cache.VERSION + 1)
    assert load_netflix(path)[0].origin == "netflix"
    assert not recwarn.list


def test_a_data_folder_that_cannot_be_written_to_costs_a_warning_only(
    tmp_path, data_folder
):
    data_folder.write_bytes(b"a file stands where the folder should be")
    path = small(tmp_path)
    with pytest.warns(UserWarning, match="could not be kept for next time"):
        assert triples(load_netflix(path)[0]) == without(SMALL_PROBE)


def test_a_cache_half_written_leaves_nothing(tmp_path, data_folder, monkeypatch):
    def stop(*_arguments, **_options):
        raise KeyboardInterrupt

    path = small(tmp_path)
    monkeypatch.setattr(cache.json, "dumps", stop)  # after the arrays, before the header
    with pytest.raises(KeyboardInterrupt):
        load_netflix(path)
    assert list(data_folder.iterdir()) == []


def test_files_that_change_while_they_are_read_are_refused(
    tmp_path, data_folder, monkeypatch
):
    path = small(tmp_path)
    read = load._read

    def read_and_change(*arguments):
        result = read(*arguments)
        flip_last_byte(path / "movie_titles.csv")
        return result

    monkeypatch.setattr(load, "_read", read_and_change)
    with pytest.raises(ValueError, match="was changed while it was read; load it again"):
        load_netflix(path)
    assert not data_folder.exists()


# --- several processes, and ones that were stopped ---------------------------------------------


def test_of_two_that_read_at_the_same_time_one_keeps_its_copy(
    tmp_path, data_folder, monkeypatch, recwarn
):
    """The other has mapped that copy, perhaps: it stays, and so do all its files."""
    path = small(tmp_path)
    read, kept = load._read, []

    def read_slowly(*arguments):
        result = read(*arguments)
        with monkeypatch.context() as patch:
            patch.setattr(load, "_read", read)
            load_netflix(path)  # another process is faster
        kept.extend(file.stat() for file in sorted(data_folder.glob("*/*")))
        return result

    monkeypatch.setattr(load, "_read", read_slowly)
    train, _ = load_netflix(path)
    assert triples(train) == without(SMALL_PROBE)
    assert [file.stat().st_ino for file in sorted(data_folder.glob("*/*"))] == [
        status.st_ino for status in kept
    ]
    assert len(list(data_folder.iterdir())) == 1
    assert not recwarn.list


@pytest.mark.processes
@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")
def test_what_a_killed_process_left_is_swept_up_a_day_later(tmp_path, data_folder):
    path = small(tmp_path)
    program = """
import os, signal, sys
from gapfm_teach import load_netflix
from gapfm_teach.datasets.netflix import cache
cache.json.dumps = lambda header: os.kill(os.getpid(), signal.SIGKILL)
load_netflix(sys.argv[1])
"""
    killed = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    (left,) = data_folder.iterdir()
    assert load_netflix(path)[0].origin == "netflix"  # it is not taken for a cache
    assert left.exists()  # it might be in work
    os.utime(left, (0, 0))
    flip_last_byte(path / "movie_titles.csv")
    load_netflix(path)
    assert not left.exists()
    assert len(list(data_folder.iterdir())) == 2


# --- what is not ours ----------------------------------------------------------------------------


@pytest.mark.parametrize("damage", DAMAGES, ids=["flip", "unlink", "empty"])
@pytest.mark.parametrize("mine", ["notes.txt", "header.json.bak", "old/users.npy"])
def test_a_damaged_cache_with_files_of_others_is_left_to_them(
    tmp_path, data_folder, damage, mine
):
    path = small(tmp_path)
    load_netflix(path)
    (folder,) = data_folder.iterdir()
    (folder / mine).parent.mkdir(exist_ok=True)
    (folder / mine).write_text("mine")
    damage(folder / cache.HEADER)
    before = sorted(folder.rglob("*"))
    with pytest.warns(
        UserWarning, match=f"each time until you move {re.escape(str(folder))}"
    ):
        assert triples(load_netflix(path)[0]) == without(SMALL_PROBE)
    assert (folder / mine).read_text() == "mine"
    assert sorted(folder.rglob("*")) == before
    assert list(data_folder.iterdir()) == [folder]


def test_only_what_was_left_by_us_is_swept_up(tmp_path, data_folder):
    key = f"netflix-{'0' * 32}"
    ours = data_folder / f"{key}.01234567.part"
    theirs = [
        "netflix-thesis.part/header.json",
        "netflix-.part/users.npy",
        f"{key}/users.npy",
        f"{key}.old.part/users.npy",
        f"{key}.76543210.part/users.npy/mine",
        f"{key}.89abcdef.part/mine.npy",
    ]
    for name in (*theirs, f"{ours.name}/header.json", f"{ours.name}/probe_grades.npy"):
        file = data_folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("kept")
    (data_folder / "netflix-list.part").write_text("a file")
    if os.name != "nt":
        (tmp_path / "elsewhere").mkdir()
        (tmp_path / "elsewhere" / "users.npy").write_text("kept")
        link = data_folder / f"{key}.aaaaaaaa.part"
        link.symlink_to(tmp_path / "elsewhere", target_is_directory=True)
        theirs.append(f"{link.name}/users.npy")
    for left in data_folder.iterdir():
        os.utime(left, (0, 0))
    load_netflix(small(tmp_path))
    assert not ours.exists()
    assert all((data_folder / name).read_text() == "kept" for name in theirs)
    assert (data_folder / "netflix-list.part").read_text() == "a file"


def test_a_folder_that_has_the_name_already_is_not_taken_for_ours(
    tmp_path, data_folder, monkeypatch
):
    """Chance may draw a name twice."""
    path = small(tmp_path)
    taken = data_folder / f"netflix-{cache.key_of(load.find_inputs(path))}.00000000.part"
    taken.mkdir(parents=True)
    (taken / "users.npy").write_text("another program's, in work")
    monkeypatch.setattr(cache.secrets, "token_hex", lambda size: "00" * size)
    with pytest.warns(UserWarning, match="could not be kept for next time"):
        load_netflix(path)
    assert (taken / "users.npy").read_text() == "another program's, in work"
