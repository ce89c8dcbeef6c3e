"""Images in requests: in which forms they may come, and what each family is told."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from app.server import fetching
from app.server.images import MAX_IMAGE, MAX_IMAGES, ImagePart, Images
from app.server.settings import ServerSettings
from engine.errors import BadRequest
from tests.app.server.live import Live, scripted
from tests.app.server.web import DOT, Web

DATA = "data:image/png;base64," + base64.b64encode(DOT).decode()


def check(*parts: ImagePart, **settings: Any) -> None:
    async def run() -> None:
        await Images(ServerSettings(**settings)).check(parts)

    asyncio.run(run())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "must be a data URL"),
        ("/etc/passwd", "are not read"),
        ("file:///etc/passwd", "are not read"),
        ("FILE:/etc/passwd", "are not read"),
        ("ftp://pictures.example/x.png", "are not read"),
        ("C:\\x.png", "are not read"),
        ("data:image/png,x", "must begin like"),
        ("data:;base64,AAAA", "must begin like"),
        ("data:text/html;base64,AAAA", "must begin like"),
        ("data:image/svg+xml;base64,AAAA", r"image/svg\+xml"),
        ("data:image/png;base64,AAA", "not valid base64"),
        ("data:image/png;base64,AA AA", "not valid base64"),
        ("data:image/png;base64,AA-_", "not valid base64"),
        ("data:image/png;base64,é", "not valid base64"),
        ("data:image/png;base64,", "is empty"),
        ("data:image/png;base64,AAAA", "not an image"),
        ("data:image/png;base64," + "A" * (MAX_IMAGE // 3 * 4 + 8), "larger than"),
    ],
)
def test_bad_images_are_named_with_their_place(text: str, said: str) -> None:
    with pytest.raises(Exception, match=said) as caught:
        check(ImagePart("good", DATA), ImagePart("there", text))
    assert (caught.value.status_code, caught.value.param) == (400, "there")  # type: ignore[attr-defined]


def test_too_many_images_are_refused() -> None:
    check(*[ImagePart("x", DATA)] * MAX_IMAGES)
    with pytest.raises(Exception, match="the most is 16"):
        check(*[ImagePart("x", DATA)] * (MAX_IMAGES + 1))


def test_the_switch_turns_fetching_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetching, "lookup", lambda *_: pytest.fail("it asked"))
    with pytest.raises(Exception, match="fetches no images from URLs"):
        check(ImagePart("x", "https://pictures.example/x.png"), remote_images=False)
    check(ImagePart("x", DATA), remote_images=False)


def test_ports_must_be_ports() -> None:
    with pytest.raises(BadRequest, match="remote_image_port"):
        ServerSettings(remote_image_ports=(0,))


@pytest.fixture(scope="module")
def seeing(tmp_path_factory: pytest.TempPathFactory, _web: Web) -> Iterator[Live]:
    with scripted(tmp_path_factory.mktemp("images"), remote_image_ports=(_web.port,)) as live:
        yield live


def _user(part: Any) -> dict[str, Any]:
    return {"model": "tiny", "max_tokens": 9, "messages": [{"role": "user", "content": [part]}]}


def _anthropic(url: str) -> dict[str, Any]:
    head, comma, data = url.partition(";base64,")
    source = {"type": "base64", "media_type": head[5:], "data": data} if comma else {"type": "url", "url": url}
    return {"type": "image", "source": source}


def _result(url: str) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": "x", "content": [_anthropic(url)]}


FAMILIES: dict[str, tuple[str, Callable[[str], Any]]] = {
    "chat": ("/v1/chat/completions", lambda url: _user({"type": "image_url", "image_url": {"url": url}})),
    "responses": (
        "/v1/responses",
        lambda url: {"input": [{"role": "user", "content": [{"type": "input_image", "image_url": url}]}]},
    ),
    "messages": ("/v1/messages", lambda url: _user(_anthropic(url))),
    "tool result": ("/v1/messages", lambda url: _user(_result(url))),
    "count": (
        "/v1/messages/count_tokens",
        lambda url: {k: v for k, v in _user(_anthropic(url)).items() if k != "max_tokens"},
    ),
    "image_url": ("/generate", lambda url: {"text": "x", "image_url": url}),
    "image_data": ("/generate", lambda url: {"text": ["x"], "image_data": [[url]]}),
}
BARE: dict[str, tuple[str, Callable[[str], Any]]] = {
    "chat": ("/api/chat", lambda data: {"model": "tiny", "messages": [{"role": "user", "images": [data]}]}),
    "generate": ("/api/generate", lambda data: {"model": "tiny", "prompt": "x", "images": [data]}),
    "sglang": ("/generate", lambda data: {"text": "x", "image_data": data}),
}


def told(live: Live, path: str, body: Any) -> str:
    answered = httpx.post(live.url + path, json=body)
    assert answered.status_code == 400, answered.text
    return answered.text


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_looks_at_images_first(seeing: Live, web: Web, internet: Any, family: str) -> None:
    path, body = FAMILIES[family]
    for good in (DATA, f"{web.url}/dot.png"):
        assert "text only" in told(seeing, path, body(good))
    assert len(web.asked) == 1
    assert "not a public address" in told(seeing, path, body("http://169.254.169.254/latest"))
    assert "not an image" in told(seeing, path, body("data:image/png;base64,AAAA"))
    if family != "image_url" and family != "image_data":
        assert "are not read" in told(seeing, path, body("/etc/passwd"))


@pytest.mark.parametrize("family", BARE)
def test_base64_alone_is_read_where_the_family_sends_it(seeing: Live, family: str) -> None:
    path, body = BARE[family]
    assert "do not see images" in told(seeing, path, body(DATA.partition(",")[2]))
    assert "not valid base64" in told(seeing, path, body("/etc/passwd"))
    assert "not an image" in told(seeing, path, body("AAAA"))


@pytest.mark.parametrize("source", [{}, {"type": "file", "file_id": "x"}, {"type": "url", "url": 1}])
def test_an_image_source_that_is_none_is_refused(seeing: Live, source: Any) -> None:
    assert "source must be" in told(seeing, "/v1/messages", _user({"type": "image", "source": source}))
