"""Quantizing to Q4_K and Q6_K, whose scales the format leaves to the writer.

Each group tries a few and keeps the one with the smallest squared error, and each block the better of that search and plain
rounding. The kernels' src/formats/k_quantizers.inl does the same, bit for bit: so every sum here has one order, whatever a CPU's vectors are.
A block with a number that no scale reaches (NaN, infinite, beyond 1e8) is written as NaN.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from engine.weights.gguf.kblocks import DECODERS

Floats = np.ndarray  # f32 [n, weights]
Bytes = np.ndarray  # uint8 [n, nbytes]

_MOST = np.float32(1e8)  # below it no sum overflows
_TINY = np.float32(1e-30)  # too small to divide by
_NAN = np.array([np.nan], "<f2").view(np.uint8)


def q4_k(x: Floats) -> Bytes:
    x, odd = _moderate(x)
    groups = x.reshape(-1, 32)
    low = np.minimum(groups.min(axis=1), 0)
    span = groups.max(axis=1) - low
    plain = _pack_q4_k(x, span / 15, low)
    return _marked(_better(x, "Q4_K", plain, _pack_q4_k(x, *_fit_range(groups, low, span))), odd, (0, 2))


def q6_k(x: Floats) -> Bytes:
    x, odd = _moderate(x)
    groups = x.reshape(-1, 16)
    plain = _pack_q6_k(x, np.abs(groups).max(axis=1) / 31)
    return _marked(_better(x, "Q6_K", plain, _pack_q6_k(x, _fit_scale(groups))), odd, (208,))


def _moderate(x: Floats) -> tuple[Floats, np.ndarray]:
    """The blocks, those that cannot be written as zeros; and which those are."""
    odd = ~(np.abs(x) <= _MOST).all(axis=1)
    return np.where(odd[:, None], np.float32(0), x), odd


def _marked(blocks: Bytes, odd: np.ndarray, scales: tuple[int, ...]) -> Bytes:
    """Blocks that cannot be written as NaN; so are those with a scale that f16 does not hold."""
    for at in scales:
        odd = odd | ~np.isfinite(np.ascontiguousarray(blocks[:, at : at + 2]).view("<f2")[:, 0])
    blocks[odd] = 0
    blocks[odd, scales[0] : scales[0] + 2] = _NAN
    return blocks


def _inverse(d: np.ndarray) -> np.ndarray:
    return np.divide(np.float32(1), d, out=np.zeros_like(d), where=np.abs(d) > _TINY)


def _quotient(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.divide(a, b, out=np.zeros_like(a), where=b > 0)


def _sum(x: Floats) -> np.ndarray:
    """Over the last axis, halves added to halves."""
    while x.shape[-1] > 1:
        half = x.shape[-1] // 2
        x = x[..., :half] + x[..., half:]
    return x[..., 0]


def _codes(x: Floats, low: int, high: int) -> Floats:
    return np.rint(x.clip(low, high))


def _candidates(x: Floats, low: np.ndarray, span: np.ndarray) -> Iterator[tuple[Floats, np.ndarray, np.ndarray]]:
    """Codes 0 to 15 for each row, with the step and the minimum (at most 0) that suit them."""
    n, from_low, total = np.float32(x.shape[1]), x - low[:, None], _sum(x)
    yield _codes(from_low * _inverse(span / 15)[:, None], 0, 15), span / 15, low
    for turn in range(9):
        q = _codes(from_low * _inverse(span)[:, None] * np.float32(14 + turn / 5), 0, 15)
        sum_q, sum_qq, sum_xq = _sum(q), _sum(q * q), _sum(x * q)
        step = _quotient(n * sum_xq - total * sum_q, n * sum_qq - sum_q * sum_q)
        start = (total - step * sum_q) / n
        positive = start > 0  # a minimum is never above 0: then a line through 0
        yield q, np.where(positive, _quotient(sum_xq, sum_qq), step), np.where(positive, np.float32(0), start)


def _fit_range(x: Floats, low: np.ndarray, span: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Step and minimum of each row, by least squares over a few codings."""
    best_step, best_start = span / 15, low
    least = np.full(len(x), np.inf, np.float32)
    for q, step, start in _candidates(x, low, span):
        error = (q * step[:, None] + start[:, None]) - x
        loss = _sum(error * error)
        better = (loss < least) & (step >= 0)
        best_step, best_start = np.where(better, step, best_step), np.where(better, start, best_start)
        least = np.where(better, loss, least)
    return best_step, best_start


def _better(x: Floats, kind: str, *encodings: Bytes) -> Bytes:
    """Of several encodings of a block the one that decodes closest to it."""
    best, least = encodings[0].copy(), np.full(len(x), np.inf, np.float32)
    for encoding in encodings:
        with np.errstate(invalid="ignore", over="ignore"):
            error = DECODERS[kind](encoding) - x
            loss = _sum(error * error)
        best = np.where((loss < least)[:, None], encoding, best)
        least = np.minimum(np.where(np.isnan(loss), np.inf, loss), least)
    return best


def f16_bytes(d: np.ndarray) -> Bytes:
    """Infinite where f16 does not reach."""
    with np.errstate(over="ignore"):
        return d.astype("<f2").view(np.uint8)


def _pack_q4_k(x: Floats, step: np.ndarray, start: np.ndarray) -> Bytes:
    n = len(x)
    groups, step, start = x.reshape(n, 8, 32), step.reshape(n, 8), np.abs(start).reshape(n, 8)
    d16 = f16_bytes(step.max(axis=1, keepdims=True) / 63)
    m16 = f16_bytes(start.max(axis=1, keepdims=True) / 63)
    d, m = _finite(d16), _finite(m16)
    scales = _codes(step * _inverse(d), 0, 63).astype(np.uint8)
    minima = _codes(start * _inverse(m), 0, 63).astype(np.uint8)
    steps, starts = (d * scales)[:, :, None], (m * minima)[:, :, None]
    q = _codes((groups + starts) * _inverse(steps), 0, 15).astype(np.uint8)
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


def _finite(d16: Bytes) -> Floats:
    """A scale as it is stored, 0 where f16 does not hold it (see `_marked`)."""
    d = d16.view("<f2").astype(np.float32)
    return np.where(np.isfinite(d), d, np.float32(0))


def _fit_scale(x: Floats) -> np.ndarray:
    """Step of each row for codes -32 to 31: the largest value takes the wide side, and a few steps near it are tried."""
    largest = np.take_along_axis(x, np.abs(x).argmax(axis=1)[:, None], axis=1)
    step = largest[:, 0] / -32
    least = np.full(len(x), np.inf, np.float32)
    for turn in range(9):
        q = _codes(x * _inverse(largest) * np.float32(-(31.2 + turn / 5)), -32, 31)
        scale = _quotient(_sum(x * q), _sum(q * q))
        error = q * scale[:, None] - x
        loss = _sum(error * error)
        better = loss < least
        step, least = np.where(better, scale, step), np.where(better, loss, least)
    return step


def _pack_q6_k(x: Floats, step: np.ndarray) -> Bytes:
    n = len(x)
    groups, step = x.reshape(n, 16, 16), step.reshape(n, 16)
    widest = np.take_along_axis(step, np.abs(step).argmax(axis=1)[:, None], axis=1)
    d16 = f16_bytes(widest / 127 + np.float32(0))  # never -0
    d = _finite(d16)
    scales = _codes(step * _inverse(d), -128, 127)
    q = _codes(groups * _inverse(d * scales)[:, :, None], -32, 31) + 32
    q = q.astype(np.uint8).reshape(n, 2, 4, 32)
    low = ((q[:, :, :2] & 15) | ((q[:, :, 2:] & 15) << 4)).reshape(n, 128)
    high = (q >> 4) << np.array([0, 2, 4, 6], np.uint8)[:, None]
    high = np.bitwise_or.reduce(high, axis=2).reshape(n, 64)
    return np.concatenate([low, high, scales.astype(np.int8).view(np.uint8), d16], axis=1)
