"""A GGUF file's tensors as numbers, in the names, shapes and conventions that repositories publish."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from backends.base import Blocks, Raw
from engine.weights.gguf.blocks import decode_rows, dequantize
from engine.weights.gguf.checkpoint import GgufCheckpoint
from engine.weights.gguf.orders import grouped_heads
from engine.weights.gguf.ternary import I2_S
from engine.weights.gguf.types import FLOATS


class GgufStored:
    def __init__(self, checkpoint: GgufCheckpoint) -> None:
        self.where = checkpoint.where
        self.decoded = "BF16"
        self.names = list(checkpoint.source.names)
        self._raws: dict[str, Raw] = checkpoint.source.raws
        self._factors = checkpoint.source.factors
        self._config = checkpoint.config
        self._delta = checkpoint.architecture == "qwen35"

    def shape(self, name: str) -> tuple[int, ...]:
        shape = self._raws[name].shape
        return (shape[0], 1, shape[1]) if name.endswith("conv1d.weight") else shape

    def dtype(self, name: str) -> str | None:
        kind = self._raws[name].dtype
        return kind if kind in FLOATS else None

    def values(self, name: str) -> np.ndarray:
        raw = self._raws[name]
        stored = Blocks(raw, raw.dtype, raw.shape, self._factors[name]) if name in self._factors else raw
        values = dequantize(stored).reshape(self.shape(name))
        if not self._delta:
            return values
        if name.endswith("norm.weight") and not name.endswith("linear_attn.norm.weight"):
            return values - 1
        if name.endswith("linear_attn.out_proj.weight"):
            c = self._config
            order = (c["linear_num_key_heads"], c["linear_num_value_heads"], c["linear_value_head_dim"])
            return values[:, grouped_heads(*order)]
        return values

    def blocks(self, name: str) -> Blocks | None:
        return None

    def rows(self, name: str) -> Iterator[np.ndarray]:
        if self._delta or name in self._factors or self._raws[name].dtype == I2_S:
            yield self.values(name).reshape(-1, self.shape(name)[-1])
        else:
            raw = self._raws[name]
            yield from decode_rows(raw.buffer, raw.dtype, raw.shape[-1])
