"""Tools of Anthropic's own types that the client runs: the model gets their published descriptions and schemas, and calls them by the
name that the client gave."""

from __future__ import annotations

from typing import Any

from app.server.anthropic.protocol import AnthropicTool, Undeclared

_PATH = {"type": "string", "description": "Absolute path of a file or directory."}
_EDITS: dict[str, dict[str, Any]] = {
    "path": _PATH,
    "file_text": {"type": "string", "description": "Text of the file, for `create`."},
    "old_str": {"type": "string", "description": "Text to replace, for `str_replace`. It must be in the file once."},
    "new_str": {"type": "string", "description": "Text that replaces it, for `str_replace`."},
    "insert_line": {
        "type": "integer",
        "description": "Line to insert after, for `insert`. 0 is the beginning of the file.",
    },
    "insert_text": {"type": "string", "description": "Text to insert, for `insert`."},
    "view_range": {
        "type": "array",
        "items": {"type": "integer"},
        "description": "First and last line, for `view` of a file. -1 is the last one.",
    },
}


def _commands(*names: str) -> dict[str, Any]:
    return {"command": {"type": "string", "enum": list(names), "description": "What to do."}}


def _schema(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


_BASH = _schema(
    {
        "command": {"type": "string", "description": "The command to run. Required unless the shell is restarted."},
        "restart": {"type": "boolean", "description": "True restarts the shell."},
    }
)
_EDIT_COMMANDS = ("view", "create", "str_replace", "insert")
_OLD_EDITS = {name: schema for name, schema in _EDITS.items() if name != "insert_text"}
_MEMORY = _commands(*_EDIT_COMMANDS, "delete", "rename") | _EDITS | {"old_path": _PATH, "new_path": _PATH}

# how a type begins -> what the tool does, and its input; the first that fits counts
_TOOLS = {
    "bash_": ("Runs a command in a bash shell that stays open.", _BASH),
    "text_editor_2024": (
        "Views, creates and edits files.",
        _schema(_commands(*_EDIT_COMMANDS, "undo_edit") | _OLD_EDITS, "command", "path"),
    ),
    "text_editor_20250124": (
        "Views, creates and edits files.",
        _schema(_commands(*_EDIT_COMMANDS, "undo_edit") | _OLD_EDITS, "command", "path"),
    ),
    "text_editor_": (
        "Views, creates and edits files.",
        _schema(_commands(*_EDIT_COMMANDS) | _EDITS, "command", "path"),
    ),
    "memory_": ("Keeps notes in files under /memories, for later conversations.", _schema(_MEMORY, "command")),
}


def client_tool(tool: AnthropicTool | Undeclared) -> AnthropicTool | Undeclared:
    """The tool as one with a schema, where its type is known to be run by the client."""
    if isinstance(tool, AnthropicTool):
        return tool
    known = next((value for start, value in _TOOLS.items() if tool.type.startswith(start)), None)
    name = (tool.model_extra or {}).get("name")
    if known is None or not isinstance(name, str):
        return tool
    description, schema = known
    return AnthropicTool(name=name, description=description, input_schema=schema)
