"""Time and bytes of an iteration on one and two worker processes, for notebook 11.

`python benchmarks/scaling_out.py [table.csv]`: half an hour, two cores, 3 GiB of memory. Each
row has the fastest of ninety iterations, and the median of the bytes that the workers hand to
their sockets for each other, counted there, whatever they are.
"""

import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from distributed import Client, LocalCluster, WorkerPlugin
from distributed.comm.tcp import TCP

from gapfm_lab.reproduce.timing import machine
from gapfm_lab.result_files import write_csv
from gapfm_lab.versions import versions
from gapfm_teach import Ratings
from gapfm_teach._support.parquet import read_manifest
from gapfm_teach.distributed.graph import Graph
from gapfm_teach.distributed.tasks import Method
from gapfm_teach.training.objectives import PaperObjective

RESULTS = Path(__file__).parent.parent / "notebooks" / "results" / "scaling_out.csv"
N_FACTORS, ROUNDS, EACH_TIME = 10, 30, 3
# Users, ratings of each, items, parts for each worker. The model of notebook 11 is fitted to
# the rows that say so, and judged by the others.
CASES = [
    (4_000, 10, 100, 1, "fit"),
    (4_000, 10, 100, 16, "fit"),
    (4_000, 10, 100, 64, "judge"),
    (100_000, 50, 1_000, 1, "fit"),
    (200_000, 50, 1_000, 1, "judge"),
    (100_000, 50, 1_000, 8, "judge"),
    (20_000, 50, 200_000, 1, "fit"),
    (20_000, 50, 400_000, 1, "fit"),
    (20_000, 50, 800_000, 1, "judge"),
    (200_000, 50, 400_000, 1, "judge"),
]


class Meter(WorkerPlugin):
    """Adds up what a worker writes to any other socket than its scheduler's."""

    name = "meter"

    def setup(self, worker):
        self.sent, write = 0, TCP.write

        async def counted(comm, *args, **options):
            n_bytes = await write(comm, *args, **options)
            if comm.peer_address != worker.scheduler.address:
                self.sent += n_bytes
            return n_bytes

        TCP.write = counted


def sent(client: Client) -> int:
    read = client.run(lambda dask_worker: dask_worker.plugins["meter"].sent)
    return sum(read.values())


def evenly(n_users: int, each: int, n_items: int) -> Ratings:
    """Each user rates `each` items, spread over the catalogue, with random grades."""
    rng = np.random.default_rng(0)
    start = rng.integers(n_items, size=(n_users, 1))
    step = rng.integers(1, n_items // each + 1, size=(n_users, 1))
    items = np.sort((start + step * np.arange(each)) % n_items, axis=1).ravel()
    grades = rng.integers(1, 6, items.size)
    return Ratings(each * np.arange(n_users + 1), items, grades, n_items=n_items)


class Run:
    """A training, an iteration at a time."""

    def __init__(self, client: Client, folder: Path, ratings: Ratings, n_parts: int):
        ratings.to_parquet(folder, n_parts)
        self.client = client
        method = Method(PaperObjective(), N_FACTORS, reg=0.001)
        self.graph = Graph(client, folder, read_manifest(folder), method)
        self.state = self.graph.start(np.random.default_rng(0), 0.01)
        self.done, self.seconds, self.bytes = 0, [], []

    def iterate(self) -> None:
        before, begin = sent(self.client), time.perf_counter()
        self.state = self.graph.run_pass(self.state, self.done, 1e-6).state
        self.seconds.append(time.perf_counter() - begin)
        self.bytes.append(sent(self.client) - before)
        self.done += 1


def rows(parent: Path, n_workers: int) -> list[dict]:
    """All cases in turn, again and again: other programs disturb them for a while, not for ever."""
    options = {"n_workers": n_workers, "threads_per_worker": 1, "dashboard_address": ":0"}
    with (
        LocalCluster(**options, local_directory=parent) as cluster,
        Client(cluster) as client,
    ):
        client.register_plugin(Meter())
        runs = [
            Run(client, parent / f"{n_workers}-{k}", evenly(*sizes), parts * n_workers)
            for k, (*sizes, parts, _) in enumerate(CASES)
        ]
        for _ in range(ROUNDS):
            for run in runs:
                for _ in range(EACH_TIME):
                    run.iterate()
        return [
            {
                "n_users": n_users, "n_ratings": n_users * each, "n_items": n_items,
                "n_factors": N_FACTORS, "n_parts": parts * n_workers, "n_workers": n_workers,
                "seconds": round(min(run.seconds), 5), "bytes": int(np.median(run.bytes)),
                "role": role,
            }
            for run, (n_users, each, n_items, parts, role) in zip(runs, CASES, strict=True)
        ]  # fmt: skip


def main(path: Path) -> None:
    with tempfile.TemporaryDirectory() as name:
        table = pd.DataFrame([row for n in (1, 2) for row in rows(Path(name), n)])
    write_csv(path, table, [f"{machine()}. {versions()}."])


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else RESULTS)
