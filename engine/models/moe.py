"""A mixture of experts: each token goes through the `k` experts that its router likes best."""

from __future__ import annotations

from backends.base import Array
from engine.errors import ConfigError
from engine.models.config import TextConfig
from engine.weights.view import View


class SparseMoe:
    def __init__(self, w: View, c: TextConfig) -> None:
        f = c.fields
        self.ops, self.dtype = w.backend.ops, w.backend.dtype
        self.count = f.int("num_experts", "num_local_experts")
        self.chosen = f.int("num_experts_per_tok")
        if self.chosen > self.count:
            raise ConfigError(f"{f.where}: num_experts_per_tok ({self.chosen}) exceeds num_experts ({self.count}).")
        self.renormalize = f.flag("norm_topk_prob")
        ffn = f.int("moe_intermediate_size")
        self.router = w.linear(("gate", self.count), inp=c.hidden)
        self.gate_up = w.experts(
            [("experts.{}.gate_proj", ffn), ("experts.{}.up_proj", ffn)], count=self.count, inp=c.hidden
        )
        self.down = w.experts([("experts.{}.down_proj", c.hidden)], count=self.count, inp=ffn)

    def __call__(self, x: Array) -> Array:
        ops = self.ops
        share, experts = ops.topk(ops.softmax(ops.cast(self.router(x), "f32")), self.chosen)
        if self.renormalize:
            share = share / ops.sum(share, -1).reshape(share.shape[0], 1)
        y = self.down.gather(ops.swiglu(self.gate_up.gather(x, experts)), experts)
        weighted = ops.cast(y, "f32") * share.reshape(share.shape[0], self.chosen, 1)
        return ops.cast(ops.sum(weighted, 1), self.dtype)
