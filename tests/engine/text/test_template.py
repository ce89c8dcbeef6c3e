"""Chat templates are found, rendered as the reference renders them, and kept within bounds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tokenizers import AddedToken
from transformers import PreTrainedTokenizerFast

from engine.errors import TemplateError
from engine.text import sandbox
from engine.text.builtin_templates import CHATML, HUNYUAN, HUNYUAN_EXTRA, LLAMA3, QWEN3
from engine.text.template import ChatTemplate
from engine.text.tokenizer import Tokenizer
from tests.engine.text.tokenizers_made_here import byte_level

SPECIAL = {"bos_token": "<|begin|>", "eos_token": "<|im_end|>"}

# reads parts or strings, as vision models' templates do
PARTS = """
{%- for message in messages %}
{{- '<|' ~ message['role'] ~ '|>' }}
{%- if message['content'] is string %}{{ message['content'] | trim }}{% else %}
{%- for part in message['content'] %}
{%- if part['type'] == 'image' %}<image>{% else %}{{ part['text'] }}{% endif %}
{%- endfor %}{%- endif %}
{% generation %}{{ '!' if message.role == 'assistant' else '' }}{% endgeneration %}
{%- endfor %}{{ eos_token }}"""

# loops and whitespace control, keywords and filters that published templates use
BUSY = """
{%- set ns = namespace(n=0) -%}
{%- macro show(x, width=2) -%}{{ x | tojson(indent=width) }}{%- endmacro -%}
{% for message in messages %}
    {% if message.role == 'system' %}{% continue %}{% endif %}
    {% set ns.n = ns.n + 1 %}
    {% if ns.n > 3 %}{% break %}{% endif %}
    [{{ ns.n }}/{{ loop.length }}] {{ message.content | trim | upper if message.content is string }}
{% endfor %}
{{ show(tools) if tools else 'no tools' }}
{{ messages | selectattr('role', 'equalto', 'user') | map(attribute='content') | join('; ') }}
{{- '%s %03d' % ('a', 5) ~ dict(a=1)['a'] ~ range(3) | list ~ ('ab' * 2) ~ (messages | tojson) }}
{%- if enable_thinking is defined %} thinking={{ enable_thinking }}{% endif %}"""

TOOL = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "The weather <b>of</b> a place, 'now' & \"then\"",
        "parameters": {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]},
    },
}
CALL = {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": {"place": "Zürich", "n": 2}}}
PLAIN: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": " Hello 你好 "},
    {"role": "assistant", "content": "<think>\nhm\n</think>\n\nHi."},
    {"role": "user", "content": "And?"},
]
WITH_TOOLS: list[dict[str, Any]] = [
    {"role": "user", "content": "Weather?"},
    {"role": "assistant", "content": "", "reasoning_content": "I should look.", "tool_calls": [CALL, CALL]},
    {"role": "tool", "content": "rain", "tool_call_id": "call_1"},
    {"role": "tool", "content": "sun", "tool_call_id": "call_2"},
]
ALL = {
    "chatml": CHATML,
    "qwen3": QWEN3,
    "llama3": LLAMA3,
    "hunyuan": HUNYUAN,
    "hunyuan_extra": HUNYUAN_EXTRA,
    "parts": PARTS,
    "busy": BUSY,
}
REFERENCE = PreTrainedTokenizerFast(tokenizer_object=byte_level(), **SPECIAL)


def ours(source: str, messages: list[dict[str, Any]], tools: Any = None, **variables: Any) -> str:
    return ChatTemplate({"default": source}, SPECIAL).render(messages, tools, **variables)


def theirs(source: str, messages: list[dict[str, Any]], tools: Any = None, **variables: Any) -> str:
    variables.setdefault("add_generation_prompt", True)
    text = REFERENCE.apply_chat_template(messages, tools, chat_template=source, tokenize=False, **variables)
    assert isinstance(text, str)
    return text


@pytest.mark.parametrize("source", ALL.values(), ids=ALL.keys())
@pytest.mark.parametrize("messages", [PLAIN, WITH_TOOLS, PLAIN[1:2]], ids=["plain", "tools", "one"])
@pytest.mark.parametrize(
    "variables", [{}, {"enable_thinking": False}, {"enable_thinking": True}, {"add_generation_prompt": False}], ids=str
)
def test_renders_as_the_reference(source: str, messages: list[dict[str, Any]], variables: dict[str, Any]) -> None:
    for tools in (None, [TOOL, TOOL]):
        assert ours(source, messages, tools, **variables) == theirs(source, messages, tools, **variables)


def test_parts_render_as_the_reference() -> None:
    parts = [{"type": "image", "image": object()}, {"type": "text", "text": "What is this?"}]
    messages = [{"role": "user", "content": parts}, {"role": "assistant", "content": "A cat."}]
    assert ours(PARTS, messages) == theirs(PARTS, messages)
    assert "<image>What is this?" in ours(PARTS, messages)


@pytest.mark.parametrize("source", [CHATML, PARTS, LLAMA3], ids=["chatml", "parts", "llama3"])
@pytest.mark.parametrize("final", ["The answer is ", "The answer", [{"type": "text", "text": "It"}]], ids=str)
def test_a_final_message_is_continued_as_the_reference_does(source: str, final: Any) -> None:
    if isinstance(final, list) and source is not PARTS:
        final = final[0]["text"]  # the reference gives no parts to a template of strings
    messages = [*PLAIN[:2], {"role": "assistant", "content": final}]
    expected = theirs(source, messages, continue_final_message=True, add_generation_prompt=False)
    assert ours(source, messages, continue_final_message=True) == expected


# -- the built-in formats, word for word


def test_chatml_word_for_word() -> None:
    assert ours(CHATML, PLAIN[:2]) == (
        "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\n Hello 你好 <|im_end|>\n<|im_start|>assistant\n"
    )
    text = ours(CHATML, WITH_TOOLS, [TOOL])
    assert text.startswith("<|im_start|>system\n# Tools\n\nYou may call one or more functions")
    assert '<tools>\n{"type": "function", "function": {"name": "weather", "description": "The weather <b>of' in text
    assert text.endswith(
        '<|im_start|>assistant\n<tool_call>\n{"name": "weather", "arguments": {"place": "Zürich", "n": 2}}\n</tool_call>'
        '\n<tool_call>\n{"name": "weather", "arguments": {"place": "Zürich", "n": 2}}\n</tool_call><|im_end|>\n'
        "<|im_start|>user\n<tool_response>\nrain\n</tool_response>\n<tool_response>\nsun\n</tool_response><|im_end|>\n"
        "<|im_start|>assistant\n"
    )


def test_qwen3_drops_old_reasoning_and_keeps_what_belongs_to_the_last_question() -> None:
    assert "hm" not in ours(QWEN3, PLAIN)
    assert "<|im_start|>assistant\n<think>\nI should look.\n</think>\n\n<tool_call>" in ours(QWEN3, WITH_TOOLS)
    assert ours(QWEN3, PLAIN, enable_thinking=False).endswith("<|im_start|>assistant\n<think>\n\n</think>\n\n")
    assert ours(QWEN3, PLAIN).endswith("<|im_start|>assistant\n")


def test_llama3_word_for_word() -> None:
    assert ours(LLAMA3, PLAIN[:2]) == (
        "<|begin|><|start_header_id|>system<|end_header_id|>\n\nBe brief.<|eot_id|>"
        "<|start_header_id|>user<|end_header_id|>\n\nHello 你好<|eot_id|>"
        "<|start_header_id|>assistant<|end_header_id|>\n\n"
    )
    assert "<|start_header_id|>ipython<|end_header_id|>\n\nrain<|eot_id|>" in ours(LLAMA3, WITH_TOOLS, [TOOL])


def test_hunyuan_word_for_word() -> None:
    assert ours(HUNYUAN, PLAIN) == (
        "<|begin|>Be brief.<｜hy_place▁holder▁no▁3｜><｜hy_User｜> Hello 你好 <｜hy_Assistant｜>Hi.<|im_end|>"
        "<｜hy_User｜>And?<｜hy_Assistant｜>"
    )
    assert ours(HUNYUAN_EXTRA, PLAIN[:2]) == "<|begin|>Be brief.<|extra_4|> Hello 你好 <|extra_0|>"
    assert '<tool_calls><tool_call>weather\n```json\n{"place": "Zürich", "n": 2}\n```</tool_call><tool_call>' in ours(
        HUNYUAN, WITH_TOOLS, [TOOL]
    )


@pytest.mark.parametrize(
    ("model_type", "tokens", "expected"),
    [
        ("qwen3", ["<|im_start|>"], QWEN3),
        ("qwen2", ["<|im_start|>"], CHATML),
        ("anything", ["<|im_start|>"], CHATML),
        ("llama", ["<|start_header_id|>", "<|eot_id|>"], LLAMA3),
        ("hunyuan_v1_dense", ["<｜hy_User｜>"], HUNYUAN),
        ("hunyuan_v1_dense", ["<|extra_0|>"], HUNYUAN_EXTRA),
    ],
)
def test_a_checkpoint_without_one_gets_its_familys(
    tmp_path: Path, model_type: str, tokens: list[str], expected: str
) -> None:
    tokenizer = Tokenizer(byte_level(specials=tokens))
    assert ChatTemplate.from_folder(tmp_path, tokenizer, {"model_type": model_type}).source() == expected


def test_a_base_model_says_that_it_has_none(tmp_path: Path) -> None:
    template = ChatTemplate.from_folder(tmp_path, Tokenizer(byte_level(specials=["<s>"])), {"model_type": "llama"})
    assert template.names == ()
    with pytest.raises(TemplateError, match="no chat template"):
        template.render(PLAIN)


# -- finding them in a folder


def found(folder: Path) -> ChatTemplate:
    backend = byte_level()
    backend.add_special_tokens([AddedToken("<s>", special=True)])
    return ChatTemplate.from_folder(folder, Tokenizer(backend, {"bos_token": "<s>"}), {"model_type": "qwen2"})


def settings(folder: Path, chat_template: Any) -> None:
    (folder / "tokenizer_config.json").write_text(json.dumps({"chat_template": chat_template}), encoding="utf-8")


def test_the_field_in_the_settings(tmp_path: Path) -> None:
    settings(tmp_path, "{{ bos_token }}field")
    assert found(tmp_path).render(PLAIN) == "<s>field"


def test_named_templates_and_tools(tmp_path: Path) -> None:
    settings(tmp_path, [{"name": "default", "template": "plain"}, {"name": "tool_use", "template": "tools"}])
    (tmp_path / "additional_chat_templates").mkdir()
    (tmp_path / "additional_chat_templates" / "rag.jinja").write_text("{{ documents[0].text }}", encoding="utf-8")
    template = found(tmp_path)
    assert template.names == ("default", "tool_use", "rag")
    assert template.render(PLAIN) == "plain"
    assert template.render(PLAIN, [TOOL]) == "tools"
    assert template.render(PLAIN, name="rag", documents=[{"text": "page"}]) == "page"
    with pytest.raises(TemplateError, match=r"'x'.*default, tool_use, rag"):
        template.render(PLAIN, name="x")


def test_a_file_wins_over_a_stale_field(tmp_path: Path) -> None:
    settings(tmp_path, "field")
    (tmp_path / "chat_template.jinja").write_text("file", encoding="utf-8")
    assert found(tmp_path).render(PLAIN) == "file"


# -- what messages look like


def test_parts_of_text_become_a_string_where_the_template_wants_one() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert ours("{{ messages[0].content }}", [{"role": "user", "content": parts}]) == "a\nb"


def test_a_picture_for_a_text_model_is_refused_by_name() -> None:
    with pytest.raises(TemplateError, match="image_url"):
        ours("{{ messages[0].content }}", [{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}])


def test_a_string_becomes_parts_where_the_template_knows_nothing_else() -> None:
    source = "{% for part in messages[0]['content'] %}[{{ part.text }}]{% endfor %}"
    assert ours(source, [{"role": "user", "content": "abc"}]) == "[abc]"


_MACROS = {
    "another name": (
        "{% macro said(given) %}{% for one in given %}",
        "{% endfor %}{% endmacro %}{{ said(m.content) }}",
    ),
    "a keyword": (
        "{% macro said(given) %}{% for one in given %}",
        "{% endfor %}{% endmacro %}{{ said(given=m.content) }}",
    ),
    "handed on": (
        "{% macro inner(x) %}{% for one in x|list %}",
        "{% endfor %}{% endmacro %}{% macro outer(y) %}{{ inner(y) }}{% endmacro %}{{ outer(m['content']) }}",
    ),
    "of a message": (
        "{% macro said(message) %}{% set c = message.get('content') %}{% for one in c %}",
        "{% endfor %}{% endmacro %}{{ said(m) }}",
    ),
}


@pytest.mark.parametrize("macro", _MACROS.values(), ids=_MACROS)
def test_a_macro_of_parts_is_known_by_what_it_does(macro: tuple[str, str]) -> None:
    before, behind = macro
    source = "{% for m in messages %}" + before + "<{{ one.type }}:{{ one.text }}>" + behind + "{% endfor %}"
    parts = [{"type": "text", "text": "a"}, {"type": "image", "image": object()}]
    assert ours(source, [{"role": "user", "content": parts}]) == "<text:a><image:>"
    assert ours(source, [{"role": "user", "content": "abc"}]) == "<text:abc>"


def test_a_macro_that_tells_strings_gets_them() -> None:
    source = (
        "{% macro said(given) %}{% if given is string %}{{ given }}{% else %}{% for x in given %}[{{ x.text }}]{% endfor %}"
        "{% endif %}{% endmacro %}{{ said(messages[0].content) }}"
    )
    assert ours(source, [{"role": "user", "content": "abc"}]) == "abc"
    assert ours(source, [{"role": "user", "content": [{"type": "text", "text": "a"}]}]) == "[a]"


def test_a_macro_of_something_else_makes_no_parts() -> None:
    source = (
        "{% macro shown(items) %}{% for x in items %}{{ x }},{% endfor %}{% endmacro %}"
        "{{ shown(messages[0].role) }}{{ messages[0].content }}"
    )
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert ours(source, [{"role": "u", "content": parts}]) == "u,a\nb"


def test_arguments_sent_as_a_string_are_opened() -> None:
    call = {"type": "function", "function": {"name": "f", "arguments": '{"a":1}'}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    source = "{{ messages[0].tool_calls[0].function.arguments | tojson }}"
    assert ours(source, [message]) == '{"a": 1}'
    assert call["function"] == {"name": "f", "arguments": '{"a":1}'}


def test_a_templates_own_refusal_is_the_message() -> None:
    with pytest.raises(TemplateError, match="Roles must alternate"):
        ours("{{ raise_exception('Roles must alternate') }}", PLAIN)


def test_strftime_now_knows_the_date() -> None:
    assert ours("{{ strftime_now('%Y') }}", PLAIN).startswith("20")


@pytest.mark.parametrize(
    ("source", "said"),
    [("{% if %}", "broken in line 1"), ("{{ messages[9].content.x }}", "refused"), ("{{ 1 / 0 }}", "failed")],
)
def test_broken_templates_are_typed_errors(source: str, said: str) -> None:
    with pytest.raises(TemplateError, match=said):
        ours(source, PLAIN)


def test_a_continuation_needs_text() -> None:
    with pytest.raises(TemplateError, match="continued"):
        ours(CHATML, [], continue_final_message=True)
    with pytest.raises(TemplateError, match="drops"):
        ours("{{ messages | length }}", PLAIN, continue_final_message=True)


# -- templates by strangers

HOSTILE = {
    "loops": "{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}",
    "loops over a list": "{% set x = range(9999) | list %}{% for a in x %}{% for b in x %}{% endfor %}{% endfor %}",
    "macros": "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(60) }}",
    "recursion": "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
    "output": "{% for a in range(99999) %}" + "x" * 5000 + "{% endfor %}",
    "a set block": "{% set ns = namespace(s='xx') %}{% for i in range(50) %}{% set ns.s %}{{ ns.s }}{{ ns.s }}{% endset %}{% endfor %}",
    "doubling with +": "{% set ns = namespace(s='xx') %}{% for i in range(50) %}{% set ns.s = ns.s + ns.s %}{% endfor %}",
    "doubling with ~": "{% set ns = namespace(s='xx') %}{% for i in range(50) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}",
    "repetition": "{{ 'x' * 10 ** 10 }}",
    "lists": "{{ [0] * 10 ** 10 }}",
    "range": "{{ range(10 ** 9) | list }}",
    "powers": "{{ 9 ** 9 ** 9 }}",
    "center": "{{ 'x' | center(10 ** 10) }}",
    "ljust": "{{ 'x'.ljust(10 ** 10) }}",
    "percent": "{{ '%9999999999d' % 1 }}",
    "star": "{{ '%*d' % (10 ** 9, 1) }}",
    "format": "{{ '{:>9999999999}'.format(1) }}",
    "format filter": "{{ '%9999999999d' | format(1) }}",
    "replace": "{% set s = 'x' * 60000 %}{{ s.replace('', s) }}",
    "replace filter": "{% set s = 'x' * 60000 %}{{ s | replace('x', s) }}",
    "join": "{% set s = 'x' * 60000 %}{{ s | join(s) }}",
    "indent": "{% set s = '\n' * 60000 %}{{ s | indent(100000) }}",
    "json": "{{ [[1]] | tojson(indent=99999999) }}",
    "sums": "{% set x = range(99999) | list %}{% for i in range(9999) %}{% set y = x | sum %}{% endfor %}",
    "its own length": "x" * 1_000_001,
}
NOSY = {
    "classes": "{{ ''.__class__.__mro__ }}",
    "namespace": "{{ namespace(__html__=1) }}",
    "changes": "{{ messages.append(1) }}",
    "lipsum": "{{ lipsum.__globals__ }}",
}


@pytest.mark.timeout(30)
@pytest.mark.parametrize("source", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_template_is_stopped(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "MAX_STEPS", 100_000)
    with pytest.raises(TemplateError, match=r"stopped|Range too big"):
        ours(source, PLAIN)


@pytest.mark.parametrize("source", NOSY.values(), ids=NOSY.keys())
def test_a_template_cannot_reach_into_python(source: str) -> None:
    with pytest.raises(TemplateError, match="refused"):
        ours(source, PLAIN)


@pytest.mark.parametrize("name", ["raise_exception", "dict", "strftime_now", "range"])
def test_a_template_sees_nothing_behind_its_functions(name: str) -> None:
    assert ours("{{ NAME.__globals__ }}{{ NAME.__class__ }}".replace("NAME", name), PLAIN) == ""


def test_a_long_conversation_is_no_attack() -> None:
    turns = [
        m for i in range(1500) for m in ({"role": "user", "content": "q" * 900}, {"role": "assistant", "content": "a"})
    ]
    for source in (CHATML, QWEN3, LLAMA3, HUNYUAN):
        assert ours(source, turns, [TOOL]).count("q" * 900) == 1500


def test_a_template_is_compiled_before_the_first_conversation(monkeypatch: pytest.MonkeyPatch) -> None:
    template = ChatTemplate({"default": "{{ messages[0].content }}", "broken": "{% if %}"})
    template.compile()
    monkeypatch.setattr(sandbox.Environment, "load", lambda *_: pytest.fail("it is compiled again"))
    assert template.render([{"role": "user", "content": "Hi"}]) == "Hi"


def test_a_broken_template_is_reported_by_the_first_conversation_only() -> None:
    template = ChatTemplate({"default": "{% if %}"})
    template.compile()
    with pytest.raises(TemplateError, match="broken in line 1"):
        template.render([{"role": "user", "content": "Hi"}])
