"""The command line: which command, with which options. Each command has a file of its own in `app/commands`.

Exit codes: 0 all went well; 2 something given was wrong (one sentence says what); 1 a fault while running; 130 stopped
by Ctrl-C.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from app.bundled import NOT_INSTALLED, grus_version
from engine.errors import BadRequest, GrusError

EPILOG = """\
MODEL is a folder with a checkpoint, a GGUF file, or a repository id such as Qwen/Qwen3-0.6B, which is downloaded once.
Where it is left out, the Guide answers: a tiny model that comes with Grus and knows only Grus.
Everything runs on this machine and nothing is sent anywhere, unless you choose a model of a server that `grus remote` added."""


_NAMED_ALIKE = (
    "run", "chat", "read", "index", "ask", "speak", "listen", "talk", "embed", "rerank", "info", "bench", "convert", "serve",
    "connect", "launch", "remote", "tools", "mcp", "memory", "token",
    "doctor", "service", "update", "cuda",
)  # fmt: skip
COMMANDS = (
    {"app": "window"} | {name: name for name in _NAMED_ALIKE} | {"import": "import_conversations"}
)  # by name, the modules of app.commands


def parser(command: str | None = None) -> argparse.ArgumentParser:
    """All commands and their options; or of `command` alone, so that the modules of the others are not imported; or of none with
    `--version`."""
    top = _Parser(
        prog="grus",
        description="Private AI on your own machine.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action=_Version, nargs=0, help="show program's version number and exit")
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True, parser_class=_Command)
    if command == "--version":
        return top
    for module in [COMMANDS[command]] if command in COMMANDS else COMMANDS.values():
        import_module(f"app.commands.{module}").add_to(commands)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    try:
        words = with_files(sys.argv[1:] if arguments is None else arguments)
        options = parser(words[0] if words else None).parse_args(words)
        return int(options.command(options) or 0)
    except GrusError as error:
        print(f"grus: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print(file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader went away (`grus run ... | head`). Python would complain again when it flushes at exit.
        sys.stdout = None  # type: ignore[assignment]
        return 0


def with_files(arguments: Sequence[str]) -> list[str]:
    """`grus FILE ...` means `grus app FILE ...`; no command's name ends as a file's does. So does `grus` alone where there is
    a screen: a double click gives no arguments."""
    if not arguments:
        from app.screen import has_screen

        return ["app"] if has_screen() else []
    first = arguments[0]
    if first.startswith("-") or not Path(first).suffix:
        return list(arguments)
    if not Path(first).is_file():
        raise BadRequest(f"There is no file {first}.", "files")
    return ["app", *arguments]


class _Parser(argparse.ArgumentParser):
    """What cannot be is one sentence; `--help` has the rest."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"grus: {message}. `{self.prog} --help` lists what there is.\n")


class _Command(_Parser):
    """Options may stand between the words of a command, even where one of the words may be left out."""

    _mixing = False

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        if self._mixing:  # the call that parse_known_intermixed_args makes itself
            return super().parse_known_args(args, namespace)
        self._mixing = True
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self._mixing = False


class _Version(argparse.Action):
    """Found when it is asked for: it takes a thirtieth of the time until the window is there."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        found = grus_version()
        print(f"grus {'(not installed)' if found == NOT_INSTALLED else found}")
        parser.exit()


if __name__ == "__main__":
    sys.exit(main())
