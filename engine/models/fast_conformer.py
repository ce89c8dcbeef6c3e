"""The Fast Conformer: an encoder of speech, 12.5 frames a second, that Parakeet and Sortformer share.

Mel frames are subsampled eight times (`embed`), and go through blocks of attention by distance and convolutions (`encode`).
"""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from backends.base import Array, DistanceKeys, EncoderAttention, Linear
from engine.errors import ConfigError
from engine.models.config import MOST_LAYERS, Fields
from engine.weights.view import View

EPS = 1e-5
_SOME = 512  # mel frames that are subsampled at a time: what lies between stays in the caches


class _Norm:
    def __init__(self, w: View, name: str, dim: int, eps: float = EPS) -> None:
        self.ops, self.eps = w.backend.ops, eps
        self.weight, self.bias = w.tensor(f"{name}.weight", (dim,)), w.tensor(f"{name}.bias", (dim,))

    def __call__(self, x: Array) -> Array:
        return self.ops.layer_norm(x, self.weight, self.bias, self.eps)


class _Subsampling:
    """Convolutions over time and mel bands that halve both; all but the first are depthwise, with a mix of channels behind."""

    def __init__(self, w: View, f: Fields, hidden: int) -> None:
        self.ops = w.backend.ops
        channels, kernel, stride = (f.int(f"subsampling_conv_{name}") for name in ("channels", "kernel_size", "stride"))
        factor, mels = f.int("subsampling_factor"), f.int("num_mel_bins")
        count = factor.bit_length() - 1
        if stride != 2 or 1 << count != factor or count < 1 or kernel % 2 == 0:
            raise ConfigError(f"{f.where}: the subsampling must halve the frames, with odd kernels.")
        self.channels, self.padding = channels, (kernel // 2, kernel // 2)
        # MLX's own conversions name the layers otherwise, and have the input channels last: of one channel or one tap, the
        # same numbers in the same order
        self.mlx = w.has("layers_0.weight")
        self.first = self._conv(w, 0, (channels, 1, kernel, kernel))
        self.rest = [
            (self._conv(w, 3 * i - 1, (channels, 1, kernel, kernel)), self._mix(w, 3 * i)) for i in range(1, count)
        ]
        self.factor, self.reach = factor, (kernel // 2) * (factor - 1)  # mel frames to either side of one that stays
        self.width = channels * (mels // factor)
        self.out = w.linear(("linear", hidden), inp=self.width, bias=True)

    def _conv(self, w: View, i: int, shape: tuple[int, ...]) -> tuple[Array, Array]:
        out, inp, *kernel = shape
        name, stored = (f"layers_{i}", (out, *kernel, inp)) if self.mlx else (f"layers.{i}", shape)
        weight = w.tensor(f"{name}.weight", stored).reshape(shape)
        return self.ops.conv_weight(weight), w.tensor(f"{name}.bias", shape[:1])

    def _mix(self, w: View, i: int) -> Linear:
        shape = (self.channels, 1, 1, self.channels) if self.mlx else (self.channels, self.channels, 1, 1)
        return w.flattened(f"layers_{i}" if self.mlx else f"layers.{i}", shape, bias=True, quantized=True)

    def __call__(self, mel: Array) -> Array:
        """`[T, mels]` -> `[L, D]`."""
        count = mel.shape[0]
        if count <= 2 * _SOME:
            return self._some(mel)
        parts, before = [], -(-self.reach // self.factor)  # kept frames whose neighbourhood the cut lies in
        for start in range(0, count, _SOME):
            first = max(0, start - before * self.factor)
            made = self._some(mel[first : min(count, start + _SOME + self.reach)])
            skipped = (start - first) // self.factor
            parts.append(made[skipped : skipped + _SOME // self.factor])
        return self.ops.cat(parts, 0)

    def _some(self, mel: Array) -> Array:
        ops = self.ops
        x = ops.relu(ops.conv2d(mel[None, :, :, None], *self.first, stride=(2, 2), padding=self.padding))
        for depthwise, mix in self.rest:
            x = ops.conv2d(x, *depthwise, stride=(2, 2), padding=self.padding, groups=self.channels)
            _, height, width, _ = x.shape
            mixed = ops.relu(mix(x.reshape(height * width, self.channels)))
            x = mixed.reshape(1, height, width, self.channels)
        return self.out(ops.permute(x, (0, 1, 3, 2)).reshape(x.shape[1], self.width))


class _FeedForward:
    def __init__(self, w: View, number: int, hidden: int, ffn: int, bias: bool) -> None:
        self.ops, self.norm = w.backend.ops, _Norm(w, f"norm_feed_forward{number}", hidden)
        own = w.sub(f"feed_forward{number}")
        self.up = own.linear(("linear1", ffn), inp=hidden, bias=bias)
        self.down = own.linear(("linear2", hidden), inp=ffn, bias=bias)

    def __call__(self, x: Array) -> Array:
        return x + 0.5 * self.down(self.ops.silu(self.up(self.norm(x))))


@dataclass(frozen=True)
class RelativeNames:
    """What a checkpoint calls the parts of an attention by distance: its norm, the projections of queries, keys, values, of what comes
    out and of distances, and the two biases."""

    norm: str = "norm_self_att"
    projections: tuple[str, str, str, str, str] = ("q_proj", "k_proj", "v_proj", "o_proj", "relative_k_proj")
    biases: tuple[str, str] = ("bias_u", "bias_v")
    eps: float = EPS


class RelativeAttention:
    """Attention whose scores have a second part: queries times the embedding of the distance (Transformer-XL)."""

    def __init__(self, w: View, hidden: int, heads: int, bias: bool, names: RelativeNames = RelativeNames()) -> None:
        self.ops, self.hidden, self.heads, self.dim = w.backend.ops, hidden, heads, hidden // heads
        self.dtype = w.backend.dtype
        self.norm, own = _Norm(w, names.norm, hidden, names.eps), w.sub("self_attn")
        *qkv, out, distance = names.projections
        self.qkv = own.linear(*((name, hidden) for name in qkv), inp=hidden, bias=bias)
        self.out = own.linear((out, hidden), inp=hidden, bias=bias)
        self.distance = own.linear((distance, hidden), inp=hidden)
        content, position = (own.tensor(name, (heads, self.dim)) for name in names.biases)
        self.distances = DistanceKeys(content, position, self._keys)

    def _keys(self, n: int) -> Array:
        return self.distance(self.ops.array(sinusoids(n, self.hidden), self.dtype))

    def __call__(self, x: Array, among: EncoderAttention) -> Array:
        q, k, v = self.ops.qkv(self.qkv(self.norm(x)), self.heads, self.heads, self.dim, None)
        attended = among.attend_by_distance(q, k, v, self.dim**-0.5, self.distances)
        return x + self.out(attended.reshape(x.shape[0], self.hidden))


class _ConvolutionModule:
    def __init__(self, w: View, hidden: int, kernel: int, bias: bool) -> None:
        ops = self.ops = w.backend.ops
        self.hidden, self.kernel = hidden, kernel
        self.norm, own = _Norm(w, "norm_conv", hidden), w.sub("conv")
        mlx = own.shape("pointwise_conv1.weight") == (2 * hidden, 1, hidden)  # input channels last: see _Subsampling
        one = (1, hidden) if mlx else (hidden, 1)
        self.widen = own.flattened("pointwise_conv1", (2 * hidden, *one), bias=bias, quantized=True)
        self.narrow = own.flattened("pointwise_conv2", (hidden, *one), bias=bias, quantized=True)
        stored = (hidden, kernel, 1) if mlx else (hidden, 1, kernel)
        taps = own.tensor("depthwise_conv.weight", stored, "f32").reshape(hidden, 1, kernel)
        mean, var, gain, shift = (
            own.tensor(f"norm.{name}", (hidden,), "f32") for name in ("running_mean", "running_var", "weight", "bias")
        )
        scale = gain / ops.sqrt(var + EPS)  # the batch norm becomes part of the convolution
        if bias:
            mean = mean - own.tensor("depthwise_conv.bias", (hidden,), "f32")
        self.taps = ops.conv_weight(ops.cast(taps * scale.reshape(hidden, 1, 1), w.backend.dtype))
        self.bias = ops.cast(shift - mean * scale, w.backend.dtype)

    def __call__(self, x: Array, among: EncoderAttention) -> Array:
        ops = self.ops
        wide, gate = ops.split(self.widen(self.norm(x)), [self.hidden, self.hidden], 1)
        mixed = among.convolve(wide * ops.sigmoid(gate), self.taps, self.bias, self.kernel)
        return x + self.narrow(ops.silu(mixed))


class _Block:
    def __init__(self, w: View, f: Fields, hidden: int, heads: int) -> None:
        ffn, biased = f.int("intermediate_size"), f.flag("attention_bias", default=True)
        self.before = _FeedForward(w, 1, hidden, ffn, biased)
        self.attention = RelativeAttention(w, hidden, heads, biased)
        self.convolution = _ConvolutionModule(
            w, hidden, f.int("conv_kernel_size"), f.flag("convolution_bias", default=True)
        )
        self.behind, self.norm = _FeedForward(w, 2, hidden, ffn, biased), _Norm(w, "norm_out", hidden)

    def __call__(self, x: Array, angles: Any, among: EncoderAttention) -> Array:
        return self.norm(self.behind(self.convolution(self.attention(self.before(x), among), among)))


class FastConformer:
    def __init__(self, w: View, f: Fields) -> None:
        if f.find("hidden_act", default="silu") != "silu":
            raise ConfigError(f"{f.where}: the encoder's hidden_act must be `silu`.")
        self.ops, self.dtype, self.hidden = w.backend.ops, w.backend.dtype, f.int("hidden_size")
        self.mels, self.factor, heads = f.int("num_mel_bins"), f.int("subsampling_factor"), f.int("num_attention_heads")
        if self.hidden % heads or self.hidden % 2:
            raise ConfigError(f"{f.where}: hidden_size must be even and a multiple of num_attention_heads.")
        self.scale = math.sqrt(self.hidden) if f.flag("scale_input", default=True) else 1.0
        w.ignore(r"num_batches_tracked$")
        self.subsampling = _Subsampling(w.sub("subsampling"), f, self.hidden)
        count = f.int("num_hidden_layers", most=MOST_LAYERS)
        blocks = [_Block(w.sub(f"layers.{i}"), f, self.hidden, heads) for i in range(count)]
        self.blocks = w.backend.encoder(blocks, None)

    def embed(self, mel: np.ndarray) -> Array:
        """Mel frames `[T, mels]` as `[L, D]`, where one in `factor` stays; each knows of its nearest frames only."""
        return self.subsampling(self.ops.array(mel, self.dtype))

    def encode(self, embedded: Array) -> Generator[None, None, Array]:
        """`[L, D]`, each of which has heard all others."""
        return (yield from self.blocks.run(embedded * self.scale, [embedded.shape[0]]))


@lru_cache(maxsize=8)
def sinusoids(n: int, dim: int) -> np.ndarray:
    """Of distances from n - 1 down to 1 - n; sines and cosines alternate."""
    angles = np.arange(n - 1, -n, -1, dtype=np.float32)[:, None] / 10000.0 ** (
        np.arange(0, dim, 2, dtype=np.float32) / dim
    )
    made: np.ndarray = np.stack([np.sin(angles), np.cos(angles)], -1).reshape(2 * n - 1, dim).astype(np.float32)
    return made
