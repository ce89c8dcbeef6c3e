"""Writing as it is said."""

from __future__ import annotations

import pytest

from engine.pipelines.speaking.text import in_words, plain


@pytest.mark.parametrize(("written", "said"), [
    ("I have 3 cats and 12,500 mice.", "I have three cats and twelve thousand, five hundred mice."),
    ("It is -4.5 degrees.", "It is minus four point five degrees."),
    ("$5 or $3.50 or €20", "five dollars or three dollars, fifty cents or twenty euro"),
    ("on 2024-03-01", "on March first, twenty twenty-four"),
    ("at 9:05 and 14:30 and 8:00", "at nine oh five and fourteen thirty and eight o'clock"),
    ("in 1984 the 1st of 90%", "in nineteen eighty-four the first of ninety percent"),
    ("call 007", "call zero zero seven"),
    ("version 1.2.3, X11 and abc123", "version 1.2.3, X11 and abc123"),
    ("on May 3, 1897, and in June 1901", "on May third, eighteen ninety-seven, and in June nineteen oh-one"),
    ("pages 12-15", "pages twelve to fifteen"),
    ("see http://a.b/c?d=1 and 1/2", "see http://a.b/c?d=1 and 1/2"),
    ("no numbers", "no numbers"),
])  # fmt: skip
def test_english(written, said):
    assert in_words(written) == said


def test_other_languages():
    assert in_words("Ich habe 3 Katzen.", "de") == "Ich habe drei Katzen."
    assert in_words("J'ai 21 ans.", "french") == "J'ai vingt et un ans."
    assert (
        in_words("Es kostet 1.000 oder 3,50 um 17:30.", "de") == "Es kostet eintausend oder drei Komma fünf um 17:30."
    )
    assert in_words("Am 3. Mai 1897 um 5. Er", "de") == "Am 3. Mai achtzehnhundertsiebenundneunzig um 5. Er"
    assert in_words("Il a payé 1 200 ou 3,5.", "fr") == "Il a payé mille deux cents ou trois virgule cinq."
    assert in_words("我有3只猫。", "chinese") == "我有3只猫。"


@pytest.mark.parametrize("number", ["9" * 16, "0" * 20, "1" * 40])
def test_numbers_that_are_too_long_are_read_digit_by_digit(number):
    assert len(in_words(number).split()) == len(number)


@pytest.mark.parametrize(("markdown", "said"), [
    ("# Title\n\nSome **bold** and *slanted* `code`.", "Title.\n\nSome bold and slanted code."),
    ("- one\n- [x] two\n1. three", "one.\ntwo.\nthree."),
    ("See [the docs](http://a.b/c) or https://example.com/x?y.", "See the docs or example.com"),
    ("![a cat](cat.png)", "a cat"),
    ("```python\nprint(1)\n```\nDone.", "(code)\n\nDone."),
    ("> quoted\n\n---\n\nrest", "quoted\n\nrest"),
    ("snake_case_name and 2 * 3 * 4", "snake_case_name and 2 * 3 * 4"),
])  # fmt: skip
def test_markdown(markdown, said):
    assert plain(markdown) == said


def test_a_table_is_read_row_by_row():
    assert plain("| a | b |\n|---|---|\n| 1 | 2 |").split("\n") == ["a, b.", "", "1, 2."]
