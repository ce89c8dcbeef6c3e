"""Mixed load: chat, speech, transcription and embeddings at once, with clients that disconnect or crash, and bad input."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from itertools import islice
from typing import Any

import anthropic
import httpx
import numpy as np
import openai
import pytest

from app.runtime.catalogue import Catalogue
from engine.engine import Engine
from engine.loading import LoadOptions, load_any
from engine.types import Settings
from tests.app.server.live import Live, serving
from tests.app.server.scripted import until
from tests.app.server.test_audio import wav
from tests.asserting import every
from tests.checkpoints import save
from tests.engine.pipelines.listening.conftest import talk
from tests.processes import child_process
from tests.qwen3_tts_cases import checkpoint, ending
from tests.speech_checkpoints import save as save_ears

CONTEXT = 4096
LEAVER: dict[str, Any] = {"words": "Tell me everything.", "temperature": 0.0}
LISTENER = """
import http.client, sys
server = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]))
server.request("POST", "/v1/audio/speech", sys.argv[2], {"Content-Type": "application/json"})
reply = server.getresponse()
while reply.read1():
    print(reply.headers["x-request-id"], flush=True)
"""


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    folder = tmp_path_factory.mktemp("day")
    named = {
        "text": str(save("qwen3", folder / "text", max_position_embeddings=CONTEXT)),
        "voice": str(ending(checkpoint("custom_voice", folder / "voice"))),
        "ears": str(save_ears("moonshine", folder / "moonshine-tiny")),
    }
    settings = Settings(gpu_memory_limit="1G", max_concurrent=4)
    where = LoadOptions(backend="auto", device="cpu", dtype="f32", memory_limit=1 << 30, download=False)
    catalogue = Catalogue(named, use_cache=False)
    with serving(lambda of: Engine(of, settings), lambda source: load_any(source, where), catalogue) as up:
        yield up


def client(live: Live) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{live.url}/v1", api_key="none", max_retries=0)


def written(live: Live, words: str, tokens: int, **how: Any) -> Iterator[str]:
    """A chat's pieces as they come. Closing it closes the stream."""
    asked: Any = {"model": "text", "messages": [{"role": "user", "content": words}], "max_tokens": tokens} | how
    with client(live).chat.completions.create(**asked, stream=True, extra_body={"ignore_eos": True}) as stream:
        for chunk in stream:
            yield chunk.choices[0].delta.content or ""


def spoken(live: Live, words: str, seed: int, voice: str = "eric") -> np.ndarray:
    with client(live).audio.speech.with_streaming_response.create(
        model="voice", voice=voice, input=words, response_format="pcm", extra_body={"seed": seed, "temperature": 0.9}
    ) as reply:
        return np.frombuffer(b"".join(reply.iter_bytes()), np.int16).astype(np.int32)


def seeded_chat(live: Live) -> Iterator[str]:
    return written(live, "Hello", 60, temperature=0.8, seed=7)


def transcription(live: Live) -> str:
    return client(live).audio.transcriptions.create(model="ears", file=("a.wav", wav(talk(2)))).text


def message(live: Live) -> Any:
    asked: Any = {"model": "text", "max_tokens": 40, "messages": [{"role": "user", "content": "Good day"}]}
    with anthropic.Anthropic(base_url=live.url, api_key="none", max_retries=0) as other:
        return other.messages.create(**asked, extra_body={"temperature": 0}).content[0].text  # type: ignore[union-attr]


def vector(live: Live) -> list[float]:
    return client(live).embeddings.create(model="text", input="What is this about?").data[0].embedding


ASKED: dict[str, Callable[[Live], Any]] = {
    "chat": lambda live: "".join(seeded_chat(live)),
    "voice": lambda live: spoken(live, "Hello there. Here is more of it.", 3),
    "other voice": lambda live: spoken(live, "Good day. How are you?", 4, "vivian"),
    "transcription": transcription,
    "message": message,
    "vector": vector,
}
BAD: dict[str, Callable[[Live], Any]] = {
    "voice": lambda live: spoken(live, "Hello there.", 3, "nobody"),
    "prompt": lambda live: list(written(live, "x" * 2 * CONTEXT, 10)),
}


@pytest.fixture(scope="module")
def alone(live: Live) -> dict[str, Any]:
    """What each request gives on an idle server. Only vectors may differ in company, in their last digits, and, without the kernels,
    samples by one where they are rounded to 16 bits."""
    answers = {name: ask(live) for name, ask in ASKED.items()}
    assert every(len(answer) > 20 for answer in answers.values())
    assert len(answers["voice"]) != len(answers["other voice"])
    near = {"vector": 1e-5, "voice": 1, "other voice": 1}
    return answers | {name: pytest.approx(answers[name], abs=most) for name, most in near.items()}


def at_rest(live: Live) -> dict[str, Any]:
    """What the server counts once nothing runs, and it has forgotten all prompts."""
    until(lambda: not live.requests._sounds and not live.requests.running, 20)
    until(lambda: (now := live.service.stats())["active"] == now["waiting"] == 0, 20)
    httpx.post(f"{live.url}/flush_cache")
    page = httpx.get(f"{live.url}/metrics").text
    assert every(f"\n{name} 0.0\n" in page for name in ("grus_active_requests", "grus_queue_depth"))
    now: dict[str, Any] = httpx.get(f"{live.url}/v1/stats").json()["engine"]
    assert (now["evicted"], now["leaks"]) == (0, 0)
    return now


@contextmanager
def held(live: Live) -> Iterator[None]:
    """The engine does nothing meanwhile: who asks now is served together with all others who do."""
    holding, enough = threading.Event(), threading.Event()

    def hold(loaded: Any) -> Iterator[None]:
        holding.set()
        enough.wait(30)
        yield

    live.engine.task("text", hold)
    assert holding.wait(10)
    try:
        yield
    finally:
        enough.set()


def test_all_at_once_each_gets_what_it_gets_alone(live: Live, alone: dict[str, Any]) -> None:
    everything = "".join(written(live, tokens=40, **LEAVER))
    before = at_rest(live)

    def leave() -> str:
        with closing(written(live, tokens=CONTEXT - 100, **LEAVER)) as pieces:
            return "".join(islice(pieces, 20))

    with ThreadPoolExecutor(16) as pool:
        with held(live):
            answers = {name: pool.submit(ask, live) for name, ask in ASKED.items()}
            left = pool.submit(leave)
            refused = {name: pool.submit(ask, live) for name, ask in BAD.items()}
            refused["prompt"].exception(20)  # is answered though the engine is busy
            until(lambda: live.service.stats()["waiting"] == len({*ASKED, "leaver", "bad voice"}), 20)
        assert {name: answer.result(60) for name, answer in answers.items()} == alone
        assert left.result(60)
        assert everything.startswith(left.result())
        errors = {name: answer.exception(60) for name, answer in refused.items()}
    assert every(isinstance(error, openai.BadRequestError) for error in errors.values())
    refusals: Any = {name: (error.code, error.param) for name, error in errors.items()}  # type: ignore[union-attr]
    assert refusals == {"voice": ("bad_request", "voice"), "prompt": ("context_length_exceeded", "prompt")}
    after = at_rest(live)
    assert after["cancelled"] - before["cancelled"] == 1
    assert after["kv_bytes"] == before["kv_bytes"]


def test_a_client_that_is_killed_stops_its_voice_and_no_other(live: Live, alone: dict[str, Any]) -> None:
    before = at_rest(live)
    # short passages, none of which runs away: it would be read for more than a minute
    book = {
        "model": "voice",
        "input": "Hello there.\n\n" * 5000,
        "seed": 3,
        "temperature": 0.9,
        "response_format": "pcm",
    }
    command = [sys.executable, "-c", LISTENER, str(live.port), json.dumps(book)]
    others = {name: ask for name, ask in ASKED.items() if name != "chat"}
    with ThreadPoolExecutor(8) as pool, child_process(command, stdout=subprocess.PIPE, text=True) as listener:
        try:
            assert listener.stdout is not None
            voice = listener.stdout.readline().strip()  # it hears something
            answers = {name: pool.submit(ask, live) for name, ask in others.items()}
            chat = seeded_chat(live)
            begun = next(chat)
            assert voice in live.requests._sounds
        finally:
            listener.kill()
        results = {name: answer.result(60) for name, answer in answers.items()} | {"chat": begun + "".join(chat)}
    assert results == alone
    assert at_rest(live)["kv_bytes"] == before["kv_bytes"]
