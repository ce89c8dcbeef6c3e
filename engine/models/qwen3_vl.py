"""Qwen3-VL, dense and mixture: Qwen3's decoder with positions on three axes, and a vision tower that feeds its first layers too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from engine.errors import WeightsError
from engine.models.config import Fields, text_config
from engine.models.decoder import nested_names
from engine.models.moe import Routing
from engine.models.qwen3 import qwen3_decoder, qwen3_moe_decoder
from engine.models.qwen_vision import PLACES, tower_place
from engine.models.vision_language import SeeingDecoder, beside_tower
from engine.weights.view import View


def qwen3_vl(w: View, config: Mapping[str, Any]) -> SeeingDecoder:
    place, c, (body, head) = _place(w), text_config(config), nested_names(w)
    return beside_tower(w, config, place, qwen3_decoder(w, c, default_theta=5e6, body=body, head=head), c.hidden)


def qwen3_vl_moe(w: View, config: Mapping[str, Any]) -> SeeingDecoder:
    place, c, (body, head) = _place(w), text_config(config), nested_names(w)
    # the text model's own config says `tie_word_embeddings` wherever it says all of its fields: the outer one counts
    c = replace(c, tied=Fields(config).flag("tie_word_embeddings", c.tied))
    # shares of the chosen experts always add up to one, whatever `norm_topk_prob` says
    decoder = qwen3_moe_decoder(w, c, default_theta=5e6, routing=Routing(), body=body, head=head)
    return beside_tower(w, config, place, decoder, c.hidden)


def _place(w: View) -> str:
    place = tower_place(w)
    if place is None:
        raise WeightsError(f"The checkpoint has no vision tower: {PLACES[0]}.patch_embed.proj.weight is missing.")
    return place
