"""Images in requests: their forms in each API, how they reach the model, and what is refused."""

from __future__ import annotations

import asyncio
import base64
import io
import threading
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from app.runtime import public_web
from app.server.config import ServerSettings
from app.server.images import MAX_IMAGE, MAX_IMAGES, ImagePart, Images
from engine.errors import BadRequest, ContextOverflow
from engine.hub import offline
from engine.types import Picture, Request
from tests.app.server.live import Live, scripted
from tests.app.server.scripted import scripted_model
from tests.app.server.web import DOT, Web, reply
from tests.engine.vision.pictures import drawn
from tests.vision_checkpoints import END, IMAGE, MOST, START

DATA = "data:image/png;base64," + base64.b64encode(DOT).decode()


@pytest.fixture(scope="module")
def sighted(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return scripted_model(tmp_path_factory.mktemp("sighted"), "qwen3_vl")


Look = Callable[..., list[Picture]]


@pytest.fixture
def look(sighted: Any) -> Look:
    def run(*parts: ImagePart, context: int = 4096, **settings: Any) -> list[Picture]:
        sighted.context = context
        return asyncio.run(Images(ServerSettings(**settings)).look(parts, sighted))

    return run


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
def test_bad_images_are_named_with_their_place(look: Look, text: str, said: str) -> None:
    with pytest.raises(Exception, match=said) as caught:
        look(ImagePart("good", DATA), ImagePart("there", text))
    assert (caught.value.status_code, caught.value.param) == (400, "there")  # type: ignore[attr-defined]


def test_too_many_images_are_refused(look: Look) -> None:
    assert len(look(*[ImagePart("x", DATA)] * MAX_IMAGES)) == MAX_IMAGES
    with pytest.raises(Exception, match="the most is 16"):
        look(*[ImagePart("x", DATA)] * (MAX_IMAGES + 1))


def test_images_that_fill_the_context_are_not_all_read(look: Look, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[ImagePart] = []
    whole = Images.read

    async def counted(self: Images, part: ImagePart) -> bytes:
        read.append(part)
        return await whole(self, part)

    monkeypatch.setattr(Images, "read", counted)
    tokens = look(ImagePart("x", DATA))[0].tokens
    with pytest.raises(ContextOverflow, match="fewer or smaller"):
        look(*[ImagePart("x", DATA)] * 9, context=2 * tokens)
    assert len(read) == 1 + 2


def test_the_switch_turns_fetching_off(look: Look, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(public_web, "lookup", lambda *_: pytest.fail("it asked"))
    with pytest.raises(Exception, match="fetches no images from URLs"):
        look(ImagePart("x", "https://pictures.example/x.png"), remote_images=False)
    assert look(ImagePart("x", DATA), remote_images=False)


def test_offline_forbids_pictures_from_urls(look: Look, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(Exception, match="was not found"):
        look(ImagePart("x", "https://pictures.invalid/x.png"))  # the hub's own variable is about the hub
    offline.forbid("this server was started with --offline")
    try:
        with pytest.raises(Exception, match="was not fetched, because this server was started with --offline"):
            look(ImagePart("x", "https://pictures.invalid/x.png"))
        assert look(ImagePart("x", DATA))
    finally:
        offline.permit()


def test_little_detail_is_a_smaller_image(look: Look, sighted: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sighted.vision, "max_pixels", 1 << 20)
    file = io.BytesIO()
    drawn(1024, 768).save(file, "PNG")
    url = "data:image/png;base64," + base64.b64encode(file.getvalue()).decode()
    whole, low = look(ImagePart("x", url), ImagePart("x", url, low=True), context=1 << 20)
    assert (whole.grid, low.grid) == ((1, 192, 256), (1, 96, 128))


def test_ports_must_be_ports() -> None:
    with pytest.raises(BadRequest, match="remote_image_port"):
        ServerSettings(remote_image_ports=(0,))


@pytest.fixture(scope="module")
def seeing(tmp_path_factory: pytest.TempPathFactory, _web: Web) -> Iterator[Live]:
    with scripted(tmp_path_factory.mktemp("images"), "qwen3_vl", remote_image_ports=(_web.port,)) as live:
        yield live


@pytest.fixture(scope="module")
def blind(tmp_path_factory: pytest.TempPathFactory, _web: Web) -> Iterator[Live]:
    with scripted(tmp_path_factory.mktemp("blind"), remote_image_ports=(_web.port,)) as live:
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


def replied(live: Live, path: str, body: Any, status: int = 400) -> str:
    answered = httpx.post(live.url + path, json=body)
    assert answered.status_code == status, answered.text
    return answered.text


def seen(live: Live, path: str, body: Any) -> Request | None:
    """What the engine was asked, if anything: counting tokens asks it nothing."""
    live.engine.requests.clear()
    replied(live, path, body, 200)
    return live.engine.requests[0] if live.engine.requests else None


@pytest.mark.parametrize("family", FAMILIES)
def test_the_model_sees_what_every_family_sends(seeing: Live, web: Web, internet: Any, family: str) -> None:
    path, body = FAMILIES[family]
    for good in (DATA, f"{web.url}/dot.png"):
        request = seen(seeing, path, body(good))
        if family == "count":
            assert request is None
            continue
        assert request is not None
        assert [picture.grid for picture in request.pictures] == [(1, 4, 4)]
        assert [request.prompt_ids[at] for at in request.positions] == [IMAGE] * 4
        assert request.rope.shape == (3, len(request.prompt_ids))
    assert len(web.asked) == 1
    assert "not a public address" in replied(seeing, path, body("http://169.254.169.254/latest"))
    assert "not an image" in replied(seeing, path, body("data:image/png;base64,AAAA"))
    if family != "image_url" and family != "image_data":
        assert "are not read" in replied(seeing, path, body("/etc/passwd"))


@pytest.mark.parametrize("family", FAMILIES)
def test_a_model_that_reads_text_only_fetches_nothing(blind: Live, web: Web, internet: Any, family: str) -> None:
    path, body = FAMILIES[family]
    for url in (DATA, f"{web.url}/dot.png"):
        assert "reads text only" in replied(blind, path, body(url))
    assert not web.asked


@pytest.mark.parametrize("family", FAMILIES)
def test_an_unknown_model_fetches_nothing(seeing: Live, web: Web, internet: Any, family: str) -> None:
    path, body = FAMILIES[family]
    answered = httpx.post(seeing.url + path, json=body(f"{web.url}/dot.png") | {"model": "nobody"})
    assert answered.status_code == 404
    assert not web.asked


@pytest.mark.parametrize("family", BARE)
def test_base64_alone_is_read_where_the_family_sends_it(seeing: Live, blind: Live, family: str) -> None:
    path, body = BARE[family]
    data = DATA.partition(",")[2]
    request = seen(seeing, path, body(data))
    assert request is not None
    assert len(request.pictures) == 1
    assert "not valid base64" in replied(seeing, path, body("/etc/passwd"))
    assert "not an image" in replied(seeing, path, body("AAAA"))
    assert "reads text only" in replied(blind, path, body(data))


def test_words_and_images_keep_their_order(seeing: Live) -> None:
    image = {"type": "image_url", "image_url": {"url": DATA}}
    content = [{"type": "text", "text": "a"}, image, {"type": "text", "text": "b"}, image]
    request = seen(
        seeing, "/v1/chat/completions", {"model": "tiny", "messages": [{"role": "user", "content": content}]}
    )
    assert request is not None
    tokenizer = seeing.service.loaded["tiny"].tokenizer
    written = tokenizer.decode(request.prompt_ids, skip_special=False)
    one = "<|vision_start|>" + "<|image_pad|>" * 4 + "<|vision_end|>"
    assert f"a{one}b{one}<|im_end|>" in written


def test_a_stored_response_keeps_its_images(seeing: Live) -> None:
    path, body = FAMILIES["responses"]
    first = httpx.post(seeing.url + path, json=body(DATA)).json()
    request = seen(seeing, path, {"input": "And now?", "previous_response_id": first["id"]})
    assert request is not None
    assert len(request.pictures) == 1


class TestGenerate:
    """SGLang's route has lists, tokens, and texts that hold their own places."""

    PLACE = "<|vision_start|><|image_pad|><|vision_end|>"

    def test_a_text_with_places_is_taken_as_it_is(self, seeing: Live) -> None:
        request = seen(seeing, "/generate", {"text": f"x{self.PLACE}y", "image_data": DATA})
        assert request is not None
        assert len(request.prompt_ids) == 2 + 2 + 4

    def test_tokens_with_places(self, seeing: Live) -> None:
        request = seen(seeing, "/generate", {"input_ids": [5, START, IMAGE, END, 6], "image_data": [DATA]})
        assert request is not None
        assert list(request.prompt_ids) == [5, START, *[IMAGE] * 4, END, 6]

    def test_each_prompt_has_its_own_images(self, seeing: Live) -> None:
        seen(seeing, "/generate", {"text": ["x", "y", "z"], "image_data": [DATA, None, [DATA, DATA]]})
        assert sorted(len(request.pictures) for request in seeing.engine.requests) == [0, 1, 2]

    @pytest.mark.parametrize(
        ("body", "said"),
        [
            ({"text": ["x", "y"], "image_data": [DATA]}, "one entry for each of 2"),
            ({"text": "x", "image_data": DATA, "image_url": DATA}, "not both"),
            ({"text": "x", "image_data": [7]}, "must be texts"),
            ({"text": f"{PLACE}{PLACE}", "image_data": [DATA]}, "2 places"),
        ],
    )
    def test_what_does_not_fit_is_named(self, seeing: Live, body: Any, said: str) -> None:
        assert said in replied(seeing, "/generate", body)


def test_a_client_that_leaves_ends_the_fetch(seeing: Live, web: Web, internet: Any) -> None:
    left = threading.Event()

    def endless(handler: Any) -> None:
        """Headers, and then nothing until the other side hangs up."""
        reply(body=b"")(handler)
        handler.connection.settimeout(10)
        try:
            gone = handler.connection.recv(1) == b""
        except ConnectionError:
            gone = True
        if gone:
            left.set()

    web.pages["/endless.png"] = endless
    path, body = FAMILIES["chat"]
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(seeing.url + path, json=body(f"{web.url}/endless.png"), timeout=0.5)
    assert left.wait(5), "the server went on fetching for nobody"


def test_a_detail_that_is_none_of_openais_words_has_no_effect(seeing: Live) -> None:
    part = {"type": "input_image", "image_url": DATA, "detail": "tiny"}
    body = {"input": [{"role": "user", "content": [part]}]}
    reply = httpx.post(f"{seeing.url}/v1/responses", json=body)
    assert reply.status_code == 200
    assert reply.headers["x-grus-ignored"] == "input.content.detail"


def test_ollama_tells_that_a_model_sees(seeing: Live, blind: Live) -> None:
    shown = [httpx.post(live.url + "/api/show", json={"model": "tiny"}).json() for live in (seeing, blind)]
    assert ["vision" in one["capabilities"] for one in shown] == [True, False]
    assert shown[0]["model_info"]["qwen3_vl.vision.max_pixels"] == MOST


@pytest.mark.parametrize("source", [{}, {"type": "file", "file_id": "x"}, {"type": "url", "url": 1}])
def test_an_image_source_that_is_none_is_refused(seeing: Live, source: Any) -> None:
    assert "source must be" in replied(seeing, "/v1/messages", _user({"type": "image", "source": source}))
