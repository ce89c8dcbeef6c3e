"""Olmo 2 and 3: no norm before attention and MLP but one behind each, and one norm over all queries and one over all keys.

Olmo 3 has a sliding window in three of four layers; only the fourth scales its positions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from engine.models.config import Fields, text_config
from engine.models.decoder import Decoder, NormNames, Traits, standard_decoder
from engine.models.minimax_m2 import JointlyNormalizedAttention
from engine.models.rope import fields_of_kind, text_rope
from engine.models.windows import FULL, SLIDING, layer_windows
from engine.weights.view import View

NORMS = NormNames(mixer=None, mixed="post_attention_layernorm", mlp=None, out="post_feedforward_layernorm", last="norm")


def olmo3(w: View, config: Mapping[str, Any]) -> Decoder:
    c = text_config(config)
    f = c.fields
    bias, windows = f.flag("attention_bias"), layer_windows(c, pattern=4)
    traits = Traits(qkv_bias=bias, out_bias=bias, windows=windows)
    plain = Fields({"rope_theta": f.find("rope_theta", default=5e5)}, f.where)
    full, local = (
        text_rope(replace(c, fields=fields_of_kind(f, kind) or other), default_theta=5e5)
        for kind, other in ((FULL, f), (SLIDING, plain))
    )
    ropes = [local if window else full for window in windows]
    return standard_decoder(w, c, ropes, traits, norms=NORMS, attention=JointlyNormalizedAttention)
