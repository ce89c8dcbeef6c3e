"""Loading: from a name to a model that is ready to run. Resolves, reads, checks, builds, and allocates the KV cache.

Everything that can be wrong with a checkpoint is found here, before anything big is allocated, and leaves nothing
loaded behind.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from backends import pick
from backends.base import Array, Backend, BackendMissing, KVCache, Runner, TokenModel
from engine.adapters import adapters_for, find_adapter, put_adapter
from engine.errors import (
    BackendUnavailable,
    ErrorText,
    GrusError,
    ModelNotFound,
    OutOfMemory,
    Unsupported,
    UnsupportedArchitecture,
)
from engine.hub.resolve import resolve
from engine.loaded import LoadedEncoder, LoadedPart, load_part
from engine.model_files import ModelFiles, open_model
from engine.models.config import CONTEXT, named_architectures, text_fields
from engine.models.model_types import AUTO, model_type_named
from engine.models.registry import (
    ARCHITECTURES,
    EXACT_PARTS,
    RECOGNIZERS,
    MakeEncoder,
    find_architecture,
    find_encoder,
    find_part,
    part_kind,
)
from engine.text.detokenizer import Detokenizer
from engine.text.families import marks_of
from engine.text.template import ChatTemplate
from engine.text.tokenizer import Tokenizer
from engine.vision.processor import VisionProcessor
from engine.vision.registry import make_vision_processor
from engine.weights.fit import check_kv_bits, choose_quant, fitted, grown_bytes, kept_bits, size_of
from engine.weights.lora import LoraFiles, is_adapter, open_lora
from engine.weights.merged import Merged
from engine.weights.view import View, build, survey

KV_SHARE = 0.7  # of the device's memory, weights included, unless a limit is given
LEAST_KV = 64 << 20

SAMPLING_KEYS = {
    "temperature": "temperature",
    "top_p": "top_p",
    "top_k": "top_k",
    "min_p": "min_p",
    "typical_p": "typical_p",
    "repetition_penalty": "repetition_penalty",
}


@dataclass
class LoadedModel:
    """A loaded model that generates tokens: its KV cache, runner, tokenizer and facts for requests."""

    name: str
    folder: Path
    config: Mapping[str, Any]
    backend: Backend
    kv: KVCache
    runner: Runner
    tokenizer: Tokenizer
    template: ChatTemplate
    eos_ids: tuple[int, ...]
    context: int
    vocab: int
    defaults: Mapping[str, Any]  # sampling defaults of generation_config
    weight_bytes: int
    fingerprint: str
    markers: frozenset[int]  # special tokens that stay in the text: they delimit reasoning and tool calls
    quant: str | None = None  # what plain weights were quantized to while loading
    foreign: bool = False  # runs through the backend's own library of models
    load_seconds: float = 0.0
    model: Array = field(default=None, repr=False)
    vision: VisionProcessor | None = field(default=None, repr=False)  # image preprocessing; None for a text-only model
    adapters: dict[str, tuple[LoraFiles, ...]] = field(
        default_factory=dict, repr=False
    )  # that requests may choose: one, or the sum of several
    dropped_adapters: set[str] = field(default_factory=set, repr=False)  # to be freed when no request uses them
    merged: tuple[LoraFiles, ...] = field(default=(), repr=False)  # that are part of the weights

    def text_stream(self) -> ReplyText | _NoText:
        if getattr(self.model, "frame", None) is not None:
            return _NoText()
        return ReplyText(self.tokenizer, self.markers)

    def put_adapter(self, key: str, *files: LoraFiles) -> None:
        """Let requests choose an adapter, or the sum of several, as `key`. On the engine's thread."""
        self.dropped_adapters.discard(key)
        if key in self.adapters:
            return
        if self.foreign:
            raise Unsupported(f"{self.name} runs through {self.backend.foreign_library}, without adapters.", "adapter")
        put_adapter(getattr(self.model, "adapters", None), self.backend, self.config, key, *files)
        self.adapters[key] = files
        self.weight_bytes += sum(one.nbytes for one in files)

    def remove_adapter(self, key: str) -> None:
        """On the engine's thread, when no request uses it."""
        self.dropped_adapters.discard(key)
        self.model.adapters.remove(key)
        self.weight_bytes -= sum(one.nbytes for one in self.adapters.pop(key))

    def close(self) -> None:
        """Drop the arrays. `backend.release()` gives their memory back: a full garbage collection, once for all that go."""
        self.model = None
        self.runner = None  # type: ignore[assignment]
        self.kv = None  # type: ignore[assignment]


class ReplyText:
    """Detokenizes one reply."""

    def __init__(self, tokenizer: Tokenizer, keep: Collection[int]) -> None:
        self._detokenizer = Detokenizer(tokenizer, keep=keep)

    def push(self, token: int) -> str:
        return self._detokenizer.push(token)

    def finish(self) -> str:
        return self._detokenizer.flush()


class _NoText:
    """The text stream of a reply in audio frames: empty."""

    def push(self, token: int) -> str:
        return ""

    def finish(self) -> str:
        return ""


@dataclass(frozen=True)
class LoadOptions:
    """Options of loading: backend, precision, quantization, where to look."""

    backend: str = "auto"
    device: str = "auto"
    dtype: str = "auto"
    memory_limit: int | None = None  # bytes for weights and KV cache together; None: a share of the device
    kv_bits: int | None = None  # 32: as computed, 16, 8, 4; None: as suits the weights
    quant: str = "auto"  # none, q8_0, q4_0, q4_k, q6_k; auto: q8_0 for 16-bit weights on a CPU
    cache_dir: str | None = None
    model_type: str = AUTO  # what the model is, where its config does not say so; see `registry.model_type_named`
    format: str = "auto"  # which weights to load where there are several: safetensors, gguf
    download: bool = True
    progress: Callable[[int, int], None] | None = None
    merged: tuple[str, ...] = ()  # adapters that become part of the weights: folders, files or repository ids


def pick_backend(options: LoadOptions) -> Backend:
    try:
        return pick.pick(options.backend, options.device, options.dtype)
    except BackendMissing as error:
        raise BackendUnavailable(str(error)) from None


def fetch(name: str, options: LoadOptions) -> Path:
    """The folder or file of a model, downloaded where needed and allowed. Makes no arrays: may be called on any thread."""
    whole, _ = split_piece(name)
    path = resolve(
        whole,
        cache_dir=options.cache_dir,
        download=options.download,
        progress=options.progress,
        weights=options.format,
    )
    for adapter in options.merged:
        fetch_adapter(adapter, options)
    return path


def fetch_adapter(source: str, options: LoadOptions) -> Path:
    """The same for an adapter."""
    return find_adapter(source, options.cache_dir, options.download, options.progress)


def open_named(name: str, options: LoadOptions) -> tuple[ModelFiles, Path]:
    """A model's opened files, and their folder."""
    model_type = model_type_named(options.model_type)
    folder = fetch(name, options)
    if is_adapter(folder):
        raise ModelNotFound(f"{name} is a LoRA adapter, not a model. Load its model, with this as its adapter.")
    return open_model(folder, options.format, model_type), folder


def load_any(name: str, options: LoadOptions | None = None) -> LoadedModel | LoadedPart:
    """Load a folder, a GGUF file or a repository id, whatever kind of model it holds; `NAME#PIECE`: a part of it."""
    options = options or LoadOptions()
    whole, piece = split_piece(name)
    opened, folder = open_named(name, options)
    if not piece and (make_encoder := find_encoder(opened.config)) is not None:
        return _load_encoder(name, folder, opened, options, make_encoder)
    make = find_part(opened.config, piece)
    if make is None and piece:
        raise UnsupportedArchitecture(f"{whole} has no part `{piece}`.")
    if make is None:
        return _load_model(name, folder, opened, options)
    backend, listens = _part_backend(opened, piece, options), part_kind(opened.config, piece) in RECOGNIZERS
    quant = choose_quant(options.quant, backend, opened.tensors) if listens else None
    source = fitted(opened.source, backend, quant) if listens else opened.source
    nbytes = survey(lambda view: make(view, opened.config), source).memory(backend.dtype)
    part = load_part(make, source, opened.config, backend)
    mark = fingerprint(opened, backend, None, quant)
    tokenizer = opened.tokenizer if listens else None
    return LoadedPart(name, folder, opened.config, backend, part, nbytes, mark, tokenizer=tokenizer)


def _load_encoder(
    name: str, folder: Path, opened: ModelFiles, options: LoadOptions, make: MakeEncoder
) -> LoadedEncoder:
    backend = pick_backend(options)
    # vectors are compared with those of other programs: weights are quantized where that is asked for, never by itself
    quant = None if options.quant == "auto" else choose_quant(options.quant, backend, opened.tensors)
    source = fitted(opened.source, backend, quant)
    nbytes = survey(lambda view: make(view, opened.config), source).memory(backend.dtype, as_stored=True)
    part, modules = load_part(make, source, opened.config, backend), opened.modules
    context = part.sizes.context
    return LoadedEncoder(
        name,
        folder,
        opened.config,
        backend,
        part,
        nbytes,
        fingerprint(opened, backend, None, quant),
        context=min(context, modules.longest or context),
        vocab=part.sizes.vocab,
        tokenizer=opened.tokenizer,
        modules=modules,
    )


def weight_bytes(name: str, options: LoadOptions | None = None) -> int | None:
    """The model's size as `load_any` will report it, read from headers. None where they cannot be read (loading reports
    why)."""
    options = replace(options or LoadOptions(), download=False, progress=None)
    _, piece = split_piece(name)
    try:
        opened = open_model(fetch(name, options))
        make = find_part(opened.config, piece) or (None if piece else find_encoder(opened.config))
        if make is None:
            return None if piece else opened.nbytes + grown_bytes(opened.tensors, pick_backend(options))
        dtype = _part_backend(opened, piece, options).dtype
        return survey(lambda view: make(view, opened.config), opened.source).memory(dtype)
    except (GrusError, OSError):
        return None


def _part_backend(opened: ModelFiles, piece: str, options: LoadOptions) -> Backend:
    exact = part_kind(opened.config, piece) in EXACT_PARTS
    return pick_backend(replace(options, dtype="f32") if exact else options)


def split_piece(name: str) -> tuple[str, str]:
    """`NAME#PIECE`, where NAME is not itself a path with such a mark in it."""
    whole, mark, piece = name.rpartition("#")
    return (whole, piece) if mark and not Path(name).exists() else (name, "")


def load(name: str, options: LoadOptions | None = None) -> LoadedModel:
    """Load a model that generates text."""
    loaded = load_any(name, options)
    if isinstance(loaded, LoadedPart):
        loaded.close()
        loaded.backend.release()
        raise UnsupportedArchitecture(
            f"{name} has the architecture `{loaded.config['model_type']}`: it writes no text."
        )
    return loaded


def _load_model(name: str, folder: Path, opened: ModelFiles, options: LoadOptions) -> LoadedModel:
    began = time.monotonic()
    config, generation = opened.config, opened.generation_config
    backend = pick_backend(options)
    make = None
    if not reads_foreign(backend, folder, config):
        make = find_architecture(config, name, backend.foreign_library, backend.foreign_note)
    tokenizer, template = opened.tokenizer, opened.template
    context = text_fields(config).int(*CONTEXT, default=2048)
    tensors = opened.tensors
    nbytes = opened.nbytes + grown_bytes(tensors, backend) if make is not None else whole_bytes(opened, backend)
    budget = kv_budget(backend, nbytes, options.memory_limit)
    quant = choose_quant(options.quant, backend, opened.tensors)
    merged = tuple(open_lora(fetch_adapter(source, options)) for source in options.merged)
    try:
        if make is None:
            if merged:
                raise Unsupported(f"{name} runs through {backend.foreign_library}, without adapters.", "adapter")
            foreign = backend.foreign(folder, budget, opened.floats)
            model, kv, runner, kv_bits = foreign.model, foreign.kv, foreign.runner, None
        else:
            model = build_adapted(
                opened, backend, quant, merged, lambda view: _checked(make(view, config), options.kv_bits)
            )
            if (adopt := getattr(model, "choose_like", None)) is not None:
                adopt(generation)
            kv_bits = kept_bits(options.kv_bits, backend, model, quant is not None or opened.quantized)
            kv = backend.kv(model.memory, budget, kv_bits)
            runner = backend.runner(model, kv)
    except BackendMissing as error:
        raise UnsupportedArchitecture(f"{name}{named_architectures(config)}: {error}") from None
    template.compile()
    return LoadedModel(
        name=name,
        folder=folder,
        config=config,
        backend=backend,
        kv=kv,
        runner=runner,
        tokenizer=tokenizer,
        template=template,
        eos_ids=getattr(model, "eos_ids", tokenizer.eos_ids),  # a TTS model ends with an audio code
        context=context,
        vocab=model.vocab,
        defaults=sampling_defaults(generation),
        weight_bytes=nbytes,
        fingerprint=fingerprint(opened, backend, kv_bits, quant, merged),
        merged=merged,
        quant=quant,
        markers=markers(tokenizer, template, config),
        foreign=make is None,
        load_seconds=time.monotonic() - began,
        model=model,
        vision=vision_processor_of(model, config, folder, tokenizer),
    )


def build_adapted(
    opened: ModelFiles,
    backend: Backend,
    quant: str | None,
    merged: Sequence[LoraFiles],
    make: Callable[[View], TokenModel],
) -> TokenModel:
    """A model whose linears take adapters. `merged` ones become part of its plain weights; what they change of quantized ones is
    added in every step."""
    adapters = adapters_for(opened.config)
    into = Merged(opened.source, merged, text_fields(opened.config).values)
    model = build(make, fitted(into if merged else opened.source, backend, quant), backend, adapters=adapters)
    if adapters is not None:
        model.adapters = adapters  # type: ignore[attr-defined]  # see `TokenModel`
    for i, (files, done) in enumerate(zip(merged, into.done)):
        put_adapter(adapters, backend, opened.config, f"merged {i}", files, merged=done, always=True)
    return model


def reads_foreign(backend: Backend, folder: Path, config: Mapping[str, Any]) -> bool:
    """Whether an architecture that Grus lacks runs through the backend's own library, which reads folders only."""
    ours = str(config.get("model_type")) in ARCHITECTURES
    return not ours and bool(backend.foreign_library) and folder.is_dir() and backend.reads_foreign(config)


def whole_bytes(opened: ModelFiles, backend: Backend) -> int:
    """What tensors take in the backend's own precision, as its library of models keeps them."""
    if opened.quantized and backend.name == "mlx":  # mlx-lm computes from packed matrices
        return opened.nbytes
    return sum(math.prod(shape) for shape in opened.whole_shapes) * size_of(backend)


def _checked(model: TokenModel, kv_bits: int | None) -> TokenModel:
    """The model, checked for `kv_bits` in the dry pass, before weights are read."""
    check_kv_bits(kv_bits, model.memory)
    return model


def markers(tokenizer: Tokenizer, template: ChatTemplate, config: Mapping[str, Any]) -> frozenset[int]:
    """Ids of the special tokens that delimit reasoning and tool calls in this model's replies."""
    if not template.names:
        return frozenset()
    kind, source = str(config["model_type"]), template.source(tools=True)
    known = (tokenizer.id(mark) for mark in marks_of(kind, source))
    return frozenset(id for id in known if id is not None and tokenizer.is_special(id))


def vision_processor_of(
    model: Any, config: Mapping[str, Any], folder: Path, tokenizer: Tokenizer
) -> VisionProcessor | None:
    """Image preprocessing; None where the checkpoint has no vision tower, whatever its config contains."""
    if getattr(model, "encode", None) is None:
        return None
    return make_vision_processor(config, folder, lambda text: tokenizer.encode(text, add_special=False))


def kv_budget(backend: Backend, weight_bytes: int, limit: int | None) -> int:
    """Bytes for the KV cache and recurrent states, beside the weights."""
    memory = backend.memory()
    total = limit if limit is not None else int(KV_SHARE * memory.total)
    left = total - weight_bytes
    if left < LEAST_KV:
        raise OutOfMemory(
            ErrorText(
                "The weights take {weights} of the {limit} that may be used, which leaves no room for a "
                "conversation. Choose a smaller or more strongly quantized model, or raise the memory limit.",
                weights=gigabytes(weight_bytes),
                limit=gigabytes(total),
            )
        )
    return left


def gigabytes(n: int) -> str:
    return f"{n / 1e9:.1f} GB" if n >= 1e8 else f"{n / 1e6:.1f} MB"


def sampling_defaults(generation: Mapping[str, Any]) -> dict[str, Any]:
    """Sampling defaults of generation_config. Without `do_sample` and a temperature they are greedy."""
    chosen = {
        ours: generation[theirs]
        for theirs, ours in SAMPLING_KEYS.items()
        if isinstance(generation.get(theirs), int | float) and not isinstance(generation.get(theirs), bool)
    }
    if generation.get("do_sample") is False or (
        generation and not generation.get("do_sample") and "temperature" not in chosen
    ):
        chosen["temperature"] = 0.0
    return chosen


def fingerprint(
    opened: ModelFiles,
    backend: Backend,
    kv_bits: int | None,
    quant: str | None,
    merged: Sequence[LoraFiles] = (),
) -> str:
    """A hash that changes with the weights and with the format of the KV cache. Reads no tensor data but of adapters."""
    digest = hashlib.sha256(f"{backend.name} {backend.dtype} {kv_bits} {quant}".encode())
    digest.update(str(opened.config.get("model_type")).encode())
    for name, raw in sorted(opened.tensors.items()):
        digest.update(f"{name} {raw.dtype} {raw.shape} {raw.offset}".encode())
    for files in merged:
        digest.update(files.digest.encode())
    for path in sorted({raw.path for raw in opened.tensors.values()}):
        stat = Path(path).stat()
        digest.update(f"{Path(path).name} {stat.st_size} {stat.st_mtime_ns}".encode())
    return digest.hexdigest()
