"""GLM-4.1V and GLM-4.6V Flash: GLM 4's decoder with positions on three axes, behind the vision transformer that GLM-OCR's came of.

Its patches have learned positions too, stretched over each picture's grid, and its queries and keys no norms.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from backends.base import Array
from engine.errors import ConfigError, WeightsError
from engine.models.config import Fields, text_config
from engine.models.decoder import Traits
from engine.models.glm_ocr import GlmTower, GlmTowerSizes, glm_decoder, glm_rope
from engine.models.qwen_vision import PLACES, block_places, tower_place
from engine.models.stretching import sampled
from engine.models.vision_language import SeeingDecoder
from engine.weights.view import View


def glm4v(w: View, config: Mapping[str, Any]) -> SeeingDecoder:
    place = tower_place(w)
    if place is None:
        raise WeightsError(f"The checkpoint has no vision tower: {PLACES[0]}.patch_embed.proj.weight is missing.")
    c = text_config(config)
    traits = Traits(qkv_bias=c.fields.flag("attention_bias", True))
    decoder = glm_decoder(w, c, traits, glm_rope(c, "glm4v"))
    return SeeingDecoder(decoder, Glm4vTower(w.sub(place), Fields(config).sub("vision_config"), c.hidden), c.hidden)


class Glm4vTower(GlmTower):
    def __init__(self, w: View, f: Fields, width: int) -> None:
        super().__init__(w, f, width)
        self.side = f.int("image_size", default=336, most=1 << 14) // f.int("patch_size", default=14)
        if self.side < 1:
            raise ConfigError(f"{f.where}: image_size must be as large as a patch.")
        self.first_norm = w.norm("post_conv_layernorm", self.hidden)
        self.positions = w.tensor("embeddings.position_embedding.weight", (self.side**2, self.hidden), "f32")
        w.ignore(r"embeddings\.position_ids$")

    def sizes(self, f: Fields, width: int) -> GlmTowerSizes:
        return GlmTowerSizes(
            hidden=f.int("hidden_size", default=1536),
            heads=f.int("num_heads", default=12),
            depth=f.int("depth", default=24, most=1 << 10),
            ffn=f.int("out_hidden_size", default=4096),
            wide=f.int("intermediate_size", default=13696),
            bias=False,
            qkv_bias=f.flag("attention_bias"),
            normed=False,
        )

    def begun(self, x: Array, grids: Sequence[tuple[int, int, int]]) -> Array:
        learned = np.asarray(self.ops.numpy(self.positions), np.float32).reshape(self.side, self.side, self.hidden)
        places = []
        for times, rows, columns in grids:
            down, across = block_places(rows, columns, self.merge)
            places += [sampled(learned, rows, columns)[down, across]] * times
        return self.ops.rms_norm(x, self.first_norm, self.eps) + self.ops.array(np.concatenate(places), self.dtype)
