"""From bytes in a mapped file to MLX arrays. Each tensor is copied once, so that the file can be closed and moved."""

from __future__ import annotations

import mlx.core as mx
import numpy as np

from backends.base import Raw

# How numpy reads each safetensors dtype, and what MLX then calls it (numpy has no bfloat16).
_KINDS: dict[str, tuple[type[np.generic], mx.Dtype]] = {
    "F64": (np.float64, mx.float64),
    "F32": (np.float32, mx.float32),
    "F16": (np.float16, mx.float16),
    "BF16": (np.uint16, mx.bfloat16),
    "I64": (np.int64, mx.int64),
    "I32": (np.int32, mx.int32),
    "I16": (np.int16, mx.int16),
    "I8": (np.int8, mx.int8),
    "U64": (np.uint64, mx.uint64),
    "U32": (np.uint32, mx.uint32),
    "U16": (np.uint16, mx.uint16),
    "U8": (np.uint8, mx.uint8),
    "BOOL": (np.bool_, mx.bool_),
}


def from_raw(raw: Raw, dtype: mx.Dtype | None = None) -> mx.array:
    """The tensor, cast to `dtype` if one is given."""
    if raw.dtype not in _KINDS:
        raise ValueError(f"{raw.name}: MLX cannot read tensors of type {raw.dtype}.")
    host, device = _KINDS[raw.dtype]
    flat = np.frombuffer(raw.buffer, dtype=host)
    if raw.dtype == "F64":  # the GPU has no doubles
        flat, device = flat.astype(np.float32), mx.float32
    made = mx.array(flat.reshape(raw.shape))
    if made.dtype != device:
        made = made.view(device)
    return made if dtype is None or made.dtype == dtype else made.astype(dtype)
