"""MLX's affine layout in numpy: groups along the input share a scale and a bias, codes lie densely in uint32 words.

Decodes every width; encodes as MLX itself does, with the codes chosen for the scales as they are stored.
"""

from __future__ import annotations

import numpy as np

from backends.base import Affine
from engine.weights.gguf.blocks import decode
from engine.weights.gguf.encode import encode


def dequantize(weight: Affine) -> np.ndarray:
    """The whole matrix as f32."""
    bits, shape = weight.bits, weight.shape
    words = np.frombuffer(weight.packed.buffer, np.uint8).reshape(-1, bits)  # eight codes
    codes = _unpack(words, bits).reshape(*shape[:-1], -1, weight.group).astype(np.float32)
    scales, biases = (
        decode(raw.buffer, raw.dtype).reshape(raw.shape)[..., None] for raw in (weight.scales, weight.biases)
    )
    return (codes * scales + biases).reshape(shape)


def quantize(values: np.ndarray, bits: int, group: int, dtype: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Packed codes, scales and biases; the latter two as bytes of the float type `dtype`."""
    groups = np.ascontiguousarray(values, np.float32).reshape(-1, group)
    low, high, most = groups.min(1), groups.max(1), np.float32(2**bits - 1)
    negative = np.abs(low) > np.abs(high)
    scale = np.maximum((high - low) / most, np.float32(1e-7)) * np.where(negative, 1, -1).astype(np.float32)
    edge = np.where(negative, low, high)
    steps = np.rint(edge / scale)  # the edge, and so 0, becomes a code of its own
    scale = np.divide(edge, steps, out=scale, where=steps != 0)
    bias = np.where(steps == 0, np.float32(0), edge)
    stored = [encode(part[:, None], dtype) for part in (scale, bias)]
    scale, bias = (decode(part, dtype) for part in stored)
    safe = np.where(scale == 0, np.float32(1), scale)
    codes = np.rint((groups - bias[:, None]) / safe[:, None]).clip(0, most).astype(np.uint8)
    outer = values.shape[:-1]
    packed = pack(codes.reshape(-1, 8), bits).reshape(*outer, -1)
    return packed, stored[0].reshape(*outer, -1), stored[1].reshape(*outer, -1)


def _unpack(words: np.ndarray, bits: int) -> np.ndarray:
    """`[n, bits]` bytes to `[n, 8]` codes, least significant bit first."""
    if bits == 8:
        return words
    flat = np.unpackbits(words, axis=1, bitorder="little").reshape(len(words), 8, bits)
    return np.packbits(flat, axis=2, bitorder="little")[:, :, 0]


def pack(codes: np.ndarray, bits: int) -> np.ndarray:
    """`[n, 8]` codes to `[n, bits]` bytes."""
    if bits == 8:
        return codes
    flat = np.unpackbits(codes[:, :, None], axis=2, bitorder="little")[:, :, :bits]
    return np.packbits(flat.reshape(len(codes), -1), axis=1, bitorder="little")
