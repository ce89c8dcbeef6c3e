"""What comes with Grus to be used at once: two models, what they are called and where they lie, and a page to read.

They are ordinary checkpoints, loaded as any other. A starter's name wins over a folder of the same name in the current
directory, so that `grus chat` means the same everywhere; such a folder is named as `./guide`.
"""

from __future__ import annotations

from pathlib import Path

import resources

GUIDE = "guide"  # answers questions about Grus, and is asked where no model is named
READER = "reader"  # reads printed text, and is asked where no model for pages is named

FOLDER = Path(resources.__path__[0]) / "starter"
PAGE = FOLDER / "page.png"  # for who has none at hand; what stands on it is beside it


def starters() -> dict[str, str]:
    """Names and folders of those that are here."""
    return {name: str(folder) for name in (GUIDE, READER) if (folder := starter(name)) is not None}


def starter(name: str) -> Path | None:
    """The folder of the starter that is called so; None: no starter is."""
    folder = FOLDER / name
    return folder if name in (GUIDE, READER) and (folder / "config.json").is_file() else None
