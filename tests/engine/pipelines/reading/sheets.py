"""Pages drawn here: print in Pillow's own font, so that they look the same on every machine."""

from __future__ import annotations

import random
import textwrap
from collections.abc import Sequence
from functools import cache

import numpy as np
from PIL import Image, ImageDraw, ImageFont

WORDS = [
    "the",
    "crane",
    "stands",
    "in",
    "marsh",
    "and",
    "waits",
    "for",
    "first",
    "light",
    "of",
    "morning",
    "while",
    "river",
    "goes",
    "slowly",
    "by",
    "a",
    "hill",
]


@cache
def font(size: int) -> ImageFont.FreeTypeFont:
    made = ImageFont.load_default(size)
    assert isinstance(made, ImageFont.FreeTypeFont)
    return made


def prose(words: int, width: int, seed: int) -> list[str]:
    rng = random.Random(seed)
    return textwrap.wrap(" ".join(rng.choice(WORDS) for _ in range(words)), width)


def photograph(width: int, height: int) -> Image.Image:
    """A sky over hills, with grain."""
    y, x = np.mgrid[0:height, 0:width]
    hills = 0.55 * height + 0.12 * height * np.sin(x / width * 7)
    light = np.where(y < hills, 190 - 60 * y / height, 60 + 40 * np.sin(x / 23) * np.sin(y / 31))
    grain = np.random.default_rng(0).normal(0, 5, light.shape)
    return Image.fromarray((light + grain).clip(0, 255).astype(np.uint8)).convert("RGB")


class Sheet:
    """Draws, and remembers in which colour and where each line was drawn."""

    def __init__(
        self, size: tuple[int, int] = (1240, 1754), paper: str = "white", ink: tuple[int, int, int] = (0, 0, 0)
    ):
        self.image = Image.new("RGB", size, paper)
        self._draw = ImageDraw.Draw(self.image)
        self._ink = ink
        self.texts: dict[tuple[int, int, int], str] = {}
        self.boxes: dict[str, tuple[float, float, float, float]] = {}

    def line(self, x: int, y: int, text: str, size: int = 22) -> None:
        number = len(self.texts) + 1
        dark = max(self._ink) < 128
        colour = (number, number // 64, 0) if dark else (255 - number, 255 - number // 64, 255)
        self.texts[colour] = text
        # one colour without shades, so that crops can be told by it
        self._draw.fontmode = "1"
        self._draw.text((x, y), text, fill=colour, font=font(size))
        self.boxes[text] = self._draw.textbbox((x, y), text, font=font(size))

    def paragraph(self, x: int, y: int, lines: Sequence[str], size: int = 22, step: float = 1.45) -> int:
        """-> where it ends"""
        for line in lines:
            self.line(x, y, line, size)
            y += round(size * step)
        return y


def article(columns: int = 2, **how: object) -> Sheet:
    """A header, a title over everything, sections with paragraphs, a page number."""
    sheet = Sheet(**how)  # type: ignore[arg-type]
    sheet.line(100, 60, "Journal of Cranes", 20)
    sheet.line(100, 200, "A Title over All Columns", 56)
    wide = 44 if columns == 2 else 92
    for column in range(columns):
        x, y = 100 + 560 * column, 320
        sheet.line(x, y, f"Section {column + 1}", 34)
        y += 64
        for part in range(3):
            y = sheet.paragraph(x, y, prose(45 if columns == 2 else 70, wide, 10 * column + part)) + 28
    sheet.line(600, 1690, "17", 20)
    return sheet
