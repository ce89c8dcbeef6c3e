"""Pages that lie sideways, upside down or tilted: found, turned, and marked where it is not clear."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import numpy as np
import pypdf
import pytest
from PIL import Image

from engine.errors import BadRequest
from engine.media.documents import PageImage, open_document
from engine.media.text_layer import QuarterTurn
from engine.pipelines.reading.layout import PageSplitter
from engine.pipelines.reading.reader import DocumentReader, ReadOptions
from engine.pipelines.reading.results import Page
from engine.pipelines.reading.session import ReadingSession
from engine.pipelines.reading.upright import UNCLEAR, rotated_page, skew_angle, upright
from tests.engine.media.test_documents import text_pdf
from tests.engine.pipelines.reading.fakes import Fake, by_colour
from tests.engine.pipelines.reading.sheets import Sheet, article, prose


def nobody(lines: Sequence[Any]) -> None:
    """A recognizer that says nothing: the ink decides."""


def difference(degrees: float) -> float:
    """From a full turn."""
    return abs((degrees + 180) % 360 - 180)


@pytest.mark.parametrize("tilt", [-7.0, -0.35, 0.0, 12.0])
def test_the_skew_is_found_to_a_tenth_of_a_degree(tilt: float) -> None:
    page = upright(PageImage(rotated_page(article(2).image, tilt)), None, nobody)
    assert page.turned == pytest.approx(-tilt, abs=0.1)
    assert page.notes == ()


@pytest.mark.parametrize(("lies", "tilt"), [(90, 0.0), (270, -7.0)])
def test_a_page_that_lies_on_its_side_or_its_head_is_turned(lies: int, tilt: float) -> None:
    sheet = article(1)
    page = upright(PageImage(rotated_page(rotated_page(sheet.image, lies), tilt)), None, nobody)
    assert difference(page.turned + lies + tilt) <= 0.1
    assert page.notes
    assert page.notes[0].startswith("Turned by ")
    found, straight = PageSplitter().detect(page.opened.image), PageSplitter().detect(sheet.image)
    assert [len(r.lines) for r in found.regions] == [len(r.lines) for r in straight.regions]


def capitals() -> Image.Image:
    """Capitals alone stand on the baseline and reach nowhere below it: their ink says neither up nor down."""
    sheet = Sheet((900, 700))
    sheet.paragraph(80, 80, [line.upper() for line in prose(60, 40, 3)])
    return sheet.image


def test_the_recognizer_is_asked_where_the_ink_is_not_clear() -> None:
    asked: list[int] = []

    def sure(best: int) -> Any:
        def confidence(lines: Sequence[Image.Image]) -> float:
            asked.append(len(lines))
            return 0.99 if len(asked) == best else 0.7

        return confidence

    page = upright(PageImage(capitals()), None, sure(2))
    assert (page.turned, len(asked)) == (180, 2)
    assert min(asked) == 4
    asked.clear()
    assert upright(PageImage(capitals()), None, sure(1)).turned == 0


def test_doubt_is_marked() -> None:
    page = upright(PageImage(capitals()), None, lambda lines: 0.6)
    assert (page.turned, page.notes) == (0, (UNCLEAR,))
    assert upright(PageImage(capitals()), None, nobody).notes == (UNCLEAR,)
    assert upright(PageImage(Image.new("RGB", (300, 300), "white")), None, nobody).notes == ()


@pytest.mark.parametrize("turn", [0, 90])
def test_a_turn_that_was_asked_for_is_kept(turn: QuarterTurn) -> None:
    page = upright(PageImage(article(1).image.rotate(180)), turn, nobody)
    assert (page.turned, page.notes) == (turn, ())


def test_a_turned_page_is_read_and_its_boxes_lie_on_the_upright_page() -> None:
    sheet = article(1)
    fake = Fake(by_colour(sheet.texts))
    session = ReadingSession(fake)
    lies = rotated_page(sheet.image, 90)
    ((page,),) = (document.pages for document in session.documents([lies]))
    assert [line for element in page.elements for line in element.text.splitlines()] == list(sheet.texts.values())
    assert page.turned == -90
    assert np.array_equal(np.asarray(session.image_of(lies, page)), np.asarray(sheet.image))


def read(*rotations: Any) -> list[float]:
    pages = [article(1).image.rotate(180), article(1).image]
    options = ReadOptions(rotate=rotations[0])
    reader = ReadingSession(Fake(lambda crop: "x"), options=options)
    return [page.turned for document in reader.documents(pages) for page in document.pages]


def test_pages_can_be_rotated_by_hand() -> None:
    assert read(None) == [180, 0]
    assert read(90) == [-90, -90]
    assert read({2: 90}) == [180, 0]  # each document here has a page 1 alone
    assert read({1: 0}) == [0, 0]
    with pytest.raises(BadRequest, match="rotated by 0, 90, 180 or 270 degrees, not 45"):
        ReadOptions(rotate=45).check()


def sideways_pdf(matrix: str) -> bytes:
    """A PDF whose text runs in a direction of its own, in three lines."""
    writer = pypdf.PdfWriter(io.BytesIO(text_pdf("x")))
    page = writer.pages[0]
    content = pypdf.generic.DecodedStreamObject()
    lines = [f"({words}) Tj 0 -40 Td" for words in ("the first line", "the second line", "the third line")]
    content.set_data(f"BT /F 24 Tf {matrix} Tm {' '.join(lines)} ET".encode())
    page[pypdf.generic.NameObject("/Contents")] = writer._add_object(content)
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


@pytest.mark.parametrize(
    ("matrix", "turned"),
    [("1 0 0 1 72 600", 0), ("0 1 -1 0 200 100", -90), ("-1 0 0 -1 500 300", 180), ("0 -1 1 0 200 600", 90)],
)
def test_a_text_layer_that_runs_sideways_is_read_in_order(matrix: str, turned: float) -> None:
    def text(page: Page) -> list[str]:
        return [line for element in page.elements for line in element.text.splitlines()]

    reader = ReadingSession(None, options=ReadOptions(text_layer=True, dots=72))
    (document,) = reader.documents([sideways_pdf(matrix)])
    assert text(document.pages[0]) == ["the first line", "the second line", "the third line"]
    assert document.pages[0].turned == turned
    with_angle = open_document(sideways_pdf(matrix), dots=72).page(1, words=True)
    assert with_angle.text_turn == turned % 360


def test_a_page_that_the_file_itself_turns_is_turned_back() -> None:
    reader = DocumentReader(None, None, ReadOptions(text_layer=True, dots=72))
    pages = [e for e in reader.read([text_pdf("Written in the file", rotate=90)]) if type(e).__name__ == "PageRead"]
    assert pages[0].page.turned == 90  # type: ignore[union-attr]
    assert pages[0].page.elements[0].box.width > pages[0].page.elements[0].box.height  # type: ignore[union-attr]


def test_a_few_specks_have_no_skew() -> None:
    ink = np.zeros((500, 500), bool)
    ink[::50, ::50] = True
    assert skew_angle(ink) == 0.0
