"""The documents tell the truth about the tree: paths, links, make targets and dependencies that they name exist."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from tests.asserting import every

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "packaging").rglob("*.md")])


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def table_under(page: str, heading: str) -> list[list[str]]:
    """The cells of each row of the first table below a heading, without its head."""
    section = (ROOT / page).read_text(encoding="utf-8").split(f"## {heading}\n", 1)[1]
    lines = re.split(r"\n## ", section)[0].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    return rows[2:]


def test_every_path_to_open_exists() -> None:
    rows = table_under("docs/architecture.md", "Where to look")
    named = [path for _, to_open in rows for path in re.findall(r"`([^`]+)`", to_open)]
    assert len(named) >= len(rows) > 10
    assert [path for path in named if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_within_the_project_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8"))
    local = [target for target in targets if "://" not in target]
    assert [target for target in local if not (page.parent / target).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_files_named_in_the_text_exist(page: Path) -> None:
    folders = "app|engine|backends|resources|tests|packaging|docs"
    named = re.findall(rf"`((?:{folders})/[\w./-]*)`", page.read_text(encoding="utf-8"))
    assert [path for path in named if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_make_targets_named_in_the_text_exist(page: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = re.findall(r"(?:^|`)(?:\w+=\S+ )?make ([a-z-]+)", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert set(named) <= targets


@pytest.mark.parametrize(
    ("heading", "extras"),
    [("To run", []), ("To test", ["test"]), ("To try real clients", ["clients", "clients-aider", "clients-voice"])],
)
def test_every_dependency_has_its_reason(heading: str, extras: list[str]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    optional = project["optional-dependencies"]
    wanted = [package for extra in extras for package in optional[extra]] or project["dependencies"]
    names = {re.split(r"[^\w-]", requirement, maxsplit=1)[0] for requirement in wanted}
    rows = table_under("docs/dependencies.md", heading)
    assert {row[0] for row in rows} == names
    assert every(row[2] for row in rows)


def test_ci_runs_what_people_run() -> None:
    lines = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert lines[-1] == "exec make test"
