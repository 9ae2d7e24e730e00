"""The systems that GAPfm is compared with, each behind `fit`, `predict` and `recommend`.

They load on first use, so that one whose library is missing does not stop the others.
"""

from gapfm_teach._support.lazy import lazily

_HOME = {
    "BPR": "bpr",
    "EASE": "ease",
    "GradedGAPfm": "graded_gapfm",
    "IALS": "ials",
    "ItemKNN": "neighbors",
    "RP3beta": "neighbors",
    "SLIM": "slim",
    "UserKNN": "neighbors",
    "CofiRank": "cofirank",
    "GradeWeightedPopularity": "popularity",
    "MeanRating": "popularity",
    "PairwiseLogistic": "pairwise_logistic",
    "Popularity": "popularity",
    "SVDpp": "libraries",
    "SmoothedAP": "smoothed_ap",
    "WLT": "wlt",
}

__all__ = list(_HOME)

__getattr__, __dir__ = lazily(__name__, _HOME)
