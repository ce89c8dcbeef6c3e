"""Qwen3-TTS's talker: a Qwen3 decoder over codec tokens, with a text embedding of its own beside them.

Its vocabulary are the codes of a frame's first group and, in the last 1024 ids, marks that only prompts hold; of these it
may write only the end. After every sampled code the predictor completes the frame, and the sum of all groups'
embeddings is the next input, to which the engine adds a row of the text track. How a prompt is laid out from text,
voice and language is not known here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from backends.base import Array, Sampling
from engine.errors import ConfigError
from engine.models.code_predictor import CodePredictor
from engine.models.config import text_config
from engine.models.decoder import Attention, Layers, Mlp, Traits
from engine.models.rope import text_rope
from engine.weights.view import View

MARKS = 1024  # ids at the end of the vocabulary that are no codes


class Talker(Layers):
    """See `backends.base.Model`. All three position axes are always equal, so positions are plain counts."""

    def __init__(self, w: View, config: Mapping[str, Any]) -> None:
        c = text_config(config)
        f = c.fields
        if f.flag("use_sliding_window"):
            raise ConfigError(f"{f.where}: use_sliding_window is not supported for Qwen3-TTS.")
        bias = f.flag("attention_bias")
        traits = Traits(qkv_bias=bias, out_bias=bias, qk_norm=("q_norm", "k_norm"))
        w.ignore(r"^speaker_encoder\.")  # a model of its own
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
        """Take what generation_config says of the choices inside a frame."""
        self.predictor.choose_like(generation)

    def embed(self, ids: Array) -> Array:
        return self.codec_embedding.rows(ids)

    def logits(self, hidden: Array) -> Array:
        return self.head(hidden) + self.closed

    def frame(self, hidden: Array, ids: Array, params: Sequence[Sampling]) -> tuple[Array, Array]:
        return self.predictor(hidden, self.codec_embedding.rows(ids), ids, params)

    def reframe(self, codes: Array) -> Array:
        """The inputs that frames `[n, G]` were: what a reference voice is shown as."""
        total = self.codec_embedding.rows(codes[:, 0])
        for i, embedding in enumerate(self.predictor.embeddings):
            total = total + embedding.rows(codes[:, i + 1])
        return total

    def read(self, ids: Array) -> Array:
        """Text tokens `[n]` as inputs `[n, D]`."""
        return self.project(self.ops.silu(self.widen(self.text_embedding.rows(ids))))


def qwen3_tts(w: View, config: Mapping[str, Any]) -> Talker:
    return Talker(w, config)
