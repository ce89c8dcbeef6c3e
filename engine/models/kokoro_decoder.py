"""Kokoro's decoder (iSTFTNet): from encoded phonemes, pitch and loudness in frames to samples.

A source of harmonics follows the pitch; transposed convolutions bring the frames to its rate, and what they give is a spectrum,
inverted at the end. Each norm is over time and takes its scale and shift from the voice's style.
"""

from __future__ import annotations

import math
from collections.abc import Generator

import numpy as np

from backends.base import Array
from engine.errors import ConfigError
from engine.media.mel import frames as sliding
from engine.media.mel import hann
from engine.models.config import Fields
from engine.models.snac import SnacConv, Transposed, plain_weight
from engine.models.yield_budget import YieldBudget
from engine.weights.view import View

_EPS = 1e-5
_RATE = 24000
_HARMONICS = 9
_AMPLITUDE, _NOISE, _VOICED = 0.1, 0.003, 10.0  # of the source; Hz from which a frame has a pitch
_ROUNDING = 1e-5
_SLOPE, _INNER_SLOPE, _LAST_SLOPE = 0.2, 0.1, 0.01


class SameConv:
    """A convolution that keeps the length."""

    def __init__(
        self,
        w: View,
        inp: int,
        out: int,
        kernel: int,
        dilation: int = 1,
        bias: bool = True,
        normed: bool = True,
        rounded: bool = False,
    ) -> None:
        """`normed`: its weight is stored as a direction and a length. `rounded`: see `Ops.image_weight`."""
        ops = self.ops = w.backend.ops
        self.dilation = dilation
        weight = plain_weight(w, (out, inp, kernel)) if normed else w.tensor("weight", (out, inp, kernel), "f32")
        shift = w.tensor("bias", (out,), "f32") if bias else ops.array(np.zeros(out, np.float32), "f32")
        if not w.dry:
            self.w = ops.stream_weight(weight, shift, rounded=rounded)

    def __call__(
        self,
        x: Array,
        scale: tuple[Array, Array] | None = None,
        snake: tuple[Array, Array] | None = None,
        add: Array | None = None,
    ) -> Array:
        """`[1, L, inp]` -> `[1, L, out]`; see `Ops.same_conv`."""
        more = None if add is None else add[0]
        return self.ops.same_conv(x[0], self.w, dilation=self.dilation, scale=scale, snake=snake, add=more)[None]


class _AdaptiveNorm:
    """Each channel to mean 0 and spread 1 over time, then scaled and shifted as the style says."""

    def __init__(self, w: View, dim: int, style: int) -> None:
        self.ops, self.dim = w.backend.ops, dim
        self.adapt = w.linear(("fc", 2 * dim), inp=style, bias=True)
        learned = w.has("norm.weight")  # ones and zeros, where they are stored at all
        self.scale = w.tensor("norm.weight", (dim,), "f32") if learned else None
        self.shift = w.tensor("norm.bias", (dim,), "f32") if learned else None

    def __call__(self, x: Array, style: Array) -> tuple[Array, Array]:
        """What `x` is to be multiplied with, and what is then to be added."""
        gain, shift = self.ops.split(self.adapt(style)[0], [self.dim, self.dim], 0)
        gain = gain + 1.0
        if self.scale is not None:
            gain, shift = gain * self.scale, gain * self.shift + shift
        return self.ops.channel_scale(x[0], gain, shift, _EPS)


class AdaptiveBlock:
    """Two convolutions beside a shortcut; `upsample` doubles the frames. `rounded`: see `Ops.image_weight`."""

    def __init__(self, w: View, inp: int, out: int, style: int, upsample: bool = False, rounded: bool = False) -> None:
        ops = self.ops = w.backend.ops
        self.inp, self.upsample = inp, upsample
        self.norms = _AdaptiveNorm(w.sub("norm1"), inp, style), _AdaptiveNorm(w.sub("norm2"), out, style)
        self.convs = (
            SameConv(w.sub("conv1"), inp, out, 3, rounded=rounded),
            SameConv(w.sub("conv2"), out, out, 3, rounded=rounded),
        )
        self.shortcut = SameConv(w.sub("conv1x1"), inp, out, 1, bias=False, rounded=rounded) if inp != out else None
        if upsample:
            pool = w.sub("pool")
            self.pool = ops.conv_weight(plain_weight(pool, (inp, 1, 3)), transposed=True)
            self.pool_bias = pool.tensor("bias", (inp,), "f32")

    def __call__(self, x: Array, style: Array) -> Array:
        ops = self.ops
        y = self._activated(0, x, style)
        if self.upsample:
            y = ops.conv_transpose1d(
                y, self.pool, self.pool_bias, stride=2, padding=1, output_padding=1, groups=self.inp
            )
            x = ops.stack([x, x], 2).reshape(1, 2 * x.shape[1], self.inp)
        y = self._activated(1, self.convs[0](y), style)
        kept = x if self.shortcut is None else self.shortcut(x)
        return self.convs[1](y, add=kept) * (1 / math.sqrt(2))

    def _activated(self, norm: int, x: Array, style: Array) -> Array:
        scale, shift = self.norms[norm](x, style)
        return self.ops.leaky_relu(x * scale + shift, _SLOPE)


class _SnakeBlock:
    """Three pairs of convolutions, each behind a norm and a snake, added to their input."""

    def __init__(self, w: View, dim: int, kernel: int, dilations: list[int], style: int) -> None:
        self.ops = w.backend.ops
        self.steps = []
        for i, dilation in enumerate(dilations):
            for n, reach in ((1, dilation), (2, 1)):
                rate = w.tensor(f"alpha{n}.{i}", (1, dim, 1), "f32").reshape(dim)
                norm = _AdaptiveNorm(w.sub(f"adain{n}.{i}"), dim, style)
                conv = SameConv(w.sub(f"convs{n}.{i}"), dim, dim, kernel, reach, rounded=True)
                self.steps.append((norm, (rate, 1.0 / rate), conv))

    def __call__(self, x: Array, style: Array, budget: YieldBudget) -> Generator[None, None, Array]:
        for first, second in zip(self.steps[::2], self.steps[1::2]):
            y = x
            for (norm, snake, conv), add in ((first, None), (second, x)):
                y = conv(y, norm(y, style), snake, add)
                yield from budget.pause(y)
            x = y
        return x


class _Source:
    """Harmonics of the pitch as a spectrum, made on the host: its steps are sequential, and small."""

    def __init__(self, w: View, f: Fields, scale: int) -> None:
        self.ops, self.scale = w.backend.ops, scale  # samples of one value of the pitch
        self.size, self.hop = f.int("gen_istft_n_fft"), f.int("gen_istft_hop_size")
        if w.dry:
            w.tensor("l_linear.weight", (1, _HARMONICS), "f32")
            w.tensor("l_linear.bias", (1,), "f32")
            return
        self.mix = self.ops.numpy(w.tensor("l_linear.weight", (1, _HARMONICS), "f32"))[0]
        self.shift = float(self.ops.numpy(w.tensor("l_linear.bias", (1,), "f32"))[0])

    def __call__(self, pitch: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """`[L]` in Hz -> `[frames, n_fft + 2]`: magnitudes, then phases."""
        count = len(pitch) * self.scale
        turns = np.cumsum(pitch[:, None].astype(np.float64) * np.arange(1, _HARMONICS + 1) / _RATE % 1, 0) * self.scale
        at = np.clip((np.arange(count) + 0.5) / self.scale - 0.5, 0, len(pitch) - 1)
        low = np.floor(at).astype(np.int64)
        # whole turns mean nothing, so what is left of them and what is added on the way are small enough for f32
        begun, step = (turns % 1).astype(np.float32), np.diff(turns, axis=0, append=turns[-1:]).astype(np.float32)
        waves = begun[low]
        waves += (at - low).astype(np.float32)[:, None] * step[low]
        waves *= np.float32(2 * np.pi)
        np.sin(waves, out=waves)
        voiced = np.repeat(pitch > _VOICED, self.scale)
        noise = random.standard_normal((count, _HARMONICS), dtype=np.float32)
        loud, quiet = np.float32(_AMPLITUDE) * voiced, np.where(voiced, _NOISE, _AMPLITUDE / 3).astype(np.float32)
        source = np.tanh(waves @ self.mix * loud + noise @ self.mix * quiet + np.float32(self.shift))
        padded = np.pad(source, self.size // 2, mode="reflect")
        spectrum = np.fft.rfft(sliding(padded, self.size, self.hop) * hann(self.size), axis=-1)
        # the reflected ends are symmetric: their imaginary parts are rounding, which would choose between half a turn and minus it
        turned = np.where(np.abs(spectrum.imag) < _ROUNDING * np.abs(spectrum.real), 0.0, spectrum.imag)
        return np.concatenate((np.abs(spectrum), np.arctan2(turned, spectrum.real)), 1).astype(np.float32)


class _Generator:
    def __init__(self, w: View, f: Fields, style: int) -> None:
        ops = self.ops = w.backend.ops
        rates, kernels = f.find("upsample_rates"), f.find("upsample_kernel_sizes")
        sizes, dilations = f.find("resblock_kernel_sizes"), f.find("resblock_dilation_sizes")
        if len(rates) != len(kernels) or len(sizes) != len(dilations):
            raise ConfigError(
                f"{f.where}: each upsampling needs a rate and a kernel, each block a kernel and dilations."
            )
        self.size, self.hop = f.int("gen_istft_n_fft"), f.int("gen_istft_hop_size")
        width, bins = f.int("upsample_initial_channel"), self.size + 2
        self.source = _Source(w.sub("m_source"), f, math.prod(rates) * self.hop)
        self.stages = []
        for i, (rate, kernel) in enumerate(zip(rates, kernels)):
            dim, last = width // 2, i + 1 == len(rates)
            up = Transposed(w.sub(f"ups.{i}"), width, dim, kernel, rate, (kernel - rate) // 2)
            step = math.prod(rates[i + 1 :])
            taps = 1 if last else 2 * step
            noise = w.sub(f"noise_convs.{i}")
            heard = (
                ops.conv_weight(noise.tensor("weight", (dim, bins, taps), "f32")),
                noise.tensor("bias", (dim,), "f32"),
            )
            how = (1, 0) if last else (step, (step + 1) // 2)
            shaped = _SnakeBlock(w.sub(f"noise_res.{i}"), dim, 11 if last else 7, [1, 3, 5], style)
            blocks = [
                _SnakeBlock(w.sub(f"resblocks.{i * len(sizes) + j}"), dim, size, reach, style)
                for j, (size, reach) in enumerate(zip(sizes, dilations))
            ]
            self.stages.append((up, heard, how, shaped, blocks))
            width = dim
        self.last = SameConv(w.sub("conv_post"), width, bins, 7)
        self.window = ops.array(hann(self.size), "f32")

    def run(self, x: Array, harmonics: Array, style: Array, budget: YieldBudget) -> Generator[None, None, np.ndarray]:
        """`harmonics`: the source's spectrum at the same frames, and one behind them."""
        ops = self.ops
        for i, (up, heard, (stride, padding), shaped, blocks) in enumerate(self.stages):
            x = up(ops.leaky_relu(x, _INNER_SLOPE))
            if i + 1 == len(self.stages):
                x = ops.cat([x[:, 1:2], x], 1)  # reflected by one
            source = ops.conv1d(harmonics, *heard, stride=stride, padding=padding)
            x = x + (yield from shaped(source, style, budget))
            total = yield from blocks[0](x, style, budget)
            for block in blocks[1:]:
                total = total + (yield from block(x, style, budget))
            x = total * (1 / len(blocks))
        spectrum = self.last(ops.leaky_relu(x, _LAST_SLOPE))
        bins = self.size // 2 + 1
        loud, phase = ops.exp(spectrum[:, :, :bins]), ops.sin(spectrum[:, :, bins:])
        real, imaginary = loud * ops.sin(phase + math.pi / 2), loud * ops.sin(phase)
        edge = self.size // 2
        made_of_it: np.ndarray = ops.numpy(ops.istft(real, imaginary, self.window, self.hop))[0]
        yield
        return made_of_it[edge : len(made_of_it) - edge]


class KokoroDecoder:
    def __init__(self, w: View, f: Fields, text: int, style: int) -> None:
        self.ops = w.backend.ops
        self.curves = [SnacConv(w.sub(f"{name}_conv"), 1, 1, 3, stride=2) for name in ("F0", "N")]
        wide, kept = _width(w, "encode.conv1", 1024), _width(w, "asr_res.0", 64)
        self.kept = SameConv(w.sub("asr_res.0"), text, kept, 1)
        self.encode = AdaptiveBlock(w.sub("encode"), text + 2, wide, style, rounded=True)
        inner, last = wide + kept + 2, f.int("upsample_initial_channel")
        self.blocks = [
            AdaptiveBlock(w.sub(f"decode.{i}"), inner, last if i == 3 else wide, style, upsample=i == 3, rounded=True)
            for i in range(4)
        ]
        self.generator = _Generator(w.sub("generator"), f, style)

    def run(
        self, text: Array, pitch: Array, loudness: Array, style: Array, harmonics: Array, budget: YieldBudget
    ) -> Generator[None, None, np.ndarray]:
        """`text [1, L, D]`, `pitch` and `loudness` `[1, 2 L, 1]`, the source's spectrum -> samples."""
        ops = self.ops
        curves = [conv(curve) for conv, curve in zip(self.curves, (pitch, loudness))]
        x = self.encode(ops.cat([text, *curves], 2), style)
        kept = self.kept(text)
        for block in self.blocks:
            x = block(ops.cat([x, kept, *curves], 2), style)
            yield from budget.pause(x)
        return (yield from self.generator.run(x, harmonics, style, budget))


def _width(w: View, name: str, published: int) -> int:
    """The channels that a convolution gives, which no field of the config says."""
    shape = w.shape(f"{name}.weight_v") or w.shape(f"{name}.parametrizations.weight.original1")
    return shape[0] if shape else published
