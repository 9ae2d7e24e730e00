"""What explorables of chapters 6, 7 and 9 are made of: sums over users and films, nobody's ratings."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from ...model import GAPfm
from ...ratings import Ratings
from ...smooth import logistic
from ...training.recommender import Recommender
from ..systems import SYSTEMS
from . import exponents
from .results import clear, read_results


def stored_systems(
    rows: pd.DataFrame, names: Sequence[str], train: Ratings, *, split: int = 0
) -> dict[str, Recommender]:
    """Some systems of a stored table, fitted to `train` with what tuning chose in one split.

    rows : of the table, one a system, with its settings as `reproduce` wrote them.
    """
    settings = rows.set_index("system")["settings"]
    found = {name: json.loads(settings.loc[name])[split] for name in names}
    return {
        name: SYSTEMS[name].build(chosen, split).fit(train)
        for name, chosen in found.items()
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


def means_of_films(train: Ratings, ratings: Ratings, n_titles: int = 200) -> dict:
    """Films by number and sum of their ratings, and how many there are of each such pair.

    Of `train`; the `n_titles` films that are most rated in `ratings`, all of them, stand alone, with
    their titles. What the view "shrink" takes as n, sum, many, titles and mu.
    """
    n = np.bincount(train.indices, minlength=train.n_items)
    total = np.bincount(train.indices, train.grades, minlength=train.n_items).astype(int)
    title = np.full(train.n_items, "", dtype=object)
    in_all = np.bincount(ratings.indices, minlength=ratings.n_items)
    often = np.argsort(-in_all, kind="stable")[:n_titles]
    title[often] = [str(name) for name in train.titles[often]]
    films = pd.DataFrame({"n": n, "sum": total, "title": title}).query("n > 0")
    groups = films.groupby(["n", "sum", "title"]).size().reset_index(name="many")
    numbers = {key: groups[key].to_numpy(np.int32) for key in ("n", "sum", "many")}
    mu = float(train.grades.mean())
    return numbers | {"titles": groups["title"].tolist(), "mu": mu}


def pulled_films(model: GAPfm, user: int) -> dict:
    """One user's rated films where `model` stands, best place first, without saying which they are.

    What the view "who_is_pulled" takes: grades, scores, and over all unrated j the sums of t_ij and
    of t_ij (1 - t_ij), from which the pull follows for every exponent and weight.
    """
    train, tau = model.train_, getattr(model.objective_, "temperature", 1.0)
    rated, grades = train.row(user)
    scores = model.predict(user)
    others = np.delete(scores, rated)
    t = logistic((others[None, :] - scores[rated, None]) / tau)
    above, slope = t.sum(axis=1), (t * (1 - t)).sum(axis=1)
    order = np.argsort(-scores[rated], kind="stable")
    return {
        "grades": grades[order].astype(np.int32), "scores": scores[rated][order],
        "above": above[order], "slope": slope[order], "tau": float(tau),
        "maxGrade": train.max_grade, "films": train.n_items,
    }  # fmt: skip


def typical_user(model: GAPfm, *, every: int = 3) -> tuple[int, dict[str, float]]:
    """Whose worse-placed half gets a share of the pull like everybody's, and everybody's shares.

    At the corners p = 1 and 0, w = 1 and .05, of every `every`-th user.
    """
    apart, shares = [], {}
    for p, w in ((1.0, 1.0), (1.0, 0.05), (0.0, 1.0), (0.0, 0.05)):
        table = exponents.pulls(model, p, every, unrated_weight=w)
        shares[f"p = {p:g}, w = {w:g}"] = share = exponents.share_of_lower_half(table)
        table["place of"] = table.groupby("user")["place"].rank(pct=True)
        lifted = table["pull"].clip(lower=0.0)
        worse = lifted.where(table["place of"] > 0.5, 0.0).groupby(table["user"]).sum()
        apart.append((worse / lifted.groupby(table["user"]).sum() - share) ** 2)
    distance = pd.concat(apart, axis=1).sum(axis=1)
    return distance.index.to_list()[int(distance.to_numpy().argmin())], shares


def steps_of(
    tables: Mapping[str, str | Path], metrics=("NDCG@5", "GAP@5 (ideal)", "AP@5")
) -> dict:
    """The stored single changes of `tables`, {title: path to ablation.csv or ablation_few.csv}.

    Each step with its difference to the step before, or for what is taken out to all changes of
    consistent GAP. What the view "one_change" takes.
    """
    whole = "+ large start"
    return {
        "whole": whole,
        "tables": {title: _steps(path, whole, metrics) for title, path in tables.items()},
    }


def _steps(table: str | Path, whole: str, metrics: Sequence[str]) -> list[dict]:
    """A row a step, measure and Given: its mean and its change, each with a 95% interval.

    Lists of all films, where there are others, too.
    """
    results = read_results(table)
    paired = read_results(str(table).replace(".csv", "_differences.csv"))
    if "candidates" in results:
        results, paired = (t[t["candidates"] == "all"] for t in (results, paired))
    systems = list(dict.fromkeys(results["system"]))
    put_in = [name for name in systems if not name.startswith("- ")]
    before = dict(zip(put_in[1:], put_in, strict=False))
    keys = ["reference", "system", "given", "metric"]
    paired = paired.assign(clear=clear(paired))
    pairs = {tuple(pair[key] for key in keys): pair for pair in paired.to_dict("records")}
    rows = []
    for row in results[results["metric"].isin(metrics)].itertuples():
        reference = before.get(row.system, None if row.system == put_in[0] else whole)
        out: dict = {"given": row.given, "metric": row.metric, "system": row.system}
        out |= {"mean": [row.mean, row.ci_low, row.ci_high]}
        if reference is not None:
            pair = pairs[reference, row.system, row.given, row.metric]
            change = [float(pair[name]) for name in ("difference", "ci_low", "ci_high")]
            out |= {"change": change, "clear": bool(pair["clear"])}
        rows.append(out)
    return rows
