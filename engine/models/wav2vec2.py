"""wav2vec 2.0 (large): content features of a sound, 50 a second.

Strided convolutions with layer norms, a positional convolution, and a pre-norm transformer. The output is the mean of three
layers' outputs; later layers are not loaded.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from backends.base import Array, Ops
from engine.errors import BadRequest, ConfigError
from engine.models.config import Fields
from engine.models.yield_budget import YieldBudget
from engine.weights.view import View

TAKEN = (11, 14, 16)  # 0 is the first layer's input
_NORM_EPS = 1e-5  # of the convolutions' norms


class StridedConv:
    """A strided convolution of the feature extractor."""

    def __init__(
        self, w: View, inp: int, out: int, kernel: int, stride: int, bias: bool,
        norm: Literal["layer", "channel", ""] = "layer",
    ) -> None:  # fmt: skip
        """`norm`: over the channels of a frame, over the frames of a channel, or none."""
        self.ops: Ops = w.backend.ops
        self.stride, self.kind = stride, norm
        self.weight = self.ops.conv_weight(w.tensor("conv.weight", (out, inp, kernel), "f32"))
        self.bias = w.tensor("conv.bias", (out,), "f32") if bias else None
        if norm:
            self.norm = w.tensor("layer_norm.weight", (out,), "f32"), w.tensor("layer_norm.bias", (out,), "f32")

    def __call__(self, x: Array) -> Array:
        x = self.ops.conv1d(x, self.weight, self.bias, stride=self.stride)
        if self.kind == "layer":
            x = self.ops.layer_norm(x, *self.norm, _NORM_EPS)
        elif self.kind == "channel":
            x = self.ops.group_norm(x, x.shape[2], *self.norm, _NORM_EPS)
        return self.ops.gelu(x)


class PositionalConv:
    """The convolutional position embedding."""

    def __init__(self, w: View, dim: int, kernel: int, groups: int) -> None:
        self.ops: Ops = w.backend.ops
        self.kernel, self.groups = kernel, groups
        old = w.has("weight_g")
        g_name, v_name = ("weight_g", "weight_v") if old else (
            "parametrizations.weight.original0", "parametrizations.weight.original1")  # fmt: skip
        g = w.tensor(g_name, (1, 1, kernel), "f32")
        v = self.ops.permute(w.tensor(v_name, (dim, dim // groups, kernel), "f32"), (2, 0, 1))
        each = self.ops.l2norm(v.reshape(kernel, dim * (dim // groups)), eps=0.0).reshape(kernel, dim, dim // groups)
        self.weight = self.ops.conv_weight(self.ops.permute(each, (1, 2, 0)) * g)
        self.bias = w.tensor("bias", (dim,), "f32")

    def __call__(self, x: Array) -> Array:
        y = self.ops.conv1d(x, self.weight, self.bias, padding=self.kernel // 2, groups=self.groups)
        return self.ops.gelu(y[:, : x.shape[1]])  # an even kernel gives one output too many


class _Layer:
    def __init__(self, w: View, dim: int, heads: int, ffn: int, eps: float) -> None:
        self.ops: Ops = w.backend.ops
        self.dim, self.heads, self.eps = dim, heads, eps
        v = w.sub("attention")
        self.qkv = v.linear(("q_proj", dim), ("k_proj", dim), ("v_proj", dim), inp=dim, bias=True)
        self.out = v.linear(("out_proj", dim), inp=dim, bias=True)
        self.norms = [
            (w.tensor(f"{name}.weight", (dim,), "f32"), w.tensor(f"{name}.bias", (dim,), "f32"))
            for name in ("layer_norm", "final_layer_norm")
        ]
        self.widen = w.linear(("feed_forward.intermediate_dense", ffn), inp=dim, bias=True)
        self.narrow = w.linear(("feed_forward.output_dense", dim), inp=ffn, bias=True)

    def __call__(self, x: Array) -> Array:
        ops, each = self.ops, self.dim // self.heads
        mixed = self.qkv(ops.layer_norm(x, *self.norms[0], self.eps))
        shape = (1, x.shape[1], self.heads, each)
        q, k, v = (y.reshape(*shape) for y in ops.split(mixed, [self.dim] * 3, 2))
        x = x + self.out(ops.sdpa(q, k, v, each**-0.5).reshape(1, x.shape[1], self.dim))
        return x + self.narrow(ops.gelu(self.widen(ops.layer_norm(x, *self.norms[1], self.eps))))


class Wav2Vec2:
    rate = 16000

    def __init__(self, w: View, config: Mapping[str, Any]) -> None:
        f = Fields(config, "wav2vec2 config.json")
        for name, value in (("do_stable_layer_norm", True), ("feat_extract_norm", "layer"), ("hidden_act", "gelu"),
                            ("feat_extract_activation", "gelu")):  # fmt: skip
            if f.find(name, default="gelu") != value:
                raise ConfigError(f"{f.where}: {name} must be {value!r} (as in the large models).")
        if f.int("num_hidden_layers") <= TAKEN[-1]:
            raise ConfigError(f"{f.where}: it needs more than {TAKEN[-1]} layers.")
        self.ops: Ops = w.backend.ops
        prefix = "wav2vec2." if w.has("wav2vec2.encoder.layer_norm.weight") else ""
        w.ignore(r"^(quantizer|project_hid|project_q|lm_head)\.", r"masked_spec_embed$")  # of training
        w.ignore(r"\bencoder\.layer_norm\.", rf"\bencoder\.layers\.({'|'.join(_behind(f))})\.")
        w = w.sub("wav2vec2") if prefix else w
        self.eps, dim = f.float("layer_norm_eps", default=1e-5), f.int("hidden_size")
        widths, bias = [1, *f.find("conv_dim")], f.flag("conv_bias")
        kernels, strides = f.find("conv_kernel"), f.find("conv_stride")
        if not len(widths) - 1 == len(kernels) == len(strides):
            raise ConfigError(f"{f.where}: conv_dim, conv_kernel and conv_stride do not fit together.")
        self.sizes = list(zip(kernels, strides))
        v = w.sub("feature_extractor")
        self.convs = [
            StridedConv(v.sub(f"conv_layers.{i}"), widths[i], widths[i + 1], k, s, bias)
            for i, (k, s) in enumerate(self.sizes)
        ]
        v = w.sub("feature_projection")
        width = (widths[-1],)
        self.norm = v.tensor("layer_norm.weight", width, "f32"), v.tensor("layer_norm.bias", width, "f32")
        self.project = v.linear(("projection", dim), inp=widths[-1], bias=True)
        kernel, groups = f.int("num_conv_pos_embeddings"), f.int("num_conv_pos_embedding_groups")
        self.positions = PositionalConv(w.sub("encoder.pos_conv_embed.conv"), dim, kernel, groups)
        heads, ffn = f.int("num_attention_heads"), f.int("intermediate_size")
        self.layers = [_Layer(w.sub(f"encoder.layers.{i}"), dim, heads, ffn, self.eps) for i in range(TAKEN[-1])]

    @property
    def least(self) -> int:
        """The fewest samples that give one feature."""
        return samples_of(1, self.sizes)

    def features(self, samples: np.ndarray) -> Generator[None, None, np.ndarray]:
        """Features `[n, D]` f32 of mono samples at `rate`."""
        if len(samples) < self.least:
            raise BadRequest(f"The sound has {len(samples)} samples; at least {self.least} are needed.", "file")
        budget, ops = YieldBudget(self.ops), self.ops
        even = (samples - samples.mean()) / np.sqrt(samples.var() + 1e-7)
        x = ops.array(even.astype(np.float32).reshape(1, -1, 1))
        for conv in self.convs:
            x = conv(x)
            yield from budget.pause(x)
        x = self.project(ops.layer_norm(x, *self.norm, self.eps))
        x = x + self.positions(x)
        taken = []
        for i, layer in enumerate(self.layers, 1):
            x = layer(x)
            if i in TAKEN:
                taken.append(x)
            yield from budget.pause(x)
        return ops.numpy((taken[0] + taken[1] + taken[2]) / len(TAKEN))[0]


def samples_of(frames: int, sizes: Sequence[tuple[int, int]]) -> int:
    """The fewest samples that give so many features, with convolutions of these kernels and strides."""
    for kernel, stride in reversed(sizes):
        frames = (frames - 1) * stride + kernel
    return frames


def _behind(f: Fields) -> list[str]:
    """Numbers of the layers whose output nobody takes."""
    return [str(i) for i in range(TAKEN[-1], f.int("num_hidden_layers"))]


def wav2vec2(w: View, config: Mapping[str, Any]) -> Wav2Vec2:
    return Wav2Vec2(w, config)


def feature_convs(w: View, f: Fields) -> tuple[list[StridedConv], list[tuple[int, int]], int]:
    """The convolutions over samples, of which the first alone has a norm; the kernel and the stride of each, and the width of the last."""
    widths = [1, *f.find("conv_dim", default=[512] * 7)]
    kernels = f.find("conv_kernel", default=[10, 3, 3, 3, 3, 2, 2])
    strides = f.find("conv_stride", default=[5, 2, 2, 2, 2, 2, 2])
    if not len(widths) - 1 == len(kernels) == len(strides) > 0:
        raise ConfigError(f"{f.where}: conv_dim, conv_kernel and conv_stride do not fit together.")
    biased, sizes = f.flag("conv_bias"), list(zip(kernels, strides))
    convs = [
        StridedConv(
            w.sub(f"feature_extractor.conv_layers.{i}"), widths[i], widths[i + 1], *size, biased, "" if i else "channel"
        )
        for i, size in enumerate(sizes)
    ]
    return convs, sizes, widths[-1]
