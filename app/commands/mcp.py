"""`grus mcp DIR...`: Grus as an MCP server for other programs' agents, over standard input and output."""

from __future__ import annotations

import argparse
import logging
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

from app.bundled import grus_version
from app.commands.options import add_where, where_options
from engine.errors import BadRequest

DESCRIPTION = """\
Offers what Grus can do to another program's agent (Claude Desktop, Cursor, LM Studio, Claude Code), which starts this command and
talks to it over standard input and output: read a document, speak, transcribe, search documents. Only the folders that are named
are read and written.

  {"mcpServers": {"grus": {"command": "grus", "args": ["mcp", "/home/me/Papers", "--listen", "openai/whisper-base"]}}}

Documents are searched where `grus index DIR` has read the folder, and recordings are transcribed where --listen names a model.
Without --voice the system's own voice speaks, without --read the small reader that comes with Grus reads scans."""


def add_to(commands: Any) -> None:
    command = commands.add_parser(
        "mcp",
        help="offer reading, speaking and search to other programs' agents",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("folders", metavar="DIR", nargs="+", type=Path, help="a folder that may be read and written")
    command.add_argument(
        "--read", dest="model", metavar="M", help="a vision model that reads scans (default: the small reader)"
    )
    command.add_argument("--listen", metavar="M", help="a model that transcribes, such as openai/whisper-base")
    command.add_argument("--voice", metavar="M", help="a model that speaks (default: the system's own voice)")
    add_where(command)
    command.set_defaults(command=mcp)


def mcp(options: argparse.Namespace) -> int:
    missing = [folder for folder in options.folders if not folder.expanduser().is_dir()]
    if missing:
        raise BadRequest(f"There is no folder {missing[0]}.", "folder")
    from app.runtime.tools.served import ServedTools, mcp_server

    where = where_options(options, "a model")
    given = {field.name: getattr(where, field.name) for field in fields(where)}
    folders = [str(folder) for folder in options.folders]
    if sys.stdin.isatty():
        print("This command is for another program, which talks to it. `grus mcp --help` says how.", file=sys.stderr)
    logging.basicConfig(stream=sys.stderr, level=logging.ERROR)  # standard output is the protocol's
    mcp_server(ServedTools(folders, options.model, options.listen, options.voice, given), grus_version()).run("stdio")
    return 0
