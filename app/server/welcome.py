"""What a person reads in the terminal when the server has started."""

from __future__ import annotations

import json
import shlex

from app.client_lines import client_lines
from app.runtime.catalogue import capabilities
from app.runtime.models import ModelService
from app.server.config import ServerSettings
from engine.loaded import LoadedPart
from engine.loading import LoadedModel, gigabytes
from engine.starter import GUIDE, PAGE, READER

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
