"""Which model reads a page best on this machine, as far as its picture and what the Reader made of it tell.

The Reader, which comes with Grus, reads printed Latin text. A table is read as one by a model that writes tokens, where it fits the
memory; so is text that the Reader is not sure of, if the memory's measured bandwidth lets a page be written in a minute; else models for lines of text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.runtime.catalogue import RECOMMENDED
from app.runtime.recommended import read_catalogue
from engine.errors import ErrorText

if TYPE_CHECKING:
    from engine.machine import Machine
    from engine.pipelines.reading.looks import PageLooks

PAGE_TOKENS = 1000  # of a page full of text
PATIENCE = 60.0  # seconds a page that are still better than lines without tables
READS = 2 * (18 * 14_200_000 + 106_000_000)  # bytes that a token of PaddleOCR-VL reads: 18 layers and the head, in bf16
LINES = "PaddlePaddle/PP-OCRv6_small_rec_safetensors"
LINE_BOXES = "PaddlePaddle/PP-OCRv6_medium_det_safetensors"


@dataclass(frozen=True)
class ReadingAdvice:
    """For pages that the Reader has read on a machine."""

    machine: Machine

    def __call__(self, looks: PageLooks) -> ErrorText | None:
        model = RECOMMENDED["read"]
        size = next(entry.size for entry in read_catalogue() if entry.repo == model)
        rate = self.machine.tokens_per_second(READS)
        time = PAGE_TOKENS / rate if rate else None
        fits = time is not None and self.machine.fit(size) == "fits"
        if looks.table and fits:
            return ErrorText(
                "This page has a table. {model} reads tables as tables, about {seconds} s a full page on this machine.",
                model=model,
                seconds=rounded(time),
            )
        if looks.unsure and fits and time is not None and time <= PATIENCE:
            return ErrorText(
                "The Reader is not sure of this page. {model} reads handwriting, formulas and other scripts, about "
                "{seconds} s a full page on this machine.",
                model=model,
                seconds=rounded(time),
            )
        if looks.unsure:
            return ErrorText(
                "The Reader is not sure of this page. {model} with {layout} as its layout reads other scripts and photographs, "
                "line by line.",
                model=LINES,
                layout=LINE_BOXES,
            )
        return None


def rounded(seconds: float | None) -> int:
    """Up to a number that says how little is known."""
    assert seconds is not None
    for step in (1, 5, 10, 30):
        if seconds <= 12 * step:
            return int(-(-seconds // step) * step)
    return int(-(-seconds // 60) * 60)
