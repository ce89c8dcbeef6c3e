"""What encoders of texts share: texts packed in one row without padding, layers that attend in both directions, pooling, and the
head of a cross-encoder.

A `TextEncoder` has no KV cache: it reads whole texts. `pooled` makes one vector of each (an embedding model), `logits` a row of
scores of each (a cross-encoder, which reads a query and a document as one text).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from backends.base import Array, EncoderAttention, Ops, Rope
from engine.errors import ConfigError
from engine.models.config import LARGEST_HEAD, MOST_LAYERS, Fields
from engine.weights.view import View

EncoderLayer = Callable[[Array, Any, EncoderAttention], Array]
TokenPooling: TypeAlias = Literal["cls", "last", "mean", "max", "mean_sqrt_len", "weightedmean"]
Rows = Generator[None, None, np.ndarray]


@dataclass(frozen=True)
class TextInput:
    """A text's tokens with the special tokens around it. `types`: of a pair, 0 in the first text and 1 in the second."""

    ids: Sequence[int]
    types: Sequence[int] | None = None


@dataclass(frozen=True)
class EncoderSizes:
    hidden: int
    layers: int
    heads: int
    ffn: int
    vocab: int
    context: int
    eps: float

    @property
    def dim(self) -> int:
        return self.hidden // self.heads


def encoder_sizes(f: Fields, context: int) -> EncoderSizes:
    """Of a config in either spelling: BERT's, or GPT-2's, which nomic's published files have."""
    found = EncoderSizes(
        hidden=f.int("hidden_size", "n_embd"),
        layers=f.int("num_hidden_layers", "n_layer", most=MOST_LAYERS),
        heads=f.int("num_attention_heads", "n_head"),
        ffn=f.int("intermediate_size", "n_inner"),
        vocab=f.int("vocab_size"),
        context=context,
        eps=f.float("layer_norm_eps", "layer_norm_epsilon", "norm_eps", default=1e-12, above=0),
    )
    if found.hidden % found.heads or found.dim > LARGEST_HEAD:
        raise ConfigError(f"{f.where}: hidden_size ({found.hidden}) does not go into {found.heads} heads.")
    return found


def activation(ops: Ops, f: Fields, *names: str) -> Callable[[Array], Array]:
    """The function that a config names."""
    known = {"gelu": ops.gelu, "gelu_new": ops.gelu_tanh, "gelu_pytorch_tanh": ops.gelu_tanh, "relu": ops.relu}
    name = f.find(*names, default="gelu")
    if name not in known:
        raise ConfigError(f"{f.where}: {names[0]} `{name}` is not one that this architecture is known with (gelu).")
    return known[name]


def layer_norm(w: View, name: str, width: int, eps: float, bias: bool = True) -> Callable[[Array], Array]:
    old = w.has(f"{name}.gamma")  # as the first checkpoints call them
    weight = w.tensor(f"{name}.{'gamma' if old else 'weight'}", (width,))
    shift = w.tensor(f"{name}.{'beta' if old else 'bias'}", (width,)) if bias else None
    return lambda x: w.backend.ops.layer_norm(x, weight, shift, eps)


def prefix_of(w: View, tensor: str, *prefixes: str) -> View:
    """Where the encoder lies in a checkpoint: bare, or under a prefix beside a head."""
    found = next((prefix for prefix in prefixes if w.has(f"{prefix}.{tensor}")), None)
    return w if found is None else w.sub(found)


@dataclass(frozen=True)
class ScoreHead:
    """Of a cross-encoder: what it reads of a text, and the scores it makes of that."""

    score: Callable[[Array], Array]
    labels: int
    pooling: TokenPooling = "cls"


class TextEncoder:
    def __init__(
        self,
        w: View,
        sizes: EncoderSizes,
        embed: Callable[[Array, Sequence[TextInput]], Array],
        layers: Sequence[EncoderLayer],
        rope: Rope | Sequence[Rope] | None = None,
        head: ScoreHead | None = None,
    ) -> None:
        """`embed` takes the ids of all texts, one behind the other, and the texts."""
        self.ops, self.dtype, self.sizes = w.backend.ops, w.backend.dtype, sizes
        self.embed, self.head = embed, head
        self.layers = w.backend.encoder(layers, rope)

    def hidden(self, texts: Sequence[TextInput]) -> Generator[None, None, Array]:
        """`[tokens of all texts, width]`"""
        ids = np.concatenate([np.asarray(text.ids, np.int32) for text in texts])
        x = self.embed(self.ops.array(ids), texts)
        return (yield from self.layers.run(x, [len(text.ids) for text in texts]))

    def pooled(self, texts: Sequence[TextInput], pooling: TokenPooling) -> Rows:
        """`[texts, width]` f32."""
        hidden = yield from self.hidden(texts)
        lens = np.array([len(text.ids) for text in texts])
        ends = np.cumsum(lens)
        if pooling in ("cls", "last"):
            at = ends - 1 if pooling == "last" else ends - lens
            return self.ops.numpy(self.ops.take(hidden, self.ops.array(at.astype(np.int32)), 0))
        return pool(self.ops.numpy(hidden), ends - lens, pooling)

    def logits(self, texts: Sequence[TextInput]) -> Rows:
        """`[texts, labels]` f32, of a cross-encoder."""
        assert self.head is not None
        read = yield from self.pooled(texts, self.head.pooling)
        return self.ops.numpy(self.head.score(self.ops.array(read, self.dtype)))


def pool(hidden: np.ndarray, starts: np.ndarray, pooling: TokenPooling) -> np.ndarray:
    """Hidden states of texts that begin at `starts`, as one vector of each."""
    if pooling == "max":
        return np.maximum.reduceat(hidden, starts, axis=0)
    lens = np.diff([*starts, len(hidden)])
    weights = np.ones(len(hidden))
    if pooling == "weightedmean":
        weights = np.concatenate([np.arange(1, n + 1, dtype=np.float64) for n in lens])
        hidden = hidden * weights[:, None]
    total = np.add.reduceat(hidden, starts, axis=0, dtype=np.float64)
    by = np.add.reduceat(weights, starts)
    if pooling == "mean_sqrt_len":
        by = np.sqrt(by)
    return (total / by[:, None]).astype(np.float32)
