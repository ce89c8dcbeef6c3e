"""The description of a model for `grus info`: kind, size, memory and backend, read from its files without loading."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from backends import pick
from backends.base import Backend, BackendMissing, DType, KVSpec, MemorySpec, SharedKVSpec, StateSpec
from backends.kv_cache import source_of
from engine.adapters import adapters_for, pairs_for
from engine.errors import GrusError, Unsupported
from engine.loading import (
    LoadOptions,
    experts_to_leave,
    fetch_adapter,
    gigabytes,
    open_named,
    reads_foreign,
    sampling_defaults,
    whole_bytes,
)
from engine.model_files import ModelFiles
from engine.models.config import CONTEXT, text_fields
from engine.models.registry import EXACT_PARTS, find_architecture, find_part, part_kind
from engine.vision.registry import make_vision_processor
from engine.weights.fit import becomes, check_kv_bits, choose_quant, folder_becomes, grown_bytes, kinds_of
from engine.weights.lora import open_lora
from engine.weights.merged import Merged
from engine.weights.quantize import Quantized
from engine.weights.source import Source
from engine.weights.view import View, survey

TALK = 4096  # tokens of context that "memory needed" counts


@dataclass(frozen=True)
class AdapterDescription:
    name: str
    place: str  # folder or file
    form: str  # PEFT, MLX, GGUF
    base: str  # the model that it was made for; empty where its files do not say
    ranks: list[int]
    matrices: int  # that it changes
    targets: list[str]  # the last words of their names
    stored_bytes: int

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def describe_adapter(source: str, options: LoadOptions) -> AdapterDescription:
    files = open_lora(fetch_adapter(source, options))
    return AdapterDescription(
        source, files.where, files.form, files.base, files.ranks, len(files.pairs), files.targets, files.nbytes
    )


@dataclass
class Description:
    name: str
    folder: str
    architecture: str
    runs: bool
    through: str = ""  # the library that runs an architecture which Grus does not implement, and what that costs
    why_not: list[str] = field(default_factory=list)  # all reasons, as sentences
    parameters: int = 0
    read_bytes: int = 0  # of the stored weights, what one token reads: of a mixture the chosen experts
    stored_bytes: int = 0
    stored_as: str = ""
    dtype: str = ""  # what it would be computed in
    quant: str = ""  # what its plain weights would become while loading
    context: int = 0
    layers: str = ""
    bytes_per_token: int = 0  # of context: what one more token of a long reply takes
    bytes_per_prompt_token: int = 0  # more where layers keep a whole prompt, and of a reply its last tokens alone
    bytes_per_sequence: int = 0  # of recurrent states and sliding windows
    memory_needed: int = 0  # weights, and a conversation of `talk` tokens
    file_bytes: int = (
        0  # of a mixture larger than memory: its experts, which stay in the file and are not in `memory_needed`
    )
    talk: int = TALK
    memory_total: int = 0
    backend: str = ""
    device: str = ""
    backend_reason: str = ""
    runs_on: str = ""  # the processor, and on a CPU which kernels run, or why none do
    kept_as: list[str] = field(default_factory=list)  # GGUF types that the backend keeps in another form, with the cost
    tokenizer: str = ""
    template: str = ""
    sees: str = ""
    sampling: dict[str, Any] = field(default_factory=dict)
    adapters: list[AdapterDescription] = field(default_factory=list)  # those that would become part of the model

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def describe(name: str, options: LoadOptions | None = None) -> Description:
    """Raises only where there is no model; every other problem is listed in `why_not`."""
    options = options or LoadOptions()
    opened, folder = open_named(name, options)
    found = Description(name, str(folder), str(opened.config["model_type"]), runs=False)
    backend = _choose(found, opened, options)
    weights = partial(_weights, backend=backend, options=options)
    for part in (_part,) if find_part(opened.config) is not None else (weights, _text, _sight):
        try:
            part(found, opened)
        except GrusError as error:
            found.why_not.append(str(error))
    if found.memory_needed > found.memory_total > 0:
        found.why_not.append(
            f"It needs {gigabytes(found.memory_needed)} with {found.talk} tokens of conversation; "
            f"this machine has {gigabytes(found.memory_total)}."
        )
    found.runs = not found.why_not
    return found


def _choose(found: Description, opened: ModelFiles, options: LoadOptions) -> Backend | None:
    try:
        choice = pick.choose(options.backend, options.device, options.dtype)
    except BackendMissing as error:
        found.why_not.append(str(error))
        return None
    found.backend, found.device, found.backend_reason = choice.backend, choice.device, choice.why
    backend = pick.pick(choice.backend, choice.device, choice.dtype)
    found.dtype, found.memory_total, found.runs_on = choice.dtype, backend.memory().total, backend.describe()
    found.kept_as = [kept for kind in kinds_of(opened.tensors) if (kept := becomes(kind, backend))]
    found.kept_as += folder_becomes(opened.source, backend)
    return backend


def _weights(found: Description, opened: ModelFiles, backend: Backend | None, options: LoadOptions) -> None:
    found.stored_bytes, found.stored_as = opened.nbytes, opened.stored_as
    fields = text_fields(opened.config)
    found.context = fields.int(*CONTEXT, default=2048)
    if backend is not None and reads_foreign(backend, Path(found.folder), opened.config):
        found.through = f"{backend.foreign_library}: {backend.foreign_note}"
        found.memory_needed, found.talk = whole_bytes(opened, backend), 0
        if opened.quantized and backend.name != "mlx":
            found.kept_as = [f"every matrix as plain floats: {backend.foreign_library} is given no others"]
        return
    library, note = (backend.foreign_library, backend.foreign_note) if backend is not None else ("", "")
    make = find_architecture(opened.config, found.name, library, note)
    memory: list[MemorySpec] = []

    def make_and_remember(view: View) -> Any:
        model = make(view, opened.config)
        memory[:] = model.memory
        return model

    quant = choose_quant(options.quant, backend, opened.tensors) if backend is not None else None
    adapters = adapters_for(opened.config)
    found.adapters = [describe_adapter(source, options) for source in options.merged]
    if adapters is None and found.adapters:
        raise Unsupported(f"A model of the type `{found.architecture}` takes no adapters.", "adapter")
    files = [open_lora(Path(about.place)) for about in found.adapters]
    merged = Merged(opened.source, files, fields.values)
    source: Source = merged if files else opened.source
    seen = survey(make_and_remember, Quantized(source, quant) if quant else source, adapters=adapters)
    seen.check()
    for one, done in zip(files, merged.done):
        assert adapters is not None
        pairs_for(adapters, opened.config, one, done)
    check_kv_bits(options.kv_bits, memory)
    found.parameters, found.quant = seen.parameters, quant or ""
    found.read_bytes = seen.weight_bytes - seen.unread_bytes
    dtype: DType = backend.dtype if backend is not None else "f32"
    talk = min(TALK, found.context)
    found.talk = talk
    # whether a model's conversations take half of this by themselves is known once it is loaded: never too little here
    taken = memory_bytes(memory, dtype, options.kv_bits or 32, talk)
    found.bytes_per_token, found.bytes_per_prompt_token, found.bytes_per_sequence = taken
    found.layers = layers(memory)
    as_stored = backend is not None and backend.blocks
    grown = grown_bytes(opened.tensors, backend) if backend is not None else 0
    found.memory_needed = (
        seen.memory(dtype, as_stored) + grown + talk * found.bytes_per_prompt_token + found.bytes_per_sequence
    )
    stays = None if backend is None else experts_to_leave(found.name, opened, backend, options, opened.nbytes + grown)
    if stays is not None:
        found.file_bytes = stays.nbytes
        found.memory_needed -= stays.nbytes


def _part(found: Description, opened: ModelFiles) -> None:
    """Describe a layout model or a codec: no text, so no context and no tokenizer."""
    make = find_part(opened.config)
    assert make is not None
    found.stored_bytes, found.stored_as, found.talk = opened.nbytes, opened.stored_as, 0
    if part_kind(opened.config) in EXACT_PARTS:
        found.dtype = "f32"
    seen = survey(lambda view: make(view, opened.config), opened.source)
    seen.check()
    found.parameters, found.memory_needed = seen.parameters, seen.memory("bf16" if found.dtype == "bf16" else "f32")


def layers(specs: Sequence[MemorySpec]) -> str:
    """For people: "8 attention, 40 window-1024 attention, 2 recurrent". Layers that share keys and values count as what they read."""
    own = [source_of(specs, i)[1] for i, spec in enumerate(specs) if isinstance(spec, KVSpec | SharedKVSpec)]
    named = [
        f"prompt-and-last-{s.recent} attention"
        if s.recent
        else f"window-{s.window} attention"
        if s.window
        else "attention"
        for s in sorted(own, key=lambda s: (s.recent or 0, s.window or 0))
    ]
    kinds = [(kind, named.count(kind)) for kind in dict.fromkeys(named)]
    kinds.append(("recurrent", len(specs) - len(own)))
    return ", ".join(f"{count} {kind}" for kind, count in kinds if count)


def memory_bytes(specs: Sequence[MemorySpec], dtype: DType, bits: int, talk: int) -> tuple[int, int, int]:
    """Bytes per token of a long reply and per token of the prompt, and per sequence of `talk` tokens what does not grow with it.
    Codes come with a scale and a least value for 64 of them."""
    size = 4 if dtype == "f32" else 2
    kept = min(size, bits / 8) if bits >= 16 else bits / 8 + 4 / 64
    per_token = per_prompt_token = per_sequence = 0.0
    for s in specs:
        if isinstance(s, KVSpec):
            each = s.heads * sum(s.widths) * kept
            per_token += each if s.window is None and s.recent is None else 0
            per_prompt_token += each if s.window is None else 0
            per_sequence += 0 if s.window is None else each * s.rows_in(talk)
        elif isinstance(s, StateSpec):
            per_sequence += s.channels * (s.kernel - 1) * size + s.heads * s.key_dim * s.value_dim * 4
    return round(per_token), round(per_prompt_token), round(per_sequence)


def _text(found: Description, opened: ModelFiles) -> None:
    tokenizer = opened.tokenizer
    found.tokenizer = f"{tokenizer.vocab_size} tokens, ends at {', '.join(map(str, tokenizer.eos_ids)) or 'nothing'}"
    found.template = ", ".join(opened.template.names) or "none"
    found.sampling = sampling_defaults(opened.generation_config)


def _sight(found: Description, opened: ModelFiles) -> None:
    vision = make_vision_processor(
        opened.config, Path(found.folder), lambda text: opened.tokenizer.encode(text, add_special=False)
    )
    if vision is not None and any("patch_embed" in name or "patch_conv" in name for name in opened.tensors):
        found.sees = f"images, {vision.max_pixels} pixels of each at most"
