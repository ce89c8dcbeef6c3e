"""Orders of rows that GGUF stores otherwise than the checkpoints that models were written for.

Each is an index: row i of what a model wants is row `order[i]` of the file. `np.argsort` of one is the way back.
"""

from __future__ import annotations

import numpy as np

# In a config of GLM, made from a file: rows of queries and keys lie so that halves of a head turn together, not neighbours.
HALVES_TURN = "rope_halves"


def rotary_halves(rows: int, heads: int) -> np.ndarray:
    """Llama's queries and keys: GGUF has the two dimensions that rotate together side by side, models half a head apart."""
    return np.arange(rows).reshape(heads, -1, 2).swapaxes(1, 2).reshape(-1)


def halves_of_pairs(rows: int, heads: int, turned: int) -> np.ndarray:
    """GLM's queries and keys on the way to a file: of each head's dimensions that turn, the first of every pair, then the second."""
    head = np.arange(rows).reshape(heads, -1)
    return np.concatenate([head[:, 0:turned:2], head[:, 1:turned:2], head[:, turned:]], 1).reshape(-1)


def grouped_heads(key_heads: int, value_heads: int, dim: int) -> np.ndarray:
    """Qwen3.5's value heads: models have those of one key head side by side, GGUF the first of each, then the second."""
    tiled = np.arange(value_heads * dim).reshape(value_heads // key_heads, key_heads, dim)
    return tiled.swapaxes(0, 1).reshape(-1)
