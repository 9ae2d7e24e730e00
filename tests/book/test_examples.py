"""Every public name ends its docstring with an example, and what that shows is so."""

import doctest
import inspect
import pkgutil
from importlib import import_module

import pytest

import gapfm_teach
from gapfm_teach import consistent, paper

READ_WHOLE = [
    *("metrics", "paper", "gradcheck", "splits", "intervals"),
    *(f"consistent.{module.name}" for module in pkgutil.iter_modules(consistent.__path__)),
]


def functions_of(name: str) -> dict:
    module = import_module(f"gapfm_teach.{name}")
    return {
        f"{name}.{thing.__name__}": thing
        for _, thing in inspect.getmembers(module, inspect.isfunction)
        if thing.__module__ == module.__name__ and not thing.__name__.startswith("_")
    }


EXPORTED = {name: getattr(gapfm_teach, name) for name in gapfm_teach.__all__}
PUBLIC = EXPORTED | {
    name: thing
    for module in READ_WHOLE
    for name, thing in functions_of(module).items()
    if thing not in EXPORTED.values()
}


@pytest.mark.parametrize("name", PUBLIC)
def test_a_docstring_ends_with_an_example_that_runs(name):
    paragraphs = inspect.getdoc(PUBLIC[name]).split("\n\n")
    assert paragraphs[-1].startswith(">>> ")
    examples = doctest.DocTestParser().get_examples(paragraphs[-1])
    assert not any(example.options for example in examples), "left out, or compared loosely"


@pytest.mark.parametrize("name", PUBLIC)
def test_an_example_shows_what_comes_out(name, tmp_path, monkeypatch, capsys):
    """Each by itself, those of a class's methods too, with no name known but Python's own, or in
    `paper`, which is read as a whole, but its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GAPFM_TEACH_DATA", str(tmp_path / "data"))
    thing = PUBLIC[name]
    known = dict(vars(paper)) if thing.__module__ == paper.__name__ else {}
    failed = [
        test.name
        for test in doctest.DocTestFinder().find(PUBLIC[name], name, globs=known)
        if doctest.DocTestRunner().run(test).failed
    ]
    assert not failed, capsys.readouterr().out
