"""Merging adapters into a model's weights while it loads: `W + scale * B A` in f32, rounded to the dtype that W is stored in.

Quantized matrices stay as they are; what an adapter changes of them is left for its low-rank form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from backends.base import Dense, Raw
from engine.weights.gguf.blocks import dequantize
from engine.weights.lora import LoraFiles, LoraPair, fitted, is_text, tail
from engine.weights.made import Made
from engine.weights.source import FLOATS, Source, SourceMatrix


class Merged:
    """A source with adapters in its plain matrices."""

    def __init__(self, source: Source, adapters: Sequence[LoraFiles], config: Mapping[str, Any]) -> None:
        self._source, self._adapters, self._config = source, adapters, config
        self._modules = [{tail(name): name for name in files.pairs} for files in adapters]
        self.done: list[set[str]] = [set() for _ in adapters]  # of each adapter the modules that are merged
        self.where = source.where
        self.names = source.names

    def raw(self, name: str) -> Raw | None:
        return self._source.raw(name)

    def matrix(self, stem: str, shape: tuple[int, ...], inputs_first: bool = False) -> SourceMatrix:
        found = self._source.matrix(stem, shape, inputs_first)
        weight = found.weight
        if not isinstance(weight, Dense) or weight.data.dtype not in FLOATS or len(shape) != 2 or not is_text(stem):
            return found
        deltas: list[LoraPair] = []
        for files, modules, done in zip(self._adapters, self._modules, self.done):
            module = modules.get(tail(stem))
            if module is None or tail(stem) == "embed_tokens":
                continue  # a tied embedding stays: only its use as the head would change
            alone = replace(files, pairs={module: files.pairs[module]})
            deltas += fitted(alone, {stem: shape}, self._config).values()
            done.add(module)
        if not deltas:
            return found
        raw = weight.data

        def make() -> np.ndarray:
            whole = dequantize(raw)
            for pair in deltas:
                whole += pair.delta()
            return stored_as(whole, raw.dtype)

        return replace(found, weight=Dense(Made(raw, raw.dtype, raw.shape, raw.nbytes, make), weight.quant))


def stored_as(x: np.ndarray, dtype: str) -> np.ndarray:
    """f32 rounded to a dtype of files; bf16 as its bits."""
    if dtype == "BF16":
        bits = np.ascontiguousarray(x).view(np.uint32)
        rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
        return np.where(np.isnan(x), 0x7FC0, rounded).astype(np.uint16)
    return x.astype(np.float16 if dtype == "F16" else np.float32)
