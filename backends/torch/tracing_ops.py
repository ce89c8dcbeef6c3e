"""Operations that record themselves when their input is a symbol of a traced pass (tracing.py), and are computed otherwise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np
import torch
from torch import Tensor

from backends.base import DType, Rope
from backends.torch.ops import TorchTextOps
from backends.torch.program import NO_VIEW, GateKind, MapFunction, Opcode, OperandView
from backends.torch.symbols import NotTraceable, Symbol
from backends.torch.tracing import ProgramTracer, TracedPositions


def tracer_of(x: Symbol) -> ProgramTracer:
    assert isinstance(x.tracer, ProgramTracer)
    return x.tracer


def _padded(x: Symbol, widths: Sequence[tuple[int, int]], value: float) -> Symbol:
    """With zeros beside its columns."""
    if x.ndim != 2 or any(widths[0]) or value:
        raise NotTraceable("padding that is not of zeros beside the columns")
    tracer, sizes = tracer_of(x), [widths[1][0], x.shape[1], widths[1][1]]
    out = tracer.new(sum(sizes))
    before, middle, after = tracer.split(out, sizes, 1)
    for zeros in (before, after):
        if count := zeros.numbers:
            views = [OperandView(-1), NO_VIEW, OperandView(out.register, zeros.at)]
            fields: dict[str, Any] = {"heads": 1, "dim": count, "scale": 1, "w": torch.zeros(count)}
            tracer.write(Opcode.MAP, [out], [out], views, function=MapFunction.AFFINE, **fields)
    tracer.copy(x, middle)
    return out


def _number_function(function: MapFunction, name: str) -> Callable[..., Any]:
    """An operation on single numbers, traced where its input is a symbol."""

    def traced(self: TracingOps, x: Any) -> Any:
        return tracer_of(x).map(function, x) if isinstance(x, Symbol) else getattr(TorchTextOps, name)(self, x)

    return traced


def _untraced(x: Symbol) -> NoReturn:
    raise NotTraceable("a program of the kernels has no instruction for another rank or device")


class TracingOps(TorchTextOps):
    """Operations that record themselves when their input is a symbol."""

    silu = _number_function(MapFunction.SILU, "silu")
    sigmoid = _number_function(MapFunction.SIGMOID, "sigmoid")
    tanh = _number_function(MapFunction.TANH, "tanh")
    gelu_tanh = _number_function(MapFunction.GELU_TANH, "gelu_tanh")
    relu = _number_function(MapFunction.RELU, "relu")
    softplus = _number_function(MapFunction.SOFTPLUS, "softplus")
    exp = _number_function(MapFunction.EXP, "exp")
    sqrt = _number_function(MapFunction.SQRT, "sqrt")

    def angles(self, pos: Any, rope: Rope) -> Any:
        if isinstance(pos, TracedPositions):
            return pos.tracer.angles(rope)
        return super().angles(pos, rope)

    def rope(self, x: Any, angles: Any) -> Any:
        return tracer_of(x).rope(x, angles) if isinstance(x, Symbol) else super().rope(x, angles)

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
        norms = {"w": tracer_of(x).weights(q_norm), "w2": tracer_of(x).weights(k_norm), "eps": eps}
        return tracer_of(x).heads(x, heads, kv_heads, dim, angles, **norms, norm_after_rope=norm_after_rope)

    def rms_norm(self, x: Any, w: Tensor | None, eps: float) -> Any:
        return tracer_of(x).norm(x, w, eps) if isinstance(x, Symbol) else super().rms_norm(x, w, eps)

    def add_rms_norm(self, x: Any, residual: Any, w: Tensor, eps: float) -> Any:
        if isinstance(x, Symbol) and isinstance(residual, Symbol):
            return tracer_of(x).add_norm(x, residual, w, eps)
        return super().add_rms_norm(x, residual, w, eps)

    def layer_norm(self, x: Any, w: Tensor | None, b: Tensor | None, eps: float) -> Any:
        if isinstance(x, Symbol) and w is not None:
            return tracer_of(x).layer_norm(x, w, b, eps)
        return super().layer_norm(x, w, b, eps)

    def l2norm(self, x: Any, eps: float = 1e-6) -> Any:
        if not isinstance(x, Symbol):
            return super().l2norm(x, eps)
        size = x.shape[-1]  # an RMS norm counts the mean of the squares, and so its epsilon
        return tracer_of(x).norm(x, torch.full((size,), size**-0.5), eps / size)

    def gelu(self, x: Any) -> Any:
        return tracer_of(x).gelu(x) if isinstance(x, Symbol) else super().gelu(x)

    def geglu(self, x: Any) -> Any:
        return tracer_of(x).gated(x, GateKind.GELU) if isinstance(x, Symbol) else super().geglu(x)

    def swiglu(self, x: Any, gate_last: bool = False) -> Any:
        return (
            tracer_of(x).gated(x, GateKind.SILU, gate_last) if isinstance(x, Symbol) else super().swiglu(x, gate_last)
        )

    def clamp(self, x: Any, low: float | None, high: float | None) -> Any:
        if not isinstance(x, Symbol):
            return super().clamp(x, low, high)
        bounds: dict[str, Any] = {"scale": -np.inf if low is None else low, "shift": np.inf if high is None else high}
        return tracer_of(x).map(MapFunction.CLAMP, x, **bounds)

    def cast(self, x: Any, dtype: DType) -> Any:
        return x if isinstance(x, Symbol) else super().cast(x, dtype)

    def sum(self, x: Any, axis: int) -> Any:
        return tracer_of(x).sum(x, axis) if isinstance(x, Symbol) else super().sum(x, axis)

    def cat(self, xs: Sequence[Any], axis: int) -> Any:
        return tracer_of(xs[0]).join(xs, axis) if isinstance(xs[0], Symbol) else super().cat(xs, axis)

    def pad(self, x: Any, widths: Sequence[tuple[int, int]], value: float = 0.0) -> Any:
        return _padded(x, widths, value) if isinstance(x, Symbol) else super().pad(x, widths, value)

    def stack(self, xs: Sequence[Any], axis: int) -> Any:
        if not isinstance(xs[0], Symbol):
            return super().stack(xs, axis)
        shape = xs[0].shape
        return tracer_of(xs[0]).join([x.reshape(*shape[:axis], 1, *shape[axis:]) for x in xs], axis)

    def split(self, x: Any, sizes: Sequence[int], axis: int) -> Any:
        return tracer_of(x).split(x, sizes, axis) if isinstance(x, Symbol) else super().split(x, sizes, axis)

    def take(self, x: Any, ids: Any, axis: int) -> Any:
        if isinstance(ids, TracedPositions) and axis == 0:
            return ids.tracer.lookup(x)
        return super().take(x, ids, axis)

    def all_reduce(self, x: Any) -> Any:
        return _untraced(x) if isinstance(x, Symbol) and self.group is not None else super().all_reduce(x)

    def all_gather(self, x: Any, sizes: Sequence[int]) -> Any:
        return _untraced(x) if isinstance(x, Symbol) and self.group is not None else super().all_gather(x, sizes)

    def move(self, x: Any) -> Any:
        return _untraced(x) if isinstance(x, Symbol) else super().move(x)

    def permute(self, x: Any, axes: Sequence[int]) -> Any:
        return x.permute(*axes) if isinstance(x, Symbol) else super().permute(x, axes)
