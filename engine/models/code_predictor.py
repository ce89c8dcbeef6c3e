"""A talker's code predictor: from a hidden state and its first code to the other codes of that frame.

A few layers run once a code, and remember only within the frame; so they need no memory of the engine's, and the whole
frame of all sequences in a step is one pure function of arrays, which a backend runs in one go. Choosing is part of it:
the noise of every code comes in as an array, made of the noise that chose the first one, so the same seed gives the same
frame on every backend and in any batch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from backends.base import Array, FramePredictorParts, FrameSampling, KVSpec, Sampling
from engine.errors import ConfigError
from engine.models.config import Fields, text_config
from engine.models.decoder import Attention, Layers, Mlp, Traits
from engine.models.rope import text_rope
from engine.weights.view import View


class CodePredictor:
    """`temperature`, `top_k` and `top_p` are its own, whatever the first code is chosen with; a greedy first code makes
    a greedy frame."""

    def __init__(self, w: View, config: Mapping[str, Any], talker_hidden: int, groups: int) -> None:
        c = text_config(config)
        if c.fields.flag("use_sliding_window"):
            raise ConfigError(f"{c.fields.where}: use_sliding_window is not supported for a code predictor.")
        bias = c.fields.flag("attention_bias")
        traits = Traits(qkv_bias=bias, out_bias=bias, qk_norm=("q_norm", "k_norm"))
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
        """Take the settings that a generation_config has for the predictor."""
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
    """`[N, count]` numbers in [0, 1), each a hash (splitmix64) of a row's noise, which has 24 bits, and its column."""
    bits = (np.asarray(noise, np.float64) * 2.0**24).astype(np.uint64)
    x = (bits[:, None] << np.uint64(16)) | np.arange(1, count + 1, dtype=np.uint64)
    with np.errstate(over="ignore"):
        for _ in range(2):
            x = x + np.uint64(0x9E3779B97F4A7C15)
            x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            x = x ^ (x >> np.uint64(31))
    return ((x >> np.uint64(40)) * 2.0**-24).astype(np.float32)
