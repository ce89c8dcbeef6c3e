"""Tiles of pictures: the grid that is nearest a picture's shape, its limits in the settings, and the cut."""

from __future__ import annotations

import numpy as np

from engine.errors import ConfigError
from engine.models.config import Fields

MOST_TILES = 64  # of a picture, whatever the settings say


def tile_limits(image: Fields, least: str, fewest: int, largest: str, most: int) -> tuple[int, int]:
    """The fewest and most tiles, by the names of the settings and what holds where these say nothing."""
    low = image.int(least, default=fewest, most=MOST_TILES)
    high = image.int(largest, default=most, most=MOST_TILES)
    if low > high:
        raise ConfigError(f"{image.where}: {least} ({low}) is more than {largest} ({high}).")
    return low, high


def nearest_grid(height: int, width: int, fewest: int, most: int, tile: int) -> tuple[int, int]:
    """Rows and columns: the grid whose shape is nearest. Of several, the largest that is not over twice the picture's area."""
    shape, area = width / height, width * height
    best, nearest = (1, 1), float("inf")
    numbers = range(1, most + 1)
    grids = [(w, h) for w in numbers for h in numbers if fewest <= w * h <= most]
    for across, down in sorted(grids, key=lambda grid: grid[0] * grid[1]):
        distance = abs(shape - across / down)
        larger = distance == nearest and area > 0.5 * tile**2 * across * down
        if distance < nearest or larger:
            best, nearest = (down, across), distance
    return best


def cut_tiles(pixels: np.ndarray, tile: int) -> list[np.ndarray]:
    """`[rows * tile, columns * tile, C]` -> each `[tile, tile, C]`, in the order of reading."""
    rows, columns, channels = pixels.shape[0] // tile, pixels.shape[1] // tile, pixels.shape[2]
    cut = pixels.reshape(rows, tile, columns, tile, channels).transpose(0, 2, 1, 3, 4)
    return list(cut.reshape(-1, tile, tile, channels))
