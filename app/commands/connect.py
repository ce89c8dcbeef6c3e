"""`grus connect PROGRAM`: writes a program's settings for this server, and takes them back."""

from __future__ import annotations

import argparse
import os
from typing import Any

from engine.errors import BadRequest

NAMES = ("claude", "codex", "opencode", "aider", "continue", "zed")

DESCRIPTION = """\
Writes the settings of Claude Code, Codex, opencode, aider, Continue or Zed, so that it uses a model of this machine.

  grus connect claude                     the server that runs, and its model
  grus connect codex --model Qwen/Qwen3-8B
  grus connect opencode --dry-run         only shows what would change
  grus connect claude --undo              takes back exactly what was written
  grus connect                            which programs are here, and which are connected

The file as it was is kept beside it, with .before-grus behind its name; comments and other settings stay as they are. The address
and key are those of the window's Server pane, else http://127.0.0.1:8080 without a key; --url and the variable GRUS_API_KEY come
before them. To use a program once without any change of its settings: grus launch claude"""


def add_to(commands: Any) -> None:
    command = commands.add_parser(
        "connect",
        help="let Claude Code, Codex, opencode, aider, Continue or Zed use this server",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("program", nargs="?", choices=NAMES, metavar="PROGRAM", help=", ".join(NAMES))
    add_server(command)
    command.add_argument("--undo", action="store_true", help="take back what was written")
    command.add_argument("--dry-run", action="store_true", help="show what would change, and change nothing")
    command.set_defaults(command=connect)


def add_server(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--model", metavar="MODEL", default="", help="the model to use (default: the server's first that is loaded)"
    )
    command.add_argument("--url", metavar="URL", default="", help="the server's address (default: this machine's)")


def wanted(options: argparse.Namespace) -> Any:
    """What the person asked for, completed by the window's settings where no address was given."""
    from app.agents.serving import WantedServer, window_server
    from app.gui.preferences import Preferences, default_folders

    address, key = options.url, os.environ.get("GRUS_API_KEY", "").split(",")[0].strip()
    if not address:
        address, kept = window_server(Preferences(default_folders().preferences).all())
        key = key or kept
    return WantedServer(address, options.model, key)


def connect(options: argparse.Namespace) -> int:
    from app.agents.connecting import Connections
    from app.agents.programs import AGENTS, AgentServer, agent_program
    from app.agents.serving import NoServer, find_server
    from app.gui.preferences import default_folders

    connections = Connections(default_folders().settings)
    if options.program is None:
        for one in AGENTS:
            state = "connected" if connections.connected(one) else "here" if one.installed() else "not installed"
            print(f"{one.name:<9} {one.title:<12} {state}")
        return 0
    program = agent_program(options.program)
    if options.undo:
        change = connections.disconnect(program, dry=options.dry_run)
        return _print_change(change, options.dry_run, f"{program.title} is as it was before.")
    program.check_installed()
    asked = wanted(options)
    try:
        server = find_server(asked)
    except NoServer as error:
        if not asked.model:
            raise BadRequest(
                f"{error} Start it (grus serve --model MODEL), or name the model: grus connect {program.name} --model MODEL",
                "model",
            ) from None
        server = AgentServer(asked.address, asked.model, *([asked.key] if asked.key else []))
    change = connections.connect(program, server, dry=options.dry_run)
    code = _print_change(
        change, options.dry_run, f"{program.title} uses {server.model} at {server.address}.", server.key
    )
    if program.name == "zed" and server.key != "none" and not options.dry_run:
        print("Zed keeps keys in the system's keyring: type the key there, or start Zed with GRUS_API_KEY set.")
    return code


def _print_change(change: Any, dry: bool, done: str, key: str = "") -> int:
    if change.nothing:
        print(f"{change.file} needs no change." if not change.left else f"{change.file} stays as it is.")
    elif dry:
        print(change.diff(key))
    else:
        print(f"{done}\n  {'written' if change.after is not None else 'removed'}  {change.file}")
        if change.backup is not None:
            print(f"  kept     {change.backup}")
    for value in change.left:
        print(f"  left     {value}, which was changed since")
    return 0
