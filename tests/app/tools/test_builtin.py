"""Built-in tools: what the calculator computes and refuses, and that files are read in allowed folders alone."""

from __future__ import annotations

import os
import time
from concurrent.futures import Future
from pathlib import Path

import pytest

from app.runtime.library.folders import FolderLibrary
from app.runtime.tools.builtin import BUILTIN_TOOLS, builtin_tool, calculator
from app.runtime.tools.settings import ToolServer, ToolSettings
from app.runtime.tools.toolbox import Toolbox
from engine.errors import BadRequest
from tests.app.tools.conftest import stdio_server


def run(name: str, *folders: Path, **arguments: object) -> str:
    return builtin_tool(name, [str(folder) for folder in folders]).run(arguments, Future()).text


@pytest.mark.parametrize(
    ("expression", "value"),
    [("1 + 2 * 3", "7"), ("(3 + 4) * 2 ** 10 / 4", "1792.0"), ("-7 // 2", "-4"), ("sqrt(2) * sqrt(2) > 0", None), ("round(pi, 3)", "3.142"),
     ("2 ** 100", str(2**100)), ("max(1, 2, log(e))", "2")],
)  # fmt: skip
def test_the_calculator_computes(expression: str, value: str | None) -> None:
    if value is None:
        with pytest.raises(ValueError, match="only numbers"):
            calculator(expression)
    else:
        assert calculator(expression) == value


@pytest.mark.parametrize(
    "expression",
    ["__import__('os')", "().__class__", "9 ** 9 ** 9", "10 ** 1000000", "open('x')", "'a' * 99", "x", "1 +", "[1] * 9", "True", "lambda: 1",
     "(2 ** 90000) * (2 ** 90000)", "sqrt(-1)", "1 / 0", "sqrt(x=1)", "(" * 400 + ")" * 400, "1" * 2000, "exp(9999)", "pow(2, 9)"],
)  # fmt: skip
def test_the_calculator_computes_nothing_else_and_at_once(expression: str) -> None:
    began = time.process_time()
    with pytest.raises((ValueError, ZeroDivisionError)):
        calculator(expression)
    assert time.process_time() - began < 1


def test_the_date() -> None:
    assert time.strftime("%Y-%m-%dT") in run("date")


def test_files_are_read_in_allowed_folders_alone(tmp_path: Path) -> None:
    papers, other = tmp_path / "papers", tmp_path / "papers-of-others"
    (papers / "deep").mkdir(parents=True)
    other.mkdir()
    (papers / "a.txt").write_text("Rent is 900.")
    (papers / "deep" / "b.md").write_text("# Title\n\nDeep words.")
    (papers / "c.py").write_text("print(1)")
    (papers / "d.bin").write_bytes(b"\0\1\2")
    (other / "secret.txt").write_text("secret")
    os.symlink(other / "secret.txt", papers / "link.txt")
    os.symlink(other, papers / "folder")
    os.mkfifo(papers / "pipe")
    assert run("read_file", papers, path="") == str(papers)
    assert run("read_file", papers, path=str(papers)).split() == [
        "a.txt",
        "c.py",
        "d.bin",
        "deep/",
        "folder/",
        "link.txt",
        "pipe",
    ]
    assert run("read_file", papers, path="a.txt").strip() == "Rent is 900."
    assert "Deep words." in run("read_file", papers, path=str(papers / "deep" / "b.md"))
    assert run("read_file", papers, path="c.py") == "print(1)"
    for path in (
        "../papers-of-others/secret.txt",
        str(other / "secret.txt"),
        "link.txt",
        "folder/secret.txt",
        "folder",
        "/etc/passwd",
        "~/x",
    ):
        with pytest.raises(ValueError, match="not within"):
            run("read_file", papers, path=path)
    for path in "absent.txt", "pipe", "d.bin":
        with pytest.raises(ValueError, match=r"no file|no text"):
            run("read_file", papers, path=path)
    (papers / "long.py").write_text("x" * 120_000)
    assert run("read_file", papers, path="long.py").endswith("[70,000 more characters: start = 50000]")
    assert run("read_file", papers, path="long.py", start=100_000) == "x" * 20_000
    with pytest.raises(ValueError, match="not within"):
        run("read_file", path="a.txt")


def test_indexed_documents_are_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    papers = tmp_path / "papers"
    papers.mkdir()
    (papers / "lease.txt").write_text("The lease of the mill ends on the fourth of May.")
    with pytest.raises(BadRequest, match="not indexed"):
        run("search_documents", papers, question="lease")
    with FolderLibrary(papers) as library:
        assert list(library.update())
    found = run("search_documents", papers, question="When does the lease end?")
    assert found.startswith(f"[1] {papers}: lease.txt")
    assert "fourth of May" in found
    assert run("search_documents", papers, question="zebra") == "Nothing was found."


@pytest.mark.slow
def test_a_toolbox_has_what_was_added_or_named(settings: ToolSettings, tmp_path: Path) -> None:
    with Toolbox(settings) as empty:
        assert empty.tools == []
    settings.keep_builtin("calculator")
    settings.keep_builtin("read_file", [str(tmp_path)])
    settings.keep_servers(
        [stdio_server(), ToolServer("gone", "no-such-program"), ToolServer("off", "no-such-program", enabled=False)]
    )
    with Toolbox(settings) as box:
        assert box.problems == ["gone cannot be started: there is no program no-such-program."]
        labels = [tool.label for tool in box.tools]
        assert labels[:3] == ["grus/calculator", "grus/read_file", "test/add"]
        assert [tool.trusted for tool in box.tools[:3]] == [False] * 3
        forbidden = box.tools[2]
        settings.keep_permission(forbidden.label, "never", forbidden.digest)
    with Toolbox(settings, ["test/process", "calculator", "test/add"]) as box:
        assert [tool.label for tool in box.tools] == ["grus/calculator", "test/process"]
    for named, said in (
        ("absent", "no tool 'absent' here"),
        ("date", "no tool 'date' here"),
        ("gone", "no program"),
        ("test/absent", "has no tool"),
    ):
        with pytest.raises(Exception, match=said):
            Toolbox(settings, [named])


def test_built_in_tools_are_known_by_name() -> None:
    assert [builtin_tool(name).label for name in BUILTIN_TOOLS] == [f"grus/{name}" for name in BUILTIN_TOOLS]
    with pytest.raises(BadRequest, match="There are: calculator"):
        builtin_tool("shell")
