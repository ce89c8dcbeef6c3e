"""A matrix of GGUF blocks on CUDA, stored as in the file. Few tokens are multiplied by a kernel that dequantizes as it reads;
for more tokens the matrix is dequantized in stretches and multiplied by torch.

Not measured here: there was no GPU. That the numbers are right is tested in Triton's interpreter.
"""

from __future__ import annotations

import importlib.util
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

    def __getitem__(self, at: int) -> StoredBlocks:
        return StoredBlocks(self.data[at], self.kind, self.columns)

    def to(self, device: torch.device) -> StoredBlocks:
        return StoredBlocks(self.data.to(device), self.kind, self.columns)

    @staticmethod
    def of(weight: Blocks) -> StoredBlocks:
        data = torch.frombuffer(bytearray(weight.data.buffer), dtype=torch.uint8)
        return StoredBlocks(data.view(*weight.shape[:-1], -1), weight.type, weight.shape[-1])


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
            self.kernels.product(self.stored.data, self.stored.kind, x.contiguous(), bias, out)
            return
        for start in range(0, self.shape[0], STRETCH):
            part = slice(start, start + STRETCH)
            w = self.rows(self._ids[part])
            out[:, part] = F.linear(x, w, None if bias is None else bias[part])

    def rows(self, ids: Tensor) -> Tensor:
        return self.kernels.rows(self.stored.data, self.stored.kind, self.shape[1], ids, self.dtype)
