"""MLX's quantized matrices: `w = q * scale + bias` in groups along the input, `q` a little-endian stream of bits.

What computes with them: a CPU in bf16 has a kernel for 4 bits (exact to bf16's own rounding) that beats a dense product
for few rows; many rows are unpacked for the call. Everything else, f32 on a CPU above all, has no kernel in torch that
is faster than a dense product (the f32 form of the same kernel was measured 20 times slower), so the matrix is unpacked
once, at its first product, to the compute dtype. An embedding that is only looked up is never unpacked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

KERNEL_GROUPS = (32, 64, 128, 256)
KERNEL_ROWS = 16  # the kernel works on blocks of as many output rows
FEW = 64  # tokens up to which the kernel beats unpacking and a dense product
CHUNK = 1024  # matrix rows unpacked at a time, so that the temporaries stay small


@dataclass(frozen=True)
class Packed:
    """A quantized `[out, in]` (or `[experts, out, in]`) as it is stored."""

    words: Tensor  # int32 [..., in * bits / 32]
    scales: Tensor  # [..., in / group]
    biases: Tensor
    bits: int
    group: int

    @property
    def shape(self) -> tuple[int, int]:
        return self.words.shape[-2], self.words.shape[-1] * 32 // self.bits

    def __getitem__(self, at: int | slice | Tensor) -> Packed:
        return Packed(self.words[at], self.scales[at], self.biases[at], self.bits, self.group)

    def to(self, device: torch.device) -> Packed:
        return Packed(self.words.to(device), self.scales.to(device), self.biases.to(device), self.bits, self.group)

    @staticmethod
    def cat(parts: Sequence[Packed]) -> Packed:
        return Packed(
            torch.cat([p.words for p in parts]),
            torch.cat([p.scales for p in parts]),
            torch.cat([p.biases for p in parts]),
            parts[0].bits,
            parts[0].group,
        )

    def codes(self) -> Tensor:
        """The integers, int32 `[out, in]`."""
        mask = (1 << self.bits) - 1
        rows, width = self.shape
        if 32 % self.bits == 0:
            shifts = torch.arange(0, 32, self.bits, dtype=torch.int32, device=self.words.device)
            return ((self.words[..., None] >> shifts) & mask).view(rows, width)
        # codes of 3, 5 and 6 bits cross the borders of words: read each from the two words that may hold it
        first = torch.arange(width, device=self.words.device) * self.bits
        word, shift = first // 32, first % 32
        wide = F.pad(self.words.long() & 0xFFFFFFFF, (0, 1))
        pair = wide[:, word] | (wide[:, word + 1] << 32)
        return ((pair >> shift) & mask).to(torch.int32)

    def values(self) -> Tensor:
        """f32 `[out, in]`"""
        rows, width = self.shape
        grouped = self.codes().view(rows, -1, self.group).to(torch.float32)
        return grouped.mul_(self.scales[..., None]).add_(self.biases[..., None]).view(rows, width)

    def chunks(self) -> Iterator[tuple[int, Packed]]:
        for start in range(0, self.shape[0], CHUNK):
            yield start, self[start : start + CHUNK]

    def dense(self, dtype: torch.dtype) -> Tensor:
        if self.shape[0] <= CHUNK:
            return self.values().to(dtype)
        out = torch.empty(self.shape, dtype=dtype, device=self.words.device)
        for start, chunk in self.chunks():
            out[start : start + CHUNK] = chunk.values()
        return out


class AffineMatrix:
    """One quantized `[out, in]`. See `backends.torch.linear.Matrix`."""

    def __init__(self, stored: Packed, dtype: torch.dtype) -> None:
        self.stored, self.dtype, self.shape = stored, dtype, stored.shape
        self.has_kernel = (
            dtype == torch.bfloat16
            and stored.words.device.type == "cpu"
            and stored.bits == 4
            and stored.group in KERNEL_GROUPS
            and self.shape[0] % KERNEL_ROWS == 0
        )
        self._dense: Tensor | None = None
        self._tiles: tuple[Tensor, Tensor] | None = None

    def product(self, x: Tensor, bias: Tensor | None) -> Tensor:
        if not self.has_kernel:
            return F.linear(x, self._unpacked(), bias)
        flat = x.reshape(-1, x.shape[-1])
        if flat.shape[0] > FEW:
            return F.linear(x, self.stored.dense(self.dtype), bias)
        tiles, scales = self._tiled()
        out = torch.ops.aten._weight_int4pack_mm_for_cpu(flat.contiguous(), tiles, self.stored.group, scales)
        if bias is not None:
            out += bias
        return out.view(*x.shape[:-1], self.shape[0])

    def product_into(self, x: Tensor, bias: Tensor | None, out: Tensor) -> None:
        out.copy_(self.product(x, bias))

    def rows(self, ids: Tensor) -> Tensor:
        return self.stored[ids].values().to(self.dtype)

    def _unpacked(self) -> Tensor:
        if self._dense is None:
            self._dense = self.stored.dense(self.dtype)
        return self._dense

    def _tiled(self) -> tuple[Tensor, Tensor]:
        """The kernel's own layout, whose codes are centred at 8."""
        if self._tiles is None:
            pack = torch.ops.aten._convert_weight_to_int4pack_for_cpu
            tiles = torch.cat([pack(chunk.codes(), 1) for _, chunk in self.stored.chunks()])
            scales, biases = self.stored.scales.float(), self.stored.biases.float()
            zeros = (scales * 8).add_(biases)
            self._tiles = tiles, torch.stack((scales, zeros), -1).transpose(0, 1).contiguous().to(self.dtype)
        return self._tiles
