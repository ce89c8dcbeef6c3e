"""Qwen3, dense and mixture: norms on queries and keys before rope, and an explicit head size."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.models.config import TextConfig, text_config
from engine.models.decoder import Attention, Decoder, Mlp, MlpLike, Traits, standard_decoder
from engine.models.moe import Routing, SparseMoe
from engine.models.rope import text_rope
from engine.models.windows import layer_windows
from engine.weights.view import View


def qwen3_traits(c: TextConfig, first: int | None = 28) -> Traits:
    """`first`: see `layer_windows`."""
    bias = c.fields.flag("attention_bias")
    windows = layer_windows(c, used=False, first=first)
    return Traits(qkv_bias=bias, out_bias=bias, qk_norm=("q_norm", "k_norm"), windows=windows)


def qwen3(w: View, config: Mapping[str, Any]) -> Decoder:
    return qwen3_decoder(w, text_config(config), default_theta=1e4)


def qwen3_decoder(w: View, c: TextConfig, default_theta: float, body: str = "model", head: str = "lm_head") -> Decoder:
    return standard_decoder(w, c, text_rope(c, default_theta), qwen3_traits(c), body, head)


def qwen3_moe(w: View, config: Mapping[str, Any]) -> Decoder:
    return qwen3_moe_decoder(w, text_config(config), default_theta=1e4)


def qwen3_moe_decoder(
    w: View,
    c: TextConfig,
    default_theta: float,
    routing: Routing | None = None,
    body: str = "model",
    head: str = "lm_head",
) -> Decoder:
    f, traits = c.fields, qwen3_traits(c, first=None)
    dense, every = set(f.find("mlp_only_layers", default=())), f.int("decoder_sparse_step", default=1)

    def mlp(v: View, i: int) -> MlpLike:
        if i in dense or (i + 1) % every:
            return Mlp(v.sub("mlp"), c.hidden, c.ffn)
        return SparseMoe(v.sub("mlp"), c, routing)

    rope = text_rope(c, default_theta)
    return Decoder(w, c, rope, lambda v, i: Attention(v.sub("self_attn"), c, i, traits), mlp, body=body, head=head)
