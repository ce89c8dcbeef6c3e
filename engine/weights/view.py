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
from engine.weights.float_formats import outputs_first
from engine.weights.gguf.source import as_dense
from engine.weights.hosted import hosted, hosted_mixture
from engine.weights.input_order import InputOrder, ordered_linear
from engine.weights.made import shaped
from engine.weights.placeholder import Placeholder
from engine.weights.portions import ALONE, Heads, Portion, Rank, cut, cut_axis, cut_first, unit_of
from engine.weights.problems import Problem, describe
from engine.weights.quantization import Quantization
from engine.weights.ranked import SplitNorm, SplitVocabulary, summed, summed_mixture
from engine.weights.safetensors import forget_pages
from engine.weights.source import Source, SourceMatrix, SourceOver, Tensors, raws_of, split_experts, wrong

M = TypeVar("M")

# Constants that old exports saved along with the weights; every model computes them itself.
_ALWAYS_IGNORED = (r"\.rotary_emb\.inv_freq$",)

# Problems after which a dry pass ends: they show what is wrong, and a config may ask for any number of tensors.
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
    rank_bytes: int = 0  # of `weight_bytes`, what one rank of tensor parallelism keeps
    layer_bytes: dict[int, int] = field(default_factory=dict)  # matrices of each layer
    layer_expert_bytes: dict[int, int] = field(default_factory=dict)  # of these, its experts
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


@dataclass(frozen=True)
class HostPart:
    """Matrices that a CPU multiplies beside a GPU: all of the first `layers`, and the experts of the first `experts` layers. Attention,
    norms and sequences' memory stay on the GPU."""

    backend: Backend | None
    source: Source  # as that backend takes it
    layers: int = 0
    experts: int = 0


class _Pass:
    """One run of a model's constructor: what all its views share."""

    def __init__(
        self,
        source: Source,
        backend: Backend | None,
        adapters: Adapters | None = None,
        rank: Rank = ALONE,
        host: HostPart | None = None,
    ) -> None:
        self.source = source
        self.backend = backend
        self.adapters = adapters
        self.rank = rank
        self.host = host
        self.partial: list[Linear] = []  # experts that each rank has some columns of
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

    def use(self, names: Sequence[str], raws: Sequence[Raw], count: int, dense: bool, share: float = 1.0) -> None:
        """Count what is used, once however often it is asked for (tied embeddings). `share`: of it that this rank keeps."""
        if self.used.isdisjoint(names):
            nbytes = sum(raw.nbytes for raw in raws)
            self.survey.rank_bytes += int(nbytes * share)
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

    def __init__(self, shared: _Pass, prefix: str = "", rank: Rank | None = None, layer: int | None = None) -> None:
        self._pass = shared
        self._prefix = prefix
        self._layer = layer
        self.rank = shared.rank if rank is None else rank  # what is split among ranks asks it for its share

    @property
    def dry(self) -> bool:
        """Nothing is built in this pass; arrays, linears and the backend are stand-ins that absorb any use."""
        return self._pass.backend is None

    @property
    def backend(self) -> Backend:
        return self._pass.backend or cast(Backend, Placeholder())

    def sub(self, name: str) -> View:
        return View(self._pass, f"{self._prefix}{name}.", self.rank, self._layer)

    def layer(self, index: int) -> View:
        """What belongs to one of a decoder's layers."""
        return View(self._pass, f"{self._prefix}layers.{index}.", self.rank, index)

    def _host(self, experts: bool = False) -> HostPart | None:
        """Where the CPU multiplies this layer's matrices, or its experts."""
        host, layer = self._pass.host, self._layer
        if host is None or layer is None:
            return None
        return host if layer < host.layers or (experts and layer < host.experts) else None

    def unsplit(self) -> View:
        """The same, for what every rank has the whole of."""
        return View(self._pass, self._prefix, ALONE, self._layer)

    def has(self, name: str) -> bool:
        return self._prefix + name in self._pass.source.names

    def shape(self, name: str) -> tuple[int, ...] | None:
        """A tensor's shape as it is stored, for models whose exports differ; None where there is no such tensor."""
        raw = self._pass.source.raw(self._prefix + name)
        return raw.shape if raw else None

    def ignore(self, *patterns: str) -> None:
        """Tensors that may be there unused: expressions searched in full names (anchor with ^ and $)."""
        self._pass.ignored += [re.compile(pattern) for pattern in patterns]

    def heads(self, heads: int, kv_heads: int) -> Heads:
        return self.rank.heads(heads, kv_heads)

    def width(self, total: int, matrix: str, out: int) -> Portion:
        """This rank's share of the numbers inside of an MLP, which `matrix` brings back to `out`."""
        if self.rank.count == 1:
            return Portion.all_of(total)
        found = self._pass.source.matrix(self._prefix + matrix, (out, total)).weight
        return self._shared_width(total, 1 if found is None else unit_of(found))

    def _shared_width(self, total: int, unit: int) -> Portion:
        return self.rank.portion(total, unit if total % unit == 0 and total // unit >= self.rank.count else 1)

    def linear(
        self,
        *parts: tuple[str, int],
        inp: int,
        bias: bool | Sequence[bool] = False,
        rows: Sequence[Portion] | None = None,
        columns: Portion | None = None,
    ) -> Linear:
        """One linear over `(name, outputs)` parts that share their input, merged along the output. `bias`: of all, or of each.
        `rows`: of each part, this rank's; `columns`: of all of them, and results are summed over the ranks."""
        taken = [None if part.whole else part for part in rows] if rows is not None else [None] * len(parts)
        columns = None if columns is None or columns.whole else columns
        whole = columns is None and not any(taken)
        biased = [bias] * len(parts) if isinstance(bias, bool) else bias
        weights = [self._ordered(name, (out, inp), part, columns) for (name, out), part in zip(parts, taken)]
        biases = [self._bias(name, out, part) if has else None for (name, out), part, has in zip(parts, taken, biased)]
        if columns is not None and self.rank.index:
            biases = [None] * len(parts)  # the first rank adds it to the sum
        if self.dry:
            sizes = (out if part is None else part.size for (_, out), part in zip(parts, taken))
            linear = _stand_in(sum(sizes), inp if columns is None else columns.size)
        else:
            host = self._host()
            if host is not None and host.backend is not None:
                linear = hosted(self.backend.ops, host.backend.ops, ordered_linear(host.backend, weights, biases))
            else:
                linear = ordered_linear(self.backend, weights, biases)
            plain = [weight.weight if isinstance(weight, InputOrder) else weight for weight in weights]
            forget_pages([raw for weight in plain for raw in raws_of(weight)])
        if self._pass.adapters is not None and whole:
            return self._pass.adapters.wrap(linear, [(self._prefix + name, out) for name, out in parts])
        return linear if columns is None else summed(self.backend.ops, linear)

    def _bias(self, name: str, out: int, rows: Portion | None) -> Raw | None:
        raw = self._raw(f"{name}.bias", (out,))
        return raw if raw is None or rows is None else cut_axis(raw, rows)

    def embedding(self, name: str, rows: int, dim: int, is_head: bool = False, whole: bool = False) -> Linear:
        """`is_head`: its rows are multiplied as well, not only looked up. `whole`: not split, for a part that the first rank computes
        alone."""
        before = self._pass.survey.weight_bytes
        linear = self.linear((name, rows), inp=dim) if whole else self.vocabulary(name, rows, dim)
        if not is_head:
            self._pass.survey.unread_bytes += self._pass.survey.weight_bytes - before
        return linear

    def vocabulary(self, name: str, rows: int, dim: int) -> Linear:
        """A matrix with a row for each token: each rank has some of them."""
        if self.rank.count == 1:
            return self.linear((name, rows), inp=dim)
        shares = [Rank(i, self.rank.count).portion(rows, what="tokens") for i in range(self.rank.count)]
        part = self.linear((name, rows), inp=dim, rows=[shares[self.rank.index]])
        return part if self.dry else SplitVocabulary(self.backend, part, shares, self.rank.index)

    def flattened(self, name: str, shape: tuple[int, ...], bias: bool = False, quantized: bool = False) -> Linear:
        """A plain tensor of more axes as a linear over all but the first: a convolution whose kernels do not overlap. `quantized`: where
        matrices are, as they are."""
        raw = self._raw(f"{name}.weight", shape)
        added = self._raw(f"{name}.bias", shape[:1]) if bias else None
        return self._plain(raw, (shape[0], math.prod(shape[1:])), added, self._prefix + name if quantized else "")

    def matrix(self, name: str, rows: int, columns: int, quantized: bool = False) -> Linear:
        """A plain tensor by its whole name: learned relative positions, the gates of a recurrence. `quantized`: as in `flattened`."""
        return self._plain(
            self._raw(name, (rows, columns)), (rows, columns), None, self._prefix + name if quantized else ""
        )

    def _plain(self, raw: Raw | None, shape: tuple[int, int], bias: Raw | None, stem: str) -> Linear:
        if self.dry or raw is None:
            return _stand_in(*shape)
        weight: Weight = Dense(shaped(raw, shape))
        if stem and isinstance(self._pass.source, SourceOver):
            weight = self._pass.source.in_place_of(SourceMatrix(weight), stem, shape).weight or weight
        linear = self.backend.linear([weight], [bias])
        forget_pages([raw])
        return linear

    def transposed(self, name: str, inp: int, out: int) -> Linear:
        """A plain tensor `[inp, out]` as a linear."""
        raw = self._raw(name, (inp, out))
        if self.dry or raw is None:
            return _stand_in(out, inp)
        turned = outputs_first(shaped(raw, (1, inp, out))).data
        linear = self.backend.linear([Dense(shaped(turned, (out, inp)))], [None])
        forget_pages([raw])
        return linear

    def experts_width(self, total: int, matrix: str, count: int, out: int) -> Portion:
        """As `width`, inside of each expert. `matrix`: as in `experts`, or the name of the tensor that holds all of them."""
        if self.rank.count == 1:
            return Portion.all_of(total)
        source, stacked = self._pass.source, matrix.replace("experts.{}", "switch_mlp")
        one = "{}" in matrix and not self.has(f"{stacked}.weight")
        name, shape = (matrix.format(0), (out, total)) if one else (stacked, (count, out, total))
        found = source.matrix(self._prefix + name, shape).weight
        if found is None and not one:  # as OpenAI's files hold them
            found = source.matrix(self._prefix + name, shape, True).weight
        return self._shared_width(total, 1 if found is None else unit_of(found))

    def experts(
        self,
        parts: Sequence[tuple[str, int]],
        count: int,
        inp: int,
        rows: Portion | None = None,
        columns: Portion | None = None,
    ) -> Linear:
        """`parts` are `(name, outputs)` with `{}` for the expert's number, as in `experts.{}.gate_proj`. `rows` and `columns`: this
        rank's, of each part.

        Where a checkpoint has no such tensors but MLX's stacked ones (`switch_mlp.gate_proj`), those are taken.
        """
        before = self._pass.survey.weight_bytes
        stacked = [(name.replace("experts.{}", "switch_mlp"), out) for name, out in parts]
        outputs = sum(out if rows is None else rows.size for _, out in parts)
        if any(self.has(f"{name}.weight") for name, _ in stacked):
            whole = [self._matrix(name, (count, out, inp), rows=rows, columns=columns) for name, out in stacked]
            if self.dry:
                return self._counted_experts(before, columns, count, outputs, inp)
            if len(whole) == 1 or (all(isinstance(weight, Blocks) for weight in whole) and self.backend.experts_stay):
                groups = [whole]
            else:
                groups = [list(row) for row in zip(*map(split_experts, whole))]
        else:
            groups = [
                [self._matrix(name.format(i), (out, inp), rows=rows, columns=columns) for name, out in parts]
                for i in range(count)
            ]
            if self.dry:
                return self._counted_experts(before, columns, count, outputs, inp)
        linear = self._experts_backend.experts(groups)
        forget_pages([raw for group in groups for weight in group for raw in raws_of(weight)])
        return self._noted(linear, columns)

    def whole_experts(
        self,
        name: str,
        count: int,
        out: int,
        inp: int,
        inputs_first: bool = False,
        rows: Portion | None = None,
        columns: Portion | None = None,
    ) -> Linear:
        """All experts of one matrix, from tensors that hold all of them. `inputs_first`: see `Source.matrix`."""
        before = self._pass.survey.weight_bytes
        weight = self._matrix(name, (count, out, inp), inputs_first, rows, columns)
        if self.dry:
            return self._counted_experts(before, columns, count, out if rows is None else rows.size, inp)
        linear = self._experts_backend.experts([[weight]])
        forget_pages(raws_of(weight))
        return self._noted(linear, columns)

    @property
    def _experts_backend(self) -> Backend:
        host = self._host(experts=True)
        return host.backend if host is not None and host.backend is not None else self.backend

    def _noted(self, linear: Linear, columns: Portion | None) -> Linear:
        if columns is not None and not columns.whole:
            self._pass.partial.append(linear)
        return linear

    def _counted_experts(self, before: int, columns: Portion | None, count: int, out: int, inp: int) -> Linear:
        added = self._pass.survey.weight_bytes - before
        self._pass.expert_bytes += added
        if self._layer is not None:
            known = self._pass.survey.layer_expert_bytes
            known[self._layer] = known.get(self._layer, 0) + added
        return _stand_in(count, out, inp if columns is None else columns.size)

    def mixture(self, parts: MixtureParts) -> Mixture:
        """The experts made since the last mixture, with their router's rule."""
        if not self.dry:
            host = self._host(experts=True)
            if host is not None and host.backend is not None:
                return hosted_mixture(self.backend.ops, host.backend, parts)
            if not any(linear is parts.down for linear in self._pass.partial):
                return self.backend.mixture(parts)
            if self.rank.index:  # the first rank adds it to the sum
                parts = replace(parts, down_bias=None)
            return summed_mixture(self.backend.ops, self.backend.mixture(parts))
        chosen, count = parts.rule.chosen, parts.up.shape[0]
        self._pass.survey.unread_bytes += self._pass.expert_bytes * (count - chosen) // count
        self._pass.expert_bytes = 0
        return cast(Mixture, Placeholder())

    def head_matrices(
        self, name: str, heads: int, out: int, inp: int, joined: bool = False, part: Portion | None = None
    ) -> HeadMatrices:
        """A matrix for each head; `joined`: heads lie one behind the other along the outputs. `part`: this rank's heads."""
        part = part or Portion.all_of(heads)
        if joined:
            found = self._pass.source.matrix(self._prefix + name, (heads * out, inp))
            weight = self._used(found, (heads * out, inp), rows=part.times(out))
        else:
            found = self._pass.source.matrix(self._prefix + name, (heads, out, inp))
            weight = self._used(found, (heads, out, inp), heads=part)
        heads = part.size
        if self.dry:
            return cast(HeadMatrices, Placeholder((heads, out, inp)))
        plain = as_dense(weight) if isinstance(weight, Blocks) else weight
        matrices = self.backend.head_matrices(weight, heads, plain)
        forget_pages(raws_of(weight))
        return matrices

    def norm(self, name: str, dim: int, plus: float = 0.0, part: Portion | None = None) -> Array:
        """`NAME.weight`; with `plus`, the sum is made in f32 and then rounded to the compute dtype."""
        if not plus or self.dry:
            return self.tensor(f"{name}.weight", (dim,), part=part)
        wide = self.tensor(f"{name}.weight", (dim,), "f32")
        return self.backend.ops.cast(wide + plus, self.backend.dtype)

    def wide_norm(self, name: str, part: Portion, copies: int = 1) -> Callable[[Array, float], Array]:
        """An RMS norm over an axis that ranks have parts of, some of which `copies` of them have: to be called with an epsilon."""
        weight, ops = self.norm(name, part.total, part=part), self.backend.ops
        if part.whole and copies == 1:
            return lambda x, eps: ops.rms_norm(x, weight, eps)
        return SplitNorm(ops, self.backend.dtype, weight, part.total, copies)

    def depthwise(self, name: str, channels: int, kernel: int, part: Portion | None = None) -> Array:
        """A depthwise convolution's weight `[channels, kernel]`. Files have an axis of one before the kernel (torch), behind it (MLX)
        or none (GGUF)."""
        spellings = (channels, 1, kernel), (channels, kernel, 1), (channels, kernel)
        stored = self.shape(name)
        made = self.tensor(name, stored if stored in spellings else spellings[0], part=part)
        return made.reshape(channels if part is None else part.size, kernel)

    def tensor(
        self,
        name: str,
        shape: tuple[int, ...],
        dtype: DType | None = None,
        part: Portion | None = None,
        axis: int = 0,
    ) -> Array:
        """A tensor by its whole name below this prefix. `part`: this rank's indices of an axis."""
        raw = self._raw(name, shape)
        if self.dry or raw is None:
            return Placeholder(shape)
        array = self.backend.tensor(raw if part is None else cut_axis(raw, part, axis), dtype)
        forget_pages([raw])
        return array

    def _ordered(
        self, name: str, shape: tuple[int, ...], rows: Portion | None = None, columns: Portion | None = None
    ) -> Weight | InputOrder:
        """A matrix of a linear, which can put its inputs in order."""
        found = self._matrices().matrix(self._prefix + name, shape)
        if found.ordered is None or any(part is not None and not part.whole for part in (rows, columns)):
            return self._used(found, shape, rows, columns)
        self._used(replace(found, weight=found.ordered.weight), shape)
        return found.ordered

    def _matrix(
        self,
        name: str,
        shape: tuple[int, ...],
        inputs_first: bool = False,
        rows: Portion | None = None,
        columns: Portion | None = None,
    ) -> Weight:
        """A matrix of experts."""
        found = self._matrices(experts=True).matrix(self._prefix + name, shape, inputs_first)
        return self._used(found, shape, rows, columns)

    def _matrices(self, experts: bool = False) -> Source:
        host = self._host(experts)
        return self._pass.source if host is None else host.source

    def _used(
        self,
        found: SourceMatrix,
        shape: tuple[int, ...],
        rows: Portion | None = None,
        columns: Portion | None = None,
        heads: Portion | None = None,
    ) -> Weight:
        """This rank's part of a matrix that was found."""
        for problem in found.problems:
            self._pass.report(problem)
        if found.weight is None:
            self._pass.used.update(found.tensors)
            return cast(Weight, Placeholder(shape))
        dense = isinstance(found.weight, Dense)
        share = math.prod(part.size / part.total for part in (rows, columns, heads) if part is not None)
        before = self._pass.survey.weight_bytes
        self._pass.use(found.tensors, raws_of(found.weight), math.prod(found.weight.shape), dense, share)
        if self._layer is not None:
            added, known = self._pass.survey.weight_bytes - before, self._pass.survey.layer_bytes
            known[self._layer] = known.get(self._layer, 0) + added
        weight = found.weight if heads is None else cut_first(found.weight, heads)
        return cut(weight, rows, columns)

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
    rank: Rank = ALONE,
    host: HostPart | None = None,
) -> M:
    """Build a model. `rename` turns a name in the file into the name that the model uses. `adapters`: they may change its
    linears. `rank`: whose share of it; `host`: what of it lies beside the CPU."""
    source = _source(checkpoint, rename)
    _dry(make, source, rank=rank).check()
    return make(View(_Pass(source, backend, adapters, rank, host)))


def survey(
    make: Callable[[View], Any],
    checkpoint: Checkpoint | Source,
    *,
    rename: Callable[[str], str] | None = None,
    adapters: Adapters | None = None,
    rank: Rank = ALONE,
) -> Survey:
    """The dry pass alone: sizes, and all problems (not raised). `adapters` receives the matrices that adapters can change."""
    return _dry(make, _source(checkpoint, rename), adapters, rank)


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


def _dry(make: Callable[[View], Any], source: Source, adapters: Adapters | None = None, rank: Rank = ALONE) -> Survey:
    shared = _Pass(source, None, adapters, rank)
    make(View(shared))
    return shared.finish()


def _source(checkpoint: Checkpoint | Source, rename: Callable[[str], str] | None) -> Source:
    if isinstance(checkpoint, Checkpoint):
        return checkpoint.renamed(rename)
    return checkpoint


def _stand_in(*shape: int) -> Linear:
    return cast(Linear, Placeholder(shape))
