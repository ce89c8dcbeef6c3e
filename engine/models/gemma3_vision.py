"""Gemma 3's image encoder: SigLIP, and a projector that makes one token of each square of patches by averaging them.

Every picture has the same number of tokens. These see one another in both directions in the text model.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any

import numpy as np

from backends.base import Array
from engine.errors import ConfigError
from engine.models.config import Fields
from engine.models.encoder import Patched, Pieces
from engine.models.siglip import SiglipConfig, SiglipTower, siglip_config
from engine.weights.view import View

TOWERS = (  # as published, as transformers has it in memory, and as a GGUF file's is named here
    "vision_tower.vision_model",
    "model.vision_tower.vision_model",
    "model.vision_tower",
    "vision_tower",
)
PROJECTORS = ("multi_modal_projector", "model.multi_modal_projector")
IMAGE_TOKENS = 256


def gemma3_tower(w: View, config: Mapping[str, Any], width: int) -> Gemma3Tower | None:
    """None where the checkpoint has none."""
    place = next((place for place in TOWERS if w.has(f"{place}.embeddings.patch_embedding.weight")), None)
    if place is None or not isinstance(config.get("vision_config"), Mapping):
        return None
    projector = next((name for name in PROJECTORS if w.has(f"{name}.mm_input_projection_weight")), PROJECTORS[0])
    return Gemma3Tower(w.sub(place), w.sub(projector), Fields(config), width)


class Gemma3Tower:
    taps: Mapping[int, object] = {}

    def __init__(self, tower: View, projector: View, f: Fields, width: int) -> None:
        """`width`: of the text model's embeddings."""
        self.ops = tower.backend.ops
        self.config = c = siglip_config(f.sub("vision_config"))
        self.side = image_token_side(f, c)
        self.siglip = SiglipTower(tower, c)
        self.norm = projector.norm("mm_soft_emb_norm", c.hidden, 0.0 if f.flag("norms_hold_one") else 1.0)
        self.project = projector.transposed("mm_input_projection_weight", c.hidden, width)

    def __call__(
        self, pictures: Sequence[Patched], pieces: Pieces | None = None
    ) -> Generator[None, None, list[np.ndarray]]:
        """Rows of each picture, `[tokens, width]` in f32."""
        pieces = pieces or Pieces(self.ops)
        x = yield from self.siglip(pictures, pieces)
        rows = yield from pieces.rows(self._projected, self._pooled(x), float(self.config.hidden * self.config.hidden))
        ends = np.cumsum([picture.grid[0] * self.side**2 for picture in pictures])[:-1]
        return np.split(np.ascontiguousarray(self.ops.numpy(rows), np.float32), ends)

    def _pooled(self, x: Array) -> Array:
        size, hidden = self.config.side // self.side, self.config.hidden
        across = self.ops.sum(x.reshape(-1, self.side, size, hidden), 2)
        down = self.ops.sum(across.reshape(-1, size, self.side, hidden), 1)
        return (down / size**2).reshape(-1, hidden)

    def _projected(self, x: Array) -> Array:
        return self.project(self.ops.rms_norm(x, self.norm, self.config.eps))


def image_token_side(f: Fields, c: SiglipConfig) -> int:
    """Tokens of a picture, across and down."""
    tokens = f.int("mm_tokens_per_image", default=IMAGE_TOKENS)
    side = round(tokens**0.5)
    if side * side != tokens or c.side % side:
        raise ConfigError(
            f"{f.where}: mm_tokens_per_image ({tokens}) must be the square of a number that divides {c.side}, "
            "the patches on a side."
        )
    return side
