"""Pronunciation lists: how their file is read, and what of a text they change."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import BadRequest
from engine.pipelines.speaking.pronunciation import Pronunciations
from engine.pipelines.speaking.speech import SpeechOptions, prepare_text
from engine.pipelines.speaking.voice import VoiceSettings

LIST = "# names\nXanthippe = Zan-tip-ee\nSQL=sequel\n\nnew york city = the big apple\nnew york = nyoo york\nGrus = /ɡɹˈus/\ntomato=tomayto\n"


@pytest.fixture
def listed(tmp_path: Path) -> Pronunciations:
    (tmp_path / "words.txt").write_text(LIST, encoding="utf-8")
    return Pronunciations.read(tmp_path / "words.txt")


@pytest.mark.parametrize(("text", "spoken"), [
    ("SQL, not MySQL or sql.", "sequel, not MySQL or sql."),
    ("Tomato and tomatoes.", "tomayto and tomatoes."),
    ("New York, and New\nYork City!", "nyoo york, and the big apple!"),
    ("Xanthippe's Grus.", "Zan-tip-ee's [Grus](/ɡɹˈus/)."),
])  # fmt: skip
def test_whole_words_are_replaced(listed: Pronunciations, text: str, spoken: str) -> None:
    assert listed.applied(text) == spoken


def test_numbers_are_spelled_and_marks_removed_around_them(listed: Pronunciations) -> None:
    options = SpeechOptions(spell=True, markdown=True, pronunciations=listed)
    (part,) = prepare_text("**SQL** has [3 tables](x).", VoiceSettings(), options)
    assert part.text == "sequel has three tables."


def test_phonemes_are_for_models_that_read_them(listed: Pronunciations) -> None:
    listed.check(True)
    with pytest.raises(BadRequest, match="'Grus' is in phonemes"):
        listed.check(False)


@pytest.mark.parametrize(("data", "message"), [
    (b"SQL = sequel\nno sign here\n", "Line 2 of"),
    (b"SQL =\n", "Line 1 of"),
    (b"\xff\xfe\x00", "no text in UTF-8"),
    (b"a = " + b"b" * 300, "1 to 200 characters"),
])  # fmt: skip
def test_what_is_no_list(tmp_path: Path, data: bytes, message: str) -> None:
    (tmp_path / "words.txt").write_bytes(data)
    with pytest.raises(BadRequest, match=message):
        Pronunciations.read(tmp_path / "words.txt")
    with pytest.raises(BadRequest, match="cannot be read"):
        Pronunciations.read(tmp_path / "none.txt")
