"""What needs GPUs or NUMA nodes: NCCL, captured steps that contain sums, replicas and experts on real devices. Skipped elsewhere.

Written on a machine without any, and not run yet. What needs no device is tested beside it: ranks over gloo, steps of fixed shape
(test_ranks.py), a CPU as the second device (test_cpu_offload.py), the cores of a node (test_replicas.py).
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import psutil
import pytest
import torch

from engine.engine import Engine
from engine.loading import LoadedModel, LoadOptions, load
from engine.parallel.replicas import node_cpus
from engine.types import Request, SamplingParams
from tests.checkpoints import save
from tests.engine.parallel.test_ranks import assert_alike, prompts, replies
from tests.engine.parallel.test_team import ended_with_a_sentence, gone

GPUS = torch.cuda.device_count()
ONE_GPU = pytest.mark.skipif(GPUS < 1, reason="needs a GPU, and PyTorch's build for CUDA")
TWO_GPUS = pytest.mark.skipif(GPUS < 2, reason="needs two GPUs: NCCL takes one for each rank")
TWO_NODES = pytest.mark.skipif(not node_cpus(1), reason="needs a machine with two NUMA nodes")
DEVICES = ("cuda:0", "cuda:1")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    root = tmp_path_factory.mktemp("gpus")

    @cache
    def saved(name: str) -> Path:
        return save(name, root / name, max_position_embeddings=4096)

    return saved


def opened(folder: Path, device: str = "cuda:0", **more: Any) -> LoadedModel:
    how: dict[str, Any] = dict(backend="torch", device=device, dtype="f32", quant="none", memory_limit=1 << 30)
    return load(str(folder), LoadOptions(**how, **more))


@TWO_GPUS
@pytest.mark.parametrize("name", ["llama", "qwen3_5_moe", "deepseek_v3", "gemma3"])
def test_two_gpus_answer_as_one_with_captured_steps(name: str, folder: Callable[[str], Path]) -> None:
    alone, split = opened(folder(name)), opened(folder(name), tensor_parallel=2, devices=DEVICES)
    asked = prompts(32, alone.vocab)
    graphs = split.runner.own.graphs
    assert_alike(replies(alone, asked), replies(split, asked))
    assert graphs._graphs


@TWO_GPUS
def test_a_gpu_s_rank_that_was_killed_ends_the_request(folder: Callable[[str], Path]) -> None:
    def begin(name: str) -> LoadedModel:
        made.append(opened(folder("llama"), tensor_parallel=2, devices=DEVICES))
        return made[-1]

    made: list[LoadedModel] = []
    how = SamplingParams(temperature=0.0, max_tokens=3000, ignore_eos=True)
    with Engine(begin) as engine:
        handle = engine.submit(Request("m", [1, 2, 3], how))
        next(iter(handle))
        assert made[0].team is not None
        pids = made[0].team.pids
        os.kill(pids[0], signal.SIGKILL)
        ended_with_a_sentence(handle)
        assert gone(pids)
        assert engine.submit(Request("m", [1, 2, 3], SamplingParams(max_tokens=4))).result(120).ids


@TWO_GPUS
def test_replicas_and_models_have_a_gpu_each(folder: Callable[[str], Path]) -> None:
    alone = opened(folder("llama"))
    asked = prompts(32, alone.vocab)
    expected = replies(alone, asked)
    assert_alike(expected, replies(opened(folder("llama"), "cuda:1"), asked))
    made = opened(folder("llama"), replicas=2, devices=DEVICES)
    how = SamplingParams(temperature=0.0, max_tokens=16, ignore_eos=True)
    with Engine(lambda _: made) as engine:
        engine.load("m")
        results = [engine.submit(Request("m", ids, how)) for ids in asked]
        assert [list(one.result(120).ids) for one in results] == [ids for ids, _ in expected]


@ONE_GPU
@pytest.mark.parametrize(("name", "how"), [("qwen3_5_moe", {"cpu_moe": 3}), ("llama", {"gpu_layers": 1})])
def test_weights_beside_the_cpu_of_a_gpu(name: str, how: dict[str, int], folder: Callable[[str], Path]) -> None:
    alone, parted = opened(folder(name)), opened(folder(name), **how)
    assert parted.host_bytes > 0
    assert parted.weight_bytes + parted.host_bytes == alone.weight_bytes
    asked = prompts(8, alone.vocab)
    assert_alike(replies(alone, asked), replies(parted, asked))


@TWO_NODES
def test_a_replica_computes_on_its_node(folder: Callable[[str], Path]) -> None:
    made = opened(folder("llama"), "cpu", replicas=2)
    with Engine(lambda _: made) as engine:
        engine.load("m")
        assert made.replicas is not None
        (pid,) = made.replicas.pids
        assert psutil.Process(pid).cpu_affinity() == node_cpus(1)
