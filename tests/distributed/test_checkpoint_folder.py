"""Whose a folder of checkpoints is: nobody's work is removed, and one training writes there."""

import json
import subprocess
import sys

import pytest

pytest.importorskip("distributed")

from cluster_sample import arrays, assert_same, factors, make_ratings, model, threads

from gapfm_teach.distributed import storage
from gapfm_teach.distributed.storage import lock_dir


@pytest.fixture(scope="module")
def client():
    with threads() as client:
        yield client


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data") / "ratings"
    make_ratings().to_parquet(folder, 2)
    return folder


def put(folder, files):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def content(folder):
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_text() for path in files}


@pytest.mark.parametrize(
    ("files", "named"),
    [
        ({"iteration-notes/chapter.txt": "my thesis"}, "iteration-notes"),
    ],
)
def test_a_folder_of_others_is_refused_and_left_as_it_is(
    data, client, tmp_path, files, named
):
    put(tmp_path / "run", files)
    with pytest.raises(FileExistsError, match=f"run' holds '{named}'.*pass an empty"):
        model(n_iter=2).fit(data, client, checkpoint=tmp_path / "run", checkpoint_every=1)
    assert content(tmp_path / "run") == files


def test_what_a_killed_training_left_is_removed(data, client, tmp_path):
    """Factors that never counted, and a file that was being written."""
    run = tmp_path / "run"
    model(n_iter=2).fit(data, client, checkpoint=run)
    names = ["users-00000.npy", "users-00001.npy.0123abcd.part", "items.npy"]
    put(run / "iteration-00000004-0123abcd", dict.fromkeys(names, "half"))
    model(n_iter=4).fit(data, client, checkpoint=run, resume=run)
    assert sorted(p.name for p in factors(run).iterdir()) == [
        "items.npy",
        "users-00000.npy",
        "users-00001.npy",
    ]


def test_a_checkpoint_without_its_lock_is_resumed(data, client, tmp_path):
    run = tmp_path / "run"
    model(n_iter=3).fit(data, client, checkpoint=run)
    (run / "checkpoint.lock").unlink(missing_ok=True)
    found = model(n_iter=5).fit(data, client, checkpoint=run, resume=run)
    assert_same(found, arrays(model(n_iter=5).fit(data, client)))


def test_a_second_training_is_refused_and_the_first_goes_on(
    data, client, tmp_path, monkeypatch
):
    run, real, refused = tmp_path / "run", storage.commit, []

    def commit(*args):
        monkeypatch.setattr(storage, "commit", real)
        with pytest.raises(
            BlockingIOError, match=r"another training.*run'; wait"
        ) as caught:
            model(random_state=4).fit(data, client, checkpoint=run)
        refused.append(caught)
        real(*args)

    monkeypatch.setattr(storage, "commit", commit)
    found = model(n_iter=4).fit(data, client, checkpoint=run, checkpoint_every=1)
    assert len(refused) == 1
    assert_same(found, arrays(model(n_iter=4).fit(data, client)))
    assert len(json.loads((run / "checkpoint.json").read_text())["history"]) == 4
    model(n_iter=5).fit(data, client, checkpoint=run, resume=run)  # after the first


def test_a_checkpoint_is_replaced_by_what_resumes_from_it_only(data, client, tmp_path):
    run, other = tmp_path / "run", tmp_path / "other"
    for place in (run, other):
        model(n_iter=2).fit(data, client, checkpoint=place)
    before = (run / "checkpoint.json").read_text(), sorted(run.rglob("*"))
    for options in ({}, {"random_state": 4}, {"resume": other}):
        more = {k: v for k, v in options.items() if k == "resume"}
        settings = {k: v for k, v in options.items() if k != "resume"}
        with pytest.raises(FileExistsError, match=r"run' is there.* pass resume='.*run'"):
            model(n_iter=4, **settings).fit(data, client, checkpoint=run, **more)
    assert ((run / "checkpoint.json").read_text(), sorted(run.rglob("*"))) == before


@pytest.mark.processes
@pytest.mark.parametrize("lock", [None, ""])
def test_the_lock_of_a_killed_process_keeps_nobody_out(tmp_path, lock):
    run = tmp_path / "run"
    if lock is not None:
        put(run, {"checkpoint.lock": lock})
    script = (
        "import sys; from gapfm_teach.distributed.storage import lock_dir\n"
        "with lock_dir(sys.argv[1]): print('held', flush=True); sys.stdin.read()"
    )
    arguments = [sys.executable, "-c", script, str(run)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(arguments, **pipes) as other:
        assert other.stdout.readline() == "held\n"
        with pytest.raises(BlockingIOError, match="another training"), lock_dir(run):
            pass
        other.kill()
    with lock_dir(run) as place:
        assert place == run
