"""Moonshine speech recognition: convolutions over the waveform, an encoder, and a decoder with cross attention.

Both published kinds share `MoonshineDecoder`: `Moonshine` encodes a whole sound at once; `MoonshineStreaming` has causal
convolutions over frames of 5 ms and windowed attention, so that earlier frames do not change when more sound arrives.
A sound is encoded once, and `begin` gives a new sequence the keys and values of its cross attention. Sounds are packed in one
array of frames and encoded together. `token_times` aligns tokens with the sound by cross attention.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any

import numpy as np

from backends.base import Array, CrossSpec, EncoderAttention, KVCache, KVSpec, MemorySpec, Rope, Slot, Step
from engine.errors import BadRequest, ConfigError
from engine.media.inputs import Sound
from engine.models.config import Fields
from engine.models.rope import frequencies
from engine.weights.view import View

EPS = 1e-5


class MoonshineDecoder:
    """The decoder of both kinds: self attention with partial rope, cross attention without rope, gated MLP, norms without bias."""

    def __init__(self, w: View, config: Mapping[str, Any], default_tied: bool) -> None:
        f = Fields(config)
        hidden, layers = f.int("hidden_size"), f.int("decoder_num_hidden_layers", "num_hidden_layers")
        heads = f.int("decoder_num_attention_heads", "num_attention_heads")
        if f.int("decoder_num_key_value_heads", "num_key_value_heads", default=heads) != heads:
            raise ConfigError(f"{f.where}: Moonshine is not known with fewer key heads than query heads.")
        dim, ffn = f.int("head_dim", default=hidden // heads), f.int("intermediate_size")
        self.ops, self.heads, self.dim, self.vocab = w.backend.ops, heads, dim, f.int("vocab_size")
        self.rope = partial_rope(f, dim)
        inner = w.sub("model.decoder")
        self.embedding = inner.embedding("embed_tokens", self.vocab, hidden)
        self.layers = [_DecoderLayer(inner.sub(f"layers.{i}"), i, hidden, heads, dim, ffn) for i in range(layers)]
        self.norm = inner.norm("norm", hidden)
        if f.flag("tie_word_embeddings", default_tied):
            w.ignore(r"^proj_out\.")
            self.head = self.embedding
        else:
            self.head = w.linear(("proj_out", self.vocab), inp=hidden)
        self.memory: list[MemorySpec] = [KVSpec(heads, dim), CrossSpec(heads, dim)] * layers

    def embed(self, ids: Array) -> Array:
        return self.embedding.rows(ids)

    def __call__(self, step: Step) -> Array:
        angles, x = self.ops.angles(step.pos, self.rope), step.x
        for layer in self.layers:
            x = layer(x, step, angles)
        return self.ops.layer_norm(x, self.norm, None, EPS)

    def logits(self, hidden: Array) -> Array:
        return self.head(hidden)

    def begin(self, kv: KVCache, slot: Slot, features: np.ndarray) -> None:
        """Write the cross attention of a new sequence to `features [S, D]`."""
        sound = self.ops.array(features, self.layers[0].dtype)
        for layer in self.layers:
            kv.write_cross(slot, layer.cross_at, *layer.sound_memory(sound))


class _DecoderLayer:
    def __init__(self, w: View, i: int, hidden: int, heads: int, dim: int, ffn: int) -> None:
        self.ops, self.heads, self.dim, self.width = w.backend.ops, heads, dim, heads * dim
        self.at, self.cross_at, self.scale, self.dtype = 2 * i, 2 * i + 1, dim**-0.5, w.backend.dtype
        own, cross = w.sub("self_attn"), w.sub("encoder_attn")
        self.qkv = own.linear(("q_proj", self.width), ("k_proj", self.width), ("v_proj", self.width), inp=hidden)
        self.own_out = own.linear(("o_proj", hidden), inp=self.width)
        self.query = cross.linear(("q_proj", self.width), inp=hidden)
        self.key_value = cross.linear(("k_proj", self.width), ("v_proj", self.width), inp=hidden)
        self.cross_out = cross.linear(("o_proj", hidden), inp=self.width)
        self.up = w.linear(("mlp.fc1", 2 * ffn), inp=hidden, bias=True)
        self.down = w.linear(("mlp.fc2", hidden), inp=ffn, bias=True)
        self.own_norm = w.norm("input_layernorm", hidden)
        self.cross_norm = w.norm("post_attention_layernorm", hidden)
        self.mlp_norm = w.norm("final_layernorm", hidden)

    def __call__(self, x: Array, step: Step, angles: Any) -> Array:
        ops, n = self.ops, x.shape[0]
        q, k, v = ops.qkv(
            self.qkv(ops.layer_norm(x, self.own_norm, None, EPS)), self.heads, self.heads, self.dim, angles
        )
        x = x + self.own_out(step.cache.attend(self.at, q, k, v, self.scale).reshape(n, self.width))
        q = self.query(ops.layer_norm(x, self.cross_norm, None, EPS)).reshape(n, self.heads, self.dim)
        x = x + self.cross_out(step.cache.cross(self.cross_at, q, self.scale).reshape(n, self.width))
        return x + self.down(ops.swiglu(self.up(ops.layer_norm(x, self.mlp_norm, None, EPS)), gate_last=True))

    def sound_memory(self, sound: Array) -> tuple[Array, Array]:
        k, v = self.ops.split(self.key_value(sound), [self.width, self.width], 1)
        return k.reshape(-1, self.heads, self.dim), v.reshape(-1, self.heads, self.dim)


class Moonshine(MoonshineDecoder):
    """The kind that encodes a whole sound at once."""

    def __init__(self, w: View, config: Mapping[str, Any]) -> None:
        super().__init__(w, config, default_tied=True)
        f, inner = Fields(config), w.sub("model.encoder")
        hidden = f.int("hidden_size")
        self.convs = [
            _Conv(inner.sub("conv1"), 1, hidden, 127, 64, bias=False),
            _Conv(inner.sub("conv2"), hidden, 2 * hidden, 7, 3),
            _Conv(inner.sub("conv3"), 2 * hidden, hidden, 3, 2),
        ]
        self.group = inner.tensor("groupnorm.weight", (hidden,)), inner.tensor("groupnorm.bias", (hidden,))
        heads = f.int("encoder_num_attention_heads")
        self.encoder = [
            _EncoderLayer(inner.sub(f"layers.{i}"), hidden, heads, hidden // heads, f.int("intermediate_size"))
            for i in range(f.int("encoder_num_hidden_layers"))
        ]
        norm = inner.norm("layer_norm", hidden)
        last: Callable[[Array, Any, EncoderAttention], Array] = lambda x, *_: self.ops.layer_norm(x, norm, None, EPS)  # noqa: E731
        self.whole = w.backend.encoder([*self.encoder, last], partial_rope(f, hidden // heads))

    def encode(self, sounds: Sequence[Sound]) -> Generator[None, None, list[np.ndarray]]:
        ops, rows = self.ops, []
        for sound in sounds:
            rows.append(self._frames(sound.samples))
            yield
        lens = [row.shape[0] for row in rows]
        made = ops.numpy((yield from self.whole.run(ops.cat(rows, 0), lens)))
        return np.split(made, np.cumsum(lens)[:-1])

    def _frames(self, samples: np.ndarray) -> Array:
        """`[S, D]`: about 41 frames a second."""
        if len(samples) < 1023:  # the first frame's reach
            raise BadRequest("The sound is too short to hold a word.", "file")
        ops = self.ops
        x = ops.array(samples.astype(np.float32)[None, :, None], self.layers[0].dtype)
        x = ops.group_norm(ops.tanh(self.convs[0](x)), 1, *self.group, EPS)
        x = ops.gelu(self.convs[2](ops.gelu(self.convs[1](x))))
        return x[0]


class _EncoderLayer:
    """Attention over a whole sound or a window of it, and an MLP."""

    def __init__(
        self,
        w: View,
        hidden: int,
        heads: int,
        dim: int,
        ffn: int,
        norm: tuple[str, float] = ("weight", 0.0),
        window: tuple[int, int] | None = None,
    ) -> None:
        self.ops, self.heads, self.dim, self.scale, self.window = w.backend.ops, heads, dim, dim**-0.5, window
        width, (name, plus) = heads * dim, norm
        attention = w.sub("self_attn")
        self.project = attention.linear(("q_proj", width), ("k_proj", width), ("v_proj", width), inp=hidden)
        self.out = attention.linear(("o_proj", hidden), inp=width)
        self.up = w.linear(("mlp.fc1", ffn), inp=hidden, bias=True)
        self.down = w.linear(("mlp.fc2", hidden), inp=ffn, bias=True)
        self.norms = [
            w.tensor(f"{norm}.{name}", (hidden,)) + plus for norm in ("input_layernorm", "post_attention_layernorm")
        ]

    def __call__(self, x: Array, angles: Any, among: EncoderAttention) -> Array:
        """Without `angles` no rope is applied."""
        ops = self.ops
        projected = self.project(ops.layer_norm(x, self.norms[0], None, EPS))
        q, k, v = ops.qkv(projected, self.heads, self.heads, self.dim, angles)
        attended = among.attend(q, k, v, self.scale, self.window)
        x = x + self.out(attended.reshape(x.shape[0], self.heads * self.dim))
        return x + self.down(ops.gelu(self.up(ops.layer_norm(x, self.norms[1], None, EPS))))


class _Conv:
    def __init__(self, w: View, inp: int, out: int, kernel: int, stride: int, bias: bool = True) -> None:
        self.ops, self.stride = w.backend.ops, stride
        self.weight = self.ops.conv_weight(w.tensor("weight", (out, inp, kernel)))
        self.bias = w.tensor("bias", (out,)) if bias else None

    def __call__(self, x: Array) -> Array:
        return self.ops.conv1d(x, self.weight, self.bias, stride=self.stride)


def partial_rope(f: Fields, dim: int) -> Rope:
    """Rope over the first part of each head, with interleaved pairs."""
    rope = f.sub("rope_parameters") if f.find("rope_parameters", default=None) is not None else f
    dims = int(dim * rope.float("partial_rotary_factor", default=0.9))
    return Rope(dims, tuple(frequencies(rope.float("rope_theta", default=10000.0), dims)), pairs=True)


def moonshine(w: View, config: Mapping[str, Any]) -> Moonshine:
    return Moonshine(w, config)


_KERNEL = 5  # of both causal convolutions, stride 2


class MoonshineStreaming(MoonshineDecoder):
    def __init__(self, w: View, config: Mapping[str, Any]) -> None:
        super().__init__(w, config, default_tied=False)
        outer = Fields(config)
        f, inner, decoder = outer.sub("encoder_config"), w.sub("model.encoder"), w.sub("model.decoder")
        hidden, heads = f.int("hidden_size"), f.int("num_attention_heads")
        dim, layers = f.int("head_dim", default=hidden // heads), f.int("num_hidden_layers")
        self.frame_samples = round(f.int("sample_rate", default=16000) * f.float("frame_ms", default=5.0) / 1000)
        self.windows = [tuple(window) for window in f.find("sliding_windows")]
        if len(self.windows) != layers or any(len(window) != 2 for window in self.windows):
            raise ConfigError(f"{f.where}: sliding_windows must be two numbers for each of {layers} layers.")
        if any(back < 1 for back, _ in self.windows):
            raise ConfigError(
                f"{f.where}: sliding_windows must let every frame see itself: its first number is 1 or more."
            )
        front = inner.sub("embedder")
        self.log_k = front.tensor("comp.log_k", (), "f32")
        self.linear = front.linear(("linear", hidden), inp=self.frame_samples)
        self.convs = [
            (
                self.ops.conv_weight(front.tensor(f"{name}.weight", (out, inp, _KERNEL))),
                front.tensor(f"{name}.bias", (out,)),
            )
            for name, out, inp in (("conv1", 2 * hidden, hidden), ("conv2", hidden, 2 * hidden))
        ]
        self.encoder = [
            _EncoderLayer(
                inner.sub(f"layers.{i}"), hidden, heads, dim, f.int("intermediate_size"), ("gamma", 1.0),
                (back, max(0, ahead - 1)),
            )
            for i, (back, ahead) in enumerate(self.windows)
        ]  # fmt: skip
        self.whole = w.backend.encoder(self.encoder, None)
        self.encoder_norm = inner.tensor("final_norm.gamma", (hidden,)) + 1.0
        self.longest = outer.int("max_position_embeddings")
        self.places = decoder.embedding("pos_emb", self.longest, hidden)
        self.bridge = (
            decoder.linear(("proj", outer.int("hidden_size")), inp=hidden) if decoder.has("proj.weight") else None
        )

    def encode(self, sounds: Sequence[Sound]) -> Generator[None, None, list[np.ndarray]]:
        ops, rows = self.ops, []
        for sound in sounds:
            rows.append(self._frames(sound.samples))
            yield
        lens = [row.shape[0] for row in rows]
        x = yield from self.whole.run(ops.cat(rows, 0), lens)
        x = ops.layer_norm(x, self.encoder_norm, None, EPS)
        x = x + self.places.rows(ops.array(np.concatenate([np.arange(n) for n in lens])))
        made = ops.numpy(x if self.bridge is None else self.bridge(x))
        return np.split(made, np.cumsum(lens)[:-1])

    def _frames(self, samples: np.ndarray) -> Array:
        """`[S, D]`: fifty frames a second."""
        ops = self.ops
        count = len(samples) // self.frame_samples
        if not 0 < -(-count // 4) <= self.longest:
            raise BadRequest(
                f"The sound must have between {self.frame_samples} and {4 * self.longest * self.frame_samples} samples.",
                "file",
            )
        frames = samples[: count * self.frame_samples].astype(np.float32).reshape(count, self.frame_samples)
        frames = frames - frames.mean(1, keepdims=True)
        frames = frames / np.sqrt((frames * frames).mean(1, keepdims=True) + 1e-6)
        frames = np.arcsinh(math.exp(float(ops.numpy(self.log_k).reshape(()))) * frames)
        x = ops.silu(self.linear(ops.array(frames, self.layers[0].dtype)))[None]
        for i, (weight, bias) in enumerate(self.convs):
            x = ops.conv1d(ops.pad(x, [(0, 0), (_KERNEL - 1, 0), (0, 0)]), weight, bias, stride=2)
            x = ops.silu(x) if i == 0 else x
        return x[0]


def moonshine_streaming(w: View, config: Mapping[str, Any]) -> MoonshineStreaming:
    return MoonshineStreaming(w, config)


_SHARE = 0.25  # of all heads, those with the sharpest attention


def token_times(decoder: MoonshineDecoder, features: np.ndarray, ids: Sequence[int]) -> np.ndarray:
    """For each of `ids` (the start token first) the time of the *next* token, as a share of the sound; not decreasing.

    Cross attention applied to times and squared times gives each head's mean time and its spread; the heads with the least
    spread are averaged."""
    attended = _attended_times(decoder, features, ids)  # [heads, T, 2]
    spread = np.maximum(attended[:, :, 1] - attended[:, :, 0] ** 2, 0.0).mean(1)
    trusted = np.argsort(spread, kind="stable")[: max(1, int(_SHARE * len(spread)))]
    times: np.ndarray = np.maximum.accumulate(attended[trusted, :, 0].mean(0))
    return times.clip(0.0, 1.0)


def _attended_times(decoder: MoonshineDecoder, features: np.ndarray, ids: Sequence[int]) -> np.ndarray:
    ops, n, frames = decoder.ops, len(ids), len(features)
    sound = ops.array(features, decoder.layers[0].dtype)
    at = (np.arange(frames, dtype=np.float32) + 0.5) / frames
    clock = np.zeros((1, frames, decoder.heads, decoder.dim), np.float32)
    clock[0, :, :, 0], clock[0, :, :, 1] = at[:, None], at[:, None] ** 2
    times = ops.array(clock, decoder.layers[0].dtype)
    angles = ops.angles(ops.arange(n), decoder.rope)
    x: Any = decoder.embed(ops.array(np.asarray(ids, np.int32)))
    attended = []
    for layer in decoder.layers:
        projected = layer.qkv(ops.layer_norm(x, layer.own_norm, None, EPS))
        q, k, v = ops.qkv(projected, layer.heads, layer.heads, layer.dim, angles)
        x = x + layer.own_out(ops.sdpa(q[None], k[None], v[None], layer.scale, causal=True).reshape(n, layer.width))
        q = layer.query(ops.layer_norm(x, layer.cross_norm, None, EPS)).reshape(1, n, layer.heads, layer.dim)
        k, v = (part[None] for part in layer.sound_memory(sound))
        attended.append(ops.numpy(ops.sdpa(q, k, times, layer.scale))[0, :, :, :2])
        x = x + layer.cross_out(ops.sdpa(q, k, v, layer.scale).reshape(n, layer.width))
        x = x + layer.down(ops.swiglu(layer.up(ops.layer_norm(x, layer.mlp_norm, None, EPS)), gate_last=True))
    return np.concatenate(attended, axis=1).transpose(1, 0, 2)
