"""Tracing a model's layers into one program of the CPU kernels.

The model is run once on symbols that trace_model its operations: products, norms, heads and attention, gated activations. The trace_model
becomes a `Program`, which then runs every step, prompts and decoding alike, instead of the model's Python. Models need no change
for this: an operation without an instruction raises `NotTraceable`, and the model runs operation by operation. Weights, keys
and values may have 16 bits or fewer; activations are f32.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import torch
from torch import Tensor

from backends.adapters import AdapterRun, Sides, adapters_of
from backends.base import CrossSpec, KVSpec, Rope, Slot, Step, TokenModel
from backends.kv_cache import group_of
from backends.plan import StepPlan
from backends.torch.kernels.formats import PANEL, KVDtype
from backends.torch.kernels.library import LowRankSide
from backends.torch.kernels.linear import KernelLinear, SymbolicInput, alike
from backends.torch.kernels.mixture import KernelMixture
from backends.torch.kernels.program import Opcode, Program, ProgramOp
from backends.torch.kv_cache import Slab, TorchKVCache
from backends.torch.ops import RotaryCache, TorchTextOps

EVERY = 1 << 40  # more tokens than there are
FLOATS = {torch.float32: KVDtype.F32, torch.float16: KVDtype.F16, torch.bfloat16: KVDtype.BF16}


class NotTraceable(Exception):
    """The model used an operation that has no instruction."""


class Opaque:
    """Raises NotTraceable for every operation that a subclass does not define, and for every torch function."""

    def __getattr__(self, name: str) -> NoReturn:
        raise NotTraceable(name)

    @classmethod
    def __torch_function__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> NoReturn:
        raise NotTraceable(str(function))

    def _refuse(self, *_: Any) -> NoReturn:
        raise NotTraceable("an operator")

    __getitem__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __matmul__ = __neg__ = __bool__ = _refuse
    __rmatmul__ = __rtruediv__ = __pow__ = __float__ = __int__ = __iter__ = _refuse


@dataclass(eq=False)
class Symbol(Opaque, SymbolicInput):
    """An array of the traced pass: a register, viewed in a shape."""

    tracer: ProgramTracer
    register: int
    shape: tuple[int, ...]
    dtype: torch.dtype = torch.float32

    def reshape(self, *shape: int) -> Symbol:
        width = self.tracer.widths[self.register]
        rest = [n for n in shape[1:] if n != -1]
        if (
            shape[0] not in (self.shape[0], -1)
            or list(shape).count(-1) > 1
            or (-1 not in shape and np.prod(rest) != width)
        ):
            raise NotTraceable("a reshape that moves tokens")
        if -1 in shape[1:]:
            shape = tuple(width // int(np.prod(rest)) if n == -1 else n for n in shape)
        return Symbol(self.tracer, self.register, (self.shape[0], *shape[1:]))

    def product(self, linear: KernelLinear) -> Symbol:
        return self.tracer.multiply(linear, self)

    def mixture(self, mixture: KernelMixture, scores: Symbol) -> Symbol:
        return self.tracer.mixture(mixture, self, scores)

    def __add__(self, other: object) -> Symbol:
        if not isinstance(other, Symbol) or other.shape != self.shape:
            raise NotTraceable("a sum with something that is not of the pass")
        return self.tracer.sum(self, other)


@dataclass(eq=False)
class TracedPositions(Opaque):
    tracer: ProgramTracer


@dataclass(eq=False)
class TracedAngles(Opaque):
    """The angles of one rope."""

    tracer: ProgramTracer
    index: int


@dataclass(eq=False)
class TracedHeads(Opaque):
    """Queries, keys or values between `qkv` and `attend`."""

    source: Symbol
    part: int
    fields: dict[str, Any]


@dataclass(frozen=True)
class KVDtypes:
    """The dtypes of keys and values: those of past tokens, and those of an encoder."""

    own: KVDtype = KVDtype.F32
    crossed: KVDtype = KVDtype.F32

    @staticmethod
    def of(kv: TorchKVCache) -> KVDtypes:
        return KVDtypes({8: KVDtype.INT8, 4: KVDtype.INT4}.get(kv.bits, FLOATS[kv.plain]), FLOATS[kv.dtype])

    def group(self, dim: int) -> int:
        """The quantization group: how many numbers of a head share a scale."""
        return group_of(dim) if self.own in (KVDtype.INT8, KVDtype.INT4) else dim


IN_FLOATS = KVDtypes()


class ProgramTracer:
    """Writes the program's instructions. Also stands in for the step's `Cache`."""

    TOKENS = 7919  # unlikely to equal any width

    def __init__(
        self, width: int, specs: list[KVSpec | CrossSpec], memory: KVDtypes, adapters: Sequence[str] = ()
    ) -> None:
        self.specs, self.memory, self.adapters = specs, memory, list(adapters)
        self.lines: list[ProgramOp] = []
        self.widths = [width]
        self.ropes: list[Rope] = []
        self.keep: list[object] = []
        self.x = Symbol(self, 0, (self.TOKENS, width))

    def _new(self, width: int) -> Symbol:
        self.widths.append(width)
        return Symbol(self, len(self.widths) - 1, (self.TOKENS, width))

    def _write(self, what: Opcode, reads: list[Symbol], writes: list[Symbol], **fields: Any) -> None:
        self.keep += fields.values()
        self.lines.append(ProgramOp(what, [s.register for s in reads], [s.register for s in writes], fields))

    def weights(self, w: Tensor | None) -> Tensor | None:
        return None if w is None else w.float().contiguous()

    # -- operations and cache, as a model calls them

    def multiply(self, linear: KernelLinear, x: Symbol) -> Symbol:
        if len(linear.shape) != 2 or x.shape != (self.TOKENS, linear.columns):
            raise NotTraceable("a product of another shape")
        out, at = self._new(linear.out), 0
        for matrix in linear.matrices:
            self._write(Opcode.MULTIPLY, [x], [out], matrix=matrix, at=at)
            at += matrix.rows_each
        return out

    def add(self, sides: Sides, x: Symbol, y: Symbol) -> Symbol:
        """See `backends.adapters.ActiveAdapters`."""
        places = {(side.start, side.stop) for adapter in self.adapters for side in sides.get(adapter, ())}
        for start, stop in sorted(places):
            table = (LowRankSide * len(self.adapters))()
            for i, adapter in enumerate(self.adapters):
                for side in sides.get(adapter, ()):
                    if (side.start, side.stop) == (start, stop):
                        table[i] = LowRankSide(*map(self._address, (side.a, side.b)))
            self._write(Opcode.LOW_RANK, [x, y], [y], sides=table, at=start)
        return y

    def _address(self, linear: Any) -> int:
        """Of the one matrix of a linear that the kernels multiply."""
        if not isinstance(linear, KernelLinear) or len(linear.matrices) != 1:
            raise NotTraceable("an adapter that the kernels do not hold")
        self.keep.append(linear)
        return ctypes.addressof(linear.matrices[0].matrix)

    def mixture(self, mixture: KernelMixture, x: Symbol, scores: Symbol) -> Symbol:
        if x.shape != (self.TOKENS, mixture.columns) or scores.shape != (self.TOKENS, mixture.experts):
            raise NotTraceable("a mixture of another shape")
        out = self._new(mixture.out)
        self._write(Opcode.MIXTURE, [x, scores], [out], mixture=mixture)
        return out

    def norm(self, x: Symbol, w: Tensor, eps: float) -> Symbol:
        out = self._new(x.shape[-1])
        self._write(Opcode.NORM, [x], [out], w=self.weights(w), eps=eps)
        return out

    def add_norm(self, x: Symbol, residual: Symbol, w: Tensor, eps: float) -> tuple[Symbol, Symbol]:
        out, total = self._new(x.shape[-1]), self._new(x.shape[-1])
        self._write(Opcode.ADD_NORM, [x, residual], [out, total], w=self.weights(w), eps=eps)
        return total, out

    def layer_norm(self, x: Symbol, w: Tensor, b: Tensor | None, eps: float) -> Symbol:
        out = self._new(x.shape[-1])
        self._write(Opcode.LAYER_NORM, [x], [out], w=self.weights(w), w2=self.weights(b), eps=eps)
        return out

    def swiglu(self, x: Symbol, gate_last: bool) -> Symbol:
        half = x.shape[-1] // 2
        out = self._new(half)
        last = self.lines[-2:] if self.lines and self.lines[-1].opcode is Opcode.MULTIPLY else []  # not an adapter's
        products = [line for line in last if line.opcode is Opcode.MULTIPLY and line.writes == [x.register]]
        matrices = [line.fields["matrix"] for line in products]
        whole = len(products) == 1 and matrices[0].rows_each == x.shape[-1] and half % PANEL == 0
        if not gate_last and (
            whole or (len(products) == 2 and alike(*matrices))
        ):  # the product writes the gated result itself
            del self.lines[-len(products) :]
            up = {} if whole else {"up": matrices[1]}
            self._write(Opcode.GATE, [Symbol(self, products[0].reads[0], ())], [out], matrix=matrices[0], **up)
        else:
            self._write(Opcode.SWIGLU, [x], [out], at=half if gate_last else 0)
        return out

    def geglu(self, x: Symbol) -> Symbol:
        out = self._new(x.shape[-1] // 2)
        self._write(Opcode.GEGLU, [x], [out])
        return out

    def sum(self, x: Symbol, y: Symbol) -> Symbol:
        out = self._new(x.shape[-1])
        self._write(Opcode.ADD, [x, y], [out])
        return out

    def angles(self, rope: Rope) -> TracedAngles:
        self.ropes.append(rope)
        return TracedAngles(self, len(self.ropes) - 1)

    def heads(
        self, x: Symbol, angles: TracedAngles | None, rotary_dims: int, **fields: Any
    ) -> tuple[TracedHeads, TracedHeads, TracedHeads]:
        fields |= {"rotary_dim": rotary_dims, "angles": 0 if angles is None else angles.index}
        q, k, v = (TracedHeads(x, part, fields) for part in range(3))
        return q, k, v

    def attend(
        self,
        layer: int,
        q: TracedHeads,
        k: TracedHeads | None,
        v: TracedHeads | None,
        scale: float,
        sinks: Tensor | None = None,
    ) -> Symbol:
        if sinks is not None or k is None or v is None:
            raise NotTraceable("attention sinks, or another layer's keys and values")
        if [h.part for h in (q, k, v)] != [0, 1, 2] or not (q.source is k.source is v.source):
            raise NotTraceable("attention of heads that are not one projection's")
        f, spec = q.fields, self.specs[layer]
        if not isinstance(spec, KVSpec) or (f["kv_heads"], f["dim"]) != (spec.heads, spec.dim):
            raise NotTraceable("heads unlike the memory's")
        kept = {"kv_dtype": self.memory.own, "group": self.memory.group(spec.dim)}
        if spec.window is not None:
            kept["rows"] = spec.rows_in(EVERY)
        self._write(Opcode.HEADS, [q.source], [q.source], layer=layer, **f, **kept)
        out = self._new(f["heads"] * f["dim"])
        sizes = {name: f[name] for name in ("heads", "kv_heads", "dim")} | kept
        self._write(Opcode.ATTENTION, [q.source], [out], layer=layer, scale=scale, window=spec.window or 0, **sizes)
        return Symbol(self, out.register, (self.TOKENS, f["heads"], f["dim"]))

    def attend_latent(self, *_: Any) -> NoReturn:
        raise NotTraceable("latent attention")

    def cross(self, layer: int, q: Symbol, scale: float) -> Symbol:
        spec, (_, heads, dim) = self.specs[layer], q.shape
        if not isinstance(spec, CrossSpec) or dim != spec.dim:
            raise NotTraceable("heads unlike the encoder's")
        out = self._new(heads * dim)
        sizes = {"heads": heads, "kv_heads": spec.heads, "dim": dim, "group": dim}
        self._write(Opcode.CROSS_ATTENTION, [q], [out], layer=layer, scale=scale, kv_dtype=self.memory.crossed, **sizes)
        return Symbol(self, out.register, q.shape)

    def gelu(self, x: Symbol) -> Symbol:
        out = self._new(x.shape[-1])
        self._write(Opcode.GELU, [x], [out])
        return out

    def encoder_attention(
        self, q: TracedHeads, k: TracedHeads, v: TracedHeads, scale: float, window: tuple[int, int] | None
    ) -> Symbol:
        """See `backends.base.EncoderAttention`."""
        if [h.part for h in (q, k, v)] != [0, 1, 2] or not (q.source is k.source is v.source):
            raise NotTraceable("attention of heads that are not one projection's")
        if q.fields["dim"] < PANEL:
            raise NotTraceable("heads smaller than a register")
        back, ahead = (0, EVERY) if window is None else window
        sizes = {name: q.fields[name] for name in ("heads", "kv_heads", "dim")}
        self._write(Opcode.HEADS, [q.source], [q.source], layer=-1, **q.fields)
        out = self._new(sizes["heads"] * sizes["dim"])
        self._write(Opcode.ENCODER_ATTENTION, [q.source], [out], scale=scale, window=back, ahead=ahead, **sizes)
        return Symbol(self, out.register, (self.TOKENS, sizes["heads"], sizes["dim"]))

    def conv(self, *_: Any) -> NoReturn:
        raise NotTraceable("recurrent states")

    delta = scan = conv


class TracingOps(TorchTextOps):
    """Operations that record themselves when their input is a symbol."""

    def angles(self, pos: Any, rope: Rope) -> Any:
        if isinstance(pos, TracedPositions):
            return pos.tracer.angles(rope)
        return super().angles(pos, rope)

    def qkv(
        self,
        x: Any,
        heads: int,
        kv_heads: int,
        dim: int,
        angles: Any = None,
        q_norm: Tensor | None = None,
        k_norm: Tensor | None = None,
        eps: float = 1e-6,
        norm_after_rope: bool = False,
    ) -> Any:
        if not isinstance(x, Symbol):
            return super().qkv(x, heads, kv_heads, dim, angles, q_norm, k_norm, eps, norm_after_rope)
        rope = None if angles is None else x.tracer.ropes[angles.index]
        return x.tracer.heads(
            x,
            angles,
            rope.dims if rope else 0,
            pairs=rope.pairs if rope else False,
            heads=heads,
            kv_heads=kv_heads,
            dim=dim,
            w=x.tracer.weights(q_norm),
            w2=x.tracer.weights(k_norm),
            eps=eps,
            norm_after_rope=norm_after_rope,
        )

    def rms_norm(self, x: Any, w: Tensor | None, eps: float) -> Any:
        if isinstance(x, Symbol) and w is not None:
            return x.tracer.norm(x, w, eps)
        return super().rms_norm(x, w, eps)

    def add_rms_norm(self, x: Any, residual: Any, w: Tensor, eps: float) -> Any:
        if isinstance(x, Symbol) and isinstance(residual, Symbol):
            return x.tracer.add_norm(x, residual, w, eps)
        return super().add_rms_norm(x, residual, w, eps)

    def layer_norm(self, x: Any, w: Tensor | None, b: Tensor | None, eps: float) -> Any:
        if isinstance(x, Symbol) and w is not None:
            return x.tracer.layer_norm(x, w, b, eps)
        return super().layer_norm(x, w, b, eps)

    def gelu(self, x: Any) -> Any:
        return x.tracer.gelu(x) if isinstance(x, Symbol) else super().gelu(x)

    def geglu(self, x: Any) -> Any:
        return x.tracer.geglu(x) if isinstance(x, Symbol) else super().geglu(x)

    def swiglu(self, x: Any, gate_last: bool = False) -> Any:
        return x.tracer.swiglu(x, gate_last) if isinstance(x, Symbol) else super().swiglu(x, gate_last)


class TracedModel:
    """A model as one program over one KV cache. Made by `trace_model`."""

    def __init__(self, traced: Trace, kv: TorchKVCache, ops: TorchTextOps) -> None:
        self.program, self.kv = traced.program, kv
        self._rotary = [RotaryCache(ops, rope) for rope in traced.ropes]
        self._own = {layer: spec for layer, spec in enumerate(kv.specs) if isinstance(spec, KVSpec)}
        self._crossed = [layer for layer, spec in enumerate(kv.specs) if isinstance(spec, CrossSpec)]
        self._adapters = {name: i for i, name in enumerate(traced.adapters)}
        # capacity -> addresses, rows' bytes and tokens' bytes, [own, 4]
        self._slabs: dict[int, tuple[np.ndarray, np.ndarray, np.ndarray]] = {}
        self._last: tuple[list[Any], np.ndarray] = [], np.empty(0, np.int64)  # places of the last run's
        self._version = -1
        self._cross: dict[int, _CrossAddresses] = {}  # by slot id

    def run(self, plan: StepPlan, x: Tensor, runs: Sequence[AdapterRun] = ()) -> Tensor:
        """The hidden states of all packed tokens, overwritten by the next run."""
        if self._version != self.kv.version:
            self._slabs.clear()
            self._last = [], np.empty(0, np.int64)
            self._version = self.kv.version
        spans = np.array([(s.start, len(s), s.past, s.slot.capacity, 0) for s in plan.segments], np.int64)
        memory = self._memory([packed.slot for packed in plan.segments])
        if self._crossed:
            for i, packed in enumerate(plan.segments):
                memory[self._crossed, i, :2], spans[i, 4] = self._cross_memory(packed.slot)
        angles = [part for rotary in self._rotary for part in rotary.at(plan.pos)]
        table = (
            np.array([(r.start, r.stop - r.start, self._adapters[r.adapter]) for r in runs], np.int64) if runs else None
        )
        return self.program.run(x.contiguous(), spans, memory, angles, table)  # any float: the registers are f32

    def _memory(self, slots: Sequence[Slot]) -> np.ndarray:
        """Addresses of each layer's keys and values of each slot, `[layers, slots, 4]`. Most steps reuse the last step's."""
        places = [(slot.capacity, slot.place.row, *slot.place.firsts.items()) for slot in slots]
        if self._last[0] != places:
            own = list(self._own)
            memory = np.zeros((len(self.kv.specs), len(slots), 4), np.int64)
            for i, slot in enumerate(slots):
                base, row_bytes, token_bytes = self._slab(slot.capacity)
                # where position 0 would lie: the kernels count from there, and read nothing before the first that is kept
                firsts = np.array([[slot.place.first(spec)] for spec in self._own.values()], np.int64)
                memory[own, i] = base + slot.place.row * row_bytes - firsts * token_bytes
            self._last = places, memory
        return self._last[1]

    def _slab(self, capacity: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        found = self._slabs.get(capacity)
        if found is None:
            pairs = [self.kv.slabs[capacity][layer] for layer in self._own]
            found = self._slabs[capacity] = (
                _places(pairs, lambda p: p.data_ptr()),
                _places(pairs, lambda p: p.stride(0) * p.itemsize),
                _places(pairs, lambda p: p.stride(2) * p.itemsize),
            )
        return found

    def _cross_memory(self, slot: Slot) -> tuple[np.ndarray, int]:
        """Addresses of a sequence's encoder keys and values, `[cross layers, 2]`, and their length."""
        stored = self.kv.cross.get(slot.id)
        known = self._cross.get(slot.id)
        if known is not None and known.stored is stored:
            return known.places, known.length
        pairs = [self.kv.cross_of(slot, layer) for layer in self._crossed]
        lengths = {part.shape[1] for pair in pairs for part in pair}
        if len(lengths) != 1 or 0 in lengths:
            raise ValueError(
                f"slot {slot.id} has no encoder keys, or not of one length, in every layer: put them first"
            )
        places = np.array([[k.data_ptr(), v.data_ptr()] for k, v in pairs], np.int64)
        self._cross = {key: value for key, value in self._cross.items() if key in self.kv.cross}
        self._cross[slot.id] = found = _CrossAddresses(stored, places, lengths.pop())
        return found.places, found.length


@dataclass(frozen=True)
class _CrossAddresses:
    """Addresses of a sequence's encoder keys and values; valid while the KV cache still holds `stored`."""

    stored: object
    places: np.ndarray
    length: int


def _places(pairs: Sequence[tuple[Slab, ...]], what: Callable[[Tensor], int]) -> np.ndarray:
    """`what` of the planes of each layer's keys and values, `[layers, 4]` in the order of src/step.hpp; 0 where there is none."""
    made = np.zeros((len(pairs), 4), np.int64)
    for row, pair in zip(made, pairs):
        for i, slab in enumerate(pair):
            row[i::2][: len(slab.planes)] = [what(plane) for plane in slab.planes]
    return made


def trace_model(
    model: TokenModel, kv: TorchKVCache, ops: TorchTextOps, width: int, adapted: bool = False
) -> TracedModel | None:
    """The model as one program; None where the kernels cannot run the model or read its KV dtype. `adapted`: with what its
    adapters add, for steps in which some take part."""
    traced = _trace(model, width, KVDtypes.of(kv), adapted)
    return None if traced is None else TracedModel(traced, kv, ops)


def can_be_traced(model: TokenModel) -> bool:
    with torch.inference_mode():
        return _trace(model, model.embed(torch.zeros(1, dtype=torch.int64)).shape[1], IN_FLOATS) is not None


def _trace(model: TokenModel, width: int, memory: KVDtypes, adapted: bool = False) -> Trace | None:
    specs = [spec for spec in model.memory if isinstance(spec, KVSpec | CrossSpec)]
    return trace(model, specs, width, memory, adapted) if len(specs) == len(model.memory) else None


@dataclass(frozen=True)
class Trace:
    """A traced program, and the ropes whose angles it takes as inputs."""

    program: Program
    ropes: list[Rope]
    adapters: list[str]


def trace(
    call: Callable[[Step], Any],
    specs: Sequence[KVSpec | CrossSpec],
    width: int,
    memory: KVDtypes = IN_FLOATS,
    adapted: bool = False,
) -> Trace | None:
    """`call` as a program over inputs `[tokens, width]`; None where it uses an operation without an instruction."""
    if any(spec.dim < PANEL for spec in specs):
        return None
    if any(spec.v_dim not in (None, spec.dim) for spec in specs if isinstance(spec, KVSpec)):
        return None
    adapters = adapters_of(call) if adapted else None
    tracer = ProgramTracer(width, list(specs), memory, adapters.names if adapters else ())
    try:
        with nullcontext() if adapters is None else adapters.using(tracer):
            hidden = call(Step(tracer.x, TracedPositions(tracer), tracer))
    except NotTraceable:
        return None
    if not isinstance(hidden, Symbol) or len(hidden.shape) != 2:
        return None
    program = Program(tracer.lines, tracer.widths, hidden.register, [*tracer.keep, call])
    return Trace(program, tracer.ropes, tracer.adapters)
