"""Many requests at once: each says what it would have said alone."""

from __future__ import annotations

import asyncio

import pytest

from engine.engine import Engine
from engine.errors import BadRequest, ContextOverflow, QueueFull
from engine.types import Done, Failed, Request, SamplingParams, Started, Text
from tests.asserting import every
from tests.fake_backend import EOS, FakeLoaded, Nature, oracle


def run(engine: Engine, *requests: Request) -> list:
    handles = [engine.submit(request) for request in requests]
    while engine.turn():
        pass
    return handles


def greedy(prompt, **params) -> Request:
    params.setdefault("temperature", 0.0)
    return Request("fake", prompt, SamplingParams(**params))


@pytest.mark.parametrize("recurrent", [False, True])
@pytest.mark.parametrize("ahead", [False, True])
def test_replies_equal_those_of_requests_alone(build, recurrent, ahead):
    nature = Nature(recurrent)
    engine = build(FakeLoaded(nature=nature), max_concurrent=5, prefill_chunk=7, async_scheduling=ahead)
    requests = [
        Request("fake", [10 + i, *range(20, 20 + 3 * i)], SamplingParams(max_tokens=30, seed=i, temperature=i % 2))
        for i in range(12)
    ]
    for request, handle in zip(requests, run(engine, *requests)):
        said = oracle(nature, request.prompt_ids, request.sampling)
        result = handle.result(0)
        assert (result.text, list(result.ids), result.reason) == (said.text, said.ids, said.reason)


def test_events_come_in_order_and_end_once(build):
    engine = build(FakeLoaded(nature=Nature(eos_every=0)))
    (handle,) = run(engine, greedy([50, 51, 52], max_tokens=4))
    events = list(handle)
    assert isinstance(events[0], Started)
    assert [type(event) for event in events[1:]] == [Text] * 4 + [Done]
    assert events[-1].timings.output_tokens == 4
    assert list(handle) == []


def test_a_thread_serves_sync_and_asyncio_consumers(build):
    engine = build(FakeLoaded(), start=True)
    said = oracle(Nature(), [70, 71], SamplingParams(temperature=0.0, max_tokens=20))

    async def read() -> str:
        handle = engine.submit(greedy([70, 71], max_tokens=20))
        return "".join([event.text async for event in handle if isinstance(event, Text)])

    assert asyncio.run(read()) == said.text
    assert engine.submit(greedy([70, 71], max_tokens=20)).result(5).text == said.text


def test_cancel_ends_a_request_at_any_time(build):
    engine = build(FakeLoaded(nature=Nature(eos_every=0)), max_concurrent=1)
    running, waiting = engine.submit(greedy([40])), engine.submit(greedy([41]))
    for _ in range(5):
        engine.turn()
    waiting.cancel()
    running.cancel()
    while engine.turn():
        pass
    assert running.result(0).reason == waiting.result(0).reason == "cancelled"
    assert running.result(0).text
    assert waiting.result(0).text == ""
    stats = engine.stats()
    assert (stats.cancelled, stats.active, stats.waiting) == (2, 0, 0)


def test_what_a_model_cannot_do_fails_the_request_alone(build):
    engine = build(FakeLoaded(context=16))
    wrong = [greedy([]), greedy([500]), greedy(range(20, 40)), greedy([30], stop_token_ids=[1000])]
    handles = run(engine, *wrong, greedy([30], max_tokens=3))
    errors = [list(handle)[-1] for handle in handles[:-1]]
    assert every(isinstance(event, Failed) for event in errors)
    assert [type(event.error) for event in errors] == [BadRequest, BadRequest, ContextOverflow, BadRequest]
    assert handles[-1].result(0).ids


def test_a_full_queue_refuses(build):
    engine = build(FakeLoaded(), max_queue=2)
    engine.submit(greedy([30]))
    engine.submit(greedy([30]))
    with pytest.raises(QueueFull):
        engine.submit(greedy([30]))


def test_batch_returns_results_in_order(build):
    engine = build(FakeLoaded(), start=True, max_queue=4)
    requests = [greedy([30 + i, 31], max_tokens=1 + i % 5) for i in range(20)]
    results = engine.batch(requests)
    assert [list(r.ids) for r in results] == [oracle(Nature(), r.prompt_ids, r.sampling).ids for r in requests]


@pytest.mark.parametrize("recurrent", [False, True])
def test_choices_share_the_prompt(build, recurrent):
    nature = Nature(recurrent)
    loaded = FakeLoaded(nature=nature)
    loaded.runner.log_steps = True
    engine = build(loaded)
    prompt = list(range(30, 100))
    params = SamplingParams(n=3, seed=5, max_tokens=10)
    (handle,) = run(engine, Request("fake", prompt, params))
    expected = [oracle(nature, prompt, params, index=i).text for i in range(3)]
    assert list(handle.result(0).choices) == expected
    assert len(set(expected)) == 3
    fed = sum(count for step in loaded.runner.steps for _, count in step)
    assert fed < len(prompt) + 3 * 12


def test_the_context_ends_a_reply(build):
    engine = build(FakeLoaded(nature=Nature(eos_every=0), context=12))
    (handle,) = run(engine, greedy([30, 31]))
    result = handle.result(0)
    assert (result.reason, len(result.ids)) == ("length", 10)


def test_ignoring_end_of_text_goes_on(build):
    nature = Nature(eos_every=2)
    engine = build(FakeLoaded(nature=nature))
    (handle,) = run(engine, greedy([30, 31], ignore_eos=True, max_tokens=20))
    assert len(handle.result(0).ids) == 20
    assert EOS in handle.result(0).ids
