"""Replies of a strict schema end before the length limit: they parse and validate, whatever a random model would have said."""

from __future__ import annotations

import json
import time
from typing import Any

import jsonschema_rs
import llguidance
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from engine import grammar as module
from engine.engine import Engine
from engine.grammar import DocumentCloser
from engine.text.json_schema import BLANK, compiles, grammar_schema, room_for_more
from engine.types import Grammar, Request, SamplingParams, Settings
from tests.asserting import every
from tests.fake_backend import FakeLoaded, Nature

NODE = {"type": "object", "properties": {"v": {"type": "string"}, "next": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}},
        "required": ["v", "next"]}  # fmt: skip
LIST = {"type": "object", "properties": {"items": {"type": "array", "items": {
    "type": "object", "properties": {"name": {"type": "string"}, "id": {"type": "string", "format": "uuid"},
    "kind": {"enum": ["one", "another"]}}, "required": ["name", "id", "kind"]}}}, "required": ["items"]}  # fmt: skip


def strict(schema: Any) -> Grammar:
    text = json.dumps(schema)
    return Grammar("json_schema", text, reserve=room_for_more(grammar_schema(text).value))


def replies(grammar: Grammar, counts: list[int], nature: Nature | None = None, **params: Any) -> list[Any]:
    loaded = FakeLoaded(nature=nature or Nature(eos_every=7))
    engine = Engine({"fake": loaded}.__getitem__, Settings(gpu_memory_limit="1T", max_concurrent=8), start=False)
    try:
        handles = [
            engine.submit(
                Request("fake", [40, 41 + i], SamplingParams(grammar=grammar, seed=i, max_tokens=n, **params))
            )
            for i, n in enumerate(counts)
        ]
        deadline = time.monotonic() + 60
        while not all(handle.ended for handle in handles):
            assert time.monotonic() < deadline
            engine.turn()
        return [handle.result(0) for handle in handles]
    finally:
        engine.close()


@pytest.mark.parametrize("schema", [NODE, LIST, {"type": "object"}, {"type": "array", "items": {"type": "array"}}])
def test_a_reply_ends_before_the_limit(schema: Any) -> None:
    for result in replies(strict(schema), [120, 150, 200, 300, 301, 302, 400]):
        value = json.loads(result.text)
        assert jsonschema_rs.is_valid(schema, value), result.text
        assert result.reason == "stop"


def test_without_a_promise_the_limit_cuts_a_reply_off() -> None:
    cut = [r for r in replies(Grammar("json_schema", json.dumps(NODE)), [60] * 8) if r.reason == "length"]
    assert cut
    assert every(not is_json(result.text) for result in cut)


def test_too_few_tokens_for_any_document_are_told_as_such() -> None:
    for result in replies(strict(LIST), [3, 5, 10]):
        assert result.reason == "length"
        assert not is_json(result.text)


def test_long_texts_use_the_room_that_there_is() -> None:
    schema = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    (result,) = replies(strict(schema), [400], logit_bias={ord('"'): -100.0, ord("x"): 60.0})
    assert len(json.loads(result.text)["text"]) > 350


def is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


names = st.text("abcxyz", min_size=1, max_size=6)
leaves = st.sampled_from(
    [
        {"type": "string"}, {"type": "integer"}, {"type": "number"}, {"type": "boolean"}, {"type": "null"},
        {"type": "string", "format": "date"}, {"type": "string", "format": "ulid"}, {"type": "string", "minLength": 3},
        {"type": "string", "pattern": "^[A-C]{2}-[0-9]+$"}, {"enum": ["red", 3, None]}, {"const": "x"},
        {"type": "integer", "minimum": 10, "maximum": 99}, {"type": ["string", "null"]}, {"not": {"type": "string"}},
    ]
)  # fmt: skip


def objects(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    def made(properties: dict[str, Any], required: set[str], more: dict[str, Any]) -> dict[str, Any]:
        wanted = sorted(required & properties.keys())
        return {"type": "object", "properties": properties, "required": wanted, **more}

    more = st.sampled_from([{}, {}, {"additionalProperties": False}, {"additionalProperties": {"type": "integer"}}])
    return st.builds(made, st.dictionaries(names, values, max_size=4), st.sets(names, max_size=4), more)


def arrays(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    lengths = st.sampled_from([{}, {"minItems": 2}, {"maxItems": 3}])
    return st.builds(lambda items, lengths: {"type": "array", "items": items, **lengths}, values, lengths)


schemas = st.recursive(
    leaves,
    lambda values: st.one_of(
        objects(values), arrays(values), st.builds(lambda a, b: {"anyOf": [a, b]}, values, values)
    ),
    max_leaves=6,
)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(schema=objects(schemas), spare=st.integers(0, 200), random=st.integers(0, 1000))
def test_every_reply_of_a_strict_schema_parses_and_validates(schema: Any, spare: int, random: int) -> None:
    assume(compiles(grammar_schema(json.dumps(schema)).text))
    grammar = strict(schema)
    assert grammar.reserve is not None
    (result,) = replies(grammar, [shortest(schema) + grammar.reserve + spare], Nature(eos_every=random % 9))
    assert result.reason == "stop", result.text
    assert jsonschema_rs.is_valid(schema, json.loads(result.text)), result.text


def shortest(schema: Any) -> int:
    """How many tokens the shortest document has: here, a byte is a token."""
    source = llguidance.LLMatcher.grammar_from_json_schema(grammar_schema(json.dumps(schema)).text, overrides=BLANK)
    found = DocumentCloser(source, None, 0).completion()
    assert found is not None
    return len(found.text)


def test_a_document_that_cannot_be_ended_is_not_searched_for_an_end_at_every_token(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = [f"a_long_name_of_a_property_{number}" for number in range(200)]
    schema = {"type": "object", "properties": {name: {"type": "null"} for name in names}, "required": names}
    searched: list[int] = []
    search = module._completion
    monkeypatch.setattr(module, "_completion", lambda *given: searched.append(given[2]) or search(*given))
    (result,) = replies(strict(schema), [900])
    assert result.reason == "length"
    assert len(searched) < 12
    assert searched == sorted(searched, reverse=True)


def test_a_string_that_must_have_several_characters_is_completed() -> None:
    for pattern, completed in (
        ("^[a-c]{5}$", b"abcab"),
        ("^a{70}[x-z]$", b"a" * 70 + b"x"),
        ('^"[0-9]{2}$', b'\\"01'),
    ):
        source = llguidance.LLMatcher.grammar_from_json_schema({"type": "string", "pattern": pattern}, overrides=BLANK)
        closer = DocumentCloser(source, None, 0)
        end = closer.completion()
        assert end is not None
        assert end.text == b'"' + completed + b'"'
