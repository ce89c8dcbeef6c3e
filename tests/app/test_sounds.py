"""Sounds among the words: by command, in the SDK and over HTTP a model with ears hears the same, and every mistake is named."""

from __future__ import annotations

import base64
import io
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
import soundfile

import grus
from app.runtime.catalogue import Catalogue
from engine.engine import Engine
from engine.errors import BadRequest
from engine.loading import LoadOptions, load
from engine.types import Settings
from tests.app.conftest import Outcome
from tests.app.server.live import Live, serving
from tests.seeing_checkpoints import gemma4_hearing, made, written

Command = Callable[..., Outcome]
SAMPLING = ("--max-tokens", 12, "--temperature", 0, "--dtype", "f32", "--json")
WHERE: dict[str, Any] = dict(backend="auto", device="cpu", dtype="f32", memory_limit=1 << 30, download=False)
TOKENS = 25  # of a second


@pytest.fixture(scope="module")
def hearing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    family = gemma4_hearing()
    yield written(family, made(family), tmp_path_factory.mktemp("hearing") / "tiny")
    grus.unload()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """One and two seconds, and one too many."""
    folder, paths = tmp_path_factory.mktemp("sounds"), []
    for seconds in (1, 2, 31):
        at = np.arange(seconds * 48000) / 48000
        paths.append(folder / f"{seconds}.wav")
        soundfile.write(paths[-1], 0.4 * np.sin(2 * np.pi * (300 + 100 * at) * at), 48000)
    return paths


@pytest.fixture(scope="module")
def live(hearing: Path) -> Iterator[Live]:
    where = LoadOptions(**WHERE)
    settings = Settings(gpu_memory_limit="1G")
    catalogue = Catalogue({"ears": str(hearing)}, use_cache=False)
    with serving(lambda of: Engine(of, settings), lambda source: load(source, where), catalogue) as live:
        yield live


def answered(live: Live, *parts: Any, status: int = 200) -> Any:
    body = {"model": "ears", "messages": [{"role": "user", "content": list(parts)}], "max_tokens": 12, "temperature": 0}
    reply = httpx.post(f"{live.url}/v1/chat/completions", json=body, timeout=60)
    assert reply.status_code == status, reply.text
    return reply.json()


def spoken(data: bytes | str, format: str = "wav") -> dict[str, Any]:
    text = base64.b64encode(data).decode() if isinstance(data, bytes) else data
    return {"type": "input_audio", "input_audio": {"data": text, "format": format}}


def test_a_sound_comes_before_the_words(command: Command, hearing: Path, files: list[Path]) -> None:
    reports = []
    for given in ((), files[:1], files[:2]):
        flags = [flag for file in given for flag in ("--audio", file)]
        seen = command("run", hearing, "What is said?", *flags, *SAMPLING)
        assert seen.code == 0, seen.err
        reports.append(json.loads(seen.out))
    counts = [len(one["prompt_ids"]) for one in reports]
    assert [n - counts[0] for n in counts] == [0, TOKENS + 2, 3 * TOKENS + 4]
    assert len({tuple(one["output_ids"]) for one in reports}) == 3


@pytest.mark.torch_only("it asks for both backends by name")
def test_both_backends_hear_the_same(command: Command, hearing: Path, files: list[Path]) -> None:
    said = [
        command("run", hearing, "Hm?", "--audio", files[0], *SAMPLING, "--backend", one) for one in ("torch", "mlx")
    ]
    assert json.loads(said[0].out)["output_ids"] == json.loads(said[1].out)["output_ids"]


def test_the_sdk_and_the_server_hear_the_same(live: Live, hearing: Path, files: list[Path]) -> None:
    options = dict(model=str(hearing), options=WHERE, max_tokens=12, temperature=0.0)
    kinds = [str(files[0]), files[0], files[0].read_bytes()]
    said = {grus.chat("Hm?", sounds=[one], **options) for one in kinds}
    assert len(said) == 1
    assert grus.chat("Hm?", **options) not in said
    words = {"type": "text", "text": "Hm?"}
    reply = answered(live, spoken(files[0].read_bytes()), words)
    assert {reply["choices"][0]["message"]["content"]} == said
    both = answered(live, words, spoken(files[0].read_bytes()), spoken(files[1].read_bytes()))
    assert both["usage"]["prompt_tokens"] - reply["usage"]["prompt_tokens"] == 2 * TOKENS + 2
    props = httpx.get(f"{live.url}/props").json()
    assert props["modalities"] == {"vision": True, "audio": True}


@pytest.mark.parametrize(
    ("given", "said"),
    [("too long", "31 seconds long"), (b"no sound", "could not be read as sound"), ("***", "not valid base64")],
)
def test_what_cannot_be_heard_is_said(live: Live, files: list[Path], given: Any, said: str) -> None:
    data = files[2].read_bytes() if given == "too long" else given
    error = answered(live, spoken(data), status=400)["error"]
    assert said in error["message"]
    assert error["param"] == "messages.0.content.input_audio"


def test_mistakes_are_one_sentence(command: Command, hearing: Path, model: Path, files: list[Path]) -> None:
    for place, arguments, said in (
        (hearing, ["--audio", "no-such.wav"], "no-such.wav is not a file"),
        (hearing, ["--audio", files[2]], "31 seconds long"),
        (hearing, ["--audio", files[0], "--raw"], "--audio"),
        (model, ["--audio", files[0]], "does not hear sound"),
    ):
        seen = command("run", place, "Hm?", *arguments)
        assert seen.code == 2
        assert said in seen.err
        assert len(seen.err.strip().splitlines()) == 1


@pytest.fixture
def talk(command: Command, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Outcome]:
    def hold(place: Path, *lines: object, arguments: tuple[object, ...] = ()) -> Outcome:
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        return command("chat", place, *SAMPLING[:-1], *arguments)

    return hold


def test_a_conversation_hears(talk: Callable[..., Outcome], hearing: Path, files: list[Path], tmp_path: Path) -> None:
    """What was heard goes with the next words and stays in the conversation."""
    saved, written = tmp_path / "talk.json", tmp_path / "talk.md"
    lines = ("Hm?", f"/audio {files[1]}", "And now?", "Well?", f"/save {saved}", f"/save {written}")
    seen = talk(hearing, *lines, arguments=("--audio", files[0]))
    assert seen.code == 0, seen.err
    messages = json.loads(saved.read_text(encoding="utf-8"))["messages"]
    users = [message["content"] for message in messages if message["role"] == "user"]
    assert [[part.get("audio") for part in content[:-1]] for content in users[:2]] == [[str(files[0])], [str(files[1])]]
    assert users[2] == "Well?"
    assert f"[1.wav]({files[0]})" in written.read_text(encoding="utf-8")
    options = dict(model=str(hearing), options=WHERE, max_tokens=12, temperature=0.0)
    assert messages[1]["content"] == grus.chat("Hm?", sounds=[files[0]], **options)


def test_mistakes_do_not_end_a_conversation(
    talk: Callable[..., Outcome], hearing: Path, model: Path, files: list[Path]
) -> None:
    seen = talk(hearing, "/audio no-such.wav", "/audio", f"/audio {files[2]}", "Hello", f"/audio {files[0]}", "/reset")
    assert "no-such.wav is not a file" in seen.out
    assert "Say which: /audio FILE" in seen.out
    assert "31 seconds long" in seen.out
    assert seen.err.count("first token after") == 1
    assert "does not hear sound" in talk(model, f"/audio {files[0]}").out
    at_once = talk(model, arguments=("--audio", files[0]))
    assert (at_once.code, "does not hear sound" in at_once.err) == (2, True)


def test_a_model_without_ears_says_so(model: Path) -> None:
    with pytest.raises(BadRequest, match="does not hear sound"):
        grus.chat("Hm?", sounds=[b"RIFF"], model=str(model), options=WHERE)
