"""The Higgs audio codec, version 2, which OmniVoice speaks with: frames of eight codes, 25 a second, to samples and back.

Decoding is convolutional (that of DAC). The encoder reads a sound twice: DAC's strided convolutions hear how it sounds, HuBERT what is said;
both together are quantized, what one codebook leaves by the next.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping, Sequence
from typing import Any

import numpy as np

from backends.base import Array, Ops
from engine.errors import BadRequest, ConfigError
from engine.models.config import Fields
from engine.models.hubert import Hubert
from engine.models.snac import SnacConv, Snake, Transposed
from engine.models.yield_budget import YieldBudget
from engine.weights.view import View

_NAME = "audio_tokenizer/config.json"
_KERNEL, _DILATIONS = 7, (1, 3, 9)
_EDGE = 160  # samples of silence around a sound before HuBERT hears it


class _Residual:
    def __init__(self, w: View, dim: int, dilation: int) -> None:
        self.first, self.second = Snake(w.sub("snake1"), dim), Snake(w.sub("snake2"), dim)
        self.wide, self.mix = (
            SnacConv(w.sub("conv1"), dim, dim, _KERNEL, dilation=dilation),
            SnacConv(w.sub("conv2"), dim, dim),
        )

    def __call__(self, x: Array) -> Array:
        return x + self.mix(self.second(self.wide(self.first(x))))


def _residuals(w: View, dim: int) -> list[_Residual]:
    return [_Residual(w.sub(f"res_unit{i}"), dim, dilation) for i, dilation in enumerate(_DILATIONS, 1)]


class _UpBlock:
    def __init__(self, w: View, inp: int, out: int, stride: int) -> None:
        self.snake = Snake(w.sub("snake1"), inp)
        self.up = Transposed(w.sub("conv_t1"), inp, out, 2 * stride, stride, math.ceil(stride / 2), stride % 2)
        self.units = _residuals(w, out)

    def __call__(self, x: Array) -> Array:
        x = self.up(self.snake(x))
        for unit in self.units:
            x = unit(x)
        return x


class _DownBlock:
    def __init__(self, w: View, inp: int, out: int, stride: int) -> None:
        self.units, self.snake = _residuals(w, inp), Snake(w.sub("snake1"), inp)
        self.down = SnacConv(w.sub("conv1"), inp, out, 2 * stride, stride=stride, padding=math.ceil(stride / 2))

    def __call__(self, x: Array) -> Array:
        for unit in self.units:
            x = unit(x)
        return self.down(self.snake(x))


class HiggsSizes:
    def __init__(self, config: Mapping[str, Any]) -> None:
        f = self.fields = Fields(config, _NAME)
        acoustic = config.get("acoustic_model_config")
        g = Fields(acoustic if isinstance(acoustic, Mapping) else {}, _NAME)
        self.rate = f.int("sample_rate", default=24000)
        self.down = [int(n) for n in g.find("downsampling_ratios", default=[8, 5, 4, 2, 3])]
        self.up = [int(n) for n in g.find("upsampling_ratios", default=[8, 5, 4, 2, 3])]
        self.first, self.last = g.int("encoder_hidden_size", default=64), g.int("decoder_hidden_size", default=1024)
        self.acoustic = g.int("hidden_size", default=256)
        self.hop = math.prod(self.up)
        if math.prod(self.down) != self.hop or min(*self.down, *self.up) < 1 or self.last % 2 ** len(self.up):
            raise ConfigError(f"{_NAME}: the ratios of encoder and decoder do not fit together.")
        semantic = config.get("semantic_model_config")
        self.hubert = Fields(semantic if isinstance(semantic, Mapping) else {}, _NAME)
        self.semantic = self.hubert.int("hidden_size", default=768)
        self.width = self.acoustic + self.semantic
        self.codes, self.narrow = f.int("codebook_size", default=1024), f.int("codebook_dim", default=64)


class _Quantizer:
    def __init__(self, w: View, s: HiggsSizes, enters: bool) -> None:
        self.ops: Ops = w.backend.ops
        own = w.sub("codebook")
        self.book = own.tensor("embed" if own.has("embed") else "weight", (s.codes, s.narrow), "f32")
        self.leave = w.linear(("project_out", s.width), inp=s.narrow, bias=True)
        self.enter = w.linear(("project_in", s.narrow), inp=s.width, bias=True) if enters else None

    def values(self, codes: np.ndarray) -> Array:
        """`[T, width]`"""
        return self.leave(self.ops.take(self.book, self.ops.array(codes.astype(np.int32)), 0))

    def quantize(self, x: Array) -> np.ndarray:
        assert self.enter is not None
        found, book = self.ops.numpy(self.enter(x)), self.ops.numpy(self.book)
        distance = (found**2).sum(1, keepdims=True) - 2 * found @ book.T + (book**2).sum(1)
        return np.argmin(distance, axis=1).astype(np.int32)


def _quantizers(w: View, s: HiggsSizes, enters: bool) -> list[_Quantizer]:
    w.ignore(r"\.codebook\.(embed_avg|cluster_size|inited)$")
    own, count = w.sub("quantizer.quantizers"), 0
    while own.has(f"{count}.project_out.weight"):
        count += 1
    return [_Quantizer(own.sub(str(i)), s, enters) for i in range(max(1, count))]


class HiggsDecoder:
    """Samples of codes."""

    def __init__(self, w: View, config: Mapping[str, Any]) -> None:
        w.ignore(r"^(acoustic_encoder|semantic_model|encoder_semantic|decoder_semantic|fc|fc1)\.", r"\.project_in\.")
        s = HiggsSizes(config)
        self.ops, self.rate, self.hop, self.codes = w.backend.ops, s.rate, s.hop, s.codes
        self.quantizers = _quantizers(w, s, False)
        self.narrow = w.linear(("fc2", s.acoustic), inp=s.width, bias=True)
        own = w.sub("acoustic_decoder")
        self.enter = SnacConv(own.sub("conv1"), s.acoustic, s.last, _KERNEL)
        self.blocks = [
            _UpBlock(own.sub(f"block.{i}"), s.last >> i, s.last >> (i + 1), stride) for i, stride in enumerate(s.up)
        ]
        out = s.last >> len(s.up)
        self.snake, self.leave = Snake(own.sub("snake1"), out), SnacConv(own.sub("conv2"), out, 1, _KERNEL)

    def decode(self, codes: np.ndarray) -> Generator[None, None, np.ndarray]:
        """Samples f32 of frames `[T, books]`."""
        if codes.ndim != 2 or codes.shape[1] != len(self.quantizers) or not len(codes):
            raise BadRequest(f"Frames have {len(self.quantizers)} codes.", "codes")
        if codes.min() < 0 or codes.max() >= self.codes:
            raise BadRequest(f"Codes lie between 0 and {self.codes - 1}.", "codes")
        budget, x = YieldBudget(self.ops), self.quantizers[0].values(codes[:, 0])
        for i, quantizer in enumerate(self.quantizers[1:], 1):
            x = x + quantizer.values(codes[:, i])
        x = self.enter(self.narrow(x)[None])
        for block in self.blocks:
            x = block(x)
            yield from budget.pause(x)
        return self.ops.numpy(self.leave(self.snake(x)))[0, :, 0]


class _Unit:
    """A step of the encoder that reads HuBERT's features."""

    def __init__(self, w: View, dim: int, kernel: int, dilation: int) -> None:
        self.ops: Ops = w.backend.ops
        self.wide = SnacConv(w.sub("conv1"), dim, dim, kernel, dilation=dilation, bias=False)
        self.mix = SnacConv(w.sub("conv2"), dim, dim, bias=False)

    def __call__(self, x: Array) -> Array:
        return x + self.mix(elu(self.ops, self.wide(elu(self.ops, x))))


def elu(ops: Ops, x: Array) -> Array:
    return ops.relu(x) + ops.exp(ops.clamp(x, None, 0.0)) - 1.0


class HiggsEncoder:
    """Codes of a sound."""

    def __init__(self, w: View, config: Mapping[str, Any]) -> None:
        w.ignore(r"^(acoustic_decoder|decoder_semantic|fc1|fc2)\.")
        s = HiggsSizes(config)
        f, self.ops, self.rate, self.hop = s.fields, w.backend.ops, s.rate, s.hop
        own, dim = w.sub("acoustic_encoder"), s.first
        self.layers: list[Any] = [SnacConv(own.sub("conv1"), 1, dim, _KERNEL)]
        for i, stride in enumerate(s.down):
            self.layers.append(_DownBlock(own.sub(f"block.{i}"), dim, 2 * dim, stride))
            dim *= 2
        self.layers += [Snake(own.sub("snake1"), dim), SnacConv(own.sub("conv2"), dim, s.acoustic, 3)]
        self.hubert, self.heard = (
            Hubert(w.sub("semantic_model"), s.hubert),
            f.int("semantic_sample_rate", default=16000),
        )
        self.every = max(1, int(s.hop / (s.rate / self.heard) / f.int("downsample_factor", default=320)))
        ratios, strides = f.find("channel_ratios", default=[1, 1]), f.find("strides", default=[1, 1])
        if set(ratios) != {1} or set(strides) != {1}:
            raise ConfigError(f"{_NAME}: channel_ratios and strides are known as 1.")
        kernel, unit = f.int("kernel_size", default=3), f.int("unit_kernel_size", default=3)
        own, size = w.sub("encoder_semantic"), s.semantic
        self.reads: list[Any] = [SnacConv(own.sub("conv"), size, size, kernel, bias=False)]
        for i in range(len(strides)):
            block = own.sub(f"conv_blocks.{i}")
            dilations: Sequence[int] = f.find("block_dilations", default=[1, 1])
            self.reads += [_Unit(block.sub(f"res_units.{j}"), size, unit, d) for j, d in enumerate(dilations)]
            self.reads.append(SnacConv(block.sub("conv"), size, size, 3))
        self.mix = w.linear(("fc", s.width), inp=s.width, bias=True)
        self.quantizers = _quantizers(w, s, True)

    def encode(self, samples: np.ndarray, narrow: np.ndarray) -> Generator[None, None, np.ndarray]:
        """`[T, books]` of mono samples at `rate`; `narrow`: the same at the rate that HuBERT hears."""
        ops, budget = self.ops, YieldBudget(self.ops)
        padded = np.pad(narrow.astype(np.float32), _EDGE)
        if len(padded) < self.hubert.least or len(samples) < self.hop:
            raise BadRequest("The recording is too short to take a voice from it.", "voice")
        read = (yield from self.hubert.features(ops.array(padded.reshape(1, -1, 1), "f32")))[:: self.every][None]
        for part in self.reads:
            read = part(read)
        x = ops.array(samples.astype(np.float32).reshape(1, -1, 1), "f32")
        for layer in self.layers:
            x = layer(x)
            yield from budget.pause(x)
        count = min(x.shape[1], read.shape[1])
        rest = self.mix(ops.cat([x[:, :count], read[:, :count]], 2)[0])
        codes = []
        for quantizer in self.quantizers:
            codes.append(quantizer.quantize(rest))
            rest = rest - quantizer.values(codes[-1])
            yield
        return np.stack(codes, 1)


def higgs_decoder(w: View, config: Mapping[str, Any]) -> HiggsDecoder:
    return HiggsDecoder(w, config)


def higgs_encoder(w: View, config: Mapping[str, Any]) -> HiggsEncoder:
    return HiggsEncoder(w, config)
