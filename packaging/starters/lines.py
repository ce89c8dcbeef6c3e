"""Pictures of lines of print: text set in a font at a size, in its colours, then worn as scans and photos are.

Everything follows from the random generator that is handed in. Where each character stands is kept beside the
picture, because training tells the encoder what every narrow column of the strip shows."""

from __future__ import annotations

import io
import random
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import line_fonts
import numpy as np
from line_text import CHARACTERS
from PIL import Image, ImageDraw, ImageFilter, ImageFont

# Sizes in pixels: the held-out ones lie between those of training, and nothing is ever set at both.
HELD_OUT_SIZES = (13, 17, 21, 26, 34, 44)
TRAINING_SIZES = tuple(size for size in range(12, 49) if size not in HELD_OUT_SIZES)


@dataclass
class Line:
    """A picture of one line: its text, and the left edge of every character, then the right edge of the last."""

    image: Image.Image
    text: str
    edges: np.ndarray


@lru_cache(maxsize=600)
def font_at(path: Path, size: int) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(str(path), size)


@lru_cache(maxsize=600)
def drawable(path: Path) -> frozenset[str]:
    """The characters that a font file really has."""
    font = font_at(path, 24)
    absent = bytes(font.getmask("\uffff"))
    return frozenset(char for char in CHARACTERS if char == " " or bytes(font.getmask(char)) != absent)


def pick_font(rng: random.Random, table: dict[str, list[str]]) -> tuple[Path, str]:
    kind = rng.choices(list(line_fonts.SHARES), list(line_fonts.SHARES.values()))[0]
    choices = line_fonts.files(rng.choice(table[kind]))
    return (rng.choice(choices), kind) if choices else pick_font(rng, table)


def set_line(rng: random.Random, text: str, path: Path, size: int, kind: str, ligatures: bool = True) -> Line:
    """`text` in black on white with a margin around it."""
    present = drawable(path)
    text = "".join(char if char in present else "x" for char in text)
    font = font_at(path, size)
    features = None if ligatures and kind != "mono" else ["-liga", "-calt", "-clig"]
    advance = [font.getlength(text[:i], features=features) for i in range(len(text) + 1)]
    margin = rng.randint(2, max(3, size // 2))
    image = Image.new("L", (int(advance[-1]) + 2 * margin + size // 3, int(size * 1.5) + 2 * margin), 255)
    shift = rng.random()
    ImageDraw.Draw(image).text((margin + shift, margin), text, font=font, fill=0, features=features)
    return Line(image, text, np.asarray(advance) + margin + shift)


def reshaped(rng: random.Random, line: Line) -> Line:
    """Letters narrower, wider, slanted, thinner or bolder than the font has them: more fonts than are installed."""
    image, edges = line.image, line.edges
    if rng.random() < 0.5:
        factor = rng.uniform(0.86, 1.16)
        image = image.resize((max(8, round(image.width * factor)), image.height), Image.Resampling.BICUBIC)
        edges = edges * factor
    if rng.random() < 0.15:
        slant, middle = rng.uniform(-0.08, 0.22), image.height * 0.55
        pad = int(abs(slant) * image.height) + 1
        wide = Image.new("L", (image.width + 2 * pad, image.height), 255)
        wide.paste(image, (pad, 0))
        transform = (1, slant, -slant * middle, 0, 1, 0)
        image = wide.transform(wide.size, Image.Transform.AFFINE, transform, Image.Resampling.BICUBIC, fillcolor=255)
        edges = edges + pad
    weight = rng.random()
    if weight < 0.12 and image.height > 34:
        image = Image.blend(image, image.filter(ImageFilter.MaxFilter(3)), rng.uniform(0.2, 0.7))
    elif weight < 0.26:
        image = Image.blend(image, image.filter(ImageFilter.MinFilter(3)), rng.uniform(0.2, 0.8))
    return Line(image, line.text, edges)


def coloured(rng: random.Random, image: Image.Image) -> Image.Image:
    """Black on white, dark on grey, light on dark: never so faint that a person would have to guess."""
    kind = rng.random()
    if kind < 0.4:
        paper, ink = 255, rng.randint(0, 40)
    elif kind < 0.7:
        paper = rng.randint(150, 255)
        ink = rng.randint(0, paper - 100)
    else:
        paper = rng.randint(0, 110)
        ink = rng.randint(paper + 100, 255)
    table = [round(ink + (paper - ink) * level / 255) for level in range(256)]
    return image.point(table)


def worn(rng: random.Random, image: Image.Image, size: int, turn: float = 2.0) -> Image.Image:
    """Light damage: turned by up to `turn` degrees, blurred, noisy, uneven in light, compressed."""
    paper = int(np.bincount(np.asarray(image).ravel(), minlength=256).argmax())
    if turn and rng.random() < 0.5:
        angle = rng.uniform(-turn, turn)
        image = image.rotate(angle, Image.Resampling.BICUBIC, expand=True, fillcolor=paper)
    if rng.random() < 0.4:
        image = image.filter(ImageFilter.GaussianBlur(rng.uniform(0.2, 0.35 + size * 0.03)))
    if rng.random() < 0.5:
        noise = np.random.default_rng(rng.getrandbits(32))
        values = np.asarray(image, np.float32)
        values = values + noise.normal(0, rng.uniform(1, 12), values.shape)
        if rng.random() < 0.4:
            values += np.linspace(*(rng.uniform(-12, 12) for _ in range(2)), values.shape[1])
        image = Image.fromarray(np.clip(values, 0, 255).astype(np.uint8))
    if rng.random() < 0.5:
        packed = io.BytesIO()
        image.save(packed, "JPEG", quality=rng.randint(35, 92))
        image = Image.open(packed).convert("L")
    return image
