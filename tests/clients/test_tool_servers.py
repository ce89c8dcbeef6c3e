"""The reference servers of MCP, from their registry, over stdio and HTTP: `grus run --tools` with a model that calls one of their tools."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from app.runtime.tools.connection import McpConnection, ServerTool
from app.runtime.tools.settings import ToolServer, ToolSettings
from tests.app.fresh import several
from tests.clients.running import NODE
from tests.clients.tool_calling_model import ANSWER, ToolCallingModel

BIN = NODE / "node_modules" / ".bin"
pytestmark = [
    pytest.mark.timeout(300),
    pytest.mark.skipif(not (BIN / "mcp-server-everything").exists(), reason="the reference servers are not installed"),
]


def program(name: str, *words: str) -> ToolServer:
    return ToolServer(name, str(BIN / f"mcp-server-{name}"), words)


def listed(server: ToolServer, logs: Path) -> tuple[McpConnection, dict[str, ServerTool]]:
    connection = McpConnection(server, logs)
    return connection, {tool.name: tool for tool in connection.tools().result()}


def loop(folder: Path, server: ToolServer, tool: str, arguments: dict[str, Any]) -> str:
    """What the tool returned to a model that called it and then answered, in new processes."""
    ToolSettings(folder / "Grus" / "tools.json").keep_servers([server])
    model = ToolCallingModel(f"{server.name}__{tool}", arguments).save(folder / "model")
    permit = ["tools", "permit", f"{server.name}/{tool}", "always"]
    run = ["run", model, "Go", "--tools", "--temperature", 0, "--json"]
    allowed, done = several(permit, run, XDG_DATA_HOME=str(folder))
    assert allowed.code == 0, allowed.err
    report = json.loads(done.out)
    (step,) = report["steps"]
    assert (report["text"], step["outcome"]) == (ANSWER, "made"), done.out
    return str(step["result"])


def test_files(tmp_path: Path) -> None:
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "a.txt").write_text("Rent is 900.")
    (tmp_path / "secret.txt").write_text("secret")
    server = program("filesystem", str(tmp_path / "papers"))
    assert loop(tmp_path, server, "read_text_file", {"path": str(tmp_path / "papers" / "a.txt")}) == "Rent is 900."
    connection, tools = listed(server, tmp_path)
    with connection:
        assert {"read_text_file", "write_file", "list_directory"} <= tools.keys()
        assert (tools["read_text_file"].read_only, tools["write_file"].read_only) == (True, False)
        assert connection.call("read_text_file", {"path": str(tmp_path / "secret.txt")}).result().failed


def test_memory(tmp_path: Path) -> None:
    fact = {"entities": [{"name": "Grus", "entityType": "bird", "observations": ["It migrates."]}]}
    server = ToolServer(
        "memory", str(BIN / "mcp-server-memory"), env={"MEMORY_FILE_PATH": str(tmp_path / "facts.jsonl")}
    )
    assert "It migrates." in loop(tmp_path, server, "create_entities", fact)
    connection, _ = listed(server, tmp_path)
    with connection:
        assert "It migrates." in connection.call("search_nodes", {"query": "Grus"}).result().text


@contextmanager
def over_http() -> Iterator[str]:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    command = [str(BIN / "mcp-server-everything"), "streamableHttp"]
    with subprocess.Popen(
        command, env={**os.environ, "PORT": str(port)}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            end = time.monotonic() + 100
            while True:
                try:
                    socket.create_connection(("127.0.0.1", port), 1).close()
                    break
                except OSError:
                    assert time.monotonic() < end, "the server did not start"
                    time.sleep(0.05)
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            process.terminate()


@pytest.mark.parametrize("way", ["stdio", "http"])
def test_everything(way: str, tmp_path: Path) -> None:
    if way == "stdio":
        _everything(ToolServer("everything", str(BIN / "mcp-server-everything")), tmp_path)
        return
    with over_http() as url:
        _everything(ToolServer("everything", url=url), tmp_path)


def _everything(server: ToolServer, folder: Path) -> None:
    assert loop(folder, server, "echo", {"message": "Hello"}) == "Echo: Hello"
    connection, tools = listed(server, folder)
    with connection:
        assert "echo" in tools
        picture = connection.call("get-tiny-image", {}).result()
        assert [one[:4] for one in picture.pictures] == [b"\x89PNG"]
        assert connection.call("get-sum", {"a": 2, "b": 3}).result().text.startswith("The sum of 2 and 3 is 5")
        assert connection.call("get-sum", {"a": "x"}).result().failed
        assert "variables" not in tools
