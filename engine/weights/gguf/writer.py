"""Writes a GGUF file, version 3: metadata first, then tensors one at a time, so that no two are ever in memory.

Knows the container alone. Python's types say how a value is stored: bool, int (u32, or u64 where it must be), float
(f32), str, and lists of one of these (whole numbers as i32, as readers expect of token types).
"""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from engine.errors import WeightsError
from engine.weights.gguf import ternary
from engine.weights.gguf.reader import ALIGNMENT, MAGIC
from engine.weights.gguf.types import NUMBERS, TYPES
from engine.whole_file import whole_file

VERSION = 3
_NUMBER_OF = {name: number for number, name in NUMBERS.items()}
_U32, _I32, _F32, _BOOL, _STRING, _ARRAY, _U64 = 4, 5, 6, 7, 8, 9, 10
_LETTERS = {_U32: "I", _I32: "i", _F32: "f", _BOOL: "?", _U64: "Q"}


@dataclass(frozen=True)
class Plan:
    """A tensor to be written: its bytes are made when its turn comes."""

    name: str
    kind: str  # a key of `types.TYPES`, or I2_S
    shape: tuple[int, ...]
    data: Callable[[], Iterable[bytes | memoryview]]

    @property
    def nbytes(self) -> int:
        rows = 1
        for n in self.shape[:-1]:
            rows *= n
        if self.kind == ternary.I2_S:
            return ternary.stored_bytes(rows, self.shape[-1])
        return rows * TYPES[self.kind].row_bytes(self.shape[-1])


def write(
    path: Path,
    metadata: Mapping[str, Any],
    plans: Sequence[Plan],
    progress: Callable[[int, int], None] | None = None,
) -> None:
    """Write beside the target and move it there when it is whole. `progress` gets bytes written and all."""
    with weights_file(path) as file:
        _write(file, metadata, plans, progress or (lambda done, total: None))


@contextlib.contextmanager
def weights_file(path: Path) -> Iterator[IO[bytes]]:
    """`path` as an open file, which takes its place when the block has ended."""
    try:
        with whole_file(path) as part, part.open("wb") as file:
            yield file
    except OSError as error:
        raise WeightsError(f"{path} cannot be written: {error.strerror or error}.") from None


def _write(
    file: IO[bytes], metadata: Mapping[str, Any], plans: Sequence[Plan], progress: Callable[[int, int], None]
) -> None:
    file.write(MAGIC + struct.pack("<IQQ", VERSION, len(plans), len(metadata)))
    for key, value in metadata.items():
        file.write(_text(key) + _typed(value))
    offset = 0
    for plan in plans:
        shape = plan.shape[::-1]
        file.write(_text(plan.name) + struct.pack(f"<I{len(shape)}Q", len(shape), *shape))
        file.write(struct.pack("<IQ", _NUMBER_OF[plan.kind], offset))
        offset += _padded(plan.nbytes)
    file.write(bytes(-file.tell() % ALIGNMENT))
    done = 0
    for plan in plans:
        written = 0
        for chunk in plan.data():
            file.write(chunk)
            written += len(chunk)
            progress(done + written, offset)
        if written != plan.nbytes:
            raise WeightsError(f"Tensor {plan.name} came out as {written:,} bytes instead of {plan.nbytes:,}.")
        file.write(bytes(-written % ALIGNMENT))
        done += _padded(written)


def _padded(nbytes: int) -> int:
    return -(-nbytes // ALIGNMENT) * ALIGNMENT


def _text(value: str) -> bytes:
    raw = value.encode("utf-8", "surrogateescape")
    return struct.pack("<Q", len(raw)) + raw


def _typed(value: Any) -> bytes:
    if not isinstance(value, list | tuple):
        kind = _value_type(value)
        return struct.pack("<I", kind) + _raw_values(kind, [value])
    kind = _value_type(value[0]) if value else _STRING
    kind = _I32 if kind in (_U32, _U64) else kind
    return struct.pack("<IIQ", _ARRAY, kind, len(value)) + _raw_values(kind, value)


def _value_type(value: Any) -> int:
    if isinstance(value, bool):
        return _BOOL
    if isinstance(value, int):
        return _I32 if value < 0 else _U32 if value < 1 << 32 else _U64
    return _F32 if isinstance(value, float) else _STRING


def _raw_values(kind: int, values: Sequence[Any]) -> bytes:
    if kind == _STRING:
        return b"".join(_text(value) for value in values)
    return struct.pack(f"<{len(values)}{_LETTERS[kind]}", *values)
