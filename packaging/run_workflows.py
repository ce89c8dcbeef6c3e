"""Runs the jobs of .github/workflows on this machine as far as it can, and says of every other step why it cannot.

    python packaging/run_workflows.py                                list all steps, and which of them run here
    python packaging/run_workflows.py release:wheels release:publish run these jobs, one after the other
    python packaging/run_workflows.py --through 3 release:linux      a job's first three steps alone

A job starts in a fresh clone in which a release was cut and tagged as docs/releasing.md says; what is not committed is not in it. Its
`run:` steps are given to bash word for word. Of the actions those that move files are done here: checkout, setup-python, and
artifacts. Signing uses a key that is made for it where minisign is installed. Needs packaging/requirements.txt.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import project
import yaml

WORKFLOWS = project.ROOT / ".github" / "workflows"
REPOSITORY = "someone/grus"
# What a command asks that is not this machine, and by what its script is tried instead.
SERVICES = {
    "gh release download": "asks GitHub for the release before",
    "packaging/bundle/publish.sh": "makes a release at GitHub; tests/packaging/test_release.py runs the script",
    "docker login": "logs in to a registry of images",
    "packaging/bundle/images.sh": "needs Docker's service; tests/packaging/test_release.py runs the script",
}
SYSTEMS = {"macos": "needs macOS", "windows": "needs Windows", "cuda": "needs an NVIDIA GPU"}
MOVES = ("checkout", "setup-python", "upload-artifact", "download-artifact", "upload-pages-artifact")


class WorkflowError(SystemExit):
    def __init__(self, message: str) -> None:
        super().__init__(f"workflows: {message}")


@dataclass(frozen=True)
class Step:
    workflow: str
    job: str
    number: int
    content: dict[str, Any]
    runs_on: str

    @property
    def action(self) -> str:
        """The name of an action; empty for a script."""
        return str(self.content.get("uses", "")).partition("@")[0].rpartition("/")[2]

    @property
    def title(self) -> str:
        text = str(self.content.get("run") or self.content.get("uses", "")).strip()
        return " ".join(text.split())[:100]

    @property
    def why_not(self) -> str:
        """Why this machine cannot do it; empty where it can."""
        for system, reason in SYSTEMS.items():
            if system in self.runs_on:
                return reason
        script = str(self.content.get("run", ""))
        for command, reason in SERVICES.items():
            if command in script:
                return reason
        return "" if script or self.action in MOVES else f"is {self.action}, a service of GitHub's or of a registry"


def workflows() -> dict[str, dict[str, Any]]:
    return {path.stem: yaml.safe_load(path.read_text(encoding="utf-8")) for path in sorted(WORKFLOWS.glob("*.yml"))}


def steps(workflow: str, job: str) -> list[Step]:
    try:
        about = workflows()[workflow]["jobs"][job]
    except KeyError:
        raise WorkflowError(f"there is no job {workflow}:{job}") from None
    runs_on = str(about["runs-on"])
    return [Step(workflow, job, number, content, runs_on) for number, content in enumerate(about["steps"], 1)]


def every_step() -> Iterator[Step]:
    for workflow, content in workflows().items():
        for job in content["jobs"]:
            yield from steps(workflow, job)


def value(expression: str, context: dict[str, str]) -> str:
    """What `name.of.value` or 'text' stands for. A secret or a variable that is not set is empty, as at GitHub."""
    expression = expression.strip()
    if expression.startswith("'"):
        return expression[1:-1]
    if expression in context:
        return context[expression]
    if expression.split(".")[0] in ("secrets", "vars", "env"):
        return ""
    raise WorkflowError(f"nothing here stands for {expression}")


def filled(text: Any, context: dict[str, str]) -> str:
    return re.sub(r"\$\{\{(.+?)\}\}", lambda found: value(found[1], context), str(text))


def holds(condition: str, context: dict[str, str]) -> bool:
    """A step's `if:`, of the kinds that the workflows use."""
    for term in condition.split("&&"):
        if found := re.fullmatch(r"\s*startsWith\((.+),(.+)\)\s*", term):
            true = value(found[1], context).startswith(value(found[2], context))
        elif found := re.fullmatch(r"\s*(\S+)\s*([!=]=)\s*('.*'|\S+)\s*", term):
            true = (value(found[1], context) == value(found[3], context)) is (found[2] == "==")
        else:
            raise WorkflowError(f"this condition is not understood: {term.strip()}")
        if not true:
            return False
    return True


@dataclass
class Runner:
    """A folder with a tagged clone, the artifacts, and one workspace a job."""

    folder: Path
    context: dict[str, str] = field(default_factory=dict)

    def prepare(self) -> None:
        """A clone with a release in it, and a key for signing."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.repository.parent.mkdir(parents=True)
        self._git("clone", "--quiet", str(project.ROOT), str(self.repository), folder=self.folder)
        base = project.base_version()
        major, minor, _ = base.split(".")
        cut = [sys.executable, "packaging/release.py", "cut", base, f"{major}.{int(minor) + 1}.0"]
        subprocess.run(cut, cwd=self.repository, check=True)
        self._git("-c", "user.name=Grus", "-c", "user.email=grus@localhost", "commit", "--quiet", "-am", base)
        self._git("tag", self._tag)
        if shutil.which("minisign"):
            secret, public = self.folder / "minisign.key", self.folder / "minisign.pub"
            command = ["minisign", "-G", "-W", "-f", "-p", str(public), "-s", str(secret)]
            subprocess.run(command, check=True, capture_output=True)

    @property
    def repository(self) -> Path:
        return self.folder / "repository"

    @property
    def _tag(self) -> str:
        return f"v{project.base_version()}"

    def _git(self, *arguments: str, folder: Path | None = None) -> None:
        subprocess.run(["git", *arguments], cwd=folder or self.repository, check=True)

    def job(self, workflow: str, job: str, through: int = 1000) -> None:
        wanted = steps(workflow, job)[:through]
        about = workflows()[workflow]
        place = self.folder / f"{workflow}-{job}"
        shutil.rmtree(place, ignore_errors=True)
        (place / "temp").mkdir(parents=True)
        context = {
            "github.repository": REPOSITORY,
            "github.ref": f"refs/tags/{self._tag}",
            "github.token": "",
            **{f"matrix.{name}": self._first(choices) for name, choices in self._matrix(about, job).items()},
        }
        for name, file in (("secrets.MINISIGN_KEY", "minisign.key"), ("vars.MINISIGN_PUBLIC_KEY", "minisign.pub")):
            if (self.folder / file).exists():
                lines = (self.folder / file).read_text(encoding="ascii").strip()
                context[name] = lines if name.startswith("secrets") else lines.splitlines()[-1]
        environment = self._environment(place)
        for source in (about, about["jobs"][job]):
            for name, text in source.get("env", {}).items():
                environment[name] = context[f"env.{name}"] = filled(text, context)
        for step in wanted:
            started = time.monotonic()
            outcome = self._step(step, place, context, environment)
            print(
                f"{workflow}:{job} {step.number:2} {outcome} ({time.monotonic() - started:.0f} s): {step.title}",
                flush=True,
            )

    @staticmethod
    def _matrix(about: dict[str, Any], job: str) -> dict[str, list[str]]:
        return dict(about["jobs"][job].get("strategy", {}).get("matrix", {}))

    @staticmethod
    def _first(choices: list[str]) -> str:
        """The first choice that this machine has, of Pythons; else the first."""
        return next((choice for choice in choices if python(choice)), choices[0])

    def _environment(self, place: Path) -> dict[str, str]:
        programs = place / "bin"
        programs.mkdir()
        if shutil.which("sudo") is None and hasattr(os, "getuid") and os.getuid() == 0:
            (programs / "sudo").write_text('#!/bin/sh\nexec "$@"\n', encoding="ascii")
            (programs / "sudo").chmod(0o755)
        kept = {name: text for name, text in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
        return {
            **kept,
            "CI": "true",
            "GITHUB_REPOSITORY": REPOSITORY,
            "GITHUB_REF": f"refs/tags/{self._tag}",
            "GITHUB_REF_NAME": self._tag,
            "GITHUB_ACTOR": "someone",
            "RUNNER_TEMP": str(place / "temp"),
            "PATH": os.pathsep.join([str(programs), os.environ["PATH"]]),
        }

    def _step(self, step: Step, place: Path, context: dict[str, str], environment: dict[str, str]) -> str:
        if step.why_not:
            return f"not here, it {step.why_not}"
        if "if" in step.content and not holds(step.content["if"], context):
            return f"left out, as {step.content['if']} does not hold"
        workspace = place / "workspace"
        given = {name: filled(text, context) for name, text in step.content.get("with", {}).items()}
        if step.content.get("run"):
            own = {name: filled(text, context) for name, text in step.content.get("env", {}).items()}
            self._script(step, filled(step.content["run"], context), place, {**environment, **own})
            return "ok"
        if step.action == "checkout":
            depth = [] if given.get("fetch-depth") == "0" else ["--depth", "1"]
            source = f"file://{self.repository}"
            self._git(
                "-c",
                "advice.detachedHead=false",
                "clone",
                "--quiet",
                *depth,
                "--branch",
                self._tag,
                source,
                str(workspace),
                folder=place,
            )
        elif step.action == "setup-python":
            found = python(given["python-version"]) or sys.executable
            subprocess.run([found, "-m", "venv", str(place / "python")], check=True)
            environment["PATH"] = os.pathsep.join([str(place / "python" / "bin"), environment["PATH"]])
            version = subprocess.run([found, "--version"], capture_output=True, text=True).stdout.strip()
            return f"done here, with {version}"
        elif step.action == "download-artifact":
            self._download(given, workspace)
        else:
            self._upload(given.get("name", "pages"), given["path"], workspace)
        return "done here"

    def _script(self, step: Step, text: str, place: Path, environment: dict[str, str]) -> None:
        log = place / f"step-{step.number}.log"
        with log.open("wb") as out:
            command = ["bash", "-e", "-c", text]
            code = subprocess.run(
                command, cwd=place / "workspace", env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=out
            ).returncode
        if code:
            end = log.read_text(encoding="utf-8", errors="replace")[-4000:]
            raise WorkflowError(
                f"step {step.number} of {step.workflow}:{step.job} ended with {code}: {text.strip()}\n{end}"
            )

    def _upload(self, name: str, pattern: str, workspace: Path) -> None:
        """A folder's content, or what the pattern names, with the folders below it. Nothing to upload is an error here."""
        whole = workspace / pattern
        found = sorted(whole.iterdir() if whole.is_dir() else workspace.glob(pattern))
        if not found:
            raise WorkflowError(f"there is no {pattern} to upload")
        target = self.folder / "artifacts" / name
        shutil.rmtree(target, ignore_errors=True)
        for path in found:
            copy(path, target / path.name)

    def _download(self, given: dict[str, str], workspace: Path) -> None:
        """One artifact, or those that the pattern names, into one folder."""
        artifacts = self.folder / "artifacts"
        names = [given["name"]] if "name" in given else sorted(path.name for path in artifacts.glob("*"))
        if "pattern" in given:
            allowed = re.fullmatch(r"\{(.+)\}", given["pattern"])
            if allowed is None:
                raise WorkflowError(f"this pattern is not understood: {given['pattern']}")
            names = [name for name in names if name in allowed[1].split(",")]
        for name in names:
            if not (artifacts / name).is_dir():
                raise WorkflowError(f"no job has left the artifact {name}; run the one before it first")
            for path in (artifacts / name).iterdir():
                copy(path, workspace / given["path"] / path.name)


def copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, dirs_exist_ok=True)
    else:
        shutil.copy2(source, target)


def python(version: str) -> str:
    """The path of this Python, where the machine has one that works; else empty."""
    found = shutil.which(f"python{version}")
    works = found and subprocess.run([found, "-c", "import venv"], capture_output=True).returncode == 0
    return found if found and works else ""


def show() -> None:
    for step in every_step():
        where = f"{step.workflow}:{step.job} {step.number}"
        does = step.why_not or ("runs here" if step.content.get("run") else "done here")
        print(f"{where:24} {does}: {step.title}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Runs the jobs of the workflows here.")
    parser.add_argument("jobs", nargs="*", metavar="WORKFLOW:JOB")
    parser.add_argument("--folder", type=Path, default=project.ROOT / "build" / "workflows")
    parser.add_argument("--go-on", action="store_true", help="with the clone and the artifacts of the run before")
    parser.add_argument("--through", type=int, default=1000, metavar="N", help="the first N steps of each job")
    given = parser.parse_args()
    if not given.jobs:
        show()
        return
    wanted = [tuple(name.split(":")) for name in given.jobs]
    for names in wanted:
        if len(names) != 2:
            parser.error("a job is named WORKFLOW:JOB")
        steps(*names)
    runner = Runner(given.folder.resolve())
    if not (given.go_on and runner.repository.exists()):
        runner.prepare()
    for workflow, job in wanted:
        runner.job(workflow, job, given.through)


if __name__ == "__main__":
    main()
