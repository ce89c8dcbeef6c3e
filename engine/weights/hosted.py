"""Linears and mixtures that a CPU multiplies beside a GPU: inputs go down, products come up. Both belong to one library."""

from __future__ import annotations

from dataclasses import replace

from backends.base import Array, Backend, Linear, Mixture, MixtureParts, Ops


class _HostedLinear:
    def __init__(self, ops: Ops, host: Ops, linear: Linear) -> None:
        self._ops, self._host, self._linear, self.shape = ops, host, linear, linear.shape

    def __call__(self, x: Array) -> Array:
        return self._ops.move(self._linear(self._host.move(x)))

    def rows(self, ids: Array) -> Array:
        raise TypeError("A matrix of a layer is no embedding.")

    def gather(self, x: Array, experts: Array) -> Array:
        raise TypeError("Experts are multiplied where their mixture is: see `Mixture`.")


class _HostedMixture:
    def __init__(self, ops: Ops, host: Ops, mixture: Mixture) -> None:
        self._ops, self._host, self._mixture = ops, host, mixture

    def __call__(self, x: Array, scores: Array) -> Array:
        return self._ops.move(self._mixture(self._host.move(x), self._host.move(scores)))


def hosted(ops: Ops, host: Ops, linear: Linear) -> Linear:
    return _HostedLinear(ops, host, linear)


def hosted_mixture(ops: Ops, host: Backend, parts: MixtureParts) -> Mixture:
    """`parts.up` and `parts.down` were made by `host`, the tensors beside them were not."""
    preferred, factors, up_bias, down_bias = (
        None if array is None else host.ops.move(array)
        for array in (parts.preferred, parts.factors, parts.up_bias, parts.down_bias)
    )
    moved = replace(parts, preferred=preferred, factors=factors, up_bias=up_bias, down_bias=down_bias)
    return _HostedMixture(ops, host.ops, host.mixture(moved))
