"""SAM's image encoder, as models that read pages have it in front of theirs: windows, a few layers that see all of a view, and
convolutions that leave a sixteenth of the patches.

Attention has relative positions: a query's products with learned rows, one for each distance down and across. They are part of
what is multiplied: behind a query lie its products with all distances, behind a key the ones that it has, so that attention is
that of any other encoder.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from backends.base import Array
from engine.errors import ConfigError
from engine.models.config import Fields
from engine.models.encoder import Pieces, Work
from engine.models.siglip import SiglipNorm
from engine.models.stretching import stretched
from engine.weights.view import View

NECK_EPS = 1e-6


@dataclass(frozen=True)
class SamConfig:
    hidden: int
    ffn: int
    layers: int
    heads: int
    channels: int
    patch: int
    side: int  # of the grid of learned positions
    window: int
    whole: Collection[int]  # layers that see all of a view
    neck: int
    widths: tuple[int, int]  # of the convolutions behind the neck
    eps: float


def sam_config(f: Fields, last: int) -> SamConfig:
    """`last`: the width of what comes behind."""
    hidden, heads = f.int("hidden_size", default=768), f.int("num_attention_heads", default=12)
    patch, widths = f.int("patch_size", default=16, most=1 << 10), f.find("downsample_channels", default=[512, last])
    whole = f.find("global_attn_indexes", default=[2, 5, 8, 11])
    if not isinstance(widths, list) or len(widths) != 2 or not all(isinstance(n, int) and n > 0 for n in widths):
        raise ConfigError(f"{f.where}: downsample_channels must be two numbers.")
    if not isinstance(whole, list) or hidden % heads:
        raise ConfigError(f"{f.where}: hidden_size ({hidden}) must be a multiple of the {heads} heads.")
    if (act := f.find("hidden_act", default="gelu")) != "gelu":
        raise ConfigError(f"{f.where}: hidden_act `{act}` is not the one this encoder has (gelu).")
    if not all(f.flag(name, True) for name in ("qkv_bias", "use_abs_pos", "use_rel_pos")):
        raise ConfigError(f"{f.where}: qkv_bias, use_abs_pos and use_rel_pos are supported as true only.")
    ffn = int(hidden * f.float("mlp_ratio", default=4.0, above=0))
    return SamConfig(
        hidden=hidden,
        ffn=f.int("mlp_dim", default=ffn),
        layers=f.int("num_hidden_layers", default=12, most=1 << 10),
        heads=heads,
        channels=f.int("num_channels", default=3),
        patch=patch,
        side=f.int("image_size", default=1024, most=1 << 14) // patch,
        window=f.int("window_size", default=14, most=1 << 10),
        whole=frozenset(whole),
        neck=f.int("output_channels", default=256),
        widths=(widths[0], widths[1]),
        eps=f.float("layer_norm_eps", default=1e-6),
    )


class SamAttention:
    def __init__(self, w: View, c: SamConfig, side: int) -> None:
        """`side`: of the square that relative positions were learned for."""
        self.ops, self.dtype = w.backend.ops, w.backend.dtype
        self.heads, self.dim, self.hidden = c.heads, c.hidden // c.heads, c.hidden
        self.qkv = w.linear(("qkv", 3 * c.hidden), inp=c.hidden, bias=True)
        self.out = w.linear(("proj", c.hidden), inp=c.hidden, bias=True)
        self.learned = 2 * side - 1
        self.down = w.matrix("rel_pos_h", self.learned, self.dim)
        self.across = w.matrix("rel_pos_w", self.learned, self.dim)
        self.square = float(c.hidden**2)

    def __call__(self, x: Array, pieces: Pieces) -> Work:
        """`x [B, H, W, C]`, squares that see themselves alone."""
        ops, (squares, height, width, _) = self.ops, x.shape
        n, heads, dim = squares * height * width, self.heads, self.dim
        mixed = yield from pieces.rows(self.qkv, x.reshape(n, self.hidden), 3 * self.square)
        q, k, v = ops.qkv(mixed, heads, heads, dim, None)
        shape = (squares, height, width, heads)
        rows = self._distances(self.down(q.reshape(n * heads, dim)), shape, 1)
        columns = self._distances(self.across(q.reshape(n * heads, dim)), shape, 2)
        here = np.zeros((height, width, height + width), np.float32)
        here[np.arange(height), :, np.arange(height)] = 1
        here[:, np.arange(width), height + np.arange(width)] = 1
        places = np.broadcast_to(
            here.reshape(1, height * width, 1, -1), (squares, height * width, heads, height + width)
        )
        marks = ops.array(places.reshape(n, heads, -1), self.dtype)
        q = ops.cat([q * dim**-0.5, rows, columns], 2)
        k = ops.cat([k, marks], 2)
        attended = yield from pieces.attend(q, k, v, [height * width] * squares, 1.0)
        out = yield from pieces.rows(self.out, attended.reshape(n, self.hidden), self.square)
        return out.reshape(squares, height, width, self.hidden)

    def _distances(self, made: Array, shape: tuple[int, int, int, int], axis: int) -> Array:
        """A query's products with all learned distances -> those with the places of its row or column, `[n, heads, places]`."""
        ops, (squares, height, width, heads) = self.ops, shape
        size = shape[axis]
        low, high, share = distances(size, self.learned)
        others = [0, 1, 2, 3]
        others.remove(axis)
        first = ops.permute(made.reshape(*shape, self.learned), (axis, 4, *others))
        first = first.reshape(size * self.learned, squares * height * width * heads // size)
        found = ops.take(first, ops.array(low), 0)
        if share.any():  # learned for squares of another size
            between = ops.array(share[:, None], self.dtype)
            found = found + (ops.take(first, ops.array(high), 0) - found) * between
        found = found.reshape(size, size, *(shape[i] for i in others))
        back = [0, 0, 0, 0]
        back[axis] = 0
        for i, other in enumerate(others):
            back[other] = 2 + i
        return ops.permute(found, (*back, 1)).reshape(squares * height * width, heads, size)


def distances(size: int, learned: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each pair of a query's place and a key's: the two nearest of the `learned` distances, as places in a table with a row of them
    for each query's place, and how much of the second is taken."""
    count = 2 * size - 1
    at = (np.arange(size)[:, None] - np.arange(size) + size - 1).reshape(-1)
    place = np.maximum((at + 0.5) * (learned / count) - 0.5, 0)
    low = np.minimum(place.astype(np.int64), learned - 1)
    high = np.minimum(low + 1, learned - 1)
    start = np.repeat(np.arange(size), size) * learned
    share = np.where(count == learned, 0, place - low)
    low = np.where(count == learned, at, low)
    return (start + low).astype(np.int32), (start + high).astype(np.int32), share.astype(np.float32)


class SamLayer:
    def __init__(self, w: View, c: SamConfig, whole: bool) -> None:
        self.ops, self.window, self.hidden = w.backend.ops, 0 if whole else c.window, c.hidden
        self.norm1, self.norm2 = (SiglipNorm(w, name, c.hidden, c.eps) for name in ("norm1", "norm2"))
        self.attention = SamAttention(w.sub("attn"), c, c.side if whole else c.window)
        mlp = w.sub("mlp")
        self.up = mlp.linear(("lin1", c.ffn), inp=c.hidden, bias=True)
        self.lower = mlp.linear(("lin2", c.hidden), inp=c.ffn, bias=True)
        self.cost = float(2 * c.hidden * c.ffn)

    def __call__(self, x: Array, pieces: Pieces) -> Work:
        views, height, width, hidden = x.shape
        normed = self.norm1(x)
        if self.window:
            attended = yield from self._in_windows(normed, pieces)
        else:
            attended = yield from self.attention(normed, pieces)
        x = (x + attended).reshape(-1, hidden)
        x = x + (yield from pieces.rows(self._mlp, x, self.cost))
        return x.reshape(views, height, width, hidden)

    def _in_windows(self, x: Array, pieces: Pieces) -> Work:
        """The last windows of a row and of a column have zeros behind, which are seen like the rest."""
        ops, side, (views, height, width, hidden) = self.ops, self.window, x.shape
        below, beside = -height % side, -width % side
        x = ops.pad(x, [(0, 0), (0, below), (0, beside), (0, 0)])
        down, across = (height + below) // side, (width + beside) // side
        x = ops.permute(x.reshape(views, down, side, across, side, hidden), (0, 1, 3, 2, 4, 5))
        made = yield from self.attention(x.reshape(views * down * across, side, side, hidden), pieces)
        made = ops.permute(made.reshape(views, down, across, side, side, hidden), (0, 1, 3, 2, 4, 5))
        return made.reshape(views, down * side, across * side, hidden)[:, :height, :width]

    def _mlp(self, x: Array) -> Array:
        return self.lower(self.ops.gelu(self.up(self.norm2(x))))


class SamEncoder:
    def __init__(self, w: View, c: SamConfig) -> None:
        ops = self.ops = w.backend.ops
        self.dtype, self.config = w.backend.dtype, c
        self.embed = w.flattened("patch_embed.proj", (c.hidden, c.channels, c.patch, c.patch), bias=True)
        self.positions = w.tensor("pos_embed", (1, c.side, c.side, c.hidden), "f32")
        self.layers = [SamLayer(w.sub(f"blocks.{i}"), c, i in c.whole) for i in range(c.layers)]
        shapes = {
            "neck.0": (c.neck, c.hidden, 1, 1),
            "neck.2": (c.neck, c.neck, 3, 3),
            "net_2": (c.widths[0], c.neck, 3, 3),
            "net_3": (c.widths[1], c.widths[0], 3, 3),
        }
        self.kernels = [w.tensor(f"{name}.weight", shape) for name, shape in shapes.items()]
        if not w.dry:
            self.kernels = [ops.conv_weight(kernel) for kernel in self.kernels]
        self.norms = [SiglipNorm(w, name, c.neck, NECK_EPS) for name in ("neck.1", "neck.3")]

    def __call__(self, patches: np.ndarray, side: int, pieces: Pieces) -> Work:
        """`patches [views * side * side, values]` in rows -> `[views, side / 4, side / 4, width]`."""
        ops, c = self.ops, self.config
        cost = float(c.hidden * patches.shape[1])
        x = yield from pieces.rows(self.embed, ops.array(patches, self.dtype), cost)
        table = stretched(ops.numpy(self.positions)[0], side, side, "bicubic")
        x = x.reshape(-1, side, side, c.hidden) + ops.array(np.ascontiguousarray(table), self.dtype)
        for layer in self.layers:
            x = yield from layer(x, pieces)
        x = self.norms[0](ops.conv2d(x, self.kernels[0]))
        x = self.norms[1](ops.conv2d(x, self.kernels[1], padding=(1, 1)))
        for kernel in self.kernels[2:]:
            x = ops.conv2d(x, kernel, stride=(2, 2), padding=(1, 1))
        yield from pieces.cut(x.reshape(-1, x.shape[3]))
        return x
