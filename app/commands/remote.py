"""`grus remote`: servers elsewhere whose models are used like those of this machine. Keys are typed or piped in, never arguments."""

from __future__ import annotations

import argparse
import getpass
import json
import sys
from dataclasses import replace
from typing import Any

from engine.errors import BadRequest, GrusError

DESCRIPTION = """\
Adds servers that speak OpenAI's API: vLLM, SGLang, llama-server, LM Studio, Ollama, another Grus. Their models go by
NAME::MODEL wherever a model is named. What you send to one leaves this machine; nothing is sent to a server that was
not named.

  grus remote add cluster http://10.0.0.5:8000            asks for a key, without showing it; an empty line: none
  grus remote add cluster https://ai.example.org/v1 < key.txt
  grus remote add here http://127.0.0.1:8080 --no-key --model tiny    a model that the server does not list
  grus remote list
  grus remote test cluster                                asks for its models again
  grus remote remove cluster

  grus run cluster::Qwen/Qwen3-32B "Why is the sky blue?"
  grus serve --remote cluster                             passes requests on, over every protocol

A key is kept in the system's keyring, or where there is none, in a file that only you can read, and is sent to that address
alone. GRUS_REMOTE_KEY_NAME in the environment comes before it."""


def add_to(commands: Any) -> None:
    command = commands.add_parser(
        "remote",
        help="servers elsewhere, whose models are used like those of this machine",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument(
        "action",
        nargs="?",
        choices=("list", "add", "test", "remove"),
        default="list",
        help="what to do (default: list)",
    )
    command.add_argument("name", metavar="NAME", nargs="?", help="what the server is called here")
    command.add_argument("url", metavar="URL", nargs="?", help="its address, for add: http://10.0.0.5:8000")
    command.add_argument(
        "--model", action="append", default=[], metavar="MODEL",
        help="a model that the server has and does not list; may be repeated",
    )  # fmt: skip
    command.add_argument("--no-key", action="store_true", help="the server wants no key: do not ask for one")
    command.add_argument(
        "--silence", type=float, metavar="S", help="give a reply up after S seconds without a byte (default: 300)"
    )
    command.add_argument("--offline", action="store_true", help="add the server without asking it for its models")
    command.add_argument("--json", action="store_true", help="print a JSON object")
    command.set_defaults(command=remote)


def remote(options: argparse.Namespace) -> int:
    act = {"list": _list, "add": _add, "test": _test, "remove": _remove}[options.action]
    if options.action != "list" and not options.name:
        raise BadRequest(f"Say which server: grus remote {options.action} NAME", "name")
    if options.url and options.action != "add":
        raise BadRequest("An address goes with add: grus remote add NAME URL", "url")
    return act(options)


def _list(options: argparse.Namespace) -> int:
    from app.runtime.remote.servers import RemoteServers, has_key

    servers = RemoteServers().all() if not options.name else [RemoteServers().get(options.name)]
    if options.json:
        found = [
            {"name": one.name, "url": one.url, "program": one.program, "key": has_key(one),
             "models": [{"name": one.called(model.id), "abilities": model.abilities, "context": model.context} for model in one.models]}
            for one in servers
        ]  # fmt: skip
        print(json.dumps({"servers": found}, ensure_ascii=False))
        return 0
    if not servers:
        print("No server was added. grus remote add NAME URL adds one.")
    for one in servers:
        print(f"{one.name}  {one.url}{'' if has_key(one) else ', without a key'}")
        for model in one.models:
            size = f", {model.context:,} tokens" if model.context else ""
            print(f"  {one.called(model.id)}  {', '.join(model.abilities)}{size}")
    return 0


def _add(options: argparse.Namespace) -> int:
    from app.runtime.remote.client import RemoteClient
    from app.runtime.remote.servers import SILENCE, RemoteServer, check_name, check_url, keep_server, with_typed

    if not options.url:
        raise BadRequest("Say where the server is: grus remote add NAME URL", "url")
    silence = SILENCE if options.silence is None else options.silence
    if not 0 < silence <= 86400:
        raise BadRequest(f"--silence must be between 0 and 86400 seconds, not {silence:g}.", "silence")
    server = RemoteServer(check_name(options.name), check_url(options.url), silence=silence)
    key = "" if options.no_key else _typed()
    if not options.offline:
        probe = RemoteClient(server, key=key or None).probe()
        server = probe.server
        for warning in probe.warnings:
            print(warning, file=sys.stderr)
    server = with_typed(server, options.model)
    keep_server(server, key or None)
    print(f"{server.name} is added, with {_count(len(server.models))}. What you send to it leaves this machine.")
    for model in server.models:
        print(f"  {server.called(model.id)}")
    return 0


def _test(options: argparse.Namespace) -> int:
    from app.runtime.remote.client import RemoteClient
    from app.runtime.remote.servers import RemoteServers, keep_server, with_typed

    before = RemoteServers().get(options.name)
    try:
        if options.offline:
            from engine.errors import Offline

            raise Offline(f"{before.name} was not asked, because --offline was given.")
        probe = RemoteClient(before).probe()
    except GrusError as error:
        if options.json:
            print(json.dumps({"name": before.name, "ok": False, "error": {"code": error.code, "message": str(error)}}))
            return error.exit_code
        raise
    server = with_typed(
        probe.server, [*options.model, *(model.id for model in before.models if not probe.server.models)]
    )
    keep_server(server if options.silence is None else replace(server, silence=options.silence))
    if options.json:
        print(
            json.dumps(
                {"name": server.name, "ok": True, "seconds": round(probe.seconds, 4), "models": len(server.models)}
            )
        )
    else:
        print(f"{server.name} answers after {probe.seconds:.2f} s, with {_count(len(server.models))}.")
        for warning in probe.warnings:
            print(warning, file=sys.stderr)
    return 0


def _remove(options: argparse.Namespace) -> int:
    from app.runtime.remote.servers import forget_server

    forget_server(options.name)
    print(f"{options.name} is removed, with its key.")
    return 0


def _count(models: int) -> str:
    return "1 model" if models == 1 else f"{models} models"


def _typed() -> str:
    """The key; empty where the server wants none."""
    try:
        given = getpass.getpass("Key (not shown; empty: none): ") if sys.stdin.isatty() else sys.stdin.readline()
    except EOFError:
        given = ""
    return given.strip()
