"""Quantizing rows of floats into GGUF's blocks with the kernels: the bytes of `engine/weights/gguf/encode.py`, sooner.

Needs no torch, so that converting a file and loading with MLX have it too.
"""

from __future__ import annotations

import os

import numpy as np

from backends.torch.kernels.formats import MADE_HERE, Source
from backends.torch.kernels.library import available, library


def encode(rows: np.ndarray, kind: str) -> np.ndarray | None:
    """`[n, columns]` f32, whole blocks a row, as `[n, bytes]`; None where the kernels are not here or make no such blocks."""
    if kind not in MADE_HERE or not available():
        return None
    rows = np.ascontiguousarray(rows, np.float32)
    count, columns = rows.shape
    out = np.empty((count, library().grus_source_row_bytes(Source[kind], columns)), np.uint8)
    threads = os.cpu_count() or 1
    library().grus_encode(Source.F32, rows.ctypes.data, count, columns, Source[kind], out.ctypes.data, threads)
    return out
