"""A cluster that is lost under a training: what happened, what was saved, how to go on."""

import contextlib
from concurrent.futures import CancelledError

from distributed import Client
from distributed.scheduler import KilledWorker, NoValidWorkerError, NoWorkerError

from .storage import CheckpointManager

LOSSES = (CancelledError, KilledWorker, NoValidWorkerError, NoWorkerError, MemoryError)


@contextlib.contextmanager
def translate_cluster_errors(client: Client, checkpoints: CheckpointManager, rows: list):
    """Turn what Dask raises into one RuntimeError; `rows` has one for each iteration done.

    What a task raised, as for a damaged file, passes unchanged while the client is connected.
    """
    try:
        yield
    except Exception as error:
        if not is_loss(client, error):
            raise
        raise RuntimeError(
            f"training stopped after iteration {len(rows)}: {_what(error)}. {_saved(checkpoints)}"
        ) from error


def is_loss(client: Client, error: Exception) -> bool:
    return isinstance(error, LOSSES) or client.status != "running"


def _what(error: Exception) -> str:
    """Of dying workers Dask knows only that they died: nearly always they were killed for memory."""
    if isinstance(error, KilledWorker):
        n_died = error.allowed_failures + 1
        return (
            f"every worker died that ran a certain task, {n_died} of them, most likely over its "
            "memory limit; start workers with more memory"
        )
    if isinstance(error, MemoryError):
        return "a worker had too little memory; start workers with more"
    if isinstance(error, NoWorkerError | NoValidWorkerError):
        return "no worker came in the time that Dask was told to wait; start some"
    return "the connection to Dask's scheduler was lost or closed; start a cluster again"


def _saved(checkpoints: CheckpointManager) -> str:
    """What there is to resume from, and how."""
    if checkpoints.last is not None:
        folder = repr(str(checkpoints.last.factors.parent))
        return (
            f"{folder} holds iteration {checkpoints.last.iteration}; fit with resume={folder} goes "
            "on from there"
        )
    if checkpoints.folder is None:
        return "Nothing was saved; pass checkpoint= to fit, a folder from which to resume"
    return (
        f"Nothing was saved yet in {str(checkpoints.folder)!r} with checkpoint_every={checkpoints.every}; "
        "fit anew"
    )
