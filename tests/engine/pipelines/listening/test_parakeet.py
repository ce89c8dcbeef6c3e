"""Parakeet from a sound to its transcript, with tiny random models: words in time, live captions, languages, cancelling."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import CancelledError

import numpy as np
import pytest

import grus
from engine.errors import BadRequest
from engine.loading import LoadOptions
from engine.pipelines.listening.parakeet import HOLD, LOOK_BACK, UNKNOWN, ParakeetTranscriber
from engine.pipelines.listening.transcription import Captions, ListenOptions
from engine.tasks import CancelScope
from tests.asserting import every
from tests.engine.pipelines.listening.conftest import RATE, talk, voice
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


def test_what_is_being_said_is_heard_with_a_bounded_look_back(ears: grus.Ears) -> None:
    """However long the speech, no more than the last seconds are encoded again; what was heard once stays."""
    speech, partials = voice(16.0), ears.listener.partials()
    encoded: list[int] = []
    encoder = ears.loaded.model.encoder
    run = encoder.run
    encoder.run = lambda samples: encoded.append(len(samples)) or run(samples)
    try:
        made = [partials.segment(speech[:end], 1.0) for end in range(RATE, len(speech), 9600)]
    finally:
        del encoder.run
    frame = ears.loaded.model.frame
    assert max(encoded) <= (LOOK_BACK + HOLD + 1) * frame + 9600
    assert len(made) == len(encoded) > 20
    assert (made[-1].start, made[-1].end) == (1.0, 1.0 + (len(made) - 1) * 0.6 + 1.0)
    before, after = made[-2].text, made[-1].text
    same = next((i for i, (one, two) in enumerate(zip(before, after)) if one != two), min(len(before), len(after)))
    assert same > 0.5 * len(after)  # all but the end is as it was
    first, whole = made[0].text, ears.listen(speech[:RATE], rate=RATE)
    assert first
    assert whole.seconds == 1.0


def test_a_short_beginning_is_heard_as_at_once(ears: grus.Ears) -> None:
    speech = voice(0.9)
    at_once = ears.listener.segment(speech, 0.0, ears.listener.submit(speech))
    made = ears.listener.partials().segment(speech, 0.0)
    assert made.text == at_once.text
    assert made.confidence == pytest.approx(at_once.confidence, abs=1e-4)


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
