"""`grus speak`, as a person types it, and the same from Python; with tiny checkpoints that come to an end."""

from __future__ import annotations

import io

import numpy as np
import pytest
import soundfile

import grus
from app.cli import main
from engine.errors import BadRequest
from engine.loading import LoadOptions
from engine.pipelines.speaking.speech import SpeechOptions
from engine.pipelines.speaking.voice import SavedVoices
from tests.app.server.scripted import until
from tests.qwen3_tts_cases import checkpoint, ending

HERE = LoadOptions(backend="auto", device="cpu", dtype="f32")
OPTIONS = SpeechOptions(seed=3)


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("speaks")
    return {kind: str(ending(checkpoint(kind, folder / kind))) for kind in ("base", "custom_voice")}


@pytest.fixture(scope="module")
def shelf(tmp_path_factory):
    return SavedVoices(tmp_path_factory.mktemp("shelf") / "voices")


@pytest.fixture(scope="module")
def speaker(models):
    with grus.Speaker(models["custom_voice"], HERE) as made:
        yield made


@pytest.fixture(scope="module")
def cloner(models, shelf):
    with grus.Speaker(models["base"], HERE, voices=shelf) as made:
        yield made


@pytest.fixture
def recording(tmp_path):
    path = tmp_path / "me.wav"
    beat = np.clip(np.sin(np.arange(44100) / 3000), 0, 1)
    sound = 0.3 * np.sin(np.arange(44100) / 30) * beat
    soundfile.write(path, np.stack([sound, sound], axis=1), 44100)
    return path


@pytest.fixture
def typed(monkeypatch, capsysbinary, tmp_path):
    monkeypatch.setattr("engine.pipelines.speaking.voice.PlatformDirs", lambda *_, **__: _Here(tmp_path))

    def run(*arguments):
        code = main(["speak", *map(str, arguments), "--backend", "auto", "--device", "cpu"])
        out, err = capsysbinary.readouterr()
        return code, out, err.decode()

    return run


class _Here:
    def __init__(self, path):
        self.user_data_dir = str(path)


# -- from Python


def test_a_seed_repeats_a_sound_and_a_stream_is_the_whole(speaker):
    settings = speaker.voice_settings(speaker.voice.presets[0])
    said = speaker.say("Hello there.", settings, OPTIONS)
    assert said.rate == 24000
    assert said.seconds > 0.1
    chunks = list(speaker.stream("Hello there.", settings, OPTIONS))
    assert len(chunks) > 1
    assert np.array_equal(np.concatenate(chunks), said.samples)
    assert not np.array_equal(speaker.say("Hello there.", settings, SpeechOptions(seed=4)).samples, said.samples)


def test_closing_a_stream_frees_the_engine(speaker):
    stream = speaker.stream("A long text to be read. " * 60, speaker.voice_settings(speaker.voice.presets[0]), OPTIONS)
    next(stream)
    stream.close()
    until(lambda: speaker.engine.stats().active == 0)  # the engine's thread ends it, a moment later


def test_a_saved_voice_speaks_as_its_recording_does(cloner, recording):
    cloned = cloner.say("Hello there.", cloner.voice_settings(cloner.clone(recording, "What I say.")), OPTIONS)
    saved = cloner.save_voice("me", recording, "What I say.")
    assert saved.sample.is_file()
    assert np.array_equal(cloner.say("Hello there.", cloner.voice_settings("me"), OPTIONS).samples, cloned.samples)
    with pytest.raises(BadRequest, match="already"):
        cloner.save_voice("me", recording)


def test_a_model_with_voices_of_its_own_takes_no_saved_one(speaker, cloner, recording, monkeypatch):
    cloner.save_voice("other", recording)
    monkeypatch.setattr(speaker, "voices", cloner.voices)
    with pytest.raises(BadRequest, match="clones no voices"):
        speaker.stream("Hello.", speaker.voice_settings("other"))


@pytest.mark.parametrize("kind", ["wav", "flac", "mp3", "opus"])
def test_a_sound_is_saved_by_its_ending(tmp_path, kind):
    said = grus.Spoken(0.3 * np.sin(np.arange(24000) / 10).astype(np.float32), 24000)
    path = said.save(tmp_path / f"hello.{kind}")
    assert soundfile.info(path).duration == pytest.approx(said.seconds, abs=0.1)
    assert list(tmp_path.glob("*.part")) == []


# -- from the command line


def test_a_file_is_written(typed, models, tmp_path):
    target = tmp_path / "hello.flac"
    code, out, err = typed(
        "Hello there.", "-o", target, "--voice", "eric", "--seed", 3, "--model", models["custom_voice"]
    )
    assert (code, out) == (0, b"")
    assert "s of sound" in err
    assert soundfile.info(target).duration > 0.1


def test_a_stream_is_a_wav_on_standard_output(typed, models, monkeypatch):
    code, out, _ = typed("Hello there.", "--stream", "--voice", "eric", "--seed", 3, "--model", models["custom_voice"])
    assert code == 0
    samples, rate = soundfile.read(io.BytesIO(out))
    assert rate == 24000
    assert len(samples) > 2400


def test_a_voice_is_cloned_saved_listed_and_used(typed, models, recording, tmp_path):
    clone = ("--clone", recording, "--clone-text", "What I say.", "--model", models["base"])
    code, out, err = typed("--voices")
    assert (code, out) == (0, b"")
    assert "No voice is saved." in err
    code, _, err = typed(*clone, "--save-voice", "me")
    assert code == 0, err
    assert "Saved as me" in err
    assert typed("--voices")[1].startswith(b"me/")
    target = tmp_path / "hello.wav"
    assert typed("Hello there.", "--voice", "me", "--seed", 3, "-o", target, "--model", models["base"])[0] == 0
    assert soundfile.info(target).duration > 0.1


def test_the_voices_of_a_model(typed, models):
    assert typed("--voices", "--model", models["custom_voice"])[1].split() == [b"eric", b"vivian"]


def test_who_names_no_voice_hears_the_model_s_first(typed, models, tmp_path):
    files = [tmp_path / "unnamed.wav", tmp_path / "named.wav"]
    for file, chosen in zip(files, ([], ["--voice", "eric"])):
        assert typed("Hello.", *chosen, "--seed", 3, "-o", file, "--model", models["custom_voice"])[0] == 0
    assert files[0].read_bytes() == files[1].read_bytes()


@pytest.mark.parametrize(("arguments", "message"), [
    (["", "--voice", "eric"], "empty"),
    (["Hello.", "--voice", "nobody"], "no voice 'nobody'"),
    (["Hello.", "--voice", "eric", "--language", "klingon"], "klingon"),
    (["Hello.", "--voice", "eric", "--speed", "9"], "speed must be"),
    (["Hello.", "--voice", "eric", "-o", "hello.wma"], "not as 'wma'"),
    (["Hello.", "--voice", "eric", "--file", "x.txt"], "one of the two"),
    (["--file", "none.txt", "--voice", "eric"], "cannot be read"),
    (["Hello.", "--voice", "eric", "--clone", "me.wav"], "not both"),
    (["Hello.", "--clone", "none.wav"], "is not a file"),
    (["Hello.", "--voice", "eric", "-o", "nowhere/a.wav"], "folder nowhere does not exist"),
    (["Hello.", "--save-voice", "me"], "goes with --clone"),
    (["Hello.", "--voice", "eric", "--clone-text", "What I say."], "goes with --clone"),
    ([], "one of the two"),
])  # fmt: skip
def test_what_cannot_be(typed, models, monkeypatch, tmp_path, arguments, message):
    monkeypatch.chdir(tmp_path)
    where = [] if "-o" in arguments else ["-o", "out.wav"]
    code, _, err = typed(*arguments, *where, "--model", models["custom_voice"])
    assert code == 2
    assert message in err
    assert list(tmp_path.glob("out*")) == []
