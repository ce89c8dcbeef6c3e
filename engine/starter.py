"""The models that come with Grus: what they are called, and where they lie.

They are ordinary checkpoints, loaded as any other. A starter's name wins over a folder of the same name in the current
directory, so that `grus chat` means the same everywhere; such a folder is named as `./guide`.
"""

from __future__ import annotations

from pathlib import Path

import resources

GUIDE = "guide"  # answers questions about Grus, and is asked where no model is named
READER = "reader"  # reads printed text

FOLDER = Path(resources.__path__[0]) / "starter"


def starter(name: str) -> Path | None:
    """The folder of the starter that is called so; None: no starter is."""
    folder = FOLDER / name
    return folder if name in (GUIDE, READER) and folder.is_dir() else None
