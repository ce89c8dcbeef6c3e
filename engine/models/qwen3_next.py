"""Qwen3-Next: Qwen3.5's wiring with a mixture of experts, a shared expert, and projections fused per key head."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from backends.base import Array
from engine.models.config import TextConfig, text_config
from engine.models.decoder import Decoder, Mlp, MlpLike
from engine.models.moe import GatedSharedMoe
from engine.models.qwen3_5 import GatedDelta, hybrid_decoder
from engine.weights.view import View


class FusedGatedDelta(GatedDelta):
    """Each key head's query, key, values and gates lie side by side in one projection, its write strengths and decays in another.
    GGUF files have the first one apart."""

    def _projection(self, w: View, c: TextConfig) -> Callable[[Array], tuple[Array, Array, Array, Array]]:
        heads, ratio = self.key_heads, self.value_heads // self.key_heads
        wide = [self.key_dim, self.key_dim, ratio * self.value_dim, ratio * self.value_dim]
        apart = w.has("in_proj_qkv.weight")
        rows = [self.own_channels, self.own_values.times(self.value_dim)] if apart else [self.own_keys.times(sum(wide))]
        names = ["in_proj_qkv", "in_proj_z"] if apart else ["in_proj_qkvz"]
        qkvz = w.linear(*((name, part.total) for name, part in zip(names, rows)), inp=c.hidden, rows=rows)
        both = self.own_keys.times(2 * ratio)
        ba = w.linear(("in_proj_ba", both.total), inp=c.hidden, rows=[both])

        def project(x: Array) -> tuple[Array, Array, Array, Array]:
            ops, n = self.ops, x.shape[0]
            b, a = ops.split(ba(x).reshape(n, heads, 2 * ratio), [ratio, ratio], 2)
            b, a = b.reshape(n, self.value_heads), a.reshape(n, self.value_heads)
            if apart:
                mixed, z = ops.split(qkvz(x), [part.size for part in rows], 1)
                return mixed, z, b, a
            q, k, v, z = ops.split(qkvz(x).reshape(n, heads, sum(wide)), wide, 2)
            flat = [q.reshape(n, self.keys), k.reshape(n, self.keys), v.reshape(n, self.values)]
            return ops.cat(flat, 1), z.reshape(n, self.values), b, a

        return project


def qwen3_next(w: View, config: Mapping[str, Any]) -> Decoder:
    c = text_config(config)
    f = c.fields
    dense, every = set(f.find("mlp_only_layers", default=())), f.int("decoder_sparse_step", default=1)

    def mlp(v: View, i: int) -> MlpLike:
        if i in dense or (i + 1) % every:
            return Mlp(v.sub("mlp"), c.hidden, c.ffn)
        return GatedSharedMoe(v.sub("mlp"), c)

    return hybrid_decoder(w, c, delta=lambda v, i: FusedGatedDelta(v, c, i), mlp=mlp)
