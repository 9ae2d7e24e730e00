"""What Python and NumPy say when a learner's function stops, in words about her code."""

import linecache
import re
import traceback
from collections.abc import Callable

_WORDS: list[tuple[str, str]] = [
    (
        r"operands could not be broadcast together with (?:remapped )?shapes (\(.*?\)) (\(.*?\))",
        "it joins two arrays entry by entry that do not fit, of shapes {0} and {1}. Entry by entry, "
        "both need equal lengths; `a[:, None]` makes a column that is joined with every entry of a row.",
    ),
    (
        r"mismatch in its core dimension .*\(size (\d+) is different from (\d+)\)",
        "`@` needs as many columns on its left as there are rows on its right; here they are {1} "
        "and {0}. Is one of the two to be transposed, `.T`?",
    ),
    (
        r"shapes (\(.*?\)) and (\(.*?\)) not aligned",
        "`dot` needs as many columns on its left as there are rows on its right; here the shapes "
        "are {0} and {1}. Is one of the two to be transposed, `.T`?",
    ),
    (
        r"inhomogeneous shape",
        "it makes an array of rows that differ in length.",
    ),
    (
        r"setting an array element with a sequence",
        "it puts several numbers into a place of an array that holds one.",
    ),
    (
        r"only (?:size-1|length-1|0-dimensional) arrays can be converted",
        "it hands a whole array to something that takes one number, such as `float`, `int` or a "
        "function of `math`. NumPy's functions, `np.log` for `math.log`, take arrays.",
    ),
    (
        r"truth value of an array",
        "it asks a whole array for one yes or no, with `if`, `and`, `or`, `min` or `max`. For each "
        "entry: `np.where`, `&`, `|`, `np.minimum`, `np.maximum`.",
    ),
    (
        r"index (-?\d+) is out of bounds for axis (\d+) with size (\d+)",
        "it asks for entry {0} of {2}. Python counts from 0: the first is 0, and {2} is one too far.",
    ),
    (
        r"(?:list|tuple) index out of range",
        "it asks for an entry behind the end of a list. Python counts from 0: the last one of n "
        "is n - 1.",
    ),
    (
        r"axis (-?\d+) is out of bounds for array of dimension (\d+)",
        "it sums or sorts along `axis={0}` of an array with {1} dimension(s), and those count from 0.",
    ),
    (
        r"too many indices for array: array is (\d+)-dimensional, but (\d+)",
        "it gives {1} indices to an array with {0} dimension(s).",
    ),
    (
        r"boolean index did not match .*? is (\d+) but .* is (\d+)",
        "it picks from {0} entries with {1} values of true and false; it takes one for each.",
    ),
    (
        r"(?:only integers, slices|arrays used as indices must be of integer|"
        r"indices must be integers)",
        "an index is no whole number. A division with `/` gives fractions even where it leaves no "
        "rest; `//` and `.astype(int)` give whole numbers.",
    ),
    (
        r"'numpy\.ndarray' object is not callable",
        "it calls an array like a function. Entries are picked with square brackets, `a[i]`.",
    ),
    (
        r"'numpy\.ndarray' object has no attribute '(\w+)'",
        "an array has no `.{0}`; that may be a list's, or a function of NumPy, `np.{0}`.",
    ),
    (
        r"'(?:numpy\.)?(?:u?int|float|bool)\w*' object is not (?:subscriptable|iterable)|"
        r"invalid index to scalar variable",
        "it treats a single number as if it were a list.",
    ),
    (
        r"must be numbers, got <(?:function|ufunc)|unsupported operand type\(s\) for .*'function'",
        "it calculates with a function itself. Call it first: `gradient(x)`, not `gradient`.",
    ),
    (
        r"unsupported operand type\(s\) for .*'list'|can't multiply sequence|"
        r"bad operand type for unary -: 'list'",
        "it calculates with a list, which does not go entry by entry: make it an array, "
        "`np.array(...)`.",
    ),
    (
        r"unsupported operand type\(s\) for .*'NoneType'",
        "it calculates with None, which is what a function gives back that has no `return`.",
    ),
    (
        r"ufunc '(?:bitwise_and|bitwise_or)' not supported",
        "`&` and `|` bind more tightly than `<` and `>`: put brackets around each comparison, "
        "`(a > 0) & (b > 0)`.",
    ),
    (
        r"Cannot cast ufunc '\w+' output",
        "it adds fractions to an array of whole numbers, in place. Make that array with "
        "`dtype=float`, or write `a = a + b`.",
    ),
    (
        r"zero-size array to reduction operation (\w+)",
        "it takes the {0} of an empty array, where there is none.",
    ),
    (
        r"cannot reshape array of size (\d+) into shape (\(.*?\))",
        "it reshapes {0} numbers to {1}, which holds another number of them.",
    ),
    (
        r"(?:integer |float )?(?:division|modulo) by zero|division by zero",
        "it divides by 0. Do the ranks begin at 0?",
    ),
    (
        r"name '(\w+)' is not defined",
        "`{0}` is not known. Is it misspelt, or is an `import` missing, such as "
        "`import numpy as np`?",
    ),
    (
        r"cannot access local variable '(\w+)'|local variable '(\w+)' referenced before",
        "it reads `{0}` before it has a value. Give it one before the loop or the `if`.",
    ),
    (
        r"module '(\w+)' has no attribute '(\w+)'",
        "`{0}` has nothing called `{1}`.",
    ),
    (
        r"takes (\d+) positional arguments? but (\d+) (?:was|were) given",
        "a function that takes {0} argument(s) is called with {1}. Leave the line with `def` as "
        "the exercise gives it.",
    ),
    (
        r"missing (\d+) required positional arguments?: (.*)",
        "a function is called without its argument(s) {1}.",
    ),
    (
        r"maximum recursion depth exceeded",
        "it calls itself without an end.",
    ),
]


def explain_exception(error: BaseException, answer: Callable) -> str:
    """What to tell a learner whose function `answer` raised `error`: which kind, why, and where."""
    kind, why = type(error).__name__, str(error)
    for pattern, words in _WORDS:
        if found := re.search(pattern, why):
            why = words.format(*(part for part in found.groups() if part is not None))
            break
    article = "an" if kind[0] in "AEIOU" else "a"
    return f"✗ Your function stopped with {article} {kind}{': ' * bool(why)}{why}{_where(error, answer)}"


def _where(error: BaseException, answer: Callable) -> str:
    """The last line of the learner's own code that was running, where it can be read."""
    own = getattr(getattr(answer, "__code__", None), "co_filename", None)
    lines = [
        linecache.getline(own, frame.lineno).strip()
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename == own and frame.lineno
    ]
    return f"\n  in the line: {lines[-1]}" if lines and lines[-1] else ""
