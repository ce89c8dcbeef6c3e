"""OmniVoice through every door: a new process on both backends, the server, the window's list, a cloned voice; with a tiny random model."""

from __future__ import annotations

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
from engine.pipelines.speaking.speech import SpeechOptions, speak_long_form
from engine.pipelines.speaking.speech_models import speaker
from engine.pipelines.speaking.voice import Clone, SpeechSampling, VoiceSettings
from tests.app.server.live import Live
from tests.app.speaking import speech_engine, spoken, spoken_by_both, spoken_over_http, voice_server
from tests.omnivoice_checkpoints import BOOKS, HOP, MASK, save_omnivoice, sound

TEXT = "Good morning. The cranes are back."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_omnivoice(tmp_path_factory.mktemp("speaks") / "omnivoice")


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_it_speaks_in_a_new_process_on_both_backends(folder: Path, tmp_path: Path) -> None:
    """In a voice that is described, and a quantized talker too."""
    described = ["--instructions", "female, low pitch", "--language", "english", "--temperature", "0"]
    spoken_by_both("Good morning.", folder, tmp_path, *described, within=0.05, least=10 * HOP)
    recording = tmp_path / "me.wav"
    soundfile.write(recording, sound(2.0, 24000), 24000)
    clone = ["--clone", recording, "--clone-text", "What I say.", "--quant", "q8_0"]
    assert len(spoken("Good morning.", folder, tmp_path / "quantized.wav", *clone)) > 5 * HOP


@pytest.fixture(scope="module")
def engine(folder: Path) -> Iterator[Engine]:
    yield from speech_engine()


def test_voices_differ_and_stay_the_same(engine: Engine, folder: Path) -> None:
    model = speaker(engine, str(folder))
    assert model.clones
    clone = model.clone(sound(2.0, 24000), "What I say.")
    assert clone.codes is not None
    assert clone.codes.shape[1] == BOOKS

    def said(settings: VoiceSettings, seed: int = 1, **how: float) -> np.ndarray:
        return np.concatenate(list(model.speak("Good morning.", settings, seed=seed, sampling=SpeechSampling(**how))))

    own = said(VoiceSettings())
    np.testing.assert_array_equal(own, said(VoiceSettings()))
    others = (
        said(VoiceSettings(), seed=2),
        said(VoiceSettings(instructions="male")),
        said(VoiceSettings(language="german")),
        said(VoiceSettings(clone=clone)),
        said(VoiceSettings(clone=Clone(clone.vector))),
    )
    for other in others:
        assert len(other) == len(own)
        assert np.abs(own - other).max() > 1e-3
    assert len(said(VoiceSettings(), max_tokens=4)) == 4 * HOP
    faster = list(speak_long_form(model, "Good morning.", VoiceSettings(), SpeechOptions(seed=1, speed=2.0)))
    assert len(np.concatenate(faster)) < 0.7 * len(own)


def test_a_voice_that_nobody_chose_stays_the_same_in_a_long_text(engine: Engine, folder: Path) -> None:
    """What it said first stands before every later passage."""
    model, heard = speaker(engine, str(folder)), []
    speak = model.speak

    def listened(text: str, settings: VoiceSettings, **how: object) -> Iterator[np.ndarray]:
        heard.append((text, settings.after))
        return speak(text, settings, **how)

    model.speak = listened  # type: ignore[method-assign]
    assert model.needs_example(VoiceSettings())
    made = list(speak_long_form(model, TEXT, VoiceSettings(), SpeechOptions(seed=1)))
    assert len(np.concatenate(made)) > 20 * HOP
    (first, nothing), (second, example) = heard
    assert (first, second, nothing) == ("Good morning.", "The cranes are back.", None)
    assert example is not None
    assert example.text == first


def test_what_it_does_not_do_is_said(engine: Engine, folder: Path, tmp_path: Path) -> None:
    model = speaker(engine, str(folder))
    for settings, what in (
        (VoiceSettings(preset="nobody"), "no voices by name"),
        (VoiceSettings(clone=Clone(np.zeros(BOOKS + 1, np.float32))), "another model"),
        (VoiceSettings(clone=Clone(np.full(BOOKS, MASK, np.float32))), "another model"),
        (VoiceSettings(clone=Clone(np.full(BOOKS, 0.5, np.float32))), "another model"),
    ):
        with pytest.raises(BadRequest, match=what):
            model.check(settings)
    with pytest.raises(BadRequest, match="no text"):
        next(model.speak(" ", VoiceSettings()))
    bare = save_omnivoice(tmp_path / "bare")
    (bare / "audio_tokenizer").rename(tmp_path / "elsewhere")
    with pytest.raises(BadRequest, match="audio_tokenizer"):
        speaker(engine, str(bare))


@pytest.fixture(scope="module")
def live(folder: Path) -> Iterator[Live]:
    with voice_server("omnivoice", folder) as up:
        yield up


def test_the_server_speaks_with_it(live: Live) -> None:
    body = {"model": "omnivoice", "input": "Good morning.", "instructions": "female", "language": "english"}
    assert len(spoken_over_http(live, body, [({"voice": "nobody"}, "voice")])) > 10 * HOP


def test_the_window_offers_descriptions_and_cloning(folder: Path) -> None:
    assert capabilities_of(str(folder)) == {"speak"}
    offer = offered(Catalogue({"omnivoice": str(folder)}, use_cache=False), "omnivoice")
    assert offer.clones
    assert not offer.presets
    assert "german" in offer.languages
    assert offer.asks == "female, low pitch, british accent"
    assert offer.problem(SpeakSettings()) == ""
    assert offer.problem(SpeakSettings(saved="Anna")) == ""
