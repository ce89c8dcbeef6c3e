"""Architectures that run through mlx-lm's own classes: the same tokens as mlx-lm alone, behind our seam."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import mlx.core as mx
import numpy as np
import pytest
from mlx.utils import tree_flatten, tree_map
from mlx_lm.models.cache import make_prompt_cache

from backends.base import BackendMissing, Sampling, Segment
from backends.mlx.backend import MlxBackend

GREEDY = Sampling()
CONFIGS = {
    "gemma": {
        "model_type": "gemma",
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "intermediate_size": 48,
        "num_attention_heads": 2,
        "num_key_value_heads": 1,
        "head_dim": 16,
        "rms_norm_eps": 1e-6,
        "vocab_size": 61,
    },
    "mamba": {  # its memory cannot be cut
        "model_type": "mamba",
        "vocab_size": 61,
        "hidden_size": 32,
        "intermediate_size": 64,
        "state_size": 8,
        "num_hidden_layers": 2,
        "conv_kernel": 4,
        "use_bias": False,
        "use_conv_bias": True,
        "time_step_rank": 2,
    },
}


@pytest.fixture(scope="module", params=sorted(CONFIGS))
def folder(request, tmp_path_factory) -> Path:
    config = CONFIGS[request.param]
    module = importlib.import_module(f"mlx_lm.models.{request.param}")
    net = module.Model(module.ModelArgs.from_dict(config))
    mx.random.seed(3)
    net.update(tree_map(lambda p: p + mx.random.normal(p.shape) * 0.3, net.parameters()))
    folder = tmp_path_factory.mktemp(request.param)
    mx.save_safetensors(str(folder / "model.safetensors"), dict(tree_flatten(net.parameters())))
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def load(folder: Path, budget: int = 1 << 30):
    return MlxBackend("cpu", "f32").foreign(folder, budget)


def alone(net, ids: list[int], count: int) -> list[int]:
    cache, out = make_prompt_cache(net), []
    feed = ids
    while len(out) < count:
        feed = [mx.argmax(net(mx.array([feed]), cache=cache)[0, -1]).item()]
        out += feed
    return out


def greedy(runner, slots, prompts, count):
    tokens = runner.run([Segment(s, ids=ids, sample=GREEDY) for s, ids in zip(slots, prompts)]).read()
    out = {s: tokens[s].ids for s in slots}
    for _ in range(count - 1):
        for slot, token in runner.run([Segment(s, sample=GREEDY) for s in slots]).read().items():
            out[slot] += token.ids
    return [out[s] for s in slots]


def test_a_batch_gives_what_mlx_lm_gives(folder):
    loaded = load(folder)
    assert loaded.model.vocab == 61
    prompts = [[1, 2, 3], [9, 8, 7, 6, 5], [4]]
    slots = [loaded.kv.open(30) for _ in prompts]
    assert greedy(loaded.runner, slots, prompts, 6) == [alone(loaded.model.net, ids, 6) for ids in prompts]


def test_chunks_wanted_logits_and_snapshots(folder):
    loaded = load(folder)
    runner, kv = loaded.runner, loaded.kv
    slot, other = kv.open(30), kv.open(30)
    whole = runner.run([Segment(slot, ids=[1, 2, 3, 4, 5], want=range(5))]).read()[slot].logits
    runner.run([Segment(other, ids=[1, 2])]).read()
    taken = kv.snapshot(other)
    rest = runner.run([Segment(other, ids=[3, 4, 5], want=range(3))]).read()[other].logits
    np.testing.assert_allclose(rest, whole[2:], atol=1e-4)
    third = kv.open(30)
    for again in (third, other):
        kv.restore(again, taken)
        got = runner.run([Segment(again, ids=[3, 4, 5], want=range(3))]).read()[again].logits
        np.testing.assert_allclose(got, whole[2:], atol=1e-4)


def test_drafts_are_settled(folder):
    loaded = load(folder)
    runner, kv = loaded.runner, loaded.kv
    want = alone(loaded.model.net, [1, 2, 3], 6)
    slot = kv.open(30)
    first = runner.run([Segment(slot, ids=[1, 2, 3], sample=GREEDY)]).read()[slot].ids
    wrong = [want[1], (want[2] + 1) % 61]
    token = runner.run([Segment(slot, ids=[*first, *wrong], draft=2, samples=[GREEDY] * 2, sample=GREEDY)]).read()[slot]
    assert (token.accepted, token.ids) == (1, want[1:3])
    assert slot.length == 5
    assert runner.run([Segment(slot, sample=GREEDY)]).read()[slot].ids == want[3:4]


def test_the_budget_counts_what_the_caches_take(folder):
    loaded = load(folder)
    kv = loaded.kv
    slot = kv.open(300)
    loaded.runner.run([Segment(slot, ids=[1] * 300)]).read()
    assert kv.used == pytest.approx(sum(c.nbytes for c in kv.caches(slot)), rel=0.01)
    kv.budget = kv.used
    assert kv.open(1) is None
    kv.close(slot)
    assert kv.used == 0


def test_what_mlx_lm_lacks_is_refused_by_name(folder):
    loaded = load(folder)
    slot = loaded.kv.open(9)
    with pytest.raises(ValueError, match="takes no embeddings"):
        loaded.runner.run([Segment(slot, embeds=np.zeros((2, 32), np.float32))])
    with pytest.raises(ValueError, match="no hidden states"):
        loaded.runner.run([Segment(slot, [1, 2], hidden=True)])
    assert slot.length == 0
    loaded.runner.warm()


def test_an_architecture_that_nobody_knows(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "mystery"}))
    (tmp_path / "model.safetensors").write_bytes(b"")
    mx.save_safetensors(str(tmp_path / "model.safetensors"), {"w": mx.zeros(1)})
    with pytest.raises(BackendMissing, match="mystery"):
        load(tmp_path)
