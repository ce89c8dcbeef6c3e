"""Every format, written and opened again by other libraries."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from html.parser import HTMLParser
from xml.etree import ElementTree

import openpyxl
import pypdf
import pypdfium2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageFont

from engine.errors import BadRequest
from engine.pipelines.reading.elements import word_boxes
from engine.pipelines.reading.results import (
    Box,
    Cell,
    Document,
    Element,
    Page,
    PlacedWord,
    Table,
    from_otsl,
    from_rows,
    page_from_json,
)
from engine.pipelines.reading.writers import FONT, FORMATS, ExportOptions, format_of, page_text, write_document
from tests.engine.pipelines.reading.sheets import Sheet, prose
from tests.engine.pipelines.reading.test_tables import tiled

BOX = Box(10, 10, 90, 40)
STYLE = ExportOptions()
SPANS = from_otsl("<ched>Crane<ched>Height<lcel><nl><fcel>red<fcel>1.58<fcel>m<nl><ucel><fcel>=1+1<fcel>007<nl>")
PLAIN = from_otsl("<fcel>a|b<fcel>1<nl><fcel>c<fcel>-2.5<nl>")
assert SPANS is not None
assert PLAIN is not None


def element(order: int, kind: str, text: str = "", **more: object) -> Element:
    return Element(kind, BOX, order, text, **more)  # type: ignore[arg-type]


PAGE = Page(
    3,
    200,
    100,
    (
        element(0, "header", "Journal"),
        element(1, "heading", "Of\nCranes", level=1),
        element(2, "text", "A para-\ngraph of two-\nBird lines.\n# no heading\n1. no list"),
        element(3, "list", "• first\n  goes on\n• second"),
        element(4, "table", PLAIN.plain(), table=PLAIN),
        element(5, "table", SPANS.plain(), table=SPANS, confidence=0.5),
        element(6, "formula", "E = m c^2"),
        element(7, "figure", figure="out_files/page 3.png"),
        element(8, "caption", "Figure 1: a crane"),
        element(9, "text", "la la <b>", doubt="The text repeats itself."),
        element(10, "footnote", "1 A note."),
        element(11, "page_number", "17"),
    ),
    "built-in splitter",
    "fake",
    notes=("A note.",),
)
DOCUMENT = Document("cranes.pdf", (PAGE,))


def no_image(page: Page) -> Image.Image:
    raise AssertionError("no pixels are needed")


def text_of(kind: str, style: ExportOptions = STYLE) -> str:
    return write_document(DOCUMENT, format_of(kind), style, no_image)[0].decode()


def test_markdown() -> None:
    assert text_of("md") == (
        "# Of Cranes\n\n"
        "A para-\ngraph of two-\nBird lines.\n\\# no heading\n1\\. no list\n\n"
        "- first\n  goes on\n- second\n\n"
        "| a\\|b | 1 |\n| --- | --- |\n| c | -2.5 |\n\n"
        '<table>\n<tr><th>Crane</th><th colspan="2">Height</th></tr>\n'
        '<tr><td rowspan="2">red</td><td>1.58</td><td>m</td></tr>\n<tr><td>=1+1</td><td>007</td></tr>\n</table>\n\n'
        "$$\nE = m c^2\n$$\n\n"
        "![figure](out_files/page%203.png)\n\n"
        "*Figure 1: a crane*\n\n"
        "<!-- doubtful: The text repeats itself. -->\n\nla la <b>\n\n"
        "> 1 A note.\n"
    )


def test_headers_and_footers_come_when_they_are_asked_for() -> None:
    style = ExportOptions(margins=True)
    assert "Journal" not in text_of("txt")
    assert text_of("txt", style).startswith("Journal\n\n")
    assert text_of("txt", style).endswith("17\n")


def test_words_are_joined_over_line_ends_when_that_is_asked_for() -> None:
    assert "A paragraph of two-Bird lines. # no heading 1. no list" in text_of("txt", ExportOptions(rejoin=True))
    assert "- first goes on\n- second" in text_of("md", ExportOptions(rejoin=True))


def test_pages_one_by_one_are_the_whole() -> None:
    pages = (PAGE, Page(4, 10, 10), PAGE)
    assert page_text(pages, "md", ExportOptions()) == page_text((PAGE,), "md", ExportOptions()) + "\n" + page_text(
        (PAGE,), "md", ExportOptions()
    )


def test_json_holds_everything_and_can_be_read_back() -> None:
    found = json.loads(text_of("json"))
    assert found["document"] == "cranes.pdf"
    assert [e["class"] for e in found["pages"][0]["elements"]] == [e.kind for e in PAGE.elements]
    assert [e["order"] for e in found["pages"][0]["elements"]] == list(range(12))
    assert found["pages"][0]["elements"][5]["confidence"] == 0.5
    assert found["pages"][0]["elements"][9]["doubtful"] == "The text repeats itself."
    assert page_from_json(found["pages"][0]) == PAGE


def test_csv_has_one_file_a_table() -> None:
    files = write_document(DOCUMENT, "csv", ExportOptions(), no_image)
    rows = [list(csv.reader(io.StringIO(data.decode(), newline=""))) for data in files]
    assert rows == [[["a|b", "1"], ["c", "-2.5"]], [["Crane", "Height", ""], ["red", "1.58", "m"], ["", "=1+1", "007"]]]


def test_a_workbook_opens_with_its_spans_and_numbers() -> None:
    book = openpyxl.load_workbook(io.BytesIO(write_document(DOCUMENT, "xlsx", ExportOptions(), no_image)[0]))
    first, second = book.worksheets
    assert [[c.value for c in row] for row in first.iter_rows()] == [["a|b", 1], ["c", -2.5]]
    assert sorted(str(r) for r in second.merged_cells.ranges) == ["A2:A3", "B1:C1"]
    assert second["B3"].value == "=1+1"
    assert second["B3"].data_type == "s"
    assert second["C3"].value == "007"


def test_a_workbook_without_tables_opens() -> None:
    book = openpyxl.load_workbook(io.BytesIO(write_document(Document("x"), "xlsx", ExportOptions(), no_image)[0]))
    assert [sheet.max_row for sheet in book.worksheets] == [1]


@settings(max_examples=25, deadline=None)
@given(st.lists(st.lists(st.text(max_size=20), min_size=1, max_size=4), min_size=1, max_size=4))
def test_any_text_survives_a_workbook(rows: list[list[str]]) -> None:
    table = from_rows([[(text, 1, 1, False) for text in row] for row in rows])
    assert table is not None
    book = openpyxl.load_workbook(io.BytesIO(write_document(_with(table), "xlsx", ExportOptions(), no_image)[0]))
    for cell in table.cells:
        value = book.worksheets[0].cell(cell.row + 1, cell.column + 1).value
        kept = "".join(c for c in cell.text if c in "\t\n\r" or (c >= " " and c not in "\ufffe\uffff"))
        assert _said(value) == kept.replace("\r\n", "\n").replace("\r", "\n")


def _said(value: object) -> str:
    return "" if value is None else str(value)


def _with(table: Table) -> Document:
    return Document("x", (Page(1, 10, 10, (Element("table", BOX, 0, "", table=table),)),))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 1 << 31))
def test_any_spans_survive_a_workbook(seed: int) -> None:
    table = tiled(seed)
    sheet = openpyxl.load_workbook(
        io.BytesIO(write_document(_with(table), "xlsx", ExportOptions(), no_image)[0])
    ).worksheets[0]
    merged = {(r.min_row - 1, r.min_col - 1, r.size["rows"], r.size["columns"]) for r in sheet.merged_cells.ranges}
    assert merged == {(c.row, c.column, c.rows, c.columns) for c in table.cells if c.rows * c.columns > 1}


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.seen.append(tag)
        if tag not in ("meta", "img", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_html_is_well_formed_and_lets_nothing_through() -> None:
    page = Page(1, 9, 9, (element(0, "text", "<script>alert(1)</script>"), *PAGE.elements))
    text = write_document(Document("<x>", (page,)), "html", ExportOptions(margins=True), no_image)[0].decode()
    tags = _Tags()
    tags.feed(text)
    assert tags.open == []
    assert "script" not in tags.seen
    assert {"h1", "table", "ul", "img", "section"} <= set(tags.seen)


# -- searchable PDF


def printed() -> tuple[Sheet, Page]:
    sheet = Sheet((1000, 700))
    sheet.paragraph(80, 60, ["Αλφα beta größer 鶴", *prose(40, 60, 5)])
    lines = []
    for box, text in zip(sheet.boxes.values(), sheet.texts.values()):
        lines += word_boxes(sheet.image, Box(*box), text, [Box(*box)])
    text = "\n".join(sheet.texts.values())
    return sheet, Page(1, 1000, 700, (Element("text", Box(80, 60, 900, 400), 0, text, lines=tuple(lines)),), dots=100)


def test_a_searchable_pdf_shows_the_page_and_holds_its_words() -> None:
    sheet, page = printed()
    data = write_document(Document("x", (page,)), "pdf", ExportOptions(), lambda page: sheet.image)[0]
    reader = pypdf.PdfReader(io.BytesIO(data), strict=True)
    assert [round(float(side)) for side in reader.pages[0].mediabox[2:]] == [720, 504]
    said = reader.pages[0].extract_text()
    assert said.split() == " ".join(sheet.texts.values()).split()
    opened = pypdfium2.PdfDocument(data)
    drawn = opened[0].render(scale=100 / 72).to_pil().convert("L")
    assert drawn.size == (1000, 700)
    difference = sum(abs(a - b) for a, b in zip(drawn.tobytes(), sheet.image.convert("L").tobytes())) / 700_000
    assert difference < 3  # the text is there, and nobody sees it
    assert opened[0].get_textpage().get_text_bounded().split() == said.split()


def test_words_are_where_they_stand() -> None:
    sheet, page = printed()
    data = write_document(Document("x", (page,)), "pdf", ExportOptions(), lambda page: sheet.image)[0]
    opened = pypdfium2.PdfDocument(data)
    text_page = opened[0].get_textpage()
    for line in page.elements[0].lines[1:]:
        for word in line:
            box = word.box.scaled(0.72)
            held = text_page.get_text_bounded(box.left - 1, 504 - box.bottom - 1, box.right + 1, 504 - box.top + 1)
            assert held.strip() == word.text
    placed: list[tuple[str, float, float]] = []

    def visit(text: str, _: object, matrix: list[float], *__: object) -> None:
        if text.strip():
            placed.append((text.strip(), matrix[4], matrix[5]))

    pypdf.PdfReader(io.BytesIO(data)).pages[0].extract_text(visitor_text=visit)
    assert placed


def test_words_of_a_printed_line_are_found_by_its_gaps() -> None:
    sheet = Sheet((1000, 120))
    x, boxes = 60, []
    for text in ("Cranes", "stand", "i", "n", "marshes,", "waiting."):
        sheet.line(x, 40, text, 28)
        boxes.append(sheet.boxes[text])
        x = int(boxes[-1][2]) + 14
    around = Box(boxes[0][0], 44, boxes[-1][2], 72)
    (words,) = word_boxes(sheet.image, around, " ".join(sheet.texts.values()), [around])
    assert [word.text for word in words] == list(sheet.texts.values())
    for word, box in zip(words, boxes):
        assert abs(word.box.left - box[0]) < 8
        assert abs(word.box.right - box[2]) < 8


def test_text_whose_lines_do_not_match_is_shared_out() -> None:
    lines = [Box(0, 0, 100, 10), Box(0, 20, 100, 30), Box(0, 40, 30, 50)]
    placed = word_boxes(Image.new("L", (100, 60), 255), Box(0, 0, 100, 50), "one two three four five six seven", lines)
    assert [word.text for line in placed for word in line] == ["one", "two", "three", "four", "five", "six", "seven"]
    assert len(placed) == 3
    assert len(placed[2]) < len(placed[0])


def test_an_unread_page_keeps_its_number_in_a_pdf() -> None:
    sheet, page = printed()
    pages = (Page(1, 0, 0, error="broken"), page)
    data = write_document(Document("x", pages), "pdf", ExportOptions(), lambda page: sheet.image)[0]
    assert [bool(p.extract_text().strip()) for p in pypdf.PdfReader(io.BytesIO(data), strict=True).pages] == [
        False,
        True,
    ]


@settings(max_examples=20, deadline=None)
@given(
    st.lists(
        st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1, max_size=8), min_size=1, max_size=8
    )
)
def test_any_script_can_be_copied(words: list[str]) -> None:
    line = tuple(PlacedWord(text, Box(10 + 50 * n, 10, 50 + 50 * n, 30)) for n, text in enumerate(words))
    page = Page(1, 500, 50, (Element("text", Box(0, 0, 500, 50), 0, " ".join(words), lines=(line,)),))
    data = write_document(Document("x", (page,)), "pdf", ExportOptions(), lambda page: Image.new("RGB", (500, 50)))[0]
    said = pypdf.PdfReader(io.BytesIO(data)).pages[0].extract_text()
    assert sorted("".join(said.split())) == sorted("".join(words))


def test_the_invisible_font_is_a_font() -> None:
    font = ImageFont.truetype(io.BytesIO(FONT), 100)
    assert font.getlength(" ") == 50
    assert font.getmask(" ").getbbox() is None


def test_formats_are_known_by_name_and_by_ending() -> None:
    assert [format_of(name) for name in (".PDF", "markdown", "htm", *FORMATS)] == ["pdf", "md", "html", *FORMATS]
    with pytest.raises(BadRequest, match="odt"):
        format_of(".odt")


def test_cells_of_a_table_are_numbered_like_a_sheet() -> None:
    from engine.pipelines.reading.writers import workbook_of

    wide = Table(1, 30, tuple(Cell(str(n), 0, n) for n in range(30)))
    sheet = openpyxl.load_workbook(io.BytesIO(workbook_of([wide]))).worksheets[0]
    assert (sheet["Z1"].value, sheet["AA1"].value, sheet["AD1"].value) == (25, 26, 29)


def test_a_word_document_has_headings_lists_tables_and_pictures() -> None:
    table = Table(
        2, 3, (Cell("wide", 0, 0, columns=2), Cell("tall", 0, 2, rows=2), Cell("a\x01", 1, 0), Cell("<b>", 1, 1))
    )
    page = Page(
        1,
        200,
        300,
        (
            element(0, "heading", "A title", level=2),
            element(1, "text", "First\nsecond & third"),
            element(2, "list", "1. one\n2. two"),
            element(3, "table", table.plain(), table=table),
            element(4, "figure"),
            element(5, "footer", "left out"),
        ),
    )
    document = Document("a", (page, Page(2, 200, 300, (element(0, "text", "next page"),))))
    (data,) = write_document(document, "docx", STYLE, lambda page: Image.new("RGB", (200, 300), "red"))
    assert [data] == write_document(document, "docx", STYLE, lambda page: Image.new("RGB", (200, 300), "red"))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = archive.namelist()
        trees = {name: ElementTree.fromstring(archive.read(name)) for name in names if name.endswith((".xml", ".rels"))}
        assert Image.open(io.BytesIO(archive.read("word/media/1.png"))).getpixel((1, 1)) == (255, 0, 0)
    assert {"[Content_Types].xml", "_rels/.rels", "word/document.xml", "word/styles.xml"} <= set(names)
    word = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
    body = trees["word/document.xml"]
    lines = ["".join(text.text or "" for text in p.iter(f"{word}t")) for p in body.iter(f"{word}p")]
    assert [line for line in lines if line] == [
        "A title", "Firstsecond & third", "1. one", "2. two", "wide", "tall", "a", "<b>", "next page",
    ]  # fmt: skip
    assert [s.get(f"{word}val") for s in body.iter(f"{word}pStyle")] == ["Heading2"]
    assert [s.get(f"{word}val") for s in body.iter(f"{word}gridSpan")] == ["2"]
    assert [s.get(f"{word}val") for s in body.iter(f"{word}vMerge")] == ["restart", "continue"]
    assert [len(list(row.iter(f"{word}tc"))) for row in body.iter(f"{word}tr")] == [2, 3]
    assert len(list(body.iter(f"{word}br"))) == 2  # a line's end and a page's
