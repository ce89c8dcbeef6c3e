"""Idefics 3 and SmolVLM: Llama's decoder behind SigLIP. A large picture is cut into tiles, and comes once more as a whole.

The connector makes one token of each square of patches, side by side. Patches come in the order of these squares.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any

import numpy as np

from engine.errors import ConfigError, WeightsError
from engine.models.config import Fields, text_fields
from engine.models.encoder import Patched, Pieces
from engine.models.llama import llama
from engine.models.siglip import SiglipConfig, SiglipTower, siglip_config
from engine.models.vision_language import SeeingDecoder
from engine.weights.view import View

TOWERS = ("model.vision_model", "vision_model")
CONNECTORS = ("model.connector", "connector")
# what published configs of the encoder leave out
LEFT_OUT = {
    "hidden_size": 1152,
    "intermediate_size": 3072,
    "num_hidden_layers": 12,
    "num_attention_heads": 16,
    "image_size": 224,
    "patch_size": 32,
}


def idefics3_vision(f: Fields) -> SiglipConfig:
    """Of the whole config."""
    vision = f.sub("vision_config")
    return siglip_config(Fields(LEFT_OUT | dict(vision.values), vision.where))


def idefics3(w: View, config: Mapping[str, Any]) -> SeeingDecoder:
    place = next((place for place in TOWERS if w.has(f"{place}.embeddings.patch_embedding.weight")), None)
    if place is None:
        raise WeightsError(
            f"The checkpoint has no vision tower: {TOWERS[0]}.embeddings.patch_embedding.weight is missing."
        )
    nested = Fields(config).sub("text_config") if "text_config" in config else Fields({"model_type": "llama"})
    if (kind := nested.find("model_type", default="llama")) != "llama":
        raise ConfigError(f"{nested.where}: model_type `{kind}` is not the one that this model is known with, llama.")
    connector = next((name for name in CONNECTORS if w.has(f"{name}.modality_projection.proj.weight")), CONNECTORS[0])
    width = text_fields(config).int("hidden_size")
    tower = Idefics3Tower(w.sub(place), w.sub(connector), Fields(config), width)
    return SeeingDecoder(llama(w, config), tower, width)


class Idefics3Tower:
    taps: Mapping[int, object] = {}

    def __init__(self, tower: View, connector: View, f: Fields, width: int) -> None:
        """`width`: of the text model's embeddings."""
        self.ops = tower.backend.ops
        c = idefics3_vision(f)
        self.scale, self.side = scale_factor(f), c.side
        self.wide = c.hidden * self.scale**2
        self.siglip = SiglipTower(tower, c)
        self.project = connector.sub("modality_projection").linear(("proj", width), inp=self.wide)

    def __call__(
        self, pictures: Sequence[Patched], pieces: Pieces | None = None
    ) -> Generator[None, None, list[np.ndarray]]:
        """Rows of each picture, `[tokens, width]` in f32."""
        pieces = pieces or Pieces(self.ops)
        (side,) = {picture.grid[1] for picture in pictures}  # all tiles are of one size
        x = yield from self.siglip(pictures, pieces, tile_places(side, self.side, self.scale))
        rows = yield from pieces.rows(self.project, x.reshape(-1, self.wide), float(self.wide * self.wide))
        ends = np.cumsum([picture.grid[0] * (side // self.scale) ** 2 for picture in pictures])
        return np.split(np.ascontiguousarray(self.ops.numpy(rows), np.float32), ends[:-1])


def scale_factor(f: Fields) -> int:
    """Patches that become one token, across and down."""
    return f.int("scale_factor", default=2, most=1 << 5)


def block_order(side: int, scale: int) -> np.ndarray:
    """The patches of a tile square by square, as numbers in raster order."""
    blocks = np.arange(side * side).reshape(side // scale, scale, side // scale, scale)
    return blocks.transpose(0, 2, 1, 3).reshape(-1)


def tile_places(side: int, table: int, scale: int) -> np.ndarray:
    """For each patch of a tile of `side` x `side` its learned position among `table` x `table`, as the reference finds it in f32."""
    shares = np.arange(side, dtype=np.float32) * (np.float32(1) / np.float32(side))
    bounds = (np.arange(1, table) * (1 / table)).astype(np.float32)
    found = np.searchsorted(bounds, np.minimum(shares, np.float32(1 - 1e-6)), side="right")
    places = (found[:, None] * table + found).reshape(-1)
    return places[block_order(side, scale)]


def tile_side(f: Fields, pixels: int) -> int:
    """Patches on a side of a tile of so many pixels."""
    side, scale = pixels // idefics3_vision(f).patch, scale_factor(f)
    if not side or side % scale:
        raise ConfigError(f"{f.where}: scale_factor ({scale}) must divide {side}, the patches on a side of a tile.")
    return side
