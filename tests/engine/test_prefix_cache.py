"""A prompt that was seen before is not computed again, in memory or on disk."""

from __future__ import annotations

import pytest

from backends.base import KVSnapshot
from engine.errors import ModelNotFound
from engine.prefix_cache import common_prefix, thin_checkpoints
from engine.types import Request, SamplingParams
from tests.fake_backend import FakeLoaded, Nature, oracle

PROMPT = [40 + i % 50 for i in range(200)]


def ask(engine, prompt, **params):
    params.setdefault("max_tokens", 6)
    handle = engine.submit(Request("fake", prompt, SamplingParams(temperature=0.0, **params)))
    while not handle.ended:
        engine.turn()
    while engine.turn():
        pass
    return handle.result(0)


def said(nature, prompt, **params):
    params.setdefault("max_tokens", 6)
    return oracle(nature, prompt, SamplingParams(temperature=0.0, **params)).ids


@pytest.mark.parametrize("recurrent", [False, True])
def test_a_follow_up_computes_only_what_is_new(build, recurrent):
    nature = Nature(recurrent, eos_every=0)
    engine = build(FakeLoaded(nature=nature), prefill_chunk=64)
    first = ask(engine, PROMPT)
    second = [*PROMPT, *first.ids, 33, 34, 35]
    result = ask(engine, second)
    assert list(result.ids) == said(nature, second)
    assert result.timings.cached_tokens == len(PROMPT) + 5  # the reply's last token was never computed
    assert engine.stats().prefix_hits == 1


@pytest.mark.parametrize("recurrent", [False, True])
def test_a_changed_reply_reuses_the_prompt(build, recurrent):
    """A template that leaves the reasoning out of old turns changes everything after the prompt, and a little before."""
    nature = Nature(recurrent, eos_every=0)
    engine = build(FakeLoaded(nature=nature), prefill_chunk=64)
    ask(engine, PROMPT, max_tokens=40)
    second = [*PROMPT[:-5], 90, 91, 92]
    result = ask(engine, second)
    assert list(result.ids) == said(nature, second)
    assert result.timings.cached_tokens == (184 if recurrent else 195)


def test_a_short_message_takes_one_step(build):
    """Without a stop for a checkpoint sixteen tokens before its end, since there is one where it begins."""
    loaded = FakeLoaded(nature=Nature(True, eos_every=0))
    loaded.runner.log_steps = True
    engine = build(loaded)
    reply = ask(engine, PROMPT)
    loaded.runner.steps.clear()
    ask(engine, [*PROMPT, *reply.ids, *[33] * 30])
    assert loaded.runner.steps[0][0][1] == 31
    ask(engine, [*PROMPT, *reply.ids, *[34] * 80])
    assert 65 in [tokens for step in loaded.runner.steps for _, tokens in step], "a long one stops there"


@pytest.mark.parametrize("recurrent", [False, True])
def test_two_conversations_with_one_beginning_both_stay(build, recurrent):
    nature = Nature(recurrent, eos_every=0)
    engine = build(FakeLoaded(nature=nature), prefill_chunk=64)
    one, two = [*PROMPT, *[50] * 100], [*PROMPT, *[60] * 100]
    ask(engine, one)
    assert ask(engine, two).timings.cached_tokens == (192 if recurrent else 200)
    for prompt in (one, two):
        result = ask(engine, [*prompt, *said(nature, prompt), 70])
        assert result.timings.cached_tokens == 305
        assert list(result.ids) == said(nature, [*prompt, *said(nature, prompt), 70])


@pytest.mark.parametrize("recurrent", [False, True])
def test_the_same_prompt_again_computes_its_end(build, recurrent):
    nature = Nature(recurrent, eos_every=0)
    engine = build(FakeLoaded(nature=nature), prefill_chunk=64)
    assert list(ask(engine, PROMPT).ids) == list(ask(engine, PROMPT).ids) == said(nature, PROMPT)
    assert engine.stats().prefix_tokens == (184 if recurrent else 199)


def test_a_running_sequence_lends_its_prompt(build):
    nature = Nature(eos_every=0)
    engine = build(FakeLoaded(nature=nature))
    params = SamplingParams(temperature=0.0, max_tokens=50)
    first = engine.submit(Request("fake", PROMPT, params))
    for _ in range(5):
        engine.turn()
    second = engine.submit(Request("fake", [*PROMPT, 33], params))
    while engine.turn():
        pass
    assert first.result(0).timings.cached_tokens == 0
    assert second.result(0).timings.cached_tokens == 200
    assert list(second.result(0).ids) == said(nature, [*PROMPT, 33], max_tokens=50)


def test_an_adapter_has_prefixes_of_its_own(build):
    loaded = FakeLoaded()
    loaded.adapters = ("a",)
    engine = build(loaded)
    ask(engine, PROMPT)
    handle = engine.submit(Request("fake", PROMPT, SamplingParams(max_tokens=2), adapter="a"))
    while engine.turn():
        pass
    assert handle.result(0).timings.cached_tokens == 0


@pytest.mark.parametrize("recurrent", [False, True])
@pytest.mark.parametrize("spilling", [False, True])
def test_what_is_forgotten_is_computed_again(build, recurrent, spilling, tmp_path):
    loaded = FakeLoaded(nature=Nature(recurrent, eos_every=0))
    engine = build(loaded, offload_folder=tmp_path if spilling else None)
    ask(engine, PROMPT)
    assert engine.clear_prefix_cache("fake") == 1
    assert loaded.kv.used == 0
    again = ask(engine, [*PROMPT, 33])
    assert again.timings.cached_tokens == 0
    assert engine.clear_prefix_cache() == 1
    assert list(tmp_path.glob("*.prefix")) == []
    with pytest.raises(ModelNotFound):
        engine.clear_prefix_cache("nowhere")


def test_forgetting_a_model_leaves_the_files_of_others(build, tmp_path):
    other = FakeLoaded()
    other.fingerprint = "fake-2"
    for loaded in (FakeLoaded(), other):
        engine = build(loaded, offload_folder=tmp_path)
        ask(engine, PROMPT)
        engine.close()
    assert len(list(tmp_path.glob("*.prefix"))) == 2
    engine = build(FakeLoaded(), offload_folder=tmp_path)
    engine.load("fake")
    assert engine.clear_prefix_cache("fake") == 1
    assert len(list(tmp_path.glob("*.prefix"))) == 1
    assert engine.clear_prefix_cache() == 1


def test_a_running_reply_outlives_a_flush(build):
    engine = build(FakeLoaded(nature=Nature(eos_every=0)))
    handle = engine.submit(Request("fake", PROMPT, SamplingParams(temperature=0.0, max_tokens=6)))
    engine.turn()
    assert engine.clear_prefix_cache() == 0
    while engine.turn():
        pass
    assert list(handle.result(0).ids) == said(Nature(eos_every=0), PROMPT)


@pytest.mark.parametrize("recurrent", [False, True])
def test_spilled_prefixes_survive_a_restart(build, recurrent, tmp_path):
    nature = Nature(recurrent, eos_every=0)
    first = build(FakeLoaded(nature=nature), offload_folder=tmp_path)
    reply = ask(first, PROMPT)
    first.close()
    second = build(FakeLoaded(nature=nature), offload_folder=tmp_path)
    prompt = [*PROMPT, *reply.ids, 33]
    result = ask(second, prompt)
    assert result.timings.cached_tokens == 205
    assert list(result.ids) == said(nature, prompt)
    assert second.stats().spilled_bytes > 0


@pytest.mark.parametrize(("recurrent", "cached"), [(False, 200), (True, 184)])
def test_a_restarted_conversation_whose_reply_is_shown_otherwise(build, recurrent, cached, tmp_path):
    """As chat templates do that leave reasoning out: of the stored prefix the prompt is of use, or its last checkpoint."""
    nature = Nature(recurrent, eos_every=0)
    first = build(FakeLoaded(nature=nature), offload_folder=tmp_path)
    reply = ask(first, PROMPT)
    first.close()
    second = build(FakeLoaded(nature=nature), offload_folder=tmp_path)
    prompt = [*PROMPT, reply.ids[0] ^ 1, 33, 34]
    result = ask(second, prompt)
    assert result.timings.cached_tokens == cached
    assert list(result.ids) == said(nature, prompt)


def test_files_of_an_earlier_version_are_deleted(build, tmp_path):
    old, other = tmp_path / "a.prefix", tmp_path / "b.prefix"
    old.write_bytes(b"GRUSKV01" + bytes(40))
    other.write_bytes(b"something else")
    build(FakeLoaded(), offload_folder=tmp_path)
    assert not old.exists()
    assert other.exists()


def test_other_weights_do_not_read_what_was_spilled(build, tmp_path):
    first = build(FakeLoaded(), offload_folder=tmp_path)
    ask(first, PROMPT)
    first.close()
    changed = FakeLoaded()
    changed.fingerprint = "fake-2"
    assert ask(build(changed, offload_folder=tmp_path), PROMPT).timings.cached_tokens == 0


def test_a_damaged_file_is_deleted_and_not_used(build, tmp_path):
    first = build(FakeLoaded(), offload_folder=tmp_path)
    ask(first, PROMPT)
    first.close()
    (file,) = tmp_path.glob("*.prefix")
    raw = bytearray(file.read_bytes())
    raw[-3] ^= 1
    file.write_bytes(raw)
    result = ask(build(FakeLoaded(), offload_folder=tmp_path), PROMPT)
    assert result.timings.cached_tokens == 0
    assert list(result.ids) == said(Nature(), PROMPT)
    assert not file.exists()


def test_two_engines_share_a_folder(build, tmp_path):
    one, two = (build(FakeLoaded(), offload_folder=tmp_path) for _ in range(2))
    ask(one, PROMPT)
    one.close()
    assert ask(two, [*PROMPT, 33]).timings.cached_tokens == 200  # written after `two` had looked into the folder
    for file in tmp_path.glob("*.prefix"):
        file.unlink()
    third = [41, *PROMPT]
    assert list(ask(two, third).ids) == said(Nature(), third)


def test_the_folder_is_bounded(build, tmp_path):
    engine = build(FakeLoaded(), offload_folder=tmp_path, offload_limit="8K")
    for i in range(8):
        ask(engine, [33 + i, *PROMPT])
    engine.close()
    sizes = [file.stat().st_size for file in tmp_path.glob("*.prefix")]
    assert 0 < sum(sizes) <= 8 << 10
    assert not list(tmp_path.glob("*.part"))


def test_common_beginnings():
    long = list(range(1000))
    assert common_prefix(long, long[:700]) == 700
    assert common_prefix(long, [*long[:600], -1, *long[601:]]) == 600
    assert common_prefix(long, [5]) == 0
    assert common_prefix([], long) == 0


def test_thinning_keeps_the_newest_and_spreads_the_rest():
    borders = [KVSnapshot(length, 1) for length in (10, 500, 510, 1000, 1010)]
    assert [border.length for border in thin_checkpoints(borders, 3)] == [500, 1000, 1010]
    assert thin_checkpoints(borders[:2], 4) == borders[:2]
