"""Downloads a model's files into Hugging Face's cache, with progress, and turns what goes wrong into plain sentences.

huggingface_hub says what a repository holds, `blobs` brings the bytes, into the folders that huggingface_hub uses too.
"""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

from engine.errors import DiskFull, ModelNotFound, Offline
from engine.hub import client, library, offline
from engine.hub.blobs import fetch_file
from engine.hub.cache import DEFAULT_REVISION, Snapshot, cache_folder, repo_folder
from engine.hub.failures import plainly
from engine.hub.gguf_files import gguf_models
from engine.hub.links import inside
from engine.hub.naming import Named, parse
from engine.hub.progress import Progress, size, tell_waiting
from engine.hub.selection import tokenizer_files, wanted
from engine.hub.snapshots import model_in, needs_tokenizer
from engine.hub.token import token

_WORKERS = 4
_INTERVAL = 0.1  # seconds between two reports of progress


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
    revision, folder = revision or DEFAULT_REVISION, cache_folder(cache_dir)
    with plainly(repo, revision):
        _check_online(repo)
        info = client.persistent(
            lambda: _ask(repo, revision),
            lambda sentence: tell_waiting(progress, sentence),
            lambda: _check_online(repo),
        )
        sizes = {file.rfilename: file.size or 0 for file in info.siblings or []}
        sizes = {name: sizes[name] for name in choose(list(sizes))}
        if not sizes or info.sha is None:
            raise ModelNotFound(f"{repo} holds no model files.")
        commit = str(info.sha)
        storage = repo_folder(repo, folder)
        snapshot = inside(storage / "snapshots", commit)
        _check_space(repo, storage, sum(n for name, n in sizes.items() if not (snapshot / name).exists()))

    def fetch(name: str, report: _Report) -> None:
        with plainly(repo, revision):
            fetch_file(repo, name, commit, storage, report)

    _Transfer(repo, sizes, fetch).run(progress)
    with plainly(repo, revision):
        if revision != commit:
            _point(inside(storage / "refs", revision), commit)
    return Snapshot(repo, commit, snapshot)


def _ask(repo: str, revision: str) -> Any:
    """What the repository holds."""
    address = library.endpoint()
    api = library.hub().HfApi(endpoint=address, token=token(address))
    return api.model_info(repo, revision=revision, files_metadata=True, timeout=client.PATIENCE)


def _check_online(repo: str) -> None:
    if why := offline.reason():
        raise Offline(f"{repo} is not on this machine and {why}, so it cannot be downloaded.")


class _Stopped(BaseException):
    """Ends a worker; not an Exception, so that nothing on its way takes it for a failed transfer and tries again."""


class _Transfer:
    """Several files at a time; progress is reported, and may be refused, on the caller's thread."""

    def __init__(self, repo: str, sizes: Mapping[str, int], fetch: Callable[[str, _Report], None]) -> None:
        self._repo = repo
        self._fetch = fetch
        self.sizes = sizes
        self.done = dict.fromkeys(sizes, 0)
        self.waits: dict[str, str] = {}  # by file: why it does not move
        self.stop = threading.Event()

    def run(self, progress: Progress | None) -> None:
        total, told = sum(self.sizes.values()), ""
        with ThreadPoolExecutor(_WORKERS, thread_name_prefix="download") as pool:
            try:
                waiting = {pool.submit(self._one, name) for name in self.sizes}
                while waiting:
                    ended, waiting = wait(waiting, _INTERVAL, FIRST_EXCEPTION)
                    _raise_first(ended)
                    _check_online(self._repo)  # it may have been forbidden meanwhile
                    why = next(iter(list(self.waits.values())), "")
                    if why != told:
                        told = why
                        tell_waiting(progress, why)
                    if progress:
                        progress(sum(self.done.values()), total)
            except BaseException:
                self.stop.set()
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def _one(self, name: str) -> None:
        self._fetch(name, _Report(self, name))
        self.done[name] = self.sizes[name]


class _Report:
    """What one file's worker tells the transfer."""

    def __init__(self, transfer: _Transfer, name: str) -> None:
        self._transfer, self._name = transfer, name

    def count(self, nbytes: int) -> None:
        self.check()
        self._transfer.done[self._name] = min(nbytes, self._transfer.sizes[self._name])

    def waiting(self, sentence: str) -> None:
        if sentence:
            self._transfer.waits[self._name] = sentence
        else:
            self._transfer.waits.pop(self._name, None)

    def check(self) -> None:
        if self._transfer.stop.is_set():
            raise _Stopped


def _raise_first(ended: set[Future[None]]) -> None:
    for future in ended:
        future.result()


def _point(ref: Path, commit: str) -> None:
    ref.parent.mkdir(parents=True, exist_ok=True)
    fresh = ref.with_name(f"{ref.name}.{os.getpid()}-{threading.get_ident()}")
    fresh.write_text(commit)
    fresh.replace(ref)


def _check_space(repo: str, storage: Path, needed: int) -> None:
    """What a cut-off download has brought already needs no more room."""
    needed -= sum(part.stat().st_size for part in storage.glob("blobs/*.part"))
    there = next(path for path in (storage.parent, *storage.parent.absolute().parents) if path.exists())
    free = shutil.disk_usage(there).free
    if needed > free:
        raise DiskFull(f"{repo} needs {size(needed)}, but {there} has only {size(free)} left.")
