"""What a decode step costs besides arithmetic: primitives in its graph, and bytes beyond the slabs."""

from __future__ import annotations

import mlx.core as mx
import numpy as np
import pytest
from mlx_lm.models import qwen3
from mlx_lm.models.cache import BatchKVCache, KVCache

from backends.base import KVSpec, Rope, Sampling, Segment, Step
from backends.mlx import runner as mlx_runner
from backends.mlx.backend import MlxBackend
from backends.mlx.linear import make_linear
from backends.mlx.ops import Frequencies, MlxAngles, MlxTextOps
from backends.mlx.primitives import count_primitives
from backends.plan import make_plan
from tests.backends.mlx_models import tiny_runner
from tests.backends.mlx_tools import dense

WIDTH, FFN, HEADS, KV_HEADS, DIM, VOCAB, LAYERS = 64, 96, 4, 2, 32, 99, 2


class Qwen3:
    """The same architecture as mlx-lm's, over our operations, with random weights."""

    vocab = VOCAB

    def __init__(self, backend: MlxBackend) -> None:
        rng = np.random.default_rng(0)
        self.ops = backend.ops
        self.memory = [KVSpec(KV_HEADS, DIM)] * LAYERS
        self.rope = Rope(DIM, tuple(1e6 ** (-i / DIM) for i in range(0, DIM, 2)))

        def linear(out: int, width: int):
            return make_linear([dense(rng.normal(size=(out, width)))], [None], mx.float32)

        self.table = linear(VOCAB, WIDTH)
        self.layers = [
            (
                linear((HEADS + 2 * KV_HEADS) * DIM, WIDTH),
                linear(WIDTH, HEADS * DIM),
                linear(2 * FFN, WIDTH),
                linear(WIDTH, FFN),
            )
            for _ in range(LAYERS)
        ]
        self.wide, self.narrow = mx.ones(WIDTH), mx.ones(DIM)
        mx.eval(self.wide, self.narrow)

    def embed(self, ids):
        return self.table.rows(ids)

    def __call__(self, step: Step):
        ops, x = self.ops, step.x
        angles = ops.angles(step.pos, self.rope)
        for i, (qkv, out, gate_up, down) in enumerate(self.layers):
            h = ops.rms_norm(x, self.wide, 1e-6)
            q, k, v = ops.qkv(qkv(h), HEADS, KV_HEADS, DIM, angles, self.narrow, self.narrow)
            y = out(step.cache.attend(i, q, k, v, DIM**-0.5).reshape(-1, HEADS * DIM))
            x, h = ops.add_rms_norm(y, x, self.wide, 1e-6)
            x = x + down(ops.swiglu(gate_up(h)))
        return ops.rms_norm(x, self.wide, 1e-6)

    def logits(self, hidden):
        return self.table(hidden)


def ours(batch: int, even: bool) -> int:
    backend = MlxBackend("cpu", "f32")
    model = Qwen3(backend)
    kv = backend.kv(model.memory, 1 << 30)
    runner = backend.runner(model, kv)
    slots = [kv.open(20) for _ in range(batch)]
    prompts = [[1] * (3 if even else 3 + i) for i in range(batch)]
    runner.run([Segment(s, ids=ids, sample=Sampling()) for s, ids in zip(slots, prompts)]).read()
    runner.run([Segment(s, sample=Sampling()) for s in slots]).read()
    pending = runner._build(make_plan([Segment(s, sample=Sampling()) for s in slots]))
    return count_primitives(*pending.arrays(), *kv.arrays())


def theirs(batch: int) -> int:
    config = {
        "model_type": "qwen3",
        "hidden_size": WIDTH,
        "num_hidden_layers": LAYERS,
        "intermediate_size": FFN,
        "num_attention_heads": HEADS,
        "num_key_value_heads": KV_HEADS,
        "head_dim": DIM,
        "vocab_size": VOCAB,
        "rms_norm_eps": 1e-6,
        "max_position_embeddings": 256,
        "rope_theta": 1e6,
        "tie_word_embeddings": True,
    }
    model = qwen3.Model(qwen3.ModelArgs.from_dict(config))
    mx.eval(model.parameters())
    cache = [KVCache() if batch == 1 else BatchKVCache(list(range(batch))) for _ in range(LAYERS)]
    states = lambda: [a for c in cache for a in (c.keys, c.values)]  # noqa: E731
    mx.eval(model(mx.array([[1, 2, 3]] * batch), cache=cache), states())
    ids = mx.argmax(model(mx.array([[1]] * batch), cache=cache)[:, -1], axis=-1)
    return count_primitives(ids, *states())


@pytest.fixture(params=["cpu", "metal"])
def device(request, monkeypatch) -> str:
    """On Metal a norm, a rotation and an attention are one primitive each; stand-ins let this machine count them."""
    if request.param == "metal":
        monkeypatch.setattr(mx.fast, "rms_norm", lambda x, w, eps: mx.negative(x))
        monkeypatch.setattr(mx.fast, "rope", lambda x, *_, **__: mx.negative(x))
        monkeypatch.setattr(mx.fast, "scaled_dot_product_attention", one_attention)
        monkeypatch.setattr(
            MlxTextOps, "angles", lambda self, pos, rope: MlxAngles(pos, rope, Frequencies(rope), kernel=True)
        )
    return request.param


def one_attention(q, k, v, *, scale, mask=None, sinks=None):
    inputs = [k, v, mask] if isinstance(mask, mx.array) else [k, v]
    return mx.depends([q], inputs)[0]


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize(("batch", "even"), [(1, True), (4, True), (4, False)])
def test_a_decode_step_has_no_more_primitives_than_mlx_lms(batch, even):
    assert ours(batch, even) <= theirs(batch)


@pytest.mark.parametrize("shape", ["alone", "even", "ragged", "holes"])
def test_decoding_writes_in_place(shape):
    """Each way of writing; beyond the slabs a step may use a fraction of one slab, never a copy."""
    runner, kv = tiny_runner("aa", budget=1 << 34)
    count = {"alone": 1, "even": 4, "ragged": 4, "holes": 6}[shape]
    slots = [kv.open(4096) for _ in range(count)]
    lengths = [3] * count if shape in ("alone", "even") else range(3, 3 + count)
    runner.run([Segment(s, ids=[1] * n, sample=Sampling()) for s, n in zip(slots, lengths)]).read()
    if shape == "holes":
        del slots[2]
    steps = lambda: [runner.run([Segment(s, sample=Sampling()) for s in slots]) for _ in range(3)][-1].read()  # noqa: E731
    steps()
    mx.synchronize()
    before = mx.get_active_memory()
    mx.reset_peak_memory()
    steps()
    slab = next(iter(kv.slabs.values())).arrays()[0].nbytes
    assert mx.get_peak_memory() - before < slab / 4


def test_prompt_chunks_write_in_place():
    runner, kv = tiny_runner("a", budget=1 << 34)
    slot, other = kv.open(1 << 15), kv.open(1 << 15)
    for i in range(2):
        mx.synchronize()
        before = mx.get_active_memory()
        mx.reset_peak_memory()
        for s in (slot, other):
            runner.run([Segment(s, ids=[1] * 16, sample=None)]).read()
        runner.run([Segment(slot, ids=[2] * 8), Segment(other, ids=[1], sample=Sampling())]).read()
        mx.synchronize()
        if i:
            slab = next(iter(kv.slabs.values())).arrays()[0].nbytes
            assert mx.get_peak_memory() - before < slab / 4


def test_what_a_prompt_s_buffers_held_is_given_back(monkeypatch):
    """And what steps hold, now and then: MLX keeps freed buffers, and no two prompts need the same ones."""
    runner, kv = tiny_runner("a", budget=1 << 34)
    slot = kv.open(1 << 12)
    for length in (700, 500, 300):
        runner.run([Segment(slot, ids=[1] * length)]).read()
        mx.synchronize()
        held = mx.get_cache_memory()
        runner.run([Segment(slot, ids=[1], sample=Sampling())]).read()
        mx.synchronize()
        assert mx.get_cache_memory() < held / 2
    given_back: list[int] = []
    monkeypatch.setattr(mlx_runner, "GIVEN_BACK", 4)
    monkeypatch.setattr(mx, "clear_cache", lambda: given_back.append(slot.length))
    for _ in range(12):
        runner.run([Segment(slot, sample=Sampling())]).read()
    assert np.diff(given_back).tolist() == [4, 4]


def test_a_runner_counts_its_own_step_and_leaves_no_trace():
    runner, kv = tiny_runner("ad")
    assert 0 < runner.count_primitives(1) <= runner.count_primitives(3)
    assert kv.used == 0


def test_a_kept_snapshot_does_not_make_writes_copy():
    runner, kv = tiny_runner("aa", budget=1 << 34)
    slot = kv.open(1 << 14)
    runner.run([Segment(slot, ids=[1] * 3, sample=Sampling())]).read()
    runner.run([Segment(slot, sample=Sampling())]).read()
    kept = kv.snapshot(slot)
    before = mx.get_active_memory()
    mx.reset_peak_memory()
    runner.run([Segment(slot, sample=Sampling())]).read()
    assert mx.get_peak_memory() - before < next(iter(kv.slabs.values())).arrays()[0].nbytes / 4
    assert kept.nbytes < 1 << 16
