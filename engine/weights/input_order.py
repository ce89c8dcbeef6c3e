"""Matrices whose inputs lie in another order than the model's: GPTQ's with `desc_act`, which quantizes inputs by their importance, so
that a group's are anywhere. In the order of their groups such a matrix is multiplied from its own bits; activations are put in that order
before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from backends.base import Affine, Array, Backend, Linear, Weight


@dataclass(frozen=True)
class InputOrder:
    """Input i of `weight` is the model's input `order[i]`."""

    weight: Affine
    order: np.ndarray


class OrderedLinear:
    """Linears with inputs in orders of their own, one behind the other along the outputs."""

    def __init__(self, backend: Backend, parts: Sequence[tuple[Linear, np.ndarray | None]]) -> None:
        self.ops = backend.ops
        self._parts = [
            (linear, None if order is None else self.ops.array(order.astype(np.int32))) for linear, order in parts
        ]

    @property
    def shape(self) -> tuple[int, ...]:
        return (sum(linear.shape[0] for linear, _ in self._parts), self._parts[0][0].shape[1])

    def __call__(self, x: Array) -> Array:
        last = len(x.shape) - 1
        made = [linear(x if order is None else self.ops.take(x, order, last)) for linear, order in self._parts]
        return made[0] if len(made) == 1 else self.ops.cat(made, last)

    def rows(self, ids: Array) -> Array:
        raise TypeError("A matrix whose inputs are in another order is no embedding.")

    def gather(self, x: Array, experts: Array) -> Array:
        raise TypeError("A matrix whose inputs are in another order is no mixture of experts.")


def ordered_linear(backend: Backend, weights: Sequence[Weight | InputOrder], biases: Sequence[Array | None]) -> Linear:
    """One linear over parts along the outputs, some of whose inputs may be in another order. Neighbours of one order are one matrix."""
    runs: list[tuple[np.ndarray | None, list[int]]] = []
    for i, weight in enumerate(weights):
        order = weight.order if isinstance(weight, InputOrder) else None
        if runs and (
            order is runs[-1][0]
            or (order is not None and runs[-1][0] is not None and np.array_equal(order, runs[-1][0]))
        ):
            runs[-1][1].append(i)
        else:
            runs.append((order, [i]))
    plain = [weight.weight if isinstance(weight, InputOrder) else weight for weight in weights]
    made = [(backend.linear([plain[i] for i in places], [biases[i] for i in places]), order) for order, places in runs]
    return made[0][0] if len(made) == 1 and made[0][1] is None else OrderedLinear(backend, made)
