"""Unlimited-OCR: DeepSeek-OCR's image encoder, SAM's with CLIP's behind it, and a mixture of experts that sees the whole prompt and the
last tokens of what it has written (reference sliding window attention). So neither memory nor time grows with the pages that it reads.

CLIP's layers take what SAM's encoder gives for their patches. Both are projected, side by side; a learned row ends each line of the grid.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from backends.base import Array
from engine.errors import ConfigError
from engine.models.config import Fields, TextConfig, text_config
from engine.models.decoder import Attention, Decoder, Traits
from engine.models.deepseek import softmax_mixture
from engine.models.encoder import Patched, Pieces, Work
from engine.models.page_views import ViewEncoder, published_sam
from engine.models.rope import text_rope
from engine.models.siglip import SiglipConfig, SiglipLayer, SiglipNorm
from engine.models.stretching import stretched
from engine.models.vision_language import SeeingDecoder
from engine.weights.view import View

REFERENCE, FULL = "reference_sliding_attention", "full_attention"
RECENT = 128
QUICK = 1.702  # of the sigmoid that stands for a GELU


def unlimited_ocr(w: View, config: Mapping[str, Any]) -> SeeingDecoder:
    c = text_config(config)
    f = c.fields
    traits = Traits(
        qkv_bias=f.flag("attention_bias"), out_bias=f.flag("attention_bias"), recent=_recent(c, Fields(config))
    )
    decoder = Decoder(
        w,
        c,
        text_rope(c),
        mixer=lambda v, i: Attention(v.sub("self_attn"), c, i, traits),
        mlp=lambda v, i: softmax_mixture(v.sub("mlp"), c, i, first=1),
    )
    return SeeingDecoder(decoder, ClipEncoder(w.sub("model"), vision_fields(Fields(config)), c.hidden), c.hidden)


def _recent(c: TextConfig, whole: Fields) -> list[int | None]:
    """The tokens behind the prompt that each layer sees. The first repository says it beside the text model's config."""
    f, kinds = c.fields, c.fields.find("layer_types", default=[REFERENCE] * c.layers)
    if not isinstance(kinds, list) or len(kinds) != c.layers or any(kind not in (REFERENCE, FULL) for kind in kinds):
        raise ConfigError(f"{f.where}: layer_types must name {REFERENCE} or {FULL} for each layer.")
    usual = f.int("sliding_window_size", default=whole.int("sliding_window", default=RECENT))
    recent = f.int("sliding_window", default=usual)
    return [recent if kind == REFERENCE else None for kind in kinds]


def vision_fields(f: Fields) -> Fields:
    """`vision_config`. The first repository says it in other words."""
    vision = f.sub("vision_config")
    if vision.find("sam_config", default=None) is not None:
        return vision
    clip = vision.sub("width").sub("clip-l-14-224")
    hidden = clip.int("width", default=1024)
    named = {
        "hidden_size": hidden,
        "intermediate_size": 4 * hidden,
        "num_hidden_layers": clip.int("layers", default=24),
        "num_attention_heads": clip.int("heads", default=16),
        "image_size": clip.int("image_size", default=224),
        "patch_size": clip.int("patch_size", default=14),
    }
    return Fields({"sam_config": published_sam(vision), "encoder_config": named}, vision.where)


def clip_config(f: Fields) -> SiglipConfig:
    hidden, heads, patch = f.int("hidden_size"), f.int("num_attention_heads"), f.int("patch_size", default=14)
    if hidden % heads:
        raise ConfigError(f"{f.where}: hidden_size ({hidden}) must be a multiple of the {heads} heads.")
    if (act := f.find("hidden_act", default="quick_gelu")) != "quick_gelu":
        raise ConfigError(f"{f.where}: hidden_act `{act}` is not the one this encoder has (quick_gelu).")
    return SiglipConfig(
        hidden=hidden,
        ffn=f.int("intermediate_size"),
        layers=f.int("num_hidden_layers", most=1 << 10),
        heads=heads,
        channels=f.int("num_channels", default=3),
        patch=patch,
        side=f.int("image_size", default=224, most=1 << 14) // patch,
        merge=1,
        eps=f.float("layer_norm_eps", default=1e-5),
        theta=0.0,
    )


class ClipLayer(SiglipLayer):
    def _mlp(self, x: Array) -> Array:
        inner = self.up(self.norm2(x))
        return self.down(inner * self.ops.sigmoid(inner * QUICK))


class ClipEncoder(ViewEncoder):
    def __init__(self, w: View, vision: Fields, width: int) -> None:
        """`width`: of the text model's embeddings."""
        c = self.config = clip_config(vision.sub("encoder_config"))
        super().__init__(w, vision, c.hidden, 2 * c.hidden, width)
        self.dtype, clip = w.backend.dtype, w.sub("vision_model")
        embeddings = clip.sub("embeddings")
        embeddings.ignore(r"patch_embedding\.", r"position_ids$")  # SAM's encoder stands in its place
        self.first = embeddings.tensor("class_embedding", (c.hidden,), "f32")
        self.positions = embeddings.tensor("position_embedding.weight", (c.side * c.side + 1, c.hidden), "f32")
        self.norm = SiglipNorm(clip, "pre_layrnorm", c.hidden, c.eps)
        self.layers = [ClipLayer(clip.sub(f"transformer.layers.{i}"), c) for i in range(c.layers)]
        self.line_end = w.tensor("image_newline", (width,))

    def _encoded(self, x: Array, pieces: Pieces) -> Work:
        ops, c, (views, n, hidden) = self.ops, self.config, x.shape
        side = round(n**0.5)
        learned = np.asarray(ops.numpy(self.positions), np.float32)
        table = stretched(learned[1:].reshape(c.side, c.side, hidden), side, side, "bicubic").reshape(n, hidden)
        first = np.asarray(ops.numpy(self.first), np.float32) + learned[0]
        front = ops.array(np.broadcast_to(first, (views, 1, hidden)).copy(), self.dtype)
        rows = ops.cat([front, x + ops.array(np.ascontiguousarray(table), self.dtype)], 1)
        y = self.norm(rows.reshape(views * (n + 1), hidden))
        for layer in self.layers:
            y = yield from layer(y, None, [n + 1] * views, pieces)
        return ops.cat([y.reshape(views, n + 1, hidden)[:, 1:], x], 2)

    def _joined(self, picture: Patched, views: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The grid of all tiles, then the whole, line by line."""
        *tiles, whole = views
        rows, columns = getattr(picture, "tiles", (0, 0))
        parts = [self._lines(np.stack(tiles), rows, columns)] if tiles else []
        return [*parts, self._lines(whole[None], 1, 1)]

    def _lines(self, tiles: np.ndarray, rows: int, columns: int) -> np.ndarray:
        side, width = round(tiles.shape[1] ** 0.5), tiles.shape[2]
        grid = tiles.reshape(rows, columns, side, side, width).transpose(0, 2, 1, 3, 4)
        lines = grid.reshape(rows * side, columns * side, width)
        ends = np.broadcast_to(self._row(self.line_end), (rows * side, 1, width))
        return np.concatenate([lines, ends], 1).reshape(-1, width)
