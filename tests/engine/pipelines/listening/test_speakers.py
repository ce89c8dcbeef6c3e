"""Speakers in a transcript: whose each word is, where segments are cut, and every format that names them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import grus
from engine.errors import BadRequest, MissingCapability
from engine.loading import LoadOptions
from engine.pipelines.listening.speakers import SpeakerActivity
from engine.pipelines.listening.transcript import Transcript, TranscriptSegment, TranscriptWord, placed_words, write
from engine.pipelines.listening.transcription import ListenOptions
from tests.asserting import every
from tests.engine.models.test_sortformer import heard
from tests.engine.pipelines.listening.conftest import RATE, talk
from tests.sortformer_checkpoints import save_sortformer
from tests.speech_checkpoints import save_parakeet


class Voices:
    """An engine whose model has heard given rows, ten a second."""

    def __init__(self, *spoken: tuple[float, float, int]) -> None:
        self.rows = np.zeros((100, 3), np.float32)
        for start, end, speaker in spoken:
            self.rows[round(start * 10) : round(end * 10), speaker] = 0.9

    def task(self, model: str, work: Any, admitted: bool = False) -> Any:
        def push(samples: np.ndarray, stream: Any, last: bool) -> Iterator[None]:
            yield
            return self.rows if last else self.rows[:0]  # type: ignore[return-value]

        own = SimpleNamespace(speakers=3, start=lambda: "state", frame=1600, rate=16000, push=push)
        done: Future[Any] = Future()
        run = work(SimpleNamespace(model=own))
        try:
            while True:
                next(run)
        except StopIteration as end:
            done.set_result(end.value)
        return done


def activity(*spoken: tuple[float, float, int]) -> SpeakerActivity:
    made = SpeakerActivity(Voices(*spoken), "voices")  # type: ignore[arg-type]
    made.finish()
    return made


def timed(*words: tuple[str, float, float]) -> TranscriptSegment:
    made = [TranscriptWord(*word) for word in words]
    return TranscriptSegment(made[0].start, made[-1].end, " ".join(word.text for word in made), 0.5, made)


def names_of(activity: SpeakerActivity, segment: TranscriptSegment, shift: float = 0.0) -> list[tuple[str, str]]:
    return [(one.speaker, one.text) for one in activity.attributed(segment, shift)]


def test_a_segment_is_cut_where_another_speaks() -> None:
    both = activity((0.0, 1.0, 2), (1.0, 3.0, 0))
    segment = timed(("Are", 0.0, 0.4), ("you?", 0.4, 0.9), ("Yes,", 1.1, 1.5), ("I", 1.5, 1.8), ("am.", 1.8, 2.5))
    first, second = both.attributed(segment)
    assert (first.speaker, first.text, first.start, first.end) == ("Speaker 1", "Are you?", 0.0, 0.9)
    assert (second.speaker, second.text, second.start, second.end) == ("Speaker 2", "Yes, I am.", 1.1, 2.5)
    assert [word.speaker for word in second.words] == ["Speaker 2"] * 3
    assert names_of(both, TranscriptSegment(4.0, 5.0, "")) == []


def test_numbers_follow_the_transcript_and_stay() -> None:
    one = activity((0.0, 1.0, 2), (1.0, 2.0, 0), (2.0, 3.0, 2))
    for at, name in ((0.2, "Speaker 1"), (1.2, "Speaker 2"), (2.2, "Speaker 1")):
        assert names_of(one, timed(("Word", at, at + 0.5))) == [(name, "Word")]


def test_the_loudest_of_several_has_the_word() -> None:
    assert names_of(activity((0.0, 2.0, 0), (0.5, 2.0, 1)), timed(("Both", 0.0, 1.0)))[0][0] == "Speaker 1"
    voices = activity((0.0, 0.2, 0), (0.1, 1.0, 1))
    assert names_of(voices, timed(("First", 0.0, 0.1), ("second", 0.2, 0.9)))[0] == ("Speaker 1", "First")


def test_words_in_silence_belong_to_the_nearest_voice_and_then_to_the_one_before() -> None:
    voices = activity((0.0, 1.0, 0), (4.0, 5.0, 1))
    assert names_of(voices, timed(("here", 1.2, 1.5))) == [("Speaker 1", "here")]
    said = timed(("one", 0.2, 0.8), ("far", 2.4, 2.6), ("two", 4.2, 4.8))
    assert names_of(voices, said) == [("Speaker 1", "one far"), ("Speaker 2", "two")]
    assert names_of(activity(), timed(("nobody", 1.0, 2.0))) == [("", "nobody")]


def test_a_short_word_inside_another_s_speech_is_theirs() -> None:
    voices = activity((0.0, 1.0, 0), (1.0, 1.2, 1), (1.2, 3.0, 0))
    said = [("so", 0.2, 0.9), ("mm", 1.0, 1.2), ("then", 1.3, 2.0)]
    assert names_of(voices, timed(*said)) == [("Speaker 1", "so mm then")]


def test_without_times_of_words_letters_share_the_segment() -> None:
    voices = activity((0.0, 1.0, 0), (1.0, 2.0, 1))
    made = list(voices.attributed(TranscriptSegment(10.0, 12.0, "aaaa bbbb"), 10.0))
    assert [(one.speaker, one.text, one.start, one.end, one.words) for one in made] == [
        ("Speaker 1", "aaaa", 10.0, 11.0, ()), ("Speaker 2", "bbbb", 11.0, 12.0, ()),
    ]  # fmt: skip


def test_what_lies_before_a_segment_is_forgotten() -> None:
    """However long the recording, as long as its segments are asked for as they come."""
    voices = SpeakerActivity(Voices((0.0, 10.0, 1)), "voices")  # type: ignore[arg-type]
    kept = []
    for minute in range(6):  # ten seconds each
        voices.finish()
        at = 10.0 * minute
        assert names_of(voices, timed(("one", at + 0.2, at + 0.8), ("two", at + 9.0, at + 9.5))) == [
            ("Speaker 1", "one two")
        ]
        kept.append(sum(map(len, voices._rows)))
    assert kept == [100, 200, 200, 200, 200, 200]


SAID = Transcript(
    [
        TranscriptSegment(
            0.0, 1.0, "Are <you>?", 0.9, (TranscriptWord("Are", 0.0, 0.4, "Eva *B*"),), speaker="Eva *B*"
        ),
        TranscriptSegment(1.0, 2.0, "Yes.", speaker="Speaker 2"),
        TranscriptSegment(2.0, 3.0, "I am.", speaker="Speaker 2"),
    ],
    3.0,
    "en",
)


def test_every_format_names_the_speakers() -> None:
    assert write(SAID, "txt") == "Eva *B*: Are <you>?\nSpeaker 2: Yes.\nSpeaker 2: I am.\n"
    assert "00:00:01,000 --> 00:00:02,000\nSpeaker 2: Yes.\n" in write(SAID, "srt")
    assert "\n<v Eva *B*>Are &lt;you&gt;?\n" in write(SAID, "vtt")
    assert write(SAID, "md") == ("**Eva \\*B\\*** [00:00:00] Are <you>?\n\n**Speaker 2** [00:00:01] Yes. I am.\n")
    segments = json.loads(write(SAID, "json"))["segments"]
    assert [segment["speaker"] for segment in segments] == ["Eva *B*", "Speaker 2", "Speaker 2"]
    assert segments[0]["words"][0]["speaker"] == "Eva *B*"


def test_without_speakers_markdown_has_the_times() -> None:
    plain = Transcript([TranscriptSegment(61.0, 62.0, "One."), TranscriptSegment(63.0, 64.0, "Two.")], 70.0, "en")
    assert write(plain, "md") == "[00:01:01] One.\n\n[00:01:03] Two.\n"


# -- with a model


@pytest.fixture(scope="module", params=["torch", "mlx"])
def ears(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[grus.Ears]:
    folder = tmp_path_factory.mktemp("speakers")
    voices = save_sortformer("v2", folder / "sortformer")
    words = save_parakeet("parakeet_tdt", folder / "parakeet")
    options = LoadOptions(backend=request.param, device="cpu")
    with grus.Ears(str(words), options, speakers=str(voices)) as made:
        yield made


def test_a_recording_s_words_have_the_voices_that_the_model_hears(ears: grus.Ears) -> None:
    sound = talk(4)
    plain = ears.listener.listen(grus_audio(sound), ListenOptions(words=True))
    made = ears.listen(sound, rate=RATE, words=True)
    assert made.text == plain.text
    rows = heard(ears.service.load_now(str(ears.speakers)).model, sound, len(sound))
    names: dict[str, int] = {}
    for segment in made.segments:
        assert segment.speaker in ("Speaker 1", "Speaker 2", "Speaker 3", "Speaker 4")
        for word in segment.words:
            assert word.speaker == segment.speaker
            part = rows[int(word.start / 0.08) : max(int(word.start / 0.08) + 1, round(word.end / 0.08))].astype(
                np.float16
            )
            active = np.where(part > 0.5, part, 0).astype(np.float32).sum(0)
            if word.end - word.start >= 0.3 and active.max() > 0:
                assert names.setdefault(word.speaker, int(active.argmax())) == int(active.argmax())
    assert len(names) > 1
    assert len(set(names.values())) == len(names)


def grus_audio(sound: np.ndarray) -> Any:
    from app.runtime.voice import sound_of

    return sound_of(sound, RATE)


def test_words_are_not_given_where_nobody_asked(ears: grus.Ears) -> None:
    made = ears.listen(talk(2), rate=RATE)
    assert made.segments
    assert every(not segment.words and segment.speaker for segment in made.segments)
    assert placed_words(made.segments[0])


def test_a_model_that_tells_no_speakers_apart_is_refused(tmp_path: Any, ears: grus.Ears) -> None:
    folder = str(save_parakeet("parakeet_ctc", tmp_path / "ctc"))
    with pytest.raises(MissingCapability, match="tells who speaks when"):
        grus.Ears(folder, LoadOptions(device="cpu"), speakers=folder)
    activity = SpeakerActivity(ears.service, folder)
    with pytest.raises(BadRequest, match="does not tell speakers apart"):
        activity.feed(talk(1))
