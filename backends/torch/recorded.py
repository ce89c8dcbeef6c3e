"""A model's layers as one call of the CPU kernels.

The model is run once on symbols, which note what is asked of them: products, norms, heads and attention, the gate. What
they noted becomes a `Program`; from then on every step, prompts and decoding alike, runs it instead of the model's Python.
So no model knows of this, and any model may do what it likes: what a symbol cannot note makes the recording fail, and
the model goes on being run operation by operation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import torch
from torch import Tensor

from backends.base import CrossSpec, KVSpec, Model, Rope, Slot, StateSpec, Step
from backends.plan import Plan
from backends.torch.kernels.formats import PANEL
from backends.torch.kernels.linear import AnyMatrix, KernelLinear, Noted
from backends.torch.kernels.program import Do, Line, Program
from backends.torch.kv import TorchKV
from backends.torch.ops import Angles, TextOps

EVERY = 1 << 40  # more tokens than there are


class NotRecorded(Exception):
    """The model did something that no instruction stands for."""


class Opaque:
    """Refuses all that its subclasses do not define, and any torch function that it is given to."""

    def __getattr__(self, name: str) -> NoReturn:
        raise NotRecorded(name)

    @classmethod
    def __torch_function__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> NoReturn:
        raise NotRecorded(str(function))

    def _refuse(self, *_: Any) -> NoReturn:
        raise NotRecorded("an operator")

    __getitem__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __matmul__ = __neg__ = __bool__ = _refuse
    __rmatmul__ = __rtruediv__ = __pow__ = __float__ = __int__ = __iter__ = _refuse


@dataclass(eq=False)
class Symbol(Opaque, Noted):
    """An array of the pass: a register, seen in a shape."""

    recorder: Recorder
    register: int
    shape: tuple[int, ...]
    dtype: torch.dtype = torch.float32

    def reshape(self, *shape: int) -> Symbol:
        width = self.recorder.widths[self.register]
        rest = [n for n in shape[1:] if n != -1]
        if (
            shape[0] not in (self.shape[0], -1)
            or list(shape).count(-1) > 1
            or (-1 not in shape and np.prod(rest) != width)
        ):
            raise NotRecorded("a reshape that moves tokens")
        if -1 in shape[1:]:
            shape = tuple(width // int(np.prod(rest)) if n == -1 else n for n in shape)
        return Symbol(self.recorder, self.register, (self.shape[0], *shape[1:]))

    def product(self, linear: KernelLinear) -> Symbol:
        return self.recorder.multiply(linear, self)

    def __add__(self, other: object) -> Symbol:
        if not isinstance(other, Symbol) or other.shape != self.shape:
            raise NotRecorded("a sum with something that is not of the pass")
        return self.recorder.add(self, other)


@dataclass(eq=False)
class Positions(Opaque):
    recorder: Recorder


@dataclass(eq=False)
class Turn(Opaque):
    """The angles of one rope."""

    recorder: Recorder
    index: int


@dataclass(eq=False)
class HeadSymbol(Opaque):
    """Queries, keys or values, which exist only between `qkv` and `attend`."""

    source: Symbol
    part: int
    fields: dict[str, Any]


class Recorder:
    """Writes the program. Plays the cache's part as well."""

    TOKENS = 7919  # a number that no width is mistaken for

    def __init__(self, width: int, specs: list[KVSpec | CrossSpec]) -> None:
        self.specs = specs
        self.lines: list[Line] = []
        self.widths = [width]
        self.ropes: list[Rope] = []
        self.keep: list[object] = []
        self.x = Symbol(self, 0, (self.TOKENS, width))

    def _new(self, width: int) -> Symbol:
        self.widths.append(width)
        return Symbol(self, len(self.widths) - 1, (self.TOKENS, width))

    def _write(self, what: Do, reads: list[Symbol], writes: list[Symbol], **fields: Any) -> None:
        self.keep += fields.values()
        self.lines.append(Line(what, [s.register for s in reads], [s.register for s in writes], fields))

    def weights(self, w: Tensor | None) -> Tensor | None:
        return None if w is None else w.float().contiguous()

    # -- what a model asks for

    def multiply(self, linear: KernelLinear, x: Symbol) -> Symbol:
        if len(linear.shape) != 2 or x.shape != (self.TOKENS, linear.columns) or linear.dtype != torch.float32:
            raise NotRecorded("a product of another shape")
        out, at = self._new(linear.out), 0
        for matrix in linear.matrices:
            self._write(Do.MULTIPLY, [x], [out], matrix=matrix, at=at)
            at += matrix.rows_each
        return out

    def norm(self, x: Symbol, w: Tensor, eps: float) -> Symbol:
        out = self._new(x.shape[-1])
        self._write(Do.NORM, [x], [out], w=self.weights(w), eps=eps)
        return out

    def add_norm(self, x: Symbol, residual: Symbol, w: Tensor, eps: float) -> tuple[Symbol, Symbol]:
        out, total = self._new(x.shape[-1]), self._new(x.shape[-1])
        self._write(Do.ADD_NORM, [x, residual], [out, total], w=self.weights(w), eps=eps)
        return total, out

    def layer_norm(self, x: Symbol, w: Tensor, b: Tensor | None, eps: float) -> Symbol:
        out = self._new(x.shape[-1])
        self._write(Do.LAYER_NORM, [x], [out], w=self.weights(w), w2=self.weights(b), eps=eps)
        return out

    def swiglu(self, x: Symbol, gate_last: bool) -> Symbol:
        half = x.shape[-1] // 2
        out = self._new(half)
        products = [line for line in self.lines[-2:] if line.what is Do.MULTIPLY and line.writes == [x.register]]
        matrices = [line.fields["matrix"] for line in products]
        whole = len(products) == 1 and matrices[0].rows_each == x.shape[-1] and half % PANEL == 0
        if not gate_last and (
            whole or (len(products) == 2 and alike(*matrices))
        ):  # the product itself writes what is gated
            del self.lines[-len(products) :]
            up = {} if whole else {"up": matrices[1]}
            self._write(Do.GATE, [Symbol(self, products[0].reads[0], ())], [out], matrix=matrices[0], **up)
        else:
            self._write(Do.SWIGLU, [x], [out], at=half if gate_last else 0)
        return out

    def add(self, x: Symbol, y: Symbol) -> Symbol:
        out = self._new(x.shape[-1])
        self._write(Do.ADD, [x, y], [out])
        return out

    def angles(self, rope: Rope) -> Turn:
        self.ropes.append(rope)
        return Turn(self, len(self.ropes) - 1)

    def heads(
        self, x: Symbol, turn: Turn | None, turned: int, **fields: Any
    ) -> tuple[HeadSymbol, HeadSymbol, HeadSymbol]:
        fields |= {"turned": turned, "angles": 0 if turn is None else turn.index}
        q, k, v = (HeadSymbol(x, part, fields) for part in range(3))
        return q, k, v

    def attend(self, layer: int, q: HeadSymbol, k: HeadSymbol, v: HeadSymbol, scale: float) -> Symbol:
        if [h.part for h in (q, k, v)] != [0, 1, 2] or not (q.source is k.source is v.source):
            raise NotRecorded("attention of heads that are not one projection's")
        f, spec = q.fields, self.specs[layer]
        if not isinstance(spec, KVSpec) or (f["kv_heads"], f["dim"]) != (spec.heads, spec.dim):
            raise NotRecorded("heads unlike the memory's")
        self._write(Do.HEADS, [q.source], [q.source], layer=layer, **f)
        out = self._new(f["heads"] * f["dim"])
        sizes = {name: f[name] for name in ("heads", "kv_heads", "dim")}
        self._write(Do.ATTEND, [q.source], [out], layer=layer, scale=scale, window=spec.window or 0, **sizes)
        return Symbol(self, out.register, (self.TOKENS, f["heads"], f["dim"]))

    def cross(self, layer: int, q: Symbol, scale: float) -> Symbol:
        spec, (_, heads, dim) = self.specs[layer], q.shape
        if not isinstance(spec, CrossSpec) or dim != spec.dim:
            raise NotRecorded("heads unlike the encoder's")
        out = self._new(heads * dim)
        self._write(Do.CROSS, [q], [out], layer=layer, scale=scale, heads=heads, kv_heads=spec.heads, dim=dim)
        return Symbol(self, out.register, q.shape)

    def gelu(self, x: Symbol) -> Symbol:
        out = self._new(x.shape[-1])
        self._write(Do.GELU, [x], [out])
        return out

    def among(
        self, q: HeadSymbol, k: HeadSymbol, v: HeadSymbol, scale: float, window: tuple[int, int] | None
    ) -> Symbol:
        """See `backends.base.Among`."""
        if [h.part for h in (q, k, v)] != [0, 1, 2] or not (q.source is k.source is v.source):
            raise NotRecorded("attention of heads that are not one projection's")
        if q.fields["dim"] < PANEL:
            raise NotRecorded("heads smaller than a register")
        back, ahead = (0, EVERY) if window is None else window
        sizes = {name: q.fields[name] for name in ("heads", "kv_heads", "dim")}
        self._write(Do.HEADS, [q.source], [q.source], layer=-1, **q.fields)
        out = self._new(sizes["heads"] * sizes["dim"])
        self._write(Do.AMONG, [q.source], [out], scale=scale, window=back, ahead=ahead, **sizes)
        return Symbol(self, out.register, (self.TOKENS, sizes["heads"], sizes["dim"]))

    def conv(self, *_: Any) -> NoReturn:
        raise NotRecorded("recurrent states")

    delta = conv


def alike(a: AnyMatrix, b: AnyMatrix) -> bool:
    same = a.rows_each == b.rows_each and a.matrix.row_bytes == b.matrix.row_bytes
    return same and bytes(a.matrix.format) == bytes(b.matrix.format)


class RecordedOps(TextOps):
    """Operations that note themselves when they are given symbols."""

    def angles(self, pos: Any, rope: Rope) -> Any:
        if isinstance(pos, Positions):
            return pos.recorder.angles(rope)
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
        rope = None if angles is None else x.recorder.ropes[angles.index]
        return x.recorder.heads(
            x,
            angles,
            rope.dims if rope else 0,
            pairs=rope.pairs if rope else False,
            heads=heads,
            kv_heads=kv_heads,
            dim=dim,
            w=x.recorder.weights(q_norm),
            w2=x.recorder.weights(k_norm),
            eps=eps,
            norm_after_rope=norm_after_rope,
        )

    def rms_norm(self, x: Any, w: Tensor | None, eps: float) -> Any:
        if isinstance(x, Symbol) and w is not None:
            return x.recorder.norm(x, w, eps)
        return super().rms_norm(x, w, eps)

    def add_rms_norm(self, x: Any, residual: Any, w: Tensor, eps: float) -> Any:
        if isinstance(x, Symbol) and isinstance(residual, Symbol):
            return x.recorder.add_norm(x, residual, w, eps)
        return super().add_rms_norm(x, residual, w, eps)

    def layer_norm(self, x: Any, w: Tensor | None, b: Tensor | None, eps: float) -> Any:
        if isinstance(x, Symbol) and w is not None:
            return x.recorder.layer_norm(x, w, b, eps)
        return super().layer_norm(x, w, b, eps)

    def gelu(self, x: Any) -> Any:
        return x.recorder.gelu(x) if isinstance(x, Symbol) else super().gelu(x)

    def swiglu(self, x: Any, gate_last: bool = False) -> Any:
        return x.recorder.swiglu(x, gate_last) if isinstance(x, Symbol) else super().swiglu(x, gate_last)


class RecordedModel:
    """One model on one store, recorded. Made by `record`."""

    def __init__(self, recording: Recording, kv: TorchKV, ops: TextOps) -> None:
        self.program, self.ropes, self.kv, self.ops = recording.program, recording.ropes, kv, ops
        self._own = [layer for layer, spec in enumerate(kv.specs) if isinstance(spec, KVSpec)]
        self._crossed = [layer for layer, spec in enumerate(kv.specs) if isinstance(spec, CrossSpec)]
        self._slabs: dict[int, tuple[np.ndarray, np.ndarray]] = {}  # capacity -> addresses and rows' bytes, [own, 2]
        self._version = -1

    def run(self, plan: Plan, x: Tensor, pos: Tensor) -> Tensor:
        """The hidden states of all packed tokens, overwritten by the next run."""
        if self._version != self.kv.version:
            self._slabs.clear()
            self._version = self.kv.version
        spans = np.array([(s.start, len(s), s.past, s.slot.capacity, 0) for s in plan.spans], np.int64)
        memory = np.empty((len(self.kv.specs), len(plan.spans), 2), np.int64)
        for i, span in enumerate(plan.spans):
            base, row_bytes = self._slab(span.slot.capacity)
            memory[self._own, i] = base + span.slot.place.row * row_bytes
            if self._crossed:
                memory[self._crossed, i], spans[i, 4] = self._heard(span.slot)
        angles: list[Tensor] = []
        for rope in self.ropes:
            turned: Angles = self.ops.angles(pos, rope)
            angles += [turned.cos.contiguous(), turned.sin.contiguous()]
        return self.program.run(x.contiguous(), spans, memory, angles)

    def _slab(self, capacity: int) -> tuple[np.ndarray, np.ndarray]:
        found = self._slabs.get(capacity)
        if found is None:
            pairs = [self.kv.slabs[capacity][layer] for layer in self._own]
            planes = [[slab.planes[0] for slab in pair] for pair in pairs]
            addresses = np.array([[plane.data_ptr() for plane in pair] for pair in planes], np.int64)
            rows = np.array([[plane.stride(0) * plane.itemsize for plane in pair] for pair in planes], np.int64)
            found = self._slabs[capacity] = (addresses, rows)
        return found

    def _heard(self, slot: Slot) -> tuple[np.ndarray, int]:
        """Where a sequence's encoder keys and values lie, `[crossed, 2]`, and how many there are."""
        pairs = [self.kv.cross_of(slot, layer) for layer in self._crossed]
        lengths = {part.shape[1] for pair in pairs for part in pair}
        if len(lengths) != 1 or 0 in lengths:
            raise ValueError(
                f"slot {slot.id} has no encoder keys, or not of one length, in every layer: put them first"
            )
        return np.array([[k.data_ptr(), v.data_ptr()] for k, v in pairs], np.int64), lengths.pop()


def record(model: Model, kv: TorchKV, ops: TextOps, width: int) -> RecordedModel | None:
    """None where the model, or the form in which its memory is kept, is not what the kernels run."""
    specs = [spec for spec in kv.specs if not isinstance(spec, StateSpec)]
    if kv.dtype != torch.float32 or len(specs) != len(kv.specs) or not kv.plain:
        return None
    recording = watch(model, specs, width)
    return None if recording is None else RecordedModel(recording, kv, ops)


@dataclass(frozen=True)
class Recording:
    """What watching gave: the program, and the ropes whose angles it is to be given."""

    program: Program
    ropes: list[Rope]


def watch(call: Callable[[Step], Any], specs: Sequence[KVSpec | CrossSpec], width: int) -> Recording | None:
    """`call` as a program over inputs `[tokens, width]`; None where it does what no instruction stands for."""
    if any(spec.dim < PANEL for spec in specs):
        return None
    if any(spec.v_dim not in (None, spec.dim) for spec in specs if isinstance(spec, KVSpec)):
        return None
    recorder = Recorder(width, list(specs))
    try:
        hidden = call(Step(recorder.x, Positions(recorder), recorder))
    except NotRecorded:
        return None
    if not isinstance(hidden, Symbol) or len(hidden.shape) != 2:
        return None
    program = Program(recorder.lines, recorder.widths, hidden.register, [*recorder.keep, call])
    return Recording(program, recorder.ropes)
