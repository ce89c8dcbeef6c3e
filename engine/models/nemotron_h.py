"""Nemotron-H and Nemotron 3: each layer is one thing, behind one norm: Mamba-2, attention, an MLP or a mixture of experts.

MLPs and experts have no gate: `down(relu(up(x)) ** 2)`. Attention has no positions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from backends.base import Array, Step
from engine.errors import ConfigError
from engine.models.config import TextConfig, text_config
from engine.models.decoder import Attention, Decoder, Mixer, MlpLike, NormNames, Traits
from engine.models.mamba2 import Mamba2, MambaSizes, step_bounds
from engine.models.moe import ExpertRouter, Routing
from engine.weights.view import View

PATTERN = {"M": "mamba", "*": "attention", "-": "mlp", "E": "moe"}
NAMES = {"linear_attention": "mamba", "full_attention": "attention"}  # newer names of the same


class SquaredMlp:
    def __init__(self, w: View, hidden: int, ffn: int, bias: bool) -> None:
        self.ops = w.backend.ops
        own = w.width(ffn, "down_proj", hidden)
        self.up = w.linear(("up_proj", ffn), inp=hidden, bias=bias, rows=[own])
        self.down = w.linear(("down_proj", hidden), inp=ffn, bias=bias, columns=own)

    def __call__(self, x: Array) -> Array:
        inner = self.ops.relu(self.up(x))
        return self.down(inner * inner)


class SquaredMoe:
    """Routed experts, in some models in a narrower space, beside an MLP that every token goes through."""

    def __init__(self, w: View, c: TextConfig, bias: bool) -> None:
        f = c.fields
        routing = Routing(
            renormalize=f.flag("norm_topk_prob", True),
            sigmoid=True,
            scale=f.float("routed_scaling_factor", default=1.0),
            bias="gate.e_score_correction_bias",
            groups=f.int("n_group", default=1),
            kept=f.int("topk_group", default=1),
            judged_by=2 if f.int("n_group", default=1) > 1 else 1,
        )
        self.router = ExpertRouter(w, c, routing)
        ffn, narrow = f.int("moe_intermediate_size"), f.int("moe_latent_size", default=0, least=0)
        width = narrow or c.hidden
        self.enter = w.linear(("fc1_latent_proj", narrow), inp=c.hidden, bias=bias) if narrow else None
        self.leave = w.linear(("fc2_latent_proj", c.hidden), inp=narrow, bias=bias) if narrow else None
        stacked = w.has("switch_mlp.fc1.weight")  # as MLX's converter names them
        up, down = ("switch_mlp.fc1", "switch_mlp.fc2") if stacked else ("experts.{}.up_proj", "experts.{}.down_proj")
        own = w.experts_width(ffn, down, self.router.count, width)
        raising = w.experts([(up, ffn)], self.router.count, width, rows=own)
        lowering = w.experts([(down, width)], self.router.count, ffn, columns=own)
        self.experts = self.router.mixture(w, raising, lowering, activation="relu_squared")
        shared = f.int("moe_shared_expert_intermediate_size")
        self.shared = SquaredMlp(w.sub("shared_experts"), c.hidden, shared, bias)

    def __call__(self, x: Array) -> Array:
        y = self.experts(x if self.enter is None else self.enter(x), self.router.score(x))
        return (y if self.leave is None else self.leave(y)) + self.shared(x)


class MlpMixer:
    """What remembers nothing, where a mixer is expected."""

    memory = None

    def __init__(self, mlp: MlpLike) -> None:
        self.mlp = mlp

    def __call__(self, x: Array, step: Step, angles: Array | None) -> Array:
        return self.mlp(x)


def layer_kinds(config: Mapping[str, Any]) -> list[str]:
    named = config.get("layers_block_type") or config.get("layer_types")
    pattern = config.get("hybrid_override_pattern") or ""
    if isinstance(named, list):
        kinds = [NAMES.get(str(kind), str(kind)) for kind in named]
    else:
        kinds = [PATTERN.get(mark, "") for mark in str(pattern)]
    if not kinds or set(kinds) - set(PATTERN.values()):
        raise ConfigError("config.json: hybrid_override_pattern or layers_block_type must name each layer's kind.")
    return kinds


def mamba_sizes(c: TextConfig) -> MambaSizes:
    f = c.fields
    return MambaSizes(
        heads=f.int("mamba_num_heads"),
        dim=f.int("mamba_head_dim"),
        groups=f.int("n_groups", "mamba_n_groups"),
        state=f.int("ssm_state_size"),
        kernel=f.int("conv_kernel", "mamba_d_conv"),
        conv_bias=f.flag("use_conv_bias", True),
        bias=f.flag("use_bias"),
        steps=step_bounds(f),
    )


def nemotron_h(w: View, config: Mapping[str, Any]) -> Decoder:
    kinds = layer_kinds(config)
    c = text_config({**config, "num_hidden_layers": len(kinds)}, activations=("silu", "relu2"))
    f = c.fields
    c = replace(c, eps=f.float("layer_norm_epsilon", default=c.eps))
    if f.find("mlp_hidden_act", default="relu2") != "relu2" or f.find("sliding_window", default=None):
        raise ConfigError(f"{f.where}: MLPs without relu2, and sliding windows, are not supported for Nemotron-H.")
    size, bias = mamba_sizes(c), f.flag("mlp_bias")

    def mixer(v: View, i: int) -> Mixer:
        v, kind, layer = v.sub("mixer"), kinds[i], sum(kind in ("mamba", "attention") for kind in kinds[:i])
        if kind == "mamba":
            return Mamba2(v, c.hidden, layer, size, c.eps)
        if kind == "attention":
            return Attention(v, c, layer, Traits())
        return MlpMixer(SquaredMlp(v, c.hidden, c.ffn, bias) if kind == "mlp" else SquaredMoe(v, c, bias))

    w.ignore(r"^mtp\.")
    body = "model" if w.has("model.embeddings.weight") else "backbone"
    norms = NormNames(mixer="norm", mlp=None, last="norm_f")
    return Decoder(w, c, None, mixer, lambda v, i: None, body=body, norms=norms, embedding="embeddings")
