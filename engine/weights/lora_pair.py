"""What an adapter adds to one matrix, or to the same matrix of all experts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from backends.base import Raw
from engine.weights.gguf.blocks import dequantize
from engine.weights.made import computed
from engine.weights.source import split_raw


@dataclass(frozen=True)
class LoraPair:
    """`scale * b @ a`. With a `magnitude` (DoRA) each row of the sum is brought to that length."""

    a: Raw  # [rank, in], or [experts, rank, in]
    b: Raw  # [out, rank], or [experts, out, rank]
    scale: float
    magnitude: Raw | None = None  # [out]

    @property
    def shape(self) -> tuple[int, int]:
        return self.b.shape[-2], self.a.shape[-1]

    @property
    def experts(self) -> int:
        return self.a.shape[0] if len(self.a.shape) == 3 else 1

    @property
    def nbytes(self) -> int:
        return self.a.nbytes + self.b.nbytes + (self.magnitude.nbytes if self.magnitude else 0)

    @property
    def scaled(self) -> Raw:
        """`b` with the scale in it, f32."""
        b, scale = self.b, np.float32(self.scale)
        return computed(b, b.shape, lambda: dequantize(b) * scale)

    def split(self) -> list[LoraPair]:
        """One of each expert."""
        return [LoraPair(a, b, self.scale) for a, b in zip(split_raw(self.a), split_raw(self.b))]

    def delta(self) -> np.ndarray:
        """f32 `[out, in]`"""
        product: np.ndarray = dequantize(self.scaled) @ dequantize(self.a)
        return product

    def add(self, whole: np.ndarray) -> np.ndarray:
        """An f32 matrix with it; `whole` may be overwritten."""
        whole += self.delta()
        if self.magnitude is not None:
            lengths = np.sqrt(np.einsum("oi,oi->o", whole, whole))
            whole *= (dequantize(self.magnitude).reshape(-1) / lengths)[:, None]
        return whole


def joined(pairs: Sequence[LoraPair]) -> tuple[Raw, Raw]:
    """`a`, and `b` with the scale in it, of the sum of pairs for one matrix."""
    first, rank = pairs[0], sum(pair.a.shape[0] for pair in pairs)
    if len(pairs) == 1:
        return first.a, first.scaled
    (out, inp), every = first.shape, list(pairs)
    lowered = computed(first.a, (rank, inp), lambda: np.concatenate([dequantize(pair.a) for pair in every]))
    raised = computed(first.b, (out, rank), lambda: np.concatenate([dequantize(pair.scaled) for pair in every], 1))
    return lowered, raised
