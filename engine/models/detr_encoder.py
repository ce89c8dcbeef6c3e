"""RT-DETR's hybrid encoder: attention within the coarsest feature map, then convolutions that mix all scales both ways.

Also the pieces that its decoder shares. Feature maps are `[1, H, W, C]`, tokens `[T, C]`: one image at a time.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence

import numpy as np

from backends.base import Array
from engine.errors import ConfigError
from engine.models.config import Fields
from engine.models.convolution import Convolution, activation, conv_norm, folded
from engine.models.encoder import Pieces, Work
from engine.weights.view import View

NAMES = ("conv", "norm")


class DetrNorm:
    def __init__(self, w: View, name: str, dim: int, eps: float) -> None:
        self.ops, self.eps = w.backend.ops, eps
        self.w, self.b = w.norm(name, dim), w.tensor(f"{name}.bias", (dim,))

    def __call__(self, x: Array) -> Array:
        return self.ops.layer_norm(x, self.w, self.b, self.eps)


class FeedForward:
    def __init__(self, w: View, dim: int, ffn: int, act: str) -> None:
        self.up = w.linear(("fc1", ffn), inp=dim, bias=True)
        self.down = w.linear(("fc2", dim), inp=ffn, bias=True)
        self.act = activation(w.backend.ops, act)

    def __call__(self, x: Array) -> Array:
        return self.down(self.act(self.up(x)))


class SelfAttention:
    """Places are added to what is compared, not to what is handed on."""

    def __init__(self, w: View, dim: int, heads: int) -> None:
        if dim % heads:
            raise ConfigError(f"A width of {dim} cannot be divided among {heads} heads.")
        self.ops, self.heads, self.dim = w.backend.ops, heads, dim // heads
        self.qk = w.linear(("q_proj", dim), ("k_proj", dim), inp=dim, bias=True)
        self.v = w.linear(("v_proj", dim), inp=dim, bias=True)
        self.out = w.linear(("out_proj", dim), inp=dim, bias=True)

    def __call__(self, x: Array, places: Array) -> Array:
        n, wide = x.shape
        q, k = self.ops.split(self.qk(x + places), [wide, wide], 1)
        q, k, v = (part.reshape(1, n, self.heads, self.dim) for part in (q, k, self.v(x)))
        return self.out(self.ops.sdpa(q, k, v, self.dim**-0.5).reshape(n, wide))


class EncoderLayer:
    def __init__(self, w: View, f: Fields, dim: int) -> None:
        eps = f.float("layer_norm_eps", default=1e-5)
        self.attention = SelfAttention(w.sub("self_attn"), dim, f.int("encoder_attention_heads", default=8))
        self.attention_norm = DetrNorm(w, "self_attn_layer_norm", dim, eps)
        act = f.find("encoder_activation_function", default="gelu")
        self.mlp = FeedForward(w, dim, f.int("encoder_ffn_dim", default=1024), act)
        self.mlp_norm = DetrNorm(w, "final_layer_norm", dim, eps)

    def __call__(self, x: Array, places: Array) -> Array:
        x = self.attention_norm(x + self.attention(x, places))
        return self.mlp_norm(x + self.mlp(x))


class CrossStage:
    """Two 1 x 1 paths over the same input; one continues through convolutions that were trained as two and run as one."""

    def __init__(self, w: View, f: Fields, dim: int) -> None:
        self.ops, act = w.backend.ops, f.find("activation_function", default="silu")
        eps = f.float("batch_norm_eps", default=1e-5)
        hidden = int(dim * f.float("hidden_expansion", default=1.0))
        self.deep = conv_norm(w.sub("conv1"), 2 * dim, hidden, 1, act=act, names=NAMES, eps=eps)
        self.flat = conv_norm(w.sub("conv2"), 2 * dim, hidden, 1, act=act, names=NAMES, eps=eps)
        self.blocks = [_merged(w.sub(f"bottlenecks.{i}"), hidden, act, eps) for i in range(3)]
        self.last = None
        if hidden != dim:
            self.last = conv_norm(w.sub("conv3"), hidden, dim, 1, act=act, names=NAMES, eps=eps)

    def __call__(self, x: Array, pieces: Pieces) -> Work:
        deep = self.deep(x)
        for block in self.blocks:
            deep = block(deep)
            yield from pieces.cut(deep)
        y = deep + self.flat(x)
        return self.last(y) if self.last else y


def _merged(w: View, dim: int, act: str, eps: float) -> Convolution:
    """The sum of a 3 x 3 and a 1 x 1 convolution is one 3 x 3 convolution."""
    wide, wide_bias = folded(w, "conv1.conv", "conv1.norm", (dim, dim, 3, 3), eps)
    point, point_bias = folded(w, "conv2.conv", "conv2.norm", (dim, dim, 1, 1), eps)
    kernel = wide + w.backend.ops.pad(point, [(0, 0), (0, 0), (1, 1), (1, 1)])
    return Convolution(w, kernel, wide_bias + point_bias, 3, 1, 1, act)


class HybridEncoder:
    def __init__(self, w: View, f: Fields, dim: int, scales: int) -> None:
        if f.flag("normalize_before") or f.find("eval_size", default=None) is not None:
            raise ConfigError(f"{f.where}: normalize_before and eval_size are not supported.")
        self.ops, self.dtype, self.dim = w.backend.ops, w.backend.dtype, dim
        self.heat = f.float("positional_encoding_temperature", default=10000.0)
        act, eps = f.find("activation_function", default="silu"), f.float("batch_norm_eps", default=1e-5)
        self.attended: list[int] = f.find("encode_proj_layers", default=[2])
        count = f.int("encoder_layers", default=1, least=0)
        self.layers = [
            [EncoderLayer(w.sub(f"encoder.{i}.layers.{j}"), f, dim) for j in range(count)]
            for i in range(len(self.attended))
        ]

        def convolution(name: str, size: int, stride: int) -> Convolution:
            return conv_norm(w.sub(name), dim, dim, size, stride, act=act, names=NAMES, eps=eps)

        steps = range(scales - 1)
        self.lateral = [convolution(f"lateral_convs.{i}", 1, 1) for i in steps]
        self.down = [convolution(f"downsample_convs.{i}", 3, 2) for i in steps]
        self.falling = [CrossStage(w.sub(f"fpn_blocks.{i}"), f, dim) for i in steps]
        self.rising = [CrossStage(w.sub(f"pan_blocks.{i}"), f, dim) for i in steps]

    def __call__(self, maps: Sequence[Array], pieces: Pieces) -> Generator[None, None, list[Array]]:
        """Maps of one width, the finest first; the same shapes come back."""
        ops, maps = self.ops, list(maps)
        for level, layers in zip(self.attended, self.layers):
            _, height, width, dim = maps[level].shape
            x, places = maps[level].reshape(height * width, dim), self._places(height, width)
            for layer in layers:
                x = layer(x, places)
                yield from pieces.cut(x)
            maps[level] = x.reshape(1, height, width, dim)
        fine = [maps[-1]]
        for lateral, block, own in zip(self.lateral, self.falling, reversed(maps[:-1])):
            fine[-1] = lateral(fine[-1])
            above = ops.interpolate(fine[-1], own.shape[1:3], "nearest")
            fine.append((yield from block(ops.cat([above, own], 3), pieces)))
        fine.reverse()
        out = [fine[0]]
        for down, block, own in zip(self.down, self.rising, fine[1:]):
            out.append((yield from block(ops.cat([down(out[-1]), own], 3), pieces)))
        return out

    def _places(self, height: int, width: int) -> Array:
        """Sines and cosines of rows, then of columns."""
        quarter = self.dim // 4
        speed = 1.0 / self.heat ** (np.arange(quarter) / quarter)
        rows, columns = np.repeat(np.arange(height), width), np.tile(np.arange(width), height)
        turns = [axis[:, None] * speed for axis in (rows, columns)]
        waves = [wave(turn) for turn in turns for wave in (np.sin, np.cos)]
        return self.ops.array(np.concatenate(waves, 1).astype(np.float32), self.dtype)
