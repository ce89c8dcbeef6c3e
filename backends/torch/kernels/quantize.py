"""Quantization of f32 rows into GGUF blocks with the kernels: the same bytes as `engine/weights/gguf/encode.py`, faster.

Needs no torch, so that converting a file and loading with MLX can use it.
"""

from __future__ import annotations

import os

import numpy as np

from backends.torch.kernels.formats import MADE_HERE, SourceFormat
from backends.torch.kernels.library import available, library


def encode(rows: np.ndarray, kind: str) -> np.ndarray | None:
    """`[n, columns]` f32, whole blocks a row, as `[n, bytes]`; None if the kernels are not available or cannot make such blocks."""
    if kind not in MADE_HERE or not available():
        return None
    rows = np.ascontiguousarray(rows, np.float32)
    count, columns = rows.shape
    out = np.empty((count, library().grus_source_row_bytes(SourceFormat[kind], columns)), np.uint8)
    threads = os.cpu_count() or 1
    library().grus_encode(
        SourceFormat.F32, rows.ctypes.data, count, columns, SourceFormat[kind], out.ctypes.data, threads
    )
    return out
