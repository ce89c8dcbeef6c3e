"""Hunyuan Dense v1: norms on queries and keys AFTER rope, and a rope base that `alpha` stretches once and for all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.errors import ConfigError
from engine.models.config import text_config
from engine.models.decoder import Decoder, Traits, standard_decoder
from engine.models.rope import text_rope
from engine.weights.view import View


def hunyuan_dense(w: View, config: Mapping[str, Any]) -> Decoder:
    c = text_config(config)
    if c.fields.flag("use_cla"):
        raise ConfigError(f"{c.fields.where}: cross-layer attention (use_cla) is not supported.")
    bias = c.fields.flag("attention_bias")
    norms = ("query_layernorm", "key_layernorm") if c.fields.flag("use_qk_norm", True) else None
    return standard_decoder(
        w, c, text_rope(c), Traits(qkv_bias=bias, out_bias=bias, qk_norm=norms, norm_after_rope=True)
    )
