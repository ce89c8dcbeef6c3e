"""Downloads a model's files into Hugging Face's cache, with progress, and turns what goes wrong into plain sentences.

huggingface_hub says what a repository holds; `fetch_file` brings the bytes, into the folders that huggingface_hub uses too.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Protocol, TextIO, TypeAlias

from engine.errors import DiskFull, ErrorText, GrusError, ModelNotFound, Offline
from engine.file_lock import exclusive
from engine.hub import client, library, offline
from engine.hub.cache import (
    ADAPTER,
    ADAPTER_WEIGHTS,
    DEFAULT_REVISION,
    WEIGHT_KINDS,
    Named,
    Snapshot,
    cache_folder,
    chosen,
    gguf_models,
    inside,
    link,
    model_in,
    needs_tokenizer,
    parse,
    repo_folder,
)
from engine.hub.client import FileFacts, plainly
from engine.hub.token import token
from engine.weights.chatterbox_files import FILES as PARTS
from engine.weights.chatterbox_files import NEEDED as CHATTERBOX
from engine.weights.gguf.mmproj_files import by_preference

# -- a download's progress: the callback's type, what stands in the way of one, and a bar for the terminal

Progress: TypeAlias = Callable[[int, int], None]  # (bytes done, bytes in all); raising from it ends the download

_WIDTH = 30


def report_waiting(progress: Progress | None, sentence: str) -> None:
    """Report why a download waits, to a progress that has a method `waiting(sentence)`. An empty sentence: it continues."""
    waiting = getattr(progress, "waiting", None)
    if waiting is not None:
        waiting(sentence)


class TerminalBar:
    """Draws one line again and again on a terminal; elsewhere (a log file) prints one line a tenth."""

    def __init__(self, label: str, stream: TextIO | None = None) -> None:
        self._label = label
        self._stream = stream or sys.stderr
        self._started = time.monotonic()
        self._drawn = 0.0
        self._tenth = -1
        self._first: int | None = None  # bytes that were there before this download

    def __call__(self, done: int, total: int) -> None:
        if self._first is None:
            self._first = done
        now = time.monotonic()
        ended = done >= total
        if self._stream.isatty():
            if ended or now - self._drawn >= _INTERVAL:
                self._drawn = now
                self._stream.write("\r\x1b[K" + self._line(done, total, now) + ("\n" if ended else ""))
                self._stream.flush()
        elif (tenth := 10 * done // max(total, 1)) > self._tenth:
            self._tenth = tenth
            self._stream.write(self._line(done, total, now) + "\n")
            self._stream.flush()

    def waiting(self, sentence: str) -> None:
        """Between two drawings of the bar."""
        if sentence:
            self._stream.write(("\r\x1b[K" if self._stream.isatty() else "") + sentence + "\n")
            self._stream.flush()

    def _line(self, done: int, total: int, now: float) -> str:
        share = done / total if total else 1.0
        bar = "#" * int(share * _WIDTH)
        rate = (done - (self._first or 0)) / max(now - self._started, 1e-3)
        left = f", {clock((total - done) / rate)} left" if rate > 0 and done < total else ""
        return f"{self._label} [{bar:.<{_WIDTH}}] {share:4.0%} of {size(total)}, {size(rate)}/s{left}"


def size(n: float) -> str:
    """`1234567` -> `1.2 MB`"""
    for unit in ("B", "kB", "MB", "GB"):
        if n < 999.5:
            return f"{n:.0f} {unit}" if unit == "B" else f"{n:.1f} {unit}"
        n /= 1000
    return f"{n:.1f} TB"


def clock(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


# -- one file of a repository into the cache's blobs: resumes where it was cut off, and is checked before it counts
#
# huggingface_hub begins a cut-off file anew; of a model of 20 GB that is a day on a slow line. So the bytes are fetched
# here, into a part that keeps. A lock lets one download at a time write a part, also between processes; another one waits
# and finds the whole file.

_CHUNK = 1 << 20
_SHA256 = re.compile(r"[0-9a-f]{64}")  # the hub's tag of a large file; of a small one it is git's
_SHA1 = re.compile(r"[0-9a-f]{40}")
_TAG = re.compile(r"[\w-][\w.-]{0,199}", re.ASCII)  # it becomes a file's name


class Damaged(GrusError):
    """A file is not what the hub says it is."""

    code = "damaged_download"


class FileReport(Protocol):
    """Who hears of one file's download. Raising from any of these ends it and keeps its part."""

    def count(self, nbytes: int) -> None:
        """So much of the file is here."""

    def waiting(self, sentence: str) -> None:
        """Why nothing arrives; empty when data arrives."""

    def check(self) -> None:
        """Called now and then while nothing arrives."""


def fetch_file(repo: str, name: str, commit: str, storage: Path, report: FileReport) -> None:
    """Bring one file into `storage/blobs` and link it into the snapshot.

    A connection that breaks is taken up again for as long as attempts bring something.
    """
    place = inside(storage / "snapshots" / commit, name)
    if place.exists():
        return
    url = client.file_url(repo, name, commit)
    facts = client.persistent(lambda: client.file_facts(url), report.waiting, report.check)
    if not _TAG.fullmatch(facts.etag):
        raise GrusError(ErrorText("The hub does not say which version of {name} it has. Try again later.", name=name))
    blob = storage / "blobs" / facts.etag
    if not blob.exists():
        part = blob.with_name(f"{facts.etag}.part")
        lock = storage.parent / ".locks" / storage.name / f"{facts.etag}.part.lock"

        def waiting() -> None:
            report.waiting(f"Another download of {repo} is under way. Waiting for it, to share what it brings.")
            report.count(_size(part) or _size(blob))

        with exclusive(lock, waiting):
            report.waiting("")
            if not blob.exists():
                _fetch_whole(url, name, blob, part, facts, report)
    link(blob, place)


def _fetch_whole(url: str, name: str, blob: Path, part: Path, facts: FileFacts, report: FileReport) -> None:
    """A part of an earlier download that turns out damaged is fetched once more from its beginning."""
    part.parent.mkdir(parents=True, exist_ok=True)
    resumed = _size(part) > 0
    while True:
        _fetch_rest(url, part, facts.size, report)
        if facts.size in (None, _size(part)) and matches(part, facts.etag):
            part.replace(blob)
            return
        part.unlink()
        if not resumed:
            raise Damaged(
                f"{name} arrived damaged: its checksum is not the hub's. It was thrown away; download it again."
            )
        resumed = False


def _fetch_rest(url: str, part: Path, size: int | None, report: FileReport) -> None:
    """Attempts that bring nothing are counted; one that brings something begins the count anew."""
    fruitless = 0
    while True:
        before = _size(part)
        try:
            _append(url, part, size, report)
            return
        except Exception as error:
            fruitless = 0 if _size(part) > before else fruitless + 1
            pause = client.pause_for(error, max(0, fruitless - 1), unreachable=True)
            if pause is None:
                raise
            client.rest_for(error, pause if fruitless else 0.0, report.waiting, report.check)


def matches(file: Path, tag: str) -> bool:
    """Whether a blob's content has the checksum that its name says. Other names say nothing, and pass."""
    if _SHA256.fullmatch(tag):
        digest = hashlib.sha256()
    elif _SHA1.fullmatch(tag):
        digest = hashlib.sha1(b"blob %d\0" % file.stat().st_size, usedforsecurity=False)
    else:
        return True
    with file.open("rb") as stream:
        while piece := stream.read(_CHUNK):
            digest.update(piece)
    return digest.hexdigest() == tag


def damaged_files(snapshot: Path) -> list[str]:
    """Files of a cached snapshot whose content is not what the hub gave them as a checksum."""
    files = sorted(entry for entry in snapshot.rglob("*") if entry.is_file())
    return [file.relative_to(snapshot).as_posix() for file in files if not matches(file.resolve(), file.resolve().name)]


def _append(url: str, part: Path, size: int | None, report: FileReport) -> None:
    """The rest of a file behind what is there."""
    there = _size(part)
    if size is not None and there >= size > 0:
        report.count(there)
        return
    with client.opened(url, {"Range": f"bytes={there}-"} if there else {}) as response:
        resumed = response.status_code == 206
        with part.open("ab" if resumed else "wb") as stream:
            done = there if resumed else 0
            report.count(done)
            for piece in response.iter_bytes():  # as it comes, so that a break loses nothing
                stream.write(piece)
                done += len(piece)
                report.count(done)


def _size(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0


# -- which files of a repository are needed to run its model: settings, tokenizer, and one copy of the weights

_SETTINGS = ("*.json", "*.yaml", "*.jinja", "*.txt", "*.model", "*.tiktoken")
_VOICES = "voices/*"  # of Kokoro, a file each, which may end as weights do
_NEVER = ("original/*", "onnx/*", "openvino/*", ".*", "*/.*", "training_args.bin", "optimizer.*", "*_optimizer.*")
_TOKENIZER = (
    "tokenizer*.json", "tekken.json", "*.model", "vocab.*", "merges.txt", "special_tokens_map.json", "added_tokens.json",
    "chat_template*", "generation_config.json",
)  # fmt: skip


def wanted(names: Iterable[str], quant: str | None = None, kind: str = "auto") -> list[str]:
    """The files to download, in the repository's order; nothing where it has none of what is asked for. `quant`: of its
    GGUF models this one. `kind`: weights in this format, `safetensors` or `gguf`."""
    names = [name for name in names if not any(fnmatchcase(name, pattern) for pattern in _NEVER)]
    if ADAPTER in names and "config.json" not in names:
        return [ADAPTER, *[name for name in ADAPTER_WEIGHTS if name in names][:1]]
    if PARTS.keys() <= set(names) and "config.json" not in names and kind in ("auto", "safetensors") and not quant:
        return [name for name in names if name in CHATTERBOX]  # its repository holds other models of its authors too
    picked = {name for name in names if any(fnmatchcase(name, pattern) for pattern in (*_SETTINGS, _VOICES))}
    names, all_names = [name for name in names if not fnmatchcase(name, _VOICES)], names
    weights = _gguf(names, quant) if quant else _weights(names, WEIGHT_KINDS if kind == "auto" else (f".{kind}",))
    if (quant or kind != "auto") and not weights:
        return []
    picked.update(weights)
    if weights and weights[0].endswith(".gguf"):
        picked.update(by_preference(names, weights[0])[:1])
    for folder in _models_beside(names) if not quant else []:
        if not any(name in picked and name.endswith(WEIGHT_KINDS) and _folder(name) == folder for name in names):
            picked.update(_weights([name for name in names if _folder(name) == folder]))
    return [name for name in all_names if name in picked]


def tokenizer_files(names: Iterable[str]) -> list[str]:
    """Of a repository's files those that turn text into tokens and conversations into text."""
    return [name for name in names if any(fnmatchcase(name, pattern) for pattern in _TOKENIZER)]


def _models_beside(names: list[str]) -> list[str]:
    """Folders that hold a model of their own, such as what hears for a model that speaks: it may be stored otherwise."""
    return [_folder(name) for name in names if name.endswith("/config.json")]


def _folder(name: str) -> str:
    return name.rpartition("/")[0]


def _weights(names: list[str], kinds: tuple[str, ...] = WEIGHT_KINDS) -> list[str]:
    for kind in kinds:
        if weights := [name for name in names if name.endswith(kind)]:
            return _one_copy(weights)
    return []


def _one_copy(weights: list[str]) -> list[str]:
    if weights[0].endswith(".gguf"):
        return _gguf(weights) or weights
    if any(name.startswith("model") for name in weights):
        return [name for name in weights if not name.startswith("consolidated")]  # the same weights, other names
    return weights


def _gguf(names: list[str], quant: str | None = None) -> list[str]:
    models = gguf_models(names)
    kind = chosen(models, quant)
    return models[kind] if kind else []


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
        raise ModelNotFound(ErrorText("{model} is not the id of a repository.", model=repr(model)))
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
            ErrorText(
                "{repo} holds no tokenizer, and its name, which does not end in -GGUF, tells no other "
                "repository. Put a tokenizer.json beside the file.",
                repo=named.repo,
            )
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
            lambda sentence: report_waiting(progress, sentence),
            lambda: _check_online(repo),
        )
        sizes = {file.rfilename: file.size or 0 for file in info.siblings or []}
        sizes = {name: sizes[name] for name in choose(list(sizes))}
        if not sizes or info.sha is None:
            raise ModelNotFound(ErrorText("{repo} holds no model files.", repo=repo))
        commit = str(info.sha)
        storage = repo_folder(repo, folder)
        snapshot = inside(storage / "snapshots", commit)
        missing = [name for name in sizes if not inside(snapshot, name).exists()]  # a bad name ends it before any byte
        _check_space(repo, storage, sum(sizes[name] for name in missing))

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
        raise Offline(
            ErrorText("{repo} is not on this machine and {why}, so it cannot be downloaded.", repo=repo, why=why)
        )


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
        total, reported = sum(self.sizes.values()), ""
        with ThreadPoolExecutor(_WORKERS, thread_name_prefix="download") as pool:
            try:
                waiting = {pool.submit(self._one, name) for name in self.sizes}
                while waiting:
                    ended, waiting = wait(waiting, _INTERVAL, FIRST_EXCEPTION)
                    _raise_first(ended)
                    _check_online(self._repo)  # it may have been forbidden meanwhile
                    why = next(iter(list(self.waits.values())), "")
                    if why != reported:
                        reported = why
                        report_waiting(progress, why)
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
    """What one file's worker reports to the transfer."""

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
        raise DiskFull(
            ErrorText(
                "{repo} needs {needed}, but {there} has only {free} left.",
                repo=repo,
                needed=size(needed),
                there=there,
                free=size(free),
            )
        )
