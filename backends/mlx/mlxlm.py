"""Other architectures through mlx-lm's own model classes: text only, one sequence at a time.

Every slot owns a list of mlx-lm's caches. A step runs its sequences one after the other and samples them together. Inputs that
mlx-lm's models do not support (embeddings, given positions) raise an error that names them. mlx-lm is not patched.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import mlx.core as mx
from mlx.utils import tree_flatten
from mlx_lm.models import cache as lm_cache
from mlx_lm.utils import MODEL_REMAPPING, load_model

from backends.base import BackendMissing, Foreign, Profiler, Sampling, Segment, unprofiled
from backends.kv_cache import capacity_class
from backends.library_cache import LibraryKVCache
from backends.mlx.runner import MlxPendingStep, NextInputs, collected
from backends.plan import PackedSegment, StepPlan, checkpoint_drafts, make_plan

Caches = list[Any]
# What mlx-lm raises for a config without a field, for tensors that are missing, and for files that are not there.
UNREADABLE = (ValueError, TypeError, KeyError, AttributeError, OSError, RuntimeError)
PROBE = 256  # mlx-lm's caches grow in steps of this many tokens


class MlxLmModel:
    """A model of mlx-lm, with its vocabulary and memory use, found without running it."""

    def __init__(self, net: Any, config: dict[str, Any]) -> None:
        self.net = net
        self.config = config
        first = mx.zeros((1, 1), mx.int32)
        self.vocab = int(self.net(first, cache=self.caches()).shape[-1])

    def caches(self) -> Caches:
        return lm_cache.make_prompt_cache(self.net)

    def bytes_at(self, n: int) -> int:
        """Bytes that `n` tokens take, from the shapes of a graph that is never run."""
        caches = self.caches()
        self.net(mx.zeros((1, n), mx.int32), cache=caches)
        return sum(c.nbytes for c in caches)


def supports(config: Mapping[str, Any]) -> bool:
    """Whether mlx-lm implements this config's architecture."""
    kind = str(config.get("model_type"))
    module = f"mlx_lm.models.{MODEL_REMAPPING.get(kind, kind)}"
    try:
        return hasattr(import_module(module), "ModelArgs")
    except ImportError:
        return False


def load(folder: Path, budget: int, dtype: mx.Dtype) -> Foreign:
    """The checkpoint in `folder`. Raises BackendMissing where mlx-lm does not support its architecture or
    cannot read its files."""
    try:
        net, config = load_model(folder, lazy=True)
        if dtype == mx.float32:
            net.set_dtype(dtype)  # widening is exact; otherwise a model stays as its file has it
        mx.eval(net.parameters())
        model = MlxLmModel(net, config)
    except UNREADABLE as error:
        message = str(error).strip() or type(error).__name__
        raise BackendMissing(f"mlx-lm cannot load this model: {message.splitlines()[0]}") from error
    kv = MlxLmKVCache(model, budget)
    return Foreign(model, kv, MlxLmRunner(model, kv))


class MlxLmKVCache(LibraryKVCache[Caches]):
    """Lists of mlx-lm's caches."""

    library = "mlx-lm"

    def __init__(self, model: MlxLmModel, budget: int) -> None:
        super().__init__(budget)
        self._model = model
        self._fixed = model.bytes_at(1)
        self._step_bytes = model.bytes_at(PROBE + 1) - self._fixed
        self._fixed = max(0, self._fixed - self._step_bytes)

    @property
    def trimmable(self) -> bool:
        return lm_cache.can_trim_prompt_cache(self._model.caches())

    def bytes_for(self, n: int) -> int:
        return self._fixed + self._step_bytes * capacity_class(n) // PROBE

    def make(self) -> Caches:
        return self._model.caches()

    def copied(self, caches: Caches) -> Caches:
        kept = copy.deepcopy(caches)
        mx.eval(_arrays(kept))
        return kept

    def trim(self, caches: Caches, length: int, count: int) -> None:
        lm_cache.trim_prompt_cache(caches, count)

    def nbytes(self, caches: Caches) -> int:
        return sum(c.nbytes for c in caches)

    def arrays(self) -> list[mx.array]:
        return [a for caches in self._caches.values() for a in _arrays(caches)]


def _arrays(caches: Caches) -> list[mx.array]:
    return [a for _, a in tree_flatten([c.state for c in caches]) if isinstance(a, mx.array)]


class MlxLmRunner:
    """Implements `backends.base.Runner`."""

    def __init__(self, model: MlxLmModel, kv: MlxLmKVCache) -> None:
        self.span: Profiler = unprofiled
        self._model = model
        self._kv = kv
        self._next_inputs: NextInputs = WeakKeyDictionary()
        self._issued: MlxPendingStep | None = None

    def run(self, segments: Sequence[Segment]) -> MlxPendingStep:
        plan = make_plan(segments)
        checkpoint_drafts(self._kv, segments)
        for packed in plan.segments:
            _refuse_what_mlx_lm_lacks(packed.segment)
        inputs = [self._ids(plan, packed) for packed in plan.segments]
        outs = [
            self._model.net(ids[None], cache=self._kv.caches(packed.slot))[0]
            for ids, packed in zip(inputs, plan.segments)
        ]
        for packed in plan.segments:
            packed.slot.length += len(packed)
        pending = MlxPendingStep(plan, self._kv, self._next_inputs, self.run)
        if len(plan.picked):
            logits = [out[rows] for out, rows in zip(outs, _rows_of_each(plan)) if len(rows)]
            pending.sample(logits[0] if len(logits) == 1 else mx.concatenate(logits))
        pending.issue(self._issued, self._kv.arrays())
        self._issued = pending
        return pending

    def _ids(self, plan: StepPlan, packed: PackedSegment) -> mx.array:
        if packed.segment.ids is not None:
            return mx.array(plan.ids[packed.start : packed.stop])
        if packed.slot not in self._next_inputs:
            raise ValueError(f"slot {packed.slot.id} has no sampled token to continue from")
        return collected([self._next_inputs[packed.slot]])

    def warm(self) -> None:
        slot = self._kv.open(8)
        if slot is None:
            return
        try:
            for ids in ([0, 0], [0]):
                self.run([Segment(slot, ids=ids, sample=Sampling())]).read()
        finally:
            self._kv.close(slot)


def _refuse_what_mlx_lm_lacks(segment: Segment) -> None:
    for what, given in (
        ("embeddings", segment.embeds),
        ("additions to its inputs", segment.add),
        ("positions", segment.pos),
    ):
        if given is not None:
            raise ValueError(f"A model that runs through mlx-lm takes no {what}: it reads text only.")
    if segment.hidden:
        raise ValueError("A model that runs through mlx-lm gives out no hidden states.")


def _rows_of_each(plan: StepPlan) -> list[mx.array]:
    """For each segment, its picked rows counted from its start."""
    return [mx.array(plan.picked[(plan.picked >= s.start) & (plan.picked < s.stop)] - s.start) for s in plan.segments]
