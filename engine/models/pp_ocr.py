"""PP-OCRv6: a detector that says of each pixel how likely it is text, and a recognizer that reads a line of it at once.

The recognizer tells a character, or none, of each few columns; equal neighbours are one character (CTC).
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from backends.base import Array
from engine.errors import BadRequest, ConfigError
from engine.models.config import Fields
from engine.models.convolution import NORM_EPS, Convolution, activation, conv_norm, plain_conv
from engine.models.encoder import Pieces, Work
from engine.models.lcnet import LcNet
from engine.models.siglip import SiglipNorm
from engine.weights.view import View

LONG = {"vertical_long_to_small": (1, 0), "horizontal_small_to_long": (0, 1), "symmetric": (1, 1)}
SIZES = (("long", 7), ("mid", 5), ("short", 3))
HEAD_NAMES = ("convolution", "norm")
_COLUMNS = 128  # whose logits are made at once: they stay in a cache until the largest is found


class Doubled:
    """A transposed convolution whose kernels do not overlap: each pixel becomes `size` x `size` of them."""

    def __init__(self, w: View, name: str, inp: int, out: int, size: int, norm: str | None = None) -> None:
        ops, self.size, self.out = w.backend.ops, size, out
        self.ops = ops
        kernel = w.tensor(f"{name}.weight", (inp, out, size, size), "f32")
        bias = w.tensor(f"{name}.bias", (out,), "f32")
        if norm is not None:
            mean, var, gain, shift = (
                w.tensor(f"{norm}.{part}", (out,), "f32") for part in ("running_mean", "running_var", "weight", "bias")
            )
            zeros = ops.array(np.zeros(out, np.float32))
            scale = ops.batch_norm(zeros + 1.0, zeros, var, gain, zeros, NORM_EPS)
            kernel = kernel * scale.reshape(1, out, 1, 1)
            bias = ops.batch_norm(bias, mean, var, gain, shift, NORM_EPS)
        flat = ops.permute(kernel, (1, 2, 3, 0)).reshape(out * size * size, inp, 1, 1)
        each = ops.cat([bias.reshape(out, 1)] * (size * size), 1).reshape(-1)
        self.convolution = Convolution(w, flat, each, 1, 1, 1, None, rounded=True)

    def __call__(self, x: Array) -> Array:
        batch, rows, columns, _ = x.shape
        made = self.convolution(x).reshape(batch, rows, columns, self.out, self.size, self.size)
        made = self.ops.permute(made, (0, 1, 4, 2, 5, 3))
        return made.reshape(batch, rows * self.size, columns * self.size, self.out)


class IntraclassBlock:
    """Long and square kernels side by side, three sizes one after the other."""

    def __init__(self, w: View, channels: int, reduction: int) -> None:
        few = channels // reduction
        self.reduce = _conv(w, "conv_reduce_channel", channels, few, 1)
        self.sizes = [
            [
                _conv(w, f"{_named(shape)}_{length}ratio", few, few, [size if down else 1, size if across else 1])
                for shape, (down, across) in LONG.items()
            ]
            for length, size in SIZES
        ]
        self.back = conv_norm(
            w.sub("conv_final"), few, channels, 1, act="relu", names=HEAD_NAMES, biased=True, rounded=True
        )

    def __call__(self, x: Array) -> Array:
        y = self.reduce(x)
        for down, across, square in self.sizes:
            y = across(y, add=down(y, add=square(y)))
        return self.back(y, add=x)


_conv = partial(plain_conv, rounded=True)


def _named(shape: str) -> str:
    return "symmetric_conv_long" if shape == "symmetric" else f"{shape}_conv"


class Neck:
    """The backbone's four scales, joined from coarse to fine and from fine to coarse, and laid side by side at the finest."""

    def __init__(self, w: View, f: Fields, channels: Sequence[int], wide: int) -> None:
        self.ops = w.backend.ops
        part, scales = wide // 4, range(len(channels))
        reduction = f.int("reduce_factor", default=2)
        self.inputs = [
            _conv(w, f"input_channel_adjustment_convolution.{i}", inp, wide, 1, bias=False)
            for i, inp in enumerate(channels)
        ]
        self.projected = [_conv(w, f"input_feature_projection_convolution.{i}", wide, part, 9) for i in scales]
        self.down = [
            _conv(w, f"path_aggregation_head_convolution.{i - 1}", part, part, 3, 2, bias=False) for i in scales[1:]
        ]
        self.lateral = [_conv(w, f"path_aggregation_lateral_convolution.{i}", part, part, 9) for i in scales]
        self.blocks = [IntraclassBlock(w.sub(f"intraclass_blocks.{i}"), part, reduction) for i in scales]

    def __call__(self, maps: Sequence[Array], pieces: Pieces) -> Work:
        ops = self.ops
        joined = [adjust(x) for adjust, x in zip(self.inputs, maps)]
        for i in reversed(range(len(maps) - 1)):
            joined[i] = joined[i] + _grown(ops, joined[i + 1], 2)
        made: list[Array] = []
        for i, x in enumerate(joined):
            x = self.projected[i](x)
            made.append(self.down[i - 1](made[-1], add=x) if i else x)
            yield from pieces.cut(made[-1])
        out = []
        for i, x in enumerate(made):
            out.append(_grown(ops, self.blocks[i](self.lateral[i](x)), 2**i))
            yield from pieces.cut(out[-1])
        return ops.cat(out[::-1], 3)


def _grown(ops: Any, x: Array, times: int) -> Array:
    return x if times == 1 else ops.interpolate(x, (times * x.shape[1], times * x.shape[2]), "nearest")


class PpOcrDetector:
    finds_text_lines = True

    def __init__(self, w: View, config: Mapping[str, Any]) -> None:
        f = Fields(config)
        self.ops, self.dtype = w.backend.ops, w.backend.dtype
        self.backbone = LcNet(w.sub("model.backbone"), f.sub("backbone_config"))
        wide = f.int("neck_out_channels", default=256)
        _check_detector(f, wide, len(self.backbone.channels))
        self.neck = Neck(w.sub("model.neck"), f, self.backbone.channels, wide)
        head = w.sub("head")
        self.first = conv_norm(head.sub("conv_down"), wide, wide // 4, 3, act="relu", names=HEAD_NAMES, rounded=True)
        self.second = Doubled(head.sub("conv_up"), "convolution", wide // 4, wide // 4, 2, norm="norm")
        self.last = Doubled(head, "conv_final", wide // 4, 1, 2)
        w.ignore(r"\.num_batches_tracked$")

    def likely(self, pixels: np.ndarray) -> Generator[None, None, np.ndarray]:
        """How likely each pixel of a normalized image `[H, W, 3]` is text, `[H, W]`. Both sides must be multiples of 32."""
        pieces = Pieces(self.ops)
        maps = yield from self.backbone(self.ops.array(pixels[None], self.dtype), pieces)
        joined = yield from self.neck(maps, pieces)
        x = self.ops.relu(self.second(self.first(joined)))
        yield from pieces.cut(x)
        return np.ascontiguousarray(self.ops.numpy(self.ops.sigmoid(self.last(x)))[0, :, :, 0], np.float32)


class LineBlock:
    """A transformer layer over the columns of lines."""

    def __init__(self, w: View, hidden: int, heads: int, ffn: int, bias: bool, act: str, eps: float) -> None:
        self.ops, self.heads, self.dim = w.backend.ops, heads, hidden // heads
        self.norm1, self.norm2 = SiglipNorm(w, "layer_norm1", hidden, eps), SiglipNorm(w, "layer_norm2", hidden, eps)
        attention, mlp = w.sub("self_attn"), w.sub("mlp")
        self.qkv = attention.linear(("qkv", 3 * hidden), inp=hidden, bias=bias)
        self.out = attention.linear(("projection", hidden), inp=hidden, bias=True)
        self.up = mlp.linear(("fc1", ffn), inp=hidden, bias=True)
        self.down = mlp.linear(("fc2", hidden), inp=ffn, bias=True)
        self.act = activation(self.ops, act)

    def __call__(self, x: Array, batch: int) -> Array:
        """`[batch * columns, hidden]`"""
        ops = self.ops
        mixed = self.qkv(self.norm1(x)).reshape(batch, -1, 3, self.heads, self.dim)
        q, k, v = (mixed[:, :, i] for i in range(3))
        x = x + self.out(ops.sdpa(q, k, v, self.dim**-0.5).reshape(*x.shape))
        return x + self.down(self.act(self.up(self.norm2(x))))


class PpOcrRecognizer:
    reads_text_lines = True

    def __init__(self, w: View, config: Mapping[str, Any]) -> None:
        f = Fields(config)
        self.ops, self.dtype = w.backend.ops, w.backend.dtype
        self.backbone = LcNet(w.sub("model.backbone"), f.sub("backbone_config"))
        self.hidden, heads = f.int("hidden_size", default=120), f.int("num_attention_heads", default=8)
        inp, hidden, act = self.backbone.channels[-1], self.hidden, f.find("hidden_act", default="silu")
        if hidden % heads:
            raise ConfigError(f"{f.where}: hidden_size ({hidden}) must be a multiple of {heads} heads.")
        size, eps = f.find("conv_kernel_size", default=[1, 7]), f.float("layer_norm_eps", default=1e-6)
        if not (isinstance(size, list) and len(size) == 2 and all(type(n) is int and n % 2 for n in size)):
            raise ConfigError(f"{f.where}: conv_kernel_size must be two odd numbers, not {size!r:.80}.")
        encoder = w.sub("head.encoder")
        self.around = conv_norm(encoder.sub("conv_block.0"), inp, hidden, 1, act=act, rounded=True)
        self.reduce = conv_norm(encoder.sub("conv_block.1"), inp, hidden, 1, act=act, rounded=True)
        self.beside = conv_norm(encoder.sub("conv_block.2"), hidden, hidden, size, groups=hidden, act=act)
        ffn, bias = int(hidden * f.float("mlp_ratio", default=2.0, above=0)), f.flag("qkv_bias", True)
        self.blocks = [
            LineBlock(encoder.sub(f"svtr_block.{i}"), hidden, heads, ffn, bias, act, eps)
            for i in range(f.int("depth", default=2, most=1 << 8))
        ]
        self.norm = SiglipNorm(encoder, "norm", hidden, eps)
        self.characters = f.int("head_out_channels", default=18714)
        head = w.sub("head.head")
        kernel = head.tensor("weight", (self.characters, hidden), "f32").reshape(self.characters, hidden, 1, 1)
        bias = head.tensor("bias", (self.characters,), "f32")
        self.head = Convolution(w, kernel, bias, 1, 1, 1, None, rounded=True)
        w.ignore(r"\.num_batches_tracked$")

    def likely(self, pixels: np.ndarray) -> Generator[None, None, tuple[np.ndarray, np.ndarray]]:
        """The likeliest character of each few columns of normalized lines `[B, H, W, 3]`, and how likely it is, each `[B, columns]`."""
        ops, pieces, batch = self.ops, Pieces(self.ops), len(pixels)
        x = yield from self._columns(pixels, pieces)
        ids, chances = [], []
        for start in range(0, x.shape[0], _COLUMNS):
            each, best = ops.likeliest(self._logits(x[start : start + _COLUMNS]))
            chances.append(each)
            ids.append(best)
            yield from pieces.cut(each)
        return ops.numpy(ops.cat(ids, 0)).reshape(batch, -1), ops.numpy(ops.cat(chances, 0)).reshape(batch, -1)

    def shares(self, pixels: np.ndarray) -> Work:
        """How likely each character is, `[B * columns, characters]`."""
        x = yield from self._columns(pixels, Pieces(self.ops))
        return self.ops.softmax(self._logits(x))

    def _logits(self, x: Array) -> Array:
        return self.head(x.reshape(1, 1, x.shape[0], self.hidden)).reshape(x.shape[0], self.characters)

    def _columns(self, pixels: np.ndarray, pieces: Pieces) -> Work:
        """The features of each few columns, `[B * columns, hidden]`."""
        ops = self.ops
        maps = yield from self.backbone(ops.array(pixels, self.dtype), pieces)
        x = self._pooled(maps[-1])
        batch, _, columns, _ = x.shape
        around, x = self.around(x), self.reduce(x)
        x = self.beside(x, add=x).reshape(batch * columns, self.hidden)
        yield from pieces.cut(x)
        for block in self.blocks:
            x = block(x, batch)
            yield from pieces.cut(x)
        return self.norm(x) + around.reshape(batch * columns, self.hidden)

    def _pooled(self, x: Array) -> Array:
        """Three rows of two columns become one."""
        batch, rows, columns, channels = x.shape
        if rows // 3 != 1 or columns < 2:
            raise BadRequest("A line must be as high as the recognizer's settings say, and not empty.", "image")
        x = x[:, :3, : columns // 2 * 2].reshape(batch, 3, columns // 2, 2, channels)
        return (self.ops.sum(self.ops.sum(x, 3), 1) / 6.0).reshape(batch, 1, columns // 2, channels)


def _check_detector(f: Fields, wide: int, scales: int) -> None:
    if wide % 4 or scales != 4:
        raise ConfigError(f"{f.where}: the backbone must have four stages, and neck_out_channels be a multiple of 4.")
    usual = {"interpolate_mode": "nearest", "scale_factor_list": [1, 2, 4, 8], "kernel_list": [3, 2, 2]}
    for name, known in usual.items():
        if f.find(name, default=known) != known:
            raise ConfigError(f"{f.where}: `{name}` is supported as {known!r} only.")
    if f.int("intraclass_block_number", default=4) != 4:
        raise ConfigError(f"{f.where}: intraclass_block_number must be 4.")


def pp_ocr_detector(w: View, config: Mapping[str, Any]) -> PpOcrDetector:
    return PpOcrDetector(w, config)


def pp_ocr_recognizer(w: View, config: Mapping[str, Any]) -> PpOcrRecognizer:
    return PpOcrRecognizer(w, config)
