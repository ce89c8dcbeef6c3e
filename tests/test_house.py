"""Rules of the house that no linter knows. Those about who may import whom are contracts in pyproject.toml."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCES = sorted([*ROOT.glob("*.py"), *(f for p in ("app", "engine", "backends") for f in (ROOT / p).rglob("*.py"))])

KERNELS = sorted(f for f in (ROOT / "backends/torch/kernels/src").rglob("*") if f.suffix in (".cpp", ".hpp", ".inl"))

LONGEST = 600

# Only these may know Qt; all else can be used without a screen, and starts without waiting for it.
WINDOW = ("app/bridge.py", "app/gui/")
NO_WINDOW = ("app/gui/viewmodels/", "app/gui/store/", "app/gui/texts.py", "app/gui/theme.py", "app/gui/preferences.py")

# Words that this code once had for what the field has other words for. As a name of a class or a module they are refused.
OLD_WORDS = frozenset(
    [
        "lane",
        "flight",
        "job",
        "choice",
        "row",
        "rows",
        "seg",
        "span",
        "stepspan",
        "arrivals",
        "joining",
        "residents",
        "placement",
        "pace",
        "border",
        "borders",
        "guesses",
        "draws",
        "remembered",
        "kept",
        "spill",
        "turns",
        "turned",
        "twelve",
        "thirds",
        "halves",
        "points",
        "square",
        "sources",
        "ready",
        "floors",
        "leash",
        "leashed",
        "hush",
        "loops",
        "guard",
        "mouth",
        "ears",
        "talker",
        "story",
        "score",
        "track",
        "sung",
        "manner",
        "wishes",
        "wish",
        "deeds",
        "desk",
        "quiet",
        "hook",
        "shelf",
        "kinds",
        "abilities",
        "hearing",
        "local",
        "opening",
        "pump",
        "careful",
        "sight",
        "seeing",
        "strips",
        "told",
        "ahead",
        "cut",
        "forget",
        "grusodd",
        "hears",
        "knows",
        "says",
    ]
)
# What the public Python API or a protocol calls so itself.
PUBLIC_WORDS = {
    ("app/runtime/voice.py", "Ears"),
    ("app/runtime/voice.py", "Talker"),
    ("app/server/chat.py", "Choice"),
}

# Verbs that this code once used as names of values and functions. As part of any name they are refused, but for a test's.
OLD_VERBS = frozenset(["told", "tell", "tells", "telling", "says", "hears", "knows", "wishes"])
# Protocols and the public Python API.
PUBLIC_NAMES = {
    ("engine/weights/gguf/writer.py", "tell"),  # of a file
    ("tests/bench/random_gguf.py", "tell"),
}

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


def test_a_file_is_short_enough_to_hold_one_idea() -> None:
    lines = {name_of(path): len(path.read_text(encoding="utf-8").splitlines()) for path in (*SOURCES, *KERNELS)}
    assert {name: count for name, count in lines.items() if count > LONGEST} == {}


def test_no_test_asserts_all_of_what_may_be_nothing() -> None:
    """`all` of an empty list is true: `every` of tests/asserting.py is not. Without `assert` both test nothing."""
    refused = {ast.Assert: ("all",), ast.Expr: ("all", "every")}
    vacuous = [
        f"{name_of(path)}:{node.lineno}"
        for path in sorted((ROOT / "tests").rglob("*.py"))
        for text in [path.read_text(encoding="utf-8")]
        if re.search(r"^\s*(assert )?(all|every)\(", text, re.MULTILINE)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Assert | ast.Expr)
        for call in [node.test if isinstance(node, ast.Assert) else node.value]
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in refused[type(node)]
    ]
    assert vacuous == []


def test_a_module_says_what_it_knows() -> None:
    texts = {name_of(path): path.read_text(encoding="utf-8") for path in SOURCES}
    assert [name for name, text in texts.items() if text and not re.match(r'r?"""\S', text)] == []


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
    """Window, server, command line and Python interface are clients of one model service, whose engine has replicas in other
    processes."""
    made = []
    for path in SOURCES:
        if name_of(path).startswith("app/runtime/") or name_of(path) == "engine/parallel/replica.py":
            continue
        text = path.read_text(encoding="utf-8")
        nodes = list(ast.walk(ast.parse(text))) if "Engine" in text else []
        imported = [alias for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names]
        names = {"Engine", *(alias.asname for alias in imported if alias.name == "Engine" and alias.asname)}
        calls = (node for node in nodes if isinstance(node, ast.Call))
        made += [f"{name_of(path)}:{call.lineno}" for call in calls if ast.unparse(call.func).split(".")[-1] in names]
    assert made == []


def test_no_python_function_hears_qts_messages() -> None:
    """Qt calls it wherever it has something to say, also while a library is being loaded. It then waits for the interpreter
    with the loader's lock in hand, which a thread that holds the interpreter may be waiting for: the window stands still."""
    assert [name_of(path) for path in SOURCES if "qInstallMessageHandler" in path.read_text(encoding="utf-8")] == []


def _classes(path: Path) -> list[str]:
    return re.findall(r"^\s*class (\w+)[(:\[]", path.read_text(encoding="utf-8"), re.MULTILINE)


def _names(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Variables, attributes, arguments and functions, with their lines."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name):
                yield name, node.lineno
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) if not name.startswith("test_"):
                yield name, node.lineno


def test_names_are_no_verbs_of_speech() -> None:
    """A name is what a value is: `headers`, not `told`; and what a function does: `send`, not `tell`."""
    files = [*SOURCES, *(file for folder in ("tests", "packaging") for file in sorted((ROOT / folder).rglob("*.py")))]
    found = [
        f"{name_of(path)}:{line}: {name}"
        for path in files
        for text in [path.read_text(encoding="utf-8")]
        if any(verb in text.lower() for verb in OLD_VERBS)
        for name, line in _names(ast.parse(text))
        if OLD_VERBS & set(name.lower().split("_")) and (name_of(path), name) not in PUBLIC_NAMES
    ]
    assert found == []


def test_a_public_class_name_is_defined_once() -> None:
    where: dict[str, list[str]] = {}
    for path in SOURCES:
        for name in _classes(path):
            if not name.startswith("_"):
                where.setdefault(name, []).append(name_of(path))
    assert {name: paths for name, paths in where.items() if len(paths) > 1} == {}


def test_no_class_and_no_module_has_a_word_that_the_field_does_not_know() -> None:
    modules = {(name_of(path), path.stem) for path in (*SOURCES, *KERNELS) if path.stem.lower() in OLD_WORDS}
    classes = {(name_of(path), name) for path in SOURCES for name in _classes(path) if name.lower() in OLD_WORDS}
    assert sorted((modules | classes) - PUBLIC_WORDS) == []


def _imports(path: Path, modules: Collection[str]) -> set[str]:
    """The project's modules that a file names in an import, inside of functions and for types too."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            whole = {f"{node.module}.{alias.name}" for alias in node.names}
            found.update(whole & set(modules) or {node.module})
    return found & set(modules)


def test_no_file_imports_itself_through_others() -> None:
    modules = {module_of(path): path for path in SOURCES}
    left = {name: _imports(path, modules) for name, path in modules.items()}
    before = len(left) + 1
    while len(left) < before:  # without those that import none of the rest, and those that none of the rest imports
        before = len(left)
        left = {name: needs for name in left if (needs := left[name] & left.keys())}
        imported = set().union(*left.values())
        left = {name: needs for name, needs in left.items() if name in imported}
    assert left == {}
