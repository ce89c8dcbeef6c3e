"""Grammars of replies in each family's convention: what they let through is what the family's parser reads."""

from __future__ import annotations

import json
from typing import Any

import llguidance
import pytest

from engine.text.builtin_templates import HUNYUAN, LLAMA3, QWEN3
from engine.text.call_grammars import CallGrammars, json_grammar
from engine.text.families import FAMILIES, parser_for
from engine.text.tools import TextPiece, ToolCall
from engine.types import Grammar

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}, "unit": {"enum": ["c", "f"]}},
    "required": ["city"],
}
WEATHER = {"name": "weather", "parameters": SCHEMA, "strict": True}
TREE = {"name": "tree", "parameters": {"type": "object", "properties": {"sub": {"$ref": "#"}, "leaf": {"$ref": "#/$defs/L"}},
                                       "$defs": {"L": {"enum": ["x"]}}}}  # fmt: skip
ANSWER = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
CALLS = {
    "qwen": '<tool_call>\n{"name": "weather", "arguments": {"city": "Kyiv", "days": 2}}\n</tool_call>',
    "qwen_xml": "<tool_call>\n<function=weather>\n<parameter=city>\nKyiv\n</parameter>\n<parameter=days>\n2\n</parameter>\n"
    "</function>\n</tool_call>",
    "llama": '{"name": "weather", "parameters": {"city": "Kyiv", "days": 2}}',
    "hunyuan": '<tool_calls><tool_call>weather\n```json\n{"city": "Kyiv", "days": 2}\n```</tool_call></tool_calls>',
}
BY_NAME = {family.name: family for family in FAMILIES}
TEMPLATES = {"qwen": QWEN3, "qwen_xml": "<tool_call><function=", "llama": LLAMA3, "hunyuan": HUNYUAN}


class Vocabulary:
    """Single bytes, an end, and two marks that are special tokens."""

    eos_token_id, bos_token_id = 256, None
    tokens = (*(bytes([byte]) for byte in range(256)), b"\xff<256>", b"\xff<257>", b"\xff<258>")
    special_token_ids = (256, 257, 258)

    def __call__(self, text: str | bytes) -> list[int]:
        return list(text.encode() if isinstance(text, str) else text)


TOKENIZER = llguidance.LLTokenizer(llguidance.TokenizerWrapper(Vocabulary()), n_vocab=259, eos_token=[256])


def takes(grammar: Grammar, text: str | list[int]) -> bool:
    matcher = llguidance.LLMatcher(TOKENIZER, llguidance.grammar_from("ebnf", grammar.text), log_level=0)
    assert not matcher.is_error(), matcher.get_error()
    ids = list(text.encode()) if isinstance(text, str) else text
    return bool(matcher.try_consume_tokens(ids) == len(ids) and matcher.is_accepting())


def calls(family: str, most: int | None = None) -> CallGrammars:
    return CallGrammars(BY_NAME[family], [WEATHER, TREE], most)


@pytest.mark.parametrize("family", CALLS)
def test_what_the_grammar_lets_through_the_parser_reads(family: str) -> None:
    call = CALLS[family]
    functions = [{"type": "function", "function": WEATHER}]
    parsed = parser_for("", TEMPLATES[family], functions)
    events = [*parsed.push(call), *parsed.flush()]
    assert [json.loads(e.arguments) for e in events if isinstance(e, ToolCall)] == [{"city": "Kyiv", "days": 2}]
    assert not [e for e in events if isinstance(e, TextPiece)]


@pytest.mark.parametrize("family", CALLS)
def test_a_reply_is_calls_or_the_answer(family: str) -> None:
    grammar, call = calls(family).or_answer(json_grammar(ANSWER)), CALLS[family]
    assert takes(grammar, call)
    assert takes(grammar, '{"name": "weather"}')
    for other in ("Hello", f"Hm. {call}", call.replace("city", "town"), '{"name": 3}', call + "!"):
        assert not takes(grammar, other)


@pytest.mark.parametrize("family", CALLS)
@pytest.mark.parametrize("most", [None, 1, 2])
def test_how_many_calls(family: str, most: int | None) -> None:
    call = CALLS[family]
    if family == "hunyuan":
        one = call.removeprefix("<tool_calls>").removesuffix("</tool_calls>")
        many = [f"<tool_calls>{one * count}</tool_calls>" for count in (1, 2, 3)]
    else:
        many = [("; " if family == "llama" else "\n").join([call] * count) for count in (1, 2, 3)]
    for grammar in (calls(family, most).or_answer(json_grammar()), calls(family, most).demanded()):
        assert [takes(grammar, text) for text in many] == [count <= (most or 3) for count in (1, 2, 3)]


@pytest.mark.parametrize("family", CALLS)
def test_strict_calls_among_words(family: str) -> None:
    grammar, call = calls(family).among_words(), CALLS[family]
    assert takes(grammar, "No call, <b>really</b>.")
    assert takes(grammar, call)
    assert not takes(grammar, call.replace("city", "town"))
    assert takes(grammar, f"Look: {call}")


@pytest.mark.parametrize("family", CALLS)
def test_a_demanded_call_is_all_there_is(family: str) -> None:
    grammar = calls(family).demanded()
    assert takes(grammar, CALLS[family])
    assert not takes(grammar, "Hello")
    assert not takes(grammar, "")
    assert takes(calls(family).demanded_list(), '[{"name": "weather", "arguments": {"city": "Kyiv"}}]')


@pytest.mark.parametrize("family", ["qwen", "llama", "hunyuan"])
def test_references_within_a_tools_schema(family: str) -> None:
    arguments = '{"sub": {"sub": {"leaf": "x"}}}'
    call = CALLS[family].replace('{"city": "Kyiv", "days": 2}', arguments).replace("weather", "tree")
    assert takes(calls(family).demanded(), call)
    assert not takes(calls(family).demanded(), call.replace('"x"', '"y"'))


def test_marks_that_are_special_tokens() -> None:
    made = CallGrammars(BY_NAME["qwen"], [WEATHER], None, {"<tool_call>": 257, "</tool_call>": 258}.get)
    body = list(b'\n{"name": "weather", "arguments": {"city": "Kyiv"}}\n')
    assert takes(made.or_answer(json_grammar(ANSWER)), [257, *body, 258])
    assert takes(made.among_words(), [*b"Hm. ", 257, *body, 258, *b" Done."])
    assert not takes(made.among_words(), [257, *body[:-5], 258])
    assert not takes(made.or_answer(json_grammar(ANSWER)), CALLS["qwen"])


def test_an_expression_as_the_answer_and_a_grammar_of_its_own() -> None:
    assert takes(calls("qwen").or_answer(Grammar("regex", "a/b+")), "a/bb")
    assert takes(calls("qwen").or_answer(Grammar("regex", "a/b+")), CALLS["qwen"])
    own = Grammar("ebnf", 'root ::= "a"')
    assert calls("qwen").or_answer(own) == own


def test_a_tool_whose_schema_is_none_takes_any_object() -> None:
    broken: list[dict[str, Any]] = [{"name": "weather", "parameters": {"type": "any"}, "strict": True}]
    made = CallGrammars(BY_NAME["qwen"], broken)
    assert takes(made.demanded(), CALLS["qwen"])
    assert list(made.ignored) == [""]
    made = CallGrammars(
        BY_NAME["qwen"], [{**WEATHER, "parameters": {"type": "object", "minProperties": 1, "properties": {"a": {}}}}]
    )
    made.demanded()
    assert list(made.ignored) == ["minProperties"]


def test_only_strict_documents_end_before_the_limit() -> None:
    assert json_grammar(ANSWER).reserve is None
    assert json_grammar(ANSWER, strict=True).reserve == 8
    assert calls("qwen").or_answer(json_grammar(ANSWER)).reserve is None
    assert (calls("qwen").or_answer(json_grammar(ANSWER, strict=True)).reserve or 0) > 8
    assert calls("qwen").demanded().reserve is None
    assert CallGrammars(BY_NAME["qwen"], [WEATHER]).demanded().reserve is not None
