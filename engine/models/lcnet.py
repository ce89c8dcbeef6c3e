"""PP-LCNetV4: a light convolutional backbone. Each layer looks at every channel by itself, weighs the channels, and mixes them."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

from backends.base import Array
from engine.errors import ConfigError
from engine.models.config import Fields
from engine.models.convolution import Convolution, conv_norm, plain_conv
from engine.models.encoder import Pieces
from engine.models.hgnet import Stem
from engine.weights.view import View

# What configs may leave unsaid: kernel size, channels in and out, stride, whether channels are weighed.
STAGES: list[list[list[Any]]] = [
    [[3, 96, 96, 1, True]],
    [[3, 96, 96, 1, False], [3, 96, 96, 1, False]],
    [[3, 96, 192, [2, 1], False], *[[3, 192, 192, 1, i % 2 == 0] for i in range(6)]],
    [[3, 192, 384, [2, 1], False], [3, 384, 384, 1, True], [3, 384, 384, 1, False]],
]
MOST_LAYERS = 256  # of a stage


class SmallStem:
    """An image at a quarter of its size."""

    def __init__(self, w: View, channels: Sequence[int]) -> None:
        image, mid, out = channels
        self.first = conv_norm(w.sub("conv1"), image, mid, 3, 2, act="gelu", rounded=True)
        self.second = conv_norm(w.sub("conv2"), mid, out, 3, 2, rounded=True)

    def __call__(self, x: Array) -> Array:
        return self.second(self.first(x))


class ChannelWeights:
    """Each channel times a number from 0 to 1, found from the means of all channels."""

    def __init__(self, w: View, channels: int, reduction: int) -> None:
        self.ops, self.channels = w.backend.ops, channels
        few = channels // reduction
        self.squeeze = w.flattened("convolutions.0", (few, channels, 1, 1), bias=True)
        self.excite = w.flattened("convolutions.2", (channels, few, 1, 1), bias=True)

    def __call__(self, x: Array) -> Array:
        ops = self.ops
        count = x.shape[1] * x.shape[2]
        mean = ops.sum(x.reshape(x.shape[0], count, self.channels), 1) / count
        shares = ops.clamp(self.excite(ops.relu(self.squeeze(mean))) / 6.0 + 0.5, 0.0, 1.0)
        return x * shares.reshape(-1, 1, 1, self.channels)


class LcLayer:
    def __init__(self, w: View, size: int, inp: int, out: int, stride: Any, weighs: bool, reduction: int) -> None:
        self.residual = inp == out and stride == 1
        self.look: Convolution = (
            plain_conv(w, "token_conv", inp, out, size, stride, groups=inp)
            if self.residual
            else conv_norm(w.sub("token_conv"), inp, inp, size, stride, groups=inp)
        )
        self.weigh = ChannelWeights(w.sub("token_squeeze_excitation"), inp, reduction) if weighs else None
        self.widen = conv_norm(w.sub("channel_conv1"), inp, 2 * inp, 1, act="gelu", rounded=True)
        self.mix = conv_norm(w.sub("channel_conv2"), 2 * inp, out, 1, rounded=True)

    def __call__(self, x: Array) -> Array:
        x = self.look(x)
        x = self.weigh(x) if self.weigh else x
        return self.mix(self.widen(x), add=x if self.residual else None)


class LcNet:
    def __init__(self, w: View, f: Fields) -> None:
        if f.flag("use_learnable_affine_block"):
            raise ConfigError(f"{f.where}: a backbone with learnable affine blocks is not supported.")
        channels, stages = f.find("stem_channels", default=[3, 48, 96]), f.find("block_configs", default=STAGES)
        strides, reduction = f.find("stem_strides", default=[2, 1, 1, 2, 1]), f.int("reduction", default=4)
        _check(f, channels, strides, stages)
        encoder = w.sub("encoder")
        kind, act = f.find("stem_type", default="large"), f.find("hidden_act", default="relu")
        if kind not in ("large", "small"):
            raise ConfigError(f"{f.where}: stem_type must be large or small, not {kind!r}.")
        stem = encoder.sub("convolution")
        self.stem = Stem(stem, channels, strides, act, rounded=True) if kind == "large" else SmallStem(stem, channels)
        self.channels = [stage[-1][2] for stage in stages]
        self.stages = [
            [
                LcLayer(encoder.sub(f"blocks.{i}.blocks.{j}"), size, inp, out, stride, weighs, reduction)
                for j, (size, inp, out, stride, weighs) in enumerate(stage)
            ]
            for i, stage in enumerate(stages)
        ]

    def __call__(self, x: Array, pieces: Pieces) -> Generator[None, None, list[Array]]:
        """What each stage makes of images `[B, H, W, 3]`."""
        x = self.stem(x)
        yield from pieces.cut(x)
        made = []
        for stage in self.stages:
            for layer in stage:
                x = layer(x)
                yield from pieces.cut(x)
            made.append(x)
        return made


def _check(f: Fields, channels: Any, strides: Any, stages: Any) -> None:
    counts = isinstance(channels, list | tuple) and len(channels) == 3 and all(map(_is_count, channels))
    if not counts or not (isinstance(strides, list | tuple) and len(strides) == 5 and all(map(_is_stride, strides))):
        raise ConfigError(f"{f.where}: stem_channels must be three counts, and stem_strides five strides.")
    if not (
        isinstance(stages, list) and stages and all(isinstance(s, list) and 0 < len(s) <= MOST_LAYERS for s in stages)
    ):
        raise ConfigError(f"{f.where}: block_configs must be a list of stages, each a list of layers.")
    before = channels[2]
    for layer in (layer for stage in stages for layer in stage):
        if not (
            isinstance(layer, list) and len(layer) == 5 and all(map(_is_count, layer[:3])) and _is_stride(layer[3])
        ):
            raise ConfigError(
                f"{f.where}: a layer of block_configs must be a size, channels in and out, a stride and whether it weighs, "
                f"not {layer!r:.80}."
            )
        if layer[1] != before:
            raise ConfigError(f"{f.where}: a layer of block_configs takes {layer[1]} channels, but is given {before}.")
        before = layer[2]


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 < value <= 1 << 16


def _is_stride(value: Any) -> bool:
    return _is_count(value) or (isinstance(value, list | tuple) and len(value) == 2 and all(map(_is_count, value)))
