"""From one layout region to its elements: task, crop, recognition, parsing of the output, word boxes."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from engine.errors import BadRequest
from engine.media.documents import TextLayerWord
from engine.pipelines.reading.ink import cut, cut_lines, has_ink, ink_of
from engine.pipelines.reading.layout import LayoutRegion, RegionRole, meaning
from engine.pipelines.reading.recognizer import CheckedRecognizer, Recognition, Recognizer
from engine.pipelines.reading.results import Box, Element, Kind, PlacedWord, Task, is_list
from engine.pipelines.reading.splitter import columns_of, lines_within, runs
from engine.pipelines.reading.tables import read_table

if TYPE_CHECKING:
    from PIL.Image import Image

NO_MODEL = "Nothing here can read pictures. Choose a model with --model, for example PaddlePaddle/PaddleOCR-VL."
_KEPT: tuple[Kind, ...] = ("figure", "chart", "seal")
_MARGIN = 4  # pixels of paper around a region
_NO_TABLE = "No table was found in the model's output."

Keep = Callable[[int, str, "Image"], "str | None"]  # (order, kind, picture) -> the file that it was kept in


@dataclass(frozen=True)
class PageContent:
    """A page that is being read."""

    image: Image
    words: tuple[TextLayerWord, ...] | None = None  # of its text layer


class RegionReader:
    def __init__(self, recognizer: Recognizer | None, task: Task | None, keep: Keep) -> None:
        """`task`: for all regions, instead of what each one's class asks for."""
        self._recognizer = recognizer
        self._task = task
        self._keep = keep

    def read(self, sheet: PageContent, region: LayoutRegion, careful: CheckedRecognizer | None) -> list[Element]:
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

    def _task_of(self, means: RegionRole) -> Task | None:
        task = self._task or means.task
        if task is None or self._recognizer is None or task in self._recognizer.tasks:
            return task
        return "text"

    def _lines(self, sheet: PageContent, region: LayoutRegion, task: Task) -> tuple[Box, ...]:
        return region.lines or (lines_within(sheet.image, region.box) if task in ("text", "table") else ())

    def _recognize(
        self, sheet: PageContent, region: LayoutRegion, task: Task, lines: Sequence[Box], careful: CheckedRecognizer
    ) -> Recognition:
        assert self._recognizer is not None
        if not self._recognizer.by_line:
            image = cut(sheet.image, region.box, _MARGIN)
            # a model that is shown blank paper makes something up
            return careful.read(image, task) if has_ink(image) else Recognition("")
        read = careful.read_lines(cut_lines(sheet.image, lines))
        return Recognition(
            "\n".join(line.text for line in read),
            tuple(value for line in read for value in line.logprobs),
            next((line.doubt for line in read if line.doubt is not None), None),
        )

    def _with_picture(self, element: Element, sheet: PageContent) -> Element:
        if element.kind not in _KEPT:
            return element
        file = self._keep(element.order, element.kind, cut(sheet.image, element.box))
        return replace(element, figure=file)


def _made(region: LayoutRegion, means: RegionRole, task: Task, outcome: Recognition) -> Element:
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


def _with_places(element: Element, sheet: PageContent, lines: Sequence[Box]) -> Element:
    if element.kind == "formula" or (element.table is None and element.kind == "chart"):
        return element
    return replace(element, lines=place(sheet.image, element.box, element.text, lines))


def _spots(region: LayoutRegion, outcome: Recognition) -> list[Element]:
    box = region.box
    found = read_spots(outcome.text, box.width, box.height)
    elements = []
    for order, spot in enumerate(found):
        where = spot.box.moved(box.left, box.top)
        elements.append(
            Element("text", where, region.order + order, spot.text, "spot", confidence=outcome.confidence,
                    doubt=outcome.doubt, lines=((PlacedWord(spot.text, where),),))
        )  # fmt: skip
    if not elements and outcome.text:
        doubt = outcome.doubt or "No places were found in the model's output."
        elements.append(Element("text", box, region.order, outcome.text, "spot", 1.0, outcome.confidence, doubt))
    return elements


def _from_layer(words: Sequence[TextLayerWord], region: LayoutRegion, means: RegionRole) -> Element:
    """What the file itself says, line by line."""
    inside = [(word.text, Box(*word.bounds)) for word in words]
    lines = layer_lines([(text, box) for text, box in inside if region.box.grown(_MARGIN).contains(box.middle)])
    text = "\n".join(" ".join(word.text for word in line) for line in lines)
    kind: Kind = means.kind if means.task == "text" else "text"
    if kind == "text" and is_list(text):
        kind = "list"
    level = (region.level or means.level) if kind == "heading" else 0
    return Element(kind, region.box, region.order, text, region.label, region.score, level=level, lines=lines)


def layer_lines(words: Sequence[tuple[str, Box]]) -> tuple[tuple[PlacedWord, ...], ...]:
    """Words that stand at one height are a line."""
    lines: list[list[PlacedWord]] = []
    for text, box in sorted(words, key=lambda word: word[1].middle[1]):
        last = lines[-1][-1].box if lines else None
        if last is not None and abs(last.middle[1] - box.middle[1]) < 0.5 * min(last.height, box.height):
            lines[-1].append(PlacedWord(text, box))
        else:
            lines.append([PlacedWord(text, box)])
    return tuple(tuple(sorted(line, key=lambda word: word.box.left)) for line in lines)


_PLACE = re.compile(r"((?:<\|LOC_\d+\|>){8})")
_NUMBER = re.compile(r"<\|LOC_(\d+)\|>")
_STRAY = re.compile(r"<\|LOC_[^>]*\|?>?")


@dataclass(frozen=True)
class Spot:
    text: str
    box: Box


def read_spots(output: str, width: float, height: float) -> list[Spot]:
    """In pixels of an image of this size. What has no complete place, as the end of an output that was cut, is left out."""
    parts = _PLACE.split(output)
    spots = []
    for said, place in zip(parts[::2], parts[1::2]):
        numbers = [min(int(number), 1000) / 1000 for number in _NUMBER.findall(place)]
        text = _STRAY.sub("", said).strip()
        across, down = [n * width for n in numbers[::2]], [n * height for n in numbers[1::2]]
        if text:
            spots.append(Spot(text, Box(min(across), min(down), max(across), max(down))))
    return spots


_AROUND = (("$$", "$$"), ("\\[", "\\]"), ("\\(", "\\)"), ("$", "$"))
_FENCES = ("```latex", "```tex", "```math", "```")


def clean_formula(text: str) -> str:
    formula = text.strip()
    for fence in _FENCES:
        if formula.startswith(fence) and formula.endswith("```") and len(formula) >= len(fence) + 3:
            formula = formula[len(fence) : -3].strip()
            break
    for left, right in _AROUND:
        inside = formula[len(left) : len(formula) - len(right)]
        if formula.startswith(left) and formula.endswith(right) and left not in inside and len(formula) > len(left):
            formula = inside.strip()
            break
    return "\n".join(line for line in formula.splitlines() if line.strip())


Placed = tuple[tuple[PlacedWord, ...], ...]


def place(page: Image, box: Box, text: str, lines: Sequence[Box]) -> Placed:
    """Words by line of ink. Without any line the whole box is one."""
    said = [words for line in text.splitlines() if (words := line.split())]
    if not said:
        return ()
    where = list(lines) or [box]
    if len(said) != len(where):
        said = _shared_out([word for words in said for word in words], where)
    return tuple(_place_line(page, line, words) for words, line in zip(said, where) if words)


def _shared_out(words: Sequence[str], lines: Sequence[Box]) -> list[list[str]]:
    """Fill the lines one after the other, each up to its share of the width."""
    width = sum(line.width for line in lines) or 1.0
    signs = sum(len(word) + 1 for word in words)
    out: list[list[str]] = [[] for _ in lines]
    at, filled, edge = 0, 0.0, lines[0].width
    for word in words:
        middle = (filled + (len(word) + 1) / 2) * width / signs
        while middle > edge and at < len(lines) - 1:
            at += 1
            edge += lines[at].width
        out[at].append(word)
        filled += len(word) + 1
    return out


def _place_line(page: Image, line: Box, words: Sequence[str]) -> tuple[PlacedWord, ...]:
    if len(words) == 1:
        return (PlacedWord(words[0], line),)
    ink = columns_of(ink_of(np.asarray(cut(page, line).convert("L"))))
    left = line.pixels()[0]
    gaps = [gap for gap in runs(~ink) if gap[0] > 0 and gap[1] < len(ink)]
    widest = sorted(sorted(gaps, key=lambda gap: gap[0] - gap[1])[: len(words) - 1])
    edges = _by_gaps(widest, len(ink)) if len(widest) == len(words) - 1 else []
    if not edges or not _plausible(edges, words):
        edges = _by_length(words, line.width)
    return tuple(
        PlacedWord(word, Box(left + start, line.top, left + end, line.bottom))
        for word, (start, end) in zip(words, edges)
    )


def _by_gaps(gaps: Sequence[tuple[int, int]], width: int) -> list[tuple[float, float]]:
    starts = [0, *(gap[1] for gap in gaps)]
    ends = [*(gap[0] for gap in gaps), width]
    return [(float(start), float(end)) for start, end in zip(starts, ends)]


def _by_length(words: Sequence[str], width: float) -> list[tuple[float, float]]:
    sign = width / max(1, sum(len(word) for word in words) + len(words) - 1)
    edges, at = [], 0.0
    for word in words:
        edges.append((at, at + len(word) * sign))
        at += (len(word) + 1) * sign
    return edges


def _plausible(edges: Sequence[tuple[float, float]], words: Sequence[str]) -> bool:
    """Letters differ in width, but not by a factor of five on average: such gaps were not those between the words."""
    usual = sum(end - start for start, end in edges) / sum(len(word) for word in words)
    return all(usual / 5 < (end - start) / len(word) < usual * 5 for (start, end), word in zip(edges, words))
