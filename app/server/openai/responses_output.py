"""A reply's parts as output items, and the events that report them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from app.runtime.chat import ReplyEvent
from app.runtime.custom_tools import InputReader
from app.server.openai.file_search import FileSearch
from app.server.openai.responses_items import new_item_id
from app.server.openai.responses_mcp import OfferedMcpTool, new_call
from app.server.openai.shapes import content_logprobs
from engine.text.tokenizer import Tokenizer

ResponseEvent = tuple[str, dict[str, Any]]  # an event's type and fields


class OutputItems:
    """The items are in `output`. One item is open at a time."""

    def __init__(
        self,
        tokenizer: Tokenizer,
        custom: Collection[str] = (),
        summarize: bool = False,
        mcp: Mapping[str, OfferedMcpTool] | None = None,
        search: FileSearch | None = None,
        with_results: bool = False,
    ) -> None:
        """`custom`: names of tools whose input is a text. `summarize`: reasoning comes
        as a summary too, which is the whole of it. `mcp`: tools that this server calls.
        `search`: is the first item, `with_results` or without, and is cited."""
        self._tokenizer = tokenizer
        self._custom, self._summarize, self._mcp = custom, summarize, mcp or {}
        self.waiting: list[int] = []  # calls of MCP tools that are written and not made yet, by their place
        self._kind = ""  # of the open item
        self._input = InputReader()  # of the open custom call
        self._scores: list[dict[str, Any]] = []
        self._search = search
        self.output: list[dict[str, Any]] = [] if search is None else [search.item(with_results)]
        self.first = len(self.output)  # where the items of this reply begin
        self.reason = "stop"

    def begin_reply(self) -> None:
        self.first = len(self.output)

    def add(self, part: ReplyEvent) -> Iterator[ResponseEvent]:
        if part.kind == "tokens":
            self._scores += content_logprobs(self._tokenizer, part.logprobs)
        elif part.kind == "end":
            self.reason = part.reason
            if len(self.output) == self.first:  # an empty reply is an empty message
                yield from self._open("answer", part)
            yield from self._close("completed" if part.reason not in ("length", "cancelled") else "incomplete")
        elif part.kind in ("call", "arguments"):
            yield from self._call(part) if part.kind == "call" else self._add_arguments(part.text)
        else:
            if part.kind != self._kind:
                yield from self._close("completed")
                yield from self._open(part.kind, part)
            yield from self._add_text(part.text)

    @property
    def _place(self) -> dict[str, Any]:
        return {"item_id": self.output[-1]["id"], "output_index": len(self.output) - 1}

    def _call(self, part: ReplyEvent) -> Iterator[ResponseEvent]:
        yield from self._close("completed")
        offered = self._mcp.get(part.name)
        if offered is None:
            yield from self._open("custom" if part.name in self._custom else "call", part)
        else:
            yield from self._open_mcp(offered)

    def _open_mcp(self, offered: OfferedMcpTool) -> Iterator[ResponseEvent]:
        item = new_call(offered.label, offered.name)
        if offered.approval:
            item = {"type": "mcp_approval_request", "id": new_item_id("mcpr")}
            item |= {"server_label": offered.label, "name": offered.name, "arguments": ""}
        self._kind = "approval" if offered.approval else "mcp"
        self.output.append(item)
        yield "response.output_item.added", {"output_index": len(self.output) - 1, "item": dict(item)}
        if not offered.approval:
            yield "response.mcp_call.in_progress", self._place

    def called(self, at: int) -> Iterator[ResponseEvent]:
        """An MCP call was made: the item says how it ended."""
        item = self.output[at]
        ended = "completed" if item["status"] == "completed" else "failed"
        yield f"response.mcp_call.{ended}", {"item_id": item["id"], "output_index": at}
        yield "response.output_item.done", {"output_index": at, "item": item}

    def _open(self, kind: str, part: ReplyEvent) -> Iterator[ResponseEvent]:
        self._kind = kind
        item: dict[str, Any]
        if kind == "call":
            item = {"type": "function_call", "id": new_item_id("fc"), "call_id": part.call_id, "name": part.name}
            item |= {"arguments": ""}
        elif kind == "custom":
            self._input = InputReader()
            item = {"type": "custom_tool_call", "id": new_item_id("ctc"), "call_id": part.call_id, "name": part.name}
            item |= {"input": ""}
        elif kind == "reasoning":
            item = {"type": "reasoning", "id": new_item_id("rs"), "summary": [], "content": []}
        else:
            item = {"type": "message", "id": new_item_id("msg"), "role": "assistant", "content": []}
        self.output.append({**item, "status": "in_progress"})
        yield "response.output_item.added", {"output_index": len(self.output) - 1, "item": dict(self.output[-1])}
        if kind in ("call", "custom"):
            return
        self.output[-1]["content"] = [self._empty()]
        yield "response.content_part.added", {**self._place, "content_index": 0, "part": self._empty()}
        if self._has_summary:
            self.output[-1]["summary"] = [{"type": "summary_text", "text": ""}]
            part_added = {**self._place, "summary_index": 0, "part": {"type": "summary_text", "text": ""}}
            yield "response.reasoning_summary_part.added", part_added

    @property
    def _has_summary(self) -> bool:
        return self._summarize and self._kind == "reasoning"

    def _empty(self) -> dict[str, Any]:
        if self._kind == "reasoning":
            return {"type": "reasoning_text", "text": ""}
        return {"type": "output_text", "text": "", "annotations": [], "logprobs": []}

    def _add_arguments(self, text: str) -> Iterator[ResponseEvent]:
        if self._kind == "custom":
            yield from self._add_input(self._input.feed(text))
        else:
            self.output[-1]["arguments"] += text
            if self._kind != "approval":
                kind = "mcp_call" if self._kind == "mcp" else "function_call"
                yield f"response.{kind}_arguments.delta", {**self._place, "delta": text}

    def _add_input(self, text: str) -> Iterator[ResponseEvent]:
        if text:
            self.output[-1]["input"] += text
            yield "response.custom_tool_call_input.delta", {**self._place, "delta": text}

    def _add_text(self, text: str) -> Iterator[ResponseEvent]:
        content = self.output[-1]["content"][0]
        content["text"] += text
        delta = {**self._place, "content_index": 0, "delta": text}
        if self._kind == "reasoning":
            yield "response.reasoning_text.delta", delta
        else:
            scores, self._scores = self._scores, []
            content["logprobs"] += scores
            yield "response.output_text.delta", {**delta, "logprobs": scores}
            yield from self._cite(content, len(content["text"]) - len(text))
        if self._has_summary:
            self.output[-1]["summary"][0]["text"] += text
            yield "response.reasoning_summary_text.delta", {**self._place, "summary_index": 0, "delta": text}

    def _cite(self, content: dict[str, Any], start: int) -> Iterator[ResponseEvent]:
        if self._search is None:
            return
        for annotation in self._search.citations(content["text"], start):
            content["annotations"].append(annotation)
            at = {"content_index": 0, "annotation_index": len(content["annotations"]) - 1, "annotation": annotation}
            yield "response.output_text.annotation.added", {**self._place, **at}

    def _close(self, status: str) -> Iterator[ResponseEvent]:
        if not self._kind:
            return
        if self._kind == "custom":
            yield from self._add_input(self._input.end())
        item = self.output[-1]
        if self._kind == "mcp":
            self._kind = ""
            yield "response.mcp_call_arguments.done", {**self._place, "arguments": item["arguments"]}
            if status == "completed":
                self.waiting.append(len(self.output) - 1)
            else:
                item["status"] = status
                yield "response.output_item.done", {"output_index": len(self.output) - 1, "item": item}
            return
        if self._kind != "approval":
            item["status"] = status
        if self._kind == "call":
            done = {"name": item["name"], "arguments": item["arguments"]}
            yield "response.function_call_arguments.done", {**self._place, **done}
        elif self._kind == "custom":
            yield "response.custom_tool_call_input.done", {**self._place, "input": item["input"]}
        elif self._kind != "approval":
            yield from self._close_text(item)
        self._kind, self._scores = "", []
        yield "response.output_item.done", {"output_index": len(self.output) - 1, "item": item}

    def _close_text(self, item: dict[str, Any]) -> Iterator[ResponseEvent]:
        content = item["content"][0]
        at = {**self._place, "content_index": 0}
        if self._kind == "reasoning":
            yield "response.reasoning_text.done", {**at, "text": content["text"]}
        else:
            content["logprobs"] += self._scores
            yield "response.output_text.done", {**at, "text": content["text"], "logprobs": content["logprobs"]}
        yield "response.content_part.done", {**at, "part": content}
        if self._has_summary:
            summary = {**self._place, "summary_index": 0}
            yield "response.reasoning_summary_text.done", {**summary, "text": content["text"]}
            yield "response.reasoning_summary_part.done", {**summary, "part": item["summary"][0]}
