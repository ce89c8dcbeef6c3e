"""The types that a GGUF tensor may be stored in: their numbers, names and sizes.

Rows are made of blocks: `weights` values in `nbytes` bytes. Does not know what the bytes of a block mean.

The number 42 was given to three different things. Two differ in size; the third differs from the second only in the
order of the bytes within a block, which `ternary_order` tells from the data.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.weights.gguf import ternary


@dataclass(frozen=True)
class BlockType:
    name: str
    weights: int  # in a block
    nbytes: int  # of a block

    def row_bytes(self, columns: int) -> int:
        """Bytes of a row; `columns` must be whole blocks."""
        return columns // self.weights * self.nbytes


def _types(*rows: tuple[str, int, int]) -> dict[str, BlockType]:
    return {name: BlockType(name, weights, nbytes) for name, weights, nbytes in rows}


TYPES = _types(
    ("F32", 1, 4),
    ("F16", 1, 2),
    ("BF16", 1, 2),
    ("Q4_0", 32, 18),
    ("Q4_1", 32, 20),
    ("Q5_0", 32, 22),
    ("Q5_1", 32, 24),
    ("Q8_0", 32, 34),
    ("Q2_K", 256, 84),
    ("Q3_K", 256, 110),
    ("Q4_K", 256, 144),
    ("Q5_K", 256, 176),
    ("Q6_K", 256, 210),
    ("IQ4_NL", 32, 18),
    ("IQ4_XS", 256, 136),
    ("TQ1_0", 256, 54),
    ("TQ2_0", 256, 66),
    ("MXFP4", 32, 17),
    ("NVFP4", 64, 36),
    ("IQ1_S", 256, 50),
    ("IQ1_M", 256, 56),
    ("IQ2_XXS", 256, 66),
    ("IQ2_XS", 256, 74),
    ("IQ2_S", 256, 82),
    ("IQ3_XXS", 256, 98),
    ("IQ3_S", 256, 110),
    ("Q1_0", 128, 18),
    ("Q2_0", 64, 18),  # scale first
    ("PQ2_0", 128, 34),  # the same in larger groups
    ("TQ2_0_G128", 128, 34),  # scale last
    ("PTQ1_0", 128, 28),
    ("FP8_32", 32, 36),  # made of safetensors: an f32 scale, then E4M3
    ("FP8_128", 128, 132),
)

FLOATS = ("F32", "F16", "BF16")

TERNARY_42 = 42
NUMBERS = {
    0: "F32",
    1: "F16",
    2: "Q4_0",
    3: "Q4_1",
    6: "Q5_0",
    7: "Q5_1",
    8: "Q8_0",
    10: "Q2_K",
    11: "Q3_K",
    12: "Q4_K",
    13: "Q5_K",
    14: "Q6_K",
    16: "IQ2_XXS",
    17: "IQ2_XS",
    18: "IQ3_XXS",
    19: "IQ1_S",
    20: "IQ4_NL",
    21: "IQ3_S",
    22: "IQ2_S",
    23: "IQ4_XS",
    29: "IQ1_M",
    30: "BF16",
    34: "TQ1_0",
    35: "TQ2_0",
    39: "MXFP4",
    40: "NVFP4",
    41: "Q1_0",
    ternary.NUMBER: ternary.I2_S,  # no rows of blocks, so not among TYPES
    TERNARY_42: "Q2_0",
    142: "PQ2_0",
    143: "PTQ1_0",
}

OF_FILES = frozenset(NUMBERS.values()) | {"TQ2_0_G128"}  # others are made here

# Types that exist, so that a message can name what is not supported.
OTHER_NAMES = {
    9: "Q8_1",
    15: "Q8_K",
    24: "I8",
    25: "I16",
    26: "I32",
    27: "I64",
    28: "F64",
}


def ternary_order(sample: np.ndarray) -> str:
    """Which of the two 34-byte layouts these bytes are in: `PQ2_0` (scale first) or `TQ2_0_G128` (scale last).

    Ternary codes never use the pattern 11, and scales are positive numbers; read in the wrong order, neither holds.
    """
    blocks = sample.reshape(-1, 34)
    return min(("PQ2_0", "TQ2_0_G128"), key=lambda name: _oddities(blocks, scale_first=name == "PQ2_0"))


def _oddities(blocks: np.ndarray, scale_first: bool) -> int:
    codes, scales = (blocks[:, 2:], blocks[:, :2]) if scale_first else (blocks[:, :32], blocks[:, 32:])
    reserved = (codes & (codes >> 1) & 0x55).any(axis=1)
    values = np.ascontiguousarray(scales).view("<u2")[:, 0]
    impossible = values >= 0x7C00  # negative, infinite or not a number
    return int((reserved | impossible).sum())
