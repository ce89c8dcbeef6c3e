"""Liquid's LFM 2-VL: an LFM 2 decoder behind SigLIP 2, which reads tiles of any shape at their own resolution.

A large picture is cut into tiles of one size, and comes once more as a whole, scaled down. Learned positions are stretched over
each tile. The projector makes one token of each square of patches, side by side; patches come in the order of these squares.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import replace
from math import isqrt
from typing import Any

import numpy as np

from backends.base import Array
from engine.errors import ConfigError, WeightsError
from engine.models.config import TEXT_MODEL_TYPE, Fields, text_fields
from engine.models.decoder import Decoder
from engine.models.encoder import Patched, Pieces
from engine.models.lfm2 import lfm2, lfm2_moe
from engine.models.qwen_vision import block_places
from engine.models.siglip import SiglipConfig, SiglipLayer, SiglipNorm, siglip_config
from engine.models.stretching import stretched
from engine.models.vision_language import SeeingDecoder
from engine.weights.view import View

# as published, as transformers has it in memory; as MLX's converter saves it
TOWERS = ("model.vision_tower.vision_model", "model.vision_tower", "vision_tower.vision_model", "vision_tower")
PROJECTORS = ("model.multi_modal_projector", "multi_modal_projector")
PROJECTOR_EPS = 1e-5
TEXTS: dict[str, Callable[[View, Mapping[str, Any]], Decoder]] = {"lfm2": lfm2, "lfm2_moe": lfm2_moe}
# what published configs of the encoder leave out
LEFT_OUT = {
    "hidden_size": 768,
    "intermediate_size": 3072,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "patch_size": 16,
}


def naflex_config(f: Fields) -> SiglipConfig:
    """Of the whole config."""
    vision = f.sub("vision_config")
    c = siglip_config(Fields(LEFT_OUT | dict(vision.values), vision.where))
    places = vision.int("num_patches", default=256, most=1 << 16)
    if isqrt(places) ** 2 != places:
        raise ConfigError(f"{vision.where}: num_patches ({places}) must be the square of a whole number.")
    return replace(c, side=isqrt(places), merge=merge_size(f))


def merge_size(f: Fields) -> int:
    """Patches that become one token, across and down."""
    return f.int("downsample_factor", default=2, most=1 << 5)


def text_kind(config: Mapping[str, Any]) -> str:
    if "text_config" not in config:
        return str(config.get(TEXT_MODEL_TYPE, "lfm2"))
    return str(Fields(config).sub("text_config").find("model_type", default="lfm2"))


def lfm2_vl(w: View, config: Mapping[str, Any]) -> SeeingDecoder:
    place = next((place for place in TOWERS if w.has(f"{place}.embeddings.patch_embedding.weight")), None)
    if place is None:
        raise WeightsError(
            f"The checkpoint has no vision tower: {TOWERS[0]}.embeddings.patch_embedding.weight is missing."
        )
    if (kind := text_kind(config)) not in TEXTS:
        raise ConfigError(
            f"The text model of this LFM2-VL has the architecture `{kind}`. Supported: {', '.join(TEXTS)}."
        )
    projector = next((name for name in PROJECTORS if w.has(f"{name}.linear_1.weight")), PROJECTORS[0])
    width = text_fields(config).int("hidden_size")
    tower = NaflexTower(w.sub(place), w.sub(projector), Fields(config), width)
    return SeeingDecoder(TEXTS[kind](w, config), tower, width)


class NaflexTower:
    taps: Mapping[int, object] = {}

    def __init__(self, tower: View, projector: View, f: Fields, width: int) -> None:
        """`width`: of the text model's embeddings."""
        self.ops, self.dtype = tower.backend.ops, tower.backend.dtype
        self.config = c = naflex_config(f)
        _check(f)
        embeddings = tower.sub("embeddings")
        self.embed = embeddings.linear(("patch_embedding", c.hidden), inp=c.patch_values, bias=True)
        self.positions = embeddings.tensor("position_embedding.weight", (c.side * c.side, c.hidden), "f32")
        self.layers = [SiglipLayer(tower.sub(f"encoder.layers.{i}"), c) for i in range(c.layers)]
        self.norm = SiglipNorm(tower, "post_layernorm", c.hidden, c.eps)
        tower.ignore(r"(^|\.)head\.", r"embeddings\.position_ids$")  # what the original training used besides
        wide, inner = c.hidden * c.merge**2, f.int("projector_hidden_size", default=2560)
        bias = f.flag("projector_bias", True)
        # some configs say nothing of the norm, or the wrong thing: the weights know
        self.wide_norm = None
        if projector.has("layer_norm.weight"):
            self.wide_norm = SiglipNorm(projector, "layer_norm", wide, PROJECTOR_EPS)
        self.first = projector.linear(("linear_1", inner), inp=wide, bias=bias)
        self.second = projector.linear(("linear_2", width), inp=inner, bias=bias)
        self.wide, self.out_cost = wide, float(wide * inner + inner * width)

    def __call__(
        self, pictures: Sequence[Patched], pieces: Pieces | None = None
    ) -> Generator[None, None, list[np.ndarray]]:
        """Rows of each picture, `[tokens, width]` in f32."""
        pieces, ops, c = pieces or Pieces(self.ops), self.ops, self.config
        tiles = [tiles_of(picture) for picture in pictures]
        patches = np.concatenate([picture.patches for picture in pictures])
        x = yield from pieces.rows(self.embed, ops.array(patches, self.dtype), float(c.hidden * c.patch_values))
        x = x + ops.array(self._places([grid for grids in tiles for grid in grids]), self.dtype)
        lens = [rows * columns for grids in tiles for rows, columns in grids]
        for layer in self.layers:
            x = yield from layer(x, None, lens, pieces)
        made = yield from pieces.rows(self._projected, self.norm(x).reshape(-1, self.wide), self.out_cost)
        ends = np.cumsum([sum(rows * columns for rows, columns in grids) // c.merge**2 for grids in tiles])[:-1]
        return np.split(np.ascontiguousarray(ops.numpy(made), np.float32), ends)

    def _projected(self, blocks: Array) -> Array:
        if self.wide_norm is not None:
            blocks = self.wide_norm(blocks)
        return self.second(self.ops.gelu(self.first(blocks)))

    def _places(self, grids: Sequence[tuple[int, int]]) -> np.ndarray:
        """The learned positions of each tile's patches, in their order."""
        side, hidden = self.config.side, self.config.hidden
        table = self.ops.numpy(self.positions).reshape(side, side, hidden)
        made = {grid: stretched(table, *grid, "bilinear") for grid in set(grids)}
        places = {grid: block_places(*grid, self.config.merge) for grid in made}
        return np.concatenate([made[grid][places[grid][0], places[grid][1]] for grid in grids])


def tiles_of(picture: Patched) -> Sequence[tuple[int, int]]:
    """Rows and columns of patches of each tile."""
    tiles: Sequence[tuple[int, int]] = getattr(picture, "tiles", (picture.grid[1:],))
    return tiles


def _check(f: Fields) -> None:
    if (act := f.find("projector_hidden_act", default="gelu")) != "gelu":
        raise ConfigError(
            f"{f.where}: projector_hidden_act `{act}` is not the one this projector is known with (gelu)."
        )
    if (layer := f.find("vision_feature_layer", default=-1)) != -1:
        raise ConfigError(
            f"{f.where}: vision_feature_layer ({layer}) is supported as -1 only, what the last layer gives."
        )
