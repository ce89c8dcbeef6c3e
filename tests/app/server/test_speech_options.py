"""Sampling parameters, preset voices and instructions of `/v1/audio/speech`, over a socket with tiny checkpoints."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from app.runtime.catalogue import Catalogue
from engine.engine import Engine
from engine.loading import LoadOptions, load_any
from engine.media import sound as sound_files
from engine.types import Settings
from tests.app.server.live import Live, serving
from tests.qwen3_tts_cases import checkpoint, ending

TEXT = "Hello there."
FRAME = 1920  # samples
VOICES = {"eric": 1050, "vivian": 1049}


def changed(folder: Path, **config: Any) -> Path:
    """A checkpoint with other fields in its config.json; `spk_id` belongs to the talker's."""
    path = folder / "config.json"
    found = json.loads(path.read_text())
    if (voices := config.pop("spk_id", None)) is not None:
        found["talker_config"] |= {"spk_id": voices, "spk_is_dialect": dict.fromkeys(voices, False)}
    path.write_text(json.dumps(found | config))
    return folder


@pytest.fixture(scope="module", params=["torch", pytest.param("mlx", marks=pytest.mark.slow)])
def live(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    folder = tmp_path_factory.mktemp("voices")
    named = {
        "preset": str(ending(checkpoint("custom_voice", folder / "preset"))),
        "small": str(changed(ending(checkpoint("custom_voice", folder / "small")), tts_model_size="0b6")),
        "base": str(ending(checkpoint("base", folder / "plain"))),
        "named_base": str(changed(ending(checkpoint("base", folder / "base")), spk_id=VOICES)),
        "endless": str(checkpoint("custom_voice", folder / "endless")),
    }
    settings = Settings(gpu_memory_limit="1G", max_concurrent=4)
    where = LoadOptions(backend=request.param, device="cpu", dtype="f32", memory_limit=1 << 30, download=False)
    with serving(
        lambda of: Engine(of, settings),
        lambda name: load_any(name, where),
        Catalogue(named, use_cache=False),
        voices_dir=str(folder / "saved"),
    ) as up:
        yield up


def say(live: Live, **body: Any) -> httpx.Response:
    asked = {"model": "preset", "voice": "vivian", "input": TEXT, "response_format": "pcm", "seed": 3}
    return httpx.post(f"{live.url}/v1/audio/speech", json={**asked, **body}, timeout=60)


def sound(live: Live, **body: Any) -> np.ndarray:
    reply = say(live, **body)
    assert reply.status_code == 200, reply.text
    samples = np.frombuffer(reply.content, "<i2")
    assert len(samples) > 0
    return samples


def test_the_example_of_an_older_server_is_spoken(live: Live) -> None:
    assert len(sound(live, temperature=0.8, max_tokens=2048)) > FRAME


@pytest.mark.parametrize("option", [{"top_p": 0.05}, {"repetition_penalty": 5.0}])
def test_a_sampling_parameter_changes_the_sound_and_a_seed_repeats_it(live: Live, option: dict[str, float]) -> None:
    body = {"model": "endless", "temperature": 0.9, "max_tokens": 12}
    changed = sound(live, **body, **option)
    assert np.array_equal(sound(live, **body, **option), changed)
    assert not np.array_equal(sound(live, **body), changed)


@pytest.mark.parametrize("stream", [True, False])
def test_max_tokens_bounds_the_whole_sound(live: Live, stream: bool) -> None:
    """Of a voice that does not come to an end, and of a text with many passages."""
    for text in (TEXT, "A long text. " * 200):
        assert 0 < len(sound(live, model="endless", input=text, max_tokens=20, stream=stream)) <= 20 * FRAME
    assert 0 < len(sound(live, model="endless", max_tokens=20, speed=2.0, stream=stream)) <= 10 * FRAME


@pytest.mark.parametrize(("body", "param"), [
    ({"max_tokens": 0}, "max_tokens"), ({"top_p": 0}, "top_p"), ({"top_p": 1.5}, "top_p"),
    ({"repetition_penalty": 0}, "repetition_penalty"),
])  # fmt: skip
def test_impossible_values_are_named(live: Live, body: dict[str, Any], param: str) -> None:
    reply = say(live, **body)
    assert (reply.status_code, reply.json()["error"]["param"]) == (400, param)


def test_a_base_model_with_voices_of_its_own_speaks_in_them(live: Live) -> None:
    body = {"model": "named_base", "temperature": 0.9}
    listed = httpx.get(f"{live.url}/v1/audio/voices", params={"model": "named_base"}, timeout=60).json()["data"]
    assert [one["name"] for one in listed if one["kind"] == "preset"] == ["eric", "vivian"]
    first, second = (sound(live, **body, voice=voice) for voice in ("vivian", "eric"))
    assert not np.array_equal(first, second)
    assert np.array_equal(sound(live, **body, voice="Vivian"), first)
    refused = say(live, **body, voice="nobody").json()["error"]
    assert refused["param"] == "voice"
    assert "eric, vivian" in refused["message"]
    assert "recording" in say(live, **body, voice=None).json()["error"]["message"]
    assert "no preset voices" in say(live, model="base").json()["error"]["message"]


def test_a_small_custom_voice_takes_instructions_as_the_reference_package_does(live: Live) -> None:
    """qwen-tts 0.1.1 takes them and leaves them out of the prompt; a large model follows them."""
    body = {"temperature": 0.9, "instructions": "Very angry."}
    assert np.array_equal(sound(live, model="small", **body), sound(live, model="small", temperature=0.9))
    assert not np.array_equal(sound(live, **body), sound(live, temperature=0.9))


def test_without_an_encoder_aac_is_refused_and_what_there_is_is_named(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sound_files, "find_spec", lambda name: None)
    reply = say(live, response_format="aac")
    detail = reply.json()["error"]
    assert (reply.status_code, detail["param"]) == (400, "response_format")
    for word in ("opus", "mp3", "flac", "wav", "pcm", "pip install av"):
        assert word in detail["message"]
