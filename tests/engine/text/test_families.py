"""Calls of each family as its template writes them: parsed however the reply is cut, and what its grammar lets through."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engine.errors import TemplateError
from engine.loading import markers
from engine.text.builtin_templates import HUNYUAN, LLAMA3
from engine.text.call_grammars import CallGrammars, json_grammar
from engine.text.families import family_of, parser_for, shows_convention, tags_for
from engine.text.history import adapted, completed
from engine.text.template import ChatTemplate
from engine.text.tokenizer import Tokenizer
from engine.text.tools import CallBroken, TextPiece, ToolCall
from tests.asserting import every
from tests.engine.text import published
from tests.engine.text.published import template
from tests.engine.text.test_call_grammars import takes
from tests.engine.text.tokenizers_made_here import byte_level

PLACE = 'say "x" <b>\nZürich, it\'s'
DEEP = {"a": [1, None, True, "x"]}
SCHEMA = {
    "type": "object",
    "properties": {"place": {"type": "string"}, "days": {"type": "number"}, "deep": {"type": "object"}},
    "required": ["place"],
    "additionalProperties": False,
}
WEATHER = {"name": "weather", "description": "It is so.", "parameters": SCHEMA, "strict": True}
NOW = {"name": "now", "description": "The time.", "parameters": {"type": "object", "properties": {}}}
TOOLS = [{"type": "function", "function": function} for function in (WEATHER, NOW)]
ASKED = {"role": "user", "content": "How is it?"}
# name: model type, template, how the family's calls begin, what surrounds the assistant's turn
FAMILIES: dict[str, tuple[str, str, str]] = {
    "gpt-oss": ("gpt_oss", template("openai-gpt-oss-120b"), "<|channel|>commentary to=functions."),
    "gemma4": ("gemma4", template("google-gemma-4-31B-it"), "<|tool_call>call:"),
    "glm4": ("glm4", published.GLM4, "weather\n{"),
    "glm-z1": ("glm4", template("zai-org-GLM-Z1-9B-0414"), "weather\n{"),
    "glm45": ("glm4_moe", template("GLM-4.6"), "<tool_call>weather\n<arg_key>"),
    "glm47-flash": ("glm4_moe_lite", template("GLM-4.7-Flash"), "<tool_call>weather<arg_key>"),
    "mistral-nemo": ("mistral", template("mistralai-Mistral-Nemo-Instruct-2407"), '[TOOL_CALLS][{"name"'),
    "mistral-small": ("mistral3", template("Mistral-Small-3.2-24B-Instruct-2506"), "[TOOL_CALLS]weather[CALL_ID]"),
    "ministral": ("ministral3", template("mistralai-Ministral-3-14B-Reasoning-2512"), "[TOOL_CALLS]weather[ARGS]"),
    "nemotron2": ("nemotron_h", published.NEMOTRON, '<TOOLCALL>[{"name"'),
    "nemotron3": ("nemotron_h", template("Qwen3-Coder"), "<tool_call>\n<function=weather>"),  # the same format
    "lfm2": ("lfm2", published.LFM, "<|tool_call_start|>[weather("),
    "deepseek-v3.1": ("deepseek_v3", template("deepseek-ai-DeepSeek-V3.1"), "<｜tool▁calls▁begin｜>"),
    "deepseek-v3.2": ("deepseek_v3", template("deepseek-ai-DeepSeek-V3.2"), "<｜DSML｜function_calls>"),
    "deepseek-v4": ("deepseek_v4", template("deepseek-ai-DeepSeek-V4"), "<｜DSML｜tool_calls>"),
    "granite3": ("granite", template("ibm-granite-granite-3.3-2B-Instruct"), "<|tool_call|>["),
    "granite4": ("granitemoehybrid", template("ibm-granite-granite-4.0"), "<tool_call>\n{"),
    "smollm3": ("smollm3", template("HuggingFaceTB-SmolLM3-3B"), "<tool_call>\n{"),
    "minimax-m2": ("minimax_m2", template("MiniMax-M2"), "<minimax:tool_call>"),
    "seed-oss": ("seed_oss", template("ByteDance-Seed-OSS"), "<seed:tool_call>"),
    "exaone4": ("exaone4", published.EXAONE, '<tool_call>{"name"'),
    "ernie": ("ernie4_5_moe", published.ERNIE, "<tool_call>\n{"),
    "hunyuan": ("hunyuan_v1_moe", HUNYUAN, "<tool_calls>"),
    "phi4-mini": ("phi3", template("microsoft-Phi-4-mini-instruct"), "functools["),
    "laguna": ("laguna", template("poolside-Laguna-XS.2"), "<tool_call>weather"),
    "muse": ("muse_glimmer", published.MUSE, "<atem:function_calls>"),
    "qwen3": ("qwen3", template("Qwen-Qwen3-0.6B"), "<tool_call>\n{"),
    "qwen3-coder": ("qwen3_moe", template("Qwen3-Coder"), "<tool_call>\n<function=weather>"),
    "qwen3.5": ("qwen3_5", template("Qwen3.5-4B"), "<tool_call>\n<function=weather>"),
    "llama3": ("llama", LLAMA3, '{"name": "weather"'),
    "command-r7b": ("cohere2", published.COMMAND, "<|START_ACTION|>["),
    "olmo3": ("olmo3", template("allenai-Olmo-3.1-32B-Instruct"), "<function_calls>weather("),
    "kimi-k2": ("kimi_k2", template("moonshotai-Kimi-K2"), "<|tool_calls_section_begin|>"),
}
# those whose licence keeps their templates out of the tests' data, where a folder of them is given
FURTHER: dict[str, tuple[str, str, str]] = {
    "LFM2-8B-A1B": ("lfm2_moe", "LFM2-8B-A1B", "<|tool_call_start|>[weather("),
    "LFM2.5-Instruct": ("lfm2", "LFM2.5-Instruct", "<|tool_call_start|>[weather("),
    "LFM2.5-8B-A1B": ("lfm2_moe", "LFM2.5-8B-A1B", "<|tool_call_start|>[weather("),
    "Nemotron-Nano-v2": ("nemotron_h", "NVIDIA-Nemotron-Nano-v2", '<TOOLCALL>[{"name"'),
    "Nemotron-3-Nano": ("nemotron_h", "NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", "<tool_call>\n<function=weather>"),
    "Command-R7B": ("cohere2", "CohereForAI-c4ai-command-r7b-12-2024-tool_use", "<|START_ACTION|>["),
    "Muse-Glimmer": ("muse_glimmer", "muse-glimmer", "<atem:function_calls>"),
    "EXAONE-4.0": ("exaone4", "EXAONE-4.0", '<tool_call>{"name"'),
    "Hermes-3": ("llama", "NousResearch-Hermes-3-Llama-3.1-8B-tool_use", "<tool_call>\n{"),
    "Llama-3.3": ("llama", "meta-llama-Llama-3.3-70B-Instruct", '{"name": "weather"'),
}
SINGLE = ("gpt-oss", "llama3", "Llama-3.3")  # one message for each call
MESSAGES = ("gpt-oss", "muse", "Muse-Glimmer")  # a reply is several messages
GIVEN = published.published()
FAMILIES |= {name: (kind, GIVEN[of], begins) for name, (kind, of, begins) in FURTHER.items() if of in GIVEN}
ENDS = ("<|im_end|>", "<|end_of_text|>", "</s>", "<|return|>", "<|call|>", "<turn|>", "<|tool_response>", "<seed:eos>")
ENDS += ("<｜end▁of▁sentence｜>", "<|end|>", "<|eot_id|>", "<|eot|>", "</assistant>", "[e~[", "<|END_OF_TURN_TOKEN|>")
ENDS += ("<SPECIAL_12>", "</think>", "<think></think>", "<|START_THINKING|><|END_THINKING|>", "<|eom|>")
ENDS += ("<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>", "[|endofturn|]")


def call(**arguments: Any) -> dict[str, Any]:
    return {"id": f"c{len(arguments)}", "type": "function", "function": {"name": "weather", "arguments": arguments}}


CALLS = [call(place=PLACE, days=2, deep=DEEP), call(place="Kyiv", days=1.5)]


def rendered(name: str, messages: list[dict[str, Any]], **more: Any) -> str:
    kind, source, _ = FAMILIES[name]
    chat = ChatTemplate({"default": source}, {"bos_token": "", "eos_token": "</s>"})
    return chat.render(adapted(messages, source, kind, TOOLS), TOOLS, **more)


def written(name: str, calls: list[dict[str, Any]]) -> str:
    """The reply that the template shows the model as its own, from the first mark of a call."""
    text = rendered(
        name, [ASKED, {"role": "assistant", "content": "", "tool_calls": calls}], add_generation_prompt=False
    )
    if name == "gpt-oss":  # the template writes the recipient before the channel, the model either way
        text = text[text.rindex("How is it?") :].replace(" to=functions.", "<|channel|>commentary to=functions.")
        return text[text.index("<|channel|>") :].replace("<|channel|>commentary json", " <|constrain|>json")
    if name in MESSAGES:
        return text[text.rindex("How is it?<|eot|>") :].removeprefix("How is it?<|eot|><|start|>assistant")
    return text[text.index(FAMILIES[name][2], text.index("How is it?")) :]


def without_end(text: str) -> str:
    text = text.rstrip()
    while cut := next((end for end in ENDS if text.endswith(end)), None):
        text = text[: -len(cut)].rstrip()
    return text


def read(name: str, pieces: list[str]) -> tuple[str, str, list[Any]]:
    """Reasoning, text, and calls as (name, arguments)."""
    kind, source, _ = FAMILIES[name]
    tags, parser = tags_for(kind, source), parser_for(kind, source, TOOLS)
    splitter = tags.splitter("<|start|>assistant" if name in MESSAGES else "", False) if tags else None
    reasoning = text = ""
    events: list[Any] = []
    for piece in pieces:
        for part in splitter.push(piece) if splitter else [("answer", piece)]:
            reasoning += part[1] if part[0] == "reasoning" else ""
            events += parser.push(part[1]) if part[0] == "answer" else []
    for part in splitter.flush() if splitter else []:
        events += parser.push(part[1]) if part[0] == "answer" else []
    events += parser.flush()
    assert not [event for event in events if isinstance(event, CallBroken)]
    text = "".join(event.text for event in events if isinstance(event, TextPiece))
    return reasoning, text, [(e.name, json.loads(e.arguments)) for e in events if isinstance(e, ToolCall)]


def pieces_of(text: str) -> list[str]:
    """Byte by byte, as tokens of single bytes come: a character is there with its last byte."""
    return list(text)


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("before", [[], [{"role": "system", "content": "Be brief."}]], ids=["alone", "system"])
def test_the_model_is_shown_the_functions(name: str, before: list[dict[str, Any]]) -> None:
    text = rendered(name, [*before, ASKED])
    assert "weather" in text
    assert "It is so." in text
    assert not before or name == "command-r7b" or "Be brief." in text


@pytest.mark.parametrize("name", FAMILIES)
def test_calls_are_read_as_the_template_writes_them(name: str) -> None:
    calls = CALLS[:1] if name in SINGLE else CALLS
    reply = without_end(written(name, calls))
    wanted = [("weather", call["function"]["arguments"]) for call in calls]
    assert read(name, [reply]) == ("", "", wanted)
    assert read(name, pieces_of(reply)) == ("", "", wanted)


@pytest.mark.parametrize("name", FAMILIES)
def test_words_come_before_calls(name: str) -> None:
    if name in ("llama3", "Llama-3.3"):  # its calls are the whole reply
        return
    reply = without_end(written(name, CALLS[1:]))
    if name == "gpt-oss":
        reply = f"<|channel|>analysis<|message|>I look.<|end|><|start|>assistant<|channel|>commentary<|message|>One moment.<|end|><|start|>assistant{reply}"
    elif name in ("glm4", "glm-z1"):
        thought = "" if name == "glm4" else "<think>\nI look.\n</think>"
        reply = f"{thought}\nOne moment.<|assistant|>{reply}"
    elif name in MESSAGES:
        reply = f" to=self<|message|>I look.<|eom|><|start|>assistant to=user<|message|>One moment.<|eom|><|start|>assistant{reply}"
    else:
        tags = tags_for(*FAMILIES[name][:2])
        thought = f"{tags.open}\nI look.\n{tags.close}\n\n" if tags else ""
        reply = f"{thought}One moment.\n{reply}"
    whole = read(name, [reply])
    assert whole == read(name, pieces_of(reply))
    reasoning, text, calls = whole
    assert reasoning == ("I look." if tags_for(*FAMILIES[name][:2]) else "")
    assert text.strip() == "One moment."
    assert calls == [("weather", {"place": "Kyiv", "days": 1.5})]


@pytest.mark.parametrize("name", FAMILIES)
def test_a_strict_call_is_spelled_as_the_template_spells_it(name: str) -> None:
    kind, source, _ = FAMILIES[name]
    assert shows_convention(kind, source)
    family = family_of(kind, source)
    made = CallGrammars(family, [WEATHER, NOW])
    for calls in (CALLS[1:], [call(place=PLACE, days=2, deep={"a": [1]})]):
        if family.name in ("lfm", "seed"):  # their templates write Python, and models JSON as well
            calls = [call(place="Kyiv", days=2)]
        reply = without_end(written(name, calls))
        if family.name == "lfm":
            reply = reply.replace("'", '"')
        assert takes(made.demanded(), reply), reply
        assert takes(made.among_words(), reply), reply
        assert not takes(made.demanded(), reply.replace("days", "town"))
        assert not takes(made.demanded(), "Hello")
        assert takes(made.or_answer(json_grammar({"type": "object"})), reply)


@pytest.mark.parametrize("name", FAMILIES)
def test_the_next_turn_shows_the_model_its_calls_and_their_results(name: str) -> None:
    results = [
        {"role": "tool", "name": "weather", "tool_call_id": c["id"], "content": f"found {c['id']}"} for c in CALLS
    ]
    said = {"role": "assistant", "content": "", "reasoning_content": "I look.", "tool_calls": CALLS}
    try:
        text = rendered(name, [ASKED, said, *results])
    except TemplateError as error:
        pytest.fail(f"{name}: {error}")
    assert every(text.count(f"found {c['id']}") == 1 for c in CALLS)
    assert text.count("Kyiv") >= 1
    first, second = text.index("Zürich"), text.index("Kyiv")
    assert first < second
    if name == "gpt-oss":  # each call has its result behind it
        assert first < text.index("found c3") < second < text.index("found c2")


def test_arguments_in_a_text_are_opened_unless_the_template_wants_the_text() -> None:
    said = {"role": "assistant", "content": "", "tool_calls": [
        {"id": "a", "function": {"name": "now", "arguments": '{"place": "Kyiv"}'}}]}  # fmt: skip
    objects = ChatTemplate({"default": "{{ messages[0].tool_calls[0].function.arguments.place }}"})
    texts = ChatTemplate({"default": "{{ 'x' + messages[0].tool_calls[0].function.arguments }}"})
    assert objects.render([said]) == "Kyiv"
    assert texts.render([said]) == 'x{"place": "Kyiv"}'


def test_a_template_of_single_calls_is_shown_one_at_a_time() -> None:
    found = [
        {"role": "tool", "tool_call_id": "c2", "content": "b"},
        {"role": "tool", "tool_call_id": "c3", "content": "a"},
    ]
    chat = adapted(
        [ASKED, {"role": "assistant", "content": "", "tool_calls": CALLS}, *found], "single tool-calls, tool_calls", ""
    )
    assert [message["role"] for message in chat] == ["user", "assistant", "tool", "assistant", "tool"]
    assert [message["content"] for message in chat if message["role"] == "tool"] == ["a", "b"]
    lost = adapted([{"role": "assistant", "content": "", "tool_calls": CALLS}], "single tool-calls, tool_calls", "")
    assert [len(message["tool_calls"]) for message in lost] == [1, 1]


def test_tools_without_a_description_are_completed() -> None:
    source = FAMILIES["gpt-oss"][1]
    bare = [{"type": "function", "function": {"name": "now"}}]
    with pytest.raises(TemplateError):
        ChatTemplate({"default": source}).render([ASKED], bare)
    assert "type now = () => any;" in ChatTemplate({"default": source}).render([ASKED], completed(bare))
    assert bare == [{"type": "function", "function": {"name": "now"}}]


def test_reasoning_is_shown_to_ministral_as_a_part() -> None:
    said = {"role": "assistant", "content": "Yes.", "reasoning_content": "I think."}
    text = rendered("ministral", [ASKED, said, ASKED])
    assert "[THINK]I think.[/THINK]Yes." in text


def test_analysis_is_gone_after_a_final_answer_and_kept_before_it() -> None:
    asked, said = ASKED, {"role": "assistant", "content": "", "reasoning_content": "I look.", "tool_calls": CALLS[1:]}
    found = {"role": "tool", "tool_call_id": "c2", "content": "rain"}
    assert "analysis<|message|>I look.<|end|>" in rendered("gpt-oss", [asked, said, found])
    done = {"role": "assistant", "content": "Rain.", "reasoning_content": "So."}
    text = rendered("gpt-oss", [asked, said, found, done, asked])
    assert "I look." not in text
    assert "So." not in text
    assert "<|channel|>final<|message|>Rain.<|end|>" in text
    both = {**said, "content": "One moment."}
    assert "I look." in rendered("gpt-oss", [asked, both, found])


@pytest.mark.parametrize(
    ("reply", "reasoning", "answer"),
    [
        ("<|channel|>final<|message|>Yes.<|return|>", "", "Yes."),
        (
            "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>analysis<|message|>b<|end|>",
            "a\n\nb",
            "",
        ),
        ("<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b", "a", "b"),
        (
            "<|channel|>commentary<|message|>One.<|end|><|start|>assistant<|channel|>final<|message|>Two.",
            "",
            "One.\n\nTwo.",
        ),
        ("Plain words.", "", "Plain words."),
        ("to be or not", "", "to be or not"),
        ("<|channel|>fin", "", ""),
        ("", "", ""),
    ],
)
def test_messages_of_harmony(reply: str, reasoning: str, answer: str) -> None:
    assert read("gpt-oss", [reply])[:2] == (reasoning, answer)
    assert read("gpt-oss", pieces_of(reply))[:2] == (reasoning, answer)


def test_a_prompt_that_ends_inside_a_message_of_harmony() -> None:
    tags = tags_for("gpt_oss", FAMILIES["gpt-oss"][1])
    assert tags is not None
    within = tags.splitter("<|start|>assistant<|channel|>final<|message|>Well,", False)
    assert within is not None
    assert within.push(" yes.") == [("answer", " yes.")]
    kept = tags.splitter("<|start|>assistant", False, keep=True)
    assert kept is not None
    said = kept.push("<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>Yes.")
    assert "".join(piece.text for piece in said) == "<|channel|>analysis<|message|>hm<|end|>Yes."
    assert {piece.kind for piece in said} == {"answer"}


@pytest.mark.parametrize(
    ("name", "marks"),
    [
        ("gpt-oss", {"<|channel|>", "<|message|>", "<|start|>", "<|end|>", "<|call|>", "<|return|>", "<|constrain|>"}),
        ("gemma4", {"<|channel>", "<channel|>", "<|tool_call>", "<tool_call|>", '<|"|>'}),
        ("mistral-small", {"[TOOL_CALLS]", "[ARGS]", "[CALL_ID]"}),
        ("deepseek-v3.1", {"<think>", "</think>", "<｜tool▁calls▁begin｜>", "<｜tool▁sep｜>", "<｜tool▁call▁end｜>"}),
        ("deepseek-v3.2", {"｜DSML｜"}),
        ("glm45", {"<tool_call>", "</tool_call>", "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>", "<think>"}),
        ("lfm2", {"<|tool_call_start|>", "<|tool_call_end|>"}),
        ("command-r7b", {"<|START_ACTION|>", "<|END_ACTION|>", "<|START_THINKING|>", "<|END_RESPONSE|>"}),
        ("kimi-k2", {"<|tool_call_begin|>", "<|tool_call_argument_begin|>", "<|tool_calls_section_end|>"}),
        ("phi4-mini", {"<|tool_call|>", "<|/tool_call|>"}),
        ("seed-oss", {"<seed:tool_call>", "</seed:tool_call>", "<seed:think>", "</seed:think>"}),
    ],
)
def test_special_tokens_that_a_reply_is_read_by_stay_in_its_text(name: str, marks: set[str]) -> None:
    others = ["<|im_start|>", "<|im_end|>"]
    backend = byte_level([*others, *marks], plain=())
    tokenizer, (kind, source, _) = Tokenizer(backend), FAMILIES[name]
    kept = markers(tokenizer, ChatTemplate({"default": source}), {"model_type": kind})
    assert kept == {tokenizer.id(mark) for mark in marks}


@pytest.mark.parametrize(
    "reply",
    [
        "Yes",
        "weather",
        "weather\n",
        "Kyiv\n{}",
        '{"place": "Kyiv"}',
        "weather report\n{}",
        "weather: {}",
        "\nIt is\n{}",
    ],
)
def test_what_looks_like_a_call_of_glm4_and_is_none(reply: str) -> None:
    """Nothing marks the first call but the name of a function that was offered."""
    assert read("glm4", [reply])[1:] == (reply, [])
    assert read("glm4", pieces_of(reply))[1:] == (reply, [])


def test_words_and_calls_of_glm4_are_held_apart() -> None:
    made = CallGrammars(family_of(*FAMILIES["glm4"][:2]), [WEATHER, NOW])
    kyiv = 'weather\n{"place": "Kyiv"}'
    for reply in ("", "\nHello", kyiv, f"{kyiv}<|assistant|>{kyiv}", f"\nHello<|assistant|>{kyiv}", "now\n{}"):
        assert takes(made.among_words(), reply), reply
    for reply in (
        "weather\n{}",
        'weather\n{"town": "Kyiv"}',
        f"{kyiv}<|assistant|>other\n{{}}",
        "\nHi<|assistant|>weather\n{}",
    ):
        assert not takes(made.among_words(), reply), reply
