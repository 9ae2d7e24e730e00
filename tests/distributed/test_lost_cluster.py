"""A cluster that goes while it trains: one error tells what happened, what was saved, what to do."""

import dask
import pytest

distributed = pytest.importorskip("distributed")

from cluster_sample import (  # noqa: E402
    N_ITER,
    arrays,
    assert_same,
    make_ratings,
    model,
    processes,
    threads,
)

from gapfm_teach.distributed import DistributedGAPfm  # noqa: E402
from gapfm_teach.distributed.graph import Graph  # noqa: E402


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data") / "ratings"
    make_ratings().to_parquet(folder, 2)
    return folder


def before_pass(monkeypatch, iteration, act):
    """Let act() happen as soon as `iteration` iterations are done, and the next begins."""
    real = Graph.run_pass

    def run_pass(self, state, done, *args):
        if done == iteration:
            monkeypatch.setattr(Graph, "run_pass", real)
            act()
        return real(self, state, done, *args)

    monkeypatch.setattr(Graph, "run_pass", run_pass)


@pytest.mark.slow
@pytest.mark.parametrize("lose", ["cluster", "client"])
@pytest.mark.parametrize(
    ("iteration", "words"),
    [
        (
            0,
            "after iteration 0: .*Nothing was saved yet in '.*run' with checkpoint_every=5",
        ),
        (8, "after iteration 7: .*run' holds iteration 5; fit with resume='.*run'"),
        (12, "after iteration 11: .*run' holds iteration 10; fit with resume='.*run'"),
    ],
)
def test_a_lost_scheduler_is_told_with_what_was_saved(
    data, tmp_path, monkeypatch, lose, iteration, words
):
    with threads() as client:
        expected = arrays(model().fit(data, client))
    run = tmp_path / "run"
    options = {"checkpoint": run, "checkpoint_every": 5}
    with threads() as client:
        before_pass(
            monkeypatch,
            iteration,
            client.cluster.close if lose == "cluster" else client.close,
        )
        with pytest.raises(RuntimeError, match=f"{words}") as caught:
            model().fit(data, client, **options)
    assert "connection to Dask's scheduler was lost or closed" in str(caught.value)
    assert caught.value.__cause__ is not None
    with threads() as client:
        again = {"resume": run} if iteration else {}
        assert_same(model().fit(data, client, **options, **again), expected)


def test_without_a_checkpoint_it_is_named(data, monkeypatch):
    with threads() as client:
        found = model(n_iter=2).fit(data, client)
        before, V = found.history_, found.item_factors_
        before_pass(monkeypatch, 1, client.cluster.close)
        with pytest.raises(
            RuntimeError, match="Nothing was saved; pass checkpoint= to fit"
        ):
            found.fit(data, client)
        assert found.history_.equals(before)
        assert found.item_factors_ is V
        with pytest.raises(ValueError, match="cluster that is closed or lost"):
            found.user_factors()


def test_what_was_resumed_from_is_named_until_there_is_a_later_one(
    data, tmp_path, monkeypatch
):
    with threads() as client:
        model(n_iter=3).fit(data, client, checkpoint=tmp_path / "old")
    with threads() as client:
        before_pass(monkeypatch, 6, client.cluster.close)
        with pytest.raises(
            RuntimeError, match=r"iteration 5: .*old' holds iteration 3; fit"
        ):
            model().fit(
                data,
                client,
                resume=tmp_path / "old",
                checkpoint=tmp_path / "new",
                checkpoint_every=N_ITER,
            )


@pytest.mark.processes
def test_workers_over_their_memory_limit_are_told_of(data, tmp_path):
    """The items' factors alone, of 490 MB, are more than a worker may have."""
    settings = {
        "distributed.scheduler.allowed-failures": 0,
        **{
            f"distributed.worker.memory.{name}": False
            for name in ("target", "spill", "pause")
        },
    }
    with (
        dask.config.set(settings),
        processes(tmp_path, 1, memory_limit="480MB") as client,
        pytest.raises(
            RuntimeError,
            match=r"after iteration 0: every worker died that ran a certain task, 1 of them, most "
            r"likely over its memory limit; start .*more memory\. Nothing was saved",
        ) as caught,
    ):
        DistributedGAPfm(1_500_000, n_iter=1000).fit(data, client)
    assert isinstance(caught.value.__cause__, distributed.KilledWorker)


def test_no_memory_and_no_worker_are_told_of(data, monkeypatch):
    def fail(*_):
        raise MemoryError

    with threads() as client, monkeypatch.context() as patch:
        patch.setattr("gapfm_teach.distributed.tasks.one_pass", fail)
        with pytest.raises(RuntimeError, match="0: a worker had too little memory; start"):
            model().fit(data, client)
    with (
        dask.config.set({"distributed.scheduler.no-workers-timeout": "100ms"}),
        threads() as client,
    ):
        before_pass(monkeypatch, 2, lambda: client.cluster.scale(0))
        with pytest.raises(RuntimeError, match=r"no worker came in the time.*start some"):
            model().fit(data, client)


def test_what_a_task_raises_passes(data, monkeypatch):
    def fail(*_):
        raise ZeroDivisionError("of a task")

    monkeypatch.setattr("gapfm_teach.distributed.tasks.one_pass", fail)
    with threads() as client, pytest.raises(ZeroDivisionError, match="of a task"):
        model().fit(data, client)
