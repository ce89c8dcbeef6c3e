"""From options to a server that is ready to listen: which models, loaded how, on which engine, behind which gate."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from app.server.catalogue import Catalogue
from app.server.metrics import Meters
from app.server.service import Service
from app.server.settings import MIB, ServerSettings
from engine.engine import Engine
from engine.errors import BadRequest, ConfigError
from engine.hub.progress import TerminalBar
from engine.hub.resolve import resolve
from engine.loading import LoadedModel, LoadOptions, fetch, load_any, pick_backend, split_piece
from engine.parts import LoadedPart
from engine.pipelines.speaking.orpheus import CODEC
from engine.settings import Settings, memory_limit
from engine.starter import starters

_NAMED = re.compile(r"([\w.:-]+(?:/[\w.:-]+)?)=(.+)")


def server_settings(options: Mapping[str, Any]) -> ServerSettings:
    return ServerSettings(
        host=options["host"],
        port=options["port"],
        api_keys=(*options["api_key"], *_keys_in(options["api_key_file"])),
        open_without_key=options["allow_without_key"],
        allowed_hosts=tuple(options["allowed_host"]),
        origins=tuple(options["cors_origin"]),
        remote_images=not options["no_remote_images"],
        remote_image_ports=tuple(_ports(options["remote_image_port"])),
        max_body=options["max_body_mib"] * MIB,
        max_sessions=options["max_sessions"],
        grace_seconds=options["grace"],
        responses_file=options["responses_file"] or ":memory:",
        voices_dir=options["voices_dir"],
        log_requests=options["log_requests"] or options["log_prompts"],
        log_prompts=options["log_prompts"],
    )


def engine_settings(options: Mapping[str, Any]) -> Settings:
    return Settings(
        max_concurrent=options["max_concurrent"],
        max_queue=options["max_queue"],
        max_seq_len=options["max_seq_len"],
        decode_tokens_per_seq=options["decode_tokens_per_seq"],
        gpu_memory_limit=options["gpu_memory_limit"],
    )


def catalogue(options: Mapping[str, Any]) -> Catalogue:
    named: dict[str, str] = {}
    if options["model_path"]:
        named[options["model_name"] or default_name(options["model_path"])] = options["model_path"]
    elif options["model_name"]:
        raise BadRequest("--model-name names what --model-path gives. Use --model NAME=MODEL for others.", "model_name")
    for given in options["model"]:
        match = _NAMED.fullmatch(given)
        name, source = (match[1], match[2]) if match else (default_name(given), given)
        if named.setdefault(name, source) != source:
            raise BadRequest(f"Two models are called {name}. Give one another name: --model NAME=MODEL.", "model")
    for given in filter(None, (options["base_model_dir"], options["voice_design_model_dir"])):
        named.setdefault(default_name(given), given)
    if options["tokenizer_dir"] and not Path(options["tokenizer_dir"]).expanduser().is_dir():
        raise BadRequest(f"There is no folder {options['tokenizer_dir']}.", "tokenizer_dir")
    folder = Path(options["models_dir"]).expanduser() if options["models_dir"] else None
    if folder is not None and not folder.is_dir():
        raise BadRequest(f"There is no folder {folder}.", "models_dir")
    if not named and folder is None:
        named = starters()
    return Catalogue(named, folder, options["cache_dir"])


def default_name(source: str) -> str:
    """A folder goes by its own name, a repository by its id."""
    path = Path(source).expanduser()
    return path.resolve().name if path.exists() else source


def load_options(options: Mapping[str, Any]) -> Callable[[str], LoadOptions]:
    """How a model's source is loaded. Only a model that was named at the start may be downloaded, and the codec that
    Orpheus models need."""
    named = {options["model_path"], CODEC, *(m[2] if (m := _NAMED.fullmatch(g)) else g for g in options["model"])}
    device = "cpu" if options["cpu"] else options["device"]
    quant, small = options["quant"], starters().values()  # a starter is so small that quantizing it saves nothing

    def of(source: str) -> LoadOptions:
        return LoadOptions(
            backend=options["backend"],
            device=device,
            dtype=options["dtype"],
            quant="none" if quant == "auto" and source in small else quant,
            kv_bits=options["kv_bits"],
            cache_dir=options["cache_dir"],
            download=split_piece(source)[0] in named and not options["offline"],
            progress=TerminalBar(source),
        )

    return of


def loader(options: Mapping[str, Any]) -> Callable[[str], LoadedModel | LoadedPart]:
    """What loads a model's source."""
    of = load_options(options)

    def load_source(source: str) -> LoadedModel | LoadedPart:
        where = of(source)
        total = pick_backend(where).memory().total
        limit = memory_limit(options["gpu_memory_limit"], total)
        if source == options["model_path"]:
            _check_format(resolve(source, where.cache_dir, where.download, where.progress), options["format"])
        loaded = load_any(source, LoadOptions(**{**vars(where), "memory_limit": limit}))
        if source == options["model_path"]:
            _check_type(loaded, options["model_type"])
        return loaded

    return load_source


def _check_format(path: Path, wanted: str) -> None:
    if wanted == "auto":
        return
    files = [path] if path.is_file() else list(path.iterdir())
    if not any(file.suffix == f".{wanted}" for file in files):
        raise ConfigError(f"{path} holds no {wanted} weights. Say --format auto, or choose another model.")


def _check_type(loaded: LoadedModel | LoadedPart, wanted: str) -> None:
    found = str(loaded.config.get("model_type", ""))
    if wanted not in ("auto", found):
        loaded.close()
        raise ConfigError(f"The model is of type {found}, not {wanted}. Say --model-type auto, or choose another one.")


def make_service(options: Mapping[str, Any]) -> Service:
    settings, of = engine_settings(options), load_options(options)
    return Service(
        lambda load: Engine(load, settings),
        loader(options),
        catalogue(options),
        Meters(),
        fetch=lambda source: fetch(source, of(source)),
    )


def _ports(given: Sequence[str]) -> Iterator[int]:
    for text in given:
        if not (text.isascii() and text.isdigit() and len(text) < 6):
            raise BadRequest(f"remote_image_port must be a number, not {text[:40]!r}.", "remote_image_port")
        yield int(text)


def _keys_in(file: str | None) -> list[str]:
    if not file:
        return []
    try:
        lines = Path(file).expanduser().read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text in UTF-8"
        raise BadRequest(f"The key file {file} cannot be read: {why}.", "api_key_file") from None
    keys = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    if not keys:
        raise BadRequest(f"The key file {file} holds no key.", "api_key_file")
    return keys
