"""Rotary positions in all their published forms, and the fused split-normalize-rotate of attention's input."""

from __future__ import annotations

import numpy as np
import pytest

from backends.base import Rope
from backends.ops import LONG_TEXT
from tests.backends import reference_ops
from tests.backends.op_cases import Bench, Case, check, check_case, normal


def inverse(dims: int, base: float = 10000.0) -> tuple[float, ...]:
    return tuple(float(base ** (-2 * i / dims)) for i in range(dims // 2))


FLAT = np.int32([0, 1, 2, 7, 300])
GRID = np.int32([[0, 4, 4, 4, 9], [0, 4, 5, 6, 9], [0, 5, 4, 8, 9]])  # t, h, w of text, three patches, text
LONG = np.int32([0, 15, 16, 31, 32, 33, 64, 200])

ROPES = {
    "half-split": (FLAT, Rope(8, inverse(8))),
    "pairs": (FLAT, Rope(8, inverse(8), pairs=True)),
    "partial": (FLAT, Rope(4, inverse(4))),
    "partial-pairs": (FLAT, Rope(6, inverse(6), pairs=True)),
    "one-pair": (FLAT, Rope(2, inverse(2))),
    "scale": (FLAT, Rope(8, inverse(8), scale=1.25)),
    "partial-scale": (FLAT, Rope(4, inverse(4), scale=0.5)),
    "far": (np.int32([4095, 4096, 100000]), Rope(8, inverse(8, 1e6))),
    "no-tokens": (np.zeros(0, np.int32), Rope(8, inverse(8))),
    "chunked": (GRID, Rope(8, inverse(8), section=(2, 1, 1))),
    "chunked-partial": (GRID, Rope(6, inverse(6), section=(1, 1, 1))),
    "chunked-scale": (GRID, Rope(8, inverse(8), section=(1, 1, 2), scale=1.5)),
    "chunked-pairs": (GRID, Rope(8, inverse(8), section=(2, 1, 1), pairs=True)),
    "interleaved": (GRID, Rope(8, inverse(8), section=(2, 1, 1), interleaved=True)),
    "interleaved-uneven": (GRID, Rope(12, inverse(12), section=(3, 2, 1), interleaved=True)),
    "interleaved-partial": (GRID, Rope(6, inverse(6), section=(1, 1, 1), interleaved=True)),
    "sections-but-flat": (FLAT, Rope(8, inverse(8), section=(2, 1, 1))),
    "sections-no-tokens": (np.zeros((3, 0), np.int32), Rope(8, inverse(8), section=(2, 1, 1))),
    "long-texts": (np.int32([0, 3, LONG_TEXT, LONG_TEXT + 5, 40]), Rope(8, inverse(8), long=(32, inverse(8, 500.0)))),
    "dynamic": (LONG, Rope(8, inverse(8), dynamic=(10000.0, 2.0, 32))),
    "dynamic-partial": (LONG, Rope(4, inverse(4), dynamic=(10000.0, 4.0, 16))),
    "dynamic-pairs": (LONG, Rope(8, inverse(8, 500.0), dynamic=(500.0, 8.0, 32), pairs=True)),
}
WIDTH = 13  # of a head: odd, and wider than any rope above, so that something always passes


def rotated(op: str, name: str, heads: int, width: int) -> Case:
    pos, rope = ROPES[name]
    return Case(
        op,
        f"{name}-{width}",
        [normal(pos.shape[-1], heads, width), pos],
        call=lambda ops, x, p: ops.rope(x, ops.angles(p, rope)),
        want=lambda x, p: reference_ops.rotate(x, p, rope),
        slack=4,
    )


def fused(name: str, heads: int = 4, kv_heads: int = 2, norms: str = "qk", **options) -> Case:
    pos, rope = ROPES[name]
    dim = rope.dims + 2 if "partial" in name else rope.dims
    weights = [normal(dim, seed=7 + i) if letter in norms else None for i, letter in enumerate("qk")]
    shape = {"heads": heads, "kv_heads": kv_heads, "dim": dim}
    after = "-after" if options.get("norm_after_rope") else ""
    return Case(
        "qkv",
        f"{name}-{heads}-{kv_heads}-norm-{norms or 'none'}{after}",
        [normal(pos.shape[-1], (heads + 2 * kv_heads) * dim), pos, *weights],
        call=lambda ops, x, p, qn, kn: tuple(
            ops.qkv(x, angles=ops.angles(p, rope), q_norm=qn, k_norm=kn, **shape, **options)
        ),
        want=lambda x, p, qn, kn: reference_ops.qkv(x, p, qn, kn, rope=rope, **shape, **options),
        slack=4,
    )


CASES = [
    *(rotated("angles", name, 2, WIDTH) for name in ROPES),
    *(rotated("rope", name, 3, ROPES[name][1].dims) for name in ROPES),
    *(fused(name) for name in ROPES),
    fused("half-split", norms=""),
    fused("half-split", norms="q"),
    fused("half-split", norms="k"),
    fused("half-split", norm_after_rope=True),
    fused("partial", norm_after_rope=True),
    fused("half-split", heads=2, kv_heads=2),
    fused("half-split", heads=3, kv_heads=1, eps=1e-2),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_rope_op_is_what_numpy_says(bench: Bench, case: Case) -> None:
    check_case(bench, case)


def test_one_forward_pass_shares_its_angles(bench: Bench) -> None:
    """Queries and keys of every layer take the same angles; using them must not use them up."""
    pos, rope = ROPES["interleaved"]
    angles = bench.ops.angles(bench.put(pos), rope)
    for heads in (1, 3, 1):
        x = normal(5, heads, 8)
        check(bench, bench.ops.rope(bench.put(x), angles), reference_ops.rotate(bench.round(x), pos, rope), slack=4)


def test_equal_streams_are_plain_rope(bench: Bench) -> None:
    """Text in a multi-axis model sees what it would see in a plain one."""
    x, pos = normal(5, 2, 12), FLAT
    plain = Rope(12, inverse(12))
    want = reference_ops.rotate(bench.round(x), pos, plain)
    for interleaved in (False, True):
        rope = Rope(12, inverse(12), section=(2, 2, 2), interleaved=interleaved)
        angles = bench.ops.angles(bench.put(np.stack([pos] * 3)), rope)
        check(bench, bench.ops.rope(bench.put(x), angles), want, slack=4)


def test_rotation_leaves_its_input_alone(bench: Bench) -> None:
    pos, rope = ROPES["half-split"]
    x, w = normal(5, 3 * 8), normal(8)
    held, norm = bench.put(x), bench.put(w)
    angles = bench.ops.angles(bench.put(pos), rope)
    for part in bench.ops.qkv(held, 1, 1, 8, angles, norm, norm):
        bench.ops.numpy(part)
    np.testing.assert_array_equal(bench.ops.numpy(held), bench.round(x))
    np.testing.assert_array_equal(bench.ops.numpy(norm), bench.round(w))
