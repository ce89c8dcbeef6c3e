"""The compiled kernels, loaded once a process: their signatures, and which tier runs.

`GRUS_KERNELS` forces a tier (scalar, avx2, avxvnni, avx512, amx, neon, i8mm) or turns the kernels off. Calls release the GIL.
"""

from __future__ import annotations

import ctypes
import os
from ctypes import POINTER, c_bool, c_char_p, c_float, c_int32, c_int64, c_void_p
from functools import cache

from backends.base import BackendMissing
from backends.torch.kernels import recipe
from backends.torch.kernels.build import NoKernels, cached, packaged
from backends.torch.kernels.formats import Format

TIERS = ("scalar", "avx2", "avxvnni", "avx512", "neon", "amx", "i8mm")


class Stored(ctypes.Structure):
    """`GrusStored` of src/formats/matrix.hpp."""

    _fields_ = [
        ("first", c_int64),
        ("rows", c_int64),
        ("data", c_void_p),
        ("order", c_void_p),
        ("source", c_int32),
    ]


class Matrix(ctypes.Structure):
    """`GrusMatrix` of src/formats/matrix.hpp."""

    _fields_ = [
        ("format", Format),
        ("experts", c_int64),
        ("rows", c_int64),
        ("columns", c_int64),
        ("data", c_void_p),
        ("bias", c_void_p),
        ("row_bytes", c_int64),
        ("stored", c_void_p),
        ("stored_count", c_int64),
        ("twelve", c_void_p),
        ("unpacked", c_int64),
    ]


class Twelve(ctypes.Structure):
    """`GrusTwelve` of src/formats/bf16_12bit.hpp."""

    _fields_ = [(name, c_void_p) for name in ("rows", "bases", "starts", "odd")]


class AffineParts(ctypes.Structure):
    """`grus::AffineParts` of src/formats/dequantizers.hpp."""

    _fields_ = [
        ("scales", c_void_p),
        ("biases", c_void_p),
        ("row_bytes", c_int64),
        ("bits", c_int32),
        ("group", c_int32),
        ("type", c_int32),
    ]


class Heads(ctypes.Structure):
    """`grus::Heads` of src/arch/tier.hpp."""

    _fields_ = [
        *((name, c_int64) for name in ("heads", "kv_heads", "dim")),
        *((name, c_void_p) for name in ("q_norm", "k_norm")),
        ("eps", c_float),
        ("turned", c_int64),
        ("pairs", c_bool),
        ("norm_after_rope", c_bool),
    ]


class AttendBlock(ctypes.Structure):
    """`grus::AttendBlock` of src/arch/tier.hpp."""

    _fields_ = [
        ("q", c_void_p),
        ("q_token", c_int64),
        ("k", c_void_p),
        ("v", c_void_p),
        *(
            (name, c_int64)
            for name in ("k_token", "v_token", "dim", "v_dim", "queries", "past", "window", "ahead", "end")
        ),
        ("scale", c_float),
        ("out", c_void_p),
        ("out_token", c_int64),
    ]


class Instruction(ctypes.Structure):
    """`grus::Instruction` of src/program/program.hpp."""

    _fields_ = [
        *(
            (name, c_int32)
            for name in ("what", "in", "other", "out", "sum", "layer", "angles", "norm_after_rope", "pairs", "kept")
        ),
        *((name, c_int64) for name in ("heads", "kv_heads", "dim", "turned", "group", "window", "ahead", "at")),
        *((name, c_void_p) for name in ("matrix", "up", "w", "w2")),
        ("eps", c_float),
        ("scale", c_float),
    ]


class Step(ctypes.Structure):
    """`grus::Step` of src/program/program.hpp."""

    _fields_ = [
        ("code", c_void_p),
        ("length", c_int64),
        ("tokens", c_int64),
        ("registers", c_void_p),
        ("widths", c_void_p),
        ("spans", c_void_p),
        ("span_count", c_int64),
        ("memory", c_void_p),
        ("angles", c_void_p),
    ]


class Frame(ctypes.Structure):
    """`grus::Frame` of src/codec/codec_frame.hpp."""

    _fields_ = [
        ("passes", c_void_p),
        *((name, c_int64) for name in ("count", "sequences", "width", "vocab", "input", "output")),
        *((name, c_void_p) for name in ("narrow", "heads", "tables", "hidden", "noise", "random")),
        ("top_k", c_int64),
        ("temperature", c_float),
        ("top_p", c_float),
        *((name, c_void_p) for name in ("x", "logits", "codes", "total")),
    ]


class Conv(ctypes.Structure):
    """`grus::Conv` of src/conv/conv.hpp."""

    _fields_ = [
        ("w", c_void_p),
        ("form", c_int64),
        ("bias", c_void_p),
        *((name, c_int64) for name in ("inputs", "outputs", "taps", "dilation")),
    ]


class ConvPiece(ctypes.Structure):
    """`grus::Piece` of src/conv/conv.hpp."""

    _fields_ = [
        ("streams", c_int64),
        *((name, c_void_p) for name in ("lengths", "x", "rate", "size", "before", "after", "add", "y")),
    ]


class Shortlist(ctypes.Structure):
    """`GrusShortlist` of src/sampling/shortlist.hpp."""

    _fields_ = [
        *((name, c_void_p) for name in ("head", "coarse", "off", "length")),
        ("longest_input", c_float),
        ("most", c_int64),
    ]


class Wish(ctypes.Structure):
    """`GrusWish` of src/sampling/sample.hpp."""

    _fields_ = [*((name, c_float) for name in ("temperature", "noise", "top_p", "min_p")), ("top_k", c_int64)]


STRUCTS = (
    *(Stored, Matrix, AffineParts, Heads, AttendBlock, Instruction, Step, Frame),
    *(Conv, ConvPiece, Twelve, Shortlist, Wish),
)

_M = POINTER(Matrix)
_SIGNATURES: dict[str, tuple[object, list[object]]] = {
    "grus_digest": (c_char_p, []),
    "grus_tier": (c_char_p, []),
    "grus_struct_bytes": (c_int64, [c_int32]),
    "grus_use_tier": (c_int32, [c_int32]),
    "grus_packed_bytes": (c_int64, [_M]),
    "grus_source_row_bytes": (c_int64, [c_int32, c_int64]),
    "grus_encode": (c_int32, [c_int32, c_void_p, c_int64, c_int64, c_int32, c_void_p, c_int32]),
    "grus_prepare": (None, [_M]),
    "grus_pack": (None, [_M, c_int64, c_int64, c_int64, c_int32, c_void_p, POINTER(AffineParts), c_int32]),
    "grus_pack_more": (None, [_M, c_int64, c_int32]),
    "grus_to_twelve": (None, [c_void_p, c_int64, c_int64, c_void_p, c_void_p, c_void_p]),
    "grus_odd_of_twelve": (None, [c_void_p, c_int64, c_int64, c_void_p, c_void_p, c_void_p]),
    "grus_rows_of_twelve": (None, [_M, c_void_p, c_int64, c_void_p]),
    "grus_rows": (None, [_M, c_void_p, c_int64, c_void_p, c_int32]),
    "grus_matmul": (None, [_M, c_void_p, c_int64, c_int64, c_void_p, c_int64, c_int32]),
    "grus_gather": (
        None,
        [_M, c_void_p, c_int64, c_void_p, c_void_p, c_void_p, c_int64, c_void_p, c_int64, c_int32],
    ),
    "grus_rms_norm": (
        None,
        [c_void_p, c_void_p, c_void_p, c_void_p, c_float, c_int64, c_int64, c_void_p, c_int32],
    ),
    "grus_gelu": (None, [c_void_p, c_int64, c_void_p, c_int32]),
    "grus_swiglu": (None, [c_void_p, c_int64, c_int64, c_void_p, c_int32]),
    "grus_best": (None, [c_void_p, c_int64, c_int64, c_void_p, c_void_p, c_int32]),
    "grus_top": (None, [c_void_p, c_int64, c_int64, c_int64, c_void_p, c_void_p, c_int32]),
    "grus_mass": (None, [c_void_p, c_int64, c_int64, c_void_p, c_void_p, c_void_p, c_int32]),
    "grus_choose": (None, [c_void_p, c_int64, c_int64, c_void_p, POINTER(Wish), c_void_p, c_int32]),
    "grus_best_of_product": (
        None,
        [_M, c_void_p, c_int64, c_int64, c_void_p, c_void_p, c_void_p, c_int32],
    ),
    "grus_shortlist": (
        c_bool,
        [POINTER(Shortlist), c_void_p, c_int64, c_int64, c_void_p, c_void_p, c_void_p, c_int32],
    ),
    "grus_draw": (
        None,
        [c_void_p, c_int64, c_int64, c_void_p, c_void_p, c_float, c_int64, c_float, c_void_p],
    ),
    "grus_heads": (None, [POINTER(Heads), c_void_p, c_int64, c_void_p, c_void_p, c_void_p, c_int32]),
    "grus_attend_recent": (None, [POINTER(AttendBlock), c_int64, c_int64, c_int32]),
    "grus_layer_norm": (None, [c_void_p, c_void_p, c_void_p, c_float, c_int64, c_int64, c_void_p, c_int32]),
    "grus_conv_form": (c_int64, [c_int64, c_int64, c_int64]),
    "grus_conv_cut": (None, [c_void_p, c_int64, c_int64, c_int64, c_void_p, c_int32]),
    "grus_conv_points": (None, [c_void_p, c_int64, c_int64, c_void_p, c_int32]),
    "grus_conv_depthwise": (None, [POINTER(Conv), POINTER(ConvPiece), c_int32]),
    "grus_conv": (None, [POINTER(Conv), POINTER(ConvPiece), c_int32]),
    "grus_run": (None, [POINTER(Step), c_int32]),
    "grus_frame": (None, [POINTER(Frame), c_int32]),
}


def open_library(path: str) -> ctypes.CDLL:
    library = ctypes.CDLL(path)
    for name, (result, arguments) in _SIGNATURES.items():
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments
    return library


def _fresh(path: str) -> ctypes.CDLL | None:
    """The library, if it comes from the sources that are here."""
    try:
        library = open_library(path)
    except (OSError, AttributeError):  # built for another machine, or before a function was added
        return None
    return library if library.grus_digest() == recipe.digest().encode() else None


@cache
def _load() -> tuple[ctypes.CDLL | None, str]:
    wanted = os.environ.get("GRUS_KERNELS", "").strip().lower()
    if wanted == "off":
        return None, "turned off by GRUS_KERNELS"
    if wanted and wanted not in TIERS:
        raise BackendMissing(f"GRUS_KERNELS is `{wanted}`. Set it to one of: {', '.join(TIERS)}, off; or unset it.")
    built = packaged()
    library = _fresh(str(built)) if built else None
    if library is None:
        try:
            library = open_library(str(cached()))
        except NoKernels as reason:
            if wanted:
                raise BackendMissing(
                    f"GRUS_KERNELS asks for `{wanted}`, but the kernels are not here: {reason}."
                ) from reason
            return None, str(reason)
    if wanted and not library.grus_use_tier(TIERS.index(wanted)):
        raise BackendMissing(f"GRUS_KERNELS asks for `{wanted}`, which this machine does not have. Unset it.")
    return library, ""


def available() -> bool:
    """Whether the kernels run here. The first call may compile them. Raises BackendMissing for a wrong GRUS_KERNELS."""
    return _load()[0] is not None


def why_not() -> str:
    """Why `available` is False, as part of a sentence."""
    return _load()[1]


def library() -> ctypes.CDLL:
    found, reason = _load()
    if found is None:
        raise BackendMissing(f"The CPU kernels are not here: {reason}.")
    return found


def has_matrix_unit() -> bool:
    """Whether the tier in use multiplies many tokens on a unit of its own."""
    return tier() == "amx"


def tier() -> str:
    """The instruction set in use, or `off`."""
    found, _ = _load()
    return found.grus_tier().decode() if found else "off"
