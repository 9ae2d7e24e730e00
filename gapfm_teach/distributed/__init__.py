"""GAPfm on many machines: the batch update of `GAPfm`, its users shared out over Dask workers.

`model` is what one uses; `graph` says which tasks make an iteration and where they run; `tasks`
is what a task does; `storage` keeps checkpoints; `lost` explains the loss of a cluster. Scheduling,
moving data and surviving a lost worker are Dask's. It needs the extra "distributed":
pip install "gapfm-teach[distributed]".
"""

try:
    import distributed  # noqa: F401
except ImportError as error:
    raise ImportError(
        "gapfm_teach.distributed needs Dask; install it by: "
        "pip install 'gapfm-teach[distributed]'"
    ) from error

from .graph import bytes_between_workers
from .model import DistributedGAPfm

__all__ = ["DistributedGAPfm", "bytes_between_workers"]
