"""Training on a cluster of processes: the single machine's factors, whatever happens to it."""

import asyncio
import json
import signal
import subprocess
import sys

import numpy as np
import pytest

from gapfm_teach import GAPfm, Ratings, simulate_ratings

distributed = pytest.importorskip("distributed")

from cluster_sample import (  # noqa: E402
    INSIDE,
    N_ITER,
    arrays,
    assert_same,
    factors,
    make_ratings,
    model,
    processes,
)

from gapfm_lab.worker_killer import WorkerKiller  # noqa: E402
from gapfm_teach.distributed import (  # noqa: E402
    DistributedGAPfm,
    bytes_between_workers,
)
from gapfm_teach.distributed.graph import starting_states  # noqa: E402
from gapfm_teach.distributed.tasks import draw  # noqa: E402


@pytest.fixture(scope="module")
def ratings():
    return make_ratings()


@pytest.fixture(scope="module")
def folders(ratings, tmp_path_factory):
    parent = tmp_path_factory.mktemp("ratings")
    for n in (1, 2, 3, 4, 7, 8):
        ratings.to_parquet(parent / str(n), n)
    return parent


@pytest.fixture(scope="module")
def worker_processes(tmp_path_factory):
    with processes(tmp_path_factory.mktemp("dask")) as client:
        yield client


@pytest.fixture
def client(worker_processes):
    return worker_processes


def single(ratings, **options):
    return GAPfm(**model(**options).get_params()).fit(ratings)


SMOOTH = {"objective": "consistent", "n_negatives": 7, "learning_rate": 0.3}
GEOMETRIC = SMOOTH | {"objective": "geometric", "exponent": 0.5, "reg": 0.3}


def assert_close(found, expected, tolerance=1e-12):
    """To `tolerance`, relative to the largest factor or number of a column."""
    has_bias = found.objective != "paper"
    pairs = [
        *([(found.item_bias_, expected.item_bias_)] if has_bias else []),
        (found.user_factors(), expected.user_factors_),
        (found.item_factors_, expected.item_factors_),
        *((found.history_[name], expected.history_[name]) for name in found.history_),
    ]
    for one, other in pairs:
        np.testing.assert_allclose(one, other, rtol=0, atol=tolerance * np.abs(other).max())


# ------------------------------------------------------------------ the single machine's result


@pytest.mark.parametrize("n_parts", [1, 2, 3, 7])
def test_any_number_of_parts_gives_the_single_machine_s_factors(
    ratings, folders, client, n_parts
):
    expected = single(ratings)
    assert expected.history_["objective"].iloc[-1] > 1.5 * expected.history_["objective"][0]
    assert_close(model().fit(folders / str(n_parts), client), expected)


@pytest.mark.parametrize("n_parts", [1, 3])
@pytest.mark.parametrize(
    "options",
    [SMOOTH, GEOMETRIC, SMOOTH | {"objective": "graded_recall", "cutoff": 3}],
    ids=lambda options: options["objective"],
)
def test_smooth_ranks_give_the_single_machine_s_factors(
    ratings, folders, client, options, n_parts
):
    """From samples: nearly all have more than 7 unrated items."""
    assert np.mean(np.diff(ratings.indptr) < 41 - 7) > 0.9
    expected = single(ratings, **options)
    assert np.abs(expected.item_bias_).max() > 0.1
    found = model(**options).fit(folders / str(n_parts), client)
    assert_close(found, expected)


@pytest.mark.parametrize("objective", ["consistent", "geometric"])
def test_a_smooth_objective_s_own_parameters_are_gapfm_s(
    ratings, folders, client, objective
):
    """And here "auto" is the default."""
    expected = GAPfm(4, objective=objective, n_iter=2, random_state=3).fit(ratings)
    for rate in (None, "auto"):
        found = DistributedGAPfm(
            4, objective=objective, learning_rate=rate, n_iter=2, random_state=3
        ).fit(folders / "2", client)
        assert found.learning_rate_ == expected.learning_rate_
        assert_close(found, expected)


def test_the_step_auto_is_the_single_machine_s(ratings, folders, client):
    expected = single(ratings, learning_rate="auto")
    found = model(learning_rate="auto").fit(folders / "3", client)
    assert found.learning_rate_ == pytest.approx(expected.learning_rate_, rel=1e-12)
    assert_close(found, expected)


@pytest.mark.slow
def test_several_threads_of_one_worker_take_turns(ratings, folders):
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=2, **INSIDE) as cluster,
        distributed.Client(cluster) as client,
    ):
        assert_close(model().fit(folders / "7", client), single(ratings))


def test_parts_of_the_start_are_the_start():
    """From a generator that has been used, and more numbers than are passed over at once."""
    rng, same = np.random.default_rng(5), np.random.default_rng(5)
    rng.random(3)
    same.random(3)
    sizes, n_factors = [2, 70_000, 1, 50_000], 21
    states = starting_states(rng, sizes, n_factors)
    expected = same.normal(0.0, 0.5, (sum(sizes), n_factors))
    for _ in range(2):  # a lost part is drawn again
        parts = [
            draw(state, n, n_factors, 0.5) for state, n in zip(states, sizes, strict=True)
        ]
        np.testing.assert_array_equal(np.concatenate(parts), expected)
    assert rng.random() == same.random()


@pytest.mark.parametrize("options", [{}, SMOOTH, GEOMETRIC])
def test_it_becomes_a_gapfm(ratings, folders, client, tmp_path, options):
    found = model(**options).fit(folders / "2", client)
    local = found.to_gapfm(Ratings.from_parquet(folders / "2"))
    expected = single(ratings, **options)
    assert local.recommend(3).tolist() == expected.recommend(3).tolist()
    np.testing.assert_allclose(
        local.fold_in([1, 2], [5, 1]), expected.fold_in([1, 2], [5, 1]), rtol=1e-9
    )
    local.save(tmp_path / "model.npz")
    again = GAPfm.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(again.user_factors_, found.user_factors())
    assert again.history_["objective"].equals(found.history_["objective"])


@pytest.mark.parametrize(("options", "n_columns"), [({}, 4), (SMOOTH, 5)])
def test_u_stays_and_only_v_travels(folders, client, options, n_columns):
    """Bytes between workers: those of the formula, whatever the number of users. b goes with V,
    and the squares of neither."""
    n_iter = 20
    before = sum(sent(client))
    found = model(n_iter=n_iter, **options).fit(folders / "2", client)
    formula = bytes_between_workers(2, 41, 4, found.objective)
    assert formula == 2 * 41 * n_columns * 8
    # A pass for each iteration, and one for the last objective; a tuple of numbers beside dV.
    assert sum(sent(client)) - before >= n_iter * formula
    assert sum(sent(client)) - before <= (n_iter + 1) * (formula + 1000)
    assert found.n_iter_ == n_iter


@pytest.mark.slow
def test_no_worker_has_to_send_v_to_all_others(folders):
    """The first makes V; with eight workers, seven others need it, and nobody sends it to all.

    At most to the two below and, in place of who made it, to the neighbour; and one sends a sum.
    """
    with (
        distributed.LocalCluster(n_workers=8, threads_per_worker=1, **INSIDE) as c,
        distributed.Client(c) as client,
    ):
        before = sent(client)
        # Many factors, that the messages around them do not count.
        DistributedGAPfm(64, n_iter=20, random_state=3).fit(folders / "8", client)
        passes, V = 21, 41 * 64 * 8
        most = max(now - then for now, then in zip(sent(client), before, strict=True))
    assert bytes_between_workers(8, 41, 64) == 14 * V
    assert most < 4 * passes * (V + 500)


def sent(client):
    """Bytes that each worker sent others so far, by its own count."""
    found = client.run(lambda dask_worker: dask_worker.transfer_outgoing_bytes_total)
    return [found[worker] for worker in sorted(found)]


# ------------------------------------------------------------------ what may happen to it


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
@pytest.mark.parametrize(
    ("objective", "checkpointed"), [({}, True), ({}, False), (SMOOTH, True)]
)
def test_a_killed_worker_changes_nothing(
    folders, client, tmp_path, objective, checkpointed
):
    expected = arrays(model(**objective).fit(folders / "4", client))
    options = (
        {"checkpoint": tmp_path / "run", "checkpoint_every": 5} if checkpointed else {}
    )
    accident = WorkerKiller(tmp_path / "accident", 8)
    with processes(tmp_path / "dask") as others:
        others.register_plugin(accident)
        found = model(**objective).fit(folders / "4", others, **options)
        assert accident.happened
        assert_same(found, expected)

    passes = accident.passes()
    assert set(passes) == {(t, p) for t in range(N_ITER + 1) for p in range(4)}
    repeated = {t for (t, _), count in passes.items() if count > 1}
    assert repeated >= {7, 8}  # a part was lost, and came back
    assert min(repeated) == (5 if checkpointed else 0)  # from the checkpoint, or the start


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_the_only_worker_is_killed(folders, client, tmp_path):
    """For a while there is none, which a task must survive that would rather run on the lost one."""
    expected = arrays(model().fit(folders / "4", client))
    accident = WorkerKiller(tmp_path / "accident", 8)
    with processes(tmp_path / "dask", 1) as alone:
        alone.register_plugin(accident)
        found = model().fit(folders / "4", alone)
        assert accident.happened
        assert_same(found, expected)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_killed_client_is_resumed(folders, client, tmp_path, moment):
    """Killed just before, or after, the second of three checkpoints is there."""
    script = f"""
import os, signal, sys
from distributed import Client
from gapfm_teach.distributed import DistributedGAPfm, storage
real, calls = storage.commit, []
def commit(*args):
    calls.append(args)
    if {moment!r} == "after":
        real(*args)
    if len(calls) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    real(*args)
storage.commit = commit
options = {model().get_params()!r}
folder, checkpoint = sys.argv[2:]
with Client(sys.argv[1]) as client:
    DistributedGAPfm(**options).fit(folder, client, checkpoint=checkpoint, checkpoint_every=4)
"""
    run = tmp_path / "run"
    arguments = [client.scheduler.address, str(folders / "3"), str(run)]
    done = subprocess.run([sys.executable, "-c", script, *arguments], timeout=120)
    assert done.returncode == -signal.SIGKILL
    behind = len(json.loads((run / "checkpoint.json").read_text())["history"])
    assert behind == (4 if moment == "before" else 8)
    resumed = model().fit(folders / "3", client, checkpoint=run, resume=run)
    assert_same(resumed, arrays(model().fit(folders / "3", client)))
    names = {path.name for path in run.iterdir()} - {"checkpoint.lock"}
    assert names == {"checkpoint.json", factors(run).name}
    assert len(list(factors(run).iterdir())) == 4  # three parts' users, and the items


@pytest.mark.parametrize("options", [{}, SMOOTH])
def test_it_may_be_continued_again_and_again(folders, client, tmp_path, options):
    run = tmp_path / "run"
    model(n_iter=1, **options).fit(folders / "2", client, checkpoint=run)
    for n_iter in (3, 7, N_ITER, N_ITER):
        found = model(n_iter=n_iter, **options)
        found.fit(folders / "2", client, checkpoint=run, resume=run)
        assert found.n_iter_ == n_iter
    assert_same(found, arrays(model(**options).fit(folders / "2", client)))


def test_a_continued_training_draws_the_samples_it_began_with(folders, client, tmp_path):
    """Whatever the generator that it is given then."""

    def fit(seed, n_iter, **saved):
        found = model(random_state=np.random.default_rng(seed), n_iter=n_iter, **SMOOTH)
        return found.fit(folders / "2", client, **saved)

    fit(3, 5, checkpoint=tmp_path / "run")
    expected = arrays(fit(3, N_ITER))
    assert_same(fit(99, N_ITER, resume=tmp_path / "run"), expected)
    assert not np.array_equal(arrays(fit(99, N_ITER))[1], expected[1])


def test_another_training_in_the_same_place_leaves_the_checkpoint_whole(
    folders, client, tmp_path, monkeypatch
):
    """It stops after writing its factors, before they count: the older ones still do."""
    run = tmp_path / "run"
    options = {"checkpoint": run, "checkpoint_every": N_ITER}
    expected = arrays(model().fit(folders / "2", client))
    model(n_iter=2).fit(folders / "2", client, checkpoint=run)

    def stop(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("gapfm_teach.distributed.storage.commit", stop)
        with pytest.raises(KeyboardInterrupt):
            model().fit(folders / "2", client, resume=run, **options)
    assert len(list(run.glob("iteration-*"))) == 2
    resumed = model().fit(folders / "2", client, checkpoint=run, resume=run)
    assert_same(resumed, expected)


@pytest.mark.parametrize(
    "options",
    [
        {"learning_rate": 1e308, "init_scale": 100.0},
        SMOOTH | {"learning_rate": 1e308},
        SMOOTH | {"init_scale": 1e153, "reg": 100.0},  # infinite squares, a step of 0
    ],
)
def test_too_large_a_first_step_is_named_and_not_written(
    folders, client, tmp_path, options
):
    """Factors that are not finite are no checkpoint, and no damaged one."""
    found = model(**options)
    with pytest.raises(FloatingPointError, match="iteration 1; try a learning_rate below"):
        found.fit(folders / "2", client, checkpoint=tmp_path, checkpoint_every=1)
    assert {path.name for path in tmp_path.iterdir()} <= {"checkpoint.lock"}


def test_a_fit_that_fails_leaves_the_one_before(ratings, folders, client, tmp_path):
    found = model().fit(folders / "2", client)
    expected = arrays(found)
    other = simulate_ratings(80, 41, mean_ratings=5, random_state=9)
    other.to_parquet(tmp_path / "x", 2)
    model(n_iter=2).fit(tmp_path / "x", client, checkpoint=tmp_path / "run")
    (factors(tmp_path / "run") / "items.npy").unlink()
    with pytest.raises(FileNotFoundError, match=r"items\.npy is missing"):
        found.fit(tmp_path / "x", client, resume=tmp_path / "run")
    assert_same(found, expected)
    assert found.to_gapfm(ratings).train_ is ratings


def test_a_refit_that_fails_at_once_leaves_the_one_before(ratings, folders, client):
    found = model(n_iter=2).fit(folders / "2", client)
    expected = arrays(found)
    found.learning_rate, found.init_scale = 1e308, 100.0
    with pytest.raises(FloatingPointError, match=r"iteration 1;.*model stays as it was"):
        found.fit(folders / "3", client)
    assert_same(found, expected)
    assert found.to_gapfm(ratings).n_iter_ == 2
    fresh = model(learning_rate=1e308, init_scale=100.0)
    with pytest.raises(FloatingPointError, match="iteration 1"):
        fresh.fit(folders / "2", client)
    assert "not fitted" in repr(fresh)


def test_too_large_a_step_is_named_and_what_was_learned_stays(folders, client, tmp_path):
    found = model(learning_rate=1e150)
    run = tmp_path / "run"
    with pytest.raises(
        FloatingPointError, match=r"iteration \d+; try a learning_rate below"
    ):
        found.fit(folders / "2", client, checkpoint=run, checkpoint_every=1)
    assert np.isfinite(found.item_factors_).all()
    assert np.isfinite(found.user_factors()).all()
    assert len(found.history_) == found.n_iter_
    kept = (
        json.loads((run / "checkpoint.json").read_text())["history"]
        if found.n_iter_
        else []
    )
    assert len(kept) == found.n_iter_


# ------------------------------------------------------------------ what is refused


@pytest.fixture
def run(folders, client, tmp_path):
    model(n_iter=2).fit(folders / "2", client, checkpoint=tmp_path / "run")
    return tmp_path / "run"


def truncate(path):
    path.write_bytes(path.read_bytes()[:-8])


def cut_users(run):
    truncate(factors(run) / "users-00001.npy")


def lose_users(run):
    (factors(run) / "users-00001.npy").unlink()


def spoil_items(run):
    path = factors(run) / "items.npy"
    spoilt = np.load(path)
    spoilt[3, 1] = np.nan
    np.save(path, spoilt)


def lose_state(run):
    (run / "checkpoint.json").unlink()


def other_format(run):
    stored = json.loads((run / "checkpoint.json").read_text())
    (run / "checkpoint.json").write_text(json.dumps(stored | {"version": 9}))


@pytest.mark.parametrize(
    ("spoil", "error", "words"),
    [
        (lose_state, FileNotFoundError, r"holds no checkpoint\.json"),
        (other_format, ValueError, "older version, or a newer .*version 9.*train it again"),
        (lose_users, FileNotFoundError, r"users-00001\.npy is missing"),
        (cut_users, ValueError, r"users-00001\.npy is damaged"),
        (spoil_items, ValueError, r"items\.npy is damaged \(.* must be finite"),
    ],
)
def test_a_bad_checkpoint_is_refused_by_name(folders, client, run, spoil, error, words):
    spoil(run)
    with pytest.raises(error, match=words) as caught:
        model().fit(folders / "2", client, resume=run)
    assert str(run) in str(caught.value)


@pytest.mark.parametrize(
    ("options", "parts", "words"),
    [
        (SMOOTH, "2", "objective was 'paper' and is 'consistent' now"),
        ({"reg": 0.5}, "2", r"reg was 0\.01 and is 0\.5 now"),
        ({"random_state": 4}, "2", "random_state was 3 and is 4"),
        ({"n_iter": 1}, "2", "2 iterations behind it, more than n_iter=1"),
        ({}, "3", "the number of users in each part was"),
    ],
)
def test_a_checkpoint_of_another_training_is_refused(
    folders, client, run, options, parts, words
):
    with pytest.raises(ValueError, match=words):
        model(**options).fit(folders / parts, client, resume=run)


@pytest.mark.parametrize(
    ("sizes", "words"),
    [
        ({"max_grade": 9}, "the highest grade was 5 and is 9 now"),
        ({"n_items": 50}, "the number of items was 41 and is 50 now"),
    ],
)
def test_the_same_ratings_on_another_scale_are_other_data(
    ratings, folders, client, run, tmp_path, sizes, words
):
    """δ depends on the scale, V on the number of items."""
    sizes = {"n_items": ratings.n_items, "max_grade": ratings.max_grade} | sizes
    other = Ratings(ratings.indptr, ratings.indices, ratings.grades, **sizes)
    other.to_parquet(tmp_path / "other", 2)
    with pytest.raises(ValueError, match=words):
        model().fit(tmp_path / "other", client, resume=run)
    fitted = model(n_iter=1).fit(folders / "2", client)
    with pytest.raises(ValueError, match="not what was learned from"):
        fitted.to_gapfm(other)


def test_other_ratings_of_the_same_sizes_are_other_data(
    ratings, folders, client, run, tmp_path
):
    grades = ratings.grades.copy()
    grades[0] = 1 + grades[0] % 5
    other = Ratings(ratings.indptr, ratings.indices, grades, n_items=41, max_grade=5)
    other.to_parquet(tmp_path / "other", 2)
    with pytest.raises(ValueError, match=r"the ratings was '\w+' and is '\w+' now"):
        model().fit(tmp_path / "other", client, resume=run)


def test_a_checkpoint_that_cannot_be_written_stops_before_training(
    folders, client, tmp_path
):
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match=r"checkpoint .*cannot be written.*pass a folder"):
        model().fit(folders / "2", client, checkpoint=tmp_path / "file")


def test_a_spoilt_part_is_named_from_the_worker(ratings, client, tmp_path):
    ratings.to_parquet(tmp_path / "x", 2)
    truncate(tmp_path / "x" / "part-00001.parquet")
    with pytest.raises(
        ValueError, match=r"part-00001\.parquet is damaged.*Ratings\.to_parquet"
    ):
        model().fit(tmp_path / "x", client)


def test_unfit_arguments_are_refused(folders, client, tmp_path, ratings):
    with pytest.raises(TypeError, match=r"client must be a distributed\.Client, got 'tcp"):
        model().fit(folders / "2", "tcp://host:8786")
    with pytest.raises(FileNotFoundError, match=r"ratings\.json is missing"):
        model().fit(tmp_path, client)
    with pytest.raises(ValueError, match="checkpoint_every must be at least 1, got 0"):
        model().fit(folders / "2", client, checkpoint_every=0)
    with pytest.raises(TypeError, match="n_selected"):  # that is for one machine
        DistributedGAPfm(n_selected=5)
    for settings, error, words in (
        (
            {"exponent": 1.0},
            TypeError,
            r"'paper' knows no exponent=1\.0; it has none here",
        ),
        (
            {"objective": "gap"},
            ValueError,
            r"objective must be one of 'paper'.*, got 'gap'",
        ),
        ({"learning_rate": "fast"}, TypeError, "learning_rate must be a number or 'auto'"),
    ):
        with pytest.raises(error, match=words):
            model(**settings).fit(folders / "2", client)
    Ratings([0, 0], [], [], n_items=3).to_parquet(tmp_path / "none")
    with pytest.raises(ValueError, match="0 ratings; there is nothing to learn from"):
        model().fit(tmp_path / "none", client)
    fitted = model(n_iter=1).fit(folders / "2", client)
    with pytest.raises(ValueError, match="not what was learned from"):
        fitted.to_gapfm(simulate_ratings(80, 41, mean_ratings=5, random_state=9))


def test_before_fit_and_without_workers(folders):
    with pytest.raises(ValueError, match="not fitted yet"):
        model().user_factors()
    with pytest.raises(ValueError, match="not fitted yet"):
        _ = model().history_
    with (
        distributed.LocalCluster(n_workers=0, **INSIDE) as cluster,
        distributed.Client(cluster) as client,
        pytest.raises(ValueError, match="no workers; start some"),
    ):
        model().fit(folders / "2", client)


def test_factors_of_a_closed_cluster_are_said_to_be_gone(folders):
    with (
        distributed.LocalCluster(n_workers=1, **INSIDE) as cluster,
        distributed.Client(cluster) as client,
    ):
        found = model(n_iter=1).fit(folders / "2", client)
    assert found.item_factors_.shape == (41, 4)
    with pytest.raises(ValueError, match="cluster that is closed"):
        found.user_factors()
    with pytest.raises(ValueError, match=r"client is closed; pass Client\(cluster\)"):
        found.fit(folders / "2", client)


def test_an_asynchronous_client_is_refused(folders):
    async def fit():
        async with (
            distributed.LocalCluster(n_workers=1, asynchronous=True, **INSIDE) as cluster,
            distributed.Client(cluster, asynchronous=True) as client,
        ):
            model().fit(folders / "2", client)

    with pytest.raises(ValueError, match="client is asynchronous"):
        asyncio.run(fit())
