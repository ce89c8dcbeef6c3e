"""A connection to one MCP server: started when it is first needed and again after it ended, its tools, and calls of them.

Everything runs on the event loop of connections (`app/runtime/remote/client.py`), so that any thread may ask and wait. What a
server asks for itself (a model's reply, a form for the person) is refused: nothing that a server sends can allow a call.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from app.runtime.remote.client import remote_loop
from app.runtime.tools.resources import (
    ServerFile,
    ServerPrompt,
    ServerResource,
    ServerText,
    checked_arguments,
    decoded,
    line,
    listed_prompts,
    listed_resources,
    prompt_text,
    read_contents,
)
from app.runtime.tools.settings import ToolServer
from app.runtime.tools.tool import Tool, ToolResult
from engine.at_exit import close_at_exit
from engine.errors import GrusError, ToolServerFailed

if TYPE_CHECKING:
    from mcp import Client

    from app.runtime.tools.sign_in import BrowserSignIn

START_SECONDS = 60.0  # npx and uvx fetch a program when it is first started
CALL_SECONDS = 120.0
SIGN_IN_SECONDS = 600.0  # a person looks for their password
_CLOSE_SECONDS = 5.0
_MOST_STARTS, _WITHIN = 4, 60.0  # a server that keeps ending is not started for ever
_MOST_TOOLS, _MOST_PAGES = 500, 50
_LONGEST_DESCRIPTION = 4000  # characters; the model reads all of them for every message
_RESOURCES_SECONDS = 10.0  # a server that does not say which resources it has has none
_READ_RESOURCE = "read_resource"
T = TypeVar("T")


@dataclass(frozen=True)
class ServerTool:
    """A tool as its server describes it."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    read_only: bool = False
    annotations: Mapping[str, Any] = field(default_factory=dict)
    reads_resource: bool = False  # no tool of the server's own


_RESOURCE_TOOL = ServerTool(
    _READ_RESOURCE,
    "Reads a resource of this server by its URI, as results of its tools link to it.",
    {"type": "object", "properties": {"uri": {"type": "string"}}, "required": ["uri"]},
    True,
    reads_resource=True,
)


class McpConnection:
    """Close it, or use it in a `with` block. Its futures may be awaited and cancelled from any thread: cancelling a call tells
    the server."""

    def __init__(
        self,
        server: ToolServer,
        logs: Path | None = None,
        *,
        start: float = START_SECONDS,
        seconds: float = CALL_SECONDS,
        browser: BrowserSignIn | None = None,
    ) -> None:
        """`browser`: the person signs in with the first use of the connection."""
        self.server, self._browser = server, browser
        self._log = logs / f"{server.name}.log" if logs is not None else None
        self._start, self._seconds = start, seconds
        self._starting: asyncio.Future[Client] | None = None
        self._task: asyncio.Task[None] | None = None
        self._stopping = asyncio.Event()
        self._starts: list[float] = []
        self._why: GrusError | None = None  # the server ended
        self._tools: list[ServerTool] | None = None
        self._closed = False
        close_at_exit(self)

    def __enter__(self) -> McpConnection:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def tools(self) -> Future[list[ServerTool]]:
        return self._run(self._listed())

    def call(self, tool: str, arguments: Mapping[str, Any]) -> Future[ToolResult]:
        """Fails with ToolServerFailed where the server ended, was not reached or took too long. A call is never made twice."""
        return self._run(self._called(tool, arguments))

    def read_for_model(self, uri: str) -> Future[ToolResult]:
        """A resource as the result of a call."""
        return self._run(self._resource_read(uri))

    def read(self, uri: str) -> Future[tuple[ServerFile, ...]]:
        """A resource for a person."""
        return self._run(self._read(uri))

    def resources(self) -> Future[list[ServerResource]]:
        return self._run(self._resources())

    def prompts(self) -> Future[list[ServerPrompt]]:
        return self._run(self._prompts())

    def prompt(self, prompt: ServerPrompt, arguments: Mapping[str, str]) -> Future[ServerText]:
        """Raises BadRequest where an argument is missing."""
        return self._run(self._prompt(prompt.name, checked_arguments(prompt.arguments, arguments)))

    def stop_soon(self) -> Future[None]:
        """Begin to end the server, so that several end at once."""
        self._closed = True
        return self._run(self._end())

    def close(self) -> None:
        """End the server. Idempotent."""
        with suppress(Exception):
            self.stop_soon().result(_CLOSE_SECONDS)

    def _run(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        return asyncio.run_coroutine_threadsafe(work, remote_loop().loop)

    # -- on the event loop

    async def _listed(self) -> list[ServerTool]:
        client = await self._client()
        if self._tools is None:
            self._tools = await self._guarded(self._list(client), self._start)
        return self._tools

    async def _list(self, client: Client) -> list[ServerTool]:
        async def resources() -> list[ServerResource]:
            with suppress(Exception):
                async with asyncio.timeout(_RESOURCES_SECONDS):
                    return await self._list_resources(client)
            return []

        tools, has = await asyncio.gather(_pages(client.list_tools, "tools"), resources())
        found = list(map(_server_tool, tools))
        if has and all(one.name != _READ_RESOURCE for one in found):
            found.append(_RESOURCE_TOOL)
        return found

    async def _list_resources(self, client: Client) -> list[ServerResource]:
        if client.server_capabilities.resources is None:
            return []
        listed = await _pages(client.list_resources, "resources")
        templates: list[Any] = []
        with suppress(Exception):  # many servers know no templates
            templates = await _pages(client.list_resource_templates, "resource_templates")
        return listed_resources(self.server.name, listed, templates)

    async def _resources(self) -> list[ServerResource]:
        client = await self._client()
        return await self._guarded(self._list_resources(client), self._start)

    async def _prompts(self) -> list[ServerPrompt]:
        client = await self._client()
        if client.server_capabilities.prompts is None:
            return []
        return listed_prompts(
            self.server.name, await self._guarded(_pages(client.list_prompts, "prompts"), self._start)
        )

    async def _prompt(self, name: str, arguments: dict[str, str]) -> ServerText:
        client = await self._client()
        return prompt_text((await self._guarded(client.get_prompt(name, arguments), self._seconds)).messages)

    async def _read(self, uri: str) -> tuple[ServerFile, ...]:
        client = await self._client()
        return read_contents((await self._guarded(client.read_resource(uri), self._seconds)).contents)

    async def _called(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        client = await self._client()
        return _result(await self._guarded(client.call_tool(tool, dict(arguments)), self._seconds))

    async def _resource_read(self, uri: str) -> ToolResult:
        """For the model."""
        client = await self._client()
        read = await self._guarded(client.read_resource(uri), self._seconds)
        return _made_result(map(_of_resource, read.contents))

    async def _guarded(self, work: Coroutine[Any, Any, T], seconds: float) -> T:
        """With every failure in our words."""
        name = self.server.name
        try:
            async with asyncio.timeout(seconds):
                return await work
        except TimeoutError:
            self._stopping.set()  # it may hang: the next call starts it anew
            raise ToolServerFailed(f"{name} did not answer within {seconds:g} seconds.") from None
        except GrusError:
            raise
        except Exception as error:
            await asyncio.sleep(0)  # the end of the process is seen by another task
            raise self._why or ToolServerFailed(f"{name}: {_reason(error)}") from None

    async def _client(self) -> Client:
        """The client of a server that runs; it is started where it does not."""
        if self._task is not None and self._stopping.is_set():  # it ended and is being cleared away
            await asyncio.wait({self._task})
        if self._closed:
            raise ToolServerFailed(f"The connection to {self.server.name} is closed.")
        if self._starting is None or self._task is None or self._task.done():
            now = time.monotonic()
            self._starts = [at for at in self._starts if now - at < _WITHIN] + [now]
            if len(self._starts) > _MOST_STARTS:
                raise ToolServerFailed(
                    f"{self.server.name} ended {_MOST_STARTS} times within a minute and is not started again."
                )
            self._stopping, self._why, self._tools = asyncio.Event(), None, None
            self._starting = asyncio.get_running_loop().create_future()
            self._task = asyncio.create_task(self._serve(self._starting))
        return await asyncio.shield(self._starting)

    async def _serve(self, starting: asyncio.Future[Client]) -> None:
        """The whole life of a connection, in one task, as the package wants it."""
        from mcp import Client

        stopping = self._stopping
        try:
            logging.getLogger("mcp").setLevel(logging.CRITICAL + 1)  # its messages hold what tools say
            client = Client(self._streams(stopping), cache=None, message_handler=self._noted, read_timeout_seconds=None)
            async with asyncio.timeout(self._start) as limit, client:
                limit.reschedule(None)
                starting.set_result(client)
                await stopping.wait()
        except TimeoutError:
            why = f"{self.server.name} did not start within {self._start:g} seconds."
            self._failed(starting, ToolServerFailed(why))
        except BaseException as error:
            self._failed(starting, self._why or _problem(error, self.server))
            if isinstance(error, asyncio.CancelledError):
                raise

    def _failed(self, starting: asyncio.Future[Client], why: GrusError) -> None:
        self._why = self._why or why
        if not starting.done():
            starting.set_exception(why)
            starting.exception()  # seen, also where nobody waits any more

    def _streams(self, stopping: asyncio.Event) -> AbstractAsyncContextManager[Any]:
        def ended(why: str) -> None:
            self._why = self._why or ToolServerFailed(why)
            stopping.set()

        if self.server.url:
            from app.runtime.tools.http import http_streams

            return http_streams(self.server, self._seconds + 30, self._browser)
        from app.runtime.tools.child import ServerLog, child_streams

        return child_streams(self.server, ServerLog(self._log), ended)

    async def _noted(self, message: Any) -> None:
        if type(message).__name__ == "ToolListChangedNotification":
            self._tools = None

    async def _end(self) -> None:
        self._stopping.set()
        if self._task is not None:
            await asyncio.wait({self._task}, timeout=_CLOSE_SECONDS - 1)
            self._task.cancel()


def _server_tool(tool: Any) -> ServerTool:
    hints = tool.annotations.model_dump(by_alias=True, exclude_none=True) if tool.annotations is not None else {}
    return ServerTool(
        tool.name,
        (tool.description or tool.title or "")[:_LONGEST_DESCRIPTION],
        tool.input_schema,
        bool(hints.get("readOnlyHint")),
        hints,
    )


async def _pages(ask: Callable[..., Coroutine[Any, Any, Any]], what: str) -> list[Any]:
    """A list that comes in pages, as much of it as is taken."""
    found: list[Any] = []
    cursor: str | None = None
    for _ in range(_MOST_PAGES):
        page = await ask(cursor=cursor)
        found += getattr(page, what)
        cursor = page.next_cursor
        if cursor is None or len(found) >= _MOST_TOOLS:
            break
    return found[:_MOST_TOOLS]


def _result(given: Any) -> ToolResult:
    """What a model can read of a result: texts, resources and pictures; of others what they are."""
    made = _made_result(map(_of_part, given.content), bool(given.is_error))
    if not given.content and given.structured_content is not None:
        return replace(made, text=json.dumps(given.structured_content, ensure_ascii=False))
    return made


def _made_result(parts: Iterable[str | bytes], failed: bool = False) -> ToolResult:
    made = list(parts)
    texts = [part for part in made if isinstance(part, str)]
    return ToolResult("\n".join(texts), failed, tuple(part for part in made if isinstance(part, bytes)))


def _of_part(part: Any) -> str | bytes:
    """Text, or a picture."""
    if part.type == "text":
        return str(part.text)
    if part.type == "image" and (picture := decoded(part.data)) is not None:
        return picture
    if part.type == "resource_link":
        return f"[{part.name}: {part.uri}]"
    if part.type == "resource":
        return _of_resource(part.resource)
    return f"[{part.type}, which is no text]"


def _of_resource(resource: Any) -> str | bytes:
    if (text := getattr(resource, "text", None)) is not None:
        return str(text)
    kind = resource.mime_type or "a file"
    if kind.startswith("image/") and (picture := decoded(getattr(resource, "blob", ""))) is not None:
        return picture
    return f"[{resource.uri}: {kind}, which is no text]"


def _reason(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    if type(error).__name__ == "ValidationError":
        return "what it answered is no valid MCP."
    # what a server says is shown in terminals, too
    return line(str(error), 500) or type(error).__name__


def _problem(error: BaseException, server: ToolServer) -> GrusError:
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    if isinstance(error, GrusError):
        return error
    what = "cannot be reached" if server.url else "cannot be started"
    if type(error).__name__.startswith("OAuth"):
        what = "cannot be signed in to"
    return ToolServerFailed(f"{server.name} {what}: {_reason(error)}")


class McpTool(Tool):
    """A tool of a server."""

    def __init__(self, connection: McpConnection, tool: ServerTool) -> None:
        server = connection.server
        self.name, self.label = model_name(server.name, tool.name), f"{server.name}/{tool.name}"
        self.description, self.parameters = tool.description, tool.parameters
        self.read_only, self.leaves_machine = tool.read_only, not server.on_this_machine
        self._connection, self._tool = connection, tool

    def begin(self, arguments: Mapping[str, Any]) -> Future[ToolResult]:
        """For those who wait without a thread."""
        if self._tool.reads_resource:
            return self._connection.read_for_model(str(arguments.get("uri", "")))
        return self._connection.call(self._tool.name, arguments)

    def run(self, arguments: Mapping[str, Any], stop: Future[None]) -> ToolResult:
        return waited(self.begin(arguments), stop)


def listed_resources_of(connections: Sequence[McpConnection]) -> tuple[list[ServerResource], list[str]]:
    """Of several servers, asked at once; and of those that could not be asked why not. Blocks."""
    return _listed_of([one.resources() for one in connections])


def listed_prompts_of(connections: Sequence[McpConnection]) -> tuple[list[ServerPrompt], list[str]]:
    """The same."""
    return _listed_of([one.prompts() for one in connections])


def _listed_of(asked: Sequence[Future[list[T]]]) -> tuple[list[T], list[str]]:
    found: list[T] = []
    problems: list[str] = []
    for one in asked:
        try:
            found += one.result()
        except GrusError as error:
            problems.append(str(error))
    return found, problems


def model_name(server: str, tool: str) -> str:
    """What the model calls a tool: letters, digits, dashes and underscores, at most 64 of them."""
    plain = "".join(sign if sign.isascii() and (sign.isalnum() or sign in "_-") else "_" for sign in tool)
    return f"{server}__{plain}"[:64]


def waited(work: Future[T], stop: Future[None]) -> T:
    """The result; when `stop` is resolved first, or the person presses Ctrl-C, the work is cancelled."""
    try:
        both: list[Future[Any]] = [work, stop]
        wait(both, return_when=FIRST_COMPLETED)
        if not work.done():
            raise CancelledError
        return work.result()
    finally:
        work.cancel()
