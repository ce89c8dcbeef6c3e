"""Qwen2 and Qwen2.5: Llama with biases on queries, keys and values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.models.config import text_config
from engine.models.decoder import Decoder, Traits, standard_decoder
from engine.models.rope import text_rope
from engine.models.windows import layer_windows
from engine.weights.view import View


def qwen2(w: View, config: Mapping[str, Any]) -> Decoder:
    c = text_config(config)
    windows = layer_windows(c, used=False, first=28)
    return standard_decoder(w, c, text_rope(c), Traits(qkv_bias=True, windows=windows))
