"""`grus update`: looks for a newer release, shows what changed, and downloads it."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import resources

DESCRIPTION = """\
Looks for a newer release, shows what changed, downloads the file of this system, and says how to install it. Grus looks only
when it is asked to. What is downloaded is used only if its signature is right.

  grus update
  grus update --check       looks, and downloads nothing"""


def add_to(commands: Any) -> None:
    command = commands.add_parser(
        "update",
        help="look for a newer release",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("--check", action="store_true", help="only look")
    command.add_argument(
        "--folder", type=Path, default=Path(), metavar="DIR", help="where the file goes (default: here)"
    )
    command.set_defaults(command=update)


def update(options: argparse.Namespace) -> int:
    from app.updates import UpdateSource, check, download, how_to_install, installed_kind
    from engine.hub.download import TerminalBar

    source = UpdateSource.installed()
    if source is None:
        if (resources.path().parent / "pyproject.toml").is_file():
            print("This Grus runs from source, and looks for nothing: `git pull` brings what is new.")
        else:
            print(
                "This Grus was built without a place to look for releases. Install the next one as you installed this one."
            )
        return 0
    found = check(source)
    if found is None:
        print("This is the newest release.")
        return 0
    print(f"Grus {found.version} is out.\n\n{found.notes}")
    if options.check:
        return 0
    kind = installed_kind()
    file = found.files.get(kind)
    place = None if file is None or kind == "python" else download(file, options.folder, TerminalBar(file.name))
    print(f"To install it: {how_to_install(kind, place)}")
    return 0
