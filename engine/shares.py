"""A model built from its own code, or one rank's share of it: its weights, KV cache and runner, on the devices that it was asked for."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psutil

from backends import pick
from backends.base import Backend, BackendMissing, KVCache, RankGroup, TokenModel
from backends.ranks import LeadingKVCache, LeadingRunner, RanksLost
from engine.adapters import adapters_for, put_adapter
from engine.cpu_offload import ROOM, CpuOffload, plan
from engine.errors import BackendUnavailable, BadRequest, ErrorText, GrusError, OutOfMemory, Unsupported
from engine.file_experts import FileExperts, experts_in_file
from engine.load_options import LoadOptions, open_named, pick_backend
from engine.loaded import DraftHead
from engine.model_files import ModelFiles
from engine.models.config import text_config, text_fields
from engine.models.registry import ARCHITECTURES, RECOGNIZERS, find_architecture
from engine.packed_weights import packed_weights
from engine.parallel.first_rank import DryModel, FirstKVCache, FirstRunner
from engine.parallel.replicas import Replicas
from engine.parallel.team import Team
from engine.types import memory_limit
from engine.weights.fit import check_kv_bits, choose_quant, fitted, grown_bytes, kept_bits
from engine.weights.lora import LoraFiles
from engine.weights.merged import Merged
from engine.weights.portions import ALONE, Rank
from engine.weights.view import HostPart, View, build, survey

KV_SHARE = 0.7  # of the device's memory, weights included, unless a limit is given
LEAST_KV = 64 << 20
HOST_SHARE = 0.9  # of the machine's memory, for weights beside the CPU

log = logging.getLogger("grus.engine")

# model types that are never split among ranks
UNSPLIT = RECOGNIZERS | {
    "qwen3_asr",
    "qwen3_tts",
    "pocket_tts",
    "moonshine",
    "moonshine_streaming",
    "whisper",
    "system_voice",
    "voxtral_realtime",
}


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
    draft_head: DraftHead | None = None


def build_share(
    name: str,
    opened: ModelFiles,
    backend: Backend,
    options: LoadOptions,
    rank: Rank = ALONE,
    beside: int = 1,
    merged: Sequence[LoraFiles] = (),
) -> ModelShare:
    """`beside`: ranks that share this one's device."""
    with packed_weights(name, opened, backend, options, merged, rank):
        return _built_share(name, opened, backend, options, rank, beside, merged)


def _built_share(
    name: str,
    opened: ModelFiles,
    backend: Backend,
    options: LoadOptions,
    rank: Rank,
    beside: int,
    merged: Sequence[LoraFiles],
) -> ModelShare:
    config = opened.config
    make = find_architecture(config, name, backend.foreign_library, backend.foreign_note)
    nbytes = opened.nbytes + grown_bytes(opened.tensors, backend)
    if rank.count > 1:
        found = survey(lambda view: make(view, config), opened.source, rank=rank)
        nbytes = nbytes * found.rank_bytes // max(1, found.weight_bytes)
    offload = _cpu_offload(name, opened, backend, options, nbytes) if rank.count == 1 else None
    if offload is not None:
        nbytes = offload.device_bytes
    kept = experts_to_leave(name, opened, backend, options, nbytes) if rank.count == 1 and offload is None else None
    if kept is not None:
        log.warning("%s", kept.sentence(name, gigabytes))
        nbytes, backend.experts_room = kept.memory, kept.copies
    budget = kv_budget(backend, nbytes, options.memory_limit, beside)
    quant = choose_quant(options.quant, backend, opened.tensors)
    backend.experts_stay = kept is not None
    model: Any = build_adapted(
        opened, backend, quant, merged, lambda view: _checked(make(view, config), options.kv_bits), rank, offload
    )
    if (adopt := getattr(model, "choose_like", None)) is not None:
        adopt(opened.generation_config)
    eagle = None
    if options.eagle is not None:
        eagle = _open_eagle(name, config, model, options, "" if rank.count == 1 and offload is None else "it is split")
    if eagle is not None:
        from engine.models.eagle3 import TappedModel, tapped_layers

        c = text_config(config)
        model = TappedModel(model, tapped_layers(eagle.config, c.layers), c.hidden)
    kv_bits = kept_bits(
        options.kv_bits, backend, getattr(model, "untapped", model), quant is not None or opened.quantized
    )
    kv = backend.kv(model.memory, budget, kv_bits)
    runner = backend.runner(model, kv, plain=offload is not None)
    share = ModelShare(model, kv, runner, kv_bits, quant, nbytes, offload.host_bytes if offload else 0)
    if _wants_draft_head(options, backend) and rank.count == 1 and offload is None:
        try:
            share.draft_head = _draft_head(opened, backend, share)
        except GrusError as error:
            if options.draft_head:
                raise
            log.warning("%s runs without its head for multi-token prediction: %s", name, error)  # nobody asked for it
    if eagle is not None:
        share.draft_head = _eagle_head(eagle, backend, share)
    return share


def _wants_draft_head(options: LoadOptions, backend: Backend) -> bool:
    """Unless it is asked for, only where drafts that are never right were measured to cost less than 2 %: on CPUs, by torch."""
    if options.draft_head is None:
        return backend.name == "torch" and backend.device == "cpu"
    return options.draft_head


_USUAL_TEXT = 1 << 13  # tokens, for which memory is shared between a model and its head


def _draft_head(opened: ModelFiles, backend: Backend, share: ModelShare) -> DraftHead | None:
    """What the checkpoint has for multi-token prediction, with a part of the memory for sequences."""
    from engine.models.mtp import MtpPrefill, find_head

    make = find_head(opened.config, opened.source.names)
    if make is None:
        return None
    source = fitted(opened.source, backend, share.quant)
    head = build(lambda view: make(view, opened.config, share.model), source, backend)
    kv = _head_kv(head, backend, share)
    return DraftHead(kv, backend.runner(head, kv), backend.runner(MtpPrefill(head), kv), head.beside, head.beside)


def _open_eagle(name: str, config: Mapping[str, Any], model: Any, options: LoadOptions, why: str) -> ModelFiles | None:
    """The files of the EAGLE-3 head that is to draft for a model. None, and a warning, where it does not fit, or for a reason that is known."""
    from engine.models.eagle3 import why_not

    plain = replace(options, format="auto", model_type="auto", mmproj="auto", merged=())
    opened, _ = open_named(str(options.eagle), plain)
    width = text_config(config).hidden
    if why := why or why_not(opened.config, opened.source.raw("fc.weight"), model, width) or "":
        log.warning("%s does not draft for %s: %s", options.eagle, name, why)
        return None
    return opened


def _eagle_head(opened: ModelFiles, backend: Backend, share: ModelShare) -> DraftHead:
    """An EAGLE-3 head, with a part of the memory for sequences."""
    from engine.models.eagle3 import Eagle3Head, Eagle3Prefill, target_ids

    source = fitted(opened.source, backend, share.quant)
    head = build(lambda view: Eagle3Head(view, opened.config, share.model), source, backend)
    ids = target_ids(opened.source.raw("d2t"), head.vocab, share.model.vocab)
    kv = _head_kv(head, backend, share)
    share.nbytes += opened.nbytes
    return DraftHead(kv, backend.runner(head, kv), backend.runner(Eagle3Prefill(head), kv), head.beside, head.own, ids)


def _head_kv(head: TokenModel, backend: Backend, share: ModelShare) -> KVCache:
    kv = backend.kv(head.memory, share.kv.budget, share.kv_bits or 32)
    own, others = kv.bytes_for(_USUAL_TEXT), share.kv.bytes_for(_USUAL_TEXT)
    kv.budget = share.kv.budget * own // (own + others)
    share.kv.budget -= kv.budget
    return kv


def _cpu_offload(
    name: str, opened: ModelFiles, backend: Backend, options: LoadOptions, nbytes: int
) -> CpuOffload | None:
    """What lies beside the CPU: what was asked for, or what a GPU has no room for."""
    asked = options.gpu_layers is not None or options.cpu_moe is not None
    if asked and backend.name != "torch":
        raise Unsupported("MLX's devices share one memory: --gpu-layers and --cpu-moe do nothing there.", "gpu_layers")
    room = int(ROOM * device_total(backend, options.memory_limit))
    if not asked and (not backend.device.startswith("cuda") or nbytes <= room):
        return None
    make = find_architecture(opened.config, name)
    found = survey(lambda view: make(view, opened.config), opened.source)
    offload = plan(found, nbytes, room, options.gpu_layers, options.cpu_moe)
    if offload is None:
        return None
    host = psutil.virtual_memory().total
    if offload.host_bytes > HOST_SHARE * host:
        raise OutOfMemory(
            f"{name} takes {gigabytes(offload.host_bytes)} beside the CPU, which has {gigabytes(host)} in all. Choose a smaller "
            "or more strongly quantized model."
        )
    log.warning("%s", offload.sentence(name, backend.device, gigabytes))
    return offload


def experts_to_leave(
    name: str, opened: ModelFiles, backend: Backend, options: LoadOptions, nbytes: int
) -> FileExperts | None:
    """The experts of a model of `nbytes` for which memory has no room."""
    if options.merged:  # these become part of the weights, which are then no longer those of the file
        return None
    return experts_in_file(name, opened, backend, nbytes, device_total(backend, options.memory_limit) - LEAST_KV)


def load_rank(
    name: str, given: Mapping[str, Any], index: int, place: Path, here: Callable[[], None] = lambda: None
) -> tuple[ModelShare, RankGroup]:
    """Rank `index` of a model that is split, in a process of its own. `given`: see `_options_of_ranks`; `here` is called when
    it is about to meet the others."""
    options = LoadOptions(**{**given, "devices": tuple(given["devices"])})
    opened, _ = open_named(name, options)
    backend = pick_backend(options)
    here()
    group = backend.join(place, index, len(options.devices))
    beside = options.devices.count(options.device)
    return build_share(name, opened, backend, options, Rank(index, len(options.devices)), beside), group


def _options_of_ranks(options: LoadOptions) -> dict[str, Any]:
    """Plain data, for another process."""
    plain = {**vars(options), "progress": None, "download": False}
    return {key: list(value) if isinstance(value, tuple) else value for key, value in plain.items()}


def load_split(name: str, folder: Path, opened: ModelFiles, options: LoadOptions) -> tuple[ModelShare, Backend, Team]:
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
    dry: list[Any] = []
    found = survey(lambda view: dry.append(make(view, opened.config)), opened.source, rank=Rank(0, count))
    found.check()
    nbytes = opened.nbytes * found.rank_bytes // max(1, found.weight_bytes)
    beside = options.devices.count(options.device)
    kv_budget(backend, nbytes, options.memory_limit, beside)
    try:
        apart = backend.ranks_apart
        how: dict[str, Any] = {"apart": True} if apart else {}
        team = Team(str(folder), _options_of_ranks(options), options.devices, **how)
    except RanksLost as error:
        raise BackendUnavailable(str(error)) from None
    try:
        if apart:
            reports = team.ready()
            share = _share_apart(dry[0], reports[0], team)
        else:
            team.group = backend.join(team.place, 0, count)
            share = build_share(name, opened, backend, options, Rank(0, count), beside)
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


def _share_apart(model: Any, report: Mapping[str, Any], team: Team) -> ModelShare:
    """The first rank's share, of which this process holds no array."""
    kv = FirstKVCache(model.memory, team)
    kv.budget = report["budget"]
    runner = FirstRunner(kv, team)
    return ModelShare(DryModel(model), kv, runner, report["kv_bits"], report["quant"], report["weights"])


def start_replicas(name: str, folder: Path, opened: ModelFiles, options: LoadOptions) -> tuple[LoadOptions, Replicas]:
    """How this process loads a model, and the other processes that hold it too. What can be wrong is said before any is started."""
    devices = rank_devices(options)
    own = replace(options, devices=(), device=devices[0], replicas=1)
    backend = pick_backend(own)
    limits: list[int | None] = [None] * len(devices)
    if (beside := devices.count(devices[0])) > 1:  # they share the memory of the CPU
        limits = [device_total(backend, options.memory_limit) // beside] * len(devices)
        own = replace(own, memory_limit=limits[0])
    if not reads_foreign(backend, folder, opened.config):
        find_architecture(opened.config, name, backend.foreign_library, backend.foreign_note)
    if options.gpu_layers is None and options.cpu_moe is None:
        kv_budget(backend, opened.nbytes + grown_bytes(opened.tensors, backend), own.memory_limit)
    return own, Replicas(str(folder), _options_of_ranks(own), devices, limits)


def rank_devices(options: LoadOptions) -> tuple[str, ...]:
    """A device for each rank or replica, checked."""
    if options.tensor_parallel < 1:
        raise BadRequest(f"A model is split among 1 device or more, not {options.tensor_parallel}.", "tensor_parallel")
    if options.replicas < 1:
        raise BadRequest(f"A model has 1 replica or more, not {options.replicas}.", "replicas")
    if options.replicas > 1 and options.tensor_parallel > 1:
        raise Unsupported("A model is split among devices, or has replicas: not both.", "replicas")
    count, given = max(options.tensor_parallel, options.replicas), options.devices
    each = "replicas" if options.replicas > 1 else "ranks"
    if given and len(given) != count:
        raise BadRequest(f"{count} {each} need {count} devices, not {len(given)}.", "devices")
    try:
        if not given:
            first = pick.choose(options.backend, options.device, options.dtype).device
            given = tuple(f"cuda:{i}" for i in range(count)) if first.startswith("cuda") else (first,) * count
        found = [pick.choose(options.backend, device, options.dtype) for device in given]
        if options.tensor_parallel > 1 and any(one.backend == "mlx" for one in found):
            _ = pick.pick("mlx", found[0].device, found[0].dtype).ranks_apart  # raises where this build of MLX has none
    except BackendMissing as error:
        raise BackendUnavailable(str(error)) from None
    devices = tuple(one.device for one in found)
    if options.replicas > 1 and any(one.backend == "mlx" for one in found):
        raise Unsupported("MLX computes on one device: there is no other for a replica.", "replicas")
    if any(devices.count(device) > 1 for device in devices if device not in ("cpu", "metal")):
        raise BadRequest(f"{each.capitalize()} need a GPU each: name every device once.", "devices")
    if len({device.partition(":")[0] for device in devices}) > 1:
        raise BadRequest(f"{each.capitalize()} are all on GPUs or all on the CPU.", "devices")
    return devices


def splits(config: Mapping[str, Any]) -> bool:
    """Whether a model of this kind is split among ranks; others stay whole, on the first device."""
    return str(config.get("model_type")) not in UNSPLIT


def build_adapted(
    opened: ModelFiles,
    backend: Backend,
    quant: str | None,
    merged: Sequence[LoraFiles],
    make: Callable[[View], TokenModel],
    rank: Rank = ALONE,
    offload: CpuOffload | None = None,
) -> TokenModel:
    """A model whose linears take adapters. `merged` ones become part of its plain weights; what they change of quantized ones is
    added in every step."""
    adapters = adapters_for(opened.config) if rank.count == 1 else None
    into = Merged(opened.source, merged, text_fields(opened.config).values)
    source, host = into if merged else opened.source, None
    if offload is not None:
        cpu = pick.pick("torch", "cpu", "f32", exact=False)
        host = HostPart(cpu, fitted(source, cpu, quant), offload.layers, offload.experts)
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


def _checked(model: TokenModel, kv_bits: int | None) -> TokenModel:
    """The model, checked for `kv_bits` in the dry pass, before weights are read."""
    check_kv_bits(kv_bits, model.memory)
    return model


def kv_budget(backend: Backend, weight_bytes: int, limit: int | str | float | None, beside: int = 1) -> int:
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


def device_total(backend: Backend, limit: int | str | float | None) -> int:
    """Bytes of the device that may be used. A share is of this device: ranks and replicas may have devices of several sizes."""
    if isinstance(limit, int):
        return limit
    return memory_limit(KV_SHARE if limit is None else limit, backend.memory().total)


def gigabytes(n: int) -> str:
    return f"{n / 1e9:.1f} GB" if n >= 1e8 else f"{n / 1e6:.1f} MB"
