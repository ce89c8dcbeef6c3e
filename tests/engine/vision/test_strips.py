"""Strips: one line of print, at a line model's height whatever it looked like before."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from engine.vision.line_strips import LineStripRules, cuts, line_parts, straighten
from tests.asserting import every

RULES = LineStripRules(height=20, rise=1, stretch=5, longest=400)
TEXT = "Hamburg pays 12 quilts"


def line(text: str = TEXT, size: int = 30, paper: int = 255, ink: int = 0) -> Image.Image:
    font = ImageFont.load_default(size)
    image = Image.new("L", (int(font.getlength(text)) + 40, size * 2), paper)
    ImageDraw.Draw(image).text((20, size // 4), text, font=font, fill=ink)
    return image


def pixels(image: Image.Image) -> np.ndarray:
    strip = straighten(image, RULES)
    assert strip is not None
    return strip.pixels.astype(float)


def apart(a: np.ndarray, b: np.ndarray) -> float:
    """Mean difference of two strips, of 255."""
    width = min(a.shape[1], b.shape[1])
    assert abs(a.shape[1] - b.shape[1]) <= 0.06 * width
    return float(np.abs(a[:, :width] - b[:, :width]).mean())


def test_rules_are_read_from_a_models_own_words() -> None:
    stated = {"line_strip": {"height": 20, "rise": 1, "stretch": 5, "longest": 400}}
    assert LineStripRules.of(stated) == RULES
    assert LineStripRules.of({"patch_size": 14}) is None


def test_a_strip_holds_the_ink_from_top_to_bottom() -> None:
    rows = pixels(line()).min(axis=1)
    assert len(rows) == 20
    assert rows[0] > 200
    assert rows[1:3].min() < 120
    assert rows[-3:-1].min() < 120


@pytest.mark.parametrize(("paper", "ink"), [(255, 60), (200, 90), (30, 230), (90, 200)])
def test_colours_do_not_matter(paper: int, ink: int) -> None:
    assert apart(pixels(line(paper=paper, ink=ink)), pixels(line())) < 6


def test_margins_do_not_matter() -> None:
    wide = Image.new("L", (900, 300), 255)
    wide.paste(line(), (200, 150))
    assert apart(pixels(wide), pixels(line())) < 3


@pytest.mark.parametrize("angle", [-2, -1, 1, 2])
def test_a_turned_line_is_levelled(angle: float) -> None:
    level = pixels(line())
    turned = pixels(line().rotate(angle, Image.Resampling.BICUBIC, expand=True, fillcolor=255))
    # A line that stays turned comes out lower and much narrower.
    assert abs(turned.shape[1] / level.shape[1] - 1) < 0.08


def test_where_a_column_of_the_picture_lies_in_the_strip() -> None:
    image = line("I", 40)
    strip = straighten(image, RULES)
    assert strip is not None
    columns = np.flatnonzero(np.asarray(image).min(axis=0) < 128)
    at = (columns.mean() + 0.5 - strip.left) * strip.scale
    found = np.flatnonzero(strip.pixels.min(axis=0) < 128).mean() + 0.5
    assert at == pytest.approx(found, abs=1)


def test_pieces_are_whole_patches_and_lose_no_ink() -> None:
    text = "the quick brown fox jumps over the lazy dog and then comes back once more"
    whole = straighten(line(text), RULES)
    assert whole is not None
    parts = line_parts(line(text), RULES)
    assert len(parts) > 1
    assert [part.spaced for part in parts] == [False] + [True] * (len(parts) - 1)
    for part in parts:
        assert part.image.mode == "RGB"
        assert part.image.height == 20
        assert part.image.width % 20 == 0
        assert part.image.width <= 20 * 103
        assert (np.asarray(part.image)[:, -40:] > 200).all()  # the model knows by it that the line is over
    ink = sum(int((np.asarray(part.image.convert("L")) < 128).sum()) for part in parts)
    assert ink == 5 * int((whole.pixels < 128).sum())


def test_a_line_without_spaces_is_cut_all_the_same() -> None:
    solid = np.zeros((20, 1000), np.uint8)
    found = cuts(solid, 400)
    assert found[0][0] == 0
    assert found[-1][1] == 1000
    assert every(end - start <= 400 for start, end, _ in found)
    assert [a[1] for a in found[:-1]] == [b[0] for b in found[1:]]
    assert not any(spaced for _, _, spaced in found)


@pytest.mark.parametrize("size", [(1, 1), (1, 40), (40, 1), (2, 2), (300, 40)])
def test_nothing_to_read_gives_nothing(size: tuple[int, int]) -> None:
    assert line_parts(Image.new("L", size, 240), RULES) == []


def test_a_speck_is_no_trouble() -> None:
    image = Image.new("L", (50, 50), 255)
    image.putpixel((25, 25), 0)
    for part in line_parts(image, RULES):
        assert part.image.height == 20
