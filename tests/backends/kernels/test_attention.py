"""Attention to keys and values that lie in memory in every way they can, against torch in f64."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from backends.torch.kernels.formats import KVDtype
from backends.torch.kv_cache import PlainCodec, QuantizedCodec, Slab
from backends.torch.program import Opcode, Program, ProgramOp

KV_HEADS, CAPACITY = 2, 96
WAYS = {
    KVDtype.F32: torch.float32,
    KVDtype.F16: torch.float16,
    KVDtype.BF16: torch.bfloat16,
    KVDtype.INT8: 8,
    KVDtype.INT4: 4,
}


def assert_close(got: Tensor, want: Tensor, way: KVDtype) -> None:
    """Where several heads use a code, AVX-512 rounds queries and shares of values to 16 bits. That costs a tenth of what half precision costs
    in memory (0.0007 of these numbers, in the mean), and a 300th of what eight bits cost there."""
    codes = way in (KVDtype.INT8, KVDtype.INT4)
    assert torch.allclose(got.double(), want, atol=2e-3 if codes else 2e-5, rtol=1e-5)
    assert (got - want).square().mean().sqrt() < (7e-5 if codes else 5e-6)


def normal(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def slab(way: KVDtype, dim: int, rows: int) -> Slab:
    how = WAYS[way]
    codec = PlainCodec(dim, how) if isinstance(how, torch.dtype) else QuantizedCodec(dim, torch.float32, how)
    made = Slab(KV_HEADS, CAPACITY, codec, torch.device("cpu"))
    made.reserve(rows)
    return made


class Attention:
    """The projections of some tokens go into memory, then each attends to what its sequence has."""

    def __init__(self, way: KVDtype, dim: int, group: int, window: int = 0) -> None:
        self.heads, self.dim, self.window, self.scale = KV_HEADS * group, dim, window, 2 * dim**-0.5
        lies = {"kv_dtype": way, "group": QuantizedCodec(dim, torch.float32, 8).group}
        sizes = {"heads": self.heads, "kv_heads": KV_HEADS, "dim": dim, "layer": 0, **lies}
        width = (self.heads + 2 * KV_HEADS) * dim
        lines = [
            ProgramOp(Opcode.HEADS, [0], [0], sizes),
            ProgramOp(Opcode.ATTENTION, [0], [1], {**sizes, "window": window, "scale": self.scale}),
        ]
        self.program = Program(lines, [width, self.heads * dim], 1, [])

    def __call__(self, x: Tensor, spans: Sequence[tuple[int, int, int]], keys: Slab, values: Slab) -> Tensor:
        """`spans`: start, count, past; the sequence is the row of the slabs."""
        memory = np.zeros((1, len(spans), 4), np.int64)
        for row in range(len(spans)):
            for which, kept in enumerate((keys, values)):
                memory[0, row, which::2][: len(kept.planes)] = [plane[row].data_ptr() for plane in kept.planes]
        laid_out = np.array([(*span, CAPACITY, 0) for span in spans], np.int64)
        return self.program.run(x, laid_out, memory, []).clone().view(len(x), self.heads, self.dim)

    def expected(self, x: Tensor, spans: Sequence[tuple[int, int, int]], keys: Slab, values: Slab) -> Tensor:
        """Given what lies in memory afterwards."""
        every = x.view(len(x), -1, self.dim).double()
        made = []
        for row, (start, count, past) in enumerate(spans):
            for i in range(count):
                end = past + i + 1
                first = max(0, end - self.window) if self.window else 0
                k, v = (s.read(row, row + 1, first, end)[0].double() for s in (keys, values))
                k, v = (s.repeat_interleave(self.heads // KV_HEADS, 0) for s in (k, v))
                q = every[start + i, : self.heads, None]
                made.append(F.scaled_dot_product_attention(q, k, v, scale=self.scale)[:, 0])
        return torch.stack(made)


SPANS = [(0, 1, 0), (1, 1, 70), (2, 19, 0), (21, 5, 40), (26, 1, 33), (27, 12, 30), (39, 3, 20)]
TOKENS = 42


@pytest.mark.parametrize("way", list(KVDtype), ids=lambda way: way.name)
@pytest.mark.parametrize(
    ("dim", "group", "window"), [(128, 2, 0), (64, 1, 9), (32, 3, 0), (80, 2, 20), (96, 15, 0), (256, 8, 50)]
)
def test_of_prompts_and_single_tokens(tier: str, way: KVDtype, dim: int, group: int, window: int) -> None:
    attention, keys, values = Attention(way, dim, group, window), *(slab(way, dim, len(SPANS)) for _ in range(2))
    for row, (_, _, past) in enumerate(SPANS):
        for seed, kept in enumerate((keys, values)):
            kept.write_run(row, 0, normal(past, KV_HEADS, dim, seed=10 * row + seed))
    x = normal(TOKENS, (attention.heads + 2 * KV_HEADS) * dim, seed=3) * 2
    got = attention(x, SPANS, keys, values)
    assert_close(got, attention.expected(x, SPANS, keys, values), way)


@pytest.mark.parametrize("way", list(KVDtype), ids=lambda way: way.name)
@pytest.mark.parametrize(("dim", "group"), [(64, 1), (64, 4), (256, 8), (128, 7)])
def test_large_values_that_hardly_count_cost_others_nothing(tier: str, way: KVDtype, dim: int, group: int) -> None:
    """Rows beside them are a thousand times smaller and have all the weight."""
    attention, keys, values = Attention(way, dim, group), slab(way, dim, 1), slab(way, dim, 1)
    kept, heavy = normal(70, KV_HEADS, dim, seed=1) / 8, [5, 36, 69]
    kept[heavy] -= 3.0
    keys.write_run(0, 0, kept)
    kept = normal(70, KV_HEADS, dim, seed=2)
    kept[heavy] *= 1000
    values.write_run(0, 0, kept)
    x = normal(1, (attention.heads + 2 * KV_HEADS) * dim, seed=3) / 8
    x[:, : attention.heads * dim] += 2 * dim**-0.5
    got, want = attention(x, [(0, 1, 70)], keys, values), attention.expected(x, [(0, 1, 70)], keys, values)
    assert torch.allclose(got.double(), want, atol=5e-5)


@pytest.mark.parametrize("group", [1, 2, 8])
def test_the_largest_score_is_that_of_all_tokens(tier: str, group: int) -> None:
    """Scores of 320 and 312 among zeros: what is not measured from the larger one has no exponential."""
    attention, keys, values = Attention(KVDtype.F32, 64, group), slab(KVDtype.F32, 64, 1), slab(KVDtype.F32, 64, 1)
    kept = torch.zeros(70, KV_HEADS, 64)
    kept[37], kept[44] = 20.0, 19.5
    keys.write_run(0, 0, kept)
    values.write_run(0, 0, normal(70, KV_HEADS, 64))
    x = torch.cat([torch.ones(1, attention.heads * 64), torch.zeros(1, 2 * KV_HEADS * 64)], 1)
    got = attention(x, [(0, 1, 70)], keys, values)
    assert torch.allclose(got.double(), attention.expected(x, [(0, 1, 70)], keys, values), atol=2e-5)


@pytest.mark.parametrize("way", list(KVDtype), ids=lambda way: way.name)
@pytest.mark.parametrize(("group", "window"), [(2, 0), (3, 20)])
def test_few_tokens_get_the_bits_of_single_ones(tier: str, way: KVDtype, group: int, window: int) -> None:
    """So a step that verifies drafts sees what steps without drafts see, and does not take as long as sixteen tokens."""
    count, past = 8, 40
    attention, keys, values = Attention(way, 64, group, window), slab(way, 64, 1), slab(way, 64, 1)
    for seed, kept in enumerate((keys, values)):
        kept.write_run(0, 0, normal(past, KV_HEADS, 64, seed=seed))
    x = normal(count, (attention.heads + 2 * KV_HEADS) * 64, seed=3) * 2
    together = attention(x, [(0, count, past)], keys, values)
    single = [attention(x[i : i + 1], [(0, 1, past + i)], keys, values) for i in range(count)]
    assert torch.equal(together, torch.cat(single))


@pytest.mark.parametrize("way", list(KVDtype), ids=lambda way: way.name)
@pytest.mark.parametrize("dim", [16, 20, 64, 96, 128])
def test_what_is_kept_is_what_torch_would_keep(tier: str, way: KVDtype, dim: int) -> None:
    """Sequences begin in one way and go on in the other: a snapshot, or a model that is recorded later."""
    attention, mine, other = Attention(way, dim, 1), (slab(way, dim, 1), slab(way, dim, 1)), slab(way, dim, 1)
    x = normal(40, 3 * KV_HEADS * dim, seed=5)
    x[3] *= 1000
    x[4] = 0.25
    attention(x, [(0, 40, 0)], *mine)
    for at, kept in enumerate(mine, 1):
        given = x.view(40, 3, KV_HEADS, dim)[:, at]
        other.write_run(0, 0, given)
        got, want = (s.read(0, 1, 0, 40).double() for s in (kept, other))
        assert torch.allclose(got, want, rtol=2e-3, atol=1e-6)
        for plane, like in zip(kept.planes, other.planes, strict=True):
            assert (plane[:, :, :40] != like[:, :, :40]).double().mean() < 1e-2


@pytest.mark.parametrize("way", list(KVDtype), ids=lambda way: way.name)
@pytest.mark.parametrize(("dim", "group"), [(32, 2), (64, 4), (128, 8)])
@pytest.mark.parametrize("which", [0, 1], ids=["key", "value"])
def test_nan_is_not_hidden(tier: str, way: KVDtype, dim: int, group: int, which: int) -> None:
    attention, keys, values = Attention(way, dim, group), slab(way, dim, 1), slab(way, dim, 1)
    width = (attention.heads + 2 * KV_HEADS) * dim
    x = normal(3, width, seed=1)
    x[0, (attention.heads + KV_HEADS * which) * dim + 5] = float("nan")  # of the first token's first head
    got = attention(x, [(0, 3, 0)], keys, values)
    assert got[:, :group].isnan().flatten(1).any(1).all()
    assert not got[:, group:].isnan().any()
    after = attention(normal(1, width, seed=2), [(0, 1, 3)], keys, values)
    assert after[:, :group].isnan().any(2).all()
    assert not after[:, group:].isnan().any()


@pytest.mark.parametrize("way", list(KVDtype), ids=lambda way: way.name)
@pytest.mark.parametrize("odd", [float("nan"), float("inf")])
def test_a_query_that_is_no_number_is_that_head_s_alone(tier: str, way: KVDtype, odd: float) -> None:
    attention, keys, values = Attention(way, 64, 8), slab(way, 64, 1), slab(way, 64, 1)
    for seed, kept in enumerate((keys, values)):
        kept.write_run(0, 0, normal(40, KV_HEADS, 64, seed=seed))
    x = normal(1, (attention.heads + 2 * KV_HEADS) * 64, seed=3)
    x[0, 2 * 64 + 7] = odd
    bad = attention(x, [(0, 1, 40)], keys, values).isnan()
    assert bad[0, 2].all()
    assert bad.any(2).sum() == 1
