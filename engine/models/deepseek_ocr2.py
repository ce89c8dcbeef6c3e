"""DeepSeek-OCR 2: SAM's encoder, a small decoder of Qwen 2 that orders what it sees, and a mixture of experts that writes.

Behind a view's rows come as many learned queries as the view has tokens. Rows see one another, a query sees all rows and the queries
before it; what the queries become is the picture. A large picture is cut into tiles, and comes once more as a whole; a learned row ends it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from backends.base import Array, Rope
from engine.errors import ConfigError
from engine.models.config import Fields, text_config
from engine.models.decoder import Attention, Decoder, Mlp, Traits
from engine.models.deepseek import softmax_mixture
from engine.models.encoder import Pieces, Work
from engine.models.page_views import ViewEncoder, published_sam
from engine.models.rope import frequencies, text_rope
from engine.models.vision_language import SeeingDecoder
from engine.weights.view import View

QUERIES = {"query_768": 144, "query_1024": 256}  # learned rows by the side of a view
QWEN2 = {  # of 0.5B
    "intermediate_size": 4864,
    "num_hidden_layers": 24,
    "num_attention_heads": 14,
    "num_key_value_heads": 2,
    "rope_theta": 1e6,
}


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
    hidden = vision.sub("width").sub("qwen2-0-5b").int("dim", default=896)
    return Fields(
        {"sam_config": published_sam(vision), "encoder_config": QWEN2 | {"hidden_size": hidden}}, vision.where
    )


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


class DeepEncoder(ViewEncoder):
    def __init__(self, w: View, vision: Fields, width: int) -> None:
        """`width`: of the text model's embeddings."""
        f = vision.sub("encoder_config")
        hidden, heads, kv_heads = f.int("hidden_size"), f.int("num_attention_heads"), f.int("num_key_value_heads")
        if hidden % heads or heads % kv_heads or (hidden // heads) % 2:
            raise ConfigError(f"{f.where}: hidden_size ({hidden}) does not fit {heads} and {kv_heads} heads.")
        if (act := f.find("hidden_act", default="silu")) != "silu":
            raise ConfigError(f"{f.where}: hidden_act `{act}` is not the one this encoder has (silu).")
        super().__init__(w, vision, hidden, hidden, width)
        self.eps = f.float("rms_norm_eps", default=1e-6)
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

    def _encoded(self, x: Array, pieces: Pieces) -> Work:
        ops, (views, seen, _) = self.ops, x.shape
        queries = self.queries[query_name(seen)]
        x = ops.cat([x, ops.stack([queries] * views, 0)], 1)
        n = x.shape[1]
        angles = ops.angles(ops.array(np.tile(np.arange(n, dtype=np.int32), views)), self.rope)
        x = x.reshape(views * n, self.hidden)
        for layer in self.layers:
            x = yield from layer(x, views, seen, angles, pieces)
        return ops.rms_norm(x, self.norm, self.eps).reshape(views, n, self.hidden)[:, seen:]
