"""`grus import FILE`: conversations of ChatGPT, Claude, LM Studio, Jan or Open WebUI into the window's list."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

DESCRIPTION = """\
Adds the conversations of another application to those of the window, with their branches and pictures. What is imported a second
time is not there twice. Conversations that are malformed are named and left out.

  grus import chatgpt-export.zip              as ChatGPT or Claude send it
  grus import chat-export-1712345678.json     Open WebUI: Settings, Chats, Export
  grus import ~/.lmstudio/conversations       LM Studio's folder, a ZIP file of it, or one conversation
  grus import ~/jan                           Jan's data folder, or a ZIP file of it

Nothing is unpacked outside of Grus's own folder, and the file stays as it is. A window that is open shows them after a restart; in
the window, Import (Ctrl+O in Chat) takes the same files."""


def add_to(commands: Any) -> None:
    command = commands.add_parser(
        "import",
        help="conversations of ChatGPT, Claude, LM Studio, Jan or Open WebUI",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("file", type=Path, metavar="FILE", help="the export: a ZIP file, a JSON file or a folder")
    command.add_argument(
        "--folder", type=Path, metavar="DIR", help="where Grus keeps its files, as in grus app --folder"
    )
    command.add_argument("--json", action="store_true", help="print a JSON object")
    command.set_defaults(command=import_conversations)


def import_conversations(options: argparse.Namespace) -> int:
    from app.gui.store.command import opened_store
    from app.gui.viewmodels.importing import import_export

    shows = sys.stderr.isatty()

    def progress(done: int, total: int) -> None:
        if shows:
            print(f"\r{done} of {total}", end="" if done < total else "\n", file=sys.stderr, flush=True)

    with opened_store(options.folder) as (store, places):
        outcome = import_export(options.file.expanduser(), store, places.attachments, progress)
    if options.json:
        report = {"application": outcome.application, "added": len(outcome.added), "there": outcome.there}
        print(json.dumps({**report, "unreadable": outcome.unreadable}, ensure_ascii=False))
        return 0
    print(f"{outcome.application or 'Import'}: {_count(len(outcome.added))} added, {outcome.there} imported before.")
    for title in outcome.unreadable:
        print(f"Left out, because it is malformed: {title}", file=sys.stderr)
    return 0


def _count(conversations: int) -> str:
    return "1 conversation" if conversations == 1 else f"{conversations} conversations"
