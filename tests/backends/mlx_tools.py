"""What the MLX tests share: weights as a checkpoint would hand them over."""

from __future__ import annotations

import mlx.core as mx
import numpy as np

from backends.base import Affine, Dense, Raw

_SPELLED = {"float32": "F32", "float16": "F16", "uint32": "U32", "int32": "I32", "uint8": "U8"}


def raw(a: np.ndarray, name: str = "w", bf16: bool = False) -> Raw:
    """`a` as a tensor of a file; with `bf16`, `a` is float and stored as bfloat16."""
    spelled = _SPELLED.get(a.dtype.name, "")
    shape = a.shape
    if bf16:
        bits = np.ascontiguousarray(a, np.float32).view(np.uint32)
        a, spelled = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16), "BF16"
    data = np.ascontiguousarray(a).tobytes()
    return Raw(name, "memory", 0, len(data), spelled, shape, memoryview(data))


def dense(a: np.ndarray, name: str = "w") -> Dense:
    return Dense(raw(a.astype(np.float32), name))


def affine(a: np.ndarray, bits: int = 4, group: int = 32, scales: type = np.float32) -> tuple[Affine, np.ndarray]:
    """`a` quantized, and the matrix that it then stands for."""
    packed, s, b = mx.quantize(mx.array(a.astype(np.float32)), group_size=group, bits=bits)
    s, b = np.array(s).astype(scales), np.array(b).astype(scales)
    back = mx.dequantize(
        packed, mx.array(s.astype(np.float32)), mx.array(b.astype(np.float32)), group_size=group, bits=bits
    )
    return Affine(raw(np.array(packed)), raw(s), raw(b), bits, group), np.array(back)
