"""LoRA adapters as files: PEFT's folders, mlx-lm's, and llama.cpp's GGUF files, read into one form.

An adapter changes matrices of a model: `W x` becomes `W x + scale * B (A x)`. What a file asks for beyond that is refused by name,
since a part of an adapter is another adapter. Reads headers and settings; the numbers are read when a backend asks for them.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from backends.base import Raw
from engine.errors import ConfigError, ModelNotFound, UnsupportedArchitecture, WeightsError
from engine.hub.cache import ADAPTER, adapter_base
from engine.weights.expert_lora import expert_matrix, peft_experts, peft_parameter
from engine.weights.gguf import reader
from engine.weights.gguf.blocks import dequantize
from engine.weights.gguf.names import to_model
from engine.weights.gguf.orders import rotary_halves
from engine.weights.gguf.source import PAIRED
from engine.weights.lora_pair import LoraPair
from engine.weights.made import computed
from engine.weights.pickled import read_pickled
from engine.weights.safetensors import read_file
from engine.weights.source import FLOATS

PEFT_FILES = ("adapter_model.safetensors", "adapter_model.bin")
MLX_FILE = "adapters.safetensors"

_PEFT_NAME = re.compile(r"(?:base_model\.model\.)?(.+?)\.(lora_[AB]|lora_embedding_[AB]|lora_magnitude_vector)(\..+)?$")
_LAYER = re.compile(r"(?:^|\.)(layers\.\d+\..+)$")
_BODY = re.compile(r"^((model|language_model|text_model|backbone)\.)+")
_NOT_TEXT = re.compile(r"(^|[._])(vision|visual|audio|image|multi_modal_projector)")
# PEFT's settings that change what an adapter computes, and what they are called
_REFUSED = {
    "lora_bias": "biases of its own (lora_bias)",
    "modules_to_save": "whole modules of its own (modules_to_save)",
    "trainable_token_indices": "embeddings of its own (trainable_token_indices)",
    "layer_replication": "replicated layers (layer_replication)",
    "alora_invocation_tokens": "activation by tokens (aLoRA)",
    "use_qalora": "QALoRA",
    "use_bdlora": "BD-LoRA",
    "arrow_config": "Arrow's routing",
    "kasa_config": "KaSA",
    "velora_config": "VeLoRA",
    "monteclora_config": "MonteCLoRA",
    "megatron_config": "Megatron's layers",
}
_MOVES_THE_BASE = ("pissa", "olora", "corda", "loftq", "lora_ga")  # initializations that change the base's weights too


@dataclass(frozen=True)
class LoraFiles:
    """An adapter as it is stored."""

    where: str
    form: str  # PEFT, MLX or GGUF
    base: str  # the model that it was made for, as the files call it; empty where they do not
    pairs: Mapping[str, LoraPair]  # by the name of the matrix
    arch: str = ""  # of a GGUF file

    @property
    def nbytes(self) -> int:
        return sum(pair.nbytes for pair in self.pairs.values())

    @property
    def ranks(self) -> list[int]:
        return sorted({pair.a.shape[-2] for pair in self.pairs.values()})

    @property
    def targets(self) -> list[str]:
        """The last words of the matrices' names."""
        return sorted({name.rpartition(".")[2] for name in self.pairs})

    def times(self, factor: float) -> LoraFiles:
        """The adapter with another strength."""
        pairs = {name: replace(pair, scale=pair.scale * factor) for name, pair in self.pairs.items()}
        return replace(self, pairs=pairs)

    @cached_property
    def digest(self) -> str:
        """Changes with the adapter's numbers: they are few, so all of them are read."""
        sha = hashlib.sha256()
        for name, pair in sorted(self.pairs.items()):
            sha.update(f"{name} {pair.scale!r} {pair.a.dtype} {pair.a.shape} {pair.b.shape}\0".encode())
            for raw in (pair.a, pair.b, pair.magnitude):
                sha.update(raw.buffer if raw else b"")
        return sha.hexdigest()[:16]


def is_adapter(path: Path) -> bool:
    """Whether a folder or a file holds an adapter instead of a model."""
    if path.is_dir():
        return adapter_base(path) is not None
    try:
        return path.suffix == ".gguf" and reader.read(path).metadata.get("general.type") == "adapter"
    except WeightsError:
        return False


def open_lora(path: Path) -> LoraFiles:
    """Raises ModelNotFound, ConfigError, WeightsError or UnsupportedArchitecture, each of one sentence or two."""
    if path.is_file():
        return _gguf(path)
    if not (path / ADAPTER).is_file():
        reason = f"has no {ADAPTER}, so it is not an adapter's folder" if path.is_dir() else "does not exist"
        raise ModelNotFound(f"{path} {reason}.")
    config = _config(path / ADAPTER)
    if (path / MLX_FILE).is_file() and "peft_type" not in config:
        return _mlx(path, config)
    return _peft(path, config)


def _config(file: Path) -> dict[str, Any]:
    try:
        value = json.loads(file.read_bytes())
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror or error}.") from None
    except (ValueError, RecursionError):
        raise ConfigError(f"{file} is not valid JSON.") from None
    if not isinstance(value, dict):
        raise ConfigError(f"{file} must hold a JSON object, not {type(value).__name__}.")
    return value


# -- PEFT: adapter_model.safetensors, `base_model.model.NAME.lora_A.weight`


def _peft(folder: Path, config: Mapping[str, Any]) -> LoraFiles:
    kind = config.get("peft_type", "LORA")
    if kind != "LORA":
        raise UnsupportedArchitecture(f"{folder} is an adapter of the kind {kind!r:.60}; Grus reads LoRA alone.")
    for field, what in _REFUSED.items():
        if config.get(field):
            raise UnsupportedArchitecture(f"The adapter {folder} has {what}, which Grus does not compute.")
    start = config.get("init_lora_weights")
    if isinstance(start, str) and start.lower().startswith(_MOVES_THE_BASE):
        raise UnsupportedArchitecture(
            f"The adapter {folder} was begun by {start:.40}, which changes the base model too. Save it with PEFT's "
            "path_initial_model_for_weight_conversion, which makes a plain LoRA of it."
        )
    if config.get("bias", "none") != "none":
        raise UnsupportedArchitecture(f"The adapter {folder} has biases of its own, which Grus does not compute.")
    file = next((folder / name for name in PEFT_FILES if (folder / name).is_file()), None)
    if file is None:
        raise WeightsError(f"{folder} has no {PEFT_FILES[0]}. Download the adapter again.")
    halves: dict[str, dict[str, Raw]] = {}
    for name, raw in (read_pickled(file) if file.suffix == ".bin" else read_file(file)).items():
        found = _PEFT_NAME.fullmatch(name)
        if found is None:
            raise UnsupportedArchitecture(
                f"The adapter {folder} has the tensor {name:.200}, which is no part of a LoRA."
            )
        module, part = found[1], found[2]
        if part.startswith("lora_embedding"):
            raise UnsupportedArchitecture(f"The adapter {folder} changes the embedding, which Grus does not compute.")
        halves.setdefault(module, {})["m" if part == "lora_magnitude_vector" else part[-1].lower()] = raw
    scale = _PeftScale(folder / ADAPTER, config)
    pairs = {}
    for stored, both in halves.items():
        module = _peft_module(folder, stored, config)
        if "m" in both and not config.get("use_dora"):
            raise WeightsError(f"The adapter {folder} has sizes of DoRA for {module:.200}, but use_dora is not set.")
        place, parts = expert_matrix(module), both
        if place is not None and place.expert is None:
            parts = _peft_stacked(folder, module, both, scale.rank(module))
        pairs[module] = _pair(folder, module, parts, scale.of(module, parts), bool(config.get("use_dora")))
    return _checked(LoraFiles(str(folder), "PEFT", str(config.get("base_model_name_or_path") or ""), pairs))


def _peft_module(folder: Path, stored: str, config: Mapping[str, Any]) -> str:
    """The name of the matrix that a module of the file changes: of one that holds experts, by `target_parameters`."""
    if not re.search(r"\.(experts|base_layer)$", stored):
        return stored
    targets = config.get("target_parameters")
    found = peft_parameter(stored, [str(target) for target in targets] if isinstance(targets, list) else [])
    if not found or expert_matrix(found) is None:
        raise UnsupportedArchitecture(
            f"The adapter {folder} changes {stored:.200}, which its target_parameters do not name as a matrix of experts."
        )
    return found


def _peft_stacked(folder: Path, module: str, both: dict[str, Raw], rank: float) -> dict[str, Raw]:
    """The matrices of all experts, which PEFT stores as one of each half."""
    a, b = both.get("a"), both.get("b")
    if (
        a is None
        or b is None
        or len(a.shape) != 2
        or len(b.shape) != 2
        or a.dtype not in FLOATS
        or b.dtype not in FLOATS
    ):
        return both  # refused below
    if rank != int(rank) or 0 in a.shape or a.shape[0] % int(rank) or b.shape[1] != a.shape[0]:
        raise WeightsError(
            f"The adapter {folder} has for {module:.200} the shapes {list(a.shape)} and {list(b.shape)}, which are not of rank {rank:g}."
        )
    lowered, raised = peft_experts(a, b, int(rank))
    return {**both, "a": lowered, "b": raised}


class _PeftScale:
    """`alpha / rank`, or `alpha / sqrt(rank)` of rsLoRA, with the ranks and alphas of some modules."""

    def __init__(self, where: Path, config: Mapping[str, Any]) -> None:
        self._where = where
        self._root = config.get("use_rslora") is True
        self._alpha = self._number(config.get("lora_alpha", 8), "lora_alpha")
        self._rank = self._number(config.get("r", 8), "r")
        self._alphas = self._patterns(config, "alpha_pattern")
        self._ranks = self._patterns(config, "rank_pattern")

    def of(self, module: str, both: Mapping[str, Raw]) -> float:
        alpha = self._first(self._alphas, module, self._alpha)
        rank, a = self.rank(module), both.get("a")
        # other shapes are refused below
        stored = a.shape[-2] if a is not None and len(a.shape) in (2, 3) and a.shape[-2] else rank
        if rank != stored:
            raise ConfigError(f"{self._where} gives {module} the rank {rank:g}, but its tensors have {stored}.")
        return alpha / (math.sqrt(rank) if self._root else rank)

    def rank(self, module: str) -> float:
        return self._first(self._ranks, module, self._rank)

    def _patterns(self, config: Mapping[str, Any], field: str) -> dict[str, float]:
        given = config.get(field) or {}
        if not isinstance(given, dict):
            raise ConfigError(f"{self._where}: {field} must be an object, not {type(given).__name__}.")
        return {str(key): self._number(value, field) for key, value in given.items()}

    def _number(self, value: Any, field: str) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e9:
            raise ConfigError(f"{self._where}: {field} must be a number above 0, not {value!r:.60}.")
        return value

    def _first(self, patterns: Mapping[str, float], module: str, otherwise: float) -> float:
        """PEFT's rule: the first pattern that is the module's name, or an end of it behind a dot."""
        for pattern, value in patterns.items():
            try:
                if re.match(rf"(.*\.)?({pattern})$", module):
                    return value
            except re.error:
                raise ConfigError(f"{self._where} has the pattern {pattern!r:.80}, which is no expression.") from None
        return otherwise


# -- mlx-lm: adapters.safetensors, `NAME.lora_a` [in, rank] and `NAME.lora_b` [rank, out]


def _mlx(folder: Path, config: Mapping[str, Any]) -> LoraFiles:
    kind = config.get("fine_tune_type", "lora")
    if kind not in ("lora", "dora"):
        raise UnsupportedArchitecture(f"The adapter {folder} was tuned by {kind!r:.40}; Grus reads LoRA and DoRA.")
    given = config.get("lora_parameters")
    scale = (given if isinstance(given, dict) else {}).get("scale")
    if isinstance(scale, bool) or not isinstance(scale, int | float) or not math.isfinite(scale):
        raise ConfigError(
            f"{folder / ADAPTER} has no lora_parameters with a scale, so the adapter's strength is unknown."
        )
    halves: dict[str, dict[str, Raw]] = {}
    for name, raw in read_file(folder / MLX_FILE).items():
        module, _, part = name.rpartition(".")
        if part not in ("lora_a", "lora_b", *["m"] * (kind == "dora")) or not module:
            raise UnsupportedArchitecture(
                f"The adapter {folder} has the tensor {name:.200}, which is no part of a LoRA."
            )
        # those of experts, with three axes, are stored as they are
        halves.setdefault(module, {})[part[-1]] = raw if part == "m" else _transposed(raw)
    pairs = {module: _pair(folder, module, both, float(scale), kind == "dora") for module, both in halves.items()}
    return _checked(LoraFiles(str(folder), "MLX", str(config.get("model") or ""), pairs))


def _transposed(raw: Raw) -> Raw:
    if len(raw.shape) != 2 or raw.dtype not in FLOATS:
        return raw  # refused below
    return computed(raw, raw.shape[::-1], lambda: dequantize(raw).T)


# -- llama.cpp: a GGUF file of the type "adapter", `blk.0.attn_q.weight.lora_a`


def _gguf(path: Path) -> LoraFiles:
    file = reader.read(path)
    data = file.metadata
    if data.get("general.type") != "adapter" or data.get("adapter.type") != "lora":
        raise UnsupportedArchitecture(f"{path} is a model, or another kind of adapter; Grus reads LoRA adapters alone.")
    arch, alpha = str(data.get("general.architecture")), data.get("adapter.lora.alpha")
    if isinstance(alpha, bool) or not isinstance(alpha, int | float) or not math.isfinite(alpha):
        raise ConfigError(f"{path} has no adapter.lora.alpha, so the adapter's strength is unknown.")
    halves: dict[str, dict[str, Raw]] = {}
    for name, raw in file.tensors.items():
        stem, _, part = name.rpartition(".")
        if part not in ("lora_a", "lora_b"):
            raise UnsupportedArchitecture(f"The adapter {path} has the tensor {name:.200}, which is no part of a LoRA.")
        halves.setdefault(to_model(arch, stem).removesuffix(".weight"), {})[part[-1]] = raw
    pairs = {}
    for module, both in halves.items():
        rank = both["a"].shape[-2] if "a" in both and len(both["a"].shape) > 1 else 0
        pairs[module] = _pair(path, module, both, alpha / rank if alpha and rank else 1.0)
    base = data.get("general.base_model.0.repo_url") or data.get("general.base_model.0.name") or ""
    return _checked(LoraFiles(str(path), "GGUF", str(base).removeprefix("https://huggingface.co/"), pairs, arch))


def _pair(where: Path, module: str, both: Mapping[str, Raw], scale: float, dora: bool = False) -> LoraPair:
    for half in "ab":
        if half not in both:
            raise WeightsError(f"The adapter {where} has no lora_{half.upper()} for {module:.200}. Download it again.")
    a, b, sizes = both["a"], both["b"], both.get("m")
    place = expert_matrix(module)
    axes = 3 if place is not None and place.expert is None else 2
    for raw in (a, b):
        if raw.dtype not in FLOATS or len(raw.shape) != axes or 0 in raw.shape:
            stored = f"{raw.dtype} {list(raw.shape)}"
            what = "a matrix of floats" if axes == 2 else "a matrix of floats for each expert"
            raise WeightsError(f"The adapter {where} stores {raw.name:.200} as {stored}; {what} is needed.")
    if a.shape[-2] != b.shape[-1] or a.shape[:-2] != b.shape[:-2]:
        raise WeightsError(
            f"The adapter {where} has for {module:.200} the shapes {list(a.shape)} and {list(b.shape)}, which have no rank in common."
        )
    if dora and (sizes is None or sizes.dtype not in FLOATS or math.prod(sizes.shape) != b.shape[-2]):
        stored = "none" if sizes is None else f"{sizes.dtype} {list(sizes.shape)}"
        raise WeightsError(
            f"The adapter {where} needs {b.shape[-2]:,} sizes (DoRA) for {module:.200}, and has {stored}."
        )
    return LoraPair(a, b, scale, sizes)


def _checked(files: LoraFiles) -> LoraFiles:
    if not files.pairs:
        raise WeightsError(f"The adapter {files.where} changes no matrix: it holds no LoRA tensors.")
    return files


# -- an adapter's names and a model's


def tail(name: str) -> str:
    """A matrix's name from its layer on, which all spellings share: transformers, MLX and GGUF put other words before it. One
    outside of the layers without these words."""
    found = _LAYER.search(name)
    return found[1] if found else _BODY.sub("", name)


def is_text(name: str) -> bool:
    return _NOT_TEXT.search(name) is None


def fitted(
    files: LoraFiles,
    shapes: Mapping[str, tuple[int, ...]],
    config: Mapping[str, Any],
    done: Collection[str] | None = None,
) -> dict[str, LoraPair]:
    """The adapter's pairs by the names of the model's matrices, which have these `shapes`; without those `done`, modules of the
    adapter that are merged into weights. None: nothing is merged, requests choose the adapter. Raises for what does not fit."""
    by_tail = {tail(name): name for name in shapes if is_text(name)}
    if "lm_head" not in by_tail and "embed_tokens" in by_tail:
        by_tail["lm_head"] = by_tail["embed_tokens"]
    found: dict[str, LoraPair] = {}
    unknown = []
    for module, pair in files.pairs.items():
        if module in (done or ()):
            continue
        if done is None and (pair.magnitude is not None or expert_matrix(module) is not None):
            what = "has DoRA" if pair.magnitude is not None else "changes a mixture's experts"
            raise UnsupportedArchitecture(
                f"The adapter {files.where} {what}, for {module:.200}, and can only be merged while its model loads: give it "
                "without a name."
            )
        if not is_text(module):
            raise UnsupportedArchitecture(
                f"The adapter {files.where} changes {module:.200}; Grus applies adapters to the language model alone."
            )
        name = by_tail.get(tail(module))
        if name is None or tail(module) == "embed_tokens":
            unknown.append(module)
            continue
        pair = in_models_order(files, module, pair, config)
        if pair.shape != tuple(shapes[name]):
            raise WeightsError(
                f"The adapter {files.where} does not fit this model: for {module:.200} it is made for {list(pair.shape)}, the model "
                f"has {list(shapes[name])}. {_made_for(files)}"
            )
        found[name] = pair
    if unknown:
        more = f" and {len(unknown) - 3:,} more" if len(unknown) > 3 else ""
        raise WeightsError(
            f"The adapter {files.where} changes {', '.join(unknown[:3])}{more}, which this model has not, or not as a matrix "
            f"that adapters can change. {_made_for(files)}"
        )
    return found


def _made_for(files: LoraFiles) -> str:
    return f"It was made for {files.base:.200}." if files.base else "Its files do not say for which model it was made."


def in_models_order(files: LoraFiles, module: str, pair: LoraPair, config: Mapping[str, Any]) -> LoraPair:
    """GGUF stores the rows of some matrices in another order than models have them."""
    if files.form != "GGUF":
        return pair
    part = tail(module).partition(".")[2].partition(".")[2]
    if part.startswith(("linear_attn.", "mamba.", "mixer.")):
        raise UnsupportedArchitecture(
            f"The adapter {files.where} changes {module:.200}, whose rows GGUF stores in another order; use its PEFT folder."
        )
    if files.arch not in PAIRED or part not in ("self_attn.q_proj", "self_attn.k_proj"):
        return pair
    heads = config.get("num_attention_heads" if part.endswith("q_proj") else "num_key_value_heads")
    rows, b = pair.b.shape[0], pair.b
    if not isinstance(heads, int) or heads <= 0 or rows % (2 * heads):
        return pair  # its shape does not fit either
    order = rotary_halves(rows, heads)
    return replace(pair, b=computed(b, b.shape, lambda: dequantize(b)[order]))
