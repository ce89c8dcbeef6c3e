"""CUDA graphs: a function of fixed shapes is captured once and replayed without Python or launch costs.

A decode step is captured per capacity class and padded batch size. Every sequence of one class adds one token, so only a few
small tensors differ from step to step (ids, positions, state rows); attention reads the class's whole capacity under a mask,
so that no shape depends on lengths. Anything else (prompts, several classes, embeddings, drafts, encoders) runs through
cache.py.

Not measured here: this was written and reviewed on a machine without a GPU. That a step of this shape gives the same result
as cache.py is tested on a CPU, without capture.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import torch
import torch.nn.functional as F
from torch import Tensor

from backends.base import CrossSpec, KVSpec, LatentHeads, Step, TokenModel
from backends.kv_cache import source_of, windowed
from backends.plan import StepPlan
from backends.torch.cache import delta_step, grouped_attention, latent_attention, scan_step
from backends.torch.kv_cache import TorchKVCache, places_of
from backends.torch.tensors import upload_columns

LARGEST_BATCH = 64  # a batch beyond it is bound by its products, not by launches


class CapturedGraph:
    """A captured graph: fixed input tensors, which are overwritten before each replay, and the outputs it fills."""

    def __init__(self, fn: Callable[..., Any], args: tuple[Tensor, ...], warmups: int = 2) -> None:
        self.inputs = tuple(a.clone() for a in args)
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):  # libraries allocate and choose kernels on first use, which a capture forbids
            for _ in range(warmups):
                fn(*self.inputs)
        torch.cuda.current_stream().wait_stream(side)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.outputs = fn(*self.inputs)

    def replay(self, args: tuple[Tensor, ...]) -> Any:
        """The outputs are the graph's own output tensors: good until the next replay."""
        for mine, given in zip(self.inputs, args):
            mine.copy_(given, non_blocking=True)
        self.graph.replay()
        return self.outputs


def captured(fn: Callable[..., Any]) -> Callable[..., Any]:
    """`fn`, a pure function of tensors, captured once for each combination of shapes it is called with."""
    graphs: dict[tuple[Any, ...], CapturedGraph] = {}

    def call(*args: Tensor) -> Any:
        key = tuple((a.shape, a.dtype) for a in args)
        graph = graphs.get(key)
        if graph is None:
            graph = graphs[key] = CapturedGraph(fn, args)
        return _fresh(graph.replay(args))

    return call


def _fresh(outputs: Any) -> Any:
    """Copies, so that a caller may hold one call's result through the next."""
    if isinstance(outputs, Tensor):
        return outputs.clone()
    return type(outputs)(_fresh(x) for x in outputs)


class _Replayable(Protocol):
    def replay(self, args: tuple[Tensor, ...]) -> Any: ...


class GraphCache:
    """Implements `backends.base.Cache` with fixed shapes. Sequence i owns row i of the class's slabs; rows of idle
    sequences, and rows beyond the live ones, are padding."""

    def __init__(self, kv: TorchKVCache, capacity: int, past: dict[int | None, Tensor], states: Tensor) -> None:
        """`past`: the tokens of each sequence in the layers with a sliding window, and in those without one (None)."""
        self.kv, self.capacity, self.past, self.states = kv, capacity, past, states
        self.batch, device = states.shape[0], states.device
        self._rows = torch.arange(self.batch, device=device)
        self._at = torch.arange(capacity, device=device)
        self._masks: dict[int | None, Tensor] = {}

    def attend(
        self, layer: int, q: Tensor, k: Tensor | None, v: Tensor | None, scale: float, sinks: Tensor | None = None
    ) -> Tensor:
        layer, spec = source_of(self.kv.specs, layer)
        keys, values = self.kv.slabs[self.capacity][layer]
        if k is not None and v is not None:
            self.store(layer, k, v)
        kept = keys.read(0, self.batch, 0, keys.capacity), values.read(0, self.batch, 0, keys.capacity)
        mask = self._mask(spec.window, keys.capacity, q.dtype)
        return grouped_attention(q.unflatten(1, (spec.heads, -1)), *kept, scale, mask, sinks).flatten(1, 2)

    def store(self, layer: int, k: Tensor, v: Tensor) -> None:
        layer, spec = source_of(self.kv.specs, layer)
        keys, values = self.kv.slabs[self.capacity][layer]
        places = places_of(self._rows, self.past[spec.window], spec.heads, keys.capacity)
        keys.write_each(places, k)
        values.write_each(places, v)

    def store_latent(self, layer: int, rows: Tensor) -> None:
        (slab,) = self.kv.slabs[self.capacity][layer]
        slab.write_each(places_of(self._rows, self.past[None], 1, slab.capacity), rows[:, None])

    def attend_latent(self, layer: int, q: Tensor, rows: Tensor, heads: LatentHeads, scale: float) -> Tensor:
        self.store_latent(layer, rows)
        (slab,) = self.kv.slabs[self.capacity][layer]
        seen = slab.read(0, self.batch, 0, slab.capacity)[:, 0]
        mask = self._mask(None, slab.capacity, q.dtype)
        return heads.values(latent_attention(heads.absorb(q)[:, None], seen, heads.rank, scale, mask)[:, 0])

    def _mask(self, window: int | None, rows: int, dtype: torch.dtype) -> Tensor:
        if window not in self._masks:
            at, past = self._at[:rows], self.past[window][:, None]
            hidden = at > past
            if window:
                hidden |= at <= past - window
            mask = torch.zeros(hidden.shape, dtype=dtype, device=hidden.device)
            self._masks[window] = mask.masked_fill_(hidden, -torch.inf)[:, None, None]
        return self._masks[window]

    def cross(self, layer: int, q: Tensor, scale: float) -> Tensor:
        raise ValueError("encoder keys differ in length: such a model decodes without CUDA graphs")

    def conv(self, layer: int, x: Tensor, w: Tensor, bias: Tensor | None = None) -> Tensor:
        table = self.kv.states[layer].conv
        seen = torch.cat((table.index_select(0, self.states), x[:, None]), 1)
        table.index_copy_(0, self.states, seen[:, 1:])
        summed = (seen.float() * w.float().t()).sum(1)
        return (summed if bias is None else summed + bias).to(x.dtype)

    def delta(self, layer: int, q: Tensor, k: Tensor, v: Tensor, g: Tensor, beta: Tensor) -> Tensor:
        return self._recur(layer, delta_step, q, k, v, g, beta)

    def scan(self, layer: int, q: Tensor, k: Tensor, v: Tensor, g: Tensor) -> Tensor:
        return self._recur(layer, scan_step, q, k, v, g)

    def _recur(self, layer: int, one_token: Callable[..., Tensor], *inputs: Tensor) -> Tensor:
        table = self.kv.states[layer].matrix
        state = table.index_select(0, self.states)
        out = one_token(state, state, *inputs)
        table.index_copy_(0, self.states, state)
        return out.to(inputs[2].dtype)


class DecodeGraphs:
    """Captured decode steps of one model on one KV cache."""

    def __init__(
        self, model: TokenModel, kv: TorchKVCache, capture: Callable[..., _Replayable] = CapturedGraph
    ) -> None:
        self.model, self.kv, self.capture = model, kv, capture
        # where tokens drop out, a row that is idle in a step must not lose one
        self.possible = not any(
            isinstance(spec, CrossSpec) or (isinstance(spec, KVSpec) and spec.recent) for spec in kv.specs
        )
        self.windows: list[int | None] = [None, *windowed(kv.specs)]
        self._graphs: dict[tuple[int, int], _Replayable] = {}
        self._version = -1

    def fits(self, plan: StepPlan) -> bool:
        if (
            not self.possible
            or plan.chunks
            or len(plan.groups) != 1
            or plan.pos.ndim != 1
            or plan.total > LARGEST_BATCH
        ):
            return False
        owners = self.kv.table.classes[plan.groups[0].capacity]
        if len(owners) > LARGEST_BATCH or any(owner.length >= owner.capacity for owner in owners):
            return False
        return all((s.segment.ids is not None or s.segment.continues) and s.segment.add is None for s in plan.segments)

    def run(self, plan: StepPlan, ids: Tensor) -> tuple[Tensor, Tensor]:
        """Hidden states and logits of each row: the graph's own output tensors, good until the next step."""
        capacity = plan.groups[0].capacity
        owners = self.kv.table.classes[capacity]
        padded = 1 << (len(owners) - 1).bit_length()
        junk = self.kv.reserve_padding(capacity, padded)
        rows = [packed.slot.place.row for packed in plan.segments]
        if self._version != self.kv.version:  # a tensor that the graphs hold has been replaced
            self._graphs.clear()
            self._version = self.kv.version

        def column(values: list[int], fill: list[int]) -> list[int]:
            for row, value in zip(rows, values, strict=True):
                fill[row] = value
            return fill

        # a row that belongs to an idle sequence steps too, and writes beyond its end, where nothing is read
        for owner in owners:
            self.kv.make_window_room(owner, 1)
        pasts = [
            [o.length - (0 if w is None else o.place.firsts.get(w, 0)) for o in owners] + [0] * (padded - len(owners))
            for w in self.windows
        ]
        columns = upload_columns(
            [
                column(plan.pos.tolist(), [0] * padded),
                column([packed.slot.place.state for packed in plan.segments], [junk] * padded),
                rows + [0] * (padded - len(rows)),
                *pasts,
            ],
            torch.int64,
            ids.device,
        )
        own = None if rows == list(range(plan.total)) else columns[2][: plan.total]
        given = F.pad(ids, (0, padded - plan.total))
        if own is not None:
            given = torch.zeros_like(given).index_copy_(0, own, ids)
        inputs = (given, columns[0].to(torch.int32), columns[1], *columns[3:])
        graph = self._graphs.get((capacity, padded))
        if graph is None:
            # capturing runs the step: rows beyond a sequence's end may be written, states may not
            harmless = (*inputs[:2], torch.full_like(inputs[2], junk), *inputs[3:])
            graph = self._graphs[capacity, padded] = self.capture(self._step_of(capacity), harmless)
        hidden, logits = graph.replay(inputs)
        if own is None:
            return hidden[: plan.total], logits[: plan.total]
        return hidden.index_select(0, own), logits.index_select(0, own)

    def _step_of(self, capacity: int) -> Callable[..., tuple[Tensor, Tensor]]:
        def step(ids: Tensor, pos: Tensor, states: Tensor, *past: Tensor) -> tuple[Tensor, Tensor]:
            cache = GraphCache(self.kv, capacity, dict(zip(self.windows, past)), states)
            hidden = self.model(Step(self.model.embed(ids), pos, cache))
            return hidden, self.model.logits(hidden)

        return step
