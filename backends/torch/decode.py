"""A decode step of fixed shape, to be recorded once and replayed: one recording per capacity class and padded batch.

Every sequence of one class adds one token. Then all that differs from step to step is a few small tensors (ids,
positions, state rows); attention reads the class's whole capacity under a mask, so that no shape depends on lengths.
Anything else (prompts, several classes, embeddings, drafts, encoders) goes the usual way, through cache.py.

Recording pays on CUDA alone. Not measured here: this was written on a machine without a GPU; that a step of this shape
gives what the usual way gives is tested on a CPU, unrecorded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import torch
import torch.nn.functional as F
from torch import Tensor

from backends.base import CrossSpec, KVSpec, Model, Step
from backends.plan import StepPlan
from backends.torch import delta
from backends.torch.graph import Captured
from backends.torch.kv import TorchKV
from backends.torch.slab import places_of
from backends.torch.upload import upload_columns

LARGEST = 64  # a batch beyond it is bound by its products, not by launches


class Recording(Protocol):
    def replay(self, args: tuple[Tensor, ...]) -> Any: ...


class FixedCache:
    """See `backends.base.Cache`. Sequence i owns row i of the class's slabs; rows of idle sequences, and rows beyond the live
    ones, are padding."""

    def __init__(self, kv: TorchKV, capacity: int, past: Tensor, states: Tensor) -> None:
        self.kv, self.capacity, self.past, self.states = kv, capacity, past, states
        self.batch = past.shape[0]
        self._rows = torch.arange(self.batch, device=past.device)
        self._at = torch.arange(capacity, device=past.device)
        self._masks: dict[int | None, Tensor] = {}

    def attend(self, layer: int, q: Tensor, k: Tensor, v: Tensor, scale: float) -> Tensor:
        spec = self.kv.specs[layer]
        assert isinstance(spec, KVSpec)
        keys, values = self.kv.slabs[self.capacity][layer]
        places = places_of(self._rows, self.past, spec.heads, self.capacity)
        keys.write_each(places, k)
        values.write_each(places, v)
        out = F.scaled_dot_product_attention(
            q.unflatten(1, (spec.heads, -1)),
            keys.read(0, self.batch, 0, self.capacity),
            values.read(0, self.batch, 0, self.capacity),
            attn_mask=self._mask(spec.window, q.dtype),
            scale=scale,
        )
        return out.flatten(1, 2)

    def _mask(self, window: int | None, dtype: torch.dtype) -> Tensor:
        if window not in self._masks:
            hidden = self._at > self.past[:, None]
            if window:
                hidden |= self._at <= self.past[:, None] - window
            mask = torch.zeros(hidden.shape, dtype=dtype, device=hidden.device)
            self._masks[window] = mask.masked_fill_(hidden, -torch.inf)[:, None, None]
        return self._masks[window]

    def cross(self, layer: int, q: Tensor, scale: float) -> Tensor:
        raise ValueError("encoder keys differ in length: such a model decodes the usual way")

    def conv(self, layer: int, x: Tensor, w: Tensor, bias: Tensor | None = None) -> Tensor:
        table = self.kv.states[layer].conv
        seen = torch.cat((table.index_select(0, self.states), x[:, None]), 1)
        table.index_copy_(0, self.states, seen[:, 1:])
        summed = (seen.float() * w.float().t()).sum(1)
        return (summed if bias is None else summed + bias).to(x.dtype)

    def delta(self, layer: int, q: Tensor, k: Tensor, v: Tensor, g: Tensor, beta: Tensor) -> Tensor:
        table = self.kv.states[layer].delta
        state = table.index_select(0, self.states)
        out = delta.step(state, state, q, k, v, g, beta)
        table.index_copy_(0, self.states, state)
        return out.to(v.dtype)


class DecodeGraphs:
    """The recordings of one model on one store."""

    def __init__(self, model: Model, kv: TorchKV, record: Callable[..., Recording] = Captured) -> None:
        self.model, self.kv, self.record = model, kv, record
        self.possible = not any(isinstance(spec, CrossSpec) for spec in kv.specs)
        self._recordings: dict[tuple[int, int], Recording] = {}
        self._version = -1

    def fits(self, plan: StepPlan) -> bool:
        if not self.possible or plan.chunks or len(plan.groups) != 1 or plan.pos.ndim != 1 or plan.total > LARGEST:
            return False
        owners = self.kv.table.classes[plan.groups[0].capacity]
        if len(owners) > LARGEST or any(owner.length >= owner.capacity for owner in owners):
            return False
        return all((s.segment.ids is not None or s.segment.held) and s.segment.add is None for s in plan.segments)

    def run(self, plan: StepPlan, ids: Tensor) -> tuple[Tensor, Tensor]:
        """Hidden states and logits of each row: the recording's own tensors, good until the next step."""
        capacity = plan.groups[0].capacity
        owners = self.kv.table.classes[capacity]
        padded = 1 << (len(owners) - 1).bit_length()
        junk = self.kv.reserve_padding(capacity, padded)
        rows = [packed.slot.place.row for packed in plan.segments]
        if self._version != self.kv.version:  # a tensor that the recordings hold has been replaced
            self._recordings.clear()
            self._version = self.kv.version

        def column(values: list[int], fill: list[int]) -> list[int]:
            for row, value in zip(rows, values, strict=True):
                fill[row] = value
            return fill

        # a row that belongs to an idle sequence steps too, and writes behind its end, where nobody looks
        idle = [owner.length for owner in owners] + [0] * (padded - len(owners))
        columns = upload_columns(
            [
                column(plan.pos.tolist(), [0] * padded),
                column([packed.past for packed in plan.segments], idle),
                column([packed.slot.place.state for packed in plan.segments], [junk] * padded),
                rows + [0] * (padded - len(rows)),
            ],
            torch.int64,
            ids.device,
        )
        own = None if rows == list(range(plan.total)) else columns[3][: plan.total]
        given = F.pad(ids, (0, padded - plan.total))
        if own is not None:
            given = torch.zeros_like(given).index_copy_(0, own, ids)
        inputs = (given, columns[0].to(torch.int32), columns[1], columns[2])
        recording = self._recordings.get((capacity, padded))
        if recording is None:
            # recording runs the step: rows beyond a sequence's end may be written to, states may not
            harmless = (*inputs[:3], torch.full_like(inputs[3], junk))
            recording = self._recordings[capacity, padded] = self.record(self._step_of(capacity), harmless)
        hidden, logits = recording.replay(inputs)
        if own is None:
            return hidden[: plan.total], logits[: plan.total]
        return hidden.index_select(0, own), logits.index_select(0, own)

    def _step_of(self, capacity: int) -> Callable[..., tuple[Tensor, Tensor]]:
        def step(ids: Tensor, pos: Tensor, past: Tensor, states: Tensor) -> tuple[Tensor, Tensor]:
            cache = FixedCache(self.kv, capacity, past, states)
            hidden = self.model(Step(self.model.embed(ids), pos, cache))
            return hidden, self.model.logits(hidden)

        return step
