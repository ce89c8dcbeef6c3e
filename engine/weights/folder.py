"""Writing a checkpoint folder: tensors into `model.safetensors`, in MLX's packed layout where that is asked for."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from engine.errors import WeightsError
from engine.weights import affine
from engine.weights.gguf.encode import encode
from engine.weights.gguf.writer import weights_file
from engine.weights.quantization import Packing
from engine.weights.quantize import is_embedding, stays_whole
from engine.weights.stored import Stored

BITS = {"q8_0": 8, "q6_k": 6, "q4_k": 4, "q4_0": 4}
_SIZES = {"F32": 4, "F16": 2, "BF16": 2, "U32": 4}


@dataclass(frozen=True)
class Unit:
    """Tensors that are made together: `(name, dtype, shape)` each, and their bytes one after the other."""

    tensors: tuple[tuple[str, str, tuple[int, ...]], ...]
    data: Callable[[], Iterable[bytes]]


def size_of(dtype: str, shape: tuple[int, ...]) -> int:
    n = _SIZES[dtype]
    for length in shape:
        n *= length
    return n


def plain_units(stored: Stored) -> list[Unit]:
    """Every tensor as floats, experts one by one."""
    found = []
    for name in stored.names:
        dtype, shape = stored.dtype(name) or stored.decoded, stored.shape(name)
        if is_stacked(name):
            parts = tuple((of_one(name, i), dtype, shape[1:]) for i in range(shape[0]))
        else:
            parts = ((name, dtype, shape),)
        found.append(Unit(parts, _plain(stored, [name], dtype)))
    return found


def mlx_units(stored: Stored, quant: str | None) -> tuple[list[Unit], dict[str, Any] | None]:
    """Tensors as MLX has them, experts stacked; and what config.json must say of their packing."""
    wide = common_float(stored)
    default = Packing(BITS[quant], 64) if quant else None
    config: dict[str, Any] = {"group_size": default.group, "bits": default.bits} if default else {}
    found = []
    for name, parts in stacked({name: name for name in stored.names}, stored.where).items():
        shape = stored.shape(parts[0])
        shape = (len(parts), *shape) if len(parts) > 1 else shape
        stem = name.removesuffix(".weight")
        packing = _packing(stem, shape, default) if default and name.endswith(".weight") else None
        if packing is None:
            found.append(Unit(((name, wide, shape),), _plain(stored, parts, wide)))
            continue
        if packing != default:
            config[stem] = {"group_size": packing.group, "bits": packing.bits}
        groups = (*shape[:-1], shape[-1] // packing.group)
        words = (*shape[:-1], shape[-1] * packing.bits // 32)
        tensors = ((name, "U32", words), (f"{stem}.scales", wide, groups), (f"{stem}.biases", wide, groups))
        found.append(Unit(tensors, _packed(stored, parts, packing, wide)))
    return found, config or None


def common_float(stored: Stored) -> str:
    """The float type of most matrices, which in an MLX folder all others get too."""
    counts: dict[str, int] = {}
    for name in stored.names:
        dtype = stored.dtype(name)
        if dtype and len(stored.shape(name)) > 1 and not stays_whole(name.removesuffix(".weight")):
            counts[dtype] = counts.get(dtype, 0) + 1
    return max(counts, key=lambda dtype: counts[dtype], default=stored.decoded)


def _packing(stem: str, shape: tuple[int, ...], default: Packing) -> Packing | None:
    if len(shape) < 2 or stays_whole(stem) or "visual" in stem or "vision" in stem:
        return None
    group = next((g for g in (64, 32) if shape[-1] % g == 0), None)
    bits = 6 if is_embedding(stem) and default.bits == 4 else default.bits
    return Packing(bits, group) if group else None


def _plain(stored: Stored, parts: Sequence[str], dtype: str) -> Callable[[], Iterator[bytes]]:
    def data() -> Iterator[bytes]:
        for part in parts:
            yield from (encode(rows, dtype).tobytes() for rows in stored.rows(part))

    return data


def _packed(stored: Stored, parts: Sequence[str], packing: Packing, dtype: str) -> Callable[[], Iterator[bytes]]:
    def data() -> Iterator[bytes]:
        pieces = [
            affine.quantize(rows, packing.bits, packing.group, dtype) for part in parts for rows in stored.rows(part)
        ]
        for column in zip(*pieces):
            yield from (np.ascontiguousarray(piece).tobytes() for piece in column)

    return data


def write(path: Path, units: Sequence[Unit], kind: str, progress: Callable[[int, int], None] | None = None) -> None:
    """Write a safetensors file beside the target and move it there when it is whole."""
    with weights_file(path) as file:
        _write(file, units, kind, progress or (lambda done, total: None))


def _write(file: IO[bytes], units: Sequence[Unit], kind: str, progress: Callable[[int, int], None]) -> None:
    header: dict[str, Any] = {"__metadata__": {"format": kind}}
    end = 0
    for unit in units:
        for name, dtype, shape in unit.tensors:
            begin, end = end, end + size_of(dtype, shape)
            header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [begin, end]}
    raw = json.dumps(header).encode()
    raw += b" " * (-len(raw) % 8)
    file.write(len(raw).to_bytes(8, "little") + raw)
    written = expected = 0
    for unit in units:
        expected += sum(size_of(dtype, shape) for _, dtype, shape in unit.tensors)
        for chunk in unit.data():
            written += file.write(chunk)
            progress(written, end)
        if written != expected:
            raise WeightsError(f"Tensor {unit.tensors[0][0]} came out {written - expected:+,} bytes too long.")


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


# -- mixtures of experts: one tensor an expert, as repositories publish them, or all in one stacked tensor

_EXPERT = re.compile(r"(.*)\.experts\.(\d+)\.(\w+)\.weight")
_STACKED = re.compile(r"(.*)\.switch_mlp\.(\w+)\.weight")


def stacked(names: Mapping[str, str], where: str) -> dict[str, list[str]]:
    """Name of a tensor with its experts stacked -> what it is made of. `names`: the name to go by -> the stored one."""
    units: dict[str, list[str]] = {}
    experts: dict[str, dict[int, str]] = {}
    for name, stored in names.items():
        match = _EXPERT.fullmatch(name)
        if match is None:
            units[name] = [stored]
            continue
        stem = f"{match[1]}.switch_mlp.{match[3]}.weight"
        experts.setdefault(stem, {})[int(match[2])] = stored
        units[stem] = []
    for stem, numbered in experts.items():
        if sorted(numbered) != list(range(len(numbered))):
            raise WeightsError(f"{where}: some experts of {stem} are missing.")
        units[stem] = [numbered[i] for i in range(len(numbered))]
    return units


def of_one(name: str, expert: int) -> str:
    """The published name of one expert of a stacked tensor."""
    match = _STACKED.fullmatch(name)
    return f"{match[1]}.experts.{expert}.{match[2]}.weight" if match else name


def is_stacked(name: str) -> bool:
    return _STACKED.fullmatch(name) is not None
