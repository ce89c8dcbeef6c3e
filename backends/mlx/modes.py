"""Blocks of four-bit floats in the layout of MLX's own modes, `mxfp4` and `nvfp4`: the same bits in another order.

GGUF keeps half of a group in the low halves of its bytes and half in the high ones; MLX keeps neighbours together, and scales apart.
"""

from __future__ import annotations

import mlx.core as mx
import numpy as np

from backends.base import Blocks

MODES = {"MXFP4": "mxfp4", "NVFP4": "nvfp4"}


def native(weight: Blocks) -> tuple[mx.array, mx.array]:
    """Packed codes `[..., in / 8]` and scales `[..., in / group]`."""
    data = np.frombuffer(weight.data.buffer, np.uint8)
    if weight.type == "MXFP4":
        blocks = data.reshape(-1, 17)
        scales, codes = blocks[:, :1], blocks[:, 1:].reshape(-1, 1, 16)
    else:
        blocks = data.reshape(-1, 36)
        scales, codes = (blocks[:, :4] & 127).astype(np.uint8), blocks[:, 4:].reshape(-1, 4, 8)
        scales = np.where(scales == 127, np.zeros_like(scales), scales)  # not a number to MLX, zero to GGUF
    both = np.concatenate([codes & 15, codes >> 4], axis=2).reshape(*weight.shape[:-1], -1, 2)
    packed = np.ascontiguousarray(both[..., 0] | both[..., 1] << 4).view(np.uint32)
    return mx.array(packed), mx.array(scales.reshape(*weight.shape[:-1], -1))


def factors(weight: Blocks) -> mx.array:
    """f32 `[out]`, or `[experts, out]`: what the outputs of each row are multiplied with."""
    *experts, out, _ = weight.shape
    each = np.array([weight.factor(expert) for expert in range(experts[0] if experts else 1)], np.float32)
    return mx.array(np.repeat(each, out).reshape(*experts, out))
