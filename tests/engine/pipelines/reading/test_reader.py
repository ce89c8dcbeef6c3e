"""Documents from files to elements, with a recognizer that is made up: order, tasks, batching, failures, cancelling."""

from __future__ import annotations

import io
import itertools
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pypdf
import pytest
from PIL import Image

from engine.errors import BadRequest, EngineFault
from engine.pipelines.reading.layout import DetectedLayout, LayoutRegion
from engine.pipelines.reading.reader import (
    DocumentOpened,
    DocumentRead,
    DocumentReader,
    ElementRead,
    PageRead,
    PageSplit,
    ReadingEvent,
    ReadOptions,
    RegionText,
)
from engine.pipelines.reading.recognizer import Crop
from engine.pipelines.reading.results import Box, Document
from tests.asserting import every
from tests.engine.media.test_documents import text_pdf
from tests.engine.pipelines.reading.fakes import Fake, by_colour
from tests.engine.pipelines.reading.sheets import Sheet, article, photograph, prose


def read(reader: DocumentReader, *sources: Any, **how: Any) -> list[Document]:
    return [event.result for event in reader.read(sources, **how) if isinstance(event, DocumentRead)]


def said(document: Document) -> list[str]:
    return [line for element in document.elements for line in element.text.splitlines()]


class Fixed:
    """A layout that knows already."""

    name = "fixed layout"

    def __init__(self, *regions: tuple[str, tuple[float, float, float, float]]) -> None:
        self._regions = tuple(LayoutRegion(Box(*box), label, n, 0.9) for n, (label, box) in enumerate(regions))

    def detect(self, page: Image.Image) -> DetectedLayout:
        return DetectedLayout(self._regions, page)


@pytest.mark.parametrize("columns", [1, 2])
def test_a_page_is_read_in_order(columns: int) -> None:
    sheet = article(columns)
    (document,) = read(DocumentReader(Fake(by_colour(sheet.texts)), None), sheet.image)
    (page,) = document.pages
    assert said(document) == list(sheet.texts.values())
    assert (page.splitter, page.reader, page.error) == ("built-in splitter", "fake reader", None)
    assert [element.order for element in page.elements] == list(range(len(page.elements)))
    assert every(element.confidence == pytest.approx(0.9048, abs=1e-3) for element in page.elements)
    for element in page.elements:
        for line in element.lines:
            for word in line:
                x, y = word.box.middle
                assert element.box.grown(8).contains((x, y))


def test_a_model_that_reads_lines_gets_lines() -> None:
    sheet = article(1)
    fake = Fake(lambda crop: f"{crop.image.height}", by_line=True, tasks=["text"])
    (document,) = read(DocumentReader(fake, None), sheet.image)
    assert len(fake.crops) == len(sheet.texts)
    assert every(18 <= crop.image.height <= 70 for crop in fake.crops)
    assert sum(len(e.text.splitlines()) for e in document.elements) == len(sheet.texts)


def test_each_region_gets_its_task() -> None:
    sheet = Sheet((900, 1000))
    sheet.paragraph(60, 60, prose(300, 70, 1), step=1.2)
    sheet.image.paste(photograph(300, 200), (500, 760))
    outputs = {
        "text": "Some text",
        "table": "<fcel>a<lcel><nl><fcel>1<fcel>2<nl>",
        "formula": "\\[ x^2 \\]",
        "chart": "Year | Cranes\n2020 | 7",
        "seal": "APPROVED",
    }
    fake = Fake(lambda crop: outputs[crop.task])
    layout = Fixed(
        ("doc_title", (50, 50, 850, 100)),
        ("table", (50, 110, 850, 200)),
        ("display_formula", (50, 210, 850, 260)),
        ("chart", (50, 270, 850, 400)),
        ("seal", (50, 410, 200, 500)),
        ("number", (400, 510, 450, 540)),
        ("image", (500, 760, 800, 960)),
        ("something new", (50, 550, 450, 600)),
    )
    kept: dict[int, tuple[str, tuple[int, int]]] = {}

    def keep(document: int, page: int, order: int, kind: str, image: Image.Image) -> str:
        kept[order] = (kind, image.size)
        return f"{kind}.png"

    (document,) = read(DocumentReader(fake, layout), sheet.image, save_figure=keep)
    elements = document.pages[0].elements
    kinds = ["heading", "table", "formula", "chart", "seal", "page_number", "figure", "text"]
    assert [element.kind for element in elements] == kinds
    assert sorted(crop.task for crop in fake.crops) == ["chart", "formula", "seal", "table", "text", "text", "text"]
    assert [t.grid() for t in document.tables] == [[["a", ""], ["1", "2"]], [["Year", "Cranes"], ["2020", "7"]]]
    assert elements[2].text == "x^2"
    assert elements[0].level == 1
    assert kept == {3: ("chart", (800, 130)), 4: ("seal", (150, 90)), 6: ("figure", (300, 200))}
    assert elements[6].figure == "figure.png"
    assert document.pages[0].splitter == "fixed layout"


def test_what_a_model_cannot_read_is_read_as_text() -> None:
    fake = Fake(lambda crop: "plain", tasks=["text"])
    layout = Fixed(("table", (0, 0, 400, 300)))
    (document,) = read(DocumentReader(fake, layout), article(1).image.crop((90, 300, 700, 700)))
    assert [(e.kind, e.text, e.table) for e in document.elements] == [("text", "plain", None)]


def test_a_table_that_is_none_is_doubtful() -> None:
    fake = Fake(lambda crop: "no table here")
    (document,) = read(DocumentReader(fake, None, ReadOptions(task="table")), article(1).image)
    (element,) = document.elements
    assert (element.kind, element.text, element.doubt is not None) == ("table", "no table here", True)


@pytest.mark.parametrize("task", ["table", "formula", "chart", "seal"])
def test_a_task_takes_the_whole_page(task: Any) -> None:
    fake = Fake(lambda crop: "a | b\nc | d")
    (document,) = read(DocumentReader(fake, None, ReadOptions(task=task)), article(1).image)
    assert [(crop.task, crop.image.size) for crop in fake.crops] == [(task, (1240, 1754))]
    assert [element.kind for element in document.elements] == [task]
    assert document.pages[0].splitter == "whole page"


def test_spotting_places_every_text() -> None:
    spots = "".join(
        f"{text}" + "".join(f"<|LOC_{n}|>" for n in (x, y, x + 100, y, x + 100, y + 50, x, y + 50))
        for text, x, y in (("Hello", 100, 100), ("world", 500, 200))
    )
    fake = Fake(lambda crop: spots + "cut off<|LOC_1|><|LOC_")
    (document,) = read(DocumentReader(fake, None, ReadOptions(task="spotting")), article(1).image.resize((1000, 2000)))
    assert [(e.text, e.box) for e in document.elements] == [
        ("Hello", Box(100, 200, 200, 300)),
        ("world", Box(500, 400, 600, 500)),
    ]


def test_regions_of_many_pages_run_together(tmp_path: Path) -> None:
    """The recognizer lets nobody go before regions of two pages wait for it."""
    pages = [article(1), article(1, ink=(0, 0, 0))]
    file = tmp_path / "two.tiff"
    pages[0].image.save(file, save_all=True, append_images=[pages[1].image])
    inside, both = [], threading.Event()

    def answer(crop: Crop) -> str:
        inside.append(crop)
        if len(inside) > 7:  # a page has seven regions
            both.set()
        assert both.wait(20)
        return "read"

    (document,) = read(DocumentReader(Fake(answer), None), file)
    assert [len(page.elements) for page in document.pages] == [7, 7]


def test_pages_leave_in_order_though_they_end_in_any() -> None:
    sheets = [Sheet((300, 100)) for _ in range(6)]
    for number, sheet in enumerate(sheets):
        sheet.line(20, 30, f"page {number}")

    def answer(crop: Crop) -> str:
        time.sleep(0.05 * (len(fake.crops) % 3 == 0))
        return str(len(fake.crops))

    fake = Fake(answer)
    events = list(DocumentReader(fake, None).read([sheet.image for sheet in sheets]))
    assert [e.document for e in events if isinstance(e, PageRead)] == list(range(6))
    assert [e.document for e in events if isinstance(e, DocumentRead)] == list(range(6))


def test_events_tell_everything_in_order() -> None:
    sheet = article(1)
    events: list[ReadingEvent] = list(DocumentReader(Fake(by_colour(sheet.texts)), None).read([sheet.image]))
    kinds = [type(event) for event in events]
    assert kinds[:2] == [DocumentOpened, PageSplit]
    assert kinds[-2:] == [PageRead, DocumentRead]
    split = next(e for e in events if isinstance(e, PageSplit))
    for region in split.regions:
        text = "".join(e.text or "" for e in events if isinstance(e, RegionText) and e.order == region.order)
        element = next(e.element for e in events if isinstance(e, ElementRead) and e.element.order == region.order)
        assert text == element.text
    last = next(e for e in events if isinstance(e, PageRead)).progress
    assert (last.pages_done, last.pages_known, last.documents_left) == (1, 1, 0)


def test_the_estimate_follows_the_pages() -> None:
    now = itertools.count(step=10)
    pages = text_pdf(*["word " * 5] * 4)
    reader = DocumentReader(Fake(lambda crop: "x"), None, ReadOptions(dots=72))
    left = [e.progress.seconds_left for e in reader.read([pages], clock=lambda: next(now)) if isinstance(e, PageRead)]
    assert left == [30.0, 20.0, 10.0, 0.0]


def test_one_bad_item_leaves_the_rest(tmp_path: Path) -> None:
    good = article(1)
    cut = tmp_path / "cut.pdf"
    cut.write_bytes(text_pdf("Hello")[:200])
    sources = [
        b"",
        cut,
        tmp_path / "none.png",
        Image.new("RGB", (1, 1)),
        Image.new("RGB", (600, 400), "white"),
        good.image,
    ]
    documents = read(DocumentReader(Fake(by_colour(good.texts)), None), *sources)
    assert [bool(d.error) for d in documents] == [True, True, True, False, False, False]
    assert documents[3].pages[0].notes == ("The page is empty.",)
    assert documents[4].pages[0].elements == ()
    assert said(documents[5]) == list(good.texts.values())


def test_a_failing_region_is_its_pages_error() -> None:
    sheet = article(1)

    def answer(crop: Crop) -> str:
        if crop.image.height > 120:
            raise EngineFault("The engine failed.")
        return "fine"

    documents = read(DocumentReader(Fake(answer), None), sheet.image, sheet.image.crop((0, 0, 1240, 280)))
    assert documents[0].pages[0].error == "The engine failed."
    assert documents[0].pages[0].elements  # what could be read is kept
    assert documents[1].pages[0].error is None


def test_a_bug_in_a_recognizer_is_told_and_not_waited_for() -> None:
    def answer(crop: Crop) -> str:
        raise KeyError("x")

    (document,) = read(DocumentReader(Fake(answer), None), article(1).image)
    assert "KeyError" in str(document.pages[0].error)


def test_pages_are_chosen() -> None:
    pages = text_pdf(*(f"This is page {n}" for n in range(1, 6)))
    (document,) = read(DocumentReader(None, None, ReadOptions(pages="4-,2", text_layer=True)), pages)
    assert [page.number for page in document.pages] == [4, 5, 2]
    assert said(document) == ["This is page 4", "This is page 5", "This is page 2"]
    with pytest.raises(BadRequest, match="1-3,5"):
        DocumentReader(None, None, ReadOptions(pages="x"))
    (document,) = read(DocumentReader(None, None, ReadOptions(pages="9")), pages)
    assert "5 pages" in str(document.error)


def test_a_text_layer_is_taken_only_when_that_is_asked_for() -> None:
    pages = text_pdf("Written in the file")
    layer = DocumentReader(Fake(lambda crop: "seen"), None, ReadOptions(text_layer=True))
    (document,) = read(layer, pages)
    assert said(document) == ["Written in the file"]
    assert document.pages[0].reader == "text layer"
    assert next(document.elements).confidence is None
    assert [word.text for word in next(document.elements).lines[0]] == ["Written", "in", "the", "file"]
    (document,) = read(DocumentReader(Fake(lambda crop: "seen"), None), pages)
    assert said(document) == ["seen"]


def test_without_a_model_a_page_without_text_says_what_is_missing() -> None:
    documents = read(
        DocumentReader(None, None, ReadOptions(text_layer=True)), article(1).image, text_pdf("Written in the file")
    )
    assert "--model" in str(documents[0].pages[0].error)
    assert said(documents[1]) == ["Written in the file"]


def test_a_password_is_asked_for_until_it_fits_or_nobody_knows_it() -> None:
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(text_pdf("Secret words here")))
    writer.encrypt("sesame", algorithm="RC4-128")
    out = io.BytesIO()
    writer.write(out)
    asked: list[bool] = []

    def ask(name: str, wrong: bool) -> str:
        asked.append(wrong)
        return "sesame" if wrong else "open"

    reader = DocumentReader(None, None, ReadOptions(text_layer=True))
    (document,) = read(reader, out.getvalue(), password=ask)
    assert said(document) == ["Secret words here"]
    assert asked == [False, True]
    (document,) = read(reader, out.getvalue())
    assert "protected" in str(document.error)


@pytest.mark.timeout(30)
def test_leaving_stops_everything() -> None:
    def endless(crop: Crop) -> Iterator[str]:
        for n in itertools.count():
            time.sleep(0.005)
            yield f"{n} "

    fake = Fake(endless, honest=False)
    events = DocumentReader(fake, None).read([article(1).image] * 5)
    next(event for event in events if isinstance(event, RegionText))
    events.close()  # type: ignore[attr-defined]
    given = [reading.given for reading in fake.readings]
    time.sleep(0.05)
    assert [reading.given for reading in fake.readings] == given
    assert not [t for t in threading.enumerate() if t.name.startswith(("grus-region", "grus-pages"))]


def test_regions_inside_regions_are_read_once() -> None:
    fake = Fake(lambda crop: f"{crop.task}")
    layout = Fixed(
        ("text", (50, 300, 900, 900)),
        ("text", (60, 310, 500, 400)),
        ("display_formula", (60, 500, 400, 560)),
    )
    (document,) = read(DocumentReader(fake, layout), article(1).image)
    assert [element.kind for element in document.elements] == ["text", "formula"]


def test_arrays_are_read() -> None:
    sheet = article(1)
    (document,) = read(DocumentReader(Fake(by_colour(sheet.texts)), None), np.asarray(sheet.image))
    assert said(document) == list(sheet.texts.values())


def test_a_model_that_sees_less_than_the_page_says_so() -> None:
    (document,) = read(
        DocumentReader(Fake(lambda crop: "x"), None, ReadOptions(task="formula")), Image.new("RGB", (6000, 50), "white")
    )
    assert document.pages[0].notes == ("Too large for the fake.",)


def test_a_task_that_the_model_does_not_know_is_said() -> None:
    sheet = article(1)
    for by_line in (False, True):
        text_only = Fake(by_colour(sheet.texts), by_line=by_line, tasks=("text",))
        (document,) = read(DocumentReader(text_only, None, ReadOptions(task="table")), sheet.image)
        (note,) = document.pages[0].notes
        assert note.startswith("fake reader does not know the task table: the page is read as text.")
        assert said(document)
