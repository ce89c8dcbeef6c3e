"""Whisper from a sound to its transcript, with a tiny random model: language, timestamps, words, prompt, translation, long sounds."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import grus
from engine.errors import BadRequest
from engine.loading import LoadOptions
from engine.media.sound import Audio
from engine.pipelines.listening.transcription import Captions, ListenOptions
from engine.pipelines.listening.whisper import WhisperTranscriber
from engine.types import Request
from tests.asserting import every
from tests.engine.pipelines.listening.conftest import RATE, silence, talk, voice
from tests.speech_checkpoints import LANGUAGES, save_whisper

START = "<|startoftranscript|>"


@pytest.fixture(scope="module", params=["torch", pytest.param("mlx", marks=pytest.mark.slow)])
def ears(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[grus.Ears]:
    """Its encoder holds four seconds."""
    folder = save_whisper(tmp_path_factory.mktemp("ears") / "whisper-tiny", frames=200)
    with grus.Ears(str(folder), LoadOptions(backend=request.param, device="cpu")) as made:
        yield made


def listened(ears: grus.Ears, sound: np.ndarray, **options: object) -> list:
    assert isinstance(ears.listener, WhisperTranscriber)
    return list(ears.listener.segments(Audio(sound, RATE), ListenOptions(**options)))


def test_segments_follow_each_other_inside_the_sound(ears: grus.Ears) -> None:
    transcript = ears.listen(talk(2), rate=RATE)
    assert transcript.language in LANGUAGES
    assert transcript.segments
    edges = [edge for segment in transcript.segments for edge in (segment.start, segment.end)]
    assert edges == sorted(edges)
    assert 0 <= edges[0] <= edges[-1] <= transcript.seconds
    again = ears.listen(talk(2), rate=RATE)  # what is tried at a higher temperature too is the same each time
    assert [(one.text, one.start, one.end) for one in again.segments] == [
        (one.text, one.start, one.end) for one in transcript.segments
    ]


def test_windows_are_no_longer_than_the_encoder(ears: grus.Ears) -> None:
    sound = np.concatenate([voice(11.0), silence(1.0), voice(0.9, 1), silence(0.6), voice(0.8, 2), silence(1.0)])
    windows = list(ears.listener.parts([sound]))
    assert len(windows) >= 4
    for span, samples in windows:
        assert len(samples) == len(span) <= 4 * RATE
    edges = [edge for span, _ in windows for edge in (span.start, span.stop)]
    assert edges == sorted(edges)
    last, samples = windows[-1]  # two stretches of speech, with nothing between them
    assert len(last) > 1.5 * RATE
    assert (samples == 0).any()
    assert (samples[-1000:] == sound[last.stop - 1000 : last.stop]).all()


@pytest.fixture
def asked(ears: grus.Ears, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The prompts of all requests, as tokens."""
    prompts: list[list[str]] = []
    submit, tokenizer = ears.service.submit, ears.loaded.tokenizer

    def noting(request: Request, **how: object) -> object:
        prompts.append([tokenizer.token(id) for id in request.prompt_ids])
        return submit(request, **how)

    monkeypatch.setattr(ears.service, "submit", noting)
    return prompts


def test_a_language_is_heard_or_named(ears: grus.Ears, asked: list[list[str]]) -> None:
    found = ears.listen(talk(1), rate=RATE).language
    assert found in LANGUAGES
    assert asked[:2] == [[START], [START, f"<|{found}|>", "<|transcribe|>"]]
    asked.clear()
    assert ears.listen(talk(1), rate=RATE, language="ja").language == "ja"
    assert asked[0] == [START, "<|ja|>", "<|transcribe|>"]
    with pytest.raises(BadRequest, match=r"does not know the language 'xx'. It knows: "):
        ears.listen(talk(1), rate=RATE, language="xx")


def test_translation_and_a_prompt(ears: grus.Ears, asked: list[list[str]]) -> None:
    assert ears.listen(talk(1), rate=RATE, language="de", translate=True).language == "en"
    assert asked[0] == [START, "<|de|>", "<|translate|>"]
    asked.clear()
    ears.listen(talk(1), rate=RATE, language="de", prompt="Grus")
    assert asked[0] == ["<|startofprev|>", "Ġ", *"Grus", START, "<|de|>", "<|transcribe|>"]
    asked.clear()
    ears.listen(talk(1), rate=RATE, language="de", own_words="Grus, AB", prompt="C")
    assert asked[0] == ["<|startofprev|>", "Ġ", *"Grus,ĠAB.ĠC", START, "<|de|>", "<|transcribe|>"]
    asked.clear()
    ears.listen(talk(1), rate=RATE, language="de", prompt="Kraniche " * 200)  # its end, half the context
    assert len(asked[0]) == 1 + 160 // 2 - 1 + 3


def test_words_have_times_inside_their_segment(ears: grus.Ears) -> None:
    transcript = ears.listen(talk(2), rate=RATE, words=True)
    assert any(segment.words for segment in transcript.segments)
    for segment in transcript.segments:
        edges = [edge for word in segment.words for edge in (word.start, word.end)]
        assert edges == sorted(edges)
        if segment.words:
            assert " ".join(word.text for word in segment.words).split() == segment.text.split()
            assert segment.start == pytest.approx(edges[0])
            assert edges[-1] <= segment.end + 1e-6


def test_scores_say_what_was_decided(ears: grus.Ears) -> None:
    for segment in listened(ears, talk(2), scores=True):
        assert segment.scores.no_speech is not None
        assert 0 <= segment.scores.no_speech <= 1
        assert segment.scores.temperature in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
        assert segment.scores.compression > 0
        assert segment.tokens
        assert every(token.logprob <= 0 for token in segment.tokens)


def test_a_temperature_that_is_named_is_the_only_one(ears: grus.Ears) -> None:
    found = listened(ears, talk(2), temperature=0.4)
    assert {segment.scores.temperature for segment in found} == {0.4}
    with pytest.raises(BadRequest, match="between 0 and 1"):
        listened(ears, talk(1), temperature=3.0)


def test_silence_has_no_words(ears: grus.Ears) -> None:
    assert ears.listen(silence(3.0), rate=RATE).segments == []


def test_captions_grow_and_become_final(ears: grus.Ears) -> None:
    captions, made = Captions(ears.service, ears.listener), []
    sound = talk(1)
    for at in range(0, len(sound), 1600):
        made += captions.feed(sound[at : at + 1600])
    made += captions.finish()
    assert [caption.final for caption in made][-1:] == [True]
