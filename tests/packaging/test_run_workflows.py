"""Workflows on this machine: every script of a Linux job is run, others have a reason, and a run does what GitHub does."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.asserting import every
from tests.packaging.tools import script

here = script("run_workflows")


def test_every_script_of_a_linux_job_runs_here_but_those_that_ask_a_service() -> None:
    linux = [step for step in here.every_step() if step.runs_on.startswith("ubuntu") and step.content.get("run")]
    assert len(linux) > 20
    asking = {(step.workflow, step.job, step.content["run"].split()[0]) for step in linux if step.why_not}
    assert asking == {
        ("release", "clean-systems", "gh"),
        ("release", "publish", "packaging/bundle/publish.sh"),
        ("release", "images", "printf"),
        ("release", "images", "packaging/bundle/images.sh"),
    }


def test_what_does_not_run_here_has_a_reason_and_what_files_move_by_is_done_here() -> None:
    steps = list(here.every_step())
    assert {step.runs_on for step in steps if step.why_not.startswith("needs macOS")} == {"macos-15"}
    moves = [step for step in steps if step.action in here.MOVES and step.runs_on.startswith("ubuntu")]
    assert every(step.why_not == "" for step in moves)
    services = {step.action for step in steps if step.runs_on.startswith("ubuntu") and step.action and step.why_not}
    assert services == {"deploy-pages", "attest-build-provenance", "gh-action-pypi-publish"}


CONTEXT = {"github.ref": "refs/tags/v1.2.3", "github.repository": "someone/grus", "env.GRUS_SIGN": ""}


@pytest.mark.parametrize(
    ("condition", "true"),
    [
        ("startsWith(github.ref, 'refs/tags/v')", True),
        ("startsWith(github.ref, 'refs/heads/')", False),
        ("env.GRUS_SIGN != ''", False),
        ("secrets.NONE == ''", True),
        ("github.repository == 'someone/grus' && env.GRUS_SIGN == 'x'", False),
    ],
)
def test_a_condition_is_what_github_makes_of_it(condition: str, true: bool) -> None:
    assert here.holds(condition, CONTEXT) is true


def test_what_is_not_understood_ends_the_run() -> None:
    for condition in ("always()", "github.event_name == 'push'"):
        with pytest.raises(SystemExit, match="workflows: "):
            here.holds(condition, CONTEXT)
    with pytest.raises(SystemExit, match=r"nothing here stands for github\.sha"):
        here.filled("a ${{ github.sha }}", CONTEXT)
    assert here.filled("${{ github.repository }}/${{ secrets.KEY }}.", CONTEXT) == "someone/grus/."


WORKFLOW = """
env:
  WORD: one
jobs:
  make:
    runs-on: ubuntu-24.04
    env:
      PLACE: ${{ github.repository }}
    steps:
      - uses: actions/checkout@0000
        with: {fetch-depth: 0}
      - run: |
          mkdir -p dist/below
          echo "$WORD $PLACE $OWN $(git describe --tags)" >dist/text
          cp file dist/below/
        env:
          OWN: ${{ secrets.NOT_SET }}mine
      - if: startsWith(github.ref, 'refs/heads/')
        run: exit 3
      - uses: actions/upload-artifact@0000
        with: {name: made, path: dist/*}
      - uses: actions/upload-artifact@0000
        with: {name: other, path: file}
  take:
    runs-on: ubuntu-24.04
    steps:
      - uses: actions/checkout@0000
      - uses: actions/download-artifact@0000
        with: {path: got, pattern: "{made,never}", merge-multiple: true}
      - run: test -f got/below/file && test ! -f got/file && cat got/text
      - run: |
          false
          echo "not reached"
  far:
    runs-on: macos-15
    steps:
      - run: exit 4
"""


@pytest.fixture
def runner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A small repository with the tag of the version that is worked on, and workflows of its own."""
    (tmp_path / "workflows").mkdir()
    (tmp_path / "workflows" / "small.yml").write_text(WORKFLOW)
    monkeypatch.setattr(here, "WORKFLOWS", tmp_path / "workflows")
    monkeypatch.setattr(here.project, "base_version", lambda: "1.2.3")
    made = here.Runner(tmp_path / "run")
    made.repository.mkdir(parents=True)
    (made.repository / "file").write_text("content")
    git = ["git", "-c", "user.name=A", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "file"], ["commit", "-qm", "first"], ["tag", "v1.2.3"]):
        subprocess.run([*git, *words], cwd=made.repository, check=True)
    return made


def test_jobs_hand_their_files_on_and_a_script_that_fails_ends_the_run(
    runner: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    runner.job("small", "make")
    out = capsys.readouterr().out
    assert "small:make  3 left out, as startsWith(github.ref, 'refs/heads/') does not hold" in out
    artifacts = runner.folder / "artifacts"
    assert (artifacts / "made" / "text").read_text() == "one someone/grus mine v1.2.3\n"
    assert (artifacts / "other" / "file").is_file()
    with pytest.raises(SystemExit, match="step 4 of small:take ended with 1"):
        runner.job("small", "take")
    assert (runner.folder / "small-take" / "step-3.log").read_text() == "one someone/grus mine v1.2.3\n"
    assert (runner.folder / "small-take" / "step-4.log").read_text() == ""


def test_a_job_of_another_system_runs_nothing(runner: Any, capsys: pytest.CaptureFixture[str]) -> None:
    runner.job("small", "far")
    assert capsys.readouterr().out.startswith("small:far  1 not here, it needs macOS (0 s): exit 4")


def test_a_job_before_its_files_are_there_is_told_so(runner: Any) -> None:
    with pytest.raises(SystemExit, match="there is no job small:none"):
        runner.job("small", "none")
    (here.WORKFLOWS / "small.yml").write_text(
        WORKFLOW.replace('{path: got, pattern: "{made,never}", merge-multiple: true}', "{path: got, name: made}")
    )
    with pytest.raises(SystemExit, match="no job has left the artifact made"):
        runner.job("small", "take")
