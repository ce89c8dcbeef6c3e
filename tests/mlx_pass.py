"""The second pass of the suite: the product's own paths once more, with `GRUS_BACKEND=mlx` in the environment.

`make test` runs `QUICK` that way, `make test-all` all of `PATHS`. Tests there ask for `auto`. Left out of the pass are tests
that name both backends themselves (the first pass runs them on both; so `..._on_both_backends`) and those marked `torch_only`, whose argument
is the reason. What a Mac alone could show (Metal) is in neither pass.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

PATHS = ("tests/app", "tests/starters", "tests/test_grus.py", "tests/engine/pipelines", "tests/engine/speaking")
# a real model through every command, every family of routes and every pane; what runs none, or a script, shows no backend
QUICK = (
    *(f"tests/app/test_{name}.py" for name in (
        "bad_input", "bench", "capabilities", "chat", "convert", "guide", "info", "listen", "read", "run", "speak", "talk",
    )),
    *(f"tests/app/server/test_{name}.py" for name in ("audio", "engine", "pages", "seeing", "serve", "welcome")),
    *(f"tests/app/gui/test_{name}.py" for name in ("listen_models", "speak_models", "starters", "talk_models")),
    "tests/engine/pipelines/listening",
    "tests/engine/pipelines/speaking",
    "tests/engine/pipelines/test_voice_chat.py",
    "tests/starters/test_guide.py",
    "tests/test_grus.py",
)  # fmt: skip
BACKENDS = frozenset({"torch", "mlx"})


def running() -> bool:
    return os.environ.get("GRUS_BACKEND") == "mlx"


def left_out(item: pytest.Item) -> bool:
    """Whether a test shows nothing in this pass that the first one does not."""
    if item.get_closest_marker("torch_only") is not None or "on_both_backends" in item.name:
        return True
    given = getattr(getattr(item, "callspec", None), "params", {})
    return any(isinstance(value, str) and value in BACKENDS for value in given.values())


def select(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect what the pass leaves out."""
    if not running():
        return
    out = [item for item in items if left_out(item)]
    config.hook.pytest_deselected(items=out)
    items[:] = [item for item in items if not left_out(item)]


if __name__ == "__main__":  # for the Makefile: the paths of a pass, which must be there
    chosen = QUICK if sys.argv[1:] == ["quick"] else PATHS
    missing = [path for path in chosen if not Path(path.partition("::")[0]).exists()]
    sys.exit(f"There is no {missing[0]}: tests/mlx_pass.py names it.") if missing else print(*chosen)
