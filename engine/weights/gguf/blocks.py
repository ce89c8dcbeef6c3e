"""What the bytes of a block mean: every supported type to f32, in numpy, bit for bit as the format defines it.

A decoder takes blocks as rows of bytes `[n, nbytes]` and gives `[n, weights]`. The K types, whose blocks hold blocks,
are in `kblocks`. This is the reference that backends are held against, and what loads a type they have no kernel for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from backends.base import Blocks, Raw
from engine.weights.gguf import iqblocks, kblocks, ternary
from engine.weights.gguf.types import TYPES

Bytes = np.ndarray  # uint8 [n, nbytes]
Floats = np.ndarray  # f32 [n, weights]

_CHUNK = 1 << 20  # weights decoded at a time, so that what is made on the way stays small


def _f16(raw: Bytes) -> Floats:
    return np.ascontiguousarray(raw).view("<f2").astype(np.float32)


def _nibbles(raw: Bytes) -> Bytes:
    """Low halves of all bytes, then high halves."""
    return np.concatenate([raw & 15, raw >> 4], axis=1)


def _pairs_of_bits(raw: Bytes) -> Bytes:
    """Four codes a byte, least significant first."""
    return ((raw[:, :, None] >> np.array([0, 2, 4, 6], np.uint8)) & 3).reshape(len(raw), -1)


def _f32_block(b: Bytes) -> Floats:
    return np.ascontiguousarray(b).view("<f4")


def _bf16_block(b: Bytes) -> Floats:
    return (np.ascontiguousarray(b).view("<u2").astype(np.uint32) << 16).view(np.float32)


def _q4_0(b: Bytes) -> Floats:
    return _f16(b[:, :2]) * (_nibbles(b[:, 2:]).astype(np.int8) - np.int8(8)).astype(np.float32)


def _q4_1(b: Bytes) -> Floats:
    return _f16(b[:, :2]) * _nibbles(b[:, 4:]).astype(np.float32) + _f16(b[:, 2:4])


def _fifth_bits(raw: Bytes) -> Bytes:
    return np.unpackbits(raw, axis=1, bitorder="little") << 4


def _q5_0(b: Bytes) -> Floats:
    q = _nibbles(b[:, 6:]) | _fifth_bits(b[:, 2:6])
    return _f16(b[:, :2]) * (q.astype(np.int8) - np.int8(16)).astype(np.float32)


def _q5_1(b: Bytes) -> Floats:
    q = _nibbles(b[:, 8:]) | _fifth_bits(b[:, 4:8])
    return _f16(b[:, :2]) * q.astype(np.float32) + _f16(b[:, 2:4])


def _q8_0(b: Bytes) -> Floats:
    return b[:, 2:].view(np.int8).astype(np.float32) * _f16(b[:, :2])


def _iq4_nl(b: Bytes) -> Floats:
    return _f16(b[:, :2]) * kblocks.IQ4_VALUES[_nibbles(b[:, 2:])]


def decode_mxfp4(b: Bytes) -> Floats:
    exponent = b[:, :1].astype(np.uint32)
    half = np.where(exponent < 2, np.uint32(0x00200000) << exponent, (exponent - 1) << 23)
    return half.astype(np.uint32).view(np.float32) * iqblocks.E2M1[_nibbles(b[:, 1:])]


def _q1_0(b: Bytes) -> Floats:
    d = _f16(b[:, :2])
    return np.where(np.unpackbits(b[:, 2:], axis=1, bitorder="little").astype(bool), d, -d)


def _q2_0(b: Bytes) -> Floats:
    return _f16(b[:, :2]) * (_pairs_of_bits(b[:, 2:]).astype(np.int8) - np.int8(1)).astype(np.float32)


def _tq2_0_g128(b: Bytes) -> Floats:
    q = np.array([-1, 0, 1, 0], np.float32)[_pairs_of_bits(b[:, :32])]  # 11 is reserved
    return _f16(b[:, 32:]) * q


_TRITS = np.array([1, 3, 9, 27, 81], np.uint8)


def _trits(raw: Bytes, count: int) -> Bytes:
    """The first `count` ternary digits of each byte: all first digits, then all second ones, and so on."""
    shifted = raw[:, None, :] * _TRITS[:count, None]  # wraps: digits that were read fall off
    return ((shifted.astype(np.uint16) * 3) >> 8).astype(np.int8).reshape(len(raw), -1) - np.int8(1)


def _tq1_0(b: Bytes) -> Floats:
    q = np.concatenate([_trits(b[:, :32], 5), _trits(b[:, 32:48], 5), _trits(b[:, 48:52], 4)], axis=1)
    return _f16(b[:, 52:]) * q.astype(np.float32)


def _ptq1_0(b: Bytes) -> Floats:
    q = np.concatenate([_trits(b[:, :16], 5), _trits(b[:, 16:24], 5), _trits(b[:, 24:26], 4)], axis=1)
    return _f16(b[:, 26:]) * q.astype(np.float32)


DECODERS: dict[str, Callable[[Bytes], Floats]] = {
    "F32": _f32_block,
    "F16": _f16,
    "BF16": _bf16_block,
    "Q4_0": _q4_0,
    "Q4_1": _q4_1,
    "Q5_0": _q5_0,
    "Q5_1": _q5_1,
    "Q8_0": _q8_0,
    "IQ4_NL": _iq4_nl,
    "MXFP4": decode_mxfp4,
    "TQ1_0": _tq1_0,
    "Q1_0": _q1_0,
    "Q2_0": _q2_0,
    "PQ2_0": _q2_0,
    "TQ2_0_G128": _tq2_0_g128,
    "PTQ1_0": _ptq1_0,
    **kblocks.DECODERS,
    **iqblocks.DECODERS,
}


def decode(data: memoryview | bytes | np.ndarray, kind: str) -> np.ndarray:
    """Whole blocks of type `kind` as f32, flat."""
    blocks = np.frombuffer(data, np.uint8).reshape(-1, TYPES[kind].nbytes)
    return DECODERS[kind](blocks).reshape(-1)


def decode_rows(data: memoryview | bytes, kind: str, columns: int) -> Iterator[np.ndarray]:
    """`[rows, columns]` f32, a few rows at a time."""
    size = TYPES[kind].row_bytes(columns)
    step = max(1, _CHUNK // columns) * size
    for at in range(0, len(data), step):
        yield decode(data[at : at + step], kind).reshape(-1, columns)


def dequantize(weight: Blocks | Raw) -> np.ndarray:
    """A whole tensor as f32, in its logical shape. A `Raw` is one whose dtype is the name of its block type."""
    if isinstance(weight, Blocks) and weight.factors is not None:
        return iqblocks.nvfp4_with_factors(weight)
    raw, kind = (weight.data, weight.type) if isinstance(weight, Blocks) else (weight, weight.dtype)
    if kind == ternary.I2_S:
        return ternary.floats(raw)
    out = np.empty(weight.shape, np.float32)
    flat, at = out.reshape(-1, weight.shape[-1]), 0
    for rows in decode_rows(raw.buffer, kind, weight.shape[-1]):
        flat[at : at + len(rows)] = rows
        at += len(rows)
    return out
