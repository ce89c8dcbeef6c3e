"""Grus on a fresh machine, where nobody named a model: the Guide answers, and says so."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

import grus
from app.cli import parser
from engine.errors import ModelNotFound
from engine.hub.resolve import resolve
from engine.starter import FOLDER, GUIDE, PAGE, READER, starter
from tests.app.conftest import Outcome
from tests.needs import need_program
from tests.processes import child_process

Command = Callable[..., Outcome]


def test_a_conversation_in_the_terminal(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ["Hello", "which model fits 16 gb?", "and with 8 gb?", "write me a poem", "/quit"]
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(lines) + "\n"))
    seen = command("chat", "--backend", "auto")
    assert seen.code == 0
    for said in ("I am the Guide", "Qwen3-8B-4bit", "Qwen3-4B-4bit", "I am a tiny guide and know only Grus"):
        assert said in seen.out
    assert "The Guide speaks" in seen.err
    assert "grus chat Qwen/Qwen3-0.6B" in seen.err
    assert "quant" not in seen.err


def test_one_question(command: Command) -> None:
    seen = command("run", "How do I read a PDF?", "--backend", "auto")
    assert "grus read FILE.pdf" in seen.out
    assert "The Guide speaks" in seen.err


def test_the_same_from_python() -> None:
    assert "grus read FILE.pdf" in grus.chat("how do i read a pdf", options={"backend": "auto"})
    grus.unload()


@pytest.mark.parametrize(
    ("words", "model", "prompt"),
    [
        (["hello"], GUIDE, "hello"),
        (["some/model", "hello"], "some/model", "hello"),
        (["some/model", "--raw", "hello"], "some/model", "hello"),
        (["--raw", "hello"], GUIDE, "hello"),
        (["hello", "--max-tokens", "3"], GUIDE, "hello"),
        (["some/model", "--seed", "3", "hello", "--json"], "some/model", "hello"),
        (["some/model", "-"], "some/model", "-"),
    ],
)
def test_options_may_stand_between_model_and_prompt(words: list[str], model: str, prompt: str) -> None:
    options = parser().parse_args(["run", *words])
    assert (options.model, options.prompt) == (model, prompt)


@pytest.mark.parametrize("lone", ["Qwen/Qwen3-0.6B", GUIDE, "."])
def test_a_model_without_a_prompt_is_no_prompt(command: Command, lone: str) -> None:
    seen = command("run", lone)
    assert seen.code == 2
    assert "Say what to ask" in seen.err


def test_its_name_wins_over_a_folder_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / GUIDE).mkdir()
    monkeypatch.chdir(tmp_path)
    assert resolve(GUIDE) == FOLDER / GUIDE == starter(GUIDE)
    assert resolve(f"./{GUIDE}") == Path(f"./{GUIDE}")
    assert starter("../guide") is None
    with pytest.raises(ModelNotFound, match="called guide"):
        resolve("no such name")


def test_the_server_without_a_model_serves_it() -> None:
    command = [sys.executable, "-m", "app.cli", "serve", "--port", "0", "--cpu"]
    environment = {**os.environ, "GRUS_GRACE": "1", "GRUS_GPU_MEMORY_LIMIT": "1G"}
    with child_process(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        try:
            page = "".join(iter(child.stdout.readline, "Ctrl-C stops it.\n"))
            assert "knows only Grus" in page
            found = re.search(r"http://127\.0\.0\.1:\d+", page)
            assert found is not None
            models = httpx.get(f"{found[0]}/v1/models").json()["data"]
            assert [model["id"] for model in models][:2] == [GUIDE, READER]
            guide, reader = printed(page)
            assert "I explain Grus" in guide
            assert "".join(PAGE.with_suffix(".txt").read_text("utf-8").split()) == "".join(reader.split())
            messages = [{"role": "user", "content": "How do I add a model?"}]
            first = _reply(found[0], {"model": GUIDE, "messages": messages})
            assert first.startswith("To add a model, name it")
            messages += [{"role": "assistant", "content": first}, {"role": "user", "content": "where are they kept?"}]
            assert "~/.cache/huggingface/hub" in _reply(found[0], {"messages": messages, "model": GUIDE})
            streamed = httpx.post(
                f"{found[0]}/v1/chat/completions",
                json={"model": GUIDE, "messages": messages[:1], "stream": True},
                timeout=30,
            ).text
            pieces = [json.loads(line[6:]) for line in streamed.splitlines() if line.startswith("data: {")]
            said = "".join(piece["choices"][0]["delta"].get("content") or "" for piece in pieces if piece["choices"])
            assert said == first
        finally:
            child.send_signal(signal.SIGTERM)
        child.communicate(timeout=20)
    assert child.returncode == 0


def printed(page: str) -> list[str]:
    """What the lines print that a person is given to try, when they are run as they stand."""
    need_program("curl")
    commands = re.findall(r"^  (curl .*?\n    -d .*?|\(printf .*?\n    curl .*?)$", page, re.MULTILINE | re.DOTALL)
    ran = [subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=120) for command in commands]
    return [json.loads(one.stdout)["choices"][0]["message"]["content"] for one in ran]


@pytest.mark.slow
def test_from_a_cold_start_it_speaks_within_four_seconds() -> None:
    """Interpreter, imports, model and first token; the best of three, for other processes may be in the way."""
    command = [sys.executable, "-m", "app.cli", "run", "hello", "--backend", "auto"]
    waits = []
    for _ in range(3):
        started = time.perf_counter()
        with child_process(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as child:
            assert child.stdout is not None
            assert child.stdout.read(1) == b"H"
            waits.append(time.perf_counter() - started)
            child.communicate()
    assert min(waits) < 4


def _reply(url: str, body: object) -> str:
    reply = httpx.post(f"{url}/v1/chat/completions", json=body, timeout=30)
    reply.raise_for_status()
    text: str = reply.json()["choices"][0]["message"]["content"]
    return text
