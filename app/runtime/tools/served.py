"""What Grus offers to other programs' agents as an MCP server: reading documents, searching them, transcribing and speaking.

Only folders that were named are read and written. Each call runs in a thread of its own, and models are loaded when they are first needed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from app.runtime.library.folders import index_place
from app.runtime.tools.builtin import allowed_path, library_search, resolved
from app.runtime.tools.tool import part_of
from engine.errors import GrusError

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

T = TypeVar("T")
_models = threading.Lock()  # one call at a time loads and uses them


@dataclass(frozen=True)
class ServedTools:
    """`listen`: the model that transcribes; None: that is not offered. `voice`: the model that speaks. `options`: of loading."""

    folders: Sequence[str] = ()
    read: str | None = None
    listen: str | None = None
    voice: str | None = None
    options: dict[str, Any] = field(default_factory=dict)


def mcp_server(served: ServedTools, version: str) -> MCPServer[Any]:
    from mcp.server.mcpserver import MCPServer

    roots = resolved(served.folders)
    server: MCPServer[Any] = MCPServer(
        "grus", title="Grus", version=version, log_level="ERROR", instructions=_instructions(roots)
    )

    async def read_document(path: str, start: int = 0) -> str:
        """Reads a document on the person's own machine: PDF, scan, photograph, Word, PowerPoint, Excel, OpenDocument, EPUB, HTML,
        e-mail, text. The result is Markdown. A long one comes in parts: start is the character to begin at. The path of a folder gives
        the names in it."""
        return await _in_thread(partial(_read, served, path, start, roots))

    async def search_documents(question: str, passages: int = 5) -> str:
        """Searches the person's documents, which were indexed before, and gives the passages that fit best, each with its file and page."""
        return await _in_thread(partial(library_search(_indexed(roots)), question, passages))

    async def transcribe(path: str, language: str = "") -> str:
        """Writes down what is said in a recording or a video. language is a code such as en; left empty, it is found out."""
        return await _in_thread(partial(_transcribed, served, path, language, roots))

    async def speak(text: str, file: str) -> str:
        """Speaks a text into a new sound file, such as speech.wav, in one of the folders. The result is its path."""
        return await _in_thread(partial(_spoken, served, text, file, roots))

    reads = {"readOnlyHint": True, "openWorldHint": False}
    offered: list[tuple[Callable[..., Any], dict[str, bool]]] = []
    if roots:
        offered += [
            (read_document, reads),
            (speak, {"readOnlyHint": False, "destructiveHint": False, "openWorldHint": False}),
        ]
    if roots and served.listen is not None:
        offered.append((transcribe, reads))
    if _indexed(roots):
        offered.append((search_documents, reads))
    for function, hints in offered:
        from mcp_types import ToolAnnotations

        server.add_tool(function, annotations=ToolAnnotations.model_validate(hints), structured_output=False)
    return server


def _instructions(roots: Sequence[Path]) -> str:
    folders = ", ".join(map(str, roots)) or "none"
    return f"Everything runs on the person's own machine. The folders that may be read and written: {folders}."


def _indexed(roots: Sequence[Path]) -> list[str]:
    return [str(root) for root in roots if index_place(root).exists()]


async def _in_thread(work: Callable[[], T]) -> T:
    """What is wrong is said in our words; the package hides the words of errors that it does not know."""
    import anyio.to_thread
    from mcp.server.mcpserver.exceptions import ToolError

    def alone() -> T:
        with _models:
            return work()

    try:
        return await anyio.to_thread.run_sync(alone, abandon_on_cancel=True)
    except (GrusError, ValueError) as error:
        raise ToolError(str(error)) from None
    except OSError as error:
        raise ToolError(f"The file cannot be used: {error.strerror or error}.") from None


def _read(served: ServedTools, path: str, start: int, roots: Sequence[Path]) -> str:
    from app.runtime.reading import read
    from app.runtime.tools.builtin import file_reader

    found = allowed_path(path or str(roots[0]), roots)
    if found.is_dir() or not path.strip():
        return file_reader([str(root) for root in roots])(path)
    result = read(found, model=served.read, options=served.options, text_layer=True)
    if result.error is not None:
        raise ValueError(f"{path}: {result.error}")
    return part_of(result.markdown, start)


def _transcribed(served: ServedTools, path: str, language: str, roots: Sequence[Path]) -> str:
    import grus

    assert served.listen is not None
    transcript = grus.listen(
        allowed_path(path, roots), model=served.listen, options=served.options, language=language or None
    )
    return part_of(transcript.text, 0)


def _spoken(served: ServedTools, text: str, file: str, roots: Sequence[Path]) -> str:
    """Never over a file that is there."""
    import grus

    out = allowed_path(file, roots)
    if out.suffix.lower() not in (".wav", ".flac", ".mp3", ".ogg"):
        raise ValueError("The file's name ends in .wav, .flac, .mp3 or .ogg.")
    if out.exists():
        raise ValueError(f"{file} is there already. Choose another name.")
    model = {} if served.voice is None else {"model": served.voice}
    grus.speak(text, out, options=served.options, **model)
    return str(out)
