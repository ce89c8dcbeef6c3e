"""Built-in tools, off until a person adds them: a calculator, the date, files of folders that they allowed, their libraries,
Python in a sandbox, and the web (`web.py`)."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from app.runtime.tools.sandbox import SandboxTool, missing_sandbox
from app.runtime.tools.tool import PythonTool, Tool, part_of
from engine.errors import BadRequest

WITH_FOLDERS = ("read_file", "search_documents")
WEB_SEARCH = "web_search"  # takes the address of a search
BUILTIN_TOOLS = ("calculator", "date", *WITH_FOLDERS, "python", WEB_SEARCH, "read_web_page")
_MOST_BITS = 100_000  # of a whole number
_LONGEST = 1000  # characters of an expression
_LARGEST = 64 << 20  # bytes of a file
_MOST_NAMES = 500  # of a folder
_MOST_PASSAGES = 20


def missing(name: str) -> str:
    """Why a built-in tool cannot be used on this machine, in one sentence; empty where it can."""
    return missing_sandbox() if name == "python" else ""


def builtin_tool(name: str, folders: Sequence[str] = ()) -> Tool:
    """`folders`: those that it may read; of a search its address."""
    if name not in BUILTIN_TOOLS:
        raise BadRequest(f"There is no built-in tool {name[:60]!r}. There are: {', '.join(BUILTIN_TOOLS)}.", "name")
    if name == "python":
        return SandboxTool()
    if name in (WEB_SEARCH, "read_web_page"):
        from app.runtime.tools.web import ReadWebPageTool, WebSearchTool

        return WebSearchTool(next(iter(folders), "")) if name == WEB_SEARCH else ReadWebPageTool()
    made: dict[str, Callable[[], Callable[..., Any]]] = {
        "calculator": lambda: calculator,
        "date": lambda: date,
        "read_file": lambda: file_reader(folders),
        "search_documents": lambda: library_search(folders),
    }
    return PythonTool(made[name](), builtin=True)


# -- the calculator

_OPERATORS: dict[type, Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow, ast.USub: operator.neg, ast.UAdd: operator.pos,
}  # fmt: skip
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    name: getattr(math, name)
    for name in ("acos", "asin", "atan", "atan2", "ceil", "cos", "degrees", "exp", "floor", "gcd", "hypot", "log", "log10", "log2",
                 "radians", "sin", "sqrt", "tan", "trunc")
} | {"abs": abs, "max": max, "min": min, "round": round}  # fmt: skip
_CONSTANTS = {"pi": math.pi, "e": math.e, "tau": math.tau}


def calculator(expression: str) -> str:
    """Computes an expression such as (3 + 4) * 2 ** 10 / sqrt(2). It knows + - * / // % **, numbers, pi, e, and functions such as sqrt, log, sin, round."""
    if len(expression) > _LONGEST:
        raise ValueError(f"an expression has at most {_LONGEST} characters")
    try:
        value = _value(ast.parse(expression.strip(), mode="eval").body)
    except SyntaxError:
        raise ValueError("this is no expression") from None
    except (OverflowError, RecursionError):
        raise ValueError("the number is too large") from None
    return str(value)


def _value(node: ast.AST) -> Any:
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return node.value
    if isinstance(node, ast.UnaryOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)](_value(node.operand))
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        left, right = _value(node.left), _value(node.right)
        _check_size(node.op, left, right)
        return _OPERATORS[type(node.op)](left, right)
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in _FUNCTIONS
        and not node.keywords
    ):
        return _FUNCTIONS[node.func.id](*map(_value, node.args))
    if isinstance(node, ast.Name) and node.id in _CONSTANTS:
        return _CONSTANTS[node.id]
    raise ValueError("only numbers, + - * / // % **, pi, e and functions such as sqrt are computed")


def _check_size(kind: ast.operator, left: Any, right: Any) -> None:
    """Whole numbers have no limit in Python: 9 ** 9 ** 9 would take all memory."""
    if not isinstance(left, int) or not isinstance(right, int):
        return
    bits = left.bit_length() * max(right, 1) if isinstance(kind, ast.Pow) else left.bit_length() + right.bit_length()
    if isinstance(kind, ast.Pow | ast.Mult) and bits > _MOST_BITS:
        raise ValueError("the number is too large")


# -- the date


def date() -> str:
    """The date, the day of the week and the time of now, in this machine's time zone."""
    now = datetime.now().astimezone()
    return f"{now:%A}, {now.isoformat(timespec='seconds')} ({now.tzname()})"


# -- files


def file_reader(folders: Sequence[str]) -> Callable[..., str]:
    """Reads nothing outside these folders, wherever a path or a link leads."""
    roots = resolved(folders)

    def read_file(path: str, start: int = 0) -> str:
        """Reads a file of the folders that the person allowed: texts, Office documents, books, mail, and PDFs that hold text. A folder's path gives the names in it; an empty path names the folders. start: the character to begin at, for a long file."""
        if not path.strip():
            return "\n".join(map(str, roots))
        found = allowed_path(path, roots)
        if found.is_dir():
            names = sorted(f"{one.name}/" if one.is_dir() else one.name for one in found.iterdir())
            return "\n".join(names[:_MOST_NAMES]) or "The folder is empty."
        if not found.is_file():
            raise ValueError(f"there is no file {path}")
        return part_of(file_text(found), start)

    return read_file


def resolved(folders: Sequence[str]) -> list[Path]:
    return [Path(folder).expanduser().resolve() for folder in folders]


def allowed_path(path: str, roots: Sequence[Path]) -> Path:
    """What a path or a link leads to. Raises ValueError where that lies outside the folders."""
    given = Path(path).expanduser()
    found = next((one for root in roots if (one := (root / given).resolve()).is_relative_to(root)), None)
    if found is None:
        raise ValueError(f"{path} is not within the folders that were allowed: {', '.join(map(str, roots))}")
    return found


def file_text(path: Path) -> str:
    """Of a document that carries its text, or a file of text. Raises ValueError."""
    from engine.media.documents import pdf_page_texts
    from engine.pipelines.reading.formats.documents import open_text_document
    from engine.pipelines.reading.formats.plain import decoded
    from engine.pipelines.reading.writers import ExportOptions, page_text

    if path.stat().st_size > _LARGEST:
        raise ValueError(f"{path.name} is larger than is read here")
    document = open_text_document(path)
    if document is not None:
        return page_text(document.pages, "md", ExportOptions())
    data = path.read_bytes()
    if b"%PDF-" in data[:1024]:
        return "\n\n".join(text for page in pdf_page_texts(data) if (text := page.strip()))
    if b"\0" in data[:4096]:
        raise ValueError(f"{path.name} is no text")
    return decoded(data)


# -- libraries


def library_search(folders: Sequence[str]) -> Callable[..., str]:
    def search_documents(question: str, passages: int = 5) -> str:
        """Searches the person's documents, which were indexed before, and gives the passages that fit best, each with its file and page."""
        from app.runtime.library.folders import FolderLibrary

        found = []
        for folder in folders:
            with FolderLibrary(Path(folder), must_exist=True) as library:
                found += [
                    (one.score, folder, one) for one in library.find(question, min(max(passages, 1), _MOST_PASSAGES))
                ]
        found.sort(key=lambda one: -one[0])
        shown = [
            f"[{at}] {folder}: {one.where}\n{one.text}"
            for at, (_, folder, one) in enumerate(found[: max(passages, 1)], 1)
        ]
        return "\n\n".join(shown) or "Nothing was found."

    return search_documents
