"""The built-in tools that ask the web: what they send, what they read, and what they refuse. A local server stands for the web."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError, Future
from typing import Any

import pytest

from app.runtime import public_web
from app.runtime.public_web import is_public
from app.runtime.tools import web as web_tools
from app.runtime.tools.settings import ToolSettings
from app.runtime.tools.toolbox import Toolbox
from app.runtime.tools.web import (
    ReadWebPageTool,
    WebSearchTool,
    check_search_address,
    forget_search,
    keep_search,
    search_keys,
)
from engine.errors import BadRequest
from engine.hub import offline
from tests.app.server.web import LOOPBACK, Web, reply
from tests.engine.media.test_documents import text_pdf

FOUND = {
    "results": [
        {"title": "Cranes", "url": "https://example.org/cranes", "content": "They  dance.\nIn spring."},
        {"title": "Storks", "url": "https://example.org/storks", "content": None},
        {"title": "Herons", "url": "https://example.org/herons"},
    ]
}


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> Iterator[Web]:
    monkeypatch.setattr(public_web, "lookup", lambda host, port: [LOOPBACK])
    monkeypatch.setattr(public_web, "is_public", lambda address: address == LOOPBACK or is_public(address))
    monkeypatch.setattr("app.runtime.tools.settings.tools_file", lambda: tmp_path / "tools" / "tools.json")
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    monkeypatch.setattr(offline, "forbidden", lambda: None)
    made = Web()
    threading.Thread(target=made.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    yield made
    made.server.shutdown()
    made.server.server_close()


def read(web: Web, path: str, **more: Any) -> str:
    tool = ReadWebPageTool([web.port])
    return tool.run({"url": f"http://pages.example:{web.port}{path}", **more}, Future()).text


def answered(found: Any) -> Any:
    return reply(body=json.dumps(found).encode(), Content_Type="application/json")


def test_a_search_gives_titles_addresses_and_texts(web: Web) -> None:
    web.pages = {"/search?q=crane+%26+stork&format=json": answered(FOUND)}
    tool = WebSearchTool(f"http://127.0.0.1:{web.port}")
    text = tool.run({"query": " crane & stork ", "results": 2}, Future()).text
    assert text == (
        "[1] Cranes\nhttps://example.org/cranes\nThey dance. In spring.\n\n[2] Storks\nhttps://example.org/storks"
    )
    (asked,) = web.asked
    assert asked.headers["Authorization"] is None
    assert asked.headers["Cookie"] is None
    assert (tool.leaves_machine, tool.trusted, tool.read_only) == (True, False, True)


def test_a_key_goes_to_its_own_address_alone(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = f"http://127.0.0.1:{web.port}/a", f"http://127.0.0.1:{web.port}/b"
    search_keys.keep(one, "secret")
    web.pages = {f"/{at}/search?q=x&format=json": answered({"results": []}) for at in "ab"}
    for address in (one, other):
        assert WebSearchTool(address).run({"query": "x"}, Future()).text == "Nothing was found."
    assert [asked.headers["Authorization"] for asked in web.asked] == ["Bearer secret", None]
    monkeypatch.setattr(web_tools, "BRAVE", "127.0.0.1")
    web.pages = {
        "/a/res/v1/web/search?q=x&count=5": answered({"web": {"results": [FOUND["results"][0] | {"description": "D"}]}})
    }
    assert WebSearchTool(one).run({"query": "x"}, Future()).text.startswith("[1] Cranes")
    assert web.asked[-1].headers["X-Subscription-Token"] == "secret"


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (reply(403), "answered 403"),
        (reply(302, Location="http://127.0.0.1/"), "answered 302"),
        (reply(body=b"<html>"), "no list of results"),
        (answered([]), "no list of results"),
        (answered({"results": [{"title": "no address"}]}), "no list of results"),
        (reply(body=b"x" * (5 << 20)), "more than is taken"),
    ],
)
def test_a_search_that_answers_badly_is_an_error(web: Web, answer: Any, why: str) -> None:
    web.pages = {"/search?q=x&format=json": answer}
    with pytest.raises(ValueError, match=why):
        WebSearchTool(f"http://127.0.0.1:{web.port}").run({"query": "x"}, Future())


@pytest.mark.parametrize(
    "arguments", [{}, {"query": ""}, {"query": 5}, {"query": "x", "results": "many"}, {"query": "x" * 500}]
)
def test_what_is_no_query_is_not_sent(web: Web, arguments: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"arguments are|at most"):
        WebSearchTool(f"http://127.0.0.1:{web.port}").run(arguments, Future())
    assert web.asked == []


def test_a_page_is_read_as_markdown_in_parts(web: Web) -> None:
    page = b"<html><head><title>T</title><script>steal()</script></head><body><h1>Cranes</h1><p>They <b>dance</b>.</p></body></html>"
    web.pages = {
        "/page": reply(body=page, Content_Type="text/html; charset=utf-8"),
        "/moved": reply(302, Location="/page"),
        "/long": reply(body=b"word " * 20_000, Content_Type="text/plain"),
        "/paper": reply(body=text_pdf("The crane is red."), Content_Type="application/pdf"),
    }
    text = read(web, "/moved")
    assert text.startswith(f"http://pages.example:{web.port}/page\n")
    assert "# Cranes" in text
    assert "dance" in text
    assert "steal" not in text
    assert "more characters: start = 50000" in read(web, "/long")
    assert read(web, "/long", start=99_990).endswith("word word ")
    assert "The crane is red." in read(web, "/paper")


def test_no_page_of_this_machine_or_its_network_is_read(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(public_web, "is_public", is_public)
    with pytest.raises(BadRequest, match="not a public address"):
        read(web, "/page")
    for url in ("file:///etc/passwd", "http://user:pass@example.org", "ftp://example.org/a"):
        with pytest.raises(BadRequest):
            ReadWebPageTool().run({"url": url}, Future())
    assert web.asked == []


def test_a_page_that_is_no_text_too_large_or_endless_is_refused(web: Web) -> None:
    web.pages = {"/dot": reply(), "/big": reply(body=b"x" * (17 << 20), Content_Type="text/plain")}
    with pytest.raises(BadRequest, match="is no page"):
        read(web, "/dot")
    with pytest.raises(BadRequest, match="larger than"):
        read(web, "/big")


def test_a_stop_ends_the_wait_at_once(web: Web) -> None:
    def slow(handler: Any) -> None:
        reply(body=b"", Content_Type="text/plain")(handler)
        stop.set_result(None)
        for _ in range(100):
            handler.wfile.write(b"x")
            time.sleep(0.02)

    stop: Future[None] = Future()
    web.pages = {"/slow": slow}
    with pytest.raises(CancelledError):
        ReadWebPageTool([web.port]).run({"url": f"http://pages.example:{web.port}/slow"}, stop)


def test_nothing_is_sent_while_grus_works_offline(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offline, "forbidden", lambda: "Grus was told to work offline")
    for tool, arguments in (
        (WebSearchTool(f"http://127.0.0.1:{web.port}"), {"query": "x"}), (ReadWebPageTool([web.port]), {"url": "http://pages.example"})
    ):  # fmt: skip
        with pytest.raises(ValueError, match="grus was told to work offline"):
            tool.run(arguments, Future())
    assert web.asked == []


@pytest.mark.parametrize(
    "address", ["", "searx", "file:///a", "http://", "http://me@host", "http://host?q=1", "http://a b", "http://h:0"]
)
def test_an_address_of_a_search_is_checked(address: str) -> None:
    with pytest.raises(BadRequest, match="address of a search"):
        check_search_address(address)
    assert check_search_address(" https://searx.example/search ") == "https://searx.example"


def test_the_tools_are_off_until_added_and_a_removed_search_forgets_its_key(web: Web) -> None:
    settings = ToolSettings()
    with Toolbox(settings) as box:
        assert box.tools == []
    settings.keep_builtin("web_search", ["https://searx.example"])
    settings.keep_builtin("read_web_page")
    search_keys.keep("https://searx.example", "secret")
    with Toolbox(settings) as box:
        assert [tool.label for tool in box.tools] == ["grus/web_search", "grus/read_web_page"]
    assert "secret" not in settings.file.read_text()
    forget_search(settings)
    settings.remove("web_search")
    assert search_keys.get("https://searx.example")[0] is None
    assert list(settings.builtin()) == ["read_web_page"]
    for address in "https://one.example", "https://two.example/":
        keep_search(settings, address, "secret")
    assert settings.builtin()["web_search"] == ("https://two.example",)
    assert [search_keys.get(f"https://{name}.example")[0] for name in ("one", "two")] == [None, "secret"]
