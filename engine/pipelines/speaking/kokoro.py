"""Kokoro as a speech model: text to phonemes, these to passages, and each passage a task. Its voices lie beside it, a file each."""

from __future__ import annotations

import secrets
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from backends.base import Raw
from engine.errors import BadRequest, ErrorText, WeightsError
from engine.models.kokoro import RATE, KokoroProsody, KokoroSound
from engine.pipelines.speaking.phonemes import begun, check_speller, cut, phonemes, stretches
from engine.pipelines.speaking.speech import FRAME_RATE
from engine.pipelines.speaking.voice import MODEL_DEFAULTS, Clone, OnCodes, SpeechSampling, VoiceSettings
from engine.tasks import EngineLike
from engine.weights.pickled import read_pickled
from engine.weights.safetensors import read_file

DEFAULT = "af_heart"
# The first letter of a voice's name is its language: as people name it, its code, and espeak-ng's name of it. Phonemes of
# Japanese and Chinese come from libraries of their own, with dictionaries, which are not here.
LANGUAGES = {
    "a": ("english", "en", "en-us"), "b": ("british english", "en-gb", "en-gb"), "e": ("spanish", "es", "es"),
    "f": ("french", "fr", "fr-fr"), "h": ("hindi", "hi", "hi"), "i": ("italian", "it", "it"),
    "p": ("portuguese", "pt", "pt-br"),
}  # fmt: skip
_SUFFIXES = (".pt", ".safetensors", ".npy")
_LARGEST = 64 << 20  # bytes of a voice's file, which has half a megabyte
# The first passage becomes sound in windows, of which the first is short, so that it is heard early, and each is twice as long as the one
# before, so that what comes next is ready in time. In frames of 25 milliseconds.
_FIRST, _AROUND, _FADE = 24, 6, 1


def voices_in(folder: Path) -> dict[str, Path]:
    """The voices beside a model, by name, those that this program can speak with."""
    found = [path for path in (folder / "voices").glob("*") if path.suffix in _SUFFIXES]
    return {path.stem: path for path in sorted(found) if path.stem[:1] in LANGUAGES}


def read_voice(path: Path) -> np.ndarray:
    """`[phonemes, width]`: a style for each length of a passage. No code of the file runs."""
    try:
        if path.stat().st_size > _LARGEST:
            raise WeightsError(f"{path} is too large for a voice.")
        if path.suffix == ".npy":
            made = np.load(path, allow_pickle=False)
        else:
            raws = read_pickled(path) if path.suffix == ".pt" else read_file(path)
            made = read_numbers(path, next(iter(raws.values())))
    except (OSError, ValueError, StopIteration) as error:
        raise WeightsError(f"{path} is not a voice ({type(error).__name__}).") from None
    if made.ndim not in (2, 3) or made.dtype.kind != "f" or not made.size or not np.isfinite(made).all():
        raise WeightsError(f"{path} is not a voice: a table of numbers is expected.")
    return made.reshape(made.shape[0], -1).astype(np.float32)


def read_numbers(path: Path, raw: Raw) -> np.ndarray:
    """A tensor of a voice's file."""
    if raw.dtype == "BF16":
        wide = np.frombuffer(raw.buffer, np.uint16).astype(np.uint32) << 16
        return wide.view(np.float32).reshape(raw.shape)
    if raw.dtype not in ("F32", "F16", "F64"):
        raise WeightsError(f"{path} is not a voice: it holds {raw.dtype}.")
    return np.frombuffer(raw.buffer, f"<f{int(raw.dtype[1:]) // 8}").reshape(raw.shape)


@dataclass(frozen=True)
class _Facts:
    folder: Path
    vocabulary: Mapping[str, int]
    style: int


class KokoroVoice:
    """Kokoro of an engine. Implements `speech_models.SpeechModel`."""

    rate = RATE
    token_rate = FRAME_RATE  # it has no tokens; a limit in tokens is one of so many parts of a second
    clones = False
    batched = False  # passages beside each other would only take turns, and what is heard next would be late
    reads_phonemes = True  # in the text, as in [Kokoro](/kˈOkəɹO/)

    def __init__(self, engine: EngineLike, model: str) -> None:
        self.engine, self.model = engine, model
        self.speed = 1.0  # at which it speaks by itself
        self._facts: _Facts = engine.task(model, _facts).result()

    @cached_property
    def presets(self) -> list[str]:
        return list(voices_in(self._facts.folder))

    def check(self, settings: VoiceSettings) -> None:
        """Raise BadRequest for settings that Kokoro does not support."""
        if settings.clone is not None:
            raise BadRequest(
                ErrorText("Kokoro has voices of its own and clones none. Choose a Qwen3-TTS Base model to clone."),
                "voice",
            )
        if settings.instructions is not None:
            raise BadRequest(ErrorText("Kokoro takes no instructions. Its voices differ in tone."), "instructions")
        self._language(settings, self._named(settings))
        check_speller()

    def _named(self, settings: VoiceSettings) -> list[str]:
        """The voices that are named, of several their mean."""
        if not self.presets:
            raise BadRequest(
                ErrorText(
                    "{model} has no voices: its folder `voices` is missing. Download it again.", model=self.model
                ),
                "voice",
            )
        if settings.preset is None:
            return [self._own(settings.language)]
        names = [name.strip() for name in settings.preset.split(",")]
        if unknown := [name for name in names if name not in self.presets]:
            raise BadRequest(
                ErrorText(
                    "Kokoro has no voice {name}. It has: {voices}.",
                    name=repr(unknown[0]),
                    voices=", ".join(self.presets),
                ),
                "voice",
            )
        return names

    def _own(self, language: str) -> str:
        """The voice where none is named: the first of the language."""
        letter = _letter(language)
        own = [name for name in self.presets if letter is None or name.startswith(letter)]
        return DEFAULT if DEFAULT in own or (not own and DEFAULT in self.presets) else (own or self.presets)[0]

    def _language(self, settings: VoiceSettings, names: list[str]) -> str:
        """espeak-ng's name of the language."""
        if settings.language in ("auto", ""):
            return LANGUAGES[names[0][0]][2]
        letter = _letter(settings.language)
        if letter is None:
            known = ", ".join(name for name, _, _ in LANGUAGES.values())
            raise BadRequest(
                ErrorText(
                    "Kokoro does not speak {language} here. It speaks: {known}.",
                    language=repr(settings.language),
                    known=known,
                ),
                "language",
            )
        return LANGUAGES["b" if letter == "a" and names[0].startswith("b") else letter][2]

    def needs_example(self, settings: VoiceSettings) -> bool:
        return False

    def speak(self, text: str, settings: VoiceSettings, *, seed: int | None = None,
              sampling: SpeechSampling = MODEL_DEFAULTS, buffered: bool = False,
              on_codes: OnCodes | None = None) -> Iterator[np.ndarray]:  # fmt: skip
        if not text.strip():
            raise BadRequest(ErrorText("There is no text to speak."), "input")
        self.check(settings)
        names = self._named(settings)
        language = self._language(settings, names)
        pieces = [phonemes(text, language)] if buffered else begun(stretches(text, language))
        style = self._style(names)
        seed = secrets.randbits(31) if seed is None else seed
        for i, part in enumerate(part for piece in pieces for part in cut(piece)):
            signs = [sign for sign in part if sign in self._facts.vocabulary]
            if not signs:
                continue
            ids, voice = [self._facts.vocabulary[sign] for sign in signs], style[min(len(part), len(style)) - 1]
            if i == 0 and not buffered:
                yield from self._early(signs, ids, voice, seed)
            else:
                yield self.engine.task(self.model, _work(ids, voice, self.speed, seed + i)).result().samples

    def _early(self, signs: list[str], ids: list[int], voice: np.ndarray, seed: int) -> Iterator[np.ndarray]:
        """A passage window by window. Durations and pitch are those of the whole passage; where two windows meet they fade into each other."""
        read: KokoroProsody = self.engine.task(
            self.model, lambda loaded: loaded.model.read(ids, voice, self.speed)
        ).result()
        each, waiting = 0, np.zeros(0, np.float32)
        for begin, end in windows(signs, read.durations):
            first, last = max(begin - _AROUND, 0), min(end + _AROUND, read.frames)

            def render(loaded: Any, first: int = first, last: int = last) -> Any:
                return loaded.model.render(read, voice, seed, first, last)

            made: np.ndarray = self.engine.task(self.model, render).result()
            each = len(made) // (last - first)
            own = made[each * (begin - first) : each * (min(end + _FADE, last) - first)].copy()
            rising = np.linspace(0, 1, len(waiting), dtype=np.float32)
            own[: len(waiting)] = own[: len(waiting)] * rising + waiting * (1 - rising)
            ready = each * (end - begin)
            waiting = own[ready:]
            yield own[:ready]

    def _style(self, names: list[str]) -> np.ndarray:
        found = voices_in(self._facts.folder)
        read = [read_voice(found[name]) for name in names]
        if any(one.shape != read[0].shape or one.shape[1] != 2 * self._facts.style for one in read):
            raise BadRequest(ErrorText("The voice {name} does not fit this model.", name=", ".join(names)), "voice")
        return np.asarray(np.mean(read, axis=0), np.float32)

    def clone(self, samples: np.ndarray, text: str | None = None) -> Clone:
        raise BadRequest(
            ErrorText("Kokoro has voices of its own and clones none. Choose a Qwen3-TTS Base model to clone."), "voice"
        )


def windows(signs: Sequence[str], durations: np.ndarray) -> Iterator[tuple[int, int]]:
    """From which frame to which: windows end between words where words end nearby. Of the durations the first and the last are of
    silence."""
    ends = np.cumsum(durations)
    total, spaces = int(ends[-1]), np.array([ends[i + 1] for i, sign in enumerate(signs) if sign == " "], np.int64)
    begin, length = 0, int(durations[0]) + _FIRST
    while total - begin >= 3 * length // 2:
        near = spaces[np.abs(spaces - begin - length) <= length // 4]
        end = begin + length if not len(near) else int(near[np.argmin(np.abs(near - begin - length))])
        yield begin, end
        begin, length = end, 2 * length
    yield begin, total


def _letter(language: str) -> str | None:
    """Of a language's name or code, the letter that voices begin with; None for one that it does not speak."""
    asked = language.lower().replace("_", "-")
    for letter, named in LANGUAGES.items():
        if asked in named:
            return letter
    return next((letter for letter, (_, code, _) in LANGUAGES.items() if asked.partition("-")[0] == code), None)


def _work(ids: list[int], voice: np.ndarray, speed: float, seed: int) -> Any:
    def work(loaded: Any) -> Generator[None, None, KokoroSound]:
        made: KokoroSound = yield from loaded.model.speak(ids, voice, speed, seed)
        return made

    return work


def _facts(loaded: Any) -> Generator[None, None, _Facts]:
    vocabulary = loaded.config.get("vocab")
    if not isinstance(vocabulary, dict) or not all(isinstance(id, int) for id in vocabulary.values()):
        raise BadRequest(f"The config.json of {loaded.name} has no vocabulary of phonemes.", "model")
    tokens = int(loaded.config["n_token"])
    known = {sign: id for sign, id in vocabulary.items() if 0 <= id < tokens}
    return _Facts(loaded.folder, known, loaded.model.style)
    yield  # a task's work is a generator
