"""One page of a document as pixels, and the words that its file may carry. Knows no files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from PIL.Image import Image

Bounds: TypeAlias = tuple[float, float, float, float]  # left, top, right, bottom in pixels of the page


@dataclass(frozen=True)
class Written:
    """A word that a file carries as text."""

    text: str
    bounds: Bounds


@dataclass(frozen=True)
class PageImage:
    """One page: upright, RGB."""

    image: Image
    dots: float | None = None  # an inch, where the file says so
    notes: tuple[str, ...] = ()  # what was done to the pixels, for people
    words: tuple[Written, ...] | None = None  # a text layer, where there is one and it was asked for
