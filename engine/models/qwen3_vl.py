"""Qwen3-VL: Qwen3's decoder with positions on three axes, and a vision tower that feeds its first layers too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.errors import WeightsError
from engine.models.config import text_config
from engine.models.decoder import nested_names
from engine.models.qwen3 import qwen3_decoder
from engine.models.qwen_vision import PLACES, tower_place
from engine.models.vision_language import SeeingDecoder, beside_tower
from engine.weights.view import View


def qwen3_vl(w: View, config: Mapping[str, Any]) -> SeeingDecoder:
    place = tower_place(w)
    if place is None:
        raise WeightsError(f"The checkpoint has no vision tower: {PLACES[0]}.patch_embed.proj.weight is missing.")
    c = text_config(config)
    body, head = nested_names(w)
    return beside_tower(w, config, place, qwen3_decoder(w, c, default_theta=5e6, body=body, head=head), c.hidden)
