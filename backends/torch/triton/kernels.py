"""Two kernels over GGUF's blocks as the file has them: rows back to floats, and a product with a few tokens."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from backends.torch.triton.decode import BLOCKS, value

FEW = 8  # tokens that one reading of the weights serves; more are multiplied by torch
_ROWS, _COLUMNS = 8, 256  # of a program's tile


@triton.jit
def _rows(data, ids, out, columns, row_bytes, KIND: tl.constexpr, WEIGHTS: tl.constexpr, BYTES: tl.constexpr,
          COLUMNS: tl.constexpr):  # fmt: skip
    row = tl.load(ids + tl.program_id(0)).to(tl.int64)
    i = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    mask = i < columns
    found = value(data + row * row_bytes + i // WEIGHTS * BYTES, i % WEIGHTS, mask, KIND)
    tl.store(out + tl.program_id(0).to(tl.int64) * columns + i, found.to(out.dtype.element_ty), mask=mask)


@triton.jit
def _product(data, x, bias, out, rows, columns, row_bytes, x_row, out_row, HAS_BIAS: tl.constexpr,
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
        w = value(at, tl.broadcast_to((i % WEIGHTS)[None, :], (ROWS, COLUMNS)), mask, KIND)
        seen = tl.load(x + token[:, None] * x_row + i[None, :], mask=(i < columns)[None, :], other=0).to(tl.float32)
        total += tl.sum(seen[:, None, :] * w[None, :, :], axis=2)
    if HAS_BIAS:
        total += tl.load(bias + row, mask=here, other=0).to(tl.float32)[None, :]
    tl.store(out + token[:, None] * out_row + row[None, :], total.to(out.dtype.element_ty), mask=here[None, :])


def rows(data: Tensor, kind: str, columns: int, ids: Tensor, dtype: torch.dtype) -> Tensor:
    """`[n, columns]`: rows of a matrix whose blocks are `data`, uint8 `[rows, row bytes]`."""
    weights, nbytes = BLOCKS[kind]
    out = torch.empty(len(ids), columns, dtype=dtype, device=data.device)
    if len(ids):
        _rows[(len(ids), triton.cdiv(columns, _COLUMNS))](
            data, ids, out, columns, data.stride(0), kind, weights, nbytes, _COLUMNS
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
        data, x, x if bias is None else bias, out, len(data), x.shape[1], data.stride(0), x.stride(0), out.stride(0),
        bias is not None, kind, weights, nbytes, tokens, _ROWS, _COLUMNS,
    )  # fmt: skip
