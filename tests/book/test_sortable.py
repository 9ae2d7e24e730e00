"""The sorting of tables on the pages, in a browser, on one small table."""

import pytest
import yaml

from preview.build import HERE, ROOT

SCRIPT = (HERE / "sortable.html").read_text(encoding="utf-8")
ROWS = [
    ("Fargo", "0.166", "Given 20", ".166 [.160, .172]", "12 %"),
    ("Alien", "−0.5", "Given 3", ".2 [.1, .3]", ""),
    ("Heat", "1,234", "Given 100", ".090 [.080, .100]", "−3 %"),
    ("Babe", "", "Given 3", ".090 [.070, .110]", "100 %"),
    ("Evita", "7e-05", "Given 20", "–", "5 %"),
    ("Big", "0.5", "Given 5", ".3 [.2, .4]", "7 %"),
]
ASCENDING = {
    "film": "Alien Babe Big Evita Fargo Heat",
    "value": "Alien Evita Fargo Big Heat Babe",
    "data": "Alien Babe Big Fargo Evita Heat",
    "interval": "Heat Babe Fargo Alien Big Evita",
    "share": "Heat Evita Big Fargo Babe Alien",
}
# Equal keys stay as they were, and blank cells stay last, in this direction too.
DESCENDING = {
    "film": "Heat Fargo Evita Big Babe Alien",
    "value": "Heat Big Fargo Evita Alien Babe",
    "data": "Heat Fargo Evita Big Alien Babe",
    "interval": "Big Alien Fargo Heat Babe Evita",
    "share": "Babe Fargo Big Evita Heat Alien",
}
ORIGINAL = [row[0] for row in ROWS]
FIRST_CELLS = "rows => rows.map((row) => row.cells[0].textContent)"


def table(headings, rows):
    """An HTML table as pandas writes it: text of the headings, rows of ready-made cells."""
    head = "".join(f"<th>{text}</th>" for text in headings)
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


FILMS = table(ASCENDING, [[f"<td>{cell}</td>" for cell in row] for row in ROWS])


@pytest.fixture
def open_table(browser):
    """`open_table(html, script=True)` opens a page with this and the sorting; errors fail."""
    contexts, errors = [], []

    def opener(html, script=True):
        contexts.append(browser.new_context(java_script_enabled=script))
        page = contexts[-1].new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.set_content(f"<!DOCTYPE html><html lang=en><main>{html}</main>{SCRIPT}</html>")
        return page

    yield opener
    for context in contexts:
        context.close()
    assert not errors


def first_cells(page):
    return page.locator("tbody tr").evaluate_all(FIRST_CELLS)


@pytest.mark.parametrize("column", ASCENDING)
def test_a_heading_sorts_up_and_down_and_back(open_table, column):
    page = open_table(FILMS)
    button = page.get_by_role("button", name=column)
    heading = page.locator("th", has=button)
    for sort, order in (
        ("ascending", ASCENDING[column].split()),
        ("descending", DESCENDING[column].split()),
        (None, ORIGINAL),
    ):
        button.click()
        assert first_cells(page) == order
        assert heading.get_attribute("aria-sort") == sort


@pytest.mark.parametrize("key", ["Enter", "Space"])
def test_the_keyboard_sorts_and_one_column_at_a_time_says_so(open_table, key):
    page = open_table(FILMS)
    page.get_by_role("button", name="film").click()
    page.keyboard.press("Tab")
    page.keyboard.press(key)
    assert first_cells(page) == ASCENDING["value"].split()
    assert page.locator("[aria-sort]").all_inner_texts() == ["value"]
    assert page.locator(":focus").inner_text() == "value"


def test_a_heading_in_two_rows_and_a_cell_over_two(open_table):
    # pandas names the index in a row of its own, and groups by cells over several rows.
    page = open_table(
        "<table><thead><tr><th></th><th></th><th colspan=2>here</th></tr>"
        "<tr><th>given</th><th>system</th><th>P</th><th></th></tr></thead><tbody>"
        "<tr><th rowspan=2>10</th><th>A</th><td>.2</td><td>1</td></tr>"
        "<tr><th>B</th><td>.4</td><td>2</td></tr>"
        "<tr><th rowspan=2>20</th><th>A</th><td>.3</td><td>3</td></tr>"
        "<tr><th>B</th><td>.1</td><td>4</td></tr>"
        "<tr><th rowspan=2>30</th><th>A</th><td>.5</td><td>5</td></tr>"
        "<tr><th>B</th><td>.6</td><td>6</td></tr></tbody></table>"
    )
    before = page.locator("tbody").inner_html()
    assert page.locator("th button").all_inner_texts() == ["given", "system", "P", ""]
    button = page.get_by_role("button", name="P", exact=True)
    button.click()
    rows = page.locator("tbody tr").all_inner_texts()
    assert [row.split() for row in rows] == [
        ["20", "B", ".1", "4"],
        ["10", "A", ".2", "1"],
        ["20", "A", ".3", "3"],
        ["10", "B", ".4", "2"],
        ["30", "A", ".5", "5"],
        ["30", "B", ".6", "6"],
    ]
    button.click()
    button.click()
    assert page.locator("tbody").inner_html() == before


@pytest.mark.parametrize(
    "rows",
    [
        [("<td>a</td>", f"<td>{number}</td>") for number in range(5)],
        [("<td>a</td>", "<td>words</td>"), ("<td>b</td>", "<td>–</td>")] * 3,
        [("<td>a</td>", "<td>1</td>"), ("<td colspan=2>a remark over all columns</td>",)]
        * 3,
    ],
    ids=["five rows", "no numbers", "a cell over two columns"],
)
def test_what_is_not_a_long_table_of_numbers_is_left_alone(open_table, rows):
    page = open_table(table(("name", "value"), rows))
    assert page.locator("button").count() == 0


def test_columns_of_words_are_told_from_numbers_and_an_empty_corner_is_no_heading(
    open_table,
):
    rows = [("<td>101 Dalmatians</td>", "<td>−1</td>"), ("<td>Heat</td>", "<td>–</td>")]
    page = open_table(table(("", "gain"), rows))
    assert page.locator(".words").all_inner_texts() == ["", "101 Dalmatians", "Heat"]
    assert page.locator("th").all_inner_texts() == ["gain"]
    formula = "<math><msub><mi>a</mi><mn>1</mn></msub></math>"
    page = open_table(table(("name", formula), rows))
    assert page.locator("th math").get_attribute("aria-label") == "a 1"


def test_quarto_puts_the_same_scripts_on_its_pages():
    quarto = yaml.safe_load((ROOT / "_quarto.yml").read_text(encoding="utf-8"))
    included = quarto["format"]["html"]["include-after-body"]
    ours = yaml.safe_load((HERE / "pandoc.yaml").read_text(encoding="utf-8"))
    assert [name.replace("preview/", "${.}/") for name in included] == ours[
        "include-after-body"
    ]
