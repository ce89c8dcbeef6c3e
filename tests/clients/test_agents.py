"""`grus connect` and `grus launch` with the real programs: each asks, calls a tool, and answers."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from app.agents.programs import AGENTS, agent_program
from tests.clients.conftest import GrusServer
from tests.clients.matrix import PROGRAMS, Program
from tests.clients.models import MODELS, PROOF
from tests.clients.running import QUESTIONS, ROOT, ProgramRun, missing
from tests.clients.tool_calling_model import ANSWER

pytestmark = pytest.mark.timeout(900)
STARTED = [program.name for program in AGENTS if program.start is not None]


def program_of(name: str) -> Program:
    program = next(program for program in PROGRAMS if program.name == agent_program(name).title)
    if reason := missing(program):
        pytest.skip(reason)
    return program


class _Agent(ProgramRun):
    """A program without the lines of the page: Grus connects it."""

    def __init__(self, program: Program, folder: Path) -> None:
        super().__init__(program, "http://127.0.0.1:1", "none", folder)
        for file in self.home.rglob("*"):
            if file.is_file():
                file.unlink()
        (self.work / "opencode.json").unlink(missing_ok=True)

    def environment(self) -> dict[str, str]:
        settings = {"XDG_CONFIG_HOME": str(self.home / ".config"), "XDG_DATA_HOME": str(self.home / ".local/share")}
        return {**super().environment(), **settings, "PYTHONPATH": str(ROOT)}

    def ask(self, command: str) -> str:
        """One turn, with a tool where the program has tools."""
        arguments = self.program.command.ask.format(prompt=shlex.quote(QUESTIONS[0]))  # type: ignore[union-attr]
        return "".join(self.run(["bash", "-c", f"{command} {arguments}"]))

    def grus(self, *arguments: str) -> str:
        return "".join(self.run([sys.executable, "-m", "app.cli", *arguments]))

    def check(self, said: str) -> None:
        assert ANSWER in said, said
        assert (self.work / PROOF).exists() == ("tool" not in self.program.cannot), said


@pytest.mark.parametrize("name", STARTED)
def test_a_program_is_launched_with_a_server_of_its_own(name: str, tmp_path: Path) -> None:
    program = program_of(name)
    agent = _Agent(program, tmp_path / "run")
    model = MODELS[program.model]().save(tmp_path / "model")
    launch = f"{shlex.quote(sys.executable)} -m app.cli launch {name} --model {shlex.quote(str(model))} --"
    (agent.home / ".config/Grus").mkdir(parents=True)
    # a port where nothing listens: the server of another person's test is not asked
    (agent.home / ".config/Grus/preferences.json").write_text('{"server": {"port": 1}}', encoding="utf-8")
    agent.check(agent.ask(launch))
    assert not agent_file(agent, name).exists()


@pytest.mark.parametrize("name", STARTED)
def test_a_connected_program_uses_this_server_until_that_is_taken_back(
    grus: GrusServer, name: str, tmp_path: Path
) -> None:
    program = program_of(name)
    agent = _Agent(program, tmp_path / "run")
    said = agent.grus("connect", name, "--url", grus.url, "--model", program.model)
    assert f"uses {program.model} at {grus.url}" in said, said
    agent.check(agent.ask(agent_program(name).command))
    assert f"{agent_program(name).title} is as it was before." in agent.grus("connect", name, "--undo")


def agent_file(agent: _Agent, name: str) -> Path:
    files = {
        "claude": ".claude/settings.json",
        "codex": ".codex/config.toml",
        "opencode": ".config/opencode/opencode.json",
        "aider": ".aider.conf.yml",
        "continue": ".continue/config.yaml",
    }
    return agent.home / files[name]
