"""Word times: in order, inside their segment, covering it, and none of them nothing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.pipelines.listening.transcript import SHORTEST, TranscriptSegment, split, words_in_time
from tests.asserting import every


def placed(pieces, times, start=0.0, end=2.0, text=None):
    whole = "".join(pieces)
    segment = TranscriptSegment(start, end, " ".join(whole.split()) if text is None else text)
    decode = lambda ids: "".join(pieces[i] for i in ids).strip()  # noqa: E731
    return segment, words_in_time(segment, range(len(pieces)), np.array(times), decode)


def test_words_end_between_their_tokens():
    pieces = ["He", "llo", " wor", "ld", " now"]
    segment = TranscriptSegment(10.0, 12.0, "Hello world now")
    times = np.array([0.1, 0.2, 0.4, 0.5, 0.9])
    words = words_in_time(segment, [0, 1, 2, 3, 4], times, lambda ids: "".join(pieces[i] for i in ids))
    assert [(word.text, round(word.start, 3), round(word.end, 3)) for word in words] == [
        ("Hello", 10.0, 10.6), ("world", 10.6, 11.4), ("now", 11.4, 12.0),
    ]  # fmt: skip


@given(
    st.lists(st.tuples(st.text("ab ,。字かカ한é", max_size=4), st.floats(0.0, 1.0)), min_size=1, max_size=30),
    st.floats(0.0, 1000.0),
    st.floats(0.1, 20.0),
)
@settings(max_examples=300, deadline=None, derandomize=True)
def test_words_follow_each_other_and_cover_their_segment(tokens, start, seconds):
    """However the text lies in tokens: several words in one, none in another, all at one moment."""
    segment, words = placed([piece for piece, _ in tokens], sorted(time for _, time in tokens), start, start + seconds)
    assert "".join(word.text for word in words) == "".join(segment.text.split())
    if not words:
        return
    assert (words[0].start, words[-1].end) == (segment.start, pytest.approx(segment.end))
    assert [word.start for word in words[1:]] == [word.end for word in words[:-1]]
    least = min(SHORTEST, seconds / len(words))
    assert every(word.end - word.start >= least - 1e-6 for word in words)


def test_words_that_begin_in_one_token_share_its_time():
    _, words = placed(["one two three", " four"], [0.5, 1.0], end=4.0)
    assert [(word.text, word.start, word.end) for word in words] == [
        ("one", 0.0, 1.0), ("two", 1.0, 2.0), ("three", 2.0, 3.0), ("four", 3.0, 4.0),
    ]  # fmt: skip


def test_a_text_that_was_cut_ends_where_its_last_word_does():
    """The rest is what the model repeated."""
    _, words = placed(["so", " it", " it", " it", " it"], [0.1, 0.3, 0.5, 0.7, 0.9], text="so it")
    assert [(word.text, round(word.start, 3), round(word.end, 3)) for word in words] == [
        ("so", 0.0, 0.4), ("it", 0.4, 0.8),
    ]  # fmt: skip


@pytest.mark.parametrize(("text", "words"), [
    ("Hello, world.", ["Hello,", "world."]),
    ("今日は。はい", ["今", "日", "は。", "は", "い"]),
    ("我有3只猫", ["我", "有", "3", "只", "猫"]),
    ("안녕하세요 여러분", ["안녕하세요", "여러분"]),
    ("「はい」と", ["「は", "い」", "と"]),
    ("", []),
])  # fmt: skip
def test_words_are_told_apart_as_their_script_does_it(text, words):
    assert list(split(text)) == words
