"""Muse Glimmer's text model: windows with positions, and layers that attend to everything without; gated attention.

Embeddings, queries and keys are normalized without weights. Norms of what a layer gives have an epsilon of their own. The image encoder
is not built: it reads text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from backends.base import Array
from engine.errors import ConfigError
from engine.models.config import Fields, TextConfig, text_config
from engine.models.decoder import Attention, Decoder, Mlp, Traits, nested_names
from engine.models.gemma3 import NORMS
from engine.models.rope import text_rope
from engine.models.windows import FULL, SLIDING, layer_windows
from engine.weights.view import View


class MuseAttention(Attention):
    """Queries grow by a factor behind their norm, which GGUF files store as its weights; what the heads give is gated by the layer's
    input."""

    def __init__(self, w: View, c: TextConfig, layer: int, traits: Traits) -> None:
        super().__init__(w, c, layer, traits)
        rows = [self.own.queries.times(c.head_dim)]
        self.gate = w.linear(("gate_proj", c.heads * c.head_dim), inp=c.hidden, rows=rows)
        self.q_norm = self._norm(w, "q_norm", c.fields.float("qk_scale_factor", default=3.87, above=0))
        self.k_norm = self._norm(w, "k_norm", 1.0)

    def _norm(self, w: View, name: str, factor: float) -> Array:
        if w.has(f"{name}.weight") or w.dry:
            return w.norm(name, self.dim) if w.has(f"{name}.weight") else None
        return self.ops.array(np.full(self.dim, factor, np.float32), w.backend.dtype)

    def gated(self, attended: Array, x: Array) -> Array:
        return attended * self.ops.sigmoid(self.gate(x)).reshape(*attended.shape)


class MuseDecoder(Decoder):
    def embed(self, ids: Array) -> Array:
        return self.ops.rms_norm(self.embedding.rows(ids), None, self.eps)


def muse_glimmer(w: View, config: Mapping[str, Any]) -> Decoder:
    c = text_config(config)
    f, full = c.fields, [(c.layers - 1 - i) % 4 == 0 for i in range(c.layers)]  # where a config does not say so
    if f.find("layer_types", default=None) is None:
        c = replace(
            c, fields=Fields({**f.values, "layer_types": [FULL if last else SLIDING for last in full]}, f.where)
        )
    rope, windows = text_rope(c), layer_windows(c)
    thetas = f.find("layer_rope_theta", default=[0 if last else 1 for last in full])
    if not isinstance(thetas, list) or len(thetas) != c.layers:
        raise ConfigError(f"{f.where}: layer_rope_theta must have a number for each layer.")
    bias, plus = f.flag("attention_bias"), 0.0 if f.flag("norms_hold_one") else 1.0
    traits = Traits(qkv_bias=bias, out_bias=bias, windows=windows)
    w.ignore(r"(^|\.)vision_(tower|model|adapter|projection)\.")
    body, head = nested_names(w)
    decoder = MuseDecoder(
        w,
        c,
        [rope if theta else None for theta in thetas],
        mixer=lambda v, i: MuseAttention(v.sub("self_attn"), c, i, traits),
        mlp=lambda v, i: Mlp(v.sub("mlp"), c.hidden, c.ffn),
        norm_plus=plus,
        body=body,
        head=head,
        norms=replace(NORMS, last_plus=0.0),
    )
    decoder.out_eps = f.float("post_norm_eps", default=1e-8)
    decoder.logit_scale = f.float("output_multiplier", default=1.0)
    decoder.softcap = f.float("final_logit_softcapping", default=20.0)
    return decoder
