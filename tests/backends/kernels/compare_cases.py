"""The formats that the programs of `compare_*.cpp` go through, as lines of C++: what `cases.inc` holds."""

from __future__ import annotations

from backends.torch.kernels.formats import PACKINGS, PackedFormat, SourceFormat, affine


def line(name: str, source: int, packing: PackedFormat, columns: int, bits: int = 0, group: int = 0) -> str:
    f = packing.format
    values = (
        f"(Code){f.code}, (ScaleType){f.scale}, {f.blocks_per_scale}, {f.minima}, (BlockScales){f.block_scales}, {f.halves}, "
        f"{f.offset}, {f.table}"
    )
    return f'{{"{name}", {source}, {bits}, {group}, {{{values}}}, {columns}}},\n'


def cases() -> str:
    lines = [line(n, SourceFormat[n], p, p.columns * 3 if p.columns > 1 else 75) for n, p in PACKINGS.items()]
    for bits, group, dtype in (
        (2, 64, "F16"),
        (3, 32, "F16"),
        (4, 64, "BF16"),
        (5, 32, "BF16"),
        (6, 64, "F16"),
        (8, 128, "F16"),
    ):
        packing = affine(bits, group, dtype)
        assert packing
        lines.append(line(f"affine-{bits}", SourceFormat.AFFINE, packing, 384, bits, group))
    return "".join(lines)
