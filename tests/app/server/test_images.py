"""Images in requests: where they may come from, how long that may take, and what each family is told.

A small server on this machine plays the Internet: `internet` makes names lead to it, and its address count as public.
"""

from __future__ import annotations

import asyncio
import base64
import io
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from typing import Any

import httpx
import pytest
from PIL import Image

from app.server import fetching
from app.server.fetching import Fetcher, is_public
from app.server.images import MAX_IMAGE, MAX_IMAGES, ImagePart, Images
from app.server.settings import ServerSettings
from engine.errors import BadRequest
from tests.app.server.live import Live, scripted

_file = io.BytesIO()
Image.new("RGB", (1, 1)).save(_file, "PNG")
DOT = _file.getvalue()
DATA = "data:image/png;base64," + base64.b64encode(DOT).decode()
LOOPBACK = ip_address("127.0.0.1")
PUBLIC = ip_address("93.184.216.34")

Answer = Callable[[BaseHTTPRequestHandler], None]


def reply(status: int = 200, body: bytes = DOT, **headers: str) -> Answer:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in {"Content-Type": "image/png", **headers}.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def trickle(handler: BaseHTTPRequestHandler) -> None:
    reply(body=b"")(handler)
    for _ in range(100):
        handler.wfile.write(b"x")
        handler.wfile.flush()
        time.sleep(0.02)


class Web:
    """Answers each path as a test wrote; every head it was sent is kept."""

    def __init__(self) -> None:
        self.pages: dict[str, Answer] = {"/dot.png": reply()}
        self.asked: list[BaseHTTPRequestHandler] = []
        web = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                web.asked.append(self)
                try:
                    web.pages.get(self.path, reply(404))(self)
                except OSError:
                    return  # the client has seen enough

            def log_message(self, *_: Any) -> None:
                return

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_port
        self.url = f"http://pictures.example:{self.port}"


@pytest.fixture(scope="module")
def _web() -> Iterator[Web]:
    web = Web()
    threading.Thread(target=web.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    yield web
    web.server.shutdown()
    web.server.server_close()


@pytest.fixture
def web(_web: Web) -> Web:
    _web.pages = {"/dot.png": reply()}
    _web.asked.clear()
    return _web


@pytest.fixture
def internet(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[Any]]:
    """What names lead to. Loopback counts as public, as the only address that a test can reach."""
    names: dict[str, list[Any]] = {"pictures.example": [LOOPBACK]}
    monkeypatch.setattr(fetching, "lookup", lambda host, port: names.get(host) or [ip_address(host)])
    monkeypatch.setattr(fetching, "is_public", lambda address: address == LOOPBACK or is_public(address))
    return names


def fetch(url: str, web: Web | None = None, **limits: Any) -> bytes:
    async def run() -> bytes:
        return await Fetcher(more_ports=[web.port] if web else [], **limits).fetch(url)

    return asyncio.run(run())


@pytest.mark.parametrize(
    "address",
    """127.0.0.1 127.9.9.9 0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 172.16.0.1 172.31.255.255 192.168.0.1 169.254.169.254
    100.64.0.1 192.0.2.1 198.18.0.1 224.0.0.1 239.255.255.250 240.0.0.1 255.255.255.255 ::1 :: fe80::1 fe80::1%eth0
    fc00::1 fd00:ec2::254 fec0::1 ff02::1 2001:db8::1 2001::1 ::127.0.0.1 ::ffff:127.0.0.1 ::ffff:10.0.0.1
    ::ffff:169.254.169.254 2002:7f00:1:: 2002:a00:1:: 64:ff9b::7f00:1 64:ff9b::a9fe:a9fe 64:ff9b:1::1 100::1""".split(),
)
def test_addresses_that_are_not_everybodys(address: str) -> None:
    assert not is_public(ip_address(address))


@pytest.mark.parametrize(
    "address", "8.8.8.8 93.184.216.34 2606:4700::1 ::ffff:8.8.8.8 64:ff9b::808:808 2002:808:808::1".split()
)
def test_addresses_that_are(address: str) -> None:
    assert is_public(ip_address(address))


@pytest.mark.parametrize(
    "host",
    "127.0.0.1 localhost LOCALHOST localhost. 0.0.0.0 [::1] [::] 169.254.169.254 10.0.0.1 192.168.1.1 [::ffff:127.0.0.1] "
    "[::ffff:7f00:1] 2130706433 0177.0.0.1 0x7f000001 0x7f.1 127.1 １２７.0.0.1 127。0。0。1 [64:ff9b::127.0.0.1]".split(),
)
def test_no_spelling_of_a_private_address_is_fetched(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the system's own resolver, which knows all of these without asking anybody."""
    monkeypatch.setattr(asyncio, "open_connection", lambda *_, **__: pytest.fail("it connected"))
    with pytest.raises(BadRequest, match="not a public address|no valid host"):
        fetch(f"http://{host}/x.png")


def test_one_private_address_among_a_names_spoils_it(internet: dict[str, list[Any]]) -> None:
    internet["mixed.example"] = [PUBLIC, ip_address("10.0.0.1")]
    with pytest.raises(BadRequest, match="not a public address"):
        fetch("http://mixed.example/x.png")


def test_whether_a_private_name_exists_cannot_be_told(internet: dict[str, list[Any]]) -> None:
    internet["there.internal"] = [ip_address("10.0.0.1")]
    told = []
    for host in ("there.internal", "gone.internal"):
        with pytest.raises(BadRequest) as caught:
            fetch(f"http://{host}/x.png")
        told.append(str(caught.value).replace(host, "HOST"))
    assert told[0] == told[1]


def test_the_connection_goes_to_the_address_that_was_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that leads elsewhere when it is asked again is not asked again."""
    answers = iter([[PUBLIC], [LOOPBACK]])
    reached: list[str] = []

    async def connect(host: str, *_: Any, **__: Any) -> Any:
        reached.append(host)
        raise ConnectionRefusedError

    monkeypatch.setattr(fetching, "lookup", lambda host, port: next(answers))
    monkeypatch.setattr(asyncio, "open_connection", connect)
    with pytest.raises(BadRequest, match="did not answer"):
        fetch("http://rebinding.example/x.png")
    assert reached == [str(PUBLIC)]


def test_a_picture_is_fetched_without_a_trace_of_this_machine(
    web: Web, internet: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    web.pages["/a%20b?q=%C3%A9"] = reply()
    assert fetch(f"{web.url}/a%20b?q=é#there", web) == DOT
    head = web.asked[0].headers
    assert head["Host"] == f"pictures.example:{web.port}"
    assert {name.lower() for name in head} == {"host", "accept", "accept-encoding", "user-agent", "connection"}


def test_redirects_are_followed_and_counted(web: Web, internet: Any) -> None:
    for at in range(5):
        web.pages[f"/{at}"] = reply(302, b"", Location=f"/{at + 1}" if at < 4 else "/dot.png")
    assert fetch(f"{web.url}/2", web) == DOT
    with pytest.raises(BadRequest, match="more than 3 times"):
        fetch(f"{web.url}/1", web)


@pytest.mark.parametrize(
    ("location", "said"),
    [
        ("http://10.0.0.1/x.png", "not a public address"),
        ("http://[::1]/x.png", "not a public address"),
        ("//169.254.169.254/latest/meta-data", "not a public address"),
        ("http://private.example/x.png", "not a public address"),
        ("file:///etc/passwd", "Only http and https"),
        ("http://93.184.216.34:22/", "port 22"),
        ("http://me:secret@pictures.example/", "no password"),
    ],
)
def test_a_redirect_is_checked_like_the_first_url(web: Web, internet: Any, location: str, said: str) -> None:
    internet["private.example"] = [ip_address("192.168.1.1")]
    web.pages["/away"] = reply(307, b"", Location=location)
    with pytest.raises(BadRequest, match=said):
        fetch(f"{web.url}/away", web)
    assert len(web.asked) == 1


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (reply(404), "answered 404"),
        (reply(Content_Type="text/html"), "no image"),
        (reply(Content_Encoding="gzip"), "compressed"),
        (reply(Content_Length="1001"), "larger than 1000"),
        (reply(body=b"x" * 1001), "larger than 1000"),
        (reply(Content_Length="999", body=b"x"), "did not answer as it should"),
        (lambda handler: handler.wfile.write(b"SSH-2.0-x\r\n\r\n"), "did not answer as it should"),
        (
            lambda handler: handler.wfile.write(b"HTTP/1.1 200 OK\r\nx: " + b"y" * 100_000),
            "did not answer as it should",
        ),
        (lambda handler: None, "did not answer as it should"),
        (trickle, r"within 0\.3 seconds"),
        (lambda handler: time.sleep(0.6), r"within 0\.3 seconds"),
    ],
    ids="missing page compressed announced endless short no-http head nothing trickle silent".split(),
)
def test_a_bad_reply_is_a_bad_request(web: Web, internet: Any, answer: Answer, said: str) -> None:
    web.pages["/x"] = answer
    began = time.monotonic()
    with pytest.raises(BadRequest, match=said):
        fetch(f"{web.url}/x", web, max_bytes=1000, seconds=0.3)
    assert time.monotonic() - began < 2


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("http://pictures.example:8080/", "port 8080"),
        ("http://pictures.example:99999/", "not valid"),
        ("http://[::1/", "not valid"),
        ("http:///x", "no valid host"),
        ("http://a b/", "spaces"),
        ("http://pictures.example/\r\nHost: x", "spaces"),
        ("http://user@pictures.example/", "no password"),
        ("http://pictures.example\\@10.0.0.1/", "no password|no valid host"),
        ("http://" + "a" * 9000, "longer than"),
        ("http://" + "a" * 64 + ".example/", "not valid"),
        ("ftp://pictures.example/x.png", "Only http"),
    ],
)
def test_bad_urls_are_refused_before_anybody_is_asked(url: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetching, "lookup", lambda *_: pytest.fail("it asked"))
    with pytest.raises(BadRequest, match=said):
        fetch(url)


def test_a_slow_name_server_does_not_hold_up_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    released = threading.Event()
    monkeypatch.setattr(fetching, "lookup", lambda *_: released.wait(5))

    async def run() -> int:
        slow = asyncio.ensure_future(Fetcher(seconds=0.2).fetch("http://slow.example/"))
        turns = 0
        while not slow.done():
            await asyncio.sleep(0.01)
            turns += 1
        with pytest.raises(BadRequest, match="within"):
            slow.result()
        return turns

    try:
        assert asyncio.run(run()) > 3
    finally:
        released.set()


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
