"""Command A and Command R7B: attention and MLP side by side behind one LayerNorm, and scaled logits.

Three of four layers have a sliding window and turn neighbouring dimensions together; the fourth attends to everything, without
positions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from backends.base import Array, Step
from engine.models.config import TextConfig, text_config
from engine.models.decoder import Attention, Decoder, Mlp, NormNames, Traits
from engine.models.rope import text_rope
from engine.models.windows import layer_windows, sliding_layers
from engine.weights.view import View

NORMS = NormNames(mlp=None, centred=True)


class AttentionBesideMlp:
    def __init__(self, w: View, c: TextConfig, layer: int, traits: Traits) -> None:
        self.attention = Attention(w.sub("self_attn"), c, layer, traits)
        self.mlp = Mlp(w.sub("mlp"), c.hidden, c.ffn)
        self.memory = self.attention.memory

    def __call__(self, x: Array, step: Step, angles: Array | None) -> Array:
        return self.attention(x, step, angles) + self.mlp(x)


def cohere2(w: View, config: Mapping[str, Any]) -> Decoder:
    c = text_config(config)
    f = c.fields
    c = replace(c, eps=f.float("layer_norm_eps", default=1e-5), tied=f.flag("tie_word_embeddings", True))
    bias = f.flag("attention_bias")
    traits = Traits(qkv_bias=bias, out_bias=bias, windows=layer_windows(c, pattern=4))
    rope = replace(text_rope(c), pairs=True)
    ropes = [rope if sliding else None for sliding in sliding_layers(c, pattern=4)]
    decoder = Decoder(w, c, ropes, lambda v, i: AttentionBesideMlp(v, c, i, traits), lambda v, i: None, norms=NORMS)
    decoder.logit_scale = f.float("logit_scale", default=0.0625, above=0)
    return decoder
