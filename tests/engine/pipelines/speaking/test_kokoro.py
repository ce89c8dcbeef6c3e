"""Kokoro from a text to its sound: phonemes, how they are cut, voices' files, languages, speed; with a tiny random model."""

from __future__ import annotations

import pickle
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
import torch

import grus
from engine.errors import BadRequest, WeightsError
from engine.hub.download import wanted
from engine.loading import LoadOptions
from engine.pipelines.speaking.kokoro import KokoroVoice, read_voice
from engine.pipelines.speaking.phonemes import begun, cut, kokoro_signs, phonemes
from engine.pipelines.speaking.speech import SpeechOptions
from engine.pipelines.speaking.voice import VoiceSettings
from tests.asserting import every
from tests.kokoro_checkpoints import save_kokoro, voice
from tests.needs import need_program


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_kokoro(tmp_path_factory.mktemp("speaks") / "kokoro")


@pytest.fixture(scope="module")
def speaker(folder: Path) -> Iterator[grus.Speaker]:
    with grus.Speaker(str(folder), LoadOptions(backend="auto", device="cpu")) as made:
        yield made


def own(speaker: grus.Speaker) -> KokoroVoice:
    assert isinstance(speaker.voice, KokoroVoice)
    return speaker.voice


# -- phonemes


@pytest.mark.parametrize(("spoken", "language", "wanted"), [
    ("həlˈo^ʊ wˈɜːld", "en-us", "həlˈO wˈɜɹld"),
    ("həlˈə^ʊ wˈɜːld", "en-gb", "həlˈQ wˈɜːld"),
    ("bˈɜːɾɚ d^ʒˈe^ɪn", "en-us", "bˈɜɹTəɹ ʤˈAn"),
    ("bɔ̃ʒˈuʁ (^e^n)wiːkˈɛnd(^f^r)", "fr-fr", "bɔ̃ʒˈuʁ wiːkˈɛnd"),
    ("ˈot^ʃo", "es", "ˈoʧo"),
])  # fmt: skip
def test_what_espeak_writes_in_kokoro_s_signs(spoken: str, language: str, wanted: str) -> None:
    assert kokoro_signs(spoken, language) == wanted


def test_punctuation_and_given_phonemes_stay() -> None:
    need_program("espeak-ng")
    made = phonemes('Well, 3.5 cats (two)! "Yes" — [Kokoro](/kˈOkəɹO/).', "en-us")
    assert made.startswith("wˈɛl, θɹˈi pYnt fˈIv kˈæts (t")
    assert made.endswith(')! "jˈɛs" — kˈOkəɹO.')
    assert phonemes("... — ?!", "en-us") == "... — ?!"


def test_passages_are_cut_where_the_reference_cuts() -> None:
    """At the last sentence's end, if what follows fits; else at a comma; else at a space. Nothing is lost."""
    assert cut("abc def.") == ["abc def."]
    sentence, long = "a" * 98 + ". ", "b" * 99 + " "
    assert [len(part) for part in cut((sentence * 6).strip())] == [499, 99]
    assert [len(part) for part in cut(("c" * 98 + ", " + long * 5).strip())] == [99, 499]
    assert [len(part) for part in cut((long * 6).strip())] == [499, 99]
    assert [len(part) for part in cut("d" * 1200)] == [510, 510, 180]
    text = ("one two, three; four. " * 100).strip()
    assert every(0 < len(part) <= 510 for part in cut(text))
    assert " ".join(cut(text)) == text


@pytest.mark.parametrize(("spelled", "first"), [
    ("həlˈO. ənd mˈɔɹ.", "həlˈO."),
    ("wˈʌn sˈɛntəns ˈoʊnli", "wˈʌn sˈɛntəns ˈoʊnli"),
    ("a " * 8 + "bcd, " + "e " * 30 + ". f", "a " * 8 + "bcd,"),
    ("ab, " + "e " * 30 + ". f", "ab, " + "e " * 30 + "."),
])  # fmt: skip
def test_the_beginning_is_short_so_that_it_is_heard_early(spelled: str, first: str) -> None:
    parts = begun(spelled)
    assert parts[0] == first
    assert " ".join(parts) == spelled


# -- voices


def test_a_voice_is_read_from_each_kind_of_file(tmp_path: Path) -> None:
    style = voice(3)
    torch.save(torch.from_numpy(style), tmp_path / "af_a.pt")
    np.save(tmp_path / "af_b.npy", style)
    safetensors.numpy.save_file({"voice": style}, tmp_path / "af_c.safetensors")
    for name in ("af_a.pt", "af_b.npy", "af_c.safetensors"):
        np.testing.assert_array_equal(read_voice(tmp_path / name), style[:, 0])
    torch.save(torch.from_numpy(style).bfloat16(), tmp_path / "af_d.pt")
    np.testing.assert_allclose(read_voice(tmp_path / "af_d.pt"), style[:, 0], rtol=0.01)


class _Runs:
    def __reduce__(self) -> Any:
        return (exec, ("open('ran', 'w')",))


def test_a_voice_s_file_runs_no_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with zipfile.ZipFile("af_x.pt", "w") as archive:
        archive.writestr("af_x/data.pkl", pickle.dumps(_Runs()))
    with pytest.raises(WeightsError, match=r"builtins\.exec"):
        read_voice(Path("af_x.pt"))
    np.save("af_y.npy", np.array([_Runs()], object), allow_pickle=True)
    Path("af_z.pt").write_bytes(b"nothing")
    np.save("af_w.npy", np.zeros((3, 4), np.int32))
    for name in ("af_y.npy", "af_z.pt", "af_w.npy"):
        with pytest.raises(WeightsError):
            read_voice(Path(name))
    assert not Path("ran").exists()


def test_voices_are_listed_and_mixed(speaker: grus.Speaker) -> None:
    """Japanese ones are left out: there are no phonemes for them."""
    assert own(speaker).presets == ["af_heart", "am_adam", "bf_emma", "ff_siwis"]
    mixed = own(speaker)._style(["af_heart", "am_adam"])
    np.testing.assert_allclose(mixed, (voice(0)[:, 0] + voice(1)[:, 0]) / 2, rtol=1e-6)


@pytest.mark.parametrize(("settings", "message"), [
    (VoiceSettings(preset="zf_xiaoni"), "has no voice 'zf_xiaoni'"),
    (VoiceSettings(language="japanese"), "does not speak 'japanese'"),
    (VoiceSettings(instructions="sad"), "takes no instructions"),
])  # fmt: skip
def test_what_it_cannot(speaker: grus.Speaker, settings: VoiceSettings, message: str) -> None:
    with pytest.raises(BadRequest, match=message):
        own(speaker).check(settings)


def test_the_language_is_the_voice_s_unless_one_is_named(speaker: grus.Speaker) -> None:
    voice = own(speaker)
    for settings, language in (
        (VoiceSettings(preset="ff_siwis"), "fr-fr"),
        (VoiceSettings(preset="bf_emma", language="english"), "en-gb"),
        (VoiceSettings(preset="af_heart", language="pt-BR"), "pt-br"),
        (VoiceSettings(language="french"), "fr-fr"),
        (VoiceSettings(), "en-us"),
    ):
        assert voice._language(settings, voice._named(settings)) == language
    assert voice._named(VoiceSettings(language="french")) == ["ff_siwis"]


def test_without_espeak_a_sentence_says_what_to_install(speaker: grus.Speaker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(BadRequest, match="apt install espeak-ng"):
        own(speaker).check(VoiceSettings())


# -- sound


def test_a_text_is_spoken_and_a_seed_repeats_it(speaker: grus.Speaker) -> None:
    need_program("espeak-ng")
    text = "Good morning. The cranes have come back from the south."
    first, again, other = (speaker.say(text, VoiceSettings(), SpeechOptions(seed=seed)) for seed in (1, 1, 2))
    assert first.rate == 24000
    assert first.seconds > 0.02
    np.testing.assert_array_equal(first.samples, again.samples)
    assert len(first.samples) != len(other.samples) or np.abs(first.samples - other.samples).max() > 0
    assert len(list(own(speaker).speak(text, VoiceSettings(), seed=1))) == 2  # a sentence at a time


def test_its_own_speed_and_not_a_stretched_sound(speaker: grus.Speaker) -> None:
    need_program("espeak-ng")
    voice = own(speaker)
    slow, fast = (
        speaker.say("One two three four.", VoiceSettings(), SpeechOptions(seed=1, speed=s)) for s in (0.5, 2.0)
    )
    assert slow.seconds > 1.5 * fast.seconds
    assert voice.speed == 1.0  # of the next one


def test_a_download_brings_the_weights_and_every_voice() -> None:
    names = [
        ".gitattributes", "README.md", "SAMPLES.md", "config.json", "kokoro-v1_0.pth", "samples/HEARME.wav",
        "voices/af_heart.pt", "voices/zf_xiaoni.pt",
    ]  # fmt: skip
    assert wanted(names) == ["config.json", "kokoro-v1_0.pth", "voices/af_heart.pt", "voices/zf_xiaoni.pt"]
