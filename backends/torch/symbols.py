"""Arrays of a traced pass: a `Symbol` is some columns of a register, seen in a shape.

Slicing, splitting and most reshaping only give another view. What cannot be a view is copied by an instruction. Arithmetic records
instructions; whatever has no instruction raises `NotTraceable`.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NoReturn, Protocol

import numpy as np
import torch
from torch import Tensor

from backends.torch.kernels.linear import KernelLinear, SymbolicInput
from backends.torch.kernels.mixture import KernelMixture
from backends.torch.program import MapFunction

REFLECTED = {"add": "__radd__", "sub": "__rsub__", "mul": "__rmul__", "div": "__rtruediv__", "truediv": "__rtruediv__"}


class NotTraceable(Exception):
    """The model used an operation that has no instruction."""


class Opaque:
    """Raises NotTraceable for every operation that a subclass does not define, and for every torch function."""

    def __getattr__(self, name: str) -> NoReturn:
        raise NotTraceable(name)

    @classmethod
    def __torch_function__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise NotTraceable(str(function))

    def _refuse(self, *_: Any) -> Any:
        raise NotTraceable("an operator")

    __getitem__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __matmul__ = __neg__ = __bool__ = _refuse
    __rmatmul__ = __rtruediv__ = __pow__ = __float__ = __int__ = __iter__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = __mod__ = __floordiv__ = __and__ = __or__ = _refuse


def contiguous_steps(sizes: Sequence[int]) -> tuple[int, ...]:
    return tuple(prod(sizes[i + 1 :]) for i in range(len(sizes)))


def merged(sizes: Sequence[int], *steps: Sequence[int]) -> list[tuple[int, ...]]:
    """Axes as (size, step of each operand) with as few as possible: neighbours that all operands walk in one go are one."""
    axes: list[tuple[int, ...]] = []
    for size, *own in zip(sizes, *steps):
        if size == 1:
            continue
        if axes and all(outer == size * inner for outer, inner in zip(axes[-1][1:], own)):
            axes[-1] = (axes[-1][0] * size, *own)
        else:
            axes.append((size, *own))
    return axes


def viewed(sizes: Sequence[int], steps: Sequence[int], new: Sequence[int]) -> tuple[int, ...] | None:
    """The steps of the same numbers in another shape; None where that is no view."""
    runs, made = merged(sizes, steps), list[int]()
    left, step = 1, 0
    for size in reversed(new):
        if size == 1:
            made.append(0)
            continue
        if left == 1:
            left, step = runs.pop()
        if left % size:
            return None
        made.append(step)
        left, step = left // size, step * size
    return tuple(reversed(made))


class Recorder(Protocol):
    """What symbols ask for instructions: `tracing.ProgramTracer`."""

    widths: list[int]  # of the registers

    def map(self, function: MapFunction, *given: Symbol | Tensor, scale: float = 0, shift: float = 0) -> Symbol: ...
    def laid_out(self, x: Symbol) -> Symbol: ...
    def multiply(self, linear: KernelLinear, x: Symbol) -> Symbol: ...
    def each_expert(self, linear: KernelLinear, x: Symbol) -> Symbol: ...
    def each_matrix(self, w: Tensor, transposed: bool, x: Symbol) -> Symbol: ...
    def mixture(self, mixture: KernelMixture, x: Symbol, scores: Symbol) -> Symbol: ...


class Symbol(Opaque, SymbolicInput):
    """`shape[0]` are the tokens; the other axes lie in a row of the register from column `at` on, `steps` apart."""

    dtype = torch.float32

    def __init__(
        self,
        tracer: Recorder,
        register: int,
        shape: Sequence[int],
        at: int = 0,
        steps: Sequence[int] | None = None,
    ) -> None:
        self.tracer, self.register, self.shape, self.at = tracer, register, tuple(shape), at
        self.steps = contiguous_steps(self.shape[1:]) if steps is None else tuple(steps)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def numbers(self) -> int:
        """Of a token."""
        return prod(self.shape[1:])

    @property
    def contiguous(self) -> bool:
        axes = merged(self.shape[1:], self.steps)
        return not axes or (len(axes) == 1 and axes[0][1] == 1)

    @property
    def whole(self) -> bool:
        """Whether it is the register as it lies."""
        return self.contiguous and self.at == 0 and self.numbers == self.tracer.widths[self.register]

    def view(self, shape: Sequence[int], steps: Sequence[int], at: int) -> Symbol:
        return Symbol(self.tracer, self.register, shape, at, steps)

    def reshape(self, *shape: int) -> Symbol:
        rest = [n for n in shape[1:] if n != -1]
        missing = list(shape).count(-1)
        if shape[0] not in (self.shape[0], -1) or missing > 1 or (-1 not in shape[1:] and prod(rest) != self.numbers):
            raise NotTraceable("a reshape that moves tokens")
        if -1 in shape[1:]:
            if self.numbers % prod(rest):
                raise NotTraceable("a reshape that does not fit")
            shape = tuple(self.numbers // prod(rest) if n == -1 else n for n in shape)
        whole = (self.shape[0], *shape[1:])
        steps = viewed(self.shape[1:], self.steps, whole[1:])
        return self.tracer.laid_out(self).reshape(*whole) if steps is None else self.view(whole, steps, self.at)

    def permute(self, *axes: int) -> Symbol:
        if not axes or axes[0] != 0:
            raise NotTraceable("tokens that are no first axis")
        order = [axis - 1 for axis in axes[1:]]
        return self.view([self.shape[axis] for axis in axes], [self.steps[i] for i in order], self.at)

    def __getitem__(self, key: Any) -> Symbol:
        key = key if isinstance(key, tuple) else (key,)
        if key[0] != slice(None) or len(key) > self.ndim:
            raise NotTraceable("some of the tokens")
        shape, steps, at = [self.shape[0]], list[int](), self.at
        for size, step, part in zip(self.shape[1:], self.steps, (*key[1:], *[slice(None)] * (self.ndim - len(key)))):
            if isinstance(part, slice):
                found = range(size)[part]
                at += step * found.start
                shape.append(len(found))
                steps.append(step * found.step)
            elif isinstance(part, int) and -size <= part < size:
                at += step * (part % size)
            else:
                raise NotTraceable("an index that is no number and no slice")
        return self.view(shape, steps, at)

    def product(self, linear: KernelLinear) -> Symbol:
        return self.tracer.multiply(linear, self)

    def each_expert(self, linear: KernelLinear) -> Symbol:
        return self.tracer.each_expert(linear, self)

    def each_matrix(self, w: Tensor, transposed: bool) -> Symbol:
        return self.tracer.each_matrix(w, transposed, self)

    def mixture(self, mixture: KernelMixture, scores: Symbol) -> Symbol:
        return self.tracer.mixture(mixture, self, scores)

    # -- arithmetic

    def _pair(self, function: MapFunction, other: object, reflected: bool = False) -> Symbol:
        if not isinstance(other, Symbol | Tensor):
            raise NotTraceable("arithmetic with something that is no array")
        return self.tracer.map(function, *((other, self) if reflected else (self, other)))

    def _affine(self, scale: float, shift: float) -> Symbol:
        return self.tracer.map(MapFunction.AFFINE, self, scale=scale, shift=shift)

    def __add__(self, other: object) -> Symbol:
        return self._affine(1, float(other)) if is_number(other) else self._pair(MapFunction.ADD, other)  # type: ignore[arg-type]

    __radd__ = __add__

    def __sub__(self, other: object) -> Symbol:
        return self._affine(1, -float(other)) if is_number(other) else self._pair(MapFunction.SUBTRACT, other)  # type: ignore[arg-type]

    def __rsub__(self, other: object) -> Symbol:
        return self._affine(-1, float(other)) if is_number(other) else self._pair(MapFunction.SUBTRACT, other, True)  # type: ignore[arg-type]

    def __mul__(self, other: object) -> Symbol:
        return self._affine(float(other), 0) if is_number(other) else self._pair(MapFunction.MULTIPLY, other)  # type: ignore[arg-type]

    __rmul__ = __mul__

    def __truediv__(self, other: object) -> Symbol:
        return self._affine(1 / float(other), 0) if is_number(other) else self._pair(MapFunction.DIVIDE, other)  # type: ignore[arg-type]

    def __rtruediv__(self, other: object) -> Symbol:
        given = torch.tensor([float(other)]) if is_number(other) else other  # type: ignore[arg-type]
        return self._pair(MapFunction.DIVIDE, given, True)

    def __neg__(self) -> Symbol:
        return self._affine(-1, 0)

    @classmethod
    def __torch_function__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Of a tensor's arithmetic with a symbol on its right."""
        name = REFLECTED.get(getattr(function, "__name__", "").strip("_"))
        if name is None or kwargs or len(args) != 2 or not isinstance(args[1], Symbol):
            raise NotTraceable(str(function))
        return getattr(args[1], name)(args[0])


def is_number(x: object) -> bool:
    return isinstance(x, int | float | np.number)
