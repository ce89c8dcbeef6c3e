"""The codec of Pocket-TTS: Mimi with continuous latents instead of codes, at 12.5 frames a second of 24 kHz.

Both halves need an f32 backend. The decoder is causal and carries its state, so a stream of frames gives exactly the samples of the
whole; the encoder takes a recording as a whole.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from math import prod
from typing import Any

import numpy as np

from backends.base import Array, Ops
from engine.errors import ConfigError
from engine.models.causal import CausalConv, CausalTransposed, StreamBatch
from engine.models.codec12 import CodecTransformer, FrameDecoder, MimiEncoder, elu
from engine.models.config import Fields
from engine.models.yield_budget import YieldBudget
from engine.weights.view import View

RATE = 24000


def _fields(config: Mapping[str, Any]) -> Fields:
    f = Fields({"upsampling_ratios": [6, 5, 4], **config}, "audio_tokenizer/config.json")
    known = {"use_causal_conv": True, "use_conv_shortcut": False, "pad_mode": "constant", "trim_right_ratio": 1.0,
             "hidden_act": "gelu_pytorch_tanh", "num_residual_layers": 1, "audio_channels": 1, "sampling_rate": RATE,
             "attention_bias": False}  # fmt: skip
    for name, value in known.items():
        if (found := f.find(name, default=value)) != value:
            raise ConfigError(f"{f.where}: {name} must be {value}, not {found!r}.")
    ratios = f.find("upsampling_ratios")
    if not isinstance(ratios, list) or not ratios or not all(isinstance(r, int) and r > 0 for r in ratios):
        raise ConfigError(f"{f.where}: upsampling_ratios must be a list of whole numbers, not {ratios!r}.")
    return f


def _samples(f: Fields) -> int:
    """Of a frame."""
    return prod(f.find("upsampling_ratios")) * f.int("latent_stride", default=16)


class _Spread:
    """A causal transposed convolution of each channel alone, whose kernel is twice its stride: from a frame and the one before it."""

    def __init__(self, w: View, dim: int, stride: int) -> None:
        self.ops: Ops = w.backend.ops
        self.dim, self.stride = dim, stride
        weight = w.tensor("conv.weight", (dim, 1, 2 * stride), "f32")
        if not w.dry:
            taps = self.ops.permute(weight, (1, 2, 0))  # [1, 2 * stride, dim]
            self.new, self.old = taps[:, :stride], taps[:, stride:]

    def __call__(self, x: Array, pieces: StreamBatch) -> tuple[Array, StreamBatch]:
        ops, before, kept = self.ops, [], []
        for part, past in zip(ops.split(x, list(pieces.lengths), 0), pieces.recall(self)):
            last = ops.array(np.zeros((1, self.dim), np.float32), "f32") if past is None else past
            before += [last, part[:-1]]
            kept.append(part[part.shape[0] - 1 :])
        pieces.keep(self, kept)
        spread = x[:, None] * self.new + ops.cat(before, 0)[:, None] * self.old
        return spread.reshape(x.shape[0] * self.stride, self.dim), pieces.longer(self.stride)


class _Residual:
    def __init__(self, w: View, dim: int, kernel: int, compress: int) -> None:
        self.ops: Ops = w.backend.ops
        self.wide = CausalConv(w.sub("block.1.conv"), dim, dim // compress, kernel)
        self.point = CausalConv(w.sub("block.3.conv"), dim // compress, dim, 1)

    def __call__(self, x: Array, pieces: StreamBatch) -> Array:
        y = self.wide(elu(self.ops, x), pieces)
        return self.point(elu(self.ops, y), pieces, add=x)


class PocketDecoder(FrameDecoder):
    """Latents to samples."""

    rate = RATE

    def __init__(self, w: View, config: Mapping[str, Any]) -> None:
        f = _fields(config)
        self.ops: Ops = w.backend.ops
        hidden, filters = f.int("hidden_size", default=512), f.int("num_filters", default=64)
        if f.int("upsample_groups", default=512) != hidden:
            raise ConfigError(f"{f.where}: upsample_groups must be hidden_size, {hidden}.")
        w.ignore(r"^encoder\.")  # a separate model
        latent = f.int("latent_dim", default=32)
        self.width, self.samples = latent, _samples(f)
        weight = w.tensor("latent_proj.weight", (hidden, latent, 1), "f32")
        if not w.dry:
            self.enter = self.ops.stream_weight(weight, self.ops.array(np.zeros(hidden, np.float32)))
        w = w.sub("decoder")
        self.spread = _Spread(w.sub("upsample"), hidden, f.int("latent_stride", default=16))
        self.transformer = CodecTransformer(w.sub("decoder_transformer"), f, 2, "gelu_tanh")
        ratios, v = f.find("upsampling_ratios"), w.sub("decoder_seanet")
        dim, kernel = filters << len(ratios), f.int("residual_kernel_size", default=3)
        self.first = CausalConv(v.sub("layers.0.conv"), hidden, dim, f.int("kernel_size", default=7))
        self.stages = []
        for i, rate in enumerate(ratios):
            up = CausalTransposed(v.sub(f"layers.{3 * i + 2}.conv"), dim, dim // 2, 2 * rate, rate)
            dim //= 2
            self.stages.append((up, _Residual(v.sub(f"layers.{3 * i + 3}"), dim, kernel, f.int("compress", default=2))))
        last = v.sub(f"layers.{3 * len(ratios) + 2}.conv")
        self.last = CausalConv(last, dim, 1, f.int("last_kernel_size", default=3))

    def _pieces(
        self, codes: np.ndarray, pieces: StreamBatch, budget: YieldBudget
    ) -> Generator[None, None, list[np.ndarray]]:
        ops = self.ops
        latents = ops.array(np.ascontiguousarray(codes, np.float32), "f32")
        x, _ = ops.stream_conv(latents, self.enter, [len(codes)], [None])
        x, pieces = self.spread(x, pieces)
        x = yield from self.transformer(x, pieces, budget)
        x = self.first(x, pieces)
        for up, residual in self.stages:
            x, pieces = up(elu(ops, x), pieces)
            x = residual(x, pieces)
            yield from budget.pause(x[None])
        sound = np.clip(ops.numpy(self.last(elu(ops, x), pieces))[:, 0], -1.0, 1.0)
        return np.split(sound, np.cumsum(pieces.lengths)[:-1])


class PocketEncoder(MimiEncoder):
    """A recording to latents."""

    def __init__(self, w: View, config: Mapping[str, Any]) -> None:
        f = _fields(config)
        w.ignore(r"^decoder\.", r"^latent_proj\.")
        width = f.int("latent_dim", default=32)
        super().__init__(w.sub("encoder"), f, _samples(f), "encoder_seanet", width, gelu="gelu_tanh")

    def encode(self, samples: np.ndarray) -> Generator[None, None, np.ndarray]:
        """Latents `[frames, width]` of mono samples at `rate`."""
        padded = np.pad(np.asarray(samples, np.float32), (0, -len(samples) % self.samples))
        made = yield from self.vectors(padded)
        return np.asarray(self.ops.numpy(made)[0], np.float32)


def pocket_decoder(w: View, config: Mapping[str, Any]) -> PocketDecoder:
    return PocketDecoder(w, config)


def pocket_encoder(w: View, config: Mapping[str, Any]) -> PocketEncoder:
    return PocketEncoder(w, config)
