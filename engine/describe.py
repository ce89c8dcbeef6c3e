"""What `grus info` knows of a model, read from its files without loading it: kind, size, memory, and what would run it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from backends import pick
from backends.base import BackendMissing, DType, KVSpec, MemorySpec, StateSpec
from engine.errors import GrusError, UnsupportedArchitecture
from engine.hub.resolve import resolve
from engine.loading import LoadOptions, gigabytes, sampling_defaults
from engine.models.config import text_fields
from engine.models.registry import find_architecture
from engine.opening import Opened, open_model
from engine.vision.registry import make_sight
from engine.weights.fit import becomes, kinds_of
from engine.weights.view import View, survey

TALK = 4096  # tokens of context that "memory needed" counts


@dataclass
class Description:
    name: str
    folder: str
    architecture: str
    runs: bool
    why_not: list[str] = field(default_factory=list)  # every reason, in plain words
    parameters: int = 0
    stored_bytes: int = 0
    stored_as: str = ""
    dtype: str = ""  # what it would be computed in
    context: int = 0
    layers: str = ""
    bytes_per_token: int = 0  # of context
    bytes_per_sequence: int = 0  # of recurrent states
    memory_needed: int = 0  # weights, and a conversation of `talk` tokens
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

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def describe(name: str, options: LoadOptions | None = None) -> Description:
    """Raises only where there is no model to speak of; everything else that is wrong is listed in `why_not`."""
    options = options or LoadOptions()
    folder = resolve(name, cache_dir=options.cache_dir, download=options.download, progress=options.progress)
    opened = open_model(folder)
    found = Description(name, str(folder), str(opened.config["model_type"]), runs=False)
    dtype = _choose(found, opened, options)
    for part in (_weights, _text, _sight):
        try:
            part(found, opened, dtype)
        except GrusError as error:
            found.why_not.append(str(error))
    if found.memory_needed > found.memory_total > 0:
        found.why_not.append(
            f"It needs {gigabytes(found.memory_needed)} with {found.talk} tokens of conversation; "
            f"this machine has {gigabytes(found.memory_total)}."
        )
    found.runs = not found.why_not
    return found


def _choose(found: Description, opened: Opened, options: LoadOptions) -> DType:
    try:
        choice = pick.choose(options.backend, options.device, options.dtype)
    except BackendMissing as error:
        found.why_not.append(str(error))
        return "f32"
    found.backend, found.device, found.backend_reason = choice.backend, choice.device, choice.why
    backend = pick.pick(choice.backend, choice.device, choice.dtype)
    found.dtype, found.memory_total, found.runs_on = choice.dtype, backend.memory().total, backend.describe()
    found.kept_as = [kept for kind in kinds_of(opened.tensors) if (kept := becomes(kind, backend))]
    return choice.dtype


def _weights(found: Description, opened: Opened, dtype: DType) -> None:
    found.stored_bytes, found.stored_as = opened.nbytes, opened.stored_as
    fields = text_fields(opened.config)
    found.context = fields.int("max_position_embeddings", "max_sequence_length", default=2048)
    try:
        make = find_architecture(opened.config, found.name)
    except UnsupportedArchitecture:
        if found.backend != "mlx":
            raise
        found.architecture += ", through mlx-lm"
        found.memory_needed, found.talk = opened.nbytes, 0
        return
    memory: list[MemorySpec] = []

    def make_and_remember(view: View) -> Any:
        model = make(view, opened.config)
        memory[:] = model.memory
        return model

    seen = survey(make_and_remember, opened.source)
    seen.check()
    found.parameters = seen.parameters
    found.bytes_per_token, found.bytes_per_sequence = memory_bytes(memory, dtype)
    attention = sum(isinstance(spec, KVSpec) for spec in memory)
    found.layers = f"{attention} attention" + (
        f", {len(memory) - attention} recurrent" if attention < len(memory) else ""
    )
    talk = min(TALK, found.context)
    found.talk = talk
    found.memory_needed = seen.memory(dtype) + talk * found.bytes_per_token + found.bytes_per_sequence


def memory_bytes(specs: Sequence[MemorySpec], dtype: DType) -> tuple[int, int]:
    """Bytes per token of context, and per sequence whatever its length."""
    size = 4 if dtype == "f32" else 2
    per_token = sum(s.heads * (s.dim + (s.v_dim or s.dim)) * size for s in specs if isinstance(s, KVSpec))
    per_sequence = sum(
        s.channels * (s.kernel - 1) * size + s.heads * s.key_dim * s.value_dim * 4
        for s in specs
        if isinstance(s, StateSpec)
    )
    return per_token, per_sequence


def _text(found: Description, opened: Opened, dtype: DType) -> None:
    tokenizer = opened.tokenizer
    found.tokenizer = f"{tokenizer.vocab_size} tokens, ends at {', '.join(map(str, tokenizer.eos_ids)) or 'nothing'}"
    found.template = ", ".join(opened.template.names) or "none"
    found.sampling = sampling_defaults(opened.generation_config)


def _sight(found: Description, opened: Opened, dtype: DType) -> None:
    sight = make_sight(opened.config, Path(found.folder), lambda text: opened.tokenizer.encode(text, add_special=False))
    if sight is not None and any("patch_embed" in name for name in opened.tensors):
        found.sees = f"images, {sight.cap} pixels of each at most"
