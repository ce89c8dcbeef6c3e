"""From what a person types to a folder or file: a path, a model that comes with Grus or that another application has, or the
name of a repository that is cached or can be downloaded.
"""

from __future__ import annotations

from pathlib import Path

from engine.errors import BadRequest, ModelNotFound, Offline
from engine.hub.cache import Snapshot, cache_folder, find, whole_quants
from engine.hub.download import download as fetch
from engine.hub.gguf_files import file_in
from engine.hub.naming import parse
from engine.hub.other_apps import app_model
from engine.hub.progress import Progress
from engine.hub.snapshots import model_in, needs_tokenizer
from engine.starter import GUIDE, starter


def resolve(
    model: str,
    cache_dir: str | Path | None = None,
    download: bool = True,
    progress: Progress | None = None,
    weights: str = "auto",
) -> Path:
    """A starter by its name; a folder or file as it is; a folder's GGUF file as `FOLDER:PART` of its name;
    `owner/name[@revision][:QUANT]` from the cache, else downloaded.

    A model that is whole in the cache is used without asking the network. Of GGUF files, the path of one is returned.
    `weights`: of a repository with both, those in this format (`safetensors`, `gguf`).
    """
    own = starter(model)
    if own is not None:
        return own
    path = Path(model).expanduser()
    if model and path.exists():
        return path
    folder, _, part = model.rpartition(":")
    if part and folder and (place := Path(folder).expanduser()).is_dir():
        _agree(model, weights)
        return file_in(place, part)
    named = parse(model)
    if (other := app_model(model)) is not None and (named is None or not _is_cached(model, cache_dir, weights)):
        return other.path
    if named is None:
        raise ModelNotFound(
            f"{model!r} is neither a folder or file here, nor a repository id like owner/name, owner/name@revision or "
            f"owner/name-GGUF:Q8_0, nor a folder's GGUF file like ./folder:Q8_0. The model that comes with Grus is called {GUIDE}."
        )
    if named.quant:
        _agree(model, weights)
    snapshot = find(named.repo, named.revision, cache_dir)
    # what may be another than the one that is meant is taken only where the hub cannot be asked
    here = model_in(snapshot, named.quant, weights, loosely=not download) if snapshot is not None else None
    if here is not None and not (download and here.is_file() and needs_tokenizer(here)):
        return here
    if not download:
        raise ModelNotFound(
            f"{model} is not here: there is no such folder or file, and {_cached(snapshot, cache_dir)}."
        )
    try:
        return fetch(model, named.revision, cache_dir, progress, weights)
    except Offline as error:
        if snapshot is None:
            raise
        if here is None and (near := model_in(snapshot, named.quant, weights)) is not None:
            return near
        raise Offline(f"{error} Besides, {_cached(snapshot, cache_dir)}.") from error


def _is_cached(model: str, cache_dir: str | Path | None, weights: str) -> bool:
    """Whether the cache has this model, whole: then another application's copy is not needed."""
    named = parse(model)
    snapshot = find(named.repo, named.revision, cache_dir) if named else None
    return named is not None and snapshot is not None and model_in(snapshot, named.quant, weights) is not None


def _agree(model: str, weights: str) -> None:
    if weights not in ("auto", "gguf"):
        raise BadRequest(f"{model} names a GGUF file, which has no {weights} weights.", "format")


def _cached(snapshot: Snapshot | None, cache_dir: str | Path | None) -> str:
    if snapshot is None:
        return f"the cache {cache_folder(cache_dir)} does not have it"
    if snapshot.complete:
        quants = ", ".join(whole_quants(snapshot.path))
        return f"the cached copy in {snapshot.path} " + (f"has only {quants}" if quants else "has no GGUF files")
    names = ", ".join(snapshot.missing[:5]) + (", ..." if len(snapshot.missing) > 5 else "")
    return f"the cached copy in {snapshot.path} lacks {names}"
