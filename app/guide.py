"""The built-in Guide: the small model that answers before any other is there, where this build ships it."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "resources" / "starter" / "guide"
NAME = "Guide"


def guide() -> dict[str, str]:
    """Its name and where it lies; nothing where it is not shipped."""
    return {NAME: str(FOLDER)} if (FOLDER / "config.json").is_file() else {}
