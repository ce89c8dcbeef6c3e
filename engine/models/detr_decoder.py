"""RT-DETR's decoder: the most promising places of the image become queries, whose boxes every layer corrects.

A query looks at a few points around its box on each scale (deformable attention). Boxes are (center x, center y, width,
height) as shares of the image. They stay on the host in f32: few numbers, of which every digit counts. Where a model marks regions by
quadrilaterals, a box is its center and how far each of four corners lies from it, with a half added to it: ten numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass

import numpy as np

from backends.base import Array
from engine.errors import ConfigError
from engine.models.config import Fields
from engine.models.convolution import NORM_EPS, conv_norm
from engine.models.detr_encoder import DetrNorm, FeedForward, SelfAttention
from engine.models.encoder import Pieces
from engine.weights.view import View

ANCHOR = 0.05  # the side of the first guess of a box on the finest scale, as a share of the image
EDGE = 1e-2  # guesses closer to the border are not valid
BOX, QUAD = 4, 10  # numbers of a box
LEAST = 1e-5  # shares are kept this far from 0 and 1 when they are turned back


def sigmoid(x: np.ndarray) -> np.ndarray:
    return (0.5 + 0.5 * np.tanh(x.astype(np.float64) / 2)).astype(np.float32)


def inverse_sigmoid(x: np.ndarray) -> np.ndarray:
    x = x.clip(0, 1)
    return np.log(np.maximum(x, np.float32(LEAST)) / np.maximum(1 - x, np.float32(LEAST)))


class Head:
    """A few linears with ReLU in between."""

    def __init__(self, w: View, dims: Sequence[int]) -> None:
        self.ops = w.backend.ops
        pairs = enumerate(zip(dims, dims[1:]))  # noqa: RUF007
        self.layers = [w.linear((f"layers.{i}", out), inp=inp, bias=True) for i, (inp, out) in pairs]

    def __call__(self, x: Array) -> Array:
        for layer in self.layers[:-1]:
            x = self.ops.relu(layer(x))
        return self.layers[-1](x)


class DeformableAttention:
    def __init__(self, w: View, dim: int, heads: int, levels: int, points: int) -> None:
        self.ops, self.dtype = w.backend.ops, w.backend.dtype
        self.heads, self.levels, self.points = heads, levels, points
        count = heads * levels * points
        self.offsets = w.linear(("sampling_offsets", 2 * count), inp=dim, bias=True)
        self.shares = w.linear(("attention_weights", count), inp=dim, bias=True)
        self.value = w.linear(("value_proj", dim), inp=dim, bias=True)
        self.out = w.linear(("output_proj", dim), inp=dim, bias=True)

    def __call__(self, x: Array, memory: Array, boxes: Array, sizes: Sequence[tuple[int, int]]) -> Array:
        """`x [Q, D]`, `memory [S, D]` (all scales in a row), `boxes [Q, 4]` in f32."""
        ops, (count, dim) = self.ops, x.shape
        each = self.levels * self.points
        offsets = ops.cast(self.offsets(x), "f32").reshape(count, self.heads * each, 2)
        center, extent = (part.reshape(count, 1, 2) for part in ops.split(boxes, [2, 2], 1))
        # in the range -1 .. 1 across the image
        grid = (center + offsets * extent * (0.5 / self.points)) * 2.0 - 1.0
        grid = ops.permute(grid.reshape(count, self.heads, self.levels, self.points, 2), (2, 1, 0, 3, 4))
        shares = ops.softmax(self.shares(x).reshape(count, self.heads, each))
        shares = ops.permute(shares.reshape(count, self.heads, self.levels, self.points), (2, 1, 0, 3))
        values = ops.split(self.value(memory), [h * w for h, w in sizes], 0)
        total = None
        for level, (height, width) in enumerate(sizes):
            heads_first = values[level].reshape(height * width, self.heads, dim // self.heads)
            image = ops.permute(heads_first, (1, 0, 2)).reshape(self.heads, height, width, dim // self.heads)
            seen = ops.grid_sample(image, grid[level])  # [heads, Q, points, dim / heads]
            part = ops.sum(seen * shares[level].reshape(self.heads, count, self.points, 1), 2)
            total = part if total is None else total + part
        return self.out(ops.permute(total, (1, 0, 2)).reshape(count, dim))


class DecoderLayer:
    def __init__(self, w: View, f: Fields, dim: int, levels: int) -> None:
        heads, eps = f.int("decoder_attention_heads", default=8), f.float("layer_norm_eps", default=1e-5)
        self.attention = SelfAttention(w.sub("self_attn"), dim, heads)
        self.attention_norm = DetrNorm(w, "self_attn_layer_norm", dim, eps)
        points = f.int("decoder_n_points", default=4)
        self.look = DeformableAttention(w.sub("encoder_attn"), dim, heads, levels, points)
        self.look_norm = DetrNorm(w, "encoder_attn_layer_norm", dim, eps)
        act = f.find("decoder_activation_function", default="relu")
        self.mlp = FeedForward(w, dim, f.int("decoder_ffn_dim", default=1024), act)
        self.mlp_norm = DetrNorm(w, "final_layer_norm", dim, eps)

    def __call__(self, x: Array, places: Array, memory: Array, boxes: Array, sizes: Sequence[tuple[int, int]]) -> Array:
        x = self.attention_norm(x + self.attention(x, places))
        x = self.look_norm(x + self.look(x + places, memory, boxes, sizes))
        return self.mlp_norm(x + self.mlp(x))


@dataclass(frozen=True)
class Queries:
    """Candidates of one image."""

    x: Array  # [Q, D]
    boxes: np.ndarray  # [Q, 4], or of quadrilaterals [Q, 10], f32


class DetrDecoder:
    """`box_heads(i)` is the head that corrects the boxes behind layer i; some models have one for all."""

    def __init__(self, w: View, f: Fields, dim: int, widths: Sequence[int], labels: int, numbers: int = BOX) -> None:
        """`numbers`: of a box."""
        if f.flag("learn_initial_query") or f.int("num_feature_levels", default=3) != len(widths):
            raise ConfigError(f"{f.where}: learned queries and scales beyond the encoder's are not supported.")
        self.ops, self.dtype, self.dim, self.numbers = w.backend.ops, w.backend.dtype, dim, numbers
        self.queries = f.int("num_queries", default=300)
        eps = f.float("batch_norm_eps", default=NORM_EPS)
        self.inputs = [
            conv_norm(w.sub(f"decoder_input_proj.{i}"), width, dim, 1, names=("0", "1"), eps=eps)
            for i, width in enumerate(widths)
        ]
        self.propose = w.linear(("enc_output.0", dim), inp=dim, bias=True)
        self.propose_norm = DetrNorm(w, "enc_output.1", dim, f.float("layer_norm_eps", default=1e-5))
        self.score = w.linear(("enc_score_head", labels), inp=dim, bias=True)
        self.first_box = Head(w.sub("enc_bbox_head"), [dim, dim, dim, numbers])
        count = f.int("decoder_layers", default=6)
        self.layers = [DecoderLayer(w.sub(f"decoder.layers.{i}"), f, dim, len(widths)) for i in range(count)]
        self.places = Head(w.sub("decoder.query_pos_head"), [numbers, 2 * dim, dim])
        w.ignore(r"^model\.denoising_class_embed\.")  # training only

    def memory(self, maps: Sequence[Array]) -> tuple[Array, list[tuple[int, int]]]:
        """All scales in a row `[S, D]`, and the size of each."""
        projected = [project(x) for project, x in zip(self.inputs, maps)]
        sizes = [(x.shape[1], x.shape[2]) for x in projected]
        return self.ops.cat([x.reshape(-1, self.dim) for x in projected], 0), sizes

    def proposals(self, memory: Array, sizes: Sequence[tuple[int, int]]) -> Queries:
        """The places of the image that look most like something."""
        ops = self.ops
        anchors, valid = _anchors(sizes, self.numbers)
        known = self.propose_norm(self.propose(memory * ops.array(valid[:, None].astype(np.float32), self.dtype)))
        best = ops.numpy(self.score(known)).max(-1)
        chosen = np.argsort(-best, kind="stable")[: self.queries].astype(np.int32)
        x = ops.take(known, ops.array(chosen), 0)
        return Queries(x, sigmoid(ops.numpy(self.first_box(x)) + anchors[chosen]))

    def refine(
        self,
        start: Queries,
        memory: Array,
        sizes: Sequence[tuple[int, int]],
        box_heads: Callable[[int], Callable[[Array], Array]],
        pieces: Pieces,
    ) -> Generator[None, None, Queries]:
        ops, x, boxes = self.ops, start.x, start.boxes
        for i, layer in enumerate(self.layers):
            shares = ops.array(boxes)
            around = shares if self.numbers == BOX else ops.array(rectangles(boxes))
            x = layer(x, self.places(ops.cast(shares, self.dtype)), memory, around, sizes)
            boxes = sigmoid(ops.numpy(box_heads(i)(x)) + inverse_sigmoid(boxes))
            yield from pieces.cut(x)
        return Queries(x, boxes)


def corners_of_quads(quads: np.ndarray) -> np.ndarray:
    """`[Q, 10] -> [Q, 4, 2]`: from the upper left one clockwise."""
    corners: np.ndarray = quads[:, None, :2] + quads[:, 2:].reshape(-1, 4, 2) - np.float32(0.5)
    return corners


def rectangles(quads: np.ndarray) -> np.ndarray:
    """`[Q, 10] -> [Q, 4]`: around the same center, as wide and high as the corners are apart."""
    apart = quads[:, 2:].reshape(-1, 4, 2)
    return np.concatenate([quads[:, :2], apart.max(1) - apart.min(1)], 1)


def _anchors(sizes: Sequence[tuple[int, int]], numbers: int) -> tuple[np.ndarray, np.ndarray]:
    """A first box for every place, before the sigmoid, and which of them may be used."""
    every = []
    for level, (height, width) in enumerate(sizes):
        down, across = np.meshgrid(np.arange(height), np.arange(width), indexing="ij")
        side = ANCHOR * 2.0**level
        low, high = 0.5 - side / 2, 0.5 + side / 2
        form = [side, side] if numbers == BOX else [low, low, high, low, high, high, low, high]
        centers = np.stack([(across.ravel() + 0.5) / width, (down.ravel() + 0.5) / height], 1)
        every.append(np.concatenate([centers, np.tile(form, (height * width, 1))], 1))
    shares = np.concatenate(every).astype(np.float32)
    valid = (shares.min(1) > EDGE) & (shares.max(1) < 1 - EDGE)
    with np.errstate(divide="ignore", invalid="ignore"):
        open_ended = np.log(shares / (1 - shares))
    return np.where(valid[:, None], open_ended, np.finfo(np.float32).max), valid
