"""Model inputs besides tokens: images and sounds after the model's preprocessing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Picture:
    """An image (or the frames of a video) after preprocessing."""

    patches: np.ndarray
    grid: tuple[int, int, int]  # patches in time, down, across
    tokens: int  # placeholder tokens in the prompt
    key: str  # a hash of its content and size


@dataclass(frozen=True, eq=False)
class HeardSound(Picture):
    """A sound that lies among the words of a prompt, as a picture does: `patches` are the frames of its spectrogram."""


@dataclass(frozen=True, eq=False)
class Sound:
    """A sound after preprocessing, for a model that listens to one."""

    samples: np.ndarray
    key: str  # a hash of its content
    language: str | None = None  # that is spoken, for a model that hears several
