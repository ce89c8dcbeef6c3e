"""BitNet b1.58: Llama with a norm before the projection out of attention and one inside the MLP, whose gate is a squared
ReLU, or in its first models a SiLU.

Its weights are ternary (see `engine.weights.integer_formats`). Activations stay floats, which the model was trained to have in eight
bits: the same choice as llama.cpp's and mlx-lm's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from backends.base import Array
from engine.models.config import TextConfig, text_config
from engine.models.decoder import Attention, Decoder, Traits
from engine.models.rope import text_rope
from engine.weights.view import View


class NormedAttention(Attention):
    def __init__(self, w: View, c: TextConfig, layer: int, traits: Traits) -> None:
        super().__init__(w, c, layer, traits)
        self.sub_norm = w.wide_norm("attn_sub_norm", self.own.queries.times(c.head_dim))

    def gated(self, attended: Array, x: Array) -> Array:
        return self.sub_norm(attended.reshape(x.shape[0], self.heads * self.dim), self.eps)


class NormedMlp:
    def __init__(self, w: View, c: TextConfig, squared: bool) -> None:
        own = w.width(c.ffn, "down_proj", c.hidden)
        self.ops, self.eps, self.ffn, self.squared = w.backend.ops, c.eps, own.size, squared
        self.gate_up = w.linear(("gate_proj", c.ffn), ("up_proj", c.ffn), inp=c.hidden, rows=[own, own])
        self.down = w.linear(("down_proj", c.hidden), inp=c.ffn, columns=own)
        self.sub_norm = w.wide_norm("ffn_sub_norm", own)

    def __call__(self, x: Array) -> Array:
        return self.down(self.sub_norm(self.gated(self.gate_up(x)), self.eps))

    def gated(self, both: Array) -> Array:
        if not self.squared:
            return self.ops.swiglu(both)
        gate = self.ops.relu(both[:, : self.ffn])
        return gate * gate * both[:, self.ffn :]


def bitnet(w: View, config: Mapping[str, Any]) -> Decoder:
    c = text_config(config, activations=("relu2", "silu"))
    bias, squared = c.fields.flag("attention_bias"), c.fields.find("hidden_act", default="relu2") == "relu2"
    traits = Traits(qkv_bias=bias, out_bias=bias)
    return Decoder(
        w,
        c,
        text_rope(c, default_theta=5e5),
        mixer=lambda v, i: NormedAttention(v.sub("self_attn"), c, i, traits),
        mlp=lambda v, i: NormedMlp(v.sub("mlp"), c, squared),
    )
