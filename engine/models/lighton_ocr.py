"""LightOnOCR: Qwen3's decoder behind Pixtral's image encoder. It was trained to write a page that it sees as markdown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from engine.errors import WeightsError
from engine.models.config import Fields, text_config
from engine.models.decoder import nested_names
from engine.models.pixtral import pixtral_tower
from engine.models.qwen3 import qwen3_decoder
from engine.models.vision_language import SeeingDecoder
from engine.weights.view import View


def lighton_ocr(w: View, config: Mapping[str, Any]) -> SeeingDecoder:
    c, (body, head) = text_config(config), nested_names(w)
    # the text model's own config says `tie_word_embeddings` wherever it says all of its fields: the outer one counts
    c = replace(c, tied=Fields(config).flag("tie_word_embeddings", True))
    tower = pixtral_tower(w, config, c.hidden, c.eps)
    if tower is None:
        raise WeightsError("The checkpoint has no vision tower: model.vision_encoder.patch_conv.weight is missing.")
    return SeeingDecoder(qwen3_decoder(w, c, default_theta=1e6, body=body, head=head), tower, c.hidden)
