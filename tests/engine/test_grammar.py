"""Structured output: schema, expression and grammar, in one batch, with guessing, and after a reasoning model's mark."""

from __future__ import annotations

import json
import re
import time

import pytest

from engine.errors import BadRequest
from engine.types import Failed, Grammar, Request, SamplingParams
from tests.asserting import every
from tests.fake_backend import EOS, FakeLoaded, Nature

SCHEMA = {"type": "object", "properties": {"n": {"enum": [1, 22, 333]}, "ok": {"type": "boolean"}},
          "required": ["n", "ok"], "additionalProperties": False}  # fmt: skip
KINDS = [
    Grammar("json_schema", json.dumps(SCHEMA)),
    Grammar("regex", "[a-f]{3,9}-[0-9]{2}"),
    Grammar("ebnf", 'root ::= "yes" | "no, " [a-c]+ "!"'),
]


def ask(engine, *grammars, prompt=(40, 41), **params):
    params.setdefault("max_tokens", 200)
    handles = [
        engine.submit(Request("fake", [*prompt, 50 + i], SamplingParams(grammar=grammar, seed=i, **params)))
        for i, grammar in enumerate(grammars)
    ]
    deadline = time.monotonic() + 20
    while not all(handle.ended for handle in handles):
        assert time.monotonic() < deadline
        engine.turn()
    return handles


def fits(grammar: Grammar | None, text: str) -> bool:
    if grammar is None:
        return True
    if grammar.kind == "json_schema":
        made = json.loads(text)
        return set(made) == {"n", "ok"} and made["n"] in (1, 22, 333) and isinstance(made["ok"], bool)
    pattern = "[a-f]{3,9}-[0-9]{2}" if grammar.kind == "regex" else "yes|no, [a-c]+!"
    return re.fullmatch(pattern, text) is not None


@pytest.mark.parametrize("speculation", ["off", "ngram"])
@pytest.mark.parametrize("recurrent", [False, True])
def test_every_kind_in_one_batch(build, speculation, recurrent):
    engine = build(FakeLoaded(nature=Nature(recurrent, eos_every=5)), speculation=speculation)
    wanted = [*KINDS, None, *KINDS]
    results = [handle.result(0) for handle in ask(engine, *wanted)]
    for grammar, result in zip(wanted, results):
        assert fits(grammar, result.text), result.text
        assert result.reason == "stop" or grammar is None


def test_guessing_changes_nothing(build):
    texts = []
    for speculation in ("off", "ngram"):
        engine = build(FakeLoaded(nature=Nature(loopy=True, eos_every=0)), speculation=speculation)
        texts.append([h.result(0).text for h in ask(engine, Grammar("regex", "[a-g ]{60}"), *KINDS)])
        if speculation == "ngram":
            assert engine.stats().accepted > 0
    assert texts[0] == texts[1]


def test_any_json_object(build):
    engine = build(FakeLoaded(nature=Nature(eos_every=2)))
    (handle,) = ask(engine, Grammar("json_object"), max_tokens=2000, logit_bias={ord("}"): 60.0})
    assert isinstance(json.loads(handle.result(0).text), dict)


def test_only_what_follows_the_mark_is_constrained(build):
    nature = Nature(eos_every=0)
    free = ask(build(FakeLoaded(nature=nature)), None, temperature=0.0)[0].result(0).text
    mark = free[4:6]
    (handle,) = ask(build(FakeLoaded(nature=nature)), KINDS[1], grammar_after=mark, temperature=0.0)
    result = handle.result(0)
    before, after = result.text.split(mark, 1)
    assert before == free[:4]
    assert fits(KINDS[1], after)


def test_each_choice_has_its_own_place_in_the_grammar(build):
    engine = build(FakeLoaded(nature=Nature(eos_every=0)))
    (handle,) = ask(engine, KINDS[1], n=3)
    texts = handle.result(0).choices
    assert len(texts) == 3
    assert every(fits(KINDS[1], text) for text in texts)


@pytest.mark.parametrize("grammar", [Grammar("json_schema", "{"), Grammar("json_schema", "3"), Grammar("regex", "(["),
                                     Grammar("ebnf", "root ::= nowhere"), Grammar("json_schema", '{"type": "nonsense"}')])  # fmt: skip
def test_a_grammar_that_is_none_fails_its_request(build, grammar):
    engine = build(FakeLoaded())
    bad, good = ask(engine, grammar, None)
    event = list(bad)[-1]
    assert isinstance(event, Failed)
    assert isinstance(event.error, BadRequest), event.error
    assert good.result(0).reason in ("stop", "length")


def test_an_eviction_keeps_the_place_in_the_grammar(build):
    engine = build(FakeLoaded(nature=Nature(eos_every=0), budget=9_000), prefix_reuse=False)
    grammar = Grammar("regex", "([a-f]{10} ){6}")
    results = [handle.result(0) for handle in ask(engine, grammar, grammar, grammar)]
    assert every(re.fullmatch("([a-f]{10} ){6}", result.text) for result in results)
    assert engine.stats().evictions > 0


def test_end_of_text_is_masked_until_the_grammar_allows_it(build):
    engine = build(FakeLoaded(nature=Nature(eos_every=1)))  # would end at once
    (handle,) = ask(engine, KINDS[1], logit_bias={EOS: 60.0} | {})
    assert fits(KINDS[1], handle.result(0).text) or handle.result(0).text == ""
