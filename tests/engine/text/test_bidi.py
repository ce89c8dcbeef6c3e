"""Lines as they stand on a page, in the order in which they are read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.text.bidi import is_right_to_left, join_words, read_line, reading_order, with_marks


@pytest.mark.parametrize(
    ("stands", "reads"),
    [
        ("plain words, 12 of them (all)", "plain words, 12 of them (all)"),
        ("says: בא ,דג and more", "says: גד, אב and more"),
        ("דג בא", "אב גד"),
        (".דג בא", "אב גד."),
        ("דג בא.", "אב גד."),
        ("דגה crane באו", "ואב crane הגד"),
        ("דגהדגה a crane באובאו", "ואבואב a crane הגדהגד"),
        ("דג 1,258.5 בא", "אב 1,258.5 גד"),
        ("דג 50% בא", "אב 50% גד"),
        ("(דג) בא", "אב (גד)"),
        (")דג( בא", "אב (גד)"),
        (".%٥٠ كركي", "يكرك ٥٠%."),
        (".%50 كركي", "يكرك 50%."),
        ("", ""),
        ("77", "77"),
        ("بجح ٣٤ دا", "اد ٣٤ حجب"),
    ],
)
def test_a_line_is_read(stands: str, reads: str) -> None:
    assert read_line(with_marks(stands)) == reads


def test_marks_stay_with_their_letters() -> None:
    assert read_line(with_marks("אבּג")) == "גבּא"
    assert reading_order(["א", "בּ", "ג"]) == [2, 1, 0]


def test_words_are_joined_as_they_are_read() -> None:
    assert join_words(["says:", "אור", "ראשון", "and", "more."]) == "says: ראשון אור and more."
    assert join_words(["a", "b", "12"]) == "a b 12"


WORDS = st.lists(st.sampled_from(["crane", "marsh", "עגור", "ביצה", "كركي"]), min_size=1, max_size=8)


@given(WORDS)
def test_words_of_both_directions_come_back(words: list[str]) -> None:
    """The same rules place a text and read it."""
    text = " ".join(words)
    assert read_line(list(read_line(list(text)))) == text


@pytest.mark.parametrize(("text", "is_so"), [("Κran 7", False), ("鶴", False), ("עגור", True), ("a كركي b", True)])
def test_whether_a_text_has_letters_from_right_to_left(text: str, is_so: bool) -> None:
    assert is_right_to_left(text) is is_so
