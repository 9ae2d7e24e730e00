"""The numbers that the paper prints in its Tables 2-4, to stand beside ours.

Tables 2 and 3 are on the Netflix data, which no longer can be had, with 1,000 sampled candidates;
Table 4 is on MovieLens 100K.
"""

from collections.abc import Mapping, Sequence

import pandas as pd

TOP_N = ("P@5", "NDCG@5", "GAP@5")
RANKING = ("NDCG@1", "NDCG@3", "NDCG@5")


def _tidy(
    rows: Mapping[str, Sequence[float]],
    givens: Sequence[int],
    metrics: Sequence[str],
    data: str,
) -> pd.DataFrame:
    """Rows as printed, a block of `metrics` for each of `givens`, made one line a number."""
    places = [(given, metric) for given in givens for metric in metrics]
    lines = [
        (given, system, metric, value, data)
        for system, values in rows.items()
        for (given, metric), value in zip(places, values, strict=True)
    ]
    return pd.DataFrame(lines, columns=["given", "system", "metric", "value", "data"])


_TABLE_2 = {
    "PopRec": (0.023, 0.080, 0.165, 0.024, 0.084, 0.171, 0.026, 0.085, 0.176),
    "SVD++": (0.023, 0.065, 0.133, 0.027, 0.071, 0.139, 0.032, 0.087, 0.168),
    "CofiRank": (0.027, 0.093, 0.181, 0.027, 0.088, 0.182, 0.025, 0.088, 0.186),
    "GAPfm": (0.040, 0.109, 0.195, 0.042, 0.111, 0.207, 0.042, 0.114, 0.213),
}
_TABLE_3 = {
    "PopRec": (0.025, 0.085, 0.172),
    "SVD++": (0.031, 0.080, 0.150),
    "CofiRank": (0.023, 0.084, 0.188),
    "GAPfm": (0.044, 0.122, 0.219),
    "GAPfm + adaptive selection": (0.044, 0.115, 0.201),
}
_TABLE_4 = {
    "WLT": (
        *(0.710, 0.683, 0.680, 0.703, 0.695, 0.692),
        *(0.714, 0.712, 0.710, 0.741, 0.719, 0.715),
    ),
    "GAPfm": (
        *(0.709, 0.692, 0.683, 0.717, 0.691, 0.695),
        *(0.722, 0.709, 0.708, 0.736, 0.712, 0.704),
    ),
}

# DataFrames with columns given, system (names as in `tuning.SYSTEMS`), metric, value, data.
PAPER: dict[str, pd.DataFrame] = {
    "table2": _tidy(_TABLE_2, (10, 20, 30), TOP_N, "Netflix"),
    "table3": _tidy(_TABLE_3, (50,), TOP_N, "Netflix"),
    "table4": _tidy(_TABLE_4, (10, 20, 30, 40), RANKING, "MovieLens 100K"),
}
