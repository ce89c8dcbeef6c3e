"""The models of the tests with real clients: each program that brings its own tools gets one that calls one of them."""

from __future__ import annotations

from collections.abc import Callable

from tests.clients.tool_calling_model import ToolCallingModel

PROOF = "proof.txt"  # an agent's tool has run when this file is in its folder
TOUCH = f"touch {PROOF}"
WEATHER = {"city": "Paris", "degrees": 21}

MODELS: dict[str, Callable[[], ToolCallingModel]] = {
    "weather": lambda: ToolCallingModel(objects=[WEATHER]),
    "thinks": lambda: ToolCallingModel(objects=[WEATHER], thinks=True),
    "small": lambda: ToolCallingModel(context=2048),
    "claude-code": lambda: ToolCallingModel(
        "Bash", {"command": TOUCH, "description": "Makes a file"}, objects=[WEATHER]
    ),
    "claude-code-object": lambda: ToolCallingModel("StructuredOutput", WEATHER),
    "codex": lambda: ToolCallingModel("exec_command", {"cmd": TOUCH}, objects=[WEATHER]),
    "opencode": lambda: ToolCallingModel("bash", {"command": TOUCH, "description": "Makes a file"}),
    "continue": lambda: ToolCallingModel("Bash", {"command": TOUCH}),
    "qwen-code": lambda: ToolCallingModel("run_shell_command", {"command": TOUCH, "is_background": False}),
    "cline": lambda: ToolCallingModel("run_commands", {"commands": [TOUCH]}),
}
