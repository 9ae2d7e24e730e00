"""What `GAPfm` can maximise, each with its own way of climbing.

Each class offers the same to `training.ascend`. Where training stands is a `State`: arrays by name.
Those named in `learned` make the model; others are what the steps need to remember.

    start(train, n_factors, init_scale, rng) -> State     before the first iteration
    gradients(state, iteration) -> (value, gradient)      the objective, its gradient by name
    step(state, gradient, iteration) -> (State, moved)    one iteration further, and how far
    factors(state) -> (U, V)                              whose products are the scores
    fold_in(model, items, grades) -> (D,)                 a new user's factors

What an objective alone needs to know, it takes as its own options: `Printed`, `Consistent`.
"""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, NamedTuple

from .consistent import (
    WEIGHTINGS,
    Consistent,
    ConsistentObjective,
    Cutoff,
    Geometric,
    first_move,
)
from .printed import Printed, PrintedObjective


class Objective(NamedTuple):
    """How to climb it, the options that it has, and the parameters of a model not given any."""

    climb: type[PrintedObjective] | type[ConsistentObjective]
    options: type[Printed] | type[Consistent]
    reg: float
    learning_rate: float
    init_scale: float


# A small start where popularity must come first; elsewhere a large one, for from a small one the
# factors may never leave 0: far from the top the gradient is less than λ takes.
_AS_PRINTED = Objective(PrintedObjective, Printed, 0.001, 0.01, 0.01)
_CONSISTENT = Objective(
    ConsistentObjective, Consistent, 0.06, first_move("consistent"), 0.3
)
OBJECTIVES: dict[str, Objective] = {
    "paper": _AS_PRINTED,
    **dict.fromkeys(WEIGHTINGS, _CONSISTENT),
    "geometric": Objective(
        ConsistentObjective, Geometric, 2.5, first_move("geometric"), 0.3
    ),
    "graded_precision": _CONSISTENT._replace(options=Cutoff),
    "graded_recall": _CONSISTENT._replace(options=Cutoff),
}


def options_of(objective: str, given: Mapping[str, Any]) -> Printed | Consistent:
    """The options of an objective, those not `given` at their defaults.

    Raises TypeError for one that it does not have, TypeError or ValueError for a bad value.
    """
    kind = OBJECTIVES[objective].options
    known = [field.name for field in fields(kind)]
    if unknown := [name for name in given if name not in known]:
        name = unknown[0]
        raise TypeError(
            f"objective={objective!r} knows no {name}={given[name]!r}; it has {', '.join(known)}"
        )
    return kind(**given)
