"""The engine on the real backends: 20 requests together say what each says alone, whatever is done to their memory.

Where two logits lie closer than 1e-5 the order of additions may choose either; such a flip is accepted, and counted.
"""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from engine.engine import Engine
from engine.loading import LoadOptions, load
from engine.types import Grammar, ReasoningLimit, Request, SamplingParams, Settings
from tests.checkpoints import save
from tests.driver import Driver

COUNT, LENGTH = 20, 12
MODES = {
    "plain": {},
    "ahead": {"async_scheduling": True},
    "evicting": {"evict": 4},
    "evicting, computed again": {"evict": 5, "host_memory_limit": "1"},
    "guessing": {"speculation": "ngram"},
    "spilling": {"spill": True},
}


@pytest.fixture(scope="module", params=["torch", "mlx"])
def backend(request):
    return request.param


@pytest.fixture(scope="module", params=["qwen3", "qwen3_5"])
def folder(request, tmp_path_factory):
    return save(request.param, tmp_path_factory.mktemp(request.param))


@pytest.fixture(scope="module")
def alone(folder, backend):
    """Each prompt's reply, computed without an engine, and the driver that did it."""
    driver = Driver(folder, backend)
    return {tuple(prompt): driver.greedy(prompt, LENGTH) for prompt in prompts()}, driver


def prompts() -> list[list[int]]:
    """Some share a beginning, some are followed up later; lengths differ."""
    rng = np.random.default_rng(3)
    system = rng.integers(0, 250, 40).tolist()
    return [[*(system if i % 3 == 0 else []), *rng.integers(0, 250, 5 + 3 * (i % 11)).tolist()] for i in range(COUNT)]


def make(folder, backend, tmp_path, mode):
    chosen = dict(MODES[mode])
    evict = chosen.pop("evict", 0)
    if chosen.pop("spill", False):
        chosen |= {"offload_folder": tmp_path / "spill", "offload_limit": "64M"}
    options = LoadOptions(backend=backend, device="cpu", dtype="f32")
    loaded = load(str(folder), options)
    return Engine(lambda name: loaded, Settings(prefill_chunk=16, **chosen), start=False), evict


def say(engine, asked, evict=0):
    handles = [engine.submit(request) for request in asked]
    turns = 0
    while not engine.idle:
        engine.turn()
        turns += 1
        if evict and turns % evict == 0:
            (executor,) = engine._manager.executors.values()
            victim = executor.scheduler.victim()
            if victim is not None:
                executor.scheduler.preempt(victim)
                executor.scheduler.cap = 16
    return [list(handle.result(0).ids) for handle in handles]


def ask(prompt, **params):
    return Request("m", prompt, SamplingParams(temperature=0.0, max_tokens=LENGTH, ignore_eos=True, **params))


def is_tie(driver, prompt, one, two) -> bool:
    at = next(i for i, (a, b) in enumerate(zip(one, two)) if a != b)
    best = np.sort(driver.logits([*prompt, *one[:at]])[-1])
    return best[-1] - best[-2] < 1e-5


@pytest.mark.parametrize("mode", MODES)
def test_together_as_alone(folder, backend, alone, tmp_path, mode):
    replies, driver = alone
    engine, evict = make(folder, backend, tmp_path, mode)
    flips = 0
    rounds = 2 if mode in ("plain", "spilling", "evicting") else 1
    for _ in range(rounds):  # the second time everything is a prefix
        for prompt, ids in zip(prompts(), say(engine, [ask(prompt) for prompt in prompts()], evict)):
            if ids != replies[tuple(prompt)]:
                assert is_tie(driver, prompt, replies[tuple(prompt)], ids)
                flips += 1
    assert flips <= 2
    stats = engine.stats()
    assert stats.failed == 0
    if rounds == 2:  # an evicted recurrent state has lost the points that it could be rewound to
        assert stats.prefix_hits >= (1 if evict else COUNT // 2)
    assert bool(evict) == bool(stats.evictions)
    assert engine.check() == 0
    engine.close()
    if mode == "spilling":
        again, _ = make(folder, backend, tmp_path, mode)
        first = prompts()[0]
        result = again.submit(ask([*first, *replies[tuple(first)], 7]))
        while not result.ended:
            again.turn()
        assert result.result(0).timings.cached_tokens == len(first) + LENGTH - 1
        again.close()


def test_a_true_prediction(folder, backend, alone, tmp_path):
    """Checked guesses are computed in one go: their logits may differ in the last bit from those of single steps."""
    replies, driver = alone
    engine, _ = make(folder, backend, tmp_path, "plain")
    predicted = [replace(ask(prompt), prediction=replies[tuple(prompt)]) for prompt in prompts()[:8]]
    flips = 0
    for request, ids in zip(predicted, say(engine, predicted)):
        if ids != (expected := replies[tuple(request.prompt_ids)]):
            assert is_tie(driver, request.prompt_ids, expected, ids)
            flips += 1
    assert flips <= 1
    assert engine.stats().accepted > 8 * LENGTH // 2
    engine.close()


def test_seeded_sampling_does_not_depend_on_company(folder, backend, tmp_path):
    engine, _ = make(folder, backend, tmp_path, "plain")
    params = SamplingParams(temperature=0.8, top_p=0.9, seed=5, max_tokens=LENGTH, ignore_eos=True)
    prompt = prompts()[0]
    (one,) = say(engine, [Request("m", prompt, params)])
    crowd = [Request("m", p, SamplingParams(seed=i, max_tokens=12)) for i, p in enumerate(prompts()[1:8])]
    assert say(engine, [*crowd, Request("m", prompt, params)])[-1] == one
    engine.close()


def test_a_thought_is_closed_in_a_batch(folder, backend, tmp_path):
    engine, _ = make(folder, backend, tmp_path, "plain")
    closing = (7, 8, 9)
    limit = ReasoningLimit(5, "<think>", "</think>", closing, started=True)
    asked = [replace(ask(prompt), sampling=replace(ask(prompt).sampling, reasoning=how))
             for prompt in prompts()[:4] for how in (limit, None)]  # fmt: skip
    replies = say(engine, asked)
    for closed, free in zip(replies[::2], replies[1::2]):
        at = next(at for at in range(5, 10) if tuple(closed[at : at + 3]) == closing)
        assert closed[:at] == free[:at]
        assert len(closed) == LENGTH
    engine.close()


def test_a_grammar_in_a_batch(folder, backend, tmp_path):
    engine, _ = make(folder, backend, tmp_path, "plain")
    handles = [
        engine.submit(Request("m", prompt, SamplingParams(max_tokens=16, seed=i, grammar=grammar)))
        for i, prompt in enumerate(prompts()[:4])
        for grammar in (Grammar("regex", "[a-f]{3,9}-[0-9]{2}"), None)
    ]
    while not engine.idle:
        engine.turn()
    for handle in handles[::2]:
        assert re.fullmatch("[a-f]{3,9}-[0-9]{2}", handle.result(0).text)
    engine.close()
