"""From options to a server that is ready to listen: which models, loaded how, on which engine, behind which gate."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from app.kinds import kind_of
from app.option_values import repetition, speculation
from app.runtime.catalogue import Catalogue
from app.runtime.models import ModelService
from app.server.config import MIB, ServerSettings
from app.server.metrics import Meters
from app.server.openai.responses_store import usual_file
from engine.engine import Engine
from engine.errors import BadRequest
from engine.hub.progress import TerminalBar
from engine.loaded import LoadedPart
from engine.loading import LoadedModel, LoadOptions, fetch, load_any, pick_backend, split_piece, weight_bytes
from engine.models.model_types import model_type_named
from engine.pipelines.speaking.orpheus import CODEC
from engine.settings import Settings, memory_limit
from engine.starter import starters
from engine.types import SamplingParams

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
        responses_file=options["responses_file"] or usual_file(),
        voices_dir=options["voices_dir"],
        log_requests=options["log_requests"] or options["log_prompts"] or options["log_level"] in ("info", "debug"),
        log_prompts=options["log_prompts"],
    )


def engine_settings(options: Mapping[str, Any]) -> Settings:
    return Settings(
        max_concurrent=options["max_concurrent"],
        max_queue=options["max_queue"],
        max_seq_len=options["max_seq_len"],
        decode_tokens_per_seq=options["decode_tokens_per_seq"],
        gpu_memory_limit=options["gpu_memory_limit"],
        speculation=speculation(options["speculation"], options["draft"]),
        draft_model=options["draft"],
        offload_folder=Path(options["kv_offload_dir"]).expanduser() if options["kv_offload_dir"] else None,
        offload_limit=options["kv_offload_limit"],
        idle_ttl=options["idle_ttl"],
        max_models=options["max_models"],
    )


def sampling_defaults(options: Mapping[str, Any]) -> dict[str, Any]:
    """What replies are made with where a request does not say: over the model's own wishes. Raises BadRequest."""
    penalty, window = repetition(options["repetition_penalty"], options["repeat_last_n"])
    given = {name: options[name] for name in ("temperature", "top_p", "top_k", "min_p")}
    given |= {"repetition_penalty": penalty, "repetition_window": window, "stop": tuple(options["stop"]) or None}
    found = {name: value for name, value in given.items() if value is not None}
    SamplingParams(**found).check()
    return found


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
    """A folder goes by its own name, also with a part of a GGUF file's; a repository by its id."""
    path = Path(source).expanduser()
    if path.exists():
        return path.resolve().name
    folder, _, part = source.rpartition(":")
    return (
        f"{Path(folder).expanduser().resolve().name}:{part}"
        if folder and Path(folder).expanduser().is_dir()
        else source
    )


def load_options(options: Mapping[str, Any]) -> Callable[[str], LoadOptions]:
    """How a model's source is loaded. Only a model that was named at the start may be downloaded, and the codec that
    Orpheus models need."""
    named = {options["model_path"], CODEC, *(m[2] if (m := _NAMED.fullmatch(g)) else g for g in options["model"])}
    named.add(options["draft"])
    special = _special(options)
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
            model_type=options["model_type"] if source == special else "auto",
            format=options["format"] if source == special else "auto",
            download=split_piece(source)[0] in named and not options["offline"],
            progress=TerminalBar(source),
        )

    return of


def _special(options: Mapping[str, Any]) -> str | None:
    """The model that --model-type and --format are about: the only one that is named."""
    kind, weights = options["model_type"], options["format"]
    if (kind, weights) == ("auto", "auto"):
        return None
    model_type_named(kind)
    sources = [options["model_path"]] if options["model_path"] else list(catalogue(options).named.values())
    if len(sources) != 1:
        flag = "--model-type" if kind != "auto" else "--format"
        raise BadRequest(f"{flag} says what one model is. Name one, with --model or --model-path.", flag[2:])
    return str(sources[0])


def loader(options: Mapping[str, Any]) -> Callable[[str], LoadedModel | LoadedPart]:
    """What loads a model's source."""
    of = load_options(options)
    defaults = sampling_defaults(options)

    def load_source(source: str) -> LoadedModel | LoadedPart:
        where = of(source)
        total = pick_backend(where).memory().total
        limit = memory_limit(options["gpu_memory_limit"], total)
        loaded = load_any(source, replace(where, memory_limit=limit))
        if defaults and isinstance(loaded, LoadedModel) and kind_of(str(loaded.folder)) == "chat":
            loaded.defaults = {**loaded.defaults, **defaults}
        return loaded

    return load_source


def make_service(options: Mapping[str, Any]) -> ModelService:
    settings, of, draft = engine_settings(options), load_options(options), options["draft"]
    profile = Path(options["profile"]).expanduser() if options["profile"] else None

    def bring(source: str) -> None:
        fetch(source, of(source))
        if draft is not None:
            fetch(service.source_of(draft), of(service.source_of(draft)))

    service = ModelService(
        lambda load: Engine(load, settings, profile=profile),
        loader(options),
        catalogue(options),
        Meters(),
        fetch=bring,
        size=lambda source: weight_bytes(source, of(source)),
    )
    if draft is not None:
        service.allow_beside(draft)
    return service


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
