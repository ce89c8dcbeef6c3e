"""The built-in Guide in the window: the small model that answers before any other is there."""

from __future__ import annotations

from engine.starter import GUIDE, starter

NAME = "Guide"


def guide() -> dict[str, str]:
    """Its name and where it lies; nothing where it is not shipped."""
    folder = starter(GUIDE)
    return {} if folder is None else {NAME: str(folder)}
