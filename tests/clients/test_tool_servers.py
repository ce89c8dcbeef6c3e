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

import httpx
import jsonschema
import pytest

from app.runtime.tools.connection import McpConnection, ServerTool
from app.runtime.tools.settings import ToolServer, ToolSettings
from engine.errors import ToolServerFailed
from tests.app.fresh import several
from tests.clients.conftest import GrusServer, served
from tests.clients.running import NODE
from tests.clients.tool_calling_model import ANSWER, ToolCallingModel

BIN = NODE / "node_modules" / ".bin"
pytestmark = [
    pytest.mark.timeout(900),
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
        _resources_of_everything(connection)
        _prompts_of_everything(connection)
    text = "demo://resource/dynamic/text/2"
    assert "Resource 2: This is a plaintext resource" in loop(folder / "reads", server, "read_resource", {"uri": text})


def _resources_of_everything(connection: McpConnection) -> None:
    listed = {one.title: one for one in connection.resources().result()}
    (file,) = connection.read(listed["architecture.md"].uri).result()
    assert file.name == "architecture.md"
    assert b"# Everything Server" in file.data
    text, blob = listed["Dynamic Text Resource"], listed["Dynamic Blob Resource"]
    assert [one.name for one in text.arguments] == ["resourceId"]
    (file,) = connection.read(text.filled({"resourceId": "7"})).result()
    assert (file.name, file.data[:11]) == ("7.txt", b"Resource 7:")
    (file,) = connection.read(blob.filled({"resourceId": "8"})).result()
    assert file.data.startswith(b"Resource 8:")
    with pytest.raises(ToolServerFailed, match="everything: "):
        connection.read("demo://resource/dynamic/text/none").result()
    links = connection.call("get-resource-links", {"count": 2}).result().text
    assert "[Text Resource 2: demo://resource/dynamic/text/2]" in links
    held = connection.call("get-resource-reference", {"resourceType": "Text", "resourceId": 3}).result().text
    assert "Resource 3: This is a plaintext resource" in held


def _prompts_of_everything(connection: McpConnection) -> None:
    prompts = {one.name: one for one in connection.prompts().result()}
    assert connection.prompt(prompts["simple-prompt"], {}).result().text == "This is a simple prompt without arguments."
    weather = connection.prompt(prompts["args-prompt"], {"city": "Paris"}).result()
    assert (weather.text, weather.files) == ("What's weather in Paris?", ())
    held = connection.prompt(prompts["resource-prompt"], {"resourceType": "Text", "resourceId": "4"}).result()
    assert [file.name for file in held.files] == ["4.txt"]
    with pytest.raises(ToolServerFailed, match="Invalid resourceType"):
        connection.prompt(prompts["resource-prompt"], {"resourceType": "x", "resourceId": "4"}).result()


@pytest.mark.parametrize("backend", ["torch", "mlx"])
def test_calls_by_grammar_fit_every_tool(backend: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that knows none of these tools is made to call each: its arguments follow the tool's schema. Some are run."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    (tmp_path / "papers").mkdir()
    memory = {"MEMORY_FILE_PATH": str(tmp_path / "facts.jsonl")}
    servers = [
        program("everything"),
        program("filesystem", str(tmp_path / "papers")),
        ToolServer("memory", str(BIN / "mcp-server-memory"), env=memory),
    ]
    ToolSettings().keep_servers(servers)
    options = [word for one in servers for word in ("--tool", one.name)]
    with (
        over_http() as url,
        served(tmp_path / "model", ["weather"], "--backend", backend, *options, "--tool-url", url) as grus,
    ):
        entries: list[dict[str, Any]] = [{"type": "mcp", "server_label": one.name} for one in servers]
        entries.append({"type": "mcp", "server_label": "web", "server_url": url})
        made = 0
        for entry in entries:
            for tool in _tools_of(grus, entry):
                asked = _called(grus, {**entry, "require_approval": "always"}, tool["name"])
                assert (asked["type"], asked["name"]) == ("mcp_approval_request", tool["name"])
                jsonschema.validate(json.loads(asked["arguments"]), tool["input_schema"])
                made += 1
        assert made > 40
        run = {**entries[-1], "require_approval": "never"}
        assert _called(grus, run, "echo")["output"] == "Echo: "
        assert _called(grus, run, "get-sum")["output"].startswith("The sum of ")


def _tools_of(grus: GrusServer, entry: dict[str, Any]) -> list[dict[str, Any]]:
    (listed,) = [item for item in _output(grus, entry) if item["type"] == "mcp_list_tools"]
    return list(listed["tools"])


def _called(grus: GrusServer, entry: dict[str, Any], tool: str) -> dict[str, Any]:
    choice = {"type": "mcp", "server_label": entry["server_label"], "name": tool}
    output = _output(grus, entry, tool_choice=choice)
    return next(item for item in output if item["type"] in ("mcp_call", "mcp_approval_request"))


def _output(grus: GrusServer, entry: dict[str, Any], **more: Any) -> list[dict[str, Any]]:
    body = {"model": "weather", "input": "Go", "tools": [entry], "temperature": 0, **more}
    reply = httpx.post(f"{grus.url}/v1/responses", json=body, timeout=100)
    assert reply.status_code == 200, reply.text
    return list(reply.json()["output"])
