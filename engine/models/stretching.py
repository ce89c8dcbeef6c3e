"""Learned positions of a square grid, scaled to another grid: as torch's `interpolate` does with `antialias`, or as its `grid_sample` takes
them, without. In f32, on the host.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from engine.vision.processor import taps

CUBIC = -0.5  # the sharpness that torch's antialiased bicubic filter has
Filter = Literal["bilinear", "bicubic"]


def stretched(table: np.ndarray, rows: int, columns: int, kind: Filter) -> np.ndarray:
    """`[H, W, D]` scaled to `[rows, columns, D]`."""
    if table.shape[:2] == (rows, columns):
        return table
    down, across = shares(table.shape[0], rows, kind), shares(table.shape[1], columns, kind)
    scaled: np.ndarray = np.einsum("rs,scd->rcd", down, np.einsum("ct,std->scd", across, table))
    return scaled


def sampled(table: np.ndarray, rows: int, columns: int) -> np.ndarray:
    """`[H, W, D]` at the middles of `[rows, columns]` places: of four by four learned ones around each, those at the border again."""
    down, across = taps(table.shape[0], rows), taps(table.shape[1], columns)
    lines = sum(table[:, at] * share[None, :, None] for at, share in zip(*across))
    return np.asarray(sum(lines[at] * share[:, None, None] for at, share in zip(*down)))  # type: ignore[index]


def shares(source: int, size: int, kind: Filter) -> np.ndarray:
    """Of each target place `[size, source]`; where the grid shrinks, the filter covers all of the source."""
    reach, weight = _FILTERS[kind]
    scale = source / size
    wide = max(scale, 1.0)
    centres = scale * (np.arange(size) + 0.5)
    low = np.maximum((centres - reach * wide + 0.5).astype(int), 0)
    high = np.minimum((centres + reach * wide + 0.5).astype(int), source)
    at = np.arange(source)[None]
    made = weight(np.abs((at - centres[:, None] + 0.5) / wide))
    made *= (at >= low[:, None]) & (at < high[:, None])
    return (made / made.sum(1, keepdims=True)).astype(np.float32)


def _triangle(x: np.ndarray) -> np.ndarray:
    return np.maximum(0.0, 1 - x)


def _cubic(x: np.ndarray) -> np.ndarray:
    near = ((CUBIC + 2) * x - (CUBIC + 3)) * x * x + 1
    far = ((CUBIC * x - 5 * CUBIC) * x + 8 * CUBIC) * x - 4 * CUBIC
    return np.where(x < 1, near, np.where(x < 2, far, 0.0))


_FILTERS: dict[Filter, tuple[int, Callable[[np.ndarray], np.ndarray]]] = {
    "bilinear": (1, _triangle),
    "bicubic": (2, _cubic),
}
