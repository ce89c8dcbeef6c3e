"""The 12 Hz speech codec of Qwen3-TTS, from sound to codes: what cloning a voice from a reference needs.

Mimi's encoder: strided causal convolutions, a transformer over a window, one more downsampling, and residual vector
quantization, whose first group has an input of its own. It is to be built with an f32 backend: a rounded sum would
choose another code. A reference is encoded as a whole, so nothing is carried.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any

import numpy as np

from backends.base import Array, Ops, Rope
from engine.errors import ConfigError
from engine.models.causal import Pieces, Where, WindowedAttention
from engine.models.codec12 import codebook
from engine.models.config import Fields
from engine.models.rope import frequencies
from engine.models.turns import Turns
from engine.weights.view import View


class _PaddedConv:
    """Padded on the left as a causal convolution is, and on the right so that the last inputs count too."""

    def __init__(
        self, w: View, inp: int, out: int, kernel: int, stride: int = 1, bias: bool = True, hold: bool = False
    ) -> None:
        self.ops: Ops = w.backend.ops
        self.kernel, self.stride, self.hold = kernel, stride, hold  # hold: pad with the border's value, not with zeros
        self.w = self.ops.conv_weight(w.tensor("conv.weight", (out, inp, kernel), "f32"))
        self.b = w.tensor("conv.bias", (out,), "f32") if bias else None

    def __call__(self, x: Array) -> Array:
        left, length = self.kernel - self.stride, x.shape[1]
        right = -(-length // self.stride) * self.stride - length
        if self.hold:
            x = self.ops.cat([x[:, :1]] * left + [x] + [x[:, length - 1 :]] * right, 1)
        elif left or right:
            x = self.ops.pad(x, ((0, 0), (left, right), (0, 0)))
        return self.ops.conv1d(x, self.w, self.b, stride=self.stride)


def _elu(ops: Ops, x: Array) -> Array:
    return ops.relu(x) - ops.relu(1.0 - ops.exp(x))


class _EncoderResidual:
    def __init__(self, w: View, dim: int, kernel: int, compress: int) -> None:
        self.ops: Ops = w.backend.ops
        self.wide = _PaddedConv(w.sub("block.1"), dim, dim // compress, kernel)
        self.point = _PaddedConv(w.sub("block.3"), dim // compress, dim, 1)

    def __call__(self, x: Array) -> Array:
        return x + self.point(_elu(self.ops, self.wide(_elu(self.ops, x))))


class _EncoderLayer:
    def __init__(self, w: View, hidden: int, heads: int, kv_heads: int, dim: int, ffn: int, window: int,
                 eps: float) -> None:  # fmt: skip
        self.ops, self.eps = w.backend.ops, eps
        names = ("self_attn_layer_scale.scale", "mlp_layer_scale.scale")
        attended, self.scale = (w.tensor(name, (hidden,), "f32") for name in names)
        self.attention = WindowedAttention(w.sub("self_attn"), hidden, heads, kv_heads, dim, window, False, attended)
        self.norms = [
            (w.norm(name, hidden), w.tensor(f"{name}.bias", (hidden,), "f32"))
            for name in ("input_layernorm", "post_attention_layernorm")
        ]
        self.widen = w.linear(("mlp.fc1", ffn), inp=hidden)
        self.narrow = w.linear(("mlp.fc2", hidden), inp=ffn)

    def __call__(self, x: Array, where: Where) -> Array:
        x = self.attention(self.ops.layer_norm(x, *self.norms[0], self.eps), where, x)
        y = self.narrow(self.ops.gelu(self.widen(self.ops.layer_norm(x, *self.norms[1], self.eps))))
        return x + y * self.scale


class _ResidualQuantizer:
    """Each codebook names the entry nearest to what the ones before it left over."""

    def __init__(self, w: View, hidden: int, inner: int, entries: int, count: int) -> None:
        self.ops: Ops = w.backend.ops
        self.project = self.ops.conv_weight(w.tensor("input_proj.weight", (inner, hidden, 1), "f32"))
        self.books = [codebook(w, f"layers.{i}.codebook", "embed_sum", entries, inner) for i in range(count)]
        # the nearest entry e to x has the largest x * e - |e|^2 / 2
        self.match = [self.ops.conv_weight(book.reshape(entries, inner, 1)) for book in self.books]
        self.handicap = [self.ops.sum(book * book, -1) * -0.5 for book in self.books]

    def __call__(self, x: Array) -> list[Array]:
        """`[1, n, hidden]` -> ids `[n]` a codebook."""
        left, found = self.ops.conv1d(x, self.project), []
        for book, match, handicap in zip(self.books, self.match, self.handicap):
            ids = self.ops.topk(self.ops.conv1d(left, match, handicap), 1)[1][0, :, 0]
            left = left - self.ops.take(book, ids, 0)[None]
            found.append(ids)
        return found


class CodecEncoder:
    """Samples to codes."""

    rate = 24000

    def __init__(self, w: View, config: Mapping[str, Any]) -> None:
        whole = Fields(config, "speech_tokenizer/config.json")
        f = whole.sub("encoder_config")
        for name, value in (("use_causal_conv", True), ("use_conv_shortcut", False)):
            if f.flag(name, value) is not value:
                raise ConfigError(f"{f.where}: {name} must be {str(value).lower()}.")
        ops = self.ops = w.backend.ops
        self.samples = whole.int("encode_downsample_rate", default=1920)
        count = whole.int("encoder_valid_num_quantizers", default=16, least=2)
        w.ignore(r"^decoder\.", r"^encoder\.quantizer\.")  # of 32 codebooks 16 are used
        w = w.sub("encoder")
        hidden, filters = f.int("hidden_size", default=512), f.int("num_filters", default=64)
        ratios, compress = (
            list(reversed(f.find("upsampling_ratios", default=[8, 6, 5, 4]))),
            f.int("compress", default=2),
        )
        kernel, growth = f.int("residual_kernel_size", default=3), f.int("num_residual_layers", default=1)
        if growth != 1:
            raise ConfigError(f"{f.where}: num_residual_layers must be 1.")
        v = w.sub("encoder")
        steps: list[Any] = [_PaddedConv(v.sub("layers.0"), 1, filters, f.int("kernel_size", default=7))]
        at, width = 1, filters
        for ratio in ratios:
            steps.append(_EncoderResidual(v.sub(f"layers.{at}"), width, kernel, compress))
            steps.append(lambda x: _elu(ops, x))
            steps.append(_PaddedConv(v.sub(f"layers.{at + 2}"), width, 2 * width, 2 * ratio, ratio))
            at, width = at + 3, 2 * width
        steps.append(lambda x: _elu(ops, x))
        steps.append(_PaddedConv(v.sub(f"layers.{at + 1}"), width, hidden, f.int("last_kernel_size", default=3)))
        self.steps = steps
        heads = f.int("num_attention_heads", default=8)
        dim = f.int("head_dim", default=hidden // heads)
        self.window = f.int("sliding_window", default=250, least=2)
        sizes = (hidden, heads, f.int("num_key_value_heads", default=heads), dim)
        ffn, eps = f.int("intermediate_size", default=2048), f.float("norm_eps", default=1e-5)
        self.layers = [
            _EncoderLayer(w.sub(f"encoder_transformer.layers.{i}"), *sizes, ffn, self.window, eps)
            for i in range(f.int("num_hidden_layers", default=8))
        ]
        self.rope = Rope(dim, tuple(frequencies(f.float("rope_theta", default=10000.0), dim)))
        stride = self.samples // int(np.prod(ratios))
        self.downsample = _PaddedConv(w.sub("downsample"), hidden, hidden, 2 * stride, stride, bias=False, hold=True)
        inner = f.int("vector_quantization_hidden_dimension", "codebook_dim", default=256)
        entries, q = f.int("codebook_size", default=2048), w.sub("quantizer")
        first = f.int("num_semantic_quantizers", default=1)
        self.quantizers = [
            _ResidualQuantizer(q.sub(f"{name}_residual_vector_quantizer"), hidden, inner, entries, n)
            for name, n in (("semantic", first), ("acoustic", count - first))
        ]

    def encode(self, samples: np.ndarray) -> Generator[None, None, np.ndarray]:
        """Codes `[frames, groups]` of mono samples at `rate`."""
        turns = Turns(self.ops)
        x = self.ops.array(np.asarray(samples, np.float32).reshape(1, -1, 1))
        for step in self.steps:
            x = step(x)
            yield from turns.pause(x)
        where = Where(self.ops, self.rope, Pieces([{}], [x.shape[1]]))
        rows = x[0]
        for layer in self.layers:
            rows = layer(rows, where)
            yield from turns.pause(rows[None])
        x = self.downsample(rows[None])
        codes = [ids for quantizer in self.quantizers for ids in quantizer(x)]
        frames = -(-len(samples) // self.samples)
        return self.ops.numpy(self.ops.stack(codes, 1))[:frames]


def codec_encoder(w: View, config: Mapping[str, Any]) -> CodecEncoder:
    return CodecEncoder(w, config)
