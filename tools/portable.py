"""Find printed numbers that another processor would print differently: `make portable`.

Every notebook, or those named, is run as on several processors, and once more for each of two
jitters: what starts from random numbers starts a few of the last bits away, which shows what training
makes of rounding on processors that can't be simulated. Cells print four digits more than they do
otherwise (`tools/widen.py`). Listed are

- outputs that differ by more than `tools/printed.py` accepts;
- numbers whose spread over the runs exceeds a quarter of their last unit, or that have to be equal
  (whole numbers) and are close to where rounding changes.

The exit code is 1 if there is any.
"""

import asyncio
import os
import platform
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import nbformat
from nbclient import NotebookClient
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

from tools.make import STORED
from tools.printed import DRAWN, Number, split
from tools.widen import MORE

ROOT = Path(__file__).resolve().parent.parent
AT_A_TIME = 2
MARGIN = 0.25  # of a unit
TEXTS = ("text/html", "text/markdown", "text/latex", "text/plain")
SETUP = (
    "import sys; sys.path.insert(0, {root!r})\n"
    "from tools.widen import install; install(get_ipython(), {jitter})"
)


class Processor(NamedTuple):
    """What LLVM and OpenBLAS call it; the features that it needs, and those that it lacks."""

    numba: str
    blas: str
    needs: tuple[str, ...] = ()
    lacks: str = "(?!)"  # a pattern for NumPy's names, old ones and new ones
    features: str = ""


AVX2 = ("AVX2", "FMA3")
PROCESSORS = {
    "generic": Processor("generic", "Prescott", (), "AVX|FMA|F16C|X86_V[34]"),
    "haswell": Processor("haswell", "Haswell", AVX2, "AVX512|X86_V4"),
    "skylake-avx512": Processor(
        "skylake-avx512", "SkylakeX", ("AVX512_SKX",), "AVX512_(?!SKX|F|CD)"
    ),
    "znver3": Processor("znver3", "Zen", AVX2, "AVX512|X86_V4", "-sse4a"),
}


class Run(NamedTuple):
    name: str
    environment: dict[str, str] = {}  # noqa: RUF012 nothing is written to it
    jitter: int = 0


def threads(n: int) -> dict[str, str]:
    names = ("NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")
    return dict.fromkeys(names, str(n))


def simulated(processor: Processor) -> dict[str, str]:
    """The environment in which compiled code, BLAS and NumPy do as on `processor`."""
    there = [name for name in __cpu_dispatch__ if __cpu_features__.get(name)]
    return {
        "NUMBA_CPU_NAME": processor.numba,
        "NUMBA_CPU_FEATURES": processor.features,
        "OPENBLAS_CORETYPE": processor.blas,
        "NPY_DISABLE_CPU_FEATURES": " ".join(
            name for name in there if re.match(processor.lacks, name)
        ),
    }


def runs() -> tuple[list[Run], list[str]]:
    """One thread and two alternate; the names of the processors that this machine can't be."""
    able = platform.machine().lower() in ("x86_64", "amd64")
    found = [Run("native", threads(1)), Run("native, 2 threads", threads(2))]
    left_out = []
    for k, (name, processor) in enumerate(PROCESSORS.items()):
        if able and all(__cpu_features__.get(need) for need in processor.needs):
            n = 1 + k % 2
            run = Run(
                f"{name}, {n} thread{'s' * (n - 1)}", simulated(processor) | threads(n)
            )
            found.append(run)
        else:
            left_out.append(name)
    found += [Run(f"jitter {seed}", threads(1), seed) for seed in (1, 2)]
    return found, left_out


# ------------------------------------------------------------------ what cells print


def texts(cell) -> list[str]:
    """What a cell shows, streams first: HTML where it has that, and nothing of what is drawn."""
    streams: dict[str, str] = {}
    shown = []
    for output in cell.outputs:
        if output.output_type == "stream":
            streams[output.name] = streams.get(output.name, "") + output.text
        elif output.output_type == "error":
            shown.append(f"{output.ename}: {output.evalue}")
        else:
            shown += [output.data[name] for name in TEXTS if name in output.data][:1]
    every = [*streams.values(), *shown]
    return [text for text in every if not any(sign in text for sign in DRAWN)]


def code_cells(notebook) -> list:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


async def rerun(path: Path, run: Run, slots: asyncio.Semaphore) -> list[list[str]]:
    """What every code cell shows in this run."""
    notebook = nbformat.read(path, as_version=4)
    setup = SETUP.format(root=str(ROOT), jitter=run.jitter)
    notebook.cells.insert(0, nbformat.v4.new_code_cell(setup))
    client = NotebookClient(
        notebook,
        kernel_name="python3",
        timeout=1800,
        allow_errors=True,
        record_timing=False,
        store_widget_state=False,
        resources={"metadata": {"path": str(path.parent)}},
    )
    async with slots:
        await client.async_execute(env=os.environ | STORED | run.environment)
    return [texts(cell) for cell in code_cells(notebook)[1:]]


# ------------------------------------------------------------------ how much of it is sure


class Printed(NamedTuple):
    """A number as stored, and what it is before rounding, run by run."""

    text: str
    number: Number
    unit: float
    rounded: bool  # to a whole number, or to tens
    values: list[float]

    @property
    def spread(self) -> float:
        return max(self.values) - min(self.values)

    def differs(self) -> bool:
        """Whether a run prints what isn't accepted."""
        reach = 0.5 if self.rounded else 0 if self.number.exact else 1.5
        return any(
            abs(x - self.number.value) > reach * self.unit * (1 + 1e-6) for x in self.values
        )

    def fragile(self) -> bool:
        if self.rounded:
            ways = [abs(x - self.number.value) for x in self.values]
            nearest = min(abs(way - 0.5 * self.unit) for way in ways)
            return MARGIN * nearest < self.spread
        return self.spread > MARGIN * self.unit

    def __str__(self) -> str:
        share = self.spread / self.unit
        values = " ".join(f"{x:.10g}" for x in self.values)
        return f"`{self.text}` spread {share:.2g} units: {values}"


def aligned(stored: str, wide: list[str]) -> list[Printed] | str:
    """The numbers of an output in all runs, or where the words of one are others."""
    words, numbers = split(stored)
    read = [split(text) for text in wide]
    for k, (new_words, _) in enumerate(read):
        if new_words != words:
            pairs = zip(words, new_words, strict=False)
            place = next(((a, b) for a, b in pairs if a != b), ("", "more, or less"))
            return f"run {k + 1} has other words: {place[0]!r}, now {place[1]!r}"
    found = []
    for number, new in zip(numbers, zip(*(n for _, n in read), strict=True), strict=True):
        values = [other.value for other in new]
        finest = min(other.unit for other in new) * 10**MORE
        unit, rounded = min(number.unit, finest), False
        if number.exact:
            unit, rounded = 1.0, not all(other.exact for other in new)
            if (
                number.value not in values
            ):  # 15,000 by `.2g`, and no count, which is as stored
                digits = f"{number.value:.0f}"
                unit, rounded = 10.0 ** (len(digits) - len(digits.rstrip("0"))), True
        found.append(Printed(f"{number.value:.12g}", number, unit, rounded, values))
    return found


def problems(stored: list[str], wide: list[list[str]]) -> Iterator[str]:
    """What a cell shows that isn't sure; `wide` has what it shows in each run."""
    if len({len(stored), *map(len, wide)}) > 1:
        yield f"(a) {len(stored)} outputs are stored, runs have {[*map(len, wide)]}"
        return
    for k, text in enumerate(stored):
        found = aligned(text, [shown[k] for shown in wide])
        if isinstance(found, str):
            yield f"(a) {found}"
            continue
        for number in found:
            if number.differs():
                yield f"(a) {number}"
            elif number.fragile():
                yield f"(b) {number}"


async def examine(path: Path, todo: list[Run], slots: asyncio.Semaphore) -> int:
    """Print what is found in a notebook; how much."""
    stored = [texts(cell) for cell in code_cells(nbformat.read(path, as_version=4))]
    shown = await asyncio.gather(*(rerun(path, run, slots) for run in todo))
    found = [
        f"- cell {k}: {problem}"
        for k, cell in enumerate(stored)
        for problem in problems(cell, [run[k] for run in shown])
    ]
    print(
        f"\n## {path.name}: {len(found) or 'nothing'} found", *found, sep="\n", flush=True
    )
    return len(found)


async def main(names: list[str]) -> int:
    paths = [Path(name) for name in names] or sorted(ROOT.glob("notebooks/*.ipynb"))
    todo, left_out = runs()
    print("Values are in the order of these runs:")
    print(*(f"{k}. {run.name}" for k, run in enumerate(todo, 1)), sep="\n")
    print("Left out, since this machine can't:", ", ".join(left_out) or "none", flush=True)
    slots = asyncio.Semaphore(AT_A_TIME)
    found = await asyncio.gather(*(examine(path, todo, slots) for path in paths))
    return int(any(found))


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1:])))
