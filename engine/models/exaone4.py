"""EXAONE 4: no norm before attention and MLP but one behind each, and norms on queries and keys.

The larger model has a sliding window in three of four layers, and rope in these alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from engine.models.config import Fields, TextConfig, text_config
from engine.models.decoder import Decoder, Traits, standard_decoder
from engine.models.olmo3 import NORMS
from engine.models.rope import text_rope
from engine.models.windows import layer_windows, sliding_layers
from engine.weights.view import View


def exaone4(w: View, config: Mapping[str, Any]) -> Decoder:
    c = text_config(config)
    f = c.fields
    hybrid = f.int("sliding_window", default=0, least=0) > 0
    sliding = sliding_layers(_numbered(c), pattern=4) if hybrid else [True] * c.layers
    windows = layer_windows(_numbered(c), pattern=4) if hybrid else []
    traits = Traits(qk_norm=("q_norm", "k_norm"), windows=windows)
    rope = text_rope(c)
    return standard_decoder(w, c, [rope if slides else None for slides in sliding], traits, norms=NORMS)


def _numbered(c: TextConfig) -> TextConfig:
    """Published configs draw the pattern: LLLG."""
    drawn = c.fields.find("sliding_window_pattern", default=4)
    if not isinstance(drawn, str):
        return c
    return replace(c, fields=Fields({**c.fields.values, "sliding_window_pattern": len(drawn)}, c.fields.where))
