"""Pocket-TTS from a text to its sound: how texts are prepared and cut, voices, cloning, the end of a passage; with a tiny random model."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
import torch

import grus
from engine.errors import BadRequest, WeightsError
from engine.loading import LoadOptions
from engine.pipelines.speaking.pocket_tts import CODEC, EndOfSpeech, PocketTTS, codec_of, ended, read_voice
from engine.pipelines.speaking.speech import SpeechOptions
from engine.pipelines.speaking.voice import Clone, SpeechSampling, VoiceSettings
from tests.pocket_checkpoints import LATENT, codec, processor, save_pocket, talker, voice

GREEDY = SpeechSampling(temperature=0.0)
LONG = "The cranes have come back from the south, and at dawn they dance. " * 8 + "It costs 3.5 euros; is it so? Yes!"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_pocket(tmp_path_factory.mktemp("speaks") / "pocket")


@pytest.fixture(scope="module")
def speaker(folder: Path) -> Iterator[grus.Speaker]:
    with grus.Speaker(str(folder), LoadOptions(backend="auto", device="cpu")) as made:
        yield made


def own(speaker: grus.Speaker) -> PocketTTS:
    assert isinstance(speaker.voice, PocketTTS)
    return speaker.voice


def reference(text: str, latents: np.ndarray) -> np.ndarray:
    """The processor, the model and the codec, one chunk."""
    p = processor()
    content = [{"type": "audio"}, {"type": "text", "text": text}]
    prompt = p.apply_chat_template([{"role": "user", "content": content}])
    inputs = p(text=prompt, audio_prompt_latents=[torch.from_numpy(latents)], return_tensors="pt")
    made = talker().generate(**inputs, do_sample=False, return_dict_in_generate=True)
    return np.asarray(p.decode(made.audio_latents, made.audio_latents_mask)[0].numpy())


@pytest.mark.parametrize("text", ["Good morning!", "The cranes have come back from the south."])
@pytest.mark.parametrize("name", ["alba", "marius"])
def test_a_passage_is_the_reference_s(speaker: grus.Speaker, text: str, name: str) -> None:
    """Its length too: a short text has four frames behind the end, others two."""
    wanted = reference(text, voice(("alba", "marius").index(name)))
    sound = own(speaker).speak(text, VoiceSettings(preset=name), sampling=GREEDY)
    made = np.concatenate(list(sound))
    assert len(made) == len(wanted) > 100
    np.testing.assert_allclose(made, np.clip(wanted, -1, 1), atol=1e-3)


def test_it_comes_in_pieces_as_it_is_made(speaker: grus.Speaker) -> None:
    text = "The cranes have come back from the south."
    pieces = list(own(speaker).speak(text, VoiceSettings(), sampling=GREEDY))
    whole = list(own(speaker).speak(text, VoiceSettings(), sampling=GREEDY, buffered=True))
    assert len(pieces[0]) <= 2 * 24 < sum(map(len, pieces))
    np.testing.assert_allclose(np.concatenate(pieces), np.concatenate(whole), atol=1e-5)


def test_a_seed_repeats_it_and_the_temperature_is_the_checkpoint_s(speaker: grus.Speaker) -> None:
    first, again, other = (speaker.say(LONG, VoiceSettings(), SpeechOptions(seed=seed)).samples for seed in (1, 1, 2))
    np.testing.assert_allclose(first, again, atol=1e-4)  # batches differ
    assert len(first) != len(other) or np.abs(first - other).max() > 0.01


def test_long_texts_are_cut_as_the_reference_cuts_them(speaker: grus.Speaker) -> None:
    for text in (LONG, "It costs 3.5 euros! Is it so? Yes, the cranes: they dance.", "a" * 300, "The cranes, " * 40):
        voice = own(speaker)
        assert voice.split(voice.prepared(text)) == processor().split_text(text)
    assert len(own(speaker).split(LONG)) > 2


@pytest.mark.parametrize(("text", "wanted"), [
    ("hello\n  there", "Hello there."), ("Well, yes -", "Well, yes."), ('He said "no"', 'He said "no".'), ("Why?", "Why?"),
    ("(so it is,)", "(so it is.)"),
])  # fmt: skip
def test_without_a_template_a_text_begins_and_ends_as_a_sentence(text: str, wanted: str) -> None:
    assert ended(text) == wanted


def test_marks_in_a_text_are_no_voice(speaker: grus.Speaker) -> None:
    assert own(speaker).prepared("Good <|audio_prompt|>morning<|audio_bos|>!") == "Good morning!"


def test_the_end_of_speech_waits_and_counts() -> None:
    end, seen = EndOfSpeech(-4.0, 3, 2), []
    for logit in (9.0, 9.0, -5.0, -3.0, -9.0, 9.0):
        end.add(logit)
        seen.append(end.over)
    assert seen == [False, False, False, False, False, True]


# -- voices


def test_a_recording_is_cloned_as_the_reference_encodes_it(speaker: grus.Speaker) -> None:
    """Up to its last sound, faded out, and a short pause behind it."""
    sound = np.zeros(24000, np.float32)
    sound[3000:17000] = np.random.default_rng(2).standard_normal(14000).astype(np.float32) * 0.2
    given = processor().feature_extractor(sound, sampling_rate=24000)
    with torch.no_grad():
        wanted = codec().encode(given["input_values"], given["padding_mask"]).latents[0].numpy()
    clone = own(speaker).clone(sound, "of no use")
    made = clone.vector.reshape(-1, LATENT)
    assert made.shape == wanted.shape
    np.testing.assert_allclose(made, wanted, atol=2e-4)
    assert len(speaker.say("Good morning!", VoiceSettings(clone=clone)).samples) > 100


@pytest.mark.parametrize(("settings", "message"), [
    (VoiceSettings(preset="nobody"), "no voice 'nobody'. Choose one of alba, marius"),
    (VoiceSettings(instructions="sad"), "no instructions"),
    (VoiceSettings(language="german"), "one language"),
    (VoiceSettings(clone=Clone(np.zeros(LATENT + 1, np.float32))), "made for another model"),
    (VoiceSettings(preset="alba", clone=Clone(np.zeros(LATENT, np.float32))), "not both"),
])  # fmt: skip
def test_what_it_cannot(speaker: grus.Speaker, settings: VoiceSettings, message: str) -> None:
    with pytest.raises(BadRequest, match=message):
        own(speaker).check(settings)


def test_without_voices_a_recording_is_needed(tmp_path: Path) -> None:
    folder = save_pocket(tmp_path / "none", voices=())
    with grus.Speaker(str(folder), LoadOptions(backend="auto", device="cpu")) as made:
        assert own(made).presets == []
        with pytest.raises(BadRequest, match="needs a recording"):
            own(made).check(VoiceSettings())


def test_a_damaged_voice_is_named(tmp_path: Path) -> None:
    safetensors.numpy.save_file({"voice": voice(0)}, tmp_path / "good.safetensors")
    np.testing.assert_array_equal(read_voice(tmp_path / "good.safetensors", LATENT), voice(0))
    safetensors.numpy.save_file({"a": voice(0), "b": voice(0)}, tmp_path / "two.safetensors")
    safetensors.numpy.save_file({"voice": voice(0)[None, None, :, :4]}, tmp_path / "narrow.safetensors")
    (tmp_path / "cut.safetensors").write_bytes(b"nothing")
    for name in ("two", "narrow", "cut"):
        with pytest.raises(WeightsError, match=name):
            read_voice(tmp_path / f"{name}.safetensors", LATENT)


def test_the_codec_lies_beside_it_or_is_named(folder: Path, tmp_path: Path) -> None:
    assert codec_of(folder) == str(folder / "audio_tokenizer")
    assert codec_of(tmp_path) == CODEC
    for name, wanted in (("owner/codec", "owner/codec"), ("/etc", CODEC), (3, CODEC)):
        about = {"audio_tokenizer": {"audio_tokenizer_name_or_path": name}}
        (tmp_path / "processor_config.json").write_text(json.dumps(about))
        assert codec_of(tmp_path) == wanted
