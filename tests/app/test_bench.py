"""`grus bench`: figures on one's own machine, as a table and as JSON; and a profile that a browser opens."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from backends.pick import choose
from tests.app.conftest import Outcome
from tests.asserting import every

Command = Callable[..., Outcome]
SMALL = ("--prompt", 32, "--reply", 8, "--streams", "1,3", "--runs", 1)


def test_a_table_for_people(command: Command, model: Path) -> None:
    seen = command("bench", model, *SMALL)
    assert seen.code == 0
    for what in (
        "prefill of 32 tokens",
        "weights that a token reads",
        "decode, 1 at once",
        "decode, 3 at once",
        "remembered",
        "MB",
    ):
        assert what in seen.out


def test_json_for_programs(command: Command, model: Path) -> None:
    report = json.loads(command("bench", model, *SMALL, "--json").out)
    figures = {figure["what"]: figure for figure in report["figures"]}
    assert figures["decode, 3 at once"]["unit"] == "tokens/s"
    assert every(figure["value"] > 0 for figure in figures.values())
    assert report["backend"]["name"] == choose().backend


def test_nonsense_is_refused(command: Command, model: Path) -> None:
    for streams in ("0", "a,b", ""):
        seen = command("bench", model, "--streams", streams)
        assert seen.code == 2
        assert "--streams" in seen.err


def test_a_profile_names_what_the_engine_did(command: Command, model: Path, tmp_path: Path) -> None:
    file = tmp_path / "profile.json"
    assert command("run", model, "Hello", "--max-tokens", 4, "--profile", file, "--backend", "auto").code == 0
    names = {event["name"] for event in json.loads(file.read_text())["traceEvents"]}
    assert {"queue", "prefill", "decode", "sample", "detokenize", "wait"} <= names
