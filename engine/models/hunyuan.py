"""Hunyuan v1, dense and mixtures with a shared expert: norms on queries and keys AFTER rope, and a rope base that `alpha` stretches once and for all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from engine.errors import ConfigError
from engine.models.config import Fields, TextConfig, text_config
from engine.models.decoder import Attention, Decoder, MlpLike, Traits, standard_decoder
from engine.models.moe import Routing, SharedMoe
from engine.models.rope import text_rope
from engine.weights.view import View


def _traits(c: TextConfig) -> Traits:
    if c.fields.flag("use_cla"):
        raise ConfigError(f"{c.fields.where}: cross-layer attention (use_cla) is not supported.")
    bias = c.fields.flag("attention_bias")
    norms = ("query_layernorm", "key_layernorm") if c.fields.flag("use_qk_norm", True) else None
    return Traits(qkv_bias=bias, out_bias=bias, qk_norm=norms, norm_after_rope=True)


def hunyuan_dense(w: View, config: Mapping[str, Any]) -> Decoder:
    c = text_config(config)
    return standard_decoder(w, c, text_rope(c), _traits(c))


def hunyuan_moe(w: View, config: Mapping[str, Any]) -> Decoder:
    c = text_config(config)
    f, traits = c.fields, _traits(c)
    names = {
        "num_experts": ("num_experts", "num_local_experts"),
        "num_experts_per_tok": ("moe_topk", "num_experts_per_tok"),
    }
    each = {ours: f.find(*theirs) for ours, theirs in names.items()}
    each |= {"moe_intermediate_size": f.find("moe_intermediate_size", default=c.ffn)}
    counted = {name: _only(f, name, value) for name, value in each.items()}
    mixture = replace(c, fields=Fields({**f.values, **counted}, f.where))
    shared = c.ffn * _only(f, "num_shared_expert", f.find("num_shared_expert", default=1))

    def mlp(v: View, i: int) -> MlpLike:
        return SharedMoe(v.sub("mlp"), mixture, "shared_mlp", shared, Routing(name="gate.wg"))

    return Decoder(w, c, text_rope(c), lambda v, i: Attention(v.sub("self_attn"), c, i, traits), mlp)


def _only(f: Fields, name: str, value: Any) -> Any:
    """A number that some configs give once for each layer, always the same."""
    if not isinstance(value, list):
        return value
    if not value or any(one != value[0] for one in value):
        raise ConfigError(f"{f.where}: `{name}` differs between layers, which is not supported.")
    return value[0]
