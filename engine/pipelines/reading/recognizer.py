"""Text recognition of crops: the recognizer protocol, its implementation by a vision model, and the confidence check.

A `Recognizer` turns crops of a page into streams of text with token log probabilities. `VisionRecognizer` submits each crop
as a request to the engine, so that all crops share its continuous batches. `CheckedRecognizer` wraps a recognizer: it stops
runaway output (repetition, or more text than fits into the crop), retries with other decode settings, then with the two
halves of the crop, and marks text that stays doubtful. The number and the length of attempts are bounded.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from engine.errors import BadRequest, ErrorText
from engine.loading import LoadedModel
from engine.pipelines.prompt import encoded
from engine.pipelines.reading.ink import halves
from engine.pipelines.reading.prompts import task_prompts
from engine.pipelines.reading.results import Task
from engine.text.doctags import DOCUMENT
from engine.types import Done, Failed, Request, RequestHandle, SamplingParams, Text
from engine.vision.line_strips import LinePart, line_parts

if TYPE_CHECKING:
    from PIL.Image import Image


@dataclass(frozen=True)
class DecodeSettings:
    """Sampling settings of one attempt at a crop."""

    temperature: float = 0.0
    repetition_penalty: float = 1.0
    seed: int = 0


@dataclass(frozen=True)
class Crop:
    """A part of a page to be recognized."""

    image: Image
    task: Task
    limit: int  # tokens at most
    settings: DecodeSettings = DecodeSettings()


@dataclass(frozen=True)
class RecognizedPiece:
    """A piece of recognized text."""

    text: str
    logprobs: tuple[float, ...] = ()  # of its tokens


class RecognitionStream(Protocol):
    """The text of one crop as it is generated. Iteration blocks, and raises a GrusError when recognition fails."""

    @property
    def truncated(self) -> bool:
        """After the end: whether `Crop.limit` ended it."""

    def __iter__(self) -> Iterator[RecognizedPiece]: ...
    def cancel(self) -> None:
        """End the iteration; callable from any thread."""


class Recognizer(Protocol):
    """A source of text for crops. Methods are called from several threads concurrently."""

    name: str  # reported in every result

    @property
    def tasks(self) -> frozenset[Task]:
        """The supported tasks. Regions of other tasks are read as text."""

    @property
    def by_line(self) -> bool:
        """Whether the model reads single lines instead of whole regions."""

    @property
    def whole_pages(self) -> bool:
        """Whether the model was trained to read a page at once, which it writes as markdown."""

    def parts(self, line: Image) -> Sequence[LinePart]:
        """The images that a line model reads for one line, from left to right; empty for a line without ink."""

    def note(self, image: Image) -> str | None:
        """A message about lost detail, for an image above the model's pixel budget."""

    def read(self, crops: Sequence[Crop]) -> list[RecognitionStream]:
        """Start recognizing all crops concurrently."""


# -- a vision model as a recognizer


_DOCTAGS = ("idefics3", "smolvlm")  # model types some of which write DocTags


class _RequestEngine(Protocol):
    def submit(self, request: Request) -> RequestHandle: ...


class VisionRecognizer:
    """A loaded vision model as a recognizer: each crop is one request."""

    def __init__(self, engine: _RequestEngine, loaded: LoadedModel) -> None:
        """Raises BadRequest for a model without vision."""
        if loaded.vision is None:
            raise BadRequest(
                ErrorText("{model} reads text, not images. Choose a vision model.", model=loaded.name), "model"
            )
        self.name = loaded.name
        self._engine, self._loaded, self._vision = engine, loaded, loaded.vision
        self._strip_rules = loaded.vision.line_strips
        kind = str(loaded.config.get("model_type"))
        doctags = kind in _DOCTAGS and loaded.tokenizer.id(DOCUMENT) is not None
        self._prompts = task_prompts(kind, self._rendered("?"), doctags)

    @property
    def by_line(self) -> bool:
        return self._strip_rules is not None

    @property
    def tasks(self) -> frozenset[Task]:
        if self.by_line:
            return frozenset({"text"})
        return frozenset(self._prompts.of)

    @property
    def whole_pages(self) -> bool:
        return self._prompts.whole_pages

    def parts(self, line: Image) -> Sequence[LinePart]:
        return line_parts(line, self._strip_rules) if self._strip_rules else []

    def note(self, image: Image) -> str | None:
        return self._vision.note(image)

    def read(self, crops: Sequence[Crop]) -> list[RecognitionStream]:
        return [_RequestStream(self._engine.submit(self._request(crop))) for crop in crops]

    def _request(self, crop: Crop) -> Request:
        picture = self._vision.prepare(crop.image, task=crop.task)
        prompt = encoded(self._loaded, self._prompt(crop.task), [picture])
        size, window = self._prompts.no_repeat_ngrams or (None, None)
        sampling = SamplingParams(
            max_tokens=min(crop.limit, self._loaded.context - len(prompt.ids)),
            temperature=crop.settings.temperature,
            repetition_penalty=crop.settings.repetition_penalty,
            no_repeat_ngram_size=size,
            no_repeat_ngram_window_size=window,
            seed=crop.settings.seed,
            logprobs=True,
            approximate_logprobs=True,
        )
        return prompt.request(self._loaded.name, sampling)

    def _prompt(self, task: Task) -> str:
        return self._rendered(self._prompts.of[task])

    def _rendered(self, instruction: str) -> str:
        content = [{"type": "image"}, *([{"type": "text", "text": instruction}] if instruction else [])]
        variables: dict[str, Any] = {"enable_thinking": False}
        return self._loaded.template.render([{"role": "user", "content": content}], None, **variables)


class _RequestStream:
    """The events of one request as a recognition stream."""

    def __init__(self, handle: RequestHandle) -> None:
        self._handle = handle
        self.truncated = False

    def __iter__(self) -> Iterator[RecognizedPiece]:
        for event in self._handle:
            if isinstance(event, Failed):
                raise event.error
            if isinstance(event, Text):
                yield RecognizedPiece(event.text, tuple(token.logprob for token in event.logprobs))
            elif isinstance(event, Done):
                self.truncated = event.reason == "length"

    def cancel(self) -> None:
        self._handle.cancel()


def confidence_in_lines(
    recognizer: Recognizer, lines: Sequence[Image], track: Callable[[RecognitionStream], bool] = lambda stream: True
) -> float | None:
    """How sure the recognizer is of lines of text, by the geometric mean of the token probabilities; None without any."""
    crops = [
        Crop(part.image, "text", line_token_limit(*line.size))
        for line in lines
        for part in (recognizer.parts(line) if recognizer.by_line else [LinePart(line)])
    ]
    logprobs: list[float] = []
    for stream in recognizer.read(crops):
        if not track(stream):
            stream.cancel()
        for piece in stream:
            logprobs += piece.logprobs
    return Recognition("", tuple(logprobs)).confidence


# -- runaway output: token limits and repetition

REPEATS = ErrorText("The text repeats itself.")
TOO_LONG = ErrorText("The text is longer than its place on the page can hold.")

_CHECK_INTERVAL = 24  # characters between two checks
_LONGEST_PERIOD = 400
_LINE_HEIGHT = 12.0  # pixels; smaller print is unreadable
_CHARACTER_WIDTH = 5.0
_CHARACTERS_PER_HEIGHT = 5.0  # of the narrowest letters
_LEAST_TOKENS, _MOST_TOKENS = 48, 8192


@dataclass(frozen=True)
class _RepetitionLimit:
    characters: int  # covered by a repetition
    times: int  # occurrences of its unit


# a column of zeros in a table is no fault, nor are the dot leaders of a table of contents
_TABLES = _RepetitionLimit(1600, 100)
_LIMITS: dict[Task, _RepetitionLimit] = {"table": _TABLES, "markdown": _TABLES, "chart": _RepetitionLimit(800, 40)}
_PROSE = _RepetitionLimit(96, 8)
_SINGLE_CHARACTER = _RepetitionLimit(300, 300)


def token_limit(width: float, height: float, task: Task) -> int:
    """The most tokens that a crop of this size can hold: one per character, more for tasks whose output has markup."""
    characters = max(1.0, height / _LINE_HEIGHT) * max(1.0, width / _CHARACTER_WIDTH)
    per_character = {"text": 1.0, "markdown": 1.5, "table": 2.0, "formula": 3.0, "chart": 1.0, "seal": 1.0,
                     "spotting": 4.0}[task]  # fmt: skip
    return int(min(_MOST_TOKENS, _LEAST_TOKENS + characters * per_character))


def line_token_limit(width: float, height: float) -> int:
    """The most tokens in one line, whose height bounds the width of its letters from below."""
    return int(min(_MOST_TOKENS, _LEAST_TOKENS + _CHARACTERS_PER_HEIGHT * width / max(height, 1.0)))


class RepetitionDetector:
    """Detects repetition in text that arrives in pieces."""

    def __init__(self, task: Task) -> None:
        self._limit = _LIMITS.get(task, _PROSE)
        self._tail = ""
        self._unchecked = 0

    def push(self, text: str) -> bool:
        """Whether the text up to here ends in a repetition."""
        self._tail = (self._tail + text)[-4 * _LONGEST_PERIOD - self._limit.characters :]
        self._unchecked += len(text)
        if self._unchecked < _CHECK_INTERVAL:
            return False
        self._unchecked = 0
        return repetition(self._tail, self._limit) is not None

    def start_in(self, text: str) -> int | None:
        """Where the repetition at the end of a finished text starts."""
        return repetition(text, self._limit)


def repetition(text: str, limit: _RepetitionLimit = _PROSE) -> int | None:
    """The end of the first unit of a periodic suffix that is longer than `limit`; None without one."""
    for period in range(1, min(_LONGEST_PERIOD, len(text) // 3) + 1):
        if text[-period:] != text[-2 * period : -period]:
            continue
        unit = text[-period:]
        allowed = _SINGLE_CHARACTER if len(set(unit) - {" "}) <= 1 else limit
        start = len(text) - period
        while start >= period and text[start - period : start] == unit:
            start -= period
        covered = len(text) - start
        if covered >= max(allowed.characters, period * min(allowed.times, max(3, allowed.characters // period))):
            return start + period
    return None


# -- the confidence check

RETRY_SETTINGS = (DecodeSettings(temperature=0.3, repetition_penalty=1.15, seed=1),)
_MOST_SPLITS = 2  # halves of halves
_SPLITTABLE: tuple[Task, ...] = ("text", "markdown", "table")


@dataclass(frozen=True)
class Recognition:
    """The checked text of a crop."""

    text: str
    logprobs: tuple[float, ...] = ()
    doubt: str | None = None  # why the text is doubtful

    @property
    def confidence(self) -> float | None:
        """The geometric mean of the token probabilities; None without any."""
        return math.exp(sum(self.logprobs) / len(self.logprobs)) if self.logprobs else None

    @classmethod
    def joined(cls, parts: Sequence[Recognition], *, keep_empty: bool = True) -> Recognition:
        """Several recognitions as lines of one; doubtful for the first reason of any."""
        return cls(
            "\n".join(part.text for part in parts if part.text or keep_empty),
            tuple(value for part in parts for value in part.logprobs),
            next((part.doubt for part in parts if part.doubt is not None), None),
        )


SURE = 0.85  # confidence in a text; upright print has 0.99, upside down 0.8, sideways 0.5
UNSURE = ErrorText("The model is not sure of this text.")


def doubted(result: Recognition) -> Recognition:
    """The recognition, doubtful if the model is not sure of it."""
    confidence = result.confidence
    return result if confidence is None or confidence >= SURE or result.doubt else replace(result, doubt=UNSURE)


class CheckedRecognizer:
    """Recognizes crops with the confidence check.

    `on_text` gets text as it is generated, and None when an attempt is dropped with all text of the region so far.
    `track` is called with each stream and returns False to have it cancelled."""

    def __init__(
        self,
        recognizer: Recognizer,
        on_text: Callable[[str | None], None] = lambda text: None,
        track: Callable[[RecognitionStream], bool] = lambda stream: True,
    ) -> None:
        self._recognizer = recognizer
        self._on_text = on_text
        self._track = track

    def read(self, image: Image, task: Task) -> Recognition:
        return self._read(image, task, 0)

    def read_lines(self, lines: Sequence[Image]) -> list[Recognition]:
        """The lines of one region, started together. Only runaway parts are retried."""
        parts = [self._recognizer.parts(line) for line in lines]
        crops = [
            Crop(part.image, "text", line_token_limit(*line.size))
            for line, line_parts in zip(lines, parts)
            for part in line_parts
        ]
        streams = zip(crops, self._recognizer.read(crops))
        return [self._read_line(line_parts, streams, first=index == 0) for index, line_parts in enumerate(parts)]

    def _read_line(
        self, parts: Sequence[LinePart], streams: Iterator[tuple[Crop, RecognitionStream]], first: bool
    ) -> Recognition:
        text, doubt = "", None
        logprobs: list[float] = []
        for index, (part, (crop, stream)) in enumerate(zip(parts, streams)):
            between = " " if part.spaced else ""
            self._on_text(between if index else "" if first else "\n")
            result = self._consume(stream, crop)
            if result.doubt is not None:
                # the retry is silent: text of the following parts may have been reported already
                result = CheckedRecognizer(self._recognizer, track=self._track)._retry(crop, result)
            text += (between if index else "") + result.text
            logprobs += result.logprobs
            doubt = doubt or result.doubt
        return Recognition(text, tuple(logprobs), doubt)

    def _read(self, image: Image, task: Task, splits: int) -> Recognition:
        crop = Crop(image, task, token_limit(*image.size, task))
        first = self._attempt(crop)
        if first.doubt is None:
            return first
        self._on_text(None)
        best = self._retry(crop, first)
        parts = halves(image) if best.doubt is not None and task in _SPLITTABLE and splits < _MOST_SPLITS else None
        if parts is None:
            return best
        self._on_text(None)
        return Recognition.joined([self._read(part, task, splits + 1) for part in parts], keep_empty=False)

    def _retry(self, crop: Crop, first: Recognition) -> Recognition:
        """The first attempt with other settings that passes the check, else `first`."""
        for settings in RETRY_SETTINGS:
            result = self._attempt(replace(crop, settings=settings))
            if result.doubt is None:
                return result
        return first

    def _attempt(self, crop: Crop) -> Recognition:
        return self._consume(self._recognizer.read([crop])[0], crop)

    def _consume(self, stream: RecognitionStream, crop: Crop) -> Recognition:
        detector = RepetitionDetector(crop.task)
        pieces: list[str] = []
        logprobs: list[float] = []
        fault: str | None = None
        if not self._track(stream):
            stream.cancel()
        for piece in stream:
            pieces.append(piece.text)
            logprobs.extend(piece.logprobs)
            self._on_text(piece.text)
            fault = REPEATS if detector.push(piece.text) else TOO_LONG if len(pieces) > crop.limit else None
            if fault is not None:
                stream.cancel()
                break
        text = "".join(pieces)
        start = detector.start_in(text)
        if fault == REPEATS or start is not None:
            return Recognition(text[:start].strip(), tuple(logprobs), REPEATS)
        return Recognition(text.strip(), tuple(logprobs), TOO_LONG if fault or stream.truncated else None)
