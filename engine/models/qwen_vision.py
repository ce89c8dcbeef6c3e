"""The vision tower of Qwen3-VL and Qwen3.5: patches to rows that lie among a prompt's embeddings.

Learned positions are interpolated to each picture's grid, rotary ones turn rows and columns. Patches come in blocks of
2 x 2, which the merger makes one row of. Some towers also tap layers on the way ("deepstack"): those rows are laid
behind the last ones, side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any

import numpy as np

from backends.base import Array, Ops, Rope
from engine.errors import ConfigError
from engine.models.config import Fields
from engine.models.encoder import Patched, Pieces, Work
from engine.models.rope import frequencies
from engine.weights.view import View

THETA = 10000.0
EPS = 1e-6
PLACES = ("model.visual", "visual", "vision_tower")  # as published, as older files have it, as MLX's converter saves it


def tower_place(w: View) -> str | None:
    """Where a checkpoint keeps its tower; None where it has none."""
    return next((place for place in PLACES if w.has(f"{place}.patch_embed.proj.weight")), None)


class QwenVisionNorm:
    def __init__(self, w: View, name: str, dim: int, eps: float = EPS) -> None:
        self.ops, self.eps = w.backend.ops, eps
        self.weight, self.bias = w.tensor(f"{name}.weight", (dim,)), w.tensor(f"{name}.bias", (dim,))

    def __call__(self, x: Array) -> Array:
        return self.ops.layer_norm(x, self.weight, self.bias, self.eps)


class QwenVisionMlp:
    def __init__(self, w: View, inp: int, hidden: int, out: int, activation: Callable[[Array], Array]) -> None:
        self.activation = activation
        self.first = w.linear(("linear_fc1", hidden), inp=inp, bias=True)
        self.second = w.linear(("linear_fc2", out), inp=hidden, bias=True)
        self.cost = float(inp * hidden + hidden * out)

    def __call__(self, x: Array) -> Array:
        return self.second(self.activation(self.first(x)))


class QwenVisionBlock:
    def __init__(self, w: View, hidden: int, heads: int, ffn: int) -> None:
        self.ops, self.hidden, self.heads, self.dim = w.backend.ops, hidden, heads, hidden // heads
        self.norm1, self.norm2 = QwenVisionNorm(w, "norm1", hidden), QwenVisionNorm(w, "norm2", hidden)
        self.qkv = w.sub("attn").linear(("qkv", 3 * hidden), inp=hidden, bias=True)
        self.out = w.sub("attn").linear(("proj", hidden), inp=hidden, bias=True)
        self.mlp = QwenVisionMlp(w.sub("mlp"), hidden, ffn, hidden, self.ops.gelu_tanh)

    def __call__(self, x: Array, angles: Array, lens: Sequence[int], pieces: Pieces) -> Work:
        square = float(self.hidden**2)
        mixed = yield from pieces.rows(lambda part: self.qkv(self.norm1(part)), x, 3 * square)
        q, k, v = self.ops.qkv(mixed, self.heads, self.heads, self.dim, angles)
        attended = yield from pieces.attend(q, k, v, lens, self.dim**-0.5)
        x = x + self.out(attended.reshape(x.shape[0], self.hidden))
        return x + (yield from pieces.rows(lambda part: self.mlp(self.norm2(part)), x, self.mlp.cost))


class Merger:
    """The patches of a block become one row of the text model's width."""

    def __init__(self, w: View, hidden: int, block: int, out: int, norm_blocks: bool) -> None:
        self.wide, self.norm_blocks = hidden * block, norm_blocks
        self.norm = QwenVisionNorm(w, "norm", self.wide if norm_blocks else hidden)
        self.mlp = QwenVisionMlp(w, self.wide, self.wide, out, w.backend.ops.gelu)

    def __call__(self, x: Array, pieces: Pieces) -> Work:
        blocks = x.reshape(-1, self.wide) if self.norm_blocks else self.norm(x).reshape(-1, self.wide)
        return (yield from pieces.rows(self._rows, blocks, self.mlp.cost))

    def _rows(self, blocks: Array) -> Array:
        return self.mlp(self.norm(blocks) if self.norm_blocks else blocks)


class VisionTower:
    def __init__(self, w: View, f: Fields, width: int) -> None:
        """`width`: of the text model's embeddings."""
        self.ops, self.dtype = w.backend.ops, w.backend.dtype
        hidden, heads = f.int("hidden_size"), f.int("num_heads")
        self.merge = f.int("spatial_merge_size", default=2)
        patch, temporal = f.int("patch_size", default=16), f.int("temporal_patch_size", default=2)
        channels, positions = f.int("in_channels", default=3), f.int("num_position_embeddings", default=2304)
        self.side = round(positions**0.5)
        taps = f.find("deepstack_visual_indexes", default=[])
        _check(f, width, hidden, heads, positions, taps)
        self.patch_shape = (channels, temporal, patch, patch)
        last = (temporal, patch, patch, channels)
        name = "patch_embed.proj"
        self.channels_last = w.shape(f"{name}.weight") == (hidden, *last) != (hidden, *self.patch_shape)
        self.embed = w.flattened(name, (hidden, *(last if self.channels_last else self.patch_shape)), bias=True)
        self.cost = float(hidden * channels * temporal * patch**2)
        self.positions = w.embedding("pos_embed", positions, hidden, whole=True)
        ffn, depth = f.int("intermediate_size"), f.int("depth")
        self.blocks = [QwenVisionBlock(w.sub(f"blocks.{i}"), hidden, heads, ffn) for i in range(depth)]
        self.merger = Merger(w.sub("merger"), hidden, self.merge**2, width, norm_blocks=False)
        self.taps = {
            layer: Merger(w.sub(f"deepstack_merger_list.{i}"), hidden, self.merge**2, width, norm_blocks=True)
            for i, layer in enumerate(taps)
        }
        dims = hidden // heads
        inverse = tuple(frequencies(THETA, dims // 2))
        self.rope = Rope(dims, inverse + inverse, section=(0, len(inverse), len(inverse)))

    def __call__(
        self, pictures: Sequence[Patched], pieces: Pieces | None = None
    ) -> Generator[None, None, list[np.ndarray]]:
        """Rows of each picture, `[tokens, (1 + taps) * width]` in f32."""
        pieces = pieces or Pieces(self.ops)
        ops, grids = self.ops, [picture.grid for picture in pictures]
        patches = patches_of(pictures, self.patch_shape, self.channels_last)
        x = yield from pieces.rows(self.embed, ops.array(patches, self.dtype), self.cost)
        x = x + self._interpolated(grids)
        angles = block_angles(ops, self.rope, grids, self.merge)
        lens = [h * w for t, h, w in grids for _ in range(t)]
        tapped = []
        for i, block in enumerate(self.blocks):
            x = yield from block(x, angles, lens, pieces)
            if i in self.taps:
                tapped.append((yield from self.taps[i](x, pieces)))
        merged = yield from self.merger(x, pieces)
        host = ops.numpy(ops.cat([merged, *tapped], 1) if tapped else merged)
        ends = np.cumsum([t * h * w // self.merge**2 for t, h, w in grids])[:-1]
        return [np.ascontiguousarray(rows, np.float32) for rows in np.split(host, ends)]

    def _interpolated(self, grids: Sequence[tuple[int, int, int]]) -> Array:
        """The learned positions, stretched over each picture's grid."""
        found = [corners(h, w, self.side, self.merge) for t, h, w in grids for _ in range(t)]
        ids = np.concatenate([ids for ids, _ in found], axis=1).astype(np.int32)
        weights = np.concatenate([weights for _, weights in found], axis=1)[:, :, None]
        parts = [
            self.positions.rows(self.ops.array(ids[corner])) * self.ops.array(weights[corner], self.dtype)
            for corner in range(4)
        ]
        return parts[0] + parts[1] + parts[2] + parts[3]


def patches_of(pictures: Sequence[Patched], shape: tuple[int, ...], channels_last: bool) -> np.ndarray:
    """The patches of all pictures; `channels_last`: as MLX's converter saves the kernel, else they are of this `shape`."""
    patches = np.concatenate([picture.patches for picture in pictures])
    if not channels_last:
        return patches
    return patches.reshape(-1, *shape).transpose(0, 2, 3, 4, 1).reshape(patches.shape)


def block_angles(ops: Ops, rope: Rope, grids: Sequence[tuple[int, int, int]], merge: int) -> Any:
    """By the rows and columns of patches in the order of blocks."""
    places = np.concatenate([np.tile(block_places(h, w, merge), (1, t)) for t, h, w in grids], axis=1)
    return ops.angles(ops.array(np.concatenate([places[:1], places]).astype(np.int32)), rope)


def block_places(rows: int, columns: int, merge: int) -> np.ndarray:
    """Row and column `[2, n]` of a frame's patches in the order of blocks."""
    places = np.indices((rows, columns)).reshape(2, rows // merge, merge, columns // merge, merge)
    return places.transpose(0, 1, 3, 2, 4).reshape(2, -1)


def corners(rows: int, columns: int, side: int, merge: int) -> tuple[np.ndarray, np.ndarray]:
    """For each patch of a frame the four nearest learned positions of a `side` x `side` table, and their weights."""
    down, across = (
        place.astype(np.float32) * np.float32(side - 1) / np.float32(max(n - 1, 1))
        for place, n in zip(block_places(rows, columns, merge), (rows, columns))
    )
    top, left = np.floor(down), np.floor(across)
    low, right = np.minimum(top + 1, side - 1), np.minimum(left + 1, side - 1)
    y, x = down - top, across - left
    ids = np.stack([top * side + left, top * side + right, low * side + left, low * side + right])
    return ids, np.stack([(1 - y) * (1 - x), (1 - y) * x, y * (1 - x), y * x])


def _check(f: Fields, width: int, hidden: int, heads: int, positions: int, taps: object) -> None:
    if f.int("out_hidden_size", default=width) != width:
        raise ConfigError(f"{f.where}: out_hidden_size is not the text model's hidden_size, {width}.")
    if hidden % heads or (hidden // heads) % 4:
        raise ConfigError(f"{f.where}: hidden_size ({hidden}) must give each of {heads} heads a multiple of 4.")
    if round(positions**0.5) ** 2 != positions:
        raise ConfigError(f"{f.where}: num_position_embeddings ({positions}) is not the square of a whole number.")
    if not (isinstance(taps, list | tuple) and all(isinstance(i, int) and 0 <= i < f.int("depth") for i in taps)):
        raise ConfigError(f"{f.where}: deepstack_visual_indexes must be numbers of the tower's layers, not {taps!r}.")
    activation = f.find("hidden_act", default="gelu_pytorch_tanh")
    if activation != "gelu_pytorch_tanh":
        raise ConfigError(f"{f.where}: hidden_act `{activation}` is not the one that this tower is known with.")
