"""Weights as files hold them: bytes of a mapped file, and the layouts in which matrices are stored.

A part of the seam (`base.py`), from where all else imports it. Which layout a checkpoint has is found by the engine;
what a backend makes of one is a `Linear`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np


@dataclass(frozen=True)
class Raw:
    """Bytes of one tensor inside a mapped file. Nothing is read until a backend asks for it."""

    name: str
    path: str
    offset: int
    nbytes: int
    dtype: str  # as safetensors spells it: F32, F16, BF16, I8, U8, U32, I64, ...
    shape: tuple[int, ...]
    buffer: memoryview  # read-only view of exactly these bytes; keeps the mapping alive


@runtime_checkable
class Reordered(Protocol):
    """A `Raw` whose rows lie in the file in another order: row i is row `order[i]` of `origin`. Its buffer is made when it is asked
    for; a backend that reads single rows needs none."""

    origin: Raw
    order: np.ndarray  # int64


@dataclass(frozen=True)
class Dense:
    """A plain matrix `[out, in]` (or `[experts, out, in]`).

    With `quant` (Q8_0, Q4_0, Q4_K, Q6_K) it is to be kept in GGUF blocks of that type, which a backend that multiplies
    blocks makes itself while it loads.
    """

    data: Raw
    quant: str | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        return self.data.shape


@dataclass(frozen=True)
class Affine:
    """MLX's layout: `w = q * scale + bias` in groups along the input, `q` packed little-endian into uint32."""

    packed: Raw
    scales: Raw
    biases: Raw
    bits: int
    group: int

    @property
    def shape(self) -> tuple[int, ...]:
        return (*self.packed.shape[:-1], self.packed.shape[-1] * 32 // self.bits)


@dataclass(frozen=True)
class Blocks:
    """GGUF's layout: rows of fixed-size blocks of type `type` (Q8_0, Q4_K, ...); `shape` counts weights, not bytes."""

    data: Raw
    type: str
    shape: tuple[int, ...]


Weight: TypeAlias = Dense | Affine | Blocks
