"""Text recognition of crops: the recognizer protocol, the vision-model recognizer, and the confidence check."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from engine.errors import BadRequest
from engine.loading import LoadedModel
from engine.pipelines.prompt import encoded
from engine.pipelines.reading.ink import halves
from engine.pipelines.reading.results import Task
from engine.types import Done, Failed, Request, RequestHandle, SamplingParams, Text
from engine.vision.line_strips import LinePart, line_parts

if TYPE_CHECKING:
    from PIL.Image import Image


@dataclass(frozen=True)
class DecodeSettings:
    """How a crop is to be read: other settings for another attempt."""

    temperature: float = 0.0
    repetition_penalty: float = 1.0
    seed: int = 0


@dataclass(frozen=True)
class Crop:
    image: Image
    task: Task
    limit: int  # the most tokens that can stand in it
    manner: DecodeSettings = DecodeSettings()


@dataclass(frozen=True)
class TextPiece:
    text: str
    logprobs: tuple[float, ...] = ()  # of the tokens that it was made of


class RecognitionStream(Protocol):
    """One crop that is being read. Iteration blocks, ends with the text, and raises a GrusError for what failed."""

    @property
    def cut(self) -> bool:
        """After the end: it was `limit` that ended it."""

    def __iter__(self) -> Iterator[TextPiece]: ...
    def cancel(self) -> None:
        """From any thread; the iteration then ends."""


class Recognizer(Protocol):
    """Called from several threads at once."""

    name: str  # said in every result

    @property
    def tasks(self) -> frozenset[Task]:
        """What the model was trained to read. A region of any other task is read as text."""

    @property
    def by_line(self) -> bool:
        """Whether the model reads one line at a time, and not whole regions."""

    def parts(self, line: Image) -> Sequence[LinePart]:
        """For a model that reads by line: the pictures it wants of one, from left to right. None for a line without ink."""

    def note(self, image: Image) -> str | None:
        """What is lost of an image because it is larger than the model looks at."""

    def read(self, crops: Sequence[Crop]) -> list[RecognitionStream]:
        """Start all of them; they run together with whatever else is being read."""


_PADDLE: Mapping[Task, str] = {
    "text": "OCR:",
    "table": "Table Recognition:",
    "formula": "Formula Recognition:",
    "chart": "Chart Recognition:",
    "seal": "Seal Recognition:",
    "spotting": "Spotting:",
}
_ANY: Mapping[Task, str] = {
    "text": "Read all text in this image. Answer with the text alone, line by line as it stands.",
    "table": "Write the table in this image as HTML. Answer with the <table> alone.",
    "formula": "Write the formula in this image as LaTeX. Answer with the LaTeX alone.",
    "chart": "Write the data of this chart as a table in markdown. Answer with the table alone.",
    "seal": "Read the text of the seal in this image. Answer with the text alone.",
}
_SINCE_1_5: frozenset[Task] = frozenset({"seal", "spotting"})
_ENDS_SINCE_1_5 = "Assistant:\n"  # earlier versions end their prompt in a blank, and know four tasks


class Submits(Protocol):
    """The part of the engine that is needed here."""

    def submit(self, request: Request) -> RequestHandle: ...


class VisionRecognizer:
    def __init__(self, engine: Submits, loaded: LoadedModel) -> None:
        """Raises BadRequest for a model that sees nothing."""
        if loaded.sight is None:
            raise BadRequest(f"{loaded.name} reads text, not images. Choose a vision model.", "model")
        self.name = loaded.name
        self._engine, self._loaded, self._sight = engine, loaded, loaded.sight
        self._paddle = str(loaded.config.get("model_type")) == "paddleocr_vl"
        self._rules = loaded.sight.strips

    @property
    def by_line(self) -> bool:
        return self._rules is not None

    @property
    def tasks(self) -> frozenset[Task]:
        if self.by_line:
            return frozenset({"text"})
        if not self._paddle:
            return frozenset(_ANY)
        newer = self._prompt("text").endswith(_ENDS_SINCE_1_5)
        return frozenset(_PADDLE) if newer else frozenset(_PADDLE) - _SINCE_1_5

    def parts(self, line: Image) -> Sequence[LinePart]:
        return line_parts(line, self._rules) if self._rules else []

    def note(self, image: Image) -> str | None:
        return self._sight.note(image)

    def read(self, crops: Sequence[Crop]) -> list[RecognitionStream]:
        return [_Running(self._engine.submit(self._request(crop))) for crop in crops]

    def _request(self, crop: Crop) -> Request:
        picture = self._sight.prepare(crop.image, task=crop.task)
        prompt = encoded(self._loaded, self._prompt(crop.task), [picture])
        manner = crop.manner
        sampling = SamplingParams(
            max_tokens=min(crop.limit, self._loaded.context - len(prompt.ids)),
            temperature=manner.temperature,
            repetition_penalty=manner.repetition_penalty,
            seed=manner.seed,
            logprobs=True,
            approximate_logprobs=True,
        )
        return prompt.request(self._loaded.name, sampling)

    def _prompt(self, task: Task) -> str:
        asked = (_PADDLE if self._paddle else _ANY)[task]
        content = [{"type": "image"}, {"type": "text", "text": asked}]
        variables: dict[str, Any] = {"enable_thinking": False}
        return self._loaded.template.render([{"role": "user", "content": content}], None, **variables)


class _Running:
    """One request, as a reading."""

    def __init__(self, handle: RequestHandle) -> None:
        self._handle = handle
        self.cut = False

    def __iter__(self) -> Iterator[TextPiece]:
        for event in self._handle:
            if isinstance(event, Failed):
                raise event.error
            if isinstance(event, Text):
                yield TextPiece(event.text, tuple(token.logprob for token in event.logprobs))
            elif isinstance(event, Done):
                self.cut = event.reason == "length"

    def cancel(self) -> None:
        self._handle.cancel()


REPEATS = "The text repeats itself."
TOO_LONG = "The text is longer than its place on the page can hold."

_LOOK_EVERY = 24  # signs between two looks
_LONGEST_PERIOD = 400
_LINE = 12.0  # pixels: print that is smaller cannot be read at all ...
_SIGN = 5.0  # ... and neither can letters that stand closer
_SIGNS_A_HEIGHT = 5.0  # the narrowest letters, side by side
_LEAST, _MOST = 48, 8192  # tokens


@dataclass(frozen=True)
class _Allowed:
    signs: int  # that a repetition may cover
    times: int  # that its unit may occur


_ALLOWED: dict[Task, _Allowed] = {"table": _Allowed(1600, 100), "chart": _Allowed(800, 40)}
_PROSE = _Allowed(96, 8)
_DOTS = _Allowed(300, 300)  # leaders between a title and its page: one sign that is repeated


def room(width: float, height: float, task: Task) -> int:
    """The most tokens that can stand in so many pixels. A token is at least a sign, and tables have tags besides."""
    signs = max(1.0, height / _LINE) * max(1.0, width / _SIGN)
    per_sign = {"text": 1.0, "seal": 1.0, "table": 2.0, "formula": 3.0, "chart": 1.0, "spotting": 4.0}[task]
    return int(min(_MOST, _LEAST + signs * per_sign))


def room_in_line(width: float, height: float) -> int:
    """In one line, whose height says how wide its letters are at least."""
    return int(min(_MOST, _LEAST + _SIGNS_A_HEIGHT * width / max(height, 1.0)))


class RepetitionDetector:
    """Reads along and says when to stop."""

    def __init__(self, task: Task) -> None:
        self._allowed = _ALLOWED.get(task, _PROSE)
        self._tail = ""
        self._unseen = 0

    def push(self, text: str) -> bool:
        """True: it repeats itself."""
        self._tail = (self._tail + text)[-4 * _LONGEST_PERIOD - self._allowed.signs :]
        self._unseen += len(text)
        if self._unseen < _LOOK_EVERY:
            return False
        self._unseen = 0
        return repetition(self._tail, self._allowed) is not None

    def repeats(self, text: str) -> int | None:
        """Where a finished text begins to repeat itself."""
        return repetition(text, self._allowed)


def repetition(text: str, allowed: _Allowed = _PROSE) -> int | None:
    """Where the end of `text` began to be one unit again and again, after its first time; None: it does not."""
    for period in range(1, min(_LONGEST_PERIOD, len(text) // 3) + 1):
        if text[-period:] != text[-2 * period : -period]:
            continue
        unit = text[-period:]
        limit = _DOTS if len(set(unit) - {" "}) <= 1 else allowed
        start = len(text) - period
        while start >= period and text[start - period : start] == unit:
            start -= period
        covered = len(text) - start
        if covered >= max(limit.signs, period * min(limit.times, max(3, limit.signs // period))):
            return start + period
    return None


OTHER_MANNERS = (DecodeSettings(temperature=0.3, repetition_penalty=1.15, seed=1),)
_DEEPEST = 2  # halves of halves
_CAN_BE_HALVED: tuple[Task, ...] = ("text", "table")


@dataclass(frozen=True)
class Recognition:
    text: str
    logprobs: tuple[float, ...] = ()
    doubt: str | None = None

    @property
    def confidence(self) -> float | None:
        """The geometric mean of the tokens' probabilities; None where nothing is known of them."""
        return math.exp(sum(self.logprobs) / len(self.logprobs)) if self.logprobs else None


class CheckedRecognizer:
    """`hear` gets text as it comes, and None when an attempt is given up and what was heard is void.

    `track` may refuse a reading (False) because everything is being stopped."""

    def __init__(
        self,
        recognizer: Recognizer,
        hear: Callable[[str | None], None] = lambda text: None,
        track: Callable[[RecognitionStream], bool] = lambda reading: True,
    ) -> None:
        self._recognizer = recognizer
        self._hear = hear
        self._track = track

    def read(self, image: Image, task: Task) -> Recognition:
        return self._read(image, task, 0)

    def read_lines(self, lines: Sequence[Image]) -> list[Recognition]:
        """Lines of one region, started together. A part that runs away is read again by itself."""
        parts = [self._recognizer.parts(line) for line in lines]
        crops = [
            Crop(part.image, "text", room_in_line(*line.size)) for line, found in zip(lines, parts) for part in found
        ]
        readings = zip(crops, self._recognizer.read(crops))
        return [self._read_line(found, readings, first=index == 0) for index, found in enumerate(parts)]

    def _read_line(
        self, parts: Sequence[LinePart], readings: Iterator[tuple[Crop, RecognitionStream]], first: bool
    ) -> Recognition:
        text, doubt = "", None
        logprobs: list[float] = []
        for index, (part, (crop, reading)) in enumerate(zip(parts, readings)):
            between = " " if part.spaced else ""
            self._hear(between if index else "" if first else "\n")
            outcome = self._listen(reading, crop)
            if outcome.doubt is not None:
                # what follows it has been heard already, or will be: the mended part shows at the end
                outcome = CheckedRecognizer(self._recognizer, track=self._track)._again(crop, outcome)
            text += (between if index else "") + outcome.text
            logprobs += outcome.logprobs
            doubt = doubt or outcome.doubt
        return Recognition(text, tuple(logprobs), doubt)

    def _read(self, image: Image, task: Task, depth: int) -> Recognition:
        crop = Crop(image, task, room(*image.size, task))
        first = self._attempt(crop)
        if first.doubt is None:
            return first
        self._hear(None)
        best = self._again(crop, first)
        parts = halves(image) if best.doubt is not None and task in _CAN_BE_HALVED and depth < _DEEPEST else None
        if parts is None:
            return best
        self._hear(None)
        read = [self._read(part, task, depth + 1) for part in parts]
        return Recognition(
            "\n".join(part.text for part in read if part.text),
            tuple(value for part in read for value in part.logprobs),
            next((part.doubt for part in read if part.doubt is not None), None),
        )

    def _again(self, crop: Crop, first: Recognition) -> Recognition:
        """Other settings. The first outcome is as good as any when they all run away."""
        for manner in OTHER_MANNERS:
            outcome = self._attempt(replace(crop, manner=manner))
            if outcome.doubt is None:
                return outcome
        return first

    def _attempt(self, crop: Crop) -> Recognition:
        return self._listen(self._recognizer.read([crop])[0], crop)

    def _listen(self, reading: RecognitionStream, crop: Crop) -> Recognition:
        watch = RepetitionDetector(crop.task)
        said: list[str] = []
        logprobs: list[float] = []
        fault: str | None = None
        if not self._track(reading):
            reading.cancel()
        for piece in reading:
            said.append(piece.text)
            logprobs.extend(piece.logprobs)
            self._hear(piece.text)
            fault = REPEATS if watch.push(piece.text) else TOO_LONG if len(said) > crop.limit else None
            if fault is not None:
                reading.cancel()
                break
        text = "".join(said)
        from_here = watch.repeats(text)
        if fault == REPEATS or from_here is not None:
            return Recognition(text[:from_here].strip(), tuple(logprobs), REPEATS)
        return Recognition(text.strip(), tuple(logprobs), TOO_LONG if fault or reading.cut else None)
