"""Storage of keys or values: rows of a capacity class as one tensor, plain or quantized.

A slab is a few planes `[rows, heads, capacity, width]` that share all bookkeeping (growth, copies, snapshots); a codec
says what the planes hold. Plain storage is one plane, the values themselves, read without a copy. Halved storage is
one plane of f16. Quantized storage is codes and, for each token, head and group of the head's dimensions, a scale and a
least value. Knows nothing of slots.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import torch
from torch import Tensor

from backends.groups import group_of

MOST_HALF = torch.finfo(torch.float16).max


class Codec(Protocol):
    """How `[..., dim]` becomes planes' rows and back."""

    planes: list[tuple[int, torch.dtype]]  # width and dtype of each

    def encode(self, x: Tensor) -> list[Tensor]: ...
    def decode(self, planes: Sequence[Tensor]) -> Tensor: ...


class Plain:
    def __init__(self, dim: int, dtype: torch.dtype) -> None:
        self.planes = [(dim, dtype)]

    def encode(self, x: Tensor) -> list[Tensor]:
        return [x]

    def decode(self, planes: Sequence[Tensor]) -> Tensor:
        return planes[0]


class Halved:
    """Numbers of f32 in half precision. What is beyond it becomes its greatest, since infinity would make NaN."""

    def __init__(self, dim: int) -> None:
        self.planes = [(dim, torch.float16)]

    def encode(self, x: Tensor) -> list[Tensor]:
        return [x.clamp(-MOST_HALF, MOST_HALF).half()]

    def decode(self, planes: Sequence[Tensor]) -> Tensor:
        return planes[0].float()


class Quantized:
    """`value = code * scale + least`, scale and least in f16 for each group; 4-bit codes lie two in a byte."""

    def __init__(self, dim: int, dtype: torch.dtype, bits: int) -> None:
        self.dtype, self.bits, self.dim = dtype, bits, dim
        self.group = group_of(dim)
        self.planes = [(dim * bits // 8, torch.uint8), (2 * dim // self.group, torch.float16)]

    def encode(self, x: Tensor) -> list[Tensor]:
        grouped = x.float().unflatten(-1, (-1, self.group))
        least, most = grouped.amin(-1, keepdim=True).half(), grouped.amax(-1, keepdim=True)
        top = (1 << self.bits) - 1
        # the codes are made against the rounded scale, so that its rounding costs nothing; not 0, which has no inverse
        scale = ((most - least) / top).half().clamp_min(6e-8)
        codes = ((grouped - least) / scale).round_().clamp_(0, top).to(torch.uint8).flatten(-2)
        if self.bits == 4:
            codes = codes[..., 0::2] | (codes[..., 1::2] << 4)
        return [codes, torch.cat((scale, least), -1).flatten(-2)]

    def decode(self, planes: Sequence[Tensor]) -> Tensor:
        codes, params = planes
        if self.bits == 4:
            codes = torch.stack((codes & 15, codes >> 4), -1).flatten(-2)
        pairs = params.unflatten(-1, (-1, 2)).to(self.dtype)
        grouped = codes.unflatten(-1, (-1, self.group)).to(self.dtype)
        return torch.addcmul(pairs[..., 1:], grouped, pairs[..., :1]).flatten(-2)


class Slab:
    """The rows of one capacity class of one layer's keys, or values."""

    def __init__(self, heads: int, capacity: int, codec: Codec, device: torch.device) -> None:
        self.heads, self.capacity, self.codec = heads, capacity, codec
        # zeros, not whatever memory held: what lies beyond a sequence's end is multiplied by a probability of 0
        self.planes = [
            torch.zeros(0, heads, capacity, width, dtype=dtype, device=device) for width, dtype in codec.planes
        ]

    @property
    def rows(self) -> int:
        return self.planes[0].shape[0]

    def bytes_for(self, rows: int) -> int:
        return sum(rounded(rows * plane.stride(0) * plane.itemsize) for plane in self.planes)

    def reserve(self, rows: int, memory: Tensor | None = None) -> None:
        """`memory`: at least `bytes_for(rows)` zeros to use; None: some of its own."""
        start = 0
        for i, old in enumerate(self.planes):
            nbytes = rows * old.stride(0) * old.itemsize
            if memory is None:
                new = old.new_zeros(rows, *old.shape[1:])
            else:
                new = memory[start : start + nbytes].view(old.dtype).view(rows, *old.shape[1:])
            new[: old.shape[0]] = old
            self.planes[i] = new
            start += rounded(nbytes)

    def write_run(self, row: int, start: int, x: Tensor) -> None:
        """`x [n, heads, dim]`: consecutive tokens of one sequence."""
        for plane, part in zip(self.planes, self.codec.encode(x)):
            plane[row, :, start : start + x.shape[0]] = part.transpose(0, 1)

    def write_each(self, places: Tensor, x: Tensor) -> None:
        """`x [n, heads, dim]`: one token of each of n sequences; `places [n * heads]` from `places_of`."""
        for plane, part in zip(self.planes, self.codec.encode(x)):
            plane.view(-1, plane.shape[-1]).index_copy_(0, places, part.reshape(-1, part.shape[-1]))

    def read(self, first: int, last: int, start: int, stop: int) -> Tensor:
        """`[rows, heads, tokens, dim]` in the compute dtype; a view where storage is plain."""
        return self.codec.decode([plane[first:last, :, start:stop] for plane in self.planes])

    def fill_row(self, row: int, parts: Sequence[Tensor]) -> None:
        """Planes of one row's first tokens, `[heads, n, width]` each, as `row_parts` gives them."""
        for plane, part in zip(self.planes, parts):
            plane[row, :, : part.shape[1]] = part

    def row_parts(self, row: int, length: int) -> list[Tensor]:
        return [plane[row, :, :length] for plane in self.planes]

    def clear_row(self, row: int) -> None:
        for plane in self.planes:
            plane[row] = 0


def rounded(nbytes: int) -> int:
    return -(-nbytes // 64) * 64


def places_of(rows: Tensor, positions: Tensor, heads: int, capacity: int) -> Tensor:
    """Where each (sequence, head) writes its token, as an index into a plane seen as `[rows * heads * capacity, width]`."""
    head = torch.arange(heads, device=rows.device)
    return ((rows[:, None] * heads + head) * capacity + positions[:, None]).reshape(-1)
