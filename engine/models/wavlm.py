"""WavLM with an x-vector head: a vector of the voice in a sound, near to that of the same person's voice in another sound.

wav2vec 2.0's strided convolutions and positional convolution, and a post-norm transformer whose attention has a bias by distance, gated
by what each head sees. The head sums all layers by learned weights, and dilated convolutions (a TDNN) and statistics over time follow.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Generator, Mapping
from typing import Any

import numpy as np

from backends.base import Array, Ops
from engine.errors import BadRequest, ConfigError
from engine.models.config import MOST_LAYERS, Fields
from engine.models.wav2vec2 import PositionalConv, feature_convs, samples_of
from engine.models.yield_budget import YieldBudget
from engine.weights.view import View

_NAME = "WavLM config.json"
_GATES = 8  # a head's gate: two sums of four


def distance_buckets(length: int, count: int, most: int) -> np.ndarray:
    """`[length, length]`: which of the biases belongs to a key seen from a query. One for each short distance, fewer for longer ones
    up to `most`; keys behind the query have the second half of them."""
    away = np.arange(length)[None] - np.arange(length)[:, None]
    half, far = count // 2, np.abs(away)
    exact = half // 2
    share = np.log(np.maximum(far, 1).astype(np.float32) / np.float32(exact)) / np.float32(math.log(most / exact))
    coarse = np.minimum(exact + (share * np.float32(half - exact)).astype(np.int64), half - 1)
    made: np.ndarray = ((away > 0) * half + np.where(far < exact, far, coarse)).astype(np.int32)
    return made


def _norm(w: View, name: str, dim: int) -> tuple[Array, Array]:
    return w.tensor(f"{name}.weight", (dim,), "f32"), w.tensor(f"{name}.bias", (dim,), "f32")


class _GatedLayer:
    """Attention with a gated bias, and MLP, each with its norm behind the sum."""

    def __init__(self, w: View, dim: int, heads: int, ffn: int, eps: float) -> None:
        self.ops: Ops = w.backend.ops
        self.dim, self.heads, self.each, self.eps = dim, heads, dim // heads, eps
        own = w.sub("attention")
        self.qkv = own.linear(("q_proj", dim), ("k_proj", dim), ("v_proj", dim), inp=dim, bias=True)
        self.out = own.linear(("out_proj", dim), inp=dim, bias=True)
        self.gates = own.linear(("gru_rel_pos_linear", _GATES), inp=self.each, bias=True)
        self.gain = own.tensor("gru_rel_pos_const", (1, heads, 1, 1), "f32").reshape(1, 1, heads, 1)
        self.norms = [_norm(w, name, dim) for name in ("layer_norm", "final_layer_norm")]
        self.widen = w.linear(("feed_forward.intermediate_dense", ffn), inp=dim, bias=True)
        self.narrow = w.linear(("feed_forward.output_dense", dim), inp=ffn, bias=True)

    def __call__(self, x: Array, bias: Array) -> Array:
        """`bias [1, H, L, L]`, of distances."""
        ops, length = self.ops, x.shape[1]
        seen = self.gates(x.reshape(1, length * self.heads, self.each)).reshape(1, length, self.heads, 2, _GATES // 2)
        first, second = ops.split(ops.sigmoid(ops.sum(seen, 4)), [1, 1], 3)
        gate = ops.permute(first * (second * self.gain - 1.0) + 2.0, (0, 2, 1, 3))
        shape = (1, length, self.heads, self.each)
        q, k, v = (y.reshape(*shape) for y in ops.split(self.qkv(x), [self.dim] * 3, 2))
        attended = ops.sdpa(q, k, v, self.each**-0.5, mask=gate * bias).reshape(1, length, self.dim)
        x = ops.layer_norm(x + self.out(attended), *self.norms[0], self.eps)
        return ops.layer_norm(x + self.narrow(ops.gelu(self.widen(x))), *self.norms[1], self.eps)


class _Tdnn:
    """A dilated convolution, which its checkpoint keeps as a matrix over all that it sees."""

    def __init__(self, w: View, inp: int, out: int, kernel: int, dilation: int) -> None:
        self.ops: Ops = w.backend.ops
        self.dilation = dilation
        matrix = w.tensor("kernel.weight", (out, kernel * inp), "f32").reshape(out, kernel, inp)
        self.weight = self.ops.conv_weight(self.ops.permute(matrix, (0, 2, 1)))
        self.bias = w.tensor("kernel.bias", (out,), "f32")

    def __call__(self, x: Array) -> Array:
        return self.ops.relu(self.ops.conv1d(x, self.weight, self.bias, dilation=self.dilation))


class WavLM:
    rate = 16000

    def __init__(self, w: View, config: Mapping[str, Any]) -> None:
        f = Fields(config, _NAME)
        for name, value, default in (
            ("do_stable_layer_norm", False, False), ("feat_extract_norm", "group", "group"), ("hidden_act", "gelu", "gelu"),
            ("feat_extract_activation", "gelu", "gelu"), ("add_adapter", False, False),
        ):  # fmt: skip
            if f.find(name, default=default) != value:
                raise ConfigError(f"{f.where}: {name} must be {value!r} (as in the base models).")
        if "WavLMForXVector" not in f.find("architectures", default=["WavLMForXVector"]):
            raise ConfigError(f"{f.where}: this model gives no vectors of voices; WavLMForXVector models do.")
        ops = self.ops = w.backend.ops
        w.ignore(r"^(classifier|objective)\.", r"masked_spec_embed$")  # of training
        body = w.sub("wavlm")
        dim, heads = f.int("hidden_size", default=768), f.int("num_attention_heads", default=12)
        ffn, self.eps = f.int("intermediate_size", default=3072), f.float("layer_norm_eps", default=1e-5, above=0)
        if dim % heads:
            raise ConfigError(f"{f.where}: hidden_size must be a multiple of num_attention_heads.")
        self.convs, self.sizes, width = feature_convs(body, f)
        v = body.sub("feature_projection")
        self.norm = _norm(v, "layer_norm", width)
        self.project = v.linear(("projection", dim), inp=width, bias=True)
        v = body.sub("encoder")
        kernel, groups = (
            f.int("num_conv_pos_embeddings", default=128),
            f.int("num_conv_pos_embedding_groups", default=16),
        )
        self.positions = PositionalConv(v.sub("pos_conv_embed.conv"), dim, kernel, groups)
        self.enter = _norm(v, "layer_norm", dim)
        self.buckets = f.int("num_buckets", default=320, least=4)
        self.most = f.int("max_bucket_distance", default=800)
        if self.most <= self.buckets // 4:
            raise ConfigError(f"{f.where}: max_bucket_distance must be larger than a quarter of num_buckets.")
        self.by_distance = v.tensor("layers.0.attention.rel_attn_embed.weight", (self.buckets, heads), "f32")
        count = f.int("num_hidden_layers", default=12, most=MOST_LAYERS)
        self.layers = [_GatedLayer(v.sub(f"layers.{i}"), dim, heads, ffn, self.eps) for i in range(count)]
        self.shares: np.ndarray | None = None  # of each layer in the sum
        if f.flag("use_weighted_layer_sum"):
            raised = np.exp(ops.numpy(w.tensor("layer_weights", (count + 1,), "f32")))
            self.shares = raised / raised.sum()
        dims = f.find("tdnn_dim", default=[512, 512, 512, 512, 1500])
        reaches = f.find("tdnn_kernel", default=[5, 3, 3, 1, 1])
        dilations = f.find("tdnn_dilation", default=[1, 2, 3, 1, 1])
        if not len(dims) == len(reaches) == len(dilations) > 0:
            raise ConfigError(f"{f.where}: tdnn_dim, tdnn_kernel and tdnn_dilation do not fit together.")
        self.narrow = w.linear(("projector", dims[0]), inp=dim, bias=True)
        self.tdnn = [
            _Tdnn(w.sub(f"tdnn.{i}"), dims[max(0, i - 1)], dims[i], reaches[i], dilations[i]) for i in range(len(dims))
        ]
        self.dim = f.int("xvector_output_dim", default=512)
        self.last = w.linear(("feature_extractor", self.dim), inp=2 * dims[-1], bias=True)
        frames = 2 + sum((reach - 1) * dilation for reach, dilation in zip(reaches, dilations))
        self.least = samples_of(frames, self.sizes)  # the fewest samples that have a deviation over time

    @property
    def mark(self) -> str:
        """Tells whether two vectors come from the same weights, wherever these lie and whatever computes them."""
        return hashlib.blake2b(self.ops.numpy(self.tdnn[0].bias).tobytes(), digest_size=8).hexdigest()

    def embed(self, samples: np.ndarray) -> Generator[None, None, np.ndarray]:
        """The vector `[D]` f32 of mono samples at `rate`, of length one."""
        if len(samples) < self.least:
            raise BadRequest(f"The sound has {len(samples)} samples; at least {self.least} are needed.", "file")
        ops, budget = self.ops, YieldBudget(self.ops)
        x = ops.array(samples.astype(np.float32).reshape(1, -1, 1))
        for conv in self.convs:
            x = conv(x)
            yield from budget.pause(x)
        x = self.project(ops.layer_norm(x, *self.norm, self.eps))
        x = ops.layer_norm(x + self.positions(x), *self.enter, self.eps)
        length = x.shape[1]
        places = ops.array(distance_buckets(length, self.buckets, self.most).reshape(-1))
        bias = ops.permute(ops.take(self.by_distance, places, 0).reshape(1, length, length, -1), (0, 3, 1, 2))
        total = None if self.shares is None else x * float(self.shares[0])
        for i, layer in enumerate(self.layers, 1):
            x = layer(x, bias)
            if total is not None and self.shares is not None:
                total = total + x * float(self.shares[i])
            yield from budget.pause(x)
        x = self.narrow(x if total is None else total)
        for tdnn in self.tdnn:
            x = tdnn(x)
        frames = ops.numpy(x)[0].astype(np.float64)
        pooled = np.concatenate((frames.mean(0), frames.std(0, ddof=1))).astype(np.float32)
        vector: np.ndarray = ops.numpy(self.last(ops.array(pooled[None])))[0]
        return vector / max(float(np.linalg.norm(vector)), 1e-12)


def wavlm(w: View, config: Mapping[str, Any]) -> WavLM:
    return WavLM(w, config)
