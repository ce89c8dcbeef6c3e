"""Reasoning is closed after so many tokens: in batches, with draft tokens, before a grammar, and where it begins twice."""

from __future__ import annotations

import time

import pytest

from engine.reasoning_limit import ReasoningConstraint
from engine.types import Grammar, ReasoningLimit, Request, SamplingParams
from tests.fake_backend import FakeLoaded, Nature

CLOSING = "\n(enough)</t>\n"
LIMIT = ReasoningLimit(12, "<t>", "</t>", tuple(CLOSING.encode()), started=True)


def ask(engine, *limits, grammar=None, after=None, **params):
    params = {"max_tokens": 90, "temperature": 0.0} | params
    handles = [
        engine.submit(
            Request(
                "fake",
                [40, 41, 50 + i],
                SamplingParams(reasoning=limit, grammar=grammar, grammar_after=after, **params),
            )
        )
        for i, limit in enumerate(limits)
    ]
    deadline = time.monotonic() + 20
    while not all(handle.ended for handle in handles):
        assert time.monotonic() < deadline
        engine.turn()
    return [handle.result(0) for handle in handles]


@pytest.mark.parametrize("speculation", ["off", "ngram"])
@pytest.mark.parametrize("recurrent", [False, True])
def test_the_thought_is_closed_after_its_tokens(build, speculation, recurrent):
    nature = Nature(recurrent, loopy=True, eos_every=0)
    free = ask(build(FakeLoaded(nature=nature)), None, None)
    engine = build(FakeLoaded(nature=nature), speculation=speculation)
    results = ask(engine, LIMIT, None, LIMIT)
    for result in (results[0], results[2]):
        thought, _, answer = result.text.partition(CLOSING)
        assert len(result.ids) == 90
        assert len(thought.encode()) <= 12 + 3
        assert len(answer) > 0
    assert results[0].text.startswith(free[0].text[:8])
    assert results[1].text == free[1].text
    if speculation == "ngram":
        assert engine.stats().accepted > 0


def test_no_thought_at_all_and_several_replies(build):
    none = ReasoningLimit(0, "<t>", "</t>", tuple(CLOSING.encode()), started=True)
    assert ask(build(FakeLoaded(nature=Nature(eos_every=0))), none)[0].text.startswith(CLOSING)
    engine = build(FakeLoaded(nature=Nature(eos_every=0)))
    handle = engine.submit(Request("fake", [40, 41], SamplingParams(reasoning=LIMIT, n=2, max_tokens=60, seed=1)))
    while not handle.ended:
        engine.turn()
    assert handle.result(0).text.count("(enough)") == 1


def test_a_grammar_holds_for_what_follows(build):
    engine = build(FakeLoaded(nature=Nature(eos_every=0)))
    (result,) = ask(engine, LIMIT, grammar=Grammar("regex", "[a-f]{3,9}-[0-9]{2}"), after="</t>\n")
    assert CLOSING in result.text
    assert result.reason == "stop"
    assert len(result.text.partition(CLOSING)[2]) < 13


def test_an_eviction_keeps_the_count(build):
    engine = build(FakeLoaded(nature=Nature(eos_every=0), budget=9_000), prefix_reuse=False)
    results = ask(engine, LIMIT, LIMIT, LIMIT, max_tokens=50)
    assert [result.text.count("(enough)") for result in results] == [1] * 3
    assert engine.stats().evictions > 0


def fed(constraint: ReasoningConstraint, text: str) -> None:
    for char in text:
        constraint.accept([ord(char)], char)


def forced(constraint: ReasoningConstraint) -> int | None:
    _, masks = constraint.masks([1, 2, 3], 100)
    return None if masks[0] is None else int(masks[0].argmax())


def test_where_reasoning_begins_and_ends_by_itself():
    limit = ReasoningLimit(5, "<t>", "</t>", (7, 8))
    constraint = ReasoningConstraint(limit, 256)
    fed(constraint, "<t>abcd")
    assert (forced(constraint), constraint.over) == (None, False)
    assert constraint.masks([1, 2, 3], 100)[0] == []  # one more, which no draft may follow
    fed(constraint, "e")
    assert forced(constraint) == 7
    constraint.accept([7], "")
    assert forced(constraint) == 8
    constraint.accept([8], "</t>")
    assert (forced(constraint), constraint.over) == (None, True)
    again = constraint.copy()
    fed(again, "<t>a</t>")
    assert (forced(again), again.over) == (None, True)


def test_a_reply_without_reasoning_is_left_alone():
    constraint = ReasoningConstraint(ReasoningLimit(2, "<t>", "</t>", (7,)), 256)
    fed(constraint, "x" * 70 + "<t>abcdef")
    assert (forced(constraint), constraint.over) == (None, True)


def test_the_second_thought_is_led_to_the_answer():
    limit = ReasoningLimit(3, "<a>", "<e>", (7,), closing_again=(9,))
    constraint = ReasoningConstraint(limit, 256)
    fed(constraint, "<a>abc")
    assert forced(constraint) == 7
    constraint.accept([7], "<e>")
    fed(constraint, "<a>")
    assert forced(constraint) == 9
    assert not constraint.over


def test_half_a_character_is_completed_first():
    constraint = ReasoningConstraint(ReasoningLimit(1, "<t>", "</t>", (7,), started=True), 256)
    constraint.accept([0xC3], "")
    assert forced(constraint) is None
    constraint.accept([0xA9], "é")
    assert forced(constraint) == 7
