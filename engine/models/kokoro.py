"""Kokoro text to speech, 82 million parameters: from phonemes and a style to durations, pitch, loudness and samples at 24 kHz.

It is no token model. An ALBERT reads the phonemes; LSTMs conditioned on the voice's style say how long each lasts, and how high and
how loud each frame is; a decoder makes sound of these (`engine/models/kokoro_decoder.py`). All of it needs the whole passage.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from backends.base import Array
from engine.errors import BadRequest, ConfigError
from engine.models.config import MOST_LAYERS, Fields
from engine.models.kokoro_decoder import AdaptiveBlock, KokoroDecoder, SameConv
from engine.models.yield_budget import YieldBudget
from engine.weights.view import View

RATE = 24000
_EPS, _BERT_EPS = 1e-5, 1e-12
_SLOPE = 0.2


@dataclass(frozen=True, eq=False)
class KokoroProsody:
    """What is to be said of one passage, and how, in frames: all that the decoder needs."""

    text: np.ndarray  # `[frames, hidden]`
    durations: np.ndarray  # frames of each phoneme, with the silence before the first and after the last
    pitch: np.ndarray  # in Hz, two a frame
    loudness: np.ndarray

    @property
    def frames(self) -> int:
        return len(self.text)


@dataclass(frozen=True, eq=False)
class KokoroSound:
    """What is made of one passage, and what on the way."""

    samples: np.ndarray
    durations: np.ndarray  # frames of each phoneme, with the silence before the first and after the last
    pitch: np.ndarray  # in Hz, two a frame
    loudness: np.ndarray


class _Linear:
    def __init__(self, w: View, name: str, inp: int, out: int) -> None:
        self.linear = w.linear((name, out), inp=inp, bias=True)

    def __call__(self, x: Array) -> Array:
        return self.linear(x)


class _Norm:
    def __init__(self, w: View, name: str, dim: int, eps: float, parts: tuple[str, str] = ("weight", "bias")) -> None:
        self.ops, self.eps = w.backend.ops, eps
        self.scale, self.shift = (w.tensor(f"{name}.{part}", (dim,), "f32") for part in parts)

    def __call__(self, x: Array) -> Array:
        return self.ops.layer_norm(x, self.scale, self.shift, self.eps)


class _Albert:
    """One layer's weights, applied again and again."""

    def __init__(self, w: View, f: Fields, tokens: int) -> None:
        self.ops = w.backend.ops
        self.layers = f.int("num_hidden_layers", most=MOST_LAYERS)
        self.hidden, self.heads = f.int("hidden_size"), f.int("num_attention_heads")
        self.context, narrow = f.int("max_position_embeddings"), f.int("embedding_size", default=128)
        if self.hidden % self.heads:
            raise ConfigError(f"{f.where}: hidden_size is not a multiple of num_attention_heads.")
        w.ignore(r"^bert\.(module\.)?(embeddings\.position_ids|pooler\.)")
        own = w.sub("embeddings")
        self.words = own.tensor("word_embeddings.weight", (tokens, narrow), "f32")
        self.places = own.tensor("position_embeddings.weight", (self.context, narrow), "f32")
        self.kinds = own.tensor("token_type_embeddings.weight", (f.int("type_vocab_size", default=2), narrow), "f32")
        self.norm = _Norm(own, "LayerNorm", narrow, _BERT_EPS)
        self.widen = _Linear(w.sub("encoder"), "embedding_hidden_mapping_in", narrow, self.hidden)
        layer, ffn = w.sub("encoder.albert_layer_groups.0.albert_layers.0"), f.int("intermediate_size")
        attention = layer.sub("attention")
        parts = [(name, self.hidden) for name in ("query", "key", "value")]
        self.qkv = attention.linear(*parts, inp=self.hidden, bias=True)
        self.out = _Linear(attention, "dense", self.hidden, self.hidden)
        self.attention_norm = _Norm(attention, "LayerNorm", self.hidden, _BERT_EPS)
        self.up, self.down = _Linear(layer, "ffn", self.hidden, ffn), _Linear(layer, "ffn_output", ffn, self.hidden)
        self.last_norm = _Norm(layer, "full_layer_layer_norm", self.hidden, _BERT_EPS)

    def __call__(self, ids: Array) -> Array:
        """`[L]` -> `[L, hidden]`"""
        ops, n, dim = self.ops, ids.shape[0], self.hidden // self.heads
        x = ops.take(self.words, ids, 0) + self.kinds[:1] + self.places[:n]
        x = self.widen(self.norm(x))
        for _ in range(self.layers):
            q, k, v = ops.qkv(self.qkv(x), self.heads, self.heads, dim, None)
            attended = ops.sdpa(q[None], k[None], v[None], dim**-0.5).reshape(n, self.hidden)
            x = self.attention_norm(x + self.out(attended))
            x = self.last_norm(x + self.down(ops.gelu_tanh(self.up(x))))
        return x


class _BiLstm:
    """`[L, inp]` -> `[L, out]`, half of it by a pass from the end."""

    def __init__(self, w: View, inp: int, out: int) -> None:
        self.ops, self.half = w.backend.ops, out // 2
        self.passes = []
        for suffix in ("l0", "l0_reverse"):
            weights = [
                w.tensor(f"weight_{name}_{suffix}", (4 * self.half, size), "f32")
                for name, size in (("ih", inp), ("hh", self.half))
            ]
            ih, hh = (w.tensor(f"bias_{name}_{suffix}", (4 * self.half,), "f32") for name in ("ih", "hh"))
            self.passes.append((weights[0], weights[1], ih + hh))
        self.zero = self.ops.array(np.zeros((1, self.half), np.float32), "f32")

    def __call__(self, x: Array) -> Array:
        ops, n = self.ops, x.shape[0]
        backwards = ops.array(np.arange(n - 1, -1, -1, dtype=np.int32))
        ahead, _, _ = ops.lstm(x[None], *self.passes[0], self.zero, self.zero)
        back, _, _ = ops.lstm(ops.take(x, backwards, 0)[None], *self.passes[1], self.zero, self.zero)
        return ops.cat([ahead[0], ops.take(back[0], backwards, 0)], 1)


class _TextEncoder:
    def __init__(self, w: View, f: Fields, hidden: int, tokens: int) -> None:
        self.ops, kernel = w.backend.ops, f.int("text_encoder_kernel_size")
        self.embedding = w.tensor("embedding.weight", (tokens, hidden), "f32")
        self.layers = [
            (
                SameConv(w.sub(f"cnn.{i}.0"), hidden, hidden, kernel),
                _Norm(w, f"cnn.{i}.1", hidden, _EPS, ("gamma", "beta")),
            )
            for i in range(f.int("n_layer", most=MOST_LAYERS))
        ]
        self.lstm = _BiLstm(w.sub("lstm"), hidden, hidden)

    def __call__(self, ids: Array) -> Array:
        x = self.ops.take(self.embedding, ids, 0)
        for conv, norm in self.layers:
            x = self.ops.leaky_relu(norm(conv(x[None])[0]), _SLOPE)
        return self.lstm(x)


class _Prosody:
    """Durations, pitch and loudness."""

    def __init__(self, w: View, f: Fields, hidden: int, style: int) -> None:
        self.ops, self.hidden = w.backend.ops, hidden
        wide, count = hidden + style, f.int("n_layer", most=MOST_LAYERS)
        own = w.sub("text_encoder")
        self.encoder = [
            (_BiLstm(own.sub(f"lstms.{2 * i}"), wide, hidden), _Linear(own.sub(f"lstms.{2 * i + 1}"), "fc", style, 2 * hidden))
            for i in range(count)
        ]  # fmt: skip
        self.lstm, self.shared = _BiLstm(w.sub("lstm"), wide, hidden), _BiLstm(w.sub("shared"), wide, hidden)
        self.lasts = _Linear(w.sub("duration_proj"), "linear_layer", hidden, f.int("max_dur"))
        half = hidden // 2
        self.curves = []
        for name in ("F0", "N"):
            blocks = [
                AdaptiveBlock(w.sub(f"{name}.{i}"), inp, out, style, upsample=i == 1)
                for i, (inp, out) in enumerate(((hidden, hidden), (hidden, half), (half, half)))
            ]
            self.curves.append((blocks, SameConv(w.sub(f"{name}_proj"), half, 1, 1, normed=False)))

    def encode(self, text: Array, style: Array) -> Array:
        """`[L, hidden]` and a style `[1, style]` -> `[L, hidden + style]`"""
        ops = self.ops
        styles = ops.cat([style] * text.shape[0], 0)
        x = ops.cat([text, styles], 1)
        for lstm, adapt in self.encoder:
            gain, shift = ops.split(adapt(style), [self.hidden, self.hidden], 1)
            x = ops.layer_norm(lstm(x), None, None, _EPS) * (gain + 1.0) + shift
            x = ops.cat([x, styles], 1)
        return x

    def durations(self, encoded: Array, speed: float) -> np.ndarray:
        """Whole frames of each phoneme."""
        each = self.ops.numpy(self.ops.sigmoid(self.lasts(self.lstm(encoded)))).sum(-1) / np.float32(speed)
        return np.maximum(np.round(each), 1).astype(np.int32)

    def pitch_and_loudness(
        self, frames: Array, style: Array, budget: YieldBudget
    ) -> Generator[None, None, tuple[Array, Array]]:
        """`[1, 2 L, 1]` each, of `[L, hidden + style]`."""
        shared, made = self.shared(frames)[None], []
        for blocks, project in self.curves:
            x = shared
            for block in blocks:
                x = block(x, style)
                yield from budget.pause(x)
            made.append(project(x))
        return made[0], made[1]


class Kokoro:
    rate = RATE

    def __init__(self, w: View, config: Mapping[str, Any]) -> None:
        f = Fields(config, "Kokoro config.json")
        hidden, self.style, tokens = f.int("hidden_dim"), f.int("style_dim"), f.int("n_token")
        self.ops = w.backend.ops
        if hidden % 2:
            raise ConfigError(f"{f.where}: hidden_dim must be even.")

        def part(name: str) -> View:
            """Saved from a parallel wrapper, names begin with `module`."""
            own = w.sub(name)
            return own.sub("module") if any(own.has(f"module.{one}") for one in _FIRST[name]) else own

        self.bert = _Albert(part("bert"), f.sub("plbert"), tokens)
        self.context = self.bert.context
        wrapped = part("bert_encoder") is not None and w.has("bert_encoder.module.weight")
        own, name = (w.sub("bert_encoder"), "module") if wrapped else (w, "bert_encoder")
        self.narrow = _Linear(own, name, self.bert.hidden, hidden)
        self.text = _TextEncoder(part("text_encoder"), f, hidden, tokens)
        self.prosody = _Prosody(part("predictor"), f, hidden, self.style)
        self.decoder = KokoroDecoder(part("decoder"), f.sub("istftnet"), hidden, self.style)

    def speak(
        self, ids: Sequence[int], voice: np.ndarray, speed: float = 1.0, seed: int = 0
    ) -> Generator[None, None, KokoroSound]:
        """`ids`: phonemes without the silence around them; `voice`: `[2 * style]`, of the sound and of the prosody."""
        made = yield from self.read(ids, voice, speed)
        samples = yield from self.render(made, voice, seed)
        return KokoroSound(samples, made.durations, made.pitch, made.loudness)

    def read(self, ids: Sequence[int], voice: np.ndarray, speed: float = 1.0) -> Generator[None, None, KokoroProsody]:
        """The first half of `speak`."""
        if len(ids) + 2 > self.context:
            raise BadRequest(f"The passage has {len(ids)} phonemes; {self.context - 2} are spoken at once.", "input")
        ops, budget = self.ops, YieldBudget(self.ops)
        given = ops.array(np.array([0, *ids, 0], np.int32))
        prosody = ops.array(np.ascontiguousarray(voice[None, self.style :], np.float32), "f32")
        read = self.narrow(self.bert(given))
        yield from budget.pause(read[None])
        encoded = self.prosody.encode(read, prosody)
        durations = self.prosody.durations(encoded, speed)
        yield
        places = ops.array(np.repeat(np.arange(len(durations), dtype=np.int32), durations))
        frames = ops.take(encoded, places, 0)
        pitch, loudness = yield from self.prosody.pitch_and_loudness(frames, prosody, budget)
        text = ops.numpy(ops.take(self.text(given), places, 0))
        return KokoroProsody(text, durations, ops.numpy(pitch).reshape(-1), ops.numpy(loudness).reshape(-1))

    def render(
        self, prosody: KokoroProsody, voice: np.ndarray, seed: int = 0, begin: int = 0, end: int | None = None
    ) -> Generator[None, None, np.ndarray]:
        """The second half of `speak`: samples of the frames from `begin` to `end`. Norms of the decoder are over time, so those of a
        part are not exactly the same as in the whole."""
        ops, budget = self.ops, YieldBudget(self.ops)
        end = prosody.frames if end is None else end
        sound = ops.array(np.ascontiguousarray(voice[None, : self.style], np.float32), "f32")
        # the source's phase adds up from the first frame, so that it is the same in every part
        harmonics = self.decoder.generator.source(prosody.pitch[: 2 * end], np.random.default_rng(seed))
        each = (len(harmonics) - 1) // end
        text, pitch, loudness, source = (
            ops.array(np.ascontiguousarray(part)[None], "f32")
            for part in (
                prosody.text[begin:end],
                prosody.pitch[2 * begin : 2 * end, None],
                prosody.loudness[2 * begin : 2 * end, None],
                harmonics[each * begin :],
            )
        )
        samples = yield from self.decoder.run(text, pitch, loudness, sound, source, budget)
        return samples


_FIRST = {
    "bert": ("embeddings.word_embeddings.weight",),
    "bert_encoder": ("weight",),
    "text_encoder": ("embedding.weight",),
    "predictor": ("lstm.weight_ih_l0",),
    "decoder": ("encode.conv1.weight_g", "encode.conv1.parametrizations.weight.original0"),
}


def kokoro(w: View, config: Mapping[str, Any]) -> Kokoro:
    return Kokoro(w, config)
