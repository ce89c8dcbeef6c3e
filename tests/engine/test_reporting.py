"""Numbers, traces, settings, prompt scores, embeddings: what is told about the work."""

from __future__ import annotations

import json

import numpy as np
import pytest

from engine.engine import Engine
from engine.errors import BadRequest
from engine.metrics import LastMinute, Rate
from engine.types import Progress, PromptScores, Request, SamplingParams, Settings, memory_limit
from tests.asserting import every
from tests.fake_backend import FakeClock, FakeLoaded, Nature, fake_logits, mix


def finish(engine, *wanted):
    handles = [engine.submit(request) for request in wanted]
    while engine.turn():
        pass
    return handles


def test_timings_of_a_request(build):
    clock = FakeClock()
    loaded = FakeLoaded(nature=Nature(eos_every=0), clock=clock)
    loaded.runner.costs = (1.0, 0.0, 0.0)
    engine = build(loaded, max_concurrent=1)
    params = SamplingParams(temperature=0.0, max_tokens=5)
    first, second = finish(engine, Request("fake", [40] * 10, params), Request("fake", [50] * 10, params))
    timings = first.result(0).timings
    assert (timings.prompt_tokens, timings.output_tokens, timings.queued) == (10, 5, 0.0)
    assert (timings.first_token, timings.total, timings.gap_p50, timings.gap_p95) == (1.0, 5.0, 1.0, 1.0)
    assert second.result(0).timings.queued == 5.0
    assert second.result(0).timings.decode_rate == pytest.approx(1.0)


def test_stats_of_an_engine(build):
    engine = build(FakeLoaded(nature=Nature(eos_every=0), clock=FakeClock()), max_concurrent=2)
    for i in range(3):
        engine.submit(Request("fake", [40 + i] * 10, SamplingParams(max_tokens=10)))
    engine.turn()
    stats = engine.stats()
    assert (stats.active, stats.waiting, stats.total, stats.completed) == (2, 1, 3, 0)
    assert stats.kv_bytes > 0
    assert stats.process_memory > 1 << 20
    while engine.turn():
        pass
    stats = engine.stats()
    assert (stats.completed, stats.output_tokens, stats.prompt_tokens) == (3, 30, 30)
    assert stats.tokens_per_second > 0
    assert stats.models[0].name == "fake"


def test_a_rate_follows_and_forgets():
    rate = Rate(0.0)
    for second in range(1, 100):
        rate.add(50, float(second))
    assert rate.read(99.0) == pytest.approx(50, rel=0.02)
    assert rate.read(109.0) == pytest.approx(25, rel=0.05)


def test_a_profile_is_a_chrome_trace(tmp_path):
    file = tmp_path / "out.json"
    endless = FakeLoaded(nature=Nature(eos_every=0))  # an end right after the prompt would leave nothing to decode
    with Engine(lambda name: endless, Settings(gpu_memory_limit="1T"), profile=file) as engine:
        request = Request("fake", [40, 41, 42], SamplingParams(max_tokens=3))
        engine.submit(request).result(10)
    events = json.loads(file.read_text())["traceEvents"]
    assert {"queue", "plan", "prefill", "decode", "wait", "detokenize", "warm"} <= {event["name"] for event in events}
    assert every(event["ph"] == "X" and event["dur"] >= 0 for event in events)
    assert [event["args"]["request"] for event in events if event["name"] == "queue"] == [request.id]


def test_progress_of_a_long_prompt(build):
    engine = build(FakeLoaded(), prefill_chunk=64)
    (handle,) = finish(engine, Request("fake", [40] * 200, SamplingParams(max_tokens=1)))
    assert [(e.done, e.total) for e in handle if isinstance(e, Progress)] == [(64, 200), (128, 200), (192, 200)]


@pytest.mark.parametrize(("text", "expected"), [("5G", 5 << 30), ("5120M", 5120 << 20), ("1.5GiB", 3 << 29), (0.5, 500),
                                                ("0.25", 250), ("4096", 4096), (1.0, 1000)])  # fmt: skip
def test_memory_limits(text, expected):
    assert memory_limit(text, 1000) == expected


@pytest.mark.parametrize("text", ["much", "-1", "5X", "0", ""])
def test_memory_limits_that_are_none(text):
    with pytest.raises(BadRequest):
        memory_limit(text, 1000)


@pytest.mark.parametrize("wrong", [{"max_concurrent": 0}, {"max_gap": 1.0}, {"speculation": "draft"},
                                   {"gpu_memory_limit": "x"}, {"draft_model": "d"}])  # fmt: skip
def test_settings_are_checked(wrong):
    with pytest.raises(BadRequest):
        Settings(**wrong)


def test_prompt_scores(build):
    engine = build(FakeLoaded(), prefill_chunk=30)
    prompt = [40 + i % 20 for i in range(100)]
    params = SamplingParams(max_tokens=2, top_logprobs=2)
    finish(engine, Request("fake", prompt, SamplingParams(max_tokens=2)))  # a prefix that must not be used
    (handle,) = finish(engine, Request("fake", prompt, params, prompt_logprobs=True))
    scores = [score for event in handle if isinstance(event, PromptScores) for score in event.logprobs]
    assert [score.id for score in scores] == prompt[1:]
    row = 0
    for token, score in zip(prompt, scores):
        row = mix(row, token)
        logits = fake_logits(row).astype(np.float64)
        assert score.logprob == pytest.approx(logits[score.id] - np.log(np.exp(logits).sum()))
        assert score.top[0][0] == int(logits.argmax())


def test_embeddings_take_the_place_of_tokens_and_are_told_apart(build):
    """Two images with the same placeholder tokens are two prompts; the same image again is a prefix."""
    engine = build(FakeLoaded(nature=Nature(eos_every=0)))
    prompt = [40, 41, 42, 43, 9, 9, 9, 44, 45, 46]
    rng = np.random.default_rng(0)
    cat, dog = (rng.standard_normal((3, 4)).astype(np.float32) for _ in range(2))
    params = SamplingParams(temperature=0.0, max_tokens=8)

    def look(image):
        (handle,) = finish(engine, Request("fake", prompt, params, embeds=image, positions=[4, 5, 6]))
        return handle.result(0)

    one, two, again = look(cat), look(dog), look(cat)
    assert one.ids != two.ids
    assert one.ids == again.ids
    assert (one.timings.cached_tokens, two.timings.cached_tokens, again.timings.cached_tokens) == (0, 4, 9)


def test_what_is_older_than_a_minute_counts_no_more() -> None:
    seen = LastMinute()
    seen.observe(8.0, now=0.0)
    seen.observe(2.0, now=30.0)
    assert seen.quantiles(50.0, 0.5, 1.0) == pytest.approx([2.0, 8.0], rel=0.1)
    assert seen.quantiles(70.0, 0.5, 1.0) == pytest.approx([2.0, 2.0], rel=0.1)
    assert seen.quantiles(100.0, 0.5, 1.0) == [0.0, 0.0]
