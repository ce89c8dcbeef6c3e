"""Parakeet speech recognition: a Fast Conformer encoder, 12.5 frames a second, with a CTC head or a transducer (RNN-T, TDT).

It is no token model: the encoder hears a whole stretch of speech, CTC reads the best token of each frame, and a transducer walks
over the frames with a small LSTM that knows the tokens so far. TDT tells with each token how many frames it takes, so that each token
has its time.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from backends.base import Array
from engine.errors import ConfigError
from engine.media.mel import PARAKEET_HOP, parakeet_mel
from engine.models.config import MOST_LAYERS, Fields
from engine.models.yield_budget import YieldBudget
from engine.weights.view import View

EPS = 1e-5
_NAME = "Parakeet config.json"
_AHEAD = 4  # frames whose joint network is computed together: until a token comes, the LSTM's state stays


@dataclass
class TimedIds:
    """What is heard: tokens, the frames where each begins and ends, and its log probability."""

    frames: int  # of the sound
    ids: list[int] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)

    def add(self, id: int, start: int, end: int, logprob: float) -> None:
        self.ids.append(id)
        self.starts.append(start)
        self.ends.append(min(end, self.frames))
        self.logprobs.append(logprob)


class _Norm:
    def __init__(self, w: View, name: str, dim: int) -> None:
        self.ops = w.backend.ops
        self.weight, self.bias = w.tensor(f"{name}.weight", (dim,)), w.tensor(f"{name}.bias", (dim,))

    def __call__(self, x: Array) -> Array:
        return self.ops.layer_norm(x, self.weight, self.bias, EPS)


class _Subsampling:
    """Convolutions over time and mel bands that halve both; all but the first are depthwise, with a mix of channels behind."""

    def __init__(self, w: View, f: Fields, hidden: int) -> None:
        self.ops = w.backend.ops
        channels, kernel, stride = (f.int(f"subsampling_conv_{name}") for name in ("channels", "kernel_size", "stride"))
        factor, mels = f.int("subsampling_factor"), f.int("num_mel_bins")
        count = factor.bit_length() - 1
        if stride != 2 or 1 << count != factor or count < 1 or kernel % 2 == 0:
            raise ConfigError(f"{f.where}: the subsampling must halve the frames, with odd kernels.")
        self.channels, self.padding = channels, (kernel // 2, kernel // 2)
        self.first = self._conv(w, 0, (channels, 1, kernel, kernel))
        self.rest = [
            (self._conv(w, 3 * i - 1, (channels, 1, kernel, kernel)), self._conv(w, 3 * i, (channels, channels, 1, 1)))
            for i in range(1, count)
        ]
        self.width = channels * (mels // factor)
        self.out = w.linear(("linear", hidden), inp=self.width, bias=True)

    def _conv(self, w: View, i: int, shape: tuple[int, ...]) -> tuple[Array, Array]:
        return self.ops.conv_weight(w.tensor(f"layers.{i}.weight", shape)), w.tensor(f"layers.{i}.bias", shape[:1])

    def __call__(self, mel: Array) -> Array:
        """`[T, mels]` -> `[L, D]`."""
        ops = self.ops
        x = ops.relu(ops.conv2d(mel[None, :, :, None], *self.first, stride=(2, 2), padding=self.padding))
        for depthwise, mix in self.rest:
            x = ops.conv2d(x, *depthwise, stride=(2, 2), padding=self.padding, groups=self.channels)
            x = ops.relu(ops.conv2d(x, *mix))
        return self.out(ops.permute(x, (0, 1, 3, 2)).reshape(x.shape[1], self.width))


class _FeedForward:
    def __init__(self, w: View, number: int, hidden: int, ffn: int, bias: bool) -> None:
        self.ops, self.norm = w.backend.ops, _Norm(w, f"norm_feed_forward{number}", hidden)
        own = w.sub(f"feed_forward{number}")
        self.up = own.linear(("linear1", ffn), inp=hidden, bias=bias)
        self.down = own.linear(("linear2", hidden), inp=ffn, bias=bias)

    def __call__(self, x: Array) -> Array:
        return x + 0.5 * self.down(self.ops.silu(self.up(self.norm(x))))


class _RelativeAttention:
    """Attention whose scores have a second part: queries times the embedding of the distance (Transformer-XL)."""

    def __init__(self, w: View, hidden: int, heads: int, bias: bool) -> None:
        self.ops, self.hidden, self.heads, self.dim = w.backend.ops, hidden, heads, hidden // heads
        self.norm, own = _Norm(w, "norm_self_att", hidden), w.sub("self_attn")
        self.qkv = own.linear(("q_proj", hidden), ("k_proj", hidden), ("v_proj", hidden), inp=hidden, bias=bias)
        self.out = own.linear(("o_proj", hidden), inp=hidden, bias=bias)
        self.distance = own.linear(("relative_k_proj", hidden), inp=hidden)
        self.content, self.position = (own.tensor(name, (heads, self.dim)) for name in ("bias_u", "bias_v"))

    def __call__(self, x: Array, distances: Array) -> Array:
        ops, n, scale = self.ops, x.shape[0], self.dim**-0.5
        q, k, v = ops.qkv(self.qkv(self.norm(x)), self.heads, self.heads, self.dim, None)
        bias = self._by_distance(q + self.position, self.distance(distances)) * scale
        attended = ops.sdpa((q + self.content)[None], k[None], v[None], scale, mask=bias[None])
        return x + self.out(attended.reshape(n, self.hidden))

    def _by_distance(self, q: Array, keys: Array) -> Array:
        """`q [L, H, D]` times `keys [2L - 1, H * D]`, of distances from L - 1 down: `[H, L, L]`, row i and column j that of i - j."""
        ops, n, many, heads = self.ops, q.shape[0], keys.shape[0], self.heads
        each = ops.permute(keys.reshape(many, heads, self.dim), (1, 0, 2)).reshape(heads * many, self.dim, 1)
        # a grouped convolution of one tap is a product for each head
        scores = ops.conv1d(q.reshape(1, n, self.hidden), ops.conv_weight(each), groups=heads)
        scores = ops.permute(scores.reshape(n, heads, many), (1, 0, 2))
        # row i begins i places further left: one more column, read with rows of one less
        shifted = ops.pad(scores, [(0, 0), (0, 0), (1, 0)]).reshape(heads, many + 1, n)[:, 1:]
        return shifted.reshape(heads, n, many)[:, :, :n]


class _ConvolutionModule:
    def __init__(self, w: View, hidden: int, kernel: int, bias: bool) -> None:
        ops = self.ops = w.backend.ops
        self.hidden, self.padding = hidden, kernel // 2
        self.norm, own = _Norm(w, "norm_conv", hidden), w.sub("conv")
        self.widen = own.flattened("pointwise_conv1", (2 * hidden, hidden, 1), bias=bias)
        self.narrow = own.flattened("pointwise_conv2", (hidden, hidden, 1), bias=bias)
        taps = own.tensor("depthwise_conv.weight", (hidden, 1, kernel), "f32")
        mean, var, gain, shift = (
            own.tensor(f"norm.{name}", (hidden,), "f32") for name in ("running_mean", "running_var", "weight", "bias")
        )
        scale = gain / ops.sqrt(var + EPS)  # the batch norm becomes part of the convolution
        if bias:
            mean = mean - own.tensor("depthwise_conv.bias", (hidden,), "f32")
        self.taps = ops.conv_weight(ops.cast(taps * scale.reshape(hidden, 1, 1), w.backend.dtype))
        self.bias = ops.cast(shift - mean * scale, w.backend.dtype)

    def __call__(self, x: Array) -> Array:
        ops = self.ops
        wide, gate = ops.split(self.widen(self.norm(x)), [self.hidden, self.hidden], 1)
        mixed = (wide * ops.sigmoid(gate))[None]
        mixed = ops.conv1d(mixed, self.taps, self.bias, padding=self.padding, groups=self.hidden)
        return x + self.narrow(ops.silu(mixed[0]))


class _Block:
    def __init__(self, w: View, f: Fields, hidden: int, heads: int) -> None:
        ffn, biased = f.int("intermediate_size"), f.flag("attention_bias", default=True)
        self.before = _FeedForward(w, 1, hidden, ffn, biased)
        self.attention = _RelativeAttention(w, hidden, heads, biased)
        self.convolution = _ConvolutionModule(
            w, hidden, f.int("conv_kernel_size"), f.flag("convolution_bias", default=True)
        )
        self.behind, self.norm = _FeedForward(w, 2, hidden, ffn, biased), _Norm(w, "norm_out", hidden)

    def __call__(self, x: Array, distances: Array) -> Array:
        return self.norm(self.behind(self.convolution(self.attention(self.before(x), distances))))


class _FastConformer:
    def __init__(self, w: View, config: Mapping[str, Any]) -> None:
        f = Fields(config, _NAME)
        if f.find("hidden_act", default="silu") != "silu":
            raise ConfigError(f"{f.where}: the encoder's hidden_act must be `silu`.")
        self.ops, self.dtype, self.hidden = w.backend.ops, w.backend.dtype, f.int("hidden_size")
        self.mels, self.factor, heads = f.int("num_mel_bins"), f.int("subsampling_factor"), f.int("num_attention_heads")
        if self.hidden % heads or self.hidden % 2:
            raise ConfigError(f"{f.where}: hidden_size must be even and a multiple of num_attention_heads.")
        self.scale = math.sqrt(self.hidden) if f.flag("scale_input", default=True) else 1.0
        w.ignore(r"num_batches_tracked$")
        self.subsampling = _Subsampling(w.sub("subsampling"), f, self.hidden)
        count = f.int("num_hidden_layers", most=MOST_LAYERS)
        self.blocks = [_Block(w.sub(f"layers.{i}"), f, self.hidden, heads) for i in range(count)]

    def run(self, samples: np.ndarray) -> Generator[None, None, Array]:
        """`[L, D]` of mono samples at 16 kHz."""
        ops, budget = self.ops, YieldBudget(self.ops)
        mel = parakeet_mel(samples, self.mels)
        x = self.subsampling(ops.array(mel, self.dtype)) * self.scale
        distances = ops.array(_sinusoids(x.shape[0], self.hidden), self.dtype)
        for block in self.blocks:
            x = block(x, distances)
            yield from budget.pause(x[None])
        return x


@lru_cache(maxsize=8)
def _sinusoids(n: int, dim: int) -> np.ndarray:
    """Of distances from n - 1 down to 1 - n; sines and cosines alternate."""
    angles = np.arange(n - 1, -n, -1, dtype=np.float32)[:, None] / 10000.0 ** (
        np.arange(0, dim, 2, dtype=np.float32) / dim
    )
    made: np.ndarray = np.stack([np.sin(angles), np.cos(angles)], -1).reshape(2 * n - 1, dim).astype(np.float32)
    return made


class Parakeet:
    """What every head shares. `vocab`: tokens, the blank among them."""

    rate = 16000

    def __init__(self, w: View, config: Mapping[str, Any]) -> None:
        f = Fields(config, _NAME)
        self.ops, self.vocab = w.backend.ops, f.int("vocab_size")
        self.encoder = _FastConformer(w.sub("encoder"), f.sub("encoder_config").values)
        self.frame = PARAKEET_HOP * self.encoder.factor  # samples

    def recognize(self, samples: np.ndarray) -> Generator[None, None, TimedIds]:
        if len(samples) < 2 * PARAKEET_HOP:  # too short for a spread over its frames
            return TimedIds(0)
        hidden = yield from self.encoder.run(samples)
        return (yield from self._decode(hidden))

    def _decode(self, hidden: Array) -> Generator[None, None, TimedIds]:
        raise NotImplementedError


class ParakeetCtc(Parakeet):
    def __init__(self, w: View, config: Mapping[str, Any]) -> None:
        super().__init__(w, config)
        self.blank = Fields(config, _NAME).int("pad_token_id", least=0)
        self.head = w.flattened("ctc_head", (self.vocab, self.encoder.hidden, 1), bias=True)

    def _decode(self, hidden: Array) -> Generator[None, None, TimedIds]:
        yield
        scores = log_softmax(self.ops.numpy(self.head(hidden)))
        best = scores.argmax(1)
        made = TimedIds(len(best))
        for at, id in enumerate(best.tolist()):
            if id == self.blank:
                continue
            if at and id == best[at - 1]:
                made.ends[-1] = at + 1
            else:
                made.add(id, at, at + 1, float(scores[at, id]))
        return made


class ParakeetTransducer(Parakeet):
    """RNN-T, and with `durations` TDT."""

    def __init__(self, w: View, config: Mapping[str, Any], durations: Sequence[int] = ()) -> None:
        super().__init__(w, config)
        f, dtype = Fields(config, _NAME), w.backend.dtype
        if f.find("hidden_act", default="relu") != "relu":
            raise ConfigError(f"{f.where}: hidden_act must be `relu`.")
        self.dtype, self.durations, self.blank = dtype, list(durations), f.int("blank_token_id", least=0)
        self.most, self.wide = f.int("max_symbols_per_step", default=10), f.int("decoder_hidden_size")
        self.project = w.linear(("encoder_projector", self.wide), inp=self.encoder.hidden, bias=True)
        own = w.sub("decoder")
        self.embedding = own.embedding("embedding", self.vocab, self.wide)
        gates, count = 4 * self.wide, f.int("num_decoder_layers", most=MOST_LAYERS)
        self.lstm: list[tuple[Array, Array, Array]] = []
        for i in range(count):
            weights = [own.tensor(f"lstm.weight_{name}_l{i}", (gates, self.wide)) for name in ("ih", "hh")]
            biases = [own.tensor(f"lstm.bias_{name}_l{i}", (gates,)) for name in ("ih", "hh")]
            self.lstm.append((weights[0], weights[1], biases[0] + biases[1]))
        self.narrow = own.linear(("decoder_projector", self.wide), inp=self.wide, bias=True)
        self.joint = w.linear(("joint.head", self.vocab + len(self.durations)), inp=self.wide, bias=True)

    def _decode(self, hidden: Array) -> Generator[None, None, TimedIds]:
        sound, frames = self.project(hidden), hidden.shape[0]
        zero = self.ops.array(np.zeros((1, self.wide), np.float32), self.dtype)
        state = [(zero, zero)] * len(self.lstm)
        made, budget = TimedIds(frames), YieldBudget(self.ops)
        text, state = self._push(self.blank, state)
        at = here = 0  # the frame, and the tokens that it has written
        while at < frames:
            many = 1 if here else _AHEAD
            logits = self.ops.numpy(self.joint(self.ops.relu(sound[at : at + many] + text)))
            first = at
            while first <= at < min(frames, first + len(logits)):
                row = logits[at - first]
                id, jump = int(row[: self.vocab].argmax()), self._jump(row)
                if id == self.blank:
                    at, here = at + max(1, jump), 0
                    continue
                logprob = float(log_softmax(row[: self.vocab])[id])
                made.add(id, at, at + (jump if self.durations else 1), logprob)
                here = here + 1 if jump == 0 else 0
                if here >= self.most:  # it would stay for ever
                    jump, here = 1, 0
                at += jump
                text, state = self._push(id, state)
                break
            yield from budget.pause(text[None])
        return made

    def _jump(self, row: np.ndarray) -> int:
        """How many frames further, of a token; at least one more of a blank."""
        return self.durations[int(row[self.vocab :].argmax())] if self.durations else 0

    def _push(self, id: int, state: list[tuple[Array, Array]]) -> tuple[Array, list[tuple[Array, Array]]]:
        ops, after = self.ops, []
        x = self.embedding.rows(ops.array(np.asarray([id], np.int32)))[None]
        for weights, (h, c) in zip(self.lstm, state):
            x, h, c = ops.lstm(x, *weights, h, c)
            after.append((h, c))
        return self.narrow(x[0]), after


def log_softmax(x: np.ndarray) -> np.ndarray:
    low = x - x.max(-1, keepdims=True)
    made: np.ndarray = low - np.log(np.exp(low).sum(-1, keepdims=True))
    return made


def parakeet_ctc(w: View, config: Mapping[str, Any]) -> Parakeet:
    return ParakeetCtc(w, config)


def parakeet_rnnt(w: View, config: Mapping[str, Any]) -> Parakeet:
    return ParakeetTransducer(w, config)


def parakeet_tdt(w: View, config: Mapping[str, Any]) -> Parakeet:
    durations = config.get("durations", (0, 1, 2, 3, 4))
    if not durations or not all(isinstance(one, int) and 0 <= one <= 64 for one in durations):
        raise ConfigError(f"{_NAME}: durations must be a list of frames.")
    return ParakeetTransducer(w, config, durations)
