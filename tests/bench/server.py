"""What the server adds to the engine: time to the first token of one stream, and how many requests a second it carries.

The engine runs its fake model, which takes no time of its own. The client is another process that speaks through bare
sockets, so that its own cost stays small and away from the server's.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.bench.table import Row

BODY: dict[str, Any] = {
    "model": "tiny",
    "messages": [{"role": "user", "content": "Why is the sky blue?"}],
    "max_tokens": 4,
    "ignore_eos": True,
}
ROUNDS, REQUESTS, CLIENTS = 300, 1500, 16


def rows() -> list[Row]:
    from app.commands import serve
    from app.runtime.catalogue import Catalogue
    from engine.engine import Engine
    from engine.types import Settings
    from tests.app.server.fake_model import FakeServed
    from tests.app.server.live import serving

    sys.setswitchinterval(serve.SWITCH_SECONDS)  # as `grus serve` does
    settings = Settings(gpu_memory_limit="1T", max_concurrent=CLIENTS, prefix_reuse=False)
    with tempfile.TemporaryDirectory() as folder:
        fake = FakeServed(Path(folder) / "tiny")
        catalogue = Catalogue({"tiny": "tiny"}, use_cache=False)
        with serving(lambda of: Engine(of, settings), lambda source: fake, catalogue) as live:
            seen = ask(live.port, "first", ROUNDS)
            alone = first_token_alone(live)
            rates = {stream: ask(live.port, "rate", REQUESTS, stream) for stream in (False, True)}
    return [
        Row("engine alone, to the first token", "ms", 1000 * alone, more_is_better=False),
        Row("through the server, to the first token", "ms", 1000 * seen, more_is_better=False),
        Row("added by the server, one stream", "ms", 1000 * (seen - alone), aim="<= 2", more_is_better=False),
        Row(f"whole replies, {CLIENTS} clients", "requests/s", rates[False]),
        Row(f"streamed replies, {CLIENTS} clients", "requests/s", rates[True]),
    ]


def first_token_alone(live: Any) -> float:
    """Template and tokens included: an app without a server must make them too."""
    from engine.pipelines.prompt import chat_prompt
    from engine.types import Request, SamplingParams, Text

    model = live.service.loaded["tiny"]
    times = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        prompt = chat_prompt(model, BODY["messages"])
        handle = live.engine.submit(Request("tiny", prompt.ids, SamplingParams(max_tokens=4, ignore_eos=True)))
        next(event for event in handle if isinstance(event, Text))
        times.append(time.perf_counter() - began)
        handle.result()
    return statistics.median(times)


def ask(port: int, what: str, count: int, stream: bool = True) -> float:
    command = [sys.executable, "-m", "tests.bench.server", what, str(port), str(count), str(int(stream))]
    return float(subprocess.run(command, capture_output=True, text=True, check=True, timeout=300).stdout)


# -- the client's process


def request(stream: bool) -> bytes:
    body = json.dumps(BODY | {"stream": stream}).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    return f"{head}\r\n\r\n".encode() + body


async def reply(reader: asyncio.StreamReader) -> float:
    """Reads one reply to its end; when its first text came."""
    head = await reader.readuntil(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200"), head
    if b"content-length: " in head.lower():
        await reader.readexactly(int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0]))
        return time.perf_counter()
    first, texts = 0.0, 0
    while size := int(await reader.readline(), 16):
        chunk = await reader.readexactly(size + 2)
        texts += b'"delta":{"content"' in chunk
        if texts and not first:
            first = time.perf_counter()
    await reader.readline()
    return first


async def first_token(port: int, count: int) -> float:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    times = []
    for _ in range(count + 20):
        began = time.perf_counter()
        writer.write(request(True))
        times.append(await reply(reader) - began)
    writer.close()
    return statistics.median(times[20:])


async def rate(port: int, count: int, stream: bool) -> float:
    async def client(turns: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for _ in range(turns):
            writer.write(request(stream))
            await reply(reader)
        writer.close()

    await client(20)
    began = time.perf_counter()
    await asyncio.gather(*(client(count // CLIENTS) for _ in range(CLIENTS)))
    return count / (time.perf_counter() - began)


if __name__ == "__main__":
    what, port, count, stream = sys.argv[1], *map(int, sys.argv[2:])
    print(asyncio.run(first_token(port, count) if what == "first" else rate(port, count, bool(stream))))
