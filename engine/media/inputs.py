"""What models that see or listen are given: pictures and sounds as their own preprocessing left them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Picture:
    """An image (or frames of a video) as a model's own preprocessing left it."""

    patches: np.ndarray
    grid: tuple[int, int, int]  # patches in time, down, across
    tokens: int  # placeholders that it takes in the prompt
    key: str  # a hash of its content and size


@dataclass(frozen=True, eq=False)
class Sound:
    """Samples as a model's own preprocessing left them, for a model that listens before it writes."""

    samples: np.ndarray
    key: str  # a hash of its content
