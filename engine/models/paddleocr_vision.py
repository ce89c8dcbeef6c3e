"""PaddleOCR-VL's image encoder: a vision transformer at the image's own resolution, and the projector behind it.

Learned positions are stretched bilinearly over each image's grid, and a rope turns half of every head by rows and half
by columns. Patches come row by row; attention does not care about their order, so they are put into blocks of 2 x 2
at once, and what the projector merges lies side by side at the end.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass

import numpy as np

from backends.base import Array, Rope
from engine.errors import ConfigError
from engine.models.config import Fields
from engine.models.pieces import Pixels, cuts, finish, join, packs, rows_a_piece
from engine.models.rope import frequencies
from engine.weights.view import View

PACKED = 8192  # patches that go through the encoder together; more would only take more memory
PROJECTOR_EPS = 1e-5


@dataclass(frozen=True)
class VisionConfig:
    hidden: int
    ffn: int
    layers: int
    heads: int
    channels: int
    patch: int
    side: int  # of the square grid of learned positions
    merge: int
    eps: float
    theta: float

    @property
    def patch_values(self) -> int:
        return self.channels * self.patch * self.patch


def vision_config(f: Fields) -> VisionConfig:
    hidden, heads, patch = f.int("hidden_size"), f.int("num_attention_heads"), f.int("patch_size")
    if hidden % (4 * heads):
        raise ConfigError(f"{f.where}: hidden_size ({hidden}) must be a multiple of 4 times the {heads} heads.")
    activation = f.find("hidden_act", default="gelu_pytorch_tanh")
    if activation != "gelu_pytorch_tanh":
        raise ConfigError(f"{f.where}: hidden_act `{activation}` is not the one this encoder has (gelu_pytorch_tanh).")
    rope = f.sub("rope_parameters") if f.find("rope_parameters", default=None) is not None else f
    return VisionConfig(
        hidden=hidden,
        ffn=f.int("intermediate_size"),
        layers=f.int("num_hidden_layers"),
        heads=heads,
        channels=f.int("num_channels", default=3),
        patch=patch,
        side=f.int("image_size", default=384) // patch,
        merge=f.int("spatial_merge_size", default=2),
        eps=f.float("layer_norm_eps", default=1e-6),
        theta=rope.float("rope_theta", default=10000.0),
    )


class Layer:
    """All of a layer but its attention works on each row alone."""

    def __init__(self, w: View, c: VisionConfig) -> None:
        self.ops, self.heads, self.dim, self.eps = w.backend.ops, c.heads, c.hidden // c.heads, c.eps
        attention, mlp = w.sub("self_attn"), w.sub("mlp")
        self.norm1 = w.norm("layer_norm1", c.hidden), w.tensor("layer_norm1.bias", (c.hidden,))
        self.norm2 = w.norm("layer_norm2", c.hidden), w.tensor("layer_norm2.bias", (c.hidden,))
        each = [(name, c.hidden) for name in ("q_proj", "k_proj", "v_proj")]
        self.qkv = attention.linear(*each, inp=c.hidden, bias=True)
        self.out = attention.linear(("out_proj", c.hidden), inp=c.hidden, bias=True)
        self.up = mlp.linear(("fc1", c.ffn), inp=c.hidden, bias=True)
        self.down = mlp.linear(("fc2", c.hidden), inp=c.ffn, bias=True)

    def before(self, x: Array, angles: Array) -> tuple[Array, Array, Array]:
        """Queries, keys and values `[T, H, D]`."""
        ops = self.ops
        mixed = self.qkv(ops.layer_norm(x, *self.norm1, self.eps))
        return ops.qkv(mixed, self.heads, self.heads, self.dim, angles)

    def after(self, x: Array, attended: Array) -> Array:
        ops = self.ops
        x = x + self.out(attended.reshape(*x.shape))
        return x + self.down(ops.gelu_tanh(self.up(ops.layer_norm(x, *self.norm2, self.eps))))


class Projector:
    """Each block of patches becomes one token of the decoder."""

    def __init__(self, w: View, c: VisionConfig, out: int) -> None:
        self.ops, self.wide = w.backend.ops, c.hidden * c.merge * c.merge
        self.norm = w.norm("pre_norm", c.hidden), w.tensor("pre_norm.bias", (c.hidden,))
        self.first = w.linear(("linear_1", self.wide), inp=self.wide, bias=True)
        self.second = w.linear(("linear_2", out), inp=self.wide, bias=True)

    def __call__(self, x: Array) -> Array:
        merged = self.ops.layer_norm(x, *self.norm, PROJECTOR_EPS).reshape(-1, self.wide)
        return self.second(self.ops.gelu(self.first(merged)))


class Encoder:
    """Pictures to rows of the decoder's width."""

    def __init__(self, w: View, projector: View, c: VisionConfig, out: int) -> None:
        self.backend, self.ops, self.config = w.backend, w.backend.ops, c
        embeddings = w.sub("embeddings")
        kernel = embeddings.tensor("patch_embedding.weight", (c.hidden, c.channels, c.patch, c.patch))
        self.kernel = self.ops.conv_weight(kernel.reshape(c.hidden, c.patch_values, 1))
        self.kernel_bias = embeddings.tensor("patch_embedding.bias", (c.hidden,))
        self.positions = embeddings.tensor("position_embedding.weight", (c.side * c.side, c.hidden), "f32")
        self.layers = [Layer(w.sub(f"encoder.layers.{i}"), c) for i in range(c.layers)]
        self.norm = w.norm("post_layernorm", c.hidden), w.tensor("post_layernorm.bias", (c.hidden,))
        self.project = Projector(projector, c, out)
        # What the original training used besides, and the exports still carry.
        w.ignore(r"\.packing_position_embedding\.", r"vision_model\.head\.", r"embeddings\.position_ids$")
        quarter = tuple(frequencies(c.theta, c.hidden // c.heads // 2))
        self.rope = Rope(c.hidden // c.heads, quarter + quarter, section=(len(quarter), len(quarter), 0))

    def encode(self, pictures: Sequence[Pixels]) -> Generator[None, None, list[np.ndarray]]:
        """The `[tokens, D]` of each picture, f32. Yields after each piece of work."""
        features: list[np.ndarray] = []
        for pack in packs([len(p.patches) for p in pictures], PACKED):
            chosen = [pictures[i] for i in pack]
            rows = yield from self._pack(chosen)
            counts = [len(p.patches) // self.config.merge**2 for p in chosen]
            features += np.split(rows, np.cumsum(counts)[:-1])
        return features

    def _pack(self, pictures: Sequence[Pixels]) -> Generator[None, None, np.ndarray]:
        ops, c = self.ops, self.config
        layouts = [Layout(p.grid, c.merge, c.side) for p in pictures]
        rows = rows_a_piece(self.backend, 2 * (4 * c.hidden**2 + 2 * c.hidden * c.ffn))
        blocks = cuts(sum(len(p.patches) for p in pictures), rows)
        patches = np.concatenate([_flat(p)[layout.order] for p, layout in zip(pictures, layouts)])
        x = self._embed(patches, layouts)
        yield
        places = np.concatenate([layout.places for layout in layouts], 1)
        angles = [ops.angles(ops.array(np.ascontiguousarray(places[:, a:b])), self.rope) for a, b in blocks]
        lens = [n for layout in layouts for n in layout.lens]
        for layer in self.layers:
            x = yield from self._through(layer, x, blocks, angles, lens)
        out = []
        for a, b in cuts(x.shape[0] // c.merge**2, rows):
            part = ops.layer_norm(x[a * c.merge**2 : b * c.merge**2], *self.norm, c.eps)
            out.append(ops.numpy(self.project(part)))
            yield
        return np.concatenate(out)

    def _embed(self, patches: np.ndarray, layouts: Sequence[Layout]) -> Array:
        """A convolution whose stride is its kernel is one product a patch; to it, the stretched positions are added."""
        ops, dtype = self.ops, self.backend.dtype
        x = ops.conv1d(ops.array(patches, dtype)[None], self.kernel, self.kernel_bias)[0]
        corners = np.concatenate([layout.corners for layout in layouts], 1)
        shares = np.concatenate([layout.shares for layout in layouts], 1)
        total = None
        for corner, share in zip(corners, shares):
            part = ops.take(self.positions, ops.array(corner), 0) * ops.array(share[:, None])
            total = part if total is None else total + part
        return x + ops.cast(total, dtype)

    def _through(
        self, layer: Layer, x: Array, blocks: list[tuple[int, int]], angles: list[Array], lens: list[int]
    ) -> Generator[None, None, Array]:
        ops, projected, out = self.ops, [], []
        for (a, b), turned in zip(blocks, angles):
            projected.append(layer.before(x[a:b], turned))
            finish(ops, projected[-1][2][:, 0])
            yield
        q, k, v = (join(ops, parts) for parts in zip(*projected))
        attended = yield from self._attend(q, k, v, lens, layer.dim**-0.5)
        for a, b in blocks:
            out.append(finish(ops, layer.after(x[a:b], attended[a:b])))
            yield
        return join(ops, out)

    def _attend(self, q: Array, k: Array, v: Array, lens: list[int], scale: float) -> Generator[None, None, Array]:
        """Each image over itself: small ones together, the queries of a large one in parts."""
        ops, out, start = self.ops, [], 0
        pairs = rows_a_piece(self.backend, 4 * self.config.hidden)  # of a query and a key that make one piece
        for pack in packs(lens, pairs, power=2):
            sizes = [lens[i] for i in pack]
            stop = start + sum(sizes)
            if len(sizes) > 1:
                out.append(ops.attend_segs(q[start:stop], k[start:stop], v[start:stop], sizes, scale))
                finish(ops, out[-1][:, 0])
                yield
            else:
                keys, values = k[start:stop][None], v[start:stop][None]
                for a, b in cuts(sizes[0], max(1, pairs // sizes[0])):
                    out.append(ops.sdpa(q[start + a : start + b][None], keys, values, scale)[0])
                    finish(ops, out[-1][:, 0])
                    yield
            start = stop
        return join(ops, out)


def _flat(picture: Pixels) -> np.ndarray:
    return picture.patches.reshape(len(picture.patches), -1)


class Layout:
    """Where the patches of one grid lie, in the order of their blocks."""

    def __init__(self, grid: tuple[int, int, int], merge: int, side: int) -> None:
        frames, height, width = grid
        self.lens = [height * width] * frames
        raster = np.arange(height * width).reshape(height // merge, merge, width // merge, merge)
        blocks = raster.transpose(0, 2, 1, 3).reshape(-1)
        self.order = np.concatenate([blocks + i * height * width for i in range(frames)])
        rows, columns = np.tile(blocks // width, frames), np.tile(blocks % width, frames)
        self.places = np.stack([rows, columns, np.zeros_like(rows)]).astype(np.int32)
        down, right = _taps(rows, height, side), _taps(columns, width, side)
        # The four learned positions around each patch, and how much of each it takes.
        self.corners = np.stack([i * side + j for i, _ in down for j, _ in right]).astype(np.int32)
        self.shares = np.stack([a * b for _, a in down for _, b in right]).astype(np.float32)


def _taps(index: np.ndarray, size: int, side: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Half-pixel centres, the border held: the two neighbours along one axis with their weights."""
    place = (index.astype(np.float32) + np.float32(0.5)) * np.float32(side) / np.float32(size) - np.float32(0.5)
    low = np.floor(place)
    share = place - low
    below = np.clip(low.astype(np.int64), 0, side - 1)
    above = np.clip(low.astype(np.int64) + 1, 0, side - 1)
    return [(below, 1 - share), (above, share)]
