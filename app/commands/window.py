"""`grus app`: the window. `grus FILE` opens the file in it. Without a screen, the server instead."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from app.main import Start, start
from app.screen import has_screen, why_no_window
from engine.errors import BadRequest

DESCRIPTION = """\
Opens the window: chat, read documents, speak and listen.

  grus app
  grus app --model Qwen/Qwen3-0.6B
  grus report.pdf                     opens the file in Read
  grus app --dictate                  begins dictation in the Grus that is open, or ends it

A second start raises the window that is open and hands its files over. On a machine without a screen, models are
served to programs instead."""


def add_to(commands: Any) -> None:
    command = commands.add_parser(
        "app",
        help="open the window",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("files", nargs="*", type=Path, metavar="FILE", help="files to open in Read")
    command.add_argument(
        "--model",
        action="append",
        default=[],
        metavar="MODEL",
        help="a checkpoint's folder, a GGUF file or a repository id to offer in the window",
    )
    command.add_argument(
        "--offline", action="store_true", help="never use the network: no search, no downloads, no images from URLs"
    )
    command.add_argument("--folder", type=Path, metavar="DIR", help="keep conversations and settings in this folder")
    command.add_argument(
        "--dictate",
        action="store_true",
        help="begin dictation into the app in front, or end it: for a shortcut of the desktop's; Grus must be open",
    )
    command.set_defaults(command=window)


def window(options: argparse.Namespace) -> int:
    for file in options.files:
        if not file.expanduser().exists():
            raise BadRequest(f"There is no file {file}.", "files")
    if not has_screen():
        return _serve_instead(options, "There is no screen here, so the window cannot open.")
    problem = why_no_window()
    if problem:
        return _serve_instead(options, problem)
    files = [file.expanduser().resolve() for file in options.files]
    return start(Start(files, _named(options.model), options.folder, options.offline, options.dictate))


def _named(models: list[str]) -> dict[str, str]:
    if not models:
        return {}
    from app.server.config import default_name  # with the engine behind it: twice the time until a person can type

    return {default_name(source): source for source in models}


def _serve_instead(options: argparse.Namespace, why: str) -> int:
    """The local server, with a line to try."""
    from app.commands.serve import serve_models

    print(f"grus: {why} Serving models to programs on this machine instead.", file=sys.stderr)
    return serve_models(options.model, options.offline)
