"""Loading: from a name to a model that is ready to run. Resolves, reads, checks, builds, and allocates the KV cache.

Everything that can be wrong with a checkpoint is found here, before anything big is allocated, and leaves nothing
loaded behind.
"""

from __future__ import annotations

import hashlib
import logging
import math
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import psutil

from backends import pick
from backends.base import Array, Backend, BackendMissing, KVCache, RankGroup, Runner, TokenModel
from backends.ranks import LeadingKVCache, LeadingRunner, RanksLost
from engine.adapters import adapters_for, find_adapter, put_adapter
from engine.errors import (
    BackendUnavailable,
    BadRequest,
    ErrorText,
    GrusError,
    ModelNotFound,
    OutOfMemory,
    Unsupported,
    UnsupportedArchitecture,
)
from engine.hub.resolve import resolve
from engine.loaded import LoadedPart, load_part
from engine.model_files import ModelFiles, open_model
from engine.models.config import named_architectures, text_fields
from engine.models.model_types import AUTO, model_type_named
from engine.models.registry import ARCHITECTURES, EXACT_PARTS, find_architecture, find_part, part_kind
from engine.parallel.team import Team
from engine.placement import ROOM, Placement, plan
from engine.text.detokenizer import Detokenizer
from engine.text.families import marks_of
from engine.text.template import ChatTemplate
from engine.text.tokenizer import Tokenizer
from engine.vision.processor import VisionProcessor
from engine.vision.registry import make_vision_processor
from engine.weights.fit import check_kv_bits, choose_quant, fitted, grown_bytes, kept_bits, size_of
from engine.weights.lora import LoraFiles, is_adapter, open_lora
from engine.weights.merged import Merged
from engine.weights.portions import ALONE, Rank
from engine.weights.view import HostPart, View, build, survey

KV_SHARE = 0.7  # of the device's memory, weights included, unless a limit is given
LEAST_KV = 64 << 20
HOST_SHARE = 0.9  # of the machine's memory, for weights beside the CPU

log = logging.getLogger("grus.engine")
UNSPLIT = frozenset({"qwen3_tts", "moonshine", "moonshine_streaming"})  # model types that are never split among ranks

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
    adapters: dict[str, LoraFiles] = field(default_factory=dict, repr=False)  # that requests may choose
    dropped_adapters: set[str] = field(default_factory=set, repr=False)  # to be freed when no request uses them
    merged: tuple[LoraFiles, ...] = field(default=(), repr=False)  # that are part of the weights
    devices: tuple[str, ...] = ()  # one for each rank, where the model is split
    host_bytes: int = 0  # of weights that lie beside the CPU of a GPU, and are not in `weight_bytes`
    team: Team | None = field(default=None, repr=False)  # the other ranks' processes

    def text_stream(self) -> ReplyText | _NoText:
        if getattr(self.model, "frame", None) is not None:
            return _NoText()
        return ReplyText(self.tokenizer, self.markers)

    def put_adapter(self, key: str, files: LoraFiles) -> None:
        """Let requests choose an adapter as `key`. On the engine's thread."""
        self.dropped_adapters.discard(key)
        if key in self.adapters:
            return
        if self.team is not None:
            raise Unsupported(f"{self.name} is split among {len(self.devices)} devices, without adapters.", "adapter")
        if self.foreign:
            raise Unsupported(f"{self.name} runs through {self.backend.foreign_library}, without adapters.", "adapter")
        put_adapter(getattr(self.model, "adapters", None), self.backend, self.config, key, files)
        self.adapters[key] = files
        self.weight_bytes += files.nbytes

    def remove_adapter(self, key: str) -> None:
        """On the engine's thread, when no request uses it."""
        self.dropped_adapters.discard(key)
        self.model.adapters.remove(key)
        self.weight_bytes -= self.adapters.pop(key).nbytes

    @property
    def lost(self) -> str | None:
        """Why the model cannot be used any more: one of its ranks was lost. None while it can."""
        return None if self.team is None else self.team.reason

    def close(self) -> None:
        """Drop the arrays. `backend.release()` gives their memory back: a full garbage collection, once for all that go."""
        if self.team is not None:
            self.team.close()
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
    tensor_parallel: int = 1  # ranks among which a text model is split
    devices: tuple[str, ...] = ()  # one a rank; empty: the first ones of the machine
    gpu_layers: int | None = None  # layers whose matrices stay on the GPU; None: as many as fit
    cpu_moe: int | None = None  # layers whose experts lie beside the CPU; None: as few as needed


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
    make = find_part(opened.config, piece)
    if make is None and piece:
        raise UnsupportedArchitecture(f"{whole} has no part `{piece}`.")
    if make is None:
        return _load_model(name, folder, opened, options)
    backend = _part_backend(opened, piece, options)
    nbytes = survey(lambda view: make(view, opened.config), opened.source).memory(backend.dtype)
    part = load_part(make, opened.source, opened.config, backend)
    mark = fingerprint(opened, backend, None, None)
    return LoadedPart(name, folder, opened.config, backend, part, nbytes, mark)


def weight_bytes(name: str, options: LoadOptions | None = None) -> int | None:
    """The model's size as `load_any` will report it, read from headers. None where they cannot be read (loading reports
    why)."""
    options = replace(options or LoadOptions(), download=False, progress=None)
    _, piece = split_piece(name)
    try:
        opened = open_model(fetch(name, options))
        make = find_part(opened.config, piece)
        if make is None:
            whole = opened.nbytes + grown_bytes(opened.tensors, pick_backend(options))
            return None if piece else whole // (len(set(rank_devices(options))) if options.tensor_parallel > 1 else 1)
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


@dataclass
class ModelShare:
    """A model that was built from its own code, or one rank's share of it."""

    model: Any
    kv: KVCache
    runner: Any
    kv_bits: int | None
    quant: str | None
    nbytes: int  # of its weights
    host_bytes: int = 0  # of its weights beside the CPU of a GPU


def _build_share(
    name: str,
    opened: ModelFiles,
    backend: Backend,
    options: LoadOptions,
    rank: Rank = ALONE,
    beside: int = 1,
    merged: Sequence[LoraFiles] = (),
) -> ModelShare:
    """`beside`: ranks that share this one's device."""
    config = opened.config
    make = find_architecture(config, name, backend.foreign_library, backend.foreign_note)
    nbytes = opened.nbytes + grown_bytes(opened.tensors, backend)
    if rank.count > 1:
        found = survey(lambda view: make(view, config), opened.source, rank=rank)
        nbytes = nbytes * found.rank_bytes // max(1, found.weight_bytes)
    placement = _placement(name, opened, backend, options, nbytes) if rank.count == 1 else None
    if placement is not None:
        nbytes = placement.device_bytes
    budget = kv_budget(backend, nbytes, options.memory_limit, beside)
    quant = choose_quant(options.quant, backend, opened.tensors)
    model: Any = build_adapted(
        opened, backend, quant, merged, lambda view: _checked(make(view, config), options.kv_bits), rank, placement
    )
    if (adopt := getattr(model, "choose_like", None)) is not None:
        adopt(opened.generation_config)
    kv_bits = kept_bits(options.kv_bits, backend, model, quant is not None or opened.quantized)
    kv = backend.kv(model.memory, budget, kv_bits)
    runner = backend.runner(model, kv, plain=placement is not None)
    return ModelShare(model, kv, runner, kv_bits, quant, nbytes, placement.host_bytes if placement else 0)


def _placement(name: str, opened: ModelFiles, backend: Backend, options: LoadOptions, nbytes: int) -> Placement | None:
    """What lies beside the CPU: what was asked for, or what a GPU has no room for."""
    asked = options.gpu_layers is not None or options.cpu_moe is not None
    if asked and backend.name != "torch":
        raise Unsupported("MLX's devices share one memory: --gpu-layers and --cpu-moe do nothing there.", "gpu_layers")
    room = int(ROOM * device_total(backend, options.memory_limit))
    if not asked and (not backend.device.startswith("cuda") or nbytes <= room):
        return None
    make = find_architecture(opened.config, name)
    found = survey(lambda view: make(view, opened.config), opened.source)
    placement = plan(found, nbytes, room, options.gpu_layers, options.cpu_moe)
    if placement is None:
        return None
    host = psutil.virtual_memory().total
    if placement.host_bytes > HOST_SHARE * host:
        raise OutOfMemory(
            f"{name} takes {gigabytes(placement.host_bytes)} beside the CPU, which has {gigabytes(host)} in all. Choose a smaller "
            "or more strongly quantized model."
        )
    log.warning("%s", placement.sentence(name, backend.device, gigabytes))
    return placement


def load_rank(name: str, given: Mapping[str, Any], index: int, place: Path) -> tuple[ModelShare, RankGroup]:
    """Rank `index` of a model that is split, in a process of its own. `given`: see `_options_of_ranks`."""
    options = LoadOptions(**{**given, "devices": tuple(given["devices"])})
    opened, _ = open_named(name, options)
    backend = pick_backend(options)
    group = backend.join(place, index, len(options.devices))
    beside = options.devices.count(options.device)
    return _build_share(name, opened, backend, options, Rank(index, len(options.devices)), beside), group


def _options_of_ranks(options: LoadOptions) -> dict[str, Any]:
    """Plain data, for another process."""
    plain = {**vars(options), "progress": None, "download": False}
    return {key: list(value) if isinstance(value, tuple) else value for key, value in plain.items()}


def _load_split(name: str, folder: Path, opened: ModelFiles, options: LoadOptions) -> tuple[ModelShare, Backend, Team]:
    """The first rank's share, and the processes of the others. What can be wrong with a split is said before any is started."""
    options = replace(options, devices=rank_devices(options), device=rank_devices(options)[0])
    count = len(options.devices)
    backend = pick_backend(options)
    if reads_foreign(backend, folder, opened.config):
        raise Unsupported(f"{name} runs through {backend.foreign_library}, on one device.", "tensor_parallel")
    if options.gpu_layers is not None or options.cpu_moe is not None:
        raise Unsupported("A model is split among devices, or lies partly beside the CPU: not both.", "tensor_parallel")
    if options.merged:
        raise Unsupported(f"{name} is split among {count} devices, without adapters.", "adapter")
    make = find_architecture(opened.config, name, backend.foreign_library, backend.foreign_note)
    found = survey(lambda view: make(view, opened.config), opened.source, rank=Rank(0, count))
    found.check()
    nbytes = opened.nbytes * found.rank_bytes // max(1, found.weight_bytes)
    beside = options.devices.count(options.device)
    kv_budget(backend, nbytes, options.memory_limit, beside)
    try:
        team = Team(str(folder), _options_of_ranks(options), options.devices)
    except RanksLost as error:
        raise BackendUnavailable(str(error)) from None
    try:
        team.group = backend.join(team.place, 0, count)
        share = _build_share(name, opened, backend, options, Rank(0, count), beside)
        reports = team.ready()
    except Exception as error:
        if isinstance(error, GrusError):
            raise
        raise BackendUnavailable(str(team.lost(error))) from error
    finally:
        if not team.complete:
            team.close()
    mine = share.kv.bytes_for(1)
    share.kv.budget = min([share.kv.budget, *(report["budget"] * mine // report["bytes"] for report in reports)])
    kv = LeadingKVCache(share.kv, team)
    return (
        replace(share, kv=kv, runner=LeadingRunner(share.runner, kv, team), nbytes=share.nbytes * beside),
        backend,
        team,
    )


def device_list(given: str | None) -> tuple[str, ...]:
    """Devices as they are named with commas."""
    return tuple(device.strip() for device in given.split(",") if device.strip()) if given else ()


def rank_devices(options: LoadOptions) -> tuple[str, ...]:
    """A device for each rank, checked."""
    count, given = options.tensor_parallel, options.devices
    if count < 1:
        raise BadRequest(f"A model is split among 1 device or more, not {count}.", "tensor_parallel")
    if given and len(given) != count:
        raise BadRequest(f"{count} ranks need {count} devices, not {len(given)}.", "devices")
    try:
        if not given:
            first = pick.choose(options.backend, options.device, options.dtype).device
            given = tuple(f"cuda:{i}" for i in range(count)) if first.startswith("cuda") else (first,) * count
        found = [pick.choose(options.backend, device, options.dtype) for device in given]
    except BackendMissing as error:
        raise BackendUnavailable(str(error)) from None
    devices = tuple(one.device for one in found)
    if any(one.backend == "mlx" for one in found):
        raise Unsupported("MLX splits a model only under mlx.launch.", "tensor_parallel")
    if any(devices.count(device) > 1 for device in devices if device != "cpu"):
        raise BadRequest("Ranks need a GPU each: name every device once.", "devices")
    if len({device.partition(":")[0] for device in devices}) > 1:
        raise BadRequest("Ranks are all on GPUs or all on the CPU.", "devices")
    return devices


def splits(config: Mapping[str, Any]) -> bool:
    """Whether a model of this kind is split among ranks; others stay whole, on the first device."""
    return str(config.get("model_type")) not in UNSPLIT


def _load_model(name: str, folder: Path, opened: ModelFiles, options: LoadOptions) -> LoadedModel:
    began = time.monotonic()
    config, generation = opened.config, opened.generation_config
    if options.devices:
        options = replace(options, device=rank_devices(options)[0])
    split = options.tensor_parallel > 1 and splits(config)
    backend = pick_backend(options)
    foreign = reads_foreign(backend, folder, config)
    if not foreign:
        find_architecture(config, name, backend.foreign_library, backend.foreign_note)
    tokenizer, template = opened.tokenizer, opened.template
    context = text_fields(config).int("max_position_embeddings", "max_sequence_length", default=2048)
    team: Team | None = None
    merged = tuple(open_lora(fetch_adapter(source, options)) for source in options.merged)
    try:
        if split:
            share, backend, team = _load_split(name, folder, opened, options)
        elif foreign:
            if merged:
                raise Unsupported(f"{name} runs through {backend.foreign_library}, without adapters.", "adapter")
            nbytes = whole_bytes(opened, backend)
            budget = kv_budget(backend, nbytes, options.memory_limit)
            quant = choose_quant(options.quant, backend, opened.tensors)
            made = backend.foreign(folder, budget, opened.floats)
            share = ModelShare(made.model, made.kv, made.runner, None, quant, nbytes)
        else:
            share = _build_share(name, opened, backend, options, merged=merged)
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
        host_bytes=share.host_bytes,
        vision=vision_processor_of(model, config, folder, tokenizer),
    )


def build_adapted(
    opened: ModelFiles,
    backend: Backend,
    quant: str | None,
    merged: Sequence[LoraFiles],
    make: Callable[[View], TokenModel],
    rank: Rank = ALONE,
    placement: Placement | None = None,
) -> TokenModel:
    """A model whose linears take adapters. `merged` ones become part of its plain weights; what they change of quantized ones is
    added in every step."""
    adapters = adapters_for(opened.config) if rank.count == 1 else None
    into = Merged(opened.source, merged, text_fields(opened.config).values)
    source, host = into if merged else opened.source, None
    if placement is not None:
        cpu = pick.pick("torch", "cpu", "f32")
        host = HostPart(cpu, fitted(source, cpu, quant), placement.layers, placement.experts)
    model = build(make, fitted(source, backend, quant), backend, adapters=adapters, rank=rank, host=host)
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


def kv_budget(backend: Backend, weight_bytes: int, limit: int | None, beside: int = 1) -> int:
    """Bytes for the KV cache and recurrent states, beside the weights. `beside`: ranks that share the device."""
    total = device_total(backend, limit) // beside
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


def device_total(backend: Backend, limit: int | None) -> int:
    """Bytes of the device that may be used."""
    return limit if limit is not None else int(KV_SHARE * backend.memory().total)


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
