"""Llama 1 to 3.3, and those made like it: Mistral, SmolLM 3, Seed-OSS."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from engine.errors import ConfigError
from engine.models.config import text_config
from engine.models.decoder import Decoder, Traits, nested_names, standard_decoder
from engine.models.rope import text_rope
from engine.models.windows import layer_windows
from engine.weights.view import View


def llama(w: View, config: Mapping[str, Any]) -> Decoder:
    c = text_config(config)
    bias = c.fields.flag("attention_bias")
    traits = Traits(qkv_bias=bias, out_bias=bias, mlp_bias=c.fields.flag("mlp_bias"), windows=layer_windows(c))
    return standard_decoder(w, c, text_rope(c), traits, *nested_names(w))


def smollm3(w: View, config: Mapping[str, Any]) -> Decoder:
    """Every fourth layer has no rope. Windows, where a config asks for them, are in these."""
    c = text_config(config)
    f = c.fields
    every = f.int("no_rope_layer_interval", default=4)
    turned = f.find("no_rope_layers", default=[int((i + 1) % every > 0) for i in range(c.layers)])
    if not isinstance(turned, list) or len(turned) < c.layers:
        raise ConfigError(f"{f.where}: no_rope_layers must have a number for each layer.")
    bias, windows = f.flag("attention_bias"), layer_windows(c, used=False)
    if f.find("layer_types", default=None) is None:
        windows = [None if turns else window for turns, window in zip(turned, windows)]
    traits = Traits(qkv_bias=bias, out_bias=bias, mlp_bias=f.flag("mlp_bias"), windows=windows)
    rope = text_rope(c, default_theta=2e6)
    tied = replace(c, tied=f.flag("tie_word_embeddings", True))
    return standard_decoder(w, tied, [rope if turns else None for turns in turned[: c.layers]], traits)


def seed_oss(w: View, config: Mapping[str, Any]) -> Decoder:
    c = text_config(config)
    f = c.fields
    bias, out, mlp = f.flag("attention_bias", True), f.flag("attention_out_bias"), f.flag("mlp_bias")
    return standard_decoder(w, c, text_rope(c), Traits(qkv_bias=bias, out_bias=out, mlp_bias=mlp))
