"""Resemble's voice encoder: three LSTMs over stretches of 1.6 seconds, the mean of which is a speaker's vector of length one."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from backends.base import Array
from engine.models.yield_budget import YieldBudget
from engine.weights.view import View

MELS = 40
_STRETCH = 160  # mel frames
_STEP = 77  # frames between two stretches: 1.3 of them a second
_COVERED = 0.8  # of the last stretch, or it is left out
_TOGETHER = 32  # stretches


class VoiceEncoder:
    def __init__(self, w: View) -> None:
        ops = self.ops = w.backend.ops
        self.width = (w.shape("proj.weight") or (256, 256))[1]
        self.layers = []
        for i in range(3):
            inp = MELS if i == 0 else self.width
            ih = w.tensor(f"lstm.weight_ih_l{i}", (4 * self.width, inp), "f32")
            hh = w.tensor(f"lstm.weight_hh_l{i}", (4 * self.width, self.width), "f32")
            names = [f"lstm.bias_l{i}"] if w.has(f"lstm.bias_l{i}") else [f"lstm.bias_ih_l{i}", f"lstm.bias_hh_l{i}"]
            biases = [w.tensor(name, (4 * self.width,), "f32") for name in names]  # mlx-audio stores their sum
            self.layers.append((ih, hh, biases[0] if len(biases) == 1 else biases[0] + biases[1]))
        self.size = (w.shape("proj.weight") or (256,))[0]
        self.project = w.linear(("proj", self.size), inp=self.width, bias=True)
        w.ignore(r"\.similarity_(weight|bias)$")
        self.ops = ops

    def embed(self, mel: np.ndarray) -> Generator[None, None, np.ndarray]:
        """`[frames, 40]` -> `[size]`"""
        budget, found = YieldBudget(self.ops), []
        pieces = stretches(mel)
        for at in range(0, len(pieces), _TOGETHER):
            x: Array = self.ops.array(pieces[at : at + _TOGETHER], "f32")
            zero = self.ops.array(np.zeros((x.shape[0], self.width), np.float32), "f32")
            for weights in self.layers:
                x, _, _ = self.ops.lstm(x, *weights, zero, zero)
                yield from budget.pause(x)
            found.append(_unit(np.maximum(self.ops.numpy(self.project(x[:, -1])), 0.0)))
        made: np.ndarray = _unit(np.concatenate(found).mean(0)).astype(np.float32)
        return made


def stretches(mel: np.ndarray) -> np.ndarray:
    """`[count, 160, mels]`, half over one another; the last one is filled up with silence."""
    count, rest = divmod(max(len(mel) - _STRETCH + _STEP, 0), _STEP)
    if count == 0 or (rest + (_STRETCH - _STEP)) / _STRETCH >= _COVERED:
        count += 1
    padded = np.pad(mel, ((0, max(0, _STRETCH + _STEP * (count - 1) - len(mel))), (0, 0)))
    return np.stack([padded[i * _STEP : i * _STEP + _STRETCH] for i in range(count)])


def _unit(x: np.ndarray) -> np.ndarray:
    made: np.ndarray = x / np.maximum(np.linalg.norm(x, axis=-1, keepdims=True), 1e-12)
    return made
