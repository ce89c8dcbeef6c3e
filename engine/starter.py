"""The starter models that ship with Grus, their names and folders, and a sample page; and the system's own voices, a model without weights.

They are ordinary checkpoints, loaded as any other. A starter's name wins over a folder of the same name in the current
directory, so that `grus chat` means the same everywhere; such a folder is named as `./guide`.
"""

from __future__ import annotations

from pathlib import Path

import resources
from engine.media.system_speech import can_speak

GUIDE = "guide"  # answers questions about Grus; the default chat model
READER = "reader"  # reads printed text; the default model for pages
SYSTEM = "system"  # the voices of the operating system, where it has a program for them

FOLDER = resources.path("starter")
PAGE = FOLDER / "page.png"  # a sample page; its text is beside it


def starters() -> dict[str, str]:
    """Names and folders of the starters that are present."""
    return {name: str(folder) for name in (GUIDE, READER, SYSTEM) if (folder := starter(name)) is not None}


def starter(name: str) -> Path | None:
    """The folder of a starter by name; None when it is not a starter."""
    if name == SYSTEM:
        return FOLDER.with_name("system_voice") if can_speak() else None
    folder = FOLDER / name
    return folder if name in (GUIDE, READER) and (folder / "config.json").is_file() else None
