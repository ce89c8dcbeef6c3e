"""Blocks in MLX's affine layout: exactly where it can hold their values, else quantized anew.

A block with one step and one offset for 32, 64 or 128 weights is `code * scale + bias`, only packed in another order.
Scales that a format derives (the K types: f16 times a small whole number) need f32; all others stay f16. Where a type's values
are whole multiples of one scale, the multiples are the codes: IQ4's table, the values of IQ2_XXS's and IQ3's grids, Q3_K's and
IQ1_M's codes times their steps.

Q2_K, Q6_K, IQ2_XS and IQ2_S change their step every 16 weights, which MLX's smallest group of 32 cannot: they become 8 bit.
MXFP4 and NVFP4 are modes of MLX's own and come here only where a part of a model asks for the affine layout.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from backends.base import Affine, Blocks, Raw
from engine.weights import affine
from engine.weights.gguf.blocks import decode, decode_mxfp4, decode_rows
from engine.weights.gguf.iqblocks import E2M1
from engine.weights.gguf.iqblocks import parts as iq_parts
from engine.weights.gguf.kblocks import DECODERS, IQ4_VALUES, scales_and_minima
from engine.weights.gguf.types import TYPES
from engine.weights.made import Made

Bytes = np.ndarray  # uint8 [n, nbytes]
Parts = tuple[np.ndarray, np.ndarray, np.ndarray]  # codes [n, weights], scales and biases [n, groups] f32


def _f16(raw: Bytes) -> np.ndarray:
    return np.ascontiguousarray(raw).view("<f2").astype(np.float32)


def _nibbles(raw: Bytes) -> np.ndarray:
    return np.concatenate([raw & 15, raw >> 4], axis=1)


def _fifth(raw: Bytes) -> np.ndarray:
    return np.unpackbits(raw, axis=1, bitorder="little") << 4


def _centred(codes: np.ndarray, d: np.ndarray, zero: int) -> Parts:
    return codes, d, d * np.float32(-zero)


def _q8_0(b: Bytes) -> Parts:
    return _centred(b[:, 2:] ^ 128, _f16(b[:, :2]), 128)


def _q4_0(b: Bytes) -> Parts:
    return _centred(_nibbles(b[:, 2:]), _f16(b[:, :2]), 8)


def _q4_1(b: Bytes) -> Parts:
    return _nibbles(b[:, 4:]), _f16(b[:, :2]), _f16(b[:, 2:4])


def _q5_0(b: Bytes) -> Parts:
    return _centred(_nibbles(b[:, 6:]) | _fifth(b[:, 2:6]), _f16(b[:, :2]), 16)


def _q5_1(b: Bytes) -> Parts:
    return _nibbles(b[:, 8:]) | _fifth(b[:, 4:8]), _f16(b[:, :2]), _f16(b[:, 2:4])


def _k_scales(b: Bytes) -> tuple[np.ndarray, np.ndarray]:
    scales, minima = scales_and_minima(b[:, 4:16])
    return _f16(b[:, :2]) * scales.astype(np.float32), -(_f16(b[:, 2:4]) * minima.astype(np.float32))


def _runs(raw: Bytes, bits: int) -> np.ndarray:
    """Codes `[n, 256]` of which each run of 32 bytes holds 8 / bits runs."""
    shifts = np.arange(0, 8, bits, dtype=np.uint8)[:, None]
    return ((raw.reshape(len(raw), -1, 1, 32) >> shifts) & np.uint8((1 << bits) - 1)).reshape(len(raw), -1)


def _q4_k(b: Bytes) -> Parts:
    return _runs(b[:, 16:], 4), *_k_scales(b)


def _q5_k(b: Bytes) -> Parts:
    return _runs(b[:, 48:], 4) | (_runs(b[:, 16:48], 1) << 4), *_k_scales(b)


def _q1_0(b: Bytes) -> Parts:
    d = _f16(b[:, :2])
    return np.unpackbits(b[:, 2:], axis=1, bitorder="little"), d * 2, -d


def _two_bits(raw: Bytes) -> np.ndarray:
    return ((raw[:, :, None] >> np.array([0, 2, 4, 6], np.uint8)) & 3).reshape(len(raw), -1)


def _q2_0(b: Bytes) -> Parts:
    return _centred(_two_bits(b[:, 2:]), _f16(b[:, :2]), 1)


def _tq2_0_g128(b: Bytes) -> Parts:
    codes = _two_bits(b[:, :32])
    return _centred(np.where(codes == 3, 1, codes), _f16(b[:, 32:]), 1)  # 11 means 0 here


def _tq2_0(b: Bytes) -> Parts:
    return _centred(_runs(b[:, :64], 2), np.repeat(_f16(b[:, 64:]), 2, axis=1), 1)


def _iq4_nl(b: Bytes) -> Parts:
    return _centred((IQ4_VALUES.astype(np.int16) + 128).astype(np.uint8)[_nibbles(b[:, 2:])], _f16(b[:, :2]), 128)


def _iq4_xs(b: Bytes) -> Parts:
    n = len(b)
    high = np.ascontiguousarray(b[:, 2:4]).view("<u2") >> np.arange(0, 16, 2, dtype=np.uint16)
    low = (b[:, 4:8, None] >> np.array([0, 4], np.uint8)).reshape(n, 8) & 15
    steps = (low | ((high & 3).astype(np.uint8) << 4)).astype(np.int8) - np.int8(32)
    codes = (IQ4_VALUES.astype(np.int16) + 128).astype(np.uint8)[_nibbles(b[:, 8:].reshape(-1, 16))]
    return _centred(codes.reshape(n, 256), _f16(b[:, :2]) * steps.astype(np.float32), 128)


def _mxfp4(b: Bytes) -> Parts:
    unit = decode_mxfp4(np.concatenate([b[:, :1], np.full((len(b), 16), 1, np.uint8)], axis=1))[
        :, :1
    ]  # what code 1 means
    codes = (E2M1.astype(np.int16) + 12).astype(np.uint8)[_nibbles(b[:, 1:])]
    return _centred(codes, unit, 12)


def _q3_k(b: Bytes) -> Parts:
    """Every value is a whole number, at most 128 in size, times the block's scale."""
    ones = np.concatenate([b[:, :108], np.tile(np.array([1], "<f2").view(np.uint8), (len(b), 1))], axis=1)
    whole = DECODERS["Q3_K"](ones)
    return _centred((whole + 124).astype(np.uint8), np.repeat(_f16(b[:, 108:]), 2, axis=1), 124)


def _grid(kind: str, most: int, spacing: int) -> Callable[[Bytes], Parts]:
    """Values between -most and most, which are `spacing` apart."""

    def split(b: Bytes) -> Parts:
        scale, steps, values = iq_parts(kind, b)
        codes = ((values + most) // spacing).astype(np.uint8)
        each = scale * steps.astype(np.float32)
        return codes, each * spacing, each * np.float32(-most)

    return split


def _iq1_m(b: Bytes) -> Parts:
    """Odd values up to 9 in size, times odd steps up to 15."""
    scale, steps, values = iq_parts("IQ1_M", b)
    codes = ((np.repeat(steps, 16, axis=1) * values + 135) // 2).astype(np.uint8)
    each = np.repeat(scale, 2, axis=1)
    return codes, each * 2, each * np.float32(-135)


def _trits(count: int) -> Callable[[Bytes], Parts]:
    def split(b: Bytes) -> Parts:
        ones = np.concatenate([b[:, :-2], np.tile(np.array([1], "<f2").view(np.uint8), (len(b), 1))], axis=1)
        codes = (decode(ones, "TQ1_0" if count == 256 else "PTQ1_0").reshape(len(b), count) + 1).astype(np.uint8)
        return _centred(codes, np.repeat(_f16(b[:, -2:]), count // 128, axis=1), 1)

    return split


@dataclass(frozen=True)
class Form:
    bits: int
    group: int
    split: Callable[[Bytes], Parts]
    dtype: str = "F16"  # of scales and biases


EXACT: dict[str, Form] = {
    "Q8_0": Form(8, 32, _q8_0),
    "Q4_0": Form(4, 32, _q4_0),
    "Q4_1": Form(4, 32, _q4_1),
    "Q5_0": Form(5, 32, _q5_0),
    "Q5_1": Form(5, 32, _q5_1),
    "Q4_K": Form(4, 32, _q4_k, "F32"),
    "Q5_K": Form(5, 32, _q5_k, "F32"),
    "Q1_0": Form(2, 128, _q1_0),
    "Q2_0": Form(2, 64, _q2_0),
    "PQ2_0": Form(2, 128, _q2_0),
    "TQ2_0_G128": Form(2, 128, _tq2_0_g128),
    "TQ2_0": Form(2, 128, _tq2_0),
    "TQ1_0": Form(2, 128, _trits(256)),
    "PTQ1_0": Form(2, 128, _trits(128)),
    "IQ4_NL": Form(8, 32, _iq4_nl),
    "IQ4_XS": Form(8, 32, _iq4_xs, "F32"),
    "MXFP4": Form(5, 32, _mxfp4, "F32"),
    "Q3_K": Form(8, 128, _q3_k, "F32"),
    "IQ2_XXS": Form(8, 32, _grid("IQ2_XXS", 43, 1), "F32"),
    "IQ3_XXS": Form(6, 32, _grid("IQ3_XXS", 62, 2), "F32"),
    "IQ3_S": Form(4, 32, _grid("IQ3_S", 15, 2), "F32"),
    "IQ1_S": Form(4, 32, _grid("IQ1_S", 9, 2), "F32"),
    "IQ1_M": Form(8, 128, _iq1_m, "F32"),
}
BITS, GROUP = 8, 32  # of what is quantized anew


def bits_per_weight(kind: str) -> float:
    """Of the affine layout of this type."""
    form = EXACT.get(kind)
    bits, group, scale = (form.bits, form.group, 32 if form.dtype == "F32" else 16) if form else (BITS, GROUP, 16)
    return bits + 2 * scale / group


def _spread(values: np.ndarray) -> Parts:
    """255 steps from each group's least value to its greatest, which f16 rounds by a fraction of a step."""
    groups = np.ascontiguousarray(values, np.float32).reshape(-1, GROUP)
    low = groups.min(1).astype("<f2").astype(np.float32)
    step = ((groups.max(1) - groups.min(1)) / 255).astype("<f2").astype(np.float32)
    usable = np.where(step > 0, step, np.float32(1))
    codes = np.rint((groups - low[:, None]) / usable[:, None]).clip(0, 255).astype(np.uint8)
    return codes, step, low


def anew(weight: Blocks) -> Affine:
    """Eight bits in groups of 32, made when they are asked for: no value further off than 0.4 % of its group's range."""

    def part(index: int) -> Callable[[], np.ndarray]:
        def make() -> np.ndarray:
            rows = decode_rows(weight.data.buffer, weight.type, weight.shape[-1])
            made = np.concatenate([_spread(some)[index] for some in rows])
            return made if index == 0 else made.astype("<f2")

        return make

    return _triple(weight.data, weight.shape, BITS, GROUP, "F16", part)


def exact(weight: Blocks) -> Affine | None:
    """The same numbers in the affine layout, made when they are asked for; None where it cannot hold them."""
    form = EXACT.get(weight.type)
    if form is None:
        return None

    def part(index: int) -> Callable[[], np.ndarray]:
        def make() -> np.ndarray:
            blocks = np.frombuffer(weight.data.buffer, np.uint8).reshape(-1, TYPES[weight.type].nbytes)
            made = form.split(blocks)[index]
            if index == 0:
                return affine.pack(made.reshape(-1, 8), form.bits)
            return made.astype("<f2" if form.dtype == "F16" else "<f4")

        return make

    return _triple(weight.data, weight.shape, form.bits, form.group, form.dtype, part)


def _triple(
    raw: Raw, shape: tuple[int, ...], bits: int, group: int, dtype: str, part: Callable[[int], Callable[[], np.ndarray]]
) -> Affine:
    count = int(np.prod(shape))
    words, groups = (*shape[:-1], shape[-1] * bits // 32), (*shape[:-1], shape[-1] // group)
    size = count // group * (2 if dtype == "F16" else 4)
    return Affine(
        packed=Made(raw, "U32", words, count * bits // 8, part(0)),
        scales=Made(raw, dtype, groups, size, part(1)),
        biases=Made(raw, dtype, groups, size, part(2)),
        bits=bits,
        group=group,
    )
