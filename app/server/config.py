"""Where a server's options come from: the command line, else the environment, else a TOML file, else the default.

One table holds all of them, so that a flag, a variable and a key of the file can never differ. Knows nothing of what
the values mean.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from engine.errors import BadRequest

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
        ServerOption("models_dir", "text", "a folder whose sub-folders may be asked for by name", models, metavar="DIR"),
        ServerOption("cache_dir", "text", "where downloaded models lie (default: the Hugging Face cache)", models,
               metavar="DIR"),
        ServerOption("offline", "switch", "never use the network: no downloads, no images from URLs", models, False),
        ServerOption("max_models", "number", "models in memory at once, the least recently used goes; 0: as many as fit", models, 0),
        ServerOption("idle_ttl", "seconds", "unload a model that was not used for so long (default: when its room is needed)", models),
        ServerOption("backend", "text", "what computes", where, "auto", ("auto", "mlx", "torch")),
        ServerOption("device", "text", "auto, cpu, cuda, cuda:N or metal", where, "auto", aliases=("DEVICE",)),
        ServerOption("cpu", "switch", "the same as --device cpu", where, False),
        ServerOption("dtype", "text", "what unquantized weights are computed in", where, "auto",
               ("auto", "f32", "f16", "bf16")),
        ServerOption("quant", "text", "quantize plain weights while loading; auto: q8_0 for 16-bit weights on a CPU", where, "auto",
               ("auto", "none", "q8_0", "q4_0", "q4_k", "q6_k")),
        ServerOption("kv_bits", "number", "bits of a number in conversations' memory: fewer take less of it and are a little less exact; "
               "32: as computed (default: 16 with quantized weights on a CPU, else 32)", where, None, ("32", "16", "8", "4")),
        ServerOption("gpu_memory_limit", "text", "weights and conversations together: 5G, 5120M, or a share like 0.7", where,
               "0.7", metavar="SIZE"),
        ServerOption("max_concurrent", "number", "replies that are computed at once", work, 16,
               aliases=("MAX_CONCURRENCY",)),
        ServerOption("max_queue", "number", "requests that may wait; more are told to come back (429)", work, 256),
        ServerOption("max_seq_len", "number", "prompt and reply together; 0: as long as the model allows", work, 0),
        ServerOption("decode_tokens_per_seq", "number", "tokens that a reply gets before it may be set aside", work, 16),
        ServerOption("speculation", "text", "ngram: guess the next tokens from what was said before, and check several in one step; "
               "replies stay the same", work, None, ("ngram", "off")),
        ServerOption("draft", "text", "a small model that guesses the next tokens for served models of its vocabulary", work,
               metavar="MODEL"),
        ServerOption("kv_offload_dir", "text", "keep what was computed for prompts in this folder, beyond memory and a restart; "
               "prompts that begin alike are read from there", work, metavar="DIR"),
        ServerOption("kv_offload_limit", "text", "most that this folder may hold; what was not used for longest goes", work, "8G",
               metavar="SIZE"),
        ServerOption("responses_file", "text", "where responses that may be continued are kept; else with this person's data", work,
               metavar="FILE"),
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
        ServerOption("cors_origin", "list", "a web page's origin that may call, like https://app.example; may be repeated",
               network, metavar="ORIGIN"),
        ServerOption("no_remote_images", "switch", "never fetch an image that a request gives as a URL", network, False),
        ServerOption("remote_image_port", "list", "fetch images from this port too, not only 80 and 443; may be repeated",
               network, metavar="N"),
        ServerOption("max_body_mib", "number", "largest request body", network, 32),
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
