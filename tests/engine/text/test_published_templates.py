"""Published chat templates render as `transformers` renders them, and fail in the same words."""

from __future__ import annotations

import datetime
import itertools
import re
from typing import Any

import jinja2
import pytest
from transformers.utils import chat_template_utils

from engine.errors import TemplateError
from engine.text import sandbox
from engine.text.template import ChatTemplate
from tests.engine.text.published import published
from tests.engine.text.test_template import REFERENCE, SPECIAL

TEMPLATES = published()


TOOL = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "The weather <b>of</b> a place, 'now' & \"then\"",
        "parameters": {
            "type": "object",
            "properties": {
                "place": {"type": "string", "description": "A town", "enum": ["Kyiv", "Zürich"]},
                "days": {"type": "integer", "description": "How many", "default": 1},
                "deep": {"type": "object", "description": "More", "properties": {"a": {"type": "array", "items": {}}}},
            },
            "required": ["place"],
        },
    },
}


def called(id: str, **arguments: Any) -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": "weather", "arguments": arguments}}


ONE = called("call00001", place="Zürich", days=2, deep={"a": [1, None, True, "x"]})
TWO = called("call00002", place='say "x" <b>', days=1.5)
ASKED = {"role": "user", "content": "Hello 你好"}


def result(id: str, text: str) -> dict[str, Any]:
    return {"role": "tool", "name": "weather", "tool_call_id": id, "content": text}


CONVERSATIONS: dict[str, list[dict[str, Any]]] = {
    "system": [{"role": "system", "content": "Be brief."}, ASKED],
    "turns": [ASKED, {"role": "assistant", "content": "Yes?"}, ASKED, {"role": "assistant", "content": "No."}, ASKED],
    "reasoning": [ASKED, {"role": "assistant", "reasoning_content": "I think.", "content": "Yes."}, ASKED],
    "inline": [ASKED, {"role": "assistant", "content": "<think>\nhm\n</think>\n\nYes."}, ASKED],
    "call": [ASKED, {"role": "assistant", "content": None, "tool_calls": [ONE]}, result("call00001", '{"rain": 1}')],
    "calls": [
        {"role": "system", "content": "Look."},
        ASKED,
        {"role": "assistant", "content": "Looking.", "reasoning_content": "I look.", "tool_calls": [ONE, TWO]},
        result("call00001", "rain"),
        result("call00002", "sun"),
        {"role": "assistant", "reasoning_content": "So.", "content": "Rain."},
        ASKED,
    ],
    "twice": [ASKED, ASKED],  # many templates raise
    "parts": [{"role": "user", "content": [{"type": "text", "text": "PartA"}, {"type": "text", "text": "PartB"}]}],
}
VARIABLES: list[dict[str, Any]] = [
    {},
    {"enable_thinking": False},
    {"thinking": True, "enable_thinking": True, "reasoning_effort": "low", "thinking_budget": 512},
    {"add_generation_prompt": False},
]


class _Noon(datetime.datetime):
    @classmethod
    def now(cls, tz: Any = None) -> Any:
        return cls(2026, 11, 23, 12)


@pytest.mark.parametrize("name", TEMPLATES)
def test_it_renders_as_the_reference(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "datetime", _Noon)
    monkeypatch.setattr(chat_template_utils, "datetime", _Noon)
    ours, compared = ChatTemplate({"default": TEMPLATES[name]}, SPECIAL), 0
    for kind, variables, tools in itertools.product(CONVERSATIONS, VARIABLES, (None, [TOOL, TOOL])):
        messages, more = CONVERSATIONS[kind], {"add_generation_prompt": True} | variables
        try:
            expected = REFERENCE.apply_chat_template(
                messages, tools, chat_template=TEMPLATES[name], tokenize=False, **more
            )
        except Exception as error:
            if isinstance(error, jinja2.TemplateError) and kind != "parts":
                words = re.escape(str(error.message))
                with pytest.raises(TemplateError, match=words):
                    ours.render(messages, tools, **more)
                compared += 1
            continue  # what only fails in Python may well work here, as parts do for a template of texts
        assert isinstance(expected, str)
        if kind == "parts" and not _reads_parts(expected):
            continue
        assert ours.render(messages, tools, **more) == expected, (kind, variables)
        compared += 1
    assert compared >= 24


def _reads_parts(rendered: str) -> bool:
    """Whether a template wrote the texts of two parts, and not how Python or JSON write a list."""
    return "PartB" in rendered and "text" not in rendered[: rendered.index("PartA")][-12:]
