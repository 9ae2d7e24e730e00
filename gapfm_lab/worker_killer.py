"""A worker that dies when told to: to see, and to test, that training survives it."""

import json
import os
import signal
from collections import Counter

from distributed import WorkerPlugin

from gapfm_teach._support.checks import check_path


class WorkerKiller(WorkerPlugin):
    """Kills the worker that is the first to begin a pass of `iteration`, in the middle of it.

    `client.register_plugin(WorkerKiller(folder, 8))`; None kills nobody. `folder` is one that all
    workers and the client see: each pass that is begun, in whatever training, leaves a line there.
    Leave it registered until the cluster closes: taken away while Dask starts another worker, it
    takes that one along. Needs a system with SIGKILL, so not Windows.
    """

    name = "gapfm-accident"

    def __init__(self, folder, iteration: int | None):
        self.folder = check_path(folder, "folder", "name one that all workers see")
        self.iteration = iteration
        self.folder.mkdir(parents=True, exist_ok=True)

    def transition(self, key, start, finish, **_):
        """Dask calls this on a worker whenever one of its tasks changes its state."""
        if finish != "executing" or not str(key[0]).startswith("gapfm_pass"):
            return
        with open(self.folder / "passes.jsonl", "a", encoding="utf-8") as file:
            file.write(json.dumps(key[1:]) + "\n")
        if key[1] == self.iteration and self._first():
            os.kill(os.getpid(), signal.SIGKILL)

    def _first(self) -> bool:
        try:
            (self.folder / "killed").touch(exist_ok=False)
        except FileExistsError:
            return False
        return True

    @property
    def happened(self) -> bool:
        return (self.folder / "killed").exists()

    def passes(self) -> Counter:
        """How often the pass of each (iteration, part) was begun."""
        lines = (self.folder / "passes.jsonl").read_text(encoding="utf-8").splitlines()
        return Counter(tuple(json.loads(line)) for line in lines)
