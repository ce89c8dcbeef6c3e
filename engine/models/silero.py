"""Silero VAD: how likely is speech in each 32 ms of sound, at 16 or 8 kHz.

A short Fourier transform as a convolution, four convolutions, one LSTM cell that remembers. Only the LSTM looks back, so
all chunks of a sound go through the convolutions together.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from backends.base import Array
from engine.errors import BadRequest
from engine.weights.view import View

HIDDEN = 128
_LAYERS = ((128, 1), (64, 2), (64, 2), (128, 1))  # channels and stride
_AT_ONCE = 256  # chunks between two points where others may step in: 8 s of sound


@dataclass
class VadState:
    """What the model remembers of one stream."""

    context: np.ndarray  # the last samples before the next chunk
    h: np.ndarray = field(default_factory=lambda: np.zeros((1, HIDDEN), np.float32))
    c: np.ndarray = field(default_factory=lambda: np.zeros((1, HIDDEN), np.float32))


class SileroVad:
    def __init__(self, w: View, config: Mapping[str, Any]) -> None:
        self._rates = {16000: _AtRate(w.sub("16k"), 256), 8000: _AtRate(w.sub("8k"), 128)}

    def chunk(self, rate: int) -> int:
        """Samples of one probability."""
        return 2 * self._at(rate).window

    def start(self, rate: int) -> VadState:
        return VadState(np.zeros(self._at(rate).window // 4, np.float32))

    def probabilities(
        self, samples: np.ndarray, rate: int, heard: VadState | None = None
    ) -> Generator[None, None, np.ndarray]:
        """One for each chunk; the last one is filled up with silence. `heard` is carried on, for a stream in parts."""
        model, size = self._at(rate), self.chunk(rate)
        heard = heard or self.start(rate)
        count = -(-len(samples) // size)
        padded = np.zeros(count * size, np.float32)
        padded[: len(samples)] = samples
        made = [np.zeros(0, np.float32)]
        for at in range(0, count, _AT_ONCE):
            part = padded[at * size : min(count, at + _AT_ONCE) * size].reshape(-1, size)
            made.append(model.run(part, heard))
            yield
        return np.concatenate(made)

    def _at(self, rate: int) -> _AtRate:
        if rate not in self._rates:
            raise BadRequest(f"Voice activity is found at 16000 or 8000 samples a second, not at {rate}.", "rate")
        return self._rates[rate]


class _AtRate:
    def __init__(self, w: View, window: int) -> None:
        ops = self.ops = w.backend.ops
        self.window, self.bins = window, window // 2 + 1
        self.basis = ops.conv_weight(w.tensor("stft.weight", (2 * self.bins, 1, window), "f32"))
        self.layers, inp = [], self.bins
        for i, (out, stride) in enumerate(_LAYERS):
            weight = ops.conv_weight(w.tensor(f"encoder.{i}.weight", (out, inp, 3), "f32"))
            self.layers.append((weight, w.tensor(f"encoder.{i}.bias", (out,), "f32"), stride))
            inp = out
        self.w_ih = w.tensor("lstm.weight_ih", (4 * HIDDEN, HIDDEN), "f32")
        self.w_hh = w.tensor("lstm.weight_hh", (4 * HIDDEN, HIDDEN), "f32")
        both = (w.tensor(f"lstm.{name}", (4 * HIDDEN,), "f32") for name in ("bias_ih", "bias_hh"))
        self.bias = next(both) + next(both)
        self.out = ops.conv_weight(w.tensor("out.weight", (1, HIDDEN, 1), "f32"))
        self.out_bias = w.tensor("out.bias", (1,), "f32")

    def run(self, chunks: np.ndarray, heard: VadState) -> np.ndarray:
        """`chunks [N, n]` in order -> N probabilities."""
        ops, behind = self.ops, self.window // 4
        before = np.concatenate((heard.context[None], chunks[:-1, -behind:]))
        whole = np.concatenate((before, chunks), axis=1)
        whole = np.pad(whole, ((0, 0), (0, behind)), mode="reflect")
        parts = ops.conv1d(ops.array(whole[:, :, None], "f32"), self.basis, stride=self.window // 2)
        x = self._magnitude(parts)
        for weight, bias, stride in self.layers:
            x = ops.relu(ops.conv1d(x, weight, bias, stride=stride, padding=1))
        features = x[:, 0, :][None]  # one frame is left of each chunk; the chunks become the steps of one sequence
        y, h, c = ops.lstm(
            features, self.w_ih, self.w_hh, self.bias, ops.array(heard.h, "f32"), ops.array(heard.c, "f32")
        )
        made = ops.numpy(ops.sigmoid(ops.conv1d(ops.relu(y), self.out, self.out_bias)))[0, :, 0]
        heard.context, heard.h, heard.c = chunks[-1, -behind:].copy(), ops.numpy(h), ops.numpy(c)
        return made

    def _magnitude(self, parts: Array) -> Array:
        real, imaginary = parts[:, :, : self.bins], parts[:, :, self.bins :]
        return self.ops.sqrt(real * real + imaginary * imaginary)


def silero_vad(w: View, config: Mapping[str, Any]) -> SileroVad:
    return SileroVad(w, config)
