"""From a layout region to page elements: choose the task, cut the crop, recognize it, parse the output, place the words.

The parsers at the end read what models write besides tables: LaTeX, and text with locations. Models return
text without positions; `word_boxes` finds them in the ink of the page.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from engine.errors import BadRequest, ErrorText
from engine.media.text_layer import TextLayerWord
from engine.pipelines.reading.doctags import doctags_elements, is_doctags, without_tags
from engine.pipelines.reading.grounded import grounded_elements, is_grounded, without_places
from engine.pipelines.reading.ink import columns_of, cut, cut_lines, has_ink, ink_of, runs
from engine.pipelines.reading.layout import LayoutRegion, RegionRole, lines_within, role_of
from engine.pipelines.reading.recognizer import CheckedRecognizer, Recognition, Recognizer, doubted
from engine.pipelines.reading.results import Box, Element, Kind, PlacedWord, Task, bounding_box, is_list, read_table
from engine.pipelines.reading.whole_pages import markdown_elements
from engine.text.bidi import join_words

if TYPE_CHECKING:
    from PIL.Image import Image

NO_MODEL = "Nothing here can read pictures. Choose a model with --model, for example PaddlePaddle/PaddleOCR-VL."
_WITH_FIGURE: tuple[Kind, ...] = ("figure", "chart", "seal")
_MARGIN = 4  # pixels around a region

SaveFigure = Callable[[int, str, "Image"], "str | None"]  # (order, kind, image) -> the file name


@dataclass(frozen=True)
class PageContent:
    """The pixels of a page and its text layer."""

    image: Image
    words: tuple[TextLayerWord, ...] | None = None


class RegionReader:
    """Reads the regions of one page."""

    def __init__(self, recognizer: Recognizer | None, task: Task | None, save_figure: SaveFigure) -> None:
        """`task` overrides the tasks of the region classes."""
        self._recognizer = recognizer
        self._task = task
        self._save_figure = save_figure

    def read(self, page: PageContent, region: LayoutRegion, checked: CheckedRecognizer | None) -> list[Element]:
        """One element, or one per located text for spotting."""
        role = role_of(region.label)
        task = self._task_of(role)
        if page.words is not None and task == "text":
            return [_from_text_layer(page.words, region, role)]
        if task is None:
            return [self._with_figure(Element(role.kind, region.box, region.order, label=region.label), page)]
        if self._recognizer is None or checked is None:
            raise BadRequest(NO_MODEL, "model")
        if task == "markdown":
            result = self._recognize(page, region, task, region.lines, checked)
            return self._of_markdown(page, region, result)
        lines = region.lines or (lines_within(page.image, region.box) if task in ("text", "table") else ())
        result = self._recognize(page, region, task, lines, checked)
        if task == "spotting":
            return _located_elements(region, result)
        element = self._with_figure(_parsed(region, role, task, result), page)
        if element.kind == "formula" or (element.table is None and element.kind == "chart"):
            return [element]
        return [replace(element, lines=word_boxes(page.image, element.box, element.text, lines))]

    def _task_of(self, role: RegionRole) -> Task | None:
        task = self._task or role.task
        if task is None or self._recognizer is None or task in self._recognizer.tasks:
            return task
        return "text"

    def _recognize(
        self, page: PageContent, region: LayoutRegion, task: Task, lines: Sequence[Box], checked: CheckedRecognizer
    ) -> Recognition:
        assert self._recognizer is not None
        if self._recognizer.by_line:
            return doubted(Recognition.joined(checked.read_lines(cut_lines(page.image, lines))))
        image = cut(page.image, region.box, _MARGIN)
        # models invent text for a blank image
        result = checked.read(image, task) if has_ink(image) else Recognition("")
        if task != "markdown" and is_doctags(result.text):
            result = replace(result, text=without_tags(result.text))
        if task != "markdown" and is_grounded(result.text):
            result = replace(result, text=without_places(result.text))
        return doubted(result) if task in ("text", "markdown") else result

    def _of_markdown(self, page: PageContent, region: LayoutRegion, result: Recognition) -> list[Element]:
        known = ((is_doctags, doctags_elements), (is_grounded, grounded_elements))
        read = next((read for fits, read in known if fits(result.text)), None)
        tagged = read is not None
        found = (read or markdown_elements)(result.text, region.box)
        elements = [
            replace(element, confidence=None if element.kind == "figure" else result.confidence, doubt=result.doubt)
            for element in found
        ]
        elements = _each_placed(page.image, elements) if tagged else placed_together(page.image, elements, region.lines)
        return [self._with_figure(element, page) for element in elements]

    def _with_figure(self, element: Element, page: PageContent) -> Element:
        if element.kind not in _WITH_FIGURE:
            return element
        return replace(element, figure=self._save_figure(element.order, element.kind, cut(page.image, element.box)))


def _parsed(region: LayoutRegion, role: RegionRole, task: Task, result: Recognition) -> Element:
    text, table, doubt = result.text, None, result.doubt
    kind: Kind = role.kind
    level = region.level or role.level
    if task in ("table", "chart"):
        kind = task
        table = read_table(text)
        if table is not None:
            text = table.plain()
        elif text and task == "table":
            doubt = doubt or ErrorText("No table was found in the model's output.")
    elif task == "formula":
        kind, text = "formula", clean_formula(text)
    elif task == "seal":
        kind = "seal"
    elif kind in ("table", "formula", "chart"):
        kind = "text"  # the model does not support the task and returned plain text
    if kind == "text" and is_list(text):
        kind = "list"
    if kind != "heading":
        level = 0
    return Element(
        kind, region.box, region.order, text, region.label, region.score, result.confidence, doubt, level, table
    )


def _located_elements(region: LayoutRegion, result: Recognition) -> list[Element]:
    box = region.box
    elements = []
    for order, (text, found) in enumerate(located_texts(result.text, box.width, box.height)):
        place = found.moved(box.left, box.top)
        elements.append(
            Element("text", place, region.order + order, text, "spot", confidence=result.confidence,
                    doubt=result.doubt, lines=((PlacedWord(text, place),),))
        )  # fmt: skip
    if not elements and result.text:
        doubt = result.doubt or ErrorText("No places were found in the model's output.")
        elements.append(Element("text", box, region.order, result.text, "spot", 1.0, result.confidence, doubt))
    return elements


# -- regions with a text layer


def _from_text_layer(words: Sequence[TextLayerWord], region: LayoutRegion, role: RegionRole) -> Element:
    """The text of the file's own text layer inside a region."""
    boxes = [(word.text, Box(*word.bounds)) for word in words]
    lines = text_layer_lines([(text, box) for text, box in boxes if region.box.grown(_MARGIN).contains(box.middle)])
    text = "\n".join(join_words([word.text for word in line]) for line in lines)
    kind: Kind = role.kind if role.task == "text" else "text"
    if kind == "text" and is_list(text):
        kind = "list"
    level = (region.level or role.level) if kind == "heading" else 0
    return Element(kind, region.box, region.order, text, region.label, region.score, level=level, lines=lines)


def text_layer_lines(words: Sequence[tuple[str, Box]]) -> tuple[tuple[PlacedWord, ...], ...]:
    """Words grouped into lines by their vertical centers."""
    lines: list[list[PlacedWord]] = []
    for text, box in sorted(words, key=lambda word: word[1].middle[1]):
        last = lines[-1][-1].box if lines else None
        if last is not None and abs(last.middle[1] - box.middle[1]) < 0.5 * min(last.height, box.height):
            lines[-1].append(PlacedWord(text, box))
        else:
            lines.append([PlacedWord(text, box)])
    return tuple(tuple(sorted(line, key=lambda word: word.box.left)) for line in lines)


# -- parsing of LaTeX and of text with locations

_DELIMITERS = (("$$", "$$"), ("\\[", "\\]"), ("\\(", "\\)"), ("$", "$"))
_FENCES = ("```latex", "```tex", "```math", "```")
_QUADRILATERAL = re.compile(r"((?:<\|LOC_\d+\|>){8})")
_COORDINATE = re.compile(r"<\|LOC_(\d+)\|>")
_INCOMPLETE = re.compile(r"<\|LOC_[^>]*\|?>?")


def clean_formula(text: str) -> str:
    """LaTeX without code fence, math delimiters and empty lines."""
    formula = text.strip()
    for fence in _FENCES:
        if formula.startswith(fence) and formula.endswith("```") and len(formula) >= len(fence) + 3:
            formula = formula[len(fence) : -3].strip()
            break
    for left, right in _DELIMITERS:
        inside = formula[len(left) : len(formula) - len(right)]
        if formula.startswith(left) and formula.endswith(right) and left not in inside and len(formula) > len(left):
            formula = inside.strip()
            break
    return "\n".join(line for line in formula.splitlines() if line.strip())


def located_texts(output: str, width: float, height: float) -> list[tuple[str, Box]]:
    """Texts with bounding boxes from the output of the spotting task, for an image of this size.

    A text is followed by the eight coordinates of a quadrilateral in thousandths: `text<|LOC_x1|><|LOC_y1|>...`. Text with
    an incomplete location, as at the end of a truncated output, is dropped."""
    parts = _QUADRILATERAL.split(output)
    found = []
    for raw, quadrilateral in zip(parts[::2], parts[1::2]):
        numbers = [min(int(number), 1000) / 1000 for number in _COORDINATE.findall(quadrilateral)]
        text = _INCOMPLETE.sub("", raw).strip()
        xs, ys = [n * width for n in numbers[::2]], [n * height for n in numbers[1::2]]
        if text:
            found.append((text, Box(min(xs), min(ys), max(xs), max(ys))))
    return found


# -- word boxes


def word_boxes(page: Image, box: Box, text: str, lines: Sequence[Box]) -> tuple[tuple[PlacedWord, ...], ...]:
    """The words of a recognized text with boxes, by line.

    `lines` are the boxes of the lines of ink, by default `box` alone. Lines of text and of ink are matched one to one where
    their numbers agree; else the words are distributed over the lines of ink by width."""
    words_by_line = [words for line in text.splitlines() if (words := line.split())]
    if not words_by_line:
        return ()
    boxes = list(lines) or [box]
    if len(words_by_line) != len(boxes):
        words_by_line = _distributed([word for words in words_by_line for word in words], boxes)
    return tuple(_placed(page, line, words) for words, line in zip(words_by_line, boxes) if words)


def placed_together(page: Image, elements: Sequence[Element], lines: Sequence[Box]) -> list[Element]:
    """The words of all elements in order, on the lines of ink in order; a box is then that of its element's words."""
    owners = [
        (at, word) for at, element in enumerate(elements) if _is_on_lines(element) for word in element.text.split()
    ]
    if not lines or not owners:
        return list(elements)
    found: list[list[list[PlacedWord]]] = [[] for _ in elements]
    left = iter(owners)
    for line, words in zip(lines, _distributed([word for _, word in owners], lines)):
        before = -1
        for placed in _placed(page, line, words) if words else ():
            at, _ = next(left)
            if at != before:
                found[at].append([])
            found[at][-1].append(placed)
            before = at
    out = []
    for element, mine in zip(elements, found):
        box = bounding_box(word.box for line in mine for word in line) if mine else element.box
        out.append(replace(element, box=box, lines=tuple(map(tuple, mine))))
    return out


def _each_placed(page: Image, elements: Sequence[Element]) -> list[Element]:
    """The words of each element in its own box, which the model has said."""
    return [
        replace(element, lines=word_boxes(page, element.box, element.text, lines_within(page, element.box)))
        if _is_on_lines(element)
        else element
        for element in elements
    ]


def _is_on_lines(element: Element) -> bool:
    return element.kind not in ("figure", "formula")


def _distributed(words: Sequence[str], lines: Sequence[Box]) -> list[list[str]]:
    """Words assigned to lines in order, each line filled up to its share of the total width."""
    width = sum(line.width for line in lines) or 1.0
    characters = sum(len(word) + 1 for word in words)
    out: list[list[str]] = [[] for _ in lines]
    at, filled, edge = 0, 0.0, lines[0].width
    for word in words:
        middle = (filled + (len(word) + 1) / 2) * width / characters
        while middle > edge and at < len(lines) - 1:
            at += 1
            edge += lines[at].width
        out[at].append(word)
        filled += len(word) + 1
    return out


def _placed(page: Image, line: Box, words: Sequence[str]) -> tuple[PlacedWord, ...]:
    """The words of a line, separated at its widest gaps, or by length where these gaps are implausible."""
    if len(words) == 1:
        return (PlacedWord(words[0], line),)
    ink = columns_of(ink_of(np.asarray(cut(page, line).convert("L"))))
    left = line.pixels()[0]
    gaps = [gap for gap in runs(~ink) if gap[0] > 0 and gap[1] < len(ink)]
    widest = sorted(sorted(gaps, key=lambda gap: gap[0] - gap[1])[: len(words) - 1])
    edges = _edges_by_gaps(widest, len(ink)) if len(widest) == len(words) - 1 else []
    if not edges or not _plausible(edges, words):
        edges = _edges_by_length(words, line.width)
    return tuple(
        PlacedWord(word, Box(left + start, line.top, left + end, line.bottom))
        for word, (start, end) in zip(words, edges)
    )


def _edges_by_gaps(gaps: Sequence[tuple[int, int]], width: int) -> list[tuple[float, float]]:
    starts = [0, *(gap[1] for gap in gaps)]
    ends = [*(gap[0] for gap in gaps), width]
    return [(float(start), float(end)) for start, end in zip(starts, ends)]


def _edges_by_length(words: Sequence[str], width: float) -> list[tuple[float, float]]:
    unit = width / max(1, sum(len(word) for word in words) + len(words) - 1)
    edges, at = [], 0.0
    for word in words:
        edges.append((at, at + len(word) * unit))
        at += (len(word) + 1) * unit
    return edges


def _plausible(edges: Sequence[tuple[float, float]], words: Sequence[str]) -> bool:
    """Whether no word's mean character width is more than five times off the mean of the line."""
    mean = sum(end - start for start, end in edges) / sum(len(word) for word in words)
    return all(mean / 5 < (end - start) / len(word) < mean * 5 for (start, end), word in zip(edges, words))
