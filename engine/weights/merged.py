"""Merging adapters into a model's weights while it loads: `W + scale * B A` in f32, rounded to the dtype that W is stored in.

Quantized matrices stay as they are; what an adapter changes of them is left for its low-rank form. Not so those of experts, which
have no such form: where an adapter changes them they become plain, 16-bit ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from backends.base import Dense, Raw
from engine.weights.expert_lora import ExpertLora, ExpertMatrix, expert_matrix
from engine.weights.gguf.blocks import dequantize
from engine.weights.lora import LoraFiles, fitted, is_text, tail
from engine.weights.lora_pair import LoraPair
from engine.weights.made import Made
from engine.weights.source import FLOATS, Source, SourceMatrix, raws_of
from engine.weights.stored import floats_of


class Merged:
    """A source with adapters in its plain matrices."""

    def __init__(self, source: Source, adapters: Sequence[LoraFiles], config: Mapping[str, Any]) -> None:
        self._source, self._adapters, self._config = source, adapters, config
        self._modules = [{tail(name): name for name in files.pairs} for files in adapters]
        self._experts = [ExpertLora(files.where, files.pairs, config) for files in adapters]
        self.done: list[set[str]] = [set() for _ in adapters]  # of each adapter the modules that are merged
        self.where = source.where
        self.names = source.names

    def raw(self, name: str) -> Raw | None:
        return self._source.raw(name)

    def matrix(self, stem: str, shape: tuple[int, ...], inputs_first: bool = False) -> SourceMatrix:
        found = self._source.matrix(stem, shape, inputs_first)
        if found.weight is None or not is_text(stem):
            return found
        if (place := expert_matrix(stem)) is not None:
            return self._of_experts(found, place, shape)
        weight = found.weight
        # one whose inputs are put in order is quantized too, and plain only for those who cannot do so
        if not isinstance(weight, Dense) or weight.data.dtype not in FLOATS or len(shape) != 2 or found.ordered:
            return found
        deltas: list[LoraPair] = []
        for files, modules, done in zip(self._adapters, self._modules, self.done):
            module = modules.get(tail(stem))
            if module is None or tail(stem) == "embed_tokens":
                continue  # a tied embedding stays: only its use as the head would change
            alone = replace(files, pairs={module: files.pairs[module]})
            deltas += fitted(alone, {stem: shape}, self._config, ()).values()
            done.add(module)
        if not deltas:
            return found
        raw = weight.data

        def make() -> np.ndarray:
            whole = dequantize(raw)
            for pair in deltas:
                whole = pair.add(whole)
            return stored_as(whole, raw.dtype)

        return replace(found, weight=Dense(Made(raw, raw.dtype, raw.shape, raw.nbytes, make), weight.quant))

    def _of_experts(self, found: SourceMatrix, place: ExpertMatrix, shape: tuple[int, ...]) -> SourceMatrix:
        if not any(one.touches(place) for one in self._experts):
            return found
        changes = []
        for one, done in zip(self._experts, self.done):
            mine = one.changes(place, shape)
            changes += mine
            done.update(change.module for change in mine)
        assert found.weight is not None
        weight, raw = found.weight, raws_of(found.weight)[0]
        plain = isinstance(weight, Dense) and raw.dtype in FLOATS
        dtype = raw.dtype if plain else "BF16"

        def make() -> np.ndarray:
            whole = floats_of(weight)
            for change in changes:
                change.add(whole)
            return stored_as(whole, dtype)

        made = Made(raw, dtype, tuple(shape), int(np.prod(shape)) * (4 if dtype == "F32" else 2), make)
        return replace(found, weight=Dense(made, weight.quant if isinstance(weight, Dense) else None), ordered=None)


def stored_as(x: np.ndarray, dtype: str) -> np.ndarray:
    """f32 rounded to a dtype of files; bf16 as its bits."""
    if dtype == "BF16":
        bits = np.ascontiguousarray(x).view(np.uint32)
        rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
        return np.where(np.isnan(x), 0x7FC0, rounded).astype(np.uint16)
    return x.astype(np.float16 if dtype == "F16" else np.float32)
