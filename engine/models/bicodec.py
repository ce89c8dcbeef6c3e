"""BiCodec, the codec of Spark-TTS, from tokens to sound: 50 semantic tokens a second say what is said and how, 32 global
tokens say once for all by whom.

Convolutions alone, so a piece of sound depends on some tokens to both sides and on nothing else. `BiCodecStream` gives
each piece as soon as those are there, exactly as the whole would have it. It is to be built with an f32 backend. The way
back is `bicodec_encoder`.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping
from typing import Any

import numpy as np

from backends.base import Array, Ops
from engine.errors import BadRequest
from engine.models.bicodec_config import BiCodecConfig, bicodec_config
from engine.models.scalars import Scalars
from engine.models.snac import Conv, Residual, Snake, Transposed
from engine.models.turns import Turns
from engine.models.vocos import Backbone, EvenSampling
from engine.weights.view import View

_KERNEL = 7
_DILATIONS = (1, 3, 9)


class UpBlock:
    def __init__(self, w: View, inp: int, out: int, stride: int, kernel: int) -> None:
        self.stride, self.padding = stride, (kernel - stride) // 2
        self.snake = Snake(w.sub("block.0"), inp)
        self.up = Transposed(w.sub("block.1"), inp, out, kernel, stride, self.padding)
        self.units = [Residual(w.sub(f"block.{i + 2}"), out, d, groups=1) for i, d in enumerate(_DILATIONS)]
        self.reach = math.ceil((kernel - 1 - self.padding) / stride)  # inputs to either side, of the upsampling alone

    def __call__(self, x: Array) -> Array:
        x = self.up(self.snake(x))
        for unit in self.units:
            x = unit(x)
        return x


class Waves:
    """`[1, n, D]` -> samples."""

    def __init__(self, w: View, c: BiCodecConfig) -> None:
        self.ops: Ops = w.backend.ops
        self.first = Conv(w.sub("0"), c.dim, c.channels, _KERNEL)
        self.blocks = [
            UpBlock(w.sub(f"{i + 1}"), c.channels >> i, c.channels >> (i + 1), rate, kernel)
            for i, (rate, kernel) in enumerate(zip(c.rates, c.kernels))
        ]
        at, last = len(self.blocks) + 1, c.channels >> len(c.rates)
        self.snake, self.last = Snake(w.sub(f"{at}"), last), Conv(w.sub(f"{at + 1}"), last, 1, _KERNEL)
        self.reach = self._reach(math.prod(c.rates))

    def _reach(self, hop: int) -> int:
        """Frames to either side that a frame's sound depends on."""
        samples, rate = _KERNEL // 2, 1  # from the last layer back to the first
        for block in reversed(self.blocks):
            samples += rate * (_KERNEL // 2) * sum(_DILATIONS)
            rate *= block.stride
            samples += rate * block.reach
        return math.ceil(samples / hop) + _KERNEL // 2

    def __call__(self, x: Array, turns: Turns) -> Generator[None, None, np.ndarray]:
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
        self.leave = Conv(w.sub("quantizer.out_project"), c.width, c.prenet.inp)
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

    def latents(self, codes: np.ndarray, voice: Array, turns: Turns) -> Generator[None, None, Array]:
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
        turns = Turns(self.ops)
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
        turns = Turns(self._codec.ops)
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

    def _prepare(self, codes: np.ndarray, last: bool, turns: Turns) -> Generator[None, None, None]:
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
