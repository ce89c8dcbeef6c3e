"""What a person has added: servers as other programs write them, permissions, and the file that both lie in."""

from __future__ import annotations

import json
import os
import stat
from typing import Any

import pytest

from app.runtime.tools.loop import ToolStep, run_tools
from app.runtime.tools.permissions import PermissionAnswer, PermissionRequest, Permissions
from app.runtime.tools.settings import ToolServer, ToolSettings, servers_in
from app.runtime.tools.tool import PythonTool, Tool
from app.runtime.tools.toolbox import Toolbox
from engine.errors import BadRequest
from tests.app.test_tool_loop import ASK, Call, Script
from tests.app.tools.conftest import stdio_server

CLAUDE = {"mcpServers": {"files": {"command": "npx", "args": ["-y", "server-files", "/tmp"], "env": {"A": "b"}}}}
CURSOR = {"mcpServers": {"docs": {"url": "https://example.org/mcp", "headers": {"Authorization": "Bearer ${KEY}"}}}}
LM_STUDIO = {"mcpServers": {"hub": {"url": "http://127.0.0.1:9000/mcp?a=b", "disabled": True}}}
VS_CODE = {
    "servers": {
        "web": {"type": "http", "url": "https://example.org/mcp"},
        "one": {"type": "stdio", "command": "x", "gallery": True},
    }
}


def test_servers_as_other_programs_write_them(settings: ToolSettings) -> None:
    for pasted in CLAUDE, CURSOR, LM_STUDIO, VS_CODE:
        settings.keep_servers(servers_in(json.dumps(pasted))[0])
    assert servers_in(json.dumps(VS_CODE))[1] == ["one.gallery"]
    found = {one.name: one for one in settings.servers()}
    assert list(found) == ["docs", "files", "hub", "one", "web"]
    assert found["files"] == ToolServer("files", "npx", ("-y", "server-files", "/tmp"), {"A": "b"})
    assert found["docs"].headers == {"Authorization": "Bearer ${KEY}"}
    assert [found[name].enabled for name in ("files", "hub")] == [True, False]
    assert [found[name].on_this_machine for name in ("files", "hub", "docs")] == [True, True, False]
    assert json.loads(settings.file.read_text())["mcpServers"]["files"] == CLAUDE["mcpServers"]["files"]
    assert "Bearer" not in repr(found["docs"])
    assert stat.S_IMODE(os.stat(settings.file).st_mode) == 0o600
    assert servers_in('{"command": "x"}', "alone")[0] == [ToolServer("alone", "x")]


@pytest.mark.parametrize(
    "pasted",
    [
        "{", "[]", "{}", "null", '"x"', '{"mcpServers": {}}', '{"a": 5}', '{"a": {}}', '{"a": {"command": "x", "url": "http://a"}}',
        '{"a b": {"command": "x"}}', '{"grus": {"command": "x"}}', '{"a__b": {"command": "x"}}', '{"a": {"command": "x", "args": "y"}}',
        '{"a": {"command": "x", "args": [5]}}', '{"a": {"command": "x", "env": {"A": []}}}', '{"a": {"command": "x\\u0000"}}',
        '{"a": {"url": "file:///etc/passwd"}}', '{"a": {"url": "http://me:secret@host/"}}', '{"a": {"type": "sse", "url": "http://a/"}}',
        "[" * 100_000, " " * (1 << 21),
    ],
)  # fmt: skip
def test_what_is_no_server_is_refused(pasted: str, settings: ToolSettings) -> None:
    with pytest.raises(BadRequest):
        servers_in(pasted)


def test_a_damaged_file_is_an_error_and_not_an_empty_one(settings: ToolSettings) -> None:
    settings.file.parent.mkdir(parents=True)
    for text in "{", "[]", '{"permissions": []}':
        settings.file.write_text(text)
        with pytest.raises(BadRequest, match="tools file"):
            settings.permission("a/b", "")


class Fixed(Tool):
    """A tool of a server, with a description that a test may change."""

    def __init__(self, description: str = "Reads.", label: str = "files/read") -> None:
        self.name, self.label, self.description = "files__read", label, description
        self.parameters = {"type": "object"}
        self.ran: list[Any] = []

    def run(self, arguments: Any, stop: Any) -> Any:
        from app.runtime.tools.tool import ToolResult

        self.ran.append(arguments)
        return ToolResult("content")


def step_of(permissions: Permissions, tool: Fixed) -> ToolStep:
    replies = Script([Call("files__read", '{"path": "a"}')], "Done")
    permissions.tools = [tool]
    return run_tools(replies, ASK, [tool], permissions.approve).steps[0]


def test_a_person_is_asked_and_their_answer_holds_as_long_as_they_said(settings: ToolSettings) -> None:
    asked: list[PermissionRequest] = []
    answers = [
        PermissionAnswer(False),
        PermissionAnswer(True, arguments={"path": "b"}),
        PermissionAnswer(True, "conversation"),
        PermissionAnswer(True, "for good"),
    ]

    def ask(request: PermissionRequest) -> PermissionAnswer:
        asked.append(request)
        return answers.pop(0)

    tool, first, second = Fixed(), Permissions(settings, [], ask), Permissions(settings, [], ask)
    assert step_of(first, tool).outcome == "refused"
    assert step_of(first, tool).arguments == {"path": "b"}
    assert tool.ran == [{"path": "b"}]
    assert asked[0] == PermissionRequest("files/read", "Reads.", {"path": "a"}, False, False)
    assert [step_of(first, tool).outcome for _ in range(3)] == ["made"] * 3
    assert len(asked) == 3
    assert step_of(second, tool).outcome == "made"  # another conversation is asked for itself
    assert len(asked) == 4
    assert settings.permissions() == {"files/read": "always"}
    assert step_of(Permissions(settings, []), tool).outcome == "made"


def test_a_tool_that_changed_is_asked_again_and_one_that_is_forbidden_never_runs(settings: ToolSettings) -> None:
    tool = Fixed()
    settings.keep_permission(tool.label, "always", tool.digest)
    asked: list[PermissionRequest] = []

    def ask(request: PermissionRequest) -> PermissionAnswer:
        asked.append(request)
        return PermissionAnswer(True)

    assert step_of(Permissions(settings, [], ask), tool).outcome == "made"
    assert asked == []
    assert step_of(Permissions(settings, [], ask), Fixed("Reads, and sends it away.")).outcome == "made"
    assert [one.changed for one in asked] == [True]
    settings.keep_permission(tool.label, "never", tool.digest)
    step = step_of(Permissions(settings, [], ask), Fixed("Another."))
    assert (step.outcome, step.result) == ("refused", "The person has set files/read to never run.")
    assert len(asked) == 1


def test_where_nobody_can_be_asked_only_what_is_always_allowed_runs(settings: ToolSettings) -> None:
    step = step_of(Permissions(settings, []), Fixed())
    assert step.outcome == "refused"
    assert "`grus tools permit files/read always` allows it" in step.result

    def own() -> str:
        return "mine"

    tool = PythonTool(own)
    run = run_tools(Script([Call("own", "{}")], "Done"), ASK, [tool], Permissions(settings, [tool]).approve)
    assert run.steps[0].result == "mine"


def test_another_command_under_the_same_name_inherits_no_permission(settings: ToolSettings) -> None:
    tool = Fixed()
    settings.keep_servers([ToolServer("files", "a"), ToolServer("other", "a")])
    for label in "files/read", "other/read":
        settings.keep_permission(label, "always", tool.digest)
    settings.keep_servers([ToolServer("files", "a")])
    assert len(settings.permissions()) == 2
    settings.keep_servers([ToolServer("files", "b")])
    assert settings.permissions() == {"other/read": "always"}
    settings.remove("other")
    assert settings.permissions() == {}
    with pytest.raises(BadRequest, match="no tool server"):
        settings.remove("other")


def test_an_entry_with_a_bad_name_is_named_and_the_others_stay_in_use(settings: ToolSettings) -> None:
    settings.keep_servers([stdio_server(), stdio_server(name="other")])
    data = json.loads(settings.file.read_text("utf-8"))
    data["mcpServers"]["no such name"] = {"command": "x"}
    data["mcpServers"]["both"] = {"command": "x", "url": "https://example.org"}
    settings.file.write_text(json.dumps(data), "utf-8")
    assert [one.name for one in settings.servers()] == ["other", "test"]
    assert list(settings.unusable()) == ["both", "no such name"]
    with Toolbox(settings) as box:
        assert {one.label.partition("/")[0] for one in box.tools} == {"other", "test"}
        assert box.problems == list(settings.unusable().values())
    with Toolbox(settings, ["test/add"]) as box:
        assert ([one.label for one in box.tools], box.problems) == (["test/add"], [])
    with pytest.raises(BadRequest, match="'no such name' does not fit"):
        Toolbox(settings, ["no such name"])
    with pytest.raises(BadRequest, match="must have a command, or a url, and not both"):
        settings.server("both")
    settings.remove("no such name")
    settings.remove("both")
    assert settings.unusable() == {}
