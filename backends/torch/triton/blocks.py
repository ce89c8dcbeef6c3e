"""A matrix of GGUF blocks on CUDA, stored as in the file. Few tokens are multiplied by a kernel that dequantizes as it reads;
for more tokens the matrix is dequantized in stretches and multiplied by torch.

Not measured here: there was no GPU. That the numbers are right is tested in Triton's interpreter.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from backends.base import Blocks

STRETCH = 4096  # rows decoded at a time


@dataclass(frozen=True)
class StoredBlocks:
    """A matrix `[out, in]`, or `[experts, out, in]`, as stored in the file: uint8 `[..., row bytes]`."""

    data: Tensor
    kind: str
    columns: int
    factors: Tensor | None = None  # f32 [out] or [experts, out]: what weights of each row are multiplied with

    def __getitem__(self, at: int) -> StoredBlocks:
        return StoredBlocks(self.data[at], self.kind, self.columns, None if self.factors is None else self.factors[at])

    def to(self, device: torch.device) -> StoredBlocks:
        factors = None if self.factors is None else self.factors.to(device)
        return StoredBlocks(self.data.to(device), self.kind, self.columns, factors)

    @staticmethod
    def cat(parts: Sequence[StoredBlocks]) -> StoredBlocks:
        """Parts of one kind, stacked along the output."""
        factors = None
        if any(part.factors is not None for part in parts):
            factors = torch.cat(
                [
                    part.data.new_ones(len(part.data), dtype=torch.float32) if part.factors is None else part.factors
                    for part in parts
                ]
            )
        return StoredBlocks(torch.cat([part.data for part in parts]), parts[0].kind, parts[0].columns, factors)

    @staticmethod
    def of(weight: Blocks) -> StoredBlocks:
        data = torch.frombuffer(bytearray(weight.data.buffer), dtype=torch.uint8)
        factors = None
        if weight.factors is not None:
            *experts, rows, _ = weight.shape
            each = [weight.factor(expert) for expert in range(experts[0] if experts else 1)]
            factors = torch.tensor(each).repeat_interleave(rows).view(*experts, rows)
        return StoredBlocks(data.view(*weight.shape[:-1], -1), weight.type, weight.shape[-1], factors)


def available() -> bool:
    return importlib.util.find_spec("triton") is not None


class BlockMatrix:
    """One stored matrix `[out, in]`. Implements `backends.torch.linear.StoredMatrix`."""

    def __init__(self, stored: StoredBlocks, dtype: torch.dtype) -> None:
        from backends.torch.triton import kernels

        self.kernels, self.stored, self.dtype = kernels, stored, dtype
        self.shape = (stored.data.shape[0], stored.columns)
        self._ids = torch.arange(self.shape[0], device=stored.data.device)

    def product(self, x: Tensor, bias: Tensor | None) -> Tensor:
        flat = x.reshape(-1, x.shape[-1])
        out = flat.new_empty(flat.shape[0], self.shape[0])
        self.product_into(flat, bias, out)
        return out.view(*x.shape[:-1], self.shape[0])

    def product_into(self, x: Tensor, bias: Tensor | None, out: Tensor) -> None:
        if 0 < len(x) <= self.kernels.FEW:
            factors = self.stored.factors
            self.kernels.product(
                self.stored.data, self.stored.kind, x.contiguous(), bias if factors is None else None, out
            )
            if factors is not None:
                out *= factors
                out += 0 if bias is None else bias
            return
        for start in range(0, self.shape[0], STRETCH):
            part = slice(start, start + STRETCH)
            w = self.rows(self._ids[part])
            out[:, part] = F.linear(x, w, None if bias is None else bias[part])

    def rows(self, ids: Tensor) -> Tensor:
        factors = self.stored.factors
        if factors is None:
            return self.kernels.rows(self.stored.data, self.stored.kind, self.shape[1], ids, self.dtype)
        found = self.kernels.rows(self.stored.data, self.stored.kind, self.shape[1], ids, torch.float32)
        return (found * factors[ids][:, None]).to(self.dtype)
