"""Quantizing: f32 to the block types that Grus writes.

Q8_0 and Q4_0 come out bit for bit as the format's reference makes them; of the K types, in `kencode`, a format says only what
blocks mean. The CPU kernels make the same bytes many times faster; this is what they are held against.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from backends.pick import encode_blocks
from engine.weights.gguf.kencode import Bytes, Floats, f16_bytes, q4_k, q6_k
from engine.weights.gguf.types import TYPES

_CHUNK = 1 << 16  # weights encoded at a time: what the search makes stays in a core's cache


def _in_steps(x: Floats, d: np.ndarray) -> Floats:
    """x times 1 / d; 0 where d is 0, no number, or too small to have an inverse."""
    with np.errstate(divide="ignore", over="ignore"):
        inverse = np.float32(1) / d
    usable = np.isfinite(d) & np.isfinite(inverse)
    return np.where(usable, x, np.float32(0)) * np.where(usable, inverse, np.float32(0))


def _away_from_zero(x: np.ndarray) -> np.ndarray:
    """Rounded, halves away from zero."""
    size = np.abs(x)
    whole = np.floor(size)
    size -= whole
    size *= 2
    np.floor(size, out=size)
    whole += size
    return np.copysign(whole, x)


def _nibbles(q: np.ndarray) -> Bytes:
    """Two codes a byte: the first half of the row below, the second above."""
    half = q.shape[1] // 2
    return q[:, :half] | (q[:, half:] << 4)


def _f32_block(x: Floats) -> Bytes:
    return np.ascontiguousarray(x, "<f4").view(np.uint8)


def _bf16_block(x: Floats) -> Bytes:
    bits = np.ascontiguousarray(x, "<f4").view(np.uint32)
    nan = (bits & 0x7FFFFFFF) > 0x7F800000
    quiet = (bits & np.uint32(0xFFFF0000)) | np.uint32(1 << 22)
    even = bits + np.uint32(0x7FFF) + ((bits >> 16) & 1)
    return (np.where(nan, quiet, even) >> 16).astype("<u2").view(np.uint8)


def _q8_0(x: Floats) -> Bytes:
    d = np.abs(x).max(axis=1, keepdims=True) / np.float32(127)
    q = _away_from_zero(_in_steps(x, d)).astype(np.int8).view(np.uint8)
    return np.concatenate([f16_bytes(d), q], axis=1)


def _q4_0(x: Floats) -> Bytes:
    largest = np.take_along_axis(x, np.abs(x).argmax(axis=1)[:, None], axis=1)
    d = largest / np.float32(-8)
    q = np.trunc(_in_steps(x, d) + np.float32(8.5)).astype(np.uint8).clip(0, 15)
    return np.concatenate([f16_bytes(d), _nibbles(q)], axis=1)


ENCODERS: dict[str, Callable[[Floats], Bytes]] = {
    "F32": _f32_block,
    "F16": f16_bytes,
    "BF16": _bf16_block,
    "Q8_0": _q8_0,
    "Q4_0": _q4_0,
    "Q4_K": q4_k,
    "Q6_K": q6_k,
}


def encode(values: np.ndarray, kind: str) -> np.ndarray:
    """Rows `[..., columns]` as their bytes `[..., row bytes]`; columns must be whole blocks."""
    rows = values.reshape(-1, values.shape[-1])
    made = encode_blocks(rows, kind)
    return (encode_plainly(rows, kind) if made is None else made).reshape(*values.shape[:-1], -1)


def encode_plainly(rows: np.ndarray, kind: str) -> np.ndarray:
    """The same in numpy alone: what says which bytes are right, and what runs where there are no kernels."""
    blocks = np.ascontiguousarray(rows, np.float32).reshape(-1, TYPES[kind].weights)
    step = max(1, _CHUNK // TYPES[kind].weights)
    out = np.empty((len(blocks), TYPES[kind].nbytes), np.uint8)
    for at in range(0, len(blocks), step):
        out[at : at + step] = ENCODERS[kind](blocks[at : at + step])
    return out.reshape(len(rows), -1)
