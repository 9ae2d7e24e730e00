"""Notebook 10: five objectives of one kernel, what each climbs, and who wins by which measure."""

from collections.abc import Mapping, Sequence

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from ... import metrics, plots
from ...learning.consistent import SampledProblem
from ...model import GAPfm
from ...ratings import Ratings
from ...splits import subset
from ..catalogue import catalogue_per_user
from ..protocols import FAMILY, PROTOCOLS

OWN = dict(
    zip(FAMILY, ("GAP@5 (ideal)", "AP@5", "GP@5", "GR@5", "ERR@5"), strict=True)
)  # the measure that each objective stands for
MEASURES = ("P@5", "NDCG@5", *OWN.values())
DEEPEST = 0.4  # share of GAP's mean at which the heat map's colours end
CUTOFF = 5  # of precision and recall, as the objectives have it
N_SAMPLED = 400  # unrated items of each user when smooth measures are compared


# ------------------------------------------------------------------ what training climbs


def train_all(
    train: Ratings, test: Ratings, iterations: Sequence[int], **options
) -> tuple[dict[str, GAPfm], pd.DataFrame]:
    """Fit each objective of `FAMILY` up to the last of `iterations`, and measure at each of them.

    `options` go to GAPfm. Returns the models by name, and a table with a row for each objective,
    iteration and lists ("training": all items, ranked for the ratings of `train`; "held out": all
    items not in `train`, for those of `test`), with the columns of `catalogue_per_user`.
    """
    models, rows = {}, []
    nothing = subset(train, np.zeros(train.n_ratings, dtype=bool), "nothing of it")
    parts = {"training": (nothing, train), "held out": (train, test)}
    for name, objective in FAMILY.items():

        def measure(iteration: int, model: GAPfm, name: str = name) -> None:
            if iteration not in iterations:
                return
            for lists, (known, sought) in parts.items():
                means = catalogue_per_user(model, known, sought, random_state=0).mean()
                key = {"objective": name, "iteration": iteration, "lists": lists}
                rows.append(key | means.to_dict())

        model = GAPfm(objective=objective, n_iter=max(iterations), **options)
        models[name] = model.fit(train, callback=measure)
    return models, pd.DataFrame(rows)


def smooth_measures(models: Mapping[str, GAPfm], train: Ratings) -> pd.DataFrame:
    """Each smooth measure of `FAMILY`, mean over users, at each model: a row a model.

    At the model's own temperature and unrated_weight, with the same sample of unrated
    items for all.
    """
    uniforms = np.random.default_rng(0).random((train.n_users, N_SAMPLED))
    rows = {}
    for name, model in models.items():
        U = np.column_stack([model.user_factors_, np.ones(train.n_users)])
        V = np.column_stack([model.item_factors_, model.item_bias_])
        rows[name] = {
            other: SampledProblem(train, objective, float(CUTOFF)).sampled_gradients(
                U, V, uniforms, model.options.temperature, model.options.unrated_weight
            )[0]
            / train.n_users
            for other, objective in FAMILY.items()
        }
    return pd.DataFrame(rows).T


def exact_measures(models: Mapping[str, GAPfm], train: Ratings) -> pd.DataFrame:
    """The exact twin of each smooth measure of `FAMILY`, mean over users: a row a model.

    All items are ranked for the ratings of `train`. GAP, AP and ERR of the whole list, GP and GR
    at `CUTOFF`; GP with the standard of its objective, the n-th best grade of the user.
    """
    rows = {}
    for name, model in models.items():
        lists = []
        for user in range(train.n_users):
            rated, grades = train.row(user)
            listed = np.zeros(train.n_items, dtype=np.int64)
            listed[rated] = grades
            lists.append(_exact(listed, model.predict(user), train.max_grade))
        rows[name] = pd.DataFrame(lists).mean()
    return pd.DataFrame(rows).T


def _exact(grades: np.ndarray, scores: np.ndarray, scale: int) -> dict[str, float]:
    n = CUTOFF
    delta = metrics.thresholding_probabilities(scale)
    worth = metrics.accumulated(delta)[grades]
    best_first = np.sort(worth[worth > 0])[::-1]
    standard = best_first[min(n, best_first.size) - 1]
    shown = worth[metrics.ranks(scores) <= n]
    values = (
        metrics.graded_average_precision(grades, scores, delta=delta),
        metrics.average_precision(grades > 0, scores),
        float(np.minimum(shown, standard).sum() / standard / n),
        metrics.graded_recall(grades, scores, at=n, delta=delta),
        metrics.expected_reciprocal_rank(grades, scores, max_grade=scale),
    )
    return dict(zip(FAMILY, values, strict=True))


# ------------------------------------------------------------------ who wins


def against_gap(table: pd.DataFrame) -> pd.DataFrame:
    """The stored table "family", with what its paired tests say beside the reference "GAP".

    Adds columns relative, the difference to GAP's mean as a share of it, and clear: is p_value
    below 0.05 divided by the number of tests in `table` (Bonferroni)?
    """
    reference = table[table["system"] == PROTOCOLS["family"].references[0]]
    means = reference.set_index(["given", "metric"])["mean"]
    base = means.loc[pd.MultiIndex.from_frame(table[["given", "metric"]])].to_numpy()
    clear = table["p_value"] < 0.05 / table["p_value"].count()
    return table.assign(relative=table["mean"] / base - 1, clear=clear)


def winners(compared: pd.DataFrame) -> pd.DataFrame:
    """The best objective of `FAMILY` by each measure: a row a (given, metric), from `against_gap`.

    Columns best, its own objective ("" for P and NDCG), and clear: "yes" where the best differs
    clearly from GAP or, if it is GAP, from all others; else "no".
    """
    owner = {metric: name for name, metric in OWN.items()}
    rows = []
    family = compared[compared["system"].isin(FAMILY)].sort_values("given", kind="stable")
    for (given, metric), rivals in family.groupby(["given", "metric"], sort=False):
        names, clear = rivals["system"].to_numpy(), rivals["clear"].to_numpy()
        best = names[rivals["mean"].to_numpy().argmax()]
        is_gap = best == PROTOCOLS["family"].references[0]
        differs = clear[names != best].all() if is_gap else clear[names == best].all()
        own = owner.get(str(metric), "")
        rows.append((given, metric, own, best, "yes" if differs else "no"))
    found = pd.DataFrame(rows, columns=["given", "metric", "own", "best", "clear"])
    return found.set_index(["given", "metric"])


def heat_map(ax: Axes, compared: pd.DataFrame, given: int) -> Axes:
    """Means of one Given, a row a system, coloured by the share above or below GAP's.

    Bold where the difference is clear, see `against_gap`; a frame around the best of a column.
    """
    rows = compared[compared["given"] == given].set_index(["system", "metric"])
    systems = [*FAMILY, "GAPfm"]
    places = pd.MultiIndex.from_product([systems, MEASURES])
    shape = (len(systems), len(MEASURES))
    mean, relative, clear = (
        rows[column].reindex(places).to_numpy().reshape(shape)
        for column in ("mean", "relative", "clear")
    )
    shades = mpl.colormaps["PuOr_r"].resampled(9)
    ax.imshow(relative, cmap=shades, vmin=-DEEPEST, vmax=DEEPEST, aspect="auto")
    for i, j in np.ndindex(shape):
        pale = abs(relative[i, j]) < 5 / 9 * DEEPEST  # the inner five shades
        ax.text(j, i, f"{mean[i, j]:.3f}"[1:], ha="center", va="center",
                weight="bold" if clear[i, j] else "normal",
                color="black" if pale else "white")  # fmt: skip
    for j, i in enumerate(mean.argmax(axis=0)):
        ax.add_patch(
            mpl.patches.Rectangle((j - 0.47, i - 0.46), 0.94, 0.92, fill=False, lw=2)
        )
    ax.set_xticks(range(len(MEASURES)), [name.split("@")[0] for name in MEASURES])
    ax.set_yticks(range(len(systems)), systems)
    ax.grid(False)
    return plots.label(ax, "", "", f"Given {given}")
