"""Tables: OTSL and HTML to cells with spans, and whatever nonsense a model may write."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.pipelines.reading.results import Cell, Table, from_html, from_otsl, read_table
from engine.pipelines.reading.writers import table_html

TAGS = ["<fcel>", "<ecel>", "<lcel>", "<ucel>", "<xcel>", "<nl>", "<ched>", "text", "<", "12"]


def tiled(seed: int) -> Table:
    """A table whose spans were chosen at random."""
    rng = random.Random(seed)
    rows, columns = rng.randint(1, 6), rng.randint(1, 6)
    free = [[True] * columns for _ in range(rows)]
    cells = []
    for y in range(rows):
        for x in range(columns):
            if not free[y][x]:
                continue
            down, across = rng.choice([1, 1, 1, 2, 3]), rng.choice([1, 1, 1, 2, 3])
            down = min(down, rows - y)
            across = next((k for k in range(1, across) if x + k >= columns or not free[y][x + k]), across)
            across = min(across, columns - x)
            for v in range(y, y + down):
                free[v][x : x + across] = [False] * across
            cells.append(Cell(f"{y},{x}", y, x, down, across))
    return Table(rows, columns, tuple(cells))


def as_otsl(table: Table) -> str:
    marks = [[""] * table.columns for _ in range(table.rows)]
    for cell in table.cells:
        for y in range(cell.rows):
            for x in range(cell.columns):
                mark = "<xcel>" if x and y else "<lcel>" if x else "<ucel>" if y else f"<fcel>{cell.text}"
                marks[cell.row + y][cell.column + x] = mark
    return "".join("".join(row) + "<nl>" for row in marks)


def covers_once(table: Table) -> bool:
    places = [(c.row + y, c.column + x) for c in table.cells for y in range(c.rows) for x in range(c.columns)]
    return sorted(places) == [(y, x) for y in range(table.rows) for x in range(table.columns)]


@given(st.integers(0, 1 << 31))
def test_spans_survive_otsl_and_html(seed: int) -> None:
    table = tiled(seed)
    assert from_otsl(as_otsl(table)) == table
    assert from_html(table_html(table)) == table


@settings(max_examples=300)
@given(st.lists(st.sampled_from(TAGS), max_size=60))
def test_any_otsl_is_a_whole_table(marks: list[str]) -> None:
    table = from_otsl("".join(marks))
    assert table is None or covers_once(table)


HTML = ["<table>", "<tr>", "</tr>", "<td>", "<td rowspan=3>", '<td colspan="4">', "<th rowspan='2' colspan='2'>", "</td>", "x", "<b>", "&amp;"]  # fmt: skip


@settings(max_examples=300)
@given(st.lists(st.sampled_from(HTML), max_size=60))
def test_any_html_is_a_whole_table(parts: list[str]) -> None:
    table = from_html("".join(parts))
    assert table is None or covers_once(table)


def test_a_table_as_models_write_it() -> None:
    table = read_table("<ched>Name<ched>Sales<lcel><nl><fcel>Crane &amp; Co<fcel>1,5<fcel>2<nl><ucel><ecel><fcel>3<nl>")
    assert table is not None
    assert table.grid() == [["Name", "Sales", ""], ["Crane & Co", "1,5", "2"], ["", "", "3"]]
    assert [(c.rows, c.columns) for c in table.cells if (c.rows, c.columns) != (1, 1)] == [(1, 2), (2, 1)]
    assert [c.heading for c in table.cells][:2] == [True, True]


@pytest.mark.parametrize(
    "text", ["| a | b |\n|---|:-:|\n| 1 | 2\\|3 |", "a | b\n1 | 2\\|3", "  | a | b |\n\n| 1 | 2\\|3 |"]
)
def test_bars(text: str) -> None:
    table = read_table(text)
    assert table is not None
    assert table.grid() == [["a", "b"], ["1", "2|3"]]


def test_short_rows_are_filled() -> None:
    table = from_otsl("<fcel>a<fcel>b<fcel>c<nl><fcel>d<nl>")
    assert table is not None
    assert table.grid() == [["a", "b", "c"], ["d", "", ""]]


@pytest.mark.parametrize("text", ["", "Only words.", "one | bar in\nmany lines\nof prose\nthat is no table"])
def test_what_is_no_table(text: str) -> None:
    assert read_table(text) is None


@pytest.mark.timeout(10)
def test_a_span_cannot_ask_for_the_world() -> None:
    assert from_html("<tr>" + '<td rowspan="999999999" colspan="999999999">x</td>' * 300 + "</tr>") is None
    assert read_table("<fcel>x" * 200_001) is None
