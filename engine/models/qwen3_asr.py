"""Qwen3-ASR speech recognition: an audio encoder whose frames stand in the prompt of a Qwen3 decoder.

The spectrogram is cut into chunks of a second. Convolutions and positions begin anew in each, and attention reaches over windows of
several chunks. Two layouts are published: transformers' own, and the authors' with everything below `thinker`.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Generator, Mapping, Sequence
from typing import Any

import numpy as np

from backends.base import Array, Step
from engine.errors import ConfigError
from engine.media.inputs import Sound
from engine.media.mel import WHISPER_HOP, whisper_mel
from engine.models.config import MOST_LAYERS, Fields, text_config
from engine.models.decoder import nested_names, standard_decoder
from engine.models.qwen3 import qwen3_traits
from engine.models.rope import text_rope
from engine.models.whisper import SoundNorm, WhisperEncoderLayer
from engine.weights.view import View

LEAST_SAMPLES = 8000  # a shorter sound is padded with silence, as the reference pads it
_TOGETHER = 4  # chunks that are convolved at once


def _halved(frames: int) -> int:
    """Of three convolutions with stride 2."""
    for _ in range(3):
        frames = -(-frames // 2)
    return frames


def sound_tokens(samples: int, chunk: int) -> int:
    """The places in a prompt that so many samples take; `chunk`: frames of the spectrogram."""
    frames = max(samples, LEAST_SAMPLES) // WHISPER_HOP
    return frames // chunk * _halved(chunk) + _halved(frames % chunk)


class Qwen3AsrEncoder:
    """Twelve and a half frames a second, as wide as the decoder."""

    def __init__(self, w: View, projector: View, names: tuple[str, str], config: Fields, width: int) -> None:
        f = config
        if f.find("activation_function", default="gelu") != "gelu":
            raise ConfigError(f"{f.where}: the encoder is known with the activation `gelu` only.")
        ops = self.ops = w.backend.ops
        self.dtype, self.hidden, self.mels = w.backend.dtype, f.int("d_model"), f.int("num_mel_bins")
        channels, heads, ffn = (
            f.int(name) for name in ("downsample_hidden_size", "encoder_attention_heads", "encoder_ffn_dim")
        )
        self.chunk = 2 * f.int("n_window", default=50)  # frames of the spectrogram
        self.chunks_of_window = max(1, f.int("n_window_infer", default=800) // self.chunk)
        if self.hidden % 2 or f.int("output_dim") != width:
            raise ConfigError(f"{f.where}: d_model must be even, and output_dim the width of the text model ({width}).")
        self.convs = [
            (self._weight(w, f"conv2d{i}", channels, inp), w.tensor(f"conv2d{i}.bias", (channels,)))
            for i, inp in ((1, 1), (2, channels), (3, channels))
        ]
        self.width = channels * _halved(self.mels)
        self.flat = w.linear(("conv_out", self.hidden), inp=self.width)
        count = f.int("encoder_layers", most=MOST_LAYERS)
        layers = [
            WhisperEncoderLayer(w.sub(f"layers.{i}"), self.hidden, heads, ffn, key_bias=True) for i in range(count)
        ]
        self.layers, self.norm = w.backend.encoder(layers, None), SoundNorm(w, "ln_post", self.hidden)
        self.first = projector.linear((names[0], self.hidden), inp=self.hidden, bias=True)
        self.second = projector.linear((names[1], width), inp=self.hidden, bias=True)
        self.places = ops.array(_sinusoids(_halved(self.chunk), self.hidden), self.dtype)

    def _weight(self, w: View, name: str, out: int, inp: int) -> Array:
        if w.shape(f"{name}.weight") == (out, 3, 3, inp):  # as MLX's converters save it
            return self.ops.conv_weight(self.ops.permute(w.tensor(f"{name}.weight", (out, 3, 3, inp)), (0, 3, 1, 2)))
        return self.ops.conv_weight(w.tensor(f"{name}.weight", (out, inp, 3, 3)))

    def run(self, samples: np.ndarray) -> Generator[None, None, Array]:
        """`[L, D]` of mono samples at 16 kHz."""
        ops, length = self.ops, sound_tokens(len(samples), self.chunk)
        mel = whisper_mel(np.pad(samples, (0, max(0, LEAST_SAMPLES - len(samples)))), self.mels)
        count = math.ceil(len(mel) / self.chunk)
        padded = np.zeros((count * self.chunk, self.mels), np.float32)
        padded[: len(mel)] = mel
        chunks = padded.reshape(count, self.chunk, self.mels).transpose(0, 2, 1)[..., None]
        rows = []
        for at in range(0, count, _TOGETHER):
            x = ops.array(np.ascontiguousarray(chunks[at : at + _TOGETHER]), self.dtype)
            for weight, bias in self.convs:
                x = ops.gelu(ops.conv2d(x, weight, bias, stride=(2, 2), padding=(1, 1)))
            flat = ops.permute(x, (0, 2, 3, 1)).reshape(x.shape[0] * x.shape[2], self.width)
            placed = self.flat(flat).reshape(x.shape[0], x.shape[2], self.hidden) + self.places
            rows.append(placed.reshape(x.shape[0] * x.shape[2], self.hidden))
            yield
        window = _halved(self.chunk) * self.chunks_of_window
        lens = [min(window, length - at) for at in range(0, length, window)]
        x = self.norm((yield from self.layers.run(ops.cat(rows, 0)[:length], lens)))
        return self.second(ops.gelu(self.first(x)))


def _sinusoids(n: int, dim: int) -> np.ndarray:
    """Sines, then cosines."""
    rates = np.exp(-math.log(10000.0) / (dim // 2 - 1) * np.arange(dim // 2, dtype=np.float32))
    angles = np.arange(n, dtype=np.float32)[:, None] * rates
    return np.concatenate((np.sin(angles), np.cos(angles)), 1).astype(np.float32)


def audio_encoder(w: View, outer: Mapping[str, Any], width: int, own: bool) -> Qwen3AsrEncoder:
    """`own`: in transformers' layout."""
    tower = w.sub("model.audio_tower" if own else "audio_tower")
    projector, names = (
        (w.sub("model.multi_modal_projector"), ("linear_1", "linear_2")) if own else (tower, ("proj1", "proj2"))
    )
    return Qwen3AsrEncoder(tower, projector, names, Fields(outer["audio_config"], "config.json (audio_config)"), width)


class Qwen3Asr:
    def __init__(self, w: View, config: Mapping[str, Any]) -> None:
        outer = {**config, **config.get("thinker_config", {})}
        if not isinstance(outer.get("audio_config"), Mapping):
            raise ConfigError("config.json lacks `audio_config`.")
        w = w.sub("thinker") if w.has("thinker.audio_tower.conv2d1.weight") else w
        own = w.has("model.audio_tower.conv2d1.weight")
        body, head = nested_names(w)
        c = text_config(config)
        tied = c.tied or outer.get("tie_word_embeddings") is True or not w.has(f"{head}.weight")
        w.ignore(*([r"^thinker\.lm_head\."] if tied else []))
        c = dataclasses.replace(c, tied=tied)
        rope = dataclasses.replace(
            text_rope(c, 1e6), section=None, interleaved=False
        )  # on one axis, all sections are one
        decoder = self.decoder = standard_decoder(w, c, rope, qwen3_traits(c), body, head)
        self.ops, self.memory, self.vocab = decoder.ops, decoder.memory, decoder.vocab
        self.encoder = audio_encoder(w, outer, c.hidden, own)
        self.audio_token = Fields(outer).int("audio_token_id", default=151676)
        if self.audio_token >= self.vocab:
            raise ConfigError(f"config.json: audio_token_id ({self.audio_token}) lies outside of the vocabulary.")

    def embed(self, ids: Array) -> Array:
        return self.decoder.embed(ids)

    def __call__(self, step: Step) -> Array:
        return self.decoder(step)

    def logits(self, hidden: Array) -> Array:
        return self.decoder.logits(hidden)

    def encode(self, sounds: Sequence[Sound]) -> Generator[None, None, list[np.ndarray]]:
        made = []
        for sound in sounds:
            made.append(self.ops.numpy((yield from self.encoder.run(sound.samples))))
            yield
        return made


def qwen3_asr(w: View, config: Mapping[str, Any]) -> Qwen3Asr:
    return Qwen3Asr(w, config)
