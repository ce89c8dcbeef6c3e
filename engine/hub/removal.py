"""Taking a model out of the cache so that it can be put back for a while.

It is moved beside the others, within the same disk, and thrown away later.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.errors import ModelNotFound
from engine.hub.cache import cache_folder, files_of, find, repo_folder, whole_quants
from engine.hub.gguf_files import chosen, gguf_models
from engine.hub.naming import Named, parse

ASIDE = ".grus-removed"


@dataclass(frozen=True)
class Removed:
    """A repository that was taken out."""

    repo: str
    moved: Sequence[tuple[Path, Path]]  # from where, to where

    def restore(self) -> bool:
        """False when it is no longer there, or when its place was taken by a new download."""
        if any(not os.path.lexists(aside) or os.path.lexists(home) for home, aside in self.moved):
            return False
        for home, aside in self.moved:
            aside.rename(home)
        return True

    def purge(self) -> None:
        for _, aside in self.moved:
            if aside.is_dir():
                shutil.rmtree(aside, ignore_errors=True)
            else:
                aside.unlink(missing_ok=True)


def remove(repo: str, cache_dir: str | Path | None = None) -> Removed:
    """A whole repository, or of `owner/name:QUANT` the files of this quantization."""
    named = parse(repo)
    home = repo_folder(named.repo if named else repo, cache_dir)
    taken = _files_of_quant(home, named, cache_dir) if named and named.quant else [home] if home.is_dir() else []
    if not taken:
        raise ModelNotFound(f"{repo} is not in the cache {cache_folder(cache_dir)} any more.")
    aside = cache_folder(cache_dir) / ASIDE
    aside.mkdir(exist_ok=True)
    moved = [(path, aside / f"{path.name}.{time.time_ns()}") for path in taken]
    for path, away in moved:
        path.rename(away)
    return Removed(repo, moved)


def _files_of_quant(home: Path, named: Named, cache_dir: str | Path | None) -> list[Path]:
    """Links of the snapshot, and the blobs that they lead to."""
    snapshot = find(named.repo, named.revision, cache_dir)
    models = gguf_models(files_of(snapshot.path)) if snapshot else {}
    kind = chosen(models, named.quant)
    if snapshot is None or kind is None:
        return []
    links = [snapshot.path / name for name in models[kind]]
    blobs = [link.resolve() for link in links if link.is_symlink() and home.resolve() in link.resolve().parents]
    return [*links, *blobs]


def purge_all(cache_dir: str | Path | None = None) -> None:
    """What was taken out before, and by nobody put back."""
    shutil.rmtree(cache_folder(cache_dir) / ASIDE, ignore_errors=True)


def discard_unfinished(repo: str, cache_dir: str | Path | None = None) -> None:
    """What a download that is not wanted any more has left. A model that is whole stays."""
    named = parse(repo)
    repo = named.repo if named else repo
    snapshot = find(repo, None, cache_dir)
    folder = repo_folder(repo, cache_dir)
    if snapshot is None or not (snapshot.complete or whole_quants(snapshot.path)):
        shutil.rmtree(folder, ignore_errors=True)
        return
    for part in folder.glob("blobs/*.part"):
        part.unlink(missing_ok=True)
