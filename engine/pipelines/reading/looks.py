"""What a page looks like to a reader of plain print: whether it has ruled tables, and whether what was read of it can be trusted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from engine.errors import ErrorText
from engine.pipelines.reading.ink import columns_of, ink_of, rows_of, rules_of, runs, working_copy
from engine.pipelines.reading.results import Element

if TYPE_CHECKING:
    from PIL.Image import Image

_RULES = 3  # a table has at least so many across and down, which meet
_REACH = 4  # pixels by which a rule may end short of the one that it meets
_SURE = 0.93  # a page of plain print is read with more, 0.97 to 1.0; of Cyrillic letters the Reader makes Latin ones with 0.88


@dataclass(frozen=True)
class PageLooks:
    table: bool = False  # rules across and down that meet, as around cells
    unsure: bool = False  # the reader is not sure of its text: another script, handwriting, formulas, or a poor picture


# what is said of a page that another model would read better; None: nothing
Advise: TypeAlias = Callable[[PageLooks], "ErrorText | None"]


def looks_of(image: Image, elements: Sequence[Element]) -> PageLooks:
    """`elements`: what was read of the page."""
    texts = [element for element in elements if element.text and element.confidence is not None]
    letters = sum(len(element.text) for element in texts)
    sure = sum(len(element.text) * (element.confidence or 0.0) for element in texts)
    return PageLooks(has_table(image), letters > 0 and sure < _SURE * letters)


def has_table(image: Image) -> bool:
    ink = ink_of(working_copy(image)[0])
    across, down = rules_of(ink)
    rows, columns = runs(rows_of(across)), runs(columns_of(down))
    if min(len(rows), len(columns)) < _RULES:
        return False
    met = [
        sum(
            bool(across[top:bottom, max(left - _REACH, 0) : right + _REACH].any())
            and bool(down[max(top - _REACH, 0) : bottom + _REACH, left:right].any())
            for left, right in columns
        )
        for top, bottom in rows
    ]
    # rows of cells: rules across that rules down meet
    return sum(count >= _RULES for count in met) >= _RULES
