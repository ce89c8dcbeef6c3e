"""EmbeddingGemma: Gemma 3's layers as an encoder, with attention in both directions.

The window of a layer reaches half of `sliding_window` to either side.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from backends.base import Array, EncoderAttention
from engine.errors import ConfigError
from engine.models.config import TextConfig, text_config
from engine.models.decoder import Mlp
from engine.models.gemma3 import gemma_ropes
from engine.models.text_encoder import EncoderSizes, TextEncoder, TextInput, prefix_of
from engine.models.windows import sliding_layers
from engine.weights.view import View


class GemmaEncoderLayer:
    def __init__(self, w: View, c: TextConfig, plus: float, reach: int | None) -> None:
        self.ops, self.c = w.backend.ops, c
        self.window = None if reach is None else (reach + 1, reach)
        self.rope = 0 if reach is None else 1
        self.scale = c.fields.float("query_pre_attn_scalar", above=0) ** -0.5
        own, q, kv = w.sub("self_attn"), c.heads * c.head_dim, c.kv_heads * c.head_dim
        self.qkv = own.linear(("q_proj", q), ("k_proj", kv), ("v_proj", kv), inp=c.hidden)
        self.out = own.linear(("o_proj", c.hidden), inp=q)
        self.q_norm, self.k_norm = own.norm("q_norm", c.head_dim, plus), own.norm("k_norm", c.head_dim, plus)
        self.mlp = Mlp(w.sub("mlp"), c.hidden, c.ffn, gelu=True)
        names = (
            "input_layernorm",
            "post_attention_layernorm",
            "pre_feedforward_layernorm",
            "post_feedforward_layernorm",
        )
        self.norms = [w.norm(name, c.hidden, plus) for name in names]

    def __call__(self, x: Array, angles: Any, attention: EncoderAttention) -> Array:
        ops, c = self.ops, self.c
        before, mixed_norm, mlp_norm, out_norm = self.norms
        heads = ops.qkv(
            self.qkv(ops.rms_norm(x, before, c.eps)),
            c.heads,
            c.kv_heads,
            c.head_dim,
            angles[self.rope],
            self.q_norm,
            self.k_norm,
            c.eps,
        )
        mixed = self.out(attention.attend(*heads, self.scale, self.window).reshape(x.shape[0], c.heads * c.head_dim))
        x = x + ops.rms_norm(mixed, mixed_norm, c.eps)
        return x + ops.rms_norm(self.mlp(ops.rms_norm(x, mlp_norm, c.eps)), out_norm, c.eps)


def embedding_gemma(w: View, config: Mapping[str, Any]) -> TextEncoder:
    c = text_config(config, activations=("gelu_pytorch_tanh",))
    f = c.fields
    for name in ("attn_logit_softcapping", "attention_bias"):
        if f.find(name, default=False):
            raise ConfigError(f"{f.where}: {name} is not known of EmbeddingGemma.")
    plus = 0.0 if f.flag("norms_hold_one") else 1.0
    reach = f.int("sliding_window", default=512) // 2
    inner = prefix_of(w, "embed_tokens.weight", "model")
    words = inner.embedding("embed_tokens", c.vocab, c.hidden)
    layers = [
        GemmaEncoderLayer(inner.sub(f"layers.{i}"), c, plus, reach if sliding else None)
        for i, sliding in enumerate(sliding_layers(c, pattern=6))
    ]
    norm, ops, scale = inner.norm("norm", c.hidden, plus), w.backend.ops, c.hidden**0.5
    w.ignore(r"^lm_head\.", r"^dense_\d\.")  # dense layers behind the pooling are the pipeline's

    def embed(ids: Array, texts: Sequence[TextInput]) -> Array:
        return words.rows(ids) * scale

    final = lambda x, *_: ops.rms_norm(x, norm, c.eps)  # noqa: E731
    sizes = EncoderSizes(c.hidden, c.layers, c.heads, c.ffn, c.vocab, c.context, c.eps)
    return TextEncoder(w, sizes, embed, [*layers, final], list(gemma_ropes(c)))
