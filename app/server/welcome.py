"""What a person reads in the terminal when the server has started."""

from __future__ import annotations

import json
from typing import Any

from app.server.kinds import kind_of
from app.server.service import Service
from app.server.settings import ServerSettings
from engine.loading import LoadedModel, gigabytes
from engine.starter import GUIDE


def page(service: Service, settings: ServerSettings, port: int) -> str:
    address = f"http://{f'[{settings.host}]' if ':' in settings.host else settings.host}:{port}"
    lines = [f"Grus serves on {address}", ""]
    facts = list(service.loaded.values())
    for model in facts:
        lines += [f"  {label:<9} {value}" for label, value in _model(model)]
    if GUIDE in service.loaded:
        lines.append(f"  {'guide':<9} comes with Grus and knows only Grus; --model Qwen/Qwen3-0.6B serves a bigger one")
    others = [name for name in service.catalogue.named if name not in service.loaded]
    if others:
        lines.append(f"  {'on demand':<9} {', '.join(others)}")
    lines += [f"  {'key':<9} {_key(settings)}", f"  {'docs':<9} {address}/docs"]
    lines += ["", *_curl(address, service, bool(settings.api_keys)), "", "Ctrl-C stops it."]
    return "\n".join(lines)


def _model(model: LoadedModel) -> list[tuple[str, str]]:
    backend, kv = model.backend, model.kv
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


def _curl(address: str, service: Service, key: bool) -> list[str]:
    name = service.catalogue.default
    loaded = service.loaded.get(name or "")
    body: dict[str, Any]
    if loaded is not None and kind_of(loaded.config) == "speech":
        path, body = "/v1/audio/speech -o hello.mp3", {"input": "Hello"}
    else:
        path, body = "/v1/chat/completions", {"messages": [{"role": "user", "content": "Hello"}]}
    told = json.dumps({"model": name or "NAME", **body})
    auth = " -H 'Authorization: Bearer YOUR_KEY'" if key else ""
    return [
        f"  curl {address}{path} -H 'Content-Type: application/json'{auth} \\",
        f"    -d '{told}'",
    ]
