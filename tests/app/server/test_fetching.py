"""Fetching from the public web and from nowhere else: addresses, redirects, sizes, times."""

from __future__ import annotations

import asyncio
import threading
import time
from ipaddress import ip_address
from typing import Any

import pytest

from app.runtime import public_web
from app.runtime.public_web import Fetcher, is_public
from engine.errors import BadRequest
from tests.app.server.web import DOT, LOOPBACK, Answer, Web, reply, trickle

PUBLIC = ip_address("93.184.216.34")


def fetch(url: str, web: Web | None = None, **limits: Any) -> bytes:
    async def run() -> bytes:
        return await Fetcher(more_ports=[web.port] if web else [], **limits).fetch(url)

    return asyncio.run(run())


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "127.9.9.9",
        "0.0.0.0",
        "0.1.2.3",
        "10.0.0.1",
        "10.255.255.255",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.0.1",
        "169.254.169.254",
        "100.64.0.1",
        "192.0.2.1",
        "198.18.0.1",
        "224.0.0.1",
        "239.255.255.250",
        "240.0.0.1",
        "255.255.255.255",
        "::1",
        "::",
        "fe80::1",
        "fe80::1%eth0",
        "fc00::1",
        "fd00:ec2::254",
        "fec0::1",
        "ff02::1",
        "2001:db8::1",
        "2001::1",
        "::127.0.0.1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "::ffff:169.254.169.254",
        "2002:7f00:1::",
        "2002:a00:1::",
        "64:ff9b::7f00:1",
        "64:ff9b::a9fe:a9fe",
        "64:ff9b:1::1",
        "100::1",
    ],
)
def test_addresses_that_are_not_everybodys(address: str) -> None:
    assert not is_public(ip_address(address))


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "93.184.216.34", "2606:4700::1", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1"]
)
def test_addresses_that_are(address: str) -> None:
    assert is_public(ip_address(address))


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "localhost",
        "LOCALHOST",
        "localhost.",
        "0.0.0.0",
        "[::1]",
        "[::]",
        "169.254.169.254",
        "10.0.0.1",
        "192.168.1.1",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "2130706433",
        "0177.0.0.1",
        "0x7f000001",
        "0x7f.1",
        "127.1",
        "１２７.0.0.1",
        "127。0。0。1",
        "[64:ff9b::127.0.0.1]",
    ],
)
def test_no_spelling_of_a_private_address_is_fetched(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the system's own resolver, which knows all of these without asking anybody."""
    monkeypatch.setattr(asyncio, "open_connection", lambda *_, **__: pytest.fail("it connected"))
    with pytest.raises(BadRequest, match=r"not a public address|no valid host"):
        fetch(f"http://{host}/x.png")


def test_one_private_address_among_a_names_spoils_it(internet: dict[str, list[Any]]) -> None:
    internet["mixed.example"] = [PUBLIC, ip_address("10.0.0.1")]
    with pytest.raises(BadRequest, match="not a public address"):
        fetch("http://mixed.example/x.png")


def test_whether_a_private_name_exists_cannot_be_told(internet: dict[str, list[Any]]) -> None:
    internet["there.internal"] = [ip_address("10.0.0.1")]
    messages = []
    for host in ("there.internal", "gone.internal"):
        with pytest.raises(BadRequest) as caught:
            fetch(f"http://{host}/x.png")
        messages.append(str(caught.value).replace(host, "HOST"))
    assert messages[0] == messages[1]


def test_the_connection_goes_to_the_address_that_was_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that leads elsewhere when it is asked again is not asked again."""
    answers = iter([[PUBLIC], [LOOPBACK]])
    reached: list[str] = []

    async def connect(host: str, *_: Any, **__: Any) -> Any:
        reached.append(host)
        raise ConnectionRefusedError

    monkeypatch.setattr(public_web, "lookup", lambda host, port: next(answers))
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
    ids=[
        "missing",
        "page",
        "compressed",
        "announced",
        "endless",
        "short",
        "no-http",
        "head",
        "nothing",
        "trickle",
        "silent",
    ],
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
    monkeypatch.setattr(public_web, "lookup", lambda *_: pytest.fail("it asked"))
    with pytest.raises(BadRequest, match=said):
        fetch(url)


def test_a_slow_name_server_does_not_hold_up_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    released = threading.Event()
    monkeypatch.setattr(public_web, "lookup", lambda *_: released.wait(5))

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
