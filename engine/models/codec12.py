"""The 12 Hz speech codec of Qwen3-TTS: decoder (codes to samples) and encoder (samples to codes).

A frame is 16 codes and 1920 samples at 24 kHz. Both halves need an f32 backend. The decoder sums codebook entries, runs
a windowed transformer and upsamples with transposed convolutions; everything is causal and carries its state, so a stream
of frames gives exactly the samples of the whole, and several streams can be decoded in one batch. The encoder is Mimi's: strided
causal convolutions, a windowed transformer, and residual vector quantization. It encodes a reference recording as a whole.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from backends.base import Array, Ops, Rope
from engine.errors import ConfigError
from engine.models.causal import (
    CausalConv,
    CausalDepthwise,
    CausalTransposed,
    Pointwise,
    SnakeBeta,
    StreamBatch,
    StreamPositions,
    StreamState,
    WindowedAttention,
)
from engine.models.config import Fields
from engine.models.rope import frequencies, rope_fields
from engine.models.yield_budget import YieldBudget
from engine.weights.view import View

PIECE = 8  # frames of a stream per pass: more gain little and need much memory
TOGETHER = 4  # largest batch of streams: more only delay the first
BEGUN = 4  # recordings whose end state is cached, some MB each
LEAST_USAGE = 1e-5  # of a codebook's entry


@dataclass(frozen=True)
class CodecConfig:
    """The decoder's part of `speech_tokenizer/config.json`."""

    hidden: int
    latent: int
    width: int  # of codebook entries
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    ffn: int
    window: int
    eps: float
    theta: float
    bias: bool
    groups: int
    entries: int
    channels: int  # of the first convolution after the transformer; each block halves them
    spread: tuple[int, ...]  # upsampling before it
    rates: tuple[int, ...]  # upsampling behind it

    @property
    def samples(self) -> int:
        """Samples per frame."""
        return prod(self.spread) * prod(self.rates)


def codec_config(config: Mapping[str, Any]) -> CodecConfig:
    f = Fields(config, "speech_tokenizer/config.json").sub("decoder_config")
    hidden, heads = f.int("hidden_size", default=1024), f.int("num_attention_heads", default=16)
    rates = [f.find("upsampling_ratios", default=[2, 2]), f.find("upsample_rates", default=[8, 5, 4, 3])]
    for each in rates:
        if not isinstance(each, list) or not all(isinstance(r, int) and r > 0 for r in each):
            raise ConfigError(f"{f.where}: upsampling must be a list of whole numbers, not {each!r}.")
    if f.find("hidden_act", default="silu") != "silu":
        raise ConfigError(f"{f.where}: hidden_act must be silu.")
    return CodecConfig(
        hidden=hidden,
        latent=f.int("latent_dim", default=1024),
        width=f.int("codebook_dim", default=512),
        layers=f.int("num_hidden_layers", default=8),
        heads=heads,
        kv_heads=f.int("num_key_value_heads", default=heads),
        head_dim=f.int("head_dim", default=hidden // heads),
        ffn=f.int("intermediate_size", default=3072),
        window=f.int("sliding_window", default=72, least=2),
        eps=f.float("rms_norm_eps", default=1e-5),
        theta=f.float("rope_theta", default=10000.0),
        bias=f.flag("attention_bias"),
        groups=f.int("num_quantizers", default=16, least=2),
        entries=f.int("codebook_size", default=2048),
        channels=f.int("decoder_dim", default=1536),
        spread=tuple(rates[0]),
        rates=tuple(rates[1]),
    )


def codebook(w: View, name: str, sums: str, entries: int, dim: int) -> Array:
    """Codebook entries `[entries, dim]`, stored as sums and usage counts (in old files as entries)."""
    total = w.tensor(f"{name}.{sums}", (entries, dim), "f32")
    if not w.has(f"{name}.cluster_usage"):
        return total
    usage = w.tensor(f"{name}.cluster_usage", (entries,), "f32")
    if w.dry:
        return total
    ops = w.backend.ops
    return total / ops.array(np.maximum(ops.numpy(usage), LEAST_USAGE)[:, None])


class Lookup:
    """Codes `[n, groups]` -> `[n, width]`: the first group has its own projection, the others are summed."""

    def __init__(self, w: View, c: CodecConfig) -> None:
        self.ops: Ops = w.backend.ops
        w.ignore(r"^decoder\.quantizer\..*input_proj\.")  # training only
        inner = c.width // 2
        self.books, self.out = [], []
        none = self.ops.array(np.zeros(c.width, np.float32))
        for part, count in (("rvq_first", 1), ("rvq_rest", c.groups - 1)):
            v = w.sub(part)
            self.books += [
                codebook(v, f"vq.layers.{i}._codebook", "embedding_sum", c.entries, inner) for i in range(count)
            ]
            self.out.append(self.ops.stream_weight(v.tensor("output_proj.weight", (c.width, inner, 1), "f32"), none))

    def __call__(self, codes: Array) -> Array:
        rows = [self.ops.take(book, codes[:, i], 0) for i, book in enumerate(self.books)]
        rest = rows[1]
        for row in rows[2:]:
            rest = rest + row
        length, none = [rows[0].shape[0]], [None]
        first, _ = self.ops.stream_conv(rows[0], self.out[0], length, none)
        return self.ops.stream_conv(rest, self.out[1], length, none, add=first)[0]


class _DecoderLayer:
    def __init__(self, w: View, c: CodecConfig) -> None:
        self.ops: Ops = w.backend.ops
        self.eps = c.eps
        names = ("self_attn_layer_scale.scale", "mlp_layer_scale.scale")
        attended, fed = (w.tensor(name, (c.hidden,), "f32") for name in names)
        self.attention = WindowedAttention(
            w.sub("self_attn"), c.hidden, c.heads, c.kv_heads, c.head_dim, c.window, c.bias, attended
        )
        mlp = w.sub("mlp")
        self.gate_up = Pointwise(mlp, ("gate_proj", c.ffn), ("up_proj", c.ffn), inp=c.hidden)
        self.down = Pointwise(mlp, ("down_proj", c.hidden), inp=c.ffn, scale=fed)
        self.norms = [w.norm(name, c.hidden) for name in ("input_layernorm", "post_attention_layernorm")]

    def __call__(self, x: Array, where: StreamPositions) -> Array:
        x = self.attention(self.ops.rms_norm(x, self.norms[0], self.eps), where, x)
        gated = self.ops.swiglu(self.gate_up(self.ops.rms_norm(x, self.norms[1], self.eps)))
        return self.down(gated, x)


class ConvNeXt:
    def __init__(self, w: View, dim: int) -> None:
        self.ops = w.backend.ops
        self.mix = CausalDepthwise(w.sub("dwconv.conv"), dim, 7)
        self.norm = w.norm("norm", dim), w.tensor("norm.bias", (dim,), "f32")
        self.widen = Pointwise(w, ("pwconv1", 4 * dim), inp=dim, bias=True)
        scale = w.tensor("gamma", (dim,), "f32")
        self.narrow = Pointwise(w, ("pwconv2", dim), inp=4 * dim, bias=True, scale=scale)

    def __call__(self, x: Array, pieces: StreamBatch) -> Array:
        y = self.ops.layer_norm(self.mix(x, pieces), *self.norm, 1e-6)
        return self.narrow(self.ops.gelu(self.widen(y)), x)


class _DecoderResidual:
    def __init__(self, w: View, dim: int, dilation: int) -> None:
        self.wide = CausalConv(w.sub("conv1.conv"), dim, dim, 7, dilation, SnakeBeta(w.sub("act1"), dim))
        self.point = CausalConv(w.sub("conv2.conv"), dim, dim, 1, snake=SnakeBeta(w.sub("act2"), dim))

    def __call__(self, x: Array, pieces: StreamBatch) -> Array:
        return self.point(self.wide(x, pieces), pieces, add=x)


class Upsampling:
    def __init__(self, w: View, inp: int, rate: int) -> None:
        self.up = CausalTransposed(w.sub("1.conv"), inp, inp // 2, 2 * rate, rate, SnakeBeta(w.sub("0"), inp))
        self.units = [_DecoderResidual(w.sub(str(i + 2)), inp // 2, dilation) for i, dilation in enumerate((1, 3, 9))]

    def __call__(
        self, x: Array, pieces: StreamBatch, budget: YieldBudget
    ) -> Generator[None, None, tuple[Array, StreamBatch]]:
        x, pieces = self.up(x, pieces)
        for unit in self.units:
            yield from budget.pause(x[None])
            x = unit(x, pieces)
        return x, pieces


class FrameDecoder:
    """Decodes streams of frames piece by piece; what a frame is and how it sounds the codec knows."""

    ops: Ops

    def decode(self, codes: np.ndarray, past: StreamState) -> Generator[None, None, np.ndarray]:
        """Samples of the next frames `[n, width]` of the stream with state `past` (empty dict: a new stream)."""
        return (yield from self.decode_together([(codes, past)]))[0]

    def decode_together(
        self, streams: Sequence[tuple[np.ndarray, StreamState]]
    ) -> Generator[None, None, list[np.ndarray]]:
        """The same for several streams in one batch. Batching does not change any stream's samples."""
        budget = YieldBudget(self.ops)
        made = [[np.zeros(0, np.float32)] for _ in streams]
        for start in range(0, max(len(codes) for codes, _ in streams), PIECE):
            left = [i for i, (codes, _) in enumerate(streams) if start < len(codes)]
            codes = [streams[i][0][start : start + PIECE] for i in left]
            pieces = StreamBatch([streams[i][1] for i in left], [len(part) for part in codes])
            sounds = yield from self._pieces(np.concatenate(codes), pieces, budget)
            for i, sound in zip(left, sounds):
                made[i].append(sound)
        return [np.concatenate(each) for each in made]

    def _pieces(
        self, codes: np.ndarray, pieces: StreamBatch, budget: YieldBudget
    ) -> Generator[None, None, list[np.ndarray]]:
        """The samples of each stream's next frames."""
        raise NotImplementedError


class CodecDecoder(FrameDecoder):
    """The decoder: codes to samples."""

    rate = 24000

    def __init__(self, w: View, config: Mapping[str, Any]) -> None:
        c = self.config = codec_config(config)
        self.ops: Ops = w.backend.ops
        w.ignore(r"^encoder\.")  # a separate model
        w = w.sub("decoder")
        self.lookup = Lookup(w.sub("quantizer"), c)
        self.before = CausalConv(w.sub("pre_conv.conv"), c.width, c.latent, 3)
        inner = w.sub("pre_transformer")
        self.enter = Pointwise(inner, ("input_proj", c.hidden), inp=c.latent, bias=True)
        self.layers = [_DecoderLayer(inner.sub(f"layers.{i}"), c) for i in range(c.layers)]
        self.norm = inner.norm("norm", c.hidden)
        self.leave = Pointwise(inner, ("output_proj", c.latent), inp=c.hidden, bias=True)
        self.rope = Rope(c.head_dim, tuple(frequencies(c.theta, c.head_dim)))
        self.spread = [
            (
                CausalTransposed(w.sub(f"upsample.{i}.0.conv"), c.latent, c.latent, factor, factor),
                ConvNeXt(w.sub(f"upsample.{i}.1"), c.latent),
            )
            for i, factor in enumerate(c.spread)
        ]
        w = w.sub("decoder")
        self.first = CausalConv(w.sub("0.conv"), c.latent, c.channels, 7)
        self.blocks = [Upsampling(w.sub(f"{i + 1}.block"), c.channels >> i, r) for i, r in enumerate(c.rates)]
        last, at = c.channels >> len(c.rates), len(c.rates) + 1
        self.last = CausalConv(w.sub(f"{at + 1}.conv"), last, 1, 7, snake=SnakeBeta(w.sub(str(at)), last))
        self._begun: dict[tuple[tuple[int, ...], bytes], StreamState] = {}

    def begin(self, codes: np.ndarray, past: StreamState) -> Generator[None, None, None]:
        """Start a new stream after a recording's frames, without their samples. The end states of recent recordings are
        cached, because a voice speaks many sentences."""
        key = (codes.shape, codes.tobytes())
        if key not in self._begun:
            made: StreamState = {}
            yield from self.decode(codes, made)
            self._begun[key] = made
            while len(self._begun) > BEGUN:
                del self._begun[next(iter(self._begun))]
        self._begun[key] = self._begun.pop(key)  # least recently used first
        past.update(self._begun[key])

    def _pieces(
        self, codes: np.ndarray, pieces: StreamBatch, budget: YieldBudget
    ) -> Generator[None, None, list[np.ndarray]]:
        c, ops = self.config, self.ops
        clean = np.clip(codes, 0, c.entries - 1).astype(np.int32)  # array libraries do not check indices
        x = self.enter(self.before(self.lookup(ops.array(clean)), pieces))
        where = StreamPositions(ops, self.rope, pieces)
        for layer in self.layers:
            x = layer(x, where)
        x = self.leave(ops.rms_norm(x, self.norm, c.eps))
        for up, mix in self.spread:
            x, pieces = up(x, pieces)
            x = mix(x, pieces)
        yield from budget.pause(x[None])
        x = self.first(x, pieces)
        for block in self.blocks:
            x, pieces = yield from block(x, pieces, budget)
            yield from budget.pause(x[None])
        sound = np.clip(ops.numpy(self.last(x, pieces))[:, 0], -1.0, 1.0)
        return np.split(sound, np.cumsum(pieces.lengths)[:-1])


def codec_decoder(w: View, config: Mapping[str, Any]) -> CodecDecoder:
    return CodecDecoder(w, config)


class PaddedConv:
    """A strided causal convolution, padded on the right so that the last inputs are covered."""

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


def elu(ops: Ops, x: Array) -> Array:
    return ops.relu(x) - ops.relu(1.0 - ops.exp(x))


class _EncoderResidual:
    def __init__(self, w: View, dim: int, kernel: int, compress: int) -> None:
        self.ops: Ops = w.backend.ops
        self.wide = PaddedConv(w.sub("block.1"), dim, dim // compress, kernel)
        self.point = PaddedConv(w.sub("block.3"), dim // compress, dim, 1)

    def __call__(self, x: Array) -> Array:
        return x + self.point(elu(self.ops, self.wide(elu(self.ops, x))))


class _MimiLayer:
    def __init__(self, w: View, hidden: int, heads: int, kv_heads: int, dim: int, ffn: int, window: int,
                 eps: float, gelu: str) -> None:  # fmt: skip
        self.ops, self.eps = w.backend.ops, eps
        self.gelu = getattr(self.ops, gelu)
        names = ("self_attn_layer_scale.scale", "mlp_layer_scale.scale")
        attended, self.scale = (w.tensor(name, (hidden,), "f32") for name in names)
        self.attention = WindowedAttention(w.sub("self_attn"), hidden, heads, kv_heads, dim, window, False, attended)
        self.norms = [
            (w.norm(name, hidden), w.tensor(f"{name}.bias", (hidden,), "f32"))
            for name in ("input_layernorm", "post_attention_layernorm")
        ]
        self.widen = w.linear(("mlp.fc1", ffn), inp=hidden)
        self.narrow = w.linear(("mlp.fc2", hidden), inp=ffn)

    def __call__(self, x: Array, where: StreamPositions) -> Array:
        x = self.attention(self.ops.layer_norm(x, *self.norms[0], self.eps), where, x)
        y = self.narrow(self.gelu(self.widen(self.ops.layer_norm(x, *self.norms[1], self.eps))))
        return x + y * self.scale


class CodecTransformer:
    """Mimi's transformer: causal, over a sliding window, with layer scales."""

    def __init__(self, w: View, f: Fields, layers: int, gelu: str) -> None:
        """`layers`, where the config says nothing; `gelu`: the operation."""
        hidden, heads = f.int("hidden_size", default=512), f.int("num_attention_heads", default=8)
        dim = f.int("head_dim", default=hidden // heads)
        sizes = (hidden, heads, f.int("num_key_value_heads", default=heads), dim)
        ffn, eps = f.int("intermediate_size", default=2048), f.float("norm_eps", default=1e-5)
        window = f.int("sliding_window", default=250, least=2)
        count = f.int("num_hidden_layers", default=layers)
        self.ops: Ops = w.backend.ops
        self.layers = [_MimiLayer(w.sub(f"layers.{i}"), *sizes, ffn, window, eps, gelu) for i in range(count)]
        theta = rope_fields(f).float("rope_theta", default=f.float("rope_theta", default=10000.0))
        self.rope = Rope(dim, tuple(frequencies(theta, dim)))

    def __call__(self, x: Array, pieces: StreamBatch, budget: YieldBudget) -> Generator[None, None, Array]:
        where = StreamPositions(self.ops, self.rope, pieces)
        for layer in self.layers:
            x = layer(x, where)
            yield from budget.pause(x[None])
        return x


class _ResidualQuantizer:
    """Residual vector quantization: each codebook encodes the residual of the ones before it."""

    def __init__(self, w: View, hidden: int, inner: int, entries: int, count: int) -> None:
        self.ops: Ops = w.backend.ops
        self.project = self.ops.conv_weight(w.tensor("input_proj.weight", (inner, hidden, 1), "f32"))
        self.books = [codebook(w, f"layers.{i}.codebook", "embed_sum", entries, inner) for i in range(count)]
        # the nearest entry e to x has the largest x * e - |e|^2 / 2
        self.match = [self.ops.conv_weight(book.reshape(entries, inner, 1)) for book in self.books]
        self.bias = [self.ops.sum(book * book, -1) * -0.5 for book in self.books]

    def __call__(self, x: Array) -> list[Array]:
        """`[1, n, hidden]` -> ids `[n]` a codebook."""
        left, found = self.ops.conv1d(x, self.project), []
        for book, match, handicap in zip(self.books, self.match, self.bias):
            ids = self.ops.topk(self.ops.conv1d(left, match, handicap), 1)[1][0, :, 0]
            left = left - self.ops.take(book, ids, 0)[None]
            found.append(ids)
        return found


class MimiEncoder:
    """Samples to one vector a frame: strided causal convolutions, a windowed transformer, and one more convolution."""

    rate = 24000

    def __init__(self, w: View, f: Fields, samples: int, convolutions: str, width: int | None = None,
                 gelu: str = "gelu") -> None:  # fmt: skip
        """`samples`: of a frame. `convolutions`: what the first ones' tensors are called. `width`: of a frame's vector, where it is not
        the transformer's."""
        for name, value in (("use_causal_conv", True), ("use_conv_shortcut", False)):
            if f.flag(name, value) is not value:
                raise ConfigError(f"{f.where}: {name} must be {str(value).lower()}.")
        ops = self.ops = w.backend.ops
        self.samples = samples
        hidden, filters = f.int("hidden_size", default=512), f.int("num_filters", default=64)
        ratios, compress = (
            list(reversed(f.find("upsampling_ratios", default=[8, 6, 5, 4]))),
            f.int("compress", default=2),
        )
        kernel = f.int("residual_kernel_size", default=3)
        if f.int("num_residual_layers", default=1) != 1:
            raise ConfigError(f"{f.where}: num_residual_layers must be 1.")
        v = w.sub(convolutions)
        steps: list[Any] = [PaddedConv(v.sub("layers.0"), 1, filters, f.int("kernel_size", default=7))]
        at, dim = 1, filters
        for ratio in ratios:
            steps.append(_EncoderResidual(v.sub(f"layers.{at}"), dim, kernel, compress))
            steps.append(lambda x: elu(ops, x))
            steps.append(PaddedConv(v.sub(f"layers.{at + 2}"), dim, 2 * dim, 2 * ratio, ratio))
            at, dim = at + 3, 2 * dim
        steps.append(lambda x: elu(ops, x))
        steps.append(PaddedConv(v.sub(f"layers.{at + 1}"), dim, hidden, f.int("last_kernel_size", default=3)))
        self.steps = steps
        self.transformer = CodecTransformer(w.sub("encoder_transformer"), f, 8, gelu)
        stride = samples // int(np.prod(ratios))
        self.downsample = PaddedConv(
            w.sub("downsample"), hidden, width or hidden, 2 * stride, stride, bias=False, hold=True
        )

    def vectors(self, samples: np.ndarray) -> Generator[None, None, Array]:
        """`[1, frames, width]` of mono samples at `rate`."""
        budget = YieldBudget(self.ops)
        x = self.ops.array(np.asarray(samples, np.float32).reshape(1, -1, 1))
        for step in self.steps:
            x = step(x)
            yield from budget.pause(x)
        rows = yield from self.transformer(x[0], StreamBatch([{}], [x.shape[1]]), budget)
        return self.downsample(rows[None])


class CodecEncoder(MimiEncoder):
    """The encoder: samples to codes."""

    def __init__(self, w: View, config: Mapping[str, Any]) -> None:
        whole = Fields(config, "speech_tokenizer/config.json")
        f = whole.sub("encoder_config")
        count = whole.int("encoder_valid_num_quantizers", default=16, least=2)
        w.ignore(r"^decoder\.", r"^encoder\.quantizer\.")  # of 32 codebooks 16 are used
        w = w.sub("encoder")
        super().__init__(w, f, whole.int("encode_downsample_rate", default=1920), "encoder")
        hidden = f.int("hidden_size", default=512)
        inner = f.int("vector_quantization_hidden_dimension", "codebook_dim", default=256)
        entries, q = f.int("codebook_size", default=2048), w.sub("quantizer")
        first = f.int("num_semantic_quantizers", default=1)
        self.quantizers = [
            _ResidualQuantizer(q.sub(f"{name}_residual_vector_quantizer"), hidden, inner, entries, n)
            for name, n in (("semantic", first), ("acoustic", count - first))
        ]

    def encode(self, samples: np.ndarray) -> Generator[None, None, np.ndarray]:
        """Codes `[frames, groups]` of mono samples at `rate`."""
        x = yield from self.vectors(samples)
        codes = [ids for quantizer in self.quantizers for ids in quantizer(x)]
        frames = -(-len(samples) // self.samples)
        return self.ops.numpy(self.ops.stack(codes, 1))[:frames]


def codec_encoder(w: View, config: Mapping[str, Any]) -> CodecEncoder:
    return CodecEncoder(w, config)
