"""The Speak pane's behaviour: text to speech as it is generated, and saved voices."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from app.gui.store import records
from app.gui.store.database import private_file
from app.gui.store.worker import AppStore
from app.gui.texts import in_language, mark, tr
from app.gui.texts import seconds as in_seconds
from app.gui.viewmodels.playback import Playback
from app.gui.viewmodels.results import ListedResult, Results
from app.gui.viewmodels.signal import Signal
from app.gui.viewmodels.speak_book import BookShare, BookWork, spoken_book, work_from_record
from app.window_engine import JobRunner, StreamRunner
from engine.errors import BadRequest, UnreadableFile
from engine.pipelines.speaking.pronunciation import Pronunciations
from engine.pipelines.speaking.system_voice import SystemVoice
from engine.pipelines.speaking.voice import SavedVoice, SavedVoices, VoiceSettings

if TYPE_CHECKING:
    from engine.pipelines.speaking.speech import SpeechModel
    from engine.pipelines.speaking.voice import SavedVoices


@dataclass(frozen=True)
class SpeakSettings:
    """`preset`: a voice of the model; `saved`: one of the person's own. `pitch` and `pace`: levels such as "very low", of
    models that take them; empty is the default. `pronunciations`: the lines of a list."""

    model: str = ""
    preset: str = ""
    saved: str = ""
    language: str = "auto"
    instructions: str = ""
    markdown: bool = False
    pitch: str = ""
    pace: str = ""
    pronunciations: str = ""

    @property
    def voice(self) -> str:
        return self.saved or self.preset

    @property
    def instruction_text(self) -> str:
        """What is asked of the voice in words."""
        levels = [f"{level} {part}" for level, part in ((self.pitch, "pitch"), (self.pace, "speed")) if level]
        return ", ".join([*levels, *filter(None, [self.instructions.strip()])])


def from_kept(kept: Mapping[str, Any]) -> SpeakSettings:
    """What was stored, also by an earlier Grus."""
    known = {field.name for field in fields(SpeakSettings)}
    return SpeakSettings(**{key: value for key, value in kept.items() if key in known})


def to_kept(choice: SpeakSettings) -> dict[str, Any]:
    return asdict(choice)


def voice_settings_of(choice: SpeakSettings, voices: SavedVoices) -> VoiceSettings:
    """Just as it was chosen: what does not go together, the model says."""
    clone = voices.load(choice.saved) if choice.saved else None
    return VoiceSettings(choice.preset or None, clone, choice.instruction_text or None, choice.language)


def fitting(choice: SpeakSettings, voice: SpeechModel, voices: SavedVoices) -> VoiceSettings:
    """As near to the choice as the model comes: what was chosen for another model is left out. Raises BadRequest where a
    voice must be chosen first."""
    saved = choice.saved if voice.clones and voices.has(choice.saved) else ""
    first = (
        "" if isinstance(voice, SystemVoice) else next(iter(voice.presets), "")
    )  # the system has a choice of its own
    preset = choice.preset if choice.preset in voice.presets else first
    near = replace(choice, saved=saved, preset="" if saved else preset)
    problem: BadRequest | None = None
    for tried in _simpler(near):
        settings = voice_settings_of(tried, voices)
        try:
            voice.check(settings)
        except BadRequest as error:
            problem = problem or error
        else:
            return settings
    assert problem is not None
    raise problem


def _simpler(choice: SpeakSettings) -> Iterator[SpeakSettings]:
    yield choice
    yield (plain := replace(choice, instructions="", pitch="", pace=""))
    yield replace(choice, language="auto")
    yield replace(plain, language="auto")


# English; shown through `tr`. The words of Spark-TTS, from the lowest to the highest.
PITCHES = (mark("very low"), mark("low"), mark("moderate"), mark("high"), mark("very high"))
PACES = (mark("very slow"), mark("slow"), mark("moderate"), mark("fast"), mark("very fast"))
DEFAULT_LEVEL = "moderate"
NAMED = {"female": mark("Female voice"), "male": mark("Male voice")}  # voices that are no names


KIND = "speak"
TITLE = 60  # characters of the text
RATE = 24_000  # of recordings that voices are taken from
State = Literal["speaking", "done", "stopped", "failed"]


@dataclass(eq=False)
class SpeechTake(ListedResult):
    """Something that was spoken."""

    title: str
    text: str
    choice: SpeakSettings
    file: Path
    id: int = 0
    state: State = "speaking"
    seconds: float = 0.0
    error: str = ""
    done: float = 0.0  # of the text, how much is spoken
    began: float = field(default_factory=time.monotonic)
    book: BookWork | None = None  # of an audiobook, whose file is the person's
    at: BookShare | None = None

    @property
    def resumable(self) -> bool:
        """An audiobook that was stopped, or failed."""
        return self.book is not None and self.state in ("stopped", "failed")

    @property
    def share(self) -> float | None:
        return self.done if self.state == "speaking" else None

    def status(self) -> str:
        if self.state == "failed":
            return self.error
        parts = [in_seconds(self.seconds), self.choice.voice or self.choice.instructions]
        if self.state == "speaking":
            spent, made = time.monotonic() - self.began, self.done - (self.at.before if self.at else 0.0)
            left = tr("{time} left", time=in_seconds(spent / made * (1 - self.done))) if made > 0 else ""
            parts = [tr("Speaking"), self._chapter(), left]
        elif self.state == "stopped":
            parts.insert(0, tr("Stopped"))
        return " · ".join(part for part in parts if part)

    def _chapter(self) -> str:
        return tr("chapter {n} of {total}", n=self.at.chapter, total=self.at.chapters) if self.at is not None else ""


class SpeakResults(Results[SpeechTake]):
    """`voiced`: the list of saved voices changed. `playback` has the sound of `current`. One text is spoken at a time."""

    kind = KIND

    def __init__(
        self, store: AppStore, streams: StreamRunner, work: JobRunner, say: Callable[..., Any], folder: Path
    ) -> None:
        super().__init__(store, streams, say)
        self._work, self._folder = work, folder
        self.voiced = Signal()
        self.playback = Playback()
        self.voices = SavedVoices(folder / "voices")
        self.saved: list[SavedVoice] = []

    def to_record(self, take: SpeechTake) -> records.StoredResult:
        return _to_result(take)

    def from_record(self, record: records.StoredResult) -> SpeechTake:
        return _from_result(record)

    def file_of(self, take: SpeechTake) -> Path:
        return take.file

    def look(self) -> None:
        super().look()
        self.look_at_voices()

    # -- speaking

    @property
    def busy(self) -> bool:
        return bool(self._running)

    def speak(self, text: str, choice: SpeakSettings) -> SpeechTake | None:
        """None when there is nothing to say, or something is being spoken."""
        if not text.strip() or self.busy:
            return None
        title = " ".join(text.split())
        title = title if len(title) <= TITLE else title[: TITLE - 1] + "…"
        name = time.strftime("%Y%m%d-%H%M%S") + f"-{time.monotonic_ns() % 1000:03}"
        take = SpeechTake(title, text, choice, self._folder / "spoken" / f"{name}.wav")

        def receive(items: list[Any]) -> None:
            for kind, what in items:
                if kind == "rate":
                    self.playback.begin(what)
                elif kind == "share":
                    take.done = what
                else:
                    self._sound(take, what)
            self.changed(take)

        def ended(problem: str) -> None:
            take.error = problem
            self._end(take, "failed" if problem else "done")

        self._insert(take, lambda: self._keep(take))
        self._start(take, lambda core: self._spoken(core, take), receive, ended)
        self.current = take
        self.listed()
        self.shown()
        return take

    def make_book(self, title: str, work: BookWork, choice: SpeakSettings) -> SpeechTake | None:
        """None when something is being spoken."""
        if self.busy:
            return None
        take = SpeechTake(title, "", choice, Path(work.target), book=work)
        self._insert(take, lambda: self._keep(take))
        self._make_book(take, work)
        self.listed()
        return take

    def resume(self, take: SpeechTake) -> None:
        """Continue an audiobook; what is spoken is not spoken again."""
        if take.book is not None and take.resumable and not self.busy:
            take.state, take.error, take.done, take.at, take.began = "speaking", "", 0.0, None, time.monotonic()
            self._make_book(take, take.book)

    def _make_book(self, take: SpeechTake, work: BookWork) -> None:
        def receive(items: list[Any]) -> None:
            for item in items:
                if isinstance(item, BookShare):
                    take.at, take.done = item, item.share
                else:
                    take.seconds = item
            self.changed(take)

        def ended(problem: str) -> None:
            take.error = problem
            self._end(take, "failed" if problem else "done")

        settings, choice = voice_settings_of(take.choice, self.voices), take.choice
        self._start(
            take, lambda core: spoken_book(core, work, choice.model, settings, choice.pronunciations), receive, ended
        )
        self.current = take
        self.playback.show(np.zeros(0, np.float32), RATE)
        self._keep(take)
        self.changed(take)
        self.shown()

    def _sound(self, take: SpeechTake, samples: np.ndarray) -> None:
        first = take.seconds == 0.0
        take.seconds += len(samples) / self.playback.rate
        if take is self.current:
            self.playback.put(samples)
            if first and len(samples):
                self.playback.play()

    def cancel(self, take: SpeechTake) -> bool:
        """What was made so far stays."""
        if take not in self._running:
            return False
        self._cancel_running(take)
        self._end(take, "stopped")
        return True

    def _end(self, take: SpeechTake, state: State) -> None:
        take.state, take.done = state, 1.0
        if take is self.current and take.book is None:
            self.playback.finish()
        self._keep(take)
        self.changed(take)
        self.shown()

    def _spoken(self, core: Any, take: SpeechTake) -> Iterator[tuple[str, Any]]:
        """Runs off the UI thread. The sound is written to the file while it is generated."""
        import soundfile

        from app.runtime import pipelines
        from engine.pipelines.speaking.speech import SpeechOptions, speak_long_form

        choice, shares = take.choice, [0.0]
        settings = voice_settings_of(choice, self.voices)
        voice = pipelines.speaker(core, choice.model)
        private_file(take.file)
        chunks = speak_long_form(
            voice, take.text, settings,
            SpeechOptions(markdown=choice.markdown, pronunciations=Pronunciations.parsed(choice.pronunciations)),
            progress=lambda done, total: shares.append(done / total),
        )  # fmt: skip
        yield "rate", voice.rate
        with soundfile.SoundFile(str(take.file), "w", voice.rate, 1, "PCM_16") as file:
            for chunk in chunks:
                file.write(np.clip(chunk, -1, 1))
                yield "sound", chunk
                yield "share", shares[-1]

    # -- what was made

    def choose(self, take: SpeechTake | None) -> None:
        """Its sound goes to the player."""
        if take is self.current:
            return
        self.current = take
        self.playback.show(np.zeros(0, np.float32), RATE)
        self.shown()
        if take is not None and take.book is None:  # a book's sound would fill the memory
            self._work.run(lambda: _read(take.file), lambda found: self._show(take, found), self._show_error)

    def _show(self, take: SpeechTake, found: tuple[np.ndarray, int]) -> None:
        if take is self.current and take.state != "speaking":
            self.playback.show(*found)

    def as_file(self, take: SpeechTake) -> tuple[str, Callable[[Path], Any]] | None:
        """A name, and what writes the sound as it was kept; None while there is none."""
        whole = take.state in ("done", "stopped") and take.seconds > 0
        if take.book is not None:
            one = take.state == "done" and take.file.is_file()
            return (take.file.name, lambda target: shutil.copyfile(take.file, target)) if one else None
        return (f"{take.title}.wav", lambda target: shutil.copyfile(take.file, target)) if whole else None

    def save(self, take: SpeechTake, target: Path) -> Path:
        """In the format of the file's ending. Runs off the UI thread."""
        from engine.media.sound import format_of, write_file

        samples, rate = _read(take.file)
        write_file(target, [samples], rate, format_of(target))
        return target

    def forget(self) -> None:
        self.saved = []
        self.playback.show(np.zeros(0, np.float32), RATE)
        super().forget()
        self.voiced()

    # -- saved voices

    def look_at_voices(self) -> None:
        def got(found: list[SavedVoice]) -> None:
            self.saved = found
            self.voiced()

        self._work.run(self.voices.list, got, self._show_error)

    def clone(
        self, name: str, sound: Path | np.ndarray, transcript: str, model: str, then: Callable[[str], Any],
        failed: Callable[[str], Any],
    ) -> None:  # fmt: skip
        """Clone a voice from a file, or from samples at 16 kHz. `transcript`: of the recording, if known."""

        def make(core: Any) -> Iterator[str]:
            from app.runtime import pipelines
            from engine.media.sound import read_sound, resampled

            voice = pipelines.speaker(core, model)
            given = read_sound(sound, voice.rate).samples if isinstance(sound, Path) else None
            samples = resampled(sound, 16_000, voice.rate) if given is None else given  # type: ignore[arg-type]
            self.voices.save(name.strip(), model, voice.clone(samples, transcript.strip() or None), samples, voice.rate)
            yield name.strip()

        def ended(problem: str) -> None:
            if problem:
                failed(problem)
                return
            self.look_at_voices()
            then(name.strip())

        self._streams.stream(make, lambda names: None, ended)

    def drop_voice(self, name: str) -> None:
        """The sentence that says so has an Undo."""

        def drop() -> Callable[[], Any]:
            saved = next(saved for saved in self.voices.list() if saved.name == name)
            clone, sound = self.voices.load(name), _read(saved.sample)
            self.voices.delete(name)
            return lambda: self.voices.save(name, saved.model, clone, *sound)

        def dropped(save: Callable[[], Any]) -> None:
            self.look_at_voices()
            back = lambda: self._work.run(save, lambda _: self.look_at_voices(), self._show_error)  # noqa: E731
            self._say(tr("The voice {name} was deleted.", name=name), undo=(tr("Undo"), back))

        self._work.run(drop, dropped, self._show_error)

    def play_sample(self, name: str) -> None:
        """Play the sample of a saved voice."""
        sample = next((saved.sample for saved in self.saved if saved.name == name), None)
        if sample is not None and not self.busy:
            self.current = None

            def here(found: tuple[np.ndarray, int]) -> None:
                self.playback.show(*found)
                self.playback.play()

            self._work.run(lambda: _read(sample), here, self._show_error)
            self.shown()


def _read(file: Path) -> tuple[np.ndarray, int]:
    import soundfile

    from engine.media.sound import read_sound

    rate = int(soundfile.info(str(file)).samplerate) if file.is_file() else RATE
    return read_sound(file, rate).samples, rate


def _to_result(take: SpeechTake) -> records.StoredResult:
    body = {"text": take.text, "choice": to_kept(take.choice), "seconds": take.seconds, "error": take.error,
            "book": asdict(take.book) if take.book is not None else None}  # fmt: skip
    return records.StoredResult(take.id, KIND, take.title, "", body, str(take.file), take.state)


def _from_result(result: records.StoredResult) -> SpeechTake:
    """A text that was being spoken when the process ended becomes stopped."""
    state: Any = "stopped" if result.state == "speaking" else result.state
    body = result.body
    return SpeechTake(
        result.title, body.get("text", ""), from_kept(body.get("choice", {})), Path(result.file), result.id, state,
        body.get("seconds", 0.0), body.get("error", ""), 1.0, book=work_from_record(body.get("book")),
    )  # fmt: skip


# -- text from a file that is to be spoken. Runs off the UI thread

ENDINGS = (".txt", ".md", ".pdf", ".epub", ".docx", ".odt", ".rtf", ".fb2", ".html", ".htm", ".eml")


def text_of(file: Path) -> str:
    """Raises BadRequest in plain words."""
    ending = file.suffix.lower()
    if ending not in ENDINGS:
        raise BadRequest(
            tr(
                "{name} is not supported. Choose a {endings} file.",
                name=file.name,
                endings=", ".join(e[1:] for e in ENDINGS),
            )
        )
    if ending not in (".txt", ".md", ".pdf"):
        text = _document(file)
    elif ending == ".pdf":
        text = _pdf(file)
    else:
        data = file.read_bytes()
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = data.decode("latin-1")
    if not text.strip():
        raise BadRequest(tr("{name} contains no text. Open it in Read first.", name=file.name))
    return text.strip()


def _pdf(file: Path) -> str:
    from engine.media.documents import pdf_page_texts

    try:
        pages = pdf_page_texts(file.read_bytes())
    except UnreadableFile:
        raise BadRequest(tr("{name} cannot be opened: it is damaged or password-protected.", name=file.name)) from None
    # lines of a page are no paragraphs, and a word cut at a line's end is one word
    text = "\n\n".join(pages).replace("\r\n", "\n")
    text = re.sub(r"(\w)[-\ufffe\xad]\n(\w)", r"\1\2", text)
    return re.sub(r"(?<!\n)\n(?!\n)", " ", text)


def _document(file: Path) -> str:
    from engine.pipelines.reading.formats.documents import open_text_document
    from engine.pipelines.reading.writers import ExportOptions, page_text

    try:
        document = open_text_document(file.read_bytes(), file.suffix)
    except UnreadableFile as error:
        raise BadRequest(tr("{name} cannot be opened. {why}", name=file.name, why=in_language(error.text))) from None
    if document is None:
        raise BadRequest(tr("{name} cannot be opened: the file is damaged.", name=file.name))
    return page_text(document.pages, "txt", ExportOptions())
