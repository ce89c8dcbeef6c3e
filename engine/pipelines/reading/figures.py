"""Photographs on a page: patches whose ground is not the paper's and is not even, as that of a coloured box would be."""

from __future__ import annotations

import numpy as np

from engine.pipelines.reading.ink import TILE, tile_medians

_OFF_PAPER = 24  # of 255
_UNEVEN = 8.0  # standard deviation of the ground
_LEAST_TILES = 9
_FILLED = 0.3  # of a row of a photograph that is not as light as paper


def photographs(grey: np.ndarray) -> list[tuple[slice, slice]]:
    """Rows and columns of each."""
    medians = tile_medians(grey)
    paper = float(np.median(medians))
    found = []
    for tiles in _patches(np.abs(medians - paper) > _OFF_PAPER):
        if len(tiles) < _LEAST_TILES or np.std([medians[tile] for tile in tiles]) < _UNEVEN or _shadow(tiles, medians):
            continue
        rows, columns = [tile[0] for tile in tiles], [tile[1] for tile in tiles]
        top, left = max(0, min(rows) - 1) * TILE, max(0, min(columns) - 1) * TILE
        area = grey[top : (max(rows) + 2) * TILE, left : (max(columns) + 2) * TILE]
        other = np.abs(area.astype(np.int16) - int(paper)) > _OFF_PAPER // 2
        down = np.flatnonzero(other.mean(axis=1) > _FILLED)
        across = np.flatnonzero(other.mean(axis=0) > _FILLED)
        if down.size and across.size:
            found.append(
                (
                    slice(top + int(down[0]), top + int(down[-1]) + 1),
                    slice(left + int(across[0]), left + int(across[-1]) + 1),
                )
            )
    return found


def _shadow(tiles: list[tuple[int, int]], medians: np.ndarray) -> bool:
    """Whether it falls in from an edge of the page and changes as slowly as light does, with words upon it."""
    y, x = np.asarray(tiles, np.float64).T
    down, across = medians.shape
    if y.min() > 0 and x.min() > 0 and y.max() < down - 1 and x.max() < across - 1:
        return False
    y, x = y / down, x / across
    slow = np.stack([np.ones_like(y), y, x, y * y, x * x, x * y], axis=1)
    seen = np.asarray([medians[tile] for tile in tiles])
    left = seen - slow @ np.linalg.lstsq(slow, seen, rcond=None)[0]
    return bool(np.median(np.abs(left)) < _UNEVEN / 2)


def _patches(marked: np.ndarray) -> list[list[tuple[int, int]]]:
    """Marked tiles that hang together by their sides."""
    left = {(int(y), int(x)) for y, x in np.argwhere(marked)}
    patches = []
    while left:
        patch, edge = [], [left.pop()]
        while edge:
            y, x = edge.pop()
            patch.append((y, x))
            beside = {(y - 1, x), (y + 1, x), (y, x - 1), (y, x + 1)} & left
            left -= beside
            edge += beside
        patches.append(patch)
    return patches
