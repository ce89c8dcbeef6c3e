"""Llama 1 to 3.3, and Mistral checkpoints that attend to everything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.errors import ConfigError
from engine.models.config import text_config
from engine.models.decoder import Decoder, Traits, standard_decoder
from engine.models.rope import text_rope
from engine.weights.view import View


def llama(w: View, config: Mapping[str, Any]) -> Decoder:
    c = text_config(config)
    window = c.fields.find("sliding_window", default=None)
    if window is not None and window < c.context:
        raise ConfigError(
            f"{c.fields.where}: a sliding window of {window} tokens is not supported for this architecture."
        )
    bias = c.fields.flag("attention_bias")
    traits = Traits(qkv_bias=bias, out_bias=bias, mlp_bias=c.fields.flag("mlp_bias"))
    return standard_decoder(w, c, text_rope(c), traits)
