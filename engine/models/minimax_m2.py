"""MiniMax M2: a mixture of experts in every layer, and norms on all queries and on all keys together, before rope."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from backends.base import Array, Step
from engine.models.config import TextConfig, text_config
from engine.models.decoder import Attention, Decoder, Traits
from engine.models.moe import Routing, SparseMoe
from engine.models.rope import text_rope
from engine.weights.view import View

ROUTING = Routing(sigmoid=True, bias="e_score_correction_bias")


class JointlyNormalizedAttention(Attention):
    """One norm over the queries of all heads, and one over their keys."""

    def __init__(self, w: View, c: TextConfig, layer: int, traits: Traits) -> None:
        super().__init__(w, c, layer, traits)
        queries, keys, _ = rows = self.own.rows(c.head_dim)
        self.sizes = [part.size for part in rows]
        self.wide_norms = w.wide_norm("q_norm", queries), w.wide_norm("k_norm", keys, self.own.copies)

    def __call__(self, x: Array, step: Step, angles: Array) -> Array:
        ops, n = self.ops, x.shape[0]
        q, k, v = ops.split(self.qkv(x), self.sizes, 1)
        q, k = (norm(made, self.eps) for made, norm in zip((q, k), self.wide_norms))
        q, k = q.reshape(n, self.heads, self.dim), k.reshape(n, self.kv_heads, self.dim)
        q, k, v = ops.rope(q, angles), ops.rope(k, angles), v.reshape(n, self.kv_heads, self.dim)
        attended = step.cache.attend(self.layer, q, k, v, self.scale)
        return self.out(attended.reshape(n, self.heads * self.dim))


def minimax_m2(w: View, config: Mapping[str, Any]) -> Decoder:
    c = text_config(config)
    rotary = c.fields.int("rotary_dim", default=c.head_dim)
    traits = Traits()
    return Decoder(
        w,
        c,
        text_rope(c, default_theta=5e6, default_partial=rotary / c.head_dim),
        mixer=lambda v, i: JointlyNormalizedAttention(v.sub("self_attn"), c, i, traits),
        mlp=lambda v, i: SparseMoe(v.sub("block_sparse_moe"), c, ROUTING),
    )
