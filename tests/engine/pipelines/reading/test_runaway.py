"""Runaway output: found early, retried, split, then marked; and never endless, whatever a model does."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from engine.pipelines.reading.recognizer import (
    REPEATS,
    TOO_LONG,
    CheckedRecognizer,
    Crop,
    RepetitionDetector,
    repetition,
    room,
)
from tests.asserting import every
from tests.engine.pipelines.reading.fakes import Fake
from tests.engine.pipelines.reading.sheets import article, prose

PAGE = article(1).image
BLOCK = PAGE.crop((90, 300, 1150, 520))


def forever(unit: str) -> Iterator[str]:
    return itertools.cycle([unit])


@given(st.text("abcdefgh ", min_size=1, max_size=60), st.text("ijkl", max_size=200))
def test_a_repetition_is_found_where_it_begins(unit: str, before: str) -> None:
    text = before + "X" + unit * (400 // len(unit) + 12)
    begins = repetition(text)
    assert begins is not None
    assert len(before) + 1 <= begins <= len(before) + 1 + len(unit)


@given(st.integers(0, 1 << 31))
def test_prose_is_no_repetition(seed: int) -> None:
    assert repetition(" ".join(prose(300, 80, seed))) is None


@pytest.mark.parametrize(
    ("text", "task"),
    [
        ("1. Introduction " + "." * 150 + " 7", "text"),
        ("no no no no no", "text"),
        (("<fcel>0" * 8 + "<nl>") * 9, "table"),
        ("<ecel>" * 100, "table"),
        ("_" * 120, "text"),
    ],
)
def test_what_repeats_for_a_reason(text: str, task: str) -> None:
    assert RepetitionDetector(task).repeats(text) is None  # type: ignore[arg-type]


def test_a_model_that_repeats_itself_is_stopped_early() -> None:
    fake = Fake(lambda crop: itertools.chain(["Good ", "words. "], forever("and so on ")))
    outcome = CheckedRecognizer(fake).read(BLOCK.crop((0, 0, 1060, 40)), "text")
    assert outcome.doubt == REPEATS
    assert outcome.text == "Good words. and so on"
    assert len(fake.readings) == 2
    assert every(reading.given < 40 for reading in fake.readings)


def test_other_settings_are_tried_first() -> None:
    fake = Fake(lambda crop: "All is well." if crop.manner.temperature else forever("round "))
    outcome = CheckedRecognizer(fake).read(BLOCK, "text")
    assert (outcome.text, outcome.doubt) == ("All is well.", None)
    assert [crop.manner.temperature > 0 for crop in fake.crops] == [False, True]


def test_then_the_region_is_split_between_lines() -> None:
    def answer(crop: Crop) -> str | Iterator[str]:
        return f"part of {crop.image.height}" if crop.image.height < BLOCK.height else forever("round ")

    fake = Fake(answer)
    outcome = CheckedRecognizer(fake).read(BLOCK, "text")
    heights = [crop.image.height for crop in fake.crops[2:]]
    assert sum(heights) == BLOCK.height
    assert outcome.text == "\n".join(f"part of {height}" for height in heights)
    assert outcome.doubt is None


def test_what_stays_doubtful_says_so() -> None:
    fake = Fake(lambda crop: forever("round "))
    outcome = CheckedRecognizer(fake).read(BLOCK, "text")
    assert outcome.doubt == REPEATS
    assert set(outcome.text.split()) == {"round"}
    assert len(outcome.text) < 200


def test_text_that_is_longer_than_its_place() -> None:
    words = itertools.count()
    fake = Fake(lambda crop: (f"{next(words)} " for _ in iter(int, 1)))
    outcome = CheckedRecognizer(fake).read(BLOCK.crop((0, 0, 200, 40)), "text")
    assert outcome.doubt == TOO_LONG
    assert every(reading.given <= room(200, 40, "text") + 1 for reading in fake.readings)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.text(min_size=0, max_size=12), min_size=1, max_size=12),
    st.sampled_from(["text", "table", "formula", "chart", "seal", "spotting"]),
    st.integers(1, 300),
    st.integers(1, 300),
    st.booleans(),
)
@pytest.mark.timeout(120)
def test_reading_always_ends(cycle: list[str], task: str, width: int, height: int, honest: bool) -> None:
    """Even with a model that never stops, says nothing, or does not keep to its limit."""
    fake = Fake(lambda crop: itertools.cycle(cycle), honest=honest)
    image = PAGE.crop((90, 320, 90 + width, 320 + height))
    outcome = CheckedRecognizer(fake).read(image, task)  # type: ignore[arg-type]
    assert outcome.doubt is not None
    assert len(fake.readings) <= 14
    assert every(reading.given <= crop.limit + 1 for reading, crop in zip(fake.readings, fake.crops))


def test_a_line_that_runs_away_leaves_its_neighbours_alone() -> None:
    lines = [Image.new("L", (300, 20), shade) for shade in (10, 20, 30)]

    def answer(crop: Crop) -> str | Iterator[str]:
        shade = crop.image.getpixel((0, 0))
        return forever("la ") if shade == 20 else f"line {shade}"

    first, second, third = CheckedRecognizer(Fake(answer, by_line=True)).read_lines(lines)
    assert (first.text, third.text) == ("line 10", "line 30")
    assert second.doubt == REPEATS
    assert (first.doubt, third.doubt) == (None, None)


def test_confidence_is_the_mean_probability() -> None:
    outcome = CheckedRecognizer(Fake(lambda crop: "fine text")).read(BLOCK, "text")
    assert outcome.confidence == pytest.approx(0.9048, abs=1e-3)
