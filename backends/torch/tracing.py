"""Tracing a model's layers into one program of the CPU kernels.

The model is run once on symbols (symbols.py) that record its operations: products, norms, heads and attention, gated activations,
recurrent layers, and functions of single numbers for what has no fused operation. The recording becomes a `Program`, which then runs
every step, prompts and decoding alike, instead of the model's Python. Models need no change for this: an operation without an
instruction raises `NotTraceable`, and the model runs operation by operation. Weights, keys and values may have 16 bits or fewer;
activations are f32.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from backends.adapters import Sides, adapters_of
from backends.base import CrossSpec, DistanceKeys, KVSpec, LatentHeads, MemorySpec, Rope, StateSpec, Step, TokenModel
from backends.kv_cache import group_of, recent_tokens, source_of
from backends.torch.kernels.formats import PANEL, KVDtype
from backends.torch.kernels.library import LowRankSide
from backends.torch.kernels.linear import KernelLinear, SymbolicIds, alike, is_quantized
from backends.torch.kernels.mixture import KernelMixture
from backends.torch.kv_cache import TorchKVCache
from backends.torch.ops import TorchTextOps
from backends.torch.program import (
    CONV_CHUNK,
    NO_VIEW,
    GateKind,
    MapFunction,
    Opcode,
    OperandView,
    Program,
    ProgramOp,
    Trace,
    TracedModel,
)
from backends.torch.symbols import NotTraceable, Opaque, Symbol, merged

EVERY = 1 << 40  # more tokens than there are
FLOATS = {torch.float32: KVDtype.F32, torch.float16: KVDtype.F16, torch.bfloat16: KVDtype.BF16}


@dataclass(eq=False)
class TracedPositions(Opaque):
    tracer: ProgramTracer


@dataclass(eq=False)
class TracedIds(Opaque, SymbolicIds):
    tracer: ProgramTracer

    def rows(self, linear: KernelLinear) -> Symbol:
        return self.tracer.rows(linear)


@dataclass(eq=False)
class TracedAngles(Opaque):
    """The angles of one rope."""

    tracer: ProgramTracer
    index: int


@dataclass(frozen=True)
class KVDtypes:
    """The dtypes of keys and values: those of past tokens, and those of an encoder; and of convolutions' last inputs."""

    own: KVDtype = KVDtype.F32
    crossed: KVDtype = KVDtype.F32
    state: KVDtype = KVDtype.F32

    @staticmethod
    def of(kv: TorchKVCache) -> KVDtypes:
        own = {8: KVDtype.INT8, 4: KVDtype.INT4}.get(kv.bits, FLOATS[kv.plain])
        return KVDtypes(own, FLOATS[kv.plain], FLOATS[kv.dtype])

    def group(self, dim: int) -> int:
        """The quantization group: how many numbers of a head share a scale."""
        return group_of(dim) if self.own in (KVDtype.INT8, KVDtype.INT4) else dim


IN_FLOATS = KVDtypes()


class ProgramTracer:
    """Writes the program's instructions. Also stands in for the step's `Cache`."""

    TOKENS = 7919  # unlikely to equal any width

    def __init__(self, width: int, specs: Sequence[MemorySpec], memory: KVDtypes, adapters: Sequence[str] = ()) -> None:
        self.specs, self.memory, self.adapters = list(specs), memory, list(adapters)
        self.lines: list[ProgramOp] = []
        self.widths = [width]
        self.inputs: list[Rope | Tensor] = []  # what has a row for each position
        self.longest = EVERY  # see `Trace`
        self.vocabulary = EVERY  # ids from here on have no row
        self.keep: list[object] = []
        self.x = Symbol(self, 0, (self.TOKENS, width))

    def new(self, *sizes: int) -> Symbol:
        made = Symbol(self, len(self.widths), (self.TOKENS, *sizes))
        self.widths.append(made.numbers)
        return made

    def write(
        self,
        what: Opcode,
        reads: Sequence[Symbol],
        writes: Sequence[Symbol],
        views: Sequence[OperandView] = (),
        **fields: Any,
    ) -> None:
        """`views`: by default where `reads` begin."""
        self.keep += fields.values()
        views = views or [OperandView(s.register, s.at) for s in reads]
        self.lines.append(ProgramOp(what, [s.register for s in reads], [s.register for s in writes], fields, views))

    def weights(self, w: Tensor | None) -> Tensor | None:
        return None if w is None else w.float().contiguous()

    # -- single numbers, and where they lie

    def map(
        self,
        function: MapFunction,
        *given: Symbol | Tensor,
        out: Symbol | None = None,
        scale: float = 0,
        shift: float = 0,
    ) -> Symbol:
        """A function of one array or two, which are broadcast, into `out` or a new register."""
        try:
            shape = np.broadcast_shapes(*(tuple(x.shape) for x in given))
        except ValueError as error:
            raise NotTraceable("arrays that do not go together") from error
        if not shape or shape[0] != self.TOKENS:
            raise NotTraceable("something that is not of the pass")
        if out is None:
            out = self.new(*shape[1:])
        fields: dict[str, Any] = {"function": function, "scale": scale, "shift": shift}
        reads, bases, steps = list[Symbol](), list[tuple[int, int]](), list[tuple[int, ...]]()
        for x in given:
            sizes, own = tuple(x.shape), x.steps if isinstance(x, Symbol) else x.contiguous().stride()
            missing = len(shape) - len(sizes)
            if isinstance(x, Symbol):
                if missing:
                    raise NotTraceable("tokens that are no first axis")
                reads.append(x)
                bases.append((x.register, x.at))
            else:
                if "w" in fields or (not missing and sizes[0] != 1):
                    raise NotTraceable("numbers that are not of the pass")
                fields["w"] = self.weights(x)
                bases.append((-1, 0))
                sizes, own = (sizes[1:], own[1:]) if not missing else (sizes, own)
                missing = max(0, missing - 1)
            sizes = sizes[1:] if isinstance(x, Symbol) else (1,) * missing + sizes
            own = own if isinstance(x, Symbol) else (0,) * missing + own
            steps.append(tuple(0 if size == 1 else step for size, step in zip(sizes, own)))
        axes = merged(shape[1:], *steps, out.steps)
        while len(axes) < 2:
            axes.insert(0, (1, *[0] * (len(given) + 1)))
        if axes[-1][-1] != 1:
            axes.append((1, *[0] * len(given), 1))
        outer, (rows, *apart), (count, *step) = axes[:-2], axes[-2], axes[-1]
        for at in np.ndindex(*(axis[0] for axis in outer)):
            moved = [sum(i * axis[1 + x] for i, axis in zip(at, outer)) for x in range(len(given) + 1)]
            views = [OperandView(reg, start + moved[x], apart[x], step[x]) for x, (reg, start) in enumerate(bases)]
            views += [NO_VIEW] * (2 - len(views))
            views.append(OperandView(out.register, out.at + moved[-1], apart[-1], step[-1]))
            self.write(Opcode.MAP, reads, [out], views, heads=rows, dim=count, **fields)
        return out

    def copy(self, x: Symbol, out: Symbol | None = None) -> Symbol:
        return self.map(MapFunction.AFFINE, x, out=out, scale=1)

    def laid_out(self, x: Symbol) -> Symbol:
        """The same numbers without gaps."""
        return x if x.contiguous else self.copy(x)

    def in_rows(self, x: Symbol) -> tuple[Symbol, int, int]:
        """The same numbers, their last axis without gaps; how many rows of these a token has, and how far they are apart."""
        if x.ndim > 2:
            rows = merged(x.shape[1:-1], x.steps[:-1])
            if len(rows) > 1 or (x.steps[-1] != 1 and x.shape[-1] > 1):
                x, rows = self.copy(x), [(x.numbers // x.shape[-1], x.shape[-1])]
            return (x, *(rows[0] if rows else (1, 0)))  # type: ignore[return-value]
        return self.laid_out(x), 1, 0

    def sum(self, x: Symbol, axis: int) -> Symbol:
        if axis not in (-1, x.ndim - 1) or axis == 0:
            raise NotTraceable("a sum over an axis that is not the last")
        x, rows, apart = self.in_rows(x)
        out = self.new(*x.shape[1:-1])
        views = [OperandView(x.register, x.at, apart), NO_VIEW, OperandView(out.register, 0, 1, 0)]
        self.write(Opcode.MAP, [x], [out], views, function=MapFunction.SUM, heads=rows, dim=x.shape[-1])
        return out

    def join(self, xs: Sequence[Symbol], axis: int) -> Symbol:
        axis %= xs[0].ndim
        if not axis or any(not isinstance(x, Symbol) for x in xs):
            raise NotTraceable("arrays that are joined along their tokens, or with others")
        sizes = [x.shape[axis] for x in xs]
        out = self.new(*xs[0].shape[1:axis], sum(sizes), *xs[0].shape[axis + 1 :])
        for x, part in zip(xs, self.split(out, sizes, axis)):
            self.copy(x, part)
        return out

    def split(self, x: Symbol, sizes: Sequence[int], axis: int) -> list[Symbol]:
        axis %= x.ndim
        if not axis or sum(sizes) != x.shape[axis]:
            raise NotTraceable("a split of tokens")
        ends = np.cumsum(sizes).tolist()
        where = (slice(None),) * axis
        return [x[(*where, slice(end - size, end))] for size, end in zip(sizes, ends)]

    # -- operations and cache, as a model calls them

    def multiply(self, linear: KernelLinear, x: Symbol) -> Symbol:
        if len(linear.shape) != 2 or x.shape != (self.TOKENS, linear.columns):
            raise NotTraceable("a product of another shape")
        x, out, at = self.laid_out(x), self.new(linear.out), 0
        for matrix in linear.matrices:
            self.write(Opcode.MULTIPLY, [x], [out], matrix=matrix, at=at)
            at += matrix.rows_each
        return out

    def rows(self, linear: KernelLinear) -> Symbol:
        """Of each token the row that its id names."""
        if len(linear.matrices) != 1 or len(linear.shape) != 2 or linear.dtype != torch.float32:
            raise NotTraceable("rows of several matrices, or rounded ones")
        self.vocabulary = min(self.vocabulary, linear.out)
        out = self.new(linear.columns)
        self.write(Opcode.ROWS, [out], [out], matrix=linear.matrices[0])
        return out

    def add(self, sides: Sides, x: Symbol, y: Symbol) -> Symbol:
        """See `backends.adapters.ActiveAdapters`."""
        x = self.laid_out(x)
        places = {(side.start, side.stop) for adapter in self.adapters for side in sides.get(adapter, ())}
        for start, stop in sorted(places):
            table = (LowRankSide * len(self.adapters))()
            for i, adapter in enumerate(self.adapters):
                for side in sides.get(adapter, ()):
                    if (side.start, side.stop) == (start, stop):
                        table[i] = LowRankSide(*map(self._address, (side.a, side.b)))
            self.write(Opcode.LOW_RANK, [x, y], [y], sides=table, at=start)
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
        out = self.new(mixture.out)
        self.write(Opcode.MIXTURE, [self.laid_out(x), self.laid_out(scores)], [out], mixture=mixture)
        return out

    def norm(self, x: Symbol, w: Tensor | None, eps: float) -> Symbol:
        x, rows, apart = self.in_rows(x)
        out, size = self.new(*x.shape[1:]), x.shape[-1]
        w = torch.ones(size) if w is None else self.weights(w)
        each: dict[str, Any] = {"heads": rows, "dim": size} if rows > 1 else {}
        self.write(Opcode.NORM, [x], [out], [OperandView(x.register, x.at, apart)], w=w, eps=eps, **each)
        return out

    def add_norm(self, x: Symbol, residual: Symbol, w: Tensor, eps: float) -> tuple[Symbol, Symbol]:
        if x.ndim != 2 or x.shape != residual.shape:
            raise NotTraceable("a sum that is normalized in rows")
        x, residual = self.laid_out(x), self.laid_out(residual)
        out, total = self.new(x.shape[-1]), self.new(x.shape[-1])
        self.write(Opcode.ADD_NORM, [x, residual], [out, total], w=self.weights(w), eps=eps)
        return total, out

    def layer_norm(self, x: Symbol, w: Tensor, b: Tensor | None, eps: float) -> Symbol:
        x, out = self.flat(x), self.new(x.shape[-1])
        self.write(Opcode.LAYER_NORM, [x], [out], w=self.weights(w), w2=self.weights(b), eps=eps)
        return out

    def flat(self, x: Symbol) -> Symbol:
        if x.ndim != 2:
            raise NotTraceable("more than one row a token")
        return self.laid_out(x)

    def gated(self, x: Symbol, gate: GateKind, gate_last: bool = False) -> Symbol:
        """A half of the columns through a function, times the other. Where a product has made them it writes the result itself."""
        x = self.flat(x)
        half = x.shape[-1] // 2
        out = self.new(half)
        last = self.lines[-2:] if self.lines and self.lines[-1].opcode is Opcode.MULTIPLY else []  # not an adapter's
        products = [line for line in last if line.opcode is Opcode.MULTIPLY and line.writes == [x.register]]
        matrices = [line.fields["matrix"] for line in products]
        one = len(products) == 1 and matrices[0].rows_each == x.shape[-1] and half % PANEL == 0
        if x.whole and not gate_last and (one or (len(products) == 2 and alike(*matrices))):
            del self.lines[-len(products) :]
            first, fields = products[0], {"matrix": matrices[0], "gate": gate}
            fields |= {} if one else {"up": matrices[1]}
            self.lines.append(ProgramOp(Opcode.GATE, first.reads, [out.register], fields, first.views))
        elif gate is GateKind.GELU:
            self.write(Opcode.GEGLU, [x], [out])
        else:
            self.write(Opcode.SWIGLU, [x], [out], at=half if gate_last else 0)
        return out

    def angles(self, rope: Rope) -> TracedAngles:
        self.inputs.append(rope)
        return TracedAngles(self, len(self.inputs) - 1)

    def lookup(self, table: Tensor) -> Symbol:
        """The row of a table that each token's position has."""
        out = self.new(*table.shape[1:])
        self.inputs.append(self.weights(table))
        sizes: dict[str, Any] = {"heads": 1, "dim": out.numbers, "rotary_dim": out.numbers, "scale": 1}
        views = [OperandView(-2), NO_VIEW, OperandView(out.register)]
        self.write(Opcode.MAP, [out], [out], views, function=MapFunction.AFFINE, angles=len(self.inputs) - 1, **sizes)
        return out

    def heads(
        self, x: Symbol, heads: int, kv_heads: int, dim: int, angles: TracedAngles | None, **fields: Any
    ) -> tuple[Symbol, Symbol, Symbol]:
        """Queries, keys and values of one projection, normalized and turned where they lie."""
        x = self.laid_out(x) if x.whole else self.copy(x)
        self.turn(x, x, heads=heads, kv_heads=kv_heads, dim=dim, angles=angles, **fields)
        every = x.reshape(self.TOKENS, heads + 2 * kv_heads, dim)
        return every[:, :heads], every[:, heads : heads + kv_heads], every[:, heads + kv_heads :]

    def turn(self, x: Symbol, out: Symbol, angles: TracedAngles | None, **fields: Any) -> None:
        rope = None if angles is None else self.inputs[angles.index]
        assert not isinstance(rope, Tensor)
        turned: dict[str, Any] = {"rotary_dim": rope.dims, "pairs": rope.pairs} if rope else {"rotary_dim": 0}
        self.write(Opcode.HEADS, [x], [out], layer=-1, angles=0 if angles is None else angles.index, **turned, **fields)

    def rope(self, x: Symbol, angles: TracedAngles) -> Symbol:
        x = self.laid_out(x)
        out = self.new(*x.shape[1:])
        self.turn(x, out, angles, heads=x.numbers // x.shape[-1], kv_heads=0, dim=x.shape[-1])
        return out

    def kept(self, layer: int) -> tuple[int, KVSpec, dict[str, Any]]:
        """Which layer holds the keys and values, and how."""
        layer, spec = source_of(self.specs, layer)
        kept: dict[str, Any] = {"kv_dtype": self.memory.own, "group": self.memory.group(spec.dim), "layer": layer}
        if spec.recent is not None and recent_tokens(self.specs) != spec.recent:
            raise NotTraceable("tokens that only some layers drop")
        if spec.window is not None:
            kept["rows"] = spec.rows_in(EVERY)
        return layer, spec, kept

    def attend(
        self,
        layer: int,
        q: Symbol,
        k: Symbol | None,
        v: Symbol | None,
        scale: float,
        sinks: Tensor | None = None,
    ) -> Symbol:
        if not isinstance(self.specs[layer], KVSpec) and k is not None:
            raise NotTraceable("keys of a layer that keeps none")
        _, spec, kept = self.kept(layer)
        heads, dim = q.shape[1:]
        if dim != spec.dim or spec.latent or heads % spec.heads:
            raise NotTraceable("heads unlike the memory's")
        sizes = {"heads": heads, "kv_heads": spec.heads, "dim": dim, **kept}
        if k is not None and v is not None:
            if k.shape != (self.TOKENS, spec.heads, dim) or v.shape != k.shape:
                raise NotTraceable("heads unlike the memory's")
            self._store(k, v, sizes)
        q, out = self.laid_out(q), self.new(heads, dim)
        fields = {**sizes, "scale": scale, "window": spec.window or 0, "w": self.weights(sinks)}
        self.write(Opcode.ATTENTION, [q], [out], **fields)
        return out

    def store(self, layer: int, k: Symbol, v: Symbol) -> None:
        _, spec, kept = self.kept(layer)
        if k.shape != (self.TOKENS, spec.heads, spec.dim) or v.shape != k.shape:
            raise NotTraceable("heads unlike the memory's")
        self._store(k, v, {"kv_heads": spec.heads, "dim": spec.dim, **kept})

    def _store(self, k: Symbol, v: Symbol, sizes: dict[str, Any]) -> None:
        last = self.lines[-1] if self.lines else None
        if (
            last is not None
            and last.opcode is Opcode.HEADS
            and last.writes == [k.register] == [v.register] == last.reads
        ):
            f = last.fields
            place = f["heads"] * f["dim"]
            if f["layer"] < 0 and f["kv_heads"] == k.shape[1] and (k.at, v.at) == (place, place + k.numbers):
                f |= {name: sizes[name] for name in ("layer", "kv_dtype", "group", "rows") if name in sizes}
                return
        rows = [self.in_rows(x) for x in (k, v)]
        views = [OperandView(x.register, x.at, apart) for x, _, apart in rows]
        self.write(Opcode.STORE, [x for x, *_ in rows], [], views, **sizes)

    def store_latent(self, layer: int, rows: Symbol) -> None:
        _, spec, kept = self.kept(layer)
        rows = self.laid_out(rows)
        views = [OperandView(rows.register, rows.at), NO_VIEW]
        self.write(Opcode.STORE, [rows], [], views, kv_heads=1, dim=spec.dim, **kept)

    def attend_latent(self, layer: int, q: Symbol, rows: Symbol, heads: LatentHeads, scale: float) -> Symbol:
        """Of latents as they are, whatever the number of tokens: `longest` says from how many another way is less work."""
        self.longest = min(self.longest, heads.expand_from)
        _, spec, kept = self.kept(layer)
        sizes = {"kv_heads": 1, "dim": spec.dim, **kept}
        self.store_latent(layer, rows)
        q = self.laid_out(heads.absorb(q))
        out = self.new(q.shape[1], spec.dim)
        self.write(Opcode.ATTENTION, [q], [out], heads=q.shape[1], scale=scale, latent=1, **sizes)
        made: Symbol = heads.values(out[:, :, : heads.rank])
        return made

    def each_expert(self, linear: KernelLinear, x: Symbol) -> Symbol:
        if x.shape[1:] != (linear.shape[0], linear.columns) or len(linear.matrices) != 1:
            raise NotTraceable("heads unlike their matrices")
        return self._each_head(x, linear.out, matrix=linear.matrices[0])

    def each_matrix(self, w: Tensor, transposed: bool, x: Symbol) -> Symbol:
        count, out, inp = w.shape
        if x.shape[1:] != (count, out if transposed else inp) or w.stride()[1:] != (inp, 1) or w.stride(0) % inp:
            raise NotTraceable("heads unlike their matrices")
        if inp < PANEL or w.dtype not in FLOATS:
            raise NotTraceable("matrices with rows smaller than a register")
        sizes: dict[str, Any] = {"heads": count, "dim": inp, "rows": out, "group": w.stride(0) // inp}
        kind = {"kv_dtype": FLOATS[w.dtype], "transposed": transposed}
        return self._each_head(x, inp if transposed else out, w=w, **sizes, **kind)

    def _each_head(self, x: Symbol, width: int, **fields: Any) -> Symbol:
        x, rows, apart = self.in_rows(x)
        out = self.new(rows, width)
        views = [OperandView(x.register, x.at, apart), NO_VIEW, OperandView(out.register, 0, width)]
        self.write(Opcode.HEAD_PRODUCT, [x], [out], views, **fields)
        return out

    def cross(self, layer: int, q: Symbol, scale: float) -> Symbol:
        spec, (_, heads, dim) = self.specs[layer], q.shape
        if not isinstance(spec, CrossSpec) or dim != spec.dim:
            raise NotTraceable("heads unlike the encoder's")
        q, out = self.laid_out(q), self.new(heads, dim)
        sizes: dict[str, Any] = {"heads": heads, "kv_heads": spec.heads, "dim": dim, "group": dim}
        self.write(Opcode.CROSS_ATTENTION, [q], [out], layer=layer, scale=scale, kv_dtype=self.memory.crossed, **sizes)
        return out

    def gelu(self, x: Symbol) -> Symbol:
        """Fused with the product that made the numbers, where there is one: they are not written and read again."""
        x = self.laid_out(x)
        out = self.new(*x.shape[1:])
        last = self.lines[-1] if self.lines else None
        if last is not None and last.opcode is Opcode.MULTIPLY and x.whole and last.writes == [x.register]:
            matrix = last.fields["matrix"]
            if matrix.rows_each == x.numbers:
                self.lines[-1] = ProgramOp(
                    Opcode.MULTIPLY_GELU, last.reads, [out.register], {"matrix": matrix}, last.views
                )
                return out
        self.write(Opcode.GELU, [x], [out])
        return out

    def encoder_attention(
        self,
        q: Symbol,
        k: Symbol,
        v: Symbol,
        scale: float,
        window: tuple[int, int] | None,
        distances: DistanceKeys | None = None,
        longest: int = 0,
    ) -> Symbol:
        """See `backends.base.EncoderAttention`. `longest`: tokens of a sequence, as far as distances have keys."""
        (_, heads, dim), kv_heads = q.shape, k.shape[1]
        places = [(x.register, x.at) for x in (q, k, v)]
        if places != [(q.register, n * dim) for n in (0, heads, heads + kv_heads)]:
            raise NotTraceable("attention of heads that are not one projection's")
        if dim < PANEL:
            raise NotTraceable("heads smaller than a register")
        back, ahead = (0, EVERY) if window is None else window
        # a product with quantized weights has rounded its input further than bf16 rounds what comes out of it
        made_by = [line for line in self.lines if line.opcode is Opcode.MULTIPLY and q.register in line.writes]
        quantized = bool(made_by) and all(is_quantized(line.fields["matrix"]) for line in made_by)
        kind = KVDtype.BF16 if quantized else KVDtype.F32
        sizes: dict[str, Any] = {"heads": heads, "kv_heads": kv_heads, "dim": dim}
        if distances is not None:
            reach = longest + PANEL  # queries that fill up a register have distances too
            # each head's rows one behind the other, since rows that are apart would want the same few places of a cache
            keys = distances.keys(reach).float().view(2 * reach - 1, heads, dim).transpose(0, 1).contiguous()
            both = torch.stack([distances.content, distances.position]).float().contiguous()
            sizes |= {"w": keys, "w2": both, "rows": reach}
        out = self.new(heads, dim)
        self.write(Opcode.ENCODER_ATTENTION, [q], [out], scale=scale, window=back, ahead=ahead, kv_dtype=kind, **sizes)
        return out

    def centred_conv(self, x: Symbol, w: Tensor, bias: Tensor) -> Symbol:
        """`w [columns, taps]`, around each token. See `backends.base.EncoderAttention`."""
        columns, taps = w.shape
        if x.ndim != 2 or x.shape[1] != columns or taps % 2 == 0:
            raise NotTraceable("a convolution of another shape")
        x = self.flat(x)
        out = self.new(columns)
        views = [OperandView(x.register, x.at), NO_VIEW, OperandView(out.register)]
        weights = torch.cat([part.flatten() for part in w.float().t().split(CONV_CHUNK, 1)])
        sizes: dict[str, Any] = {"dim": columns, "taps": taps, "w": weights, "w2": self.weights(bias)}
        self.write(Opcode.CENTRED_CONV, [x], [out], views, **sizes)
        return out

    def conv(self, layer: int, x: Symbol, w: Tensor, bias: Tensor | None = None) -> Symbol:
        spec, channels = self.specs[layer], x.shape[-1]
        if not isinstance(spec, StateSpec) or (channels, spec.kernel) != tuple(w.shape):
            raise NotTraceable("a convolution unlike the memory's")
        x = self.flat(x)
        out = self.new(channels)
        taps = torch.cat([part.flatten() for part in w.float().t().split(CONV_CHUNK, 1)])
        bias = torch.zeros(channels) if bias is None else self.weights(bias)
        views = [OperandView(x.register, x.at), NO_VIEW, OperandView(out.register)]
        sizes: dict[str, Any] = {"dim": channels, "taps": spec.kernel, "kv_dtype": self.memory.state}
        self.write(Opcode.CONV, [x], [out], views, layer=layer, w=taps, w2=bias, **sizes)
        return out

    def delta(self, layer: int, q: Symbol, k: Symbol, v: Symbol, g: Symbol, beta: Symbol | None) -> Symbol:
        spec, (_, heads, width) = self.specs[layer], v.shape
        key_heads, dim = q.shape[1:]
        if not isinstance(spec, StateSpec) or (heads, dim, width) != (spec.heads, spec.key_dim, spec.value_dim):
            raise NotTraceable("heads unlike the memory's")
        if k.shape != q.shape or heads % key_heads:
            raise NotTraceable("keys unlike queries")
        rows = [self.in_rows(x)[::2] for x in (q, k, v)]
        rows += [(x, x.steps[0]) for x in (g, *([] if beta is None else [beta]))]
        out = self.new(heads, width)
        views = [OperandView(x.register, x.at, apart) for x, apart in rows]
        views += [NO_VIEW] * (5 - len(views)) + [OperandView(out.register, 0, width)]
        sizes: dict[str, Any] = {"heads": heads, "kv_heads": key_heads, "dim": dim, "value_dim": width}
        self.write(Opcode.RECUR, [x for x, _ in rows], [out], views, layer=layer, **sizes)
        return out

    def scan(self, layer: int, q: Symbol, k: Symbol, v: Symbol, g: Symbol) -> Symbol:
        return self.delta(layer, q, k, v, g, None)


def can_be_traced(model: TokenModel) -> bool:
    with torch.inference_mode():
        return trace(model, model.memory, model.embed(torch.zeros(1, dtype=torch.int64)).shape[1]) is not None


def trace(
    call: Callable[[Step], Any],
    specs: Sequence[MemorySpec],
    width: int,
    memory: KVDtypes = IN_FLOATS,
    adapted: bool = False,
) -> Trace | None:
    """`call` as a program over inputs `[tokens, width]`; None where it uses an operation without an instruction. `adapted`: with
    what its adapters add, for steps in which some take part."""
    attended = [spec for spec in specs if isinstance(spec, KVSpec | CrossSpec)]
    if any(spec.dim < PANEL for spec in attended):
        return None
    apart = [spec for spec in attended if isinstance(spec, KVSpec) and not spec.latent]
    if any(spec.v_dim not in (None, spec.dim) for spec in apart):
        return None
    adapters = adapters_of(call) if adapted else None
    tracer = ProgramTracer(width, specs, memory, adapters.names if adapters else ())
    try:
        with nullcontext() if adapters is None else adapters.using(tracer):
            hidden = call(Step(tracer.x, TracedPositions(tracer), tracer))
    except NotTraceable:
        return None
    if not isinstance(hidden, Symbol) or len(hidden.shape) != 2:
        return None
    hidden = tracer.laid_out(hidden) if hidden.whole else tracer.copy(hidden)
    program = partial(Program, tracer.lines, tracer.widths, hidden.register, [*tracer.keep, call])
    return Trace(program(), tracer.inputs, tracer.longest, tracer.adapters, partial(program, replays=True))


def trace_model(
    model: TokenModel, kv: TorchKVCache, ops: TorchTextOps, width: int, adapted: bool = False
) -> TracedModel | None:
    """The model as one program over its KV cache; None where the kernels cannot run the model or read its KV dtype."""
    traced = trace(model, model.memory, width, KVDtypes.of(kv), adapted)
    return None if traced is None else TracedModel(traced, kv, ops)


def trace_logits(model: TokenModel, width: int) -> tuple[ProgramTracer, Symbol] | None:
    """What a model's head does; None where an operation has no instruction."""
    tracer = ProgramTracer(width, [], IN_FLOATS)
    try:
        logits = model.logits(tracer.x)
    except NotTraceable:
        return None
    return (tracer, logits) if isinstance(logits, Symbol) and logits.whole else None
