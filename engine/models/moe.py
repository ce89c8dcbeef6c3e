"""A mixture of experts: each token goes through the `k` experts that its router likes best, and maybe through one that all share.

Experts come one tensor each, stacked (`switch_mlp`), or with gates and ups of all of them in one tensor.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from backends.base import Array, Linear
from engine.errors import ConfigError
from engine.models.config import TextConfig
from engine.models.decoder import Mlp
from engine.weights.view import View


@dataclass(frozen=True)
class Routing:
    """How a router chooses experts and weighs what they give."""

    renormalize: bool = True  # the chosen experts' shares add up to one
    sigmoid: bool = False  # scores are sigmoids, not a softmax
    scale: float = 1.0  # of all shares
    softcap: float = 0.0  # raw scores are kept below it by a tangent; 0: they are not
    name: str = "gate"  # the tensor that makes raw scores
    bias: str | None = None  # tensor that is added to scores where experts are chosen, and only there
    groups: int = 1  # of experts side by side: the best `kept` ones are searched
    kept: int = 1
    judged_by: int = 1  # a group is as good as the sum of its best scores: how many


class ExpertRouter:
    """Chooses experts for each token."""

    def __init__(self, w: View, c: TextConfig, routing: Routing) -> None:
        f = c.fields
        self.ops, self.routing = w.backend.ops, routing
        self.count = f.int("num_experts", "num_local_experts", "n_routed_experts")
        self.chosen = f.int("num_experts_per_tok")
        if self.chosen > self.count:
            raise ConfigError(f"{f.where}: num_experts_per_tok ({self.chosen}) exceeds num_experts ({self.count}).")
        each, left = divmod(self.count, routing.groups)
        if left or not routing.kept <= routing.groups or self.chosen > routing.kept * each or routing.judged_by > each:
            raise ConfigError(f"{f.where}: n_group ({routing.groups}) and topk_group ({routing.kept}) do not fit.")
        self.score = w.linear((routing.name, self.count), inp=c.hidden)
        self.bias = None
        if routing.bias:
            alone = w.shape(routing.bias) != (1, self.count)  # as Ernie's files hold it
            shape = (self.count,) if alone else (1, self.count)
            self.bias = w.tensor(routing.bias, shape, "f32").reshape(self.count)
        if routing.kept < routing.groups and not w.dry:
            self.members = self.ops.array(np.eye(routing.groups, dtype=np.float32))

    def __call__(self, x: Array) -> tuple[Array, Array]:
        """Shares, f32, and experts, `[T, k]` each."""
        ops, r, n = self.ops, self.routing, x.shape[0]
        raw = ops.cast(self.score(x), "f32")
        if r.softcap:
            raw = ops.tanh(raw / r.softcap) * r.softcap
        scores = ops.sigmoid(raw) if r.sigmoid else ops.softmax(raw)
        wanted = scores if self.bias is None else scores + self.bias
        if r.kept < r.groups:
            wanted = self._in_best_groups(wanted)
        share, experts = ops.topk(wanted, self.chosen)
        if self.bias is not None:
            at = experts + (ops.arange(n) * self.count).reshape(n, 1)
            share = ops.take(scores.reshape(n * self.count), at, 0)
        if r.renormalize:
            share = share / (ops.sum(share, -1) + 1e-20).reshape(n, 1)
        return (share if r.scale == 1.0 else share * r.scale), experts

    def _in_best_groups(self, scores: Array) -> Array:
        """Scores, far below all others outside of the best groups."""
        ops, r, n = self.ops, self.routing, scores.shape[0]
        grouped = scores.reshape(n, r.groups, self.count // r.groups)
        best, _ = ops.topk(grouped, r.judged_by)
        _, kept = ops.topk(ops.sum(best, -1), r.kept)
        inside = ops.sum(ops.take(self.members, kept, 0), 1).reshape(n, r.groups, 1)
        return (grouped * inside + (inside - 1) * 1e9).reshape(n, self.count)


def gated_experts(w: View, count: int, hidden: int, ffn: int) -> tuple[Linear, Linear]:
    """Gates and ups of all experts, and what brings them back to the model's width."""

    def whole(name: str, out: int, inp: int, *parts: tuple[str, int]) -> Linear:
        if w.has(f"experts.{name}") or w.has(f"experts.{name}.weight"):
            return w.whole_experts(f"experts.{name}", count, out, inp)
        return w.experts(parts, count, inp)

    gate, up, down = ("w1", "w3", "w2") if w.has("experts.0.w1.weight") else ("gate_proj", "up_proj", "down_proj")
    gate_up = whole("gate_up_proj", 2 * ffn, hidden, (f"experts.{{}}.{gate}", ffn), (f"experts.{{}}.{up}", ffn))
    return gate_up, whole("down_proj", hidden, ffn, (f"experts.{{}}.{down}", hidden))


class SparseMoe:
    def __init__(self, w: View, c: TextConfig, routing: Routing | None = None) -> None:
        self.ops, self.dtype = w.backend.ops, w.backend.dtype
        self.router = ExpertRouter(w, c, routing or Routing(renormalize=c.fields.flag("norm_topk_prob")))
        ffn = c.fields.int("moe_intermediate_size", "intermediate_size")
        self.gate_up, self.down = gated_experts(w, self.router.count, c.hidden, ffn)

    def __call__(self, x: Array) -> Array:
        ops = self.ops
        share, experts = self.router(x)
        y = self.down.gather(ops.swiglu(self.gate_up.gather(x, experts)), experts)
        weighted = ops.cast(y, "f32") * share.reshape(*share.shape, 1)
        return ops.cast(ops.sum(weighted, 1), self.dtype)


class SharedMoe:
    """The routed experts, and one that every token goes through."""

    def __init__(self, w: View, c: TextConfig, name: str, ffn: int, routing: Routing | None = None) -> None:
        self.routed = SparseMoe(w, c, routing)
        self.shared = Mlp(w.sub(name), c.hidden, ffn)

    def __call__(self, x: Array) -> Array:
        return self.routed(x) + self.shared(x)


class GatedSharedMoe(SharedMoe):
    """Qwen's: the shared expert's output is gated."""

    def __init__(self, w: View, c: TextConfig, routing: Routing | None = None) -> None:
        super().__init__(w, c, "shared_expert", c.fields.int("shared_expert_intermediate_size"), routing)
        self.ops, self.gate = w.backend.ops, w.linear(("shared_expert_gate", 1), inp=c.hidden)

    def __call__(self, x: Array) -> Array:
        return self.routed(x) + self.ops.sigmoid(self.gate(x)) * self.shared(x)
