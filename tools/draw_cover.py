"""Draw preview/cover.png, the picture that goes with a link to the book: GAP's staircase and its slope."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from gapfm_teach import graded_average_precision

PREVIEW = Path(__file__).resolve().parent.parent / "preview"
PAPER, INK, SOFT, BLUE, ORANGE = "#fdfdfb", "#22262b", "#565e68", "#0072b2", "#d55e00"
GRADES, SCORES, MOVED = np.array([3, 2, 2, 1]), np.array([0.8, 0.3, -0.5, 0.0]), 3


def gap_while_one_moves(places: np.ndarray) -> np.ndarray:
    """The GAP of four films while the score of one of them takes each of `places`."""
    values = []
    for place in places:
        scores = SCORES.copy()
        scores[MOVED] = place
        values.append(graded_average_precision(GRADES, scores))
    return np.array(values)


def main() -> None:
    places = np.linspace(-2, 2, 801)
    stairs = gap_while_one_moves(places)
    # As if the score were known with some noise: what a slope in place of steps looks like.
    kernel = np.exp(-0.5 * (np.linspace(-1, 1, 401) / 0.28) ** 2)
    slope = np.convolve(np.pad(stairs, 200, mode="edge"), kernel / kernel.sum(), "valid")
    with plt.rc_context({"font.family": "STIXGeneral", "text.color": INK}):
        figure = plt.figure(figsize=(12, 6.3), dpi=100, facecolor=PAPER)
        figure.text(0.06, 0.80, "GAPfm, from formula to film list", size=47, weight="bold")
        figure.text(
            0.06, 0.70, "An interactive course on the Graded Average Precision factor model",
            size=26, color=SOFT,
        )  # fmt: skip
        axes = figure.add_axes((0.0, 0.06, 1.0, 0.55), facecolor=PAPER)
        axes.plot(places, stairs, color=BLUE, linewidth=5)
        axes.plot(places, slope, color=ORANGE, linewidth=5)
        axes.axis("off")
        axes.margins(x=0)
        figure.savefig(PREVIEW / "cover.png", facecolor=PAPER, metadata={"Software": None})
    plt.close(figure)


if __name__ == "__main__":
    main()
