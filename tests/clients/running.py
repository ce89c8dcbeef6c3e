"""Runs one real program: its lines from docs/clients.md, in a home folder and an environment of its own."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from app.client_lines import client_lines, filled
from tests.clients.matrix import Command, Program
from tests.clients.models import PROOF

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
NODE = ROOT / ".clients-node"
NOT_SET_UP = "not set up: make test-clients does it"
SECONDS = 400
QUESTIONS = ("Say hello", "And once more")
LONG = "Hello " * 4000
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "degrees": {"type": "integer"}},
    "required": ["city", "degrees"],
    "additionalProperties": False,
}
FUNCTIONS = f"""
def get_weather(city: str) -> str:
    "The weather in a city."
    open({PROOF!r}, "w").close()
    return "Sunny"
"""
# no program asks its makers for anything while it is tested
QUIET = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "IS_SANDBOX": "1",  # Claude Code runs tools unasked as root only where this is set
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
    "OPENCODE_DISABLE_MODELS_FETCH": "1",
    "CONTINUE_TELEMETRY_ENABLED": "0",
    "DISABLE_TELEMETRY": "1",
    "CLINE_TELEMETRY_DISABLED": "1",
    "OPENAI_AGENTS_DISABLE_TRACING": "1",
    "AI_SDK_LOG_WARNINGS": "false",
    "SCARF_NO_ANALYTICS": "true",
    "ANONYMIZED_TELEMETRY": "false",
    "OFFLINE_MODE": "true",
    "CI": "1",
}
# one person alone, who need not log in; texts are found by the words in them, for which it loads no model
OPEN_WEBUI = {"WEBUI_AUTH": "false", "RAG_EMBEDDING_ENGINE": "openai"}


@dataclass
class Outcome:
    value: Any = None
    problem: str = ""


def missing(program: Program) -> str:
    """Why this program is not here; nothing where it is."""
    if program.environment == "node" and shutil.which("node") is None:
        return "node is not installed"
    folder = NODE if program.environment == "node" else ROOT / f".venv-{program.environment}"
    if program.name != "curl" and not folder.is_dir():
        return NOT_SET_UP
    return ""


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


class ProgramRun:
    """One program with one model; what it leaves behind in `folder` is used by the next of its runs."""

    def __init__(self, program: Program, url: str, model: str, folder: Path) -> None:
        self.program, self.url, self.model = program, url, model
        self.home, self.work = folder / "home", folder / "work"
        for made in (self.home, self.work):
            made.mkdir(parents=True)
        self.texts = []
        blocks = client_lines()[program.name].blocks
        self.shell_lines = blocks[-1].language == "sh"
        for block in blocks:
            text = filled(block.text, url, "YOUR_KEY", model)
            if block.file:
                file = self.home / block.file[2:] if block.file.startswith("~/") else self.work / block.file
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8")
            else:
                self.texts.append(text)

    def environment(self) -> dict[str, str]:
        folders = [NODE / "node_modules/.bin", ROOT / f".venv-{self.program.environment}/bin"]
        kept = {name: os.environ[name] for name in ("LANG", "TMPDIR", "SSL_CERT_FILE") if name in os.environ}
        path = os.pathsep.join([*map(str, folders), os.environ["PATH"]])
        # opencode installs a provider that is not in it, with the settings of the `npm` that installed opencode
        npm = {"NPM_CONFIG_USERCONFIG": str(Path.home() / ".npmrc"), "XDG_CACHE_HOME": str(NODE / ".cache")}
        return {**kept, **npm, **QUIET, **OPEN_WEBUI, "DATA_DIR": str(self.home), "HOME": str(self.home), "PATH": path}

    def run(self, command: Sequence[str], until: str = "") -> tuple[str, str]:
        """What it wrote to both of its streams; it is stopped where that has `until`, or after SECONDS."""
        paths = [self.home / name for name in ("stdout", "stderr")]
        with paths[0].open("wb") as output, paths[1].open("wb") as errors:
            process = subprocess.Popen(command, cwd=self.work, env=self.environment(), stdout=output, stderr=errors)
            end = time.monotonic() + SECONDS
            try:
                while process.poll() is None and time.monotonic() < end:
                    time.sleep(0.05)
                    if until and re.search(until, "\n".join(map(_text, paths)), re.IGNORECASE):
                        break
            finally:
                process.kill()
                process.wait()
                self._end_daemons()
        return _text(paths[0]), _text(paths[1])

    def _end_daemons(self) -> None:
        """Some programs leave a process behind: those that have this home folder are theirs."""
        for process in psutil.process_iter():
            try:
                if process.environ().get("HOME") == str(self.home):
                    process.kill()
            except psutil.Error:
                continue

    # -- programs in a shell

    def shell(self, arguments: str, prompt: str = QUESTIONS[0], until: str = "") -> str:
        (self.work / "schema.json").write_text(json.dumps(SCHEMA), encoding="utf-8")
        (self.work / "functions.py").write_text(FUNCTIONS, encoding="utf-8")
        given = arguments.format(prompt=shlex.quote(prompt), schema=shlex.quote(json.dumps(SCHEMA)))
        return "".join(self.run(["bash", "-c", f"{self.texts[-1].rstrip()} {given}"], until))

    def of_command(self, command: Command, ability: str) -> Any:
        if ability == "connects":
            return self.shell(command.ask)
        if ability == "models":
            return self.shell(command.models)
        if ability == "two_turns":
            return [self.shell(command.ask), self.shell(command.again, QUESTIONS[1])]
        if ability == "tool":
            said = self.shell(command.tool or command.ask)
            return {"proof": (self.work / PROOF).exists(), "text": said}
        if ability == "structured":
            return self.shell(command.structured)
        # some shorten the conversation and ask again for ever
        return self.shell(command.too_long or command.ask, LONG, self.program.too_long)

    # -- programs in a language

    def of_file(self, abilities: Sequence[str]) -> dict[str, Outcome]:
        """All abilities in one process: most of its time goes into imports."""
        lines = self.texts[0]
        if self.program.file.endswith(".mjs"):
            # node looks for packages beside the module: not in a folder for tests. Programs may run at the same time.
            folder = NODE / re.sub(r"\W+", "-", self.program.name)
            folder.mkdir(exist_ok=True)
            for source in (HERE / "run_node.mjs", HERE / "programs" / self.program.file):
                shutil.copy(source, folder)
            (folder / "lines.mjs").write_text(lines, encoding="utf-8")
            command = ["node", "run_node.mjs", "lines.mjs", self.program.file]
            command[1:] = [str(folder / name) for name in command[1:]]
        else:
            name = f"lines.{'sh' if self.shell_lines else 'py'}"
            (self.work / name).write_text(lines, encoding="utf-8")
            python = ROOT / f".venv-{self.program.environment}/bin/python"
            command = [str(python), str(HERE / "run_python.py"), name, str(HERE / "programs" / self.program.file)]
        output, errors = self.run([*command, self.model, *abilities])
        outcomes = {ability: Outcome(problem=output[-2000:] + errors[-2000:]) for ability in abilities}
        for line in output.splitlines():
            if line.startswith('{"ability"'):
                said = json.loads(line)
                problem = f"{said['error']}\n{said['trace']}" if "error" in said else ""
                outcomes[said["ability"]] = Outcome(said.get("value"), problem)
        return outcomes
