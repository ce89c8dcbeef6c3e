"""Quantizing: f32 to the block types that Grus writes.

Q8_0 and Q4_0 come out bit for bit as the format's reference makes them. Q4_K and Q6_K leave scales to the writer: each
group tries a few and keeps the one with the smallest squared error, which is never worse than plain rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from engine.weights.gguf.kblocks import DECODERS
from engine.weights.gguf.types import TYPES

Floats = np.ndarray  # f32 [n, weights]
Bytes = np.ndarray  # uint8 [n, nbytes]

_CHUNK = 1 << 16  # weights encoded at a time: what the search makes stays in a core's cache


def _inverse(d: np.ndarray) -> np.ndarray:
    """1 / d, and 0 where d is 0."""
    return np.divide(np.float32(1), d, out=np.zeros_like(d), where=d != 0)


def _f16_bytes(d: np.ndarray) -> Bytes:
    with np.errstate(over="ignore"):
        return d.astype("<f2").view(np.uint8)


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
    q = _away_from_zero(x * _inverse(d)).astype(np.int8).view(np.uint8)
    return np.concatenate([_f16_bytes(d), q], axis=1)


def _q4_0(x: Floats) -> Bytes:
    largest = np.take_along_axis(x, np.abs(x).argmax(axis=1)[:, None], axis=1)
    d = largest / np.float32(-8)
    q = np.trunc(x * _inverse(d) + np.float32(8.5)).astype(np.uint8).clip(0, 15)
    return np.concatenate([_f16_bytes(d), _nibbles(q)], axis=1)


_SPANS = np.linspace(-1.0, 0.6, 9, dtype=np.float32)  # how far beyond 15 steps a group's range may be stretched


def _fit_range(x: Floats) -> tuple[np.ndarray, np.ndarray]:
    """Step and minimum (at most 0) of each row for codes 0 to 15, by least squares over a few codings."""
    low = np.minimum(x.min(axis=1), 0)
    span = x.max(axis=1) - low
    step, start = span / 15, low.copy()
    best = np.full(len(x), np.inf, np.float32)
    n, sum_x = np.float32(x.shape[1]), x.sum(axis=1)
    candidates = [(span / 15, low, None)]
    for stretch in _SPANS:
        q = np.rint((x - low[:, None]) * _inverse(span)[:, None] * (15 + stretch)).clip(0, 15)
        sum_q, sum_qq, sum_xq = q.sum(axis=1), np.einsum("ij,ij->i", q, q), np.einsum("ij,ij->i", x, q)
        spread = n * sum_qq - sum_q * sum_q
        scale = np.divide(n * sum_xq - sum_x * sum_q, spread, out=np.zeros_like(span), where=spread > 0)
        offset = (sum_x - scale * sum_q) / n
        positive = offset > 0  # a minimum cannot be above 0: then the line goes through 0
        through = np.divide(sum_xq, sum_qq, out=np.zeros_like(span), where=sum_qq > 0)
        candidates.append((np.where(positive, through, scale), np.minimum(offset, 0), q))
    for scale, offset, q in candidates:
        if q is None:
            q = np.rint((x - offset[:, None]) * _inverse(scale)[:, None]).clip(0, 15)
        error = q * scale[:, None] + offset[:, None] - x
        loss = np.einsum("ij,ij->i", error, error)
        better = (loss < best) & (scale >= 0)
        step, start, best = np.where(better, scale, step), np.where(better, offset, start), np.where(better, loss, best)
    return step, start


def _better(x: Floats, kind: str, *encodings: Bytes) -> Bytes:
    """Of several encodings of a block the one that decodes closest to it."""
    best, least = encodings[0], np.full(len(x), np.inf, np.float32)
    for encoding in encodings:
        error = DECODERS[kind](encoding) - x
        loss = np.einsum("ij,ij->i", error, error)
        best = np.where((loss < least)[:, None], encoding, best)
        least = np.minimum(loss, least)
    return best


def _q4_k(x: Floats) -> Bytes:
    groups = x.reshape(-1, 32)
    low = np.minimum(groups.min(axis=1), 0)
    plain = _pack_q4_k(x, (groups.max(axis=1) - low) / 15, low)
    return _better(x, "Q4_K", plain, _pack_q4_k(x, *_fit_range(groups)))


def _pack_q4_k(x: Floats, step: np.ndarray, start: np.ndarray) -> Bytes:
    n = len(x)
    groups, step, start = x.reshape(n, 8, 32), step.reshape(n, 8), start.reshape(n, 8)
    d16 = _f16_bytes(step.max(axis=1, keepdims=True) / 63)
    m16 = _f16_bytes(-start.min(axis=1, keepdims=True) / 63)
    d, m = d16.view("<f2").astype(np.float32), m16.view("<f2").astype(np.float32)
    scales = np.rint(step * _inverse(d)).clip(0, 63).astype(np.uint8)
    minima = np.rint(-start * _inverse(m)).clip(0, 63).astype(np.uint8)
    steps, starts = (d * scales)[:, :, None], (m * minima)[:, :, None]
    q = np.rint((groups + starts) * _inverse(steps)).clip(0, 15).astype(np.uint8)
    packed = np.concatenate(
        [
            scales[:, :4] | ((scales[:, 4:] >> 4) << 6),
            minima[:, :4] | ((minima[:, 4:] >> 4) << 6),
            (scales[:, 4:] & 15) | ((minima[:, 4:] & 15) << 4),
        ],
        axis=1,
    )
    codes = (q[:, 0::2] | (q[:, 1::2] << 4)).reshape(n, 128)
    return np.concatenate([d16, m16, packed, codes], axis=1)


_STRETCHES = np.linspace(-0.8, 0.8, 9, dtype=np.float32)


def _fit_scale(x: Floats) -> np.ndarray:
    """Step of each row for codes -32 to 31: the largest value takes the wide side, and a few steps near it are tried."""
    largest = np.take_along_axis(x, np.abs(x).argmax(axis=1)[:, None], axis=1)
    step = largest[:, 0] / -32
    best = np.full(len(x), np.inf, np.float32)
    for stretch in _STRETCHES:
        q = np.rint(x * _inverse(largest) * -(32 + stretch)).clip(-32, 31)
        sum_qq, sum_xq = np.einsum("ij,ij->i", q, q), np.einsum("ij,ij->i", x, q)
        scale = np.divide(sum_xq, sum_qq, out=np.zeros_like(step), where=sum_qq > 0)
        error = q * scale[:, None] - x
        loss = np.einsum("ij,ij->i", error, error)
        better = loss < best
        step, best = np.where(better, scale, step), np.where(better, loss, best)
    return step


def _q6_k(x: Floats) -> Bytes:
    groups = x.reshape(-1, 16)
    plain = _pack_q6_k(x, np.abs(groups).max(axis=1) / 31)
    return _better(x, "Q6_K", plain, _pack_q6_k(x, _fit_scale(groups)))


def _pack_q6_k(x: Floats, step: np.ndarray) -> Bytes:
    n = len(x)
    groups, step = x.reshape(n, 16, 16), step.reshape(n, 16)
    widest = np.take_along_axis(step, np.abs(step).argmax(axis=1)[:, None], axis=1)
    d16 = _f16_bytes(widest / 127)
    d = d16.view("<f2").astype(np.float32)
    scales = np.rint(step * _inverse(d)).clip(-128, 127)
    q = np.rint(groups * _inverse(d * scales)[:, :, None]).clip(-32, 31) + 32
    q = q.astype(np.uint8).reshape(n, 2, 4, 32)
    low = ((q[:, :, :2] & 15) | ((q[:, :, 2:] & 15) << 4)).reshape(n, 128)
    high = (q >> 4) << np.array([0, 2, 4, 6], np.uint8)[:, None]
    high = np.bitwise_or.reduce(high, axis=2).reshape(n, 64)
    return np.concatenate([low, high, scales.astype(np.int8).view(np.uint8), d16], axis=1)


ENCODERS: dict[str, Callable[[Floats], Bytes]] = {
    "F32": _f32_block,
    "F16": _f16_bytes,
    "BF16": _bf16_block,
    "Q8_0": _q8_0,
    "Q4_0": _q4_0,
    "Q4_K": _q4_k,
    "Q6_K": _q6_k,
}


def encode(values: np.ndarray, kind: str) -> np.ndarray:
    """Rows `[..., columns]` as their bytes `[..., row bytes]`; columns must be whole blocks."""
    blocks = np.ascontiguousarray(values, np.float32).reshape(-1, TYPES[kind].weights)
    step = max(1, _CHUNK // TYPES[kind].weights)
    out = np.empty((len(blocks), TYPES[kind].nbytes), np.uint8)
    for at in range(0, len(blocks), step):
        out[at : at + step] = ENCODERS[kind](blocks[at : at + step])
    return out.reshape(*values.shape[:-1], -1)


def encode_rows(rows: Iterable[np.ndarray], kind: str) -> Iterator[bytes]:
    for part in rows:
        yield encode(part, kind).tobytes()
