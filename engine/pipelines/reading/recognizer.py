"""What the reader asks of a model: crops of pages go in, text comes out in pieces, with how likely each token was.

Any object of this form can read: a vision model behind the engine, or a made-up one in a test. Nothing here knows how.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from engine.pipelines.reading.result import Task

if TYPE_CHECKING:
    from PIL.Image import Image


@dataclass(frozen=True)
class Manner:
    """How a crop is to be read: other settings for another attempt."""

    temperature: float = 0.0
    repetition_penalty: float = 1.0
    seed: int = 0


@dataclass(frozen=True)
class Crop:
    image: Image
    task: Task
    limit: int  # the most tokens that can stand in it
    manner: Manner = Manner()


@dataclass(frozen=True)
class Piece:
    text: str
    logprobs: tuple[float, ...] = ()  # of the tokens that it was made of


@dataclass(frozen=True)
class LinePart:
    """What such a model reads at once: a line, or a part of a long one."""

    image: Image
    spaced: bool = False  # whether a space stands between it and the part before


class Reading(Protocol):
    """One crop that is being read. Iteration blocks, ends with the text, and raises a GrusError for what failed."""

    @property
    def cut(self) -> bool:
        """After the end: it was `limit` that ended it."""

    def __iter__(self) -> Iterator[Piece]: ...
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

    def read(self, crops: Sequence[Crop]) -> list[Reading]:
        """Start all of them; they run together with whatever else is being read."""
