"""Real programs from the registries against a real server: each ability of each, as far as the program has it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.asserting import every
from tests.clients.conftest import GrusServer
from tests.clients.matrix import ABILITIES, PROGRAMS, Program
from tests.clients.models import MODELS
from tests.clients.running import Outcome, ProgramRun, missing
from tests.clients.tool_calling_model import ANSWER

pytestmark = pytest.mark.timeout(900)  # of a Python program the first test waits for all of its abilities

CASES = [
    pytest.param(
        program, ability, id=f"{program.name}: {ABILITIES[ability]}", marks=pytest.mark.xdist_group(program.name)
    )
    for program in PROGRAMS
    for ability in ABILITIES
]


@pytest.fixture(scope="session")
def ran(grus: GrusServer, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Outcome]]:
    return {}


def outcome(
    grus: GrusServer, program: Program, ability: str, ran: dict[str, dict[str, Outcome]], folder: Path
) -> Outcome:
    if program.command is not None:
        return of_command(grus, program, ability, folder)
    if program.name not in ran:
        wanted = [ability for ability in ABILITIES if ability not in program.cannot]
        ran[program.name] = ProgramRun(program, grus.url, program.model, folder).of_file(wanted)
    return ran[program.name][ability]


def of_command(grus: GrusServer, program: Program, ability: str, folder: Path) -> Outcome:
    models = {"too_long": "small", "structured": program.structured_model}
    model = models.get(ability) or program.model
    return Outcome(ProgramRun(program, grus.url, model, folder).of_command(program.command, ability))


@pytest.mark.parametrize(("program", "ability"), CASES)
def test_a_program(
    grus: GrusServer, ran: dict[str, dict[str, Outcome]], program: Program, ability: str, tmp_path: Path
) -> None:
    if ability in program.cannot:
        pytest.skip(f"cannot: {program.cannot[ability]}")
    if reason := missing(program):
        pytest.skip(reason)
    since = grus.logged()
    got = outcome(grus, program, ability, ran, tmp_path / "run")
    refused = grus.refused(since)
    assert not got.problem, f"{got.problem}\n{refused}"
    problem = judged(program, ability, got.value)
    assert not problem, f"{problem}\n{refused}"


@pytest.mark.xdist_group("MLX")
@pytest.mark.parametrize("ability", ["two_turns", "tool", "structured"])
@pytest.mark.parametrize("name", ["Claude Code", "Codex"])
def test_a_program_on_mlx(grus_on_mlx: GrusServer, name: str, ability: str, tmp_path: Path) -> None:
    program = next(program for program in PROGRAMS if program.name == name)
    if reason := missing(program):
        pytest.skip(reason)
    since = grus_on_mlx.logged()
    problem = judged(program, ability, of_command(grus_on_mlx, program, ability, tmp_path / "run").value)
    assert not problem, f"{problem}\n{grus_on_mlx.refused(since)}"


def judged(program: Program, ability: str, value: Any) -> str:
    """What is wrong with what an ability gave; nothing where all is right."""
    in_shell = program.command is not None
    if ability == "connects":
        right = ANSWER in value or (program.name == "instructor" and value.startswith("city="))
    elif ability == "models":
        right = every(re.search(rf"\b{name}\b", value if in_shell else "\n".join(value)) for name in MODELS)
    elif ability == "two_turns":
        right = len(value) == 2 and every(ANSWER in "".join(turn) and len(turn) > 1 for turn in value)
    elif ability == "tool" and in_shell:
        right = value["proof"] and ANSWER in value["text"]
    elif ability == "tool":
        right = value == {"ran": [{"city": "Paris"}], "text": ANSWER}
    elif ability == "structured":
        right = is_weather(value if not in_shell else found_object(value))
    else:
        right = isinstance(value, str) and re.search(program.too_long, value, re.IGNORECASE | re.DOTALL) is not None
    return "" if right else f"{ABILITIES[ability]}: {value}"


def is_weather(value: Any) -> bool:
    """What the schema asks for, and nothing else."""
    return (
        isinstance(value, dict)
        and set(value) == {"city", "degrees"}
        and isinstance(value["city"], str)
        and isinstance(value["degrees"], int)
    )


def found_object(text: str) -> Any:
    """The object in a program's output, alone or as the `structured_output` of a report."""
    for found in re.findall(r"\{[^{}]*\"city\"[^{}]*\}", text.replace('\\"', '"')):
        return json.loads(found)
    return None
