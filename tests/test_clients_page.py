"""docs/clients.md: its table is that of the tests with real clients, and each program of the table has its lines."""

from __future__ import annotations

from pathlib import Path

from app.client_lines import client_lines
from tests.clients.matrix import ABILITIES, PROGRAMS, page_table

ROOT = Path(__file__).resolve().parent.parent
NOT_TRIED = {"Ollama", "Zed", "Neovim, CodeCompanion", "Python, Realtime", "pipecat, Realtime", "livekit, Realtime"}


def test_the_table_is_that_of_the_tests() -> None:
    page = (ROOT / "docs/clients.md").read_text(encoding="utf-8")
    assert page.endswith("\n".join(page_table()) + "\n")


def test_each_program_has_lines_and_each_section_a_program() -> None:
    assert set(client_lines()) == {program.name for program in PROGRAMS} | NOT_TRIED
    assert [name for name, lines in client_lines().items() if not lines.blocks] == []


def test_a_program_is_tried_or_has_a_reason() -> None:
    for program in PROGRAMS:
        assert (program.command is None) != (not program.file)
        assert set(program.cannot) <= set(ABILITIES) - {"connects"}
        assert program.too_long or "too_long" in program.cannot, program.name


def test_the_address_the_key_and_the_model_are_filled_in() -> None:
    for name, lines in client_lines().items():
        text = lines.written("http://10.0.0.1:9", "a-key", "Qwen/tiny")
        assert "http://10.0.0.1:9" in text, name
        assert not {"8080", "YOUR_KEY"} & set(text.replace('"', " ").replace("'", " ").split()), name
        assert "Qwen/tiny" in text, name


def test_a_file_and_the_lines_after_it_are_told_apart() -> None:
    codex = client_lines()["Codex"]
    assert codex.where == "~/.codex/config.toml"
    assert codex.written("http://10.0.0.1:9", "k", "m").endswith("\n\n# and in the shell:\ncodex")
    assert client_lines()["litellm"].where == "pip install litellm"
