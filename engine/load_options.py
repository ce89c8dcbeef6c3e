"""How a model is loaded, and its files by that: found, downloaded where needed and allowed, opened."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from backends import pick
from backends.base import Backend, BackendMissing
from engine.adapters import find_adapter
from engine.errors import BackendUnavailable, GrusError, ModelNotFound
from engine.hub.resolve import resolve
from engine.model_files import ModelFiles, open_model
from engine.models.model_types import AUTO, model_type_named
from engine.types import memory_limit
from engine.weights.lora import is_adapter

PACKED_LIMIT = "16G"


def packed_folder() -> Path:
    """Where this person's packed weights are kept."""
    from platformdirs import PlatformDirs

    return Path(PlatformDirs("Grus", appauthor=False).user_cache_dir) / "packed"


@dataclass(frozen=True)
class LoadOptions:
    """Options of loading: backend, precision, quantization, where to look."""

    backend: str = "auto"
    device: str = "auto"
    dtype: str = "auto"
    memory_limit: int | str | float | None = (
        None  # for weights and KV cache together: bytes, "5G", or a share of each device
    )
    kv_bits: int | None = None  # 32: as computed, 16, 8, 4; None: as suits the weights
    quant: str = "auto"  # none, q8_0, q4_0, q4_k, q6_k; auto: q8_0 on a CPU, of 16-bit weights and of encoders
    cache_dir: str | None = None
    model_type: str = AUTO  # what the model is, where its config does not say so; see `registry.model_type_named`
    format: str = "auto"  # which weights to load where there are several: safetensors, gguf
    mmproj: str = "auto"  # the file of a GGUF file's image encoder; none; auto: one that fits and lies beside it
    download: bool = True
    progress: Callable[[int, int], None] | None = None
    merged: tuple[str, ...] = ()  # adapters that become part of the weights: folders, files or repository ids
    tensor_parallel: int = 1  # ranks among which a text model is split
    replicas: int = 1  # processes that hold a text model, each on a device of its own
    devices: tuple[str, ...] = ()  # one a rank or replica; empty: the first ones of the machine
    gpu_layers: int | None = None  # layers whose matrices stay on the GPU; None: as many as fit
    draft_head: bool | None = False  # load what the checkpoint has for multi-token prediction; None: on CPUs, by torch
    eagle: str | None = None  # the folder of an EAGLE-3 head that drafts for the model
    packed_folder: str | None = None  # where packed weights are kept on disk; None: nowhere
    packed_limit: str = PACKED_LIMIT  # of that folder; "0": nothing is kept
    cpu_moe: int | None = None  # layers whose experts lie beside the CPU; None: as few as needed

    def __post_init__(self) -> None:
        """Python programs write lists, or devices as the command line has them: options are kept by their value."""
        given: object = self.devices
        object.__setattr__(self, "devices", device_list(given) if isinstance(given, str) else tuple(self.devices))
        object.__setattr__(self, "merged", tuple(self.merged))
        if self.packed_limit.strip() == "0":
            object.__setattr__(self, "packed_folder", None)
        else:
            memory_limit(self.packed_limit, 1 << 30)


def pick_backend(options: LoadOptions, dtype: str | None = None) -> Backend:
    """`dtype`: in place of the options'. Only what they ask for themselves is exact (see `Ops.image_weight`)."""
    try:
        return pick.pick(options.backend, options.device, dtype or options.dtype, exact=options.dtype != "auto")
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


def eagle_folder(name: str, options: LoadOptions) -> str | None:
    """The folder of a draft model that is here and is an EAGLE-3 head, else None."""
    from engine.models.eagle3 import is_eagle3_folder  # parts of models, which an idle window does not hold

    try:
        folder = fetch(name, replace(options, download=False, merged=(), format="auto"))
    except GrusError:  # loading it says what is wrong
        return None
    return str(folder) if is_eagle3_folder(folder) else None


def fetch_adapter(source: str, options: LoadOptions) -> Path:
    """The same for an adapter."""
    return find_adapter(source, options.cache_dir, options.download, options.progress)


def open_named(name: str, options: LoadOptions) -> tuple[ModelFiles, Path]:
    """A model's opened files, and their folder."""
    model_type = model_type_named(options.model_type)
    folder = fetch(name, options)
    if is_adapter(folder):
        raise ModelNotFound(f"{name} is a LoRA adapter, not a model. Load its model, with this as its adapter.")
    return open_model(folder, options.format, model_type, options.mmproj), folder


def split_piece(name: str) -> tuple[str, str]:
    """`NAME#PIECE`, where NAME is not itself a path with such a mark in it."""
    whole, mark, piece = name.rpartition("#")
    return (whole, piece) if mark and not Path(name).exists() else (name, "")


def device_list(given: str | None) -> tuple[str, ...]:
    """Devices as they are named with commas."""
    return tuple(device.strip() for device in given.split(",") if device.strip()) if given else ()
