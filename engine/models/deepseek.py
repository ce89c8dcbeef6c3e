"""DeepSeek 2 and 3, and GLM 4.7 Flash: multi-head latent attention, and mixtures of experts behind dense first layers.

The cache keeps a latent of each token and one key that all heads share, which is rotated. A head's keys and values are
projections of the latent: with a few queries, these projections are absorbed into the queries and into the output, and
attention reads latents; a long prompt chunk makes the keys and values themselves.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from backends.base import Array, HeadMatrices, KVSpec, Rope, Step
from engine.errors import ConfigError
from engine.models.config import LARGEST_HEAD, TextConfig, text_config
from engine.models.decoder import Decoder, Mlp, MlpLike
from engine.models.glm4 import MOST_GROUPS, corrected_mixture, ignore_prediction_layers, is_dense, mixture
from engine.models.moe import Routing
from engine.models.rope import rope_fields, text_rope
from engine.weights.portions import Portion
from engine.weights.view import View

NEVER = 1 << 40  # no chunk has so many tokens
NORM_EPS = 1e-6  # of queries' and keys' latents, whatever the config says of the others


class ProjectedHeads:
    """Implements `backends.base.LatentHeads`."""

    def __init__(self, w: View, own: Portion, key: int, value: int, rank: int, shared: int) -> None:
        self.ops = w.backend.ops
        self.key, self.rank, self.shared = key, rank, shared
        self.keys: HeadMatrices
        self._values: HeadMatrices
        # GGUF's and MLX's files hold keys' projections the other way round, apart from those of values
        self.turned = w.has("embed_q.weight")
        if self.turned:
            self.keys = w.head_matrices("embed_q", own.total, rank, key, part=own)
            self._values = w.head_matrices("unembed_out", own.total, value, rank, part=own)
        else:
            both = w.head_matrices("kv_b_proj", own.total, key + value, rank, joined=True, part=own)
            self.keys, self._values = both.part(0, key), both.part(key, key + value)
        # of each query, token and head `expand` saves so many products; a token and head cost it rank * (key + value)
        saved = 2 * rank - key - value
        possible = saved > 0 and (self.keys.transposes or not self.turned)
        self.expand_from = rank * (key + value) // saved + 1 if possible else NEVER

    def absorb(self, q: Array) -> Array:
        own, turned = self.ops.split(q, [self.key, self.shared], 2)
        return self.ops.cat([self.keys.each(own, transposed=not self.turned), turned], 2)

    def expand(self, rows: Array, first: int, last: int) -> tuple[Array, Array]:
        latents, turned = self.ops.split(rows, [self.rank, self.shared], 1)
        own = self.keys.every(latents, first, last, transposed=self.turned)
        turned = turned.reshape(rows.shape[0], 1, self.shared)
        keys = self.ops.cat([own, self.ops.cat([turned] * (last - first), 1)], 2)
        return keys, self._values.every(latents, first, last)

    def values(self, attended: Array) -> Array:
        return self._values.each(attended)


class LatentAttention:
    """Multi-head latent attention."""

    def __init__(self, w: View, c: TextConfig, layer: int) -> None:
        f = c.fields
        own = w.heads(c.heads, c.heads).queries
        self.ops, self.layer, self.heads = w.backend.ops, layer, own.size
        self.rank, self.shared = f.int("kv_lora_rank", most=LARGEST_HEAD), c.head_dim
        self.key = f.int("qk_nope_head_dim", most=LARGEST_HEAD)
        self.value = f.int("v_head_dim", most=LARGEST_HEAD)
        self.memory = KVSpec(1, self.rank + self.shared, v_dim=self.rank, latent=True)
        self.scale = (self.key + self.shared) ** -0.5 * _yarn_factor(c) ** 2
        bias, queries = f.flag("attention_bias"), c.heads * (self.key + self.shared)
        compressed = f.int("q_lora_rank", default=0, least=0)
        narrow = [("q_a_proj", compressed)] if compressed else []
        self.sizes = [size for _, size in narrow] + [self.rank, self.shared]
        self.q_norm = w.norm("q_a_layernorm", compressed) if compressed else None
        rows = [own.times(self.key + self.shared)]
        self.q = w.linear(("q_b_proj" if compressed else "q_proj", queries), inp=compressed or c.hidden, rows=rows)
        self.down = w.linear(*narrow, ("kv_a_proj_with_mqa", self.rank + self.shared), inp=c.hidden, bias=bias)
        self.kv_norm = w.norm("kv_a_layernorm", self.rank)
        self.projected = ProjectedHeads(w, own, self.key, self.value, self.rank, self.shared)
        columns = own.times(self.value)
        self.out = w.linear(("o_proj", c.hidden), inp=columns.total, bias=bias, columns=columns)

    def __call__(self, x: Array, step: Step, angles: Array) -> Array:
        ops, n = self.ops, x.shape[0]
        *narrow, latents, turned = ops.split(self.down(x), self.sizes, 1)
        rows = self._rows(latents, turned, angles)
        q = self.q(ops.rms_norm(narrow[0], self.q_norm, NORM_EPS) if narrow else x)
        own, rotated = ops.split(q.reshape(n, self.heads, self.key + self.shared), [self.key, self.shared], 2)
        q = ops.cat([own, ops.rope(rotated, angles)], 2)
        y = step.cache.attend_latent(self.layer, q, rows, self.projected, self.scale)
        return self.out(y.reshape(n, self.heads * self.value))

    def store(self, x: Array, step: Step, angles: Array) -> None:
        """Write the latents and shared keys alone."""
        *_, latents, turned = self.ops.split(self.down(x), self.sizes, 1)
        step.cache.store_latent(self.layer, self._rows(latents, turned, angles))

    def _rows(self, latents: Array, turned: Array, angles: Array) -> Array:
        ops, n = self.ops, latents.shape[0]
        turned = ops.rope(turned.reshape(n, 1, self.shared), angles).reshape(n, self.shared)
        return ops.cat([ops.rms_norm(latents, self.kv_norm, NORM_EPS), turned], 1)


def latent_config(config: Mapping[str, Any]) -> TextConfig:
    c = text_config(config)
    return replace(c, head_dim=c.fields.int("qk_rope_head_dim", most=LARGEST_HEAD))


def latent_rope(c: TextConfig) -> Rope:
    return replace(text_rope(c), pairs=c.fields.flag("rope_interleave", True))


def _yarn_factor(c: TextConfig) -> float:
    """By which YaRN stretches scores, beside what it does to the shared key."""
    rope = rope_fields(c.fields)
    factor, all_dims = rope.float("factor", default=1.0), rope.float("mscale_all_dim", default=0.0)
    plain = rope.find("rope_type", "type", default="default") == "default"
    return 1.0 if plain or factor <= 1 else 0.1 * all_dims * math.log(factor) + 1.0


def _latent_decoder(w: View, config: Mapping[str, Any], softmax: bool) -> Decoder:
    c = latent_config(config)
    f = c.fields
    ignore_prediction_layers(w, c)

    def mlp(v: View, i: int) -> MlpLike:
        if f.find("n_routed_experts", "num_local_experts", "num_experts", default=None) is None:
            return Mlp(v.sub("mlp"), c.hidden, c.ffn)
        return softmax_mixture(v.sub("mlp"), c, i) if softmax else corrected_mixture(v.sub("mlp"), c, i)

    return Decoder(w, c, latent_rope(c), lambda v, i: LatentAttention(v.sub("self_attn"), c, i), mlp)


def softmax_mixture(w: View, c: TextConfig, layer: int, first: int = 0) -> MlpLike:
    """The MLP of a layer; `first` ones are no mixtures, where a config does not say it."""
    f = c.fields
    if is_dense(c, layer, first):
        return Mlp(w, c.hidden, c.ffn)
    method = f.find("topk_method", default="greedy")
    if method not in ("greedy", "group_limited_greedy"):
        raise ConfigError(f"{f.where}: topk_method `{method}` is not known.")
    grouped = method != "greedy"
    routing = Routing(
        renormalize=f.flag("norm_topk_prob"),
        scale=f.float("routed_scaling_factor", default=1.0),
        groups=f.int("n_group", default=1, most=MOST_GROUPS) if grouped else 1,
        kept=f.int("topk_group", default=1) if grouped else 1,
    )
    return mixture(w, c, routing)


def deepseek_v2(w: View, config: Mapping[str, Any]) -> Decoder:
    return _latent_decoder(w, config, softmax=True)


def deepseek_v3(w: View, config: Mapping[str, Any]) -> Decoder:
    return _latent_decoder(w, config, softmax=False)
