"""The numbers that the paper prints in its Tables 1-4, to stand beside ours.

Tables 2 and 3 are on the Netflix data, which no longer can be had, with 1,000 sampled candidates;
Table 4 is on MovieLens 100K.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from gapfm_teach.ratings import Ratings

# Table 1 of the paper: users with at least 50 training ratings.
FEWEST_RATINGS = 50
TABLE_1 = {"users": 319_275, "movies": 17_770, "ratings": 95_085_018}

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

# DataFrames with columns given, system (names as in `protocols`), metric, value, data.
PAPER: dict[str, pd.DataFrame] = {
    "table2": _tidy(_TABLE_2, (10, 20, 30), TOP_N, "Netflix"),
    "table3": _tidy(_TABLE_3, (50,), TOP_N, "Netflix"),
    "table4": _tidy(_TABLE_4, (10, 20, 30, 40), RANKING, "MovieLens 100K"),
}


def table1(train: Ratings) -> pd.DataFrame:
    """Print the paper's Table 1 for `train`, beside the paper's own, and return it.

    Counted are users with at least 50 ratings, all movies, the ratings of these users, and the
    share of (user, movie) pairs without one. Of the Netflix Prize data without its probe set
    (`load_netflix`) these are the paper's numbers; of others, a line says that they are not
    the Netflix Prize data.

    Returns a table with rows "here" and "paper" and columns users, movies, ratings, sparseness.
    Raises TypeError for something that is no Ratings.

    >>> from gapfm_teach import simulate_ratings
    >>> from gapfm_lab.paper import table1
    >>> table = table1(simulate_ratings(50, 400, mean_ratings=60, random_state=0))
    Table 1: users with at least 50 training ratings
            users movies    ratings sparseness
    here       27    400      3,044     71.81%
    paper 319,275 17,770 95,085,018     98.32%
    Read from: simulated, 3 factors
    The counts differ from the paper's: this is not the Netflix Prize data.
    """
    if not isinstance(train, Ratings):
        raise TypeError(f"train must be Ratings, got {type(train).__name__}")
    counts = np.diff(train.indptr)
    kept = counts[counts >= FEWEST_RATINGS]
    here = {"users": kept.size, "movies": train.n_items, "ratings": int(kept.sum())}
    table = pd.DataFrame([here, TABLE_1], index=["here", "paper"])
    pairs = table["users"] * table["movies"]
    table["sparseness"] = 1 - table["ratings"] / pairs.where(pairs > 0)
    print(f"Table 1: users with at least {FEWEST_RATINGS} training ratings")
    print(
        table.to_string(
            formatters=dict.fromkeys(TABLE_1, "{:,}".format)
            | {"sparseness": "{:.2%}".format}
        )
    )
    print(f"Read from: {train.source or 'not stated'}")
    if here != TABLE_1:
        print("The counts differ from the paper's: this is not the Netflix Prize data.")
    return table
