"""Pocket-TTS: how a text is prepared and cut, its voices, and a passage's frames from the talker to the codec.

A voice is a recording as the codec's latents, `[frames, width]`: one of the files in `voices/` beside the model, or a recording that
is encoded here. A passage ends some frames after the one with which the speech ends.
"""

from __future__ import annotations

import json
import math
import re
import secrets
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from engine.errors import BadRequest, ErrorText, WeightsError
from engine.models.causal import StreamState
from engine.models.codec12 import TOGETHER
from engine.models.config import Fields
from engine.models.pocket_codec import RATE
from engine.pipelines.speaking.kokoro import read_numbers
from engine.pipelines.speaking.speech import FRAME_RATE, TRIES, RepetitionGuard, Take, retry_takes, stream_take
from engine.pipelines.speaking.voice import (
    MODEL_DEFAULTS,
    Clone,
    OnCodes,
    SpeechSampling,
    VoiceSettings,
    checked_recording,
    checked_text,
)
from engine.tasks import EngineLike, Joint, Task
from engine.types import Event, Frames, Request, SamplingParams
from engine.weights.safetensors import read_file

CODEC = "eustlb/pocket-tts-audio-tokenizer"
LONGEST_TEXT = 4000  # characters per call; `text.passages` splits longer texts
MOST_TOKENS = 50  # of a text that is spoken at once: beyond it words are left out
CHUNKS = (2, 4, 8)  # frames of the codec's first chunks; the last number holds for all later ones
_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+")
_LARGEST = 64 << 20  # bytes of a voice's file


def codec_of(folder: Path) -> str:
    """The codec: the folder `audio_tokenizer` beside the model, or the repository that its processor names."""
    if (folder / "audio_tokenizer" / "config.json").is_file():
        return str(folder / "audio_tokenizer")
    named = _processor(folder).get("audio_tokenizer")
    name = named.get("audio_tokenizer_name_or_path") if isinstance(named, Mapping) else None
    return name if isinstance(name, str) and _REPOSITORY.fullmatch(name) else CODEC


def _processor(folder: Path) -> Mapping[str, Any]:
    try:
        found = json.loads((folder / "processor_config.json").read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def voices_in(folder: Path) -> dict[str, Path]:
    """The voices beside a model, by name."""
    return {path.stem: path for path in sorted((folder / "voices").glob("*.safetensors"))}


def read_voice(path: Path, width: int) -> np.ndarray:
    """`[frames, width]` latents."""
    try:
        raws = list(read_file(path).values()) if path.stat().st_size <= _LARGEST else []
    except (OSError, ValueError) as error:
        raise WeightsError(f"{path} is not a voice ({type(error).__name__}).") from None
    made = read_numbers(path, raws[0]) if len(raws) == 1 else np.zeros(0, np.float32)
    if (
        not made.size
        or made.shape[-1] != width
        or made.size != made.shape[-2:][0] * width
        or not np.isfinite(made).all()
    ):
        raise WeightsError(f"{path} is not a voice of this model: one table of {width} numbers a frame is expected.")
    return made.reshape(-1, width).astype(np.float32)


@dataclass(frozen=True)
class _Rules:
    """When a passage ends, and how a recording is prepared."""

    short_words: int
    short_tail: int  # frames behind the one with which the speech ends, of a text of few words
    tail: int
    fade: int  # samples
    ends_on_pause: bool
    pause: int
    fade_out: int
    floor: float  # dB below the loudest block
    block: int

    @classmethod
    def of(cls, folder: Path) -> _Rules:
        whole = _processor(folder)
        f = Fields(whole, "processor_config.json")
        inner = whole.get("feature_extractor")
        g = Fields(inner if isinstance(inner, Mapping) else {}, "processor_config.json")

        def samples(fields: Fields, name: str, seconds: float) -> int:
            return max(0, int(fields.float(name, default=seconds) * RATE))

        return cls(
            f.int("short_text_max_words", default=4, least=0),
            f.int("frames_after_eos_short_text", default=4, least=0),
            f.int("frames_after_eos", default=2, least=0),
            samples(f, "fade_in_duration", 0.005),
            g.flag("end_on_pause", True),
            samples(g, "pause_duration", 0.08),
            samples(g, "fade_out_duration", 0.02),
            g.float("silence_floor_db", default=35.0),
            max(1, samples(g, "analysis_frame_duration", 0.02)),
        )

    def ended_on_pause(self, sound: np.ndarray) -> np.ndarray:
        """A recording up to its last sound, faded out, and a short pause: the voice would go on with what stops in a word."""
        count = len(sound) // self.block
        if not self.ends_on_pause or not count:
            return sound
        power = np.square(sound[: count * self.block].reshape(count, self.block)).mean(1)
        level = 20 * np.log10(np.sqrt(power) + 1e-12)
        end = (int(np.flatnonzero(level > level.max() - self.floor)[-1]) + 1) * self.block
        made = sound[:end].copy()
        fade = min(self.fade_out, end)
        made[end - fade :] *= np.linspace(1, 0, fade, dtype=np.float32)
        return np.concatenate((made, np.zeros(self.pause, np.float32)))


@dataclass(frozen=True)
class _Facts:
    folder: Path
    tokenizer: Any
    template: Any
    greedy: bool
    width: int
    least: int
    threshold: float
    mean: np.ndarray
    spread: np.ndarray
    begins_voice: int | None  # the token before a voice
    markers: tuple[str, ...]  # tokens that stand for sound in a prompt


class EndOfSpeech:
    """Counts frames, and the ones behind the sign that the speech ends."""

    def __init__(self, threshold: float, least: int, tail: int) -> None:
        self._threshold, self._least, self._tail = threshold, least, tail
        self._seen, self._left = 0, -1
        self.over = False

    def add(self, logit: float) -> None:
        if self._left < 0 and logit > self._threshold and self._seen >= self._least:
            self._left = self._tail
        self._seen += 1
        self.over = self._left == 0
        self._left -= self._left > 0


class PocketTTS:
    """Pocket-TTS of an engine, with its codec. Implements `speech_models.SpeechModel`."""

    rate = RATE
    token_rate = FRAME_RATE
    clones = True

    def __init__(self, engine: EngineLike, model: str) -> None:
        self.engine, self.model = engine, model
        self._facts: _Facts = engine.task(model, _facts).result()
        self._rules = _Rules.of(self._facts.folder)
        self.codec = codec_of(self._facts.folder)

    @cached_property
    def presets(self) -> list[str]:
        return list(voices_in(self._facts.folder))

    def check(self, settings: VoiceSettings) -> None:
        """Raise BadRequest for settings that the model does not support."""
        if settings.instructions is not None:
            raise BadRequest(ErrorText("Pocket-TTS takes no instructions. Its voices are recordings."), "instructions")
        if settings.language not in ("auto", ""):
            raise BadRequest(
                ErrorText("A Pocket-TTS model speaks one language, which is not chosen: leave it at automatic."),
                "language",
            )
        self._latents(settings)

    def needs_example(self, settings: VoiceSettings) -> bool:
        return False

    def _latents(self, settings: VoiceSettings) -> np.ndarray:
        """The voice's recording."""
        width = self._facts.width
        if settings.preset is not None and settings.clone is not None:
            raise BadRequest(ErrorText("Choose a preset voice or a recording, not both."), "voice")
        if settings.clone is not None:
            if not settings.clone.vector.size or settings.clone.vector.size % width:
                raise BadRequest(ErrorText("The voice was made for another model. Make it again."), "voice")
            return settings.clone.vector.reshape(-1, width)
        found = voices_in(self._facts.folder)
        name = settings.preset if settings.preset is not None else next(iter(found), None)
        if name is None:
            raise BadRequest(
                ErrorText("This model has no voices of its own: it needs a recording of the voice."), "voice"
            )
        if name not in found:
            raise BadRequest(
                ErrorText(
                    "There is no voice {name}. Choose one of {voices}.",
                    name=repr(name),
                    voices=", ".join(found) or "none",
                ),
                "voice",
            )
        return read_voice(found[name], width)

    def prepared(self, text: str) -> str:
        """A text as the model's template writes it, without the marks for sound."""
        text = checked_text(text, LONGEST_TEXT)
        template = self._facts.template
        if template is None:
            return ended(text)
        rendered: str = template.render([{"role": "user", "content": [{"type": "text", "text": text}]}], None, False)
        for marker in self._facts.markers:
            rendered = rendered.replace(marker, "")
        return rendered

    def split(self, text: str) -> list[str]:
        """A prepared text cut behind sentences, long ones behind clauses, into pieces that the model speaks whole."""
        return cut(self._facts.tokenizer, text, MOST_TOKENS)

    def speak(self, text: str, settings: VoiceSettings, *, seed: int | None = None,
              sampling: SpeechSampling = MODEL_DEFAULTS, buffered: bool = False,
              on_codes: OnCodes | None = None) -> Iterator[np.ndarray]:  # fmt: skip
        self.check(settings)
        voice = self._latents(settings)
        greedy = self._facts.greedy if sampling.temperature is None else sampling.temperature == 0
        seed = secrets.randbits(31) if seed is None else seed
        for i, piece in enumerate(self.split(self.prepared(text))):
            yield from self._piece(piece, voice, seed + i * TRIES, sampling, greedy, buffered)

    def _piece(self, text: str, voice: np.ndarray, seed: int, sampling: SpeechSampling, greedy: bool,
               buffered: bool) -> Iterator[np.ndarray]:  # fmt: skip
        text = self.prepared(text)
        ids = self._facts.tokenizer.encode(text, False, parse_special=False)
        before = [] if self._facts.begins_voice is None else [self._facts.begins_voice]
        prompt = np.array([*before, *ids], np.int32)
        rows = self.engine.task(self.model, _rows(prompt, len(before), voice)).result()
        few = len(text.split()) <= self._rules.short_words
        tail = self._rules.short_tail if few else self._rules.tail
        most = sampling.most(math.ceil((len(ids) / 3 + 2) * FRAME_RATE))
        given: dict[str, Any] = {} if sampling.temperature is None else {"temperature": sampling.temperature}

        def take(attempt: int) -> Take:
            params = SamplingParams(max_tokens=most, seed=seed + attempt, **given)
            request = Request(self.model, [0] * len(rows), params, embeds=rows, positions=range(len(rows)))
            return self._take(request, tail)

        return retry_takes(take, 1 if greedy else TRIES, buffered, may_be_cut=True)

    def _take(self, request: Request, tail: int) -> Take:
        facts, past = self._facts, StreamState()
        end = EndOfSpeech(facts.threshold, facts.least, tail)

        def frames(event: Event) -> Iterable[np.ndarray]:
            for code in event.codes if isinstance(event, Frames) else ():
                if not end.over:
                    end.add(float(code[-1]))
                    yield code[:-1] * facts.spread + facts.mean

        def render(waiting: list[np.ndarray], last: bool) -> Task[np.ndarray] | None:
            if not waiting:
                return None
            part = np.stack(waiting).astype(np.float32), past, self._rules.fade
            return self.engine.task(self.codec, Joint(_decode, part, TOGETHER))

        handle = self.engine.submit(request)
        return (yield from stream_take(handle, frames, render, CHUNKS, RATE, RepetitionGuard(), over=lambda: end.over))

    def clone(self, samples: np.ndarray, text: str | None = None) -> Clone:
        """A voice from mono samples at `rate`; what is said in it is of no use here."""
        sound = self._rules.ended_on_pause(checked_recording(samples, RATE))
        latents = self.engine.task(f"{self.codec}#encoder", lambda loaded: loaded.model.encode(sound)).result()
        return Clone(np.asarray(latents, np.float32).reshape(-1))


_ENDS, _WEAK, _CLOSERS = ".!?…", ",;:-–—", "\"'”’)]»"


def ended(text: str) -> str:
    """One line that begins with a capital letter and ends as a sentence does, as the texts of the training did."""
    text = " ".join(text.split())
    text = text[:1].upper() + text[1:]
    core = text.rstrip(_CLOSERS + " ")
    if not core or core[-1] in _ENDS:
        return text
    if core[-1] in _WEAK:
        return core.rstrip(_WEAK + " ") + "." + text[len(core) :].strip()
    return text + "."


def cut(tokenizer: Any, text: str, most: int) -> list[str]:
    """Pieces of at most `most` tokens where sentences and clauses allow it."""
    ids = tokenizer.encode(text, False, parse_special=False)

    def signs(*marks: str) -> set[int]:
        return {id for mark in marks if (id := tokenizer.id(mark)) is not None}

    sentences, clauses = signs(".", "!", "...", "?"), signs(",", ";", ":")
    segments: list[list[int]] = []
    for sentence in _cut_behind(ids, sentences, lambda i: _is_decimal(tokenizer, ids, i)):
        segments += _cut_behind(sentence, clauses) if len(sentence) > most else [sentence]
    pieces: list[str] = []
    group, count = "", 0
    for segment in segments:
        if group and count + len(segment) > most:
            pieces.append(group.strip())
            group, count = "", 0
        said = tokenizer.decode(segment)
        group, count = f"{group} {said}" if group else said, count + len(segment)
    return [piece for piece in [*pieces, group.strip()] if piece]


def _cut_behind(ids: list[int], marks: set[int], within: Any = lambda i: False) -> list[list[int]]:
    """`ids` cut behind each run of `marks`, but where `within` says that it is none."""
    starts = [
        i for i in range(1, len(ids)) if ids[i - 1] in marks and ids[i] not in marks and not within(i)
    ]  # fmt: skip
    return [ids[start:stop] for start, stop in zip([0, *starts], [*starts, len(ids)])]


def _is_decimal(tokenizer: Any, ids: list[int], i: int) -> bool:
    before, after = tokenizer.decode(ids[:i]), tokenizer.decode(ids[i:])
    return len(before) >= 2 and before[-1] == "." and before[-2].isdigit() and after[:1].isdigit()


def _rows(ids: np.ndarray, at: int, voice: np.ndarray) -> Any:
    def work(loaded: Any) -> Generator[None, None, np.ndarray]:
        return loaded.model.prompt(ids, at, voice)
        yield  # a task's work is a generator

    return work


def _decode(
    loaded: Any, parts: Sequence[tuple[np.ndarray, StreamState, int]]
) -> Generator[None, None, list[np.ndarray]]:
    """The samples of each stream's next frames; the first `fade` of a stream are faded in."""
    sounds: list[np.ndarray] = yield from loaded.model.decode_together([(latents, past) for latents, past, _ in parts])
    for sound, (_, past, fade) in zip(sounds, parts):
        rise = np.linspace(0, 1, fade, dtype=np.float32)[past.get(_decode, 0) :][: len(sound)]
        sound[: len(rise)] *= rise
        past[_decode] = past.get(_decode, 0) + len(sound)
    return sounds


def _facts(loaded: Any) -> Generator[None, None, _Facts]:
    model, config, tokenizer = loaded.model, Fields(loaded.config), loaded.tokenizer
    names = ("audio_prompt_bos", "audio_prompt", "audio_bos", "audio_latent")
    ids = [config.int(f"{name}_token_id", default=4000 + at, least=0) for name, at in zip(names, (2, 0, 3, 1))]
    words = [tokenizer.token(id) for id in ids if id < model.embedding_rows]
    begins = ids[0] if config.find("audio_prompt_bos_token_id", default=None) is not None else None
    mean, spread = (np.asarray(model.ops.numpy(part), np.float32) for part in (model.mean, model.spread))
    template = loaded.template if loaded.template is not None and loaded.template.names else None
    greedy = loaded.defaults.get("temperature") == 0.0
    return _Facts(loaded.folder, tokenizer, template, greedy, model.latent, model.least, model.threshold, mean, spread,
                  begins, tuple(word for word in words if word))  # fmt: skip
    yield  # a task's work is a generator
