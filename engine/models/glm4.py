"""GLM 4: norms on both sides of attention and MLP, and neighbouring dimensions turned together in half of each head. And its
mixtures, GLM 4.5 to 4.7: norms and halves as usual, sigmoid routing, and one layer more for multi-token prediction (`mtp.py`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from engine.errors import ConfigError
from engine.models.config import TextConfig, text_config
from engine.models.decoder import Attention, Decoder, Mlp, MlpLike, NormNames, Traits
from engine.models.moe import Routing, SharedMoe, SparseMoe
from engine.models.rope import text_rope
from engine.weights.view import View

MOST_GROUPS = 1 << 10  # a router holds a matrix of them
NORMS = NormNames(
    mixer="input_layernorm",
    mixed="post_self_attn_layernorm",
    mlp="post_attention_layernorm",
    out="post_mlp_layernorm",
)


def glm4(w: View, config: Mapping[str, Any]) -> Decoder:
    c = text_config(config)
    traits = Traits(qkv_bias=c.fields.flag("attention_bias", True))
    rope = text_rope(c, default_partial=0.5)
    return Decoder(
        w,
        c,
        replace(rope, pairs=rope.section is None),  # GGUF files of models that see have halves together
        mixer=lambda v, i: Attention(v.sub("self_attn"), c, i, traits),
        mlp=lambda v, i: Mlp(v.sub("mlp"), c.hidden, c.ffn, fused=True),
        norms=NORMS,
    )


def glm4_moe(w: View, config: Mapping[str, Any]) -> Decoder:
    c = text_config(config)
    traits = mixture_traits(c)
    ignore_prediction_layers(w, c)
    return Decoder(
        w,
        c,
        text_rope(c, default_partial=0.5),
        mixer=lambda v, i: Attention(v.sub("self_attn"), c, i, traits),
        mlp=lambda v, i: corrected_mixture(v.sub("mlp"), c, i),
    )


def mixture_traits(c: TextConfig) -> Traits:
    norms = ("q_norm", "k_norm") if c.fields.flag("use_qk_norm") else None
    return Traits(qkv_bias=c.fields.flag("attention_bias"), qk_norm=norms)


def corrected_mixture(w: View, c: TextConfig, layer: int) -> MlpLike:
    """The MLP of a layer: a mixture whose router has a correction bias, but in the first layers."""
    return Mlp(w, c.hidden, c.ffn) if is_dense(c, layer, 1) else corrected_experts(w, c)


def corrected_experts(w: View, c: TextConfig) -> MlpLike:
    f = c.fields
    routing = Routing(
        renormalize=f.flag("norm_topk_prob", True),
        sigmoid=True,
        scale=f.float("routed_scaling_factor", default=1.0),
        bias="gate.e_score_correction_bias",
        groups=f.int("n_group", default=1, most=MOST_GROUPS),
        kept=f.int("topk_group", default=1),
        judged_by=2,
    )
    return mixture(w, c, routing)


def is_dense(c: TextConfig, layer: int, first: int) -> bool:
    """Whether a layer is no mixture: where a config does not say it, the `first` ones."""
    kinds = c.fields.find("mlp_layer_types", default=None)
    if kinds is None:
        return layer < c.fields.int("first_k_dense_replace", default=first, least=0)
    if not isinstance(kinds, list) or len(kinds) != c.layers or any(kind not in ("dense", "sparse") for kind in kinds):
        raise ConfigError(f"{c.fields.where}: mlp_layer_types must name dense or sparse for each layer.")
    return bool(kinds[layer] == "dense")


def mixture(w: View, c: TextConfig, routing: Routing) -> MlpLike:
    """Experts that all tokens share, where there are some, are one MLP."""
    shared = c.fields.int("n_shared_experts", default=0, least=0)
    if not shared:
        return SparseMoe(w, c, routing)
    return SharedMoe(w, c, "shared_experts", shared * c.fields.int("moe_intermediate_size"), routing)


def ignore_prediction_layers(w: View, c: TextConfig, body: str = "model") -> None:
    """Layers behind the last one are for multi-token prediction. Those of GGUF files have names of their own."""
    w.ignore(r"^mtp\.")
    count = c.fields.int("num_nextn_predict_layers", "num_mtp_layers", default=1, least=0, most=64)
    for i in range(c.layers, c.layers + max(1, count)):
        w.ignore(rf"^{re.escape(body)}\.layers\.{i}\.")
