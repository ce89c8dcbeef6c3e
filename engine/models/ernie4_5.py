"""ERNIE 4.5, dense and mixtures: Llama that turns neighbouring dimensions together. A mixture's router has a bias for the choice, and
two shared experts lie in one MLP.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from engine.models.config import Fields, TextConfig, text_config
from engine.models.decoder import Attention, Decoder, Mlp, MlpLike, Traits, standard_decoder
from engine.models.moe import Routing, SharedMoe, SparseMoe
from engine.models.rope import text_rope
from engine.weights.view import View

BIAS = "moe_statics.e_score_correction_bias"


def _config(config: Mapping[str, Any]) -> TextConfig:
    c = text_config(config)
    return replace(c, tied=c.fields.flag("tie_word_embeddings", True))


def _traits(c: TextConfig) -> Traits:
    bias = c.fields.flag("use_bias")
    return Traits(qkv_bias=bias, out_bias=bias, mlp_bias=bias)


def ernie4_5(w: View, config: Mapping[str, Any]) -> Decoder:
    c = _config(config)
    return standard_decoder(w, c, replace(text_rope(c, default_theta=5e5), pairs=True), _traits(c))


def ernie4_5_moe(w: View, config: Mapping[str, Any]) -> Decoder:
    c = _config(config)
    f, traits = c.fields, _traits(c)
    counted = {
        "num_experts": f.find("moe_num_experts", "num_experts"),
        "num_experts_per_tok": f.find("moe_k", "num_experts_per_tok"),
    }
    mixture = replace(c, fields=Fields({**f.values, **counted}, f.where))
    first, every = f.int("moe_layer_start_index", default=1, least=0), f.int("moe_layer_interval", default=1)
    last = f.int("moe_layer_end_index", default=-1, least=-1)
    shared = f.int("moe_num_shared_experts", default=0, least=0) * f.int("moe_intermediate_size")

    def mlp(v: View, i: int) -> MlpLike:
        v = v.sub("mlp")
        if (i + 1) % every or i < first or i > (c.layers if last < 0 else last):
            return Mlp(v, c.hidden, c.ffn, traits.mlp_bias)
        dropped = v.has("switch_mlp.gate_proj.weight") and not v.has(BIAS)  # by MLX's converter
        routing = Routing(bias=None if dropped else BIAS)
        return SharedMoe(v, mixture, "shared_experts", shared, routing) if shared else SparseMoe(v, mixture, routing)

    w.ignore(r"^model\.mtp_")  # layers that guess ahead
    rope = replace(text_rope(c, default_theta=5e5), pairs=True)
    return Decoder(w, c, rope, lambda v, i: Attention(v.sub("self_attn"), c, i, traits), mlp)
