"""A talker's code predictor: from a hidden state and its first code to the other codes of that frame.

A few layers run once a code, and remember only within the frame; so they need no memory of the engine's, and the whole
frame of all sequences in a step is one pure function of arrays, which `Ops.compile` makes one recording. Choosing is
part of it: the noise of every code comes in as an array, made of the noise that chose the first one, so the same seed
gives the same frame on every backend and in any batch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from backends.base import Array, KVSpec, Ops, Sampling
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
        self.ops: Ops = w.backend.ops
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
        specs = [KVSpec(c.kv_heads, c.head_dim)] * c.layers
        self.brief = w.backend.brief(self.layers, specs, groups)
        self.heads = [w.linear((f"lm_head.{i}", c.vocab), inp=c.hidden) for i in range(self.more)]
        self.narrow = None
        if c.hidden != talker_hidden:
            self.narrow = w.linear(("small_to_mtp_projection", c.hidden), inp=talker_hidden, bias=True)
        self._compiled: dict[tuple[float, int, float], Any] = {}

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
        settings = (self.temperature, min(self.top_k or self.vocab, self.vocab), self.top_p)
        if settings not in self._compiled:
            self._compiled[settings] = self.ops.compile(self._frame_function(*settings), "frame")
        noise = self.ops.array(spread([p.noise for p in params], self.more))
        random = self.ops.array(np.array([p.temperature > 0 for p in params], np.int32))
        codes, embeds = self._compiled[settings](hidden, first, ids, noise, random)
        return codes, embeds

    def _frame_function(self, temperature: float, top_k: int, top_p: float) -> Any:
        ops = self.ops

        def frame(hidden: Array, first: Array, ids: Array, noise: Array, random: Array) -> tuple[Array, Array]:
            n = hidden.shape[0]
            more = self.brief.begin(n)
            x = ops.stack([hidden, first], 1).reshape(2 * n, hidden.shape[1])
            codes, total = [ids], first
            for i in range(self.more):
                out = more(x if self.narrow is None else self.narrow(x))
                last = out.reshape(n, -1, out.shape[1])[:, -1]
                logits = ops.cast(self.heads[i](last), "f32")
                code = ops.choose(logits, noise[:, i], random, temperature, top_k, top_p)
                x = self.embeddings[i].rows(code)
                codes.append(code)
                total = total + x
            return ops.stack(codes, 1), total

        return frame


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
