"""Images made here: a slope in each channel, and noise, so that every mistake in order or scale shows."""

from __future__ import annotations

import numpy as np
from PIL import Image


def drawn(width: int, height: int, seed: int = 0) -> Image.Image:
    across, down = np.linspace(0, 255, width)[None, :], np.linspace(0, 255, height)[:, None]
    slopes = np.stack([across + 0 * down, down + 0 * across, (across + down) / 2], -1)
    noise = np.random.default_rng(seed).normal(0, 20, (height, width, 3))
    return Image.fromarray(np.clip(slopes + noise, 0, 255).astype(np.uint8))
