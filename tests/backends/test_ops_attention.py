"""Attention without a cache: dense and packed, against a plain loop over heads."""

from __future__ import annotations

import numpy as np
import pytest

from tests.backends import reference_ops
from tests.backends.op_cases import Bench, Case, check, check_case, normal


def dense(name: str, b: int, l: int, s: int, h: int, k: int, d: int, mask=None, dv: int = 0, **options) -> Case:
    q, keys, values = normal(b, l, h, d), normal(b, s, k, d, seed=1), normal(b, s, k, dv or d, seed=2)
    options = {"scale": d**-0.5, **options}
    if mask is None:
        return Case("sdpa", name, [q, keys, values], options, slack=2)
    return Case(
        "sdpa",
        name,
        [q, keys, values, mask],
        call=lambda ops, q, k, v, m: ops.sdpa(q, k, v, mask=m, **options),
        want=lambda q, k, v, m: reference_ops.sdpa(q, k, v, mask=m, **options),
        slack=2,
    )


def packed(name: str, lens: list[int], h: int, k: int, d: int) -> Case:
    n = sum(lens)
    inputs = [normal(n, h, d), normal(n, k, d, seed=1), normal(n, k, d, seed=2)]
    return Case("attend_varlen", name, inputs, {"lens": lens, "scale": d**-0.5}, slack=2)


def recent(name: str, length: int, total: int, h: int, k: int, d: int, window: int) -> Case:
    inputs = [normal(length, h, d), normal(total, k, d, seed=1), normal(total, k, d, seed=2)]
    return Case("attend_window", name, inputs, {"window": window, "scale": d**-0.5}, slack=2)


BAND = np.where(np.abs(np.subtract.outer(np.arange(5), np.arange(5))) < 2, 0, -np.inf).astype(np.float32)

CASES = [
    dense("square", 2, 5, 5, 2, 2, 8),
    dense("grouped-heads", 1, 4, 7, 6, 2, 8),
    dense("one-token", 3, 1, 9, 4, 1, 16),
    dense("odd-width", 1, 6, 6, 2, 2, 13),
    dense("narrow-values", 1, 4, 4, 2, 2, 8, dv=4),
    dense("big-scale", 1, 3, 5, 2, 2, 8, scale=2.0),
    dense("causal", 2, 7, 7, 2, 1, 8, causal=True),
    dense("causal-one", 1, 1, 1, 2, 2, 8, causal=True),
    dense("band", 1, 5, 5, 2, 2, 8, mask=BAND),
    dense("band-per-head", 2, 5, 5, 2, 2, 8, mask=normal(2, 2, 5, 5, seed=3)),
    dense("mask-per-key", 2, 4, 5, 2, 2, 8, mask=normal(2, 1, 1, 5, seed=3)),
    dense("causal-and-mask", 1, 5, 5, 2, 1, 8, mask=normal(1, 1, 5, 5, seed=3), causal=True),
    dense("batch-0", 0, 3, 3, 2, 2, 8),
    dense("no-queries", 1, 0, 3, 2, 2, 8),
    recent("begins", 5, 5, 2, 2, 16, window=9),
    recent("goes-on", 3, 8, 4, 2, 16, window=6),
    recent("one-token", 1, 7, 2, 2, 32, window=4),
    recent("more-than-a-block", 40, 60, 2, 1, 16, window=21),
    recent("small-heads", 4, 6, 2, 2, 8, window=3),
    packed("uneven", [3, 5, 1], 2, 2, 8),
    packed("equal", [4, 4], 4, 2, 8),
    packed("runs-of-equal", [2, 2, 3, 3, 2], 2, 1, 8),
    packed("one", [6], 2, 2, 13),
    packed("with-an-empty-run", [3, 0, 2], 2, 2, 8),
    packed("empty", [], 2, 2, 8),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_attention_op_is_what_numpy_says(bench: Bench, case: Case) -> None:
    check_case(bench, case)


def test_a_run_does_not_see_its_neighbours(bench: Bench) -> None:
    q, k, v = (bench.put(normal(5, 2, 8, seed=i)) for i in range(3))
    whole = bench.ops.attend_varlen(q, k, v, [2, 3], 0.5)
    alone = bench.ops.attend_varlen(q[2:], k[2:], v[2:], [3], 0.5)
    check(bench, whole[2:], bench.ops.numpy(alone).astype(np.float64))
