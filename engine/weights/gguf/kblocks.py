"""The K types and their kin: blocks of 256 weights, made of groups with small integer scales under one f16 scale."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Bytes = np.ndarray  # uint8 [n, nbytes]
Floats = np.ndarray  # f32 [n, 256]

IQ4_VALUES = np.array(
    [-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113], np.float32
)  # steps that follow a normal distribution


def _f16(raw: Bytes) -> Floats:
    return np.ascontiguousarray(raw).view("<f2").astype(np.float32)


def _planes(raw: Bytes, bits: int, run: int) -> Bytes:
    """`[n, groups of run, 8 / bits, run]`: each run of bytes holds one code of `bits` bits of that many runs."""
    shifts = np.arange(0, 8, bits, dtype=np.uint8)[:, None]
    return (raw.reshape(len(raw), -1, 1, run) >> shifts) & np.uint8((1 << bits) - 1)


def _q2_k(b: Bytes) -> Floats:
    scales, q = b[:, :16], _planes(b[:, 16:80], 2, 32).reshape(len(b), 16, 16).astype(np.float32)
    d = _f16(b[:, 80:82]) * (scales & 15).astype(np.float32)
    m = _f16(b[:, 82:84]) * (scales >> 4).astype(np.float32)
    return (d[:, :, None] * q - m[:, :, None]).reshape(len(b), 256)


def _q3_k(b: Bytes) -> Floats:
    n = len(b)
    low = _planes(b[:, 32:96], 2, 32).reshape(n, 16, 16)
    high = _planes(b[:, :32], 1, 32).reshape(n, 16, 16) ^ 1  # a cleared bit takes four away
    q = low.astype(np.int8) - (high << 2).astype(np.int8)
    packed = b[:, 96:108]
    scales = _planes(packed[:, :8], 4, 8).reshape(n, 16) | (_planes(packed[:, 8:], 2, 4).reshape(n, 16) << 4)
    d = _f16(b[:, 108:110]) * (scales.astype(np.int8) - np.int8(32)).astype(np.float32)
    return (d[:, :, None] * q.astype(np.float32)).reshape(n, 256)


def scales_and_minima(packed: Bytes) -> tuple[Bytes, Bytes]:
    """Eight 6-bit scales and eight 6-bit minima out of 12 bytes."""
    a, b, c = packed[:, :4], packed[:, 4:8], packed[:, 8:]
    scales = np.concatenate([a & 63, (c & 15) | ((a >> 2) & 48)], axis=1)
    minima = np.concatenate([b & 63, (c >> 4) | ((b >> 2) & 48)], axis=1)
    return scales, minima


def _scaled(b: Bytes, q: Bytes) -> Floats:
    """Q4_K and Q5_K: codes `[n, 8, 32]` with a scale and a minimum a group."""
    scales, minima = scales_and_minima(b[:, 4:16])
    d = _f16(b[:, :2]) * scales.astype(np.float32)
    m = _f16(b[:, 2:4]) * minima.astype(np.float32)
    return (d[:, :, None] * q.astype(np.float32) - m[:, :, None]).reshape(len(b), 256)


def _q4_k(b: Bytes) -> Floats:
    return _scaled(b, _planes(b[:, 16:], 4, 32).reshape(len(b), 8, 32))


def _q5_k(b: Bytes) -> Floats:
    low = _planes(b[:, 48:], 4, 32).reshape(len(b), 8, 32)
    return _scaled(b, low | (_planes(b[:, 16:48], 1, 32).reshape(len(b), 8, 32) << 4))


def _q6_k(b: Bytes) -> Floats:
    n = len(b)
    low = _planes(b[:, :128], 4, 64).reshape(n, 8, 32)
    high = _planes(b[:, 128:192], 2, 32).reshape(n, 8, 32)
    q = ((low | (high << 4)).astype(np.int8) - np.int8(32)).reshape(n, 16, 16).astype(np.float32)
    d = _f16(b[:, 208:]) * b[:, 192:208].view(np.int8).astype(np.float32)
    return (d[:, :, None] * q).reshape(n, 256)


def _iq4_xs(b: Bytes) -> Floats:
    n = len(b)
    high = np.ascontiguousarray(b[:, 2:4]).view("<u2") >> np.arange(0, 16, 2, dtype=np.uint16)
    low = (b[:, 4:8, None] >> np.array([0, 4], np.uint8)).reshape(n, 8) & 15
    scales = (low | ((high & 3).astype(np.uint8) << 4)).astype(np.int8) - np.int8(32)
    d = _f16(b[:, :2]) * scales.astype(np.float32)
    q = IQ4_VALUES[_planes(b[:, 8:], 4, 16).reshape(n, 8, 32)]
    return (d[:, :, None] * q).reshape(n, 256)


def _tq2_0(b: Bytes) -> Floats:
    q = _planes(b[:, :64], 2, 32).reshape(len(b), 256).astype(np.int8) - np.int8(1)
    return _f16(b[:, 64:]) * q.astype(np.float32)


DECODERS: dict[str, Callable[[Bytes], Floats]] = {
    "Q2_K": _q2_k,
    "Q3_K": _q3_k,
    "Q4_K": _q4_k,
    "Q5_K": _q5_k,
    "Q6_K": _q6_k,
    "IQ4_XS": _iq4_xs,
    "TQ2_0": _tq2_0,
}
