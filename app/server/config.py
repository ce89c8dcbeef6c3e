"""A server's options: one table of them, where their values come from, and the settings and the service that they make.

A value comes from the command line, else the environment, else a TOML file, else the default. One table holds all options,
so that a flag, a variable and a key of the file can never differ.
"""

from __future__ import annotations

import ipaddress
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from app.option_values import SPECULATIONS, repetition, speculation
from app.runtime.catalogue import Catalogue, can
from app.runtime.models import ModelService, open_service
from app.runtime.remote.servers import RemoteServers
from app.server.openai.file_store import default_folder
from app.server.openai.responses_store import default_file
from engine.errors import BadRequest, ModelNotFound
from engine.hub.download import TerminalBar
from engine.loaded import LoadedPart
from engine.loading import PACKED_LIMIT, LoadedModel, LoadOptions, device_list, packed_folder, rank_devices, split_piece
from engine.models.model_types import model_type_named
from engine.pipelines.speaking import orpheus, pocket_tts
from engine.starter import starters
from engine.types import SamplingParams, Settings

MIB = 1 << 20


@dataclass(frozen=True)
class ServerSettings:
    host: str = "127.0.0.1"
    port: int = 8080
    api_keys: tuple[str, ...] = field(default=(), repr=False)
    open_without_key: bool = False  # listen beyond this machine without a key, knowingly
    allowed_hosts: tuple[str, ...] = ()  # names under which the server may be reached, besides localhost and addresses
    origins: tuple[str, ...] = ()  # web pages that may call; "*" is all of them
    remote_images: bool = True  # images may be given as URLs, which the server then fetches
    remote_image_ports: tuple[int, ...] = ()  # where from, besides 80 and 443
    max_body: int = 32 * MIB
    max_prompt: int = 4 * MIB  # characters of one prompt
    max_depth: int = 64  # nesting of a JSON body
    strict: bool = False  # refuse fields that have no effect, instead of ignoring and reporting them
    body_seconds: float = 30.0  # a body must have arrived after these
    header_seconds: float = 10.0  # a request's head must have arrived after these
    heartbeat_seconds: float = 5.0  # silence in a stream is broken after these
    send_seconds: float = 60.0  # a client that takes nothing for so long is gone
    grace_seconds: float = 10.0  # running replies may go on for so long after the server was stopped
    responses_file: str = ""  # where responses that may be continued are kept; "": in a file that goes with the server
    tools: tuple[str, ...] = ()  # added tool servers and built-in tools that requests may use by their names
    tool_urls: tuple[str, ...] = ()  # addresses whose MCP servers requests may name; "any": all of them
    files_dir: str = ""  # where uploaded files and vector stores are kept; "": in a folder that goes with the server
    adapters_dir: str | None = None  # the folder whose adapters may be loaded by a request
    voices_dir: str | None = None  # where saved voices are kept; None: where this person's are
    max_sound_seconds: float = 3 * 3600.0  # of a recording; a small file may hold days of silence
    max_sessions: int = 8  # conversations by voice at once
    max_buffer_seconds: float = 300.0  # of sound that was sent to such a conversation and is not part of it yet
    ping_seconds: float = 20.0  # interval of websocket pings, and the time to answer one
    log_requests: bool = False
    log_prompts: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.port <= 65535:
            raise BadRequest(f"port must be between 0 and 65535, not {self.port}.", "port")
        if any(not 0 < port < 65536 for port in self.remote_image_ports):
            raise BadRequest("remote_image_port must be between 1 and 65535.", "remote_image_port")
        if self.max_sessions < 0:
            raise BadRequest(f"max_sessions must not be negative, as {self.max_sessions} is.", "max_sessions")
        if any(not key for key in self.api_keys):
            raise BadRequest("An API key must not be empty.", "api_key")
        if not self.local and not self.api_keys and not self.open_without_key:
            raise BadRequest(
                f"Listening on {self.host} lets other machines in. Set an API key with --api-key or --api-key-file, "
                "or say --allow-without-key if this is meant.",
                "host",
            )

    @property
    def local(self) -> bool:
        """Only this machine can connect."""
        return self.host == "localhost" or (is_address(self.host) and ipaddress.ip_address(self.host).is_loopback)


def is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


OptionKind = Literal["text", "number", "decimal", "seconds", "switch", "list"]


@dataclass(frozen=True)
class ServerOption:
    """`--some-name`, `GRUS_SOME_NAME`, `some_name = ...`; `aliases` are variables of other servers."""

    name: str
    kind: OptionKind
    help: str
    group: str
    default: Any = None
    choices: tuple[str, ...] = ()
    metavar: str | None = None
    aliases: tuple[str, ...] = ()

    @property
    def flag(self) -> str:
        return "--" + self.name.replace("_", "-")

    @property
    def variable(self) -> str:
        return "GRUS_" + self.name.upper()


def _options() -> Sequence[ServerOption]:
    models, where, work = "models", "where it runs", "how much at once"
    replies = "how chat models answer where a request does not say (defaults come from the model)"
    network, log = "who may connect", "what is logged"
    return (
        ServerOption("model", "list", "a folder or repository id to serve, or NAME=MODEL; may be repeated (default: guide and reader)", models,
                     metavar="MODEL"),
        ServerOption("model_path", "text", "the same for one model, under --model-name", models, metavar="PATH"),
        ServerOption("model_name", "text", "the name that requests use for --model-path", models, metavar="NAME"),
        ServerOption("model_type", "text", "load the one model that is named as this architecture, where its config.json names none or "
                     "a wrong one: qwen25, qwen3, qwen3_5, llama, hunyuan, ...", models, "auto", metavar="TYPE"),
        ServerOption("format", "text", "load these weights of the one model that is named, where its folder or repository holds both",
                     models, "auto", ("auto", "safetensors", "gguf")),
        ServerOption("mmproj", "text", "the mmproj file with the image encoder of the one model that is named, a GGUF file; none: read text "
                     "only (default: auto, one that fits and lies beside it)", models, "auto", metavar="FILE"),
        ServerOption("adapter", "list", "a LoRA adapter, NAME=ADAPTER, that requests choose as MODEL:NAME; MODEL:NAME=ADAPTER where several "
                     "models are served; ADAPTER alone becomes part of the model's weights; may be repeated", models,
                     metavar="NAME=ADAPTER"),
        ServerOption("adapters_dir", "text", "a folder whose LoRA adapters clients may load and unload by /v1/load_lora_adapter", models,
                     metavar="DIR"),
        ServerOption("models_dir", "text", "a folder whose sub-folders may be asked for by name", models, metavar="DIR"),
        ServerOption("alias", "list", "another name of a model, NAME=MODEL, where NAME may hold * for anything; may be repeated "
                     "(default: claude-* is the first model)", models, metavar="NAME=MODEL"),
        ServerOption("remote", "list", "a server elsewhere that `grus remote add` keeps, whose models requests choose as NAME::MODEL; what is "
                     "asked of them leaves this machine; may be repeated", models, metavar="NAME"),
        ServerOption("cache_dir", "text", "where downloaded models lie (default: the Hugging Face cache)", models,
                     metavar="DIR"),
        ServerOption("offline", "switch", "never use the network: no downloads, no images from URLs", models, False),
        ServerOption("max_models", "number", "models in memory at once, the least recently used goes; 0: as many as fit", models, 0),
        ServerOption("idle_ttl", "seconds", "unload a model that was not used for so long (default: when its room is needed)", models),
        ServerOption("backend", "text", "what computes", where, "auto", ("auto", "mlx", "torch")),
        ServerOption("device", "text", "auto, cpu, cuda, cuda:N or metal", where, "auto", aliases=("DEVICE",)),
        ServerOption("cpu", "switch", "the same as --device cpu", where, False),
        ServerOption("tensor_parallel", "number", "split each text model among N devices, which compute together", where, 1, metavar="N"),
        ServerOption("replicas", "number", "hold each text model N times, each on a device and in a process of its own; a request goes to the "
                     "one that has computed the beginning of its prompt", where, 1, metavar="N"),
        ServerOption("devices", "text", "these ones, with commas: cuda:0,cuda:1 (default: the first N)", where, metavar="DEVICES"),
        ServerOption("gpu_layers", "number", "layers whose weights stay on the GPU, the others are computed by the CPU (default: as many as "
                     "fit)", where, metavar="N"),
        ServerOption("cpu_moe", "number", "layers whose experts are computed by the CPU (default: as few as needed)", where, metavar="N"),
        ServerOption("dtype", "text", "what unquantized weights are computed in", where, "auto",
                     ("auto", "f32", "f16", "bf16")),
        ServerOption("quant", "text", "quantize plain weights while loading; auto: on a CPU q8_0 for 16-bit weights, and for encoders", where, "auto",
                     ("auto", "none", "q8_0", "q4_0", "q4_k", "q6_k")),
        ServerOption("packed_limit", "text", "weights that had to be prepared for this CPU are kept on disk, at most SIZE of all models, so that "
                     "they open at once the next time; 0 keeps none", where, PACKED_LIMIT, metavar="SIZE"),
        ServerOption("kv_bits", "number", "bits of a number in conversations' memory: fewer take less of it and are a little less exact; "
                     "32: as computed (default: 16 with quantized weights on a CPU, else 32)", where, None, ("32", "16", "8", "4")),
        ServerOption("gpu_memory_limit", "text", "weights and conversations together: 5G, 5120M, or a share like 0.7", where,
                     "0.7", metavar="SIZE"),
        ServerOption("max_concurrent", "number", "replies that are computed at once", work, 16,
                     aliases=("MAX_CONCURRENCY",)),
        ServerOption("max_queue", "number", "requests that may wait; more are refused (429)", work, 256),
        ServerOption("max_seq_len", "number", "prompt and reply together; 0: as long as the model allows", work, 0),
        ServerOption("decode_tokens_per_seq", "number", "tokens that a reply gets before it may be set aside", work, 16),
        ServerOption("speculation", "text", "check several next tokens in one step, guessed from what was said before (ngram) or by what "
                     "the model carries for multi-token prediction (mtp; auto: so on a CPU with PyTorch); replies stay the same", work, None, tuple(SPECULATIONS)),
        ServerOption("battery_threads", "number", "threads that compute while the machine runs on its battery (default: as many as otherwise)", work),
        ServerOption("draft", "text", "a small model that guesses the next tokens for served models of its vocabulary", work,
                     metavar="MODEL"),
        ServerOption("kv_offload_dir", "text", "keep what was computed for prompts in this folder, beyond memory and a restart; "
                     "prompts that begin alike are read from there", work, metavar="DIR"),
        ServerOption("kv_offload_limit", "text", "most that this folder may hold; what was not used for longest goes", work, "8G",
                     metavar="SIZE"),
        ServerOption("responses_file", "text", "where responses that may be continued are kept; else with this person's data", work,
                     metavar="FILE"),
        ServerOption("files_dir", "text", "where uploaded files and vector stores are kept; else with this person's data", work,
                     metavar="DIR"),
        ServerOption("temperature", "decimal", "0 always takes the likeliest token", replies, metavar="T"),
        ServerOption("top_p", "decimal", "sample from the likeliest tokens that hold P of the mass", replies, metavar="P"),
        ServerOption("top_k", "number", "sample from the K likeliest tokens", replies, metavar="K"),
        ServerOption("min_p", "decimal", "leave out tokens less likely than P times the likeliest", replies, metavar="P"),
        ServerOption("repetition_penalty", "decimal", "above 1 makes tokens that were there before less likely", replies, metavar="R"),
        ServerOption("repeat_last_n", "number", "the penalty looks back at N tokens; -1: at all, 0: at none (default: -1)", replies,
                     metavar="N"),
        ServerOption("stop", "list", "end a reply before this text, besides the request's own; may be repeated", replies,
                     metavar="TEXT"),
        ServerOption("host", "text", "the address to listen on; beyond this machine only with a key", network, "127.0.0.1"),
        ServerOption("port", "number", "the port to listen on; 0 takes a free one", network, 8080, aliases=("PORT",)),
        ServerOption("api_key", "list", "a key that clients must send; may be repeated", network, metavar="KEY"),
        ServerOption("api_key_file", "text", "a file with one key a line", network, metavar="FILE"),
        ServerOption("allow_without_key", "switch", "listen beyond this machine without a key", network, False),
        ServerOption("allowed_host", "list", "a name under which clients reach this machine; may be repeated", network,
                     metavar="NAME"),
        ServerOption("cors_origin", "list", "a web page's origin that may call, like https://app.example, or localhost for every page of this machine; may be repeated",
                     network, metavar="ORIGIN"),
        ServerOption("no_remote_images", "switch", "never fetch an image that a request gives as a URL", network, False),
        ServerOption("remote_image_port", "list", "fetch images from this port too, not only 80 and 443; may be repeated",
                     network, metavar="N"),
        ServerOption("tool", "list", "a tool server or built-in tool that `grus tools add` added, which requests may use by its name; may be "
                     "repeated", network, metavar="NAME"),
        ServerOption("tool_url", "list", "an address whose MCP server requests may name, and this server then calls; any: every address; "
                     "may be repeated", network, metavar="URL"),
        ServerOption("max_body_mib", "number", "largest request body", network, 32),
        ServerOption("strict", "switch", "refuse fields that are unknown or have no effect (400); otherwise they are ignored, and named in "
                     "the response header x-grus-ignored", network, False),
        ServerOption("max_sessions", "number", "conversations by voice (/v1/realtime) at once", network, 8),
        ServerOption("grace", "seconds", "how long running replies may go on after Ctrl-C", network, 10.0),
        ServerOption("log_level", "text", "what is written to standard error; info: a line for each request, with tokens and seconds; "
                     "debug: each step of the engine's requests too", log, "warning", ("error", "warning", "info", "debug")),
        ServerOption("log_requests", "switch", "the same as --log-level info", log, False),
        ServerOption("log_prompts", "switch", "what is asked, in clear text", log, False),
        ServerOption("profile", "text", "write a Chrome trace of queue, prefill, decode and waits to this file when the server ends; of a "
                     "long run its last part", log, metavar="FILE"),
        ServerOption("voices_dir", "text", "where saved voices are kept (default: with this person's own)", "voices",
                     metavar="DIR"),
        ServerOption("base_model_dir", "text", "a speech model's folder; the same as --model", "voices",
                     metavar="DIR", aliases=("BASE_MODEL_DIR",)),
        ServerOption("voice_design_model_dir", "text", "a voice design model's folder; the same as --model", "voices",
                     metavar="DIR", aliases=("VOICE_DESIGN_MODEL_DIR",)),
        ServerOption("tokenizer_dir", "text", "taken for servers that need it; here each model's folder holds its own", "voices",
                     metavar="DIR", aliases=("TOKENIZER_DIR",)),
    )  # fmt: skip


OPTIONS = _options()


def gather(given: Mapping[str, Any], environment: Mapping[str, str], file: Path | None) -> dict[str, Any]:
    """All options with their values. `given` is the command line's, None where nothing was said."""
    stored = _read(file) if file is not None else {}
    if unknown := sorted(set(stored) - {option.name for option in OPTIONS}):
        raise BadRequest(f"{file} sets {unknown[0]!r}, which is no option. `grus serve --help` lists them.", unknown[0])
    return {option.name: _value(option, given, environment, stored, file) for option in OPTIONS}


def _value(
    option: ServerOption,
    given: Mapping[str, Any],
    environment: Mapping[str, str],
    stored: Mapping[str, Any],
    file: Path | None,
) -> Any:
    if given.get(option.name) is not None:
        return given[option.name]
    for variable in (option.variable, *option.aliases):
        if environment.get(variable):
            return _read_text(option, environment[variable], variable)
    if option.name in stored:
        value = stored[option.name]
        spelled = [str(item) for item in value] if isinstance(value, list) else str(value)
        if isinstance(spelled, list) != (option.kind == "list" and isinstance(value, list)):
            raise BadRequest(f"{option.name} in {file} must not be a list.", option.name)
        return spelled if isinstance(spelled, list) else _read_text(option, spelled, f"{option.name} in {file}")
    return list(option.default or ()) if option.kind == "list" else option.default


def _read_text(option: ServerOption, text: str, where: str) -> Any:
    if option.choices and text not in option.choices:
        raise BadRequest(f"{where} must be one of {', '.join(option.choices)}, not {text!r}.", option.name)
    try:
        if option.kind == "number":
            return int(text)
        if option.kind in ("seconds", "decimal"):
            return float(text)
    except ValueError:
        raise BadRequest(f"{where} must be a number, not {text!r}.", option.name) from None
    if option.kind == "switch":
        if text.lower() not in ("1", "0", "true", "false", "yes", "no", "on", "off"):
            raise BadRequest(f"{where} must be true or false, not {text!r}.", option.name)
        return text.lower() in ("1", "true", "yes", "on")
    if option.kind == "list":
        return [item.strip() for item in text.split(",") if item.strip()]
    return text


def _read(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadRequest(f"{file} cannot be read: {error.strerror}.", "config") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadRequest(f"{file} is not valid TOML: {error}.", "config") from None


_ADAPTER = re.compile(r"(?:(.+):)?([\w.-]+)=(.+)")
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
        responses_file=options["responses_file"] or default_file(),
        files_dir=options["files_dir"] or default_folder(),
        voices_dir=options["voices_dir"],
        adapters_dir=options["adapters_dir"],
        tools=tuple(options["tool"]),
        tool_urls=tuple(options["tool_url"]),
        strict=options["strict"],
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
        battery_threads=options["battery_threads"],
    )


def sampling_defaults(options: Mapping[str, Any]) -> dict[str, Any]:
    """Sampling parameters of requests that set none; they override the model's own defaults. Raises BadRequest."""
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
    remotes = RemoteServers(tuple(options["remote"]), allowed=not options["offline"])
    servers = [remotes.get(name) for name in options["remote"]]
    if not named and folder is None and not servers:
        named = starters()
    found = Catalogue(named, folder, options["cache_dir"], adapters=adapters(options["adapter"], named).chosen)
    found.remotes = remotes if servers else None
    found.default_elsewhere = next((one.called(model.id) for one in servers for model in one.models), None)
    return replace(found, aliases=dict(_aliases(options["alias"], found)))


@dataclass(frozen=True)
class GivenAdapters:
    """What --adapter says: of each model those that requests choose, by name, and of each source those that are merged."""

    chosen: dict[str, dict[str, str]] = field(default_factory=dict)
    merged: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def sources(self) -> set[str]:
        found = {source for of_model in self.chosen.values() for source in of_model.values()}
        return found.union(*self.merged.values())


def adapters(given: Sequence[str], named: Mapping[str, str]) -> GivenAdapters:
    found = GivenAdapters()
    for text in given:
        match = _ADAPTER.fullmatch(text)
        model, name, source = match.groups() if match else (None, None, text)
        if model is None:
            if len(named) != 1:
                raise BadRequest(f"Say which model the adapter {text} is for: --adapter MODEL:NAME=ADAPTER.", "adapter")
            model = next(iter(named))
        if model not in named:
            raise BadRequest(
                f"The adapter {text} is for {model}, which is not served. Name it with --model.", "adapter"
            )
        if name is None:
            found.merged[named[model]] = (*found.merged.get(named[model], ()), source)
        elif found.chosen.setdefault(model, {}).setdefault(name, source) != source:
            raise BadRequest(f"Two adapters of {model} are called {name}.", "adapter")
    return found


def _aliases(given: Sequence[str], models: Catalogue) -> Iterator[tuple[str, str]]:
    for text in given:
        name, _, model = text.partition("=")
        if not name or not model:
            raise BadRequest(f"An alias is NAME=MODEL, not {text!r}.", "alias")
        try:
            yield name, models.look_up(model).name
        except ModelNotFound as error:
            raise BadRequest(f"The alias {name} has no model. {error}", "alias") from None


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
    """How a model's source is loaded. Only a model that was named at the start may be downloaded, and the codecs that
    Orpheus and Pocket-TTS models need."""
    named = {
        options["model_path"],
        orpheus.CODEC,
        pocket_tts.CODEC,
        *(m[2] if (m := _NAMED.fullmatch(g)) else g for g in options["model"]),
    }
    given = adapters(options["adapter"], catalogue(options).named) if options["adapter"] else GivenAdapters()
    named |= {options["draft"], *given.sources}
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
            tensor_parallel=options["tensor_parallel"],
            replicas=options["replicas"],
            devices=device_list(options["devices"]),
            gpu_layers=options["gpu_layers"],
            cpu_moe=options["cpu_moe"],
            cache_dir=options["cache_dir"],
            packed_folder=str(packed_folder()),
            packed_limit=options["packed_limit"],
            model_type=options["model_type"] if source == special else "auto",
            format=options["format"] if source == special else "auto",
            mmproj=options["mmproj"] if source == special else "auto",
            download=split_piece(source)[0] in named and not options["offline"],
            progress=TerminalBar(source),
            merged=given.merged.get(source, ()),
        )

    return of


def _special(options: Mapping[str, Any]) -> str | None:
    """The model that --model-type, --format and --mmproj are about: the only one that is named."""
    given = [name for name in ("model_type", "format", "mmproj") if options[name] != "auto"]
    if not given:
        return None
    model_type_named(options["model_type"])
    sources = [options["model_path"]] if options["model_path"] else list(catalogue(options).named.values())
    if len(sources) != 1:
        flag = given[0].replace("_", "-")
        raise BadRequest(f"--{flag} says what one model is. Name one, with --model or --model-path.", flag)
    return str(sources[0])


def make_service(options: Mapping[str, Any]) -> ModelService:
    defaults = sampling_defaults(options)

    def accept(source: str, loaded: LoadedModel | LoadedPart) -> None:
        if defaults and isinstance(loaded, LoadedModel) and can(str(loaded.folder), "chat"):
            loaded.defaults = {**loaded.defaults, **defaults}

    how = load_options(options)
    if options["devices"] or (options["tensor_parallel"], options["replicas"]) != (1, 1):
        rank_devices(how(""))  # what cannot be is said now, not to the first client
    return open_service(
        catalogue(options),
        how,
        engine_settings(options),
        profile=Path(options["profile"]).expanduser() if options["profile"] else None,
        accept=accept,
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
