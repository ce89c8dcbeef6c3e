"""A reply's parts as output items, and the events that tell of them: reasoning, messages, calls, one open at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from app.runtime.replies import ReplyEvent
from app.server.openai_shapes import content_logprobs
from engine.text.tokenizer import Tokenizer
from engine.types import new_id

Told = tuple[str, dict[str, Any]]  # an event's type, and what it says


class Items:
    """`output` grows as parts are added."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._kind = ""  # of the open item
        self._scores: list[dict[str, Any]] = []
        self.output: list[dict[str, Any]] = []
        self.reason = "stop"

    def add(self, part: ReplyEvent) -> Iterator[Told]:
        if part.kind == "tokens":
            self._scores += content_logprobs(self._tokenizer, part.logprobs)
        elif part.kind == "end":
            self.reason = part.reason
            if not self.output:  # a reply of nothing is an empty message
                yield from self._open("answer", part)
            yield from self._close("completed" if part.reason != "length" else "incomplete")
        elif part.kind == "arguments":
            self.output[-1]["arguments"] += part.text
            yield "response.function_call_arguments.delta", {**self._place, "delta": part.text}
        else:
            if part.kind == "call" or part.kind != self._kind:
                yield from self._close("completed")
                yield from self._open(part.kind, part)
            if part.kind != "call":
                yield from self._say(part.text)

    @property
    def _place(self) -> dict[str, Any]:
        return {"item_id": self.output[-1]["id"], "output_index": len(self.output) - 1}

    def _open(self, kind: str, part: ReplyEvent) -> Iterator[Told]:
        self._kind = kind
        item: dict[str, Any]
        if kind == "call":
            item = {"type": "function_call", "id": new_id("fc"), "call_id": part.call_id, "name": part.name}
            item |= {"arguments": ""}
        elif kind == "reasoning":
            item = {"type": "reasoning", "id": new_id("rs"), "summary": [], "content": []}
        else:
            item = {"type": "message", "id": new_id("msg"), "role": "assistant", "content": []}
        self.output.append({**item, "status": "in_progress"})
        yield "response.output_item.added", {"output_index": len(self.output) - 1, "item": dict(self.output[-1])}
        if kind != "call":
            self.output[-1]["content"] = [self._empty()]
            yield "response.content_part.added", {**self._place, "content_index": 0, "part": self._empty()}

    def _empty(self) -> dict[str, Any]:
        if self._kind == "reasoning":
            return {"type": "reasoning_text", "text": ""}
        return {"type": "output_text", "text": "", "annotations": [], "logprobs": []}

    def _say(self, text: str) -> Iterator[Told]:
        content = self.output[-1]["content"][0]
        content["text"] += text
        said = {**self._place, "content_index": 0, "delta": text}
        if self._kind == "reasoning":
            yield "response.reasoning_text.delta", said
        else:
            scores, self._scores = self._scores, []
            content["logprobs"] += scores
            yield "response.output_text.delta", {**said, "logprobs": scores}

    def _close(self, status: str) -> Iterator[Told]:
        if not self._kind:
            return
        item = self.output[-1]
        item["status"] = status
        if self._kind == "call":
            done = {"name": item["name"], "arguments": item["arguments"]}
            yield "response.function_call_arguments.done", {**self._place, **done}
        else:
            content = item["content"][0]
            at = {**self._place, "content_index": 0}
            if self._kind == "reasoning":
                yield "response.reasoning_text.done", {**at, "text": content["text"]}
            else:
                content["logprobs"] += self._scores
                done = {**at, "text": content["text"], "logprobs": content["logprobs"]}
                yield "response.output_text.done", done
            yield "response.content_part.done", {**at, "part": content}
        self._kind, self._scores = "", []
        yield "response.output_item.done", {"output_index": len(self.output) - 1, "item": item}
