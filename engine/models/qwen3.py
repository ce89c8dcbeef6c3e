"""Qwen3, dense and mixture: norms on queries and keys before rope, and an explicit head size."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.errors import ConfigError
from engine.models.config import TextConfig, text_config
from engine.models.decoder import Attention, Decoder, Mlp, MlpLike, Traits, standard_decoder
from engine.models.moe import SparseMoe
from engine.models.rope import text_rope
from engine.weights.view import View


def _traits(c: TextConfig) -> Traits:
    if c.fields.flag("use_sliding_window"):
        raise ConfigError(f"{c.fields.where}: use_sliding_window is not supported for Qwen3.")
    bias = c.fields.flag("attention_bias")
    return Traits(qkv_bias=bias, out_bias=bias, qk_norm=("q_norm", "k_norm"))


def qwen3(w: View, config: Mapping[str, Any]) -> Decoder:
    return qwen3_decoder(w, text_config(config), default_theta=1e6)


def qwen3_decoder(w: View, c: TextConfig, default_theta: float, body: str = "model", head: str = "lm_head") -> Decoder:
    return standard_decoder(w, c, text_rope(c, default_theta), _traits(c), body, head)


def qwen3_moe(w: View, config: Mapping[str, Any]) -> Decoder:
    c = text_config(config)
    f, traits = c.fields, _traits(c)
    dense, every = set(f.find("mlp_only_layers", default=())), f.int("decoder_sparse_step", default=1)

    def mlp(v: View, i: int) -> MlpLike:
        if i in dense or (i + 1) % every:
            return Mlp(v.sub("mlp"), c.hidden, c.ffn)
        return SparseMoe(v.sub("mlp"), c)

    rope = text_rope(c, default_theta=1e6)
    return Decoder(w, c, rope, lambda v, i: Attention(v.sub("self_attn"), c, i, traits), mlp)
