"""Taking a model out of the cache so that it can be put back for a while.

It is moved beside the others, within the same disk, and thrown away later.
"""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass
from pathlib import Path

from engine.errors import ModelNotFound
from engine.hub.cache import cache_folder, find, repo_folder

ASIDE = ".grus-removed"


@dataclass(frozen=True)
class Removed:
    """A repository that was taken out."""

    repo: str
    home: Path
    aside: Path

    def restore(self) -> bool:
        """False when it is no longer there, or when its place was taken by a new download."""
        if not self.aside.exists() or self.home.exists():
            return False
        self.aside.rename(self.home)
        return True

    def purge(self) -> None:
        shutil.rmtree(self.aside, ignore_errors=True)


def remove(repo: str, cache_dir: str | Path | None = None) -> Removed:
    home = repo_folder(repo, cache_dir)
    if not home.is_dir():
        raise ModelNotFound(f"{repo} is not in the cache {cache_folder(cache_dir)} any more.")
    aside = cache_folder(cache_dir) / ASIDE / f"{home.name}.{time.time_ns()}"
    aside.parent.mkdir(exist_ok=True)
    home.rename(aside)
    return Removed(repo, home, aside)


def purge_all(cache_dir: str | Path | None = None) -> None:
    """What was taken out before, and by nobody put back."""
    shutil.rmtree(cache_folder(cache_dir) / ASIDE, ignore_errors=True)


def discard_unfinished(repo: str, cache_dir: str | Path | None = None) -> None:
    """What a download that is not wanted any more has left. A model that is whole stays."""
    snapshot = find(repo, None, cache_dir)
    folder = repo_folder(repo, cache_dir)
    if snapshot is None or not snapshot.complete:
        shutil.rmtree(folder, ignore_errors=True)
        return
    for part in folder.glob("blobs/*.part"):
        part.unlink(missing_ok=True)
