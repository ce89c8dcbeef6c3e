"""Weights of every format the kernels know, with the floats they stand for, told by somebody else: the `gguf` package where it
knows the type, else the format's written rule in numpy."""

from __future__ import annotations

from dataclasses import dataclass

import gguf
import numpy as np
import torch

from backends.base import Affine, Blocks, Dense, Raw, Weight
from backends.torch.kernels.formats import PACKINGS

DENSE = ("F32", "F16", "BF16")
GGUF = tuple(name for name in PACKINGS if name not in DENSE)
AFFINE = ("affine-2-64", "affine-3-32", "affine-4-64", "affine-4-32", "affine-5-64", "affine-6-128", "affine-8-64")
ALL = (*DENSE, *GGUF, *AFFINE)

BLOCK_BYTES = {"Q1_0": (128, 18), "TQ2_0_G128": (128, 34), "Q2_0": (64, 18), "PQ2_0": (128, 34), "PTQ1_0": (128, 28)}
FP8 = {"FP8_32": (32, 36), "FP8_128": (128, 132)}
# Where a block's 16-bit floats lie.
FLOATS = {
    "Q4_0": (0,),
    "Q4_1": (0, 2),
    "Q5_0": (0,),
    "Q5_1": (0, 2),
    "Q8_0": (0,),
    "Q2_K": (80, 82),
    "Q3_K": (108,),
    "Q4_K": (0, 2),
    "Q5_K": (0, 2),
    "Q6_K": (208,),
    "IQ4_NL": (0,),
    "IQ4_XS": (0,),
    "TQ1_0": (52,),
    "TQ2_0": (64,),
    "Q1_0": (0,),
    "TQ2_0_G128": (32,),
    "Q2_0": (0,),
    "PQ2_0": (0,),
    "PTQ1_0": (26,),
    **dict.fromkeys(("IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S", "IQ1_S"), (0,)),
}
HARD = np.array([0, -0.0, 65504, -65504, 6e-8, -6e-8, 6.1e-5, 1, -1, 3e-6], np.float16)


@dataclass
class Case:
    weight: Weight
    floats: np.ndarray  # [rows, columns]
    size: np.ndarray  # how large the terms are that a weight is the sum of: |scale * code| + |minimum|


def raw(data: np.ndarray, dtype: str, shape: tuple[int, ...] | None = None, *, shift: int = 0) -> Raw:
    """The bytes of `data`, at an address that is `shift` past a multiple of 64."""
    whole = np.empty(data.nbytes + 128, np.uint8)
    start = -whole.__array_interface__["data"][0] % 64 + shift
    view = whole[start : start + data.nbytes]
    view[:] = np.ascontiguousarray(data).reshape(-1).view(np.uint8)
    return Raw("w", "", 0, data.nbytes, dtype, tuple(shape or data.shape), memoryview(view).toreadonly())


def columns_of(kind: str, at_least: int) -> int:
    if kind in DENSE:
        return at_least
    unit = int(kind.rsplit("-", 1)[1]) if kind in AFFINE else PACKINGS[kind].columns
    return -(-at_least // unit) * unit


def make(kind: str, rows: int, columns: int, seed: int = 0, *, hard: bool = False, shift: int = 0) -> Case:
    """`hard`: random bits, with scales that are zero, huge, denormal or negative."""
    rng = np.random.default_rng(seed)
    if kind in DENSE:
        return _dense(kind, rows, columns, rng, hard, shift)
    return (
        _affine(kind, rows, columns, rng, shift) if kind in AFFINE else _blocks(kind, rows, columns, rng, hard, shift)
    )


def _dense(kind: str, rows: int, columns: int, rng: np.random.Generator, hard: bool, shift: int) -> Case:
    w = rng.standard_normal((rows, columns)).astype(np.float32)
    if hard:
        w *= rng.choice(np.array([0, 1e-30, 1, 1e4], np.float32), (rows, 1))
    stored = torch.from_numpy(w).to({"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}[kind])
    floats = stored.float().numpy()
    data = raw(stored.view(torch.uint8).numpy(), kind, (rows, columns), shift=shift)
    return Case(Dense(data), floats, np.abs(floats))


def _blocks(kind: str, rows: int, columns: int, rng: np.random.Generator, hard: bool, shift: int) -> Case:
    if kind in FP8:
        return _fp8(kind, rows, columns, rng, hard, shift)
    if kind in BLOCK_BYTES:
        unit, size = BLOCK_BYTES[kind]
    else:
        unit, size = gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType[kind]]
    blocks = rng.integers(0, 256, (rows, columns // unit, size), np.uint8)
    if kind == "MXFP4":
        blocks[..., 0] = rng.integers(0 if hard else 120, 134, blocks.shape[:2])
    for at in FLOATS.get(kind, ()):
        scales = (
            rng.choice(HARD, blocks.shape[:2]) if hard else rng.standard_normal(blocks.shape[:2]).astype(np.float16)
        )
        blocks[..., at : at + 2] = scales[..., None].view(np.uint8)
    if kind == "IQ1_M":  # its scale is in the highest four bits of four numbers, the lowest first
        scales = rng.choice(HARD, blocks.shape[:2]) if hard else rng.standard_normal(blocks.shape[:2])
        bits = scales.astype(np.float16).view(np.uint16)
        for i in range(4):
            blocks[..., 49 + 2 * i] = blocks[..., 49 + 2 * i] & 15 | (bits >> 4 * i << 4).astype(np.uint8) & 240
    if kind == "Q8_0" and hard:
        blocks[:, ::2, 2:10] = 128  # -128, which no quantizer writes
    floats, size_of = _decoded(kind, blocks, rows, columns)
    return Case(Blocks(raw(blocks, "U8", shift=shift), kind, (rows, columns)), floats, size_of)


def _fp8(kind: str, rows: int, columns: int, rng: np.random.Generator, hard: bool, shift: int) -> Case:
    unit, size = FP8[kind]
    blocks = rng.integers(0, 256, (rows, columns // unit, size), np.uint8)
    codes = blocks[..., 4:]
    codes[(codes & 127) == 127] = 0  # not a number
    scales = rng.choice(HARD[HARD != 0], blocks.shape[:2]) if hard else rng.standard_normal(blocks.shape[:2]) / 99
    blocks[..., :4] = scales.astype(np.float32)[..., None].view(np.uint8)
    e4m3 = torch.from_numpy(codes.copy()).view(torch.float8_e4m3fn).float().numpy()
    floats = (e4m3 * scales.astype(np.float32)[..., None]).reshape(rows, columns)
    return Case(Blocks(raw(blocks, "U8", shift=shift), kind, (rows, columns)), floats, np.abs(floats))


def _decoded(kind: str, blocks: np.ndarray, rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    if kind == "Q1_0":
        d = blocks[..., :2].copy().view(np.float16).astype(np.float32)
        bits = np.unpackbits(blocks[..., 2:], axis=-1, bitorder="little")
        floats = np.where(bits == 1, d, -d).reshape(rows, columns)
        return floats, np.abs(floats)
    if kind in BLOCK_BYTES:
        at = FLOATS[kind][0]
        d = blocks[..., at : at + 2].copy().view(np.float16).astype(np.float32)
        codes = np.delete(blocks, [at, at + 1], axis=-1)
        floats = (d * _ternary(kind, codes).astype(np.float32)).reshape(rows, columns)
        return floats, np.abs(floats)
    flat = np.ascontiguousarray(blocks).reshape(rows, -1)
    kind_of = gguf.GGMLQuantizationType[kind]
    floats = gguf.dequantize(flat, kind_of).reshape(rows, columns)
    if len(FLOATS.get(kind, ())) < 2:
        return floats, np.abs(floats)
    alone = blocks.copy()  # without its minimum, a weight is its scale's term alone
    alone[..., FLOATS[kind][1] : FLOATS[kind][1] + 2] = 0
    term = gguf.dequantize(alone.reshape(rows, -1), kind_of).reshape(rows, columns).astype(np.float64)
    return floats, np.abs(term) + np.abs(floats - term)


def _ternary(kind: str, codes: np.ndarray) -> np.ndarray:
    """-1, 0, 1, and 2 where a format has it; one weight at a time where the order is not that of the bytes."""
    if (
        kind == "PTQ1_0"
    ):  # 16 bytes of five digits, 8 of five, 2 of four; digit i of all bytes of a run, then digit i + 1
        whole = codes.astype(np.uint32)
        digits = [
            (((whole[..., at] * 3**digit) & 255) * 3) >> 8
            for first, count, long in ((0, 16, 5), (16, 8, 5), (24, 2, 4))
            for digit in range(long)
            for at in range(first, first + count)
        ]
        return np.stack(digits, -1).astype(np.int32) - 1
    pairs = ((codes[..., None] >> np.array([0, 2, 4, 6], np.uint8)) & 3).reshape(*codes.shape[:2], -1)
    values = np.array([-1, 0, 1, 0 if kind == "TQ2_0_G128" else 2])  # 11 is reserved there
    return values[pairs]


def _affine(kind: str, rows: int, columns: int, rng: np.random.Generator, shift: int) -> Case:
    bits, group = (int(n) for n in kind.split("-")[1:])
    codes = rng.integers(0, 1 << bits, (rows, columns))
    stream = ((codes[..., None] >> np.arange(bits)) & 1).astype(np.uint8).reshape(rows, -1)
    packed = np.packbits(stream, axis=-1, bitorder="little").view(np.uint32)
    dtype = {32: "F32", 64: "BF16", 128: "F16"}[group]
    torch_dtype = {"F32": torch.float32, "BF16": torch.bfloat16, "F16": torch.float16}[dtype]
    scales, biases = (torch.from_numpy(rng.standard_normal((rows, columns // group))).to(torch_dtype) for _ in range(2))
    term = np.repeat(scales.float().numpy(), group, -1) * codes.astype(np.float32)
    minimum = np.repeat(biases.float().numpy(), group, -1)
    parts = [raw(t.view(torch.uint8).numpy(), dtype, tuple(t.shape), shift=shift) for t in (scales, biases)]
    weight = Affine(raw(packed, "U32", shift=shift), *parts, bits, group)
    return Case(weight, term + minimum, np.abs(term) + np.abs(minimum))


def quantized(x: np.ndarray) -> np.ndarray:
    """Activations as the integer kernels see them, in f64: per 32 of a row, 127 steps to the largest."""
    rows, columns = x.shape
    padded = np.zeros((rows, -(-columns // 32) * 32), np.float32)
    padded[:, :columns] = x
    blocks = padded.reshape(rows, -1, 32)
    peak = np.abs(blocks).max(-1, keepdims=True)
    inverse = np.divide(np.float32(127), peak, out=np.zeros_like(peak), where=peak > 1e-36)
    codes = np.rint(blocks * inverse).astype(np.float64)
    return (codes * (peak / np.float32(127))).reshape(rows, -1)[:, :columns]
