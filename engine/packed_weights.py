"""Packed weights that are kept on disk, one file a model.

While a model is loaded on a CPU, 16-bit weights are quantized, and those in MLX's layout and a mixture's experts are packed for the kernels. That
takes longer than all else, and comes out the same each time. So it is done once: the next time the packed matrices are mapped (see
`backends/torch/kernels/packed_file.py`). What a GGUF file can be used from as it lies is not kept: its first token waits for nothing.

Files are of what they were made from: the weights' files as they are now, how they are read, and the code that packs. A file whose weights have
changed or gone, or that was not used for a month, is deleted; beyond the limit the one that was not used for longest.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import engine.weights
from backends.base import Backend
from backends.packed_file import PART, PackedPlace, sources_of
from engine.load_options import LoadOptions
from engine.model_files import ModelFiles
from engine.types import memory_limit
from engine.weights.lora import LoraFiles
from engine.weights.portions import ALONE, Rank

SUFFIX = ".packed"
LEFT_FREE = 5 << 30  # bytes of the disk that are never taken
UNUSED = 30 * 86400.0  # seconds after which a file is deleted
_HALF_WRITTEN = 3600.0  # seconds after which a part of a file belongs to nobody

log = logging.getLogger("grus.engine")


@contextmanager
def packed_weights(
    name: str,
    opened: ModelFiles,
    backend: Backend,
    options: LoadOptions,
    merged: Sequence[LoraFiles] = (),
    rank: Rank = ALONE,
    piece: str = "",
) -> Iterator[None]:
    """In the block a model is built by `backend`: from what was packed before, where that is kept. What has to be packed is kept after it."""
    place = None
    if options.packed_folder is not None:
        folder, limit = Path(options.packed_folder), memory_limit(options.packed_limit, 0)
        tidy(folder)
        place = _place(name, folder, limit, opened, backend, options.quant, merged, rank, piece)
    if place is None:
        yield
        return
    backend.open_packed(place)
    yield
    backend.keep_packed()


def _place(
    name: str,
    folder: Path,
    limit: int,
    opened: ModelFiles,
    backend: Backend,
    quant: str,
    merged: Sequence[LoraFiles],
    rank: Rank,
    piece: str,
) -> PackedPlace | None:
    sources = sorted({raw.path for raw in opened.tensors.values()})
    try:
        found = [(str(Path(path).resolve()), *_state(path)) for path in sources]
    except OSError:  # a tensor of no file
        return None
    how = [backend.dtype, quant, piece, rank.index, rank.count, _code(), dict(opened.config), found]
    how.append([files.digest for files in merged])
    key = hashlib.sha256(json.dumps(how, default=str, sort_keys=True).encode()).hexdigest()
    words = re.sub(r"[^\w.-]+", "-", name)[-80:].strip("-.")  # for people who look into the folder
    return PackedPlace(folder / f"{words}-{key[:16]}{SUFFIX}", key, found, partial(make_room, folder, limit))


def _state(path: str) -> tuple[int, int]:
    stat = Path(path).stat()
    return stat.st_size, stat.st_mtime_ns


@cache
def _code() -> str:
    """A hash of the code that makes tensors from files. A bundle has no sources: there it is the version's."""
    try:
        digest = hashlib.sha256(version("grus").encode())
    except PackageNotFoundError:  # a folder that was not installed
        digest = hashlib.sha256()
    for path in sorted(Path(engine.weights.__path__[0]).rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def make_room(folder: Path, limit: int, nbytes: int) -> bool:
    """Delete what is of no use any more, and what was not used for longest until so many bytes have room. False: they never have."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        log.warning("Packed weights cannot be kept in %s: %s.", folder, error.strerror or error)
        return False
    tidy(folder)
    kept = sorted(_files(folder), key=lambda pair: pair[1])
    held = sum(size for _, _, size in kept)
    free = shutil.disk_usage(folder).free - LEFT_FREE
    if nbytes > min(limit, free + held):
        return False
    for path, _, size in kept:
        if held + nbytes <= limit and nbytes <= free:
            break
        with suppress(OSError):
            path.unlink()
            held, free = held - size, free + size
    return held + nbytes <= limit and nbytes <= free


def tidy(folder: Path) -> None:
    """Delete files whose weights have changed or gone, and that nobody has used for long."""
    now = time.time()
    for path, used, _ in _files(folder):
        if now - used > UNUSED or not all(_same(*source) for source in sources_of(path) or ((str(path), -1, -1),)):
            with suppress(OSError):  # it is in use, on Windows
                path.unlink()
    for part in folder.glob(f"*{PART}"):
        with suppress(OSError):
            if now - part.stat().st_mtime > _HALF_WRITTEN:
                part.unlink()


def _same(path: str, size: int, time_ns: int) -> bool:
    try:
        return _state(path) == (size, time_ns)
    except OSError:
        return False


def _files(folder: Path) -> list[tuple[Path, float, int]]:
    """Each file, when it was last used, and its size."""
    found = []
    for path in folder.glob(f"*{SUFFIX}"):
        with suppress(OSError):
            stat = path.stat()
            found.append((path, stat.st_mtime, stat.st_size))
    return found
