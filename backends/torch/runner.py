"""Runs one model on torch step by step: pack, forward, sample, and distribute the results.

`backends.plan` decides order, positions and which rows are sampled. This file builds a step's inputs (ids, embeddings,
additions, the token sampled last), runs the model, and keeps the sampled tokens on the device for the next step, so that
steps can be scheduled asynchronously.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
import torch
from torch import Tensor

from backends.adapters import AdapterRun, Sides, adapters_of, picked_runs, rows_by_adapter
from backends.base import (
    CrossSpec,
    Profiler,
    Sampling,
    Segment,
    SegmentOutput,
    Slot,
    Step,
    TokenModel,
    unprofiled,
)
from backends.kv_cache import SMALLEST_CAPACITY
from backends.plan import HostSamples, PlannedStep, StepPlan, checkpoint_drafts, make_plan, settle_drafts
from backends.torch.cache import TorchCache
from backends.torch.cuda_graphs import DecodeGraphs
from backends.torch.decode_step import DecodeSteps, FinishedStep, Settle, decode_steps
from backends.torch.greedy_head import GREEDY_TOKENS, GreedyHead, greedy_head
from backends.torch.kernels import library
from backends.torch.kv_cache import TorchKVCache
from backends.torch.ops import TorchTextOps
from backends.torch.program import FEW, Program, TracedLogits, TracedModel
from backends.torch.sample import TorchSamples, only_argmax, sample
from backends.torch.tensors import upload
from backends.torch.tracing import trace_logits, trace_model


class TorchRunner:
    """Implements `backends.base.Runner`."""

    def __init__(
        self, model: TokenModel, kv: TorchKVCache, ops: TorchTextOps, plain: bool = False, view: Any = None
    ) -> None:
        """`plain`: the model is called in every step, neither traced nor captured. `view(kv, plan)`: what it gets as its cache."""
        self.model, self.kv, self.ops, self._view = model, kv, ops, view or TorchCache
        self.span: Profiler = unprofiled
        self.frame: Any = getattr(model, "frame", None)
        self.group = ops.group
        self.settle: Settle | None = None  # in place of the step's own, of the first of several ranks
        may_capture = ops.device.type == "cuda" and not plain and (self.group is None or self.group.captures)
        self.graphs = DecodeGraphs(model, kv) if may_capture else None
        self.adapters = adapters_of(model)
        self._traced: TracedModel | None = None
        self._traced_adapted: tuple[int, TracedModel | None] = -1, None  # and the adapters' version
        self._greedy: GreedyHead | None = None
        self._decoding: DecodeSteps | None = None
        self._head: TracedLogits | None = None
        self.between_steps: Callable[[], None] | None = None
        self._may_trace = ops.device.type == "cpu" and library.available() and not plain
        # slot id -> a step's ids [N] (or its frames' embeddings [N, D]) and the slot's row in it: the next input
        self._sampled_last: dict[int, tuple[Tensor, int] | int] = {}  # or a number that is on the host

    def run(self, segments: Sequence[Segment]) -> TorchPendingStep | FinishedStep:
        if self.between_steps is not None:
            self.between_steps()
        if self._decoding is not None:
            finished = self._decoding.run(segments, self._sampled_last, self.settle or self._settle_own)
            if finished is not None:
                self._drop_closed()
                return finished
        with torch.inference_mode():
            plan = make_plan(segments)
            for packed in plan.segments:
                self.kv.make_window_room(packed.slot, len(packed), packed.segment.prompt)
            pending = TorchPendingStep(self, plan)
            runs = [] if self.adapters is None else self.adapters.runs(plan.adapters)
            if self.graphs is not None and self.frame is None and not runs and self.graphs.fits(plan):
                hidden, logits = self.graphs.run(plan, self._ids(plan, self._next_inputs(plan)))
                self._sample(plan, hidden, pending, logits)
            else:
                x = self._inputs(plan)
                if self._may_trace:
                    self._may_trace = False
                    self._traced = trace_model(self.model, self.kv, self.ops, x.shape[1])
                    if self._traced is not None and self._trace_head(self._traced) and self.frame is None:
                        self._decoding = decode_steps(self.model, self._traced, self._greedy)
                traced = self._traced if not runs else self._adapted_trace(x.shape[1])
                if traced is not None and not traced.fits(plan):
                    traced = None
                if traced is not None:
                    self._sample(plan, traced.run(plan, x, runs), pending, runs=runs)
                else:
                    cache = self._view(self.kv, plan)
                    pos = upload(torch.from_numpy(plan.pos), self.ops.device)
                    with self._using(runs, plan.total):
                        hidden = self.model(Step(x, pos, cache))
                    self._sample(plan, hidden, pending, runs=runs)
                if traced is None:
                    checkpoint_drafts(self.kv, segments)
                    cache.commit()
                else:
                    traced.commit(plan)
            for packed in plan.segments:
                packed.slot.length += len(packed)
            self._drop_closed()
            return pending

    # -- adapters

    def _using(self, runs: Sequence[AdapterRun], total: int) -> AbstractContextManager[None]:
        if self.adapters is None or not runs:
            return nullcontext()
        return self.adapters.using(TorchAdapterRows(runs, total, self.ops.device))

    def _adapted_trace(self, width: int) -> TracedModel | None:
        """The program with the adapters that there are; None where the model runs operation by operation anyway."""
        if self._traced is None or self.adapters is None:
            return None
        if self._traced_adapted[0] != self.adapters.version:
            made = trace_model(self.model, self.kv, self.ops, width, adapted=True)
            self._traced_adapted = self.adapters.version, made
        return self._traced_adapted[1]

    # -- the head

    def _trace_head(self, traced: TracedModel) -> bool:
        """Whether there is a head whose operations all have instructions."""
        made = trace_logits(self.model, traced.program.widths[traced.program.output])
        if made is None:
            return False
        tracer, logits = made
        self._greedy = greedy_head(tracer)
        if self._greedy is None:
            most = FEW * sum(tracer.widths)
            self._head = TracedLogits(Program(tracer.lines, tracer.widths, logits.register, tracer.keep, most))
        return True

    def _logits(self, hidden: Tensor) -> Tensor:
        if self._head is not None and len(hidden) <= FEW and hidden.dtype == torch.float32:
            return self._head(hidden)
        made: Tensor = self.model.logits(hidden)
        return made

    # -- inputs

    def _inputs(self, plan: StepPlan) -> Tensor:
        device, dtype = self.ops.device, self.kv.dtype
        embedded = [
            packed for packed in plan.segments if packed.segment.embeds is not None or packed.segment.codes is not None
        ]
        given = self._next_inputs(plan)
        framed = given is not None and given.ndim == 2
        if len(embedded) == len(plan.segments) and len(embedded) == 1:
            x = self._embedded(embedded[0].segment, dtype)
        elif given is not None and framed and len(plan.continued) == plan.total:
            x = given.to(dtype)
        else:
            x = self.model.embed(self._ids(plan, None if framed else given))
            if given is not None and framed:
                at = upload(torch.tensor(plan.continued), device)
                x = x.index_copy(0, at, given.to(x.dtype))  # not by x[at]: torch would wake its threads for so few rows
            for packed in embedded:
                x[packed.start : packed.stop] = self._embedded(packed.segment, x.dtype)
        added = [packed for packed in plan.segments if packed.segment.add is not None]
        if added:
            sums = torch.zeros_like(x)
            for packed in added:
                sums[packed.start : packed.stop] = _rows(packed.segment.add, x.dtype, device)
            x = x + sums
        return x

    def _embedded(self, segment: Segment, dtype: torch.dtype) -> Tensor:
        if segment.codes is None:
            rows = _rows(segment.embeds, dtype, self.ops.device)
            return rows if self.group is None else self.group.broadcast(rows)
        made: Tensor = self.model.reframe(torch.from_numpy(np.ascontiguousarray(segment.codes)).to(self.ops.device))  # type: ignore[attr-defined]
        return made.to(dtype)

    def _ids(self, plan: StepPlan, given: Tensor | None) -> Tensor:
        ids = upload(torch.from_numpy(plan.ids), self.ops.device)
        if given is None:
            return ids
        if len(plan.continued) == len(ids):
            return given.to(ids.dtype)
        at = upload(torch.tensor(plan.continued), self.ops.device)
        return ids.index_copy(0, at, given.to(ids.dtype))

    def _next_inputs(self, plan: StepPlan) -> Tensor | None:
        """The next inputs of sequences whose last token may not be on the host: ids `[n]`, or embeddings `[n, D]`."""
        if not plan.continued:
            return None
        slots = [packed.slot for packed in plan.segments if packed.segment.continues]
        for slot in slots:
            if slot.id not in self._sampled_last:
                raise ValueError(f"slot {slot.id} has no sampled token to continue from: give its ids")
        sources = [self._last_of(slot) for slot in slots]
        if all(source is sources[0][0] for source, _ in sources):
            whole, rows = sources[0][0], [row for _, row in sources]
            return (
                whole
                if rows == list(range(len(whole)))
                else whole.index_select(0, upload(torch.tensor(rows), whole.device))
            )
        return torch.stack([source[row] for source, row in sources])

    def _last_of(self, slot: Slot) -> tuple[Tensor, int]:
        last = self._sampled_last[slot.id]
        return (torch.tensor([last], dtype=torch.int32, device=self.ops.device), 0) if isinstance(last, int) else last

    # -- outputs

    def _sample(
        self,
        plan: StepPlan,
        hidden: Tensor,
        pending: TorchPendingStep,
        logits: Tensor | None = None,
        runs: Sequence[AdapterRun] = (),
    ) -> None:
        """`logits` of all rows, where a CUDA graph has computed them; otherwise those of the picked rows are computed here."""
        for packed in plan.segments:
            if packed.segment.hidden:  # a copy: the next replay of a CUDA graph overwrites its rows
                pending.hidden[packed.slot] = hidden[packed.start : packed.stop].to(torch.float32, copy=True)
        if not len(plan.picked):
            return
        picked = hidden
        if len(plan.picked) < plan.total:
            at = upload(torch.from_numpy(plan.picked), hidden.device)
            picked = hidden.index_select(0, at)
            logits = None if logits is None else logits.index_select(0, at)
        plain = logits is None and not (runs and self.adapters is not None and self.adapters.change_logits)
        chosen, drawn = picked, self._sample_greedily(plan, picked) if plain else None
        if drawn is None:
            if logits is None:
                if plain:
                    logits = self._logits(picked)
                else:
                    with self._using(picked_runs(runs, plan.picked), len(picked)):
                        logits = self.model.logits(picked)
            if any(packed.segment.want is not None for packed in plan.segments):
                logits = logits.clone()  # the next replay overwrites it, maybe before this step is read
            pending.logits = logits
            if not plan.samplings:
                return
            if len(plan.sampled) != len(plan.picked):
                at = upload(torch.from_numpy(plan.sampled), hidden.device)
                logits, chosen = logits.index_select(0, at), picked.index_select(0, at)
            with self.span("sample"):
                drawn = sample(logits, plan.samplings) if self.group is None else self._sample_once(logits, plan)
        pending.drawn = drawn
        following = drawn.ids
        if self.frame is not None:
            pending.codes, following = self.frame(chosen, drawn.ids, plan.samplings)
        row = 0
        for packed in plan.segments:
            if packed.segment.sample is not None:
                row += packed.segment.draft + 1
                self._sampled_last[packed.slot.id] = following, row - 1

    def _sample_greedily(self, plan: StepPlan, picked: Tensor) -> TorchSamples | None:
        """The samples when only each row's largest logit is needed; else None."""
        greedy = self._greedy
        if (
            greedy is None
            or not 0 < len(plan.samplings) == len(picked) <= GREEDY_TOKENS
            or not only_argmax(plan.samplings)
        ):
            return None
        if any(packed.segment.want is not None for packed in plan.segments):
            return None
        asked = [row for row, sampling in enumerate(plan.samplings) if sampling.logprobs is not None]
        with self.span("sample"):
            found = greedy.best(picked, bool(asked))
        logprobs = None if found.logprobs is None else found.logprobs[asked]
        return TorchSamples(found.places.to(torch.int32), found.logits, asked, logprobs)

    def _sample_once(self, logits: Tensor, plan: StepPlan) -> TorchSamples:
        """The first rank samples, the others receive the ids."""
        assert self.group is not None
        if self.group.index == 0:
            drawn = sample(logits, plan.samplings)
            drawn.ids = self.group.broadcast(drawn.ids)
            return drawn
        ids = torch.empty(len(plan.samplings), dtype=torch.int32, device=logits.device)
        return TorchSamples(self.group.broadcast(ids), torch.zeros(len(ids)), [])

    def poison(self, slot: Slot) -> None:
        self.kv.poisoned.add(slot.id)

    def set_last(self, slot: Slot, token: int) -> None:
        """Make `token` the slot's next input."""
        self._sampled_last[slot.id] = token

    def _settle_own(self, segments: Sequence[Segment], tokens: Mapping[Slot, SegmentOutput]) -> None:
        settle_drafts(self.kv, segments, tokens, self.run, self.set_last)

    def _drop_closed(self) -> None:
        if len(self._sampled_last) > 2 * len(self.kv.table.slots) + 16:
            live = {slot.id for slot in self.kv.table.slots}
            self._sampled_last = {key: value for key, value in self._sampled_last.items() if key in live}

    def warm(self) -> None:
        """A prompt and a decode step, on CUDA for each captured batch size, so that first-use setup is done."""
        if any(isinstance(spec, CrossSpec) for spec in self.kv.specs):
            return  # such a model needs its encoder's output
        slots: list[Slot] = []
        for batch in (1, 2, 4, 8, 16) if self.graphs is not None else (1,):
            while len(slots) < batch and (slot := self.kv.open(SMALLEST_CAPACITY)) is not None:
                slots.append(slot)
                self.run([Segment(slot, [0, 0, 0], sample=Sampling())]).read()
            if len(slots) == batch:
                self.run([Segment(slot, [0], sample=Sampling()) for slot in slots]).read()
        for slot in slots:
            self.kv.close(slot)


class TorchPendingStep(PlannedStep[Tensor]):
    def __init__(self, runner: TorchRunner, plan: StepPlan) -> None:
        super().__init__(plan, runner.kv, runner.run)
        self._runner = runner
        self.drawn: TorchSamples | None = None
        self.codes: Tensor | None = None

    def _samples(self) -> HostSamples:
        if (drawn := self.drawn) is None:
            return HostSamples()
        ids, best = drawn.ids.tolist(), drawn.best.tolist()
        chosen, top_ids, top = ([] if x is None else x.tolist() for x in (drawn.chosen, drawn.top_ids, drawn.top))
        codes = None if self.codes is None else self.codes.cpu().numpy()
        return HostSamples(ids, best, drawn.logprob_rows, chosen, top_ids, top, codes)

    def _on_host(self, x: Tensor, rows: Sequence[int] | None = None) -> np.ndarray:
        made: np.ndarray = (x if rows is None else x[list(rows)]).float().cpu().numpy()
        return made

    def _spoiled(self, slot: Slot) -> None:
        self._runner.poison(slot)

    def _settle(self, segments: Sequence[Segment], tokens: Mapping[Slot, SegmentOutput]) -> None:
        (self._runner.settle or super()._settle)(segments, tokens)

    def _continue_from(self, slot: Slot, token: int) -> None:
        self._runner.set_last(slot, token)


def _rows(x: Tensor | np.ndarray, dtype: torch.dtype, device: torch.device) -> Tensor:
    return torch.as_tensor(x).to(device=device, dtype=dtype)


# -- adapters where a model runs operation by operation: rows are grouped by adapter. Traced programs have an instruction of their own


class TorchAdapterRows:
    """Implements `backends.adapters.ActiveAdapters`."""

    def __init__(self, runs: Sequence[AdapterRun], total: int, device: torch.device) -> None:
        self._rows = {
            adapter: None if rows is None else upload(torch.from_numpy(rows), device)
            for adapter, rows in rows_by_adapter(runs, total).items()
        }

    def add(self, sides: Sides, x: Tensor, y: Tensor) -> Tensor:
        for adapter, rows in self._rows.items():
            for side in sides.get(adapter, ()):
                added = side.b(side.a(x if rows is None else x.index_select(0, rows)))
                into = y[..., side.start : side.stop]
                if rows is None:
                    into += added
                else:
                    into.index_add_(0, rows, added.to(y.dtype))
        return y
