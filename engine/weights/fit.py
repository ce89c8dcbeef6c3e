"""Giving a backend weights in a form that it can multiply.

A backend with kernels for GGUF's blocks gets them as they are. MLX gets four-bit floats as they are, which are modes of its own,
plain floats of eight-bit ones, and its own affine layout of the others: where that holds the very same numbers, exactly; else
quantized anew, to 8 bit. Another backend gets plain floats, which is exact and takes more memory.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from backends.base import Backend, Blocks, KVSpec, MemorySpec, Raw, TokenModel
from engine.errors import BadRequest
from engine.weights.gguf.as_affine import EXACT, anew, bits_per_weight, exact
from engine.weights.gguf.source import as_dense
from engine.weights.gguf.ternary import I2_S
from engine.weights.gguf.types import FLOATS, TYPES
from engine.weights.packed_tensors import PackedTensors
from engine.weights.quantize import SIXTEEN_BITS, Quantized, chosen, lies_beside_layers, stays_whole
from engine.weights.source import Source, SourceMatrix, SourceOver

# Bits a weight of the types whose grids the CPU kernels resolve while they pack.
IN_PANELS = {
    **dict.fromkeys(("IQ1_S", "IQ2_XXS"), 3.3125),
    **dict.fromkeys(("IQ1_M", "IQ2_XS", "IQ2_S"), 3.5625),
    **dict.fromkeys(("IQ3_XXS", "IQ3_S"), 4.3125),
}
MLX_MODES = ("MXFP4", "NVFP4")  # block types that MLX multiplies itself


def fitted(source: Source, backend: Backend, quant: str | None, keep: Callable[[str], bool] = stays_whole) -> Source:
    """The source as the backend takes it, its plain matrices quantized where that is wished. `keep`: those that stay plain."""
    if quant is not None:
        # the CPU kernels quantize what they pack; a GPU gets blocks that are made already
        source = Quantized(source, quant, backend.blocks and backend.device == "cpu", keep)
    return source if backend.blocks else WithoutBlocks(source, affine=backend.name == "mlx")


def choose_quant(
    quant: str, backend: Backend, tensors: Mapping[str, Raw], floats: Collection[str] = SIXTEEN_BITS
) -> str | None:
    """Resolve `auto`: quantizing by itself pays only where the backend multiplies blocks."""
    if quant == "auto" and not backend.blocks:
        return None
    return chosen(quant, backend.device, tensors, floats)


NARROW = 256  # of an encoder that `auto` leaves as it is: it is fast, and errors of few blocks do not average out


def choose_encoder_quant(
    quant: str, dtype: str, width: int, backend: Backend, tensors: Mapping[str, Raw]
) -> tuple[str | None, Callable[[str], bool]]:
    """The same for an encoder of texts of this width, and which matrices stay plain.

    Its products are bound by arithmetic, and a CPU multiplies bytes three to four times as fast as f32: so `auto` quantizes the layers of
    f32 checkpoints too, unless a precision was asked for by `dtype`.
    """
    if quant == "auto" and (dtype != "auto" or width < NARROW):
        return None, stays_whole
    return choose_quant(quant, backend, tensors, FLOATS), lies_beside_layers if quant == "auto" else stays_whole


def kept_bits(asked: int | None, backend: Backend, model: TokenModel, quantized: bool) -> int:
    """In how many bits keys and values are kept, where nothing was asked for."""
    return asked or (backend.kv_bits(model) if quantized else 32)


def check_kv_bits(asked: int | None, memory: Sequence[MemorySpec]) -> None:
    """Raise BadRequest where heads of a size cannot be kept in so few bits. Needs no weights."""
    odd = [dim for s in memory if isinstance(s, KVSpec) for dim in s.widths if dim % 2]
    if asked == 4 and odd:
        raise BadRequest(
            f"This model's heads have {odd[0]} dimensions, an odd number, and numbers of 4 bits lie two in a byte. "
            "Keep its keys and values in 8 bits.",
            "kv_bits",
        )


def becomes(kind: str, backend: Backend) -> str:
    """For people: what blocks of this type are kept as, and what that costs; nothing where they stay what they are."""
    if backend.blocks:
        grown = IN_PANELS.get(kind) if backend.device == "cpu" else None
        if grown is None:
            return ""
        stored = 8 * TYPES[kind].nbytes / TYPES[kind].weights
        return f"{kind} in {grown:.3g} bits a weight instead of {stored:.3g}: an index and a sign each, as the kernels read them"
    if backend.name != "mlx":
        return f"{kind} as plain floats: the same numbers in {8 * size_of(backend)} bits a weight"
    if kind in MLX_MODES:
        return ""
    cost = f"in {bits_per_weight(kind):.3g} bits a weight instead of {8 * TYPES[kind].nbytes / TYPES[kind].weights:.3g}"
    if kind in EXACT:
        return f"{kind} in MLX's layout: the same numbers {cost}"
    return f"{kind} quantized anew to 8 bit for MLX: {cost}, values up to 0.4 % of their group's range off"


def grown_bytes(tensors: Mapping[str, Raw], backend: Backend) -> int:
    """How many bytes more blocks take in memory than in their file."""
    if not backend.blocks or backend.device != "cpu":
        return 0
    kinds = ((raw, TYPES[raw.dtype]) for raw in tensors.values() if raw.dtype in IN_PANELS)
    return sum(int(raw.nbytes * (IN_PANELS[raw.dtype] * kind.weights / kind.nbytes / 8 - 1)) for raw, kind in kinds)


def folder_becomes(source: Source, backend: Backend) -> list[str]:
    """The same of a folder that another tool has packed."""
    if not isinstance(source, PackedTensors):
        return []
    kept = []
    if backend.name == "mlx" and "fp8" in source.kinds.values():
        kept.append(f"FP8 as plain floats: rounded to {8 * size_of(backend)} bits a weight instead of 8")
    if loose := len(source.as_floats()):
        count = "1 matrix" if loose == 1 else f"{loose:,} matrices"
        order = "its inputs are" if loose == 1 else "their inputs are"
        kept.append(f"{count} as plain floats: {order} not in the order of their groups, or no block divides them")
    return kept


def size_of(backend: Backend) -> int:
    return 4 if backend.dtype == "f32" else 2


def kinds_of(tensors: Mapping[str, Raw]) -> list[str]:
    """The block types of a file's matrices, the commonest first."""
    total: dict[str, int] = {}
    for raw in tensors.values():
        if (raw.dtype in TYPES and raw.dtype not in FLOATS) or raw.dtype == I2_S:
            total[raw.dtype] = total.get(raw.dtype, 0) + raw.nbytes
    return sorted(total, key=lambda kind: -total[kind])


class WithoutBlocks(SourceOver):
    """A source whose blocks come as affine triples, or as f32 matrices."""

    def __init__(self, source: Source, affine: bool) -> None:
        super().__init__(source)
        self._affine = affine

    def changed(self, found: SourceMatrix, stem: str, shape: tuple[int, ...]) -> SourceMatrix:
        if not isinstance(found.weight, Blocks):
            return found
        weight = found.weight
        if not self._affine or weight.type.startswith("FP8"):
            return replace(found, weight=as_dense(weight))
        return found if weight.type in MLX_MODES else replace(found, weight=exact(weight) or anew(weight))
