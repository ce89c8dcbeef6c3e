"""OmniVoice: the frames of a passage all at once, by a Qwen3 that attends in both directions.

Every code of every frame begins as a mask. In each step the network reads the text, the frames of a recording where there is one, and the
frames so far; the codes that it is surest of are kept, until none is a mask. Each step is taken with text and recording and
without (classifier-free guidance).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from backends.base import Array, EncoderAttention
from engine.errors import ConfigError
from engine.models.config import Fields, TextConfig, text_config
from engine.models.decoder import Mlp
from engine.models.rope import text_rope
from engine.weights.view import View

_NAME = "OmniVoice config.json"


@dataclass(frozen=True)
class UnmaskRules:
    """How masks become codes. The numbers are those of the reference library."""

    steps: int = 32
    guidance: float = 2.0
    temperature: float = 0.0  # of the codes; 0: the best ones
    scatter: float = 5.0  # how much chance decides which codes are kept; 0: the surest ones
    later: float = 5.0  # how much later each further code of a frame comes
    shift: float = 0.1  # below 1: fewer codes in the first steps

    def kept(self, count: int) -> list[int]:
        """How many of `count` codes each step keeps; the last one keeps all that are left."""
        at = [step / self.steps for step in range(self.steps + 1)]
        done = [self.shift * t / (1.0 + (self.shift - 1.0) * t) for t in at]
        made = [max(1, math.ceil(count * (b - a))) for a, b in itertools.pairwise(done)]
        return [*made[:-1], count]


class _Layer:
    def __init__(self, w: View, c: TextConfig) -> None:
        self.ops, self.c = w.backend.ops, c
        own, q, kv = w.sub("self_attn"), c.heads * c.head_dim, c.kv_heads * c.head_dim
        self.qkv = own.linear(("q_proj", q), ("k_proj", kv), ("v_proj", kv), inp=c.hidden)
        self.out = own.linear(("o_proj", c.hidden), inp=q)
        self.head_norms = own.norm("q_norm", c.head_dim), own.norm("k_norm", c.head_dim)
        self.norms = [w.norm(name, c.hidden) for name in ("input_layernorm", "post_attention_layernorm")]
        self.mlp = Mlp(w.sub("mlp"), c.hidden, c.ffn)

    def __call__(self, x: Array, angles: Any, among: EncoderAttention) -> Array:
        ops, c = self.ops, self.c
        heads = ops.qkv(
            self.qkv(ops.rms_norm(x, self.norms[0], c.eps)),
            c.heads,
            c.kv_heads,
            c.head_dim,
            angles,
            *self.head_norms,
            c.eps,
        )
        attended = among.attend(*heads, c.head_dim**-0.5)
        x = x + self.out(attended.reshape(x.shape[0], c.heads * c.head_dim))
        return x + self.mlp(ops.rms_norm(x, self.norms[1], c.eps))


class OmniVoice:
    rate = 24000

    def __init__(self, w: View, config: Mapping[str, Any]) -> None:
        f, inner = Fields(config, _NAME), config.get("llm_config")
        if not isinstance(inner, Mapping) or inner.get("model_type", "qwen3") != "qwen3":
            raise ConfigError(f"{_NAME}: llm_config must be that of a Qwen3.")
        self.ops, self.dtype = w.backend.ops, w.backend.dtype
        self.books, self.codes = f.int("num_audio_codebook", default=8), f.int("audio_vocab_size", default=1025)
        self.mask = f.int("audio_mask_id", default=1024, least=0)
        if self.mask >= self.codes:
            raise ConfigError(f"{_NAME}: audio_mask_id must be one of the {self.codes} codes.")
        c = text_config(inner)
        self.vocab = c.vocab
        w.ignore(r"^codebook_layer_offsets$", r"\blm_head\.")
        body = w.sub("backbone" if w.has("backbone.norm.weight") else "llm")
        self.words = body.embedding("embed_tokens", c.vocab, c.hidden)
        # one table and one matrix of all codebooks, or a table and a matrix of each, as mlx-audio writes them
        together = w.has("audio_embeddings.weight")
        names = [""] if together else [f".{i}" for i in range(self.books)]
        rows = self.codes * (self.books if together else 1)
        self.tables = [w.embedding(f"audio_embeddings{name}", rows, c.hidden) for name in names]
        self.head = w.linear(*((f"audio_heads{name}", rows) for name in names), inp=c.hidden)
        norm = body.norm("norm", c.hidden)
        layers = [_Layer(body.sub(f"layers.{i}"), c) for i in range(c.layers)]
        last = lambda x, *_: self.ops.rms_norm(x, norm, c.eps)  # noqa: E731
        self.layers = w.backend.encoder([*layers, last], text_rope(c, 1e6))

    def _frames(self, codes: np.ndarray) -> Array:
        """`[T, books]` as rows `[T, D]`, the sum over a frame's codes."""
        ops, each = self.ops, np.arange(self.books, dtype=np.int32) * self.codes
        if len(self.tables) == 1:
            rows = self.tables[0].rows(ops.array((codes + each).reshape(-1).astype(np.int32)))
            return ops.sum(rows.reshape(len(codes), self.books, rows.shape[1]), 1)
        made = self.tables[0].rows(ops.array(codes[:, 0].astype(np.int32)))
        for i in range(1, self.books):
            made = made + self.tables[i].rows(ops.array(codes[:, i].astype(np.int32)))
        return made

    def speak(
        self, ids: Sequence[int], heard: np.ndarray, count: int, rules: UnmaskRules, random: np.random.Generator
    ) -> Generator[None, None, np.ndarray]:
        """Codes `[count, books]` of a prompt's tokens. `heard [n, books]`: the frames of a recording, which these continue."""
        ops = self.ops
        known = self.words.rows(ops.array(np.asarray(ids, np.int32)))
        if len(heard):
            known = ops.cat([known, self._frames(heard)], 0)
        before = known.shape[0]
        codes = np.full((count, self.books), self.mask, np.int32)
        for keep in rules.kept(codes.size):
            frames = self._frames(codes)
            both = ops.cat([known, frames, frames], 0) if rules.guidance else ops.cat([known, frames], 0)
            lens = [before + count, count] if rules.guidance else [before + count]
            hidden = yield from self.layers.run(both, lens)
            logits = ops.numpy(self.head(hidden[before:])).astype(np.float32).reshape(-1, count, self.books, self.codes)
            yield
            self._unmask(codes, log_softmax(logits), keep, rules, random)
            yield
        return np.where(codes == self.mask, 0, codes)

    def _unmask(
        self, codes: np.ndarray, found: np.ndarray, keep: int, rules: UnmaskRules, random: np.random.Generator
    ) -> None:
        """`found [1 or 2, T, books, codes]`: log probabilities with the text, and without."""
        scores = found[0]
        if rules.guidance:
            scores = log_softmax(scores + rules.guidance * (scores - found[1]))
        scores[..., self.mask] = -np.inf
        sure = scores.max(-1) - np.arange(self.books, dtype=np.float32) * rules.later
        if rules.temperature > 0:
            least = np.partition(scores, -math.ceil(0.1 * self.codes), -1)[..., -math.ceil(0.1 * self.codes), None]
            scores = _scattered(np.where(scores >= least, scores, -np.inf), rules.temperature, random)
        best = scores.argmax(-1)
        if rules.scatter > 0:
            sure = _scattered(sure, rules.scatter, random)
        flat = np.where(codes == self.mask, sure, -np.inf).reshape(-1)
        chosen = np.argsort(-flat, kind="stable")[:keep]
        chosen = chosen[codes.reshape(-1)[chosen] == self.mask]
        codes.reshape(-1)[chosen] = best.reshape(-1)[chosen]


def _scattered(x: np.ndarray, temperature: float, random: np.random.Generator) -> np.ndarray:
    """Scores with Gumbel noise: the largest is drawn as a softmax at this temperature would draw it."""
    made: np.ndarray = x / np.float32(temperature) + random.gumbel(size=x.shape).astype(np.float32)
    return made


def log_softmax(x: np.ndarray) -> np.ndarray:
    low = x - x.max(-1, keepdims=True)
    made: np.ndarray = low - np.log(np.exp(low).sum(-1, keepdims=True))
    return made


def omnivoice(w: View, config: Mapping[str, Any]) -> OmniVoice:
    return OmniVoice(w, config)
