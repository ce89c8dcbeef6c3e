"""Every command that takes a model fetches it from the hub, in a process that has imported nothing before."""

from __future__ import annotations

import json
import os
import pty
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import soundfile
from PIL import Image, ImageDraw

from engine.weights.convert import convert
from tests.app.new_machine import Fresh, files_of, one_sentence
from tests.checkpoints import save
from tests.engine.pipelines.listening.conftest import RATE, talk
from tests.hub_server import FakeHub, serving
from tests.qwen3_tts_cases import checkpoint, ending
from tests.reading_checkpoints import save_paddleocr_vl
from tests.speech_checkpoints import save as save_speech

WRITER, GGUF, VOICE, EARS, EYES = "org/writer", "org/writer-GGUF", "org/voice", "org/ears", "org/eyes"
BACKENDS = ("torch", "mlx")


@pytest.fixture(scope="module")
def repositories(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, bytes]]:
    root = tmp_path_factory.mktemp("repositories")
    writer = save("qwen3", root / "writer", spelling="old")
    gguf = convert(writer, root / "writer-Q8_0.gguf", "gguf", "q8_0")
    return {
        WRITER: files_of(writer),
        GGUF: {gguf.name: gguf.read_bytes(), "writer-Q4_0.gguf": b"not this one"},
        VOICE: files_of(ending(checkpoint("custom_voice", root / "voice"))),
        EARS: files_of(save_speech("moonshine", root / "ears")),
        EYES: files_of(save_paddleocr_vl(root / "eyes")),
    }


@pytest.fixture
def hub(repositories: dict[str, dict[str, bytes]]) -> Iterator[FakeHub]:
    with serving() as hub:
        hub.repos = dict(repositories)
        yield hub


@pytest.fixture
def fresh(hub: FakeHub, tmp_path: Path) -> Fresh:
    return Fresh(hub, tmp_path / "home")


@pytest.fixture
def sound(tmp_path: Path) -> Path:
    soundfile.write(tmp_path / "said.wav", talk(1), RATE)
    return tmp_path / "said.wav"


@pytest.fixture
def page(tmp_path: Path) -> Path:
    sheet = Image.new("RGB", (300, 80), "white")
    ImageDraw.Draw(sheet).text((20, 30), "A crane", "black")
    sheet.save(tmp_path / "page.png")
    return tmp_path / "page.png"


def check(fresh: Fresh, repo: str, code: int, err: str) -> None:
    assert code == 0, err
    assert "Traceback" not in err
    assert f"{repo} [" in err  # the progress
    assert "100%" in err
    snapshot = fresh.found(repo.partition(":")[0])
    assert snapshot is not None
    assert snapshot.complete


@pytest.mark.parametrize("backend", BACKENDS)
def test_run(fresh: Fresh, backend: str) -> None:
    seen = fresh.grus("run", WRITER, "Hello", "--max-tokens", 3, "--backend", backend)
    check(fresh, WRITER, seen.code, seen.err)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_quantization_of_a_gguf_repository(fresh: Fresh, backend: str) -> None:
    seen = fresh.grus("run", f"{GGUF}:Q8_0", "Hello", "--max-tokens", 3, "--backend", backend)
    check(fresh, f"{GGUF}:Q8_0", seen.code, seen.err)
    assert fresh.hub.served == ["writer-Q8_0.gguf"]


def test_chat(fresh: Fresh) -> None:
    seen = fresh.grus("chat", WRITER, "--max-tokens", 3, "--backend", "auto", said="Hello\n/quit\n")
    check(fresh, WRITER, seen.code, seen.err)


def test_info(fresh: Fresh) -> None:
    seen = fresh.grus("info", WRITER, "--json")
    check(fresh, WRITER, seen.code, seen.err)
    assert json.loads(seen.out)["architecture"] == "qwen3"


def test_speak(fresh: Fresh, tmp_path: Path) -> None:
    out = tmp_path / "said.wav"
    seen = fresh.grus("speak", "Hello there.", "--model", VOICE, "-o", out, "--backend", "auto")
    check(fresh, VOICE, seen.code, seen.err)
    assert len(soundfile.read(out)[0]) > 0


def test_listen(fresh: Fresh, sound: Path) -> None:
    seen = fresh.grus("listen", sound, "--model", EARS, "--backend", "auto")
    check(fresh, EARS, seen.code, seen.err)


def test_read(fresh: Fresh, page: Path) -> None:
    seen = fresh.grus("read", page, "--model", EYES, "--backend", "auto")
    check(fresh, EYES, seen.code, seen.err)


def test_serve_and_pull(fresh: Fresh) -> None:
    with fresh.serving("--model", WRITER, "--backend", "auto") as url:
        assert fresh.found(WRITER) is not None
        body = {"model": WRITER, "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 3}
        assert httpx.post(f"{url}/v1/chat/completions", json=body, timeout=60).status_code == 200
        with httpx.stream("POST", f"{url}/api/pull", json={"model": f"{GGUF}:Q8_0"}, timeout=60) as answer:
            lines = [json.loads(line) for line in answer.iter_lines()]
        assert [lines[0]["status"], lines[-1]["status"]] == ["pulling manifest", "success"]
        assert lines[-2]["completed"] == lines[-2]["total"] > 0
        answer = httpx.post(f"{url}/api/pull", json={"model": "org/nothing", "stream": False}, timeout=60)
        assert answer.json() == {
            "error": "Hugging Face has no repository org/nothing, or it is private. For a private one, give Grus a token of "
            "your account: `grus token set`, Settings in the window, or HF_TOKEN."
        }
        body = {**body, "model": f"{GGUF}:Q8_0"}
        assert httpx.post(f"{url}/v1/chat/completions", json=body, timeout=60).status_code == 200


def test_a_server_that_is_offline_neither_pulls_nor_fetches_pictures(fresh: Fresh) -> None:
    fresh.put(WRITER)
    with fresh.serving("--model", WRITER, "--backend", "auto", "--offline") as url:
        for stream in (True, False):
            answer = httpx.post(f"{url}/api/pull", json={"model": VOICE, "stream": stream}, timeout=60)
            assert answer.status_code == 404
            assert answer.json() == {
                "error": f"{VOICE} is not downloaded, because this server was started with --offline."
            }
        body = {"model": WRITER, "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 3}
        assert httpx.post(f"{url}/v1/chat/completions", json=body, timeout=60).status_code == 200
    assert fresh.hub.asked == []
    assert fresh.found(VOICE) is None
    outcome = fresh.grus("serve", "--model", VOICE, "--offline", "--port", 0)
    assert outcome.code == 2
    assert one_sentence(outcome).startswith(f"{VOICE} is not here")


def test_a_terminal_sees_a_bar_that_moves(fresh: Fresh) -> None:
    fresh.hub.repos["org/large"] = {**fresh.hub.repos[WRITER], "notes.txt": bytes(3_000_000)}
    ours, theirs = pty.openpty()
    process = fresh.start("info", "org/large", stderr=theirs, stdout=theirs, stdin=theirs)
    os.close(theirs)
    seen = b""
    while True:
        try:
            piece = os.read(ours, 1 << 16)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        seen += piece
    os.close(ours)
    assert process.wait(60) == 0, seen
    drawn = [line for line in seen.decode().split("\r") if "org/large [" in line]
    assert drawn
    assert drawn[0].startswith("\x1b[K")
    assert "100%" in drawn[-1]
