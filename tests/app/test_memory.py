"""`grus memory`, and `grus chat --memory`, in processes of their own; what a model reads of facts, and how it proposes one."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path

import pytest

from app.runtime.memories import LONGEST, MOST, remember_tool, with_facts, with_remember
from app.runtime.tools.settings import ToolSettings
from engine.errors import BadRequest
from tests.app.conftest import Outcome
from tests.app.fresh import several
from tests.app.tools.test_tools_command import Terminal
from tests.clients.tool_calling_model import ANSWER, ToolCallingModel

FACT = "The person keeps bees."


def test_facts_end_the_system_prompt_within_their_bound() -> None:
    asked = [{"role": "user", "content": "Hello"}]
    assert with_facts(asked, ()) is asked
    (system, *rest) = with_facts(asked, ["Newest.", "Older."])
    assert rest == asked
    assert system["content"].endswith(":\n- Newest.\n- Older.")
    (system, *_) = with_facts([{"role": "system", "content": "Be brief."}, *asked], ["A <|im_end|> b"], {"<|im_end|>"})
    assert system["content"].startswith("Be brief.\n\n")
    assert system["content"].endswith("- A < |im_end|> b")  # which no tokenizer reads as the end of a message
    many = [f"{number:03}" + "x" * (LONGEST - 3) for number in range(100)]
    (system, *_) = with_facts(asked, many)
    assert system["content"].count("\n- ") == MOST // LONGEST
    assert many[0] in system["content"]


def test_the_tool_keeps_one_line_and_refuses_what_is_none(tmp_path: Path) -> None:
    kept: list[str] = []
    tool = remember_tool(kept.append)
    stop: Future[None] = Future()
    assert tool.run({"fact": " Two\n\nlines. "}, stop).text == "The fact is kept."
    for wrong in ("", " \n", "x" * (LONGEST + 1)):
        with pytest.raises(BadRequest, match="A fact has at"):
            tool.run({"fact": wrong}, stop)
    assert kept == ["Two lines."]
    assert not tool.trusted  # so that a person is asked
    settings = ToolSettings(tmp_path / "tools.json")
    assert with_remember((), None, settings) == []
    assert [one.label for one in with_remember((), kept.append, settings)] == ["grus/remember"]
    settings.keep_permission("grus/remember", "never", "")
    assert with_remember((), kept.append, settings) == []


def test_facts_are_listed_added_edited_and_deleted_for_good(tmp_path: Path) -> None:
    place = ["--folder", tmp_path]
    added, listed, edited, shown, deleted, empty = several(
        ["memory", "add", FACT, *place], ["memory", *place], ["memory", "edit", 1, "Sheep,", "not bees.", *place],
        ["memory", "--json", *place], ["memory", "delete", 1, *place], ["memory", *place],
    )  # fmt: skip
    assert [one.code for one in (added, edited, deleted)] == [0, 0, 0]
    assert listed.out == f"1  {FACT}\n"
    assert json.loads(shown.out) == [{"id": 1, "text": "Sheep, not bees.", "conversation": None}]
    assert empty.out == "Nothing is kept.\n"
    raw = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    assert b"keeps bees" not in raw
    assert b"Sheep" not in raw
    assert (tmp_path / "data" / "grus.sqlite3").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["add"], "at least one word"),
        (["add", "x" * 500], "at most 400"),
        (["edit", "x", "y"], "Say the number"),
        (["edit", "1"], "at least one word"),
        (["delete", "1"], "no fact 1"),
        (["delete", "1", "2"], "takes nothing else: 2"),
    ],
)
def test_what_cannot_be_is_one_sentence(
    words: list[str], said: str, tmp_path: Path, command: Callable[..., Outcome]
) -> None:
    done = command("memory", *words, "--folder", tmp_path)
    assert done.code == 2
    assert said in done.err


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["torch", "mlx"])
def test_a_model_proposes_a_fact_in_the_terminal_and_the_next_conversation_reads_it(
    tmp_path: Path, backend: str
) -> None:
    model = ToolCallingModel("remember", {"fact": FACT}).save(tmp_path / "model")
    words = ("chat", model, "--backend", backend, "--temperature", 0, "--memory", "--folder", tmp_path / "grus")
    data = str(tmp_path / "data")
    terminal = Terminal(*words, XDG_DATA_HOME=data)
    try:
        terminal.until("> ")
        terminal.type("I keep bees. Remember it.")
        terminal.until("ne[v]er: ")
        assert "grus/remember is to run" in terminal.seen
        terminal.type("y")
        terminal.until(ANSWER)
        terminal.type("/quit")
        terminal.process.wait(60)
    finally:
        terminal.close()
    with sqlite3.connect(tmp_path / "grus" / "data" / "grus.sqlite3") as db:
        assert db.execute("SELECT text FROM memories").fetchall() == [(FACT,)]
    # nobody can be asked without a terminal, and without --memory nothing is read or proposed
    with_it, without = several(
        list(words), [word for word in words if word not in ("--memory", "--folder", tmp_path / "grus")],
        given="Hello\n/save " + str(tmp_path / "said.json") + "\n", XDG_DATA_HOME=data,
    )  # fmt: skip
    assert "Nobody can be asked whether grus/remember may run" in with_it.err
    assert "remember" not in without.err
    assert without.out.count(ANSWER) == 1
