"""Joining, cutting, picking, moving to and from the host, and the plain arithmetic that models may use."""

from __future__ import annotations

import numpy as np
import pytest

from backends.base import Sampling
from tests.backends import reference_ops
from tests.backends.op_cases import Bench, Case, check, check_case, normal


def many(op: str, name: str, shapes: list[tuple[int, ...]], axis: int) -> Case:
    return Case(
        op,
        name,
        [normal(*shape, seed=i) for i, shape in enumerate(shapes)],
        call=lambda ops, *xs: getattr(ops, op)(xs, axis),
        want=lambda *xs: getattr(reference_ops, op)(*xs, axis=axis),
    )


CASES = [
    many("cat", "rows", [(2, 3), (1, 3), (4, 3)], 0),
    many("cat", "last", [(2, 3), (2, 1)], -1),
    many("cat", "one", [(2, 3)], 1),
    many("cat", "with-empty", [(0, 3), (2, 3)], 0),
    many("cat", "all-empty", [(0, 3), (0, 2)], 1),
    many("stack", "first", [(2, 3), (2, 3)], 0),
    many("stack", "last", [(2, 3)] * 3, -1),
    many("stack", "empty", [(0, 3), (0, 3)], 1),
    Case("split", "columns", [normal(3, 6)], {"sizes": [1, 3, 2], "axis": 1}),
    Case("split", "last", [normal(2, 2, 5)], {"sizes": (4, 1), "axis": -1}),
    Case("split", "one", [normal(3, 4)], {"sizes": [3], "axis": 0}),
    Case("split", "zero-size", [normal(3, 4)], {"sizes": [0, 3], "axis": 0}),
    Case("split", "empty", [normal(0, 4)], {"sizes": [2, 2], "axis": 1}),
    Case("take", "rows", [normal(5, 3), np.int32([4, 0, 0, 2])], {"axis": 0}),
    Case("take", "last", [normal(2, 5), np.int32([3])], {"axis": -1}),
    Case("take", "middle", [normal(2, 4, 3), np.int32([1, 3])], {"axis": 1}),
    Case("take", "table-of-ids", [normal(5, 3), np.int32([[1, 2], [4, 4]])], {"axis": 0}),
    Case("take", "nothing", [normal(5, 3), np.zeros(0, np.int32)], {"axis": 0}),
    Case("take", "ints", [np.int32([7, 8, 9]), np.int32([2, 0])], {"axis": 0}),
    Case("where", "same-shape", [normal(3, 4) > 0, normal(3, 4, seed=1), normal(3, 4, seed=2)]),
    Case("where", "broadcast", [normal(3, 1) > 0, normal(3, 4), normal(1, 4)]),
    Case("where", "empty", [normal(0, 4) > 0, normal(0, 4), normal(0, 4)]),
    Case("pad", "both", [normal(2, 3)], {"widths": [(1, 0), (2, 3)]}),
    Case("pad", "value", [normal(1, 2, 2)], {"widths": [(0, 0), (1, 1), (0, 2)], "value": -1.5}),
    Case("pad", "minus-infinity", [normal(2, 2)], {"widths": [(0, 1), (0, 0)], "value": -np.inf}),
    Case("pad", "empty", [normal(0, 2)], {"widths": [(2, 0), (0, 1)]}),
    Case("pad", "four-axes", [normal(1, 2, 2, 1)], {"widths": [(0, 0), (1, 0), (0, 1), (1, 1)]}),
    Case("permute", "reverse", [normal(2, 3, 4)], {"axes": (2, 1, 0)}),
    Case("permute", "turn", [normal(2, 3, 4, 5)], {"axes": [0, 2, 3, 1]}),
    Case("permute", "empty", [normal(0, 3)], {"axes": (1, 0)}),
    *(
        Case("arange", f"{n}", [], call=lambda ops, n=n: ops.arange(n), want=lambda n=n: np.arange(n, dtype=np.int32))
        for n in (0, 1, 7)
    ),
    Case(
        "cast",
        "there-and-back",
        [normal(3, 4)],
        call=lambda ops, x: ops.cast(ops.cast(x, "f32"), name_of(x)),
        want=lambda x: x,
    ),
    Case("all_reduce", "one-device", [normal(3, 4)], call=lambda ops, x: ops.all_reduce(x), want=lambda x: x),
    Case("all_gather", "one-device", [normal(3, 4)], call=lambda ops, x: ops.all_gather(x, [4]), want=lambda x: x),
    Case("move", "same-device", [normal(3, 4)], call=lambda ops, x: ops.move(x), want=lambda x: x),
    Case(
        "compile",
        "pure-function",
        [normal(3, 4), normal(3, 4, seed=1)],
        call=lambda ops, x, y: ops.compile(lambda a, b: ops.silu(a) * b + a, "silu-gate")(x, y),
        want=lambda x, y: reference_ops.silu(x) * y + x,
        slack=2,
    ),
    Case(
        "fused",
        "elementwise",
        [normal(3, 4), normal(4, seed=1)],
        call=lambda ops, x, y: ops.fused(lambda a, b: ops.silu(a) * b + a)(x, y),
        want=lambda x, y: reference_ops.silu(x) * y + x,
        slack=2,
    ),
    Case("array", "round-trip", [normal(2, 3)], call=lambda ops, x: x, want=lambda x: x),
    Case("array", "ints", [np.int32([[1, -2], [3, 4]])], call=lambda ops, x: x, want=lambda x: x),
    Case("array", "empty", [normal(0, 3)], call=lambda ops, x: x, want=lambda x: x),
    Case("numpy", "scalar", [normal(3)], call=lambda ops, x: ops.sum(x, 0), want=lambda x: np.asarray(x.sum())),
    Case(
        "sample",
        "greedy",
        [np.float32([[0, 3, 1], [5, 0, 1]])],
        call=lambda ops, x: ops.sample(x, [Sampling(), Sampling()])[0],
        want=lambda x: np.int32([1, 0]),
    ),
]


def name_of(x) -> str:
    return {"float32": "f32", "bfloat16": "bf16"}[str(x.dtype).rsplit(".", 1)[-1]]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_shape_op_is_what_numpy_says(bench: Bench, case: Case) -> None:
    check_case(bench, case)


def test_arithmetic_with_python_numbers_keeps_the_dtype(bench: Bench) -> None:
    x = normal(2, 3)
    seen = bench.round(x)
    check(bench, 2 * bench.put(x) + 0.5, 2 * seen + 0.5)
    check(bench, -bench.put(x) / 4 - 1, -seen / 4 - 1)
    check(bench, 1 - bench.put(x)[:, 1:], 1 - seen[:, 1:])
    check(bench, bench.put(x).reshape(3, 2) * bench.put(x).reshape(3, 2), (seen * seen).reshape(3, 2))


def test_array_takes_lists_and_strided_host_memory(bench: Bench) -> None:
    ops = bench.ops
    check(bench, ops.array([1, 2.5, -3], bench.dtype), np.array([1, 2.5, -3]))
    assert bench.dtype_of(ops.array([1, 2, 3])) == "int32"
    assert bench.dtype_of(ops.array(np.arange(3))) == "int32"  # int64 on the host
    host = np.arange(12, dtype=np.float32).reshape(3, 4)
    check(bench, ops.array(host.T[::2], bench.dtype), host.T[::2].astype(float))


def test_array_copies(bench: Bench) -> None:
    host = np.ones(4, np.float32)
    held = bench.ops.array(host, bench.dtype)
    host[:] = 7
    check(bench, held, np.ones(4))


def test_cast_reaches_every_dtype(bench: Bench) -> None:
    x = bench.put(normal(2, 2))
    for dtype in ("f32", "f16", "bf16"):
        assert bench.dtype_of(bench.ops.cast(x, dtype)) == dtype
    ids = bench.ops.array(np.int32([1, 2]))
    np.testing.assert_array_equal(bench.ops.numpy(bench.ops.cast(ids, "f32")), [1.0, 2.0])


def test_split_refuses_sizes_that_do_not_add_up(bench: Bench) -> None:
    with pytest.raises((ValueError, RuntimeError)):
        bench.ops.split(bench.put(normal(3, 6)), [1, 3], 1)
