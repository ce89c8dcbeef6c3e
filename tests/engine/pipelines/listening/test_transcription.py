"""From a sound to its transcript, with a tiny real model and the real voice activity."""

from __future__ import annotations

import time

import numpy as np
import pytest
import soxr

from engine.errors import BadRequest
from engine.media.sound import Audio
from engine.pipelines.listening.transcription import AsrModel, Transcriber, asr_model, loop_start
from engine.pipelines.listening.voice_activity import SampleSpan
from engine.types import Result, Timings
from tests.engine.pipelines.listening.conftest import RATE, silence, talk


def test_segments_lie_where_speech_is(ears):
    transcript = ears.listen(talk(), rate=RATE)
    assert len(transcript.segments) == 3
    begins = 0.8
    for seed, segment in enumerate(transcript.segments):
        length = 1.2 + 0.3 * seed
        assert segment.start == pytest.approx(begins, abs=0.25)
        assert segment.end == pytest.approx(begins + length, abs=0.35)
        assert 0.0 < segment.confidence <= 1.0
        begins += length + 0.9
    assert transcript.text


def test_several_rates_give_the_same_segments(ears):
    wide = soxr.resample(talk(), RATE, 44100)
    made, wanted = ears.listen(wide, rate=44100), ears.listen(talk(), rate=RATE)
    assert [s.start for s in made.segments] == pytest.approx([s.start for s in wanted.segments], abs=0.07)


def test_progress_only_grows_and_reaches_the_end(ears):
    shares = []
    ears.listen(talk(), rate=RATE, progress=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_silence_has_no_words(ears):
    assert ears.listen(silence(3.0), rate=RATE).text == ""
    assert ears.listen(np.zeros(RATE, np.float32), rate=RATE).segments == []


def test_words_have_times_inside_their_segment(ears):
    transcript = ears.listen(talk(), rate=RATE, words=True)
    assert any(segment.words for segment in transcript.segments)
    for segment in transcript.segments:
        assert [word.text for word in segment.words] == segment.text.split()
        edges = [edge for word in segment.words for edge in (word.start, word.end)]
        assert edges == sorted(edges)
        assert segment.words[0].start == segment.start
        assert segment.words[-1].end == pytest.approx(segment.end)


def test_evictions_change_nothing(ears, small):
    """A sequence that lost its slot gets its sound again when it comes back."""
    sound = talk(6)
    wanted = [segment.text for segment in ears.listen(sound, rate=RATE).segments]
    tight = small(decode_tokens_per_seq=4, host_memory_limit="1")
    memory = tight.engine._manager.executors[tight.listener.model.name].memory
    memory.loaded_budget = int(memory.kv.bytes_for(64) * 2.5)
    made = [segment.text for segment in tight.listen(sound, rate=RATE).segments]
    assert made == wanted


class CountingEngine:
    """An engine whose replies say which piece they are about; it notes how many were asked for when one is waited for."""

    def __init__(self):
        self.asked, self.read = [], []

    def submit(self, request, *, admitted=False):
        self.asked.append(int(request.sound.samples[0]))
        return Reply(self, self.asked[-1])


class Reply:
    def __init__(self, engine, piece):
        self.engine, self.piece, self.ended = engine, piece, False

    def result(self):
        self.engine.read.append((self.piece, len(self.engine.asked)))
        return Result("", f"piece {self.piece}", (1,), "stop", Timings())

    def cancel(self):
        self.ended = True


def test_pieces_are_asked_for_together_and_come_back_in_order(monkeypatch):
    count, length = 70, RATE // 2
    sound = np.repeat(np.arange(count, dtype=np.float32), length)
    spans = [SampleSpan(i * length, (i + 1) * length) for i in range(count)]
    parts = [(span, sound[span.start : span.stop]) for span in spans]
    monkeypatch.setattr(Transcriber, "parts", lambda self, blocks: iter(parts))
    engine = CountingEngine()
    listener = Transcriber(engine, AsrModel("ears", 1, 100, "en", lambda ids: "", lambda id: b"", lambda text: []))
    transcript = listener.listen(Audio(sound, RATE))
    assert [segment.text for segment in transcript.segments] == [f"piece {i}" for i in range(count)]
    edges = [edge for segment in transcript.segments for edge in (segment.start, segment.end)]
    assert edges == sorted(edges)
    assert (edges[0], edges[-1]) == (0.0, transcript.seconds)
    assert engine.read == [(i, min(count, i + 32)) for i in range(count)]  # so many are with the engine at once


def test_a_language_that_the_model_does_not_hear(ears):
    with pytest.raises(BadRequest, match="transcribes 'en', not 'ja'"):
        ears.listen(talk(1), rate=RATE, language="ja")
    assert ears.listen(talk(1), rate=RATE, language="en").language == "en"


def test_closing_the_iterator_cancels_what_waits(ears):
    segments = ears.listener.segments(Audio(talk(6), RATE))
    next(segments)
    segments.close()
    deadline = time.monotonic() + 10
    while not ears.engine.idle and time.monotonic() < deadline:
        time.sleep(0.01)
    assert ears.engine.idle


def test_a_model_that_does_not_listen():
    class Chat:
        config = {"model_type": "qwen3"}  # noqa: RUF012

    with pytest.raises(BadRequest, match="does not listen"):
        asr_model("qwen", Chat())


@pytest.mark.parametrize(("text", "start"), [
    ("a b c d e f", None),
    ("no no no", None),
    ("no no no no no", 1),
    ("so it goes so it goes so it goes so it goes so it goes", 3),
    ("well so it goes so it goes so it goes so it goes then", 4),
    ("", None),
])  # fmt: skip
def test_loops(text, start):
    assert loop_start(text.split()) == start
