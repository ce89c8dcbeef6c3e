"""Reads safetensors headers and maps the data: one `Raw` a tensor, nothing copied, nothing trusted.

Knows the file format and the index of a sharded checkpoint. Does not know models, quantization or arrays.
A header may come from anywhere, so every number in it is checked against the file before a buffer is made.
"""

from __future__ import annotations

import json
import math
import mmap
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeGuard

from backends.base import Raw
from engine.errors import WeightsError
from engine.weights.made import Made

INDEX = "model.safetensors.index.json"
SINGLE = "model.safetensors"

DTYPE_BITS = {
    "F4": 4,
    "F6_E2M3": 6,
    "F6_E3M2": 6,
    **dict.fromkeys(("BOOL", "U8", "I8", "F8_E5M2", "F8_E4M3", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ"), 8),
    **dict.fromkeys(("U16", "I16", "F16", "BF16"), 16),
    **dict.fromkeys(("U32", "I32", "F32"), 32),
    **dict.fromkeys(("U64", "I64", "F64", "C64"), 64),
}

_MAX_HEADER = 100_000_000  # the format's own limit; keeps a corrupt length from costing memory
_SHARD = re.compile(r"(.+)-(\d+)-of-(\d+)\.(\w+)")


def read_file(path: Path) -> dict[str, Raw]:
    """Every tensor of one file. The mapping lives as long as any of the returned buffers."""
    view = memoryview(map_file(path))
    header_end, header = _header(path, view)
    size = len(view) - header_end
    tensors: dict[str, Raw] = {}
    spans: list[tuple[int, int, str]] = []
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        dtype, shape, begin, end = _entry(path, name, entry)
        if end > size:
            raise WeightsError(
                f"{path} is truncated: tensor {name} ends at byte {header_end + end:,}, but the file has "
                f"{len(view):,} bytes. Download it again."
            )
        bits = DTYPE_BITS[dtype] * math.prod(shape)
        if bits != 8 * (end - begin):
            raise WeightsError(
                f"{path} is corrupt: tensor {name} has {end - begin:,} bytes, but {dtype} {list(shape)} takes "
                f"{bits / 8:,g}."
            )
        if end > begin:
            spans.append((begin, end, name))
        start = header_end + begin
        tensors[name] = Raw(name, str(path), start, end - begin, dtype, shape, view[start : start + end - begin])
    spans.sort()
    for (_, end, name), (begin, _, other) in pairwise(spans):
        if begin < end:
            raise WeightsError(f"{path} is corrupt: the tensors {name} and {other} overlap.")
    return tensors


def read_folder(folder: Path) -> dict[str, Raw]:
    """Every tensor of a checkpoint folder: `model.safetensors`, or the shards of an index, or `*.safetensors`."""
    if (folder / SINGLE).is_file():
        return read_file(folder / SINGLE)
    if (folder / INDEX).is_file():
        return _read_sharded(folder / INDEX)
    files = sorted(folder.glob("model*.safetensors")) or sorted(folder.glob("*.safetensors"))
    if not files:
        others = sorted(p.name for ext in ("*.gguf", "*.bin", "*.pt", "*.pth", "*.npz") for p in folder.glob(ext))
        hint = f" It has {', '.join(others[:3])}; choose a safetensors version of the model." if others else ""
        raise WeightsError(f"{folder} has no safetensors files.{hint}")
    if absent := missing_shards(file.name for file in files):
        raise WeightsError(f"{folder} lacks {_some(absent)}. Download the model again.")
    tensors: dict[str, Raw] = {}
    for file in files:
        for name, raw in read_file(file).items():
            if name in tensors:
                raise WeightsError(f"Tensor {name} is in both {tensors[name].path} and {file}.")
            tensors[name] = raw
    return tensors


def forget_pages(raws: Iterable[Raw]) -> None:
    """Tell the system that these bytes are not needed in memory for now.

    Pages of a file that was read once still count as this process's memory; a backend that copied them would hold
    every weight twice. Bytes that a backend kept mapped stay valid: the system reads them again from its cache.
    """
    if not hasattr(mmap, "MADV_DONTNEED"):  # Windows trims mapped pages by itself
        return
    for raw in raws:
        if isinstance(raw, Made):
            raw = raw.origin
        mapping = raw.buffer.obj
        # Only whole pages: the first and last one may belong to a neighbour that is about to be read.
        begin = -(-raw.offset // mmap.PAGESIZE) * mmap.PAGESIZE
        length = (raw.offset + raw.nbytes) // mmap.PAGESIZE * mmap.PAGESIZE - begin
        if isinstance(mapping, mmap.mmap) and length > 0:
            mapping.madvise(mmap.MADV_DONTNEED, begin, length)


def map_file(path: Path) -> mmap.mmap:
    try:
        with path.open("rb") as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except FileNotFoundError:
        raise WeightsError(f"{path} does not exist.") from None
    except ValueError:  # an empty file cannot be mapped
        raise WeightsError(f"{path} is empty. Download it again.") from None
    except OSError as error:
        raise WeightsError(f"{path} cannot be read: {error.strerror or error}.") from None


def _header(path: Path, view: memoryview) -> tuple[int, dict[str, Any]]:
    """Where the data begins, and the parsed header."""
    if len(view) < 8:
        raise WeightsError(f"{path} is truncated: it has only {len(view)} bytes. Download it again.")
    length = int.from_bytes(view[:8], "little")
    if bytes(view[:4]) == b"GGUF" or view[:7] == b"version":
        kind = "a GGUF file" if view[:4] == b"GGUF" else "a git-lfs pointer, not the file itself"
        raise WeightsError(f"{path} is not a safetensors file: it is {kind}.")
    if length > _MAX_HEADER:
        raise WeightsError(f"{path} is not a safetensors file: its header would take {length:,} bytes.")
    if 8 + length > len(view):
        raise WeightsError(f"{path} is truncated inside its header. Download it again.")
    try:
        header = json.loads(str(view[8 : 8 + length], "utf-8"), object_pairs_hook=_no_duplicates)
    except _DuplicateKey as error:
        raise WeightsError(f"{path} is corrupt: its header names {error} twice.") from None
    except (ValueError, RecursionError):
        raise WeightsError(f"{path} is corrupt: its header is not valid JSON.") from None
    if not isinstance(header, dict):
        raise WeightsError(f"{path} is corrupt: its header is not a JSON object.")
    return 8 + length, header


class _DuplicateKey(Exception):
    pass


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result: dict[str, Any] = dict(pairs)
    if len(result) != len(pairs):
        raise _DuplicateKey(next(name for name, n in Counter(name for name, _ in pairs).items() if n > 1))
    return result


def _entry(path: Path, name: str, entry: object) -> tuple[str, tuple[int, ...], int, int]:
    if not isinstance(entry, dict):
        raise WeightsError(f"{path} is corrupt: the header's entry for tensor {name} is not an object.")
    dtype, shape, offsets = entry.get("dtype"), entry.get("shape"), entry.get("data_offsets")
    if not isinstance(dtype, str) or dtype not in DTYPE_BITS:
        raise WeightsError(f"{path}: tensor {name} has the unknown dtype {dtype!r}.")
    if not _counts(shape):
        raise WeightsError(f"{path} is corrupt: tensor {name} has the impossible shape {shape!r}.")
    if not _counts(offsets) or len(offsets) != 2 or offsets[0] > offsets[1]:
        raise WeightsError(f"{path} is corrupt: tensor {name} has the impossible data_offsets {offsets!r}.")
    return dtype, tuple(shape), offsets[0], offsets[1]


def _counts(value: object) -> TypeGuard[list[int]]:
    return isinstance(value, list) and all(type(n) is int and n >= 0 for n in value)  # bool is no number here


def _read_sharded(index: Path) -> dict[str, Raw]:
    shard_of = read_index(index)
    shards = sorted(set(shard_of.values()))
    absent = [shard for shard in shards if not (index.parent / shard).is_file()]
    if absent:
        raise WeightsError(
            f"{index} names {_some(absent)}, which {'is' if len(absent) == 1 else 'are'} missing. "
            "Download the model again."
        )
    files = {shard: read_file(index.parent / shard) for shard in shards}
    broken = [f"{name} ({shard})" for name, shard in shard_of.items() if name not in files[shard]]
    if broken:
        raise WeightsError(f"{index} promises tensors that their shards lack: {_some(broken)}.")
    tensors = {name: files[shard][name] for name, shard in shard_of.items()}
    for file in files.values():
        for name, raw in file.items():  # not in the index: kept, so that the model reports it as unexpected
            tensors.setdefault(name, raw)
    return tensors


def read_index(index: Path) -> Mapping[str, str]:
    """Tensor name -> shard file name, as `model.safetensors.index.json` has it."""
    try:
        weight_map = json.loads(index.read_bytes())["weight_map"]
    except OSError as error:
        raise WeightsError(f"{index} cannot be read: {error.strerror or error}.") from None
    except (ValueError, RecursionError):
        raise WeightsError(f"{index} is not valid JSON.") from None
    except (KeyError, TypeError):
        raise WeightsError(f"{index} has no weight_map.") from None
    if not isinstance(weight_map, dict) or not weight_map:
        raise WeightsError(f"{index} has no weight_map.")
    for name, shard in weight_map.items():
        # A shard lies next to its index: a path that leads elsewhere is an attack or an accident.
        if not isinstance(shard, str) or shard in ("", ".", "..") or re.search(r"[/\\:\0]", shard):
            raise WeightsError(f"{index} puts tensor {name} into {shard!r}, which is not a file name.")
    return weight_map


def missing_shards(names: Iterable[str]) -> list[str]:
    """What names such as `model-00001-of-00003.safetensors` say is missing, without any index."""
    present = set(names)
    expected = set()
    for stem, number, count, kind in {match.groups() for name in present if (match := _SHARD.fullmatch(name))}:
        last = min(int(count), 9999)  # a name from anywhere must not cost memory
        expected |= {f"{stem}-{n:0{len(number)}}-of-{count}.{kind}" for n in range(1, last + 1)}
    return sorted(expected - present)


def _some(names: list[str]) -> str:
    more = f" and {len(names) - 20:,} more" if len(names) > 20 else ""
    return ", ".join(names[:20]) + more
