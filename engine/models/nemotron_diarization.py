"""Nemotron 3 Diarization: who speaks when, of up to eight speakers in the order in which they are first heard, a hundred times a second.

A streaming Sortformer whose encoder is a transformer with rotary positions over eight stacked mel frames each. A recording is heard in
chunks, each behind what the speaker cache keeps of the past and before some frames of what follows; a sub-pixel convolution gives the
answers back the rate of the mel frames.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from backends.base import Array, Rope
from engine.errors import ConfigError
from engine.media.mel import NEMO_FRAME, PARAKEET_HOP, NemoMelStream
from engine.models.config import MOST_LAYERS, Fields
from engine.models.speaker_cache import CacheRules, SpeakerCache
from engine.models.yield_budget import YieldBudget
from engine.weights.view import View

_NAME = "Nemotron 3 Diarization config.json"
_EPS = 1e-5


@dataclass
class DiarizationStream:
    """One recording that is heard piece by piece."""

    cache: SpeakerCache
    mel: NemoMelStream


class _Norm:
    def __init__(self, w: View, name: str, dim: int) -> None:
        self.ops = w.backend.ops
        self.weight, self.bias = w.tensor(f"{name}.weight", (dim,)), w.tensor(f"{name}.bias", (dim,))

    def __call__(self, x: Array) -> Array:
        return self.ops.layer_norm(x, self.weight, self.bias, _EPS)


class _Layer:
    def __init__(self, w: View, hidden: int, heads: int, kv_heads: int, ffn: int) -> None:
        self.ops, self.heads, self.kv_heads, self.dim = w.backend.ops, heads, kv_heads, hidden // heads
        own, kv = w.sub("self_attn"), kv_heads * self.dim
        self.qkv = own.linear(("q_proj", hidden), ("k_proj", kv), ("v_proj", kv), inp=hidden)
        self.out = own.linear(("o_proj", hidden), inp=hidden, bias=True)
        self.up = w.linear(("mlp.fc1", ffn), inp=hidden, bias=True)
        self.down = w.linear(("mlp.fc2", hidden), inp=ffn, bias=True)
        self.first, self.second = _Norm(w, "layer_norm1", hidden), _Norm(w, "layer_norm2", hidden)

    def __call__(self, x: Array, angles: Any) -> Array:
        ops = self.ops
        q, k, v = ops.qkv(self.qkv(self.first(x)), self.heads, self.kv_heads, self.dim, angles)
        attended = ops.sdpa(q[None], k[None], v[None], self.dim**-0.5)
        x = x + self.out(attended.reshape(x.shape[0], self.heads * self.dim))
        return x + self.down(ops.gelu(self.up(self.second(x))))


class NemotronDiarizer:
    rate, frame = 16000, PARAKEET_HOP  # samples a second, and of an answer

    def __init__(self, w: View, config: Mapping[str, Any]) -> None:
        f = Fields(config, _NAME)
        audio, head, cache = (f.sub(f"{name}_config") for name in ("audio", "head", "streaming"))
        if audio.find("hidden_act", default="gelu") != "gelu":
            raise ConfigError(f"{audio.where}: hidden_act must be `gelu`.")
        self.ops, self.dtype = w.backend.ops, w.backend.dtype
        self.hidden, heads, ffn = (
            audio.int(name) for name in ("hidden_size", "num_attention_heads", "intermediate_size")
        )
        kv_heads = audio.int("num_key_value_heads", default=heads)
        if self.hidden % heads or heads % kv_heads:
            raise ConfigError(
                f"{audio.where}: hidden_size must be a multiple of num_attention_heads, and these of the others."
            )
        self.mels, self.factor = audio.int("num_mel_bins"), audio.int("subsampling_factor", default=8, most=64)
        tower = w.sub("model.audio_tower")
        self.stack = tower.linear(("embedder.projection", self.hidden), inp=self.mels * self.factor)
        self.before, self.behind = (
            _Norm(tower, "input_layer_norm", self.hidden),
            _Norm(tower, "layer_norm", self.hidden),
        )
        count = audio.int("num_hidden_layers", most=MOST_LAYERS)
        self.layers = [_Layer(tower.sub(f"layers.{i}"), self.hidden, heads, kv_heads, ffn) for i in range(count)]
        self.rope = _rope(audio, self.hidden // heads)
        self.wide, self.speakers = head.int("hidden_size"), head.int("num_speakers", most=64)
        self.project = w.linear(("model.proj", self.wide), inp=self.hidden, bias=True)
        shape = (self.wide * self.factor, self.wide, 3)
        self.widen = self.ops.conv_weight(w.tensor("model.upsampler.conv.weight", shape))
        self.widen_bias = w.tensor("model.upsampler.conv.bias", shape[:1])
        self.mix = w.linear(("classifier.dense", self.wide), inp=self.wide, bias=True)
        self.speech = w.linear(("classifier.out_proj", self.speakers), inp=self.wide, bias=True)
        self.silence = w.tensor("silence_embeds", (self.hidden,), "f32")
        self.chunk, self.right = f.int("chunk_length"), f.int("chunk_right_context", least=0)
        self.left = f.int("chunk_left_context", default=0, least=0)
        if self.left:
            raise ConfigError(f"{f.where}: chunk_left_context must be 0.")
        self.rules = CacheRules(
            speakers=self.speakers,
            cache=cache.int("speaker_cache_length"),
            fifo=f.int("fifo_length"),
            period=f.int("speaker_cache_update_period"),
            silence_per_speaker=cache.int("speaker_cache_silence_frames_per_speaker", least=0),
            least_probability=cache.float("prediction_score_threshold", above=0),
            silence=0.0,
            latest_boost=cache.float("latest_frames_score_boost"),
            strong_rate=cache.float("strong_boost_rate"),
            weak_rate=cache.float("weak_boost_rate"),
            positive_rate=cache.float("min_positive_scores_rate"),
            by_speaker=True,
        )
        if (1 + self.rules.silence_per_speaker) * self.speakers > self.rules.cache:
            raise ConfigError(f"{cache.where}: speaker_cache_length has no room for {self.speakers} speakers.")

    def start(self) -> DiarizationStream:
        silence = np.asarray(self.ops.numpy(self.silence), np.float32)
        mel = NemoMelStream(self.mels, NEMO_FRAME // 2 - PARAKEET_HOP)  # as many frames as there are whole hops
        return DiarizationStream(SpeakerCache(self.rules, self.hidden, silence), mel)

    def push(
        self, samples: np.ndarray, stream: DiarizationStream, last: bool = False
    ) -> Generator[None, None, np.ndarray]:
        """Hear the next samples: `[frames, speakers]`, the probabilities of the frames that are decided by them."""
        made = [np.zeros((0, self.speakers), np.float32)]
        stream.mel.push(samples, last)
        own, ahead = self.chunk * self.factor, self.right * self.factor
        while stream.mel.ready >= own + ahead or (last and stream.mel.ready):
            made.append((yield from self._chunk(stream.cache, *stream.mel.take(own, ahead))))
        return np.concatenate(made)

    def _chunk(self, cache: SpeakerCache, own: np.ndarray, ahead: np.ndarray) -> Generator[None, None, np.ndarray]:
        mel = np.concatenate((own, ahead))
        mel = np.pad(mel, ((0, -len(mel) % self.factor), (0, 0)))
        embedded = self.ops.numpy(self.stack(self.ops.array(mel.reshape(-1, self.mels * self.factor), self.dtype)))
        count, past = -(-len(own) // self.factor), len(cache)
        found = yield from self._probabilities(np.concatenate((cache.cache, cache.fifo, embedded)))
        pooled = found.reshape(-1, self.factor, self.speakers).mean(1)
        cache.update(embedded[:count], pooled[past : past + count], pooled[:past])
        return found[past * self.factor :][: len(own)]

    def _probabilities(self, frames: np.ndarray) -> Generator[None, None, np.ndarray]:
        """Of each mel frame."""
        ops, budget = self.ops, YieldBudget(self.ops)
        angles = ops.angles(ops.arange(len(frames)), self.rope)
        x = self.before(ops.array(frames, self.dtype))
        for layer in self.layers:
            x = layer(x, angles)
            yield from budget.pause(x[None])
        x = self.project(self.behind(x))
        x = ops.conv1d(x[None], self.widen, self.widen_bias, padding=1)[0].reshape(len(frames) * self.factor, self.wide)
        return ops.numpy(ops.sigmoid(self.speech(ops.relu(self.mix(ops.relu(x))))))


def _rope(f: Fields, dim: int) -> Rope:
    given = f.find("rope_parameters", default={})
    own = Fields(given if isinstance(given, Mapping) else {}, f"{f.where} (rope_parameters)")
    if own.find("rope_type", default="default") != "default":
        raise ConfigError(f"{own.where}: rope_type must be `default`.")
    theta = own.float("rope_theta", default=10000.0, above=0)
    dims = int(dim * own.float("partial_rotary_factor", default=0.5, above=0))
    if not 2 <= dims <= dim or dims % 2:
        raise ConfigError(f"{own.where}: partial_rotary_factor leaves no pairs to rotate.")
    return Rope(dims, tuple(theta ** (-i / dims) for i in range(0, dims, 2)))


def nemotron_diarization(w: View, config: Mapping[str, Any]) -> NemotronDiarizer:
    return NemotronDiarizer(w, config)
