"""From a snapshot's file name to the blob that holds its content, laid out as huggingface_hub does.

Where a system or a disk has no links (Windows without the developer mode, exFAT), the snapshot gets a copy.
"""

from __future__ import annotations

import os
import shutil
import threading
from pathlib import Path

from engine.errors import GrusError


def inside(folder: Path, name: str) -> Path:
    """`folder`/`name`. A hub's name must not lead out of the folder."""
    parts = name.replace("\\", "/").split("/")
    if not name or any(part in ("", ".", "..") for part in parts) or ":" in parts[0]:
        raise GrusError(f"The hub names a file {name[:100]!r}, which is no name inside a repository.")
    return folder.joinpath(*parts)


def link(blob: Path, name: Path) -> None:
    """Make `name` stand for `blob`, in one step: another process may do the same."""
    name.parent.mkdir(parents=True, exist_ok=True)
    fresh = name.with_name(f".{name.name}.{os.getpid()}-{threading.get_ident()}")
    try:
        try:
            fresh.symlink_to(os.path.relpath(blob, name.parent))
        except (OSError, NotImplementedError):
            shutil.copyfile(blob, fresh)
        fresh.replace(name)
    finally:
        fresh.unlink(missing_ok=True)
