"""Rectangles on a page, in its pixels: x to the right, y downwards."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Box:
    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        return self.right - self.left

    @property
    def height(self) -> float:
        return self.bottom - self.top

    @property
    def area(self) -> float:
        return max(self.width, 0) * max(self.height, 0)

    @property
    def middle(self) -> tuple[float, float]:
        return (self.left + self.right) / 2, (self.top + self.bottom) / 2

    def holds(self, point: tuple[float, float]) -> bool:
        return self.left <= point[0] <= self.right and self.top <= point[1] <= self.bottom

    def shared(self, other: Box) -> float:
        """Area that both cover."""
        across = min(self.right, other.right) - max(self.left, other.left)
        down = min(self.bottom, other.bottom) - max(self.top, other.top)
        return across * down if across > 0 and down > 0 else 0.0

    def grown(self, by: float) -> Box:
        return Box(self.left - by, self.top - by, self.right + by, self.bottom + by)

    def within(self, width: float, height: float) -> Box:
        """The part that lies on a page of this size."""
        return Box(max(self.left, 0), max(self.top, 0), min(self.right, width), min(self.bottom, height))

    def moved(self, x: float, y: float) -> Box:
        return Box(self.left + x, self.top + y, self.right + x, self.bottom + y)

    def scaled(self, by: float) -> Box:
        return Box(self.left * by, self.top * by, self.right * by, self.bottom * by)

    def pixels(self) -> tuple[int, int, int, int]:
        """Whole pixels that cover it."""
        return int(self.left), int(self.top), -int(-self.right // 1), -int(-self.bottom // 1)

    def rounded(self) -> list[float]:
        return [round(side, 1) for side in (self.left, self.top, self.right, self.bottom)]


def around(boxes: Iterable[Box]) -> Box:
    """The smallest box over all; there must be one."""
    found = list(boxes)
    return Box(
        min(box.left for box in found),
        min(box.top for box in found),
        max(box.right for box in found),
        max(box.bottom for box in found),
    )
