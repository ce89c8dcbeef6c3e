"""MiniMax M2: a mixture of experts in every layer, and norms on all queries and on all keys together, before rope."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.models.config import text_config
from engine.models.decoder import Decoder, Traits
from engine.models.moe import Routing, SparseMoe
from engine.models.olmo3 import WideNormAttention
from engine.models.rope import text_rope
from engine.weights.view import View

ROUTING = Routing(sigmoid=True, bias="e_score_correction_bias")


def minimax_m2(w: View, config: Mapping[str, Any]) -> Decoder:
    c = text_config(config)
    rotary = c.fields.int("rotary_dim", default=c.head_dim)
    traits = Traits()
    return Decoder(
        w,
        c,
        text_rope(c, default_theta=5e6, default_partial=rotary / c.head_dim),
        mixer=lambda v, i: WideNormAttention(v.sub("self_attn"), c, i, traits),
        mlp=lambda v, i: SparseMoe(v.sub("block_sparse_moe"), c, ROUTING),
    )
