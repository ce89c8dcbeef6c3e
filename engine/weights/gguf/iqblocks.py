"""The IQ1, IQ2 and IQ3 types, whose codes name entries of a grid, and NVFP4: what their blocks mean, in numpy.

A block is 256 weights under one f16 scale. Each 32 of them, or 16, have a step: an odd whole number. A grid's entry is four or
eight weights (see `backends.grids`); IQ2 and IQ3 have signs beside it, IQ1 moves all of an entry up or down by an eighth.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from backends.base import GRIDS, INDICES, SIGNS, Blocks

Bytes = np.ndarray  # uint8 [n, nbytes]
Floats = np.ndarray  # f32 [n, weights]
Steps = np.ndarray  # whole numbers [n, groups]
Values = np.ndarray  # whole numbers [n, 256]: a weight is scale * unit * step * value

IQ2, IQ3_XXS, IQ3_S = (
    np.array(values, np.int16) for values in ((8, 25, 43), (4, 12, 20, 28, 36, 44, 52, 62), (1, 3, 5, 7, 9, 11, 13, 15))
)
IQ1 = np.array((-8, 0, 8), np.int16)  # eightfold
UNITS = {
    "IQ2_XXS": 1 / 8,
    "IQ2_XS": 1 / 8,
    "IQ2_S": 1 / 8,
    "IQ3_XXS": 1 / 4,
    "IQ3_S": 1,
    "IQ1_S": 1 / 8,
    "IQ1_M": 1 / 8,
}


def _u16(raw: Bytes) -> np.ndarray:
    return np.ascontiguousarray(raw).view("<u2")


def _u32(raw: Bytes) -> np.ndarray:
    return np.ascontiguousarray(raw).view("<u4")


def _entries(kind: str, values: np.ndarray, at: np.ndarray) -> np.ndarray:
    """`[n, entries, weights]` of the grid."""
    grid = GRIDS[kind]
    indices = INDICES[grid.first : grid.first + grid.entries * grid.weights].reshape(grid.entries, grid.weights)
    return values[indices[at]]


def _signed(entries: np.ndarray, signs: Bytes) -> Values:
    """Entries of 256 weights; a bit a weight, 1 where it is negative."""
    negative = np.unpackbits(signs, axis=1, bitorder="little").astype(bool)
    flat = entries.reshape(len(entries), -1)
    return np.where(negative, -flat, flat)


def _four_signs(rest: np.ndarray) -> Bytes:
    """Of four times seven bits each."""
    seven = (rest[:, :, None] >> np.array([0, 7, 14, 21], np.uint32)) & 127
    return SIGNS[seven.reshape(len(rest), -1)]


def _halves(raw: Bytes) -> Bytes:
    """Low halves and high halves in turn."""
    return ((raw[:, :, None] >> np.array([0, 4], np.uint8)) & 15).reshape(len(raw), -1)


def _iq2_xxs(b: Bytes) -> tuple[Steps, Values]:
    both = _u32(b[:, 2:]).reshape(len(b), 8, 2)
    at = both[:, :, 0].copy().view(np.uint8).reshape(len(b), 32)
    return both[:, :, 1] >> 28, _signed(_entries("IQ2_XXS", IQ2, at), _four_signs(both[:, :, 1]))


def _iq2_xs(b: Bytes) -> tuple[Steps, Values]:
    q = _u16(b[:, 2:66])
    return _halves(b[:, 66:]), _signed(_entries("IQ2_XS", IQ2, q & 511), SIGNS[q >> 9])


def _iq2_s(b: Bytes) -> tuple[Steps, Values]:
    high = (b[:, 66:74, None] >> np.array([0, 2, 4, 6], np.uint8)) & 3
    at = b[:, 2:34] | high.reshape(len(b), 32).astype(np.uint16) << 8
    return _halves(b[:, 74:]), _signed(_entries("IQ2_S", IQ2, at), b[:, 34:66])


def _iq3_xxs(b: Bytes) -> tuple[Steps, Values]:
    rest = _u32(b[:, 66:])
    return rest >> 28, _signed(_entries("IQ3_XXS", IQ3_XXS, b[:, 2:66]), _four_signs(rest))


def _iq3_s(b: Bytes) -> tuple[Steps, Values]:
    at = b[:, 2:66] | np.unpackbits(b[:, 66:74], axis=1, bitorder="little").astype(np.uint16) << 8
    return _halves(b[:, 106:]), _signed(_entries("IQ3_S", IQ3_S, at), b[:, 74:106])


def _moved(at: np.ndarray, down: np.ndarray) -> Values:
    """Entries of IQ1's grid, an eighth higher or lower."""
    entries = _entries("IQ1_S", IQ1, at)
    return (entries + np.where(down, -1, 1).astype(np.int16)[:, :, None]).reshape(len(at), -1)


def _iq1_s(b: Bytes) -> tuple[Steps, Values]:
    rest = _u16(b[:, 34:])
    high = (rest[:, :, None] >> np.array([0, 3, 6, 9], np.uint16)) & 7
    at = b[:, 2:34] | high.reshape(len(b), 32) << 8
    return (rest >> 12) & 7, _moved(at, np.repeat(rest >= 0x8000, 4, axis=1))


def _iq1_m(b: Bytes) -> tuple[Steps, Values]:
    high = _halves(b[:, 32:48])
    steps = (_u16(b[:, 48:])[:, :, None] >> np.array([0, 3, 6, 9], np.uint16)) & 7
    return steps.reshape(len(b), 16), _moved(b[:, :32] | (high & 7).astype(np.uint16) << 8, (high & 8) != 0)


_READERS: dict[str, Callable[[Bytes], tuple[Steps, Values]]] = {
    "IQ2_XXS": _iq2_xxs,
    "IQ2_XS": _iq2_xs,
    "IQ2_S": _iq2_s,
    "IQ3_XXS": _iq3_xxs,
    "IQ3_S": _iq3_s,
    "IQ1_S": _iq1_s,
    "IQ1_M": _iq1_m,
}


def parts(kind: str, b: Bytes) -> tuple[Floats, Steps, Values]:
    """Scales `[n, 1]`, odd steps `[n, groups]` and values: a weight is the product of the three."""
    if kind == "IQ1_M":  # four bits in each of four numbers
        quarters = (_u16(b[:, 48:]) & 0xF000) >> np.array([12, 8, 4, 0], np.uint16)
        raw = np.bitwise_or.reduce(quarters, axis=1).astype("<u2")[:, None]
    else:
        raw = _u16(b[:, :2])
    steps, values = _READERS[kind](b)
    return raw.view("<f2").astype(np.float32) * np.float32(UNITS[kind]), 2 * steps.astype(np.int16) + 1, values


def _decoder(kind: str) -> Callable[[Bytes], Floats]:
    def decode(b: Bytes) -> Floats:
        scale, steps, values = parts(kind, b)
        groups = values.reshape(len(b), steps.shape[1], -1).astype(np.float32)
        return ((scale * steps.astype(np.float32))[:, :, None] * groups).reshape(len(b), 256)

    return decode


def e4m3(raw: Bytes) -> Floats:
    """Floats of eight bits: a sign, four bits of exponent, three of fraction, no infinity; two codes are not numbers."""
    return E4M3[raw]


def _e4m3_values() -> Floats:
    code = np.arange(128)
    exponent, fraction = code >> 3, (code & 7).astype(np.float32)
    size = np.where(exponent == 0, fraction / 512, (1 + fraction / 8) * np.exp2(exponent - 7.0)).astype(np.float32)
    size[127] = np.nan
    return np.concatenate([size, -size])


E4M3 = _e4m3_values()
# As NVFP4's scales: bytes have no sign, and what is not a number is zero.
NVFP4_SCALES = np.concatenate([E4M3[:127], [0], E4M3[:127], [480]]).astype(np.float32)


def nvfp4_codes(b: Bytes) -> Bytes:
    """`[n, 4, 16]` out of blocks of 64: of 16 weights the first eight in the low halves of bytes."""
    q = b[:, 4:].reshape(len(b), 4, 8)
    return np.concatenate([q & 15, q >> 4], axis=2)


def _nvfp4(b: Bytes, factors: np.ndarray | None = None, divide: bool = False) -> Floats:
    scales = NVFP4_SCALES[b[:, :4]]
    if factors is not None:
        scales = scales / factors if divide else scales * factors
    return ((scales / 2)[:, :, None] * E2M1[nvfp4_codes(b)]).reshape(len(b), 64)


def nvfp4_with_factors(weight: Blocks) -> Floats:
    """A whole tensor whose scales have a factor of their own; they are multiplied before anything else, as they are made."""
    assert weight.factors is not None
    blocks = np.frombuffer(weight.data.buffer, np.uint8).reshape(-1, 36)
    stored = np.frombuffer(weight.factors.buffer, "<f4")
    each = np.repeat(stored, len(blocks) // len(stored))[:, None]
    return _nvfp4(blocks, each, weight.divide).reshape(weight.shape)


def _fp8(b: Bytes) -> Floats:
    return e4m3(b[:, 4:]) * np.ascontiguousarray(b[:, :4]).view("<f4")


E2M1 = np.array([0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12], np.float32)  # doubled

DECODERS: dict[str, Callable[[Bytes], Floats]] = {
    **{kind: _decoder(kind) for kind in _READERS},
    "NVFP4": _nvfp4,
    "FP8_32": _fp8,
    "FP8_128": _fp8,
}
