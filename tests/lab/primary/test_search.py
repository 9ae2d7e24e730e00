"""The declared search, on functions whose maximum is known."""

import math

import pytest

from gapfm_lab.primary.declared import FACTOR, MOST_STEPS, SYSTEMS, Space
from gapfm_lab.primary.search import FULL, REDUCED, search


def bowl(**best):
    """Highest where each number is `best`, counted in doublings."""

    def value(settings):
        return -sum(
            math.log2(settings[name] / target) ** 2 for name, target in best.items()
        )

    return value


def test_a_maximum_inside_is_found_exactly():
    found = search(Space(object, {"reg": 1.0, "rate": 4.0}), bowl(reg=4.0, rate=0.5))
    assert found.settings == {"reg": 4.0, "rate": 0.5}
    assert found.at_edge == []
    assert found.value == 0


def test_the_row_is_widened_while_its_edge_is_best():
    found = search(Space(object, {"reg": 1.0}), bowl(reg=2.0**6))
    assert found.settings["reg"] == 2.0**6
    assert not found.at_edge


def test_beyond_the_widest_row_later_rounds_go_on():
    target = FACTOR ** (MOST_STEPS + 3)
    found = search(Space(object, {"reg": 1.0}), bowl(reg=target))
    assert found.settings["reg"] == target


def test_an_endless_rise_is_reported():
    found = search(Space(object, {"reg": 1.0}), lambda settings: settings["reg"])
    assert found.at_edge == ["reg"]


def test_two_numbers_that_depend_on_each_other_take_rounds():
    def value(settings):  # a ridge along reg = rate
        reg, rate = math.log2(settings["reg"]), math.log2(settings["rate"])
        return -((reg - rate) ** 2) - (reg - 3) ** 2

    found = search(Space(object, {"reg": 1.0, "rate": 1.0}), value)
    assert found.value >= -1  # from -9 at the start, and more than one round alone can do


def test_choices_and_integers():
    space = Space(object, {"n": 80}, {"grades": ("1", "y", "y²")})
    found = search(space, lambda s: -abs(s["n"] - 20) + (s["grades"] == "y"))
    assert found.settings == {"n": 20, "grades": "y"}
    assert isinstance(found.settings["n"], int)
    lowest = search(Space(object, {"n": 2}), lambda settings: -settings["n"])
    assert lowest.settings == {"n": 1}


def test_nothing_is_tried_twice_and_a_failed_training_never_wins():
    tried = []

    def value(settings):
        tried.append(tuple(settings.values()))
        return -math.inf if settings["reg"] < 1 else -settings["reg"]

    found = search(Space(object, {"reg": 1.0}, {"grades": ("1", "y")}), value)
    assert len(tried) == len(set(tried)) == found.n_fits
    assert found.settings == {"reg": 1.0, "grades": "1"}


def test_the_reduced_search_skips_what_it_says():
    space = Space(object, {"reg": 1.0}, {"grades": ("1", "y"), "n_factors": (10, 20)})
    found = search(space, lambda s: s["n_factors"] + (s["grades"] == "y"), REDUCED)
    assert found.settings == {"reg": 1.0, "grades": "y", "n_factors": 10}
    assert found.n_fits < search(space, lambda s: s["n_factors"], FULL).n_fits


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_declared_start_builds_its_system(name):
    space = SYSTEMS[name]
    start = dict(space.numbers) | {key: values[0] for key, values in space.choices.items()}
    assert space.make(**space.fixed, **start)
