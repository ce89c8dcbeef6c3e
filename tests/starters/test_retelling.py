"""An answer gets other words without training, as long as it has as many sentences; what takes training is refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import retell_guide
from wordings import ANSWERS

import grus

ADDED = "How do I add a model?"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(retell_guide.SHIPPED, tmp_path / "guide")
    return tmp_path / "guide"


def test_nothing_is_to_be_done_for_the_one_that_ships(folder: Path) -> None:
    before = (folder / "tokenizer.json").read_bytes()
    assert retell_guide.retell(folder) == 0
    assert json.loads((folder / "tokenizer.json").read_bytes()) == json.loads(before)


def test_other_words_are_said(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = ANSWERS["add_model"]
    monkeypatch.setitem(answer, "says", answer["says"].replace("It is downloaded once", "It is fetched once"))
    assert retell_guide.retell(folder) == 1
    with grus.load(str(folder), backend="auto", device="cpu", quant="none") as model:
        assert model.run(ADDED).text == answer["says"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("One. Two. Three. Four. Five. Six.", "6 sentences now"),
        (ANSWERS["add_model"]["says"].replace("grus chat Qwen", "grus run Qwen"), "shares a sentence"),
    ],
)
def test_what_takes_training_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch, text: str, problem: str) -> None:
    before = (folder / "tokenizer.json").read_bytes()
    monkeypatch.setitem(ANSWERS["add_model"], "says", text)
    with pytest.raises(SystemExit, match=problem):
        retell_guide.retell(folder)
    assert (folder / "tokenizer.json").read_bytes() == before
