"""Granite 3 and 4: Llama with four multipliers, dense or a mixture, and in hybrids with Mamba-2 in most layers.

`residual + m * out` with a norm behind it is computed as `residual / m + out`: a norm takes any factor out again, if its epsilon is
divided by the factor's square. So no layer multiplies anything; the embedding does, once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from backends.base import Array
from engine.errors import ConfigError
from engine.models.config import TextConfig, text_config
from engine.models.decoder import Attention, Decoder, Mixer, Mlp, MlpLike, Traits
from engine.models.mamba2 import Mamba2, MambaSizes, step_bounds
from engine.models.moe import ExpertRouter, Routing, SparseMoe
from engine.models.rope import text_rope
from engine.weights.view import View

# kinds of layers, in published files and as 5.x saves them
ATTENTION = ("attention", "full_attention")
MAMBA = ("mamba", "linear_attention")


class GraniteMoe(SparseMoe):
    """Gates and ups of all experts lie in one tensor, in MLX's and in GGUF files in two."""

    def __init__(self, w: View, c: TextConfig) -> None:
        self.router = ExpertRouter(w, c, Routing(name="router.layer"))
        count = self.router.count
        if w.has("switch_mlp.gate_proj.weight"):
            own = w.experts_width(c.ffn, "switch_mlp.down_proj", count, c.hidden)
            parts = [("switch_mlp.gate_proj", c.ffn), ("switch_mlp.up_proj", c.ffn)]
            gate_up = w.experts(parts, count, c.hidden, rows=own)
            down = w.experts([("switch_mlp.down_proj", c.hidden)], count, c.ffn, columns=own)
        else:
            own = w.experts_width(c.ffn, "output_linear", count, c.hidden)
            gate_up = w.whole_experts("input_linear", count, 2 * c.ffn, c.hidden, rows=own.repeated(2))
            down = w.whole_experts("output_linear", count, c.hidden, c.ffn, columns=own)
        self.experts = self.router.mixture(w, gate_up, down)


class GraniteSharedMoe:
    """The routed experts, and an MLP that every token goes through."""

    def __init__(self, w: View, c: TextConfig) -> None:
        self.routed, self.shared = GraniteMoe(w.sub("block_sparse_moe"), c), _shared_mlp(w, c)

    def __call__(self, x: Array) -> Array:
        return self.routed(x) + self.shared(x)


def _shared_mlp(w: View, c: TextConfig) -> Mlp:
    width = c.fields.int("shared_intermediate_size")
    inner = w.sub("mlp" if w.has("mlp.gate_proj.weight") else "shared_mlp")  # MLX's and GGUF's name in dense models
    plain = inner.has("gate_proj.weight")
    return Mlp(inner, c.hidden, width, names=() if plain else ("input_linear", "output_linear"))


def granite(w: View, config: Mapping[str, Any]) -> Decoder:
    c = text_config(config)
    return _granite(w, c, mlp=lambda v, i: Mlp(v.sub("mlp"), c.hidden, c.ffn, c.fields.flag("mlp_bias")))


def granite_moe(w: View, config: Mapping[str, Any]) -> Decoder:
    c = text_config(config)
    shared = c.fields.int("shared_intermediate_size", default=0, least=0)
    return _granite(w, c, lambda v, i: GraniteSharedMoe(v, c) if shared else GraniteMoe(v.sub("block_sparse_moe"), c))


def granite_hybrid(w: View, config: Mapping[str, Any]) -> Decoder:
    c = text_config(config)
    f, known = c.fields, (*ATTENTION, *MAMBA)
    kinds = f.find("layer_types", "layers_block_type")
    if not isinstance(kinds, list) or len(kinds) != c.layers or any(kind not in known for kind in kinds):
        raise ConfigError(f"{f.where}: layer_types must name {' or '.join(known)} for each layer.")
    size = mamba_sizes(c) if set(kinds) & set(MAMBA) else None

    experts = f.int("num_local_experts", "num_experts", default=0, least=0)

    def mlp(v: View, i: int) -> MlpLike:
        return GraniteSharedMoe(v, c) if experts else _shared_mlp(v, c)

    return _granite(w, c, mlp, [kind in MAMBA for kind in kinds], size)


def mamba_sizes(c: TextConfig) -> MambaSizes:
    f = c.fields
    heads, auto = f.int("mamba_n_heads"), f.find("mamba_d_head", default="auto") == "auto"
    return MambaSizes(
        heads=heads,
        dim=f.int("mamba_expand", default=2) * c.hidden // heads if auto else f.int("mamba_d_head"),
        groups=f.int("mamba_n_groups", default=1),
        state=f.int("mamba_d_state"),
        kernel=f.int("mamba_d_conv", default=4),
        conv_bias=f.flag("mamba_conv_bias", True),
        bias=f.flag("mamba_proj_bias"),
        steps=step_bounds(f),
    )


def _granite(
    w: View,
    c: TextConfig,
    mlp: Callable[[View, int], MlpLike],
    recurrent: list[bool] | None = None,
    size: MambaSizes | None = None,
) -> Decoder:
    """`recurrent`: of a hybrid, which layers are Mamba-2, with these sizes."""
    f = c.fields
    embedding, residual, logits = (
        f.float(name, default=1.0, above=0)
        for name in ("embedding_multiplier", "residual_multiplier", "logits_scaling")
    )
    bias = f.flag("attention_bias")
    traits = Traits(qkv_bias=bias, out_bias=bias, scale=f.float("attention_multiplier", default=1.0, above=0))
    turned = recurrent is None or f.find("position_embedding_type", default=None) == "rope"

    def mixer(v: View, i: int) -> Mixer:
        if recurrent and recurrent[i] and size:
            return Mamba2(v.sub("mamba"), c.hidden, i, size, c.eps)
        return Attention(v.sub("self_attn"), c, i, traits)

    scaled = replace(c, eps=c.eps / residual**2)
    decoder = Decoder(w, scaled, text_rope(c) if turned else None, mixer, mlp, embed_scale=embedding / residual)
    decoder.logit_scale = 1 / logits
    return decoder
