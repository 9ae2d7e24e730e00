"""Write pages/api.qmd: the public functions and classes, from their signatures and docstrings."""

import inspect
import re
import textwrap
from importlib import import_module
from pathlib import Path

import gapfm_teach
from gapfm_teach._support.files import replacing

PAGE = Path(__file__).resolve().parent.parent / "pages" / "api.qmd"
# What a reader wants, and the modules that have it.
GROUPS = {
    "Measure a list": ("gapfm_teach.metrics",),
    "The paper": ("gapfm_teach.paper", "gapfm_teach.gradcheck"),
    "The model": ("gapfm_teach.model",),
    "Data": (
        *("gapfm_teach.ratings", "gapfm_teach.datasets", "gapfm_teach.splits"),
        *("gapfm_lab.netflix_simulation", "gapfm_lab.paper"),
    ),
    "Evaluate": ("gapfm_teach.evaluation", "gapfm_teach.intervals"),
    "The repaired objective": tuple(
        f"gapfm_teach.consistent{name}"
        for name in ("", ".ranks", ".gap", ".related_measures", ".measures", ".fast_sums")
    ),
}
OPENING = """\
# Package reference {#sec-reference .unnumbered}

Every public function and class, each with an example that can be typed as it stands.
`help(name)` in Python says the same. Numbers such as (2) are the paper's equations; the
symbols stand in the [table of notation](notation.qmd)."""
WIDTH = 44  # characters of code on a phone
MARKUP = re.compile(
    r"""(?P<code>`[^`]+`)
    | (?P<emphasis>\*\w+\*)
    | (?:(?<=\b\w)|(?<=['\u0302]))_(?P<sub>\{[^}]*\}|[a-zA-Z0-9]{1,3})(?![a-z_])  # of one letter
    | \^(?P<sup>\{[^}]*\}|\([^)]*\)|[-−]?[\w\u0302]+)
    | (?<=\b\w)(?P<prime>')(?![a-z])
    | (?P<compared>[<>]=)
    | (?P<special>[][\\*_^~<>#@$|"{}])""",
    re.VERBOSE,
)
SIGNS = {"'": "′", "<=": "≤", ">=": "≥"}


def public(module) -> dict:
    """What a module hands on, or else defines; errors are told of where they are raised."""
    own = [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", "") == module.__name__
    ]
    found = {name: getattr(module, name) for name in getattr(module, "__all__", own)}
    return {
        name: value
        for name, value in found.items()
        if callable(value) and not (inspect.isclass(value) and issubclass(value, Exception))
    }


def methods(kind: type) -> dict:
    """The public methods of a class of this package, its own first."""
    found: dict = {}
    for base in kind.__mro__:
        if base.__module__.startswith(gapfm_teach.__name__):
            for name in vars(base):
                if not name.startswith("_") and callable(getattr(kind, name, None)):
                    found.setdefault(f"{kind.__name__}.{name}", getattr(kind, name))
    return found


def signature(name: str, thing) -> str:
    """`name(…)` without types, which the text has, in lines that a phone can show."""
    plain = inspect.signature(thing)
    arguments = [
        argument.replace(annotation=inspect.Parameter.empty)
        for argument in plain.parameters.values()
        if argument.name != "self"
    ]
    plain = plain.replace(parameters=arguments, return_annotation=plain.empty)
    if len(name + str(plain)) <= WIDTH:
        return name + str(plain)
    indent = "    "
    inside = textwrap.fill(
        str(plain)[1:-1], WIDTH, initial_indent=indent, subsequent_indent=indent
    )
    return f"{name}(\n{inside}\n)"


def prose(text: str, targets: frozenset[str] = frozenset()) -> str:
    """Plain text as Markdown, with indices and exponents set as such.

    `targets` : the names that a link is made of, where they stand in `backticks`.
    """

    def marked(match: re.Match) -> str:
        kind, found = match.lastgroup, match[match.lastgroup]
        if kind in ("sub", "sup"):
            inner = found[1:-1] if found[0] in "{(" else found
            return f"<{kind}>{prose(inner)}</{kind}>"
        if kind == "code" and (target := found.strip("`").split(".")[-1]) in targets:
            return f"[{found}](#{target})"
        if kind == "special":
            return "\\" + found
        return SIGNS.get(found, found)

    return MARKUP.sub(marked, text)


def block(text: str, targets: frozenset[str]) -> str:
    """One paragraph of a docstring: text, a formula, an example or a list of parameters."""
    lines = text.splitlines()
    if text.startswith(">>>"):
        code = re.sub(r"  # doctest: .*", "", text)
        return f"```python\n{code}\n```"
    if all(line.startswith("    ") for line in lines):
        formula = [re.sub(" {2,}", "\u2003", line.strip()) for line in lines]
        return "\n".join(f"| {prose(line)}" for line in formula)
    if len(lines) > 2 and set(lines[1]) == {"-"}:
        items = re.split(r"\n(?! )", "\n".join(lines[2:]))
        return "\n\n".join([f"**{prose(lines[0])}**", *(item(i, targets) for i in items)])
    return prose(" ".join(line.strip() for line in lines), targets)


def item(text: str, targets: frozenset[str]) -> str:
    name, what = " ".join(text.split()).split(" : ", 1)
    return f"`{name}`\n:   {prose(what, targets)}"


def body(thing, targets: frozenset[str] = frozenset()) -> str:
    """A docstring as Markdown."""
    paragraphs = re.split(r"\n\s*\n", inspect.getdoc(thing))
    return "\n\n".join(block(paragraph, targets) for paragraph in paragraphs)


def entry(name: str, thing, level: str, known: frozenset[str]) -> str:
    """Heading, signature and text of one function, class or method, and of its methods."""
    heading = f"{level} `{name}` {{#{name} .unnumbered}}"
    links = known - {name, *inspect.signature(thing).parameters}
    parts = [heading, f"```python\n{signature(name, thing)}\n```", body(thing, links)]
    if inspect.isclass(thing):
        parts += [entry(of, it, level + "#", known) for of, it in methods(thing).items()]
    return "\n\n".join(parts)


def overview(title: str, names: list[str]) -> str:
    """A line of the list at the top of the page."""
    return f"{title}\n:   {', '.join(f'[`{name}`](#{name})' for name in names)}"


def page() -> str:
    """The text of pages/api.qmd."""
    groups = {
        title: [import_module(name) for name in names] for title, names in GROUPS.items()
    }
    names = {
        title: [name for module in group for name in public(module)]
        for title, group in groups.items()
    }
    known = frozenset(name for group in names.values() for name in group)
    parts = [OPENING, *(overview(title, group) for title, group in names.items())]
    for title, group in groups.items():
        parts.append(f"## {title} {{.unnumbered}}")
        for module in group:
            parts += [f"**`{module.__name__}`**", body(module)]
            parts += [entry(name, it, "###", known) for name, it in public(module).items()]
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    with replacing(PAGE) as file:
        file.write(page().encode())
