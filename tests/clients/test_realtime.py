"""Voice clients from the registries hold a conversation: speech, a barge-in, a function call, and words.

The speech models are tiny; the answers are scripted.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.types import Request
from tests.app.server.live import Live
from tests.app.server.realtime.caller import pcm
from tests.app.server.realtime.conftest import served, talking  # noqa: F401
from tests.checkpoints import SPECIALS
from tests.clients.running import NODE, NOT_SET_UP, ROOT
from tests.engine.pipelines.listening.conftest import silence, voice

PROGRAMS = Path(__file__).parent / "realtime"
CALL = '<tool_call>\n{"name": "weather", "arguments": {}}\n</tool_call>'
MESSAGE_BEGINS = 256 + SPECIALS.index("<|im_start|>")
GREETING, COLD = "Good morning. How are you?", "It is cold."
LONG = " ".join(f"This is sentence number {n}, and it is not a short one." for n in range(200))


def answers(live: Live, request: Request) -> str:
    """By the last message of the prompt, after which the answer's head comes."""
    ids, begins = request.prompt_ids, [at for at, id in enumerate(request.prompt_ids) if id == MESSAGE_BEGINS]
    asked = str(live.service.loaded["scripted"].tokenizer.decode(ids[begins[-2] : begins[-1]]))
    if "tool_response" in asked:
        return COLD
    return CALL if "weather" in asked else LONG if "long" in asked else GREETING


def run(live: Live, folder: Path, *command: str) -> Any:
    recording = folder / "question.pcm"
    recording.write_bytes(pcm(np.concatenate([silence(0.5), voice(1.0), silence(0.8)])))
    live.engine.script.script = lambda request: answers(live, request)
    done = subprocess.run(
        [*command, live.url, str(recording)],
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture
def python() -> str:
    if not (python := ROOT / ".venv-clients-voice/bin/python").exists():
        pytest.skip(NOT_SET_UP)
    return str(python)


@pytest.fixture
def node(tmp_path: Path) -> Path:
    """A folder where the programs find their packages."""
    if shutil.which("node") is None or not NODE.is_dir():
        pytest.skip("node is not installed" if shutil.which("node") is None else NOT_SET_UP)
    (tmp_path / "node_modules").symlink_to(NODE / "node_modules")
    for program in PROGRAMS.glob("*.mjs"):
        shutil.copy(program, tmp_path)
    return tmp_path


def conversed(results: dict[str, Any]) -> None:
    assert results["spoken"]["heard"]
    assert results["spoken"]["words"] == GREETING
    assert results["spoken"]["sound"] > 4800
    assert results["after"] == GREETING
    assert (results["call"], results["result"]) == ("weather", COLD)


def test_openai_python(talking: Live, python: str, tmp_path: Path) -> None:  # noqa: F811
    results = run(talking, tmp_path, python, str(PROGRAMS / "openai_sdk.py"))
    conversed(results)
    assert results["interrupted"] == ["cancelled", "turn_detected"]
    assert results["text"] == GREETING


def test_openai_python_beta(talking: Live, python: str, tmp_path: Path) -> None:  # noqa: F811
    results = run(talking, tmp_path, python, str(PROGRAMS / "openai_beta.py"))
    assert results["spoken"]["heard"]
    assert results["spoken"]["words"] == GREETING
    assert results["spoken"]["sound"] > 4800
    assert (results["call"], results["result"]) == ("weather", COLD)


def test_openai_javascript(talking: Live, node: Path, tmp_path: Path) -> None:  # noqa: F811
    results = run(talking, tmp_path, "node", str(node / "openai_sdk.mjs"))
    conversed(results)
    assert results["interrupted"] == ["cancelled", "turn_detected"]
    assert results["text"] == GREETING


def test_agents_sdk(talking: Live, node: Path, tmp_path: Path) -> None:  # noqa: F811
    results = run(talking, tmp_path, "node", str(node / "agents_sdk.mjs"))
    conversed(results)
    assert results["interrupted"] == ["cancelled", "turn_detected"]
    assert (results["stopped"], results["text"]) == (True, GREETING)
    assert results["history"] >= 8


def test_pipecat(talking: Live, python: str, tmp_path: Path) -> None:  # noqa: F811
    results = run(talking, tmp_path, python, str(PROGRAMS / "pipecat_pipeline.py"))
    conversed(results)
    assert results["greeting"] == GREETING
    assert LONG.startswith(results["interrupted"][:40])


def test_livekit(talking: Live, python: str, tmp_path: Path) -> None:  # noqa: F811
    conversed(run(talking, tmp_path, python, str(PROGRAMS / "livekit_session.py")))
