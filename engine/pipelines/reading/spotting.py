"""Text with places, as a spotting model writes it: `text<|LOC_x1|><|LOC_y1|>...`, eight numbers a quadrilateral, in thousandths."""

from __future__ import annotations

import re
from dataclasses import dataclass

from engine.pipelines.reading.geometry import Box

_PLACE = re.compile(r"((?:<\|LOC_\d+\|>){8})")
_NUMBER = re.compile(r"<\|LOC_(\d+)\|>")
_STRAY = re.compile(r"<\|LOC_[^>]*\|?>?")


@dataclass(frozen=True)
class Spot:
    text: str
    box: Box


def read_spots(output: str, width: float, height: float) -> list[Spot]:
    """In pixels of an image of this size. What has no complete place, as the end of an output that was cut, is left out."""
    parts = _PLACE.split(output)
    spots = []
    for said, place in zip(parts[::2], parts[1::2]):
        numbers = [min(int(number), 1000) / 1000 for number in _NUMBER.findall(place)]
        text = _STRAY.sub("", said).strip()
        across, down = [n * width for n in numbers[::2]], [n * height for n in numbers[1::2]]
        if text:
            spots.append(Spot(text, Box(min(across), min(down), max(across), max(down))))
    return spots
