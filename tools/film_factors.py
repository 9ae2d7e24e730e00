"""Write the factors of the films that the home page lets a reader grade: `make films`.

Of MovieLens 100K the 200 most rated films, with titles, and what two trainings have learned of
them; no ratings. The trainings are those that chapter "Repairing the objective" begins and ends
with, on the same 30 ratings a user.
"""

import json
from pathlib import Path

import numpy as np

from gapfm_course.explorables.stored import FOLDER
from gapfm_lab.experiments import split_three
from gapfm_teach import GAPfm, Ratings, load_movielens
from gapfm_teach._support.files import replacing

FILE = FOLDER / "films.json"
MOST_FILMS, GIVEN, DIGITS = 200, 30, 3
ASKED = {  # the films to be graded, with the stars that the page begins with
    "Star Wars (1977)": 0, "Alien (1979)": 0, "Blade Runner (1982)": 5,
    "The Terminator (1984)": 5, "Titanic (1997)": 0, "Sense and Sensibility (1995)": 1,
    "Sleepless in Seattle (1993)": 0, "Toy Story (1995)": 0, "The Lion King (1994)": 0,
    "Fargo (1996)": 0,
}  # fmt: skip


def trained(ratings: Ratings) -> dict:
    """What the file holds, from the ratings of MovieLens 100K."""
    train, _, _ = split_three(ratings, GIVEN, random_state=0)
    printed = GAPfm(learning_rate=0.003, random_state=0).fit(train)
    repaired = GAPfm(objective="geometric", random_state=0).fit(train)
    times = np.bincount(ratings.indices, minlength=ratings.n_items)
    most = np.sort(np.argsort(-times, kind="stable")[:MOST_FILMS])
    titles = ratings.titles[most].tolist()
    rows = zip(
        titles, _rounded(printed.item_factors_[most]), _rounded(repaired.item_factors_[most]),
        _rounded(repaired.item_bias_[most]), strict=True,
    )  # fmt: skip
    own = {
        "temperature": repaired.objective_.options["temperature"],
        "unratedWeight": repaired.objective_.options["unrated_weight"],
    }
    return {
        "maxGrade": ratings.max_grade,
        "printed": {"objective": "paper"} | _settings(printed),
        "repaired": {"objective": "geometric"} | _settings(repaired) | own,
        "asked": [titles.index(title) for title in ASKED],
        "stars": list(ASKED.values()),
        "films": [list(row) for row in rows],
    }


def _settings(model: GAPfm) -> dict:
    """What folding a reader in needs to know, by the names that the page's script has for it."""
    rate = model.learning_rate_
    return {
        "nFactors": model.n_factors,
        "reg": model.reg_,
        "learningRate": rate,
        "nIter": model.n_iter_,
    }


def _rounded(values: np.ndarray) -> list:
    return np.round(values, DIGITS).tolist()


def written(content: dict) -> str:
    """As JSON, a film a line."""
    films = ",\n".join(
        json.dumps(row, ensure_ascii=False, separators=(",", ":"))
        for row in content["films"]
    )
    head = json.dumps(content | {"films": []}, ensure_ascii=False)
    return head.replace('"films": []', f'"films": [\n{films}\n]') + "\n"


def main(path: Path = FILE) -> None:
    with replacing(path) as file:
        file.write(written(trained(load_movielens("100k"))).encode())


if __name__ == "__main__":
    main()
