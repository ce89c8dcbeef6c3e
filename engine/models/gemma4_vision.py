"""Gemma 4's image encoder: pictures of any shape, learned positions of columns and rows, a rope of both, and the mean of each square of patches.

Patches come square by square. Linears may have bounds between which their inputs and outputs are held.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any

import numpy as np

from backends.base import Array, Rope
from engine.errors import ConfigError
from engine.models.config import Fields
from engine.models.encoder import Patched, Pieces, Work
from engine.models.qwen_vision import block_places
from engine.models.rope import frequencies
from engine.weights.view import View

PLACES = ("model.", "")  # as published, as MLX's converter saves it
BOUNDS = ("input_min", "input_max", "output_min", "output_max")

SEEN = ("vision_tower", "embed_vision", "vision_embedder", "multi_modal_projector")
HEARD = ("audio_tower", "embed_audio")


def ignore_towers(w: View, names: Sequence[str] = SEEN + HEARD) -> None:
    w.ignore(*(rf"(^|\.){name}\." for name in names))


def gemma4_tower(
    w: View, config: Mapping[str, Any], width: int, behind: Callable[[], np.ndarray] | None
) -> Gemma4Tower | None:
    """None where the checkpoint has none. `width`: of the text model's embeddings; `behind`: what lies behind each of a picture's rows."""
    place = next((one for one in PLACES if w.has(f"{one}vision_tower.patch_embedder.position_embedding_table")), None)
    if place is None or not isinstance(config.get("vision_config"), Mapping):
        ignore_towers(w, SEEN)
        return None
    return Gemma4Tower(w.sub(f"{place}vision_tower"), w.sub(f"{place}embed_vision"), Fields(config), width, behind)


class BoundedLinear:
    def __init__(self, w: View, name: str, out: int, inp: int, bounded: bool) -> None:
        self.ops = w.backend.ops
        inner = f"{name}.linear" if w.has(f"{name}.linear.weight") else name
        self.linear = w.linear((inner, out), inp=inp)
        bounds = [w.tensor(f"{name}.{bound}", (), "f32") for bound in BOUNDS] if bounded else []
        self.bounds: list[float | None] = [None] * 4
        if bounds and not w.dry:
            self.bounds = [_finite(float(self.ops.numpy(bound.reshape(1))[0])) for bound in bounds]

    def __call__(self, x: Array) -> Array:
        low, high, least, most = self.bounds
        x = self.linear(x if low is high is None else self.ops.clamp(x, low, high))
        return x if least is most is None else self.ops.clamp(x, least, most)


class Gemma4VisionLayer:
    def __init__(self, w: View, f: Fields, hidden: int, heads: int, dim: int, ffn: int, eps: float) -> None:
        self.ops, self.heads, self.dim, self.eps = w.backend.ops, heads, dim, eps
        bounded, wide = f.flag("use_clipped_linears"), heads * dim
        attention, mlp = w.sub("self_attn"), w.sub("mlp")
        self.q, self.k, self.v = (BoundedLinear(attention, f"{name}_proj", wide, hidden, bounded) for name in "qkv")
        self.out = BoundedLinear(attention, "o_proj", hidden, wide, bounded)
        self.q_norm, self.k_norm = attention.norm("q_norm", dim), attention.norm("k_norm", dim)
        self.gate, self.up = (BoundedLinear(mlp, f"{name}_proj", ffn, hidden, bounded) for name in ("gate", "up"))
        self.down = BoundedLinear(mlp, "down_proj", hidden, ffn, bounded)
        names = ("input", "post_attention", "pre_feedforward", "post_feedforward")
        self.before, self.mixed, self.between, self.behind = (w.norm(f"{name}_layernorm", hidden) for name in names)
        self.square, self.cost = float(hidden * wide), float(3 * hidden * ffn)

    def __call__(self, x: Array, angles: Array, lens: Sequence[int], pieces: Pieces) -> Work:
        ops, n, eps = self.ops, x.shape[0], self.eps
        normed = ops.rms_norm(x, self.before, eps)
        q = yield from pieces.rows(self.q, normed, self.square)
        k = yield from pieces.rows(self.k, normed, self.square)
        v = yield from pieces.rows(self.v, normed, self.square)
        q = ops.rope(self._halves(ops.rms_norm(q.reshape(n, self.heads, self.dim), self.q_norm, eps)), angles)
        k = ops.rope(self._halves(ops.rms_norm(k.reshape(n, self.heads, self.dim), self.k_norm, eps)), angles)
        v = ops.rms_norm(v.reshape(n, self.heads, self.dim), None, eps)
        attended = (yield from pieces.attend(q, k, v, lens, 1.0)).reshape(n, -1)
        x = x + ops.rms_norm((yield from pieces.rows(self.out, attended, self.square)), self.mixed, eps)
        return x + ops.rms_norm((yield from pieces.rows(self._mlp, x, self.cost)), self.behind, eps)

    def _mlp(self, x: Array) -> Array:
        x = self.ops.rms_norm(x, self.between, self.eps)
        return self.down(self.ops.gelu_tanh(self.gate(x)) * self.up(x))

    def _halves(self, x: Array) -> Array:
        """Each half of a head rotates by itself here, columns before rows: in this order one rope does both."""
        cut = x.reshape(x.shape[0] * self.heads, 2, 2, self.dim // 4)
        return self.ops.permute(cut, (0, 2, 1, 3)).reshape(x.shape[0], self.heads, self.dim)


class Gemma4Tower:
    taps: Mapping[int, object] = {}

    def __init__(
        self, tower: View, embedder: View, f: Fields, width: int, behind: Callable[[], np.ndarray] | None
    ) -> None:
        self.ops, self.dtype, self._behind = tower.backend.ops, tower.backend.dtype, behind
        vision = f.sub("vision_config")
        hidden, heads = vision.int("hidden_size", default=768), vision.int("num_attention_heads", default=12)
        dim, ffn = vision.int("head_dim", default=64), vision.int("intermediate_size", default=3072)
        self.eps = vision.float("rms_norm_eps", default=1e-6)
        self.hidden, self.patch, self.pool = hidden, vision.int("patch_size", default=16), pooling(vision)
        _check(vision, heads, dim)
        values = 3 * self.patch**2
        embed = tower.sub("patch_embedder")
        self.embed = embed.linear(("input_proj", hidden), inp=values)
        self.most = vision.int("position_embedding_size", default=10240)
        self.positions = embed.tensor("position_embedding_table", (2, self.most, hidden), "f32")
        self.layers = [
            Gemma4VisionLayer(tower.sub(f"encoder.layers.{i}"), vision, hidden, heads, dim, ffn, self.eps)
            for i in range(vision.int("num_hidden_layers", default=16, most=1 << 10))
        ]
        if not vision.flag("use_clipped_linears"):  # some files hold bounds that nothing uses
            tower.ignore(r"\.(in|out)put_(min|max)$")
        standard = vision.flag("standardize")
        self.bias = tower.tensor("std_bias", (hidden,), "f32") if standard else None
        self.scale = tower.tensor("std_scale", (hidden,), "f32") if standard else None
        self.project = embedder.linear(("embedding_projection", width), inp=hidden)
        self.cost, self.out_cost = float(hidden * values), float(hidden * width)
        rope = vision.sub("rope_parameters") if vision.find("rope_parameters", default=None) is not None else vision
        inverse = tuple(frequencies(rope.float("rope_theta", default=100.0, above=0), dim // 2))
        self.rope = Rope(dim, inverse + inverse, section=(0, dim // 4, dim // 4))

    def __call__(
        self, pictures: Sequence[Patched], pieces: Pieces | None = None
    ) -> Generator[None, None, list[np.ndarray]]:
        """Rows of each picture, `[tokens, width]` and what lies behind, in f32."""
        pieces = pieces or Pieces(self.ops)
        ops, grids = self.ops, [picture.grid[1:] for picture in pictures for _ in range(picture.grid[0])]
        patches = np.concatenate([picture.patches for picture in pictures])
        x = yield from pieces.rows(self.embed, ops.array(patches, self.dtype), self.cost)
        down, across = np.concatenate([block_places(rows, cols, self.pool) for rows, cols in grids], axis=1)
        placed = [
            ops.take(self.positions[axis], ops.array(at.astype(np.int32)), 0) for axis, at in ((0, across), (1, down))
        ]
        x = x + ops.cast(placed[0] + placed[1], self.dtype)
        angles = ops.angles(ops.array(np.stack([across, across, down]).astype(np.int32)), self.rope)
        lens = [rows * columns for rows, columns in grids]
        for layer in self.layers:
            x = yield from layer(x, angles, lens, pieces)
        rows = yield from pieces.rows(self._projected, self._pooled(x), self.out_cost)
        made = np.ascontiguousarray(ops.numpy(rows), np.float32)
        if self._behind is not None:
            made = np.concatenate([made, np.broadcast_to(self._behind(), (len(made), len(self._behind())))], axis=1)
        tokens = [frames * rows * columns // self.pool**2 for frames, rows, columns in (each.grid for each in pictures)]
        return np.split(made, np.cumsum(tokens)[:-1])

    def _pooled(self, x: Array) -> Array:
        ops = self.ops
        means = ops.sum(ops.cast(x, "f32").reshape(-1, self.pool**2, self.hidden), 1) / self.pool**2
        made = means * self.hidden**0.5
        if self.bias is not None:
            made = (made - self.bias) * self.scale
        return ops.cast(made, self.dtype)

    def _projected(self, x: Array) -> Array:
        return self.project(self.ops.rms_norm(x, None, self.eps))


def pooling(vision: Fields) -> int:
    """Patches that become one token, across and down."""
    return vision.int("pooling_kernel_size", default=3, most=1 << 5)


def _finite(bound: float) -> float | None:
    return bound if abs(bound) < float("inf") else None


def _check(vision: Fields, heads: int, dim: int) -> None:
    if dim % 4:
        raise ConfigError(f"{vision.where}: head_dim ({dim}) must be a multiple of 4.")
    if (kv := vision.int("num_key_value_heads", default=heads)) != heads:
        raise ConfigError(f"{vision.where}: num_key_value_heads ({kv}) is supported only as all {heads} heads.")
    if (act := vision.find("hidden_activation", default="gelu_pytorch_tanh")) != "gelu_pytorch_tanh":
        raise ConfigError(f"{vision.where}: hidden_activation `{act}` is not the one that this encoder is known with.")
