"""Files that are there whole or not at all, and pages turned as they were read."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from engine.errors import BadRequest

if TYPE_CHECKING:
    from PIL.Image import Image


def replace_file(path: Path, data: bytes) -> None:
    """Write beside it, then take its place: whoever looks sees the old file or the new one."""
    part = path.with_name(f".{path.name}.part")
    try:
        with part.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except OSError as error:
        with suppress(OSError):
            part.unlink()
        raise BadRequest(f"{path} cannot be written: {error.strerror or error}.", "out") from error


def paper_colour(page: Image) -> tuple[int, int, int]:
    """What fills the corners of a page that is turned."""
    import numpy as np

    small = np.asarray(page.convert("RGB").resize((64, 64))).reshape(-1, 3)
    red, green, blue = (int(value) for value in np.median(small, axis=0))
    return red, green, blue


def turned_image(page: Image, degrees: float) -> Image:
    """Counterclockwise, grown so that no corner is lost."""
    if not degrees:
        return page
    from PIL.Image import Resampling

    return page.rotate(degrees, expand=True, fillcolor=paper_colour(page), resample=Resampling.BICUBIC)
