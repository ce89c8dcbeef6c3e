"""DeepSeek-OCR's pages: parts with their kinds and places, and whatever a model may write instead."""

from __future__ import annotations

import numpy as np
import pytest

from engine.pipelines.reading.grounded import grounded_elements, is_grounded, without_places
from engine.pipelines.reading.results import Box

PAGE = Box(100, 50, 1099, 2048)  # 999 x 1998 pixels
WRITTEN = """\
<|ref|>title<|/ref|><|det|>[[100, 40, 600, 80]]<|/det|>
# A report

<|ref|>text<|/ref|><|det|>[[100, 100, 900, 150], [100, 150, 500, 200]]<|/det|>
Some words with $x^2$.

<|ref|>equation<|/ref|><|det|>[[200, 210, 700, 250]]<|/det|>
\\[ y = 1 \\]

<|ref|>table<|/ref|><|det|>[[100, 300, 900, 500]]<|/det|>
<table><tr><td>a</td><td>b</td></tr></table>

<|ref|>image<|/ref|><|det|>[[100, 520, 400, 700]]<|/det|>

<|ref|>image_caption<|/ref|><|det|>[[100, 710, 400, 730]]<|/det|>
Figure 1: a picture.

<|ref|>sub_title<|/ref|><|det|>[[100, 740, 400, 760]]<|/det|>
More of it
"""


def test_parts_have_their_kinds_and_places() -> None:
    found = grounded_elements(WRITTEN, PAGE)
    kinds = [(one.kind, one.text) for one in found]
    assert kinds == [
        ("heading", "A report"),
        ("text", "Some words with $x^2$."),
        ("formula", "y = 1"),
        ("table", "a\tb"),
        ("figure", ""),
        ("caption", "Figure 1: a picture."),
        ("heading", "More of it"),
    ]
    assert [one.order for one in found] == list(range(7))
    assert [one.label for one in found][3:5] == ["table", "image"]
    assert found[0].box == Box(200, 130, 700, 210)
    assert found[1].box == Box(200, 250, 1000, 450)  # around both of its places
    assert (found[0].level, found[6].level) == (1, 2)
    assert found[3].table is not None


def test_kinds_and_places_in_one_mark() -> None:
    """As Unlimited-OCR writes them."""
    written = (
        "<|det|>title [100, 40, 600, 80]<|/det|># A report\n<|det|>image [100, 520, 400, 700]<|/det|>"
        "<|det|>page_number [900, 960, 999, 999]<|/det|>7"
    )
    heading, figure, number = grounded_elements(written, PAGE)
    assert (heading.kind, heading.text, heading.box) == ("heading", "A report", Box(200, 130, 700, 210))
    assert (figure.kind, figure.label, number.kind, number.text) == ("figure", "image", "page_number", "7")
    assert is_grounded(written)
    assert without_places(f"<PAGE>{written}") == "# A report\n7"


def test_a_region_is_its_text_alone() -> None:
    assert is_grounded(WRITTEN)
    assert without_places("<|ref|>text<|/ref|><|det|>[[1, 2, 3, 4]]<|/det|>\nHello\n<|ref|>") == "Hello"


def test_what_stands_before_the_first_part_is_kept() -> None:
    first, second = grounded_elements("Before.\n<|ref|>text<|/ref|><|det|>[[0, 0, 999, 999]]<|/det|>\nAfter.", PAGE)
    assert (first.text, first.box) == ("Before.", PAGE)
    assert (second.text, second.box) == ("After.", PAGE)


@pytest.mark.parametrize(
    "place", ["", "[[]]", "[[1, 2]]", "[[9999, 0, 9999, 0]]", "[[5, 5, 5, 5]]", "[[700, 700, 100, 100]]"]
)
def test_odd_places_end_within_the_page(place: str) -> None:
    for label in ("text", "image"):
        for one in grounded_elements(f"<|ref|>{label}<|/ref|><|det|>{place}<|/det|>\nWords", PAGE):
            assert PAGE.left <= one.box.left <= one.box.right <= PAGE.right
            assert PAGE.top <= one.box.top <= one.box.bottom <= PAGE.bottom


def test_cut_and_shuffled_text_ends_as_elements() -> None:
    random = np.random.default_rng(5)
    for _ in range(300):
        start, stop = sorted(random.integers(0, len(WRITTEN), 2).tolist())
        shuffled = WRITTEN[start:stop] + WRITTEN[: int(random.integers(0, 200))]
        for one in grounded_elements(shuffled, PAGE):
            assert "<|ref|>" not in one.text
            assert "<|/det|>" not in one.text
