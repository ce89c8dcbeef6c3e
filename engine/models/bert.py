"""BERT, RoBERTa, XLM-RoBERTa and nomic-bert: encoders whose layers normalize what they have added.

BERT and RoBERTa learn an embedding of each position (RoBERTa's begin behind the padding token's id); nomic-bert has rotary
embeddings, a gated MLP and no biases. A checkpoint with a classifier is a cross-encoder.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from backends.base import Array, EncoderAttention, Rope
from engine.errors import ConfigError
from engine.models.config import Fields
from engine.models.rope import frequencies
from engine.models.text_encoder import (
    EncoderSizes,
    ScoreHead,
    TextEncoder,
    TextInput,
    activation,
    encoder_sizes,
    layer_norm,
    prefix_of,
)
from engine.weights.view import View

WORDS = "embeddings.word_embeddings.weight"
Norm = Callable[[Array], Array]


class BertEmbeddings:
    """The sum of a token's, its position's and its type's embedding, normalized. `first`: where positions begin; None: positions
    have no embedding."""

    def __init__(self, w: View, s: EncoderSizes, norm: Norm, types: int, first: int | None) -> None:
        inner = w.sub("embeddings")
        self.ops, self.norm, self.first = w.backend.ops, norm, first
        self.words = inner.embedding("word_embeddings", s.vocab, s.hidden)
        self.places = None if first is None else inner.embedding("position_embeddings", s.context + first, s.hidden)
        self.types = inner.embedding("token_type_embeddings", types, s.hidden) if types else None

    def __call__(self, ids: Array, texts: Sequence[TextInput]) -> Array:
        x = self.words.rows(ids)
        if self.types is not None:
            kinds = [np.zeros(len(text.ids), np.int32) if text.types is None else text.types for text in texts]
            known = np.minimum(np.concatenate(kinds), self.types.shape[0] - 1)  # RoBERTa has one type for both texts
            x = x + self.types.rows(self.ops.array(known.astype(np.int32)))
        if self.places is not None and self.first is not None:
            at = np.concatenate([np.arange(self.first, self.first + len(text.ids)) for text in texts])
            x = x + self.places.rows(self.ops.array(at.astype(np.int32)))
        return self.norm(x)


class BertLayer:
    def __init__(self, w: View, s: EncoderSizes, act: Callable[[Array], Array]) -> None:
        self.ops, self.heads, self.dim, self.act = w.backend.ops, s.heads, s.dim, act
        own = w.sub("attention.self")
        self.qkv = own.linear(("query", s.hidden), ("key", s.hidden), ("value", s.hidden), inp=s.hidden, bias=True)
        self.out = w.linear(("attention.output.dense", s.hidden), inp=s.hidden, bias=True)
        self.up = w.linear(("intermediate.dense", s.ffn), inp=s.hidden, bias=True)
        self.down = w.linear(("output.dense", s.hidden), inp=s.ffn, bias=True)
        self.mixed_norm = layer_norm(w, "attention.output.LayerNorm", s.hidden, s.eps)
        self.out_norm = layer_norm(w, "output.LayerNorm", s.hidden, s.eps)

    def __call__(self, x: Array, angles: Any, attention: EncoderAttention) -> Array:
        heads = self.ops.qkv(self.qkv(x), self.heads, self.heads, self.dim, angles)
        mixed = attention.attend(*heads, self.dim**-0.5).reshape(x.shape[0], self.heads * self.dim)
        x = self.mixed_norm(x + self.out(mixed))
        return self.out_norm(x + self.down(self.act(self.up(x))))


def bert(w: View, config: Mapping[str, Any]) -> TextEncoder:
    return _bert(w, Fields(config), first=0)


def roberta(w: View, config: Mapping[str, Any]) -> TextEncoder:
    f = Fields(config)
    return _bert(w, f, first=f.int("pad_token_id", default=1, least=0) + 1)


def _bert(w: View, f: Fields, first: int) -> TextEncoder:
    if f.find("position_embedding_type", default="absolute") != "absolute":
        raise ConfigError(f"{f.where}: position_embedding_type must be absolute.")
    s = encoder_sizes(f, f.int("max_position_embeddings") - first)
    inner = prefix_of(w, WORDS, "bert", "roberta")
    norm = layer_norm(inner.sub("embeddings"), "LayerNorm", s.hidden, s.eps)
    embeddings = BertEmbeddings(inner, s, norm, f.int("type_vocab_size", default=2, least=0), first)
    act = activation(w.backend.ops, f, "hidden_act")
    layers = [BertLayer(inner.sub(f"encoder.layer.{i}"), s, act) for i in range(s.layers)]
    head = _score_head(w, inner, s)
    w.ignore(r"embeddings\.position_ids$", r"^cls\.", r"^lm_head\.", r"(^|\.)pooler\.")
    return TextEncoder(w, s, embeddings, layers, head=head)


def _score_head(w: View, inner: View, s: EncoderSizes) -> ScoreHead | None:
    """BERT's pooler and classifier, or RoBERTa's classifier of two layers."""
    tanh = w.backend.ops.tanh
    name = next((name for name in ("classifier.out_proj", "classifier") if w.has(f"{name}.weight")), None)
    if name is None:
        return None
    labels = (w.shape(f"{name}.weight") or (1,))[0]
    place, dense_name = (w, "classifier.dense") if name == "classifier.out_proj" else (inner, "pooler.dense")
    out = w.linear((name, labels), inp=s.hidden, bias=w.has(f"{name}.bias"))
    if not place.has(f"{dense_name}.weight"):  # GGUF files of BERT have no pooler
        return ScoreHead(out, labels)
    dense = place.linear((dense_name, s.hidden), inp=s.hidden, bias=True)
    return ScoreHead(lambda x: out(tanh(dense(x))), labels)


class NomicLayer:
    def __init__(self, w: View, s: EncoderSizes) -> None:
        self.ops, self.heads, self.dim = w.backend.ops, s.heads, s.dim
        self.qkv = w.linear(("attn.Wqkv", 3 * s.hidden), inp=s.hidden)
        self.out = w.linear(("attn.out_proj", s.hidden), inp=s.hidden)
        self.gate_up = w.linear(("mlp.fc12", s.ffn), ("mlp.fc11", s.ffn), inp=s.hidden)
        self.down = w.linear(("mlp.fc2", s.hidden), inp=s.ffn)
        self.mixed_norm = layer_norm(w, "norm1", s.hidden, s.eps)
        self.out_norm = layer_norm(w, "norm2", s.hidden, s.eps)

    def __call__(self, x: Array, angles: Any, attention: EncoderAttention) -> Array:
        heads = self.ops.qkv(self.qkv(x), self.heads, self.heads, self.dim, angles)
        mixed = attention.attend(*heads, self.dim**-0.5).reshape(x.shape[0], self.heads * self.dim)
        x = self.mixed_norm(x + self.out(mixed))
        return self.out_norm(x + self.down(self.ops.swiglu(self.gate_up(x))))


# What nomic's published config says of its architecture in fields of its own; another value is another architecture.
_NOMIC = {
    "activation_function": "swiglu",
    "prenorm": False,
    "parallel_block": False,
    "use_rms_norm": False,
    "qkv_proj_bias": False,
    "mlp_fc1_bias": False,
    "mlp_fc2_bias": False,
    "rotary_emb_fraction": 1.0,
    "rotary_emb_interleaved": False,
    "num_experts": 0,
    "hidden_act": "silu",
}


def nomic_bert(w: View, config: Mapping[str, Any]) -> TextEncoder:
    f = Fields(config)
    for name, value in _NOMIC.items():
        if f.find(name, default=value) not in (value, value or None):
            raise ConfigError(f"{f.where}: {name} must be {value!r}, not {f.find(name)!r}.")
    scaled = (
        f.find("rotary_scaling_factor", default=None) is not None
    )  # from the trained length on, by each text's length
    names = ("max_trained_positions",) if scaled else ("max_position_embeddings", "n_positions")
    s = encoder_sizes(f, f.int(*names, default=2048))
    given = f.find("rope_parameters", default={})
    theta = Fields({"rotary_emb_base": f.find("rotary_emb_base", default=1000.0), **given}, f.where)
    if theta.find("rope_type", default="default") != "default":
        raise ConfigError(f"{f.where}: rope type `{theta.find('rope_type')}` is not known of nomic-bert.")
    base = theta.float("rope_theta", "rotary_emb_base", above=1)
    inner = prefix_of(w, WORDS, "bert", "nomic_bert")
    types = f.int("type_vocab_size", default=2, least=0)
    embeddings = BertEmbeddings(inner, s, layer_norm(inner, "emb_ln", s.hidden, s.eps), types, None)
    layers = [NomicLayer(inner.sub(f"encoder.layers.{i}"), s) for i in range(s.layers)]
    w.ignore(r"embeddings\.position_ids$", r"^cls\.", r"^lm_head\.", r"(^|\.)pooler\.")
    return TextEncoder(w, s, embeddings, layers, Rope(s.dim, tuple(frequencies(base, s.dim))))
