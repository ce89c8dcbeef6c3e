"""A GGUF file's tensors under the names, in the shapes and in the order of rows that our models ask for.

Bytes stay as they are stored. Where a row order differs, rows are moved when a backend asks for them; the few small
tensors that GGUF stores as a function of the model's (decay, convolution) are computed back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from backends.base import Blocks, Dense, Raw
from engine.weights.gguf import ternary
from engine.weights.gguf.blocks import dequantize
from engine.weights.gguf.encoders import as_matrix
from engine.weights.gguf.names import PREDICTING, STACKED, layer_of, to_model, to_prediction
from engine.weights.gguf.orders import grouped_heads, rotary_halves
from engine.weights.gguf.types import FLOATS
from engine.weights.integer_formats import ternary_codes
from engine.weights.made import computed, reordered
from engine.weights.problems import Problem
from engine.weights.source import SourceMatrix, split_raw, wrong

PAIRED = (
    "llama",
    "mistral3",
    "muse-glimmer",
    "granite",
    "granitemoe",
    "granitehybrid",
    "smollm3",
)  # see `rotary_halves`
ROPE_FACTORS = "rope_freqs.weight"  # these belong to the config
LONG_FACTORS, SHORT_FACTORS = "rope_factors_long.weight", "rope_factors_short.weight"


class GgufSource:
    def __init__(self, where: str, arch: str, tensors: Mapping[str, Raw], config: Mapping[str, Any]) -> None:
        """`config` is what `config.read` made of the same file."""
        self.where = where
        self._arch = arch
        self._config = config
        layers = config["num_hidden_layers"]
        scaled = _factors(arch, tensors)
        used = {
            name: raw
            for name, raw in tensors.items()
            if name not in (ROPE_FACTORS, LONG_FACTORS, SHORT_FACTORS)
            and name not in scaled.values()
            and not name.endswith(".input_scale")  # of activations, which are quantized otherwise here
            and (arch in PREDICTING or (layer_of(name) or 0) < layers)  # beyond: layers that predict further tokens
        }
        names = {
            to_model(arch, name) if (layer_of(name) or 0) < layers else to_prediction(arch, name, layers): name
            for name in used
            if name not in STACKED
        }
        self.factors = {name: tensors[scaled[original]] for name, original in names.items() if original in scaled}
        self.raws = {name: self._adapted(name, used[original]) for name, original in names.items()}
        for original in STACKED.keys() & used.keys():
            for i, raw in enumerate(split_raw(used[original])):
                names[STACKED[original].format(i)] = original
                self.raws[STACKED[original].format(i)] = raw
        self.names: Mapping[str, str] = names

    def add(self, tensors: Mapping[str, tuple[str, Raw]]) -> None:
        """Tensors of another file: the name that models use -> the name in that file, and the tensor."""
        self.names = {**self.names, **{name: original for name, (original, _) in tensors.items()}}
        self.raws |= {name: raw for name, (_, raw) in tensors.items()}

    def raw(self, name: str) -> Raw | None:
        return self.raws.get(name)

    def matrix(self, stem: str, shape: tuple[int, ...], inputs_first: bool = False) -> SourceMatrix:
        name = f"{stem}.weight"
        raw = self.raws.get(name)
        if raw is None:
            return SourceMatrix(None, (), (Problem("missing", name),))
        if problem := wrong(name, raw, shape, (raw.dtype,)):
            return SourceMatrix(None, (name,), (problem,))
        if raw.dtype in FLOATS:
            return SourceMatrix(Dense(raw), (name,))
        if raw.dtype == ternary.I2_S:
            codes, scale = partial(ternary.codes, raw), partial(ternary.scale, raw)
            return SourceMatrix(ternary_codes(raw, codes, scale, "F32", shape), (name,))
        factors = self.factors.get(name)
        if factors is not None and (problem := wrong(name, factors, (shape[0] if len(shape) > 2 else 1,), ("F32",))):
            return SourceMatrix(None, (name,), (problem,))
        return SourceMatrix(Blocks(raw, raw.dtype, raw.shape, factors), (name,))

    def _adapted(self, name: str, raw: Raw) -> Raw:
        raw = as_matrix(name, raw)
        part = name.rpartition("layers.")[2].partition(".")[2]
        if self._arch in PAIRED and part.startswith(("self_attn.q_proj", "self_attn.k_proj")):
            c = self._config
            heads = c["num_attention_heads"] if "q_proj" in part else c["num_key_value_heads"]
            fits = raw.shape[0] == heads * c["head_dim"] and c["head_dim"] % 2 == 0
            move = ternary.in_order if raw.dtype == ternary.I2_S else reordered
            return move(raw, rotary_halves(raw.shape[0], heads)) if fits else raw
        if part.startswith("linear_attn."):
            return self._linear_attention(part.removeprefix("linear_attn."), raw)
        if part == "mlp.shared_expert_gate.weight" and len(raw.shape) == 1:
            return replace(raw, shape=(1, *raw.shape))
        if part.startswith(("mamba.", "mixer.")):
            return _mamba(part.partition(".")[2], raw)
        return raw

    def _linear_attention(self, part: str, raw: Raw) -> Raw:
        """A tensor of another shape than it should have is left alone: the model will say so."""
        c = self._config
        key_heads, value_heads = c["linear_num_key_heads"], c["linear_num_value_heads"]
        keys, dim = key_heads * c["linear_key_head_dim"], c["linear_value_head_dim"]
        values = value_heads * dim
        if part == "conv1d.weight" and raw.shape == (2 * keys + values, c["linear_conv_kernel_dim"]):
            # This shape tells the model that norms hold 1 + w, which is so in GGUF as in MLX's files.
            raw = replace(raw, shape=(*raw.shape, 1))
        if part == "A_log" and raw.dtype in FLOATS:
            stored = raw
            raw = computed(raw, raw.shape, lambda: np.log(-dequantize(stored)))
        if not c["linear_value_heads_tiled"]:
            return raw
        if part in ("in_proj_qkv.weight", "conv1d.weight") and raw.shape[0] == 2 * keys + values:
            order = grouped_heads(key_heads, value_heads, dim)
            return reordered(raw, np.concatenate([np.arange(2 * keys), 2 * keys + order]))
        if part == "in_proj_z.weight" and raw.shape[0] == values:
            return reordered(raw, grouped_heads(key_heads, value_heads, dim))
        if part in ("in_proj_a.weight", "in_proj_b.weight", "A_log", "dt_bias") and raw.shape[0] == value_heads:
            return reordered(raw, grouped_heads(key_heads, value_heads, 1))
        return raw


def _factors(arch: str, tensors: Mapping[str, Raw]) -> dict[str, str]:
    """NVFP4's matrices may have a factor, of the whole matrix or of each expert: name of the matrix -> its factor's."""
    named = {f"{name.removesuffix('.weight')}.scale": name for name, raw in tensors.items() if raw.dtype == "NVFP4"}
    return {named[name]: name for name in tensors if name in named and to_model(arch, name) == name}


def _mamba(part: str, raw: Raw) -> Raw:
    """Files have heads, and groups of the norm, along an axis of their own."""
    if part == "A_log" and raw.dtype in FLOATS:
        return computed(raw, raw.shape[:1], lambda: np.log(-dequantize(raw)).reshape(-1))
    return replace(raw, shape=(int(np.prod(raw.shape)),)) if part in ("D", "norm.weight") else raw


def as_dense(weight: Blocks) -> Dense:
    """The same matrix as f32, decoded when it is asked for."""
    return Dense(computed(weight.data, weight.shape, lambda: dequantize(weight)))
