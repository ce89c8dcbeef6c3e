"""Voxtral through the doors: `grus listen` in a new process, `grus run` and `grus chat` with a sound, HTTP, and the window's Listen."""

from __future__ import annotations

import base64
import io
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
import soundfile
import torch

import grus
from app.gui.store.worker import AppStore
from app.gui.viewmodels.listen import ListenResults
from app.runtime import pipelines
from app.runtime.catalogue import Catalogue, capabilities_of, main_use
from engine.engine import Engine
from engine.loading import LoadOptions, load_any
from engine.types import Settings
from tests.app.conftest import Outcome
from tests.app.gui.media import AtOnce
from tests.app.server.live import Live, serving
from tests.asserting import every
from tests.engine.pipelines.listening.conftest import RATE, talk
from tests.voxtral_checkpoints import AUDIO, WINDOW, features, save_realtime, save_voxtral, voxtral_reference

Command = Callable[..., Outcome]
BACKENDS = ("torch", "mlx")
WHERE = LoadOptions(backend="auto", device="cpu", dtype="f32", memory_limit=1 << 30, download=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    yield save_voxtral(tmp_path_factory.mktemp("voxtral") / "voxtral-tiny")
    grus.unload()


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("recording") / "two.wav"
    soundfile.write(path, talk(2), RATE)
    return path


@pytest.fixture(scope="module")
def live(folder: Path) -> Iterator[Live]:
    realtime = save_realtime(folder.parent / "realtime-tiny")
    catalogue = Catalogue({"voxtral": str(folder), "realtime": str(realtime)}, use_cache=False)
    with serving(
        lambda of: Engine(of, Settings(gpu_memory_limit="1G")), lambda source: load_any(source, WHERE), catalogue
    ) as up:
        yield up


@pytest.mark.torch_only("it asks for both backends by name")
def test_a_new_process_hears_the_same_on_both_backends(folder: Path, recording: Path, command: Command) -> None:
    given = ["listen", str(recording), "--model", str(folder), "--language", "de", "--format", "json", "--dtype", "f32"]
    done = subprocess.run(
        [sys.executable, "-m", "app.cli", *given, "--backend", "torch", "--quant", "none", "--device", "cpu"],
        capture_output=True,
        text=True,
        timeout=250,
    )
    assert done.returncode == 0, done.stderr
    seen = command(*given, "--backend", "mlx", "--quant", "none")
    assert seen.code == 0, seen.err
    made = [json.loads(done.stdout), json.loads(seen.out)]
    assert made[0]["text"].strip()
    assert made[0]["text"] == made[1]["text"]
    assert every(one["language"] == "de" and len(one["segments"]) == 2 for one in made)


@pytest.mark.parametrize("backend", ["torch", pytest.param("mlx", marks=pytest.mark.slow)])
@pytest.mark.torch_only("it asks for both backends by name")
def test_it_is_quantized_as_other_listeners_are(command: Command, folder: Path, recording: Path, backend: str) -> None:
    frames = list[np.ndarray]()
    for quant in ("none", "q8_0"):
        with grus.Ears(str(folder), LoadOptions(backend=backend, device="cpu", dtype="f32", quant=quant)) as ears:
            heard = ears.loaded.vision.sound(talk(1))  # type: ignore[union-attr]
            (made,) = ears.service.task(str(folder), lambda loaded: loaded.model.encode([heard])).result()  # noqa: B023
            frames.append(made)
            assert ears.loaded.quant == (None if quant == "none" else quant)
            assert len(ears.listen(recording).segments) == 2
    far = np.abs(frames[0] - frames[1]).max() / np.abs(frames[0]).max()
    assert 1e-5 < far < 0.05


def test_its_speed_is_measured_by_its_own_requests(command: Command, folder: Path) -> None:
    seen = command("bench", folder, "--streams", "1", "--runs", 1, "--device", "cpu")
    assert seen.code == 0, seen.err
    assert "first words" in seen.out


def test_a_converted_folder_listens(command: Command, folder: Path, recording: Path, tmp_path: Path) -> None:
    made = command("convert", folder, tmp_path / "mlx", "--to", "mlx", "--quant", "q8_0")
    assert made.code == 0, made.err
    seen = command("listen", recording, "--model", tmp_path / "mlx", "--format", "json")
    assert seen.code == 0, seen.err
    assert len(json.loads(seen.out)["segments"]) == 2


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.torch_only("it asks for both backends by name")
def test_a_conversation_about_a_sound_is_the_references(
    command: Command, folder: Path, recording: Path, backend: str
) -> None:
    options = ("--max-tokens", 12, "--temperature", 0, "--dtype", "f32", "--json", "--backend", backend)
    seen = command("run", folder, "What the crane says?", "--audio", recording, *options)
    assert seen.code == 0, seen.err
    report = json.loads(seen.out)
    ids = report["prompt_ids"]
    assert ids[:3] == [1, 3, 25]
    assert ids.count(AUDIO) == WINDOW
    inputs = {"input_ids": torch.tensor([ids]), "attention_mask": torch.ones(1, len(ids))}
    samples, _ = soundfile.read(recording, dtype="float32")
    with torch.no_grad():
        out = voxtral_reference().generate(
            **inputs, input_features=features(samples), max_new_tokens=12, do_sample=False
        )[0, len(ids) :]
    assert report["output_ids"] == out.tolist()[: len(report["output_ids"])]
    assert len(set(report["output_ids"])) > 3


def test_it_is_listed_as_what_listens_and_chats(folder: Path) -> None:
    found = capabilities_of(str(folder))
    assert found == {"listen", "chat", "hear"}
    assert main_use(found) == "listen"


def test_transcriptions_and_conversations_over_http(live: Live, recording: Path) -> None:
    data = recording.read_bytes()

    def heard(**form: Any) -> httpx.Response:
        given = {"model": "voxtral", "response_format": "verbose_json", **form}
        return httpx.post(
            f"{live.url}/v1/audio/transcriptions", files={"file": ("a.wav", data)}, data=given, timeout=60
        )

    reply = heard(language="fr")
    assert reply.status_code == 200, reply.text
    body = reply.json()
    assert (body["language"], len(body["segments"])) == ("fr", 2)
    assert body["text"].strip()
    assert heard().json()["language"] == "und"
    other = heard(model="realtime", language="nl").json()
    assert (other["language"], len(other["segments"])) == ("nl", 2)
    assert "transcript.text.done" in heard(stream="true", response_format="json").text
    for form, param in (({"language": "xx"}, "language"), ({"timestamp_granularities[]": ["word"]}, "words")):
        refused = heard(**form)
        assert (refused.status_code, refused.json()["error"]["param"]) == (400, param)
    props = httpx.get(f"{live.url}/props").json()
    assert props["modalities"] == {"vision": False, "audio": True}

    def answered(*parts: Any) -> httpx.Response:
        messages = [{"role": "user", "content": [*parts, {"type": "text", "text": "Hm?"}]}]
        body = {"model": "voxtral", "messages": messages, "max_tokens": 8, "temperature": 0}
        return httpx.post(f"{live.url}/v1/chat/completions", json=body, timeout=60)

    sound = {"data": base64.b64encode(data).decode(), "format": "wav"}
    plain, about = answered(), answered({"type": "input_audio", "input_audio": sound})
    assert (plain.status_code, about.status_code) == (200, 200), about.text
    prompts = [one.json()["usage"]["prompt_tokens"] for one in (plain, about)]
    assert prompts[1] - prompts[0] == WINDOW + 1
    assert plain.json()["choices"][0]["message"] != about.json()["choices"][0]["message"]
    pixel = "data:image/png;base64," + base64.b64encode(_png()).decode()
    refused = answered({"type": "image_url", "image_url": {"url": pixel}})
    assert refused.status_code == 400
    assert "sees no images" in refused.json()["error"]["message"]


def _png() -> bytes:
    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(np.zeros((4, 4, 3), np.uint8)).save(file, "PNG")
    return file.getvalue()


def test_a_conversation_takes_sounds_and_no_images(
    command: Command, folder: Path, recording: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    picture, saved = tmp_path / "a.png", tmp_path / "talk.json"
    picture.write_bytes(_png())
    lines = (f"/image {picture}", f"/audio {recording}", "Hm?", f"/save {saved}")
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
    seen = command("chat", folder, "--max-tokens", 4, "--temperature", 0)
    assert seen.code == 0, seen.err
    assert "hears sounds and does not see images" in seen.err + seen.out
    user = next(one for one in json.loads(saved.read_text(encoding="utf-8"))["messages"] if one["role"] == "user")
    assert [part["type"] for part in user["content"]] == ["audio", "text"]


def test_the_window_writes_a_file_down(folder: Path, recording: Path, tmp_path: Path, monkeypatch: Any) -> None:
    with grus.Ears(str(folder), LoadOptions(backend="auto", device="cpu")) as ears:
        monkeypatch.setattr(pipelines, "listener", lambda core, wanted: ears.listener)
        store, streams, said = AppStore(tmp_path / "grus.sqlite3"), AtOnce(), list[str]()
        streams.engine = streams.service = ears.service  # type: ignore[attr-defined]
        listening = ListenResults(store, streams, lambda text, **more: said.append(text), tmp_path / "recordings")
        listening.add([recording])
        store.wait()
        (item,) = listening.items
        assert (item.state, len(item.segments)) == ("done", 2), said
        assert item.seconds == pytest.approx(len(talk(2)) / RATE)
        store.close()
