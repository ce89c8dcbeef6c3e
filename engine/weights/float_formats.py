"""Floats of eight and four bits as safetensors files hold them, in the blocks that backends multiply.

FP8 is E4M3 under f32 scales: of the whole matrix, of each row, or of squares (128 x 128 as DeepSeek and Qwen publish). A value is
float * scale, rounded once, to f32. A matrix becomes blocks of 128 columns of a row, or 32 where those do not divide it, each with
its scale in front: the bytes stay, and a scale is repeated for each row of its square.

NVFP4 is E2M1, two values a byte and the earlier one in the low half, under an E4M3 scale for 16 of them, which has a factor for the
whole matrix: ModelOpt's `weight_scale_2` is multiplied with, compressed-tensors' `weight_global_scale` divided by; scale and factor
are rounded to f32, and so is their product with the value. MXFP4 has powers of two for 32 values instead. Both are GGUF's types in
another order of bytes.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from backends.base import Blocks, Dense, Raw, Weight
from engine.weights.gguf.blocks import decode
from engine.weights.gguf.iqblocks import E4M3, e4m3
from engine.weights.made import Made, computed

SCALE_TYPES = ("F32", "F16", "BF16", "U8", "F8_E8M0", "F8_E4M3")


class WrongTensor(Exception):
    """What is wrong with a tensor of a packed matrix; the message goes behind its name."""


def fp8(weight: Raw, scale: Raw, shape: tuple[int, ...], square: tuple[int, int] | None = None) -> Weight:
    """E4M3 `[out, in]`, or `[experts, out, in]`, with the scales of squares of this size; None: as many as divide a matrix evenly."""
    if weight.shape != shape or len(shape) < 2:
        raise WrongTensor(f"has shape {list(weight.shape)}, should be {list(shape)}")
    out, columns = shape[-2:]
    grid = _grid(scale, shape, square)
    tall = -(-out // grid.shape[-2]) if square is None or grid.shape[-2] in (1, out) else square[0]
    wide = -(-columns // grid.shape[-1]) if square is None or grid.shape[-1] == 1 else square[1]
    size = next((n for n in (128, 32) if columns % n == 0 and (grid.shape[-1] == 1 or wide % n == 0)), None)
    row_of, column_of = np.arange(out) // tall, np.arange(columns) // wide
    # of one square for all experts, as of one for all rows
    rows_of = grid[..., row_of, :].reshape(-1, grid.shape[-1])
    rows = int(np.prod(shape[:-1]))
    if len(rows_of) != rows:
        rows_of = np.tile(rows_of, (rows // len(rows_of), 1))
    if size is None:
        flat = (rows, columns)
        return Dense(computed(weight, shape, lambda: e4m3(_bytes(weight)).reshape(flat) * rows_of[:, column_of]))
    count = columns // size

    def make() -> np.ndarray:
        stored = _bytes(weight).reshape(rows, count, size)
        scales = np.ascontiguousarray(rows_of[:, column_of[::size]], "<f4")
        # A group with a code that is not a number is none: kernels do not look at single codes.
        scales[((stored & 127) == 127).any(axis=2)] = np.nan
        made = np.empty((rows, count, 4 + size), np.uint8)
        made[:, :, :4] = scales.view(np.uint8).reshape(rows, count, 4)
        made[:, :, 4:] = stored
        return made

    kind = f"FP8_{size}"
    return Blocks(Made(weight, kind, shape, rows * count * (4 + size), make), kind, shape)


def _grid(scale: Raw, shape: tuple[int, ...], square: tuple[int, int] | None) -> np.ndarray:
    """Scales as `[rows of squares, columns of squares]`, or `[experts, ...]` of these."""
    values, (*experts, rows, columns) = scales_of(scale), shape
    if values.size == 1:
        return values.reshape(1, 1)
    if not experts and scale.shape == (rows,):
        return values.reshape(rows, 1)
    if len(scale.shape) == len(shape) and list(scale.shape[:-2]) in (experts, [1] * len(experts)):
        tall, wide = scale.shape[-2:]
        if square is not None and (tall, wide) == (-(-rows // square[0]), -(-columns // square[1])):
            return values
        if (tall, wide) in ((rows, 1), (1, 1)):
            return values
        if square is None and tall and wide and rows % tall == 0 and columns % wide == 0:
            return values
    sizes = f" of {square[0]} x {square[1]}" if square else ""
    raise WrongTensor(f"has scales of shape {list(scale.shape)}, which are no squares{sizes} of {list(shape)}")


def nvfp4(codes: Raw, scales: Raw, factor: Raw | None, divide: bool, shape: tuple[int, ...]) -> Weight:
    *outer, columns = shape
    if codes.shape != (*outer, columns // 2) or scales.shape != (*outer, columns // 16) or columns % 16:
        raise WrongTensor(f"has codes {list(codes.shape)} and scales {list(scales.shape)}, for {list(shape)}")
    if codes.dtype != "U8" or scales.dtype not in ("F8_E4M3", "U8"):
        raise WrongTensor(f"has codes stored as {codes.dtype} and scales as {scales.dtype}, should be U8 and F8_E4M3")
    if factor is not None and (factor.dtype != "F32" or int(np.prod(factor.shape)) != 1):
        raise WrongTensor(f"has a factor {factor.dtype} {list(factor.shape)}, should be one F32")

    def make() -> np.ndarray:
        made = np.empty((int(np.prod(shape)) // 64, 4 + 32), np.uint8)
        made[:, :4] = _bytes(scales).reshape(-1, 4) & 127
        both = _bytes(codes).reshape(-1, 4, 8)
        sixteen = np.stack((both & 15, both >> 4), -1).reshape(-1, 4, 16)
        made[:, 4:] = (sixteen[..., :8] | sixteen[..., 8:] << 4).reshape(-1, 32)
        return made

    nbytes = int(np.prod(shape)) // 64 * 36
    if columns % 64 == 0:
        return Blocks(Made(codes, "NVFP4", shape, nbytes, make), "NVFP4", shape, factor, divide)

    def values() -> np.ndarray:
        whole = scales_of(scales)
        if factor is not None:
            one = scales_of(factor).reshape(())
            whole = whole / one if divide else whole * one
        both = _bytes(codes)
        pairs = np.stack((both & 15, both >> 4), -1).reshape(*outer, -1, 16)
        return (E2M1_HALVES[pairs] * whole.reshape(*outer, -1, 1)).reshape(shape)

    return Dense(computed(codes, shape, values))


E2M1_HALVES = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6], np.float32)


def mxfp4_pairs(codes: Raw, scales: Raw, shape: tuple[int, ...]) -> Weight:
    """Two neighbours a byte, the earlier one in the low half."""
    *outer, columns = shape
    if columns % 32 or codes.nbytes != int(np.prod(shape)) // 2 or scales.shape != (*outer, columns // 32):
        raise WrongTensor(f"has codes {list(codes.shape)} and scales {list(scales.shape)}, for {list(shape)}")
    if codes.dtype not in ("U8", "U32") or scales.dtype not in ("U8", "F8_E8M0"):
        raise WrongTensor(f"has codes stored as {codes.dtype} and scales as {scales.dtype}, should be U8")
    return mxfp4(replace(codes, shape=(*outer, columns // 32, 16)), scales)


def scales_of(raw: Raw) -> np.ndarray:
    """As f32. Bytes are powers of two."""
    if raw.dtype not in SCALE_TYPES:
        raise WrongTensor(f"has scales stored as {raw.dtype}, should be {', '.join(SCALE_TYPES)}")
    if raw.dtype == "F8_E4M3":
        return E4M3[_bytes(raw)]
    if raw.dtype in ("U8", "F8_E8M0"):
        power = _bytes(raw).astype(np.int32)
        return np.where(power == 255, np.float32(np.nan), np.ldexp(np.float32(1), power - 127)).astype(np.float32)
    return decode(raw.buffer, raw.dtype).reshape(raw.shape)


def _bytes(raw: Raw) -> np.ndarray:
    shape = raw.shape
    return np.frombuffer(raw.buffer, np.uint8).reshape(shape)


def of_mode(mode: str, packed: Raw, scales: Raw, shape: tuple[int, ...]) -> Weight:
    """MLX's `mxfp4`, `nvfp4` and `mxfp8`: codes in words, the earliest in the lowest bits."""
    *outer, columns = shape
    if mode == "mxfp4":
        return mxfp4_pairs(packed, scales, shape)
    if mode == "nvfp4":
        return nvfp4(replace(packed, dtype="U8", shape=(*outer, columns // 2)), scales, None, False, shape)
    return fp8(replace(packed, dtype="F8_E4M3", shape=shape), scales, shape)


# -- experts as gpt-oss's files hold them: all in one tensor, which is plain with inputs before outputs, or MXFP4
#
# MXFP4 is `NAME_blocks` (16 bytes of two values each, the earlier one in the low half) beside `NAME_scales` (powers of two, one for 32
# values). That is GGUF's type in another order of bytes, which a backend gets.


def mxfp4(blocks: Raw, scales: Raw) -> Blocks:
    """As GGUF's blocks: the scale, then bytes with value i in the low half and value i + 16 in the high one."""
    shape = (*blocks.shape[:-2], blocks.shape[-2] * 32)
    count = int(np.prod(scales.shape))

    def make() -> np.ndarray:
        made = np.empty((count, 17), np.uint8)
        made[:, 0] = np.frombuffer(scales.buffer, np.uint8)
        pairs = np.frombuffer(blocks.buffer, np.uint8).reshape(count, 2, 8)
        low, high = (np.stack((half & 15, half >> 4), -1).reshape(count, 16) for half in (pairs[:, 0], pairs[:, 1]))
        made[:, 1:] = low | high << 4
        return made

    return Blocks(Made(blocks, "MXFP4", shape, 17 * count, make), "MXFP4", shape)


def outputs_first(raw: Raw) -> Dense:
    """A plain tensor `[experts, in, out]` as `[experts, out, in]`."""
    experts, inp, out = raw.shape
    item = raw.nbytes // max(1, experts * inp * out)

    def make() -> np.ndarray:
        stored = np.frombuffer(raw.buffer, f"V{item}").reshape(raw.shape)
        return np.ascontiguousarray(stored.swapaxes(1, 2)).view(np.uint8)

    return Dense(Made(raw, raw.dtype, (experts, out, inp), raw.nbytes, make))
