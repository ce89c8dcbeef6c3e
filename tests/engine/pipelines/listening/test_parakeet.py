"""Parakeet from a sound to its transcript, with tiny random models: words in time, live captions, languages, cancelling."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import CancelledError

import numpy as np
import pytest

import grus
from engine.errors import BadRequest
from engine.loading import LoadOptions
from engine.pipelines.listening.parakeet import UNKNOWN, ParakeetTranscriber
from engine.pipelines.listening.transcription import Captions, ListenOptions
from engine.tasks import CancelScope
from tests.asserting import every
from tests.engine.pipelines.listening.conftest import RATE, talk
from tests.speech_checkpoints import save_parakeet


@pytest.fixture(scope="module", params=["parakeet_ctc", "parakeet_tdt"])
def ears(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[grus.Ears]:
    folder = save_parakeet(request.param, tmp_path_factory.mktemp("ears") / request.param)
    with grus.Ears(str(folder), LoadOptions(backend="auto", device="cpu")) as made:
        yield made


def test_words_follow_each_other_inside_their_segment(ears: grus.Ears) -> None:
    transcript = ears.listen(talk(2), rate=RATE, words=True)
    assert transcript.language == "en"
    assert len(transcript.segments) == 2
    for segment in transcript.segments:
        assert segment.text
        assert 0 < segment.confidence <= 1
        assert segment.words[0].start == pytest.approx(segment.start)
        assert (
            every(one.end == two.start for one, two in zip(segment.words, segment.words[1:])) or len(segment.words) == 1
        )
        assert every(word.start <= word.end <= segment.end + 1e-6 for word in segment.words)


def test_captions_end_as_the_whole_is_heard(ears: grus.Ears) -> None:
    captions = Captions(ears.service, ears.listener)
    made = [caption for piece in np.array_split(talk(2), 20) for caption in captions.feed(piece)] + captions.finish()
    assert sum(caption.final for caption in made) == 2
    assert not made[0].final


def test_what_it_cannot(ears: grus.Ears) -> None:
    for given, message in ((dict(language="de"), "the language 'de'"), (dict(translate=True), "does not translate")):
        with pytest.raises(BadRequest, match=message):
            ears.listen(talk(1), rate=RATE, **given)


def test_a_large_vocabulary_knows_the_languages_of_europe(ears: grus.Ears) -> None:
    many = ParakeetTranscriber(ears.service, ears.listener.model, 8193)
    assert many.model.language == UNKNOWN
    many.check_language("de")
    many.submit(np.zeros(RATE, np.float32), ListenOptions("de")).result()
    assert many.model.language == "de"
    many.submit(np.zeros(RATE, np.float32)).result()
    assert many.model.language == UNKNOWN  # what one sound was said to be is not true of the next
    with pytest.raises(BadRequest, match="the language 'ja'"):
        many.check_language("ja")


def test_a_cancelled_scope_hears_nothing_more(ears: grus.Ears) -> None:
    scope = CancelScope(ears.service)
    listener = ParakeetTranscriber(scope, ears.listener.model, 260)
    scope.cancel()
    with pytest.raises(CancelledError):
        listener.submit(talk(1))
