"""Sortformer: who speaks when, of up to four speakers in the order in which they are first heard, 12.5 times a second.

A Fast Conformer hears the sound, a small encoder behind it sorts voices, and a sigmoid for each speaker says how likely that one speaks.
The streaming version hears a recording in chunks, each behind what the speaker cache keeps of the past. The first version
normalizes its features: it hears a short recording whole, and a longer one in chunks that are normalized each by itself.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from backends.base import Array
from engine.errors import ConfigError
from engine.media.mel import NEMO_FRAME, PARAKEET_HOP, NemoMelStream, nemo_mel, normalized_bands, preemphasized
from engine.models.config import MOST_LAYERS, Fields
from engine.models.fast_conformer import FastConformer
from engine.models.speaker_cache import CacheRules, SpeakerCache
from engine.models.yield_budget import YieldBudget
from engine.weights.view import View

_NAME = "Sortformer config.json"
_PAD = 16  # mel frames: a whole recording is filled up to a multiple of it
_FRAME = 480  # samples, of the search for silence around a recording
_HALF = NEMO_FRAME // 2


@dataclass
class SpeakerStream:
    """One recording that is heard piece by piece."""

    cache: SpeakerCache
    mel: NemoMelStream
    signal: np.ndarray = field(
        default_factory=lambda: np.zeros(0, np.float32)
    )  # of the first version: what is not heard yet
    begun: bool = False  # some of it was heard


class _TransformerLayer:
    """Attention and MLP, each with its norm behind the sum."""

    def __init__(self, w: View, hidden: int, heads: int, ffn: int, eps: float) -> None:
        self.ops, self.hidden, self.heads, self.dim, self.eps = w.backend.ops, hidden, heads, hidden // heads, eps
        own = w.sub("self_attn")
        parts = [(f"{name}_proj", hidden) for name in "qkv"]
        self.qkv = own.linear(*parts, inp=hidden, bias=[True, own.has("k_proj.bias"), True])
        self.out = own.linear(("out_proj", hidden), inp=hidden, bias=True)
        self.up = w.linear(("fc1", ffn), inp=hidden, bias=True)
        self.down = w.linear(("fc2", hidden), inp=ffn, bias=True)
        self.norms = [
            (w.tensor(f"{name}.weight", (hidden,)), w.tensor(f"{name}.bias", (hidden,)))
            for name in ("self_attn_layer_norm", "final_layer_norm")
        ]

    def __call__(self, x: Array) -> Array:
        ops = self.ops
        q, k, v = ops.qkv(self.qkv(x), self.heads, self.heads, self.dim, None)
        attended = ops.sdpa(q[None], k[None], v[None], self.dim**-0.5).reshape(x.shape[0], self.hidden)
        x = ops.layer_norm(x + self.out(attended), *self.norms[0], self.eps)
        return ops.layer_norm(x + self.down(ops.relu(self.up(x))), *self.norms[1], self.eps)


class Sortformer:
    rate = 16000

    def __init__(self, w: View, config: Mapping[str, Any]) -> None:
        f = Fields(config, _NAME)
        sizes, own = f.sub("tf_encoder_config"), f.sub("modules_config")
        if sizes.find("activation_function", default="relu") != "relu":
            raise ConfigError(f"{sizes.where}: activation_function must be `relu`.")
        self.ops, self.dtype = w.backend.ops, w.backend.dtype
        self.encoder = FastConformer(w.sub("fc_encoder"), f.sub("fc_encoder_config"))
        self.mels, factor = self.encoder.mels, self.encoder.factor
        hidden, heads, self.positions = (
            sizes.int(name) for name in ("d_model", "encoder_attention_heads", "max_source_positions")
        )
        if hidden % heads:
            raise ConfigError(f"{sizes.where}: d_model must be a multiple of encoder_attention_heads.")
        second, eps = w.sub("tf_encoder"), sizes.float("layer_norm_eps", default=1e-5, above=0)
        self.places = second.tensor("embed_positions.weight", (self.positions, hidden))
        ffn, count = sizes.int("encoder_ffn_dim"), sizes.int("encoder_layers", most=MOST_LAYERS)
        self.layers = [_TransformerLayer(second.sub(f"layers.{i}"), hidden, heads, ffn, eps) for i in range(count)]
        head = w.sub("sortformer_modules")
        self.speakers = own.int("num_speakers", default=4, most=64)
        self.project = head.linear(("encoder_proj", hidden), inp=self.encoder.hidden, bias=True)
        self.mix = head.linear(("first_hidden_to_hidden", hidden), inp=hidden, bias=True)
        self.speech = head.linear(("single_hidden_to_spks", self.speakers), inp=hidden, bias=True)
        w.ignore(r"(^|\.)hidden_to_spks\.")  # of another way to train it
        self.streams = own.flag("use_aosc")
        self.rules = _rules(own, self.speakers, self.streams)
        self.frame = PARAKEET_HOP * factor  # samples
        self.left, self.right = (own.int(f"chunk_{side}_context", default=1, least=0) for side in ("left", "right"))
        if not self.streams:
            self.left = self.right = 0
        room = self.positions - self.rules.cache - self.rules.fifo - self.left - self.right - 1
        if room < 1:
            raise ConfigError(f"{sizes.where}: max_source_positions holds no chunk behind the speaker cache.")
        self.chunk = min(room, own.int("chunk_len", default=188)) if self.streams else room  # frames
        self.longest = (self.positions - 2) * self.frame  # samples of a recording that the first version hears whole
        if self.streams and self.rules.silence_per_speaker * self.speakers >= self.rules.cache:
            raise ConfigError(f"{own.where}: spkcache_len has no room for {self.speakers} speakers.")

    def start(self) -> SpeakerStream:
        return SpeakerStream(SpeakerCache(self.rules, self.encoder.hidden), NemoMelStream(self.mels))

    def push(self, samples: np.ndarray, stream: SpeakerStream, last: bool = False) -> Generator[None, None, np.ndarray]:
        """Hear the next samples: `[frames, speakers]`, the probabilities of the frames that are decided by them."""
        made = [np.zeros((0, self.speakers), np.float32)]
        if not self.streams:
            stream.signal = np.concatenate((stream.signal, samples.astype(np.float32, copy=False)))
            while len(stream.signal) > self.longest or (stream.begun and self._waits(stream, last)):
                made.append((yield from self._normalized(stream)))
            if last and not stream.begun and len(stream.signal) >= 2 * PARAKEET_HOP:
                made.append((yield from self.whole(stream.signal)))
            return np.concatenate(made)
        stream.mel.push(samples, last)
        need = (self.chunk + self.right) * self.encoder.factor
        while stream.mel.ready >= need or (last and stream.mel.ready):
            made.append((yield from self._chunk(stream)))
        return np.concatenate(made)

    def _waits(self, stream: SpeakerStream, last: bool) -> bool:
        there = len(stream.signal)
        return there >= self.chunk * self.frame or (last and there >= 2 * PARAKEET_HOP)

    def _chunk(self, stream: SpeakerStream) -> Generator[None, None, np.ndarray]:
        """The next chunk of the signal, and the frames to its right, which are heard and not decided."""
        factor = self.encoder.factor
        own, ahead = stream.mel.take(self.chunk * factor, self.right * factor)
        embedded = self.ops.numpy(self.encoder.embed(own))
        right = np.zeros((0, self.encoder.hidden), np.float32)
        if len(ahead):  # the first of them sees the end of the chunk
            right = self.ops.numpy(self.encoder.embed(np.concatenate((own[-factor:], ahead))))[1:]
        return (yield from self._step(stream.cache, embedded, right))

    def _normalized(self, stream: SpeakerStream) -> Generator[None, None, np.ndarray]:
        """The next chunk of a long recording, for the first version."""
        count = self.chunk * self.frame
        piece, stream.signal = stream.signal[:count], stream.signal[count:]
        stream.begun = True
        embedded = self.ops.numpy(self.encoder.embed(self._loud(piece)))
        made = yield from self._step(stream.cache, embedded, embedded[:0])
        return made[: -(-len(piece) // self.frame)]  # one that is centred on the chunk's end is the next one's first

    def _loud(self, samples: np.ndarray) -> np.ndarray:
        """Mel frames of samples that are brought to the same peak, and bands of the same spread."""
        scaled = samples * np.float32(1.0 / (np.abs(samples).max() + 1e-3))
        return normalized_bands(nemo_mel(np.pad(preemphasized(scaled), _HALF), self.mels))

    def whole(self, samples: np.ndarray) -> Generator[None, None, np.ndarray]:
        """A recording of the first version that fits at once."""
        begin, end = loud_part(samples)
        mel = self._loud(samples[begin:end])
        mel = np.pad(mel, ((0, -len(mel) % _PAD), (0, 0)))
        made = yield from self._probabilities(self.encoder.embed(mel))
        rows = np.zeros((-(-len(samples) // self.frame), self.speakers), np.float32)
        first = round(begin / self.frame)  # half a frame off at the most
        count = min(len(made), len(rows) - first)
        rows[first : first + count] = made[:count]
        return rows

    def _step(self, cache: SpeakerCache, chunk: np.ndarray, right: np.ndarray) -> Generator[None, None, np.ndarray]:
        past = len(cache)
        left = cache.fifo[len(cache.fifo) - min(self.left, len(cache.fifo)) :]
        frames = np.concatenate((cache.cache, cache.fifo, left, chunk, right))
        found = yield from self._probabilities(self.ops.array(frames, self.dtype))
        first = past + len(left)
        made = found[first : first + len(chunk)]
        cache.update(chunk, made, found[:past])
        return made

    def _probabilities(self, embedded: Array) -> Generator[None, None, np.ndarray]:
        ops, budget = self.ops, YieldBudget(self.ops)
        x = yield from self.encoder.encode(embedded)
        x = self.project(x)
        x = x + self.places[: x.shape[0]]
        for layer in self.layers:
            x = layer(x)
            yield from budget.pause(x[None])
        return ops.numpy(ops.sigmoid(self.speech(ops.relu(self.mix(ops.relu(x))))))


def loud_part(samples: np.ndarray) -> tuple[int, int]:
    """A recording without the silence around it: where half a second of frames in a row first and last have a hundredth of the loudest
    one's amplitude. What is normalized is distorted by long silence."""
    least, count = 16, len(samples) // _FRAME
    if count < 2 * least:
        return 0, len(samples)
    energy = np.sqrt((samples[: count * _FRAME].reshape(count, _FRAME).astype(np.float32) ** 2).mean(1))
    loud = energy > energy.max() * 0.01
    runs = np.flatnonzero(np.convolve(loud, np.ones(least, int), "valid") == least)  # begins of such runs
    if not len(runs):
        return 0, count * _FRAME
    begin, end = int(runs[0]), int(runs[-1]) + least
    return begin * _FRAME, end * _FRAME


def _rules(f: Fields, speakers: int, streams: bool) -> CacheRules:
    cache, fifo = f.int("spkcache_len", default=188), f.int("fifo_len", default=0, least=0)
    return CacheRules(
        speakers=speakers,
        cache=cache,
        fifo=fifo or 188,
        period=f.int("spkcache_update_period", default=188),
        silence_per_speaker=f.int("spkcache_sil_frames_per_spk", default=5, least=0),
        least_probability=f.float("pred_score_threshold", default=1e-6, above=0),
        silence=f.float("sil_threshold", default=0.1),
        latest_boost=f.float("scores_boost_latest", default=0.5),
        strong_rate=f.float("strong_boost_rate", default=0.3),
        weak_rate=f.float("weak_boost_rate", default=0.7),
        positive_rate=f.float("min_pos_scores_rate", default=0.5),
        by_speaker=streams,
    )


def sortformer(w: View, config: Mapping[str, Any]) -> Sortformer:
    return Sortformer(w, config)
