"""From the body of a request to the conversation that a model reads.

Text that the model should see is shown to it, whatever block it came in. Blocks without any are dropped and reported, and so are
tools that only Anthropic's servers can run. Media that cannot be read, and a call that is demanded of a dropped tool, are refused.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from xml.sax.saxutils import quoteattr

from app.runtime.chat import ChatRequest, ToolChoice, json_grammar
from app.server.anthropic.client_tools import client_tool
from app.server.anthropic.protocol import (
    AnthropicBlock,
    AnthropicTool,
    AutoChoice,
    CountTokensRequest,
    DocumentBlock,
    ImageBlock,
    MessagesRequest,
    NamedChoice,
    NoChoice,
    ResultBlock,
    SearchResultBlock,
    TextBlock,
    ThinkingBlock,
    ToolChangeBlock,
    ToolReferenceBlock,
    ToolResultBlock,
    ToolUseBlock,
    Undeclared,
)
from app.server.errors import ApiError, bad_request, unsupported
from app.server.ignored import ignore
from app.server.images import ImagePart, data_url, written_content
from engine.types import SamplingParams

_BILLING = "x-anthropic-billing-header:"  # how Claude Code's first system block begins
_SIGNED = "grus."
_Placed = tuple[AnthropicBlock, str]  # a block, and the parameter that it is part of


def conversation(body: CountTokensRequest) -> ChatRequest:
    """`thinking` is None where the client asks for none, but does not switch it off either."""
    tools, dropped = _tools(body)
    choice, parallel = _choice(body, tools, dropped)
    sampling = SamplingParams()
    if isinstance(body, MessagesRequest):
        sampling = SamplingParams(
            max_tokens=max(1, body.max_tokens),
            temperature=body.temperature,
            top_p=body.top_p,
            top_k=body.top_k,
            stop=tuple(body.stop_sequences or ()),
        )
    if body.thread is not None:
        _check_thread(body.thread)
    wanted = body.output_format or (body.output_config.format if body.output_config is not None else None)
    thinking = None if body.thinking is None else body.thinking.type != "disabled"
    effort = body.output_config.effort if body.output_config is not None else None
    if effort is not None and not thinking:
        ignore("output_config.effort")
    if body.thinking is not None and body.thinking.type not in ("enabled", "adaptive", "disabled"):
        ignore("thinking.type")
    return ChatRequest(
        messages=[*_system(body.system), *_messages(body)],
        sampling=sampling,
        tools=[_function(tool) for tool in tools],
        tool_choice=choice,
        parallel_calls=parallel,
        grammar=json_grammar(wanted.schema_, strict=True) if wanted is not None else None,
        schema_field="output_config.format.schema",
        thinking=thinking,
        effort=effort if thinking else None,
        reasoning_tokens=_budget(body),
        budget_field="thinking.budget_tokens",
        # a last message of the assistant is continued
        continue_last=body.messages[-1].role == "assistant",
        effort_field="output_config.effort",
    )


def _budget(body: CountTokensRequest) -> int | None:
    thinking = body.thinking
    return thinking.budget_tokens or None if thinking is not None and thinking.type == "enabled" else None


def _check_thread(thread: Mapping[str, Any]) -> None:
    """No conversations are stored: a new thread is only a conversation. Where one is continued, this is the error after which
    clients send the whole conversation."""
    if thread.get("type") == "continue":
        raise ApiError(
            404, "Threads are not stored here. Send the whole conversation in messages.", code="thread_not_found"
        )
    if not ignore("thread"):
        raise unsupported("thread", "Threads are not stored here.")


# -- tools


def _tools(body: CountTokensRequest) -> tuple[list[AnthropicTool], list[Undeclared]]:
    """Those that are offered to the model, and those that only Anthropic's servers can run.

    A tool with `defer_loading` is offered once the conversation refers to it, unless what would find it was dropped."""
    given = [client_tool(tool) for tool in body.tools or ()]
    offered = {tool.name: tool for tool in given if isinstance(tool, AnthropicTool)}
    dropped = [tool for tool in given if isinstance(tool, Undeclared)]
    loaded = {body.tool_choice.name} if isinstance(body.tool_choice, NamedChoice) else set()
    for block in _all_blocks(body):
        if isinstance(block, ToolReferenceBlock):
            loaded.add(block.tool_name)
        elif isinstance(block, ToolChangeBlock) and block.type == "tool_removal":
            offered.pop(str(block.tool.name), None)
        elif isinstance(block, ToolChangeBlock):
            definition = block.tool.definition and client_tool(block.tool.definition)
            if isinstance(definition, AnthropicTool):
                offered[definition.name] = definition
            loaded.add(str(block.tool.name))
    for tool in dropped:
        if not ignore(f"tools.{tool.type}"):
            raise unsupported("tools", f"Tools of the type {tool.type!r} cannot be run here.")
    searched = not any(tool.type.startswith("tool_search_tool") for tool in dropped)
    return [t for t in offered.values() if not (t.defer_loading and searched) or t.name in loaded], dropped


def _all_blocks(body: CountTokensRequest) -> Iterable[AnthropicBlock | ResultBlock]:
    for message in body.messages:
        for block in message.content if isinstance(message.content, list) else ():
            yield block
            if isinstance(block, ToolResultBlock) and isinstance(block.content, list):
                yield from block.content


def _function(tool: AnthropicTool) -> dict[str, Any]:
    examples = {"examples": tool.input_examples} if tool.input_examples else {}
    function: dict[str, Any] = {"name": tool.name, "parameters": tool.input_schema | examples}
    if tool.description:
        function["description"] = tool.description
    if tool.strict:
        function["strict"] = True
    return {"type": "function", "function": function}


def _choice(
    body: CountTokensRequest, tools: Sequence[AnthropicTool], dropped: Sequence[Undeclared]
) -> tuple[ToolChoice, bool]:
    given = body.tool_choice
    if given is None or isinstance(given, NoChoice):
        return ToolChoice("auto" if tools and given is None else "none"), True
    parallel = not given.disable_parallel_tool_use
    if isinstance(given, AutoChoice) and given.type == "auto":
        return ToolChoice("auto" if tools else "none"), parallel
    name = given.name if isinstance(given, NamedChoice) else None
    for tool in dropped:
        if name == (tool.model_extra or {}).get("name") or not (name or tools):
            raise unsupported(
                "tool_choice", f"tool_choice demands a call of a {tool.type} tool, which cannot be run here."
            )
    if not tools:
        raise bad_request("tool_choice demands a call, but there are no tools.", "tool_choice")
    return (ToolChoice("named", name) if name else ToolChoice("required")), parallel


# -- messages


def _system(given: str | Sequence[TextBlock] | None) -> list[dict[str, Any]]:
    """Without Claude Code's billing header, which is not for the model: it differs from conversation to conversation, so that no
    prefix of one would be in the cache for the next."""
    texts = [given] if isinstance(given, str) else [block.text for block in given or ()]
    shown = [t for t in texts if not (t.startswith(_BILLING) and "\n" not in t and ignore("system.billing-header"))]
    return [{"role": "system", "content": "\n".join(shown)}] if any(shown) else []


def _messages(body: CountTokensRequest) -> list[dict[str, Any]]:
    """In the form that chat templates read: each tool result is a message of its own. Messages of one role that follow each
    other are one."""
    turns: list[tuple[str, list[_Placed]]] = []
    for at, message in enumerate(body.messages):
        given = message.content
        blocks = [TextBlock(type="text", text=given)] if isinstance(given, str) else given
        placed = [(block, f"messages.{at}.content") for block in blocks]
        if turns and turns[-1][0] == message.role:
            turns[-1][1].extend(placed)
        else:
            turns.append((message.role, placed))
    out: list[dict[str, Any]] = []
    for role, placed in turns:
        out += _template_messages(role, placed)
    return _in_order_of_calls(out)


@dataclass
class _Turn:
    """A message as far as it is put together."""

    role: str
    parts: list[str | ImagePart] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    calls: list[dict[str, Any]] = field(default_factory=list)

    def message(self) -> dict[str, Any]:
        message: dict[str, Any] = {"role": self.role, "content": written_content([p for p in self.parts if p])}
        if self.thoughts:
            message["reasoning_content"] = "\n".join(self.thoughts)
        if self.calls:
            message["tool_calls"] = self.calls
        return message

    def __bool__(self) -> bool:
        return bool(self.parts or self.thoughts or self.calls)


def _template_messages(role: str, placed: Sequence[_Placed]) -> list[dict[str, Any]]:
    results = [_result(block, param) for block, param in placed if isinstance(block, ToolResultBlock)]
    out: list[dict[str, Any]] = []
    turn = _Turn(role)
    for block, param in placed:
        if isinstance(block, ThinkingBlock):
            turn.thoughts.append(block.thinking or _hidden(block.signature))
        elif isinstance(block, ToolUseBlock):
            arguments = json.dumps(block.input, ensure_ascii=False)
            call = {"id": block.id, "type": "function", "function": {"name": block.name, "arguments": arguments}}
            turn.calls.append(call)
        elif isinstance(block, Undeclared) and block.type.endswith("_tool_result"):
            # Anthropic's servers ran the tool while the assistant answered
            fields = block.model_extra or {}
            result = {"role": "tool", "tool_call_id": str(fields.get("tool_use_id")), "content": _nested(fields)}
            out += [turn.message(), result]
            turn = _Turn(role)
        elif not isinstance(block, ToolResultBlock | ToolChangeBlock):
            turn.parts += _shown(block, param)
    empty_is_meant = not results and not out and role != "system"
    return [*results, *out, *([turn.message()] if turn or empty_is_meant else [])]


def _in_order_of_calls(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Templates show results without their ids: each stands where its call did, and knows the name of its tool."""
    out: list[dict[str, Any]] = []
    places: dict[str, tuple[int, str]] = {}
    start = 0
    for message in messages:
        if message["role"] != "tool":
            if message["role"] == "assistant":
                calls = message.get("tool_calls", ())
                places = {call["id"]: (at, call["function"]["name"]) for at, call in enumerate(calls)}
            start = len(out) + 1
            out.append(message)
            continue
        known = places.get(message["tool_call_id"])
        out.append(message | ({"name": known[1]} if known is not None else {}))
        out[start:] = sorted(out[start:], key=lambda m: places.get(m["tool_call_id"], (len(places), ""))[0])
    return out


def _result(block: ToolResultBlock, param: str) -> dict[str, Any]:
    parts: list[str | ImagePart] = []
    if isinstance(block.content, list):
        for part in block.content:
            parts += _shown(part, param)
    else:
        parts.append(block.content or "")
    if block.is_error:
        first = parts[0] if parts and isinstance(parts[0], str) else ""
        parts = [f"Error: {first}", *parts[bool(first) :]]
    return {"role": "tool", "tool_call_id": block.tool_use_id, "content": written_content(parts)}


# -- blocks


def _shown(block: AnthropicBlock | ResultBlock, param: str) -> list[str | ImagePart]:
    """What the model reads of a block that is neither reasoning, nor a call, nor its result."""
    if isinstance(block, TextBlock):
        return [block.text]
    if isinstance(block, ImageBlock):
        return [_image(block.source, param)]
    if isinstance(block, DocumentBlock):
        title = f" title={quoteattr(block.title)}" if block.title else ""
        context = [block.context] if block.context else []
        return [f"<document{title}>", *context, *_document(block.source, param), "</document>"]
    if isinstance(block, SearchResultBlock):
        head = f"<search_result source={quoteattr(block.source)} title={quoteattr(block.title)}>"
        return [head, *(part.text for part in block.content), "</search_result>"]
    if isinstance(block, ToolReferenceBlock):
        return [f"The tool {block.tool_name} can be called now."]
    assert isinstance(block, Undeclared)
    fields = block.model_extra or {}
    text = next((fields[key] for key in ("text", "content") if isinstance(fields.get(key), str)), None)
    if text is None and ("source" in fields or "file_id" in fields or not ignore(f"messages.content.{block.type}")):
        raise unsupported(param, f"Blocks of the type {block.type[:100]!r} cannot be read here.")
    return [] if text is None else [text]


def _image(source: Mapping[str, Any], param: str) -> ImagePart:
    match source:
        case {"type": "url", "url": str(url)}:
            return ImagePart(param, url)
        case {"type": "base64", "media_type": str(media_type), "data": str(data)}:
            return ImagePart(param, data_url(media_type, data))
    raise bad_request(
        "An image's source must be of the type url, with url, or of the type base64, with media_type and data.", param
    )


def _document(source: Mapping[str, Any], param: str) -> list[str | ImagePart]:
    match source:
        case {"type": "text", "data": str(text)}:
            return [text]
        case {"type": "content", "content": str(text)}:
            return [text]
        case {"type": "content", "content": list(parts)}:
            return [_document_part(part, param) for part in parts]
    media = source.get("media_type") or f"a source of the type {str(source.get('type'))[:100]!r}"
    raise unsupported(
        param, f"Documents are read as text only, not as {media}. Send the text, as a source of the type text."
    )


def _document_part(part: Any, param: str) -> str | ImagePart:
    match part:
        case {"type": "text", "text": str(text)}:
            return text
        case {"type": "image", "source": dict(source)}:
            return _image(source, param)
    raise bad_request("The content of a document must be blocks of the types text and image.", param)


def _nested(fields: Mapping[str, Any]) -> str:
    """The result of a tool that Anthropic's servers ran, as JSON, without what only they can read."""
    content = fields.get("content")
    return content if isinstance(content, str) else json.dumps(_readable(content), ensure_ascii=False)


def _readable(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _readable(v) for k, v in value.items() if not k.startswith("encrypted_")}
    return [_readable(item) for item in value] if isinstance(value, list) else value


# -- reasoning that a client does not want to see, and sends back


def signature(reasoning: str) -> str:
    """Of a thinking block whose text is left out: the text itself, so that the model reads it again when the block comes back."""
    return _SIGNED + base64.b64encode(reasoning.encode()).decode()


def _hidden(signed: str | None) -> str:
    if signed is None or not signed.startswith(_SIGNED):
        return ""
    try:
        return base64.b64decode(signed.removeprefix(_SIGNED), validate=True).decode()
    except (binascii.Error, ValueError):
        return ""
