"""A full queue over a socket: requests with images, and tasks, are refused as text is."""

from __future__ import annotations

import base64
import threading
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import httpx
import numpy as np
import pytest

from app.runtime.catalogue import Catalogue
from engine.engine import Engine
from engine.loading import LoadOptions, load_any
from engine.types import Picture, Settings
from tests.app.server.fake_model import FakeServed
from tests.app.server.live import Live, serving
from tests.app.server.scripted import scripted_model, until
from tests.app.server.test_audio import wav
from tests.app.server.web import DOT
from tests.engine.pipelines.listening.conftest import talk
from tests.speech_checkpoints import save as save_ears

LIMIT = 4
IMAGE = "data:image/png;base64," + base64.b64encode(DOT).decode()
SHOWN = [{"type": "text", "text": "What is it?"}, {"type": "image_url", "image_url": {"url": IMAGE}}]


class Held(FakeServed):
    """A model whose encoder waits for the test."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        facts = scripted_model(folder, "qwen3_vl")
        self.config, self.template, self.tokenizer, self.vision = (
            facts.config, facts.template, facts.tokenizer, facts.vision,
        )  # fmt: skip
        self.vocab = facts.vocab
        self.open = threading.Event()
        self.model = SimpleNamespace(encode=self._encode)

    def _encode(self, pictures: Sequence[Picture]) -> Generator[None, None, list[np.ndarray]]:
        while not self.open.is_set():
            yield
        return [np.ones((picture.tokens, 8), np.float32) for picture in pictures]


@pytest.fixture(params=["torch", "mlx"])
def crowded(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[tuple[Live, Held]]:
    held, ears = Held(tmp_path / "eyes"), str(save_ears("moonshine", tmp_path / "moonshine-tiny"))
    where = LoadOptions(backend=request.param, device="cpu", dtype="f32", memory_limit=1 << 30, download=False)
    settings = Settings(gpu_memory_limit="1T", max_queue=LIMIT)
    catalogue = Catalogue({"eyes": "eyes", "ears": ears}, use_cache=False)
    with serving(
        lambda of: Engine(of, settings), lambda name: held if name == "eyes" else load_any(name, where), catalogue
    ) as live:
        live.service.load_now("ears")
        yield live, held
        held.open.set()


def chat(live: Live) -> httpx.Response:
    body = {"model": "eyes", "messages": [{"role": "user", "content": SHOWN}], "max_tokens": 3, "ignore_eos": True}
    return httpx.post(f"{live.url}/v1/chat/completions", json=body, timeout=60)


def claude(live: Live) -> httpx.Response:
    source = {"type": "base64", "media_type": "image/png", "data": base64.b64encode(DOT).decode()}
    content = [{"type": "text", "text": "What is it?"}, {"type": "image", "source": source}]
    body = {"model": "eyes", "messages": [{"role": "user", "content": content}], "max_tokens": 3}
    return httpx.post(f"{live.url}/v1/messages", json=body, timeout=60)


def ollama(live: Live) -> httpx.Response:
    message = {"role": "user", "content": "What is it?", "images": [base64.b64encode(DOT).decode()]}
    body = {"model": "eyes", "messages": [message], "stream": False}
    return httpx.post(f"{live.url}/api/chat", json=body, timeout=60)


def transcribe(live: Live) -> httpx.Response:
    file = {"file": ("talk.wav", wav(talk(3)))}
    return httpx.post(f"{live.url}/v1/audio/transcriptions", files=file, data={"model": "ears"}, timeout=60)


def test_pictures_and_sounds_are_refused_while_the_queue_is_full(crowded: tuple[Live, Held]) -> None:
    live, held = crowded
    with ThreadPoolExecutor(LIMIT) as pool:
        waiting = []
        for number in range(1, LIMIT + 1):  # one by one, so that none finds the others on their way
            waiting.append(pool.submit(chat, live))
            until(lambda number=number: live.engine.stats().waiting == number)  # type: ignore[misc]
        replies = {ask.__name__: ask(live) for ask in (chat, claude, ollama, transcribe)}
        held.open.set()
        assert [one.result().status_code for one in waiting] == [200] * LIMIT
    assert {name: reply.status_code for name, reply in replies.items()} == dict.fromkeys(replies, 429)
    said = f"{LIMIT} requests are waiting already. Try again later."
    openai = {"message": said, "type": "rate_limit_error", "param": None, "code": "queue_full"}
    assert replies["chat"].json() == replies["transcribe"].json() == {"error": openai}
    claude_error = {"type": "rate_limit_error", "message": said, "details": {"error_code": "queue_full"}}
    assert replies["claude"].json()["error"] == claude_error
    assert replies["ollama"].json() == {"error": said}
    assert chat(live).status_code == transcribe(live).status_code == 200


def test_a_sound_that_was_taken_is_heard_to_its_end(crowded: tuple[Live, Held]) -> None:
    live, _ = crowded
    file = {"file": ("talk.wav", wav(np.concatenate([talk(3)] * 4)))}  # more pieces than may wait
    asked = {"model": "ears", "response_format": "verbose_json"}
    reply = httpx.post(f"{live.url}/v1/audio/transcriptions", files=file, data=asked, timeout=60)
    assert reply.status_code == 200, reply.text
