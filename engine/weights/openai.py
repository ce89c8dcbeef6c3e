"""Experts as gpt-oss's files hold them: all in one tensor, which is plain with inputs before outputs, or MXFP4.

MXFP4 is `NAME_blocks` (16 bytes of two values each, the earlier one in the low half) beside `NAME_scales` (powers of two, one for 32
values). That is GGUF's type in another order of bytes, which a backend gets.
"""

from __future__ import annotations

import numpy as np

from backends.base import Blocks, Dense, Raw
from engine.weights.made import Made


def mxfp4(blocks: Raw, scales: Raw) -> Blocks:
    """As GGUF's blocks: the scale, then bytes with value i in the low half and value i + 16 in the high one."""
    shape = (*blocks.shape[:-2], blocks.shape[-2] * 32)
    count = int(np.prod(scales.shape))

    def make() -> np.ndarray:
        made = np.empty((count, 17), np.uint8)
        made[:, 0] = np.frombuffer(scales.buffer, np.uint8)
        pairs = np.frombuffer(blocks.buffer, np.uint8).reshape(count, 2, 8)
        low, high = (np.stack((half & 15, half >> 4), -1).reshape(count, 16) for half in (pairs[:, 0], pairs[:, 1]))
        made[:, 1:] = low | high << 4
        return made

    return Blocks(Made(blocks, "MXFP4", shape, 17 * count, make), "MXFP4", shape)


def outputs_first(raw: Raw) -> Dense:
    """A plain tensor `[experts, in, out]` as `[experts, out, in]`."""
    experts, inp, out = raw.shape
    item = raw.nbytes // max(1, experts * inp * out)

    def make() -> np.ndarray:
        stored = np.frombuffer(raw.buffer, f"V{item}").reshape(raw.shape)
        return np.ascontiguousarray(stored.swapaxes(1, 2)).view(np.uint8)

    return Dense(Made(raw, raw.dtype, (experts, out, inp), raw.nbytes, make))
