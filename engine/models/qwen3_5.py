"""Qwen3.5, dense and mixture: three gated delta-rule layers, then one of softmax attention whose output is gated.

A delta layer's memory has a fixed size, whatever the length; every fourth layer remembers all tokens. Checkpoints come
bare, nested beside a vision tower, or as mlx-lm saves them (then norms already hold 1 + w and the convolution's axes
are swapped).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from backends.base import Array, KVSpec, StateSpec, Step
from engine.errors import ConfigError
from engine.models.config import TextConfig, text_config
from engine.models.decoder import Decoder, Mixer, Mlp, MlpLike, nested_names
from engine.models.moe import GatedSharedMoe, Routing
from engine.models.qwen_vision import tower_place
from engine.models.rope import text_rope
from engine.models.vision_language import SeeingDecoder, beside_tower
from engine.weights.portions import Portion
from engine.weights.view import View


class GatedAttention:
    """Softmax attention whose query projection also makes a gate for its output."""

    def __init__(self, w: View, c: TextConfig, layer: int, norm_plus: float) -> None:
        self.ops, self.layer = w.backend.ops, layer
        own = w.heads(c.heads, c.kv_heads)
        self.heads, self.kv_heads, self.dim, self.eps = own.queries.size, own.keys.size, c.head_dim, c.eps
        self.scale = c.head_dim**-0.5
        self.memory = KVSpec(self.kv_heads, c.head_dim)
        bias = c.fields.flag("attention_bias")
        q, kv = c.heads * c.head_dim, c.kv_heads * c.head_dim
        parts, rows = [("q_proj", 2 * q), ("k_proj", kv), ("v_proj", kv)], own.rows(c.head_dim)
        self.qkv = w.linear(*parts, inp=c.hidden, bias=bias, rows=[own.queries.times(2 * c.head_dim), *rows[1:]])
        self.out = w.linear(("o_proj", c.hidden), inp=q, bias=bias, columns=rows[0])
        self.q_norm = w.norm("q_norm", c.head_dim, norm_plus)
        self.k_norm = w.norm("k_norm", c.head_dim, norm_plus)

    def __call__(self, x: Array, step: Step, angles: Array) -> Array:
        ops = self.ops
        queries, k, v = self._projected(x, angles)
        gate = queries[:, :, self.dim :]
        turned = ops.rope(ops.rms_norm(queries[:, :, : self.dim], self.q_norm, self.eps), angles)
        attended = step.cache.attend(self.layer, turned, k, v, self.scale)
        return self.out((attended * ops.sigmoid(gate)).reshape(x.shape[0], self.heads * self.dim))

    def store(self, x: Array, step: Step, angles: Array) -> None:
        """Write the keys and values alone."""
        _, k, v = self._projected(x, angles)
        step.cache.store(self.layer, k, v)

    def _projected(self, x: Array, angles: Array) -> tuple[Array, Array, Array]:
        """Queries with their gates, keys and values."""
        ops, n = self.ops, x.shape[0]
        q, kv = self.heads * self.dim, self.kv_heads * self.dim
        queries, k, v = ops.split(self.qkv(x), [2 * q, kv, kv], 1)
        k = ops.rope(ops.rms_norm(k.reshape(n, self.kv_heads, self.dim), self.k_norm, self.eps), angles)
        return queries.reshape(n, self.heads, 2 * self.dim), k, v.reshape(n, self.kv_heads, self.dim)


class GatedDelta:
    """Linear attention: a short causal convolution, then the gated delta rule."""

    def __init__(self, w: View, c: TextConfig, layer: int) -> None:
        f = c.fields
        self.ops, self.layer, self.eps = w.backend.ops, layer, c.eps
        key_heads, value_heads = f.int("linear_num_key_heads"), f.int("linear_num_value_heads")
        self.key_dim, self.value_dim = f.int("linear_key_head_dim"), f.int("linear_value_head_dim")
        if value_heads % key_heads:
            raise ConfigError(f"{f.where}: linear_num_value_heads is not a multiple of linear_num_key_heads.")
        w = w if key_heads >= w.rank.count else w.unsplit()
        self.own_keys = w.rank.portion(key_heads)
        self.own_values = self.own_keys.times(value_heads // key_heads)
        self.key_heads, self.value_heads = self.own_keys.size, self.own_values.size
        # GGUF files store the output's inputs with the heads of one key head apart, not side by side.
        self.tiled = f.flag("linear_value_heads_tiled")
        self.keys, self.values = self.key_heads * self.key_dim, self.value_heads * self.value_dim
        values = self.own_values.times(self.value_dim)
        self.own_channels = Portion.joined(*[self.own_keys.times(self.key_dim)] * 2, values)
        kernel = f.int("linear_conv_kernel_dim")
        self.memory = StateSpec(self.own_channels.size, kernel, self.value_heads, self.key_dim, self.value_dim)
        self.conv = w.depthwise("conv1d.weight", self.own_channels.total, kernel, self.own_channels)
        self.dt_bias = w.tensor("dt_bias", (value_heads,), "f32", self.own_values)
        self.decay = -self.ops.exp(w.tensor("A_log", (value_heads,), "f32", self.own_values))
        self.norm = w.norm("norm", self.value_dim)
        columns = self.own_keys.repeated(value_heads // key_heads).times(self.value_dim) if self.tiled else values
        self.out = w.linear(("out_proj", c.hidden), inp=value_heads * self.value_dim, columns=columns)
        self.project = self._projection(w, c)

    def _projection(self, w: View, c: TextConfig) -> Callable[[Array], tuple[Array, Array, Array, Array]]:
        """x -> mixed q, k, v channels; output gate z; write strength b; decay input a."""
        sizes = [2 * self.keys + self.values, self.values, self.value_heads, self.value_heads]
        names = ("in_proj_qkv", "in_proj_z", "in_proj_b", "in_proj_a")
        rows = [self.own_channels, self.own_values.times(self.value_dim), self.own_values, self.own_values]
        linear = w.linear(*zip(names, (part.total for part in rows)), inp=c.hidden, rows=rows)

        def project(x: Array) -> tuple[Array, Array, Array, Array]:
            mixed, z, b, a = self.ops.split(linear(x), sizes, 1)
            return mixed, z, b, a

        return project

    def __call__(self, x: Array, step: Step, angles: Array) -> Array:
        ops, n = self.ops, x.shape[0]
        mixed, z, b, a = self.project(x)
        mixed = ops.silu(step.cache.conv(self.layer, mixed, self.conv))
        q, k, v = ops.split(mixed, [self.keys, self.keys, self.values], 1)
        q = ops.l2norm(q.reshape(n, self.key_heads, self.key_dim)) * self.key_dim**-0.5
        k = ops.l2norm(k.reshape(n, self.key_heads, self.key_dim))
        v = v.reshape(n, self.value_heads, self.value_dim)
        g = self.decay * ops.softplus(ops.cast(a, "f32") + self.dt_bias)
        y = step.cache.delta(self.layer, q, k, v, g, ops.sigmoid(b))
        y = ops.rms_norm(y, self.norm, self.eps) * ops.silu(z.reshape(n, self.value_heads, self.value_dim))
        if self.tiled:
            y = ops.permute(y.reshape(n, self.key_heads, -1, self.value_dim), (0, 2, 1, 3))
        return self.out(y.reshape(n, self.values))


def layer_kinds(c: TextConfig) -> list[str]:
    """`linear_attention` or `full_attention` for each layer."""
    kinds = c.fields.find("layer_types", default=None)
    if kinds is None:
        every = c.fields.int("full_attention_interval", default=4)
        kinds = ["linear_attention" if (i + 1) % every else "full_attention" for i in range(c.layers)]
    if len(kinds) != c.layers or set(kinds) - {"linear_attention", "full_attention"}:
        raise ConfigError(f"{c.fields.where}: layer_types must name linear_attention or full_attention for each layer.")
    return kinds


def hybrid_decoder(
    w: View,
    c: TextConfig,
    delta: Callable[[View, int], Mixer],
    mlp: Callable[[View, int], MlpLike],
    body: str = "model",
    head: str = "lm_head",
) -> Decoder:
    """Delta layers and gated attention layers, in the order that the config names."""
    kinds = layer_kinds(c)
    swapped = any(
        (shape := w.shape(f"{body}.layers.{i}.linear_attn.conv1d.weight")) is not None and shape[-1] == 1
        for i in range(c.layers)
    )
    plus = 0.0 if swapped else 1.0

    def mixer(v: View, i: int) -> Mixer:
        if kinds[i] == "linear_attention":
            return delta(v.sub("linear_attn"), i)
        return GatedAttention(v.sub("self_attn"), c, i, plus)

    w.ignore(r"(^|\.)mtp\.")
    decoder = Decoder(w, c, text_rope(c, default_partial=0.25), mixer, mlp, norm_plus=plus, body=body, head=head)
    decoder.norm_plus = plus
    return decoder


def qwen3_5(w: View, config: Mapping[str, Any]) -> Decoder | SeeingDecoder:
    c = text_config(config)
    return _beside_its_tower(w, config, c, lambda v, i: Mlp(v.sub("mlp"), c.hidden, c.ffn))


def qwen3_5_moe(w: View, config: Mapping[str, Any]) -> Decoder | SeeingDecoder:
    c = text_config(config)
    routing = Routing(renormalize=c.fields.flag("norm_topk_prob", True))
    return _beside_its_tower(w, config, c, lambda v, i: GatedSharedMoe(v.sub("mlp"), c, routing))


def _beside_its_tower(
    w: View, config: Mapping[str, Any], c: TextConfig, mlp: Callable[[View, int], MlpLike]
) -> Decoder | SeeingDecoder:
    body, head = nested_names(w)
    decoder = hybrid_decoder(w, c, delta=lambda v, i: GatedDelta(v, c, i), mlp=mlp, body=body, head=head)
    place = tower_place(w) if isinstance(config.get("vision_config"), Mapping) else None
    if place is not None:
        return beside_tower(w, config, place, decoder, c.hidden)
    w.ignore(r"(^|\.)visual\.", r"(^|\.)vision_tower\.")
    return decoder
