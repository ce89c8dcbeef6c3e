"""A mixture of experts on the CPU kernels: routing, and the products of the chosen experts, in one call (src/mixture/mixture.cpp)."""

from __future__ import annotations

import ctypes
from typing import cast

import torch
from torch import Tensor

from backends.base import MixtureParts
from backends.torch.kernels.formats import PANEL
from backends.torch.kernels.library import MixtureParams, library
from backends.torch.kernels.linear import AnyMatrix, KernelLinear, RowExperts, SymbolicInput, alike, flat_rows

ACTIVATIONS = ("swiglu", "geglu", "clamped_swiglu", "relu_squared")  # in the order of grus::Activation


class KernelMixture:
    """Implements `backends.base.Mixture`."""

    def __init__(self, parts: MixtureParts, up: _Experts, down: _Experts, dtype: torch.dtype) -> None:
        self.up, self.down, self.dtype = up, down, dtype
        self.experts, self.columns, self.out = up.linear.shape[0], up.linear.columns, down.linear.out
        up.add_bias(parts.up_bias)
        down.add_bias(parts.down_bias)
        self._tensors = [None if t is None else t.float().contiguous() for t in (parts.preferred, parts.factors)]
        rule, first = parts.rule, up.first
        one = len(first) == 1 and first[0].rows_each % (2 * PANEL) == 0
        two = len(first) == 2 and alike(*first)
        gated = parts.activation != "relu_squared" and not parts.alternating and (one or two)
        self.params = MixtureParams(
            up=ctypes.addressof(up.pointers),
            down=ctypes.addressof(down.pointers),
            up_count=len(up.first),
            down_count=len(down.first),
            up_apart=up.apart,
            down_apart=down.apart,
            activation=ACTIVATIONS.index(parts.activation),
            gated=gated,
            alternating=parts.alternating,
            alpha=parts.alpha,
            limit=parts.limit,
            experts=self.experts,
            chosen=rule.chosen,
            groups=rule.groups,
            kept=rule.kept,
            judged_by=rule.judged_by,
            sigmoid=rule.sigmoid,
            renormalize=rule.renormalize,
            scale=rule.scale,
            softcap=rule.softcap,
            preferred=_address(self._tensors[0]),
            factors=_address(self._tensors[1]),
        )

    def __call__(self, x: Tensor, scores: Tensor) -> Tensor:
        if isinstance(x, SymbolicInput):
            return cast(Tensor, x.mixture(self, scores))
        if x.shape[-1] != self.columns or scores.shape != (len(x), self.experts):
            raise ValueError(f"the input has {x.shape[-1]} columns, the experts {self.columns}")
        x, scores = flat_rows(x), flat_rows(scores)
        out = torch.empty(len(x), self.out)
        library().grus_mixture(
            ctypes.byref(self.params),
            x.data_ptr(),
            x.stride(0),
            scores.data_ptr(),
            scores.stride(0),
            len(x),
            out.data_ptr(),
            out.stride(0),
            torch.get_num_threads(),
        )
        return out.to(self.dtype)


class _Experts:
    """The matrices of one input: all experts in each (`KernelLinear`), or each in its own (`RowExperts`)."""

    def __init__(self, linear: KernelLinear | RowExperts) -> None:
        self.linear, self.apart = linear, isinstance(linear, RowExperts)
        each = linear.parts if isinstance(linear, RowExperts) else [linear.matrices]
        self.each: list[list[AnyMatrix]] = [list(parts) for parts in each]
        self.first = self.each[0]
        matrices = [matrix for parts in self.each for matrix in parts]
        self.pointers = (ctypes.c_void_p * len(matrices))(*(ctypes.addressof(m.matrix) for m in matrices))

    def add_bias(self, bias: Tensor | None) -> None:
        if bias is None:
            return
        for i, parts in enumerate(self.each):
            mine, start = bias[i] if self.apart else bias, 0
            for matrix in parts:
                matrix.set_bias(mine[..., start : start + matrix.rows_each].float())
                start += matrix.rows_each


def mixture_of(parts: MixtureParts, dtype: torch.dtype) -> KernelMixture | None:
    """None where the experts are not the kernels'."""
    up, down = parts.up, parts.down
    if not isinstance(up, KernelLinear | RowExperts) or not isinstance(down, KernelLinear | RowExperts):
        return None
    return KernelMixture(parts, _Experts(up), _Experts(down), dtype)


def _address(tensor: Tensor | None) -> int | None:
    return None if tensor is None else tensor.data_ptr()
