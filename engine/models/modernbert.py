"""ModernBERT: an encoder that normalizes what its layers read, with rotary embeddings and a gated MLP without biases.

Every third layer attends to the whole text; the others attend to a window in both directions, with a rope of their own. A
checkpoint with a classifier is a cross-encoder.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from backends.base import Array, EncoderAttention, Rope
from engine.errors import ConfigError
from engine.models.config import Fields
from engine.models.rope import frequencies
from engine.models.text_encoder import (
    EncoderSizes,
    ScoreHead,
    TextEncoder,
    TokenPooling,
    activation,
    encoder_sizes,
    layer_norm,
    prefix_of,
)
from engine.models.windows import FULL, SLIDING
from engine.weights.view import View

POOLINGS: dict[str, TokenPooling] = {"cls": "cls", "mean": "mean"}


class ModernBertLayer:
    def __init__(self, w: View, i: int, f: Fields, s: EncoderSizes, reach: int | None) -> None:
        """`reach`: how many tokens before and after it a token attends to; None: all."""
        self.ops, self.heads, self.dim = w.backend.ops, s.heads, s.dim
        self.act = activation(self.ops, f, "hidden_activation", "hidden_act")
        self.window = None if reach is None else (reach + 1, reach)
        self.rope = 0 if reach is None else 1
        bias, shift = f.flag("attention_bias"), f.flag("norm_bias")
        self.ffn = s.ffn
        # the first layer reads the embeddings, which are normalized already
        self.attn_norm = layer_norm(w, "attn_norm", s.hidden, s.eps, shift) if i else None
        self.mlp_norm = layer_norm(w, "mlp_norm", s.hidden, s.eps, shift)
        self.qkv = w.linear(("attn.Wqkv", 3 * s.hidden), inp=s.hidden, bias=bias)
        self.out = w.linear(("attn.Wo", s.hidden), inp=s.hidden, bias=bias)
        self.up = w.linear(("mlp.Wi", 2 * s.ffn), inp=s.hidden, bias=f.flag("mlp_bias"))
        self.down = w.linear(("mlp.Wo", s.hidden), inp=s.ffn, bias=f.flag("mlp_bias"))

    def __call__(self, x: Array, angles: Any, attention: EncoderAttention) -> Array:
        ops = self.ops
        read = x if self.attn_norm is None else self.attn_norm(x)
        heads = ops.qkv(self.qkv(read), self.heads, self.heads, self.dim, angles[self.rope])
        mixed = attention.attend(*heads, self.dim**-0.5, self.window)
        x = x + self.out(mixed.reshape(x.shape[0], self.heads * self.dim))
        gate, up = ops.split(self.up(self.mlp_norm(x)), [self.ffn, self.ffn], 1)
        return x + self.down(self.act(gate) * up)


def modernbert(w: View, config: Mapping[str, Any]) -> TextEncoder:
    f = Fields(config)
    s = encoder_sizes(f, f.int("max_position_embeddings", default=8192))
    kinds = _layer_kinds(f, s.layers)
    reach = f.int("local_attention", default=128, least=2) // 2
    ropes = [_rope(f, s.dim, FULL, "global_rope_theta", 160_000.0), _rope(f, s.dim, SLIDING, "local_rope_theta", 1e4)]
    inner = prefix_of(w, "embeddings.tok_embeddings.weight", "model")
    words = inner.embedding("embeddings.tok_embeddings", s.vocab, s.hidden)
    shift = f.flag("norm_bias")
    norm = layer_norm(inner, "embeddings.norm", s.hidden, s.eps, shift)
    layers = [
        ModernBertLayer(inner.sub(f"layers.{i}"), i, f, s, reach if kind == SLIDING else None)
        for i, kind in enumerate(kinds)
    ]
    last = layer_norm(inner, "final_norm", s.hidden, s.eps, shift)
    head = _score_head(w, f, s) if w.has("classifier.weight") else None
    w.ignore(r"^head\.", r"^decoder\.")  # what guesses masked words
    final = lambda x, *_: last(x)  # noqa: E731
    return TextEncoder(w, s, lambda ids, texts: norm(words.rows(ids)), [*layers, final], ropes, head)


def _layer_kinds(f: Fields, layers: int) -> list[str]:
    every = f.int("global_attn_every_n_layers", default=3)
    kinds = f.find("layer_types", default=[SLIDING if i % every else FULL for i in range(layers)])
    if not isinstance(kinds, list) or len(kinds) != layers or any(kind not in (SLIDING, FULL) for kind in kinds):
        raise ConfigError(f"{f.where}: layer_types must name {SLIDING} or {FULL} for each layer.")
    return kinds


def _rope(f: Fields, dim: int, kind: str, name: str, usual: float) -> Rope:
    given = f.find("rope_parameters", default={})
    own = Fields(given.get(kind) or {} if isinstance(given, Mapping) else {}, f"{f.where} (rope_parameters)")
    if own.find("rope_type", default="default") != "default" or f.find("rope_scaling", default=None):
        raise ConfigError(f"{f.where}: scaled positions are not known of ModernBERT.")
    theta = own.float("rope_theta", default=f.float(name, default=usual), above=1)
    return Rope(dim, tuple(frequencies(theta, dim)))


def _score_head(w: View, f: Fields, s: EncoderSizes) -> ScoreHead:
    pooling = POOLINGS.get(str(f.find("classifier_pooling", default="cls")))
    if pooling is None:
        raise ConfigError(f"{f.where}: classifier_pooling must be cls or mean, not {f.find('classifier_pooling')!r}.")
    labels = (w.shape("classifier.weight") or (1,))[0]
    dense = w.linear(("head.dense", s.hidden), inp=s.hidden, bias=f.flag("classifier_bias"))
    norm = layer_norm(w, "head.norm", s.hidden, s.eps, f.flag("norm_bias"))
    act = activation(w.backend.ops, f, "classifier_activation")
    out = w.linear(("classifier", labels), inp=s.hidden, bias=True)
    return ScoreHead(lambda x: out(norm(act(dense(x)))), labels, pooling)
