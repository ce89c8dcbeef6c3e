"""HiFT, a vocoder: from mel frames to samples at 24 kHz.

Convolutions tell the pitch of each frame, harmonics follow it, and transposed convolutions bring the frames to the rate of a spectrum,
which is inverted at the end. As the decoder of Kokoro, but without a style, and it hears the harmonics' spectrum as real and imaginary
parts.
"""

from __future__ import annotations

import math
from collections.abc import Generator

import numpy as np

from backends.base import Array
from engine.media.mel import frames as sliding
from engine.media.mel import hann
from engine.models.kokoro_decoder import SameConv
from engine.models.snac import Transposed
from engine.models.yield_budget import YieldBudget
from engine.weights.view import View

MELS = 80
RATE = 24000
_RATES, _KERNELS = (8, 5, 3), (16, 11, 7)  # of the transposed convolutions
_SIZE, _HOP = 16, 4  # of the spectrum
SAMPLES = math.prod(_RATES) * _HOP  # of a frame
_BLOCKS, _SOURCE_BLOCKS = (3, 7, 11), (7, 7, 11)  # kernels
_DILATIONS = (1, 3, 5)
_HARMONICS = 9
_AMPLITUDE, _NOISE, _VOICED = 0.1, 0.003, 10.0  # of the source; Hz from which a frame has a pitch
_SLOPE, _LAST_SLOPE = 0.1, 0.01
_LOUDEST, _LIMIT = 1e2, 0.99  # of the spectrum; of samples


class _Pitch:
    """Hz of each frame; below `_VOICED` it has none."""

    def __init__(self, w: View) -> None:
        self.ops = w.backend.ops
        stem = "condnet.0"
        shape = w.shape(f"{stem}.weight") or w.shape(f"{stem}.parametrizations.weight.original1") or (512,)
        width = shape[0]
        self.convs = [SameConv(w.sub(f"condnet.{2 * i}"), MELS if i == 0 else width, width, 3) for i in range(5)]
        self.out = w.linear(("classifier", 1), inp=width, bias=True)

    def __call__(self, mel: Array) -> np.ndarray:
        """`[1, L, 80]` -> `[L]`"""
        ops, x = self.ops, mel
        for conv in self.convs:
            x = conv(x)
            x = ops.relu(x) + ops.exp(-ops.relu(-x)) - 1.0
        return np.abs(ops.numpy(self.out(x[0]))[:, 0])


class _Block:
    """Three pairs of convolutions, each behind a snake, added to their input."""

    def __init__(self, w: View, dim: int, kernel: int) -> None:
        self.steps = []
        for i, dilation in enumerate(_DILATIONS):
            for n, reach in ((1, dilation), (2, 1)):
                rate = w.tensor(f"activations{n}.{i}.alpha", (dim,), "f32")
                conv = SameConv(w.sub(f"convs{n}.{i}"), dim, dim, kernel, reach)
                self.steps.append(((rate, 1.0 / (rate + 1e-9)), conv))

    def __call__(self, x: Array, budget: YieldBudget) -> Generator[None, None, Array]:
        for (first, before), (second, behind) in zip(self.steps[::2], self.steps[1::2]):
            x = behind(before(x, snake=first), snake=second, add=x)
            yield from budget.pause(x)
        return x


class _Source:
    """Harmonics of the pitch, made on the host: each sample's phase is a sum over all before it."""

    def __init__(self, w: View) -> None:
        self.mix = w.linear(("l_linear", 1), inp=_HARMONICS, bias=True)
        self.ops = w.backend.ops

    def __call__(self, pitch: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """Hz `[L]` -> samples `[480 L]`"""
        hz = np.repeat(pitch.astype(np.float64), SAMPLES)[:, None]
        turns = np.cumsum(hz * np.arange(1, _HARMONICS + 1) / RATE, axis=0) % 1
        phases = random.uniform(-np.pi, np.pi, _HARMONICS)
        phases[0] = 0.0
        voiced = hz > _VOICED
        waves = _AMPLITUDE * np.sin(2 * np.pi * turns + phases) * voiced
        noise = random.standard_normal(waves.shape, dtype=np.float32)
        mixed = waves + np.where(voiced, _NOISE, _AMPLITUDE / 3) * noise
        made: np.ndarray = np.tanh(self.ops.numpy(self.mix(self.ops.array(mixed.astype(np.float32), "f32")))[:, 0])
        return made


class Hift:
    def __init__(self, w: View) -> None:
        ops = self.ops = w.backend.ops
        self.pitch, self.source = _Pitch(w.sub("f0_predictor")), _Source(w.sub("m_source"))
        shape = w.shape("conv_pre.bias")
        width, bins = shape[0] if shape else 512, _SIZE + 2
        self.first = SameConv(w.sub("conv_pre"), MELS, width, 7)
        self.stages = []
        for i, (rate, kernel) in enumerate(zip(_RATES, _KERNELS)):
            dim, step = width // 2, math.prod(_RATES[i + 1 :])
            up = Transposed(w.sub(f"ups.{i}"), width, dim, kernel, rate, (kernel - rate) // 2)
            own = w.sub(f"source_downs.{i}")
            taps = 1 if step == 1 else 2 * step
            heard = ops.conv_weight(own.tensor("weight", (dim, bins, taps), "f32")), own.tensor("bias", (dim,), "f32")
            shaped = _Block(w.sub(f"source_resblocks.{i}"), dim, _SOURCE_BLOCKS[i])
            blocks = [_Block(w.sub(f"resblocks.{i * len(_BLOCKS) + j}"), dim, size) for j, size in enumerate(_BLOCKS)]
            self.stages.append((up, heard, (step, 0 if step == 1 else step // 2), shaped, blocks))
            width = dim
        self.last = SameConv(w.sub("conv_post"), width, bins, 7)
        self.window = ops.array(hann(_SIZE), "f32")
        w.ignore(r"\.stft_window$")

    def run(self, mel: Array, source: np.ndarray, budget: YieldBudget) -> Generator[None, None, np.ndarray]:
        """`mel [1, L, 80]` and the source's samples -> samples `[480 L]`."""
        ops, edge, bins = self.ops, _SIZE // 2, _SIZE // 2 + 1
        padded = np.pad(source.astype(np.float32), edge, mode="reflect")
        spectrum = np.fft.rfft(sliding(padded, _SIZE, _HOP) * hann(_SIZE), axis=-1)
        harmonics = ops.array(np.concatenate((spectrum.real, spectrum.imag), 1)[None].astype(np.float32), "f32")
        x = self.first(mel)
        for i, (up, heard, (stride, padding), shaped, blocks) in enumerate(self.stages):
            x = up(ops.leaky_relu(x, _SLOPE))
            if i + 1 == len(self.stages):
                x = ops.cat([x[:, 1:2], x], 1)  # reflected by one
            own = ops.conv1d(harmonics, *heard, stride=stride, padding=padding)
            x = x + (yield from shaped(own, budget))
            total = yield from blocks[0](x, budget)
            for block in blocks[1:]:
                total = total + (yield from block(x, budget))
            x = total * (1 / len(blocks))
        made = self.last(ops.leaky_relu(x, _LAST_SLOPE))
        loud = ops.clamp(ops.exp(made[:, :, :bins]), None, _LOUDEST)
        phase = ops.sin(made[:, :, bins:])
        real, imaginary = loud * ops.sin(phase + math.pi / 2), loud * ops.sin(phase)
        samples: np.ndarray = ops.numpy(ops.istft(real, imaginary, self.window, _HOP))[0]
        yield
        return np.clip(samples[edge : len(samples) - edge], -_LIMIT, _LIMIT)
