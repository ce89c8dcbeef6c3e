"""Triton kernels over GGUF blocks as stored in the file: dequantized rows, and a product with a few tokens.

`value` decodes weight `i` of the block at `p` for each block type, as f32, with the same arithmetic as
`engine/weights/gguf/blocks.py`, so the values are identical bit for bit. Bytes are read one by one, because GGUF blocks lie at odd
addresses. The IQ1, IQ2 and IQ3 types look their weights up in `grids`, which lie as in `backends/grids.py`.
"""

from __future__ import annotations

from functools import cache

import torch
import triton
import triton.language as tl
from torch import Tensor

from backends.base import INDICES

# (weights, bytes) of a block
BLOCKS = {
    "Q4_0": (32, 18),
    "Q4_1": (32, 20),
    "Q5_0": (32, 22),
    "Q5_1": (32, 24),
    "Q8_0": (32, 34),
    "Q2_K": (256, 84),
    "Q3_K": (256, 110),
    "Q4_K": (256, 144),
    "Q5_K": (256, 176),
    "Q6_K": (256, 210),
    "IQ4_NL": (32, 18),
    "IQ4_XS": (256, 136),
    "TQ1_0": (256, 54),
    "TQ2_0": (256, 66),
    "MXFP4": (32, 17),
    "Q1_0": (128, 18),
    "Q2_0": (64, 18),
    "PQ2_0": (128, 34),
    "TQ2_0_G128": (128, 34),
    "PTQ1_0": (128, 28),
    "IQ2_XXS": (256, 66),
    "IQ2_XS": (256, 74),
    "IQ2_S": (256, 82),
    "IQ3_XXS": (256, 98),
    "IQ3_S": (256, 110),
    "IQ1_S": (256, 50),
    "IQ1_M": (256, 56),
    "NVFP4": (64, 36),
    "FP8_32": (32, 36),
    "FP8_128": (128, 132),
}
FEW = 8  # tokens that one reading of the weights serves; more are multiplied by torch


@triton.jit
def _byte(p, at, mask):
    return tl.load(p + at, mask=mask, other=0).to(tl.int32)


@triton.jit
def _half(p, at, mask):
    bits = _byte(p, at, mask) | (_byte(p, at + 1, mask) << 8)
    return bits.to(tl.int16).to(tl.float16, bitcast=True).to(tl.float32)


@triton.jit
def _nibble(p, at, i, mask):
    """Low halves of 16 bytes, then high halves."""
    return (_byte(p, at + i % 16, mask) >> (4 * (i // 16))) & 15


@triton.jit
def _signed(x):
    """A byte as a signed number."""
    return tl.where(x > 127, x - 256, x)


@triton.jit
def _iq4(q):
    """The sixteen steps of IQ4."""
    low = tl.where(q == 0, -127, tl.where(q == 1, -104, tl.where(q == 2, -83, tl.where(q == 3, -65, 0))))
    low += tl.where(q == 4, -49, tl.where(q == 5, -35, tl.where(q == 6, -22, tl.where(q == 7, -10, 0))))
    high = tl.where(q == 8, 1, tl.where(q == 9, 13, tl.where(q == 10, 25, tl.where(q == 11, 38, 0))))
    high += tl.where(q == 12, 53, tl.where(q == 13, 69, tl.where(q == 14, 89, tl.where(q == 15, 113, 0))))
    return low + high


@triton.jit
def _scale_and_minimum(p, j, mask):
    """Six bits each, packed into twelve bytes: of Q4_K and Q5_K."""
    low = j < 4
    k = tl.where(low, j, j - 4)
    first, second = _byte(p, 4 + k, mask), _byte(p, 8 + k, mask)
    third = _byte(p, 12 + k, mask)
    scale = tl.where(low, first & 63, (third & 15) | ((first >> 6) << 4))
    minimum = tl.where(low, second & 63, (third >> 4) | ((second >> 6) << 4))
    return scale.to(tl.float32), minimum.to(tl.float32)


@triton.jit
def _trit(p, i, mask, FIRST: tl.constexpr):
    """FIRST bytes of five base-3 digits, half as many of five, an eighth as many of four."""
    one, two = i < 5 * FIRST, i < 5 * FIRST + 5 * (FIRST // 2)
    k = tl.where(one, i, tl.where(two, i - 5 * FIRST, i - 5 * FIRST - 5 * (FIRST // 2)))
    run = tl.where(one, FIRST, tl.where(two, FIRST // 2, FIRST // 8))
    start = tl.where(one, 0, tl.where(two, FIRST, FIRST + FIRST // 2))
    digit = k // run
    power = tl.where(digit == 0, 1, tl.where(digit == 1, 3, tl.where(digit == 2, 9, tl.where(digit == 3, 27, 81))))
    return ((((_byte(p, start + k % run, mask) * power) & 255) * 3) >> 8) - 1


@triton.jit
def _pair(p, at, mask):
    return _byte(p, at, mask) | (_byte(p, at + 1, mask) << 8)


@triton.jit
def _entry(grids, at, i, mask, WEIGHTS: tl.constexpr):
    return tl.load(grids + at * WEIGHTS + i % WEIGHTS, mask=mask, other=0).to(tl.int32)


@triton.jit
def _sign(seven, i):
    """Bit `i % 8` of seven stored ones, the eighth making their number even."""
    even = seven ^ (seven >> 4)
    even = even ^ (even >> 2)
    even = even ^ (even >> 1)
    return tl.where(i % 8 == 7, even, seven >> (i % 8)) & 1


@triton.jit
def _iq2(index, negative):
    size = tl.where(index == 0, 8, tl.where(index == 1, 25, 43))
    return tl.where(negative == 1, -size, size)


@triton.jit
def _of_grid(p, i, mask, grids, KIND: tl.constexpr):
    """An f16 scale times a power of two, an odd step, and a whole number."""
    j, l, h = i // 32, i % 32 // 8, i % 32 // 16  # the block, its quarter and its half
    unit = 0.125
    at = 0  # of the scale
    if KIND == "IQ2_XXS":
        low, high = _pair(p, 6 + 8 * j, mask), _pair(p, 8 + 8 * j, mask)
        rest = low | (high << 16)
        step = (rest >> 28) & 15
        whole = _iq2(_entry(grids, _byte(p, 2 + 8 * j + l, mask), i, mask, 8), _sign((rest >> (7 * l)) & 127, i))
    elif KIND == "IQ2_XS":
        q = _pair(p, 2 + 2 * (i // 8), mask)
        step = (_byte(p, 66 + j, mask) >> (4 * h)) & 15
        whole = _iq2(_entry(grids + 2048, q & 511, i, mask, 8), _sign(q >> 9, i))
    elif KIND == "IQ2_S":
        q = _byte(p, 2 + i // 8, mask) | (((_byte(p, 66 + j, mask) >> (2 * l)) & 3) << 8)
        step = (_byte(p, 74 + j, mask) >> (4 * h)) & 15
        whole = _iq2(_entry(grids + 6144, q, i, mask, 8), (_byte(p, 34 + i // 8, mask) >> (i % 8)) & 1)
    elif KIND == "IQ3_XXS":
        rest = _pair(p, 66 + 4 * j, mask) | (_pair(p, 68 + 4 * j, mask) << 16)
        step = (rest >> 28) & 15
        index = _entry(grids + 14336, _byte(p, 2 + i // 4, mask), i, mask, 4)
        size = tl.where(index == 7, 62, 4 + 8 * index)
        whole = tl.where(_sign((rest >> (7 * l)) & 127, i) == 1, -size, size)
        unit = 0.25
    elif KIND == "IQ3_S":
        q = _byte(p, 2 + i // 4, mask) | (((_byte(p, 66 + j, mask) >> (i % 32 // 4)) & 1) << 8)
        step = (_byte(p, 106 + j // 2, mask) >> (4 * (j % 2))) & 15
        size = 1 + 2 * _entry(grids + 15360, q, i, mask, 4)
        whole = tl.where(((_byte(p, 74 + i // 8, mask) >> (i % 8)) & 1) == 1, -size, size)
        unit = 1.0
    elif KIND == "IQ1_S":
        rest = _pair(p, 34 + 2 * j, mask)
        q = _byte(p, 2 + i // 8, mask) | (((rest >> (3 * l)) & 7) << 8)
        step = (rest >> 12) & 7
        whole = 8 * _entry(grids + 17408, q, i, mask, 8) - 8 + tl.where(rest > 32767, -1, 1)
    else:  # IQ1_M
        high = (_byte(p, 32 + i // 16, mask) >> (4 * (l % 2))) & 15
        step = (_pair(p, 48 + 2 * (i // 64), mask) >> (3 * (i % 64 // 16))) & 7
        q = _byte(p, i // 8, mask) | ((high & 7) << 8)
        whole = 8 * _entry(grids + 17408, q, i, mask, 8) - 8 + tl.where(high > 7, -1, 1)
    if KIND == "IQ1_M":  # four bits in each of four numbers
        bits = (_byte(p, 49, mask) >> 4) | (_byte(p, 51, mask) & 240)
        bits |= ((_byte(p, 53, mask) & 240) << 4) | ((_byte(p, 55, mask) & 240) << 8)
        d = bits.to(tl.int16).to(tl.float16, bitcast=True).to(tl.float32)
    else:
        d = _half(p, at, mask)
    return (d * unit * (2 * step + 1).to(tl.float32)) * whole.to(tl.float32)


@triton.jit
def _e4m3(x):
    """Without a sign; what is not a number is zero."""
    e, m = (x >> 3) & 15, x & 7
    tiny = m.to(tl.float32) * 0.001953125
    bits = ((e + 120) << 23) | (m << 20)
    return tl.where(x == 127, 0.0, tl.where(e == 0, tiny, bits.to(tl.float32, bitcast=True)))


@triton.jit
def _e2m1(q):
    """Doubled."""
    m = q & 7
    size = tl.where(m < 5, m, tl.where(m == 5, 6, tl.where(m == 6, 8, 12)))
    return tl.where(q > 7, -size, size).to(tl.float32)


@triton.jit
def value(p, i, mask, grids, KIND: tl.constexpr):
    if KIND == "Q4_0":
        return _half(p, 0, mask) * (_nibble(p, 2, i, mask) - 8).to(tl.float32)
    elif KIND == "Q4_1":
        return _half(p, 0, mask) * _nibble(p, 4, i, mask).to(tl.float32) + _half(p, 2, mask)
    elif KIND == "Q5_0":
        fifth = (_byte(p, 2 + i // 8, mask) >> (i % 8)) & 1
        return _half(p, 0, mask) * ((_nibble(p, 6, i, mask) | (fifth << 4)) - 16).to(tl.float32)
    elif KIND == "Q5_1":
        fifth = (_byte(p, 4 + i // 8, mask) >> (i % 8)) & 1
        return _half(p, 0, mask) * (_nibble(p, 8, i, mask) | (fifth << 4)).to(tl.float32) + _half(p, 2, mask)
    elif KIND == "Q8_0":
        return _half(p, 0, mask) * _signed(_byte(p, 2 + i, mask)).to(tl.float32)
    elif KIND == "Q2_K":
        both = _byte(p, i // 16, mask)
        q = (_byte(p, 16 + 32 * (i // 128) + i % 32, mask) >> (2 * (i % 128 // 32))) & 3
        d = _half(p, 80, mask) * (both & 15).to(tl.float32)
        m = _half(p, 82, mask) * (both >> 4).to(tl.float32)
        return d * q.to(tl.float32) - m
    elif KIND == "Q3_K":
        j = i // 16
        low = (_byte(p, 32 + 32 * (i // 128) + i % 32, mask) >> (2 * (i % 128 // 32))) & 3
        high = (_byte(p, i % 32, mask) >> (i // 32)) & 1
        scale = (_byte(p, 96 + j % 8, mask) >> (4 * (j // 8))) & 15
        scale |= ((_byte(p, 104 + j % 4, mask) >> (2 * (j // 4))) & 3) << 4
        d = _half(p, 108, mask) * (scale - 32).to(tl.float32)
        return d * (low + 4 * high - 4).to(tl.float32)
    elif KIND == "Q4_K":
        scale, minimum = _scale_and_minimum(p, i // 32, mask)
        q = (_byte(p, 16 + 32 * (i // 64) + i % 32, mask) >> (4 * (i % 64 // 32))) & 15
        return (_half(p, 0, mask) * scale) * q.to(tl.float32) - _half(p, 2, mask) * minimum
    elif KIND == "Q5_K":
        scale, minimum = _scale_and_minimum(p, i // 32, mask)
        q = (_byte(p, 48 + 32 * (i // 64) + i % 32, mask) >> (4 * (i % 64 // 32))) & 15
        q |= ((_byte(p, 16 + i % 32, mask) >> (i // 32)) & 1) << 4
        return (_half(p, 0, mask) * scale) * q.to(tl.float32) - _half(p, 2, mask) * minimum
    elif KIND == "Q6_K":
        low = (_byte(p, 64 * (i // 128) + i % 64, mask) >> (4 * (i % 128 // 64))) & 15
        high = (_byte(p, 128 + 32 * (i // 128) + i % 32, mask) >> (2 * (i % 128 // 32))) & 3
        d = _half(p, 208, mask) * _signed(_byte(p, 192 + i // 16, mask)).to(tl.float32)
        return d * ((low | (high << 4)) - 32).to(tl.float32)
    elif KIND == "IQ4_NL":
        return _half(p, 0, mask) * _iq4(_nibble(p, 2, i, mask)).to(tl.float32)
    elif KIND == "IQ4_XS":
        j = i // 32
        low = (_byte(p, 4 + j // 2, mask) >> (4 * (j % 2))) & 15
        high = (_byte(p, 2 + j // 4, mask) >> (2 * (j % 4))) & 3
        d = _half(p, 0, mask) * ((low | (high << 4)) - 32).to(tl.float32)
        return d * _iq4(_nibble(p, 8 + 16 * j, i % 32, mask)).to(tl.float32)
    elif KIND == "TQ1_0":
        return _half(p, 52, mask) * _trit(p, i, mask, 32).to(tl.float32)
    elif KIND == "PTQ1_0":
        return _half(p, 26, mask) * _trit(p, i, mask, 16).to(tl.float32)
    elif KIND == "TQ2_0":
        q = (_byte(p, 32 * (i // 128) + i % 32, mask) >> (2 * (i % 128 // 32))) & 3
        return _half(p, 64, mask) * (q - 1).to(tl.float32)
    elif KIND == "MXFP4":
        e = _byte(p, 0, mask)
        bits = tl.where(e < 2, 0x00200000 << (e & 1), (e - 1) << 23)
        return bits.to(tl.float32, bitcast=True) * _e2m1(_nibble(p, 1, i, mask))
    elif KIND == "NVFP4":
        k = i % 16
        q = (_byte(p, 4 + 8 * (i // 16) + k % 8, mask) >> (4 * (k // 8))) & 15
        return _e4m3(_byte(p, i // 16, mask)) * 0.5 * _e2m1(q)
    elif KIND == "Q1_0":
        d = _half(p, 0, mask)
        return tl.where(((_byte(p, 2 + i // 8, mask) >> (i % 8)) & 1) == 1, d, -d)
    elif KIND == "TQ2_0_G128":
        q = (_byte(p, i // 4, mask) >> (2 * (i % 4))) & 3
        return _half(p, 32, mask) * tl.where(q == 3, 0, q - 1).to(tl.float32)
    elif KIND == "FP8_32" or KIND == "FP8_128":
        x = _byte(p, 4 + i, mask)
        size = tl.where(x & 127 == 127, float("nan"), _e4m3(x & 127))
        bits = _pair(p, 0, mask) | (_pair(p, 2, mask) << 16)
        return tl.where(x > 127, -size, size) * bits.to(tl.float32, bitcast=True)
    elif (
        KIND == "IQ2_XXS"
        or KIND == "IQ2_XS"
        or KIND == "IQ2_S"
        or KIND == "IQ3_XXS"
        or KIND == "IQ3_S"
        or KIND == "IQ1_S"
        or KIND == "IQ1_M"
    ):
        return _of_grid(p, i, mask, grids, KIND)
    else:  # Q2_0 and PQ2_0, which differ in length alone
        q = (_byte(p, 2 + i // 4, mask) >> (2 * (i % 4))) & 3
        return _half(p, 0, mask) * (q - 1).to(tl.float32)


_ROWS, _COLUMNS = 8, 256  # of a program's tile


@triton.jit
def _rows(data, grids, ids, out, columns, row_bytes, KIND: tl.constexpr, WEIGHTS: tl.constexpr, BYTES: tl.constexpr,
          COLUMNS: tl.constexpr):  # fmt: skip
    row = tl.load(ids + tl.program_id(0)).to(tl.int64)
    i = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    mask = i < columns
    found = value(data + row * row_bytes + i // WEIGHTS * BYTES, i % WEIGHTS, mask, grids, KIND)
    tl.store(out + tl.program_id(0).to(tl.int64) * columns + i, found.to(out.dtype.element_ty), mask=mask)


@triton.jit
def _product(data, grids, x, bias, out, rows, columns, row_bytes, x_row, out_row, HAS_BIAS: tl.constexpr,
             KIND: tl.constexpr, WEIGHTS: tl.constexpr, BYTES: tl.constexpr, TOKENS: tl.constexpr,
             ROWS: tl.constexpr, COLUMNS: tl.constexpr):  # fmt: skip
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    here = row < rows
    token = tl.arange(0, TOKENS)
    total = tl.zeros((TOKENS, ROWS), tl.float32)
    for start in range(0, columns, COLUMNS):
        i = start + tl.arange(0, COLUMNS)
        mask = here[:, None] & (i < columns)[None, :]
        at = data + row.to(tl.int64)[:, None] * row_bytes + (i // WEIGHTS * BYTES)[None, :]
        w = value(at, tl.broadcast_to((i % WEIGHTS)[None, :], (ROWS, COLUMNS)), mask, grids, KIND)
        seen = tl.load(x + token[:, None] * x_row + i[None, :], mask=(i < columns)[None, :], other=0).to(tl.float32)
        total += tl.sum(seen[:, None, :] * w[None, :, :], axis=2)
    if HAS_BIAS:
        total += tl.load(bias + row, mask=here, other=0).to(tl.float32)[None, :]
    tl.store(out + token[:, None] * out_row + row[None, :], total.to(out.dtype.element_ty), mask=here[None, :])


@cache
def _grids_on(device: torch.device) -> Tensor:
    return torch.from_numpy(INDICES).to(device)


def rows(data: Tensor, kind: str, columns: int, ids: Tensor, dtype: torch.dtype) -> Tensor:
    """`[n, columns]`: rows of a matrix whose blocks are `data`, uint8 `[rows, row bytes]`."""
    weights, nbytes = BLOCKS[kind]
    out = torch.empty(len(ids), columns, dtype=dtype, device=data.device)
    if len(ids):
        _rows[(len(ids), triton.cdiv(columns, _COLUMNS))](
            data, _grids_on(data.device), ids, out, columns, data.stride(0), kind, weights, nbytes, _COLUMNS
        )
    return out


def product(data: Tensor, kind: str, x: Tensor, bias: Tensor | None, out: Tensor) -> None:
    """`out [T, rows] = x [T, columns] @ w.T + bias`, at most FEW tokens; each tile of weights is decoded once for all."""
    weights, nbytes = BLOCKS[kind]
    tokens = 1 << (len(x) - 1).bit_length()
    if tokens != len(x):  # a power of two; what pads it is computed and dropped
        padded = torch.nn.functional.pad(x, (0, 0, 0, tokens - len(x)))
        wide = out.new_empty(tokens, out.shape[1])
        product(data, kind, padded, bias, wide)
        out.copy_(wide[: len(x)])
        return
    _product[(triton.cdiv(len(data), _ROWS),)](
        data, _grids_on(data.device), x, x if bias is None else bias, out, len(data), x.shape[1], data.stride(0), x.stride(0), out.stride(0),
        bias is not None, kind, weights, nbytes, tokens, _ROWS, _COLUMNS,
    )  # fmt: skip
