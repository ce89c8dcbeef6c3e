"""Downloads a model's files into Hugging Face's cache, with progress, and turns what goes wrong into plain sentences.

huggingface_hub knows the hub's protocol and the cache's links, `blobs` brings the bytes.
"""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

from engine.errors import GrusError, ModelNotFound, Offline
from engine.hub import library
from engine.hub.blobs import fetch_blob
from engine.hub.cache import DEFAULT_REVISION, Snapshot, cache_folder, repo_folder
from engine.hub.gguf_files import gguf_models
from engine.hub.naming import Named, parse
from engine.hub.progress import Progress, size
from engine.hub.selection import tokenizer_files, wanted
from engine.hub.snapshots import model_in, needs_tokenizer

_WORKERS = 4
_INTERVAL = 0.1  # seconds between two reports of progress
_NETWORK_LIBRARIES = {"httpx", "httpx2", "httpcore", "requests", "urllib3"}  # which one depends on the hub's version


def offline_wanted() -> bool:
    """Whether the environment forbids the network, by the variables that huggingface_hub knows."""
    names = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
    return any(os.environ.get(name, "").upper() in {"1", "ON", "YES", "TRUE"} for name in names)


def download(
    model: str,
    revision: str | None = None,
    cache_dir: str | Path | None = None,
    progress: Progress | None = None,
    weights: str = "auto",
) -> Path:
    """Bring a repository's model files into the cache, as far as they are not there yet, and a tokenizer for a GGUF file
    that holds none. `model` may name a quantization (`owner/name-GGUF:Q8_0`), `weights` a format. Returns what is to be opened.

    The revision's name points to the new snapshot only when that is whole: a download that was cut off leaves an
    older snapshot in use.
    """
    named = parse(model)
    if named is None:
        raise ModelNotFound(f"{model!r} is not the id of a repository.")
    repo, quant = named.repo, named.quant

    def choose(names: Sequence[str]) -> list[str]:
        files = wanted(names, quant, weights)
        if not files and weights != "auto" and not quant:
            raise ModelNotFound(f"{repo} holds no {weights} weights. Leave out --format, or choose another model.")
        if not files and quant and (there := list(gguf_models(names))):
            raise ModelNotFound(f"{repo} has no {quant}. It has: {', '.join(there)}.")
        return files

    snapshot = _bring(repo, revision or named.revision, cache_dir, choose, progress)
    path = model_in(snapshot, quant, weights) or snapshot.path
    if path.is_file() and needs_tokenizer(path):
        _bring_tokenizer(named, cache_dir)
    return path


def _bring_tokenizer(named: Named, cache_dir: str | Path | None) -> None:
    """From the repository that a GGUF file was made from."""
    if named.base is None:
        raise ModelNotFound(
            f"{named.repo} holds no tokenizer, and its name, which does not end in -GGUF, tells no other repository. "
            "Put a tokenizer.json beside the file."
        )
    try:
        _bring(named.base, None, cache_dir, tokenizer_files, None)
    except ModelNotFound as error:
        raise ModelNotFound(f"{named.repo} holds no tokenizer, and {named.base} gives none: {error}") from error


def _bring(
    repo: str,
    revision: str | None,
    cache_dir: str | Path | None,
    choose: Callable[[Sequence[str]], list[str]],
    progress: Progress | None,
) -> Snapshot:
    """The files that `choose` picks of a repository's names."""
    if offline_wanted():
        raise Offline(f"{repo} is not on this machine and HF_HUB_OFFLINE is set, so it cannot be downloaded.")
    hub = library.hub()
    revision = revision or DEFAULT_REVISION
    folder = cache_folder(cache_dir)
    try:
        info = hub.HfApi().model_info(repo, revision=revision, files_metadata=True)
    except Exception as error:
        raise explained(error, repo, revision) from error
    sizes = {file.rfilename: file.size or 0 for file in info.siblings or []}
    sizes = {name: sizes[name] for name in choose(list(sizes))}
    if not sizes or info.sha is None:
        raise ModelNotFound(f"{repo} holds no model files.")
    storage = repo_folder(repo, folder)
    snapshot = storage / "snapshots" / info.sha
    _check_space(repo, folder, sum(n for name, n in sizes.items() if not (snapshot / name).exists()))

    def fetch(name: str, count: Callable[[int], None]) -> None:
        try:
            fetch_blob(repo, name, str(info.sha), storage, count)
            hub.hf_hub_download(repo, name, revision=info.sha, cache_dir=folder)  # finds the blob, and links it
        except (_Stopped, GrusError):
            raise
        except Exception as error:
            raise explained(error, repo, revision) from error

    _Transfer(sizes, fetch).run(progress)
    if revision != info.sha:
        _point(storage / "refs" / revision, info.sha)
    return Snapshot(repo, info.sha, snapshot)


class _Stopped(BaseException):
    """Ends a worker; not an Exception, so that nothing on its way takes it for a failed transfer and tries again."""


class _Transfer:
    """Several files at a time; progress is reported, and may be refused, on the caller's thread."""

    def __init__(self, sizes: Mapping[str, int], fetch: Any) -> None:
        self._sizes = sizes
        self._fetch = fetch
        self._done = dict.fromkeys(sizes, 0)
        self._stop = threading.Event()

    def run(self, progress: Progress | None) -> None:
        total = sum(self._sizes.values())
        with ThreadPoolExecutor(_WORKERS, thread_name_prefix="download") as pool:
            try:
                waiting = {pool.submit(self._one, name) for name in self._sizes}
                while waiting:
                    ended, waiting = wait(waiting, _INTERVAL, FIRST_EXCEPTION)
                    _raise_first(ended)
                    if progress:
                        progress(sum(self._done.values()), total)
            except BaseException:
                self._stop.set()
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def _one(self, name: str) -> None:
        def count(nbytes: int) -> None:
            if self._stop.is_set():
                raise _Stopped
            self._done[name] = min(nbytes, self._sizes[name])

        self._fetch(name, count)
        self._done[name] = self._sizes[name]


def _raise_first(ended: set[Future[None]]) -> None:
    for future in ended:
        future.result()


def _point(ref: Path, commit: str) -> None:
    ref.parent.mkdir(parents=True, exist_ok=True)
    fresh = ref.with_name(f"{ref.name}.{os.getpid()}")
    fresh.write_text(commit)
    fresh.replace(ref)


def _check_space(repo: str, folder: Path, needed: int) -> None:
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    free = shutil.disk_usage(there).free
    if needed > free:
        raise GrusError(f"{repo} needs {size(needed)}, but {there} has only {size(free)} left.")


def explained(error: Exception, repo: str, revision: str) -> GrusError:
    """The most special error that fits; what is no known kind keeps its own words."""
    from huggingface_hub import errors

    if isinstance(error, errors.GatedRepoError):
        return ModelNotFound(
            f"{repo} is gated. Accept its terms on https://huggingface.co/{repo}, then set HF_TOKEN to your token."
        )
    if isinstance(error, errors.RepositoryNotFoundError):
        return ModelNotFound(f"Hugging Face has no repository {repo}, or it is private and HF_TOKEN does not open it.")
    if isinstance(error, errors.RevisionNotFoundError):
        return ModelNotFound(f"{repo} has no revision {revision}.")
    if isinstance(error, errors.HFValidationError):
        return ModelNotFound(f"{repo} is not the id of a repository.")
    if isinstance(error, errors.HfHubHTTPError) and error.response is not None:
        status = error.response.status_code
        if status in (401, 403):
            return ModelNotFound(f"Hugging Face refused access to {repo} (status {status}). Check HF_TOKEN.")
        return Offline(
            f"{repo} is not on this machine, and Hugging Face answered with status {status}. Try again later."
        )
    if _is_network(error):
        return Offline(f"{repo} is not on this machine and Hugging Face cannot be reached. Check the network.")
    return GrusError(f"{repo} could not be downloaded: {error}")


def _is_network(error: BaseException | None) -> bool:
    while error is not None:
        library = type(error).__module__.partition(".")[0]
        if library in _NETWORK_LIBRARIES or isinstance(error, (ConnectionError, TimeoutError)):
            return True
        error = error.__cause__ or error.__context__
    return False
