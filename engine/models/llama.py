"""Llama 1 to 3.3, and Mistral: the same, in some versions with a sliding window in every layer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.models.config import text_config
from engine.models.decoder import Decoder, Traits, standard_decoder
from engine.models.rope import text_rope
from engine.models.windows import layer_windows
from engine.weights.view import View


def llama(w: View, config: Mapping[str, Any]) -> Decoder:
    c = text_config(config)
    bias = c.fields.flag("attention_bias")
    traits = Traits(qkv_bias=bias, out_bias=bias, mlp_bias=c.fields.flag("mlp_bias"), windows=layer_windows(c))
    return standard_decoder(w, c, text_rope(c), traits)
