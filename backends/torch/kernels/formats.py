"""The packed formats by name, with the numbers that the C++ side uses (src/formats/layout.hpp, src/formats/dequantizers.hpp)."""

from __future__ import annotations

import ctypes
from enum import IntEnum
from typing import NamedTuple

PANEL = 16  # rows that are packed together


class Code(IntEnum):
    S8, U6, U5, U4, U3, U2, U1, L4, L3, F32, F16, BF16, F8 = range(13)


class Scale(IntEnum):
    F16, BF16, F32, NONE, E8M0 = range(5)


class KVDtype(IntEnum):
    """dtype of a KV cache: `grus::KVDtype` of src/attention/kv_rows.hpp."""

    F32, F16, BF16, INT8, INT4 = range(5)


class BlockScales(IntEnum):
    NONE, SIX_BITS, FOUR_BITS, SIGNED, E4M3 = range(5)


class CodeTable(IntEnum):
    """What codes stand for: `grus::Table` of src/formats/layout.hpp."""

    NUMBERS, IQ4, FP4, IQ2, IQ3_XXS, IQ3_S, IQ1 = range(7)


class Format(ctypes.Structure):
    """`grus::Format` of src/formats/layout.hpp."""

    _fields_ = [
        (name, ctypes.c_int32)
        for name in ("code", "scale", "blocks_per_scale", "minima", "block_scales", "halves", "offset", "table")
    ]


def _format(
    code: Code,
    scale: Scale = Scale.F16,
    per_scale: int = 1,
    *,
    minima: bool = False,
    block_scales: BlockScales = BlockScales.NONE,
    halves: int = 1,
    offset: int = 0,
    table: CodeTable = CodeTable.NUMBERS,
) -> Format:
    return Format(code, scale, per_scale, minima, block_scales, halves, offset, table)


class SourceFormat(IntEnum):
    """Format of rows in a file. From Q4_0 on, GGUF's types."""

    F32, F16, BF16, AFFINE = range(4)
    Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q2_K, Q3_K, Q4_K, Q5_K, Q6_K = range(4, 14)
    IQ4_NL, IQ4_XS, TQ1_0, TQ2_0, MXFP4, Q1_0, TQ2_0_G128 = range(14, 21)
    Q2_0, PQ2_0, PTQ1_0 = range(21, 24)
    IQ2_XXS, IQ2_XS, IQ2_S, IQ3_XXS, IQ3_S, IQ1_S, IQ1_M, NVFP4, FP8_32, FP8_128 = range(24, 34)


class PackedFormat(NamedTuple):
    format: Format
    columns: int  # the number of columns must be a multiple of this


def _grid(code: Code, table: CodeTable, halves: int = 1) -> PackedFormat:
    """Types whose codes name entries of a grid: an index of a value and a sign for each weight, under steps of whole numbers."""
    return PackedFormat(_format(code, per_scale=8, block_scales=BlockScales.SIGNED, halves=halves, table=table), 256)


PACKINGS: dict[str, PackedFormat] = {
    "F32": PackedFormat(_format(Code.F32, Scale.NONE), 1),
    "F16": PackedFormat(_format(Code.F16, Scale.NONE), 1),
    "BF16": PackedFormat(_format(Code.BF16, Scale.NONE), 1),
    "Q8_0": PackedFormat(_format(Code.S8), 32),
    "Q4_0": PackedFormat(_format(Code.U4, offset=8), 32),
    "Q4_1": PackedFormat(_format(Code.U4, minima=True), 32),
    "Q5_0": PackedFormat(_format(Code.U5, offset=16), 32),
    "Q5_1": PackedFormat(_format(Code.U5, minima=True), 32),
    "Q2_K": PackedFormat(_format(Code.U2, per_scale=8, minima=True, block_scales=BlockScales.FOUR_BITS, halves=2), 256),
    "Q3_K": PackedFormat(_format(Code.U3, per_scale=8, block_scales=BlockScales.SIGNED, halves=2, offset=4), 256),
    "Q4_K": PackedFormat(_format(Code.U4, per_scale=8, minima=True, block_scales=BlockScales.SIX_BITS), 256),
    "Q5_K": PackedFormat(_format(Code.U5, per_scale=8, minima=True, block_scales=BlockScales.SIX_BITS), 256),
    "Q6_K": PackedFormat(_format(Code.U6, per_scale=8, block_scales=BlockScales.SIGNED, halves=2, offset=32), 256),
    "IQ4_NL": PackedFormat(_format(Code.L4, table=CodeTable.IQ4), 32),
    "IQ4_XS": PackedFormat(_format(Code.L4, per_scale=8, block_scales=BlockScales.SIGNED, table=CodeTable.IQ4), 256),
    "TQ1_0": PackedFormat(_format(Code.U2, per_scale=8, offset=1), 256),
    "TQ2_0": PackedFormat(_format(Code.U2, per_scale=8, offset=1), 256),
    "MXFP4": PackedFormat(_format(Code.L4, Scale.E8M0, table=CodeTable.FP4), 32),
    "Q1_0": PackedFormat(_format(Code.U1, per_scale=4, offset=1), 128),
    "TQ2_0_G128": PackedFormat(_format(Code.U2, per_scale=4, offset=1), 128),
    "Q2_0": PackedFormat(_format(Code.U2, per_scale=2, offset=1), 64),
    "PQ2_0": PackedFormat(_format(Code.U2, per_scale=4, offset=1), 128),
    "PTQ1_0": PackedFormat(_format(Code.U2, per_scale=4, offset=1), 128),
    "IQ2_XXS": _grid(Code.L3, CodeTable.IQ2),
    "IQ2_XS": _grid(Code.L3, CodeTable.IQ2, halves=2),
    "IQ2_S": _grid(Code.L3, CodeTable.IQ2, halves=2),
    "IQ3_XXS": _grid(Code.L4, CodeTable.IQ3_XXS),
    "IQ3_S": _grid(Code.L4, CodeTable.IQ3_S),
    "IQ1_S": _grid(Code.L3, CodeTable.IQ1),
    "IQ1_M": _grid(Code.L3, CodeTable.IQ1, halves=2),
    "NVFP4": PackedFormat(
        _format(Code.L4, Scale.F32, per_scale=8, block_scales=BlockScales.E4M3, halves=2, table=CodeTable.FP4), 64
    ),
    "FP8_32": PackedFormat(_format(Code.F8, Scale.F32), 32),
    "FP8_128": PackedFormat(_format(Code.F8, Scale.F32, per_scale=4), 128),
}

MADE_HERE = ("Q8_0", "Q4_0", "Q4_K", "Q6_K")  # from floats, while they are packed

_AFFINE_CODES = {2: Code.U2, 3: Code.U3, 4: Code.U4, 5: Code.U5, 6: Code.U6, 8: Code.S8}
_AFFINE_SCALES = {"F16": Scale.F16, "BF16": Scale.BF16, "F32": Scale.F32}


def affine(bits: int, group: int, dtype: str) -> PackedFormat | None:
    """MLX's affine layout; None if the kernels do not support it."""
    if bits not in _AFFINE_CODES or group % 32 or dtype not in _AFFINE_SCALES:
        return None
    # Codes of eight bits are stored as signed bytes, 128 lower.
    offset = -128 if bits == 8 else 0
    return PackedFormat(
        _format(_AFFINE_CODES[bits], _AFFINE_SCALES[dtype], group // 32, minima=True, offset=offset), group
    )
