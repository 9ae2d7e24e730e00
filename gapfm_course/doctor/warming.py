"""Compile beforehand what fitting and evaluating use, so that nobody waits for it in class."""

from __future__ import annotations  # an older Python must get as far as being named

# Of each objective, and of the evaluation, the kernel that is compiled last.
_LAST = ("gradients", "consistent_gradients", "list_measures")


def precompile() -> None:
    """Compile for this machine, and keep, what any `GAPfm.fit` and any evaluation use.

    It fits and evaluates on so few ratings that hardly anything but compiling takes time.
    """
    from gapfm_teach.datasets import simulate_ratings
    from gapfm_teach.evaluation import evaluate_ranking, evaluate_top_n
    from gapfm_teach.model import GAPfm
    from gapfm_teach.splits import split_given

    short = simulate_ratings(30, 40, mean_ratings=12, random_state=0)
    long = simulate_ratings(20, 300, mean_ratings=120, random_state=0)  # to be interpolated
    selecting = {"n_selected": 2}
    for options in (
        {}, selecting, selecting | {"update": "sequential"}, {"objective": "consistent"}
    ):  # fmt: skip
        for ratings in (short, long):
            model = GAPfm(n_iter=1, random_state=0, **options).fit(ratings)
            model.fold_in(*ratings.row(0))
    train, test = split_given(long, 10, random_state=0)
    model = GAPfm(n_iter=1, random_state=0).fit(train, validation=test)
    evaluate_ranking(model, test)
    evaluate_top_n(model, train, test, random_state=0)


def uncompiled() -> list[str]:
    """Those of three kernels that are still to be compiled, one for each kind; none without Numba."""
    from gapfm_teach import kernels

    if not kernels.COMPILED:
        return []
    return [name for name in _LAST if not kernels.is_kept(getattr(kernels, name))]


def main() -> int:
    """Compile, say so, and return 0, or 1 where it could not be kept, or Numba is missing."""
    from gapfm_teach import kernels

    if not kernels.COMPILED:
        print("Without Numba nothing is compiled. To get it: python -m pip install numba")
        return 1
    if not uncompiled():
        print("Compiled already.")
        return 0
    print("Compiling for this machine, once: less than a minute on most.", flush=True)
    precompile()
    if missing := uncompiled():
        print(
            f"compiled code of {', '.join(missing)} could not be kept; set NUMBA_CACHE_DIR to a "
            "folder that you can write to"
        )
        return 1
    return 0
