"""What a page looks like: ruled tables and what is none, and text that cannot be trusted."""

from __future__ import annotations

import pytest
from PIL import Image, ImageDraw

from engine.errors import ErrorText
from engine.pipelines.reading.looks import PageLooks, has_table, looks_of
from engine.pipelines.reading.reader import DocumentReader, PageRead
from engine.pipelines.reading.results import Box, Element
from tests.engine.pipelines.reading.fakes import Fake, by_colour
from tests.engine.pipelines.reading.sheets import Sheet, photograph, prose

WIDE = (1200, 900)


def ruled(across: list[int], down: list[int], skew: float = 0.0) -> Image.Image:
    """A page with lines at these heights and widths."""
    sheet = Sheet(WIDE)
    sheet.paragraph(80, 40, prose(20, 60, 1), size=24)
    draw = ImageDraw.Draw(sheet.image)
    for y in across:
        draw.line((80, y, 1100, y + 1020 * skew), fill=0, width=2)
    for x in down:
        draw.line((x, min(across, default=0), x, max(across, default=900)), fill=0, width=2)
    return sheet.image


@pytest.mark.parametrize(
    ("across", "down", "table"),
    [
        ([300, 360, 420], [80, 400, 1100], True),
        ([300, 360, 420, 480, 540], [81, 300, 500, 700, 1099], True),
        ([300, 360, 420], [80, 1100], False),  # a frame with a line in it
        ([300, 860], [80, 1100], False),
        ([300, 360, 420, 480], [], False),  # lines to write on
        ([], [300, 600, 900], False),  # rules between columns
        ([], [], False),
    ],
)
def test_a_table_is_lines_that_meet(across: list[int], down: list[int], table: bool) -> None:
    page = ruled(across, down)
    assert has_table(page) is table
    assert has_table(page.resize((3600, 2700))) is table
    inverted = Image.eval(page, lambda grey: 255 - grey)
    assert has_table(inverted) is table


def test_what_is_no_print_has_none() -> None:
    assert not has_table(photograph(900, 700))
    assert not has_table(Image.new("RGB", (3, 3)))
    assert not has_table(Image.new("L", (600, 1), 255))


def text(words: str, confidence: float | None) -> Element:
    return Element("text", Box(0, 0, 1, 1), 0, text=words, confidence=confidence)


@pytest.mark.parametrize(
    ("elements", "unsure"),
    [
        ([text("plain print", 0.99)], False),
        ([text("other letters", 0.88)], True),
        ([text("a long line of plain print", 0.99), text("x", 0.3)], False),
        ([text("x", 0.99), text("a long line of another script", 0.88)], True),
        ([text("what a file has carried", None)], False),
        ([text("", 0.1)], False),
        ([], False),
    ],
)
def test_unsure_is_counted_by_letters(elements: list[Element], unsure: bool) -> None:
    assert looks_of(Image.new("L", (64, 64), 255), elements) == PageLooks(unsure=unsure)


def test_what_is_advised_joins_the_notes_of_the_page() -> None:
    sheet = Sheet((900, 700))
    sheet.paragraph(60, 60, prose(12, 40, 1), size=24)
    asked: list[PageLooks] = []

    def advise(looks: PageLooks) -> ErrorText | None:
        asked.append(looks)
        return ErrorText("Take {model}.", model="another") if len(asked) == 1 else None

    reader = DocumentReader(Fake(by_colour(sheet.texts)), None, advise=advise)
    pages = [event.page for event in reader.read([sheet.image, sheet.image]) if isinstance(event, PageRead)]
    assert sorted(page.notes for page in pages) == [(), ("Take another.",)]
    assert asked[0].table is False
