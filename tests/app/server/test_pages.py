"""Pages over the API: the Reader behind a socket, called by the APIs' own clients."""

from __future__ import annotations

import base64
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anthropic
import httpx
import openai
import pytest
from PIL import Image

from app.runtime.catalogue import Catalogue
from engine.engine import Engine
from engine.loading import LoadOptions, load
from engine.starter import READER, starters
from engine.types import Settings
from tests.app.server.live import Live, serving

PICTURES = Path(__file__).resolve().parents[2] / "starters" / "pictures"
PAGE = PICTURES.parents[2] / "resources" / "starter" / "page.png"
WHERE: dict[str, Any] = dict(backend="auto", device="cpu", memory_limit=1 << 30, download=False)
LINE = (PICTURES / "clean-serif.txt").read_text("utf-8").strip()


@pytest.fixture(scope="module")
def live() -> Iterator[Live]:
    settings, where = Settings(gpu_memory_limit="1G"), LoadOptions(**WHERE)
    catalogue = Catalogue(starters(), use_cache=False)
    with serving(lambda of: Engine(of, settings), lambda source: load(source, where), catalogue) as live:
        yield live


@pytest.fixture(scope="module")
def client(live: Live) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{live.url}/v1", api_key="none", max_retries=0, timeout=240)


def encoded(file: Path) -> str:
    return base64.b64encode(file.read_bytes()).decode()


def shown(*files: Path, words: str = "") -> Any:
    """One message with these pages."""
    urls = [f"data:image/png;base64,{encoded(file)}" for file in files]
    parts: list[Any] = [{"type": "image_url", "image_url": {"url": url}} for url in urls]
    return [{"role": "user", "content": [*parts, *([{"type": "text", "text": words}] if words else [])]}]


def test_a_page_of_two_columns_comes_back_in_reading_order(client: openai.OpenAI) -> None:
    reply = client.chat.completions.create(model=READER, messages=shown(PAGE), temperature=0, seed=1)
    said, stands = reply.choices[0].message.content or "", PAGE.with_suffix(".txt").read_text("utf-8")
    assert "".join(said.split()) == "".join(stands.split())
    assert reply.choices[0].finish_reason == "stop"
    assert reply.usage is not None
    assert reply.usage.completion_tokens == len(said)  # a token is a character
    assert reply.usage.prompt_tokens > reply.usage.completion_tokens


def test_it_is_streamed_region_by_region(client: openai.OpenAI) -> None:
    stream = client.chat.completions.create(
        model=READER, messages=shown(PAGE, words="OCR:"), stream=True, max_completion_tokens=400
    )
    chunks = [chunk.choices[0] for chunk in stream]
    pieces = [chunk.delta.content for chunk in chunks if chunk.delta.content]
    said = "".join(pieces)
    assert len(pieces) > 2
    assert len(said) == 400
    assert chunks[-1].finish_reason == "length"
    stands = PAGE.with_suffix(".txt").read_text("utf-8")
    assert "".join(stands.split()).startswith("".join(said.split()))


def test_several_pages_come_in_their_order(client: openai.OpenAI) -> None:
    files = [PICTURES / f"{name}.png" for name in ("clean-serif", "clean-mono", "clean-sans-bold")]
    reply = client.chat.completions.create(model=READER, messages=shown(*files))
    stand = [file.with_suffix(".txt").read_text("utf-8").strip() for file in files]
    assert (reply.choices[0].message.content or "").split("\n\n") == stand


def test_every_family_reads_it(live: Live) -> None:
    image = encoded(PICTURES / "clean-serif.png")
    claude = anthropic.Anthropic(base_url=live.url, api_key="none", max_retries=0)
    source: Any = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": image}}
    message: Any = claude.messages.create(
        model=READER, max_tokens=1000, messages=[{"role": "user", "content": [source]}]
    )
    assert message.content[0].text == LINE
    assert message.usage.input_tokens > 0
    body = {"model": READER, "prompt": "OCR:", "images": [image], "stream": False}
    ollama = httpx.post(f"{live.url}/api/generate", json=body, timeout=60).json()
    assert ollama["response"] == LINE
    item = {"type": "input_image", "image_url": f"data:image/png;base64,{image}"}
    body = {"model": READER, "input": [{"role": "user", "content": [item]}]}
    response = httpx.post(f"{live.url}/v1/responses", json=body, timeout=60).json()
    assert response["output"][0]["content"][0]["text"] == LINE


def test_an_empty_page_is_an_empty_reply(client: openai.OpenAI, tmp_path: Path) -> None:
    Image.new("RGB", (300, 200), "white").save(tmp_path / "blank.png")
    reply = client.chat.completions.create(model=READER, messages=shown(tmp_path / "blank.png"))
    assert reply.choices[0].message.content == ""


@pytest.mark.parametrize(
    ("option", "param"),
    [
        ({"temperature": 0.7}, "temperature"),
        ({"n": 2}, "n"),
        ({"logprobs": True}, "logprobs"),
        ({"stop": ["end"]}, "stop"),
        ({"response_format": {"type": "json_object"}}, "response_format"),
        ({"messages": [{"role": "user", "content": "Hello"}]}, "messages"),
        ({"messages": [*shown(PICTURES / "clean-mono.png"), {"role": "user", "content": "Again?"}]}, "messages"),
    ],
)
def test_what_it_cannot_do_is_refused_by_name(live: Live, option: dict[str, Any], param: str) -> None:
    body = {"model": READER, "messages": shown(PICTURES / "clean-serif.png"), **option}
    refused = httpx.post(f"{live.url}/v1/chat/completions", json=body, timeout=60)
    assert refused.status_code == 400
    assert refused.json()["error"]["param"] == param


def test_what_is_no_image_is_refused(live: Live) -> None:
    wrong = base64.b64encode(b"no image").decode()
    parts = [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{wrong}"}}]
    body = {"model": READER, "messages": [{"role": "user", "content": parts}]}
    refused = httpx.post(f"{live.url}/v1/chat/completions", json=body, timeout=60)
    assert refused.status_code == 400
    assert refused.json()["error"]["param"] == "messages.0.content"


def test_routes_that_count_or_continue_text_say_that_a_page_is_none(live: Live) -> None:
    messages = [
        {
            "role": "user",
            "content": [
                {
                    "type": "image",
                    "source": {
                        "type": "base64",
                        "media_type": "image/png",
                        "data": encoded(PICTURES / "clean-mono.png"),
                    },
                }
            ],
        }
    ]
    counted = httpx.post(f"{live.url}/v1/messages/count_tokens", json={"model": READER, "messages": messages})
    assert counted.status_code == 400
    url = f"data:image/png;base64,{encoded(PICTURES / 'clean-mono.png')}"
    generated = httpx.post(f"{live.url}/generate", json={"model": READER, "text": "OCR:", "image_data": url})
    assert generated.status_code == 400
    assert "conversations" in generated.text


def test_who_goes_away_frees_the_engine(live: Live) -> None:
    body = {"model": READER, "messages": shown(PAGE), "stream": True}
    with httpx.stream("POST", f"{live.url}/v1/chat/completions", json=body, timeout=60) as reply:
        next(reply.iter_lines())
    ends = time.monotonic() + 20
    while live.requests.running or live.engine.stats().active or live.engine.stats().waiting:
        assert time.monotonic() < ends, "the page is still being read"
        time.sleep(0.05)
