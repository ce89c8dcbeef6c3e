"""`grus service`: the server as a service that starts at login."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from app.service import Service
from engine.errors import BadRequest

DESCRIPTION = """\
Keeps `grus serve` running in the background: now, and from every login on. No administrator is asked.

  grus service install                          serves the two tiny models on 127.0.0.1:8080
  grus service install --config server.toml     with the options of this file
  grus service install --model Qwen/Qwen3-0.6B --port 9000
  grus service status
  grus service remove

It is a systemd user unit on Linux, a launchd agent on macOS, and a task on Windows. On Linux a service of a person ends
when they log out, unless `loginctl enable-linger` was said once."""


def add_to(commands: Any) -> None:
    command = commands.add_parser(
        "service",
        help="keep the server running in the background",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("action", choices=("install", "remove", "status"), help="what to do")
    command.add_argument("--config", type=Path, metavar="FILE", help="a TOML file with options of `grus serve`")
    command.add_argument(
        "--model", action="append", default=[], metavar="MODEL", help="a model to serve; may be repeated"
    )
    command.add_argument("--port", type=int, metavar="N", help="the port to listen on (default: 8080)")
    command.set_defaults(command=service)


def service(options: argparse.Namespace) -> int:
    here = Service()
    if options.action == "install":
        here.install(_checked(options))
        print(
            "Grus serves now, and after every login. `grus service status` tells how it is, `grus service remove` ends it."
        )
        return 0
    if options.action == "remove":
        print("The service is removed." if here.remove() else "No service is installed.")
        return 0
    found = here.status()
    state = "runs" if found.running else "does not run"
    print(f"The service {state}: {found.file}" if found.installed else "No service is installed.")
    return 0 if found.running else 1


def _checked(options: argparse.Namespace) -> list[str]:
    """The options of `grus serve`, which would refuse wrong ones where nobody reads it."""
    from app.server.config import gather, server_settings

    file = options.config.expanduser().resolve() if options.config else None
    if file is not None and not file.is_file():
        raise BadRequest(f"There is no file {options.config}.", "config")
    server_settings(gather({"model": options.model or None, "port": options.port}, os.environ, file))
    words = ["--config", str(file)] if file else []
    for model in options.model:
        name, equals, source = model.rpartition("=")
        place = Path(source).expanduser()
        words += ["--model", f"{name}{equals}{place.resolve() if place.exists() else source}"]
    return words + (["--port", str(options.port)] if options.port is not None else [])
