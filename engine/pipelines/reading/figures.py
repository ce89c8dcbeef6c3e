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
        if len(tiles) < _LEAST_TILES or np.std([medians[tile] for tile in tiles]) < _UNEVEN:
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
