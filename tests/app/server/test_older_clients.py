"""Field names of older servers' clients: `text` in /v1/tokenize, and the window of a repetition penalty."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.app.server.live import Live

CHAT = {"model": "tiny", "messages": [{"role": "user", "content": "Hi"}]}


def post(live: Live, path: str, body: dict[str, Any]) -> httpx.Response:
    return httpx.post(live.url + path, json=body, timeout=30)


def test_a_text_is_tokenized_by_either_name(live: Live) -> None:
    by_text = post(live, "/v1/tokenize", {"text": "Hi", "return_token_strs": True})
    assert by_text.status_code == 200, by_text.text
    assert by_text.json() == post(live, "/v1/tokenize", {"prompt": "Hi", "return_token_strs": True}).json()
    assert by_text.json()["token_strs"] == ["H", "i"]
    assert post(live, "/v1/tokenize", {"text": "Hi", "prompt": "Hi"}).status_code == 400


def asked(penalty: float | None, last: int | None) -> list[tuple[str, dict[str, Any], str]]:
    """The same wish in the words of each route that knows penalties, and what the field is called there."""
    own = {
        name: value for name, value in (("repetition_penalty", penalty), ("repeat_last_n", last)) if value is not None
    }
    ollama = {name.replace("repetition", "repeat"): value for name, value in own.items()}
    return [
        ("/v1/chat/completions", {**CHAT, **own}, "repeat_last_n"),
        ("/v1/completions", {"model": "tiny", "prompt": "Hi", **own}, "repeat_last_n"),
        ("/generate", {"text": "Hi", "sampling_params": own}, "sampling_params.repeat_last_n"),
        ("/api/chat", {**CHAT, "stream": False, "options": ollama}, "options.repeat_last_n"),
        (
            "/api/generate",
            {"model": "tiny", "prompt": "Hi", "stream": False, "options": ollama},
            "options.repeat_last_n",
        ),
    ]


@pytest.mark.parametrize("at", range(5))
def test_a_penalty_looks_back_as_far_as_it_is_told(live: Live, at: int) -> None:
    for last, window in ((32, 32), (-1, 0)):
        path, body, _ = asked(1.3, last)[at]
        reply = post(live, path, body)
        assert reply.status_code == 200, reply.text
        sampling = live.engine.requests[-1].sampling
        assert (sampling.repetition_penalty, sampling.repetition_window) == (1.3, window)
    path, body, _ = asked(1.3, None)[at]
    assert post(live, path, body).status_code == 200
    assert live.engine.requests[-1].sampling.repetition_window == (64 if path.startswith("/api") else 0)


@pytest.mark.parametrize("at", range(3))  # Ollama's clients mean that there is no penalty
def test_a_window_of_nothing_contradicts_a_penalty(live: Live, at: int) -> None:
    path, body, name = asked(1.3, 0)[at]
    reply = post(live, path, body)
    assert reply.status_code == 400
    detail = reply.json()["error"]
    assert "repeat_last_n" in detail["message"]
    assert detail["param"] == name
    path, body, _ = asked(None, 0)[at]
    assert post(live, path, body).status_code == 200


def serve(*arguments: str, environment: dict[str, str]) -> tuple[str, str]:
    """A process that serves the Guide, answers once, and is told to stop: what it wrote to standard error, and the reply."""
    process = subprocess.Popen(
        [sys.executable, "-m", "app.cli", "serve", "--port", "0", "--backend", "auto", "--cpu", *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        url = None
        while url is None:
            line = process.stdout.readline()
            assert line, process.stderr.read() if process.stderr is not None else ""
            url = next(iter(re.findall(r"http://[\d.]+:\d+", line)), None)
        body = {"messages": [{"role": "user", "content": "A secretword to answer"}], "max_tokens": 7, "temperature": 0}
        reply = httpx.post(f"{url}/v1/chat/completions", json=body, timeout=60)
        assert reply.status_code == 200, reply.text
        process.send_signal(signal.SIGTERM)
        _, written = process.communicate(timeout=60)
        return written, reply.json()["choices"][0]["message"]["content"]
    finally:
        process.kill()


@pytest.mark.parametrize(
    ("level", "lines"),
    [
        (None, 0),
        pytest.param("warning", 0, marks=pytest.mark.slow),
        pytest.param("info", 1, marks=pytest.mark.slow),
        ("debug", 1),
    ],
)
def test_the_log_level_decides_what_is_written_and_never_holds_a_prompt(
    level: str | None, lines: int, tmp_path: Path
) -> None:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GRUS_")}
    if level == "info":
        written, answer = serve(environment=environment | {"GRUS_LOG_LEVEL": "info"})
    else:
        written, answer = serve(*(["--log-level", level] if level else []), environment=environment)
    line = r"POST /v1/chat/completions 200 [\d.]+s (\d+) prompt tokens, (\d+) output tokens, queued [\d.]+s"
    found = re.findall(line, written)
    assert len(found) == lines
    for prompt, made in found:
        assert int(prompt) >= 1
        assert 1 <= int(made) <= 7
    assert ("prompt tokens cached" in written) == (level == "debug")
    assert "secretword" not in written
    assert answer not in written
