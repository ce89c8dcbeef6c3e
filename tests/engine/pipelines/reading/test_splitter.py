"""The splitter without a model: columns, blocks, lines, headings and edges of drawn pages, straight and askew."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageDraw

from engine.pipelines.reading.layout import DetectedLayout, PageSplitter, find_lines, lines_within
from engine.pipelines.reading.results import Box
from tests.engine.pipelines.reading.sheets import Sheet, article, font, photograph, prose


def texts_of(found: DetectedLayout, sheet: Sheet) -> list[list[str]]:
    """The drawn lines whose middle lies in each region."""
    at = {text: Box(*box).middle for text, box in sheet.boxes.items()}
    return [[text for text, middle in at.items() if region.box.contains(middle)] for region in found.regions]


@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize("dark", [False, True])
def test_an_article_is_read_in_order(columns: int, dark: bool) -> None:
    sheet = article(columns, paper="#202838", ink=(255, 255, 255)) if dark else article(columns)
    found = PageSplitter().detect(sheet.image)
    assert [text for block in texts_of(found, sheet) for text in block] == list(sheet.texts.values())
    labels = [region.label for region in found.regions]
    section = ["heading", "text", "text", "text"]
    assert labels == ["header", "heading", *section * columns, "number"]
    assert [region.level for region in found.regions if region.label == "heading"] == [1, *[2] * columns]


def test_every_line_has_its_box() -> None:
    sheet = article(2)
    lines = [line for region in PageSplitter().detect(sheet.image).regions for line in region.lines]
    assert len(lines) == len(sheet.boxes)
    for text, drawn in sheet.boxes.items():
        line = next(line for line in lines if line.contains(Box(*drawn).middle))
        assert abs(line.left - drawn[0]) < 6
        assert abs(line.right - drawn[2]) < 10, text


def test_a_table_of_short_cells_is_no_columns() -> None:
    sheet = Sheet((900, 500))
    for row in range(6):
        for column in range(3):
            sheet.line(80 + 280 * column, 60 + 50 * row, f"{row}.{column}")
    tops = [line.top for region in PageSplitter().detect(sheet.image).regions for line in region.lines]
    assert tops == sorted(tops)
    assert len(tops) == 6


def test_paragraphs_by_white_and_by_indentation() -> None:
    sheet = Sheet((1000, 900))
    y = sheet.paragraph(80, 60, prose(60, 70, 1))
    sheet.line(140, y, "An indented line begins another paragraph that goes on")
    y = sheet.paragraph(80, y + 32, prose(40, 70, 2))
    sheet.paragraph(80, y + 40, prose(30, 70, 3))
    found = PageSplitter().detect(sheet.image)
    assert len(found.regions) == 3


def test_rules_and_frames_are_no_text() -> None:
    sheet = article(2)
    draw = ImageDraw.Draw(sheet.image)
    draw.line((621, 310, 621, 1500), fill="black", width=2)
    draw.rectangle((60, 40, 1180, 1740), outline="black", width=3)
    found = PageSplitter().detect(sheet.image)
    assert [text for block in texts_of(found, sheet) for text in block] == list(sheet.texts.values())


def test_a_photograph_is_a_figure() -> None:
    sheet = Sheet((1000, 1200))
    sheet.paragraph(80, 60, prose(60, 70, 1))
    sheet.image.paste(photograph(600, 400), (200, 400))
    sheet.paragraph(80, 900, prose(60, 70, 2))
    found = PageSplitter().detect(sheet.image).regions
    assert [region.label for region in found] == ["text", "figure", "text"]
    picture = Box(200, 400, 800, 800)
    assert found[1].box.intersection(picture) > 0.9 * max(found[1].box.area, picture.area)


def test_a_banner_in_other_colours_is_read_too() -> None:
    sheet = Sheet((1000, 700))
    draw = ImageDraw.Draw(sheet.image)
    draw.rectangle((0, 0, 1000, 160), fill="#102040")
    draw.text((80, 50), "White on blue", fill="white", font=font(48))
    sheet.paragraph(80, 260, prose(60, 70, 1))
    first = PageSplitter().detect(sheet.image).regions[0]
    assert Box(80, 55, 380, 100).intersection(first.box) > 0.8 * Box(80, 55, 380, 100).area
    assert first.box.height < 100


@pytest.mark.parametrize("size", [(1, 1), (1, 500), (500, 1), (3, 3), (640, 480)])
@pytest.mark.parametrize("colour", ["white", "black", "#777777"])
def test_an_empty_page_has_no_regions(size: tuple[int, int], colour: str) -> None:
    assert PageSplitter().detect(Image.new("RGB", size, colour)).regions == ()


def test_grain_of_the_paper_is_no_ink() -> None:
    grain = np.random.default_rng(1).normal(235, 6, (600, 400)).clip(0, 255).astype(np.uint8)
    assert PageSplitter().detect(Image.fromarray(grain)).regions == ()


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 1 << 31), st.integers(2, 90), st.integers(2, 90))
def test_noise_gives_boxes_on_the_page(seed: int, width: int, height: int) -> None:
    pixels = np.random.default_rng(seed).integers(0, 255, (height, width), np.uint8)
    for region in PageSplitter().detect(Image.fromarray(pixels)).regions:
        for box in (region.box, *region.lines):
            assert 0 <= box.left < box.right <= width
            assert 0 <= box.top < box.bottom <= height


def test_a_large_page_keeps_its_own_pixels() -> None:
    sheet = article(1)
    large = sheet.image.resize((3720, 5262), Image.Resampling.BICUBIC)
    small, found = PageSplitter().detect(sheet.image), PageSplitter().detect(large)
    assert [r.label for r in found.regions] == [r.label for r in small.regions]
    assert found.regions[1].box.left == pytest.approx(3 * small.regions[1].box.left, abs=8)


def test_lines_of_a_region_that_a_model_found() -> None:
    sheet = article(2)
    lines = lines_within(sheet.image, Box(90, 375, 630, 575))
    drawn = [Box(*box) for box in sheet.boxes.values() if 375 < box[1] < 560 and box[0] < 300]
    assert len(lines) == len(drawn)
    for line, box in zip(lines, drawn):
        assert line.contains(box.middle)
        assert abs(line.left - box.left) < 5


def test_touching_lines_are_cut_apart() -> None:
    sheet = Sheet((900, 400))
    sheet.paragraph(60, 60, prose(50, 60, 4), size=24, step=1.0)
    found = PageSplitter().detect(sheet.image)
    assert sum(len(region.lines) for region in found.regions) == len(sheet.texts)


def test_the_last_column_may_have_two_lines() -> None:
    sheet = Sheet((1000, 700))
    for number, text in enumerate(prose(60, 34, seed=4)[:9]):
        sheet.line(60, 60 + 40 * number, f"{number} {text}")
    sheet.line(560, 60, "and here the text of the first column")
    sheet.line(560, 100, "comes to its end.")
    found = PageSplitter().detect(sheet.image)
    assert texts_of(found, sheet)[-1] == list(sheet.boxes)[-2:]
    assert len(texts_of(found, sheet)[0]) == 9


def test_a_line_of_tall_letters_is_not_cut_through_its_stems() -> None:
    ink = np.zeros((60, 200), bool)
    ink[10:26, 10:160:40] = True  # stems that rise above round letters
    ink[26:46, 10:160:2] = True
    assert find_lines(ink, 18.0) == [(10, 46)]
    ink[26:28] = False
    ink[26:28, 10] = True  # a tail that hangs into the line below
    ink[10:24, 10:160:2] = True
    assert find_lines(ink, 18.0) == [(10, 26), (26, 46)]


@pytest.mark.parametrize("across", [True, False])
def test_a_shadow_over_half_the_page_is_no_photograph(across: bool) -> None:
    sheet = article(1)
    grey = np.asarray(sheet.image.convert("L"), np.float64)
    light = np.linspace(0.55, 1.0, grey.shape[across])
    shaded = Image.fromarray((grey * (light[None, :] if across else light[:, None])).astype(np.uint8))
    found, lit = PageSplitter().detect(shaded), PageSplitter().detect(sheet.image)
    assert [(r.label, len(r.lines)) for r in found.regions] == [(r.label, len(r.lines)) for r in lit.regions]


@pytest.mark.parametrize("size", range(16, 40, 3))
def test_figures_are_as_large_as_what_stands_around_them(size: int) -> None:
    """They fill a line up to where letters only rise to; a heading of figures is larger all the same."""
    sheet, step = Sheet((1200, 1000)), round(1.4 * size)
    sheet.line(80, 60, "2019, 2020", round(1.8 * size))
    for i, text in enumerate([*prose(50, 48, 3), "42,718,093 of 1,250,000 in 2019, 2020."]):
        sheet.line(80, 160 + step * i, text, size)
    labels = [region.label for region in PageSplitter().detect(sheet.image).regions]
    assert labels[0] in ("heading", "header")
    assert labels[1:] == ["text"]


def test_a_row_of_a_table_is_no_heading() -> None:
    sheet = Sheet((900, 700))
    sheet.line(60, 40, "A Heading", 44)
    end = sheet.paragraph(60, 130, prose(30, 60, 1), 18)
    for column, (word, number) in enumerate((("ITEM", "TOTAL"), ("QTY", "49"), ("PRICE", "14.60"))):
        sheet.line(60 + 260 * column, end + 40, word, 26)
        sheet.line(60 + 260 * column, end + 100, number, 26)
    found = [
        (r.label, texts)
        for r, texts in zip(*(lambda d: (d.regions, texts_of(d, sheet)))(PageSplitter().detect(sheet.image)))
    ]
    assert [texts for label, texts in found if label == "heading"] == [["A Heading"]]


def test_a_single_row_of_cells_between_paragraphs_is_no_heading() -> None:
    """Its letters are larger than those around it, as a heading's are."""
    sheet = Sheet((900, 700))
    sheet.line(60, 40, "A Heading", 44)
    end = sheet.paragraph(60, 130, prose(30, 60, 1), 18)
    for column, word in enumerate(("ITEM", "QTY", "PRICE")):
        sheet.line(60 + 260 * column, end + 60, word, 26)
    sheet.paragraph(60, end + 160, prose(30, 60, 2), 18)
    labels = [region.label for region in PageSplitter().detect(sheet.image).regions]
    assert labels == ["heading", "text", "text", "text"]
