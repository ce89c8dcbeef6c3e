"""Rules of the house that no linter knows. Those about who may import whom are contracts in pyproject.toml."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCES = sorted([*ROOT.glob("*.py"), *(f for p in ("app", "engine", "backends") for f in (ROOT / p).rglob("*.py"))])

LONGEST = 600

# Only these may know Qt; all else can be used without a screen, and starts without waiting for it.
WINDOW = ("app/bridge.py", "app/gui/")
NO_WINDOW = ("app/gui/viewmodels/", "app/gui/store/", "app/gui/texts.py", "app/gui/theme.py", "app/gui/preferences.py")

IMPORT_EVERYTHING = """
import importlib, sys
for path in sys.argv[1:]:
    importlib.import_module(path)
print(*sorted({name.partition(".")[0] for name in sys.modules}))
"""


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def module_of(path: Path) -> str:
    return name_of(path).removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def is_view(name: str) -> bool:
    return name.startswith(WINDOW) and not name.startswith(NO_WINDOW) and name != "app/gui/__init__.py"


def test_packaging_does_not_shadow_the_library_of_that_name() -> None:
    assert not (ROOT / "packaging" / "__init__.py").exists()


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_a_file_is_short_enough_to_hold_one_idea(path: Path) -> None:
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert lines <= LONGEST


def test_no_test_asserts_all_of_what_may_be_nothing() -> None:
    """`all` of an empty list is true: `every` of tests/asserting.py is not."""
    vacuous = [
        f"{name_of(path)}:{node.lineno}"
        for path in sorted((ROOT / "tests").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Assert)
        and isinstance(node.test, ast.Call)
        and isinstance(node.test.func, ast.Name)
        and node.test.func.id == "all"
    ]
    assert vacuous == []


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_a_module_says_what_it_knows(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert not tree.body or ast.get_docstring(tree)


@pytest.mark.parametrize("layer", ["app", "engine", "backends"])
def test_importing_a_layer_loads_no_array_library_and_no_window(layer: str) -> None:
    """A command line that only prints its help must not wait for torch or Qt. Of the backends this holds for the shared
    files, of the app for all but the views."""
    files = (ROOT / layer).glob("*.py") if layer == "backends" else (ROOT / layer).rglob("*.py")
    modules = [module_of(f) for f in sorted(files) if f.name != "__main__.py" and not is_view(name_of(f))]
    command = [sys.executable, "-c", IMPORT_EVERYTHING, *modules]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    loaded = set(run.stdout.split())
    assert layer in loaded
    assert loaded.isdisjoint({"torch", "mlx", "mlx_lm", "transformers", "PySide6"})


def test_only_the_runtime_makes_an_engine() -> None:
    """Window, server, command line and Python interface are clients of one model service."""
    made = [
        f"{name_of(path)}:{node.lineno}"
        for path in SOURCES
        if not name_of(path).startswith("app/runtime/")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == "Engine"
    ]
    assert made == []


def test_no_python_function_hears_qts_messages() -> None:
    """Qt calls it wherever it has something to say, also while a library is being loaded. It then waits for the interpreter
    with the loader's lock in hand, which a thread that holds the interpreter may be waiting for: the window stands still."""
    assert [name_of(path) for path in SOURCES if "qInstallMessageHandler" in path.read_text(encoding="utf-8")] == []
