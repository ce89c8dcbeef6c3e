"""What of a JSON schema the grammar engine enforces, held against a validator, and what is named as ignored."""

from __future__ import annotations

import json
from typing import Any

import llguidance
import pytest

from engine.errors import BadRequest
from engine.grammar import _byte_tokenizer
from engine.text.json_schema import BLANK, grammar_schema, room_for_more
from tests.asserting import every

NUMBER = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}


def takes(schema: Any, text: str) -> bool:
    """Whether a reply of this schema may be this text."""
    made = llguidance.LLMatcher.grammar_from_json_schema(grammar_schema(json.dumps(schema)).text, overrides=BLANK)
    matcher = llguidance.LLMatcher(_byte_tokenizer(), made, log_level=0)
    assert not matcher.is_error(), matcher.get_error()
    raw = text.encode()
    return bool(matcher.try_consume_tokens(list(raw)) == len(raw) and matcher.is_accepting())


def ignored(schema: Any) -> tuple[str, ...]:
    return grammar_schema(json.dumps(schema)).ignored


def test_at_most_one_blank_between_tokens() -> None:
    assert takes(NUMBER, '{"a":1}')
    assert takes(NUMBER, '{ "a" : 1 }')
    for text in ('{"a":  1}', '{\n"a": 1}', ' {"a": 1}', '{"a": 1}\n'):
        assert not takes(NUMBER, text)


@pytest.mark.parametrize(
    ("schema", "extra"),
    [
        (NUMBER, False),
        ({**NUMBER, "additionalProperties": False}, False),
        ({**NUMBER, "additionalProperties": True}, True),
        ({**NUMBER, "unevaluatedProperties": False}, False),
        ({"properties": {"a": {}}}, False),
        ({"type": "object"}, True),
        ({"$defs": {"N": NUMBER}, "$ref": "#/$defs/N"}, False),
        ({"$defs": {"N": NUMBER}, "allOf": [{"$ref": "#/$defs/N"}]}, False),
        ({"$defs": {"N": NUMBER}, "anyOf": [{"$ref": "#/$defs/N"}, {"type": "null"}]}, False),
        ({"$defs": {"N": NUMBER}, "allOf": [{"$ref": "#/$defs/N"}, {"properties": {"x": {}}}]}, True),
    ],
)
def test_objects_are_closed_unless_the_schema_opens_them(schema: Any, extra: bool) -> None:
    assert takes(schema, '{"a": 1}')
    assert takes(schema, '{"a": 1, "x": 2}') == extra


def test_integers_end() -> None:
    number = {"type": "integer"}
    rust = {"type": "integer", "format": "uint64", "minimum": 0, "maximum": 2**64 - 1}
    assert every(takes(number, str(value)) for value in (0, -1, 9 * 10**18, -9 * 10**18))
    assert every(not takes(number, str(value)) for value in (10**19, -(10**30)))
    assert takes(rust, "7")
    assert not takes(rust, "-7")
    assert ignored({"type": "integer", "minimum": 2**70}) == ("minimum",)
    assert takes({"type": ["integer", "null"]}, "null")


def test_a_required_property_that_is_not_listed_stays_possible() -> None:
    assert takes({**NUMBER, "required": ["a", "q"]}, '{"a": 1, "q": [2]}')


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"type": "object", "propertyNames": {"enum": ["a", "b"]}}, ['{"a": 1}', "{}"], ['{"c": 1}']),
        ({"type": "object", "propertyNames": {"pattern": "^x"}}, ['{"x1": 1}'], ['{"a": 1}']),
        ({"type": "object", "propertyNames": {"maxLength": 2}}, ['{"ab": 1}'], ['{"abc": 1}']),
        ({"type": "object", "patternProperties": {"^x": {"type": "null"}}, "additionalProperties": False},
         ['{"x": null}'], ['{"x": 1}', '{"a": null}']),
        ({"not": {"type": "string"}}, ["1", "null", "[]"], ['"a"']),
        ({"type": ["string", "null"], "not": {"type": "null"}}, ['"a"'], ["null"]),
        ({"enum": [1, 2, 3], "not": {"const": 2}}, ["1", "3"], ["2"]),
        ({"type": "object", "properties": {"a": {}, "b": {}}, "dependentRequired": {"a": ["b"]}},
         ["{}", '{"b": 1}', '{"a": 1, "b": 2}'], ['{"a": 1}']),
        ({"type": "object", "properties": {"k": {"enum": ["x", "y"]}, "v": {}, "w": {}}, "required": ["k"],
          "if": {"properties": {"k": {"const": "x"}}}, "then": {"required": ["v"]}, "else": {"required": ["w"]}},
         ['{"k": "x", "v": 1}', '{"k": "y", "w": 1}'], ['{"k": "x"}', '{"k": "y", "v": 1}']),
        ({"type": "string", "nullable": True}, ["null", '"a"'], ["1"]),
        ({"items": [{"type": "integer"}], "type": "array", "additionalItems": False}, ["[1]"], ['["a"]', "[1, 2]"]),
        ({"type": "integer", "minimum": 3, "exclusiveMinimum": True}, ["4"], ["3"]),
        ({"oneOf": [{"type": "integer"}, {"type": "string"}]}, ["1", '"a"'], ["null"]),
    ],
)  # fmt: skip
def test_keywords_that_are_enforced(schema: Any, good: list[str], bad: list[str]) -> None:
    assert ignored(schema) == ()
    assert every(takes(schema, text) for text in good)
    assert every(not takes(schema, text) for text in bad)


@pytest.mark.parametrize(
    ("schema", "named"),
    [
        ({"type": "array", "uniqueItems": True}, "uniqueItems"),
        ({"type": "array", "contains": {"const": 1}, "minContains": 2}, "contains"),
        ({"not": {"required": ["a"]}}, "not"),
        ({"not": {"type": "integer"}}, "not"),
        ({"if": {"type": "string"}, "then": {"minLength": 2}}, "if"),
        ({"type": "object", "dependentSchemas": {"a": {}}}, "dependentSchemas"),
        ({**NUMBER, "properties": {"a": {}, "b": {}}, "minProperties": 2}, "minProperties"),
        ({"type": "object", "properties": {"a": {}}, "propertyNames": {"pattern": "x"}, "additionalProperties": {}},
         "propertyNames"),
        ({"type": "object", "patternProperties": {"^x": {}, "^xy": {}}}, "patternProperties"),
        ({"oneOf": [{"type": "integer"}, {"type": "number"}]}, "oneOf"),
        ({"type": "string", "pattern": "a(?=b)"}, "pattern"),
        ({"type": "string", "format": "regex"}, "format"),
    ],
)  # fmt: skip
def test_keywords_that_are_not_are_named_and_left_out(schema: Any, named: str) -> None:
    for at in (schema, {"type": "object", "properties": {"deep": {"items": schema, "type": "array"}}}):
        assert ignored(at) == (named,)
        assert f'"{named}":' not in grammar_schema(json.dumps(at)).text


@pytest.mark.parametrize(
    ("form", "good", "bad"),
    [
        ("jwt", "aa.bb.cc", "aa"), ("base64", "YWI=", "YWI"), ("byte", "", "Y"), ("ulid", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "x"),
        ("nanoid", "V1StGXR8_Z5jdHi6B-myT", "V1"), ("e164", "+4930123456", "030"), ("emoji", "😀", "a"),
        ("cuid", "cjld2cjxh0000qzrmn831i7rn", "c1"), ("duration", "P1DT2H", "1 day"), ("guid", "x", "y"),
        ("email", "a@b.org", "a"), ("cidrv4", "10.0.0.0/8", "10.0.0.0/99"), ("mac", "aa:bb:cc:dd:ee:ff", "aa"),
        ("json-pointer", "/a/~0", "a"), ("path", "/any where", None), ("password", "pass", None), ("binary", "x", None),
    ],
)  # fmt: skip
def test_formats(form: str, good: str, bad: str | None) -> None:
    schema = {"type": "string", "format": form}
    assert ignored(schema) == ()
    if form == "guid":
        good = "123e4567-e89b-12d3-a456-426614174000"
    assert takes(schema, json.dumps(good, ensure_ascii=False))
    assert bad is None or not takes(schema, json.dumps(bad))


CAT = {"type": "object", "properties": {"kind": {"const": "cat"}, "lives": {"type": "integer"}}, "required": ["kind"]}
DOG = {"type": "object", "properties": {"kind": {"enum": ["dog", "wolf"]}}, "required": ["kind"]}


@pytest.mark.parametrize(
    ("alternatives", "apart"),
    [
        ([{"$ref": "#/$defs/Cat"}, {"$ref": "#/$defs/Dog"}], True),  # as pydantic writes a union with a discriminator
        ([{"$ref": "#/$defs/Cat"}, {"$ref": "#/$defs/Cat"}], False),
        ([{"type": "object", "properties": {"k": {"const": i}}, "required": ["k"]} for i in range(3)], True),
        ([{"type": "object", "properties": {"k": {"const": i}}} for i in range(3)], False),
        ([{"$ref": "#/$defs/Cat"}, {"type": "null"}], True),
        ([{"$ref": "#/$defs/Any"}, {"type": "null"}], False),
    ],
)
def test_alternatives_of_which_only_one_can_hold(alternatives: Any, apart: bool) -> None:
    definitions = {"Cat": CAT, "Dog": DOG, "Any": {"type": ["integer", "null"]}}
    schema = {
        "type": "object",
        "properties": {"pet": {"oneOf": alternatives}},
        "required": ["pet"],
        "$defs": definitions,
    }
    assert ignored(schema) == (() if apart else ("oneOf",))
    if alternatives[0].get("$ref") == "#/$defs/Cat":
        assert takes(schema, '{"pet": {"kind": "cat", "lives": 7}}')
        assert not takes(schema, '{"pet": {"kind": "bird"}}')


def test_references_of_references_without_end() -> None:
    chain: Any = {f"A{at}": {"$ref": f"#/$defs/A{at + 1}"} for at in range(1500)}
    chain["A1500"] = NUMBER
    schema = {"$defs": chain, "allOf": [{"$ref": "#/$defs/A0"}, {"properties": {"x": {}}}]}
    assert room_for_more(grammar_schema(json.dumps(schema)).value) == 256


def test_a_format_stands_in_for_a_pattern_that_cannot_be_used() -> None:
    schema = {"type": "string", "format": "email", "pattern": r"^(?!\.)[a-z.]+@x\.org$"}  # as zod writes them
    assert ignored(schema) == ()
    assert takes(schema, '"a@x.org"')


def test_a_client_cannot_set_options_of_the_grammar_engine() -> None:
    assert not takes({**NUMBER, "x-guidance": {"whitespace_pattern": "[ ]*"}}, '{"a":   1}')


@pytest.mark.parametrize("text", ["{", "3", '"a"', "[]"])
def test_what_is_no_schema(text: str) -> None:
    with pytest.raises(BadRequest):
        grammar_schema(text)


def test_room_for_what_need_not_be_there() -> None:
    flat = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}
    long = {**flat, "properties": {"a": {"type": "array", "items": {"const": "x" * 50}}}}
    assert room_for_more(flat) == 8
    assert room_for_more(long) > 58
