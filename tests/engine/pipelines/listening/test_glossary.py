"""Own words: what nearly is one becomes one, in the text and in its timed words; all else stays."""

from __future__ import annotations

import pytest

from engine.errors import BadRequest
from engine.pipelines.listening.glossary import Glossary, read_glossary
from engine.pipelines.listening.transcript import TranscriptSegment, TranscriptWord

OWN = read_glossary("Grus, Kokoro, Anna Svensson; speech-dispatcher\nÅngström")


def written(text: str) -> str:
    return OWN.corrected(TranscriptSegment(0.0, 1.0, text)).text


@pytest.mark.parametrize(("heard", "wanted"), [
    ("we asked grus, and it", "we asked Grus, and it"),
    ("a voice of Kokora.", "a voice of Kokoro."),
    ("the “koko ro” model", "the “Kokoro” model"),
    ("said Ana Svenson yesterday", "said Anna Svensson yesterday"),
    ("by annasvensson!", "by Anna Svensson!"),
    ("the speech dispatcher", "the speech-dispatcher"),
    ("one angstrom wide", "one Ångström wide"),
])  # fmt: skip
def test_what_is_nearly_an_own_word_becomes_it(heard: str, wanted: str) -> None:
    assert written(heard) == wanted


@pytest.mark.parametrize("heard", [
    "the gras is green",  # of four letters none may be wrong
    "Kokoros sing",  # another form of the word
    "coconut and koala",
    "koko, ro",  # a mark between the parts
    "speech, dispatcher",
    "",
    "  two  spaces stay ",
    "Grus and Kokoro, Anna Svensson.",
])  # fmt: skip
def test_all_else_stays(heard: str) -> None:
    assert written(heard) == heard


def test_timed_words_are_corrected_and_joined() -> None:
    words = tuple(TranscriptWord(text, i, i + 1.0, "B") for i, text in enumerate(("the", "koko", "ro", "model.")))
    made = OWN.corrected(TranscriptSegment(0.0, 4.0, "the koko ro model.", words=words))
    assert [(word.text, word.start, word.end) for word in made.words] == [
        ("the", 0, 1.0), ("Kokoro", 1, 3.0), ("model.", 3, 4.0),
    ]  # fmt: skip
    assert {word.speaker for word in made.words} == {"B"}


def test_they_stand_before_what_was_said() -> None:
    assert read_glossary("Grus,  Kokoro ,,Grus").prompt("Hello.") == "Grus, Kokoro. Hello."
    assert read_glossary("Grus").prompt(None) == "Grus."
    assert Glossary().prompt("Hello.") == "Hello."
    assert read_glossary(" , ;\n") == Glossary()


@pytest.mark.parametrize("text", ["a" * 61, ",".join(f"word{i}" for i in range(501))])
def test_too_much_is_one_sentence(text: str) -> None:
    with pytest.raises(BadRequest, match="at most 500, of 60 characters"):
        read_glossary(text)
