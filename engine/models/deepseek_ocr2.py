"""DeepSeek-OCR 2: SAM's encoder, a small decoder of Qwen 2 that orders what it sees, and a mixture of experts that writes.

Behind a view's rows come as many learned queries as the view has tokens. Rows see one another, a query sees all rows and the queries
before it; what the queries become is the picture. A large picture is cut into tiles, and comes once more as a whole; a learned row ends it.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any

import numpy as np

from backends.base import Array, Rope
from engine.errors import ConfigError
from engine.models.config import Fields, text_config
from engine.models.decoder import Attention, Decoder, Mlp, Traits
from engine.models.deepseek import softmax_mixture
from engine.models.encoder import Patched, Pieces, Work
from engine.models.rope import frequencies, text_rope
from engine.models.sam import SamEncoder, sam_config
from engine.models.vision_language import SeeingDecoder
from engine.weights.view import View

SHRINK = 4  # by which SAM's convolutions shorten each side of a view
QUERIES = {"query_768": 144, "query_1024": 256}  # learned rows by the side of a view
QWEN2 = {  # of 0.5B
    "intermediate_size": 4864,
    "num_hidden_layers": 24,
    "num_attention_heads": 14,
    "num_key_value_heads": 2,
    "rope_theta": 1e6,
}
MOST_AT_ONCE = 4  # views in one run of the encoder


def sides_of(picture: Patched) -> Sequence[int]:
    """Patches on a side of each view, which are squares: tiles, then the whole."""
    sides: Sequence[int] = getattr(picture, "sides", picture.grid[1:2])
    return sides


def query_name(tokens: int) -> str:
    """The learned rows for a view of so many tokens."""
    return "query_768" if tokens <= QUERIES["query_768"] else "query_1024"


def deepseek_ocr2(w: View, config: Mapping[str, Any]) -> SeeingDecoder:
    c = text_config(config)
    f = c.fields
    traits = Traits(qkv_bias=f.flag("attention_bias"), out_bias=f.flag("attention_bias"))
    decoder = Decoder(
        w,
        c,
        text_rope(c),
        mixer=lambda v, i: Attention(v.sub("self_attn"), c, i, traits),
        mlp=lambda v, i: softmax_mixture(v.sub("mlp"), c, i, first=1),
    )
    return SeeingDecoder(decoder, DeepEncoder(w.sub("model"), vision_fields(Fields(config)), c.hidden), c.hidden)


def vision_fields(f: Fields) -> Fields:
    """`vision_config`. The first repositories say little in it, and that in other words; the rest was in the code beside them."""
    vision = f.sub("vision_config")
    if vision.find("sam_config", default=None) is not None:
        return vision
    width = vision.sub("width")
    sam, hidden = width.sub("sam_vit_b"), width.sub("qwen2-0-5b").int("dim", default=896)
    named = {
        "hidden_size": sam.int("width", default=768),
        "num_hidden_layers": sam.int("layers", default=12),
        "num_attention_heads": sam.int("heads", default=12),
        "global_attn_indexes": sam.find("global_attn_indexes", default=[2, 5, 8, 11]),
        "image_size": vision.int("image_size", default=1024),
    }
    return Fields({"sam_config": named, "encoder_config": QWEN2 | {"hidden_size": hidden}}, vision.where)


class QueryLayer:
    def __init__(self, w: View, hidden: int, heads: int, kv_heads: int, ffn: int, eps: float) -> None:
        self.ops, self.hidden, self.heads, self.kv_heads, self.eps = w.backend.ops, hidden, heads, kv_heads, eps
        self.dim = hidden // heads
        self.norm1, self.norm2 = w.norm("input_layernorm", hidden), w.norm("post_attention_layernorm", hidden)
        attention, kv = w.sub("self_attn"), kv_heads * self.dim
        parts = [("q_proj", hidden), ("k_proj", kv), ("v_proj", kv)]
        self.qkv = attention.linear(*parts, inp=hidden, bias=True)
        self.out = attention.linear(("o_proj", hidden), inp=hidden)
        self.mlp = Mlp(w.sub("mlp"), hidden, ffn)
        self.square, self.cost = float(hidden * (hidden + 2 * kv)), float(3 * hidden * ffn)

    def __call__(self, x: Array, views: int, seen: int, angles: Any, pieces: Pieces) -> Work:
        """`x [views * n, hidden]`, of whose n rows the first `seen` are a view's."""
        ops, n = self.ops, x.shape[0] // views
        mixed = yield from pieces.rows(lambda part: self.qkv(ops.rms_norm(part, self.norm1, self.eps)), x, self.square)
        q, k, v = ops.qkv(mixed, self.heads, self.kv_heads, self.dim, angles)
        q = q.reshape(views, n, self.heads, self.dim)
        k, v = (each.reshape(views, n, self.kv_heads, self.dim) for each in (k, v))
        scale = self.dim**-0.5
        rows = ops.sdpa(q[:, :seen], k[:, :seen], v[:, :seen], scale)
        queries = ops.sdpa(q[:, seen:], k, v, scale, causal=True)
        attended = ops.cat([rows, queries], 1).reshape(views * n, self.hidden)
        yield from pieces.cut(attended)
        x = x + (yield from pieces.rows(self.out, attended, float(self.hidden**2)))
        return x + (
            yield from pieces.rows(lambda part: self.mlp(ops.rms_norm(part, self.norm2, self.eps)), x, self.cost)
        )


class DeepEncoder:
    taps: Mapping[int, object] = {}

    def __init__(self, w: View, vision: Fields, width: int) -> None:
        """`width`: of the text model's embeddings."""
        self.ops = w.backend.ops
        f = vision.sub("encoder_config")
        hidden, heads, kv_heads = f.int("hidden_size"), f.int("num_attention_heads"), f.int("num_key_value_heads")
        if hidden % heads or heads % kv_heads or (hidden // heads) % 2:
            raise ConfigError(f"{f.where}: hidden_size ({hidden}) does not fit {heads} and {kv_heads} heads.")
        if (act := f.find("hidden_act", default="silu")) != "silu":
            raise ConfigError(f"{f.where}: hidden_act `{act}` is not the one this encoder has (silu).")
        c = sam_config(vision.sub("sam_config"), hidden)
        if c.widths[1] != hidden:
            raise ConfigError(
                f"{vision.where}: downsample_channels end with {c.widths[1]}, but the encoder has {hidden}."
            )
        self.sam, self.eps, self.hidden = (
            SamEncoder(w.sub("sam_model"), c),
            f.float("rms_norm_eps", default=1e-6),
            hidden,
        )
        inner = w.sub("qwen2_model")
        self.queries = {name: inner.tensor(f"{name}.weight", (count, hidden)) for name, count in QUERIES.items()}
        body, ffn = inner.sub("model.model"), f.int("intermediate_size")
        body.ignore(r"embed_tokens\.", r"lm_head\.")
        self.layers = [
            QueryLayer(body.sub(f"layers.{i}"), hidden, heads, kv_heads, ffn, self.eps)
            for i in range(f.int("num_hidden_layers", most=1 << 10))
        ]
        self.norm = body.norm("norm", hidden)
        rope = f.sub("rope_parameters") if f.find("rope_parameters", default=None) is not None else f
        self.rope = Rope(hidden // heads, tuple(frequencies(rope.float("rope_theta", default=1e6), hidden // heads)))
        self.project = w.sub("projector").linear(("layers", width), inp=hidden, bias=True)
        self.end = w.tensor("view_seperator", (width,))
        self.out_cost = float(hidden * width)

    def __call__(
        self, pictures: Sequence[Patched], pieces: Pieces | None = None
    ) -> Generator[None, None, list[np.ndarray]]:
        """Rows of each picture, `[tokens, width]` in f32."""
        pieces = pieces or Pieces(self.ops)
        end = np.asarray(self.ops.numpy(self.end), np.float32)[None]
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
        return [np.concatenate([*(made[i, j] for j in range(len(each))), end]) for i, each in enumerate(sides)]

    def _views(self, patches: np.ndarray, views: int, side: int, pieces: Pieces) -> Work:
        ops = self.ops
        x = yield from self.sam(patches.reshape(len(patches), -1), side, pieces)
        x = x.reshape(views, -1, self.hidden)
        seen = x.shape[1]
        queries = self.queries[query_name(seen)]
        x = ops.cat([x, ops.stack([queries] * views, 0)], 1)
        n = x.shape[1]
        angles = ops.angles(ops.array(np.tile(np.arange(n, dtype=np.int32), views)), self.rope)
        x = x.reshape(views * n, self.hidden)
        for layer in self.layers:
            x = yield from layer(x, views, seen, angles, pieces)
        x = ops.rms_norm(x, self.norm, self.eps).reshape(views, n, self.hidden)[:, seen:]
        return (yield from pieces.rows(self.project, x.reshape(-1, self.hidden), self.out_cost))
