"""PaddleOCR-VL: an image encoder in front of ERNIE's decoder, whose rope has three axes in three runs.

Reads the published layout (a flat config.json; tensors `visual.*`, `mlp_AR.*`, `model.*`) and the nested one.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from backends.base import Rope
from engine.errors import ConfigError
from engine.models.config import Fields, TextConfig, text_config
from engine.models.decoder import Attention, Decoder, Mlp, Traits
from engine.models.encoder import Patched
from engine.models.paddleocr_vision import Encoder
from engine.models.rope import text_rope
from engine.models.siglip import siglip_config
from engine.weights.view import View

SECTION = (16, 24, 24)  # of time, rows and columns, where a config does not say


class PaddleOcrVl(Decoder):
    def __init__(self, w: View, c: TextConfig, config: Mapping[str, Any]) -> None:
        bias = c.fields.flag("use_bias")
        traits = Traits(qkv_bias=bias, out_bias=bias, mlp_bias=bias)
        nested = w.has("model.language_model.embed_tokens.weight")
        super().__init__(
            w,
            c,
            _rope(c),
            mixer=lambda v, i: Attention(v.sub("self_attn"), c, i, traits),
            mlp=lambda v, i: Mlp(v.sub("mlp"), c.hidden, c.ffn, bias),
            body="model.language_model" if nested else "model",
        )
        tower, projector = ("model.visual", "model.projector") if nested else ("visual", "mlp_AR")
        vision = siglip_config(Fields(config).sub("vision_config"))
        self.encoder = Encoder(w.sub(f"{tower}.vision_model"), w.sub(projector), vision, c.hidden)

    def encode(self, pictures: Sequence[Patched]) -> Generator[None, None, list[np.ndarray]]:
        """The rows that take the place of each picture's placeholders; yields where replies may step in between."""
        return self.encoder(pictures)


def _rope(c: TextConfig) -> Rope:
    rope = text_rope(c, default_theta=500000.0)
    if rope.section is not None:
        return rope
    if 2 * sum(SECTION) != rope.dims:
        raise ConfigError(
            f"{c.fields.where}: rope lacks `mrope_section`, and heads of {rope.dims} are not the usual ones."
        )
    return replace(rope, section=SECTION)


def paddleocr_vl(w: View, config: Mapping[str, Any]) -> PaddleOcrVl:
    c = text_config(config)
    # Files without the key are tied, files that bring a head of their own mean it.
    tied = c.fields.flag("tie_word_embeddings", True) and not w.has("lm_head.weight")
    return PaddleOcrVl(w, replace(c, tied=tied), config)
