"""docs/api.md on realtime sessions: its example runs, and every event and field is documented."""

from __future__ import annotations

import re
import wave
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import BaseModel

from app.gui.viewmodels.server import written
from app.server.realtime import protocol
from tests.app.server.live import Live
from tests.app.server.realtime.caller import pcm
from tests.engine.pipelines.listening.conftest import silence, voice

ROOT = Path(__file__).resolve().parents[4]
SECTION = (ROOT / "docs" / "api.md").read_text(encoding="utf-8").split("## Conversations by voice")[1].split("\n## ")[0]


def test_the_example_runs(
    talking: Live, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", SECTION, re.DOTALL)
    for ours, theirs in (("http://127.0.0.1:8080", talking.url), ("my-model", "scripted"), ("ryan", "eric")):
        assert ours in example
        example = example.replace(ours, theirs)
    monkeypatch.chdir(tmp_path)
    asked()
    exec(compile(example, "docs/api.md", "exec"), {})
    said = capsys.readouterr().out
    assert said.startswith("> ")
    assert said.endswith("Good morning. How are you?\n")
    answered()


def test_the_window_s_lines_run(
    talking: Live, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Those that the Server pane gives to copy, in whatever voice the model names first."""
    monkeypatch.chdir(tmp_path)
    asked()
    lines = written("Python, Realtime", talking.url, "", "scripted")
    exec(compile(lines, "snippet", "exec"), {})
    assert capsys.readouterr().out == "Good morning. How are you?"
    answered()


def asked() -> None:
    with wave.open("question.wav", "wb") as file:
        file.setparams((1, 2, 24_000, 0, "NONE", ""))
        file.writeframes(pcm(np.concatenate([silence(0.3), voice(1.0)])))


def answered() -> None:
    with wave.open("answer.wav") as file:
        assert file.getframerate() == 24_000
        assert file.getnframes() > 4800


def test_every_event_is_on_the_page() -> None:
    sources = "".join(path.read_text() for path in (ROOT / "app" / "server" / "realtime").glob("*.py"))
    kinds = "input_audio_buffer|output_audio_buffer|conversation|response"
    sent = set(re.findall(rf'"((?:{kinds})\.[\w.]+|session\.(?:created|updated))"', sources)) | set(protocol.EVENTS)
    sent |= {f"conversation.item.input_audio_transcription.{what}" for what in ("delta", "completed", "failed")}
    assert len(sent) > 35
    assert sorted(kind for kind in sent if f"`{kind}`" not in SECTION) == []


@pytest.mark.parametrize(
    "model", [protocol.SessionFields, protocol.RealtimeAudioOutput, protocol.RealtimeAudioInput, protocol.TurnDetection, protocol.RealtimeTranscription,
              protocol.ResponseOptions, protocol.ItemCreate, protocol.ItemTruncate, protocol.InputAudioAppend],
)  # fmt: skip
def test_every_field_is_on_the_page(model: type[BaseModel]) -> None:
    def documented(name: str) -> Any:
        return re.search(rf"`(?:[\w.]+\.)?{name}(?:\.\w+)*`", SECTION)

    assert [name for name in model.model_fields if not documented(name) and name != "content_index"] == []
