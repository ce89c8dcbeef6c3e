"""A checkpoint folder's tensors as GGUF wants them: names, orders of rows, experts stacked, a type for each.

Works on one tensor at a time, when the writer asks for its bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.errors import WeightsError
from engine.models.config import TextConfig, text_config
from engine.weights.experts import is_stacked, stacked
from engine.weights.gguf.encode import encode
from engine.weights.gguf.names import to_gguf
from engine.weights.gguf.orders import grouped_heads, rotary_halves
from engine.weights.gguf.source import ROPE_FACTORS
from engine.weights.gguf.writer import Plan
from engine.weights.quantize import kind_for, stays_whole
from engine.weights.stored import Stored

_BODIES = ("model.language_model.", "language_model.model.")
_IGNORED = re.compile(r"rotary_emb\.inv_freq$|(^|\.)mtp\.|(^|\.)visual\.|(^|\.)vision_tower\.")


@dataclass(frozen=True)
class GgufLayout:
    """What a family's tensors go through on their way into a file."""

    arch: str
    config: TextConfig
    norms_hold_one: bool  # Qwen3.5: norms are saved as 1 + w already, as MLX does

    def moves(self, name: str) -> bool:
        """Whether `change` does anything."""
        if self.arch == "llama":
            return ".self_attn.q_proj" in name or ".self_attn.k_proj" in name
        return self.arch == "qwen35" and (name.endswith("norm.weight") or ".linear_attn." in name)

    def change(self, name: str, values: np.ndarray) -> np.ndarray:
        c = self.config
        part = re.sub(r"^model\.layers\.\d+\.", "", name)
        if self.arch == "llama" and part.startswith(("self_attn.q_proj", "self_attn.k_proj")):
            heads = c.heads if "q_proj" in part else c.kv_heads
            return values[np.argsort(rotary_halves(len(values), heads))]
        if self.arch == "qwen35":
            return self._delta(part, values)
        return values

    def _delta(self, part: str, values: np.ndarray) -> np.ndarray:
        if part.endswith("norm.weight") and part != "linear_attn.norm.weight":
            return values if self.norms_hold_one else values + 1
        if not part.startswith("linear_attn."):
            return values
        f = self.config.fields
        key_heads, value_heads = f.int("linear_num_key_heads"), f.int("linear_num_value_heads")
        keys, dim = key_heads * f.int("linear_key_head_dim"), f.int("linear_value_head_dim")
        heads, channels = (np.argsort(grouped_heads(key_heads, value_heads, n)) for n in (1, dim))
        match part.removeprefix("linear_attn."):
            case "A_log":
                return -np.exp(values)[heads]
            case "dt_bias" | "in_proj_a.weight" | "in_proj_b.weight":
                return values[heads]
            case "in_proj_z.weight":
                return values[channels]
            case "in_proj_qkv.weight":
                return np.concatenate([values[: 2 * keys], values[2 * keys :][channels]])
            case "conv1d.weight":
                values = values.reshape(len(values), -1)
                return np.concatenate([values[: 2 * keys], values[2 * keys :][channels]])
            case "out_proj.weight":
                return values[:, channels]
        return values


def plans(
    stored: Stored, config: Mapping[str, Any], arch: str, quant: str | None, factors: np.ndarray | None
) -> list[Plan]:
    """One plan a tensor of the GGUF file, in the order of the checkpoint."""
    tied = text_config(config).tied
    names = {_bare(full): full for full in stored.names if not _IGNORED.search(full)}
    if tied:
        names = {name: full for name, full in names.items() if not name.startswith("lm_head.")}
    units = stacked(names, stored.where)
    conv = next((stored.shape(parts[0]) for name, parts in units.items() if name.endswith("conv1d.weight")), ())
    layout = GgufLayout(arch, text_config(config), norms_hold_one=bool(conv) and conv[-1] == 1)
    found = [_plan(stored, layout, name, parts, quant) for name, parts in units.items()]
    if factors is not None:
        found.append(Plan(ROPE_FACTORS, "F32", factors.shape, lambda: [factors.tobytes()]))
    return found


def _bare(name: str) -> str:
    """Without what a vision tower beside the text model adds to names."""
    for body in _BODIES:
        if name.startswith(body):
            return f"model.{name.removeprefix(body)}"
    return name.removeprefix("language_model.")


def _plan(stored: Stored, layout: GgufLayout, name: str, parts: list[str], quant: str | None) -> Plan:
    theirs = to_gguf(layout.arch, name)
    if theirs is None:
        raise WeightsError(f"{stored.where}: tensor {name} has no place in a GGUF file of this architecture.")
    shape = stored.shape(parts[0])
    if name.endswith("conv1d.weight"):
        shape = (shape[0], int(np.prod(shape[1:])))
    if is_stacked(name) and len(shape) == 2:
        shape = (len(parts), *shape)
    kind = _kind(stored, name, parts[0], shape, quant)

    def data() -> Iterator[bytes]:
        for part in parts:
            if layout.moves(name):
                yield encode(layout.change(name, stored.values(part)), kind).tobytes()
            else:
                yield from (encode(rows, kind).tobytes() for rows in stored.rows(part))

    return Plan(theirs, kind, shape, data)


def _kind(stored: Stored, name: str, part: str, shape: tuple[int, ...], quant: str | None) -> str:
    """Vectors and what is small stay f32. Without `quant` matrices keep their type; packed ones become f16."""
    stem = name.removesuffix(".weight")
    if len(shape) < 2 or stays_whole(stem):
        return "F32"
    found = kind_for(quant, stem, shape) if quant else stored.dtype(part)
    return found or "F16"
