"""Kokoro from a text to its sound: phonemes, how they are cut, voices' files, languages, speed; with a tiny random model."""

from __future__ import annotations

import pickle
import shutil
import zipfile
from collections.abc import Iterator
from itertools import pairwise
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
from engine.pipelines.speaking.kokoro import KokoroVoice, read_voice, windows
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
    parts = list(begun([spelled]))
    assert parts[0] == first
    assert " ".join(parts) == spelled


def test_for_the_beginning_no_more_is_spelled_than_it_needs() -> None:
    taken: list[str] = []

    def pieces(*given: str) -> Iterator[str]:
        for piece in given:
            taken.append(piece)
            yield piece

    said = begun(pieces("həlˈO", ".", " ", "ænd", ",", " ", "mˈɔɹ", "."))
    assert next(said) == "həlˈO."
    assert taken == ["həlˈO", ".", " "]
    assert list(said) == ["ænd, mˈɔɹ."]
    taken.clear()
    said = begun(pieces("a " * 8 + "bcd", ",", " ", "e " * 20, ",", " ", "f", "."))
    assert next(said) == "a " * 8 + "bcd,"
    assert len(taken) == 4  # whether the first sentence is a short one
    assert list(said) == ["e " * 20 + ", f."]


def test_windows_end_between_words_and_each_is_longer_than_the_one_before() -> None:
    signs = list("ab cd efg hi jkl mnop qr st uvw xyz ab cd efg hi")
    durations = np.array([5, *np.random.default_rng(0).integers(2, 9, len(signs)), 8])
    made = list(windows(signs, durations))
    assert len(made) > 2
    assert [begin for begin, _ in made] == [0, *(end for _, end in made[:-1])]
    assert made[-1][1] == durations.sum()
    ends = np.cumsum(durations)
    between = {int(ends[i + 1]) for i, sign in enumerate(signs) if sign == " "}
    assert every(end in between for _, end in made[:-1])
    lengths = [end - begin for begin, end in made]
    assert lengths[0] < 40
    assert every(one < other for one, other in pairwise(lengths[:-1]))
    assert every(other <= 4 * one for one, other in pairwise(lengths))  # heard before the next is due
    assert next(windows(["a"] * 100, np.full(102, 2))) == (0, 26)  # nothing to cut at
    assert list(windows(["a"], np.array([3, 5, 3]))) == [(0, 11)]


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
    assert len(list(own(speaker).speak(text, VoiceSettings(), seed=1))) > 1  # part by part


def test_the_first_passage_is_heard_window_by_window(speaker: grus.Speaker) -> None:
    """As long as the whole, the same every time, and without a step where two windows meet."""
    need_program("espeak-ng")
    voice = own(speaker)
    text = "The cranes have come back from the south and dance."
    parts = list(voice.speak(text, VoiceSettings(), seed=1))
    (whole,) = voice.speak(text, VoiceSettings(), seed=1, buffered=True)
    assert len(parts) > 1
    assert len(parts[0]) < len(whole) / 2
    made = np.concatenate(parts)
    assert len(made) == len(whole)
    np.testing.assert_array_equal(made, np.concatenate(list(voice.speak(text, VoiceSettings(), seed=1))))
    assert np.corrcoef(made, whole)[0, 1] > 0.99  # norms over a window are not those over the whole passage
    seam = len(parts[0])
    assert np.abs(np.diff(made[seam - 20 : seam + 20])).max() <= np.abs(np.diff(made)).max()


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
