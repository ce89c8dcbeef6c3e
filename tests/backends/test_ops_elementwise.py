"""Norms, activations, reductions and top-k, against plain numpy."""

from __future__ import annotations

import numpy as np
import pytest

from tests.backends import reference_ops
from tests.backends.op_cases import Bench, Case, check_case, normal

SHAPES = [(3, 7), (1, 5), (2, 3, 8), (0, 4), (2, 0, 6), (5, 1)]
EXTREMES = np.float32([[-100, -20, -1, -1e-3, 0, 1e-3, 1, 20, 80]])


def unary(op: str, slack: float = 2.0) -> list[Case]:
    return [
        *(Case(op, f"{shape}", [normal(*shape)], slack=slack) for shape in SHAPES),
        Case(op, "row", [normal(9)], slack=slack),
    ]


def chosen(name: str, rows: int, temperature: float, top_k: int, top_p: float) -> Case:
    """Noise far from the bounds between two ids, whatever the rounding of sums."""
    logits, noise = np.round(4 * normal(rows, 70), 1), (np.arange(rows) % 8 / 8 + 1 / 16).astype(np.float32)
    random = np.int32([i % 3 != 1 for i in range(rows)])
    options = {"temperature": temperature, "top_k": top_k, "top_p": top_p}
    return Case(
        "choose",
        name,
        [logits, noise, random],
        call=lambda ops, x, noise, random: ops.choose(ops.cast(x, "f32"), ops.cast(noise, "f32"), random, **options),
        want=lambda x, noise, random: reference_ops.choose(x, noise, random, **options),
    )


CASES = [
    chosen("all", 40, 1.0, 70, 1.0),
    chosen("few", 40, 0.9, 7, 1.0),
    chosen("one", 5, 0.9, 1, 1.0),
    chosen("nucleus", 40, 2.0, 50, 0.6),
    chosen("narrow-nucleus", 9, 2.0, 50, 0.0001),
    chosen("greedy", 9, 0.0, 50, 1.0),
    *(case for op in ("silu", "gelu", "gelu_tanh", "relu", "sigmoid", "softplus", "tanh") for case in unary(op)),
    *(Case(op, "extremes", [EXTREMES], slack=2) for op in ("silu", "gelu", "gelu_tanh", "sigmoid", "softplus", "tanh")),
    *(
        Case("clamp", f"{low}-{high}", [normal(3, 7)], {"low": low, "high": high})
        for low, high in ((-0.5, 0.25), (None, 0.5), (0.0, None))
    ),
    *(Case("leaky_relu", f"{shape}", [normal(*shape)], {"slope": 0.2}) for shape in SHAPES),
    *(case for op in ("exp", "sin", "softmax", "l2norm") for case in unary(op)),
    *(Case("sqrt", f"{shape}", [normal(*shape) ** 2], slack=2) for shape in SHAPES),
    Case("softmax", "large", [np.float32([[3e4, 3e4, -3e4], [-3e4, -3e4, -3e4]])]),
    Case("softmax", "banned", [np.float32([[0, -np.inf, 1]])]),
    Case("softmax", "wide", [normal(2, 3000)], slack=2),
    Case("l2norm", "zeros", [np.zeros((2, 4), np.float32)]),
    Case("l2norm", "tiny", [normal(2, 8, scale=1e-3)], slack=2),
    Case("l2norm", "eps", [normal(2, 8)], {"eps": 0.5}, slack=2),
    Case("l2norm", "odd-width", [normal(3, 4, 13)], slack=2),
    *(Case("swiglu", f"{shape}", [normal(*shape)], slack=2) for shape in ((3, 8), (1, 2), (2, 3, 10), (0, 6))),
    *(Case("geglu", f"{shape}", [normal(*shape)], slack=2) for shape in ((3, 8), (1, 2), (2, 3, 10), (0, 6))),
    *(
        Case("swiglu", f"gate-last-{shape}", [normal(*shape)], {"gate_last": True}, slack=2)
        for shape in ((3, 8), (1, 2), (0, 6))
    ),
    *(
        Case("rms_norm", f"{shape}", [normal(*shape), normal(shape[-1], seed=1)], {"eps": 1e-6}, slack=2)
        for shape in SHAPES
    ),
    Case("rms_norm", "no-weight", [normal(3, 7), None], {"eps": 1e-5}, slack=2),
    Case("rms_norm", "tiny", [normal(3, 8, scale=1e-4), normal(8)], {"eps": 1e-6}, slack=2),
    Case("rms_norm", "huge", [normal(3, 8, scale=1e4), normal(8)], {"eps": 1e-6}, slack=2),
    Case("rms_norm", "large-eps", [normal(3, 8), normal(8)], {"eps": 0.7}, slack=2),
    *(
        Case("add_rms_norm", f"{shape}", [normal(*shape), normal(*shape, seed=1), normal(shape[-1])], {"eps": 1e-6})
        for shape in ((3, 7), (1, 5), (0, 4), (2, 3, 8))
    ),
    *(
        Case("layer_norm", f"{shape}", [normal(*shape), normal(shape[-1], seed=1), normal(shape[-1])], {"eps": 1e-5})
        for shape in ((3, 7), (1, 5), (2, 3, 8), (0, 4), (2, 0, 6))
    ),
    Case("layer_norm", "no-bias", [normal(3, 7), normal(7, seed=1), None], {"eps": 1e-5}),
    Case("layer_norm", "bare", [normal(3, 7), None, None], {"eps": 1e-5}),
    Case("layer_norm", "far-from-zero", [normal(3, 16) + 30, normal(16), normal(16)], {"eps": 1e-5}, slack=8),
    *(
        Case(
            "group_norm",
            f"{shape}-by-{groups}",
            [normal(*shape), normal(shape[-1], seed=1), normal(shape[-1], seed=2)],
            call=lambda ops, x, w, b, groups=groups: ops.group_norm(x, groups, w, b, 1e-5),
            want=lambda x, w, b, groups=groups: reference_ops.group_norm(x, groups, w, b, 1e-5),
            slack=2,
        )
        for shape, groups in (((2, 5, 6), 1), ((2, 5, 6), 3), ((1, 1, 4), 2), ((3, 7, 5), 5), ((0, 4, 6), 2))
    ),
    *(Case("likeliest", f"{shape}", [4 * normal(*shape)], slack=4) for shape in ((3, 9), (1, 1), (130, 70), (0, 5))),
    Case("likeliest", "ties", [np.float32([[1, 3, 3, 2], [0, 0, 0, 0]])], slack=4),
    Case("topk", "rows", [normal(3, 9)], {"k": 4}),
    Case("topk", "all", [normal(2, 5)], {"k": 5}),
    Case("topk", "one", [normal(2, 3, 7)], {"k": 1}),
    Case("topk", "ties", [np.float32([[1, 3, 3, 2, 3, 0], [0, 0, 0, 0, 0, 0]])], {"k": 3}),
    Case("topk", "banned", [np.float32([[-np.inf, 1, -np.inf, -np.inf]])], {"k": 3}),
    Case("topk", "many-ties", [np.round(normal(2, 130))], {"k": 40}),
    Case("topk", "batch-0", [normal(0, 5)], {"k": 2}),
    Case("pick", "rows", [normal(3, 9), np.int32([[8, 0], [2, 2], [5, 1]])]),
    Case(
        "pick",
        "of-topk",
        [normal(4, 7)],
        call=lambda ops, x: ops.pick(x, ops.topk(x, 3)[1]),
        want=lambda x: np.sort(x)[:, :-4:-1],
    ),
    Case("pick", "batch-0", [normal(0, 5), np.zeros((0, 2), np.int32)]),
    *(
        Case("sum", f"{shape}-over-{axis}", [normal(*shape)], {"axis": axis}, slack=2)
        for shape, axis in (((3, 5), 0), ((3, 5), 1), ((2, 3, 4), -2), ((0, 3), 0), ((2, 0), 0), ((2, 0, 3), 1))
    ),
    Case("sum", "many", [np.ones((1, 3000), np.float32)], {"axis": 1}),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_elementwise_op_is_what_numpy_says(bench: Bench, case: Case) -> None:
    check_case(bench, case)


def test_activations_leave_their_input_alone(bench: Bench) -> None:
    x = normal(3, 8)
    for op in ("silu", "swiglu", "gelu", "relu", "softplus", "softmax", "l2norm"):
        held = bench.put(x)
        bench.ops.numpy(getattr(bench.ops, op)(held))
        np.testing.assert_array_equal(bench.ops.numpy(held), bench.round(x), err_msg=op)
