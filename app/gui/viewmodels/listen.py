"""The Listen pane's behaviour: transcribing files one after another, live captions, edits; everything is saved as it arrives."""

from __future__ import annotations

import queue
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from app.gui.store import records
from app.gui.store.database import private_file
from app.gui.store.worker import AppStore
from app.gui.texts import seconds as in_seconds
from app.gui.texts import tr
from app.gui.viewmodels.results import ListedResult, Results
from app.gui.viewmodels.signal import Signal
from app.gui.viewmodels.transcript_edits import SegmentHistory, merged, parted, pattern_of, rewritten, spoken_by
from app.window_engine import StreamRunner
from engine.errors import BadRequest, GrusError
from engine.media.recordings import MEDIA
from engine.pipelines.listening.transcript import (
    FORMATS,
    Transcript,
    TranscriptSegment,
    TranscriptWord,
    as_dict,
    write,
)
from engine.whole_file import whole_file

KIND = "listen"
_NUMBERED = re.compile(r"Speaker (\d+)")
RATE = 16_000
State = Literal["waiting", "listening", "live", "done", "stopped", "failed"]
SOUNDS = (".wav", ".flac", ".mp3", ".ogg", ".opus", ".oga", ".aif", ".aiff", ".au", ".caf", *MEDIA)

__all__ = ["FORMATS", "ListenRecording", "ListenResults"]


@dataclass(eq=False)
class ListenRecording(ListedResult):
    """A recording and its transcript."""

    source: Path
    title: str
    id: int = 0
    state: State = "waiting"
    segments: list[TranscriptSegment] = field(default_factory=list)
    partial: str = ""  # the partial transcript of live speech
    seconds: float = 0.0
    language: str = "en"
    error: str = ""
    began: float = 0.0
    history: SegmentHistory = field(default_factory=SegmentHistory)

    @property
    def share(self) -> float | None:
        if self.state != "listening":
            return None
        return min(1.0, self.segments[-1].end / self.seconds) if self.segments and self.seconds else 0.0

    @property
    def transcript(self) -> Transcript:
        return Transcript(tuple(self.segments), self.seconds, self.language)

    def left(self, now: float) -> float | None:
        """Seconds until it is done, estimated."""
        share = self.share
        return None if not share else (now - self.began) / share * (1 - share)

    def status(self) -> str:
        if self.state == "listening":
            left = self.left(time.monotonic())
            done = tr("{share} %", share=round(100 * (self.share or 0)))
            return done if left is None else f"{done} · " + tr("{time} left", time=in_seconds(left))
        words = {
            "waiting": tr("Waiting"),
            "live": tr("Listening"),
            "stopped": tr("Stopped"),
            "failed": self.error,
        }
        return words.get(self.state) or in_seconds(self.seconds)


class ListenResults(Results[ListenRecording]):
    """`segments_changed(recording)`: its transcript grew or changed. `sounded(recording, samples)`: a live one has more sound."""

    kind = KIND

    def __init__(self, store: AppStore, streams: StreamRunner, say: Callable[..., Any], folder: Path) -> None:
        super().__init__(store, streams, say)
        self._folder = folder
        self.segments_changed, self.sounded = Signal(), Signal()
        self.live_sound: list[np.ndarray] = []  # of the live recording so far
        self.model = ""
        self.speakers = False  # whether they are told apart
        self._sound: queue.SimpleQueue[np.ndarray | None] | None = None  # from the microphone
        self._voices = threading.Lock()  # over what is kept of voices

    def to_record(self, item: ListenRecording) -> records.StoredResult:
        return _to_result(item)

    def from_record(self, record: records.StoredResult) -> ListenRecording:
        return _from_result(record)

    def file_of(self, item: ListenRecording) -> Path:
        return item.source

    # -- files

    def add(self, files: Sequence[Path]) -> None:
        for number, file in enumerate(files):
            self._enqueue(ListenRecording(file, file.name), number == 0)

    def _enqueue(self, item: ListenRecording, choose: bool = True) -> None:
        self._insert(item, lambda: self._begin_next() if item.state == "waiting" else self._keep(item))
        self.listed()
        if choose:
            self.choose(item)

    def _begin_next(self) -> None:
        if any(item.state == "listening" for item in self.items):
            return
        item = next((item for item in reversed(self.items) if item.state == "waiting" and item.id), None)
        if item is None:
            return
        item.state, item.segments, item.error, item.began = "listening", [], "", time.monotonic()
        item.history = SegmentHistory()
        model, speakers, data = self.model, self.speakers, self._folder.parent

        def receive(found: list[Any]) -> None:
            for kind, what in found:
                if kind == "length":
                    item.seconds, item.language = what
                elif kind == "names":
                    own = {_in_own_words(speaker): name for speaker, name in what.items()}
                    item.segments = [spoken_by(one, own.get(one.speaker, one.speaker)) for one in item.segments]
                else:
                    item.segments.append(spoken_by(what, _in_own_words(what.speaker)))
            self._keep(item)
            self.segments_changed(item)
            self.changed(item)

        def ended(problem: str) -> None:
            item.error = problem
            self._settle(item, "failed" if problem else "done")
            self._begin_next()

        self._start(item, lambda core: _transcribed(core, model, item.source, speakers, data), receive, ended)
        self.changed(item)

    def again(self, item: ListenRecording) -> None:
        self.cancel(item)
        item.state, item.segments, item.error, item.history = "waiting", [], "", SegmentHistory()
        self.segments_changed(item)
        self.changed(item)
        self._begin_next()

    def cancel(self, item: ListenRecording) -> bool:
        """False when it neither ran nor waited."""
        if item.state == "live":
            self.end_live()
            return True
        if item.state not in ("listening", "waiting"):
            return False
        self._cancel_running(item)
        self._settle(item, "stopped")
        self._begin_next()
        return True

    # -- live

    @property
    def live(self) -> ListenRecording | None:
        return next((item for item in self.items if item.state == "live"), None)

    def begin_live(self) -> ListenRecording:
        """Start a live recording; `feed_live` then receives the microphone's samples."""
        name = time.strftime("%Y-%m-%d %H.%M.%S")
        item = ListenRecording(self._folder / f"{name}.wav", tr("Recording {time}", time=name), state="live")
        sound: queue.SimpleQueue[np.ndarray | None] = queue.SimpleQueue()
        self._sound, self.live_sound = sound, []
        model = self.model

        def receive(captions: list[Any]) -> None:
            for caption in captions:
                if caption.final:
                    item.segments.append(caption.segment)
                    item.partial = ""
                else:
                    item.partial = caption.segment.text
            self._keep(item)
            self.segments_changed(item)

        def ended(problem: str) -> None:
            self._sound, self.live_sound = None, []
            item.error, item.partial = problem, ""
            self._settle(item, "failed" if problem else "done")
            if item is self.current:
                self.shown()

        self._streams.stream(lambda core: captioned(core, model, sound, item.source), receive, ended)
        self._enqueue(item)
        return item

    def feed_live(self, samples: np.ndarray) -> None:
        if self._sound is not None:
            self._sound.put(samples)
            if (item := self.live) is not None:
                item.seconds += len(samples) / RATE
                self.live_sound.append(samples)
                self.sounded(item, samples)

    def end_live(self) -> None:
        """End the recording: the partial transcript becomes final."""
        if self._sound is not None:
            self._sound.put(None)

    # -- edits

    def edit(self, item: ListenRecording, number: int, text: str) -> None:
        segment = item.segments[number]
        if text != segment.text:
            self._change(item, number, 1, [rewritten(segment, text)])

    def merge(self, item: ListenRecording, number: int) -> bool:
        """A segment with the next one. False where there is none."""
        if not 0 <= number < len(item.segments) - 1:
            return False
        self._change(item, number, 2, [merged(item.segments[number], item.segments[number + 1])])
        return True

    def part(self, item: ListenRecording, number: int, position: int) -> bool:
        """Split a segment before the word at a position of its text. False where one part would be empty."""
        both = parted(item.segments[number], position) if 0 <= number < len(item.segments) else None
        if both is not None:
            self._change(item, number, 1, both)
        return both is not None

    def assign(self, item: ListenRecording, number: int, speaker: str) -> None:
        """One segment is another speaker's."""
        if 0 <= number < len(item.segments) and item.segments[number].speaker != speaker:
            self._change(item, number, 1, [spoken_by(item.segments[number], speaker)])

    def rename(self, item: ListenRecording, old: str, new: str) -> bool:
        """A speaker, in the whole recording and in one edit. False where nothing changes."""
        if not new or new == old or not any(segment.speaker == old for segment in item.segments):
            return False
        made = [spoken_by(one, new) if one.speaker == old else one for one in item.segments]
        self._change(item, 0, len(made), made, (old, new))
        self._keep_voice(item, old, new)
        return True

    def _keep_voice(self, item: ListenRecording, old: str, new: str) -> None:
        """Who is named here is known in the next recording, where a model knows voices again; and no longer by this one, where the name is
        taken back."""
        number = re.search(r"\d+", new)
        nameless = bool(number and new == tr("Speaker {number}", number=number[0]))
        if not item.source.exists():
            return
        segments, data = [one for one in item.segments if one.speaker == new], self._folder.parent

        def keep(core: Any) -> Iterator[None]:
            from app.runtime import pipelines
            from app.runtime.known_voices import KnownVoices, keep_voice, recording_mark
            from engine.media.sound import SoundStream

            mark, known = recording_mark(item.source), KnownVoices(data)
            if nameless:
                with self._voices:
                    known.delete(old, mark)
            elif (verifier := pipelines.verifier(core)) is not None:
                with self._voices:  # one edit after the other, and an undone one not at all
                    sound = SoundStream(item.source, RATE)
                    wanted = lambda: any(one.speaker == new for one in list(item.segments))  # noqa: E731
                    keep_voice(core.engine, verifier, sound, segments, new, mark, known, old, wanted)
            yield

        self._streams.stream(
            keep, lambda _: None, lambda problem: self._say(problem, level="error") if problem else None
        )

    def found(self, item: ListenRecording, find: str, match_case: bool) -> list[int]:
        """The numbers of the segments in which it stands."""
        pattern = pattern_of(find, match_case)
        return [] if pattern is None else [i for i, one in enumerate(item.segments) if pattern.search(one.text)]

    def replace_all(self, item: ListenRecording, find: str, by: str, match_case: bool) -> int:
        """How often it was replaced, in one edit."""
        pattern = pattern_of(find, match_case)
        if pattern is None:
            return 0
        count, new = 0, list(item.segments)
        for i, segment in enumerate(item.segments):
            text, times = pattern.subn(lambda _: by, segment.text)
            if times:
                count, new[i] = count + times, rewritten(segment, " ".join(text.split()))
        if count:
            self._change(item, 0, len(new), new)
        return count

    def undo(self, item: ListenRecording) -> int | None:
        """The number of the segment that is as before, or None."""
        edit = item.history.undo(item.segments)
        if edit is not None and edit.renamed is not None:
            self._keep_voice(item, edit.renamed[1], edit.renamed[0])
        return self._moved(item, None if edit is None else edit.at)

    def redo(self, item: ListenRecording) -> int | None:
        edit = item.history.redo(item.segments)
        if edit is not None and edit.renamed is not None:
            self._keep_voice(item, *edit.renamed)
        return self._moved(item, None if edit is None else edit.at)

    def _change(
        self,
        item: ListenRecording,
        at: int,
        count: int,
        new: Sequence[TranscriptSegment],
        renamed: tuple[str, str] | None = None,
    ) -> None:
        item.history.change(item.segments, at, count, new, renamed)
        self._moved(item, at)

    def _moved(self, item: ListenRecording, at: int | None) -> int | None:
        if at is not None:
            self._keep(item)
            self.segments_changed(item)
        return at

    def at(self, item: ListenRecording, seconds: float) -> int:
        """The index of the segment at this time; -1: none."""
        return next((i for i, s in enumerate(item.segments) if s.start <= seconds < s.end), -1)

    def forget(self) -> None:
        self.end_live()
        super().forget()

    def as_file(self, item: ListenRecording, format: str) -> tuple[str, Callable[[Path], Any]] | None:
        """A name, and what writes the transcript; None while there is none."""
        name = f"{Path(item.title).stem}.{format}"
        return (name, lambda target: self.export(item, format, target)) if item.segments else None

    def export(self, item: ListenRecording, format: str, target: Path) -> Path:
        """Off the UI thread."""
        with whole_file(target) as part:
            part.write_text(write(item.transcript, format), encoding="utf-8")
        return target

    # -- what is kept

    def _settle(self, item: ListenRecording, state: State) -> None:
        item.state = state
        self._keep(item)
        self.changed(item)
        self.segments_changed(item)


def _to_result(item: ListenRecording) -> records.StoredResult:
    body = {
        "segments": [as_dict(segment) for segment in list(item.segments)],
        "seconds": item.seconds,
        "language": item.language,
        "error": item.error,
    }
    return records.StoredResult(item.id, KIND, item.title, str(item.source), body, state=item.state)


def _from_result(result: records.StoredResult) -> ListenRecording:
    """A recording that was in progress when the process ended becomes stopped."""
    body = result.body
    state: Any = result.state if result.state in ("done", "failed") else "stopped"
    segments = [
        TranscriptSegment(
            s["start"],
            s["end"],
            s["text"],
            s.get("confidence", 1.0),
            tuple(
                TranscriptWord(word["text"], word["start"], word["end"], word.get("speaker", ""))
                for word in s.get("words", ())
            ),
            s.get("doubtful", False),
            speaker=s.get("speaker", ""),
        )
        for s in body.get("segments", ())
    ]
    return ListenRecording(
        Path(result.source),
        result.title,
        result.id,
        state,
        segments,
        seconds=body.get("seconds", 0.0),
        language=body.get("language", "en"),
        error=body.get("error", ""),
    )


def _in_own_words(speaker: str) -> str:
    """A speaker's number in the language of the window."""
    numbered = _NUMBERED.fullmatch(speaker)
    return tr("Speaker {number}", number=numbered[1]) if numbered else speaker


def _transcribed(core: Any, model: str, source: Path, speakers: bool, data: Path) -> Iterator[tuple[str, Any]]:
    """Off the UI thread. `data`: where the voices lie that a person has named."""
    from app.runtime import pipelines
    from app.runtime.known_voices import KnownVoices, known_names
    from engine.media.sound import SoundStream
    from engine.pipelines.listening.transcription import ListenOptions

    listener = pipelines.listener(core, model)
    options = ListenOptions(words=True)
    try:
        listener.check(options)
    except BadRequest:  # this model gives no times of words: an aligner does, where there is one
        aligner = pipelines.aligner(core)
        options = ListenOptions(words=aligner is not None, aligner=aligner)
    if speakers:
        options = replace(options, speakers=pipelines.diarizer(core))
    sound, made = SoundStream(source, RATE), list[TranscriptSegment]()  # of any length
    for number, segment in enumerate(listener.segments(sound, options)):
        if number == 0:
            yield "length", (sound.expected, listener.model.language)
        made.append(segment)
        yield "segment", segment
    yield "length", (sound.seconds, listener.model.language)
    if speakers:
        with suppress(GrusError):  # a transcript with numbered speakers is whole without their names
            if (verifier := pipelines.verifier(core)) is not None:
                yield "names", known_names(core.engine, verifier, SoundStream(source, RATE), made, KnownVoices(data))


def captioned(core: Any, model: str, sound: queue.SimpleQueue[np.ndarray | None], keep: Path | None) -> Iterator[Any]:
    """Runs off the UI thread: captions of the samples in the queue, until None. The samples are also written to `keep`."""
    import soundfile

    from app.runtime import pipelines
    from engine.pipelines.listening.transcription import Captions

    captions = Captions(core.engine, pipelines.listener(core, model))
    if keep is not None:
        private_file(keep)
    file = None if keep is None else soundfile.SoundFile(str(keep), "w", RATE, 1, "PCM_16")
    try:
        while (samples := sound.get()) is not None:
            if file is not None:
                file.write(np.clip(samples, -1, 1))
            yield from captions.feed(samples)
        yield from captions.finish()
    finally:
        if file is not None:
            file.close()
