"""gpt-oss: attention with sinks, a window in every other layer, and a mixture of experts with biases and a clamped gate.

Experts come as MXFP4 or as plain tensors with inputs before outputs, gates and ups alternating (OpenAI's layout); or with gates
and ups in tensors of their own (GGUF files).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from backends.base import Array
from engine.errors import ConfigError
from engine.models.config import TextConfig, text_config
from engine.models.decoder import Attention, Decoder, Traits
from engine.models.rope import text_rope
from engine.models.windows import layer_windows
from engine.weights.view import View


class ClampedMoe:
    """`(up + 1) * gate * sigmoid(alpha * gate)`, with the gate at most `limit` and the up at most so far from zero. The softmax is
    over the chosen experts alone."""

    def __init__(self, w: View, c: TextConfig) -> None:
        f = c.fields
        self.ops, self.dtype, self.ffn = w.backend.ops, w.backend.dtype, c.ffn
        self.count = f.int("num_local_experts", "num_experts")
        self.chosen = f.int("num_experts_per_tok", "experts_per_token")
        if self.chosen > self.count:
            raise ConfigError(
                f"{f.where}: num_experts_per_tok ({self.chosen}) exceeds num_local_experts ({self.count})."
            )
        self.alpha, self.limit = f.float("swiglu_alpha", default=1.702), f.float("swiglu_limit", default=7.0, above=0)
        self.router = w.linear(("router", self.count), inp=c.hidden, bias=True)
        self.alternating = not w.has("switch_mlp.gate_proj.weight")
        if self.alternating:
            inner = w.sub("experts")
            self.gate_up = inner.whole_experts("gate_up_proj", self.count, 2 * c.ffn, c.hidden, inputs_first=True)
            self.down = inner.whole_experts("down_proj", self.count, c.hidden, c.ffn, inputs_first=True)
            self.gate_up_bias = inner.tensor("gate_up_proj_bias", (self.count, 2 * c.ffn))
            self.down_bias = inner.tensor("down_proj_bias", (self.count, c.hidden))
            return
        parts = [("experts.{}.gate_proj", c.ffn), ("experts.{}.up_proj", c.ffn)]
        self.gate_up = w.experts(parts, self.count, c.hidden)
        self.down = w.experts([("experts.{}.down_proj", c.hidden)], self.count, c.ffn)
        biases = [w.tensor(f"switch_mlp.{name}_proj.bias", (self.count, c.ffn)) for name in ("gate", "up")]
        self.gate_up_bias = self.ops.cat(biases, 1)
        self.down_bias = w.tensor("switch_mlp.down_proj.bias", (self.count, c.hidden))

    def __call__(self, x: Array) -> Array:
        ops, n = self.ops, x.shape[0]
        best, experts = ops.topk(ops.cast(self.router(x), "f32"), self.chosen)
        share = ops.softmax(best)
        made = self.gate_up.gather(x, experts) + ops.take(self.gate_up_bias, experts, 0)
        if self.alternating:
            pairs = made.reshape(n, self.chosen, self.ffn, 2)
            gate, up = pairs[:, :, :, 0], pairs[:, :, :, 1]
        else:
            gate, up = ops.split(made, [self.ffn, self.ffn], 2)
        gate, up = ops.clamp(gate, None, self.limit), ops.clamp(up, -self.limit, self.limit)
        y = self.down.gather((up + 1) * (gate * ops.sigmoid(gate * self.alpha)), experts)
        y = ops.cast(y + ops.take(self.down_bias, experts, 0), "f32")
        return ops.cast(ops.sum(y * share.reshape(n, self.chosen, 1), 1), self.dtype)


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
