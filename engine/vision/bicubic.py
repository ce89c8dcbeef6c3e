"""Bicubic scaling without antialiasing, as detectors were trained with: four pixels a side, however much is left out."""

from __future__ import annotations

import numpy as np

SHARPNESS = np.float32(-0.75)


def bicubic(image: np.ndarray, height: int, width: int) -> np.ndarray:
    """Bytes `[H, W, C]` -> bytes `[height, width, C]`."""
    rows, row_shares = _taps(image.shape[0], height)
    columns, column_shares = _taps(image.shape[1], width)
    used, at = np.unique(rows, return_inverse=True)  # of a large image, most rows are never looked at
    lines = image[used]
    across = sum(lines[:, i].astype(np.float32) * share[None, :, None] for i, share in zip(columns, column_shares))
    down = sum(across[i] * share[:, None, None] for i, share in zip(at.reshape(rows.shape), row_shares))
    return np.asarray(down).clip(0, 255).round().astype(np.uint8)


def _taps(source: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Four neighbours of each new pixel `[4, size]`, the border held, and their shares."""
    place = (np.arange(size, dtype=np.float32) + np.float32(0.5)) * np.float32(source / size) - np.float32(0.5)
    low = np.floor(place)
    t = place - low
    around = np.clip(low.astype(np.int64) + np.arange(-1, 3)[:, None], 0, source - 1)
    return around, np.stack([_far(t + 1), _near(t), _near(1 - t), _far(2 - t)]).astype(np.float32)


def _near(x: np.ndarray) -> np.ndarray:
    return ((SHARPNESS + 2) * x - (SHARPNESS + 3)) * x * x + 1


def _far(x: np.ndarray) -> np.ndarray:
    return ((SHARPNESS * x - 5 * SHARPNESS) * x + 8 * SHARPNESS) * x - 4 * SHARPNESS
