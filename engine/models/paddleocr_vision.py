"""PaddleOCR-VL's image encoder: a vision transformer at the image's own resolution, and the projector behind it.

Learned positions are stretched bilinearly over each image's grid, and a rope turns half of every head by rows and half
by columns. Patches come row by row; attention does not care about their order, so they are put into blocks of 2 x 2
at once, and what the projector merges lies side by side at the end.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence

import numpy as np

from backends.base import Array, Rope
from engine.models.encoder import Patched, Pieces, Work
from engine.models.rope import frequencies
from engine.models.siglip import SiglipConfig, SiglipLayer, SiglipNorm
from engine.weights.view import View

PROJECTOR_EPS = 1e-5


class Projector:
    """Each block of patches becomes one token of the decoder."""

    def __init__(self, w: View, c: SiglipConfig, out: int) -> None:
        self.ops, self.wide = w.backend.ops, c.hidden * c.merge**2
        self.norm = SiglipNorm(w, "pre_norm", c.hidden, PROJECTOR_EPS)
        self.first = w.linear(("linear_1", self.wide), inp=self.wide, bias=True)
        self.second = w.linear(("linear_2", out), inp=self.wide, bias=True)
        self.cost = float(self.wide * (self.wide + out))

    def __call__(self, x: Array, pieces: Pieces) -> Work:
        return (yield from pieces.rows(self._rows, self.norm(x).reshape(-1, self.wide), self.cost))

    def _rows(self, x: Array) -> Array:
        return self.second(self.ops.gelu(self.first(x)))


class Encoder:
    """Pictures to rows of the decoder's width."""

    def __init__(self, w: View, projector: View, c: SiglipConfig, out: int) -> None:
        self.ops, self.dtype, self.config = w.backend.ops, w.backend.dtype, c
        embeddings = w.sub("embeddings")
        self.embed = embeddings.flattened("patch_embedding", (c.hidden, c.channels, c.patch, c.patch), bias=True)
        self.positions = embeddings.tensor("position_embedding.weight", (c.side * c.side, c.hidden), "f32")
        self.layers = [SiglipLayer(w.sub(f"encoder.layers.{i}"), c) for i in range(c.layers)]
        self.norm = SiglipNorm(w, "post_layernorm", c.hidden, c.eps)
        self.project = Projector(projector, c, out)
        # What the original training used besides, and the exports still carry.
        w.ignore(r"\.packing_position_embedding\.", r"vision_model\.head\.", r"embeddings\.position_ids$")
        quarter = tuple(frequencies(c.theta, c.hidden // c.heads // 2))
        self.rope = Rope(c.hidden // c.heads, quarter + quarter, section=(len(quarter), len(quarter), 0))

    def __call__(
        self, pictures: Sequence[Patched], pieces: Pieces | None = None
    ) -> Generator[None, None, list[np.ndarray]]:
        """The `[tokens, D]` of each picture, f32."""
        pieces = pieces or Pieces(self.ops)
        ops, c = self.ops, self.config
        layouts = [PatchLayout(picture.grid, c.merge, c.side) for picture in pictures]
        patches = np.concatenate([_flat(p)[layout.order] for p, layout in zip(pictures, layouts)])
        x = yield from pieces.rows(self.embed, ops.array(patches, self.dtype), float(c.hidden * c.patch_values))
        x = x + self._places(layouts)
        angles = ops.angles(ops.array(np.concatenate([layout.places for layout in layouts], 1)), self.rope)
        lens = [n for layout in layouts for n in layout.lens]
        for layer in self.layers:
            x = yield from layer(x, angles, lens, pieces)
        rows = ops.numpy((yield from self.project(self.norm(x), pieces)))
        ends = np.cumsum([len(layout.order) // c.merge**2 for layout in layouts])[:-1]
        return np.split(rows, ends)

    def _places(self, layouts: Sequence[PatchLayout]) -> Array:
        """The learned positions, stretched over each grid."""
        ops = self.ops
        corners = np.concatenate([layout.corners for layout in layouts], 1)
        shares = np.concatenate([layout.shares for layout in layouts], 1)[..., None]
        parts = [ops.take(self.positions, ops.array(at), 0) * ops.array(share) for at, share in zip(corners, shares)]
        return ops.cast(parts[0] + parts[1] + parts[2] + parts[3], self.dtype)


def _flat(picture: Patched) -> np.ndarray:
    return picture.patches.reshape(len(picture.patches), -1)


class PatchLayout:
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
