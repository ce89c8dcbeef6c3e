"""Layers that are run outside of a model's steps, as a backend offers them: an encoder's."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Protocol

from backends.ops import Array


class Among(Protocol):
    """What a layer of a `Whole` asks for: attention of tokens with those of their own sequence."""

    def attend(self, q: Array, k: Array, v: Array, scale: float, window: tuple[int, int] | None = None) -> Array:
        """`[T, H, D]` each -> `[T, H, D]`. With a window a token sees so many up to itself (at least one), and so many behind."""


class Whole(Protocol):
    """Layers over sequences that are there from end to end: an encoder. Nothing is remembered. Made by `Backend.whole`."""

    def run(self, x: Array, lens: Sequence[int]) -> Generator[None, None, Array]:
        """`x [sum(lens), D]`, sequence behind sequence, through all layers; pauses between them, so that others may go on."""
