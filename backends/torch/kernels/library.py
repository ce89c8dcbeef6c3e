"""Loads the compiled kernels once per process: ctypes structs, function signatures, and the tier in use.

`GRUS_KERNELS` forces a tier (scalar, avx2, avxvnni, avx512, amx, neon, i8mm) or turns the kernels off. Calls release the GIL.
"""

from __future__ import annotations

import ctypes
import os
from ctypes import POINTER, c_bool, c_char_p, c_float, c_int32, c_int64, c_void_p
from functools import cache

from backends.base import BackendMissing
from backends.grids import INDICES
from backends.torch.kernels import build
from backends.torch.kernels.build import NoKernels, cached, packaged
from backends.torch.kernels.formats import Format

TIERS = ("scalar", "avx2", "avxvnni", "avx512", "neon", "amx", "i8mm")


class StoredRows(ctypes.Structure):
    """`GrusStoredRows` of src/formats/matrix.hpp."""

    _fields_ = [
        ("first", c_int64),
        ("rows", c_int64),
        ("data", c_void_p),
        ("order", c_void_p),
        ("source", c_int32),
        ("factors", c_void_p),
    ]


class KernelMatrix(ctypes.Structure):
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
        ("bf12", c_void_p),
        ("unpacked", c_int64),
        ("halves", c_void_p),
        ("f32_inputs", c_bool),
        ("kept", c_void_p),
        ("uses", c_void_p),
    ]


class Bf12Matrix(ctypes.Structure):
    """`GrusBf12` of src/formats/bf16_12bit.hpp."""

    _fields_ = [(name, c_void_p) for name in ("rows", "bases", "starts", "outliers")]


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


class HeadsParams(ctypes.Structure):
    """`grus::HeadsParams` of src/arch/tier.hpp."""

    _fields_ = [
        *((name, c_int64) for name in ("heads", "kv_heads", "dim")),
        *((name, c_void_p) for name in ("q_norm", "k_norm")),
        ("eps", c_float),
        ("rotary_dim", c_int64),
        ("pairs", c_bool),
        ("norm_after_rope", c_bool),
    ]


class AttentionBlock(ctypes.Structure):
    """`grus::AttentionBlock` of src/arch/tier.hpp."""

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
        ("sink", c_void_p),
        ("heads", c_int64),
        ("kept_k", c_void_p),
        ("kept_v", c_void_p),
        *((name, c_void_p) for name in ("distance_keys", "distance_content", "distance_position")),
    ]


class RegisterView(ctypes.Structure):
    """`grus::RegisterView` of src/program/program.hpp."""

    _fields_ = [(name, c_int64) for name in ("index", "at", "apart", "step")]


class Instruction(ctypes.Structure):
    """`grus::Instruction` of src/program/program.hpp."""

    _fields_ = [
        *(
            (name, c_int32)
            for name in (
                "opcode",
                "in",
                "other",
                "out",
                "sum",
                "layer",
                "angles",
                "norm_after_rope",
                "pairs",
                "kv_dtype",
                "function",
                "latent",
                "transposed",
                "gate",
            )
        ),
        *(
            (name, c_int64)
            for name in ("heads", "kv_heads", "dim", "rotary_dim", "group", "window", "ahead", "at", "rows")
        ),
        *((name, c_int64) for name in ("value_dim", "taps")),
        *((name, c_void_p) for name in ("matrix", "up", "w", "w2")),
        *((name, c_float) for name in ("eps", "scale", "shift")),
        ("mixture", c_void_p),
        ("sides", c_void_p),
        ("views", RegisterView * 6),
    ]


class LowRankSide(ctypes.Structure):
    """`grus::LowRankSide` of src/program/program.hpp."""

    _fields_ = [("a", c_void_p), ("b", c_void_p)]


class ProgramStep(ctypes.Structure):
    """`grus::ProgramStep` of src/program/program.hpp."""

    _fields_ = [
        ("code", c_void_p),
        ("length", c_int64),
        ("tokens", c_int64),
        ("registers", c_void_p),
        ("widths", c_void_p),
        ("segments", c_void_p),
        ("segment_count", c_int64),
        ("memory", c_void_p),
        ("angles", c_void_p),
        ("runs", c_void_p),
        ("run_count", c_int64),
        ("ids", c_void_p),
    ]


class PositionTable(ctypes.Structure):
    """`grus::PositionTable` of src/program/decode_step.hpp."""

    _fields_ = [("cos", c_void_p), ("sin", c_void_p), ("first", c_int64), ("width", c_int64)]


class DecodeStep(ctypes.Structure):
    """`grus::DecodeStep` of src/program/decode_step.hpp."""

    _fields_ = [
        ("program", ProgramStep),
        ("tables", c_void_p),
        ("inputs", c_int64),
        *((name, c_void_p) for name in ("positions", "angles", "rows")),
        ("output", c_int64),
        ("wanted", c_void_p),
        ("wanted_count", c_int64),
        *((name, c_void_p) for name in ("head", "shortlist", "samplers", "best", "places", "tokens")),
    ]


class CodecFrame(ctypes.Structure):
    """`grus::CodecFrame` of src/codec/codec_frame.hpp."""

    _fields_ = [
        ("passes", c_void_p),
        *((name, c_int64) for name in ("count", "sequences", "width", "vocab", "input", "output")),
        *((name, c_void_p) for name in ("narrow", "heads", "tables", "hidden", "noise", "random")),
        ("top_k", c_int64),
        ("temperature", c_float),
        ("top_p", c_float),
        *((name, c_void_p) for name in ("x", "logits", "codes", "total")),
    ]


class ConvParams(ctypes.Structure):
    """`grus::ConvParams` of src/conv/conv.hpp."""

    _fields_ = [
        ("w", c_void_p),
        ("form", c_int64),
        ("bias", c_void_p),
        *((name, c_int64) for name in ("inputs", "outputs", "taps", "dilation")),
    ]


class ConvChunk(ctypes.Structure):
    """`grus::ConvChunk` of src/conv/conv.hpp."""

    _fields_ = [
        ("streams", c_int64),
        *(
            (name, c_void_p)
            for name in ("lengths", "x", "scale", "shift", "rate", "size", "before", "after", "add", "y")
        ),
        ("ahead", c_int64),
    ]


class ImageConv(ctypes.Structure):
    """`grus::ImageConv` of src/conv/image_conv.hpp."""

    _fields_ = [
        ("w", c_void_p),
        ("bias", c_void_p),
        *((name, c_int64) for name in ("rounded", "inputs", "outputs", "rows", "columns", "row_step", "column_step")),
        *((name, c_int64) for name in ("row_padding", "column_padding", "activation")),
    ]


class ImageBatch(ctypes.Structure):
    """`grus::ImageBatch` of src/conv/image_conv.hpp."""

    _fields_ = [
        *((name, c_int64) for name in ("images", "rows", "columns")),
        *((name, c_void_p) for name in ("x", "add", "y")),
    ]


class ShortlistParams(ctypes.Structure):
    """`GrusShortlist` of src/sampling/shortlist.hpp."""

    _fields_ = [
        *((name, c_void_p) for name in ("head", "coarse", "off", "length")),
        ("longest_input", c_float),
        ("most", c_int64),
    ]


class SamplerParams(ctypes.Structure):
    """`GrusSampler` of src/sampling/sample.hpp."""

    _fields_ = [*((name, c_float) for name in ("temperature", "noise", "top_p", "min_p")), ("top_k", c_int64)]


class MixtureParams(ctypes.Structure):
    """`GrusMixture` of src/mixture/mixture.hpp."""

    _fields_ = [
        *((name, c_void_p) for name in ("up", "down")),
        *((name, c_int64) for name in ("up_count", "down_count")),
        *((name, c_int32) for name in ("up_apart", "down_apart", "activation", "gated", "alternating")),
        *((name, c_float) for name in ("alpha", "limit")),
        *((name, c_int64) for name in ("experts", "chosen", "groups", "kept", "judged_by")),
        *((name, c_int32) for name in ("sigmoid", "renormalize")),
        *((name, c_float) for name in ("scale", "softcap")),
        *((name, c_void_p) for name in ("preferred", "factors")),
    ]


STRUCTS = (
    *(StoredRows, KernelMatrix, AffineParts, HeadsParams, AttentionBlock, Instruction, ProgramStep, CodecFrame),
    *(ConvParams, ConvChunk, Bf12Matrix, ShortlistParams, SamplerParams, MixtureParams, ImageConv, ImageBatch),
    *(PositionTable, DecodeStep),
)

_M = POINTER(KernelMatrix)
_SIGNATURES: dict[str, tuple[object, list[object]]] = {
    "grus_digest": (c_char_p, []),
    "grus_tier": (c_char_p, []),
    "grus_struct_bytes": (c_int64, [c_int32]),
    "grus_use_tier": (c_int32, [c_int32]),
    "grus_packed_bytes": (c_int64, [_M]),
    "grus_source_row_bytes": (c_int64, [c_int32, c_int64]),
    "grus_encode": (c_int32, [c_int32, c_void_p, c_int64, c_int64, c_int32, c_void_p, c_int32]),
    "grus_use_grids": (None, [c_void_p]),
    "grus_prepare": (None, [_M]),
    "grus_pack": (None, [_M, c_int64, c_int64, c_int64, c_int32, c_void_p, POINTER(AffineParts), c_float, c_int32]),
    "grus_pack_more": (None, [_M, c_int64, c_int32]),
    "grus_pack_expert": (None, [_M, c_int64, c_void_p, c_int32]),
    "grus_bf12_encode": (None, [c_void_p, c_int64, c_int64, c_void_p, c_void_p, c_void_p]),
    "grus_bf12_outliers": (None, [c_void_p, c_int64, c_int64, c_void_p, c_void_p, c_void_p]),
    "grus_bf12_rows": (None, [_M, c_void_p, c_int64, c_void_p]),
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
    "grus_argmax": (None, [c_void_p, c_int64, c_int64, c_void_p, c_void_p, c_int32]),
    "grus_top_k": (None, [c_void_p, c_int64, c_int64, c_int64, c_void_p, c_void_p, c_int32]),
    "grus_softmax_mass": (None, [c_void_p, c_int64, c_int64, c_void_p, c_void_p, c_void_p, c_int32]),
    "grus_sample": (None, [c_void_p, c_int64, c_int64, c_void_p, POINTER(SamplerParams), c_void_p, c_int32]),
    "grus_matmul_argmax": (
        None,
        [_M, c_void_p, c_int64, c_int64, c_void_p, c_void_p, c_void_p, c_int32],
    ),
    "grus_shortlist": (
        c_bool,
        [POINTER(ShortlistParams), c_void_p, c_int64, c_int64, c_void_p, c_void_p, c_void_p, c_int32],
    ),
    "grus_draw": (
        None,
        [c_void_p, c_int64, c_int64, c_void_p, c_void_p, c_float, c_int64, c_float, c_void_p],
    ),
    "grus_heads": (None, [POINTER(HeadsParams), c_void_p, c_int64, c_void_p, c_void_p, c_void_p, c_int32]),
    "grus_attention_window": (None, [POINTER(AttentionBlock), c_int64, c_int64, c_int32]),
    "grus_layer_norm": (None, [c_void_p, c_void_p, c_void_p, c_float, c_int64, c_int64, c_void_p, c_int32]),
    "grus_conv_form": (c_int64, [c_int64, c_int64, c_int64, c_int32]),
    "grus_conv_block_weights": (None, [c_void_p, c_int64, c_int64, c_void_p]),
    "grus_conv_rounds": (c_int32, []),
    "grus_image_conv": (None, [POINTER(ImageConv), POINTER(ImageBatch), c_int32]),
    "grus_image_depthwise": (None, [POINTER(ImageConv), POINTER(ImageBatch), c_int32]),
    "grus_conv_bf16x2_weights": (None, [c_void_p, c_int64, c_int64, c_int64, c_void_p, c_int32]),
    "grus_conv_winograd_weights": (None, [c_void_p, c_int64, c_int64, c_void_p, c_int32]),
    "grus_conv_depthwise": (None, [POINTER(ConvParams), POINTER(ConvChunk), c_int32]),
    "grus_conv": (None, [POINTER(ConvParams), POINTER(ConvChunk), c_int32]),
    "grus_channel_scale": (None, [c_void_p, c_int64, c_int64, *(c_void_p,) * 2, c_float, *(c_void_p,) * 2, c_int32]),
    "grus_mixture": (
        None,
        [POINTER(MixtureParams), c_void_p, c_int64, c_void_p, c_int64, c_int64, c_void_p, c_int64, c_int32],
    ),
    "grus_run_program": (None, [POINTER(ProgramStep), c_int32]),
    "grus_decode_step": (c_int32, [POINTER(DecodeStep), c_int32]),
    "grus_codec_frame": (None, [POINTER(CodecFrame), c_int32]),
}


def open_library(path: str) -> ctypes.CDLL:
    library = ctypes.CDLL(path)
    for name, (result, arguments) in _SIGNATURES.items():
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments
    library.grus_use_grids(INDICES.ctypes.data)
    return library


def _fresh(path: str) -> ctypes.CDLL | None:
    """The library, if it was built from the current sources."""
    try:
        library = open_library(path)
    except (OSError, AttributeError):  # built for another machine, or before a function was added
        return None
    return library if library.grus_digest() == build.digest().encode() else None


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
    """Whether the kernels are available. The first call may compile them. Raises BackendMissing for an invalid GRUS_KERNELS."""
    return _load()[0] is not None


def why_not() -> str:
    """The reason why `available` is False, as part of a sentence."""
    return _load()[1]


def library() -> ctypes.CDLL:
    found, reason = _load()
    if found is None:
        raise BackendMissing(f"The CPU kernels are not here: {reason}.")
    return found


def has_matrix_unit() -> bool:
    """Whether the tier in use has a matrix unit (AMX)."""
    return tier() == "amx"


def tier() -> str:
    """The instruction set in use, or `off`."""
    found, _ = _load()
    return found.grus_tier().decode() if found else "off"
