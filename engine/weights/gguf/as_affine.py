"""Blocks whose values MLX's affine layout can hold exactly, rewritten as such.

A block with one step and one offset for 32, 64 or 128 weights is `code * scale + bias`, only packed in another order.
Scales that a format derives (the K types: f16 times a small whole number) need f32; all others stay f16.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from backends.base import Affine, Blocks, Raw
from engine.weights import affine
from engine.weights.gguf.kblocks import scales_and_minima
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
}


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
