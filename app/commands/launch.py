"""`grus launch PROGRAM`: starts a program with a model of this machine, and leaves its settings alone."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from engine.errors import BadRequest

NAMES = ("claude", "codex", "opencode", "aider", "continue")

DESCRIPTION = """\
Starts Claude Code, Codex, opencode, aider or Continue with a model of this machine, through its environment alone: its settings
stay as they are. Where no server runs, one is started for the program, and ends with it.

  grus launch claude                                    with the server that runs, and its model
  grus launch codex --model Qwen/Qwen3-8B
  grus launch claude --model ./my-model -- -p "Say hello"   what follows -- goes to the program"""


def add_to(commands: Any) -> None:
    from app.commands.connect import add_server

    command = commands.add_parser(
        "launch",
        help="start Claude Code, Codex, opencode, aider or Continue with a model of this machine",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("program", choices=(*NAMES, "zed"), metavar="PROGRAM", help=", ".join(NAMES))
    command.add_argument("arguments", nargs="*", metavar="-- ARGUMENTS", help="for the program")
    add_server(command)
    command.set_defaults(command=launch)


def launch(options: argparse.Namespace) -> int:
    from app.agents.programs import agent_program
    from app.agents.serving import NoServer, find_server, run_program, started_server
    from app.commands.connect import wanted

    program = agent_program(options.program)
    if program.start is None:
        raise BadRequest(
            f"{program.title} takes nothing from its environment. Connect it instead: grus connect {program.name}",
            "program",
        )
    program.check_installed(command=True)
    asked = wanted(options)
    try:
        return run_program(program, find_server(asked), options.arguments)
    except NoServer as error:
        if options.url:
            raise
        if not options.model:
            raise BadRequest(
                f"{error} Say which model to start: grus launch {program.name} --model Qwen/Qwen3-8B", "model"
            ) from None
    print(f"Starting a server for {options.model}; it ends with {program.title}.", file=sys.stderr)
    with started_server(options.model) as server:
        return run_program(program, server, options.arguments)
