"""From one region of a page to what stands in it: which crops are read, by which task, and what becomes of the output."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from engine.errors import BadRequest
from engine.media.page import Written
from engine.pipelines.reading.careful import Careful, Outcome
from engine.pipelines.reading.crops import cut, cut_lines, has_ink
from engine.pipelines.reading.formulas import clean_formula
from engine.pipelines.reading.geometry import Box
from engine.pipelines.reading.joining import is_list
from engine.pipelines.reading.layout import Meaning, Region, meaning
from engine.pipelines.reading.placing import place
from engine.pipelines.reading.recognizer import Recognizer
from engine.pipelines.reading.result import Element, Kind, Task, Word
from engine.pipelines.reading.splitter import lines_within
from engine.pipelines.reading.spotting import read_spots
from engine.pipelines.reading.tables import read_table

if TYPE_CHECKING:
    from PIL.Image import Image

NO_MODEL = "Nothing here can read pictures. Choose a model with --model, for example PaddlePaddle/PaddleOCR-VL."
_KEPT: tuple[Kind, ...] = ("figure", "chart", "seal")
_MARGIN = 4  # pixels of paper around a region
_NO_TABLE = "No table was found in the model's output."

Keep = Callable[[int, str, "Image"], "str | None"]  # (order, kind, picture) -> the file that it was kept in


@dataclass(frozen=True)
class Sheet:
    """A page that is being read."""

    image: Image
    words: tuple[Written, ...] | None = None  # of its text layer


class RegionReader:
    def __init__(self, recognizer: Recognizer | None, task: Task | None, keep: Keep) -> None:
        """`task`: for all regions, instead of what each one's class asks for."""
        self._recognizer = recognizer
        self._task = task
        self._keep = keep

    def read(self, sheet: Sheet, region: Region, careful: Careful | None) -> list[Element]:
        """One element, or one a place for spotting."""
        means = meaning(region.label)
        task = self._task_of(means)
        if sheet.words is not None and task == "text":
            return [_from_layer(sheet.words, region, means)]
        if task is None:
            return [self._with_picture(Element(means.kind, region.box, region.order, label=region.label), sheet)]
        if self._recognizer is None or careful is None:
            raise BadRequest(NO_MODEL, "model")
        lines = self._lines(sheet, region, task)
        outcome = self._recognize(sheet, region, task, lines, careful)
        if task == "spotting":
            return _spots(region, outcome)
        element = self._with_picture(_made(region, means, task, outcome), sheet)
        return [_with_places(element, sheet, lines)]

    def _task_of(self, means: Meaning) -> Task | None:
        task = self._task or means.task
        if task is None or self._recognizer is None or task in self._recognizer.tasks:
            return task
        return "text"

    def _lines(self, sheet: Sheet, region: Region, task: Task) -> tuple[Box, ...]:
        return region.lines or (lines_within(sheet.image, region.box) if task in ("text", "table") else ())

    def _recognize(self, sheet: Sheet, region: Region, task: Task, lines: Sequence[Box], careful: Careful) -> Outcome:
        assert self._recognizer is not None
        if not self._recognizer.by_line:
            image = cut(sheet.image, region.box, _MARGIN)
            # a model that is shown blank paper makes something up
            return careful.read(image, task) if has_ink(image) else Outcome("")
        read = careful.read_lines(cut_lines(sheet.image, lines))
        return Outcome(
            "\n".join(line.text for line in read),
            tuple(value for line in read for value in line.logprobs),
            next((line.doubt for line in read if line.doubt is not None), None),
        )

    def _with_picture(self, element: Element, sheet: Sheet) -> Element:
        if element.kind not in _KEPT:
            return element
        file = self._keep(element.order, element.kind, cut(sheet.image, element.box))
        return replace(element, figure=file)


def _made(region: Region, means: Meaning, task: Task, outcome: Outcome) -> Element:
    text, table, doubt = outcome.text, None, outcome.doubt
    kind: Kind = means.kind
    level = region.level or means.level
    if task in ("table", "chart"):
        kind = task
        table = read_table(text)
        if table is not None:
            text = table.plain()
        elif text and task == "table":
            doubt = doubt or _NO_TABLE
    elif task == "formula":
        kind, text = "formula", clean_formula(text)
    elif task == "seal":
        kind = "seal"
    elif kind in ("table", "formula", "chart"):
        kind = "text"  # the model reads no such thing, and gave plain text
    if kind == "text" and is_list(text):
        kind = "list"
    if kind != "heading":
        level = 0
    return Element(
        kind, region.box, region.order, text, region.label, region.score, outcome.confidence, doubt, level, table
    )


def _with_places(element: Element, sheet: Sheet, lines: Sequence[Box]) -> Element:
    if element.kind == "formula" or (element.table is None and element.kind == "chart"):
        return element
    return replace(element, lines=place(sheet.image, element.box, element.text, lines))


def _spots(region: Region, outcome: Outcome) -> list[Element]:
    box = region.box
    found = read_spots(outcome.text, box.width, box.height)
    elements = []
    for order, spot in enumerate(found):
        where = spot.box.moved(box.left, box.top)
        elements.append(
            Element("text", where, region.order + order, spot.text, "spot", confidence=outcome.confidence,
                    doubt=outcome.doubt, lines=((Word(spot.text, where),),))
        )  # fmt: skip
    if not elements and outcome.text:
        doubt = outcome.doubt or "No places were found in the model's output."
        elements.append(Element("text", box, region.order, outcome.text, "spot", 1.0, outcome.confidence, doubt))
    return elements


def _from_layer(words: Sequence[Written], region: Region, means: Meaning) -> Element:
    """What the file itself says, line by line."""
    inside = [(word.text, Box(*word.bounds)) for word in words]
    lines = layer_lines([(text, box) for text, box in inside if region.box.grown(_MARGIN).holds(box.middle)])
    text = "\n".join(" ".join(word.text for word in line) for line in lines)
    kind: Kind = means.kind if means.task == "text" else "text"
    if kind == "text" and is_list(text):
        kind = "list"
    level = (region.level or means.level) if kind == "heading" else 0
    return Element(kind, region.box, region.order, text, region.label, region.score, level=level, lines=lines)


def layer_lines(words: Sequence[tuple[str, Box]]) -> tuple[tuple[Word, ...], ...]:
    """Words that stand at one height are a line."""
    lines: list[list[Word]] = []
    for text, box in sorted(words, key=lambda word: word[1].middle[1]):
        last = lines[-1][-1].box if lines else None
        if last is not None and abs(last.middle[1] - box.middle[1]) < 0.5 * min(last.height, box.height):
            lines[-1].append(Word(text, box))
        else:
            lines.append([Word(text, box)])
    return tuple(tuple(sorted(line, key=lambda word: word.box.left)) for line in lines)
