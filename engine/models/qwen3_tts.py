"""Qwen3-TTS's talker: a Qwen3 decoder over codec tokens, and the code predictor that completes each frame.

The vocabulary holds the codes of a frame's first codebook and, in the last 1024 ids, special tokens that occur only in
prompts, except the end token. After each sampled code the predictor generates the frame's other codes; the sum of all
codebooks' embeddings, plus the text stream's next row, is the next input. Prompts are laid out in
`engine/pipelines/speaking/qwen3_tts.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from backends.base import Array, FramePredictorParts, FrameSampling, KVSpec, Sampling
from engine.errors import ConfigError
from engine.models.config import Fields, text_config
from engine.models.decoder import Attention, Layers, Mlp
from engine.models.qwen3 import qwen3_traits
from engine.models.rope import text_rope
from engine.weights.view import View


class CodePredictor:
    """Generates the remaining codes of a frame from a hidden state and the first code.

    Its KV cache lives only within a frame, so a frame of all sequences is one pure function of arrays, which a backend can run
    as a whole. The random numbers of all codes derive from the one that sampled the first code: the same seed gives the same
    frame on every backend and in any batch. `temperature`, `top_k` and `top_p` are its own; a greedy first code makes a greedy
    frame."""

    def __init__(self, w: View, config: Mapping[str, Any], talker_hidden: int, groups: int) -> None:
        c = text_config(config)
        traits = qwen3_traits(c)
        if any(window is not None and window < groups for window in traits.windows):  # else it covers a whole frame
            raise ConfigError(
                f"{c.fields.where}: a code predictor's sliding window must cover a frame of {groups} codes."
            )
        traits = replace(traits, windows=())
        inner = w.sub("model")
        self.more, self.vocab = groups - 1, c.vocab
        self.temperature, self.top_k, self.top_p = 0.9, 50, 1.0
        self.embeddings = [inner.embedding(f"codec_embedding.{i}", c.vocab, talker_hidden) for i in range(self.more)]
        self.layers = Layers(
            inner,
            c,
            text_rope(c),
            mixer=lambda v, i: Attention(v.sub("self_attn"), c, i, traits),
            mlp=lambda v, i: Mlp(v.sub("mlp"), c.hidden, c.ffn),
        )
        heads = [w.linear((f"lm_head.{i}", c.vocab), inp=c.hidden) for i in range(self.more)]
        narrow = None
        if c.hidden != talker_hidden:
            narrow = w.linear(("small_to_mtp_projection", c.hidden), inp=talker_hidden, bias=True)
        specs = [KVSpec(c.kv_heads, c.head_dim)] * c.layers
        self.parts = FramePredictorParts(self.layers, specs, heads, self.embeddings, narrow)
        self.frames = w.backend.frame_predictor(self.parts)

    def choose_like(self, generation: Mapping[str, Any]) -> None:
        """Read the predictor's sampling settings from a generation_config."""
        f = Fields(generation, "generation_config.json")
        sampled = f.flag("subtalker_dosample", True)
        self.temperature = f.float("subtalker_temperature", default=self.temperature) if sampled else 0.0
        self.top_k = f.int("subtalker_top_k", default=self.top_k, least=0)
        self.top_p = f.float("subtalker_top_p", default=self.top_p)

    def __call__(self, hidden: Array, first: Array, ids: Array, params: Sequence[Sampling]) -> tuple[Array, Array]:
        """`hidden [N, D]`, `first [N, D]` the embeddings of the first codes `ids [N]` -> all codes `[N, G]`, and the
        sum of their embeddings."""
        choice = FrameSampling(self.temperature, min(self.top_k or self.vocab, self.vocab), self.top_p)
        noise = spread([p.noise for p in params], self.more)
        random = np.array([p.temperature > 0 for p in params], np.int32)
        return self.frames(hidden, first, ids, noise, random, choice)


def spread(noise: Sequence[float], count: int) -> np.ndarray:
    """`[N, count]` numbers in [0, 1), each the splitmix64 hash of a row's noise (24 bits) and the column."""
    bits = (np.asarray(noise, np.float64) * 2.0**24).astype(np.uint64)
    x = (bits[:, None] << np.uint64(16)) | np.arange(1, count + 1, dtype=np.uint64)
    with np.errstate(over="ignore"):
        for _ in range(2):
            x = x + np.uint64(0x9E3779B97F4A7C15)
            x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            x = x ^ (x >> np.uint64(31))
    return ((x >> np.uint64(40)) * 2.0**-24).astype(np.float32)


MARKS = 1024  # special token ids at the end of the vocabulary


class Qwen3TTSModel(Layers):
    """The talker; see `backends.base.Model`. All three rope axes are equal, so positions are one-dimensional."""

    def __init__(self, w: View, config: Mapping[str, Any]) -> None:
        c = text_config(config)
        f = c.fields
        traits = qwen3_traits(c)
        w.ignore(r"^speaker_encoder\.")  # a separate model
        talker = w.sub("talker")
        inner = talker.sub("model")
        super().__init__(
            inner,
            c,
            text_rope(c),
            mixer=lambda v, i: Attention(v.sub("self_attn"), c, i, traits),
            mlp=lambda v, i: Mlp(v.sub("mlp"), c.hidden, c.ffn),
        )
        self.vocab = c.vocab
        self.hidden = c.hidden
        self.groups = f.int("num_code_groups", least=2)
        end = f.int("codec_eos_token_id")
        if c.vocab <= MARKS or not c.vocab - MARKS <= end < c.vocab:
            raise ConfigError(
                f"{f.where}: codec_eos_token_id ({end}) must be one of the last {MARKS} of {c.vocab} ids, "
                "and codes must come before them."
            )
        self.eos_ids = (end,)
        self.codec_embedding = inner.embedding("codec_embedding", c.vocab, c.hidden)
        text_rows, text_width = f.int("text_vocab_size"), f.int("text_hidden_size")
        self.text_embedding = inner.embedding("text_embedding", text_rows, text_width)
        self.widen = talker.linear(("text_projection.linear_fc1", text_width), inp=text_width, bias=True)
        self.project = talker.linear(("text_projection.linear_fc2", c.hidden), inp=text_width, bias=True)
        self.head = talker.linear(("codec_head", c.vocab), inp=c.hidden)
        self.predictor = CodePredictor(
            talker.sub("code_predictor"), f.sub("code_predictor_config").values, c.hidden, self.groups
        )
        closed = np.zeros(c.vocab, np.float32)
        closed[c.vocab - MARKS :] = -np.inf
        closed[end] = 0.0
        self.closed = self.ops.array(closed, w.backend.dtype)

    def choose_like(self, generation: Mapping[str, Any]) -> None:
        """Read the code predictor's sampling settings from a generation_config."""
        self.predictor.choose_like(generation)

    def embed(self, ids: Array) -> Array:
        return self.codec_embedding.rows(ids)

    def logits(self, hidden: Array) -> Array:
        return self.head(hidden) + self.closed

    def frame(self, hidden: Array, ids: Array, params: Sequence[Sampling]) -> tuple[Array, Array]:
        return self.predictor(hidden, self.codec_embedding.rows(ids), ids, params)

    def reframe(self, codes: Array) -> Array:
        """Frames `[n, G]` as input embeddings, for a reference recording in the prompt."""
        total = self.codec_embedding.rows(codes[:, 0])
        for i, embedding in enumerate(self.predictor.embeddings):
            total = total + embedding.rows(codes[:, i + 1])
        return total

    def read(self, ids: Array) -> Array:
        """Embeddings `[n, D]` of text tokens `[n]`."""
        return self.project(self.ops.silu(self.widen(self.text_embedding.rows(ids))))


def qwen3_tts(w: View, config: Mapping[str, Any]) -> Qwen3TTSModel:
    return Qwen3TTSModel(w, config)
