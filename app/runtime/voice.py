"""Voices and ears for Python and for the command line: models that listen, speak and hold conversations, and voice activity.

Each class has a model service of its own; the pipelines behind them are the engine's.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from app.runtime.catalogue import Capability, require
from app.runtime.chat import ChatRequest, prepare, reasoning_off
from app.runtime.known_voices import KnownVoices, checked_name, recording_mark
from app.runtime.models import ServiceOwner, closed_on_error, open_models
from engine.errors import BadRequest, ErrorText
from engine.loading import LoadedModel, LoadOptions
from engine.media.documents import bytes_of, page_numbers
from engine.media.sound import SAMPLE_RATE, Audio, SoundStream, format_of, from_array, read_sound, write_file
from engine.pipelines.listening.asr_models import transcriber
from engine.pipelines.listening.glossary import read_glossary
from engine.pipelines.listening.speakers import speaker_name
from engine.pipelines.listening.transcript import Transcript
from engine.pipelines.listening.transcription import Captions, ListenOptions
from engine.pipelines.listening.voice_activity import VOICE_ACTIVITY, Speech, speech_in, speech_rules
from engine.pipelines.listening.voice_prints import recognized, renamed, speaker_prints
from engine.pipelines.reading.book import Book, as_cover, open_book
from engine.pipelines.speaking.audiobook import BookOptions, BookProgress, MadeBook, speak_book
from engine.pipelines.speaking.pronunciation import NO_PRONUNCIATIONS, Pronunciations
from engine.pipelines.speaking.speech import SpeechOptions, SpeechQueue, speak_long_form
from engine.pipelines.speaking.speech_models import speaker
from engine.pipelines.speaking.voice import Clone, SavedVoice, SavedVoices, VoiceSettings
from engine.pipelines.voice_chat import Message, TalkEvent, VoiceChat
from engine.starter import GUIDE, SYSTEM
from engine.types import Failed, SamplingParams, Settings

Sound = str | Path | bytes | np.ndarray


def sound_of(sound: Sound, rate: int | None, track: int = 1, start: float = 0.0) -> Audio | SoundStream:
    """A file or the bytes of a file, block by block, or samples (then with their `rate`), at the rate that models listen at."""
    if not isinstance(sound, np.ndarray):
        return SoundStream(sound, SAMPLE_RATE, track=track, start=start)
    if rate is None:
        raise BadRequest("Samples need their rate.", "rate")
    return from_array(sound, rate, SAMPLE_RATE)


class VoiceActivity(ServiceOwner):
    """Where somebody speaks in a sound. Its model comes with Grus."""

    def __init__(self, options: LoadOptions | None = None, profile: Path | None = None) -> None:
        """`profile`: the file that gets a Chrome trace of the engine's work at the end."""
        self.service = open_models([VOICE_ACTIVITY], options, profile=profile)
        with closed_on_error(self.service):
            self.service.load_now(VOICE_ACTIVITY)

    def find(
        self,
        sound: Sound,
        *,
        rate: int | None = None,
        threshold: float | None = None,
        min_speech_seconds: float | None = None,
        min_silence_seconds: float | None = None,
        pad_seconds: float | None = None,
    ) -> Speech:
        """In a file, in a file's bytes, or in samples (then with their `rate`). `threshold`: how sure the model must be."""
        rules = speech_rules(threshold, min_speech_seconds, min_silence_seconds, pad_seconds)
        return speech_in(self.service, sound_of(sound, rate), rules)


class Ears(ServiceOwner):
    """A model that listens (speech to text)."""

    def __init__(self, name: str, options: LoadOptions | None = None, settings: Settings | None = None,
                 profile: Path | None = None, speakers: str | None = None, aligner: str | None = None,
                 voice_prints: str | None = None, known_voices: KnownVoices | None = None) -> None:  # fmt: skip
        """`speakers`: a model that tells speakers apart. `aligner`: one that gives the times of words instead of the model itself.
        `voice_prints`: one that knows voices again, those of `known_voices`, by default the person's own."""
        beside: dict[Capability, str] = {}
        if speakers:
            beside["diarize"] = speakers
        if aligner:
            beside["align"] = aligner
        if voice_prints and not speakers:
            raise BadRequest("Voices are known again where `speakers` tells them apart.", "voice_prints")
        if voice_prints:
            beside["verify"] = voice_prints
        self.service = open_models([name, *beside.values()], options, settings, profile=profile)
        self.speakers, self.aligner = speakers, aligner
        self.voice_prints, self.known_voices = voice_prints, known_voices or KnownVoices()
        with closed_on_error(self.service):
            self.loaded: LoadedModel = self.service.load_now(name)
            self.listener = transcriber(self.service, name, self.loaded)
            for capability, model in beside.items():
                require(capability, model, self.service.load_now(model))

    def listen(
        self,
        sound: Sound,
        *,
        rate: int | None = None,
        language: str | None = None,
        words: bool = False,
        translate: bool = False,
        prompt: str | None = None,
        own_words: str = "",
        track: int = 1,
        start: float = 0.0,
        names: Mapping[int, str] | None = None,
        progress: Callable[[float], None] = lambda share: None,
    ) -> Transcript:
        """What is said in a file, in a file's bytes, or in samples (then with their `rate`). A file is read block by block.
        `track`: of the sound tracks of a video. `start`: seconds at the beginning that are left out. `translate`: into English.
        `prompt`: what was said before, or names as they are spelled. `own_words`: names and terms, with commas between them, that any
        model's text is corrected to. Where these ears have a model that tells speakers apart,
        segments and words have their speakers. `names`: of the first, second, ... who is heard; a model that knows voices again keeps
        them with their voices, and names the others who are known."""
        options = ListenOptions(language, words, translate, prompt, speakers=self.speakers, aligner=self.aligner)
        self.listener.glossary = read_glossary(own_words)
        made = self.listener.listen(sound_of(sound, rate, track, start), options, progress=progress)
        given = {speaker_name(number): checked_name(name) for number, name in (names or {}).items()}
        there = {segment.speaker for segment in made.segments}
        if missing := next((name for speaker, name in given.items() if speaker not in there), None):
            raise BadRequest(f"Nobody is heard who could be {missing}: there are {len(there)} speakers.", "names")
        if not self.voice_prints:
            return replace(made, segments=[renamed(one, given) for one in made.segments])
        found = speaker_prints(self.service, self.voice_prints, sound_of(sound, rate, track), made.segments)
        known = self.known_voices.prints(found.mark)
        for heard, name in given.items():
            if (own := found.prints.get(heard)) is not None:
                self.known_voices.keep(name, found.mark, recording_mark(sound), own)
        others = {speaker: own for speaker, own in found.prints.items() if speaker not in given}
        left = {name: own for name, own in known.items() if name not in given.values()}
        given |= recognized(others, left)
        return replace(made, segments=[renamed(one, given) for one in made.segments])


@dataclass(frozen=True, eq=False)
class Spoken:
    """A finished sound."""

    samples: np.ndarray  # f32, one channel
    rate: int

    @property
    def seconds(self) -> float:
        return len(self.samples) / self.rate

    def save(self, path: str | Path) -> Path:
        """As WAV, PCM, MP3, FLAC or Opus, by the name's ending."""
        target = Path(path)
        write_file(target, [self.samples], self.rate, format_of(target))
        return target


class Speaker(ServiceOwner):
    """A model that speaks (text to speech)."""

    def __init__(self, name: str, options: LoadOptions | None = None, settings: Settings | None = None,
                 voices: SavedVoices | None = None, profile: Path | None = None) -> None:  # fmt: skip
        self.name = name
        self.voices = voices or SavedVoices()
        self.service = open_models([name], options, settings, profile=profile)
        with closed_on_error(self.service):
            self.loaded: LoadedModel = self.service.load_now(name)
            self.voice = speaker(self.service, name)

    @property
    def rate(self) -> int:
        return self.voice.rate

    def voice_settings(
        self, voice: str | Clone | None = None, language: str = "auto", instructions: str | None = None
    ) -> VoiceSettings:
        """`voice`: a preset of the model, the name of a saved voice, or one that `clone` made."""
        return self.voices.settings(voice, self.voice.presets, language, instructions)

    def stream(self, text: str, settings: VoiceSettings | None = None, speech: SpeechOptions | None = None, *,
               progress: Callable[[int, int], None] = lambda done, total: None) -> Iterator[np.ndarray]:  # fmt: skip
        """Samples while they are made. Closing the iterator stops the voice."""
        return speak_long_form(
            self.voice, text, settings or VoiceSettings(), speech or SpeechOptions(), progress=progress
        )

    def say(self, text: str, settings: VoiceSettings | None = None, speech: SpeechOptions | None = None) -> Spoken:
        return Spoken(np.concatenate(list(self.stream(text, settings, speech))), self.rate)

    def speak_book(
        self,
        book: str | Path | Book,
        out: str | Path,
        options: SpeechOptions | None = None,
        *,
        voice: str | Clone | None = None,
        language: str = "auto",
        instructions: str | None = None,
        speakers: Mapping[str, str | Clone] | None = None,
        per_chapter: bool = False,
        subtitles: bool = False,
        restart: bool = False,
        progress: Callable[[BookProgress], None] = lambda progress: None,
    ) -> MadeBook:
        """An audiobook of a document, or of what `open_book` made of one: `out` ends in m4b, m4a, mp3 or opus. `speakers`: the voices of
        names that stand in square brackets in the text. `per_chapter`: a file for each, in a folder of `out`'s name. `subtitles`: an
        SRT file beside each. What an interrupted call has spoken is not spoken again, unless `restart` drops it. An exception from
        `progress` interrupts it."""
        opened, presets = book if isinstance(book, Book) else open_book(book), self.voice.presets
        given = BookOptions(
            self.voices.settings(voice, presets, language, instructions),
            {name: self.voices.settings(of, presets, language, instructions) for name, of in (speakers or {}).items()},
            options or SpeechOptions(), per_chapter, subtitles, restart,
        )  # fmt: skip
        with closing(speak_book(self.voice, self.name, opened, Path(out), given)) as steps:
            for step in steps:
                if isinstance(step, MadeBook):
                    made = step
                else:
                    progress(step)
        return made

    def clone(self, recording: str | Path | bytes, text: str | None = None) -> Clone:
        """A voice from a recording; with `text`, what is said in it, it is imitated and not only resembled."""
        return self.voice.clone(self._recorded(recording), text)

    def save_voice(self, name: str, recording: str | Path | bytes, text: str | None = None, *,
                   replace: bool = False) -> SavedVoice:  # fmt: skip
        """Clone a voice and keep it under a name."""
        if self.voices.has(name) and not replace:
            raise BadRequest(
                ErrorText(
                    "There is a voice called {name} already. Choose another name, or delete it first.", name=name
                ),
                "name",
            )
        samples = self._recorded(recording)
        return self.voices.save(name, self.name, self.voice.clone(samples, text), samples, self.rate, replace=replace)

    def _recorded(self, recording: str | Path | bytes) -> np.ndarray:
        return read_sound(recording, self.rate).samples


def chosen_chapters(book: Book, numbers: str | None = None, cover: str | Path | None = None) -> Book:
    """A book with some of its chapters, as in `2-5,9`, and another cover, a picture's file."""
    chapters = book.chapters
    if numbers is not None:
        try:
            chapters = tuple(chapters[number - 1] for number in page_numbers(numbers, len(chapters)))
        except BadRequest:
            raise BadRequest(
                f"Chapters are named like 2-5,9 or 7-, of 1 to {len(chapters)}, not {numbers!r}.", "chapters"
            ) from None
    return replace(book, chapters=chapters, cover=book.cover if cover is None else as_cover(bytes_of(Path(cover))))


def pronunciations_of(given: str | Path | Mapping[str, str] | None) -> Pronunciations:
    """A list in a file, or words and how they are said."""
    if given is None:
        return NO_PRONUNCIATIONS
    return Pronunciations.of(given) if isinstance(given, Mapping) else Pronunciations.read(Path(given))


class Talker(ServiceOwner):
    """A voice assistant: a model that listens, one that answers and one that speaks, on one engine.

    `ears` listens, `voice_model` speaks in `voice` (a preset or a saved one), `model` answers; `sampling` is how
    (max_tokens, temperature, ...).
    """

    def __init__(self, *, ears: str, voice_model: str = SYSTEM, model: str = GUIDE, voice: str | None = None, language: str = "auto",
                 instructions: str | None = None, system: str | None = None, speech: SpeechOptions | None = None,
                 options: LoadOptions | None = None, settings: Settings | None = None, voices: SavedVoices | None = None,
                 **sampling: Any) -> None:  # fmt: skip
        self._sampling = SamplingParams(**sampling)
        speech = speech or SpeechOptions()
        # all conversations have the same voice
        self._speech = replace(speech, seed=secrets.randbits(31) if speech.seed is None else speech.seed)
        self._system, self.model = system, model
        self.service = open_models([ears, model, voice_model], options, settings)
        with closed_on_error(self.service):
            self._listener = transcriber(self.service, ears, self.service.load_now(ears))
            self._loaded: LoadedModel = self.service.load_now(model)
            self.service.load_now(voice_model)
            self._voice = speaker(self.service, voice_model)
            self._voice_settings = (voices or SavedVoices()).settings(
                voice, self._voice.presets, language, instructions
            )
            self._voice.check(self._voice_settings)

    @property
    def rate(self) -> int:
        """Of the voice's samples."""
        return self._voice.rate

    def open(self, messages: Sequence[Message] = ()) -> VoiceChat:
        """A conversation, to be fed with samples at 16 kHz as they are recorded: see `engine.pipelines.voice_chat`."""
        captions = Captions(self.service, self._listener)
        queue = SpeechQueue(self._voice, self._voice_settings, self._speech)
        return VoiceChat(captions, self._chat, queue, queue.rate, messages, stop_voice=queue.stop)

    def talk(self, sound: Iterable[np.ndarray], messages: Sequence[Message] = ()) -> Iterator[TalkEvent]:
        """The events of a conversation while `sound` comes in: pieces at 16 kHz, as a microphone gives them, empty ones
        where there is nothing new. When it ends the last reply is still made. Closing the iterator stops the voice."""
        talk = self.open(messages)
        try:
            for samples in sound:
                yield from talk.feed(samples)
            yield from talk.finish()
        finally:
            talk.interrupt()

    def _chat(self, messages: Sequence[Message]) -> Iterator[str]:
        """The answer's text, without the reasoning, which is not spoken."""
        system = [{"role": "system", "content": self._system}] if self._system else []
        chat = ChatRequest([*system, *messages], self._sampling, thinking=reasoning_off(self._loaded))
        prepared = prepare(chat, self._loaded, self.model)
        handle = self.service.submit(prepared.request)
        try:
            for event in handle:
                if isinstance(event, Failed):
                    raise event.error
                for part in prepared.reader.read(event):
                    if part.kind == "answer" and part.text:
                        yield part.text
        finally:
            handle.cancel()
