"""What a backend makes of layers that remember nothing beyond a call: an encoder's, and those that complete a talker's frame."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Protocol

import numpy as np

from backends.ops import Array, FrameSampling


class EncoderAttention(Protocol):
    """What a layer of a `EncoderRunner` asks for: attention of tokens with those of their own sequence."""

    def attend(self, q: Array, k: Array, v: Array, scale: float, window: tuple[int, int] | None = None) -> Array:
        """`[T, H, D]` each -> `[T, H, D]`. With a window a token sees so many up to itself (at least one), and so many behind."""


class EncoderRunner(Protocol):
    """Layers over sequences that are there from end to end: an encoder. Nothing is remembered. Made by `Backend.whole`."""

    def run(self, x: Array, lens: Sequence[int]) -> Generator[None, None, Array]:
        """`x [sum(lens), D]`, sequence behind sequence, through all layers; pauses between them, so that others may go on."""


class FramePredictor(Protocol):
    """Made by `Backend.frames`."""

    def __call__(
        self, hidden: Array, first: Array, ids: Array, noise: np.ndarray, random: np.ndarray, choice: FrameSampling
    ) -> tuple[Array, Array]:
        """`hidden [N, D]`, and `first [N, D]` the embeddings of the first codes `ids [N]` -> all codes `[N, G]`, and the
        sum of their embeddings. `noise [N, G - 1]` f32 in [0, 1); rows whose `random [N]` is 0 take the best codes."""
