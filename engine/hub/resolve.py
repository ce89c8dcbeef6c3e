"""From what a person types to a folder or file: a path, a model that comes with Grus, or a repository id that is cached
or can be downloaded.
"""

from __future__ import annotations

from pathlib import Path

from engine.errors import ModelNotFound, Offline
from engine.hub.cache import REPO_ID, Snapshot, cache_folder, find
from engine.hub.download import download as fetch
from engine.hub.progress import Progress
from engine.starter import GUIDE, starter


def resolve(
    model: str, cache_dir: str | Path | None = None, download: bool = True, progress: Progress | None = None
) -> Path:
    """A starter by its name; a folder or file as it is; `owner/name[@revision]` from the cache, else downloaded.

    A model that is whole in the cache is used without asking the network.
    """
    own = starter(model)
    if own is not None:
        return own
    path = Path(model).expanduser()
    if model and path.exists():
        return path
    repo, at, revision = model.partition("@")
    if not REPO_ID.fullmatch(repo) or (at and not revision):
        raise ModelNotFound(
            f"{model!r} is neither a folder or file here, nor a repository id like owner/name or owner/name@revision. "
            f"The model that comes with Grus is called {GUIDE}."
        )
    snapshot = find(repo, revision or None, cache_dir)
    if snapshot is not None and snapshot.complete:
        return snapshot.path
    if not download:
        raise ModelNotFound(
            f"{model} is not here: there is no such folder or file, and {_cached(snapshot, cache_dir)}."
        )
    try:
        return fetch(repo, revision or None, cache_dir, progress)
    except Offline as error:
        if snapshot is None:
            raise
        raise Offline(f"{error} Besides, {_cached(snapshot, cache_dir)}.") from error


def _cached(snapshot: Snapshot | None, cache_dir: str | Path | None) -> str:
    if snapshot is None:
        return f"the cache {cache_folder(cache_dir)} does not have it"
    names = ", ".join(snapshot.missing[:5]) + (", ..." if len(snapshot.missing) > 5 else "")
    return f"the cached copy in {snapshot.path} lacks {names}"
