"""Laguna: heads by layer, gated attention, windows in three of four layers, and sigmoid-routed experts beside a shared one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from backends.base import Array
from engine.errors import ConfigError
from engine.models.config import Fields, TextConfig, text_config
from engine.models.decoder import Attention, Decoder, Mlp, MlpLike, Traits, nested_names
from engine.models.gemma3 import gemma_ropes
from engine.models.moe import Routing, SharedMoe
from engine.models.windows import FULL, layer_windows, sliding_layers
from engine.weights.view import View


class LagunaAttention(Attention):
    """What the heads give is multiplied by a softplus of the layer's input: one number a head, or one for each of its dimensions."""

    def __init__(self, w: View, c: TextConfig, layer: int, traits: Traits) -> None:
        super().__init__(w, c, layer, traits)
        gating = c.fields.find("gating", default=True)
        kind = "per-head" if gating is True else str(gating).replace("_", "-")
        if kind not in ("per-head", "per-element"):
            raise ConfigError(f"{c.fields.where}: gating must be per-head or per-element, not {kind[:80]}.")
        self.gates = 1 if kind == "per-head" else c.head_dim
        self.gate = w.linear(("g_proj", c.heads * self.gates), inp=c.hidden, rows=[self.own.queries.times(self.gates)])
        self.dtype = w.backend.dtype

    def gated(self, attended: Array, x: Array) -> Array:
        gate = self.ops.softplus(self.ops.cast(self.gate(x), "f32"))
        return attended * self.ops.cast(gate, self.dtype).reshape(x.shape[0], self.heads, self.gates)


def laguna(w: View, config: Mapping[str, Any]) -> Decoder:
    c = text_config(config)
    f = c.fields
    if f.flag("moe_apply_router_weight_on_input"):
        raise ConfigError(f"{f.where}: moe_apply_router_weight_on_input is not supported.")
    if f.find("layer_types", default=None) is None:
        c = replace(c, fields=Fields({**f.values, "layer_types": [FULL] * c.layers}, f.where))
    heads = f.find("num_attention_heads_per_layer", default=[c.heads] * c.layers)
    if not isinstance(heads, list) or len(heads) != c.layers:
        raise ConfigError(f"{f.where}: num_attention_heads_per_layer must have a number for each layer.")
    if any(type(count) is not int or count < 1 or count % c.kv_heads for count in heads):
        raise ConfigError(f"{f.where}: num_attention_heads_per_layer must be multiples of num_key_value_heads.")
    kinds = f.find("mlp_layer_types", default=["dense", *["sparse"] * (c.layers - 1)])
    if not isinstance(kinds, list) or len(kinds) != c.layers:
        raise ConfigError(f"{f.where}: mlp_layer_types must name dense or sparse for each layer.")
    bias, ffn = f.flag("attention_bias"), f.int("shared_expert_intermediate_size", default=512)
    traits = Traits(qkv_bias=bias, out_bias=bias, qk_norm=("q_norm", "k_norm"), windows=layer_windows(c))
    scale, cap = f.float("moe_routed_scaling_factor", default=1.0), f.float("moe_router_logit_softcapping", default=0.0)

    def mlp(v: View, i: int) -> MlpLike:
        inner = v.sub("mlp")
        if kinds[i] == "dense":
            return Mlp(inner, c.hidden, c.ffn)
        converted = inner.has("gate.proj.weight")  # by mlx-lm, which has other names for two tensors
        routing = Routing(
            sigmoid=True,
            scale=scale,
            softcap=cap,
            name="gate.proj" if converted else "gate",
            bias=f"{'gate' if converted else 'experts'}.e_score_correction_bias",
        )
        return SharedMoe(inner, c, "shared_expert", ffn, routing)

    body, head = nested_names(w)
    full, local = gemma_ropes(c)
    return Decoder(
        w,
        c,
        [local if sliding else full for sliding in sliding_layers(c)],
        mixer=lambda v, i: LagunaAttention(v.sub("self_attn"), replace(c, heads=heads[i]), i, traits),
        mlp=mlp,
        body=body,
        head=head,
    )
