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
from typing import TYPE_CHECKING, Any

from backends.base import Array, Backend, BackendMissing, KVCache, Runner
from engine.adapters import put_adapter
from engine.errors import GrusError, Unsupported, UnsupportedArchitecture
from engine.load_options import PACKED_LIMIT as PACKED_LIMIT
from engine.load_options import LoadOptions as LoadOptions
from engine.load_options import device_list as device_list
from engine.load_options import fetch as fetch
from engine.load_options import fetch_adapter as fetch_adapter
from engine.load_options import open_named as open_named
from engine.load_options import packed_folder as packed_folder
from engine.load_options import pick_backend as pick_backend
from engine.load_options import split_piece as split_piece
from engine.loaded import DraftHead, LoadedEncoder, LoadedPart, load_part
from engine.model_files import ModelFiles, open_model
from engine.models.config import CONTEXT, named_architectures, text_fields
from engine.models.registry import (
    EXACT_PARTS,
    WITH_TOKENIZER,
    MakeEncoder,
    find_architecture,
    find_encoder,
    find_part,
    part_kind,
)
from engine.packed_weights import packed_weights
from engine.parallel.replicas import Replicas
from engine.parallel.team import Team
from engine.shares import ModelShare, build_share, kv_budget, load_split, splits, start_replicas
from engine.shares import build_adapted as build_adapted
from engine.shares import experts_to_leave as experts_to_leave
from engine.shares import gigabytes as gigabytes
from engine.shares import rank_devices as rank_devices
from engine.shares import reads_foreign as reads_foreign
from engine.text.detokenizer import Detokenizer
from engine.text.doctags import doctags_in, places_in
from engine.text.families import marks_of
from engine.text.tokenizer import Tokenizer
from engine.vision.processor import VisionProcessor
from engine.vision.registry import make_vision_processor
from engine.weights.fit import choose_encoder_quant, choose_quant, fitted, grown_bytes, size_of
from engine.weights.lora import LoraFiles, open_lora
from engine.weights.quantize import Quantized
from engine.weights.source import Source
from engine.weights.view import survey

if TYPE_CHECKING:
    from engine.text.template import ChatTemplate

SAMPLING_KEYS = {
    "temperature": "temperature",
    "top_p": "top_p",
    "top_k": "top_k",
    "min_p": "min_p",
    "typical_p": "typical_p",
    "repetition_penalty": "repetition_penalty",
    "no_repeat_ngram_size": "no_repeat_ngram_size",
    "no_repeat_ngram_window_size": "no_repeat_ngram_window_size",
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
    devices: tuple[str, ...] = ()  # one for each rank, where the model is split
    draft_head: DraftHead | None = field(default=None, repr=False)  # for speculative decoding
    eagle: str | None = None  # the EAGLE-3 head that was to be its draft head
    host_bytes: int = 0  # of weights that lie beside the CPU of a GPU, and are not in `weight_bytes`
    team: Team | None = field(default=None, repr=False)  # the other ranks' processes
    replicas: Replicas | None = field(default=None, repr=False)  # the other processes that hold this model

    def text_stream(self) -> ReplyText | _NoText:
        if getattr(self.model, "frame", None) is not None or not getattr(self.model, "writes_text", True):
            return _NoText()
        return ReplyText(self.tokenizer, self.markers)

    def put_adapter(self, key: str, *files: LoraFiles) -> None:
        """Let requests choose an adapter, or the sum of several, as `key`. On the engine's thread."""
        self.dropped_adapters.discard(key)
        if key in self.adapters:
            return
        if self.team is not None:
            raise Unsupported(f"{self.name} is split among {len(self.devices)} devices, without adapters.", "adapter")
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

    @property
    def lost(self) -> str | None:
        """Why the model cannot be used any more: one of its ranks was lost. None while it can."""
        return None if self.team is None else self.team.reason

    def close(self) -> None:
        """Drop the arrays. `backend.release()` gives their memory back: a full garbage collection, once for all that go."""
        if self.team is not None:
            self.team.close()
        if self.replicas is not None:
            self.replicas.close()
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
    """The text stream of a reply in audio frames, or in tokens of speech: empty."""

    def push(self, token: int) -> str:
        return ""

    def finish(self) -> str:
        return ""


def load_any(name: str, options: LoadOptions | None = None) -> LoadedModel | LoadedPart:
    """Load a folder, a GGUF file or a repository id, whatever kind of model it holds; `NAME#PIECE`: a part of it."""
    options = options or LoadOptions()
    if options.devices or (options.tensor_parallel, options.replicas) != (1, 1):
        options = replace(options, device=rank_devices(options)[0])
    whole, piece = split_piece(name)
    opened, folder = open_named(name, options)
    if not piece and (make_encoder := find_encoder(opened.config)) is not None:
        return _load_encoder(name, folder, opened, options, make_encoder)
    make = find_part(opened.config, piece)
    if make is None and piece:
        raise UnsupportedArchitecture(f"{whole} has no part `{piece}`.")
    if make is None:
        if options.replicas > 1 and splits(opened.config):
            return _load_replicas(name, folder, opened, options)
        return _load_model(name, folder, opened, options)
    backend, source, quant = _part_source(opened, piece, options)
    nbytes = survey(lambda view: make(view, opened.config), source).memory(backend.dtype)
    with packed_weights(name, opened, backend, options, piece=piece):
        part = load_part(make, source, opened.config, backend)
    mark = fingerprint(opened, backend, None, quant)
    tokenizer = opened.tokenizer if part_kind(opened.config, piece) in WITH_TOKENIZER else None
    return LoadedPart(name, folder, opened.config, backend, part, nbytes, mark, tokenizer=tokenizer)


def _load_encoder(
    name: str, folder: Path, opened: ModelFiles, options: LoadOptions, make: MakeEncoder
) -> LoadedEncoder:
    backend = pick_backend(options)
    quant, keep = _encoder_quant(opened, backend, options)
    nbytes = _encoder_bytes(opened, backend, options, make)
    source = fitted(opened.source, backend, quant, keep)
    modules = opened.modules
    with packed_weights(name, opened, backend, options):
        part = load_part(make, source, opened.config, backend)
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
        quant=quant,
    )


def _encoder_quant(
    opened: ModelFiles, backend: Backend, options: LoadOptions
) -> tuple[str | None, Callable[[str], bool]]:
    """What an encoder's matrices are quantized to, and those that stay plain."""
    width = text_fields(opened.config).int("hidden_size", "n_embd")
    return choose_encoder_quant(options.quant, options.dtype, width, backend, opened.tensors)


def _encoder_bytes(opened: ModelFiles, backend: Backend, options: LoadOptions, make: MakeEncoder) -> int:
    """What an encoder's weights take. Blocks are counted by their own size, also those that the backend makes while it loads."""
    quant, keep = _encoder_quant(opened, backend, options)
    source = opened.source if quant is None else Quantized(opened.source, quant, keep=keep)
    seen = survey(lambda view: make(view, opened.config), source if backend.blocks else fitted(source, backend, None))
    return seen.memory(backend.dtype, as_stored=True)


def weight_bytes(name: str, options: LoadOptions | None = None) -> int | None:
    """The model's size as `load_any` will report it, read from headers. None where they cannot be read (loading reports
    why)."""
    options = replace(options or LoadOptions(), download=False, progress=None)
    _, piece = split_piece(name)
    try:
        opened = open_model(fetch(name, options), mmproj=options.mmproj)
        if not piece and (make_encoder := find_encoder(opened.config)) is not None:
            return _encoder_bytes(opened, pick_backend(options), options, make_encoder)
        make = find_part(opened.config, piece)
        if make is None:
            backend = pick_backend(options)
            whole = opened.nbytes + grown_bytes(opened.tensors, backend)
            if not piece and (left := experts_to_leave(name, opened, backend, options, whole)) is not None:
                whole = left.memory
            return None if piece else _on_first_device(whole, options)
        backend, source, _ = _part_source(opened, piece, options)
        return survey(lambda view: make(view, opened.config), source).memory(backend.dtype)
    except (GrusError, OSError):
        return None


def _on_first_device(whole: int, options: LoadOptions) -> int:
    """Bytes of a text model's weights on the first device."""
    devices = rank_devices(options)
    return whole * devices.count(devices[0]) // max(1, options.tensor_parallel)


def _part_source(opened: ModelFiles, piece: str, options: LoadOptions) -> tuple[Backend, Source, str | None]:
    """A part's backend, its tensors there, and what these are quantized to: one with a tokenizer, like models that write."""
    backend = _part_backend(opened, piece, options)
    if part_kind(opened.config, piece) not in WITH_TOKENIZER:
        return backend, opened.source, None
    quant = choose_quant(options.quant, backend, opened.tensors)
    return backend, fitted(opened.source, backend, quant), quant


def _part_backend(opened: ModelFiles, piece: str, options: LoadOptions) -> Backend:
    exact = part_kind(opened.config, piece) in EXACT_PARTS
    return pick_backend(options, "f32" if exact else None)


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


def _load_replicas(name: str, folder: Path, opened: ModelFiles, options: LoadOptions) -> LoadedModel:
    """The model in this process, while others load it too."""
    own, replicas = start_replicas(name, folder, opened, options)
    try:
        loaded = _load_model(name, folder, opened, own)
        loaded.replicas, loaded.devices = replicas, replicas.devices
        loaded.weight_bytes *= replicas.devices.count(replicas.devices[0])
        replicas.wait("loaded")
    except BaseException:
        replicas.close()
        raise
    return loaded


def _load_model(name: str, folder: Path, opened: ModelFiles, options: LoadOptions) -> LoadedModel:
    began = time.monotonic()
    config, generation = opened.config, opened.generation_config
    split = options.tensor_parallel > 1 and splits(config)
    backend = pick_backend(options)
    foreign = reads_foreign(backend, folder, config)
    if not foreign:
        find_architecture(config, name, backend.foreign_library, backend.foreign_note)
    tokenizer, template = opened.tokenizer, opened.template
    context = text_fields(config).int(*CONTEXT, default=2048)
    team: Team | None = None
    merged = () if split else tuple(open_lora(fetch_adapter(source, options)) for source in options.merged)
    try:
        if split:
            share, backend, team = load_split(name, folder, opened, options)
        elif foreign:
            if merged:
                raise Unsupported(f"{name} runs through {backend.foreign_library}, without adapters.", "adapter")
            nbytes = whole_bytes(opened, backend)
            budget = kv_budget(backend, nbytes, options.memory_limit)
            quant = choose_quant(options.quant, backend, opened.tensors)
            made = backend.foreign(folder, budget, opened.floats)
            share = ModelShare(made.model, made.kv, made.runner, None, quant, nbytes)
        else:
            share = build_share(name, opened, backend, options, merged=merged)
    except BackendMissing as error:
        raise UnsupportedArchitecture(f"{name}{named_architectures(config)}: {error}") from None
    model = share.model
    template.compile()
    return LoadedModel(
        name=name,
        folder=folder,
        config=config,
        backend=backend,
        kv=share.kv,
        runner=share.runner,
        tokenizer=tokenizer,
        template=template,
        eos_ids=getattr(model, "eos_ids", tokenizer.eos_ids),  # a TTS model ends with an audio code
        context=context,
        vocab=model.vocab,
        defaults=sampling_defaults(generation),
        weight_bytes=share.nbytes,
        fingerprint=fingerprint(opened, backend, share.kv_bits, share.quant, merged, team.followers + 1 if team else 1),
        merged=merged,
        quant=share.quant,
        markers=markers(tokenizer, template, config),
        foreign=foreign,
        load_seconds=time.monotonic() - began,
        model=model,
        devices=(backend.device, *(team.devices[1:] if team else ())),
        team=team,
        draft_head=share.draft_head,
        eagle=options.eagle,
        host_bytes=share.host_bytes,
        vision=vision_processor_of(model, config, folder, tokenizer),
    )


def whole_bytes(opened: ModelFiles, backend: Backend) -> int:
    """What tensors take in the backend's own precision, as its library of models keeps them."""
    if opened.quantized and backend.name == "mlx":  # mlx-lm computes from packed matrices
        return opened.nbytes
    return sum(math.prod(shape) for shape in opened.whole_shapes) * size_of(backend)


def markers(tokenizer: Tokenizer, template: ChatTemplate, config: Mapping[str, Any]) -> frozenset[int]:
    """Ids of the special tokens that delimit reasoning, tool calls and the parts of a page in this model's replies."""
    if not template.names:
        return frozenset()
    kind, source = str(config["model_type"]), template.source(tools=True)
    tags = {*doctags_in(tokenizer.markers), *places_in(tokenizer.markers)}
    known = (tokenizer.id(mark) for mark in {*marks_of(kind, source), *tags})
    return frozenset(id for id in known if id is not None and tokenizer.is_special(id))


def vision_processor_of(
    model: Any, config: Mapping[str, Any], folder: Path, tokenizer: Tokenizer
) -> VisionProcessor | None:
    """Image preprocessing; None where the checkpoint has no vision tower, whatever its config contains."""
    if getattr(model, "encode", None) is None:
        return None
    return make_vision_processor(config, folder, lambda text: tokenizer.encode(text, add_special=False))


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
    ranks: int = 1,
) -> str:
    """A hash that changes with the weights and with the format of the KV cache. Reads no tensor data but of adapters."""
    digest = hashlib.sha256(f"{backend.name} {backend.dtype} {kv_bits} {quant}".encode())
    digest.update(str(opened.config.get("model_type")).encode())
    if ranks > 1:  # each has a part of the keys and values
        digest.update(f"{ranks} ranks".encode())
    for name, raw in sorted(opened.tensors.items()):
        digest.update(f"{name} {raw.dtype} {raw.shape} {raw.offset}".encode())
    for files in merged:
        digest.update(files.digest.encode())
    for path in sorted({raw.path for raw in opened.tensors.values()}):
        stat = Path(path).stat()
        digest.update(f"{Path(path).name} {stat.st_size} {stat.st_mtime_ns}".encode())
    return digest.hexdigest()
