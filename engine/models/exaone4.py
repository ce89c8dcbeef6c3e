"""EXAONE 4: norms only behind attention and MLP; where some layers have a window, the others have no positions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.errors import ConfigError
from engine.models.config import text_config
from engine.models.decoder import Decoder, Traits, standard_decoder
from engine.models.olmo3 import NORMS_AFTER, NormsAfter
from engine.models.rope import text_rope
from engine.models.windows import layer_windows, sliding_layers
from engine.weights.view import View


def counted_pattern(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """A config whose pattern of local and global layers (LLLG) is a number."""
    pattern = config.get("sliding_window_pattern")
    if not isinstance(pattern, str):
        return config
    if set(pattern) - {"L", "G"} or "G" in pattern[:-1]:
        raise ConfigError(f"config.json: sliding_window_pattern `{pattern[:80]}` is not known.")
    return {**config, "sliding_window_pattern": len(pattern) if pattern.endswith("G") else 0}


def exaone4(w: View, config: Mapping[str, Any]) -> Decoder:
    c = text_config(counted_pattern(config))
    traits = Traits(qk_norm=("q_norm", "k_norm"), windows=layer_windows(c, pattern=4))
    rope = text_rope(c)
    windowed = c.fields.int("sliding_window", default=0, least=0) > 0
    ropes = [rope if sliding or not windowed else None for sliding in sliding_layers(c, pattern=4)]
    return standard_decoder(w, c, ropes, traits, norms=NORMS_AFTER, kind=NormsAfter)
