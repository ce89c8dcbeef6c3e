"""A hundred clients at once on a server in a new process: every protocol, clients that leave, prompts that are too long, bodies
that are wrong, and attempts to get in without a key or to have the server fetch from this machine.

Each request has the status that it must have; nothing ends in a fault, and nothing was fetched that must not be.
"""

from __future__ import annotations

import asyncio
import json
import random
import socket
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import httpx
import pytest

from tests.app.server.scripted import until
from tests.bench.long_prompts import PROTOCOLS, ServedProcess, save_model, served, words
from tests.vision_checkpoints import save as save_seeing

KEY = "a-key-of-the-test"
TOO_LONG = words(120_000)
HIDDEN = (
    "http://127.0.0.1:{port}/a.png", "http://localhost:{port}/a.png", "http://[::1]:{port}/a.png", "http://2130706433:{port}/",
    "http://0x7f.0.0.1:{port}/", "http://0177.0.0.1:{port}/", "http://127.1:{port}/", "http://0.0.0.0:{port}/",
    "http://[::ffff:127.0.0.1]:{port}/", "http://a:b@127.0.0.1:{port}/", "http://169.254.169.254/latest/meta-data",
    "http://10.0.0.1:{port}/", "http://localhost.:{port}/", "http://127.0.0.1:{port}\\@example.com/", "file:///etc/passwd",
    "/etc/passwd", "gopher://127.0.0.1:{port}/", "ftp://127.0.0.1:{port}/", "http:127.0.0.1:{port}/", "http://127。0。0。1:{port}/",
)  # fmt: skip


class Canary:
    """Listens on this machine, at an address that the server must not connect to."""

    def __init__(self) -> None:
        self.connections = 0
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]
        threading.Thread(target=self._count, daemon=True).start()

    def _count(self) -> None:
        while True:
            try:
                self._socket.accept()[0].close()
            except OSError:
                return
            self.connections += 1

    def close(self) -> None:
        self._socket.close()


@contextmanager
def canary() -> Iterator[Canary]:
    made = Canary()
    try:
        yield made
    finally:
        made.close()


@dataclass
class Load:
    """What many clients sent, and what was wrong with the answers."""

    server: ServedProcess
    canary: Canary
    statuses: Counter[tuple[str, int]] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    @property
    def requests(self) -> int:
        return self.statuses.total()

    async def run(self, clients: int, each: int) -> None:
        await asyncio.gather(*(self._client(number, each) for number in range(clients)))

    async def _client(self, number: int, each: int) -> None:
        dice = random.Random(number)
        kinds: dict[str, Callable[..., Awaitable[None]]] = {
            "answered": self._answered,
            "streamed": self._streamed,
            "left": self._left,
            "too long": self._too_long,
            "wrong": self._wrong,
            "stranger": self._stranger,
            "hidden": self._hidden,
        }
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{self.server.port}", timeout=240) as client:
            client.headers.update(self.server.headers)
            for _ in range(each):
                name = dice.choices(list(kinds), [8, 4, 2, 2, 2, 2, 2])[0]
                await kinds[name](name, client, dice)

    def _see(self, kind: str, reply: httpx.Response, *expected: int) -> None:
        self.statuses[kind, reply.status_code] += 1
        if reply.status_code not in expected:
            self.wrong.append(f"{kind}: {reply.status_code} of {reply.request.url} {reply.text[:300]}")

    async def _answered(self, kind: str, client: httpx.AsyncClient, dice: random.Random) -> None:
        path, body = PROTOCOLS[dice.choice(list(PROTOCOLS))]
        given = body(f"Tell me about {dice.randrange(50)}.") | {"model": "tiny"}
        more = {"stream": False} if path.startswith("/api/") else {}
        self._see(kind, await client.post(path, json=given | more), 200)

    async def _streamed(self, kind: str, client: httpx.AsyncClient, dice: random.Random) -> None:
        path, body = PROTOCOLS[dice.choice(["chat", "completions", "messages", "responses", "ollama chat", "generate"])]
        given = body("Hello") | {"model": "tiny", "stream": True}
        reply = await client.post(path, json=given)
        self._see(kind, reply, 200)
        if not reply.text.rstrip().endswith(("[DONE]", "}")) or '"error":{' in reply.text:
            self.wrong.append(f"{path} ended early: {reply.text[-200:]}")

    async def _left(self, kind: str, client: httpx.AsyncClient, dice: random.Random) -> None:
        path, body = PROTOCOLS["chat"]
        given = body("Hello") | {"model": "tiny", "stream": True, "max_tokens": 500, "ignore_eos": True}
        async with client.stream("POST", path, json=given) as reply:
            async for _ in reply.aiter_raw():
                break
        self.statuses[kind, reply.status_code] += 1

    async def _too_long(self, kind: str, client: httpx.AsyncClient, dice: random.Random) -> None:
        refusing = [name for name in PROTOCOLS if name not in ("tokenize", "ollama embed, cut")]
        path, body = PROTOCOLS[dice.choice(refusing)]
        # where all of it is counted, the number of tokens is the reply, though they are too many
        expected = (200, 400) if path.endswith("count_tokens") else (400,)
        self._see(kind, await client.post(path, json=body(TOO_LONG) | {"model": "tiny"}), *expected)

    async def _wrong(self, kind: str, client: httpx.AsyncClient, dice: random.Random) -> None:
        path, body = PROTOCOLS[dice.choice(list(PROTOCOLS))]
        raw = json.dumps(body("Hello") | {"model": "tiny"}).encode()
        match dice.randrange(4):
            case 0:
                self._see(kind, await client.post(path, content=raw[: dice.randrange(1, len(raw))]), 400)
            case 1:
                self._see(kind, await client.post(path, json=body("Hello") | {"model": "none"}), 404)
            case 2:
                self._see(kind, await client.post(f"{path}/none", content=raw), 404, 405)  # responses have ids
            case _:
                allowed = path == "/generate"  # which SGLang takes by PUT too
                self._see(kind, await client.put(path, content=raw), 200 if allowed else 405)

    async def _stranger(self, kind: str, client: httpx.AsyncClient, dice: random.Random) -> None:
        path, body = PROTOCOLS[dice.choice(list(PROTOCOLS))]
        path = dice.choice(
            [path, "/v1/models", "/metrics", "/api/tags", "//v1/models", "/health/../v1/models", "/HEALTH"]
        )
        headers, status = dice.choice([
            ({"authorization": ""}, 401), ({"authorization": "Bearer wrong"}, 401), ({"authorization": f"Basic {KEY}"}, 401),
            ({"authorization": f"Bearer {KEY} "[:-2]}, 401), ({"host": "evil.example"}, 403), ({"origin": "https://evil.example"}, 403),
            ({"host": "127.0.0.1.evil.example"}, 403), ({"origin": "null"}, 403),
        ])  # fmt: skip
        self._see(kind, await client.post(path, json=body("Hello"), headers=headers), status)

    async def _hidden(self, kind: str, client: httpx.AsyncClient, dice: random.Random) -> None:
        url = dice.choice(HIDDEN).format(port=self.canary.port)
        parts = [{"type": "text", "text": "What is this?"}, {"type": "image_url", "image_url": {"url": url}}]
        body = {"model": "seeing", "messages": [{"role": "user", "content": parts}], "max_tokens": 2}
        reply = await client.post("/v1/chat/completions", json=body)
        self._see(kind, reply, 400)
        if not reply.json()["error"]["param"].startswith("messages.0.content"):
            self.wrong.append(f"{url} was refused for another reason: {reply.text}")


@pytest.fixture(scope="module")
def load(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Load]:
    folder = tmp_path_factory.mktemp("load")
    seeing = save_seeing("qwen3_vl", folder / "seeing")
    with canary() as listener:
        more = ("--model", f"seeing={seeing}", "--remote-image-port", str(listener.port))
        with served(save_model(folder / "tiny"), *more, key=KEY) as server:
            yield Load(server, listener)


def check(load: Load, clients: int, each: int) -> None:
    load.statuses.clear()
    before = load.server.resident()
    seen = load.server.under(lambda: asyncio.run(load.run(clients, each)))
    print(
        f"{load.requests} requests of {clients} clients in {seen.seconds:.1f} s, /health waited {1000 * max(seen.waits):.0f} ms "
        f"at most, memory {before:.0f} to {load.server.resident():.0f} MB: {dict(load.statuses)}"
    )
    assert load.wrong == []
    assert load.requests == clients * each
    assert load.canary.connections == 0
    assert {kind for kind, _ in load.statuses} == {
        "answered",
        "streamed",
        "left",
        "too long",
        "wrong",
        "stranger",
        "hidden",
    }

    def stats() -> dict[str, int]:
        url = f"http://127.0.0.1:{load.server.port}/v1/stats"
        found: dict[str, int] = httpx.get(url, headers=load.server.headers).json()["engine"]
        return found

    until(lambda: stats()["active"] == stats()["waiting"] == 0, 30)
    assert stats()["leaks"] == 0


def test_a_few_clients(load: Load) -> None:
    check(load, 10, 15)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_hundred_clients(load: Load) -> None:
    """As many requests as people's own programs sent in a day of trials."""
    check(load, 100, 46)
