"""A training that breaks off and goes on: the same bits, nothing lost but the last iterations."""

import json
import os
import re
import signal
import struct
import subprocess
import sys

import numpy as np
import pytest

from gapfm_teach import GAPfm, Ratings, simulate_ratings, split_given

DATA = """
from gapfm_teach import GAPfm, simulate_ratings, split_given
ratings = simulate_ratings(80, 60, mean_ratings=25, random_state=0)
train, validation = split_given(ratings, 8, min_test=5, random_state=1)
"""


@pytest.fixture(scope="module")
def data():
    ratings = simulate_ratings(80, 60, mean_ratings=25, random_state=0)
    return split_given(ratings, 8, min_test=5, random_state=1)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.npz"


def model(**options):
    return GAPfm(4, **{"n_iter": 12, "learning_rate": 0.03, "random_state": 3} | options)


def stop_at(last):
    return lambda iteration, _: iteration == last


def assert_same(one, other):
    np.testing.assert_array_equal(one.user_factors_, other.user_factors_)
    np.testing.assert_array_equal(one.item_factors_, other.item_factors_)
    assert one.history_.equals(other.history_)


@pytest.mark.parametrize("stopped", [1, 5, 12])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"n_selected": 3, "selection": "random"},
        {"n_selected": 3, "selection": "adaptive", "inner_sum": "selected"},
        {"n_selected": 3, "selection": "random", "update": "sequential"},
    ],
)
def test_a_resumed_training_ends_in_the_same_bits(data, path, options, stopped):
    whole = model(**options).fit(*data)
    model(**options).fit(*data, callback=stop_at(stopped), checkpoint=path)
    resumed = model(**options).fit(*data, resume=path)
    assert_same(resumed, whole)
    assert resumed.n_iter_ == 12


def test_it_may_break_off_many_times_and_in_other_threads(data, path):
    options = {"n_selected": 3, "selection": "random"}
    whole = model(**options).fit(*data)
    model(n_iter=2, n_threads=1, **options).fit(*data, checkpoint=path)
    for n_iter in (3, 7, 12):
        resumed = model(n_iter=n_iter, **options)
        resumed.fit(*data, checkpoint=path, resume=path)
        assert resumed.n_iter_ == n_iter
    assert_same(resumed, whole)


@pytest.mark.parametrize("bits", [np.random.PCG64, np.random.MT19937, np.random.SFC64])
def test_a_generator_goes_on_where_it_stood(data, path, bits):
    options = {"n_selected": 3, "selection": "random"}
    whole = model(random_state=np.random.Generator(bits(7)), **options).fit(data[0])
    broken = model(random_state=np.random.Generator(bits(7)), **options)
    broken.fit(data[0], callback=stop_at(4), checkpoint=path)
    resumed = model(random_state=np.random.Generator(bits(99)), **options)
    assert_same(resumed.fit(data[0], resume=path), whole)


def test_without_a_seed_it_goes_on_from_the_factors_in_the_file(data, path):
    options = {"n_selected": 3, "selection": "random", "random_state": None}
    model(**options).fit(data[0], callback=stop_at(4), checkpoint=path)
    one, two = (model(**options).fit(data[0], resume=path) for _ in range(2))
    assert_same(one, two)


def test_a_callback_sees_the_iterations_that_are_left(data, path):
    model(n_iter=4).fit(data[0], checkpoint=path)
    seen = []
    model(n_iter=6).fit(data[0], resume=path, callback=lambda i, _: seen.append(i))
    assert seen == [5, 6]


def test_it_writes_every_few_iterations_and_at_the_end(data, path):
    def watch(iteration, _):
        written.append(done(path) if path.exists() else 0)

    written = []
    model(n_iter=8).fit(data[0], callback=watch, checkpoint=path, checkpoint_every=3)
    assert written == [0, 0, 3, 3, 3, 6, 6, 8]
    assert os.listdir(path.parent) == ["run.npz"]


def done(path) -> int:
    with np.load(path) as file:
        return len(file["history"])


def test_it_is_written_too_when_nothing_was_left_to_do(data, path):
    model().fit(data[0], checkpoint=path)
    model().fit(data[0], resume=path, checkpoint=path.with_name("copy.npz"))
    assert done(path.with_name("copy.npz")) == 12


# ------------------------------------------------------------------ breaking off


def run(program, path):
    return subprocess.run(
        [sys.executable, "-c", DATA + program, str(path)], capture_output=True, text=True
    )


@pytest.mark.processes
@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")
def test_a_killed_process_loses_the_iterations_since_the_last_checkpoint_only(data, path):
    killed = run(
        """
import os, signal, sys
def kill(iteration, model):
    if iteration == 8:
        os.kill(os.getpid(), signal.SIGKILL)
model = GAPfm(4, n_iter=12, learning_rate=0.03, random_state=3)
model.fit(train, validation, kill, checkpoint=sys.argv[1], checkpoint_every=3)
""",
        path,
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert done(path) == 6
    assert_same(model().fit(*data, resume=path), model().fit(*data))


@pytest.mark.processes
@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")
def test_a_process_killed_while_it_writes_leaves_the_checkpoint_before(data, path):
    killed = run(
        """
import os, signal, sys
import numpy as np
whole = np.savez
def half(file, **arrays):
    if len(arrays["history"]) == 6:
        file.write(b"half a checkpoint")
        file.flush()
        os.kill(os.getpid(), signal.SIGKILL)
    whole(file, **arrays)
np.savez = half
model = GAPfm(4, n_iter=12, learning_rate=0.03, random_state=3)
model.fit(train, validation, checkpoint=sys.argv[1], checkpoint_every=3)
""",
        path,
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert done(path) == 3
    assert_same(model().fit(*data, resume=path), model().fit(*data))


@pytest.mark.skipif(os.name == "nt", reason="Windows cannot send SIGINT to its own process")
def test_ctrl_c_loses_nothing(data, path):
    def press(iteration, _):
        if iteration == 7:
            os.kill(os.getpid(), signal.SIGINT)

    model().fit(*data, callback=press, checkpoint=path)
    assert done(path) == 7
    assert_same(model().fit(*data, resume=path), model().fit(*data))


def test_a_full_disk_leaves_the_checkpoint_before(data, path, monkeypatch):
    model(n_iter=3).fit(data[0], checkpoint=path)
    before = path.read_bytes()

    def full_disk(file, **_):
        file.write(b"half")
        raise OSError("No space left on device")

    monkeypatch.setattr(np, "savez", full_disk)
    with pytest.raises(OSError, match="No space left"):
        model().fit(data[0], checkpoint=path, resume=path)
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == ["run.npz"]


def test_its_size_does_not_depend_on_the_number_of_ratings(tmp_path):
    sizes = []
    for per_user in (2, 200):
        items = np.tile(np.arange(per_user), 300)
        train = Ratings(
            np.arange(301) * per_user, items, items % 5 + 1, n_items=200, max_grade=5
        )
        path = tmp_path / f"{per_user}.npz"
        GAPfm(10, n_iter=1, random_state=0).fit(train, checkpoint=path)
        sizes.append(path.stat().st_size)
    assert abs(sizes[1] - sizes[0]) < 100
    assert sizes[1] < 300 * 200  # one byte for each rating would be more


# ------------------------------------------------------------------ what is refused


def a_thesis(path, data):
    path.write_text("a year's work")


def a_saved_model(path, data):
    model(n_iter=1).fit(data[0]).save(path)


def another_run(path, data):
    model(n_iter=1, reg=0.5).fit(data[0], checkpoint=path)


def the_same_run(path, data):
    model(n_iter=3).fit(*data, checkpoint=path)


@pytest.mark.parametrize("put", [a_thesis, a_saved_model, another_run, the_same_run])
def test_a_checkpoint_replaces_none_but_the_one_resumed_from(data, path, put):
    words = (
        r"run\.npz' is there already .*pass resume='.*run\.npz' too, else pass another name"
    )
    put(path, data)
    before = path.read_bytes()
    rng = np.random.default_rng(1)
    fresh = model(random_state=rng)
    elsewhere = path.with_name("other.npz")
    the_same_run(elsewhere, data)
    for resume in (None, elsewhere):
        with pytest.raises(FileExistsError, match=words):
            fresh.fit(*data, checkpoint=path, resume=resume)
    assert path.read_bytes() == before
    assert rng.random() == np.random.default_rng(1).random()  # nothing was begun
    with pytest.raises(ValueError, match="not fitted"):
        fresh.predict(0)


def test_a_checkpoint_to_resume_from_that_is_missing_is_named_with_the_remedy(data, path):
    for checkpoint in (None, path):
        with pytest.raises(FileNotFoundError, match=r"run\.npz' does not exist; pass a fi"):
            model().fit(*data, checkpoint=checkpoint, resume=path)
    assert not path.exists()
    with pytest.raises(FileNotFoundError, match=r"run\.npz' does not exist; .*save\(\)"):
        GAPfm.load(path)


@pytest.mark.parametrize("objective", ["paper", "consistent"])
def test_a_refit_that_fails_at_once_leaves_the_model_as_it_was(data, tmp_path, objective):
    fitted = GAPfm(4, objective=objective, n_iter=2, random_state=3).fit(data[0])
    expected, scores = fitted.history_, fitted.predict(0)
    fitted.learning_rate = 1e308
    fitted.init_scale = 1e150
    other = fewer(data[0])
    with pytest.raises(FloatingPointError, match=r"iteration 1;.*model stays as it was"):
        fitted.fit(other)
    assert fitted.train_ is data[0]
    assert fitted.learning_rate_ < 1
    assert fitted.history_.equals(expected)
    np.testing.assert_array_equal(fitted.predict(0), scores)
    fresh = GAPfm(4, objective=objective, learning_rate=1e308, init_scale=1e150)
    with pytest.raises(FloatingPointError, match="iteration 1"):
        fresh.fit(other)
    assert "not fitted" in repr(fresh)
    assert not [name for name in vars(fresh) if name.endswith("_") and name[0] != "_"]


def changed(ratings):
    """The same ratings but for one grade."""
    grades = ratings.grades.copy()
    grades[17] = 1 if grades[17] > 1 else 2
    return Ratings(
        ratings.indptr, ratings.indices, grades, n_items=ratings.n_items, max_grade=5
    )


def fewer(ratings):
    cut = ratings.indptr[40]
    return Ratings(
        ratings.indptr[:41], ratings.indices[:cut], ratings.grades[:cut],
        n_items=ratings.n_items, max_grade=5,
    )  # fmt: skip


def test_other_data_are_refused_and_named(data, path):
    train, validation = data
    model(n_iter=3).fit(train, validation, checkpoint=path)
    for other, words in [
        (
            (changed(train), validation),
            ["train was '448 ratings", "hash"],
        ),
        ((train, changed(validation)), ["validation was '", "hash"]),
        ((train, None), ["validation was '", "ratings of", "is 'none' now"]),
        (
            (fewer(train), fewer(validation)),
            ["train was '", f"{train.n_users} users", "40 users"],
        ),
    ]:
        fresh = model()
        with pytest.raises(ValueError, match="cannot be resumed here") as caught:
            fresh.fit(*other, resume=path)
        assert not [word for word in [*words, path.name] if word not in str(caught.value)]
        assert not hasattr(fresh, "user_factors_")
    same = Ratings(
        train.indptr, train.indices, train.grades, n_items=train.n_items, max_grade=5,
        users=[f"user {i}" for i in range(train.n_users)],
    )  # fmt: skip
    assert model().fit(same, validation, resume=path).n_iter_ == 12  # names do not matter


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"reg": 0.5}, ["reg was 0.001 and is 0.5 now"]),
        ({"learning_rate": 0.02}, ["learning_rate was 0.03 and is 0.02 now"]),
        ({"random_state": 4}, ["random_state was 3 and is 4 now"]),
        (
            {"n_selected": 5, "selection": "random"},
            ["n_selected was None", "selection was 'adaptive'"],
        ),
        ({"update": "sequential"}, ["update was 'batch' and is 'sequential' now"]),
    ],
)
def test_other_parameters_are_refused_and_named(data, path, other, words):
    model(n_iter=3).fit(data[0], checkpoint=path)
    with pytest.raises(ValueError, match="cannot be resumed here") as caught:
        model(**other).fit(data[0], resume=path)
    assert not [word for word in words if word not in str(caught.value)]
    with pytest.raises(ValueError, match="n_factors was 4 and is 6 now"):
        GAPfm(6, learning_rate=0.03, random_state=3).fit(data[0], resume=path)


def test_another_kind_of_generator_is_refused(data, path):
    pcg, twister = np.random.default_rng(0), np.random.Generator(np.random.MT19937(0))
    model(n_iter=3, random_state=pcg).fit(data[0], checkpoint=path)
    with pytest.raises(ValueError, match="the generator was 'PCG64' and is 'MT19937' now"):
        model(random_state=twister).fit(data[0], resume=path)


def test_fewer_iterations_than_are_done_are_refused(data, path):
    model(n_iter=6).fit(data[0], checkpoint=path)
    with pytest.raises(ValueError, match=r"6 iterations.*n_iter=5.*raise it"):
        model(n_iter=5).fit(data[0], resume=path)


def test_a_refused_checkpoint_leaves_the_generator_alone(data, path):
    model(n_iter=6, random_state=np.random.default_rng(1)).fit(data[0], checkpoint=path)
    rng = np.random.default_rng(2)
    with pytest.raises(ValueError, match="6 iterations"):
        model(n_iter=5, random_state=rng).fit(data[0], resume=path)
    assert rng.random() == np.random.default_rng(2).random()


def test_other_files_are_refused_by_name(data, tmp_path, path):
    model(n_iter=3).fit(data[0], checkpoint=path)
    good = dict(np.load(path))
    header = json.loads(good["header"].tobytes())
    edited = {
        "cut": good["users"][:5],
        "nan": good["users"] * np.nan,
    }
    for name, U in edited.items():
        np.savez(tmp_path / f"{name}.npz", **(good | {"users": U}))
    newer = np.frombuffer(json.dumps(header | {"version": 99}).encode(), np.uint8)
    np.savez(tmp_path / "newer.npz", **(good | {"header": newer}))
    model(n_iter=1).fit(data[0]).save(tmp_path / "model.npz")
    (tmp_path / "half.npz").write_bytes(path.read_bytes()[:1500])
    (tmp_path / "text.npz").write_text("not a checkpoint")
    for name, words in {
        "cut": r"users has shape \(5, 4\), not", "nan": "must be finite", "newer": "version 99",
        "model": r"is a saved GAPfm, not a checkpoint.*from fit\(checkpoint", "half": "not a checkpoint",
        "text": "not a checkpoint",
    }.items():  # fmt: skip
        with pytest.raises(ValueError, match=words) as caught:
            model().fit(data[0], resume=tmp_path / f"{name}.npz")
        assert f"{name}.npz" in str(caught.value)
    with pytest.raises(FileNotFoundError):
        model().fit(data[0], resume=tmp_path / "missing.npz")
    with pytest.raises(
        ValueError, match=r"is a checkpoint of GAPfm, not a saved GAPfm; .*from save"
    ):
        GAPfm.load(path)


def test_a_checkpoint_that_cannot_be_written_is_refused_before_training(data, tmp_path):
    (tmp_path / "file").write_text("not a folder")
    fresh = model()
    for bad, words in [
        (tmp_path, "is not a file"),
        (tmp_path / "file" / "run.npz", "file"),
    ]:
        with pytest.raises(OSError, match=f"checkpoint .*{words}.*pass a file's name"):
            fresh.fit(data[0], checkpoint=bad)
    assert not hasattr(fresh, "user_factors_")
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize("bad", [True, 1, b"run.npz", ""])
@pytest.mark.parametrize("name", ["checkpoint", "resume"])
def test_something_that_is_no_path_is_refused(data, name, bad):
    """resume=True, a natural guess, would otherwise read and close the standard output."""
    with pytest.raises(
        (TypeError, ValueError), match=f"{name} must be .*got {bad!r}; pass"
    ):
        model().fit(data[0], **{name: bad})
    os.fstat(1)
    with pytest.raises((TypeError, ValueError), match=f"path must be .*got {bad!r}; pass"):
        GAPfm.load(bad)
    os.fstat(1)


# ------------------------------------------------------------------ the progress bar


@pytest.mark.processes
@pytest.mark.skipif(os.name == "nt", reason="Windows has no pseudo-terminals")
def test_a_terminal_shows_how_far_it_is_and_the_time_left():
    import fcntl
    import pty
    import termios

    program = """
import time
from gapfm_teach.training.machine import progress
for _ in progress(7, 10):
    time.sleep(0.7)
"""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    hide = ("PYTEST_VERSION", "TQDM_DISABLE")
    environment = {k: v for k, v in os.environ.items() if k not in hide}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, stderr=theirs, timeout=120
    )
    os.write(theirs, b"end")  # so that there is something to read in any case
    shown = os.read(ours, 100_000).decode()
    os.close(theirs)
    os.close(ours)
    assert done.returncode == 0, shown
    assert "| 8/10 [" in shown  # six were done when it began
    assert re.search(r"\[\d\d:\d\d<\d\d:\d\d", shown)  # time so far < time left
