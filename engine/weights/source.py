"""Where a view gets its tensors from: by the names that models use, each matrix in the form it is stored in.

`Source` is the seam between file formats and models. `Tensors` reads safetensors names: dense, or MLX's affine triple
(`NAME.weight` packed, `NAME.scales`, `NAME.biases`). A GGUF file is another `Source`, whose matrices are `Blocks`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from backends.base import Affine, Blocks, Dense, Raw, Weight
from engine.errors import WeightsError
from engine.weights.float_formats import WrongTensor, mxfp4, of_mode, outputs_first
from engine.weights.input_order import InputOrder
from engine.weights.problems import Problem
from engine.weights.quantization import Quantization

FLOATS = ("F32", "F16", "BF16")


@dataclass(frozen=True)
class SourceMatrix:
    """What a source has for one matrix: the weight, or why there is none; and the tensors that were looked at."""

    weight: Weight | None
    tensors: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    ordered: InputOrder | None = None  # for who can put the inputs in order: the same without making it floats


class Source(Protocol):
    where: str  # the folder or file, for messages
    names: Mapping[str, str]  # every tensor: the name that models use -> the name in the file

    def raw(self, name: str) -> Raw | None:
        """A tensor as it is stored, or None."""

    def matrix(self, stem: str, shape: tuple[int, ...], inputs_first: bool = False) -> SourceMatrix:
        """The matrix `stem.weight` of logical shape `shape`: `(out, in)` or `(experts, out, in)`. `inputs_first`: a plain tensor
        that holds all experts, under the name `stem` itself, is stored as `(experts, in, out)`."""


class SourceOver:
    """A source that has the tensors of another, and some of its matrices otherwise."""

    def __init__(self, source: Source) -> None:
        self._source, self.where, self.names = source, source.where, source.names

    def raw(self, name: str) -> Raw | None:
        return self._source.raw(name)

    def matrix(self, stem: str, shape: tuple[int, ...], inputs_first: bool = False) -> SourceMatrix:
        return self.changed(self._source.matrix(stem, shape, inputs_first), stem, shape)

    def changed(self, found: SourceMatrix, stem: str, shape: tuple[int, ...]) -> SourceMatrix:
        """What this source has in place of `found`."""
        return found

    def in_place_of(self, found: SourceMatrix, stem: str, shape: tuple[int, ...]) -> SourceMatrix:
        """What this source and those below it have in place of a matrix that lies in them as a tensor of another shape."""
        below = self._source
        found = below.in_place_of(found, stem, shape) if isinstance(below, SourceOver) else found
        return self.changed(found, stem, shape)


class Tensors:
    """Named tensors of a safetensors checkpoint."""

    def __init__(
        self,
        where: str,
        tensors: Mapping[str, Raw],
        quantization: Quantization | None = None,
        rename: Callable[[str], str] | None = None,
    ) -> None:
        self.where = where
        self._raws: dict[str, Raw] = {}
        self._quantization = quantization
        names: dict[str, str] = {}
        for original, raw in tensors.items():
            name = rename(original) if rename else original
            if name in names:
                raise WeightsError(f"{where}: the tensors {names[name]} and {original} are the same to the model.")
            names[name] = original
            self._raws[name] = raw
        self.names: Mapping[str, str] = names

    def raw(self, name: str) -> Raw | None:
        return self._raws.get(name)

    def matrix(self, stem: str, shape: tuple[int, ...], inputs_first: bool = False) -> SourceMatrix:
        name = f"{stem}.weight"
        weight = self._raws.get(name)
        if weight is None:
            return self._experts(stem, shape, inputs_first)
        if f"{stem}.scales" in self._raws:
            return self._affine(stem, weight, shape)
        if problem := wrong(name, weight, shape):
            return SourceMatrix(None, (name,), (problem,))
        return SourceMatrix(Dense(weight), (name,))

    def _experts(self, stem: str, shape: tuple[int, ...], inputs_first: bool) -> SourceMatrix:
        """All experts of a matrix in one plain tensor, or in OpenAI's pair of tensors."""
        names = (stem,) if stem in self._raws else (f"{stem}_blocks", f"{stem}_scales")
        raws = [self._raws[name] for name in names if name in self._raws]
        if len(shape) != 3 or len(raws) < len(names):
            return SourceMatrix(None, names if raws else (), (Problem("missing", f"{stem}.weight"),))
        experts, out, inp = shape
        if len(raws) == 1:
            problems = [wrong(stem, raws[0], (experts, inp, out) if inputs_first else shape)]
        else:
            shapes = (experts, out, inp // 32, 16), (experts, out, inp // 32)
            problems = [wrong(name, raw, want, ("U8",)) for name, raw, want in zip(names, raws, shapes)]
        if any(problems):
            return SourceMatrix(None, names, tuple(problem for problem in problems if problem))
        if len(raws) == 2:
            return SourceMatrix(mxfp4(*raws), names)
        return SourceMatrix(outputs_first(raws[0]) if inputs_first else Dense(raws[0]), names)

    def _affine(self, stem: str, packed: Raw, shape: tuple[int, ...]) -> SourceMatrix:
        name = f"{stem}.weight"
        names = (name, f"{stem}.scales", f"{stem}.biases")
        scales, biases = self._raws[names[1]], self._raws.get(names[2])
        packing = self._quantization.of(self.names[name].removesuffix(".weight")) if self._quantization else None
        if packing is None:
            detail = "is packed, but config.json says that it is not quantized"
            return SourceMatrix(None, names, (Problem("wrong", name, detail),))
        if packing.mode != "affine":
            return self._of_mode(names, shape, packing.mode)
        *outer, inner = shape
        if biases is None:
            return SourceMatrix(None, names[:2], (Problem("missing", names[2]),))
        columns = (inner * packing.bits / 32, inner / packing.group, inner / packing.group)
        packed_as = f"{list(shape)} in {packing.bits} bits and groups of {packing.group}"
        problems = []
        for tensor, raw, width, dtypes in zip(
            names, (packed, scales, biases), columns, (("U32",), FLOATS, FLOATS), strict=True
        ):
            if width != int(width):
                detail = f"has {inner} inputs, which {packing.bits} bits and groups of {packing.group} do not divide"
                problems.append(Problem("wrong", name, detail))
                break
            if problem := wrong(tensor, raw, (*outer, int(width)), dtypes, f", for {packed_as}"):
                problems.append(problem)
        if not problems and scales.dtype != biases.dtype:
            problems.append(Problem("wrong", names[2], f"is {biases.dtype}, but its scales are {scales.dtype}"))
        if problems:
            return SourceMatrix(None, names, tuple(problems))
        return SourceMatrix(Affine(packed, scales, biases, packing.bits, packing.group), names)

    def _of_mode(self, names: tuple[str, ...], shape: tuple[int, ...], mode: str) -> SourceMatrix:
        """Floats of four or eight bits as MLX's modes lay them out: words of codes, and bytes of scales."""
        packed, scales = self._raws[names[0]], self._raws[names[1]]
        *outer, inner = shape
        wide, group = (inner // 4, 32) if mode == "mxfp8" else (inner // 8, 16 if mode == "nvfp4" else 32)
        why = f", for {list(shape)} in {mode}"
        problems = [
            wrong(names[0], packed, (*outer, wide), ("U32",), why),
            wrong(names[1], scales, (*outer, inner // group), ("U8",), why),
        ]
        found = tuple(problem for problem in problems if problem)
        if found:
            return SourceMatrix(None, names[:2], found)
        try:
            return SourceMatrix(of_mode(mode, packed, scales, shape), names[:2])
        except WrongTensor as error:
            return SourceMatrix(None, names[:2], (Problem("wrong", names[0], str(error)),))


def wrong(
    name: str, raw: Raw, shape: tuple[int, ...], dtypes: tuple[str, ...] = FLOATS, why: str = ""
) -> Problem | None:
    """The problem with a tensor that exists, if there is one."""
    if raw.shape != shape:
        return Problem("wrong", name, f"has shape {list(raw.shape)}, should be {list(shape)}{why}")
    if raw.dtype not in dtypes:
        return Problem("wrong", name, f"is stored as {raw.dtype}, should be {' or '.join(dtypes)}{why}")
    return None


def raws_of(weight: Weight) -> tuple[Raw, ...]:
    if isinstance(weight, Affine):
        return weight.packed, weight.scales, weight.biases
    return (weight.data,)


def split_experts(weight: Weight) -> list[Weight]:
    """One matrix an expert out of a stacked one. Bytes stay where they are."""
    count = weight.shape[0]
    if isinstance(weight, Affine):
        columns = zip(*(split_raw(raw, count) for raw in raws_of(weight)))
        return [Affine(packed, scales, biases, weight.bits, weight.group) for packed, scales, biases in columns]
    if isinstance(weight, Blocks):
        factors = [weight.factors] * count if weight.factors is None else split_raw(weight.factors, count)
        return [
            Blocks(raw, weight.type, weight.shape[1:], factor, weight.divide)
            for raw, factor in zip(split_raw(weight.data, count), factors)
        ]
    return [Dense(raw) for raw in split_raw(weight.data, count)]


def split_raw(raw: Raw, count: int | None = None) -> list[Raw]:
    """The parts of a tensor along its first axis."""
    count = raw.shape[0] if count is None else count
    size, whole = raw.nbytes // count, raw.buffer  # once: some buffers are made each time they are asked for
    return [
        Raw(
            name=f"{raw.name}[{i}]",
            path=raw.path,
            offset=raw.offset + i * size,
            nbytes=size,
            dtype=raw.dtype,
            shape=raw.shape[1:],
            buffer=whole[i * size : (i + 1) * size],
        )
        for i in range(count)
    ]
