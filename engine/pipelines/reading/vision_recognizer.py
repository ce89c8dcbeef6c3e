"""A vision model behind the engine, as a recognizer: crops become pictures in prompts, and all of them run in one batch.

Knows how families are asked for each task. How an image becomes patches is the sight's own business.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from engine.errors import BadRequest
from engine.loading import LoadedModel
from engine.pipelines.prompt import encoded
from engine.pipelines.reading.recognizer import Crop, LinePart, Piece, Reading
from engine.pipelines.reading.result import Task
from engine.types import Done, Failed, Request, RequestHandle, SamplingParams, Text
from engine.vision.strips import pieces

if TYPE_CHECKING:
    from PIL.Image import Image

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
        return [LinePart(piece.image, piece.spaced) for piece in pieces(line, self._rules)] if self._rules else []

    def note(self, image: Image) -> str | None:
        return self._sight.note(image)

    def read(self, crops: Sequence[Crop]) -> list[Reading]:
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

    def __iter__(self) -> Iterator[Piece]:
        for event in self._handle:
            if isinstance(event, Failed):
                raise event.error
            if isinstance(event, Text):
                yield Piece(event.text, tuple(token.logprob for token in event.logprobs))
            elif isinstance(event, Done):
                self.cut = event.reason == "length"

    def cancel(self) -> None:
        self._handle.cancel()
