"""Numbers in prose, and what stands behind each: for `book/test_numbers.py`, which has the rules."""

import ast
import io
import math
import operator
import re
import tokenize
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from html import unescape
from pathlib import Path
from typing import NamedTuple

import nbformat

from gapfm_lab.paper import PAPER, TABLE_1

ROOT = Path(__file__).parents[1]
MOST_COUNTED = 10
FEW_DIGITS = 2

NUMBER = r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?|\.\d+"
IN_OUTPUT = re.compile(rf"(?<![\w.])({NUMBER})(e[-+]?\d+)?(?!\d)", re.IGNORECASE)
IN_PROSE = re.compile(
    rf"(?<![\w.])(?P<text>(?:{NUMBER})(?:e[-+]?\d+)?)(?P<times>\s(?:thousand|million|billion)\b)?"
    r"(?P<percent>\s?%|\sper\scent)?(?:\s(?:GB|MB|ns))?(?:<!--\s(?P<sign>=|from)\s(?P<said>[^>]*?)\s-->)?"
)
POWER = re.compile(r"(?:(\d)\s×\s10(⁻?[⁰¹²³⁴-⁹]+)|\b10(⁻[⁰¹²³⁴-⁹]+))")
CAPTION = re.compile(r"^#\| (?:fig-cap|fig-alt|tbl-cap): (.*)$", re.MULTILINE)
LABEL = re.compile(r"^#\| label: (\S+)$", re.MULTILINE)
REFERENCE = re.compile(r"@((?:sec|fig|tbl)-[\w-]*\w)")
# How a number is to be printed, "{x:.2f}"; from Python 3.12 on a token of its own.
FORMAT = re.compile(r":[<>^+]?[\d.,]*[efgd%]?(?=\})|^[<>^+]?[\d.,]+[efgd%]$")
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
TIMES = {"thousand": 1e3, "million": 1e6, "billion": 1e9}
ROUGHLY = re.compile(r"(?i)\b(?:about|around|almost|nearly|near|roughly|some|ca\.)\s$")

PARTS = r"\d+(?:\.\d+)*(?:(?:,|,? and|,? or| to|–|-)\s?\d+(?:\.\d+)*)*"
FENCED = r"^```.*?^```"
CALCULATED = r"`[^`]*`|(?<!\\)\$\$.*?\$\$|(?<!\\)\$[^$]+\$"
EXEMPT = [
    re.compile(pattern, re.MULTILINE | re.DOTALL)
    for pattern in (
        FENCED,
        CALCULATED,
        r"<summary>.*?</summary>",  # a title, or a choice of the quiz, right or wrong
        r"^#+ .*$",
        r"\[[^\]]*\]\([^)]*\)|<https?:[^>]*>|\{[#.][^}]*\}|</?[a-z][^>]*>|@[\w:-]*\w",
        r"\"[^\"]*\"|^>.*$",
        r"\b(?:[Ss]ections?|[Tt]ables?|[Ff]igures?|[Ee]xercises?|Hint|Algorithms?|[Ss]teps?|Move"
        rf"|[Cc]hapters?|[Cc]orollary|[Ll]ines?|Given)\s{PARTS}|\(\d\d?\)",
        r"\b(?:P|NDCG|GAP|GP|GR)\\?@\d+|\b(?:100K|\d+M)\b|\b(?:float|int)\d+",
        r"\((?:19|20)\d\d\)|\b(?:[Ii]n|and|[A-Z][a-z]+)\s(?:19|20)\d\d\b",
        r"\*\*Time\*\* about \d+ minutes(?:; with the exercises, about \d+ minutes)?|arXiv:\S+|CC BY \d\.\d",
    )
]

# What the paper says in numbers outside its tables, by the section that says so.
SAID = {"5.1.1": (1.4e6, 50), "5.2": (60,), "5.3.3": (5, 19, 75)}


class Found(NamedTuple):
    """A number as printed."""

    text: str
    value: float
    unit: float  # of its last digit
    percent: bool

    @property
    def digits(self) -> int:
        return len(re.sub(r"e.*|[.,]", "", self.text).lstrip("0"))


def parse(
    text: str, times: str = "", percent: bool = False, roughly: bool = False
) -> Found:
    """`text` as a number; zeros at its end count as digits, unless it is said to be about that."""
    plain, _, power = text.replace(",", "").partition("e")
    scale = TIMES.get(times.strip(), 1.0) * 10.0 ** int(power or 0)
    unit = 10.0 ** -len(plain.partition(".")[2])
    if roughly and "." not in plain:
        unit = 10.0 ** (len(plain) - len(plain.rstrip("0")))
    return Found(text, float(plain) * scale, unit * scale, percent)


def rounds_to(value: float, found: Found) -> bool:
    """Whether `value`, rounded to the digits printed, is the number found; signs do not count."""
    scaled = (value, 100 * value) if found.percent else (value,)
    return any(abs(abs(x) - found.value) <= found.unit * (0.5 + 1e-9) for x in scaled)


# ------------------------------------------------------------------ what a notebook shows


@dataclass
class Section:
    """From one heading of the second level to the next: what is claimed, and what is shown."""

    passages: list[str] = field(default_factory=list)
    shown: list[float] = field(default_factory=list)
    # In files, and under a widget's sliders.
    stored: list[float] = field(default_factory=list)


@dataclass
class Book:
    """The sections of each notebook, and what is shown behind each label."""

    chapters: dict[str, list[Section]] = field(default_factory=dict)
    labels: dict[str, list[float]] = field(default_factory=dict)


def with_exponents(text: str) -> str:
    """`text` with 2e-5 for 2 × 10⁻⁵."""

    def exponent(found: re.Match) -> str:
        power = unicodedata.normalize("NFKC", found[2] or found[3]).replace("−", "-")
        return f"{found[1] or 1}e{power}"

    return POWER.sub(exponent, text)


def numbers(text: str) -> list[float]:
    text = with_exponents(text)
    return [float(m[1].replace(",", "") + (m[2] or "")) for m in IN_OUTPUT.finditer(text)]


def settings(source: str) -> list[float]:
    """The numbers in code: its literals and texts, but not its comments."""
    found = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.NUMBER:
            found.append(abs(complex(ast.literal_eval(token.string))))
        elif token.type in (tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", -1)):
            found += numbers(FORMAT.sub("", token.string))
    return found


def shown_by(cell) -> list[float]:
    """The numbers that a cell shows: text, tables, figures in words, a widget as it first stands."""
    found = []
    for output in cell.outputs:
        data = output.get("data", {})
        text = data.get("text/html") or data.get("text/plain") or output.get("text", "")
        text = re.sub(r"<(script|style).*?</\1>", "", text, flags=re.DOTALL)
        found += numbers(unescape(re.sub(r"</?[a-z][^>]*>", " ", text)))
    return found


def readouts(cell) -> list[float]:
    """The numbers in what a widget says at its other settings."""
    page = "".join(output.get("data", {}).get("text/html", "") for output in cell.outputs)
    scripts = "".join(re.findall(r"<script.*?</script>", page, re.DOTALL))
    return numbers(" ".join(re.findall(r'"[^"]* [^"]*"', scripts)))


def passages(markdown: str) -> list[str]:
    """Paragraphs, items of lists and rows of tables."""
    markdown = re.sub(FENCED, "", markdown, flags=re.MULTILINE | re.DOTALL)
    return re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )|\n(?=\|)", markdown)


def captions(source: str) -> Iterator[str]:
    for value in CAPTION.findall(source):
        yield ast.literal_eval(value) if value.startswith('"') else value


def sections(notebook, folder: Path, labels: dict[str, list[float]]) -> list[Section]:
    """The sections of a notebook; adds to `labels` what stands behind each."""
    found = [Section()]
    for cell in notebook.cells:
        source = cell.source
        if cell.cell_type == "markdown":
            for part in re.split(r"^(?=## )", source, flags=re.MULTILINE):
                if part.startswith("## "):
                    found.append(Section())
                found[-1].passages += passages(part)
                labels.update(
                    dict.fromkeys(re.findall(r"\{#([\w-]+)", part), found[-1].shown)
                )
            continue
        here, shown = found[-1], settings(source) + shown_by(cell)
        here.passages += captions(source)
        here.stored += readouts(cell)
        for file in re.findall(r"[\"'](results/\w+\.csv)[\"']", source):
            text = (folder / file).read_text(encoding="utf-8")
            about = "\n".join(line for line in text.splitlines() if line.startswith("#"))
            here.stored += numbers(text)
            shown += numbers(about)
        here.shown += shown
        labels.update(dict.fromkeys(LABEL.findall(source), shown))
    return found


@cache
def read_book(folder: Path = ROOT / "notebooks") -> Book:
    book = Book()
    for path in sorted(folder.glob("[0-9][0-9]_*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        book.chapters[path.stem] = sections(notebook, folder, book.labels)
    return book


@cache
def in_the_paper(place: str) -> list[float]:
    """The numbers of a table or a section of the paper, "Table 2" or "5.2"."""
    if place == "Table 1":
        return list(TABLE_1.values())
    table = place.lower().replace(" ", "")
    return list(PAPER[table]["value"]) if table in PAPER else list(SAID.get(place, ()))


# ------------------------------------------------------------------ what a passage claims

OPERATORS = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: operator.truediv, ast.Pow: operator.pow,
}  # fmt: skip
FUNCTIONS = {name: getattr(math, name) for name in ("sqrt", "exp", "log", "log2", "log10")}


def evaluate(expression: str, known: Callable[[Found], bool]) -> float:
    """Arithmetic with numbers that are `known`; ValueError where one is not, or for anything else."""

    def value(node: ast.expr) -> float:
        match node:
            case ast.Constant(int() | float()):
                text = ast.get_source_segment(expression, node) or ""
                if not re.fullmatch(NUMBER, text) or not known(parse(text)):
                    raise ValueError(f"{text} is found nowhere")
                return float(text)
            case ast.UnaryOp(ast.USub(), operand):
                return -value(operand)
            case ast.BinOp(left, sign, right) if type(sign) in OPERATORS:
                return OPERATORS[type(sign)](value(left), value(right))
            case ast.Call(ast.Name(name), [argument]) if name in FUNCTIONS:
                return FUNCTIONS[name](value(argument))
        raise ValueError(f"{expression!r} is no arithmetic")

    return value(ast.parse(expression, mode="eval").body)


def claims(passage: str) -> Iterator[tuple[Found, str, str]]:
    """The numbers of a passage that need something behind them; what is declared: sign, text."""
    passage = with_exponents(passage)
    inside = [comment.span() for comment in COMMENT.finditer(passage)]
    read = COMMENT.sub(lambda part: "\0" * len(part[0]), passage)
    for pattern in EXEMPT:
        read = pattern.sub(lambda part: " " * len(part[0]), read)
    for start, end in inside:
        read = read[:start] + passage[start:end] + read[end:]
    for match in IN_PROSE.finditer(read):
        if any(start < match.start() < end for start, end in inside):
            continue
        roughly = bool(ROUGHLY.search(read[: match.start()]))
        found = parse(match["text"], match["times"] or "", bool(match["percent"]), roughly)
        if match["sign"] or not counted(found):
            yield found, match["sign"] or "", match["said"] or ""


def counted(found: Found) -> bool:
    return found.text.isdigit() and found.value <= MOST_COUNTED and not found.percent


def untraced(passage: str, chapter: str, section: Section, book: Book) -> list[str]:
    """The numbers of a passage that nothing stands behind, with what was declared of them."""
    calculated = numbers(" ".join(re.findall(CALCULATED, passage, re.DOTALL)))
    set_here = [x for x in calculated if x.is_integer() and x < 100]
    close = section.shown + [
        x for k in REFERENCE.findall(passage) for x in book.labels.get(k, ())
    ]
    far = [x for one in book.chapters[chapter] for x in one.shown + one.stored]
    said_here = numbers(COMMENT.sub("", passage)) + calculated

    def known(found: Found) -> bool:
        pool = close + set_here + (far if found.digits > FEW_DIGITS else [])
        return any(rounds_to(x, found) for x in pool)

    def operand(found: Found) -> bool:
        pool = close + far + said_here
        return counted(found) or any(rounds_to(x, found) for x in pool)

    def behind(found: Found, sign: str, said: str) -> bool:
        if sign == "from":
            place = said.removeprefix("the paper, ")
            return any(rounds_to(x, found) for x in in_the_paper(place))
        return rounds_to(evaluate(said, operand), found) if sign else known(found)

    wrong = []
    for found, sign, said in claims(passage):
        name = found.text + "%" * found.percent
        try:
            wrong += [] if behind(found, sign, said) else [f"{name} {sign} {said}".strip()]
        except (ValueError, SyntaxError) as error:
            wrong.append(f"{name} {sign} {said}: {error}")
    return wrong
