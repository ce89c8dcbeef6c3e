"""BiCodec, the codec of Spark-TTS: decoder (tokens to samples) and encoder (samples to tokens).

50 semantic tokens a second hold the content, 32 global tokens the speaker. Both halves need an f32 backend. The decoder is
convolutional, so samples depend on a limited number of tokens to either side: `BiCodecStream` returns them as soon as those are
there, exactly as for the whole. The encoder takes wav2vec 2.0 features for semantic tokens and a mel spectrogram
(`engine.media.mel.bicodec_mel`) for global tokens.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from backends.base import Array, Ops
from engine.errors import BadRequest, ConfigError
from engine.models.config import Fields
from engine.models.ecapa import FEATURES, Ecapa
from engine.models.snac import SnacConv, SnacResidual, Snake, Transposed, unit
from engine.models.vocos import Backbone, EvenSampling
from engine.models.yield_budget import YieldBudget
from engine.weights.view import View

MEL = {"sample_rate": 16000, "n_fft": 1024, "win_length": 640, "hop_length": 320, "mel_fmin": 10, "num_mels": 128}


@dataclass(frozen=True)
class VocosConfig:
    """A stack of Vocos backbones between two layers."""

    inp: int
    dim: int
    inner: int
    layers: int
    out: int
    stages: int  # backbones beside the main one
    condition: int | None


@dataclass(frozen=True)
class BiCodecConfig:
    features: int  # width of what the semantic half hears
    encoder: VocosConfig
    prenet: VocosConfig
    entries: int  # of the semantic codebook
    width: int  # of its entries
    latent: int  # of a voice token before quantization
    tokens: int  # that make a voice
    levels: tuple[int, ...]  # of each number that a voice token is made of
    dim: int  # of a voice's vector, and of what sound is made from
    channels: int
    rates: tuple[int, ...]
    kernels: tuple[int, ...]


def bicodec_config(config: Mapping[str, Any]) -> BiCodecConfig:
    f = Fields(config, "BiCodec/config.yaml").sub("audio_tokenizer")
    mel, vq, voice, wave = (f.sub(name) for name in ("mel_params", "quantizer", "speaker_encoder", "decoder"))
    for name, value in MEL.items():
        if mel.find(name) != value:
            raise ConfigError(f"{mel.where}: {name} must be {value}, not {mel.find(name)!r}.")
    if voice.int("fsq_num_quantizers", default=1) != 1:
        raise ConfigError(f"{voice.where}: fsq_num_quantizers must be 1.")
    prenet = f.sub("prenet")
    if prenet.flag("use_tanh_at_final"):
        raise ConfigError(f"{prenet.where}: use_tanh_at_final must be false.")
    rates, kernels = _numbers(wave, "rates"), _numbers(wave, "kernel_sizes")
    if len(rates) != len(kernels) or any(k < r or (k - r) % 2 for k, r in zip(kernels, rates)):
        raise ConfigError(f"{wave.where}: kernel_sizes do not fit the rates.")
    made = BiCodecConfig(
        features=f.sub("encoder").int("input_channels"),
        encoder=_net(f.sub("encoder"), None),
        prenet=_net(prenet, prenet.int("condition_dim")),
        entries=vq.int("codebook_size"),
        width=vq.int("codebook_dim"),
        latent=voice.int("latent_dim"),
        tokens=voice.int("token_num"),
        levels=_numbers(voice, "fsq_levels"),
        dim=voice.int("out_dim"),
        channels=wave.int("channels"),
        rates=rates,
        kernels=kernels,
    )
    widths = {made.encoder.out, made.prenet.inp, vq.int("input_dim")}
    if len(widths) > 1 or {made.prenet.out, made.prenet.condition, wave.int("input_channel")} != {made.dim}:
        raise ConfigError(f"{f.where}: the widths of its parts do not fit together.")
    return made


def _net(f: Fields, condition: int | None) -> VocosConfig:
    ratios = _numbers(f, "sample_ratios", [1, 1])
    if set(ratios) != {1}:
        raise ConfigError(f"{f.where}: sample_ratios must be ones, not {list(ratios)}.")
    return VocosConfig(
        inp=f.int("input_channels"),
        dim=f.int("vocos_dim"),
        inner=f.int("vocos_intermediate_dim"),
        layers=f.int("vocos_num_layers"),
        out=f.int("out_channels"),
        stages=len(ratios),
        condition=condition,
    )


def _numbers(f: Fields, name: str, default: Sequence[int] | None = None) -> tuple[int, ...]:
    value = f.find(name) if default is None else f.find(name, default=default)
    if not isinstance(value, list) or not value or not all(type(n) is int and n > 0 for n in value):
        raise ConfigError(f"{f.where}: {name} must be a list of whole numbers, not {value!r}.")
    return tuple(value)


_SLACK = 1e-3  # the outermost levels lie a little within what the bound can reach


class Scalars:
    def __init__(self, levels: Sequence[int]) -> None:
        self.levels = np.array(levels, np.int64)
        self.basis = np.cumprod([1, *levels[:-1]])
        self.size = math.prod(levels)

    def codes(self, x: np.ndarray) -> np.ndarray:
        """`[n, numbers]` of any size -> codes `[n]`."""
        half = ((self.levels - 1) * (1 + _SLACK) / 2).astype(np.float32)
        offset = np.where(self.levels % 2 == 0, 0.5, 0.0).astype(np.float32)
        bounded = np.tanh(x + np.arctanh(offset / half)) * half - offset
        digits = np.round(bounded).astype(np.int64) + self.levels // 2
        made: np.ndarray = (digits * self.basis).sum(1).astype(np.int32)
        return made

    def values(self, codes: np.ndarray) -> np.ndarray:
        """Codes `[n]` -> `[n, numbers]` f32 within -1 and 1."""
        half = self.levels // 2
        digits = codes.astype(np.int64)[:, None] // self.basis % self.levels
        made: np.ndarray = ((digits - half) / half).astype(np.float32)
        return made


_PERCEIVER_DEPTH, _PERCEIVER_HEADS, _PERCEIVER_HEAD_DIM = 2, 8, 64
_PERCEIVER_WIDTH = _PERCEIVER_HEADS * _PERCEIVER_HEAD_DIM
_LEAST = 1e-24  # of a mean square


class _PerceiverLayer:
    """Attention of the vectors over themselves and the sequence, and a feed-forward layer."""

    def __init__(self, w: View, dim: int) -> None:
        self.ops: Ops = w.backend.ops
        ffn = int(dim * 4 * 2 / 3)
        self.query = w.linear(("0.to_q", _PERCEIVER_WIDTH), inp=dim)
        self.keys_values = w.linear(("0.to_kv", 2 * _PERCEIVER_WIDTH), inp=dim)
        self.out = w.linear(("0.to_out", dim), inp=_PERCEIVER_WIDTH)
        self.widen = w.linear(("1.0", 2 * ffn), inp=dim, bias=True)
        self.narrow = w.linear(("1.2", dim), inp=ffn, bias=True)
        self.ffn = ffn

    def __call__(self, x: Array, seen: Array) -> Array:
        ops = self.ops
        k, v = ops.split(self.keys_values(ops.cat([x, seen], 1)), [_PERCEIVER_WIDTH, _PERCEIVER_WIDTH], 2)
        q, k, v = (y.reshape(1, y.shape[1], _PERCEIVER_HEADS, _PERCEIVER_HEAD_DIM) for y in (self.query(x), k, v))
        found = ops.sdpa(q, k, v, _PERCEIVER_HEAD_DIM**-0.5)
        x = x + self.out(found.reshape(1, found.shape[1], _PERCEIVER_WIDTH))
        plain, gate = ops.split(self.widen(x), [self.ffn, self.ffn], 2)
        return x + self.narrow(ops.gelu(gate) * plain)


class _PerceiverResampler:
    """`[1, L, inp]` -> `[1, count, dim]`"""

    def __init__(self, w: View, inp: int, dim: int, count: int) -> None:
        self.ops: Ops = w.backend.ops
        self.enter = w.linear(("proj_context", dim), inp=inp, bias=True)
        self.start = w.tensor("latents", (count, dim), "f32")
        self.layers = [_PerceiverLayer(w.sub(f"layers.{i}"), dim) for i in range(_PERCEIVER_DEPTH)]
        self.gain = w.tensor("norm.gamma", (dim,), "f32")

    def __call__(self, x: Array) -> Array:
        seen, x = self.enter(x), self.start[None]
        for layer in self.layers:
            x = layer(x, seen)
        return self.ops.rms_norm(x, self.gain, _LEAST)


_KERNEL = 7
_DILATIONS = (1, 3, 9)


class UpBlock:
    def __init__(self, w: View, inp: int, out: int, stride: int, kernel: int) -> None:
        self.stride, self.padding = stride, (kernel - stride) // 2
        self.snake = Snake(w.sub("block.0"), inp)
        self.up = Transposed(w.sub("block.1"), inp, out, kernel, stride, self.padding)
        self.units = [SnacResidual(w.sub(f"block.{i + 2}"), out, d, groups=1) for i, d in enumerate(_DILATIONS)]
        self.reach = math.ceil((kernel - 1 - self.padding) / stride)  # inputs to either side, of the upsampling alone

    def __call__(self, x: Array) -> Array:
        x = self.up(self.snake(x))
        for residual in self.units:
            x = residual(x)
        return x


class Waves:
    """`[1, n, D]` -> samples."""

    def __init__(self, w: View, c: BiCodecConfig) -> None:
        self.ops: Ops = w.backend.ops
        self.first = SnacConv(w.sub("0"), c.dim, c.channels, _KERNEL)
        self.blocks = [
            UpBlock(w.sub(f"{i + 1}"), c.channels >> i, c.channels >> (i + 1), rate, kernel)
            for i, (rate, kernel) in enumerate(zip(c.rates, c.kernels))
        ]
        at, last = len(self.blocks) + 1, c.channels >> len(c.rates)
        self.snake, self.last = Snake(w.sub(f"{at}"), last), SnacConv(w.sub(f"{at + 1}"), last, 1, _KERNEL)
        self.reach = self._reach(math.prod(c.rates))

    def _reach(self, hop: int) -> int:
        """Frames to either side that a frame's sound depends on."""
        samples, rate = _KERNEL // 2, 1  # from the last layer back to the first
        for block in reversed(self.blocks):
            samples += rate * (_KERNEL // 2) * sum(_DILATIONS)
            rate *= block.stride
            samples += rate * block.reach
        return math.ceil(samples / hop) + _KERNEL // 2

    def __call__(self, x: Array, turns: YieldBudget) -> Generator[None, None, np.ndarray]:
        x = self.first(x)
        for block in self.blocks:
            x = block(x)
            yield from turns.pause(x)
        return self.ops.numpy(self.ops.tanh(self.last(self.snake(x))))[0, :, 0]


class BiCodecDecoder:
    rate = 16000

    def __init__(self, w: View, config: Mapping[str, Any]) -> None:
        c = self.config = bicodec_config(config)
        self.ops: Ops = w.backend.ops
        self.samples = math.prod(c.rates)  # of one semantic token
        w.ignore(r"^encoder\.", r"^quantizer\.in_project\.", r"^quantizer\.cluster_size$")  # the other half
        w.ignore(
            r"^speaker_encoder\.(speaker_encoder|perceiver_sampler)\.", r"^speaker_encoder\.quantizer\.project_in\."
        )
        w.ignore(r"^postnet\.", r"^mel_transformer\.", r"^speaker_encoder\.quantizer\.(layers|scales)")  # of training
        self.book = w.embedding("quantizer.codebook", c.entries, c.width)
        self.leave = SnacConv(w.sub("quantizer.out_project"), c.width, c.prenet.inp)
        self.scalars = Scalars(c.levels)
        v = w.sub("speaker_encoder")
        self.widen = v.linear(("quantizer.project_out", c.latent), inp=len(c.levels), bias=True)
        self.project = v.linear(("project", c.dim), inp=c.latent * c.tokens, bias=True)
        self._prenet(w.sub("prenet"), c)
        self.waves = Waves(w.sub("decoder.model"), c)

    def _prenet(self, w: View, c: BiCodecConfig) -> None:
        net = c.prenet
        self.enter = w.linear(("linear_pre", net.dim), inp=net.inp, bias=True)
        self.stages = [EvenSampling(w.sub(f"downsample.{i}"), net.dim, net.inner) for i in range(net.stages)]
        self.backbone = Backbone(w.sub("vocos_backbone"), net.dim, net.dim, net.inner, net.layers, net.condition)
        self.exit = w.linear(("linear", net.out), inp=net.dim, bias=True)
        self.reach = self.backbone.reach + sum(stage.reach for stage in self.stages)

    def voice(self, tokens: np.ndarray) -> Array:
        """Whose voice it is, `[1, D]`, of its global tokens."""
        c = self.config
        if tokens.shape != (c.tokens,) or tokens.min() < 0 or tokens.max() >= self.scalars.size:
            raise BadRequest(f"A voice is {c.tokens} tokens between 0 and {self.scalars.size - 1}.", "codes")
        made = self.widen(self.ops.array(self.scalars.values(tokens)))
        return self.project(self.ops.permute(made, (1, 0)).reshape(1, c.latent * c.tokens))

    def latents(self, codes: np.ndarray, voice: Array, turns: YieldBudget) -> Generator[None, None, Array]:
        """What sound is made from, `[1, n, D]`."""
        if len(codes) and (codes.min() < 0 or codes.max() >= self.config.entries):
            raise BadRequest(f"Semantic tokens lie between 0 and {self.config.entries - 1}.", "codes")
        rows = self.book.rows(self.ops.array(codes.astype(np.int32)))
        x = self.enter(self.leave(rows[None]))
        for stage in self.stages:
            x = yield from stage(x, turns)
        x = yield from self.backbone(x, turns, voice)
        return self.exit(x) + voice

    def decode(self, codes: np.ndarray, voice: np.ndarray) -> Generator[None, None, np.ndarray]:
        """The whole sound, f32, of semantic tokens `[n]` and a voice's global tokens."""
        if not len(codes):
            raise BadRequest("There are no tokens to make sound of.", "codes")
        turns = YieldBudget(self.ops)
        x = yield from self.latents(codes, self.voice(voice), turns)
        made: np.ndarray = yield from self.waves(x, turns)
        return made


class BiCodecStream:
    """Sound as tokens come: each token's samples as soon as the tokens that they depend on are there."""

    def __init__(self, codec: BiCodecDecoder, voice: np.ndarray) -> None:
        self._codec, self._voice = codec, codec.voice(voice)
        self._codes = np.zeros(0, np.int32)
        self._first = 0  # the token that `_codes` begin with
        self._made = 0  # tokens whose latents have been made
        self._latents: Array | None = None
        self._from = 0  # the token that `_latents` begin with
        self._done = 0  # tokens whose sound has been given

    @property
    def waits(self) -> bool:
        """Are there tokens whose sound has not been given?"""
        return self._first + len(self._codes) > self._done

    @property
    def given(self) -> int:
        """Tokens whose sound has been given."""
        return self._done

    def push(self, codes: np.ndarray, last: bool = False) -> Generator[None, None, np.ndarray]:
        """More tokens, and the sound that they complete; with `last` all of it."""
        turns = YieldBudget(self._codec.ops)
        yield from self._prepare(codes, last, turns)
        reach = self._codec.waves.reach
        stop = self._made if last else max(self._done, self._made - reach)
        if stop == self._done:
            return np.zeros(0, np.float32)
        sound: np.ndarray = yield from self._codec.waves(self._latents, turns)
        size, first = self._codec.samples, self._from
        given = sound[(self._done - first) * size : (stop - first) * size]
        self._done = stop
        drop = max(0, stop - reach - first)
        self._latents = self._latents[:, drop:]  # type: ignore[index]
        self._from += drop
        return given

    def _prepare(self, codes: np.ndarray, last: bool, turns: YieldBudget) -> Generator[None, None, None]:
        """Latents of the tokens that have enough beside them."""
        self._codes = np.concatenate((self._codes, codes.astype(np.int32)))
        known, reach = self._first + len(self._codes), self._codec.reach
        ready = known if last else max(self._made, known - reach)
        if ready == self._made:
            return
        made = yield from self._codec.latents(self._codes, self._voice, turns)
        fresh = made[:, self._made - self._first : ready - self._first]
        self._latents = fresh if self._latents is None else self._codec.ops.cat([self._latents, fresh], 1)
        self._made = ready
        drop = max(0, ready - reach - self._first)
        self._codes = self._codes[drop:]
        self._first += drop


def bicodec_decoder(w: View, config: Mapping[str, Any]) -> BiCodecDecoder:
    return BiCodecDecoder(w, config)


class BiCodecEncoder:
    rate = 16000

    def __init__(self, w: View, config: Mapping[str, Any]) -> None:
        c = self.config = bicodec_config(config)
        self.ops: Ops = w.backend.ops
        w.ignore(r"^(decoder|prenet)\.", r"^quantizer\.out_project\.", r"^speaker_encoder\.project\.")  # the other half
        w.ignore(r"^speaker_encoder\.quantizer\.project_out\.")
        w.ignore(r"^speaker_encoder\.speaker_encoder\.(pool|bn|linear)\.", r"\.num_batches_tracked$")  # of training
        w.ignore(r"^postnet\.", r"^mel_transformer\.", r"^quantizer\.cluster_size$")
        w.ignore(r"^speaker_encoder\.quantizer\.(layers|scales)")
        v, net = w.sub("encoder"), c.encoder
        self.backbone = Backbone(v.sub("encoder"), net.inp, net.dim, net.inner, net.layers)
        self.stages = [EvenSampling(v.sub(f"downsample.{i}"), net.dim, net.inner) for i in range(net.stages)]
        self.project = v.linear(("project", net.out), inp=net.dim, bias=True)
        self.enter = SnacConv(w.sub("quantizer.in_project"), net.out, c.width)
        self.book = w.embedding("quantizer.codebook", c.entries, c.width)
        v = w.sub("speaker_encoder")
        self.frames = Ecapa(v.sub("speaker_encoder"), MEL["num_mels"])
        self.gather = _PerceiverResampler(v.sub("perceiver_sampler"), FEATURES, c.latent, c.tokens)
        self.narrow = v.linear(("quantizer.project_in", len(c.levels)), inp=c.latent, bias=True)
        self.scalars = Scalars(c.levels)

    def semantic(self, features: np.ndarray) -> Generator[None, None, np.ndarray]:
        """Features `[n, D]` -> tokens `[n]`."""
        ops, turns = self.ops, YieldBudget(self.ops)
        x = yield from self.backbone(ops.array(features[None], "f32"), turns)
        for stage in self.stages:
            x = yield from stage(x, turns)
        found = unit(ops.numpy(self.enter(self.project(x)))[0])
        book = unit(ops.numpy(self.book.rows(ops.arange(self.config.entries))))
        distance = (found**2).sum(1, keepdims=True) - 2 * found @ book.T + (book**2).sum(1)
        return np.argmin(distance, axis=1).astype(np.int32)

    def voice(self, mel: np.ndarray) -> Generator[None, None, np.ndarray]:
        """A spectrogram `[frames, mels]` -> global tokens."""
        turns = YieldBudget(self.ops)
        x = yield from self.frames(self.ops.array(mel[None], "f32"), turns)
        return self.scalars.codes(self.ops.numpy(self.narrow(self.gather(x)))[0])


def bicodec_encoder(w: View, config: Mapping[str, Any]) -> BiCodecEncoder:
    return BiCodecEncoder(w, config)
