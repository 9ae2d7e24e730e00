"""For a kernel that `tools.portable` starts: print four digits more, and start trainings elsewhere.

"Elsewhere" is off by a few of the last bits, as rounding on another processor would be.
"""

import ast
import re
from collections.abc import Mapping

import numpy as np

MORE = 4
SPEC = re.compile(r"(?P<before>[^.{}]*?)(?:\.(?P<digits>\d+))?(?P<kind>[eEfFgG%])")
IN_TEXT = re.compile(r"(?<=:)[^{}:]*[eEfFgG%](?=\})|(?<=%)\.\d+[efg]")
default_rng = np.random.default_rng


def wide_spec(spec: str) -> str:
    """`.7f` for `.3f`; a `g` keeps its zeros, so that its unit can be seen."""
    found = SPEC.fullmatch(spec)
    if not found:
        return spec
    sign = "#" if found["digits"] and found["kind"] in "gG" else ""
    return f"{found['before']}{sign}.{int(found['digits'] or 6) + MORE}{found['kind']}"


def wide_digits(digits):
    """What `round` gets instead; tens and hundreds stay, since whole numbers are made of them."""
    if isinstance(digits, Mapping):
        return {name: wide_digits(n) for name, n in digits.items()}
    return digits + MORE if isinstance(digits, int) and digits >= 0 else digits


class Widen(ast.NodeTransformer):
    """Formats, and the arguments of `round`, in a cell."""

    def visit_FormattedValue(self, node):
        self.generic_visit(node)
        for part in node.format_spec.values if node.format_spec else []:
            if isinstance(part, ast.Constant):
                part.value = wide_spec(part.value)
        return node

    def visit_Constant(self, node):
        if isinstance(node.value, str):
            node.value = IN_TEXT.sub(lambda found: wide_spec(found[0]), node.value)
        return node

    def visit_Call(self, node):
        self.generic_visit(node)
        match node.func:
            case ast.Name("round") | ast.Attribute(ast.Name("np"), "round"):
                digits = node.args[1:]
            case ast.Attribute(_, "round"):
                digits = node.args[:1]
            case _:
                return node
        for argument in digits:
            wider = ast.Call(ast.Name("wide_digits", ast.Load()), [argument], [])
            node.args[node.args.index(argument)] = wider
        return node


class Jittered(np.random.Generator):
    """Draws that differ in the last bits; equal for equal seeds, as a test of equality needs."""

    seed = 0

    def __init__(self, bits):
        super().__init__(bits)
        self._noise = default_rng(self.seed)

    def _jitter(self, drawn):
        return drawn * (1 + self._noise.choice([-2, -1, 1, 2], np.shape(drawn)) * 2.0**-52)

    def normal(self, *args, **options):
        return self._jitter(super().normal(*args, **options))

    def standard_normal(self, *args, **options):
        return self._jitter(super().standard_normal(*args, **options))

    def uniform(self, *args, **options):
        return self._jitter(super().uniform(*args, **options))


def jittered_rng(seed=None):
    if isinstance(seed, np.random.Generator):
        return seed
    return Jittered(default_rng(seed).bit_generator)


def install(shell, jitter: int) -> None:
    """Begin with the next cell; `jitter` is the seed of the last bits, 0 for none."""
    import pandas as pd

    shell.user_ns["wide_digits"] = wide_digits
    shell.ast_transformers.append(Widen())
    pd.set_option("display.precision", pd.get_option("display.precision") + MORE)
    pd.set_option("display.width", 1000)
    np.set_printoptions(precision=np.get_printoptions()["precision"] + MORE)
    if jitter:
        Jittered.seed = jitter
        np.random.default_rng = jittered_rng
