"""Linears of which each rank of tensor parallelism has a part: what they add to the product goes over all ranks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from backends.base import Array, Backend, DType, Linear, Mixture, Ops
from engine.weights.portions import Portion


class _Summed:
    """A rank has some columns: the ranks' products add up to the whole one."""

    def __init__(self, ops: Ops, linear: Linear) -> None:
        self._ops, self._linear, self.shape = ops, linear, linear.shape

    def __call__(self, x: Array) -> Array:
        return self._ops.all_reduce(self._linear(x))

    def rows(self, ids: Array) -> Array:
        raise TypeError("A matrix whose columns are split among ranks is no embedding.")

    def gather(self, x: Array, experts: Array) -> Array:
        raise TypeError("A matrix that is split among ranks is no mixture of experts: see `Mixture`.")


class _SummedMixture:
    """The same of a mixture whose experts are split inside."""

    def __init__(self, ops: Ops, mixture: Mixture) -> None:
        self._ops, self._mixture = ops, mixture

    def __call__(self, x: Array, scores: Array) -> Array:
        return self._ops.all_reduce(self._mixture(x, scores))


def summed(ops: Ops, linear: Linear) -> Linear:
    return _Summed(ops, linear)


def summed_mixture(ops: Ops, mixture: Mixture) -> Mixture:
    return _SummedMixture(ops, mixture)


class SplitNorm:
    """An RMS norm over the numbers of all ranks, of which `copies` have the same."""

    def __init__(self, ops: Ops, dtype: DType, weight: Array, total: int, copies: int) -> None:
        self._ops, self._dtype, self._weight, self._total, self._copies = ops, dtype, weight, total, copies

    def __call__(self, x: Array, eps: float) -> Array:
        ops, wide = self._ops, self._ops.cast(x, "f32")
        squares = ops.all_reduce(ops.sum(wide * wide, 1) / self._copies).reshape(x.shape[0], 1)
        normed = wide / ops.sqrt(squares / self._total + eps)
        return ops.cast(normed * ops.cast(self._weight, "f32"), self._dtype)


class SplitVocabulary:
    """A matrix with a row for each token, of which a rank has some: an embedding, a head, or both."""

    def __init__(self, backend: Backend, part: Linear, shares: Sequence[Portion], rank: int) -> None:
        self._ops, self._part = backend.ops, part
        self._sizes = [share.size for share in shares]
        self.shape = (shares[0].total, part.shape[1])
        ((start, stop),) = shares[rank].runs
        tokens = np.arange(self.shape[0])
        inside = (tokens >= start) & (tokens < stop)
        self._places = self._ops.array(np.where(inside, tokens - start, 0).astype(np.int32))
        self._inside = self._ops.array(inside.astype(np.float32), backend.dtype)

    def __call__(self, x: Array) -> Array:
        return self._ops.all_gather(self._part(x), self._sizes)

    def rows(self, ids: Array) -> Array:
        """Each token's row is on one rank; the others add zeros."""
        found = self._part.rows(self._ops.take(self._places, ids, 0))
        return self._ops.all_reduce(found * self._ops.take(self._inside, ids, 0).reshape(ids.shape[0], 1))

    def gather(self, x: Array, experts: Array) -> Array:
        raise TypeError("A vocabulary is no mixture of experts.")
