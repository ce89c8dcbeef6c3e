"""A text model beside a vision tower: a decoder that also encodes pictures.

Where the tower taps layers on the way, an embedding row is wider than the decoder: behind it lie the rows that are
added after the first layers, zeros for text. So the engine handles one kind of row, whatever a tower makes.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from backends.base import Array, Step
from engine.errors import ConfigError
from engine.models.config import Fields
from engine.models.decoder import Decoder
from engine.models.encoder import Patched
from engine.models.qwen_vision import VisionTower
from engine.weights.view import View


class ImageTower(Protocol):
    """Pictures to rows that lie among a prompt's embeddings."""

    @property
    def taps(self) -> Collection[int]:
        """Layers that are tapped on the way: their rows lie behind the last ones, side by side."""

    def __call__(self, pictures: Sequence[Patched]) -> Generator[None, None, list[np.ndarray]]: ...


class SeeingDecoder:
    def __init__(self, decoder: Decoder, tower: ImageTower, width: int, mutual_pictures: bool = False) -> None:
        self.mutual_pictures = mutual_pictures
        self.decoder, self.tower, self.width = decoder, tower, width
        self.ops, self.memory, self.vocab = decoder.ops, decoder.memory, decoder.vocab
        self.taps = len(tower.taps)
        if self.taps > len(decoder.layers):
            raise ConfigError(f"The vision tower feeds {self.taps} layers, but the text model has fewer.")

    def embed(self, ids: Array) -> Array:
        rows = self.decoder.embed(ids)
        return self.ops.pad(rows, [(0, 0), (0, self.taps * self.width)]) if self.taps else rows

    def __call__(self, step: Step) -> Array:
        if not self.taps:
            return self.decoder(step)
        x, *tapped = self.ops.split(step.x, [self.width] * (1 + self.taps), 1)
        return self.decoder(Step(x, step.pos, step.cache), tapped)

    def logits(self, hidden: Array) -> Array:
        return self.decoder.logits(hidden)

    def encode(self, pictures: Sequence[Patched]) -> Generator[None, None, list[np.ndarray]]:
        return self.tower(pictures)


def beside_tower(w: View, config: Mapping[str, Any], place: str, decoder: Decoder, width: int) -> SeeingDecoder:
    vision = Fields(config).sub("vision_config")
    return SeeingDecoder(decoder, VisionTower(w.sub(place), vision, width), width)
