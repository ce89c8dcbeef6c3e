"""Liquid's LFM 2, its mixture, and LFM 3: most layers are short gated convolutions, the others attention.

A convolution remembers its last few inputs and nothing else. LFM 3 normalizes on both sides, gates each head's output, and has a
sliding window with a rope of its own in half of its attention layers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from backends.base import Array, Rope, StateSpec, Step
from engine.errors import ConfigError
from engine.models.config import TextConfig, text_config
from engine.models.decoder import Attention, Decoder, Mixer, Mlp, MlpLike, NormNames, Traits, nested_names
from engine.models.moe import ExpertRouter, Routing, SparseMoe
from engine.models.rope import fields_of_kind, text_rope
from engine.models.windows import FULL, SLIDING
from engine.weights.view import View

CONV = "conv"


class ShortConv:
    """`out(c * conv(b * x))` with b, c and x of one projection."""

    def __init__(self, w: View, c: TextConfig, layer: int) -> None:
        f = c.fields
        own = w.width(c.hidden, "out_proj", c.hidden)
        self.ops, self.layer, self.width = w.backend.ops, layer, own.size
        kernel, bias = f.int("conv_L_cache"), f.flag("conv_bias")
        self.memory = StateSpec(own.size, kernel)
        self.conv = w.depthwise("conv.weight", c.hidden, kernel, own)
        self.bias = w.tensor("conv.bias", (c.hidden,), part=own) if bias else None
        self.gates = w.linear(("in_proj", 3 * c.hidden), inp=c.hidden, bias=bias, rows=[own.repeated(3)])
        self.out = w.linear(("out_proj", c.hidden), inp=c.hidden, bias=bias, columns=own)

    def __call__(self, x: Array, step: Step, angles: Array | None) -> Array:
        before, after, x = self.ops.split(self.gates(x), [self.width] * 3, 1)
        return self.out(after * step.cache.conv(self.layer, before * x, self.conv, self.bias))


class GatedHeads(Attention):
    """Each head's output is multiplied by a sigmoid of the layer's input."""

    def __init__(self, w: View, c: TextConfig, layer: int, traits: Traits) -> None:
        super().__init__(w, c, layer, traits)
        name = "gate_proj" if w.has("gate_proj.weight") else "g_proj"
        self.gate = w.linear((name, c.heads), inp=c.hidden, rows=[self.own.queries])

    def gated(self, attended: Array, x: Array) -> Array:
        return attended * self.ops.sigmoid(self.gate(x)).reshape(x.shape[0], self.heads, 1)


class Lfm2Moe(SparseMoe):
    """Shares are sigmoids; a bias takes part in the choice alone."""

    def __init__(self, w: View, c: TextConfig) -> None:
        f = c.fields
        routing = Routing(
            renormalize=f.flag("norm_topk_prob", True),
            sigmoid=True,
            scale=f.float("routed_scaling_factor", default=1.0),
            bias="expert_bias" if f.flag("use_expert_bias", True) else None,
        )
        self.router = ExpertRouter(w, c, routing)
        count, ffn = self.router.count, f.int("moe_intermediate_size")
        stacked = w.has("switch_mlp.gate_proj.weight")
        gate, up, down = ("gate_proj", "up_proj", "down_proj") if stacked else ("w1", "w3", "w2")
        own = w.experts_width(ffn, f"experts.{{}}.{down}", count, c.hidden)
        gate_up = w.experts([(f"experts.{{}}.{name}", ffn) for name in (gate, up)], count, c.hidden, rows=own)
        lowering = w.experts([(f"experts.{{}}.{down}", c.hidden)], count, ffn, columns=own)
        self.experts = self.router.mixture(w, gate_up, lowering)


def layer_kinds(c: TextConfig, known: tuple[str, ...]) -> list[str]:
    f = c.fields
    kinds = f.find("layer_types", default=None)
    if kinds is None:
        attending = f.find("full_attn_idxs", default=list(range(c.layers)))
        if not isinstance(attending, list):
            raise ConfigError(f"{f.where}: full_attn_idxs must be a list of layers.")
        kinds = [FULL if i in attending else CONV for i in range(c.layers)]
    if not isinstance(kinds, list) or len(kinds) != c.layers or any(kind not in known for kind in kinds):
        raise ConfigError(f"{f.where}: layer_types must name {' or '.join(known)} for each layer.")
    return kinds


def _config(config: Mapping[str, Any]) -> TextConfig:
    c = text_config(config)
    return replace(c, tied=c.fields.flag("tie_word_embeddings", c.fields.flag("tie_embedding", True)))


def dense_width(c: TextConfig) -> int:
    """LFM 2's files give the width of an MLP without a gate, from which the real one follows."""
    f = c.fields
    width = f.int("block_ff_dim", "intermediate_size")
    if f.flag("block_auto_adjust_ff_dim", True):
        width = int(f.float("block_ffn_dim_multiplier", default=1.0, above=0) * int(2 * width / 3))
        width += -width % f.int("block_multiple_of", default=256)
    return width


def _mlp(w: View, c: TextConfig, width: int) -> Mlp:
    plain = w.has("gate_proj.weight")  # as MLX's converter names the mixture's dense layers
    return Mlp(w, c.hidden, width, names=() if plain else ("w1", "w3", "w2"))


def lfm2(w: View, config: Mapping[str, Any]) -> Decoder:
    c = _config(config)
    width = dense_width(c)
    return _lfm2(w, c, lambda v, i: _mlp(v.sub("feed_forward"), c, width))


def lfm2_moe(w: View, config: Mapping[str, Any]) -> Decoder:
    c = _config(config)
    dense = c.fields.int("num_dense_layers", default=0, least=0)

    def mlp(v: View, i: int) -> MlpLike:
        v = v.sub("feed_forward")
        return _mlp(v, c, c.ffn) if i < dense else Lfm2Moe(v, c)

    return _lfm2(w, c, mlp)


def _lfm2(w: View, c: TextConfig, mlp: Callable[[View, int], MlpLike]) -> Decoder:
    kinds = layer_kinds(c, (FULL, CONV))
    traits = Traits(qk_norm=("q_layernorm", "k_layernorm"), out="out_proj")

    def mixer(v: View, i: int) -> Mixer:
        return ShortConv(v.sub("conv"), c, i) if kinds[i] == CONV else Attention(v.sub("self_attn"), c, i, traits)

    norms = NormNames(mixer="operator_norm", mlp="ffn_norm", last="embedding_norm")
    rope = text_rope(c, default_theta=1e6)
    body, head = nested_names(w)  # beside LFM 2-VL's vision tower
    return Decoder(w, c, rope, mixer, mlp, body=body, head=head, norms=norms)


def lfm3(w: View, config: Mapping[str, Any]) -> Decoder:
    c = _config(config)
    f = c.fields
    kinds = layer_kinds(c, (FULL, SLIDING, CONV))
    window, bias = f.int("sliding_window", default=0, least=0) or None, f.flag("attention_bias")
    windows = [window if kind == SLIDING else None for kind in kinds]
    traits = Traits(qkv_bias=bias, out_bias=bias, qk_norm=("q_norm", "k_norm"), windows=windows)
    attention = GatedHeads if f.flag("use_attention_gate", True) else Attention
    sandwich = f.flag("use_sandwich_norm", True)

    def rope(kind: str) -> Rope | None:
        if kind == CONV:
            return None
        return text_rope(replace(c, fields=fields_of_kind(f, kind) or f), default_theta=1e6)

    def mixer(v: View, i: int) -> Mixer:
        return ShortConv(v.sub("conv"), c, i) if kinds[i] == CONV else attention(v.sub("self_attn"), c, i, traits)

    norms = NormNames(
        mixer="operator_norm",
        mixed="post_operator_norm" if sandwich else None,
        mlp="ffn_norm",
        out="post_ffn_norm" if sandwich else None,
        last="embedding_norm",
    )
    return Decoder(w, c, list(map(rope, kinds)), mixer, lambda v, i: _mlp(v.sub("feed_forward"), c, c.ffn), norms=norms)
