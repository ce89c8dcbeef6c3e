"""HGNetV2: a convolutional backbone whose blocks keep what each of their layers made and mix it all at the end."""

from __future__ import annotations

from collections.abc import Callable, Generator
from functools import partial
from typing import Any

from backends.base import Array
from engine.errors import ConfigError
from engine.models.config import Fields
from engine.models.convolution import Convolution, conv_norm
from engine.models.encoder import Pieces, Work
from engine.weights.view import View

# The large one, which configs may leave unsaid.
LARGE: dict[str, list[Any]] = {
    "stem_channels": [3, 32, 48],
    "stem_strides": [2, 1, 1, 2, 1],
    "stage_in_channels": [48, 128, 512, 1024],
    "stage_mid_channels": [48, 96, 192, 384],
    "stage_out_channels": [128, 512, 1024, 2048],
    "stage_num_blocks": [1, 1, 3, 1],
    "stage_downsample": [False, True, True, True],
    "stage_downsample_strides": [2, 2, 2, 2],
    "stage_light_block": [False, False, True, True],
    "stage_kernel_size": [3, 3, 5, 5],
    "stage_numb_of_layers": [6, 6, 6, 6],
}


class Stem:
    """An image at a quarter of its size, by two ways that are joined."""

    def __init__(self, w: View, channels: list[int], strides: list[Any], act: str, rounded: bool = False) -> None:
        self.ops = w.backend.ops
        image, mid, out = channels
        made = partial(conv_norm, act=act, rounded=rounded)
        self.first = made(w.sub("stem1"), image, mid, 3, strides[0])
        self.narrow = made(w.sub("stem2a"), mid, mid // 2, 2, strides[1])
        self.widen = made(w.sub("stem2b"), mid // 2, mid, 2, strides[2])
        self.joined = made(w.sub("stem3"), 2 * mid, mid, 3, strides[3])
        self.last = made(w.sub("stem4"), mid, out, 1, strides[4])

    def __call__(self, x: Array) -> Array:
        x = self._with_border(self.first(x))
        pooled = self.ops.max_pool(x, (2, 2), (1, 1))
        convolved = self.widen(self._with_border(self.narrow(x)))
        return self.last(self.joined(self.ops.cat([pooled, convolved], 3)))

    def _with_border(self, x: Array) -> Array:
        """Even kernels lack one pixel to the right and below."""
        return self.ops.pad(x, [(0, 0), (0, 1), (0, 1), (0, 0)])


class HgnetBlock:
    def __init__(self, w: View, inp: int, mid: int, out: int, layers: int, size: int, light: bool, add: bool) -> None:
        self.ops, self.add = w.backend.ops, add
        make = _light_layer if light else _layer
        self.layers = [make(w.sub(f"layers.{i}"), mid if i else inp, mid, size) for i in range(layers)]
        self.squeeze = conv_norm(w.sub("aggregation.0"), inp + layers * mid, out // 2, 1, act="relu")
        self.excite = conv_norm(w.sub("aggregation.1"), out // 2, out, 1, act="relu")

    def __call__(self, x: Array, pieces: Pieces) -> Work:
        made = [x]
        for layer in self.layers:
            made.append(layer(made[-1]))
            yield from pieces.cut(made[-1])
        y = self.excite(self.squeeze(self.ops.cat(made, 3)))
        y = y + x if self.add else y
        yield from pieces.cut(y)
        return y


def _layer(w: View, inp: int, mid: int, size: int) -> Callable[[Array], Array]:
    return conv_norm(w, inp, mid, size, act="relu")


def _light_layer(w: View, inp: int, mid: int, size: int) -> Callable[[Array], Array]:
    mix = conv_norm(w.sub("conv1"), inp, mid, 1)
    look = conv_norm(w.sub("conv2"), mid, mid, size, groups=mid, act="relu")
    return lambda x: look(mix(x))


class HgNet:
    def __init__(self, w: View, f: Fields) -> None:
        if f.flag("use_learnable_affine_block"):
            raise ConfigError(f"{f.where}: a backbone with learnable affine blocks is not supported.")
        shape = {name: f.find(name, default=usual) for name, usual in LARGE.items()}
        each = [values for name, values in shape.items() if name.startswith("stage_")]
        if any(not isinstance(values, list) or len(values) != len(each[0]) for values in each):
            raise ConfigError(f"{f.where}: all stage_* lists must be equally long.")
        self.ops = w.backend.ops
        act = f.find("hidden_act", default="relu")
        self.stem = Stem(w.sub("embedder"), shape["stem_channels"], shape["stem_strides"], act)
        self.channels: list[int] = shape["stage_out_channels"]
        self.stages = [self._stage(w.sub(f"encoder.stages.{i}"), shape, i) for i in range(len(self.channels))]

    def _stage(self, w: View, shape: dict[str, list[Any]], i: int) -> tuple[Convolution | None, list[HgnetBlock]]:
        inp, mid, out = (shape[f"stage_{name}_channels"][i] for name in ("in", "mid", "out"))
        size, light = shape["stage_kernel_size"][i], shape["stage_light_block"][i]
        layers = shape["stage_numb_of_layers"][i]
        down = None
        if shape["stage_downsample"][i]:
            down = conv_norm(w.sub("downsample"), inp, inp, 3, shape["stage_downsample_strides"][i], groups=inp)
        blocks = [
            HgnetBlock(w.sub(f"blocks.{b}"), out if b else inp, mid, out, layers, size, light, add=b > 0)
            for b in range(shape["stage_num_blocks"][i])
        ]
        return down, blocks

    def __call__(self, x: Array, pieces: Pieces) -> Generator[None, None, list[Array]]:
        """What each stage makes of an image `[B, H, W, 3]`."""
        x = self.stem(x)
        yield from pieces.cut(x)
        made = []
        for down, blocks in self.stages:
            x = down(x) if down else x
            for block in blocks:
                x = yield from block(x, pieces)
            made.append(x)
        return made
