"""A model that is split among processes of MLX, which sum over its ring: the same answers, and nothing is left of them."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import mlx.core as mx
import numpy as np
import psutil
import pytest

from app.runtime.vectors import EmbeddingModel
from engine.engine import Engine
from engine.errors import BackendUnavailable, EngineFault
from engine.loading import LoadedModel, LoadOptions, load
from engine.types import Request, SamplingParams, Settings, Started, Text
from engine.weights.convert import convert
from tests.app.fresh import ROOT, environment, grus
from tests.app.server.scripted import until
from tests.app.server.test_serve_options import QUOTE, reply, served
from tests.checkpoints import MODELS, save
from tests.engine.parallel.test_ranks import BLOCKS, LENGTH, assert_alike, in_blocks, prompts, replies, ties
from tests.engine.parallel.test_team import SOON, children, ended_with_a_sentence, gone, listening
from tests.processes import child_process

FAMILIES = sorted(MODELS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    root = tmp_path_factory.mktemp("ring")

    @cache
    def saved(name: str) -> Path:
        return save(name, root / name, max_position_embeddings=4096)

    return saved


def opened(folder: Path, ranks: int = 2, **more: Any) -> LoadedModel:
    how: dict[str, Any] = dict(backend="mlx", device="cpu", dtype="f32", quant="none", tensor_parallel=ranks)
    return load(str(folder), LoadOptions(**{**how, **more}))


def compare(folder: Path, ranks: int = 2, **how: Any) -> None:
    alone, split = opened(folder, 1, **how), opened(folder, ranks, **how)
    asked = prompts(32, alone.vocab)
    assert_alike(replies(alone, asked), replies(split, asked))


class Watched:
    """Addresses on which child processes listen, looked at again and again until `stop`."""

    def __init__(self) -> None:
        self.addresses: set[str] = set()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look)

    def __enter__(self) -> Watched:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def stop(self) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._over.wait(0.02):
            for pid in children():
                with suppress(psutil.Error):
                    self.addresses.update(listening([pid]))


class Loads:
    """Loads the model anew whenever an engine asks for it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.made = folder, list[LoadedModel]()

    def __call__(self, name: str) -> LoadedModel:
        self.made.append(opened(self.folder))
        return self.made[-1]

    @property
    def pids(self) -> list[int]:
        team = self.made[-1].team
        assert team is not None
        return team.pids


def ask(engine: Engine, length: int = LENGTH, prompt: int = 40) -> Any:
    how = SamplingParams(temperature=0.0, max_tokens=length, ignore_eos=True)
    return engine.submit(Request("m", [1 + i % 250 for i in range(prompt)], how))


def test_a_ring_answers_as_one_process(folder: Callable[[str], Path]) -> None:
    alone = opened(folder("llama"), 1)
    with Engine(lambda _: alone) as engine:
        expected = ask(engine).result(120).ids
    loads = Loads(folder("llama"))
    before = listening([os.getpid()])  # servers of other tests in this process
    with Engine(loads) as engine, Watched() as watched:
        assert ask(engine).result(120).ids == expected
        watched.stop()
        assert ask(engine).result(120).ids == expected
        assert engine.stats().prefix_hits
        assert len(loads.pids) == 2
        assert listening([os.getpid(), *loads.pids]) == before  # all are connected
    assert gone(loads.pids)
    assert watched.addresses <= {"127.0.0.1"}


@pytest.mark.slow
@pytest.mark.parametrize("rank", [0, 1])
@pytest.mark.parametrize("moment", ["idle", "prefill", "decode"])
def test_a_rank_that_was_killed_ends_the_request_and_the_next_one_works(
    moment: str, rank: int, folder: Callable[[str], Path]
) -> None:
    loads = Loads(folder("llama"))
    with Engine(loads) as engine:
        expected, pids = ask(engine).result(120).ids, loads.pids
        if moment == "idle":
            os.kill(pids[rank], signal.SIGKILL)
            until(lambda: not engine.models())
        else:
            handle = ask(engine, 3000) if moment == "decode" else ask(engine, 4, prompt=3500)
            next(event for event in handle if isinstance(event, Text if moment == "decode" else Started))
            before = time.monotonic()
            os.kill(pids[rank], signal.SIGKILL)
            with pytest.raises(EngineFault, match=r"do not work together any more: rank \d \(cpu\)"):
                handle.result(60)
            assert time.monotonic() - before < SOON
        assert gone(pids)
        assert ask(engine).result(120).ids == expected
        assert len(loads.made) == 2
        assert engine.stats().leaks == 0
    assert gone(loads.pids)


@pytest.mark.slow
@pytest.mark.parametrize("rank", [0, 1])
def test_a_rank_that_is_killed_while_it_loads(rank: int, folder: Callable[[str], Path]) -> None:
    loads = Loads(folder("llama"))
    with Engine(loads) as engine:
        before = children()
        handle = ask(engine)
        until(lambda: len(children() - before) == 2, 60)
        found = sorted(children() - before)
        os.kill(found[rank], signal.SIGKILL)
        ended_with_a_sentence(handle)
        assert gone(found)
        assert ask(engine).result(120).ids


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES)
def test_families(name: str, folder: Callable[[str], Path]) -> None:
    compare(folder(name))


@pytest.mark.slow
def test_three_uneven_ranks(folder: Callable[[str], Path]) -> None:
    compare(folder("llama"), 3)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["llama", "qwen3_5", "qwen3_moe"])
def test_four_bits_of_mlx(name: str, tmp_path: Path) -> None:
    moe = dict(moe_intermediate_size=128) if name == "qwen3_moe" else {}
    whole = save(name, tmp_path / "m", hidden_size=256, intermediate_size=512, **moe)
    packed = convert(whole, tmp_path / "q", "mlx", "q4_k")
    assert json.loads((packed / "config.json").read_text())["quantization"]["bits"] == 4
    compare(packed)


@pytest.mark.slow
@pytest.mark.parametrize("quant", ["q8_0", "q4_k"])
def test_files_of_blocks(quant: str, tmp_path: Path) -> None:
    compare(in_blocks(quant, tmp_path))


@pytest.mark.slow
@pytest.mark.parametrize("bits", [8, 4])
def test_quantized_keys_and_values(bits: int, folder: Callable[[str], Path]) -> None:
    compare(folder("qwen3"), kv_bits=bits)


@pytest.mark.slow
def test_a_text_model_makes_vectors(folder: Callable[[str], Path]) -> None:
    options = LoadOptions(backend="mlx", device="cpu", dtype="f32", quant="none")
    texts = ["The sea is blue.", "Bread", "Why is the sky so blue above the sea, and not below it?"]
    place = str(folder("qwen3"))
    with EmbeddingModel(place, options) as whole, EmbeddingModel(place, replace(options, tensor_parallel=2)) as split:
        assert np.abs(whole.embed(texts) - split.embed(texts)).max() < 1e-4


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", ["llama", "qwen3_5", "qwen3_5_moe", "deepseek_v3", "gemma3", *BLOCKS])
def test_prefixes_eviction_drafts_and_offloading(name: str, folder: Callable[[str], Path], tmp_path: Path) -> None:
    place = in_blocks(name, tmp_path) if name in BLOCKS else folder(name)
    alone = opened(place, 1)
    dice = random.Random(5)
    shared = prompts(4 + 32, alone.vocab, shared=40)
    expected = replies(alone, shared)
    settings = Settings(prefill_chunk=16, speculation="ngram", max_draft=4, offload_folder=tmp_path / "offload")
    how = SamplingParams(temperature=0.0, max_tokens=LENGTH, ignore_eos=True)
    for _ in range(2):  # the second time, prefixes come from the disk
        split = opened(place)
        engine = Engine(lambda _, made=split: made, settings, start=False)  # type: ignore[misc]
        made: list[Sequence[int]] = []
        for some in (slice(4), slice(4, None)):
            wrong = dice.randrange(LENGTH)
            guesses = [[*ids[:wrong], (ids[wrong] + 1) % 256, *ids[wrong + 1 :]] for ids, _ in expected[some]]
            asked = zip(shared[some], guesses)
            handles = [engine.submit(Request("m", prompt, how, prediction=guess)) for prompt, guess in asked]
            turns = 0
            while not engine.idle:
                engine.turn()
                turns += 1
                (executor,) = engine._manager.executors.values()
                if turns % 5 == 0 and (victim := executor.scheduler.victim()) is not None:
                    executor.scheduler.preempt(victim)
            made += [handle.result().ids for handle in handles]
        stats = engine.stats()
        engine.close()
        ties(expected, made)
        assert stats.evictions
        assert stats.prefix_hits
        assert 0 < stats.accepted < stats.drafted


@pytest.mark.slow
def test_drawn_tokens_and_masks_are_those_of_one_process(folder: Callable[[str], Path]) -> None:
    alone, split = opened(folder("llama"), 1), opened(folder("llama"))
    how: dict[str, Any] = dict(
        temperature=0.8, top_p=0.9, seed=7, presence_penalty=0.4, repetition_penalty=1.1, logit_bias={5: 3.0, 9: -100.0}
    )
    asked = prompts(4, alone.vocab)
    assert_alike(replies(alone, asked, **how), replies(split, asked, **how))


@pytest.mark.slow
@pytest.mark.parametrize("rank", [0, 1])
def test_a_rank_that_stops_is_given_up(rank: int, folder: Callable[[str], Path]) -> None:
    loads = Loads(folder("llama"))
    with Engine(loads) as engine:
        handle = ask(engine, 3000)
        next(iter(handle))
        os.kill(loads.pids[rank], signal.SIGSTOP)
        with pytest.raises(EngineFault, match=r"did not respond|made no progress"):
            handle.result(60)
        assert gone(loads.pids)
        assert ask(engine).result(120).ids


LEADER = """
import sys, time
from tests.engine.parallel.test_ring import opened
from pathlib import Path
loaded = opened(Path(sys.argv[1]))
print(*loaded.team.pids, loaded.team.place.parent, flush=True)
time.sleep(600)
"""


@pytest.mark.slow
def test_nothing_is_left_of_a_leader_that_was_killed(folder: Callable[[str], Path]) -> None:
    command = [sys.executable, "-c", LEADER, str(folder("llama"))]
    with child_process(command, stdout=subprocess.PIPE, text=True) as leader:
        assert leader.stdout is not None
        *pids, place = leader.stdout.readline().split()
        leader.kill()
    assert len(pids) == 2
    assert gone([int(pid) for pid in pids])
    assert not Path(place).exists()


def test_without_a_ring_it_is_refused(folder: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mx.distributed, "is_available", lambda backend: backend != "ring")
    before = children()
    with pytest.raises(BackendUnavailable, match="This build of MLX has no ring"):
        opened(folder("llama"))
    assert children() == before


PYTHON = """
import json, sys
import grus
place, backend, prompt = sys.argv[1:]
how = dict(backend=backend, device="cpu", dtype="f32", tensor_parallel=2, devices=["cpu", "cpu"])
with grus.load(place, **how) as model:
    print(json.dumps(model.run(prompt, raw=True, max_tokens=12, temperature=0).text))
print(json.dumps(grus.chat([{"role": "user", "content": "Hi"}], model=place, options=how, max_tokens=4, temperature=0)))
"""


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("backend", ["torch", "mlx"])
def test_the_command_the_server_and_python_split_a_model(
    backend: str, folder: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On either backend."""
    monkeypatch.setenv("GRUS_KERNELS", "off")
    place = folder("llama")
    where = ["--backend", backend, "--device", "cpu", "--dtype", "f32"]
    how = ["--raw", "--json", "--max-tokens", 12, "--temperature", 0]
    plain, split = (grus("run", place, QUOTE, *how, *where, *more) for more in ([], ["--tensor-parallel", 2]))
    assert (plain.code, split.code) == (0, 0), split.err
    text = json.loads(plain.out)["text"]
    assert json.loads(split.out)["text"] == text
    before = children()  # of other tests
    with served("--model", f"tiny={place}", *where[:2], *where[4:], "--tensor-parallel", 2) as client:
        assert reply(client, max_tokens=12) == text
        schema = {"name": "colour", "schema": {"enum": ["blue", "green"]}}
        asked = {
            "messages": [{"role": "user", "content": "Sky?"}],
            "response_format": {"type": "json_schema", "json_schema": schema},
        }
        answer = client.post("/v1/chat/completions", json={"model": "tiny", **asked}).json()
        assert json.loads(answer["choices"][0]["message"]["content"]) in ("blue", "green")
        pids = children() - before
        assert len(pids) == (2 if backend == "torch" else 3)  # the server, and its ranks
        for ranks in (1, 2):
            asked = {"model": "tiny", "tensor_parallel": ranks, "devices": ["cpu"] * ranks, "quant": "none"}
            loaded = client.post("/v1/load", json=asked).json()
            assert (loaded["devices"], loaded["quant"]) == (["cpu"] * ranks, None)
            assert reply(client, max_tokens=12) == text
            assert len(children() - before) == {1: 1, 2: len(pids)}[ranks]
        pids |= children() - before
        refused = client.post("/v1/load", json={"model": "tiny", "tensor_parallel": 5})
        assert (refused.status_code, "cannot be split among 5 devices" in refused.text) == (400, True)
    assert gone(list(pids))
    command = [sys.executable, "-c", PYTHON, str(place), backend, QUOTE]
    done = subprocess.run(command, capture_output=True, text=True, timeout=400, env=environment(), cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[0]) == text
