"""Voxtral Realtime: a causal encoder of sound, whose rows are added to the words of a Mistral that writes a token every 80 milliseconds.

The token at a place follows what was said `default_num_delay_tokens` places before, and most tokens say that a word goes on or nobody
speaks. Silence before the sound fills the prompt; silence behind it lets the last words come out.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Generator, Mapping, Sequence
from typing import Any

import numpy as np

from backends.base import Array, EncoderAttention, Rope, Step
from engine.errors import ConfigError
from engine.media.inputs import Sound
from engine.media.mel import WHISPER_HOP, whisper_mel
from engine.models.config import MOST_LAYERS, Fields
from engine.models.decoder import Decoder, nested_names
from engine.models.llama import llama
from engine.models.rope import frequencies, rope_fields
from engine.models.whisper import whisper_kernel
from engine.weights.view import View

BEGINNING = 32  # tokens of silence before a sound, as the tokenizer of the published model says
STREAMING_PAD = 32  # the token for a place without a new word
_LONGEST_WORD = 10  # tokens of silence behind a sound, besides those of the delay and one
_LOUDEST = 1.5  # what spectrograms are measured by, instead of their own loudest value
_ADAPTED = 32  # the width in which the delay becomes a factor for each number of a layer
_LEAST_CONTEXT = 750  # rows that an encoder's row sees, unless the config says otherwise


class VoxtralRealtimeEncoder:
    """Fifty rows a second, of which none sees what comes later."""

    def __init__(self, w: View, f: Fields) -> None:
        if (act := f.find("hidden_act", default="silu")) != "silu":
            raise ConfigError(f"{f.where}: hidden_act `{act}` is not the one that this encoder is known with (silu).")
        ops = self.ops = w.backend.ops
        self.dtype, self.hidden, self.mels = w.backend.dtype, f.int("hidden_size"), f.int("num_mel_bins")
        self.eps = f.float("rms_norm_eps", default=1e-5)
        embedder = w.sub("embedder")
        self.convs = [
            (ops.conv_weight(whisper_kernel(part, self.hidden, inp)), part.tensor("bias", (self.hidden,)))
            for part, inp in ((embedder.sub("conv1"), self.mels), (embedder.sub("conv2"), self.hidden))
        ]
        count = f.int("num_hidden_layers", most=MOST_LAYERS)
        layers = [_EncoderLayer(w.sub(f"layers.{i}"), f, self.eps) for i in range(count)]
        dims, rope = f.int("head_dim", default=64), rope_fields(f)
        theta = rope.float("rope_theta", default=f.float("rope_theta", default=10000.0), above=1)
        self.layers = w.backend.encoder(layers, Rope(dims, tuple(frequencies(theta, dims))))
        self.norm = w.norm("norm", self.hidden)

    def run(self, mel: np.ndarray) -> Generator[None, None, Array]:
        """`[frames, mels]` -> `[frames / 2, D]`."""
        ops = self.ops
        x = ops.array(mel[None], self.dtype)
        for stride, (weight, bias) in enumerate(self.convs, 1):
            x = ops.gelu(ops.conv1d(ops.pad(x, [(0, 0), (3 - stride, 0), (0, 0)]), weight, bias, stride=stride))
        yield
        rows = yield from self.layers.run(x[0], [x.shape[1]])
        return ops.rms_norm(rows, self.norm, self.eps)


class _EncoderLayer:
    def __init__(self, w: View, f: Fields, eps: float) -> None:
        self.ops, self.eps, hidden = w.backend.ops, eps, f.int("hidden_size")
        self.heads, self.dim = f.int("num_attention_heads"), f.int("head_dim", default=64)
        self.window, self.wide = f.int("sliding_window", default=_LEAST_CONTEXT), self.heads * self.dim
        ffn, own, mlp = f.int("intermediate_size"), w.sub("self_attn"), w.sub("mlp")
        parts = [(f"{name}_proj", self.wide) for name in "qkv"]
        self.qkv = own.linear(*parts, inp=hidden, bias=(True, False, True))
        self.out = own.linear(("o_proj", hidden), inp=self.wide, bias=True)
        self.before, self.between = (w.norm(f"{name}_layer_norm", hidden) for name in ("self_attn", "final"))
        self.gate_up = mlp.linear(("gate_proj", ffn), ("up_proj", ffn), inp=hidden)
        self.down = mlp.linear(("down_proj", hidden), inp=ffn, bias=True)

    def __call__(self, x: Array, angles: Any, among: EncoderAttention) -> Array:
        ops = self.ops
        q, k, v = ops.qkv(self.qkv(ops.rms_norm(x, self.before, self.eps)), self.heads, self.heads, self.dim, angles)
        attended = among.attend(q, k, v, self.dim**-0.5, window=(self.window, 0))
        x = x + self.out(attended.reshape(x.shape[0], self.wide))
        return x + self.down(ops.swiglu(self.gate_up(ops.rms_norm(x, self.between, self.eps))))


class VoxtralRealtime:
    writes_text = True

    def __init__(self, w: View, config: Mapping[str, Any]) -> None:
        f = Fields(config)
        text, audio = f.sub("text_config"), f.sub("audio_config")
        self.delay, self.width = f.int("default_num_delay_tokens", default=6), text.int("hidden_size")
        self.joined, frames = f.int("downsample_factor", default=4), f.int("audio_length_per_tok", default=8)
        if frames != 2 * self.joined:
            raise ConfigError(f"{f.where}: audio_length_per_tok ({frames}) must be twice downsample_factor here.")
        self.samples = frames * WHISPER_HOP  # of a token
        body, head = nested_names(w)
        tied = f.flag("tie_word_embeddings", True) or not w.has(f"{head}.weight")
        decoder = self.decoder = llama(w, {**config, "text_config": {**text.values, "tie_word_embeddings": tied}})
        self.ops, self.memory, self.vocab, self.dtype = decoder.ops, decoder.memory, decoder.vocab, w.backend.dtype
        bos = text.int("bos_token_id", default=1, least=0)
        self.prompt = [bos, *[STREAMING_PAD] * (BEGINNING + self.delay)]
        if max(self.prompt) >= self.vocab:
            raise ConfigError(f"{f.where}: the tokens of a prompt lie outside of the vocabulary.")
        _adapt(w.sub(body), decoder, self.delay, self.width)
        place = "model." if w.has("model.audio_tower.norm.weight") else ""
        self.encoder = VoxtralRealtimeEncoder(w.sub(f"{place}audio_tower"), audio)
        projector, self.wide = w.sub(f"{place}multi_modal_projector"), self.encoder.hidden * self.joined
        self.first = projector.linear(("linear_1", self.width), inp=self.wide)
        self.second = projector.linear(("linear_2", self.width), inp=self.width)

    def tokens(self, samples: int) -> int:
        """The places that a sound of so many samples takes, those of the prompt among them."""
        return BEGINNING + -(-samples // self.samples) + self.delay + 1 + _LONGEST_WORD

    def embed(self, ids: Array) -> Array:
        return self.decoder.embed(ids)

    def __call__(self, step: Step) -> Array:
        return self.decoder(step)

    def logits(self, hidden: Array) -> Array:
        return self.decoder.logits(hidden)

    def encode(self, sounds: Sequence[Sound]) -> Generator[None, None, list[np.ndarray]]:
        """Of each sound the embeddings of the prompt, then what is added to the tokens behind it."""
        made = []
        prompt = self.ops.numpy(self.embed(self.ops.array(np.asarray(self.prompt, np.int32)))).astype(np.float32)
        for sound in sounds:
            rows = yield from self.heard(sound.samples)
            rows[: len(prompt)] += prompt
            made.append(rows)
            yield
        return made

    def heard(self, samples: np.ndarray) -> Generator[None, None, np.ndarray]:
        """`[tokens, D]` in f32."""
        padded = np.zeros(self.tokens(len(samples)) * self.samples, np.float32)
        padded[BEGINNING * self.samples :][: len(samples)] = samples
        rows = yield from self.encoder.run(whisper_mel(padded, self.encoder.mels, _LOUDEST))
        joined = rows.reshape(-1, self.wide)
        return np.array(self.ops.numpy(self.second(self.ops.gelu(self.first(joined)))), np.float32)


def _adapt(body: View, decoder: Decoder, delay: int, width: int) -> None:
    """The delay, of which there is one, becomes part of the norms before MLPs."""
    rates = np.exp(-math.log(10000.0) * np.arange(width // 2, dtype=np.float32) / (width // 2))
    angles = (delay * rates).astype(np.float32)
    ops, dtype = body.backend.ops, body.backend.dtype
    time = ops.array(np.concatenate((np.cos(angles), np.sin(angles)))[None], dtype)
    for i, layer in enumerate(decoder.layers):
        own = body.layer(i).sub("ada_rms_norm")
        first, second = own.linear(("linear1", _ADAPTED), inp=width), own.linear(("linear2", width), inp=_ADAPTED)
        if not body.dry:
            factor = second(ops.gelu(first(time)))[0] + 1.0
            decoder.layers[i] = dataclasses.replace(layer, post_norm=layer.post_norm * factor)


def voxtral_realtime(w: View, config: Mapping[str, Any]) -> VoxtralRealtime:
    return VoxtralRealtime(w, config)
