"""Chatterbox through every door: a new process on both backends, the server, the window's list, a cloned voice; with a tiny random model."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import soundfile

from app.gui.viewmodels.speak import SpeakSettings
from app.gui.viewmodels.speak_options import offered
from app.runtime.catalogue import Catalogue, capabilities_of
from engine.engine import Engine
from engine.errors import BadRequest
from engine.pipelines.speaking.chatterbox import Expression, expression_of, normalized, packed, unpacked
from engine.pipelines.speaking.speech_models import speaker
from engine.pipelines.speaking.voice import Clone, SpeechSampling, VoiceSettings
from tests.app.server.live import Live
from tests.app.speaking import speech_engine, spoken_by_both, spoken_over_http, voice_server, voices_over_http
from tests.chatterbox_checkpoints import save_chatterbox, sound

TEXT = "Good morning. The cranes are back."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_chatterbox(tmp_path_factory.mktemp("speaks") / "chatterbox")


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_it_speaks_in_a_new_process_on_both_backends(folder: Path, tmp_path: Path) -> None:
    recording = tmp_path / "me.wav"
    soundfile.write(recording, sound(2.0), 24000)
    more = ["--clone", recording, "--temperature", "0", "--instructions", "guidance 0.2"]
    spoken_by_both("Good morning.", folder, tmp_path, *more, within=0.05, least=5000)


@pytest.fixture(scope="module")
def engine(folder: Path) -> Iterator[Engine]:
    yield from speech_engine()


def test_a_cloned_voice_is_another_one_and_stays_the_same(engine: Engine, folder: Path) -> None:
    model = speaker(engine, str(folder))
    assert tuple(model.presets) == ("default",)
    assert model.clones
    clone = model.clone(sound(2.0))
    again = packed(unpacked(clone))
    np.testing.assert_array_equal(again, clone.vector)
    short = SpeechSampling(max_tokens=38)

    def said(settings: VoiceSettings) -> np.ndarray:
        return np.concatenate(list(model.speak("Good morning.", settings, seed=1, sampling=short)))

    own, cloned, expressive = (
        said(settings)
        for settings in (
            VoiceSettings(),
            VoiceSettings(clone=clone),
            VoiceSettings(instructions="exaggeration 1.5"),
        )
    )
    np.testing.assert_array_equal(own, said(VoiceSettings(preset="default", instructions="exaggeration 0.5")))
    for other in (cloned, expressive):
        assert len(other) != len(own) or np.abs(own - other).max() > 1e-3


def test_what_it_does_not_do_is_said(engine: Engine, folder: Path, tmp_path: Path) -> None:
    model = speaker(engine, str(folder))
    for settings, what in (
        (VoiceSettings(preset="nobody"), "no voice"),
        (VoiceSettings(language="german"), "speaks English"),
        (VoiceSettings(instructions="cheerful"), "does not understand"),
        (VoiceSettings(instructions="exaggeration 9"), "too much"),
        (VoiceSettings(clone=Clone(np.zeros(30, np.float32))), "made by another model"),
        (VoiceSettings(clone=Clone(np.full(9, 1e9, np.float32))), "made by another model"),
    ):
        with pytest.raises(BadRequest, match=what):
            model.check(settings)
    bare = save_chatterbox(tmp_path / "bare", "mlx", own_voice=False)
    (bare / "speech_tokenizer.safetensors").unlink()
    other = speaker(engine, str(bare))
    assert not other.presets
    with pytest.raises(BadRequest, match="comes without a voice"):
        other.check(VoiceSettings())
    with pytest.raises(BadRequest, match="S3TokenizerV2"):
        other.clone(sound(2.0))


def test_instructions_and_texts() -> None:
    assert expression_of(None) == Expression(0.5, 0.5)
    assert expression_of("exaggeration: 0.7, cfg weight=0.3") == Expression(0.7, 0.3)
    assert normalized("  the  “crane” — it’s back…") == 'The "crane" - it\'s back,'
    assert normalized("Really?") == "Really?"
    assert normalized("no end") == "No end."


@pytest.fixture(scope="module")
def live(folder: Path) -> Iterator[Live]:
    with voice_server("chatterbox", folder) as up:
        yield up


def test_the_server_speaks_with_it(live: Live) -> None:
    body = {
        "model": "chatterbox",
        "input": TEXT,
        "max_tokens": 30,
        "seed": 2,
        "instructions": "exaggeration 0.8",
    }
    made = spoken_over_http(live, body, [({"voice": "nobody"}, "voice"), ({"language": "german"}, "language")])
    samples, rate = soundfile.read(io.BytesIO(made))
    assert rate == 24000
    assert len(samples) > 5000
    assert "default" in voices_over_http(live, "chatterbox")


def test_the_window_offers_its_voices(folder: Path) -> None:
    assert capabilities_of(str(folder)) == {"speak"}
    offer = offered(Catalogue({"chatterbox": str(folder)}, use_cache=False), "chatterbox")
    assert offer.presets == ("default",)
    assert offer.clones
    assert offer.asks == "exaggeration 0.7, guidance 0.3"
    assert offer.problem(SpeakSettings()) == ""
    assert offer.problem(SpeakSettings(saved="Anna")) == ""
