"""A tiny checkpoint for the command line, and a way to run a command as a person would."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.cli import main
from tests.checkpoints import save


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save("qwen3", tmp_path_factory.mktemp("cli") / "tiny-qwen3", spelling="old")


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Outcome]:
    """Run `grus ARGUMENTS...` in this process."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")

    def run(*arguments: object) -> Outcome:
        try:
            code = main([str(a) for a in arguments])
        except SystemExit as stop:  # argparse leaves this way
            code = int(stop.code or 0)
        seen = capsys.readouterr()
        return Outcome(code, seen.out, seen.err)

    return run
