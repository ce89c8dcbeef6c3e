"""Gemma 3's text model: norms on both sides of attention and MLP, and two ropes.

Five of six layers attend to a sliding window, with a small rope base; the sixth attends to everything, with a large one and maybe
scaled positions. Norm weights are stored as their distance from one, but not in GGUF files. The larger models have an image encoder.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from backends.base import Rope
from engine.errors import ConfigError
from engine.models.config import Fields, TextConfig, text_config
from engine.models.decoder import Decoder, NormNames, Traits, nested_names, standard_decoder
from engine.models.gemma3_vision import gemma3_tower
from engine.models.rope import text_rope
from engine.models.vision_language import SeeingDecoder
from engine.models.windows import FULL, SLIDING, layer_windows, sliding_layers
from engine.weights.view import View

NORMS = NormNames(
    mixer="input_layernorm",
    mixed="post_attention_layernorm",
    mlp="pre_feedforward_layernorm",
    out="post_feedforward_layernorm",
)


def gemma_ropes(c: TextConfig, full_dim: int | None = None) -> tuple[Rope, Rope]:
    """Of layers that attend to everything, whose heads may have a size of their own, and of those with a window."""
    f, given = c.fields, c.fields.find("rope_parameters", default={})
    if isinstance(given, Mapping) and FULL in given:
        kinds = [Fields({"rope_parameters": given.get(kind)}, f.where) for kind in (FULL, SLIDING)]
    else:
        kinds = [f, Fields({"rope_theta": f.float("rope_local_base_freq", default=1e4)}, f.where)]
    full = replace(c, fields=kinds[0], head_dim=full_dim or c.head_dim)
    return text_rope(full, default_theta=1e6), text_rope(replace(c, fields=kinds[1]))


def gemma3(w: View, config: Mapping[str, Any]) -> Decoder | SeeingDecoder:
    c = text_config(config, activations=("gelu_pytorch_tanh",))
    f = c.fields
    for name in ("attn_logit_softcapping", "final_logit_softcapping", "use_bidirectional_attention"):
        if f.find(name, default=False):
            raise ConfigError(f"{f.where}: {name} is not supported for Gemma 3.")
    bias = f.flag("attention_bias")
    traits = Traits(
        qkv_bias=bias,
        out_bias=bias,
        qk_norm=("q_norm", "k_norm"),
        norm_plus=0.0 if f.flag("norms_hold_one") else 1.0,
        scale=f.float("query_pre_attn_scalar", above=0) ** -0.5,
        windows=layer_windows(c, pattern=6),
        gelu=True,
    )
    rope, local = gemma_ropes(c)
    ropes = [local if sliding else rope for sliding in sliding_layers(c, pattern=6)]
    body, head = nested_names(w)
    decoder = standard_decoder(w, c, ropes, traits, body, head, norms=NORMS, embed_scale=c.hidden**0.5)
    tower = gemma3_tower(w, config, c.hidden)
    if tower is not None:
        return SeeingDecoder(decoder, tower, c.hidden, mutual_pictures=True)
    w.ignore(r"(^|\.)vision_tower\.", r"(^|\.)multi_modal_projector\.")
    return decoder
