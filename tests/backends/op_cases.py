"""What a test of one operation is: inputs in numpy, how to call it, what must come out.

Every `test_ops_*.py` holds a list `CASES`; `check_case` runs one on one backend in one dtype, over contiguous, permuted
and sliced inputs. Knows no operation by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.backends import reference_ops

TOLERANCE = {"f32": 2e-5, "bf16": 1.6e-2}
LAYOUTS = ("plain", "permuted", "sliced")
NAMES = {
    "float32": "f32",
    "bfloat16": "bf16",
    "float16": "f16",
    "int32": "int32",
    "uint32": "int32",
}  # indices may be of either


@dataclass
class Case:
    """`call(ops, *arrays)` on a backend must give what `want(*inputs)` gives in numpy.

    Inputs: float arrays come in the dtype under test, int and bool arrays as they are, None stays None.
    """

    op: str
    name: str
    inputs: Sequence[np.ndarray | None]
    options: dict[str, Any] = field(default_factory=dict)
    call: Callable[..., Any] | None = None  # default: the operation of that name, with `options`
    want: Callable[..., Any] | None = None  # default: the reference of that name, with `options`
    slack: float = 1.0  # times the dtype's tolerance

    def __str__(self) -> str:
        return f"{self.op}-{self.name}"


@dataclass
class Bench:
    """The operations of one backend, to be tested in one dtype."""

    name: str
    dtype: str
    ops: Any

    def put(self, x: np.ndarray | None, layout: str = "plain") -> Any:
        """To the backend, in a layout; the values are those of `x` rounded to the dtype under test."""
        if x is None:
            return None
        dtype = self.dtype if x.dtype.kind == "f" else None
        if layout == "permuted":
            axes = tuple(reversed(range(x.ndim)))
            return self.ops.permute(self.ops.array(np.ascontiguousarray(x.transpose(axes)), dtype), axes)
        if layout == "sliced":
            wide = self.ops.array(np.pad(x, [(1, 2)] * x.ndim), dtype)
            return wide[tuple(slice(1, 1 + n) for n in x.shape)]
        return self.ops.array(np.ascontiguousarray(x), dtype)

    def round(self, x: np.ndarray | None) -> np.ndarray | None:
        """What the backend sees of `x`, in f64."""
        if x is None or x.dtype.kind != "f":
            return x
        bits = np.ascontiguousarray(x, np.float32)
        if self.dtype == "bf16":
            raw = bits.view(np.uint32).astype(np.uint64)
            bits = ((raw + 0x7FFF + ((raw >> 16) & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)
        return bits.astype(np.float64)

    def dtype_of(self, x: Any) -> str:
        return NAMES[str(x.dtype).rsplit(".", 1)[-1]]


def check_case(bench: Bench, case: Case) -> None:
    call = case.call or (lambda ops, *arrays: getattr(ops, case.op)(*arrays, **case.options))
    want = case.want or (lambda *inputs: getattr(reference_ops, case.op)(*inputs, **case.options))
    expected = want(*(bench.round(x) for x in case.inputs))
    for layout in LAYOUTS:
        got = call(bench.ops, *(bench.put(x, layout) for x in case.inputs))
        check(bench, got, expected, case.slack, layout)


def check(bench: Bench, got: Any, want: Any, slack: float = 1.0, where: str = "") -> None:
    """Same structure, same shape, same dtype, and values within the dtype's tolerance."""
    if isinstance(want, tuple):
        assert len(got) == len(want)
        for one, other in zip(got, want):
            check(bench, one, other, slack, where)
        return
    assert tuple(got.shape) == want.shape, where
    host = bench.ops.numpy(got)
    if want.dtype.kind != "f":
        np.testing.assert_array_equal(host, want, err_msg=where)
        assert bench.dtype_of(got) == str(want.dtype)
        return
    assert bench.dtype_of(got) == bench.dtype, where
    assert host.dtype == np.float32
    if want.size:
        finite = np.abs(want[np.isfinite(want)])
        limit = TOLERANCE[bench.dtype] * slack
        scale = max(1e-3, float(np.sqrt((finite**2).mean()))) if finite.size else 1.0
        np.testing.assert_allclose(host, want, rtol=limit, atol=limit * scale, err_msg=where)


def normal(*shape: int, seed: int = 0, scale: float = 1.0) -> np.ndarray:
    """Always the same numbers for the same arguments."""
    return (np.random.default_rng([seed, *shape]).normal(size=shape) * scale).astype(np.float32)
