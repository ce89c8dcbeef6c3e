"""gpt-oss: attention with sinks, a window in every other layer, and a mixture of experts with biases and a clamped gate.

Experts come as MXFP4 or as plain tensors with inputs before outputs, gates and ups alternating (OpenAI's layout); or with gates
and ups in tensors of their own (GGUF files, and what mlx-lm saves).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from backends.base import Array, MixtureParts, RoutingRule
from engine.errors import ConfigError
from engine.models.config import TextConfig, text_config
from engine.models.decoder import Attention, Decoder, Traits
from engine.models.rope import text_rope
from engine.models.windows import layer_windows
from engine.weights.view import View


class ClampedMoe:
    """`(up + 1) * gate * sigmoid(alpha * gate)`, with the gate at most `limit` and the up at most so far from zero."""

    def __init__(self, w: View, c: TextConfig) -> None:
        f = c.fields
        ops, count = w.backend.ops, f.int("num_local_experts", "num_experts")
        chosen = f.int("num_experts_per_tok", "experts_per_token")
        if chosen > count:
            raise ConfigError(f"{f.where}: num_experts_per_tok ({chosen}) exceeds num_local_experts ({count}).")
        alpha, limit = f.float("swiglu_alpha", default=1.702), f.float("swiglu_limit", default=7.0, above=0)
        self.router = w.linear(("router", count), inp=c.hidden, bias=True)
        stacked = next((name for name in ("switch_mlp", "experts") if w.has(f"{name}.gate_proj.weight")), None)
        alternating = stacked is None
        if stacked is None:
            inner = w.sub("experts")
            own = inner.experts_width(c.ffn, "down_proj", count, c.hidden)
            both = own.times(2)
            gate_up = inner.whole_experts("gate_up_proj", count, 2 * c.ffn, c.hidden, inputs_first=True, rows=both)
            down = inner.whole_experts("down_proj", count, c.hidden, c.ffn, inputs_first=True, columns=own)
            gate_up_bias = inner.tensor("gate_up_proj_bias", (count, 2 * c.ffn), part=both, axis=1)
            down_bias = inner.tensor("down_proj_bias", (count, c.hidden))
        else:
            inner = w.sub(stacked)
            own = inner.experts_width(c.ffn, "down_proj", count, c.hidden)
            gate_up = inner.experts([("gate_proj", c.ffn), ("up_proj", c.ffn)], count, c.hidden, rows=own)
            down = inner.experts([("down_proj", c.hidden)], count, c.ffn, columns=own)
            biases = [inner.tensor(f"{name}_proj.bias", (count, c.ffn), part=own, axis=1) for name in ("gate", "up")]
            gate_up_bias = ops.cat(biases, 1)
            down_bias = inner.tensor("down_proj.bias", (count, c.hidden))
        self.experts = w.mixture(
            MixtureParts(
                gate_up,
                down,
                RoutingRule(chosen),
                activation="clamped_swiglu",
                alternating=alternating,
                alpha=alpha,
                limit=limit,
                up_bias=gate_up_bias,
                down_bias=down_bias,
            )
        )

    def __call__(self, x: Array) -> Array:
        return self.experts(x, self.router(x))


def gpt_oss(w: View, config: Mapping[str, Any]) -> Decoder:
    c = text_config(config)
    bias = c.fields.flag("attention_bias", True)
    traits = Traits(qkv_bias=bias, out_bias=bias, sinks=True, windows=layer_windows(c, pattern=2))
    return Decoder(
        w,
        c,
        text_rope(c, default_theta=150000.0),
        mixer=lambda v, i: Attention(v.sub("self_attn"), c, i, traits),
        mlp=lambda v, i: ClampedMoe(v.sub("mlp"), c),
    )
