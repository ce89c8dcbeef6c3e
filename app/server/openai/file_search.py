"""The tool `file_search` of `/v1/responses`: the last message of the user is searched for before the model answers, which then cites.

The model calls nothing, so that models without tool calls can use it as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from app.runtime.library.answers import CITE, CITED, fewer, question_with
from app.server.context import Server
from app.server.openai.responses_items import ResponseInputText, ResponseItem, ResponseMessage, new_item_id
from app.server.openai.responses_protocol import ResponseFileSearchTool
from app.server.openai.vector_index import FoundInFile
from app.server.openai.vector_stores import find, usable_store

RESULTS = "file_search_call.results"
SearchEvent = tuple[str, dict[str, Any]]


class FileSearch:
    """One search of one response. `found` is what the model reads, by its numbers."""

    def __init__(self, tool: ResponseFileSearchTool, question: str) -> None:
        self._tool, self._question = tool, question
        self.id = new_item_id("fs")
        self.results: list[FoundInFile] = []
        self.shown: list[FoundInFile] = []

    async def run(self, server: Server) -> None:
        tool = self._tool
        for id in tool.vector_store_ids:
            await usable_store(server, id)
        self.results = await find(
            server, tool.vector_store_ids, [self._question], tool.max_num_results, tool.filters, tool.ranking_options
        )
        self.shown = self.results

    def shorten(self) -> bool:
        """Show the model less, where its context is too short. False: nothing is left to leave out."""
        passages = fewer([one.passage for one in self.shown])
        self.shown = [_with(one, passage) for one, passage in zip(self.shown, passages)]
        return bool(self.shown)

    def asked(self, items: Sequence[ResponseItem]) -> list[ResponseItem]:
        """The items with the passages in the last message of the user. Behind it there may be calls that were made for it."""
        at = max(at for at, item in enumerate(items) if isinstance(item, ResponseMessage) and item.role == "user")
        message = items[at]
        assert isinstance(message, ResponseMessage)
        if not self.shown:
            return list(items)
        passages = [one.passage for one in self.shown]
        if isinstance(message.content, str):
            content: Any = f"{CITE}\n\n{question_with(passages, message.content)}"
        else:
            content = [
                ResponseInputText(type="input_text", text=f"{CITE}\n\n{question_with(passages, '')}"),
                *message.content,
            ]
        return [*items[:at], message.model_copy(update={"content": content}), *items[at + 1 :]]

    # -- the item and its events

    def item(self, with_results: bool, status: str = "completed") -> dict[str, Any]:
        results = [_result(one) for one in self.results] if with_results and status == "completed" else None
        return {
            "type": "file_search_call",
            "id": self.id,
            "status": status,
            "queries": [self._question],
            "results": results,
        }

    def events(self, place: int, with_results: bool) -> Iterator[SearchEvent]:
        yield "response.output_item.added", {"output_index": place, "item": self.item(False, "in_progress")}
        for state in ("in_progress", "searching", "completed"):
            yield f"response.file_search_call.{state}", {"output_index": place, "item_id": self.id}
        yield "response.output_item.done", {"output_index": place, "item": self.item(with_results)}

    def citations(self, text: str, start: int) -> list[dict[str, Any]]:
        """An annotation for each `[n]` that ends behind `start` characters. It stands behind the brackets."""
        return [
            {
                "type": "file_citation",
                "file_id": self.shown[number - 1].member.file,
                "filename": self.shown[number - 1].filename,
                "index": match.end(),
            }
            for match in CITED.finditer(text)
            if match.end() > start and 1 <= (number := int(match[1])) <= len(self.shown)
        ]


def file_search(tools: Sequence[Any], items: Sequence[ResponseItem], choice: Any) -> FileSearch | None:
    """The search of a response whose last item is a message of the user, where a tool for it was given and not forbidden."""
    tool = next((tool for tool in tools if isinstance(tool, ResponseFileSearchTool)), None)
    last = items[-1]
    if tool is None or choice == "none" or not isinstance(last, ResponseMessage) or last.role != "user":
        return None
    content = last.content
    texts = [content] if isinstance(content, str) else [getattr(part, "text", "") for part in content]
    question = "\n".join(filter(str.strip, texts))
    return FileSearch(tool, question) if question else None


def _with(one: FoundInFile, passage: Any) -> FoundInFile:
    return FoundInFile(passage, one.member, one.filename, one.score)


def _result(one: FoundInFile) -> dict[str, Any]:
    return {
        "file_id": one.member.file,
        "filename": one.filename,
        "score": one.score,
        "attributes": one.member.attributes,
        "text": one.passage.text,
    }
