"""`grus serve`: the server alone, until Ctrl-C."""

from __future__ import annotations

import argparse
import gc
import json
import os
import shlex
import signal
import sys
from pathlib import Path
from typing import Any

from app.client_lines import client_lines
from app.commands.options import check_profile
from app.runtime.catalogue import capabilities
from app.runtime.models import ModelService
from app.server.config import OPTIONS, ServerOption, ServerSettings, gather
from engine.errors import BadRequest
from engine.loaded import LoadedPart
from engine.loading import LoadedModel, gigabytes
from engine.starter import GUIDE, PAGE, READER

SWITCH_SECONDS = 0.002

DESCRIPTION = """\
Serves models to every program on this machine, in the words of OpenAI, Anthropic, Ollama and SGLang.

  grus serve
  grus serve --model Qwen/Qwen3-0.6B
  grus serve --model small=./my-model --model large=Qwen/Qwen3-8B --port 9000
  grus serve --host 0.0.0.0 --api-key-file keys.txt

Without --model the two tiny models are served that come with Grus: guide answers, reader reads pages. The first model is loaded
at once, others when they are first asked for. A request may also name any model that is whole in the cache. Every option can be given as a variable, GRUS_ and its name in capitals (GRUS_PORT=9000), or in a
TOML file (port = 9000); the command line wins over the environment, and that over the file.

  grus serve --model Qwen/Qwen3-8B --draft Qwen/Qwen3-0.6B        replies come sooner, and stay the same
  grus serve --models-dir ~/models --max-models 1 --idle-ttl 600  one at a time, and none when nobody asks
  grus serve --model ./mine --adapter sql=./sql-lora --adapter law=./law-lora   requests choose mine, mine:sql or mine:law
  grus serve --remote cluster                                     requests choose cluster::MODEL, which `grus remote add` has added
  grus serve --model ./mine --model-type qwen25                   its config.json names no or a wrong architecture"""


def add_to(commands: Any) -> None:
    command = commands.add_parser(
        "serve",
        help="serve models to other programs",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("--config", metavar="FILE", help="a TOML file with options (or GRUS_CONFIG)")
    groups: dict[str, Any] = {}
    for option in OPTIONS:
        if option.group not in groups:
            groups[option.group] = command.add_argument_group(option.group)
        _add(groups[option.group], option)
    command.set_defaults(command=serve)


def _add(group: Any, option: ServerOption) -> None:
    default = "" if option.default in (None, False) else f" (default: {option.default})"
    about: dict[str, Any] = {"help": option.help + default, "default": None, "dest": f"option_{option.name}"}
    if option.kind == "switch":
        group.add_argument(option.flag, action="store_true", **about)
        return
    if option.kind == "list":
        about["action"] = "append"
    read: Any = {"number": int, "seconds": float, "decimal": float}.get(option.kind, str)
    if option.choices:
        about["choices"] = tuple(read(choice) for choice in option.choices)
    else:
        about["metavar"] = option.metavar or {"number": "N", "seconds": "S"}.get(option.kind, option.name.upper())
    group.add_argument(option.flag, type=read, **about)


def serve(arguments: argparse.Namespace) -> int:
    given = {option.name: getattr(arguments, f"option_{option.name}") for option in OPTIONS}
    file = arguments.config or os.environ.get("GRUS_CONFIG")
    options = gather(given, os.environ, Path(file).expanduser() if file else None)
    return _serve(options)


def serve_models(models: list[str], offline: bool = False) -> int:
    """Serve with every option as the environment has it; without a model, what is in the cache is served."""
    options = gather({"model": models or None, "offline": offline or None}, os.environ, None)
    return _serve(options, anything=True)


def _serve(options: dict[str, Any], anything: bool = False) -> int:
    """Without garbage collections until all modules are there. These stay, and going through them 300 times took a fifth of the start."""
    gc.disable()
    try:
        return _serve_until_stopped(options, anything)
    finally:
        gc.enable()


def _serve_until_stopped(options: dict[str, Any], anything: bool) -> int:
    # imported here, so that other commands do not wait for a web server's imports
    import logging

    from app.commands.options import say_quantized
    from app.gui.preferences import default_folders
    from app.logfile import keep_log
    from app.server.app import create_app
    from app.server.config import make_service, server_settings
    from app.server.listening import Listener
    from engine.hub import offline
    from engine.loaded import LoadedEncoder
    from engine.loading import LoadedModel, LoadOptions, pick_backend

    if options["offline"]:
        offline.forbid("this server was started with --offline")
    settings = server_settings(options)
    check_profile(Path(options["profile"]).expanduser() if options["profile"] else None)
    logging.basicConfig(stream=sys.stderr, format="%(asctime)s %(message)s", level=logging.WARNING)
    # only our own: what libraries write at these levels may hold what a request says
    logging.getLogger("grus").setLevel(options["log_level"].upper())
    crash = keep_log(default_folders().logs, "serve")
    if crash.crashed:
        print(f"grus: The server ended unexpectedly last time. {crash.crash} has the stack.", file=sys.stderr)
    if settings.log_requests and options["log_level"] != "debug":
        logging.getLogger("grus.server").setLevel(logging.INFO)
    service = make_service(options)
    listener = None
    try:
        listener = Listener(create_app(service, settings), settings)
        for stop in (signal.SIGINT, signal.SIGTERM):
            signal.signal(stop, lambda *_: listener.stop())
        first = service.catalogue.default
        if first is not None and first in service.catalogue.named:
            pick_backend(LoadOptions(backend=options["backend"], device=options["device"]))  # imported, and so frozen
        # A full garbage collection stops every thread: what is here now stays, so that it is not looked at again. Models come
        # later, so that one that is dropped is collected. A thread that computes in Python keeps the interpreter for 5 ms by
        # default, each time that the event loop asks for it.
        gc.collect()
        gc.freeze()
        gc.enable()
        sys.setswitchinterval(SWITCH_SECONDS)
        if first is not None:
            loaded = service.load_now(first)
            if isinstance(loaded, LoadedModel | LoadedEncoder):
                say_quantized(loaded.quant, options["quant"])
            for adapter in service.catalogue.adapters.get(first, ()):
                service.load_now(f"{first}:{adapter}")
        elif not service.catalogue.all() and not anything:
            raise BadRequest("Say which model to serve: grus serve --model Qwen/Qwen3-0.6B", "model")
        listener.listen()  # a client that reads the page may connect at once
        print(page(service, settings, listener.port), flush=True)
        listener.run()
        return 0
    finally:
        service.close()
        if listener is not None:
            listener.socket.close()
        offline.permit()


# -- what a person reads in the terminal when the server has started

_HEADER = "-H 'Content-Type: application/json'"
_AUTH = " -H 'Authorization: Bearer YOUR_KEY'"
_STARTERS = {
    GUIDE: "comes with Grus and knows only Grus; --model Qwen/Qwen3-0.6B serves a bigger one",
    READER: "comes with Grus and reads printed English; loaded when it is first asked for",
}


def page(service: ModelService, settings: ServerSettings, port: int) -> str:
    address = f"http://{f'[{settings.host}]' if ':' in settings.host else settings.host}:{port}"
    lines = [f"Grus serves on {address}", ""]
    facts = list(service.loaded.values())
    for model in facts:
        lines += [f"  {label:<9} {value}" for label, value in facts_of(model)]
    lines += [f"  {name:<9} {_STARTERS[name]}" for name in service.catalogue.named if name in _STARTERS]
    others = [name for name in service.catalogue.named if name not in {*service.loaded, *_STARTERS}]
    adapted = [f"{model}:{name}" for model, names in service.catalogue.adapters.items() for name in names]
    for server in [] if service.catalogue.remotes is None else service.catalogue.remotes.all():
        lines.append(
            f"  {'elsewhere':<9} {server.name}::MODEL, answered by {server.url}: what is asked leaves this machine"
        )
    if adapted:
        lines.append(f"  {'adapters':<9} {', '.join(adapted)}")
    if others:
        lines.append(f"  {'on demand':<9} {', '.join(others)}")
    lines += [f"  {'key':<9} {_key(settings)}", f"  {'docs':<9} {address}/docs"]
    lines += ["", *_curl(address, service, bool(settings.api_keys)), "", "Ctrl-C stops it."]
    return "\n".join(lines)


def facts_of(model: LoadedModel | LoadedPart) -> list[tuple[str, str]]:
    backend, kv = model.backend, model.kv
    if isinstance(model, LoadedPart):  # a codec, a page's layout: nothing is said to it
        return [
            ("model", f"{model.name}: {model.config.get('model_type', '')}"),
            ("runs on", f"{backend.describe()}, {backend.name} in {backend.dtype}"),
            ("memory", f"{gigabytes(model.weight_bytes)} of weights"),
        ]
    thousand = kv.bytes_for(1000)
    room = f", about {kv.budget * 1000 // thousand:,} tokens" if thousand else ""
    return [
        ("model", f"{model.name}: {model.config.get('model_type', '')}, {model.context:,} tokens of context"),
        ("runs on", f"{backend.describe()}, {backend.name} in {backend.dtype}, loaded in {model.load_seconds:.1f} s"),
        ("memory", f"{gigabytes(model.weight_bytes)} of weights, {gigabytes(kv.budget)} for conversations{room}"),
    ]


def _key(settings: ServerSettings) -> str:
    if settings.api_keys:
        return f"{len(settings.api_keys)} accepted"
    return "none needed; only this machine can connect" if settings.local else "NONE: any machine may use this server"


def _curl(address: str, service: ModelService, key: bool) -> list[str]:
    name = service.catalogue.default or "NAME"
    loaded = service.loaded.get(name)
    if loaded is not None and "speak" in capabilities(loaded.config, loaded.folder):
        body = json.dumps({"model": name, "input": "Hello"})
        lines = [f"curl {address}/v1/audio/speech -o hello.mp3 {_HEADER}{_AUTH if key else ''} \\", f"  -d '{body}'"]
    else:
        written = client_lines()["curl"].written(address, "YOUR_KEY", name)
        lines = [line for line in written.splitlines() if key or "YOUR_KEY" not in line]
        if name == GUIDE:
            lines[-1] = lines[-1].replace("Hello", "What can you do?")
    lines = [f"  {line}" for line in lines]
    if READER in service.catalogue.named and PAGE.is_file():
        lines += ["", "A page, read by the Reader:", "", *_page(address, key)]
    return lines


def _page(address: str, key: bool) -> list[str]:
    """The picture goes through a pipe, for it is too long for an argument."""
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,PAGE"}}
    before, after = json.dumps({"model": READER, "messages": [{"role": "user", "content": [image]}]}).split("PAGE")
    return [
        f"  (printf '{before}'; base64 < {shlex.quote(str(PAGE))} | tr -d '\\n'; printf '{after}') |",
        f"    curl {address}/v1/chat/completions {_HEADER}{_AUTH if key else ''} -d @-",
        "",
        f"The same without the server: grus read {shlex.quote(str(PAGE))}",
    ]
