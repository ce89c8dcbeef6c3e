"""Tool servers in processes of their own, and a person's tools in a folder of the test."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.runtime.tools.connection import McpConnection
from app.runtime.tools.settings import ToolServer, ToolSettings

HERE = Path(__file__).parent
MCP_SERVER, HOSTILE_SERVER = HERE / "mcp_server.py", HERE / "hostile_server.py"


def stdio_server(*more: str, name: str = "test") -> ToolServer:
    return ToolServer(name, sys.executable, (str(MCP_SERVER), *more))


@pytest.fixture
def settings(tmp_path: Path) -> ToolSettings:
    return ToolSettings(tmp_path / "data" / "tools.json")


@pytest.fixture(scope="session")
def connection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[McpConnection]:
    """To a server that greets on the wrong stream."""
    with McpConnection(stdio_server("greet"), tmp_path_factory.mktemp("logs"), seconds=60) as made:
        yield made


@pytest.fixture(scope="session")
def http_server() -> Iterator[str]:
    """The address of the same server over HTTP."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    process = subprocess.Popen([sys.executable, str(MCP_SERVER), "http", str(port)], stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 60
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                assert time.monotonic() < end, "the server did not start"
                time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.kill()
        process.wait()


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat")
    return not (state.exists() and state.read_text().rpartition(")")[2].split()[0] == "Z")
