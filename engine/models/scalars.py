"""Finite scalar quantization: a code is a few numbers, each rounded to one of a few levels. Needs no codebook."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

_SLACK = 1e-3  # the outermost levels lie a little within what the bound can reach


class Scalars:
    def __init__(self, levels: Sequence[int]) -> None:
        self.levels = np.array(levels, np.int64)
        self.basis = np.cumprod([1, *levels[:-1]])
        self.size = math.prod(levels)

    def codes(self, x: np.ndarray) -> np.ndarray:
        """`[n, numbers]` of any size -> codes `[n]`."""
        half = ((self.levels - 1) * (1 + _SLACK) / 2).astype(np.float32)
        offset = np.where(self.levels % 2 == 0, 0.5, 0.0).astype(np.float32)
        bounded = np.tanh(x + np.arctanh(offset / half)) * half - offset
        digits = np.round(bounded).astype(np.int64) + self.levels // 2
        made: np.ndarray = (digits * self.basis).sum(1).astype(np.int32)
        return made

    def values(self, codes: np.ndarray) -> np.ndarray:
        """Codes `[n]` -> `[n, numbers]` f32 within -1 and 1."""
        half = self.levels // 2
        digits = codes.astype(np.int64)[:, None] // self.basis % self.levels
        made: np.ndarray = ((digits - half) / half).astype(np.float32)
        return made
