"""Safetensors of other tools' quantizations: a matrix that is several tensors, found by their names and made one weight.

`float_formats` and `integer_formats` say what each layout means. Here a matrix `STEM.weight` is recognized by what lies beside it, and
what belongs to quantized activations or to a quantized KV cache (`input_scale`, `k_scale`, ...) is left out: activations are computed
as the backend computes those of any quantized matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import numpy as np

from backends.base import Dense, Raw, Weight
from engine.errors import WeightsError
from engine.weights import float_formats as floats
from engine.weights import integer_formats as integers
from engine.weights.float_formats import WrongTensor
from engine.weights.input_order import InputOrder
from engine.weights.problems import Problem
from engine.weights.quantization import Method, Quantization
from engine.weights.source import SourceMatrix, Tensors

Parts = dict[str, Raw]
T = TypeVar("T")

_CODES = ("weight_packed", "qweight", "weight")
_BESIDE = frozenset(
    [
        "weight_scale_inv",
        "weight_scale",
        "weight_scale_2",
        "weight_global_scale",
        "weight_zero_point",
        "weight_g_idx",
        "weight_shape",
        "weight_packed",
        "qweight",
        "qzeros",
        "scales",
        "g_idx",
    ]
)
_ACTIVATIONS = frozenset(
    ["input_scale", "input_global_scale", "input_zero_point", "output_scale", "q_scale", "k_scale", "v_scale"]
)
_FUSED = "_scale_inv"  # of a tensor that holds all experts
_PACKED_NAMES = frozenset(["weight_scale_inv", "weight_scale", "weight_packed", "qweight"])


@dataclass(frozen=True)
class FolderFormat:
    """A layout that is read, for `grus info` and the docs."""

    name: str
    files: str  # who writes it, in what
    on_cpu: str
    on_mlx: str


FORMATS = {
    "fp8": FolderFormat(
        "FP8 (E4M3)", "FP8 with block, row or tensor scales; ModelOpt, compressed-tensors", "as it is", "plain floats"
    ),
    "nvfp4": FolderFormat("NVFP4", "ModelOpt; compressed-tensors `nvfp4-pack-quantized`", "as it is", "mode nvfp4"),
    "mxfp4": FolderFormat("MXFP4", "compressed-tensors `mxfp4-pack-quantized`", "as it is", "mode mxfp4"),
    "int": FolderFormat("2, 4, 8 bit", "compressed-tensors `pack-quantized`", "as it is", "affine"),
    "int8": FolderFormat("8 bit", "compressed-tensors `int-quantized`", "as it is", "affine"),
    "gptq": FolderFormat(
        "2, 4, 8 bit",
        "GPTQ",
        "as it is; experts with `desc_act` as floats",
        "affine; experts with `desc_act` as floats",
    ),
    "ternary": FolderFormat("ternary", "BitNet, packed or as it was trained", "as it is", "affine"),
    "awq": FolderFormat("4 bit", "AWQ `gemm`", "as it is", "affine"),
}


def tensors_of(
    where: str,
    tensors: Mapping[str, Raw],
    quantization: Quantization | None,
    method: Method | None,
    rename: Callable[[str], str] | None = None,
) -> Tensors:
    """A checkpoint's tensors, whichever of the two kinds they are."""
    packed = method is not None and method.ternary == "online"
    if quantization is None and (packed or any(name.rpartition(".")[2] in _PACKED_NAMES for name in tensors)):
        return PackedTensors(where, tensors, method or Method("packed"), rename)
    return Tensors(where, tensors, quantization, rename)


class PackedTensors(Tensors):
    def __init__(
        self,
        where: str,
        tensors: Mapping[str, Raw],
        method: Method,
        rename: Callable[[str], str] | None = None,
    ) -> None:
        self._method = method
        found: dict[str, Parts] = {}
        for name, raw in tensors.items():
            stem, _, part = name.rpartition(".")
            if part not in _BESIDE and part.endswith(_FUSED) and (whole := name.removesuffix(_FUSED)) in tensors:
                found[whole] = {"weight": tensors[whole], "weight_scale_inv": raw}
            elif part in _BESIDE or (part == "weight" and (_is_packed(stem, tensors) or self._rounded(stem, raw))):
                found.setdefault(stem, {})[part] = raw
        kinds = {stem: kind for stem, parts in found.items() if (kind := self._kind(parts))}
        left: dict[str, Raw] = {}
        self._parts: dict[str, Parts] = {}
        self.kinds: dict[str, str] = {}  # of each packed matrix by its name here: a key of FORMATS
        for name, raw in tensors.items():
            stem, _, part = name.rpartition(".")
            if name in kinds:  # all experts in one tensor, under a name without `.weight`
                ours = rename(name) if rename else name
                self._parts[ours], self.kinds[ours], left[name] = found[name], kinds[name], raw
            elif part.endswith(_FUSED) and name.removesuffix(_FUSED) in kinds:
                continue
            elif stem in kinds and part in found[stem]:
                if part in _CODES:
                    whole = f"{stem}.weight"
                    left[whole] = raw
                    ours = (rename(whole) if rename else whole).removesuffix(".weight")
                    self._parts[ours], self.kinds[ours] = found[stem], kinds[stem]
            elif part not in _ACTIVATIONS:
                left[name] = raw
        super().__init__(where, left, None, rename)

    def _rounded(self, stem: str, raw: Raw) -> bool:
        """Whether this is one of BitNet's matrices as they were trained, which become ternary when they are read."""
        return self._method.ternary == "online" and ".layers." in stem and len(raw.shape) == 2

    def _kind(self, parts: Parts) -> str | None:
        """Which of FORMATS these tensors are."""
        if self._method.ternary and "weight" in parts:
            return "ternary"
        if "qweight" in parts:
            return "awq" if self._method.awq else "gptq"
        if (packed := parts.get("weight_packed")) is not None:
            scale = parts.get("weight_scale")
            if packed.dtype != "U8":
                return "int"
            return "nvfp4" if scale is not None and scale.dtype == "F8_E4M3" else "mxfp4"
        weight = parts.get("weight")
        if weight is None:
            return None
        return {"U8": "nvfp4", "I8": "int8"}.get(weight.dtype, "fp8")

    @property
    def stored_as(self) -> str:
        """For people: "4 bit (GPTQ)", "FP8", "NVFP4 (ModelOpt)"."""
        total: dict[str, int] = {}
        for stem, kind in self.kinds.items():
            bits = 4 if kind == "awq" else 8
            if kind in ("int", "gptq"):
                bits = self._named(stem, partial(_bits, self._parts[stem]))
            word = (
                f"{bits} bit" if kind in ("int", "int8", "gptq", "awq") else kind if kind == "ternary" else kind.upper()
            )
            name = stem if stem in self._raws else f"{stem}.weight"
            total[word] = total.get(word, 0) + self._raws[name].nbytes
        most = max(total, key=lambda word: total[word], default="packed")
        return most if self._method.name in (most, "packed") else f"{most} ({self._method.name})"

    @property
    def decoded(self) -> str:
        """The float type that conversions give packed matrices: of the scales, if that has 16 bits."""
        for parts in self._parts.values():
            for name in ("scales", "weight_scale"):
                if name in parts and parts[name].dtype in ("F16", "BF16"):
                    return parts[name].dtype
        return "BF16"

    def whole(self, stem: str) -> Weight:
        """A packed matrix of whatever shape it is stored in."""
        return self._named(stem, lambda: self._made(stem, self._logical(stem)))

    def _named(self, stem: str, read: Callable[[], T]) -> T:
        """What is read of a packed matrix; an error names it."""
        try:
            return read()
        except WrongTensor as error:
            raise WeightsError(f"{self.where}: {stem}.weight {error}.") from None

    def as_floats(self) -> list[str]:
        """Matrices that no backend multiplies as they lie, because inputs are in groups out of order or no block divides them."""
        return [stem for stem in self.kinds if isinstance(self.whole(stem), Dense) and not self._kept_in_order(stem)]

    def _in_order(self, stem: str, shape: tuple[int, ...]) -> InputOrder | None:
        if self.kinds[stem] != "gptq" or len(shape) != 2:
            return None
        return integers.gptq_in_order(self._parts[stem], shape, self._method.less)

    def _kept_in_order(self, stem: str) -> bool:
        """Experts of a mixture are multiplied together, whatever the order of each one's inputs."""
        return ".experts." not in stem and self._in_order(stem, self.logical(stem)) is not None

    def logical(self, stem: str) -> tuple[int, ...]:
        """The shape of a packed matrix, in weights."""
        return self._named(stem, lambda: self._logical(stem))

    def _logical(self, stem: str) -> tuple[int, ...]:
        parts, kind = self._parts[stem], self.kinds[stem]
        if kind == "awq":
            inp, words = integers.axes(parts["qweight"])
            return words * 8, inp
        if kind == "gptq":
            words, out = integers.axes(parts["qweight"])
            return out, words * 32 // _bits(parts)
        if kind == "int":
            if (shape := parts.get("weight_shape")) is not None:
                return integers.stored_shape(shape)
            rows, words = integers.axes(parts["weight_packed"])
            return rows, words * 32 // _bits(parts)
        codes = next(parts[name] for name in _CODES if name in parts)
        if len(codes.shape) < 2:
            raise WrongTensor(f"has codes of shape {list(codes.shape)}, should have two axes or more")
        if kind == "ternary" and codes.dtype == "U8" and codes.shape:
            return 4 * codes.shape[0], *codes.shape[1:]
        return (*codes.shape[:-1], codes.shape[-1] * 2) if kind in ("nvfp4", "mxfp4") else codes.shape

    def matrix(self, stem: str, shape: tuple[int, ...], inputs_first: bool = False) -> SourceMatrix:
        if stem not in self._parts:
            return super().matrix(stem, shape, inputs_first)
        name = stem if stem in self._raws else f"{stem}.weight"
        names = (name, *self._empty_bias(stem))
        try:
            if len(shape) != 2 and (name != stem or inputs_first):
                raise WrongTensor(f"is one matrix, should be {list(shape)}")
            return SourceMatrix(self._made(stem, shape), names, ordered=self._in_order(stem, shape))
        except WrongTensor as error:
            return SourceMatrix(None, names, (Problem("wrong", name, str(error)),))

    def _made(self, stem: str, shape: tuple[int, ...]) -> Weight:
        parts, kind, method = self._parts[stem], self.kinds[stem], self._method
        if kind == "gptq":
            return integers.gptq(parts, shape, method.less)
        if kind == "awq":
            return integers.awq(parts, shape)
        if kind == "int":
            return integers.packed_integers(parts, shape)
        if kind == "int8":
            return integers.integers(parts, shape)
        if kind == "ternary":
            return integers.ternary(parts["weight"], parts.get("weight_scale"), shape, method.ternary == "divide")
        codes = parts.get("weight_packed") or parts["weight"]
        scale = parts.get("weight_scale_inv") or parts.get("weight_scale")
        if scale is None:
            raise WrongTensor("has no weight_scale")
        if kind == "fp8":
            if codes.dtype != "F8_E4M3":
                raise WrongTensor(f"is stored as {codes.dtype}, should be F8_E4M3")
            return floats.fp8(codes, scale, shape, method.square)
        if kind == "mxfp4":
            return floats.mxfp4_pairs(codes, scale, shape)
        divisor = parts.get("weight_global_scale")
        return floats.nvfp4(codes, scale, divisor or parts.get("weight_scale_2"), divisor is not None, shape)

    def _empty_bias(self, stem: str) -> list[str]:
        """GPTQ's files have a bias of zeros where a model has none."""
        raw = self._raws.get(f"{stem}.bias")
        return [] if raw is None or np.frombuffer(raw.buffer, np.uint8).any() else [f"{stem}.bias"]


def _is_packed(stem: str, tensors: Mapping[str, Raw]) -> bool:
    return f"{stem}.weight_scale" in tensors or f"{stem}.weight_scale_inv" in tensors


def _bits(parts: Parts) -> int:
    """Of a GPTQ matrix or one of compressed-tensors, where no shape is stored."""
    if "qweight" in parts:
        order, zeros, scales = parts.get("g_idx"), parts.get("qzeros"), parts.get("scales")
        if order is not None and order.shape[0]:
            return parts["qweight"].shape[0] * 32 // order.shape[0]
        return zeros.shape[-1] * 32 // max(1, scales.shape[-1]) if zeros is not None and scales is not None else 4
    if (shape := parts.get("weight_shape")) is not None:
        return parts["weight_packed"].shape[-1] * 32 // max(1, integers.stored_shape(shape)[1])
    return 4
