"""Weights in torch's own zip files (`pytorch_model.bin`), read without torch and without running what they hold.

The archive stores each tensor's bytes uncompressed, so they are mapped like any other file; its pickle says where each
tensor lies. A pickle can name any function of the machine: this one may name the four that rebuild tensors, and those are
replaced by ours. Anything else is refused.
"""

from __future__ import annotations

import io
import math
import mmap
import pickle
import zipfile
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from backends.base import Raw
from engine.errors import WeightsError
from engine.weights.made import Made

_STORAGES = {
    "FloatStorage": ("F32", 4),
    "HalfStorage": ("F16", 2),
    "BFloat16Storage": ("BF16", 2),
    "LongStorage": ("I64", 8),
    "IntStorage": ("I32", 4),
    "DoubleStorage": ("F64", 8),
}
_DEEPEST = 3  # of dictionaries in dictionaries
_LARGEST = 64 << 20  # bytes of the pickle, which has about a hundred for each tensor


@dataclass(frozen=True)
class _Storage:
    dtype: str
    width: int
    key: str


@dataclass(frozen=True)
class _Tensor:
    storage: _Storage
    offset: int
    shape: tuple[int, ...]
    steps: tuple[int, ...] | None = None  # numbers from one to the next of each axis, where it is stored transposed


def _rebuild(storage: _Storage, offset: int, size: Sequence[int], stride: Sequence[int], *_: Any) -> _Tensor:
    expected, step = [], 1
    for n in reversed(size):
        expected.append(step)
        step *= n
    if any(n > 1 and given != wanted for n, given, wanted in zip(size, stride, reversed(expected))):
        if len(stride) != len(size) or min(stride) < 0:
            raise WeightsError("A tensor's axes are damaged.")
        return _Tensor(storage, offset, tuple(size), tuple(stride))
    return _Tensor(storage, offset, tuple(size))


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return _rebuild
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        if module == "torch" and name in _STORAGES:
            return name
        raise WeightsError(f"It wants to run {module}.{name}, which weights have no need of. It was not opened.")

    def persistent_load(self, pid: Any) -> _Storage:
        if not (isinstance(pid, tuple) and len(pid) >= 3 and pid[0] == "storage" and pid[1] in _STORAGES):
            raise WeightsError("It holds something that is no tensor.")
        dtype, width = _STORAGES[pid[1]]
        return _Storage(dtype, width, str(pid[2]))


def read_pickled(path: Path) -> dict[str, Raw]:
    """Every tensor of the file. Raises WeightsError for what is damaged, or would run code."""
    try:
        with zipfile.ZipFile(path) as archive, path.open("rb") as file:
            return _read(path, archive, memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)))
    except WeightsError as error:
        raise WeightsError(f"{path}: {error}") from None
    except (zipfile.BadZipFile, pickle.UnpicklingError, EOFError, ValueError, KeyError, TypeError, IndexError, OSError,
            AttributeError, MemoryError) as error:  # fmt: skip
        raise WeightsError(f"{path} is not a file of weights, or it is damaged ({type(error).__name__}).") from None


def _read(path: Path, archive: zipfile.ZipFile, whole: memoryview) -> dict[str, Raw]:
    pickles = [name for name in archive.namelist() if name.endswith("/data.pkl")]
    if len(pickles) != 1:
        raise WeightsError("it is not a file of weights.")
    root = pickles[0].removesuffix("data.pkl")
    state = _Reader(io.BytesIO(_unpacked(archive, pickles[0]))).load()
    if isinstance(state, _Tensor):  # a single one, without a name
        state = {"": state}
    if not isinstance(state, dict):
        raise WeightsError("it holds no named tensors.")
    return {name: _raw(path, archive, whole, root, name, tensor) for name, tensor in _flat("", state, 0)}


def _flat(prefix: str, state: dict[Any, Any], depth: int) -> Iterator[tuple[str, Any]]:
    """The tensors of parts that were saved each by itself, under the part's name and their own."""
    if depth > _DEEPEST:
        raise WeightsError("its names are nested too deep.")
    for name, value in state.items():
        if isinstance(value, dict):
            yield from _flat(f"{prefix}{name}.", value, depth + 1)
        elif value is not None:  # a part that was left out
            yield f"{prefix}{name}", value


def _unpacked(archive: zipfile.ZipFile, name: str) -> bytes:
    """The pickle's bytes. torch stores them as they are, but a stranger may have packed a bomb."""
    import pickletools

    with archive.open(name) as file:
        data = file.read(_LARGEST + 1)
    if len(data) > _LARGEST:
        raise WeightsError(f"its list of tensors is larger than {_LARGEST >> 20} MiB.")
    for code, value, _ in pickletools.genops(data):
        if code.name in ("PUT", "LONG_BINPUT") and int(value or 0) > len(
            data
        ):  # Python makes room for as many before it
            raise WeightsError("its list of tensors is damaged.")
    return data


def _raw(path: Path, archive: zipfile.ZipFile, whole: memoryview, root: str, name: str, tensor: Any) -> Raw:
    if not isinstance(tensor, _Tensor):
        raise WeightsError(f"{name} is no tensor.")
    info = archive.getinfo(f"{root}data/{tensor.storage.key}")
    if info.compress_type != zipfile.ZIP_STORED:
        raise WeightsError(f"{name} is compressed, which is not read.")
    local = info.header_offset
    begin = local + 30 + int.from_bytes(whole[local + 26 : local + 28], "little")
    begin += int.from_bytes(whole[local + 28 : local + 30], "little")
    steps, width = tensor.steps, tensor.storage.width
    reach = math.prod(tensor.shape)
    if steps is not None and reach:
        reach = 1 + sum((n - 1) * step for n, step in zip(tensor.shape, steps))
    size = reach * width
    start = tensor.offset * width
    if (
        tensor.offset < 0
        or min(tensor.shape, default=1) < 0
        or start + size > info.file_size
        or begin + info.file_size > len(whole)
    ):
        raise WeightsError(f"{name} lies outside the file.")
    buffer = whole[begin + start : begin + start + size]
    raw = Raw(name, str(path), begin + start, size, tensor.storage.dtype, tensor.shape, buffer)
    if steps is None:
        return raw
    if math.prod(tensor.shape) > reach:  # rows that lie over one another: a few bytes would become any number
        raise WeightsError(f"{name} repeats what it stores, which is not read.")
    kind, shape = np.dtype(f"V{width}"), tensor.shape

    def make() -> np.ndarray:
        flat = np.frombuffer(buffer, kind)
        return np.lib.stride_tricks.as_strided(flat, shape, [step * width for step in steps])

    return Made(raw, raw.dtype, shape, math.prod(shape) * width, make)
