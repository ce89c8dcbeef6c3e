"""Whole pages as markdown: its elements, their places in the ink, and which models are given a page at once."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from engine.pipelines.reading.prompts import GENERAL, GLM_OCR, LIGHTON, PADDLE, PADDLE_1_5, task_prompts
from engine.pipelines.reading.reader import DocumentReader, PageRead
from engine.pipelines.reading.results import Box, Page
from engine.pipelines.reading.session import ReadOptions
from engine.pipelines.reading.whole_pages import markdown_elements
from tests.engine.pipelines.reading.fakes import Fake
from tests.engine.pipelines.reading.sheets import Sheet, prose

FIRST, SECOND = prose(20, 30, 1), prose(8, 30, 2)
PAGE = Box(0, 0, 1000, 500)
WRITTEN = r"""# Report

The sum $a_1 * b_2 * \{c\}$ is small.

$$
\frac{a}{b} \,
$$

| name | value |
|---|---|
| one | $x_1$ |

![image](image_1.png)100,200,300,900

- first
- second

<table><tr><td colspan="2">wide</td></tr><tr><td>a</td><td>b</td></tr></table>
"""


def test_markdown_becomes_elements() -> None:
    elements = markdown_elements(WRITTEN, PAGE)
    assert [element.kind for element in elements] == ["heading", "text", "formula", "table", "figure", "list", "table"]
    assert [element.order for element in elements] == list(range(7))
    heading, text, formula, table, figure, listed, wide = elements
    assert (heading.text, heading.level) == ("Report", 1)
    assert text.text == r"The sum $a_1 * b_2 * \{c\}$ is small."
    assert formula.text == r"\frac{a}{b} \,"
    assert table.table is not None
    assert table.table.grid() == [["name", "value"], ["one", "$x_1$"]]
    assert figure.box == Box(100, 100, 300, 450)
    assert listed.text == "- first\n- second"
    assert wide.table is not None
    assert wide.table.spans


@pytest.mark.parametrize(
    ("written", "kinds"),
    [
        ("```markdown\n# A\n```", ["heading"]),
        ("![image](a.png)", []),
        ("", []),
        ("costs $5 and $6", ["text"]),
        ("![x](y)5,5,5,5 text", ["text"]),
        ("a \ue0007\ue001 b", ["text"]),
    ],
)
def test_what_is_left_out(written: str, kinds: list[str]) -> None:
    elements = markdown_elements(written, PAGE)
    assert [element.kind for element in elements] == kinds
    if "5 and" in written:
        assert elements[0].text == "costs $5 and $6"


class WholePages(Fake):
    whole_pages = True


def read(recognizer: Fake, image: Image.Image, **options: object) -> Page:
    reader = DocumentReader(recognizer, None, ReadOptions(rotate=0, **options))  # type: ignore[arg-type]
    (page,) = [event.page for event in reader.read([image]) if isinstance(event, PageRead)]
    assert page.error is None
    return page


@pytest.fixture(scope="module")
def sheet() -> Image.Image:
    made = Sheet((600, 400))
    made.line(40, 40, "A Title", 18)
    made.paragraph(40, 80, FIRST, size=18)
    made.paragraph(40, 280, SECOND, size=18)
    return made.image


def test_a_page_is_given_whole_to_a_model_that_was_trained_so(sheet: Image.Image) -> None:
    words = " ".join(FIRST)
    recognizer = WholePages(lambda crop: f"# A Title\n\n{words}\n\n{' '.join(SECOND)}")
    page = read(recognizer, sheet)
    assert [crop.task for crop in recognizer.crops] == ["markdown"]
    assert recognizer.crops[0].image.size == sheet.size
    assert page.splitter == "whole page"
    heading, first, second = page.elements
    assert (heading.kind, first.text) == ("heading", words)
    assert [word.text for line in first.lines for word in line] == words.split()
    assert heading.box.bottom < first.box.top
    assert len(first.lines) == len(FIRST)
    assert first.box.bottom < 280 <= second.box.top
    assert first.confidence is not None
    by_region = read(Fake(lambda crop: "text"), sheet)
    assert len(by_region.elements) > 1
    assert by_region.splitter == "built-in splitter"


def test_an_empty_page_is_not_asked_about() -> None:
    recognizer = WholePages(lambda crop: "invented")
    page = read(recognizer, Image.fromarray(np.full((200, 200, 3), 255, np.uint8)))
    assert not recognizer.crops
    assert page.elements == ()


def test_whole_pages_can_be_asked_for(sheet: Image.Image) -> None:
    able = Fake(lambda crop: "## One\n\ntwo")
    assert [element.kind for element in read(able, sheet, task="markdown").elements] == ["heading", "text"]
    unable = Fake(lambda crop: "text", tasks=["text"])
    page = read(unable, sheet, task="markdown")
    assert len(page.elements) > 1
    assert "fake reader does not write whole pages: its regions are read." in page.notes


def test_each_family_has_its_prompts() -> None:
    assert task_prompts("paddleocr_vl", "Assistant: ") is PADDLE
    assert task_prompts("paddleocr_vl", "Assistant:\n") is PADDLE_1_5
    assert task_prompts("glm_ocr", "") is GLM_OCR
    assert task_prompts("lighton_ocr", "") is LIGHTON
    assert task_prompts("qwen3_vl", "") is GENERAL
    assert set(PADDLE_1_5.of) - set(PADDLE.of) == {"seal", "spotting"}
    assert GLM_OCR.of["table"] == "Table Recognition:"
