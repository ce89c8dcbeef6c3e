"""From wishes to numbers: noise, penalties, bans, and what of it reaches the reply."""

from __future__ import annotations

import math

import numpy as np
import pytest

from engine.errors import BadRequest
from engine.sequence import Sampler, check_tokens, uniform
from engine.types import Request, SamplingParams, Text
from tests.asserting import every
from tests.fake_backend import EOS, VOCAB, FakeLoaded, Nature, oracle


def chooser(prompt=(), stops=(), **params) -> Sampler:
    return Sampler(SamplingParams(**params), 7, 0, prompt, stops, VOCAB)


def test_noise_is_uniform_and_exact_in_f32():
    draws = np.array([uniform(3, 1, i) for i in range(20_000)])
    assert draws.min() >= 0.0
    assert draws.max() < 1.0
    assert (draws == draws.astype(np.float32)).all()
    counts, _ = np.histogram(draws, 20, (0.0, 1.0))
    assert ((counts - 1000) ** 2 / 1000).sum() < 43.8  # chi squared, 19 degrees, one in a thousand
    assert abs(np.corrcoef(draws[:-1], draws[1:])[0, 1]) < 0.03


def test_noise_differs_by_seed_choice_and_position():
    assert len({uniform(s, c, p) for s in range(10) for c in range(10) for p in range(10)}) > 990
    assert chooser(seed=7).at(5).noise == uniform(7, 0, 5)


def test_presence_and_frequency_look_at_the_output_alone():
    choose = chooser([40, 40], frequency_penalty=0.5)
    assert choose.at(0).seen == {}
    for token in (41, 42, 41):
        choose.add(token)
    assert choose.at(3).seen == {41: 2, 42: 1}
    assert choose.at(3, ahead=[42, 43]).seen == {41: 2, 42: 2, 43: 1}
    assert choose.at(3).seen == {41: 2, 42: 1}
    assert choose.at(3).repeated is None


def test_repetition_looks_at_prompt_and_output_in_its_window():
    whole = chooser([40, 41, 40], repetition_penalty=1.2)
    whole.add(50)
    assert sorted(whole.at(1).repeated) == [40, 41, 50]
    assert sorted(whole.at(1, ahead=[51, 40]).repeated) == [40, 41, 50, 51]
    window = chooser([40, 41, 42], repetition_penalty=1.2, repetition_window=2)
    assert sorted(window.at(0).repeated) == [41, 42]
    assert sorted(window.at(0, ahead=[60]).repeated) == [42, 60]


@pytest.mark.parametrize("window", [0, 12])
@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_repeated_ngrams_are_banned_as_transformers_bans_them(size: int, window: int) -> None:
    import torch
    from transformers.generation.logits_process import NoRepeatNGramLogitsProcessor
    from transformers.models.unlimited_ocr.generation_unlimited_ocr import (
        UnlimitedOcrSlidingWindowNoRepeatNgramLogitsProcessor as InWindow,
    )

    theirs = InWindow(size, window) if window else NoRepeatNGramLogitsProcessor(size)
    ids, ever = np.random.default_rng(size).integers(0, 3, 60).tolist(), 0
    for first, ahead in ((4, 0), (20, 0), (4, 6), (4, 1)):
        choose = chooser(ids[:first], no_repeat_ngram_size=size, no_repeat_ngram_window_size=window)
        assert choose.looks_back
        for end in range(first, len(ids) - ahead):
            scores = theirs(torch.tensor([ids[: end + ahead]]), torch.zeros(1, VOCAB))[0]
            banned = set(torch.nonzero(scores.isinf()).flatten().tolist())
            bias = choose.at(end - first, ahead=ids[end : end + ahead]).bias or {}
            assert bias == dict.fromkeys(banned, -math.inf)
            ever += len(banned)
            choose.add(ids[end])
    assert ever


def test_bans_requirements_and_early_ends():
    choose = chooser(banned_tokens=[9], logit_bias={8: 2.0}, required_tokens=[7, 8], min_tokens=2, stops=[0, 5])
    assert choose.at(0).bias == {8: 2.0, 9: -math.inf, 0: -math.inf, 5: -math.inf}
    assert choose.at(2).bias == {8: 2.0, 9: -math.inf}
    assert np.flatnonzero(choose.at(0).mask).tolist() == [7, 8]
    grammar = np.zeros(VOCAB, dtype=bool)
    grammar[8] = True
    assert np.flatnonzero(choose.at(0, mask=grammar).mask).tolist() == [8]


@pytest.mark.parametrize("params", [{"banned_tokens": [999]}, {"logit_bias": {-1: 1.0}},
                                    {"required_tokens": [5], "banned_tokens": [5]},
                                    {"banned_tokens": range(VOCAB)}])  # fmt: skip
def test_impossible_tokens_are_named(params):
    with pytest.raises(BadRequest):
        check_tokens(SamplingParams(**params), VOCAB)


def ask(build, nature=None, defaults=None, **params):
    engine = build(FakeLoaded(nature=nature or Nature(eos_every=0), defaults=defaults))
    params.setdefault("max_tokens", 30)
    handle = engine.submit(Request("fake", [40, 41, 42], SamplingParams(**params)))
    while engine.turn():
        pass
    return handle


def test_a_seed_does_not_depend_on_company(build):
    engine = build(FakeLoaded(nature=Nature(eos_every=0)), max_concurrent=4)
    params = SamplingParams(seed=11, temperature=0.9, max_tokens=20)
    alone = engine.submit(Request("fake", [40, 41, 42], params))
    while engine.turn():
        pass
    crowd = [engine.submit(Request("fake", [50 + i], SamplingParams(seed=i, max_tokens=9 + i))) for i in range(6)]
    again = engine.submit(Request("fake", [40, 41, 42], params))
    while engine.turn():
        pass
    assert alone.result(0).ids == again.result(0).ids
    assert every(handle.result(0).ids for handle in crowd)


def test_without_a_seed_two_replies_differ(build):
    assert ask(build).result(0).ids != ask(build).result(0).ids


def test_the_models_defaults_fill_in_what_is_not_said(build):
    prompt = [40, 41, 42]
    greedy = oracle(Nature(eos_every=0), prompt, SamplingParams(temperature=0.0, max_tokens=30)).ids
    assert list(ask(build, defaults={"temperature": 0.0}).result(0).ids) == greedy
    assert list(ask(build, defaults={"temperature": 0.0}, temperature=1.0, seed=1).result(0).ids) != greedy


def test_stop_strings_never_leak_also_across_tokens(build):
    free = ask(build, temperature=0.0).result(0).text
    stop = free[10:14]
    handle = ask(build, temperature=0.0, stop=["never there", stop])
    events = list(handle)
    text = "".join(event.text for event in events if isinstance(event, Text))
    assert text == free[: free.index(stop)]
    assert (events[-1].reason, events[-1].stop) == ("stop", stop)
    longest = 0
    for event in events:
        if isinstance(event, Text):
            longest = max(longest, len(event.ids))
    assert longest == 1


def test_what_was_held_back_for_a_stop_string_comes_at_the_end(build):
    free = ask(build, temperature=0.0).result(0).text
    result = ask(build, temperature=0.0, stop=[free[-2:] + "and more"]).result(0)
    assert (result.text, result.reason) == (free, "length")


def test_stop_tokens_end_with_their_id_and_min_tokens_delays_them(build):
    free = list(ask(build, temperature=0.0).result(0).ids)
    token = free[5]
    events = list(ask(build, temperature=0.0, stop_token_ids=[token]))
    assert (events[-1].reason, events[-1].stop) == ("stop", token)
    later = ask(build, temperature=0.0, stop_token_ids=[token], min_tokens=12).result(0)
    assert len(later.ids) >= 12
    assert token not in later.ids


def test_end_of_text_ends_without_a_name(build):
    nature = Nature(eos_every=4)
    events = list(ask(build, nature, temperature=0.0))
    assert (events[-1].reason, events[-1].stop) == ("stop", None)
    assert EOS not in [id for event in events if isinstance(event, Text) for id in event.ids]


def test_logprobs_come_with_their_tokens(build):
    result = ask(build, temperature=0.0, logprobs=True, top_logprobs=3, max_tokens=5).result(0)
    assert [entry.id for entry in result.logprobs] == list(result.ids)
    assert every(len(entry.top) == 3 for entry in result.logprobs)
    assert not ask(build, temperature=0.0, max_tokens=5).result(0).logprobs
