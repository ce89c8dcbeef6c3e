"""A checkpoint's tensors as the plans of a GGUF file: names, and a type for each.

What becomes of their numbers is in `layouts`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from engine.errors import WeightsError
from engine.models.config import TextConfig
from engine.models.glm_ocr import PARTIAL, glm_rope
from engine.weights.folder import stacked
from engine.weights.gguf.encode import encode
from engine.weights.gguf.families import config_of
from engine.weights.gguf.layouts import GgufLayout, Tensor, stacked_tensor, stored_tensor
from engine.weights.gguf.names import STACKED, to_gguf
from engine.weights.gguf.writer import Plan
from engine.weights.quantize import kind_for, stays_whole
from engine.weights.stored import Stored

_BODIES = ("model.language_model.", "language_model.model.", "model.text_model.")
_TOWERS = "visual|vision_(tower|model|adapter|projection|embedder)|audio_tower|embed_(vision|audio)|multi_modal_projector|connector"
_IGNORED = re.compile(rf"rotary_emb\.inv_freq$|(^|\.)mtp\.|^model\.mtp_|(^|\.)({_TOWERS})\.")
_PER_LAYER = "per_layer_token_embd.weight"
_SMALL = re.compile(r"\.altup\.|\.router\.(proj|scale)")  # matrices of a few rows


def plans(
    stored: Stored, config: Mapping[str, Any], arch: str, quant: str | None, factors: Mapping[str, np.ndarray]
) -> list[Plan]:
    """One plan a tensor of the GGUF file, in the order of the checkpoint."""
    c = config_of(config, arch)
    names = {_bare(full): full for full in stored.names if not _IGNORED.search(full)}
    if c.tied:
        names = {name: full for name, full in names.items() if not name.startswith("lm_head.")}
    names = {name: full for name, full in names.items() if not _behind(name, c.layers)}
    units = stacked(names, stored.where)
    conv = next((stored.shape(parts[0]) for name, parts in units.items() if name.endswith("conv1d.weight")), ())
    layout = GgufLayout(
        arch,
        c,
        norms_hold_one=(bool(conv) and conv[-1] == 1) or c.fields.flag("norms_hold_one"),
        paired=_paired(config, c),
    )
    found: list[Plan] = []
    numbered: dict[str, dict[str, Tensor]] = {}
    for name, parts in units.items():
        tensors = [stored_tensor(stored, part) for part in parts]
        whole = stacked_tensor(tensors) if ".switch_mlp." in name and len(tensors[0].shape) == 2 else tensors[0]
        if group := next((theirs for theirs, ours in STACKED.items() if _matches(ours, name)), None):
            numbered.setdefault(group, {})[name] = whole
            continue
        for ours, tensor in layout.tensors(name, whole):
            theirs = to_gguf(arch, ours)
            if theirs is None:
                raise WeightsError(f"{stored.where}: tensor {name} has no place in a GGUF file of this architecture.")
            found.append(_plan(theirs, ours, tensor, quant))
    for theirs, each in numbered.items():
        in_order = [each[name] for name in sorted(each, key=lambda name: int(re.findall(r"\d+", name)[0]))]
        found.append(_plan(theirs, theirs.removesuffix(".weight"), stacked_tensor(in_order), quant))
    found = [_padded(plan, c.vocab) if plan.name == _PER_LAYER and plan.shape[0] < c.vocab else plan for plan in found]
    there = {plan.name for plan in found}
    found += [_constant(name, *given) for name, given in _implied(arch, c).items() if name not in there]
    found += [Plan(name, "F32", values.shape, partial(_bytes_of, values)) for name, values in factors.items()]
    return found


def _paired(config: Mapping[str, Any], c: TextConfig) -> int:
    """Dimensions of a head that turn in pairs of neighbours, where files have halves that turn together: GLM's with positions on axes."""
    model_type = str(config.get("model_type"))
    return glm_rope(c, model_type).dims if model_type in PARTIAL else 0


def _bytes_of(values: np.ndarray) -> list[bytes]:
    return [values.tobytes()]


def _matches(pattern: str, name: str) -> bool:
    before, _, behind = pattern.partition("{}")
    return name.startswith(before) and name.endswith(behind)


def _bare(name: str) -> str:
    """Without what a vision tower beside the text model adds to names."""
    for body in _BODIES:
        if name.startswith(body):
            return f"model.{name.removeprefix(body)}"
    return name.removeprefix("language_model.")


def _behind(name: str, layers: int) -> bool:
    """Whether a tensor is of a layer that guesses ahead."""
    match = re.match(r"(model|backbone)\.layers\.(\d+)\.", name)
    return match is not None and int(match[2]) >= layers


def _plan(theirs: str, ours: str, tensor: Tensor, quant: str | None) -> Plan:
    kind = _kind(ours, tensor, quant)

    def data() -> Iterator[bytes]:
        for rows in tensor.rows():
            yield (rows if tensor.blocks else encode(rows, kind)).tobytes()

    return Plan(theirs, kind, tensor.shape, data)


def _kind(name: str, tensor: Tensor, quant: str | None) -> str:
    """Vectors and what is small stay f32. Without `quant` matrices keep their type; packed ones become f16, unless a GGUF file can
    hold them as they are."""
    stem, shape = name.removesuffix(".weight"), tensor.shape
    vector = len(shape) < 2 or stem.endswith((".bias", ".A_log", ".D", "mixer.norm", "mamba.norm"))
    latent = stem.endswith(("embed_q", "unembed_out"))
    if vector or (stays_whole(stem) and not latent) or _SMALL.search(name):
        return "F32"
    if tensor.blocks:
        return tensor.blocks
    found = kind_for(quant, stem, shape) if quant and not latent else tensor.dtype
    return found or "F16"


def _implied(arch: str, c: TextConfig) -> dict[str, tuple[float, tuple[int, ...]]]:
    """Tensors that readers want and checkpoints may lack, with the number that fills each: Muse Glimmer's factor of queries is the weight
    of a norm; Gemma 3n's layers that read others' keys and values have matrices of their own, which nothing uses."""
    kv, dim = c.kv_heads * c.head_dim, (c.head_dim,)
    given: dict[str, tuple[float, tuple[int, ...]]]
    if arch == "muse-glimmer":
        given = {"q_norm": (c.fields.float("qk_scale_factor", default=3.87), dim), "k_norm": (1.0, dim)}
    elif arch == "gemma3n":
        given = {"k": (1.0, (kv, c.hidden)), "v": (1.0, (kv, c.hidden)), "k_norm": (1.0, dim)}
    else:
        return {}
    return {f"blk.{i}.attn_{name}.weight": one for i in range(c.layers) for name, one in given.items()}


def _constant(name: str, number: float, shape: tuple[int, ...]) -> Plan:
    kind = "F16" if len(shape) > 1 else "F32"
    return Plan(name, kind, shape, lambda: [encode(np.full(shape, number, np.float32), kind).tobytes()])


def _padded(plan: Plan, rows: int) -> Plan:
    """With a row for every token: those behind the table stand for pictures and sound, and theirs is the first one."""
    missing, row_bytes = rows - plan.shape[0], plan.nbytes // plan.shape[0]

    def data() -> Iterator[bytes | memoryview]:
        first = b""
        for chunk in plan.data():
            first = first or bytes(chunk[:row_bytes])
            yield chunk
        for _ in range(missing):
            yield first

    return Plan(plan.name, plan.kind, (rows, *plan.shape[1:]), data)
