"""Qwen3's forced aligner: a sound and its words in one prompt of Qwen3-ASR, read once, and behind each word two marks whose classes are the
times of its beginning and its end.

Two layouts are published, as of Qwen3-ASR: transformers' own, and the authors' with everything below `thinker`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Generator, Mapping, Sequence
from typing import Any

import numpy as np

from backends.base import Array, Step
from engine.errors import ConfigError
from engine.models.config import Fields, text_config
from engine.models.decoder import Attention, Layers, Mlp
from engine.models.qwen3 import qwen3_traits
from engine.models.qwen3_asr import audio_encoder
from engine.models.rope import text_rope
from engine.weights.view import View

_LABELS = 5000  # of the published one


class _WholePrompt:
    """The cache of a prompt that is read at once: nothing is kept."""

    def __init__(self, w: View) -> None:
        self._ops = w.backend.ops

    def attend(self, layer: int, q: Array, k: Array, v: Array, scale: float, sinks: Array | None = None) -> Array:
        return self._ops.sdpa(q[None], k[None], v[None], scale, causal=True)[0]


class Qwen3ForcedAligner:
    rate = 16000

    def __init__(self, w: View, config: Mapping[str, Any]) -> None:
        outer = {**config, **config.get("thinker_config", {})}
        if not isinstance(outer.get("audio_config"), Mapping):
            raise ConfigError("config.json lacks `audio_config`.")
        f = Fields(outer)
        w = w.sub("thinker") if w.has("thinker.audio_tower.conv2d1.weight") else w
        own = w.has("model.audio_tower.conv2d1.weight")  # transformers' layout
        c = text_config(config)
        rope = dataclasses.replace(text_rope(c, 1e6), section=None, interleaved=False)
        traits, body = qwen3_traits(c), w.sub("model.language_model" if own else "model")
        self.ops, self.dtype = w.backend.ops, w.backend.dtype
        self.embedding = body.embedding("embed_tokens", c.vocab, c.hidden)
        self.layers = Layers(
            body,
            c,
            rope,
            lambda v, i: Attention(v.sub("self_attn"), c, i, traits),
            lambda v, _: Mlp(v.sub("mlp"), c.hidden, c.ffn),
        )
        name = "score" if own else "lm_head"
        labels = outer.get("num_labels") or len(outer.get("id2label") or ()) if own else outer.get("classify_num")
        stored = w.shape(f"{name}.weight")  # configs differ in how they say it
        self.labels = stored[0] if stored is not None else int(labels or _LABELS)
        self.head = w.linear((name, self.labels), inp=c.hidden, bias=w.has(f"{name}.bias"))
        self.encoder = audio_encoder(w, outer, c.hidden, own)
        self.audio_token = f.int("audio_token_id", default=151676)
        self.mark = f.int("timestamp_token_id", default=151705)
        self.unit = f.float("timestamp_segment_time", default=80.0, above=0) / 1000  # seconds of a class
        self.cache = _WholePrompt(w)

    def classes(
        self, samples: np.ndarray, before: Sequence[int], behind: Sequence[int]
    ) -> Generator[None, None, np.ndarray]:
        """The class at each mark of a prompt: tokens before the sound, and behind it."""
        ops = self.ops
        sound = yield from self.encoder.run(samples)
        ids = ops.array(np.asarray([*before, *behind], np.int32))
        rows = self.embedding.rows(ids)
        x = ops.cat([rows[: len(before)], sound, rows[len(before) :]], 0)
        hidden = self.layers(Step(x, ops.arange(x.shape[0]), self.cache))  # type: ignore[arg-type]
        places = np.flatnonzero(np.asarray(behind) == self.mark) + len(before) + sound.shape[0]
        yield
        scores = self.head(ops.take(hidden, ops.array(places.astype(np.int32)), 0))
        made: np.ndarray = ops.numpy(scores).argmax(1)
        return made


def qwen3_forced_aligner(w: View, config: Mapping[str, Any]) -> Qwen3ForcedAligner:
    return Qwen3ForcedAligner(w, config)
