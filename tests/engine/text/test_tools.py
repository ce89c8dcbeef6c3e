"""Tool calls are found in each family's spelling, streamed, and never lost, however the reply is cut."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.text.builtin_templates import CHATML, HUNYUAN, LLAMA3, QWEN3
from engine.text.families import parser_for
from engine.text.tools import (
    CALL_LIST,
    CallArguments,
    CallBroken,
    CallStarted,
    TextPiece,
    ToolCall,
    ToolParser,
)
from tests.asserting import every
from tests.engine.text.cuts import cut

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "write",
            "parameters": {
                "type": "object",
                "properties": {
                    "path": {"type": "string"},
                    "lines": {"type": "integer"},
                    "tags": {"type": ["array", "null"]},
                    "force": {"anyOf": [{"type": "boolean"}, {"type": "null"}]},
                },
            },
        },
    },
    {"type": "function", "function": {"name": "now"}},
]
FAMILIES = {"qwen": QWEN3, "llama": LLAMA3, "hunyuan": HUNYUAN}
Outcome = list[Any]


def parser(family: str) -> ToolParser:
    return parser_for("", FAMILIES[family], TOOLS)


def run(parsed: ToolParser, pieces: list[str]) -> Outcome:
    """Texts as strings, calls as (name, arguments), broken ones as [text]; checks what streaming promises."""
    events = [e for piece in pieces for e in parsed.push(piece)] + parsed.flush()
    started: dict[int, CallStarted] = {}
    streamed: dict[int, str] = {}
    out: Outcome = []
    for event in events:
        match event:
            case TextPiece(text):
                assert text
                if out and isinstance(out[-1], str):
                    out[-1] += text
                else:
                    out.append(text)
            case CallStarted(index):
                assert index == len(started)
                started[index] = event
                streamed[index] = ""
            case CallArguments(index, text):
                streamed[index] += text
            case ToolCall(index, id, name, arguments):
                assert started[index] == CallStarted(index, id, name)
                assert streamed[index] == arguments
                out.append((name, json.loads(arguments)))
            case CallBroken(index, text):
                assert index in started
                out.append([text])
    return out


def parse(family: str, text: str) -> Outcome:
    whole = run(parser(family), [text])
    assert run(parser(family), list(text)) == whole
    return whole


# -- Qwen and Hermes

JSON_CALL = (
    '<tool_call>\n{"name": "write", "arguments": {"path": "a <b> \\"c\\" </tool_call>", "lines": 2}}\n</tool_call>'
)
XML_CALL = """<tool_call>
<function=write>
<parameter=path>
line "one"
  </function> <x>

</parameter>
<parameter=lines>
12
</parameter>
<parameter=tags>["a", {"b": null}]</parameter>
<parameter=force>
True
</parameter>
</function>
</tool_call>"""
READ_FROM_XML = {
    "path": 'line "one"\n  </function> <x>\n',
    "lines": 12,
    "tags": ["a", {"b": None}],
    "force": True,
}


def test_a_json_call_between_texts() -> None:
    call = ("write", {"path": 'a <b> "c" </tool_call>', "lines": 2})
    assert parse("qwen", f"Let me see.\n\n{JSON_CALL}") == ["Let me see.", call]
    assert parse("qwen", f"{JSON_CALL}\n{JSON_CALL}\n") == [call, call]
    assert parse("qwen", f"{JSON_CALL}\n\nDone. ") == [call, "\n\nDone. "]


def test_an_xml_call_is_typed_by_its_schema() -> None:
    assert parse("qwen", XML_CALL) == [("write", READ_FROM_XML)]
    assert parse("qwen", "ok " + XML_CALL.removeprefix("<tool_call>\n")) == ["ok", ("write", READ_FROM_XML)]
    assert parse("qwen", "<tool_call><function=now></function></tool_call>") == [("now", {})]


@pytest.mark.parametrize(
    ("value", "read"), [("null", None), ("5", "5"), ("[1]", [1]), ("[1", "[1"), ("None", None), ('"x"', '"x"')]
)
def test_a_value_that_does_not_fit_its_schema_is_a_string(value: str, read: Any) -> None:
    text = f"<function=write><parameter=tags>{value}</parameter></function>"
    assert parse("qwen", text) == [("write", {"tags": read})]


@pytest.mark.parametrize(
    ("body", "arguments"),
    [
        ('{"arguments": {"a": 1}, "name": "f"}', {"a": 1}),
        ('{"name": "f", "parameters": {"a": [1, {"b": "}"}]}}', {"a": [1, {"b": "}"}]}),
        ('{"name": "f", "arguments": "{\\"a\\": 1}"}', {"a": 1}),
        ('{"name": "f", "arguments": null}', {}),
        ('{"name": "f"}', {}),
        ('{"name": "f", "arguments": {"a": "x\ny\t"}}', {"a": "x\ny\t"}),  # raw control characters
        ('{"name": "f", "arguments": {"a": "\\u00e9 你好"}}', {"a": "é 你好"}),
    ],
)
def test_spellings_of_arguments(body: str, arguments: Any) -> None:
    assert parse("qwen", f"<tool_call>{body}</tool_call>") == [("f", arguments)]


def test_a_forgotten_closing_tag_does_no_harm() -> None:
    call = '<tool_call>{"name": "now", "arguments": {}}'
    assert parse("qwen", call) == [("now", {})]
    assert parse("qwen", call + call) == [("now", {}), ("now", {})]


@pytest.mark.parametrize(
    "text",
    [
        "Write <tool_call> around it.",
        '<tool_call>{"name": 5, "arguments": {}}</tool_call>',
        '<tool_call>{"arguments": {}}</tool_call>',
        '<tool_call>{"name": "f", "arguments": [1]}</tool_call>',
        "<tool_call>{name: f}</tool_call>",
        '<tool_call>{"name": "f", "arguments"',
        "<tool_call>\n<functio",
        "<function=a b></function>",
        "<function=f",
        "  only <tool_ca",
        " \n ",
    ],
)
def test_what_is_no_call_stays_as_it_is(text: str) -> None:
    assert parse("qwen", text) == [text]


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ('<tool_call>{"name": "f", "arguments": {"a": 1</tool_call>', "</tool_call>"),
        ('<tool_call>{"name": "f", "arguments": {"a": "not en', None),
        ('<tool_call>{"name": "f", "arguments": {"a": 1]}</tool_call>', "]}</tool_call>"),
        ('<tool_call>{"name": "f", "arguments": {"a": 01}}</tool_call>', "</tool_call>"),
        ("<function=f><parameter=a>1</parameter>junk", "junk"),
        ("<function=f><parameter=a>1", None),
        ("<function=f><parameter=a>1</parameter><parameter=a>2</parameter></function>", "2</parameter></function>"),
    ],
)
def test_a_started_call_that_breaks_is_told_and_its_rest_is_no_text(text: str, rest: str | None) -> None:
    assert parse("qwen", text) == [[text.removesuffix(rest or "")]]


def test_what_follows_a_malformed_call_is_text_again() -> None:
    broken = '<tool_call>{"name": "f", "arguments": {"a": 1]'
    assert parse("qwen", f"{broken}}}</tool_call> Sorry.") == [[broken.removesuffix("]")], " Sorry."]
    assert parse("qwen", f"{broken}{JSON_CALL}")[1:] == parse("qwen", JSON_CALL)


def test_an_answer_that_looks_like_a_call_comes_back_as_text() -> None:
    text = '{"name": "write", "parameters": {"lines": 1]}'
    assert parse("llama", text) == [[text.removesuffix("]}")], "]}"]


WHOLE = [("qwen", JSON_CALL), ("qwen", XML_CALL), ("llama", '{"name": "write", "parameters": {"path": "x"}}'),
         ("llama", '<|python_tag|>{"name": "write", "parameters": {"path": "x"}}'),
         ("hunyuan", '<tool_calls><tool_call>write\n```json\n{"path": "x"}\n```</tool_call></tool_calls>')]  # fmt: skip


@pytest.mark.parametrize(("family", "call"), WHOLE)
def test_a_call_that_the_limit_cuts_off_is_never_text(family: str, call: str) -> None:
    begun = call.index("write") + len('write"') if family == "llama" and call[0] == "{" else 6
    for end in range(begun, len(call)):
        parsed = parser(family)
        events = [*parsed.push(call[:end]), *parsed.flush(cut=True)]
        assert [event.text for event in events if isinstance(event, TextPiece)] == [], call[:end]


def test_a_list_of_demanded_calls_is_never_text() -> None:
    for end in range(len(text := '[{"name": "now", "arguments": {"a": 1}}]')):
        parsed = ToolParser(CALL_LIST)
        events = [*parsed.push(text[:end]), *parsed.flush(cut=True)]
        assert [event.text for event in events if isinstance(event, TextPiece)] == [], text[:end]


@pytest.mark.parametrize("text", ["a < b", "Write <to", "tags like <tool_call> are", '{"answer": 4', "x = ["])
def test_a_text_that_is_cut_off_is_kept(text: str) -> None:
    parsed = parser("qwen")
    events = [*parsed.push(text), *parsed.flush(cut=True)]
    assert "".join(event.text for event in events if isinstance(event, TextPiece)) == text


def test_a_call_right_after_a_broken_one_is_found() -> None:
    good = '<tool_call>{"name": "now", "arguments": {}}</tool_call>'
    assert parse("qwen", "<tool_call>" + good) == ["<tool_call>", ("now", {})]
    assert parse("qwen", '<tool_call>{"name": "f"' + good) == ['<tool_call>{"name": "f"', ("now", {})]


def test_arguments_stream_while_they_come() -> None:
    parsed = parser("qwen")
    assert parsed.push('<tool_call>{"name": "f", "argu') == []
    events = parsed.push('ments": {"a": "b')
    assert [type(e) for e in events] == [CallStarted, CallArguments]
    assert parsed.push("cd") == [CallArguments(0, "cd")]
    xml = parser("qwen")
    xml.push("<function=write><parameter=path>")
    assert xml.push('a"b\n') == [CallArguments(0, '"a\\"b')]
    assert xml.push("c</parameter>") == [CallArguments(0, '\\nc"')]


# -- Llama


def test_llama_spellings() -> None:
    call = '{"name": "write", "parameters": {"path": "x"}}'
    read = ("write", {"path": "x"})
    assert parse("llama", call) == [read]
    assert parse("llama", f"\n{call}; {call}") == [read, read]
    assert parse("llama", f"{call}\n{call}") == [read, read]
    assert parse("llama", f"Look: <|python_tag|>{call}") == ["Look:", read]
    assert parse("llama", '{"type": "function", "name": "now", "parameters": {}}') == [("now", {})]


@pytest.mark.parametrize(
    "text",
    [
        '{"answer": 42, "name": "write", "parameters": {}}',
        '{"name": "Bob", "parameters": {}}',
        'As JSON: {"name": "write", "parameters": {}}',
        "<|python_tag|>print(1)",
        "Plain text; {braces}",
    ],
)
def test_llama_answers_that_only_look_like_calls(text: str) -> None:
    assert parse("llama", text) == [text]


# -- Hunyuan


def test_hunyuan_spellings() -> None:
    one = '<tool_call>write\n```json\n{"path": "x```"}\n```</tool_call>'
    read = ("write", {"path": "x```"})
    assert parse("hunyuan", f"<tool_calls>\n{one}\n{one}\n</tool_calls>") == [read, read]
    assert parse("hunyuan", f"Hm.<tool_calls>{one}</tool_calls>") == ["Hm.", read]
    assert parse("hunyuan", f"{one} and {one}") == [read, " and", read]
    listed = '<tool_calls>[{"name": "now", "arguments": {}}, {"name": "now"}]</tool_calls>'
    assert parse("hunyuan", listed) == [("now", {}), ("now", {})]
    assert parse("hunyuan", "<tool_call>write\n{}\n</tool_call>") == [("write", {})]


@pytest.mark.parametrize("text", ["<tool_calls>none</tool_calls>", "<tool_call>write```", "<tool_call>a b\n{}", "[1]"])
def test_hunyuan_text_that_is_no_call(text: str) -> None:
    assert parse("hunyuan", text) == [text]


def test_a_closing_mark_is_dropped_once_only() -> None:
    one = "<tool_calls><tool_call>now\n```json\n{}\n```</tool_call></tool_calls>"
    assert parse("hunyuan", one + "\n```python\n```") == [("now", {}), "\n```python\n```"]


# -- all of them

SCRAPS = [
    "<tool_call>",
    "</tool_call>",
    "<tool_calls>",
    "</tool_calls>",
    '{"name": "write", "arguments": {"path": "x"}}',
    '{"name": "now"}',
    '{"name": "write", "parameters": {"lines": 1',
    "}}",
    "<function=write>",
    "<parameter=path>",
    "</parameter>",
    "</function>",
    "<|python_tag|>",
    "now\n```json\n{}\n```",
    "\n",
    " ",
    ";",
    ",",
    "[",
    "]",
    "<",
    '"',
    "text",
    "你好",
]
REPLIES = st.lists(st.sampled_from(SCRAPS), max_size=10).map("".join)


@pytest.mark.parametrize("family", FAMILIES)
@given(pieces=cut(REPLIES))
def test_cuts_do_not_matter(family: str, pieces: list[str]) -> None:
    whole = "".join(pieces)
    assert run(parser(family), pieces) == run(parser(family), [whole])


@pytest.mark.parametrize("family", FAMILIES)
@given(text=REPLIES)
def test_without_a_call_the_text_comes_out_whole(family: str, text: str) -> None:
    outcome = run(parser(family), [text])
    if every(isinstance(item, str) for item in outcome):
        assert "".join(outcome) == text


@pytest.mark.parametrize("family", FAMILIES)
@given(after=st.text(st.characters(exclude_characters="<{;,[]`"), min_size=1))
def test_text_after_a_call_is_kept(family: str, after: str) -> None:
    call = "<tool_call>now\n{}</tool_call>" if family == "hunyuan" else '<|python_tag|>{"name": "now"}'
    call = '<tool_call>{"name": "now"}</tool_call>' if family == "qwen" else call
    assert run(parser(family), ["text", call, after])[:2] == ["text", ("now", {})]
    assert run(parser(family), ["text", call, after])[2:] == ([after] if after.strip() else [])


@pytest.mark.parametrize(
    ("model_type", "template", "call"),
    [
        ("qwen2", CHATML, '<tool_call>{"name": "now"}</tool_call>'),
        ("qwen3_5", "", '<tool_call>{"name": "now"}</tool_call>'),
        ("llama", "", '{"name": "now"}'),
        ("llama", "says <tool_call>", '<tool_call>{"name": "now"}</tool_call>'),
        ("hunyuan_v1_dense", "", '<tool_calls>[{"name": "now"}]</tool_calls>'),
        ("anything", "", '<tool_call>{"name": "now"}</tool_call>'),
    ],
)
def test_the_template_tells_the_convention_and_else_the_type(model_type: str, template: str, call: str) -> None:
    assert run(parser_for(model_type, template, TOOLS), [call]) == [("now", {})]
