"""The versions of the Python packages: ranges with both ends in pyproject.toml, and one tested version in constraints.txt."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
WANTED = [Requirement(text) for text in [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["test"]]]
CLIENTS = [
    Requirement(text)
    for extra in ("clients", "clients-aider", "clients-voice")
    for text in PROJECT["optional-dependencies"][extra]
]
CONSTRAINTS = (ROOT / "packaging" / "constraints.txt").read_text(encoding="utf-8")
SYSTEMS = {
    "linux": {"sys_platform": "linux", "platform_system": "Linux", "platform_machine": "x86_64"},
    "macos": {"sys_platform": "darwin", "platform_system": "Darwin", "platform_machine": "arm64"},
    "windows": {"sys_platform": "win32", "platform_system": "Windows", "platform_machine": "AMD64"},
}


def lines() -> list[str]:
    return [line for line in CONSTRAINTS.splitlines() if not line.startswith("#")]


def applying(system: str, python: str) -> dict[str, str]:
    """Name -> version, as pip on that system would understand the file."""
    environment = {**SYSTEMS[system], "python_version": python, "python_full_version": f"{python}.1"}
    environment |= {"implementation_name": "cpython", "platform_python_implementation": "CPython"}
    found: dict[str, str] = {}
    for line in lines():
        version, _, marker = line.partition(" ; ")
        if not marker or Marker(marker).evaluate(environment):
            name, _, number = version.partition("==")
            assert name not in found, f"{name} has two versions on {system} with Python {python}"
            found[name] = number
    return found


@pytest.mark.parametrize("wanted", [*WANTED, *CLIENTS], ids=str)
def test_a_range_has_both_ends(wanted: Requirement) -> None:
    kinds = {part.operator for part in wanted.specifier}
    assert kinds in ({"=="}, {">=", "<"})


def test_constraints_are_versions_and_no_addresses() -> None:
    form = re.compile(r"[a-z0-9-]+==[0-9][0-9a-z.+!]*( ; [\w.<>=!'() ]+)?")
    assert len(lines()) > 100
    assert [line for line in lines() if not form.fullmatch(line)] == []
    assert not re.search(r"://|@|--", CONSTRAINTS)


@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13", "3.14"])
@pytest.mark.parametrize("system", SYSTEMS)
def test_every_system_gets_one_version_within_the_range(system: str, python: str) -> None:
    tested = applying(system, python)
    environment = {**SYSTEMS[system], "python_version": python, "extra": ""}
    here = [wanted for wanted in WANTED if wanted.marker is None or wanted.marker.evaluate(environment)]
    assert len(here) > 30
    wrong = [str(wanted) for wanted in here if tested.get(canonicalize_name(wanted.name), "0") not in wanted.specifier]
    assert wrong == []


def test_the_lowest_versions_are_those_of_the_ranges() -> None:
    said = subprocess.run(
        [sys.executable, "packaging/versions.py", "oldest"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert len(said) == len(WANTED)
    for line, wanted in zip(said, WANTED, strict=True):
        pinned = Requirement(line)
        low = next(part.version for part in wanted.specifier if part.operator in (">=", "=="))
        assert (pinned.name, str(pinned.specifier), str(pinned.marker)) == (wanted.name, f"=={low}", str(wanted.marker))


def test_set_up_takes_the_pythons_that_the_project_takes() -> None:
    assert PROJECT["requires-python"] == ">=3.11,<3.15"
    assert "(3, 11) <= sys.version_info < (3, 15)" in (ROOT / "packaging" / "setup.sh").read_text(encoding="utf-8")
