"""The systems that GAPfm is compared with, each behind `fit`, `predict` and `recommend`.

They load on first use, so that one whose library is missing does not stop the others.
"""

from importlib import import_module

_HOME = {
    "BPR": "libraries",
    "EASE": "ease",
    "CofiRank": "cofirank",
    "GradeWeightedPopularity": "popularity",
    "ImplicitALS": "libraries",
    "MeanRating": "popularity",
    "Popularity": "popularity",
    "SVDpp": "libraries",
    "SmoothedAP": "smoothed_ap",
    "WLT": "wlt",
}

__all__ = list(_HOME)


def __getattr__(name: str):
    if name not in _HOME:
        raise AttributeError(f"module 'gapfm_teach.baselines' has no attribute {name!r}")
    return getattr(import_module(f".{_HOME[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
