"""LoRA of a mixture's experts, matched to matrices of one expert or of all: tools and model files cut them up in different ways.

An adapter names one expert's gate (`experts.3.gate_proj`), the gates of all of them (`switch_mlp.gate_proj`), or gates and ups of all
(`experts.gate_up_proj`); so does a model. Each form is added to each.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from backends.base import Raw
from engine.errors import UnsupportedArchitecture, WeightsError
from engine.weights.gguf.blocks import dequantize
from engine.weights.lora_pair import LoraPair
from engine.weights.made import computed

_NAME = re.compile(
    r"(?:^|\.)layers\.(\d+)\.(?:.+\.)?(?:(?:experts|switch_mlp|switch_glu)\.(?:(\d+)\.)?(\w+)"
    r"|block_sparse_moe\.(input_linear|output_linear))$"
)
_PARTS = {
    **dict.fromkeys(("gate_proj", "w1"), "gate"),
    **dict.fromkeys(("up_proj", "w3"), "up"),
    **dict.fromkeys(("down_proj", "w2", "output_linear"), "down"),
    **dict.fromkeys(("gate_up_proj", "input_linear"), "gate_up"),
}
_SIDES = {"gate": ("gate", "gate_up"), "up": ("up", "gate_up"), "gate_up": ("gate", "up", "gate_up"), "down": ("down",)}
# The parameters of a module of experts, in the order in which transformers' classes define them
_PARAMETERS = ("gate_up_proj", "gate_up_proj_bias", "up_proj", "down_proj", "down_proj_bias")


@dataclass(frozen=True)
class ExpertMatrix:
    """Which matrix of a mixture a name means."""

    layer: int
    expert: int | None  # None: all of them
    part: str  # gate, up, gate_up or down


def expert_matrix(name: str) -> ExpertMatrix | None:
    """What the name of a matrix, or of an adapter's module, means; None where it is no expert's."""
    found = _NAME.search(name)
    part = _PARTS.get(found[3] or found[4]) if found else None
    if found is None or part is None:
        return None
    return ExpertMatrix(int(found[1]), int(found[2]) if found[2] else None, part)


def expert_count(config: Mapping[str, Any]) -> int | None:
    names = ("num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts")
    return next((n for name in names if isinstance(n := config.get(name), int)), None)


class ExpertLora:
    """What one adapter adds to the experts of a model."""

    def __init__(self, where: str, pairs: Mapping[str, LoraPair], config: Mapping[str, Any]) -> None:
        self._where = where
        self._alternating = config.get("model_type") == "gpt_oss"  # gates and ups in one tensor, row by row in turn
        self._count = expert_count(config)
        self._places: dict[tuple[int, str], list[tuple[str, ExpertMatrix, LoraPair]]] = {}
        self._hidden, self._older = config.get("hidden_size"), False
        self._recent: dict[int, list[LoraPair]] = {}  # split pairs by identity: a model asks for expert after expert
        for module, pair in pairs.items():
            if (place := expert_matrix(module)) is not None:
                self._places.setdefault((place.layer, place.part), []).append((module, place, pair))
                self._older = self._older or (place.expert is None and self._is_swapped(place, pair))

    def _is_swapped(self, place: ExpertMatrix, pair: LoraPair) -> bool:
        """Whether inputs and outputs are each other's: older releases of PEFT took the axes of transformers' experts in this order."""
        wide, narrow = pair.shape if place.part == "down" else pair.shape[::-1]
        return narrow == self._hidden != wide

    def touches(self, place: ExpertMatrix) -> bool:
        """Whether it changes any expert on this side of this layer: experts of one side are kept in one form."""
        parts = ("down",) if place.part == "down" else ("gate", "up", "gate_up")
        return any((place.layer, part) in self._places for part in parts)

    def changes(self, place: ExpertMatrix, shape: Sequence[int]) -> list[_Change]:
        """What it adds to a matrix of this shape; the last two axes are outputs and inputs. Raises for what does not fit."""
        return list(self._changes(place, shape))

    def _changes(self, place: ExpertMatrix, shape: Sequence[int]) -> Iterator[_Change]:
        *experts, out, inp = shape
        count = experts[0] if experts else self._count
        for part in _SIDES[place.part]:
            rows = out if part == place.part else 2 * out if part == "gate_up" else out // 2
            for module, at, pair in self._places.get((place.layer, part), ()):
                self._check(module, at, pair, (rows, inp), count)
                if None not in (at.expert, place.expert) and at.expert != place.expert:
                    continue
                target, source = slice(None), slice(None)
                if part != place.part and place.part == "gate_up":
                    target = self._half(part, rows)
                elif part != place.part:
                    source = self._half(place.part, out)
                swapped = pair.shape != (rows, inp) or (
                    rows == inp and self._older
                )  # a square matrix does not say so itself
                pairs = partial(self._split, at, pair)
                yield _Change(module, pairs, place.expert, swapped, target, source)

    def _check(self, module: str, at: ExpertMatrix, pair: LoraPair, shape: tuple[int, int], count: int | None) -> None:
        unfit = f"The adapter {self._where} does not fit this model: "
        if pair.magnitude is not None:
            raise UnsupportedArchitecture(
                f"The adapter {self._where} has DoRA for the experts {module:.200}, which Grus does not compute."
            )
        if count is not None and (pair.experts != count if at.expert is None else at.expert >= count):
            made = pair.experts if at.expert is None else at.expert + 1
            raise WeightsError(f"{unfit}{module:.200} is made for {made} experts, the model has {count}.")
        if pair.shape not in (shape, shape[::-1]):
            raise WeightsError(
                f"{unfit}for {module:.200} it is made for {list(pair.shape)}, the model has {list(shape)}."
            )

    def _split(self, at: ExpertMatrix, pair: LoraPair) -> dict[int, LoraPair]:
        """By expert."""
        if at.expert is not None:
            return {at.expert: pair}
        found = self._recent.pop(id(pair), None) or pair.split()
        self._recent[id(pair)] = found
        if len(self._recent) > 3:
            del self._recent[next(iter(self._recent))]
        return dict(enumerate(found))

    def _half(self, part: str, size: int) -> slice:
        """The rows of gates or of ups where both are one matrix."""
        if self._alternating:
            return slice(part == "up", None, 2)
        return slice(size) if part == "gate" else slice(size, None)


@dataclass(frozen=True)
class _Change:
    """What one pair of an adapter adds to one matrix."""

    module: str
    pairs: Callable[[], dict[int, LoraPair]]
    expert: int | None  # of the matrix; None: it has all of them
    swapped: bool
    target: slice  # rows
    source: slice

    def add(self, whole: np.ndarray) -> None:
        """To an f32 matrix `[out, in]`, or `[experts, out, in]`, in place."""
        pairs = self.pairs()
        matrices = dict(enumerate(whole)) if self.expert is None else {self.expert: whole}
        for expert in pairs.keys() & matrices.keys():
            delta = pairs[expert].delta()
            matrices[expert][self.target] += (delta.T if self.swapped else delta)[self.source]


# -- PEFT's adapters of whole parameters (`target_parameters`)


def peft_parameter(module: str, targets: Sequence[str]) -> str:
    """The matrix that the module `...experts`, or `...experts.base_layer`, of an adapter's file changes; empty where that cannot be
    told. PEFT puts one wrapper around another for each parameter of a module, the first of them innermost."""
    stem = module
    while stem.endswith(".base_layer"):
        stem = stem.removesuffix(".base_layer")
    depth = (len(module) - len(stem)) // len(".base_layer")
    wanted = [name for name in _PARAMETERS if any(f".{stem}.{name}".endswith(f".{target}") for target in targets)]
    return f"{stem}.{wanted[-1 - depth]}" if depth < len(wanted) else ""


def peft_experts(a: Raw, b: Raw, rank: int) -> tuple[Raw, Raw]:
    """`[experts * rank, in]` and `[out, rank * experts]` as `[experts, rank, in]` and `[experts, out, rank]`."""
    count, (_, inp), out = a.shape[0] // rank, a.shape, b.shape[0]
    lowered = computed(a, (count, rank, inp), lambda: dequantize(a).reshape(count, rank, inp))
    raised = computed(b, (count, out, rank), lambda: dequantize(b).reshape(out, rank, count).transpose(2, 0, 1))
    return lowered, raised
