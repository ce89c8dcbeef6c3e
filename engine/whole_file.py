"""Files that appear when they are complete: a full disk or a crash leaves what was there before, and never a part."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def whole_file(target: Path) -> Iterator[Path]:
    """Where to write: a file beside `target` that takes its place, and its permissions, when the block has ended.

    A link's target is replaced, not the link. A pipe or a device is written to as it is.
    """
    place = Path(os.path.realpath(target))
    if place.exists() and not place.is_file():
        yield place
        return
    part = place.with_name(f".{place.name}.part")
    try:
        yield part
        with contextlib.suppress(FileNotFoundError):
            shutil.copymode(place, part)
        os.replace(part, place)
    finally:
        with contextlib.suppress(OSError):
            part.unlink()
