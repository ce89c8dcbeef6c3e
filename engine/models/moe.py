"""A mixture of experts: each token goes through the `k` experts that its router likes best, and maybe through one that all share.

Experts come one tensor each, stacked (`switch_mlp`), or with gates and ups of all of them in one tensor.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from backends.base import Array, Linear, Mixture, MixtureParts, RoutingRule
from engine.errors import ConfigError
from engine.models.config import TextConfig
from engine.models.decoder import Mlp
from engine.weights.view import View


@dataclass(frozen=True)
class Routing:
    """How a router chooses experts and weighs what they give: see `RoutingRule`."""

    renormalize: bool = True
    sigmoid: bool = False
    scale: float = 1.0
    softcap: float = 0.0
    name: str = "gate"  # the tensor that makes raw scores
    bias: str | None = None  # tensor that is added to scores where experts are chosen, and only there
    groups: int = 1
    kept: int = 1
    judged_by: int = 1

    def rule(self, chosen: int) -> RoutingRule:
        return RoutingRule(
            chosen, self.renormalize, self.sigmoid, self.scale, self.softcap, self.groups, self.kept, self.judged_by
        )


class ExpertRouter:
    """Scores experts for each token, and says how they are chosen."""

    def __init__(self, w: View, c: TextConfig, routing: Routing) -> None:
        f = c.fields
        self.count = f.int("num_experts", "num_local_experts", "n_routed_experts")
        chosen = f.int("num_experts_per_tok")
        if chosen > self.count:
            raise ConfigError(f"{f.where}: num_experts_per_tok ({chosen}) exceeds num_experts ({self.count}).")
        each, left = divmod(self.count, routing.groups)
        if left or not routing.kept <= routing.groups or chosen > routing.kept * each or routing.judged_by > each:
            raise ConfigError(f"{f.where}: n_group ({routing.groups}) and topk_group ({routing.kept}) do not fit.")
        self.rule = routing.rule(chosen)
        self.score = w.linear((routing.name, self.count), inp=c.hidden)
        self.bias = None
        if routing.bias:
            alone = w.shape(routing.bias) != (1, self.count)  # as Ernie's files hold it
            shape = (self.count,) if alone else (1, self.count)
            self.bias = w.tensor(routing.bias, shape, "f32").reshape(self.count)

    def mixture(self, w: View, up: Linear, down: Linear, **more: Any) -> Mixture:
        """The experts that it chooses from; `more`: see `MixtureParts`."""
        return w.mixture(MixtureParts(up, down, self.rule, preferred=self.bias, **more))


def gated_experts(w: View, count: int, hidden: int, ffn: int) -> tuple[Linear, Linear]:
    """Gates and ups of all experts, and what brings them back to the model's width."""

    def joined(name: str) -> bool:
        return w.has(f"experts.{name}") or w.has(f"experts.{name}.weight")

    gate, up, down = ("w1", "w3", "w2") if w.has("experts.0.w1.weight") else ("gate_proj", "up_proj", "down_proj")
    lowering = "experts.down_proj" if joined("down_proj") else f"experts.{{}}.{down}"
    own = w.experts_width(ffn, lowering, count, hidden)
    # inputs first, as Qwen3-VL's are
    turned = w.shape("experts.gate_up_proj") == (count, hidden, 2 * ffn) != (count, 2 * ffn, hidden)
    if joined("gate_up_proj"):
        gate_up = w.whole_experts("experts.gate_up_proj", count, 2 * ffn, hidden, turned, rows=own.repeated(2))
    else:
        gate_up = w.experts([(f"experts.{{}}.{name}", ffn) for name in (gate, up)], count, hidden, rows=own)
    if joined("down_proj"):
        return gate_up, w.whole_experts(lowering, count, hidden, ffn, turned, columns=own)
    return gate_up, w.experts([(lowering, hidden)], count, ffn, columns=own)


class SparseMoe:
    def __init__(self, w: View, c: TextConfig, routing: Routing | None = None) -> None:
        self.router = ExpertRouter(w, c, routing or Routing(renormalize=c.fields.flag("norm_topk_prob")))
        ffn = c.fields.int("moe_intermediate_size", "intermediate_size")
        self.experts = self.router.mixture(w, *gated_experts(w, self.router.count, c.hidden, ffn))

    def __call__(self, x: Array) -> Array:
        return self.experts(x, self.router.score(x))


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
