"""Phi-3 and Phi-4: Llama whose projections are fused, in some versions with a sliding window.

Versions for long contexts have two ropes: a text's whole length chooses one for all of its tokens (`long_from`).
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
    rope = text_rope(c)
    decoder = standard_decoder(w, c, rope, Traits(fused=True, windows=layer_windows(c)))
    decoder.long_from = rope.long[0] if rope.long else 0
    return decoder
