"""`grus mcp` in a process of its own, driven by the client of the `mcp` package."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import soundfile
from mcp import Client, StdioServerParameters

from app.runtime.library.folders import FolderLibrary
from engine.starter import PAGE
from tests.app.fresh import ROOT, environment, grus
from tests.engine.pipelines.listening.conftest import RATE, talk
from tests.needs import no_program
from tests.speech_checkpoints import save


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "lease.md").write_text("# Lease\n\nThe lease of the mill ends on the fourth of May.")
    (tmp_path / "secret.txt").write_text("secret")
    return folder


Calls = list[tuple[str, dict[str, Any]]]


def drive(data: Path, calls: Calls, *arguments: object) -> tuple[Mapping[str, Any], list[tuple[bool, str]]]:
    """The tools by name, and of each call whether it failed and its text."""

    async def work() -> tuple[Mapping[str, Any], list[tuple[bool, str]]]:
        words = ["-m", "app.cli", "mcp", *map(str, arguments), "--device", "cpu"]
        variables = {**environment(), "XDG_DATA_HOME": str(data)}
        server = StdioServerParameters(command=sys.executable, args=words, env=variables, cwd=ROOT)
        async with Client(server) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            made = [await client.call_tool(name, given) for name, given in calls]
        return tools, [(bool(one.is_error), "".join(getattr(part, "text", "") for part in one.content)) for one in made]

    return asyncio.run(work())


def test_documents_are_read_and_searched_in_the_named_folders_alone(
    papers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    with FolderLibrary(papers) as library:
        assert list(library.update())
    os.symlink(tmp_path / "secret.txt", papers / "link.txt")
    calls: Calls = [
        ("read_document", {"path": "lease.md"}),
        ("read_document", {"path": str(papers)}),
        ("search_documents", {"question": "When does the lease end?"}),
        ("read_document", {"path": str(tmp_path / "secret.txt")}),
        ("read_document", {"path": "link.txt"}),
        ("read_document", {"path": "absent.pdf"}),
        ("speak", {"text": "Hi", "file": "../said.wav"}),
        ("speak", {"text": "Hi", "file": "lease.md"}),
        ("transcribe", {"path": "x"}),
    ]
    tools, seen = drive(tmp_path / "data", calls, papers)
    assert list(tools) == ["read_document", "speak", "search_documents"]
    assert tools["read_document"].annotations.read_only_hint
    assert [failed for failed, _ in seen] == [False] * 3 + [True] * 6
    assert "fourth of May" in seen[0][1]
    assert seen[1][1].split() == ["lease.md", "link.txt"]
    assert "lease.md" in seen[2][1]
    assert [("not within" in text, "secret\n" in text) for _, text in seen[3:5]] == [(True, False)] * 2
    assert "absent.pdf" in seen[5][1]
    assert "not within" in seen[6][1]
    assert "ends in .wav" in seen[7][1]
    assert (papers / "lease.md").read_text().startswith("# Lease")


@pytest.mark.slow
def test_pages_are_read_and_recordings_written_down(papers: Path, tmp_path: Path) -> None:
    shutil.copy(PAGE, papers / "page.png")
    soundfile.write(papers / "talk.wav", talk(1), RATE)
    model = save("moonshine", tmp_path / "moonshine")
    calls: Calls = [("read_document", {"path": "page.png"}), ("transcribe", {"path": "talk.wav"})]
    tools, seen = drive(tmp_path / "data", calls, papers, "--listen", model, "--dtype", "f32")
    assert set(tools) == {"read_document", "speak", "transcribe"}
    assert [failed for failed, _ in seen] == [False, False]
    assert len(seen[0][1].split()) > 20
    assert seen[1][1].strip()


@pytest.mark.slow
@pytest.mark.skipif(bool(no_program("espeak-ng")), reason=no_program("espeak-ng"))
def test_a_text_is_spoken_into_a_new_file(papers: Path, tmp_path: Path) -> None:
    again = ("speak", {"text": "Good morning.", "file": "said.wav"})
    _, seen = drive(tmp_path / "data", [again, again], papers)
    assert seen[0] == (False, str(papers / "said.wav"))
    assert soundfile.info(papers / "said.wav").frames > 5000
    assert seen[1] == (True, "Error executing tool speak: said.wav is there already. Choose another name.")


def test_what_cannot_be_is_one_sentence() -> None:
    done = grus("mcp", "/no/such")
    assert (done.code, done.err) == (2, "grus: There is no folder /no/such.\n")
