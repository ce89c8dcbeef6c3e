"""Encoders of pages that come in views: tiles of a grid, then the whole. SAM's encoder is in front, a projection to the text model's
rows behind; what lies between is a family's own. Views are squares; those of one side are encoded together, whichever page they are of.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Mapping, Sequence
from typing import Any

import numpy as np

from backends.base import Array
from engine.errors import ConfigError
from engine.models.config import Fields
from engine.models.encoder import Patched, Pieces, Work
from engine.models.sam import SamEncoder, sam_config
from engine.weights.view import View

SHRINK = 4  # by which SAM's convolutions shorten each side of a view
MOST_AT_ONCE = 4  # views in one run of the encoder


def sides_of(picture: Patched) -> Sequence[int]:
    """Patches on a side of each view, which are squares: tiles, then the whole."""
    sides: Sequence[int] = getattr(picture, "sides", picture.grid[1:2])
    return sides


def published_sam(vision: Fields) -> dict[str, Any]:
    """`sam_config` of the first repositories, which call things otherwise; the rest was in the code beside them."""
    sam = vision.sub("width").sub("sam_vit_b")
    return {
        "hidden_size": sam.int("width", default=768),
        "num_hidden_layers": sam.int("layers", default=12),
        "num_attention_heads": sam.int("heads", default=12),
        "global_attn_indexes": sam.find("global_attn_indexes", default=[2, 5, 8, 11]),
        "image_size": vision.int("image_size", default=1024),
    }


class ViewEncoder(ABC):
    taps: Mapping[int, object] = {}

    def __init__(self, w: View, vision: Fields, hidden: int, inp: int, width: int) -> None:
        """`hidden`: of what SAM's encoder gives; `inp`: of what is projected; `width`: of the text model's embeddings."""
        self.ops, self.hidden, self.inp, self.width = w.backend.ops, hidden, inp, width
        c = sam_config(vision.sub("sam_config"), hidden)
        if c.widths[1] != hidden:
            raise ConfigError(
                f"{vision.where}: downsample_channels end with {c.widths[1]}, but the encoder has {hidden}."
            )
        self.sam = SamEncoder(w.sub("sam_model"), c)
        self.project = w.sub("projector").linear(("layers", width), inp=inp, bias=True)
        self.end = w.tensor("view_seperator", (width,))

    def __call__(
        self, pictures: Sequence[Patched], pieces: Pieces | None = None
    ) -> Generator[None, None, list[np.ndarray]]:
        """Rows of each picture, `[tokens, width]` in f32."""
        pieces = pieces or Pieces(self.ops)
        end = self._row(self.end)
        sides = [sides_of(one) for one in pictures]
        cut = [np.split(one.patches, np.cumsum(np.square(each))[:-1]) for one, each in zip(pictures, sides)]
        wanted = [(i, j, side) for i, each in enumerate(sides) for j, side in enumerate(each)]
        made: dict[tuple[int, int], np.ndarray] = {}
        for side in sorted({side for *_, side in wanted}):
            alike = [(i, j) for i, j, own in wanted if own == side]
            for start in range(0, len(alike), MOST_AT_ONCE):
                places = alike[start : start + MOST_AT_ONCE]
                rows = yield from self._views(np.concatenate([cut[i][j] for i, j in places]), len(places), side, pieces)
                host = np.ascontiguousarray(self.ops.numpy(rows), np.float32)
                made |= dict(zip(places, np.split(host, len(places))))
        return [
            np.concatenate([*self._joined(one, [made[i, j] for j in range(len(sides[i]))]), end])
            for i, one in enumerate(pictures)
        ]

    def _views(self, patches: np.ndarray, views: int, side: int, pieces: Pieces) -> Work:
        x = yield from self.sam(patches.reshape(len(patches), -1), side, pieces)
        x = yield from self._encoded(x.reshape(views, -1, self.hidden), pieces)
        return (yield from pieces.rows(self.project, x.reshape(-1, self.inp), float(self.inp * self.width)))

    @abstractmethod
    def _encoded(self, x: Array, pieces: Pieces) -> Work:
        """`x [views, rows of a view, hidden]` -> what is projected, as many rows."""

    def _joined(self, picture: Patched, views: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The rows of a picture's views in their order, without the one that ends it."""
        return list(views)

    def _row(self, x: Array) -> np.ndarray:
        return np.asarray(self.ops.numpy(x), np.float32)[None]
