"""The format that every notebook keeps, so that all read alike and the site can show them."""

import ast
import re
from collections import Counter
from pathlib import Path
from statistics import median

import nbformat
import pytest

FOLDER = Path(__file__).parents[2] / "notebooks"
NOTEBOOKS = [
    p for p in sorted(FOLDER.iterdir()) if re.fullmatch(r"\d\d_\w+\.ipynb", p.name)
]
KERNELSPEC = {"name": "python3", "display_name": "Python 3", "language": "python"}
ABSOLUTE_PATH = re.compile(r"""(?:^|[\s"'(=])(?:[A-Za-z]:\\\w|~?/(?:[\w.-]+/)+[\w.-]*)""")
EMBEDDED = re.compile(r"base64,[A-Za-z0-9+/=]+")
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
# One line, and words in double quotes: Quarto takes a folded text for a figure's for something else.
OPTION = re.compile(r'#\| [a-z-]+: (?:"(?:[^"\\]|\\.)+"|[\w-]+)')
FOLD = re.compile(
    r'<details class="(\w+)">\n?<summary>([^<]+)</summary>(.*?)</details>', re.DOTALL
)
SUMMARIES = {  # how each kind of fold begins to say what it holds
    "hint": ("Hint", "What is wrong", "Who is who", "Answers"),
    "solution": ("Solution", "Compare with the result"),
    "choice": ("",),  # of a question in the quiz
    "deeper": ("Going deeper: ",),
}
TABLE = re.compile(r"<table.*?</table>", re.DOTALL)
POWER = re.compile(r"(?<![\w.])\d[\d.]*e[-+]?\d")
COMPUTERESE = re.compile(rf"{POWER.pattern}|(?<![\w.])-\.?\d|^[a-z]+(?:_[a-z]+)+$")
MOST_WORDS = 3_500  # that a reader meets without opening a fold
MOST = 12  # sections, numbered equations, numbered figures and tables of a chapter
FIGURE_FILE = re.compile(r"!\[[^\]]*\]\([^)]*\)(\{[^}]*\})?")

# What a reader meets in a cell: what the course is written with, the package's face and the rooms
# that the chapters teach. All that lies in one that is named may be met, too.
MAY_IMPORT = {
    *("collections", "fractions", "functools", "itertools", "json", "pathlib", "tempfile"),
    *("textwrap", "numpy", "pandas", "matplotlib", "scipy", "sympy", "mpmath", "numba"),
    *("distributed", "gapfm_teach", "gapfm_lab", "gapfm_course"),
}
ROOMS = {
    f"gapfm_{room}"
    for room in (
        *("teach.paper", "teach.metrics", "teach.gradcheck", "teach.consistent"),
        *("teach.training", "teach.splits", "teach.evaluation", "teach.intervals"),
        *("teach.datasets.netflix.parse", "teach.distributed"),
        *(
            "lab.baselines",
            "lab.catalogue",
            "lab.experiments",
            "lab.paper",
            "lab.protocols",
        ),
        *("lab.systems", "lab.tuning", "lab.reproduce.figures"),
        *(f"lab.chapter_{n:02d}" for n in range(4, 12)),
        *(
            "course.check",
            "course.explorable",
            "course.use_notebook_style",
            "lab.worker_killer",
            "course.exercises",
            "course.doctor",
        ),
    )
}

pytestmark = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def read(path):
    return nbformat.read(path, as_version=4)


def code_cells(path):
    return [cell for cell in read(path).cells if cell.cell_type == "code"]


def code_lines(cell) -> list[str]:
    """What a reader has to read: no blank lines, no cell options."""
    lines = (line.strip() for line in cell.source.splitlines())
    return [line for line in lines if line and not line.startswith("#|")]


def prose(path) -> str:
    """The text of all markdown cells, without code."""
    cells = (cell.source for cell in read(path).cells if cell.cell_type == "markdown")
    return "\n\n".join(FENCED.sub("", source) for source in cells)


def texts(cell):
    """Every text that the cell's outputs hold."""
    for output in cell.outputs:
        if output.output_type == "stream":
            yield output.text
        for mime, data in output.get("data", {}).items():
            if not mime.startswith("image/") or mime == "image/svg+xml":
                yield str(data)


def test_it_is_a_valid_notebook_for_the_python3_kernel(path):
    notebook = read(path)
    nbformat.validate(notebook)
    assert notebook.metadata.kernelspec == KERNELSPEC


def imported(source: str):
    """The module of each import, or what is taken from a package as a whole."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module in (
            "gapfm_lab",
            "gapfm_course",
        ):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def test_it_imports_what_a_reader_may_meet(path):
    for cell in code_cells(path):
        for module in imported(cell.source):
            package, _, inside = module.partition(".")
            assert package in MAY_IMPORT
            if package.startswith("gapfm_") and inside:
                assert any(f"{module}.".startswith(f"{room}.") for room in ROOMS), module


def test_it_was_run_once_from_top_to_bottom(path):
    counts = [cell.execution_count for cell in code_cells(path)]
    assert counts == list(range(1, len(counts) + 1))


def test_it_stores_no_times_and_no_widgets(path):
    notebook = read(path)
    assert "widgets" not in notebook.metadata
    for cell in notebook.cells:
        assert not {"execution", "ExecuteTime"} & set(cell.metadata), cell.id
    for cell in code_cells(path):
        for output in cell.outputs:
            widgets = [mime for mime in output.get("data", {}) if "jupyter.widget" in mime]
            assert not widgets, (
                f"{cell.id} stores a widget; run it with GAPFM_TEACH_STATIC=1 instead"
            )


def test_it_ran_without_errors_and_warnings(path):
    for cell in code_cells(path):
        kinds = [output.get("name", output.output_type) for output in cell.outputs]
        assert "error" not in kinds, cell.id
        assert "stderr" not in kinds, cell.id


def test_outputs_name_no_place_on_a_disk(path):
    for cell in code_cells(path):
        for text in texts(cell):
            found = ABSOLUTE_PATH.search(EMBEDDED.sub("", text))
            assert not found, f"{cell.id}: {found}"


def test_how_long_a_cell_takes_is_left_to_its_progress_bar(path):
    """A time typed by hand is right on one machine, and no cell makes it."""
    typed = r"\([^()]*\b(?:a few|some \w+|about \w+|\d+) (?:seconds|minutes)\)"
    assert not re.findall(typed, prose(path))


def test_it_stays_small(path):
    assert path.stat().st_size < 450_000


def folded(cell) -> bool:
    return "#| code-fold: true" in cell.source.splitlines()


def test_code_comes_in_short_cells(path):
    lengths = [len(code_lines(cell)) for cell in code_cells(path)]
    assert 15 <= sum(not folded(cell) for cell in code_cells(path)) <= 40
    assert median(lengths) < 7
    assert max(lengths) <= 20


def test_what_a_page_folds_is_imports_and_pictures(path):
    for cell in filter(folded, code_cells(path)):
        (summary,) = re.findall(r'^#\| code-summary: "(.*)"$', cell.source, re.MULTILINE)
        kinds = {
            "Imports": imports(cell) > 0,
            "Code of the figure": "#| label: fig-" in cell.source,
            "Code of the explorable": "explorable(" in cell.source,
        }
        assert kinds[summary], f"{cell.id}: {summary}"


def test_a_page_reads_as_prose_and_short_code_without_imports_in_between(path):
    """A cell that only imports is folded; others take a name or two where they need it."""
    in_open_cells = [imports(cell) for cell in code_cells(path) if not folded(cell)]
    assert max(in_open_cells) <= 2
    assert in_open_cells[0] <= 1
    for cell in code_cells(path):
        lines = [line for line in code_lines(cell) if line != "use_notebook_style()"]
        assert folded(cell) or imports(cell) < len(lines), cell.id


def imports(cell) -> int:
    statements = ast.parse(cell.source).body
    return sum(isinstance(one, ast.Import | ast.ImportFrom) for one in statements)


def test_tables_and_prints_are_written_for_readers(path):
    """True minus signs and powers of ten in tables, columns in words; 1,000,000, not 1e+06."""
    for cell in code_cells(path):
        for output in cell.outputs:
            for table in TABLE.findall(output.get("data", {}).get("text/html", "")):
                told = re.findall(r"<t[hd][^>]*>([^<]*)</t[hd]>", table)
                assert not [text for text in told if COMPUTERESE.search(text)], cell.id
            printed = output.get("text", "")
            assert not POWER.search(printed), f"{cell.id}: {printed}"


def test_code_and_prose_are_in_balance(path):
    words = len(re.findall(r"\w+", FOLD.sub("", prose(path))))
    lines = sum(len(code_lines(cell)) for cell in code_cells(path))
    assert 10 <= words / lines <= 30


def test_the_main_path_is_short(path):
    text = re.sub(r"<!--.*?-->", "", FOLD.sub("", prose(path)), flags=re.DOTALL)
    assert len(text.split()) <= MOST_WORDS


def test_a_chapter_has_few_sections_equations_figures_and_tables(path):
    text = prose(path)
    options = "\n".join(cell.source for cell in code_cells(path))
    pictured = len(re.findall(r"\{#(?:fig|tbl)-", text))
    pictured += len(re.findall(r"^#\| label: (?:fig|tbl)-", options, re.MULTILINE))
    assert len(re.findall(r"^## ", text, re.MULTILINE)) <= MOST
    assert text.count("{#eq-") <= MOST
    assert pictured <= MOST


def test_a_fold_says_what_it_holds_and_hides_nothing_that_is_referred_to(path):
    text = prose(path)
    folds = FOLD.findall(text)
    assert len(folds) == text.count("<details") == text.count("</details>")
    for kind, summary, inside in folds:
        assert summary.startswith(SUMMARIES[kind]), summary
        assert inside.startswith("\n\n"), f"{summary}: no empty line before what it holds"
        assert inside.endswith("\n\n"), f"{summary}: no empty line behind what it holds"
        assert "{#" not in inside, (
            f"{summary}: a link to what is labelled in it leads nowhere"
        )


def test_options_of_cells_are_of_one_line(path):
    for cell in code_cells(path):
        options = [line for line in cell.source.splitlines() if line.startswith("#|")]
        assert [line for line in options if not OPTION.fullmatch(line)] == [], cell.id


def test_every_picture_is_described_in_words(path):
    for cell in code_cells(path):
        drawn = any("image/png" in output.get("data", {}) for output in cell.outputs)
        if drawn:
            for option in ("#| label: fig-", "#| fig-cap:", "#| fig-alt:"):
                assert option in cell.source, f"{cell.id} has no {option}"
    for figure in FIGURE_FILE.finditer(prose(path)):
        assert "fig-alt=" in (figure[1] or ""), figure[0]


def test_labels_are_unique(path):
    names = re.findall(r"\{#((?:sec|eq|tbl|fig)-[\w-]+)", prose(path))
    for cell in code_cells(path):
        names += re.findall(r"^#\| label: (\S+)$", cell.source, re.MULTILINE)
    assert [name for name, times in Counter(names).items() if times > 1] == []


def test_a_reader_is_told_the_goals_and_asked_to_predict(path):
    text = prose(path)
    objectives, recap = '<div class="objectives">', '<div class="recap">'
    assert text.count(objectives) == 1
    assert text.count(recap) == 1
    assert text.index(objectives) < text.index("\n## ") < text.index(recap)
    assert text.count('<div class="callout-note">\n\n#### Predict first\n\n') >= 3
    assert ":::" not in text, "write boxes as <div>: JupyterLab shows ':::' as it stands"
    assert "## Further reading" in text
    assert 2 <= len(re.findall(r"^### Exercise \d+: ", text, re.MULTILINE)) <= 4
