"""Symbols that stand for the arrays of a pass, and the recorder that writes down what a model does with them.

What no instruction stands for makes the recording fail: see `recorded.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import torch
from torch import Tensor

from backends.base import CrossSpec, KVSpec, Rope
from backends.groups import group_of
from backends.torch.kernels.formats import PANEL, Kept
from backends.torch.kernels.linear import AnyMatrix, KernelLinear, Noted
from backends.torch.kernels.program import Do, Line
from backends.torch.kv import TorchKV

EVERY = 1 << 40  # more tokens than there are
FLOATS = {torch.float32: Kept.F32, torch.float16: Kept.F16, torch.bfloat16: Kept.BF16}


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


@dataclass(frozen=True)
class Memory:
    """How keys and values are kept: those of past tokens, and those of an encoder."""

    own: Kept = Kept.F32
    crossed: Kept = Kept.F32

    @staticmethod
    def of(kv: TorchKV) -> Memory:
        return Memory({8: Kept.BYTES, 4: Kept.NIBBLES}.get(kv.bits, FLOATS[kv.plain]), FLOATS[kv.dtype])

    def group(self, dim: int) -> int:
        """How many numbers of a head share a scale."""
        return group_of(dim) if self.own in (Kept.BYTES, Kept.NIBBLES) else dim


IN_FLOATS = Memory()


class Recorder:
    """Writes the program. Plays the cache's part as well."""

    TOKENS = 7919  # a number that no width is mistaken for

    def __init__(self, width: int, specs: list[KVSpec | CrossSpec], memory: Memory) -> None:
        self.specs, self.memory = specs, memory
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
        if len(linear.shape) != 2 or x.shape != (self.TOKENS, linear.columns):
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
        kept = {"kept": self.memory.own, "group": self.memory.group(spec.dim)}
        self._write(Do.HEADS, [q.source], [q.source], layer=layer, **f, **kept)
        out = self._new(f["heads"] * f["dim"])
        sizes = {name: f[name] for name in ("heads", "kv_heads", "dim")} | kept
        self._write(Do.ATTEND, [q.source], [out], layer=layer, scale=scale, window=spec.window or 0, **sizes)
        return Symbol(self, out.register, (self.TOKENS, f["heads"], f["dim"]))

    def cross(self, layer: int, q: Symbol, scale: float) -> Symbol:
        spec, (_, heads, dim) = self.specs[layer], q.shape
        if not isinstance(spec, CrossSpec) or dim != spec.dim:
            raise NotRecorded("heads unlike the encoder's")
        out = self._new(heads * dim)
        sizes = {"heads": heads, "kv_heads": spec.heads, "dim": dim, "group": dim}
        self._write(Do.CROSS, [q], [out], layer=layer, scale=scale, kept=self.memory.crossed, **sizes)
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
