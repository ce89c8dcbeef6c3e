"""Grus in processes of its own, against the tests' hub: nothing that this process imported or set helps them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engine.hub.cache import Snapshot, find
from tests.hub_server import COMMIT, FakeHub

ROOT = Path(__file__).resolve().parents[2]
_OURS = ("HF_", "HUGGING_FACE", "TRANSFORMERS_", "GRUS_", "XDG_", "PYTHON_KEYRING")


def files_of(folder: Path) -> dict[str, bytes]:
    """A checkpoint as a repository holds it."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str


@dataclass
class Fresh:
    """A machine on which Grus was never used: a home of its own, an empty cache, this hub."""

    hub: FakeHub
    home: Path
    more: dict[str, str] = field(default_factory=dict)

    @property
    def cache(self) -> Path:
        return self.home / "hub"

    @property
    def environment(self) -> dict[str, str]:
        kept = {key: value for key, value in os.environ.items() if not key.startswith(_OURS)}
        return {
            **kept,
            "HOME": str(self.home),
            "HF_ENDPOINT": self.hub.address,
            "HF_HUB_CACHE": str(self.cache),
            "NO_PROXY": "127.0.0.1,localhost",
            "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
            "PYTHONPATH": str(ROOT),
            **self.more,
        }

    def start(
        self, *arguments: object, program: tuple[str, ...] = ("-m", "app.cli"), **how: Any
    ) -> subprocess.Popen[str]:
        how = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **how}
        given = [sys.executable, *program, *map(str, arguments)]
        return subprocess.Popen(given, cwd=ROOT, env=self.environment, text=True, **how)

    def grus(self, *arguments: object, said: str = "") -> Ended:
        process = self.start(*arguments, stdin=subprocess.PIPE)
        out, err = process.communicate(said, timeout=240)
        return Ended(process.returncode, out, err)

    def put(self, repo: str) -> None:
        """A repository that was downloaded before."""
        folder = self.cache / ("models--" + repo.replace("/", "--"))
        for name, content in self.hub.repos[repo].items():
            file = folder / "snapshots" / COMMIT / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        (folder / "refs").mkdir()
        (folder / "refs" / "main").write_text(COMMIT)

    def found(self, repo: str) -> Snapshot | None:
        return find(repo, None, self.cache)

    @contextmanager
    def serving(self, *arguments: object) -> Iterator[str]:
        """A real `grus serve`; its address."""
        process = self.start("serve", "--port", 0, *arguments)
        try:
            yield (
                "http://127.0.0.1:"
                + wait_for(process, "http://127.0.0.1:").partition("127.0.0.1:")[2].split("/")[0].strip()
            )
        finally:
            process.terminate()
            process.communicate(timeout=60)


def wait_for(process: subprocess.Popen[str], word: str) -> str:
    """The line with this word, of a process's standard output."""
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        lines.append(line)
        if word in line:
            return line
    raise AssertionError(
        f"it ended before it said {word!r}: {''.join(lines)}{process.stderr.read() if process.stderr else ''}"
    )


def until(condition: Callable[[], Any], seconds: float = 60) -> Any:
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)
    return found


def one_sentence(ended: Ended) -> str:
    """What a failing command says: no traceback, one line that begins with its name."""
    assert "Traceback" not in ended.err
    lines = [line for line in ended.err.splitlines() if line.startswith("grus: ")]
    assert len(lines) == 1, ended.err
    assert ended.err.splitlines()[-1] == lines[0]
    return lines[0].removeprefix("grus: ")
