"""Prompts of megabytes to a server in a new process: others are answered meanwhile, refusals are right, memory is given back."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import statistics
import sys
import threading
import time
from collections.abc import Iterator

import httpx
import pytest

from app.runtime import long_prompts
from tests.app.server.scripted import until
from tests.bench.long_prompts import CONTEXT, PROTOCOLS, SIZE, ServedProcess, save_model, served, words

TOO_LONG = words(SIZE)
# on a machine that does nothing else the longest wait is some 60 ms; on a busy one, a second is not the server's fault
WORST = 1.5
CUT = "ollama embed, cut"
REFUSED = tuple(name for name in PROTOCOLS if name not in (CUT, "tokenize"))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedProcess]:
    with served(save_model(tmp_path_factory.mktemp("long") / "tiny")) as server:
        yield server


def test_others_are_answered_while_long_prompts_are_refused(server: ServedProcess) -> None:
    seen = server.under(lambda: server.send_all(TOO_LONG, 2))
    assert seen.result == {name: {400} for name in REFUSED} | {CUT: {200}, "tokenize": {200}}
    assert statistics.median(seen.waits) < 0.1
    assert max(seen.waits) < WORST
    # a server that counts all tokens of each of them takes a second for each
    assert seen.seconds < 60


@pytest.mark.skipif(sys.platform != "linux", reason="what the system was given back is known of glibc alone")
def test_memory_is_given_back(server: ServedProcess) -> None:
    server.send_all(TOO_LONG, 2, ("chat",))
    before = server.resident()
    server.send_all(TOO_LONG, 8, REFUSED[:4])
    until(lambda: server.resident() < before + 150, 20)


def test_a_prompt_that_fits_is_answered(server: ServedProcess) -> None:
    prompt = words(3 * CONTEXT)
    seen = server.under(lambda: server.send_all(prompt, 2))
    assert seen.result == {name: {200} for name in PROTOCOLS}
    status, _, counted = server.send("tokenize", prompt)
    assert (status, counted["count"]) == (200, len(counted["tokens"]))
    _, _, reply = server.send("completions", prompt)
    assert reply["usage"]["prompt_tokens"] == counted["count"]


def test_a_long_text_comes_back_from_its_tokens(server: ServedProcess) -> None:
    text = words(300_000)
    tokens = server.send("tokenize", text)[2]["tokens"]
    url = f"http://127.0.0.1:{server.port}/v1/detokenize"
    assert httpx.post(url, json={"tokens": tokens}, timeout=60).json()["prompt"] == text


@pytest.mark.parametrize("protocol", REFUSED)
def test_a_refusal_has_the_words_of_its_protocol(server: ServedProcess, protocol: str) -> None:
    status, _, body = server.send(protocol, TOO_LONG)
    assert status == 400
    error = body["error"]
    said = error if isinstance(error, str) else error["message"]
    if "messages" in PROTOCOLS[protocol][0]:
        assert re.fullmatch(
            rf"prompt is too long: (\d+) tokens > {CONTEXT} maximum \(it was not counted any further\)", said
        )
    else:
        assert f"maximum context length is {CONTEXT} tokens. However, your request has " in said
        assert " tokens or more." in said
        assert isinstance(error, str) or error["code"] == "context_length_exceeded"
    count = int(next(number for number in re.findall(r"(\d+) tokens", said) if int(number) != CONTEXT))
    assert CONTEXT < count <= len(TOO_LONG)


def test_a_text_that_cannot_be_cut_stops_nobody(server: ServedProcess) -> None:
    """One word, in characters that are many tokens: it is encoded as a whole."""
    seen = server.under(lambda: server.send_all("ᄀ" * 600_000, 2, ("chat", "generate")))
    assert seen.result == {"chat": {400}, "generate": {400}}
    assert max(seen.waits) < WORST


def test_who_goes_before_its_turn_is_not_worked_for(server: ServedProcess) -> None:
    path, body = PROTOCOLS["tokenize"]
    raw = json.dumps(body("ᄀ" * 600_000) | {"model": "tiny"}).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {len(raw)}\r\n\r\n".encode()
    began = time.monotonic()
    assert server.send("tokenize", "ᄀ" * 600_000)[0] == 200
    alone = time.monotonic() - began
    for _ in range(12):
        with socket.create_connection(("127.0.0.1", server.port)) as connection:
            connection.sendall(head + raw)
    began = time.monotonic()
    assert server.send("tokenize", "ᄀ" * 600_000)[0] == 200
    assert time.monotonic() - began < 8 * alone  # and not thirteen times


def test_threads_take_turns_and_forget_who_left() -> None:
    done: list[int] = []

    async def main() -> None:
        begun, enough = asyncio.Event(), threading.Event()
        loop = asyncio.get_running_loop()

        def first() -> None:
            loop.call_soon_threadsafe(begun.set)
            enough.wait(10)
            done.append(0)

        size = long_prompts._LARGE
        tasks = [asyncio.create_task(long_prompts.run_beside(size, first))]
        await begun.wait()
        tasks += [asyncio.create_task(long_prompts.run_beside(size, done.append, number)) for number in (1, 2, 3)]
        await asyncio.sleep(0)
        tasks[2].cancel()
        # those of other sizes wait for none of them
        assert await long_prompts.run_beside(size - 1, lambda: "soon") == "soon"
        assert await long_prompts.run_beside(1, lambda: "at once") == "at once"
        assert done == []
        enough.set()
        await asyncio.gather(*tasks, return_exceptions=True)

    asyncio.run(main())
    assert done == [0, 1, 3]
