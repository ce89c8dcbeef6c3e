"""`grus chat`: a conversation typed line by line."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.app.conftest import Outcome

Command = Callable[..., Outcome]


@pytest.fixture
def talk(command: Command, model: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Outcome]:
    def say(*lines: str, arguments: tuple[object, ...] = ()) -> Outcome:
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(line + "\n" for line in lines)))
        return command("chat", model, "--max-tokens", 8, "--temperature", 0, *arguments)

    return say


def test_answers_and_leaves_at_the_end_of_input(talk: Callable[..., Outcome]) -> None:
    seen = talk("Hello", "And you?")
    assert seen.code == 0
    assert seen.err.count("first token after") == 2


def test_the_conversation_is_remembered_saved_and_reset(talk: Callable[..., Outcome], tmp_path: Path) -> None:
    first, second = tmp_path / "first.json", tmp_path / "second.md"
    talk("Hello", "Again", f"/save {first}", "/reset", "Anew", f"/save {second}", arguments=("--system", "Be kind."))
    messages = json.loads(first.read_text())["messages"]
    assert [m["role"] for m in messages] == ["system", "user", "assistant", "user", "assistant"]
    assert [m["content"] for m in messages if m["role"] == "user"] == ["Hello", "Again"]
    text = second.read_text()
    assert "Anew" in text
    assert "Hello" not in text


def test_unknown_commands_and_bad_paths_do_not_end_it(talk: Callable[..., Outcome], tmp_path: Path) -> None:
    seen = talk("/dance", f"/save {tmp_path}/no/such/folder.md", "/save", "Hello", "/quit", "never read")
    assert "There is no command /dance." in seen.out
    assert "could not be written" in seen.out
    assert seen.err.count("first token after") == 1


def test_a_conversation_that_outgrows_the_context_can_go_on_after_a_reset(talk: Callable[..., Outcome]) -> None:
    seen = talk("x" * 300, "Hello", "/quit")
    assert "/reset" in seen.err
    assert seen.err.count("first token after") == 1
