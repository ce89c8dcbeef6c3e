"""Ministral 3 and Mistral 3: Mistral with YaRN, whose queries grow with the logarithm of their position beyond the trained length.

Most checkpoints have Pixtral's image encoder beside the text model.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from backends.base import Array, Step
from engine.errors import ConfigError
from engine.models.config import TextConfig, text_config
from engine.models.decoder import Attention, Decoder, Traits, nested_names, standard_decoder
from engine.models.pixtral import pixtral_tower
from engine.models.rope import rope_fields, text_rope
from engine.models.vision_language import SeeingDecoder
from engine.models.windows import layer_windows
from engine.weights.view import View

MOST_POSITIONS = 1 << 20  # a table has a factor for each


class LongAttention(Attention):
    """The query at position p is multiplied by `1 + beta * log(1 + floor(p / trained length))`."""

    def __init__(self, w: View, c: TextConfig, layer: int, traits: Traits) -> None:
        super().__init__(w, c, layer, traits)
        rope = rope_fields(c.fields)
        beta, trained = rope.float("llama_4_scaling_beta"), rope.int("original_max_position_embeddings")
        if c.context > MOST_POSITIONS:
            raise ConfigError(f"{c.fields.where}: max_position_embeddings must be at most {MOST_POSITIONS:,} here.")
        if w.dry:
            return
        growth = 1 + beta * np.log(1 + np.arange(c.context) // trained)
        self.growth = self.ops.array(growth.astype(np.float32), w.backend.dtype)

    def scaled(self, q: Array, step: Step) -> Array:
        return q * self.ops.take(self.growth, step.pos, 0).reshape(q.shape[0], 1, 1)


def ministral3(w: View, config: Mapping[str, Any]) -> Decoder | SeeingDecoder:
    c = text_config(config)
    bias = c.fields.flag("attention_bias")
    traits = Traits(qkv_bias=bias, out_bias=bias, windows=layer_windows(c))
    rope = rope_fields(c.fields)
    grows = rope.float("llama_4_scaling_beta", default=0.0) > 0
    grows = grows and rope.int("original_max_position_embeddings", default=c.context) < c.context
    body, head = nested_names(w)
    attention = LongAttention if grows else Attention
    decoder = standard_decoder(w, c, text_rope(c), traits, body, head, attention=attention)
    tower = pixtral_tower(w, config, c.hidden, c.eps)
    if tower is not None:
        return SeeingDecoder(decoder, tower, c.hidden)
    w.ignore(r"(^|\.)vision_tower\.", r"(^|\.)multi_modal_projector\.")
    return decoder
