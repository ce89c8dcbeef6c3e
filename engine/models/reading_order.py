"""In which order the regions of a page are read: every pair is asked who comes first, and the votes are counted.

PP-DocLayoutV2 has a small transformer of its own for it, which sees only boxes and classes.
"""

from __future__ import annotations

import numpy as np

from backends.base import Array
from engine.errors import ConfigError
from engine.models.config import Fields
from engine.models.convolution import activation
from engine.models.detr_decoder import sigmoid
from engine.models.detr_encoder import DetrNorm
from engine.weights.view import View

NEVER = -1e4  # the score of pairs that are asked the other way round
HIDDEN = -1e9
SCALE = 1000  # boxes are counted in thousandths of the page


class Pairs:
    """Scores `[n, n]`: how surely the row's region comes before the column's. Only the upper half is asked."""

    def __init__(self, w: View, dim: int, size: int) -> None:
        self.ops, self.size = w.backend.ops, size
        self.dense = w.linear(("dense", 2 * size), inp=dim, bias=True)

    def __call__(self, x: Array) -> np.ndarray:
        both = self.ops.numpy(self.dense(x))
        scores = both[:, : self.size] @ both[:, self.size :].T / np.float32(self.size**0.5)
        return np.where(np.tri(len(scores), dtype=bool), np.float32(NEVER), scores)


def ranks(scores: np.ndarray) -> np.ndarray:
    """Each region's place in the order. A region's votes are the chances that others come before it."""
    chance = sigmoid(scores)
    votes = np.triu(chance, 1).sum(0) + np.tril(1 - chance.T, -1).sum(0)
    places = np.empty(len(votes), np.int64)
    places[np.argsort(votes, kind="stable")] = np.arange(len(votes))
    return places


class ReadingOrderLayer:
    def __init__(self, w: View, f: Fields, dim: int, heads: int, eps: float) -> None:
        self.ops, self.heads, self.dim = w.backend.ops, heads, dim // heads
        attention, ffn = w.sub("attention"), f.int("intermediate_size", default=2048)
        parts = [(f"self.{name}", dim) for name in ("query", "key", "value")]
        self.qkv = attention.linear(*parts, inp=dim, bias=True)
        self.out = attention.linear(("output.dense", dim), inp=dim, bias=True)
        self.out_norm = DetrNorm(attention, "output.norm", dim, eps)
        self.up = w.linear(("intermediate.dense", ffn), inp=dim, bias=True)
        self.down = w.linear(("output.dense", dim), inp=ffn, bias=True)
        self.down_norm = DetrNorm(w, "output.norm", dim, eps)
        self.act = activation(w.backend.ops, f.find("hidden_act", default="gelu"))

    def __call__(self, x: Array, bias: Array) -> Array:
        n, wide = x.shape
        q, k, v = (part.reshape(1, n, self.heads, self.dim) for part in self.ops.split(self.qkv(x), [wide] * 3, 1))
        attended = self.ops.sdpa(q, k, v, self.dim**-0.5, mask=bias).reshape(n, wide)
        x = self.out_norm(x + self.out(attended))
        return self.down_norm(x + self.down(self.act(self.up(x))))


class OrderModel:
    def __init__(self, w: View, f: Fields) -> None:
        if f.flag("has_relative_attention_bias") or not f.flag("has_spatial_attention_bias", True):
            raise ConfigError(f"{f.where}: only spatial attention biases are supported.")
        self.ops, self.dtype = w.backend.ops, w.backend.dtype
        dim, self.heads = f.int("hidden_size", default=512), f.int("num_attention_heads", default=8)
        eps = f.float("layer_norm_eps", default=1e-5)
        names = {"start_token_id": 0, "pad_token_id": 1, "end_token_id": 2, "pred_token_id": 3}
        self.start, self.pad, self.end, self.region = (f.int(n, default=id, least=0) for n, id in names.items())
        e, most = w.sub("embeddings"), f.int("max_2d_position_embeddings", default=1024)
        place, extent = f.int("coordinate_size", default=171), f.int("shape_size", default=170)
        self.words = e.embedding("word_embeddings", f.int("vocab_size", default=4), dim)
        self.kinds = e.embedding("token_type_embeddings", f.int("type_vocab_size", default=1), dim)
        self.positions = e.embedding("position_embeddings", f.int("max_position_embeddings", default=514), dim)
        self.axes = [e.embedding(f"{axis}_position_embeddings", most, place) for axis in "xy"]
        self.extents = [e.embedding(f"{axis}_position_embeddings", most, extent) for axis in "hw"]
        self.spatial = e.linear(("spatial_proj", dim), inp=4 * place + 2 * extent, bias=True)
        self.norm = DetrNorm(e, "norm", dim, eps)
        self.labels = w.embedding("label_embeddings", f.int("num_classes", default=20), dim)
        self.label = w.linear(("label_features_projection", dim), inp=dim, bias=True)
        count = f.int("num_hidden_layers", default=6)
        self.layers = [ReadingOrderLayer(w.sub(f"encoder.layer.{i}"), f, dim, self.heads, eps) for i in range(count)]
        self.pairs = Pairs(w.sub("relative_head"), dim, f.int("global_pointer_head_size", default=64))
        self._relations(w.sub("encoder.rel_bias_module"), f)
        w.ignore(r"rel_pos_[xy]_bias\.weight$")  # trained with another form of bias, not used

    def _relations(self, w: View, f: Fields) -> None:
        size = f.int("relation_bias_embed_dim", default=16)
        base = f.float("relation_bias_theta", default=10000.0)
        self.speeds = (1.0 / base ** (np.arange(0, size, 2) / (size // 2))).astype(np.float32)
        self.scale = np.float32(f.float("relation_bias_scale", default=100.0))
        self.relate = w.flattened("pos_proj", (self.heads, 4 * size, 1, 1), bias=True)

    def __call__(self, boxes: np.ndarray, labels: np.ndarray, count: int) -> np.ndarray:
        """Scores `[n, n]` of corner boxes `[n, 4]` in thousandths, of which the first `count` are regions.

        What lies behind is asked too, as it was in training: its votes shift the order a little.
        """
        ops, n = self.ops, len(boxes)
        ids = np.full(n + 2, self.pad, np.int32)
        ids[0], ids[1 : count + 1], ids[count + 1] = self.start, self.region, self.end
        known = ids != self.pad
        positions = np.cumsum(known) * known + self.pad
        framed = np.zeros((n + 2, 4), np.float32)  # the start and the end have no box
        framed[1:-1] = boxes
        x = self.words.rows(self._ids(ids)) + self.positions.rows(self._ids(positions))
        x = x + self.kinds.rows(self._ids(np.zeros(n + 2))) + self._places(framed.astype(np.int32))
        named = self.label(self.labels.rows(self._ids(labels)))
        x = self.norm(x + ops.pad(named, [(1, 1), (0, 0)]))
        beyond = np.where(np.arange(n + 2) < count + 2, 0.0, HIDDEN).astype(np.float32)
        bias = self._bias(framed) + ops.array(beyond)
        for layer in self.layers:
            x = layer(x, bias)
        return self.pairs(x[1 : n + 1])

    def _places(self, boxes: np.ndarray) -> Array:
        left, top, right, bottom = boxes.T
        corners = [self.axes[i % 2].rows(self._ids(edge)) for i, edge in enumerate((left, top, right, bottom))]
        sides = np.clip((bottom - top, right - left), 0, 1023)
        extents = [table.rows(self._ids(side)) for table, side in zip(self.extents, sides)]
        return self.spatial(self.ops.cat([*corners, *extents], 1))

    def _bias(self, boxes: np.ndarray) -> Array:
        """How far and how large regions are to each other `[1, heads, n, n]`, f32."""
        low, high = boxes[:, :2], boxes[:, 2:]
        center, size = (low + high) * np.float32(0.5), np.maximum(high - low, np.float32(1e-3))
        tiny = np.float32(1e-5)
        apart = np.log(np.abs(center[:, None] - center[None]) / (size[:, None] + tiny) + 1)
        larger = np.log((size[:, None] + tiny) / (size[None] + tiny))
        turns = (np.concatenate([apart, larger], -1) * self.scale)[..., None] * self.speeds
        waves = np.concatenate([np.sin(turns), np.cos(turns)], -1)
        n = len(boxes)
        mixed = self.ops.cast(self.relate(self.ops.array(waves.reshape(n * n, -1), self.dtype)), "f32")
        return self.ops.permute(mixed.reshape(1, n, n, self.heads), (0, 3, 1, 2))

    def _ids(self, values: np.ndarray) -> Array:
        return self.ops.array(values.astype(np.int32))
