"""I2_S, the type of BitNet's own program (number 36): -1, 0 and 1 in two bits, and one f32 scale for the whole tensor.

A byte holds four weights of a block of 128 that are 32 apart, the first one in its highest bits, each stored one higher. The scale lies
behind the last row, in 32 bytes of its own. So does that program write on x86; on ARM it takes blocks of 64, which no file says: such
files cannot be told apart, and the published ones are of the first kind.
"""

from __future__ import annotations

import numpy as np

from backends.base import Raw
from engine.weights.made import Made

I2_S, NUMBER = "I2_S", 36
BLOCK, TAIL = 128, 32


def stored_bytes(rows: int, columns: int) -> int:
    return rows * columns // 4 + TAIL


def _parts(raw: Raw) -> tuple[np.ndarray, np.ndarray]:
    """The rows' bytes, and those behind them."""
    stored = np.frombuffer(raw.buffer, np.uint8)
    return stored[:-TAIL].reshape(-1, raw.shape[-1] // 4), stored[-TAIL:]


def codes(raw: Raw) -> np.ndarray:
    """0, 1 and 2 `[rows, columns]`."""
    rows, _ = _parts(raw)
    blocks = rows.reshape(-1, 1, BLOCK // 4) >> np.array([6, 4, 2, 0], np.uint8)[:, None]
    return (blocks & 3).reshape(-1, raw.shape[-1])


def scale(raw: Raw) -> np.ndarray:
    return _parts(raw)[1][:4].view("<f4")


def floats(raw: Raw) -> np.ndarray:
    return ((codes(raw).astype(np.float32) - 1) * scale(raw)).reshape(raw.shape)


def in_order(raw: Raw, order: np.ndarray) -> Raw:
    """The same with row i what `order[i]` was."""

    def make() -> np.ndarray:
        rows, tail = _parts(raw)
        return np.concatenate([rows[order].reshape(-1), tail])

    return Made(raw, raw.dtype, raw.shape, raw.nbytes, make)
