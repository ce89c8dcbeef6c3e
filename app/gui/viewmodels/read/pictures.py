"""Pages as pixels, for the view and for exports. Reads the disk; runs beside the UI thread."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from engine.media.documents import open_document
from engine.pipelines.reading.ink import rotated_page

if TYPE_CHECKING:
    from PIL.Image import Image

_SMALL = 2400  # pixels on the longer side: more cannot be seen


@dataclass(frozen=True)
class Pixels:
    """A picture that crosses threads: rows of red, green and blue, and the size of the page that boxes mean."""

    width: int
    height: int
    data: bytes
    page: tuple[int, int]


def page_image(source: Path, number: int, turned: float = 0.0, password: str | None = None) -> Image:
    """At the size that boxes mean."""
    with closing(open_document(source, password=password)) as document:
        return rotated_page(document.page(number).image, turned)


def pixels(source: Path, number: int, turned: float, password: str | None, most: int = _SMALL) -> Pixels:
    image = page_image(source, number, turned, password)
    size = image.size
    if max(size) > most:
        image = image.copy()
        image.thumbnail((most, most))
    shown = image.convert("RGB")
    return Pixels(shown.width, shown.height, shown.tobytes(), size)
