"""Phi-3 and Phi-4: Llama whose projections are fused, in some versions with a sliding window.

Versions for long contexts choose their rope by a text's whole length (`longrope`), which is not supported.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.models.config import text_config
from engine.models.decoder import Decoder, Traits, standard_decoder
from engine.models.rope import text_rope
from engine.models.windows import layer_windows
from engine.weights.view import View


def phi3(w: View, config: Mapping[str, Any]) -> Decoder:
    c = text_config(config)
    return standard_decoder(w, c, text_rope(c), Traits(fused=True, windows=layer_windows(c)))
