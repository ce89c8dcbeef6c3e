"""The view of a checkpoint that a model is built from.

A model's constructor runs twice on the same code. The dry pass makes nothing and collects every problem: tensors that
are missing, of the wrong shape or dtype, or that nobody asked for. Only when there are none does the real pass hand
the bytes to a backend, one linear at a time, so that loading never holds more than the weights and one tensor.

Knows names, shapes and forms of storage. Does not know any architecture, nor how a backend keeps what it is given.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, cast

from backends.base import (
    Adapters,
    Array,
    Backend,
    Blocks,
    Dense,
    DType,
    HeadMatrices,
    Linear,
    Mixture,
    MixtureParts,
    Raw,
    Weight,
)
from engine.errors import WeightsError
from engine.weights.checkpoint import Checkpoint
from engine.weights.gguf.source import as_dense
from engine.weights.input_order import InputOrder, ordered_linear
from engine.weights.placeholder import Placeholder
from engine.weights.problems import Problem, describe
from engine.weights.quantization import Quantization
from engine.weights.safetensors import forget_pages
from engine.weights.source import Source, SourceMatrix, Tensors, raws_of, split_experts, wrong

M = TypeVar("M")

# Constants that old exports saved along with the weights; every model computes them itself.
_ALWAYS_IGNORED = (r"\.rotary_emb\.inv_freq$",)

# Problems after which a dry pass ends: they tell what is wrong, and a config may ask for any number of tensors.
_ENOUGH = 1 << 16


@dataclass
class Survey:
    """What a dry pass found."""

    where: str
    problems: list[Problem] = field(default_factory=list)
    parameters: int = 0  # logical: a packed matrix counts its weights, not its words
    weight_bytes: int = 0  # as stored
    dense_parameters: int = 0  # of `parameters`, those stored as plain floats
    packed_bytes: int = 0  # of `weight_bytes`, those of quantized matrices
    unread_bytes: int = (
        0  # of `weight_bytes`, what one token does not read: experts that it does not choose, embeddings
    )

    def check(self) -> None:
        if self.problems:
            raise WeightsError(describe(self.where, self.problems))

    def memory(self, dtype: DType, as_stored: bool = False) -> int:
        """Bytes that the weights take once loaded with the compute dtype `dtype`; `as_stored`: or smaller, as they lie."""
        dense = self.dense_parameters * (4 if dtype == "f32" else 2)
        return self.packed_bytes + (min(dense, self.weight_bytes - self.packed_bytes) if as_stored else dense)


class _Pass:
    """One run of a model's constructor: what all its views share."""

    def __init__(self, source: Source, backend: Backend | None, adapters: Adapters | None = None) -> None:
        self.source = source
        self.backend = backend
        self.adapters = adapters
        self.survey = Survey(source.where)
        self.problems: dict[Problem, None] = {}  # in order, each once
        self.used: set[str] = set()
        self.ignored = [re.compile(pattern) for pattern in _ALWAYS_IGNORED]
        self.expert_bytes = 0  # of experts that no mixture has yet

    def report(self, problem: Problem) -> None:
        if self.backend is not None:  # the dry pass found nothing, so this constructor does not ask the same twice
            raise WeightsError(describe(self.source.where, [problem]))
        self.problems[problem] = None
        if len(self.problems) >= _ENOUGH:
            raise WeightsError(describe(self.source.where, list(self.problems)))

    def use(self, names: Sequence[str], raws: Sequence[Raw], count: int, dense: bool) -> None:
        """Count what is used, once however often it is asked for (tied embeddings)."""
        if self.used.isdisjoint(names):
            nbytes = sum(raw.nbytes for raw in raws)
            self.survey.parameters += count
            self.survey.weight_bytes += nbytes
            if dense:
                self.survey.dense_parameters += count
            else:
                self.survey.packed_bytes += nbytes
        self.used.update(names)

    def finish(self) -> Survey:
        for name, original in self.source.names.items():
            if name not in self.used and not any(pattern.search(name) for pattern in self.ignored):
                self.report(Problem("unexpected", original))
        self.survey.problems = list(self.problems)
        return self.survey


class View:
    """A checkpoint's tensors below one prefix."""

    def __init__(self, shared: _Pass, prefix: str = "") -> None:
        self._pass = shared
        self._prefix = prefix

    @property
    def dry(self) -> bool:
        """Nothing is built in this pass; arrays, linears and the backend are stand-ins that absorb any use."""
        return self._pass.backend is None

    @property
    def backend(self) -> Backend:
        return self._pass.backend or cast(Backend, Placeholder())

    def sub(self, name: str) -> View:
        return View(self._pass, f"{self._prefix}{name}.")

    def has(self, name: str) -> bool:
        return self._prefix + name in self._pass.source.names

    def shape(self, name: str) -> tuple[int, ...] | None:
        """A tensor's shape as it is stored, for models whose exports differ; None where there is no such tensor."""
        raw = self._pass.source.raw(self._prefix + name)
        return raw.shape if raw else None

    def ignore(self, *patterns: str) -> None:
        """Tensors that may be there unused: expressions searched in full names (anchor with ^ and $)."""
        self._pass.ignored += [re.compile(pattern) for pattern in patterns]

    def linear(self, *parts: tuple[str, int], inp: int, bias: bool | Sequence[bool] = False) -> Linear:
        """One linear over `(name, outputs)` parts that share their input, merged along the output. `bias`: of all, or of each."""
        weights = [self._ordered(name, (out, inp)) for name, out in parts]
        biased = [bias] * len(parts) if isinstance(bias, bool) else bias
        biases = [self._raw(f"{name}.bias", (out,)) if has else None for (name, out), has in zip(parts, biased)]
        if self.dry:
            linear = _stand_in(sum(out for _, out in parts), inp)
        else:
            linear = ordered_linear(self.backend, weights, biases)
            plain = [weight.weight if isinstance(weight, InputOrder) else weight for weight in weights]
            forget_pages([raw for weight in plain for raw in raws_of(weight)])
        if self._pass.adapters is not None:
            return self._pass.adapters.wrap(linear, [(self._prefix + name, out) for name, out in parts])
        return linear

    def embedding(self, name: str, rows: int, dim: int, is_head: bool = False) -> Linear:
        """`is_head`: its rows are multiplied as well, not only looked up."""
        before = self._pass.survey.weight_bytes
        linear = self.linear((name, rows), inp=dim)
        if not is_head:
            self._pass.survey.unread_bytes += self._pass.survey.weight_bytes - before
        return linear

    def flattened(self, name: str, shape: tuple[int, ...], bias: bool = False) -> Linear:
        """A plain tensor of more axes as a linear over all but the first: a convolution whose kernels do not overlap."""
        raw = self._raw(f"{name}.weight", shape)
        added = self._raw(f"{name}.bias", shape[:1]) if bias else None
        flat = (shape[0], math.prod(shape[1:]))
        if self.dry or raw is None:
            return _stand_in(*flat)
        linear = self.backend.linear([Dense(replace(raw, shape=flat))], [added])
        forget_pages([raw])
        return linear

    def experts(self, parts: Sequence[tuple[str, int]], count: int, inp: int) -> Linear:
        """`parts` are `(name, outputs)` with `{}` for the expert's number, as in `experts.{}.gate_proj`.

        Where a checkpoint has no such tensors but MLX's stacked ones (`switch_mlp.gate_proj`), those are taken.
        """
        before = self._pass.survey.weight_bytes
        stacked = [(name.replace("experts.{}", "switch_mlp"), out) for name, out in parts]
        if any(self.has(f"{name}.weight") for name, _ in stacked):
            whole = [self._matrix(name, (count, out, inp)) for name, out in stacked]
            if self.dry:
                return self._counted_experts(before, count, sum(out for _, out in parts), inp)
            groups = [whole] if len(whole) == 1 else [list(row) for row in zip(*map(split_experts, whole))]
        else:
            groups = [[self._matrix(name.format(i), (out, inp)) for name, out in parts] for i in range(count)]
            if self.dry:
                return self._counted_experts(before, count, sum(out for _, out in parts), inp)
        linear = self.backend.experts(groups)
        forget_pages([raw for group in groups for weight in group for raw in raws_of(weight)])
        return linear

    def whole_experts(self, name: str, count: int, out: int, inp: int, inputs_first: bool = False) -> Linear:
        """All experts of one matrix, from tensors that hold all of them. `inputs_first`: see `Source.matrix`."""
        before = self._pass.survey.weight_bytes
        weight = self._matrix(name, (count, out, inp), inputs_first)
        if self.dry:
            return self._counted_experts(before, count, out, inp)
        linear = self.backend.experts([[weight]])
        forget_pages(raws_of(weight))
        return linear

    def _counted_experts(self, before: int, *shape: int) -> Linear:
        self._pass.expert_bytes += self._pass.survey.weight_bytes - before
        return _stand_in(*shape)

    def mixture(self, parts: MixtureParts) -> Mixture:
        """The experts made since the last mixture, with their router's rule."""
        if not self.dry:
            return self.backend.mixture(parts)
        chosen, count = parts.rule.chosen, parts.up.shape[0]
        self._pass.survey.unread_bytes += self._pass.expert_bytes * (count - chosen) // count
        self._pass.expert_bytes = 0
        return cast(Mixture, Placeholder())

    def head_matrices(self, name: str, heads: int, out: int, inp: int, joined: bool = False) -> HeadMatrices:
        """A matrix for each head; `joined`: heads lie one behind the other along the outputs."""
        weight = self._matrix(name, (heads * out, inp) if joined else (heads, out, inp))
        if self.dry:
            return cast(HeadMatrices, Placeholder((heads, out, inp)))
        plain = as_dense(weight) if isinstance(weight, Blocks) else weight
        matrices = self.backend.head_matrices(weight, heads, plain)
        forget_pages(raws_of(weight))
        return matrices

    def norm(self, name: str, dim: int, plus: float = 0.0) -> Array:
        """`NAME.weight`; with `plus`, the sum is made in f32 and then rounded to the compute dtype."""
        if not plus or self.dry:
            return self.tensor(f"{name}.weight", (dim,))
        wide = self.tensor(f"{name}.weight", (dim,), "f32")
        return self.backend.ops.cast(wide + plus, self.backend.dtype)

    def depthwise(self, name: str, channels: int, kernel: int) -> Array:
        """A depthwise convolution's weight `[channels, kernel]`. Files have an axis of one before the kernel (torch), behind it (MLX)
        or none (GGUF)."""
        spellings = (channels, 1, kernel), (channels, kernel, 1), (channels, kernel)
        stored = self.shape(name)
        return self.tensor(name, stored if stored in spellings else spellings[0]).reshape(channels, kernel)

    def tensor(self, name: str, shape: tuple[int, ...], dtype: DType | None = None) -> Array:
        """A tensor by its whole name below this prefix."""
        raw = self._raw(name, shape)
        if self.dry or raw is None:
            return Placeholder(shape)
        array = self.backend.tensor(raw, dtype)
        forget_pages([raw])
        return array

    def _ordered(self, name: str, shape: tuple[int, ...]) -> Weight | InputOrder:
        """A matrix of a linear, which can put its inputs in order."""
        found = self._pass.source.matrix(self._prefix + name, shape)
        if found.ordered is None:
            return self._used(found, shape)
        self._used(replace(found, weight=found.ordered.weight), shape)
        return found.ordered

    def _matrix(self, name: str, shape: tuple[int, ...], inputs_first: bool = False) -> Weight:
        return self._used(self._pass.source.matrix(self._prefix + name, shape, inputs_first), shape)

    def _used(self, found: SourceMatrix, shape: tuple[int, ...]) -> Weight:
        for problem in found.problems:
            self._pass.report(problem)
        if found.weight is None:
            self._pass.used.update(found.tensors)
            return cast(Weight, Placeholder(shape))
        dense = isinstance(found.weight, Dense)
        self._pass.use(found.tensors, raws_of(found.weight), math.prod(found.weight.shape), dense)
        return found.weight

    def _raw(self, name: str, shape: tuple[int, ...]) -> Raw | None:
        full = self._prefix + name
        raw = self._pass.source.raw(full)
        if raw is None:
            self._pass.report(Problem("missing", full))
            return None
        if problem := wrong(full, raw, shape):
            self._pass.report(problem)
            self._pass.used.add(full)
            return None
        self._pass.use([full], [raw], math.prod(shape), dense=True)
        return raw


def build(
    make: Callable[[View], M],
    checkpoint: Checkpoint | Source,
    backend: Backend,
    *,
    rename: Callable[[str], str] | None = None,
    adapters: Adapters | None = None,
) -> M:
    """Build a model. `rename` turns a name in the file into the name that the model uses. `adapters`: they may change its
    linears."""
    source = _source(checkpoint, rename)
    _dry(make, source).check()
    return make(View(_Pass(source, backend, adapters)))


def survey(
    make: Callable[[View], Any],
    checkpoint: Checkpoint | Source,
    *,
    rename: Callable[[str], str] | None = None,
    adapters: Adapters | None = None,
) -> Survey:
    """The dry pass alone: sizes, and all problems (not raised). `adapters` receives the matrices that adapters can change."""
    return _dry(make, _source(checkpoint, rename), adapters)


def check(
    make: Callable[[View], Any],
    shapes: Mapping[str, tuple[int, ...]],
    *,
    quantization: Quantization | None = None,
    rename: Callable[[str], str] | None = None,
    where: str = "the given shapes",
) -> Survey:
    """The dry pass against names and shapes without any data. Raises for problems; the survey counts as bf16."""
    raws = {}
    for name, shape in shapes.items():
        packed = name.endswith(".weight") and f"{name.removesuffix('.weight')}.scales" in shapes
        nbytes = (4 if packed else 2) * math.prod(shape)
        raws[name] = Raw(name, where, 0, nbytes, "U32" if packed else "BF16", tuple(shape), memoryview(b""))
    result = _dry(make, Tensors(where, raws, quantization, rename))
    result.check()
    return result


def _dry(make: Callable[[View], Any], source: Source, adapters: Adapters | None = None) -> Survey:
    shared = _Pass(source, None, adapters)
    make(View(shared))
    return shared.finish()


def _source(checkpoint: Checkpoint | Source, rename: Callable[[str], str] | None) -> Source:
    if isinstance(checkpoint, Checkpoint):
        return checkpoint.renamed(rename)
    return checkpoint


def _stand_in(*shape: int) -> Linear:
    return cast(Linear, Placeholder(shape))
