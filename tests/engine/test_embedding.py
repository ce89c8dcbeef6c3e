"""Vectors instead of replies: pooled chunk by chunk, whatever the chunks, the company and the memory."""

from __future__ import annotations

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from engine.engine import Engine
from engine.errors import BadRequest, ContextOverflow, NumericalError
from engine.loading import LoadOptions, load
from engine.sequence import EmbeddingPool
from engine.types import Progress, Request, SamplingParams, Settings
from tests.checkpoints import reference_cached, save
from tests.driver import Driver
from tests.fake_backend import NAN, FakeLoaded, Nature, fake_hidden, mix

PROMPT = [40 + i % 50 for i in range(37)]


def hidden_of(prompt, recurrent=False):
    """What the fake model's hidden states are, by hand."""
    row, state, rows = 0, 1, []
    for token in prompt:
        row, state = mix(row, token), mix(state, token)
        rows.append(fake_hidden(row ^ (state if recurrent else 0)))
    return np.stack(rows)


def finish(engine, *wanted):
    handles = [engine.submit(request) for request in wanted]
    while engine.turn():
        pass
    return handles


def asked(prompt=PROMPT, pooling="mean", **more):
    return Request("fake", prompt, pooling=pooling, **more)


@pytest.mark.parametrize("recurrent", [False, True])
@pytest.mark.parametrize("ahead", [False, True])
@pytest.mark.parametrize("chunk", [1, 7, 64])
def test_the_vector_does_not_depend_on_chunks_or_company(build, chunk, ahead, recurrent):
    loaded = FakeLoaded(nature=Nature(recurrent=recurrent))
    engine = build(loaded, prefill_chunk=chunk, async_scheduling=ahead, max_concurrent=4)
    chat = Request("fake", PROMPT, SamplingParams(max_tokens=20))
    mean, _, last, again = finish(engine, asked(), chat, asked(pooling="last"), asked())
    rows = hidden_of(PROMPT, recurrent)
    assert mean.result(0).vector == pytest.approx(rows.mean(0), abs=1e-6)
    assert np.array_equal(last.result(0).vector, rows[-1])
    assert np.array_equal(again.result(0).vector, mean.result(0).vector)
    timings = mean.result(0).timings
    assert (timings.prompt_tokens, timings.output_tokens, timings.cached_tokens) == (len(PROMPT), 0, 0)
    assert loaded.kv.violations == []
    assert engine.check() == 0


def test_memory_of_a_beginning_is_not_reused_and_none_is_left_behind(build):
    loaded = FakeLoaded()
    engine = build(loaded)
    finish(engine, Request("fake", PROMPT, SamplingParams(max_tokens=5)))
    kept = engine.stats().models[0].idle_prefixes
    (handle,) = finish(engine, asked())
    assert handle.result(0).vector == pytest.approx(hidden_of(PROMPT).mean(0), abs=1e-6)
    assert engine.stats().models[0].idle_prefixes == kept == 1
    assert engine.stats().prefix_hits == 0


@pytest.mark.parametrize("keep", [True, False])
def test_an_evicted_text_goes_on_and_counts_no_token_twice(build, keep):
    engine = build(FakeLoaded(), prefill_chunk=8)
    handle = engine.submit(asked())
    for turn in range(1000):
        if not engine.turn():
            break
        (executor,) = engine._manager.executors.values()
        if turn in (1, 3) and executor.scheduler.running:
            executor.scheduler.preempt(executor.scheduler.running[0], keep=keep)
    assert engine.stats().evictions == 2
    assert handle.result(0).vector == pytest.approx(hidden_of(PROMPT).mean(0), abs=1e-6)


def test_long_texts_tell_how_far_they_are(build):
    engine = build(FakeLoaded(), prefill_chunk=16)
    (handle,) = finish(engine, asked())
    assert [event.done for event in handle if isinstance(event, Progress)] == [16, 32]


def test_a_text_may_fill_the_context_but_not_more(build):
    loaded = FakeLoaded()
    loaded.context = len(PROMPT)
    fits, long = finish(build(loaded), asked(), asked([*PROMPT, 40]))
    assert fits.result(0).vector is not None
    with pytest.raises(ContextOverflow):
        long.result(0)


def test_what_makes_no_sense_is_refused(build):
    several, broken, empty = finish(
        build(FakeLoaded()), asked(sampling=SamplingParams(n=2)), asked([40, NAN, 41]), asked([])
    )
    with pytest.raises(BadRequest, match="n must be 1"):
        several.result(0)
    with pytest.raises(NumericalError):
        broken.result(0)
    with pytest.raises(BadRequest, match="empty"):
        empty.result(0)


def test_a_step_that_fails_is_tried_again(build):
    loaded = FakeLoaded()
    failed = []

    def reading(segments):
        if len(failed) < 1:
            failed.append(len(segments))
            return RuntimeError("the device hiccuped")
        return None

    loaded.runner.reading = reading
    one, two = finish(build(loaded, prefill_chunk=64, max_gap=1e9), asked(), asked([*PROMPT, 90]))
    assert failed == [2]
    assert one.result(0).vector == pytest.approx(hidden_of(PROMPT).mean(0), abs=1e-6)
    assert two.result(0).vector == pytest.approx(hidden_of([*PROMPT, 90]).mean(0), abs=1e-6)


def test_a_pool_keeps_one_row():
    pool = EmbeddingPool("mean", 3)
    pool.add(0, np.ones((2, 4), np.float32))
    assert pool.vector is None
    pool.add(1, np.array([[5.0] * 4, [4.0] * 4], np.float32))  # the first of them was counted
    assert pool.vector.tolist() == [2.0] * 4


@pytest.mark.parametrize("backend", ["torch", "mlx"])
def test_a_broken_checkpoint_is_told_apart(tmp_path, backend):
    """And what it left in memory does not spoil the next text."""
    folder = save("qwen3", tmp_path / "tiny")
    path = folder / "model.safetensors"
    tensors = load_file(path)
    tensors["model.embed_tokens.weight"][NAN] = float("nan")
    save_file(tensors, path)
    engine = Engine(lambda _: load(str(folder), LoadOptions(backend, "cpu", "f32")), Settings(), start=False)
    (broken,) = finish(engine, asked([5, NAN, 6]))
    with pytest.raises(NumericalError):
        broken.result(0)
    (sound,) = finish(engine, asked([5, 6]))
    assert np.isfinite(sound.result(0).vector).all()
    engine.close()


def test_a_body_that_was_saved_without_its_head(tmp_path):
    whole = save("qwen3", tmp_path / "whole", tie_word_embeddings=True)
    bare = save("qwen3", tmp_path / "bare", tie_word_embeddings=True)
    tensors = load_file(bare / "model.safetensors")
    kept = {name.removeprefix("model."): tensor for name, tensor in tensors.items() if name.startswith("model.")}
    save_file(kept, bare / "model.safetensors")
    assert np.array_equal(Driver(bare, "torch").hidden(PROMPT), Driver(whole, "torch").hidden(PROMPT))


@pytest.fixture(scope="module", params=["qwen3", "qwen3_5"])
def checkpoint(request, tmp_path_factory):
    return request.param, save(request.param, tmp_path_factory.mktemp(request.param))


@pytest.mark.parametrize("backend", ["torch", "mlx"])
def test_hidden_states_are_the_reference_librarys(checkpoint, backend):
    import torch

    name, folder = checkpoint
    with torch.no_grad():
        made = reference_cached(name)(torch.tensor([PROMPT]), output_hidden_states=True)
    want = made.hidden_states[-1][0].numpy()
    driver = Driver(folder, backend)
    assert driver.hidden(PROMPT) == pytest.approx(want, abs=2e-4)
    assert driver.hidden(PROMPT, [1, 20, 16]) == pytest.approx(want, abs=2e-4)
    engine = Engine(lambda _: load(str(folder), LoadOptions(backend, "cpu", "f32")),
                    Settings(prefill_chunk=10), start=False)  # fmt: skip
    mean, short, last = finish(engine, asked(), asked(PROMPT[:5]), asked(pooling="last"))
    assert mean.result(0).vector == pytest.approx(want.mean(0), abs=2e-4)
    assert short.result(0).vector == pytest.approx(want[:5].mean(0), abs=2e-4)
    assert last.result(0).vector == pytest.approx(want[-1], abs=2e-4)
    engine.close()
