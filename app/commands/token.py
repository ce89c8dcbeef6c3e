"""`grus token`: the Hugging Face token for gated and private models. It is typed or piped in, never an argument."""

from __future__ import annotations

import argparse
import getpass
import sys
from typing import Any

from engine.errors import BadRequest

DESCRIPTION = """\
Shows which Hugging Face token is used, keeps one, or removes it. Gated and private models need one: make it on
https://huggingface.co/settings/tokens, with the right to read.

  grus token                          which one is used
  grus token set                      asks for it, without showing it
  grus token set < token.txt
  grus token remove

It is kept in the system's keyring, or where there is none, in a file that only you can read. HF_TOKEN comes before it; a
token that `hf auth login` keeps is used when there is no other. It is sent to Hugging Face alone."""


def add_to(commands: Any) -> None:
    command = commands.add_parser(
        "token",
        help="the Hugging Face token for gated and private models",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument(
        "action", nargs="?", choices=("show", "set", "remove"), default="show", help="what to do (default: show)"
    )
    command.set_defaults(command=token)


def token(options: argparse.Namespace) -> int:
    from engine.hub import library
    from engine.hub.token import forget, keep, status

    address = library.endpoint()
    if options.action == "set":
        kept = keep(_typed(), address)
        print(sentence(kept))
        return 0
    if options.action == "remove":
        gone = forget(address)
        print("The token is removed." if gone else "Grus keeps no token.")
        return 0
    print(sentence(status(address)))
    return 0


def sentence(kept: Any) -> str:
    """Where the token is, never the token."""
    if kept.place == "environment":
        return f"{kept.where} is set, and comes before a token that Grus keeps."
    if kept.place == "keyring":
        if not kept.readable:
            return "A token is stored in the system keyring, but the keyring cannot be opened."
        return "A token is stored in the system keyring."
    if kept.place == "file":
        return f"A token is stored in {kept.where}, which only you can read. No system keyring is available."
    if kept.place == "hub":
        return f"The token of Hugging Face's own tools is used, from {kept.where}."
    return "There is no token. `grus token set` keeps one."


def _typed() -> str:
    try:
        given = getpass.getpass("Token (not shown): ") if sys.stdin.isatty() else sys.stdin.readline()
    except EOFError:
        given = ""
    if not given.strip():
        raise BadRequest("No token was given. Type it, or pipe it in: grus token set < token.txt", "token")
    return given
