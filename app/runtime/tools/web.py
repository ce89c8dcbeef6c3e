"""Built-in tools that ask the web: a search through an address of the person's own, and reading a page.

What they are asked leaves this machine, so each call shows it first. Pages come from public addresses alone: no page and no model
reaches what only this machine can, its own services and the network behind it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine, Mapping, Sequence
from concurrent.futures import Future
from typing import Any
from urllib.parse import urlsplit

from app.runtime.public_web import Fetcher
from app.runtime.remote.client import remote_loop
from app.runtime.remote.servers import checked_key, is_loopback
from app.runtime.tools import settings as settings_module
from app.runtime.tools.connection import waited
from app.runtime.tools.settings import ToolSettings
from app.runtime.tools.tool import BUILTIN, Tool, ToolResult, part_of
from engine.errors import BadRequest, ErrorText
from engine.hub import offline
from engine.secret_store import SecretStore

BRAVE = "api.search.brave.com"
_SECONDS = 30.0
_LARGEST_PAGE, _LARGEST_RESULTS = 16 << 20, 4 << 20  # bytes
_MOST_RESULTS, _LONGEST_QUERY, _LONGEST_PIECE = 20, 400, 600  # characters
_MEDIA = ("text/", "application/xhtml+xml", "application/xml", "application/pdf", "application/json")


search_keys = SecretStore(
    lambda: settings_module.tools_file().with_name("search-keys.json")
)  # each belongs to one address


def check_search_address(address: str) -> str:
    """Of a SearXNG instance, or of Brave's API. Raises BadRequest."""
    text = address.strip().rstrip("/").removesuffix("/search")
    try:
        parts = urlsplit(text)
        fits = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        fits = False
    if not fits or "@" in parts.netloc or parts.query or parts.fragment or any(sign.isspace() for sign in text):
        raise BadRequest(
            ErrorText("The address of a search is like https://searx.example.org or http://127.0.0.1:8080."), "address"
        )
    return text


def keep_search(settings: ToolSettings, address: str, key: str = "") -> str:
    """Turn the search on, in place of another one. An empty key: the one that is kept for this address, or none. Returns the address
    as it is kept. Raises BadRequest."""
    checked = check_search_address(address)
    given = checked_key(key) if key.strip() else ""
    forget_search(settings, but=checked)
    if given:
        search_keys.keep(checked, given)
    settings.keep_builtin(WebSearchTool.name, [checked])
    return checked


def forget_search(settings: ToolSettings, but: str = "") -> None:
    """The key of a search that is removed."""
    for address in settings.builtin().get(WebSearchTool.name, ()):
        if address != but:
            search_keys.forget(address)


def _check_online() -> None:
    if (why := offline.forbidden()) is not None:
        raise ValueError(f"the web was not asked, because {why[0].lower()}{why[1:]}")


def _on_loop(work: Coroutine[Any, Any, str], stop: Future[None]) -> ToolResult:
    return ToolResult(waited(asyncio.run_coroutine_threadsafe(work, remote_loop().loop), stop))


class WebSearchTool(Tool):
    name, label = "web_search", f"{BUILTIN}/web_search"
    description = (
        "Searches the web and gives titles, addresses and short texts of what was found. read_web_page, where it is there, reads one of them. "
        "The query leaves the person's machine: put nothing private into it."
    )
    parameters: Mapping[str, Any] = {
        "type": "object",
        "properties": {"query": {"type": "string"}, "results": {"type": "integer", "default": 5}},
        "required": ["query"],
        "additionalProperties": False,
    }
    leaves_machine = read_only = True

    def __init__(self, address: str) -> None:
        self._address = address

    def run(self, arguments: Mapping[str, Any], stop: Future[None]) -> ToolResult:
        query, count = arguments.get("query"), arguments.get("results", 5)
        if not isinstance(query, str) or not query.strip() or not isinstance(count, int):
            raise ValueError('the arguments are {"query": "...", "results": 5}')
        if len(query) > _LONGEST_QUERY:
            raise ValueError(f"a query has at most {_LONGEST_QUERY} characters")
        _check_online()
        key = search_keys.get(self._address)[0]
        return _on_loop(_searched(self._address, key, query.strip(), min(max(count, 1), _MOST_RESULTS)), stop)


async def _searched(address: str, key: str | None, query: str, count: int) -> str:
    import httpx

    brave = urlsplit(address).hostname == BRAVE
    url = f"{address}/res/v1/web/search" if brave else f"{address}/search"
    headers = {"User-Agent": "grus", "Accept": "application/json"}
    if key:
        headers |= {"X-Subscription-Token": key} if brave else {"Authorization": f"Bearer {key}"}
    asked = {"q": query, "count": str(count)} if brave else {"q": query, "format": "json"}
    body = bytearray()
    try:
        async with (
            httpx.AsyncClient(timeout=_SECONDS, trust_env=not is_loopback(address)) as client,
            client.stream("GET", url, params=asked, headers=headers) as response,
        ):
            if response.status_code != 200:
                hint = (
                    " SearXNG answers 403 where its settings do not list json among search.formats."
                    if not brave
                    else ""
                )
                raise ValueError(f"the search answered {response.status_code}.{hint}")
            async for piece in response.aiter_bytes():
                body += piece
                if len(body) > _LARGEST_RESULTS:
                    raise ValueError("the search answered more than is taken")
    except httpx.HTTPError as error:
        raise ValueError(f"the search cannot be reached: {str(error) or type(error).__name__}") from None
    try:
        answer = json.loads(body)
        found = answer["web"]["results"] if brave and "web" in answer else answer.get("results", [])
        shown = [_shown(at, one) for at, one in enumerate(found[:count], 1)]
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ValueError("the search answered something that is no list of results") from None
    return "\n\n".join(shown) or "Nothing was found."


def _shown(at: int, one: Mapping[str, Any]) -> str:
    text = " ".join(str(one.get("content") or one.get("description") or "").split())[:_LONGEST_PIECE]
    return f"[{at}] {str(one.get('title', ''))[:_LONGEST_PIECE]}\n{str(one['url'])[:2000]}\n{text}".strip()


class ReadWebPageTool(Tool):
    name, label = "read_web_page", f"{BUILTIN}/read_web_page"
    description = (
        "Reads a page of the web as Markdown: HTML, text or PDF, without running its scripts. start: the character to begin at, for a long page. "
        "The address leaves the person's machine: put nothing private into it."
    )
    parameters: Mapping[str, Any] = {
        "type": "object",
        "properties": {"url": {"type": "string"}, "start": {"type": "integer", "default": 0}},
        "required": ["url"],
        "additionalProperties": False,
    }
    leaves_machine = read_only = True

    def __init__(self, more_ports: Sequence[int] = ()) -> None:
        self._more_ports = more_ports

    def run(self, arguments: Mapping[str, Any], stop: Future[None]) -> ToolResult:
        url, start = arguments.get("url"), arguments.get("start", 0)
        if not isinstance(url, str) or not isinstance(start, int):
            raise ValueError('the arguments are {"url": "https://...", "start": 0}')
        _check_online()
        return _on_loop(self._read(url, start), stop)

    async def _read(self, url: str, start: int) -> str:
        fetcher = Fetcher(_LARGEST_PAGE, _SECONDS, 5, self._more_ports, "page", _MEDIA)
        file = await fetcher.get(url)
        text = await asyncio.to_thread(page_as_text, file.body, file.media_type)
        return f"{file.url}\n\n{part_of(text, start)}"


def page_as_text(data: bytes, media_type: str) -> str:
    """Markdown of HTML, the text of a PDF, or text as it is."""
    from engine.media.documents import pdf_page_texts
    from engine.pipelines.reading.formats.documents import open_text_document
    from engine.pipelines.reading.formats.plain import decoded
    from engine.pipelines.reading.writers import ExportOptions, page_text

    if data[:1024].lstrip().startswith(b"%PDF-"):
        return "\n\n".join(text for page in pdf_page_texts(data) if (text := page.strip()))
    if "html" in media_type and (document := open_text_document(data, ".html")) is not None:
        return page_text(document.pages, "md", ExportOptions())
    return decoded(data)
