"""OLMo 3, and OLMo 2 in GGUF files: norms only behind attention and MLP, and norms of queries and keys over all heads at once.

Three of four layers have a window; only the others' positions are scaled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from backends.base import Array, Rope, Step
from engine.models.config import Fields, TextConfig, text_config
from engine.models.decoder import Attention, Decoder, NormNames, Traits, standard_decoder
from engine.models.rope import rope_fields, text_rope
from engine.models.windows import FULL, SLIDING, layer_windows, sliding_layers
from engine.weights.view import View

NORMS_AFTER = NormNames(mixer=None, mlp=None, mixed="post_attention_layernorm", out="post_feedforward_layernorm")


class NormsAfter(Decoder):
    """Layers that normalize what they give, not what they are given."""

    def __call__(self, step: Step, added: Sequence[Array] = ()) -> Array:
        ops, eps, x = self.ops, self.eps, step.x
        angles = self.angles(step)
        for i, layer in enumerate(self.layers):
            x = x + ops.rms_norm(layer.mixer(x, step, angles[self.rope_of[i]]), layer.mixed_norm, eps)
            assert layer.mlp is not None
            x = x + ops.rms_norm(layer.mlp(x), layer.out_norm, eps)
        return ops.rms_norm(x, self.norm, eps)


class WideNormAttention(Attention):
    """One norm over all heads' queries, and one over their keys."""

    def __init__(self, w: View, c: TextConfig, layer: int, traits: Traits) -> None:
        super().__init__(w, c, layer, traits)
        queries, keys, _ = rows = self.own.rows(c.head_dim)
        self.sizes = [part.size for part in rows]
        self.wide_norms = w.wide_norm("q_norm", queries), w.wide_norm("k_norm", keys, self.own.copies)

    def projected(self, x: Array) -> Array:
        q, k, v = self.ops.split(super().projected(x), self.sizes, 1)
        q, k = (norm(made, self.eps) for made, norm in zip((q, k), self.wide_norms))
        return self.ops.cat([q, k, v], 1)


def _ropes(c: TextConfig) -> tuple[Rope, Rope]:
    """Of layers that attend to everything, and of those with a window, in either spelling."""
    f, given = c.fields, c.fields.find("rope_parameters", default={})
    if isinstance(given, Mapping) and FULL in given:
        kinds = [Fields({"rope_parameters": given.get(kind)}, f.where) for kind in (FULL, SLIDING)]
    else:
        theta = rope_fields(f).float("rope_theta", default=f.float("rope_theta", default=500000.0))
        kinds = [f, Fields({"rope_theta": theta}, f.where)]
    full, local = (text_rope(replace(c, fields=fields), default_theta=500000.0) for fields in kinds)
    return full, local


def olmo3(w: View, config: Mapping[str, Any]) -> Decoder:
    c = text_config(config)
    bias = c.fields.flag("attention_bias")
    traits = Traits(qkv_bias=bias, out_bias=bias, windows=layer_windows(c, pattern=4))
    full, local = _ropes(c)
    ropes = [local if sliding else full for sliding in sliding_layers(c, pattern=4)]
    return standard_decoder(w, c, ropes, traits, norms=NORMS_AFTER, attention=WideNormAttention, kind=NormsAfter)
