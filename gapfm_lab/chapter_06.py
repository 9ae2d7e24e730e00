"""What notebook 06 leans on: sampled lists, readings of GAP@5, tuning on the test, Tables 2 and 3."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from gapfm_teach._support.checks import check_count
from gapfm_teach.metrics import graded_average_precision, ndcg, precision
from gapfm_teach.paper import thresholding_probabilities
from gapfm_teach.ratings import Ratings
from gapfm_teach.training.recommender import Recommender

from .baselines import Popularity
from .experiments.results import read_results
from .paper import PAPER
from .primary.measure import build, split
from .protocols import PROTOCOLS

READINGS = ("ideal", "all", "hits")

# ------------------------------------------------------------------ sampled lists


def stored_systems(
    table: str | Path,
    names: Sequence[str],
    train: Ratings,
    *,
    given: int = 10,
    seed: int = 0,
) -> dict[str, Recommender]:
    """Some systems of a stored table, fitted to `train` with what tuning chose in one split.

    table : the path to table2.csv or table3.csv; the choices are beside it.
    """
    choices = read_results(str(table).replace(".csv", "_choices.csv"))
    chosen = choices.query("given == @given and seed == @seed").set_index("system")[
        "settings"
    ]
    spaces = PROTOCOLS[Path(table).stem].systems
    return {
        name: build(spaces[name], json.loads(chosen[name]), seed).fit(train)
        for name in names
    }


def full_ranks(
    systems: Mapping[str, Recommender], known: Ratings, test: Ratings, *,
    n_unrated: int = 1500, random_state=0,
) -> dict:  # fmt: skip
    """How many held-out films have 0, 1, ..., n_unrated unrated ones above them, for each system.

    Each film in `test` alone among `n_unrated` films that the user has rated neither there nor in
    `known`: the same ones for all systems, drawn once, of the users who have so many. Equal scores
    are parted at random. Returns what the view "sample_size" takes.
    """
    rng = np.random.default_rng(random_state)
    counts = {name: np.zeros(n_unrated + 1, np.int32) for name in systems}
    users = 0
    for user in range(test.n_users):
        hidden, seen = test.row(user)[0], known.row(user)[0]
        unrated = np.setdiff1d(np.arange(test.n_items), np.append(hidden, seen))
        if unrated.size < n_unrated:
            continue
        users += 1
        others = rng.permutation(unrated)[:n_unrated]
        lots = rng.random(hidden.size + n_unrated)
        for name, system in systems.items():
            scores = system.predict(user, np.append(hidden, others))
            order = np.lexsort((lots, -scores))
            is_hidden = order < hidden.size
            above = np.cumsum(~is_hidden)[is_hidden]
            np.add.at(counts[name], above, 1)
    # As text: most counts have one digit, which is shorter than packed bytes.
    systems_found = {name: count.tolist() for name, count in counts.items()}
    return {"unrated": n_unrated, "users": users, "systems": systems_found}


# ------------------------------------------------------------------ readings of GAP@5


def list_measures(grades, scores) -> dict[str, float]:
    """P@5, NDCG@5 and the three readings of GAP@5 of one list with grades up to 5.

    grades, scores : (N,), as `gapfm_teach.metrics` has them; relevant for P is grade 5.
    """
    delta = thresholding_probabilities(5)
    measures = {
        "P@5": precision(grades, scores, at=5, threshold=5),
        "NDCG@5": ndcg(grades, scores, at=5),
    }
    for reading in READINGS:
        gap = graded_average_precision(
            grades, scores, delta=delta, at=5, normalizer=reading
        )
        measures[f"GAP@5 ({reading})"] = gap
    return measures


def popularity_levels(
    ratings: Ratings, given: int, n_held_out: int, *, random_state: int = 0
) -> pd.Series:
    """Means over users of `list_measures` for PopRec, `n_held_out` (1 to 10) ratings a user.

    The protocol is that of `split` for "top_n", with 1,000 drawn candidates, written in plain NumPy,
    list after list; of the ten held-out ratings of a user, those not used are left aside.
    """
    n_held_out = check_count(n_held_out, "n_held_out", high=10)
    train, known, test, *_ = split("top_n", ratings, given, random_state)
    popularity = Popularity().fit(train)
    rng = np.random.default_rng(random_state)
    rows = []
    for user in range(test.n_users):
        hidden, grades = test.row(user)
        kept = rng.permutation(hidden.size)[:n_held_out]
        rated = np.append(known.row(user)[0], hidden)
        unrated = np.setdiff1d(np.arange(test.n_items), rated)
        others = rng.permutation(unrated)[:1000]
        order = rng.permutation(kept.size + others.size)
        items = np.append(hidden[kept], others)[order]
        list_grades = np.append(grades[kept], np.zeros_like(others))[order]
        rows.append(list_measures(list_grades, popularity.predict(user, items)))
    return pd.DataFrame(rows).mean()


# ------------------------------------------------------------------ tuning on the test


def chosen_on_test(
    values, n_variants: int, *, n_users: int = 100, n_repeats: int = 1000, random_state=0
) -> tuple[float, float]:
    """(reported, true) mean of the variant that is best for `n_users` users, drawn at random.

    values : (users, variants), a measure of each. Out of `n_variants` drawn variants the best one
    for the drawn users is chosen; reported is its mean for them, true its mean for all others.
    Both are averaged over `n_repeats` draws.
    """
    values = np.asarray(values, dtype=np.float64)
    n_variants = check_count(n_variants, "n_variants", high=values.shape[1])
    n_users = check_count(n_users, "n_users", high=values.shape[0] - 1)
    rng = np.random.default_rng(random_state)
    found = []
    for _ in range(check_count(n_repeats, "n_repeats")):
        tried = values[:, rng.permutation(values.shape[1])[:n_variants]]
        users = rng.permutation(values.shape[0])
        seen, others = tried[users[:n_users]], tried[users[n_users:]]
        best = seen.mean(axis=0).argmax()
        found.append((seen[:, best].mean(), others[:, best].mean()))
    reported, true = np.mean(found, axis=0)
    return float(reported), float(true)


# ------------------------------------------------------------------ Tables 2 and 3


def tables_2_and_3(folder: str | Path, part: str = "") -> pd.DataFrame:
    """Both tables as `reproduce` stored them in `folder`, without what only chapter 9 builds.

    part : "_differences" for the paired comparisons.
    """
    files = [Path(folder) / f"table{n}{part}.csv" for n in (2, 3)]
    table = pd.concat([read_results(file) for file in files], ignore_index=True)
    return table[~table["system"].str.startswith("GAPfm, ")]


def places(means: pd.DataFrame) -> pd.DataFrame:
    """The best system, GAPfm's place and how far ahead of PopRec it is: a column a Given.

    means : of NDCG@5, (given, system). The paper's lead over PopRec is in the last row.
    """
    printed = pd.concat([PAPER["table2"], PAPER["table3"]]).query("metric == 'NDCG@5'")
    theirs = printed.pivot(index="given", columns="system", values="value")
    found: dict[str, pd.Series] = {"best": means.idxmax(axis=1)}
    place = means.rank(axis=1, ascending=False)["GAPfm"].map("{:.0f}".format)
    found["GAPfm's place"] = place + " of " + means.count(axis=1).astype(str)
    for where, table in {"here": means, "in the paper": theirs}.items():
        lead = table["GAPfm"] / table["PopRec"] - 1
        found[f"ahead of PopRec, {where}"] = lead.map("{:+.0%}".format)
    return pd.DataFrame(found).T.rename_axis(columns="Given")


def in_full_lists(tables: pd.DataFrame) -> pd.DataFrame:
    """What changes in NDCG@5 when all films are candidates and not 1,000: a column a Given."""
    found = {}
    for given, rows in tables.query("metric == 'NDCG@5'").groupby("given"):
        both = rows.pivot(index="system", columns="candidates", values="mean")
        full = both.sort_values("1000", ascending=False)["all"].to_numpy()
        flips = np.triu(
            full[:, None] < full
        ).sum()  # the lower row is ahead in the full list
        lost = 1 - both["all"] / both["1000"]
        found[given] = {
            "pairs that change order": f"{flips} of {full.size * (full.size - 1) // 2}",
            "lost, in %": f"{100 * lost.min():.0f} to {100 * lost.max():.0f}",
        }
    return pd.DataFrame(found).rename_axis(columns="Given")


def claims() -> pd.DataFrame:
    """Sentences of the paper and what its own numbers and formulas give, a row each.

    Rows by what the text says; columns "its numbers give" and "it holds". Printed numbers have
    three digits; "kindly rounded" is the value for the numbers within half a unit that suit the
    sentence best, and decides.
    """
    rows: list[tuple[str, str, bool]] = []
    table = PAPER["table2"].pivot(
        index="system", columns=["metric", "given"], values="value"
    )
    ours, rivals = table.loc["GAPfm"], table.drop("GAPfm").max()
    for metric, least in {"P@5": 0.30, "NDCG@5": 0.15, "GAP@5": 0.10}.items():
        gain = (ours / rivals)[metric].min() - 1
        kindly = ((ours + 0.0005) / (rivals - 0.0005))[metric].min() - 1
        said = f"GAPfm over all baselines, {metric}: over {least:.0%}"
        found = f"at least {gain:.1%}, kindly rounded {kindly:.1%}"
        rows.append((said, found, bool(kindly > least)))
    ahead = table.loc["SVD++"] - table.loc["PopRec"]
    for metric, sign in {"P@5": 1, "NDCG@5": -1, "GAP@5": -1}.items():
        said = f"SVD++ {'better' if sign > 0 else 'worse'} than PopRec in {metric}"
        by_given = np.asarray(ahead[metric])
        found = ", ".join(f"{value:+.3f}" for value in by_given)
        holds = bool(np.all(sign * by_given > -0.001))  # two numbers, each rounded
        rows.append((said, f"{found} at Given 10, 20, 30, kindly rounded", holds))
    gap = PAPER["table3"].query("metric == 'GAP@5'").set_index("system")["value"]
    drops = {
        "adaptive selection: GAP drops by around 5%": [
            (1 - 0.206 / 0.216, 0.05, "validation, from the text"),
            (1 - gap["GAPfm + adaptive selection"] / gap["GAPfm"], 0.05, "test, Table 3"),
        ],
        "random selection: GAP 19% lower": [(1 - 0.166 / 0.206, 0.19, "validation, from the text")],
    }  # fmt: skip
    for said, cases in drops.items():
        for drop, claim, where in cases:
            rows.append((said, f"{drop:.1%}, {where}", bool(abs(drop - claim) < 0.01)))
    n, k = 50, 20
    saved = {
        "V alone, K² pairs": 1 - k**2 / n**2,
        "U and V, S² + K² pairs": 1 - (n**2 + k**2) / (2 * n**2),
        "linear in K": 1 - k / n,
    }
    for how, share in saved.items():
        said = "nearly 75% of the runtime can be saved"
        rows.append((said, f"{share:.0%}, {how}", bool(0.70 < share < 0.76)))
    table = pd.DataFrame(rows, columns=["the text says", "its numbers give", "it holds"])
    return table.assign(
        **{"it holds": table["it holds"].map({True: "yes", False: "no"})}
    ).set_index("the text says")
