"""Audiobooks: the chapters of a book spoken passage by passage, joined, and written with chapter marks, cover and subtitles.

Passages are kept as they are made (`passage_store.py`), whole and as the model spoke them. Loudness, pauses, speed and subtitles are
made of them at the end, so that a book that was interrupted comes out as one that was not.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from collections import deque
from collections.abc import Generator, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby, pairwise
from pathlib import Path

import numpy as np

from engine.errors import BadRequest, ErrorText, SpeechRanAway
from engine.media.audiobook_file import ENDINGS, AudiobookTags, ChapterMark, audiobook_ending, write_audiobook
from engine.media.stretch import Stretch
from engine.pipelines.listening.transcript import Transcript, TranscriptSegment, as_srt
from engine.pipelines.reading.book import Book
from engine.pipelines.speaking.passage_store import PassageStore, seed_of, unfinished_folder
from engine.pipelines.speaking.pronunciation import NO_PRONUNCIATIONS
from engine.pipelines.speaking.speech import (
    TOGETHER,
    LoudnessMatcher,
    PassageJoiner,
    SpeechModel,
    SpeechOptions,
    VoiceExample,
    at_speed,
    check_voice,
    loud_samples,
)
from engine.pipelines.speaking.spoken_epub import BookFacts, SpokenChapter, SpokenSentence, write_spoken_epub
from engine.pipelines.speaking.text import PARAGRAPH_PAUSE, SENTENCE_PAUSE, in_words, passages, sentences
from engine.pipelines.speaking.voice import VoiceSettings
from engine.tasks import CancelScope

NARRATOR = ""
BEFORE, AFTER = 0.5, 1.5  # seconds of silence around a chapter
_SCENE_PAUSE = 1.5  # where a line of signs parts scenes
_OTHER_SEED = 7919  # added where a passage did not come to an end
_SNAP = 1.0  # seconds around a sentence's expected end in which its pause is looked for
_BLOCK = 0.05  # seconds, of one measurement of loudness
_NO_NAME = re.compile(r'[\x00-\x1f<>:"/\\|?*]+')
_TAG = re.compile(r"[\w .'-]{1,40}")


@dataclass(frozen=True)
class BookOptions:
    """`speakers`: the voice of each name that stands in square brackets in the text. `speech`: its `markdown` is not used, because a
    book's chapters are plain text."""

    settings: VoiceSettings = field(default_factory=VoiceSettings)
    speakers: Mapping[str, VoiceSettings] = field(default_factory=dict)
    speech: SpeechOptions = field(default_factory=SpeechOptions)
    per_chapter: bool = False  # one file a chapter, in a folder
    subtitles: bool = False  # an SRT file beside each file
    restart: bool = False  # drop what an earlier process has made


@dataclass(frozen=True)
class BookProgress:
    """Characters that are spoken, of how many; `before` were spoken by an earlier process. `chapter`: the one at work, from 0."""

    done: int
    total: int
    before: int
    chapter: int


@dataclass(frozen=True)
class MadeBook:
    files: tuple[Path, ...]
    subtitles: tuple[Path, ...]
    chapters: tuple[ChapterMark, ...]  # where they lie in the one file, or would
    seconds: float
    skipped: tuple[str, ...]  # passages at which the voice came to no end, with every seed


@dataclass(frozen=True)
class BookPassage:
    chapter: int
    speaker: str
    text: str
    spoken: str  # with pronunciations, and numbers in words
    pause: float  # seconds of silence after it


def speak_book(
    model: SpeechModel, name: str, book: Book, target: Path, options: BookOptions = BookOptions(), *,
    scope: CancelScope | None = None,
) -> Generator[BookProgress | MadeBook, None, None]:  # fmt: skip
    """Progress after each passage, and at last what was made. Bad input raises before the first passage. `name`: of the model. Closing
    the iterator, and cancelling `scope`, stop the voice; what is spoken by then stays beside `target`, and the next call goes on."""
    book_ending(target, options.per_chapter)
    voices = {NARRATOR: options.settings, **_by_name(options.speakers)}
    voices = {who: in_language_of(book, model, settings) for who, settings in voices.items()}
    for settings in voices.values():
        check_voice(model, settings, options.speech)
    Stretch(options.speech.speed, model.rate)  # raises for a speed that cannot be
    plan = plan_book(book, voices, options.speech)
    if not plan:
        raise BadRequest(ErrorText("There is nothing to say: the text is empty."), "book")
    return _made(model, name, book, target, options, voices, plan, scope or CancelScope.over(model.engine))


EPUB = "epub"
BOOK_ENDINGS = (*ENDINGS, EPUB)


def book_ending(target: Path, per_chapter: bool = False) -> str:
    """The kind of file that a name asks for. Raises BadRequest for one that is not written."""
    if target.suffix.lower() != f".{EPUB}":
        return audiobook_ending(target)
    if per_chapter:
        raise BadRequest("An EPUB holds all chapters: it is not written one file a chapter.", "output")
    audiobook_ending(target.with_suffix(".m4a"))  # its sound
    return EPUB


def in_language_of(book: Book, model: SpeechModel, settings: VoiceSettings) -> VoiceSettings:
    """In the book's language where none is chosen and the model speaks it."""
    if settings.language not in ("auto", "") or not book.language:
        return settings
    near = replace(settings, language=re.split(r"[-_]", book.language)[0].lower())
    try:
        model.check(near)
    except BadRequest:
        return settings
    return near


def plan_book(book: Book, voices: Mapping[str, VoiceSettings], speech: SpeechOptions) -> list[BookPassage]:
    """What is spoken, in order."""
    names = "|".join(re.escape(name) for name in voices if name)
    tag = re.compile(rf"\[(/?)({names})\]", re.IGNORECASE) if names else None
    plan: list[BookPassage] = []
    for number, chapter in enumerate(book.chapters):
        for paragraph in re.split(r"\n\s*\n", chapter.text):
            pieces = _pieces(paragraph, tag)
            for at, (speaker, piece) in enumerate(pieces):
                last = PARAGRAPH_PAUSE if at == len(pieces) - 1 else SENTENCE_PAUSE
                parts = passages(piece)
                for part in parts:
                    pause = last if part is parts[-1] else part.pause
                    if not any(sign.isalnum() for sign in part.text):
                        if plan and plan[-1].chapter == number:
                            plan[-1] = replace(plan[-1], pause=_SCENE_PAUSE)
                        continue
                    spoken = speech.pronunciations.applied(part.text)
                    if speech.spell:
                        spoken = in_words(spoken, voices[speaker].language)
                    plan.append(BookPassage(number, speaker, part.text, spoken, pause))
    return plan


def _by_name(speakers: Mapping[str, VoiceSettings]) -> dict[str, VoiceSettings]:
    for name in speakers:
        if not _TAG.fullmatch(name):
            raise BadRequest(
                ErrorText(
                    "{name} is no name of a speaker: up to 40 letters, digits, spaces and dashes.", name=repr(name)
                ),
                "speakers",
            )
    return {name.lower(): settings for name, settings in speakers.items()}


def _pieces(paragraph: str, tag: re.Pattern[str] | None) -> list[tuple[str, str]]:
    """Who says what: a tag holds until the next one, until its end tag, and until the paragraph's end."""
    if tag is None:
        return [(NARRATOR, paragraph)]
    found, who, at = [], NARRATOR, 0
    for mark in tag.finditer(paragraph):
        found.append((who, paragraph[at : mark.start()]))
        who, at = NARRATOR if mark[1] else mark[2].lower(), mark.end()
    found.append((who, paragraph[at:]))
    return [(speaker, text) for speaker, text in found if text.strip()]


# -- making it


def _made(
    model: SpeechModel, name: str, book: Book, target: Path, options: BookOptions, voices: Mapping[str, VoiceSettings],
    plan: Sequence[BookPassage], scope: CancelScope,
) -> Generator[BookProgress | MadeBook, None, None]:  # fmt: skip
    folder = unfinished_folder(target)
    scoped, stretched = at_speed(model, options.speech.speed)
    scoped.engine = scope
    seed = options.speech.seed
    if seed is None and not options.restart:
        seed = seed_of(folder)
    seed = secrets.randbits(31) if seed is None else seed
    work = _fingerprint(name, model.rate, plan, voices, options.speech, seed, options.speech.speed / stretched)
    with PassageStore(folder, work, restart=options.restart) as store:
        yield from _synthesize(scoped, scope, plan, voices, options.speech, seed, store)
        yield _written(store, plan, model.rate, stretched, book, target, options, scope)
        store.remove()


def _fingerprint(
    model: str, rate: int, plan: Sequence[BookPassage], voices: Mapping[str, VoiceSettings], speech: SpeechOptions, seed: int,
    speed: float,
) -> dict[str, object]:  # fmt: skip
    """What the passages' sound depends on. `speed`: at which the model speaks by itself."""
    said = hashlib.sha256(json.dumps([(one.speaker, one.spoken) for one in plan]).encode()).hexdigest()
    sampling = repr(replace(speech, speed=speed, seed=None, spell=False, pronunciations=NO_PRONUNCIATIONS))
    return {
        "model": model, "rate": rate, "passages": len(plan), "text": said, "seed": seed, "sampling": sampling,
        "voices": {speaker: _voice_digest(settings) for speaker, settings in voices.items()},
    }  # fmt: skip


def _voice_digest(settings: VoiceSettings) -> str:
    digest = hashlib.sha256(repr((settings.preset, settings.instructions, settings.language)).encode())
    if (clone := settings.clone) is not None:
        digest.update(clone.vector.tobytes() + repr(clone.text).encode())
        digest.update(b"" if clone.codes is None else clone.codes.tobytes())
    return digest.hexdigest()


def _synthesize(
    model: SpeechModel, scope: CancelScope, plan: Sequence[BookPassage], voices: Mapping[str, VoiceSettings],
    speech: SpeechOptions, seed: int, store: PassageStore,
) -> Iterator[BookProgress]:  # fmt: skip
    """Speaks what the store does not have yet, several passages at once, and stores them in order."""
    numbers = {speaker: number for number, speaker in enumerate(voices)}
    examples = {speaker: VoiceExample(model, settings) for speaker, settings in voices.items()}
    growing = {speaker for speaker, example in examples.items() if example.needed}
    for speaker in growing:
        if (kept := store.example(numbers[speaker])) is not None:
            examples[speaker].add(kept.text, kept.codes)
    total = sum(len(one.text) for one in plan)
    before = done = sum(len(one.text) for one in plan[: store.count])

    def take(one: BookPassage, seed: int) -> np.ndarray:
        example = examples[one.speaker]
        on_codes = partial(example.add, one.spoken) if example.needed else None
        made = list(model.speak(one.spoken, example.applied(voices[one.speaker]), seed=seed, sampling=speech.sampling,
                                buffered=True, on_codes=on_codes))  # fmt: skip
        return np.concatenate(made) if made else np.zeros(0, np.float32)

    def whole(one: BookPassage) -> np.ndarray:
        try:
            return take(one, seed)
        except SpeechRanAway:
            try:
                return take(one, seed + _OTHER_SEED)
            except SpeechRanAway:  # one passage of a book is no reason to lose the others
                return np.zeros(0, np.float32)

    with ThreadPoolExecutor(TOGETHER, thread_name_prefix="grus-book") as pool:
        waiting: deque[tuple[BookPassage, Future[np.ndarray]]] = deque()
        following = store.count
        if following:
            yield BookProgress(done, total, before, plan[min(following, len(plan) - 1)].chapter)
        try:
            while following < len(plan) or waiting:
                while following < len(plan) and len(waiting) < TOGETHER:
                    one = plan[following]
                    if not examples[one.speaker].enough and any(other.speaker == one.speaker for other, _ in waiting):
                        break  # it continues from what this voice says first
                    waiting.append((one, pool.submit(whole, one)))
                    following += 1
                one, future = waiting.popleft()
                samples = future.result()
                if scope.is_cancelled:  # the sound may have been cut off
                    raise CancelledError
                store.add(samples)
                if one.speaker in growing and (example := examples[one.speaker].passage) is not None:
                    store.keep_example(numbers[one.speaker], example)
                    if examples[one.speaker].enough:
                        growing.discard(one.speaker)
                done += len(one.text)
                yield BookProgress(done, total, before, one.chapter)
        finally:
            if following < len(plan) or waiting:  # it was closed, or failed
                scope.cancel()
            for _, future in waiting:
                future.cancel()


@dataclass(frozen=True)
class _Joined:
    chapter: int
    samples: np.ndarray  # as they are heard
    passage: int | None = None
    sentences: tuple[tuple[float, float, str], ...] = ()  # seconds in the chapter, and what is said


def _joined(store: PassageStore, plan: Sequence[BookPassage], rate: int, stretched: float) -> Iterator[_Joined]:
    """The sound of all chapters, in order."""
    loudness = LoudnessMatcher(rate)
    for chapter, numbers in groupby(range(len(plan)), key=lambda number: plan[number].chapter):
        joiner, stretch = PassageJoiner(rate), Stretch(stretched, rate)
        given = 0
        yield _Joined(chapter, np.zeros(int(BEFORE * rate), np.float32))
        for number in numbers:
            made = store.read(number)
            if number:
                made = loudness.match(made)
            else:
                loudness.learn(made)
            parts = list(joiner.passage([made]))
            sound = np.concatenate(parts) if parts else made[:0]
            timed = tuple(
                (BEFORE + (given / rate + start) / stretched, BEFORE + (given / rate + end) / stretched, text)
                for start, end, text in sentence_times(sound, rate, plan[number].text)
            )
            given += len(sound)
            yield _Joined(chapter, stretch.push(sound), number, timed)
            joiner.pause(plan[number].pause)
        yield _Joined(chapter, np.concatenate((stretch.finish(), np.zeros(int(AFTER * rate), np.float32))))


def sentence_times(sound: np.ndarray, rate: int, text: str) -> list[tuple[float, float, str]]:
    """When each sentence of a passage is said, in seconds. The passage's begin and end are its first and last sound; between two
    sentences it is the quietest moment near the share of the letters before it."""
    loud = loud_samples(sound)
    if not len(loud):
        return []
    first, last = int(loud[0]), int(loud[-1]) + 1
    said = list(sentences(text))
    block = max(1, int(_BLOCK * rate))
    power = (sound[: len(sound) // block * block].reshape(-1, block).astype(np.float64) ** 2).mean(1)
    bounds, letters = [first], 0
    for one, after in pairwise(said):
        letters += len(one)
        expected = first + (last - first) * letters / max(1, sum(map(len, said)))
        reach = min(_SNAP * rate, 0.4 * (last - first) * min(len(one), len(after)) / max(1, sum(map(len, said))))
        low, high = int((expected - reach) / block), int((expected + reach) / block) + 1
        low, high = max(0, low), min(len(power), high)
        best = (low + int(np.argmin(power[low:high]))) * block + block // 2 if low < high else int(expected)
        bounds.append(min(max(best, bounds[-1]), last))
    bounds.append(last)
    return [(begin / rate, end / rate, one) for begin, end, one in zip(bounds, bounds[1:], said)]


def _written(
    store: PassageStore, plan: Sequence[BookPassage], rate: int, stretched: float, book: Book, target: Path,
    options: BookOptions, scope: CancelScope,
) -> MadeBook:  # fmt: skip
    lengths: dict[int, int] = {}
    cues: dict[int, list[tuple[float, float, str]]] = {}
    said: dict[int, tuple[tuple[float, float, str], ...]] = {}  # of each passage
    skipped = []
    for one in _joined(store, plan, rate, stretched):  # marks are written before the sound
        _check(scope)
        lengths[one.chapter] = lengths.get(one.chapter, 0) + len(one.samples)
        cues.setdefault(one.chapter, []).extend(one.sentences)
        if one.passage is not None:
            said[one.passage] = one.sentences
            if not one.sentences:
                skipped.append(plan[one.passage].text)
    marks, at = [], 0
    for chapter, count in lengths.items():
        marks.append(ChapterMark(book.chapters[chapter].title, at / rate, (at + count) / rate))
        at += count
    files, subtitles = [], []
    if options.per_chapter:
        folder = target.with_suffix("")
        folder.mkdir(exist_ok=True)
        for number, (chapter, sound) in enumerate(
            groupby(_joined(store, plan, rate, stretched), lambda one: one.chapter)
        ):
            title = book.chapters[chapter].title
            file = folder / f"{number + 1:0{len(str(len(marks)))}} {file_title(title)}{target.suffix}"
            tags = AudiobookTags(
                title, book.author, book.title, f"{number + 1}/{len(marks)}", book.language, book.cover
            )
            write_audiobook(file, _samples(sound, scope), rate, tags)
            files.append(file)
            if options.subtitles:
                subtitles.append(_subtitles(file.with_suffix(".srt"), cues[chapter], book))
    elif book_ending(target) == EPUB:
        sound = _joined(store, plan, rate, stretched)
        _write_epub(store.folder, target, book, plan, said, sound, lengths, rate, scope)
        files.append(target)
    else:
        tags = AudiobookTags(book.title, book.author, language=book.language, cover=book.cover)
        write_audiobook(target, _samples(_joined(store, plan, rate, stretched), scope), rate, tags, marks)
        files.append(target)
    if not options.per_chapter and options.subtitles:
        moved = [
            (mark.start + start, mark.start + end, text)
            for mark, chapter in zip(marks, lengths)
            for start, end, text in cues[chapter]
        ]
        subtitles.append(_subtitles(target.with_suffix(".srt"), moved, book))
    return MadeBook(tuple(files), tuple(subtitles), tuple(marks), at / rate, tuple(skipped))


def _write_epub(
    folder: Path, target: Path, book: Book, plan: Sequence[BookPassage],
    said: Mapping[int, tuple[tuple[float, float, str], ...]], sound: Iterator[_Joined], lengths: Mapping[int, int], rate: int,
    scope: CancelScope,
) -> None:  # fmt: skip
    """Its chapters' sound lies in `folder` until all of it is there."""
    chapters = []
    for chapter, parts in groupby(sound, lambda one: one.chapter):
        file, title = folder / f"chapter{chapter}.m4a", book.chapters[chapter].title
        write_audiobook(file, _samples(parts, scope), rate, AudiobookTags(title, book.author, book.title))
        paragraphs: list[list[SpokenSentence]] = [[]]
        for number, passage in enumerate(plan):
            if passage.chapter == chapter:
                timed = [SpokenSentence(text, start) for start, _, text in said[number]]
                paragraphs[-1] += timed or [SpokenSentence(passage.text)]
                if passage.pause >= PARAGRAPH_PAUSE:
                    paragraphs.append([])
        chapters.append(SpokenChapter(title, [one for one in paragraphs if one], file, lengths[chapter] / rate))
    write_spoken_epub(target, BookFacts(book.title, book.author, book.language, book.cover), chapters)


def _samples(sound: Iterator[_Joined], scope: CancelScope) -> Iterator[np.ndarray]:
    for one in sound:
        _check(scope)
        yield one.samples


def _check(scope: CancelScope) -> None:
    if scope.is_cancelled:
        raise CancelledError


def _subtitles(file: Path, cues: Sequence[tuple[float, float, str]], book: Book) -> Path:
    segments = tuple(TranscriptSegment(start, end, text) for start, end, text in cues)
    transcript = Transcript(segments, segments[-1].end if segments else 0.0, book.language)
    file.write_text(as_srt(transcript), encoding="utf-8")
    return file


def file_title(title: str) -> str:
    """A title as a part of a file's name on every system."""
    return " ".join(_NO_NAME.sub(" ", title).split()).strip(". ")[:80].strip(". ") or "Chapter"
