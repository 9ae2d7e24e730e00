"""What `GAPfm` can maximise, each with its own way of climbing.

Each class offers the same to `training.ascend`. Where training stands is a `State`: arrays by name.
Those named in `learned` make the model; others are what the steps need to remember. `defaults` are
what the parameters are that a model was not given.

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

from .consistent import WEIGHTINGS, Consistent, ConsistentObjective
from .printed import Printed, PrintedObjective


class Objective(NamedTuple):
    """How to climb it, and the options that it has."""

    climb: type[PrintedObjective] | type[ConsistentObjective]
    options: type[Printed] | type[Consistent]


OBJECTIVES: dict[str, Objective] = {
    "paper": Objective(PrintedObjective, Printed),
    **dict.fromkeys(WEIGHTINGS, Objective(ConsistentObjective, Consistent)),
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
