"""One model's steps on torch: pack, compute, sample, and hand each sequence its part.

Order, positions and which rows are sampled are `backends.plan`'s business; memory is the KV cache's. This file builds a
step's inputs (ids, embeddings, additions, the token sampled last), runs the model, and keeps what the next step may
need on the device.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any

import numpy as np
import torch
from torch import Tensor

from backends.base import CrossSpec, Model, Profiler, Sampling, Segment, SegmentOutput, Slot, Step, unprofiled
from backends.plan import StepPlan, make_plan, sampled_tokens
from backends.rows import SMALLEST
from backends.torch.cache import TorchCache
from backends.torch.decode import DecodeGraphs
from backends.torch.greedy import TOKENS, Greedy, greedy_of
from backends.torch.kernels import library
from backends.torch.kv import TorchKV
from backends.torch.ops import TextOps
from backends.torch.recorded import RecordedModel, record
from backends.torch.sample import Drawn, draw, only_best
from backends.torch.upload import upload


class TorchRunner:
    """See `backends.base.Runner`."""

    def __init__(self, model: Model, kv: TorchKV, ops: TextOps) -> None:
        self.model, self.kv, self.ops = model, kv, ops
        self.span: Profiler = unprofiled
        self.frame: Any = getattr(model, "frame", None)
        self.graphs = DecodeGraphs(model, kv) if ops.device.type == "cuda" else None
        self._recorded: RecordedModel | None = None
        self._greedy: Greedy | None = None
        self._may_record = ops.device.type == "cpu" and library.available()
        # slot id -> a step's ids [N] (or its frames' embeddings [N, D]) and the slot's row in it: the next input
        self._last: dict[int, tuple[Tensor, int]] = {}

    def run(self, segments: Sequence[Segment]) -> TorchPending:
        with torch.inference_mode():
            plan = make_plan(segments)
            pending = TorchPending(self, plan)
            if self.graphs is not None and self.frame is None and self.graphs.fits(plan):
                hidden, logits = self.graphs.run(plan, self._ids(plan, self._held(plan)))
                self._sample(plan, hidden, pending, logits)
            else:
                x = self._inputs(plan)
                if self._may_record:
                    self._may_record = False
                    self._recorded = record(self.model, self.kv, self.ops, x.shape[1])
                    if self._recorded is not None:
                        self._greedy = greedy_of(self.model, x.shape[1])
                if self._recorded is not None:
                    self._sample(plan, self._recorded.run(plan, x), pending)
                else:
                    cache = TorchCache(self.kv, plan)
                    pos = upload(torch.from_numpy(plan.pos), self.ops.device)
                    self._sample(plan, self.model(Step(x, pos, cache)), pending)
                for segment in segments:
                    if segment.draft:
                        self.kv.checkpoint(segment.slot)
                if self._recorded is None:
                    cache.commit()
            for packed in plan.segments:
                packed.slot.length += len(packed)
            self._forget_closed()
            return pending

    # -- inputs

    def _inputs(self, plan: StepPlan) -> Tensor:
        device, dtype = self.ops.device, self.kv.dtype
        embedded = [
            packed for packed in plan.segments if packed.segment.embeds is not None or packed.segment.codes is not None
        ]
        held = self._held(plan)
        framed = held is not None and held.ndim == 2
        if len(embedded) == len(plan.segments) and len(embedded) == 1:
            x = self._embedded(embedded[0].segment, dtype)
        elif held is not None and framed and len(plan.held) == plan.total:
            x = held.to(dtype)
        else:
            x = self.model.embed(self._ids(plan, None if framed else held))
            if held is not None and framed:
                at = upload(torch.tensor(plan.held), device)
                x = x.index_copy(0, at, held.to(x.dtype))  # not by x[at]: torch would wake its threads for so few rows
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
            return _rows(segment.embeds, dtype, self.ops.device)
        made: Tensor = self.model.reframe(torch.from_numpy(np.ascontiguousarray(segment.codes)).to(self.ops.device))  # type: ignore[attr-defined]
        return made.to(dtype)

    def _ids(self, plan: StepPlan, held: Tensor | None) -> Tensor:
        ids = upload(torch.from_numpy(plan.ids), self.ops.device)
        if held is None:
            return ids
        if len(plan.held) == len(ids):
            return held.to(ids.dtype)
        at = upload(torch.tensor(plan.held), self.ops.device)
        return ids.index_copy(0, at, held.to(ids.dtype))

    def _held(self, plan: StepPlan) -> Tensor | None:
        """The next inputs of sequences whose last token may not be on the host: ids `[n]`, or embeddings `[n, D]`."""
        if not plan.held:
            return None
        slots = [packed.slot for packed in plan.segments if packed.segment.held]
        for slot in slots:
            if slot.id not in self._last:
                raise ValueError(f"slot {slot.id} has no sampled token to go on from: give its ids")
        sources = [self._last[slot.id] for slot in slots]
        if all(source is sources[0][0] for source, _ in sources):
            whole, rows = sources[0][0], [row for _, row in sources]
            return (
                whole
                if rows == list(range(len(whole)))
                else whole.index_select(0, upload(torch.tensor(rows), whole.device))
            )
        return torch.stack([source[row] for source, row in sources])

    # -- outputs

    def _sample(self, plan: StepPlan, hidden: Tensor, pending: TorchPending, logits: Tensor | None = None) -> None:
        """`logits` of all rows, where a recording has made them; else those of the picked rows are made here."""
        for packed in plan.segments:
            if packed.segment.hidden:  # a copy: the next replay of a recording overwrites its rows
                pending.hidden[packed.slot] = hidden[packed.start : packed.stop].to(torch.float32, copy=True)
        if not len(plan.picked):
            return
        picked = hidden
        if len(plan.picked) < plan.total:
            at = upload(torch.from_numpy(plan.picked), hidden.device)
            picked = hidden.index_select(0, at)
            logits = None if logits is None else logits.index_select(0, at)
        chosen, drawn = picked, None if logits is not None else self._drawn_greedily(plan, picked)
        if drawn is None:
            if logits is None:
                logits = self.model.logits(picked)
            elif any(packed.segment.want is not None for packed in plan.segments):
                logits = logits.clone()  # the next replay overwrites it, maybe before this step is read
            pending.logits = logits
            if not plan.samplings:
                return
            if len(plan.sampled) != len(plan.picked):
                at = upload(torch.from_numpy(plan.sampled), hidden.device)
                logits, chosen = logits.index_select(0, at), picked.index_select(0, at)
            with self.span("sample"):
                drawn = draw(logits, plan.samplings)
        pending.drawn = drawn
        following = drawn.ids
        if self.frame is not None:
            pending.codes, following = self.frame(chosen, drawn.ids, plan.samplings)
        row = 0
        for packed in plan.segments:
            if packed.segment.sample is not None:
                row += packed.segment.draft + 1
                self._last[packed.slot.id] = following, row - 1

    def _drawn_greedily(self, plan: StepPlan, picked: Tensor) -> Drawn | None:
        """Where each row's largest logit is all that is asked for."""
        greedy = self._greedy
        if greedy is None or not 0 < len(plan.samplings) == len(picked) <= TOKENS or not only_best(plan.samplings):
            return None
        if any(packed.segment.want is not None for packed in plan.segments):
            return None
        asked = [row for row, sampling in enumerate(plan.samplings) if sampling.logprobs is not None]
        with self.span("sample"):
            found = greedy.best(picked, bool(asked))
        logprobs = None if found.logprobs is None else found.logprobs[asked]
        return Drawn(found.places.to(torch.int32), found.logits, asked, logprobs)

    def settle_draft(self, segment: Segment, accepted: int) -> None:
        """Make the slot what it would be had only the accepted guesses been given."""
        assert segment.ids is not None
        keep = len(segment) - segment.draft + accepted
        if accepted < segment.draft:
            kept = self.kv.rollback(segment.slot, keep)
            if kept < keep:
                pos = None if segment.pos is None else segment.pos[..., kept:keep]
                self.run([Segment(segment.slot, segment.ids[kept:keep], pos=pos)])
        else:
            self.kv.forget_mark(segment.slot)

    def continue_from(self, slot: Slot, token: int) -> None:
        self._last[slot.id] = torch.tensor([token], dtype=torch.int32, device=self.ops.device), 0

    def _forget_closed(self) -> None:
        if len(self._last) > 2 * len(self.kv.table.slots) + 16:
            live = {slot.id for slot in self.kv.table.slots}
            self._last = {key: value for key, value in self._last.items() if key in live}

    def warm(self) -> None:
        """A prompt and a decode step, on CUDA of each recorded batch: what is set up at first use is so afterwards."""
        if any(isinstance(spec, CrossSpec) for spec in self.kv.specs):
            return  # such a model runs only behind its encoder
        slots: list[Slot] = []
        for batch in (1, 2, 4, 8, 16) if self.graphs is not None else (1,):
            while len(slots) < batch and (slot := self.kv.open(SMALLEST)) is not None:
                slots.append(slot)
                self.run([Segment(slot, [0, 0, 0], sample=Sampling())]).read()
            if len(slots) == batch:
                self.run([Segment(slot, [0], sample=Sampling()) for slot in slots]).read()
        for slot in slots:
            self.kv.close(slot)


class TorchPending:
    """See `backends.base.Pending`."""

    def __init__(self, runner: TorchRunner, plan: StepPlan) -> None:
        self._runner, self._plan = runner, plan
        self.logits: Tensor | None = None  # of the picked rows
        self.hidden: dict[Slot, Tensor] = {}  # of the segments that asked for them
        self.drawn: Drawn | None = None
        self.codes: Tensor | None = None
        self._tokens: dict[Slot, SegmentOutput] | None = None

    def read(self) -> dict[Slot, SegmentOutput]:
        if self._tokens is None:
            self._tokens = self._read()
        return self._tokens

    def _read(self) -> dict[Slot, SegmentOutput]:
        plan, drawn = self._plan, self.drawn
        tokens = sampled_tokens(plan, drawn.ids.tolist() if drawn is not None else [])
        if drawn is not None:
            self._complete(tokens, drawn)
        if any(packed.segment.want is not None for packed in plan.segments):
            self._add_logits(tokens)
        for slot, hidden in self.hidden.items():
            tokens[slot].hidden = rows = hidden.cpu().numpy()
            if not np.isfinite(rows).all():
                self._runner.kv.poisoned.add(slot.id)
                tokens[slot].nan = True
        for packed in plan.segments:
            if packed.segment.draft:
                token = tokens[packed.slot]
                self._runner.settle_draft(packed.segment, token.accepted)
                if token.ids:
                    self._runner.continue_from(packed.slot, token.ids[-1])
        return tokens

    def _complete(self, tokens: dict[Slot, SegmentOutput], drawn: Drawn) -> None:
        sound = [isfinite(best) for best in drawn.best.tolist()]
        codes = None if self.codes is None else self.codes.cpu().numpy()
        chosen = [] if drawn.chosen is None else drawn.chosen.tolist()
        top_ids = [] if drawn.top_ids is None else drawn.top_ids.tolist()
        top = [] if drawn.top is None else drawn.top.tolist()
        of_row = {row: at for at, row in enumerate(drawn.logprob_rows)}
        row = 0
        for packed in self._plan.segments:
            if packed.segment.sample is None:
                continue
            token, first = tokens[packed.slot], row
            row += packed.segment.draft + 1
            if not all(sound[first:row]):
                self._runner.kv.poisoned.add(packed.slot.id)
                token.ids, token.nan, token.accepted = [], True, 0
                continue
            if codes is not None:
                token.codes = codes[row - 1]
            rows = range(first, first + len(token.ids))
            if first in of_row:
                token.logprobs = [chosen[of_row[r]] for r in rows]
                wanted = [self._plan.samplings[r].logprobs or 0 for r in rows]
                if top:
                    token.top = [list(zip(top_ids[of_row[r]][:n], top[of_row[r]][:n])) for r, n in zip(rows, wanted)]
                else:
                    token.top = [[] for _ in rows]

    def _add_logits(self, tokens: dict[Slot, SegmentOutput]) -> None:
        assert self.logits is not None
        place = {int(row): at for at, row in enumerate(self._plan.picked)}
        for packed in self._plan.segments:
            if packed.segment.want is not None:
                at = [place[packed.start + i] for i in packed.segment.want]
                tokens[packed.slot].logits = self.logits[at].float().cpu().numpy()


def _rows(x: Tensor | np.ndarray, dtype: torch.dtype, device: torch.device) -> Tensor:
    return torch.as_tensor(x).to(device=device, dtype=dtype)
