"""Whisper speech recognition: an encoder over log-mel spectrograms of 30 seconds, and a decoder with cross attention.

All sizes, turbo and distil share it. A sound is padded with silence to the encoder's length, encoded once, and `begin` gives a new
sequence the keys and values of its cross attention. `token_times` aligns tokens with the sound by the cross attention of the heads that
the checkpoint names for it.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from backends.base import Array, CrossSpec, EncoderAttention, KVCache, KVSpec, MemorySpec, Slot, Step
from engine.errors import BadRequest, ConfigError
from engine.media.inputs import Sound
from engine.media.mel import WHISPER_HOP, whisper_mel
from engine.models.config import MOST_LAYERS, Fields
from engine.weights.view import View

EPS = 1e-5
TOGETHER = 4  # sounds that are encoded at once: their hidden states take 30 MB and more each
_MEDIAN = 7  # frames of the filter over attention, unless the config says otherwise


class Whisper:
    def __init__(self, w: View, config: Mapping[str, Any]) -> None:
        f = Fields(config)
        self.ops, self.dtype = w.backend.ops, w.backend.dtype
        self.hidden, self.vocab = f.int("d_model"), f.int("vocab_size")
        self.median = f.int("median_filter_width", default=_MEDIAN)
        self.generation: Mapping[str, Any] = {}
        decoder = w.sub("model.decoder")
        self.encoder = WhisperEncoder(w.sub("model.encoder"), f)
        self.longest = self.encoder.window * WHISPER_HOP  # samples

        heads, ffn = f.int("decoder_attention_heads"), f.int("decoder_ffn_dim")
        count = f.int("decoder_layers", most=MOST_LAYERS)
        self.heads, self.dim = heads, self.hidden // heads
        self.embedding = decoder.embedding("embed_tokens", self.vocab, self.hidden, is_head=True)
        w.ignore(r"^proj_out\.")  # the embedding once more
        self.places = decoder.tensor("embed_positions.weight", (f.int("max_target_positions"), self.hidden))
        self.layers = [_DecoderLayer(decoder.sub(f"layers.{i}"), i, self.hidden, heads, ffn) for i in range(count)]
        self.norm = SoundNorm(decoder, "layer_norm", self.hidden)
        self.memory: list[MemorySpec] = [KVSpec(heads, self.dim), CrossSpec(heads, self.dim)] * count

    def choose_like(self, generation: Mapping[str, Any]) -> None:
        """generation_config.json names the languages, the tokens that are never written, and the heads that align."""
        self.generation = generation

    def embed(self, ids: Array) -> Array:
        return self.embedding.rows(ids)

    def __call__(self, step: Step) -> Array:
        x = step.x + self.ops.take(self.places, step.pos, 0)
        for layer in self.layers:
            x = layer(x, step)
        return self.norm(x)

    def logits(self, hidden: Array) -> Array:
        return self.embedding(hidden)

    def begin(self, kv: KVCache, slot: Slot, features: np.ndarray) -> None:
        """Write the cross attention of a new sequence to `features [S, D]`."""
        sound = self.ops.array(features, self.dtype)
        for layer in self.layers:
            kv.write_cross(slot, layer.cross_at, *layer.sound_memory(sound))

    def encode(self, sounds: Sequence[Sound]) -> Generator[None, None, list[np.ndarray]]:
        made = list[np.ndarray]()
        for at in range(0, len(sounds), TOGETHER):
            part = sounds[at : at + TOGETHER]
            frames = yield from self.encoder.run(self._mel(sound.samples) for sound in part)
            made += np.split(self.ops.numpy(frames), len(part))
            yield
        return made

    def _mel(self, samples: np.ndarray) -> np.ndarray:
        if len(samples) > self.longest:
            raise BadRequest(f"The sound must have at most {self.longest} samples, not {len(samples)}.", "file")
        padded = np.zeros(self.longest, np.float32)
        padded[: len(samples)] = samples
        return whisper_mel(padded, self.encoder.mels)


class WhisperEncoder:
    """Fifty frames a second of log-mel spectrograms, which are all as long as the encoder's positions reach."""

    def __init__(self, w: View, f: Fields) -> None:
        """`f`: a config whose fields have Whisper's names, or the usual ones."""
        if f.find("activation_function", default="gelu") != "gelu":
            raise ConfigError(f"{f.where}: Whisper is known with the activation `gelu` only.")
        ops = self.ops = w.backend.ops
        self.dtype, self.hidden = w.backend.dtype, f.int("d_model", "hidden_size")
        self.mels, self.frames = f.int("num_mel_bins"), f.int("max_source_positions")
        self.window = 2 * self.frames  # frames of a spectrogram
        heads = f.int("encoder_attention_heads", "num_attention_heads")
        ffn = f.int("encoder_ffn_dim", "intermediate_size")
        count = f.int("encoder_layers", "num_hidden_layers", most=MOST_LAYERS)
        self.convs = [
            (ops.conv_weight(whisper_kernel(part, self.hidden, inp)), part.tensor("bias", (self.hidden,)))
            for part, inp in ((w.sub("conv1"), self.mels), (w.sub("conv2"), self.hidden))
        ]
        self.places = w.tensor("embed_positions.weight", (self.frames, self.hidden))
        layers = [WhisperEncoderLayer(w.sub(f"layers.{i}"), self.hidden, heads, ffn) for i in range(count)]
        self.layers, self.norm = w.backend.encoder(layers, None), SoundNorm(w, "layer_norm", self.hidden)

    def run(self, spectrograms: Iterable[np.ndarray]) -> Generator[None, None, Array]:
        """`[n * frames, D]` of spectrograms `[window, mels]`."""
        ops, rows = self.ops, []
        for mel in spectrograms:
            x = ops.array(mel[None], self.dtype)
            for stride, (weight, bias) in enumerate(self.convs, 1):
                x = ops.gelu(ops.conv1d(x, weight, bias, stride=stride, padding=1))
            rows.append(x[0] + self.places)
            yield
        return self.norm((yield from self.layers.run(ops.cat(rows, 0), [self.frames] * len(rows))))


def whisper_kernel(w: View, out: int, inp: int) -> Array:
    last = (out, 3, inp)
    if inp != 3 and w.shape("weight") == last:  # MLX's converter puts the input channels last
        return w.backend.ops.permute(w.tensor("weight", last), (0, 2, 1))
    return w.tensor("weight", (out, inp, 3))


class SoundNorm:
    def __init__(self, w: View, name: str, dim: int) -> None:
        self.ops = w.backend.ops
        self.weight, self.bias = w.tensor(f"{name}.weight", (dim,)), w.tensor(f"{name}.bias", (dim,))

    def __call__(self, x: Array) -> Array:
        return self.ops.layer_norm(x, self.weight, self.bias, EPS)


class _Mlp:
    def __init__(self, w: View, hidden: int, ffn: int) -> None:
        self.ops, self.norm = w.backend.ops, SoundNorm(w, "final_layer_norm", hidden)
        self.up = w.linear(("fc1", ffn), inp=hidden, bias=True)
        self.down = w.linear(("fc2", hidden), inp=ffn, bias=True)

    def __call__(self, x: Array) -> Array:
        return x + self.down(self.ops.gelu(self.up(self.norm(x))))


def _head_dim(hidden: int, heads: int) -> int:
    if hidden % heads:
        raise ConfigError(f"config.json: d_model ({hidden}) is not a multiple of the number of heads ({heads}).")
    return hidden // heads


class WhisperEncoderLayer:
    def __init__(self, w: View, hidden: int, heads: int, ffn: int, key_bias: bool = False) -> None:
        self.ops, self.hidden, self.heads, self.dim = w.backend.ops, hidden, heads, _head_dim(hidden, heads)
        own = w.sub("self_attn")
        parts = [(name, hidden) for name in ("q_proj", "k_proj", "v_proj")]
        self.qkv = own.linear(*parts, inp=hidden, bias=(True, key_bias, True))
        self.out = own.linear(("out_proj", hidden), inp=hidden, bias=True)
        self.norm, self.mlp = SoundNorm(w, "self_attn_layer_norm", hidden), _Mlp(w, hidden, ffn)

    def __call__(self, x: Array, angles: Any, among: EncoderAttention) -> Array:
        q, k, v = self.ops.qkv(self.qkv(self.norm(x)), self.heads, self.heads, self.dim, None)
        attended = among.attend(q, k, v, self.dim**-0.5)
        return self.mlp(x + self.out(attended.reshape(x.shape[0], self.hidden)))


class _DecoderLayer:
    def __init__(self, w: View, i: int, hidden: int, heads: int, ffn: int) -> None:
        self.ops, self.hidden, self.heads, self.dim = w.backend.ops, hidden, heads, _head_dim(hidden, heads)
        self.at, self.cross_at, self.scale = 2 * i, 2 * i + 1, self.dim**-0.5
        own, cross = w.sub("self_attn"), w.sub("encoder_attn")
        parts = [(name, hidden) for name in ("q_proj", "k_proj", "v_proj")]
        self.qkv = own.linear(*parts, inp=hidden, bias=(True, False, True))
        self.out = own.linear(("out_proj", hidden), inp=hidden, bias=True)
        self.query = cross.linear(("q_proj", hidden), inp=hidden, bias=True)
        self.key_value = cross.linear(("k_proj", hidden), ("v_proj", hidden), inp=hidden, bias=(False, True))
        self.cross_out = cross.linear(("out_proj", hidden), inp=hidden, bias=True)
        self.norm = SoundNorm(w, "self_attn_layer_norm", hidden)
        self.cross_norm = SoundNorm(w, "encoder_attn_layer_norm", hidden)
        self.mlp = _Mlp(w, hidden, ffn)

    def __call__(self, x: Array, step: Step) -> Array:
        n = x.shape[0]
        q, k, v = self.ops.qkv(self.qkv(self.norm(x)), self.heads, self.heads, self.dim, None)
        x = x + self.out(step.cache.attend(self.at, q, k, v, self.scale).reshape(n, self.hidden))
        q = self.query(self.cross_norm(x)).reshape(n, self.heads, self.dim)
        return self.mlp(x + self.cross_out(step.cache.cross(self.cross_at, q, self.scale).reshape(n, self.hidden)))

    def sound_memory(self, sound: Array) -> tuple[Array, Array]:
        k, v = self.ops.split(self.key_value(sound), [self.hidden, self.hidden], 1)
        return k.reshape(-1, self.heads, self.dim), v.reshape(-1, self.heads, self.dim)

    def aligned(self, x: Array, sound: Array) -> tuple[Array, Array, Array]:
        """The layer without a cache over all tokens of one sequence, and its cross attention's queries and keys."""
        ops, n = self.ops, x.shape[0]
        q, k, v = ops.qkv(self.qkv(self.norm(x)), self.heads, self.heads, self.dim, None)
        x = x + self.out(ops.sdpa(q[None], k[None], v[None], self.scale, causal=True).reshape(n, self.hidden))
        q = self.query(self.cross_norm(x)).reshape(n, self.heads, self.dim)
        k, v = self.sound_memory(sound)
        x = x + self.cross_out(ops.sdpa(q[None], k[None], v[None], self.scale).reshape(n, self.hidden))
        return self.mlp(x), q, k


def whisper(w: View, config: Mapping[str, Any]) -> Whisper:
    return Whisper(w, config)


# -- when each token is said


def token_frames(
    model: Whisper, features: np.ndarray, ids: Sequence[int], given: int, frames: int
) -> Generator[None, None, np.ndarray]:
    """The frame of each of `ids` after the first `given`, which are the prompt: by dynamic time warping over the attention
    to the first `frames` of the sound."""
    ops, heads = model.ops, _alignment_heads(model)
    sound = ops.array(features, model.dtype)
    x: Any = model.embed(ops.array(np.asarray(ids, np.int32))) + model.places[: len(ids)]
    found = []
    for i, layer in enumerate(model.layers):
        x, q, k = layer.aligned(x, sound)
        own = [head for at, head in heads if at == i]
        if own:
            queries, keys = ops.numpy(q)[given:, own] * layer.scale, ops.numpy(k)[:, own]
            scores = np.einsum("thd,shd->hts", queries, keys, dtype=np.float32)
            scores = np.exp(scores - scores.max(-1, keepdims=True))
            found.append((scores / scores.sum(-1, keepdims=True))[:, :, :frames])
        yield
    weights = np.concatenate(found)
    spread = weights.std(1, keepdims=True)
    weights = (weights - weights.mean(1, keepdims=True)) / np.where(spread > 0, spread, 1.0)
    return warped(-_median(weights, model.median).mean(0).astype(np.float64))


def _alignment_heads(model: Whisper) -> list[tuple[int, int]]:
    named = model.generation.get("alignment_heads")
    count = len(model.layers)
    if isinstance(named, list) and named:
        heads = [(int(layer), int(head)) for layer, head in named]
        if all(0 <= layer < count and 0 <= head < model.heads for layer, head in heads):
            return heads
    return [(layer, head) for layer in range(count // 2, count) for head in range(model.heads)]


def _median(x: np.ndarray, width: int) -> np.ndarray:
    """A median filter over the last axis, reflected at its ends."""
    pad = width // 2
    if pad == 0 or x.shape[-1] <= pad:
        return x
    padded = np.pad(x, ((0, 0), (0, 0), (pad, pad)), mode="reflect")
    made: np.ndarray = np.median(np.lib.stride_tricks.sliding_window_view(padded, width, axis=-1), axis=-1)
    return made


def warped(cost: np.ndarray) -> np.ndarray:
    """Dynamic time warping of tokens to frames, `[tokens, frames]` of costs: the first frame of each token on the cheapest path.
    It is computed by diagonals, whose cells do not depend on each other."""
    tokens, frames = cost.shape
    total = np.full((tokens + 1, frames + 1), np.inf, np.float32)
    total[0, 0] = 0
    step = np.full((tokens + 1, frames + 1), 2, np.int8)
    for diagonal in range(2, tokens + frames + 1):
        i = np.arange(max(1, diagonal - frames), min(tokens, diagonal - 1) + 1)
        j = diagonal - i
        both, token, frame = total[i - 1, j - 1], total[i - 1, j], total[i, j - 1]
        step[i, j] = np.where((both < token) & (both < frame), 0, np.where((token < both) & (token < frame), 1, 2))
        total[i, j] = cost[i - 1, j - 1] + np.minimum(np.minimum(both, token), frame)
    step[0, :], step[:, 0] = 2, 1
    first = np.zeros(tokens, np.int64)
    i, j = tokens, frames
    while i > 0 or j > 0:
        if i > 0 and j > 0:
            first[i - 1] = j - 1
        way = step[i, j]
        i, j = i - (way != 2), j - (way != 1)
    return first
