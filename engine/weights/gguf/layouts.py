"""What a checkpoint's tensors go through on their way into a GGUF file: fused ones apart, in GGUF's order of rows, as its functions.

The way back of `source`. A `Tensor` is made when the writer asks for it, so no two need to be in memory.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from engine.models.config import TextConfig
from engine.weights.gguf.orders import grouped_heads, halves_of_pairs, rotary_halves
from engine.weights.gguf.source import PAIRED
from engine.weights.gguf.types import TYPES
from engine.weights.stored import Stored

Change = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Tensor:
    shape: tuple[int, ...]
    dtype: str | None  # the float type it is stored in; None: it is quantized, and decoded here
    rows: Callable[[], Iterator[np.ndarray]]  # [n, columns] f32, or bytes
    blocks: str | None = None  # the rows are bytes of blocks of this type

    def whole(self) -> np.ndarray:
        width = self.shape[-1] if self.blocks is None else TYPES[self.blocks].row_bytes(self.shape[-1])
        return np.concatenate([part.reshape(-1) for part in self.rows()]).reshape(*self.shape[:-1], width)

    def changed(self, change: Change, shape: tuple[int, ...] | None = None) -> Tensor:
        """`change` moves rows where these are blocks, and anything else where they are numbers."""

        def rows() -> Iterator[np.ndarray]:
            made = change(self.whole())
            yield made.reshape(-1, made.shape[-1])

        return replace(self, shape=shape or self.shape, rows=rows)

    def shaped(self, *shape: int) -> Tensor:
        """The same numbers: columns stay, or there is one row."""
        return replace(self, shape=shape)

    def part(self, taken: slice) -> Tensor:
        """Some of the outputs, which are the last axis but one."""
        *outer, outputs, columns = self.shape
        return self.changed(lambda x: x[..., taken, :], (*outer, len(range(outputs)[taken]), columns))

    def halves(self) -> tuple[Tensor, Tensor]:
        half = self.shape[-2] // 2
        return self.part(slice(half)), self.part(slice(half, None))


def stored_tensor(stored: Stored, name: str) -> Tensor:
    kept = stored.blocks(name)
    if kept is None:
        return Tensor(stored.shape(name), stored.dtype(name), lambda: stored.rows(name))

    def rows() -> Iterator[np.ndarray]:
        made = np.frombuffer(kept.data.buffer, np.uint8)
        yield made.reshape(-1, TYPES[kept.type].row_bytes(kept.shape[-1]))

    return Tensor(kept.shape, None, rows, kept.type)


def stacked_tensor(tensors: Sequence[Tensor]) -> Tensor:
    """One behind the other, along a new first axis."""

    def rows() -> Iterator[np.ndarray]:
        for tensor in tensors:
            yield from tensor.rows()

    return replace(tensors[0], shape=(len(tensors), *tensors[0].shape), rows=rows)


_RENAMED = (
    (re.compile(r"\.switch_mlp\.w1\."), ".switch_mlp.gate_proj."),
    (re.compile(r"\.switch_mlp\.w2\."), ".switch_mlp.down_proj."),
    (re.compile(r"\.switch_mlp\.w3\."), ".switch_mlp.up_proj."),
)
_OF_FAMILIES = {
    "gemma4": ((re.compile(r"\.switch_glu\.down_proj\."), ".down_proj."),),
    "laguna": (
        (re.compile(r"\.mlp\.gate\.proj\."), ".mlp.gate."),
        (re.compile(r"\.mlp\.gate\.e_score"), ".mlp.experts.e_score"),
    ),
    **dict.fromkeys(
        ("nemotron_h", "nemotron_h_moe"),
        (
            (re.compile(r"^model\."), "backbone."),
            (re.compile(r"\.switch_mlp\.up_proj\."), ".switch_mlp.fc1."),
            (re.compile(r"\.switch_mlp\.down_proj\."), ".switch_mlp.fc2."),
        ),
    ),
}


@dataclass(frozen=True)
class GgufLayout:
    """Of one checkpoint."""

    arch: str
    config: TextConfig
    norms_hold_one: bool  # Qwen3.5: norms are saved as 1 + w already, as MLX does
    paired: int = 0  # dimensions of a head in pairs that come apart: first all firsts, then all seconds

    def tensors(self, name: str, tensor: Tensor) -> Iterator[tuple[str, Tensor]]:
        """What a tensor of the checkpoint becomes, still in models' names."""
        for apart, part in self._apart(name, tensor):
            named = apart
            for pattern, other in (*_RENAMED, *_OF_FAMILIES.get(self.arch, ())):
                named = pattern.sub(other, named)
            yield named, self._changed(re.sub(r"^(model|backbone)\.layers\.\d+\.", "", named), part)

    def _apart(self, name: str, tensor: Tensor) -> Iterator[tuple[str, Tensor]]:
        stem = name.removesuffix(".weight")
        before, _, part = stem.rpartition(".")
        if self.arch == "qwen3vlmoe" and before.endswith(".experts"):
            tensor = self._outputs_first(part, tensor)
        if self.arch == "gpt-oss" and before.endswith(".experts"):
            yield from _alternating(before.removesuffix("experts") + "switch_mlp", part, tensor)
        elif self.arch == "gemma4" and before.endswith(".experts"):  # its files have gates and ups in one tensor
            yield f"{stem}.weight", tensor
        elif before.endswith(".experts") and part == "gate_up_proj":
            yield from _gates_and_ups(before.removesuffix("experts") + "switch_mlp", tensor)
        elif before.endswith(".experts") and part == "down_proj":
            yield f"{before.removesuffix('experts')}switch_mlp.down_proj.weight", tensor
        elif part in ("input_linear", "output_linear"):  # Granite's
            of_all = before.endswith("block_sparse_moe")
            dense = not self.config.fields.find("num_local_experts", "num_experts", default=0)
            stem = f"{before}.switch_mlp" if of_all else before.replace("shared_mlp", "mlp") if dense else before
            if part == "input_linear":
                yield from _gates_and_ups(stem, tensor)
            else:
                yield f"{stem}.down_proj.weight", tensor
        elif part == "kv_b_proj":
            yield from self._latent(before, tensor)
        elif part == "in_proj_qkvz":
            yield from self._delta_apart(before, tensor)
        else:
            yield name, tensor

    def _outputs_first(self, part: str, tensor: Tensor) -> Tensor:
        """Qwen3-VL's experts are published with inputs first."""
        hidden, inputs_first = self.config.hidden, -2 if part == "gate_up_proj" else -1
        if tensor.blocks is not None or len(tensor.shape) != 3 or tensor.shape[inputs_first] != hidden:
            return tensor
        if tensor.shape[-2] == tensor.shape[-1]:
            return tensor
        experts, inp, out = tensor.shape
        return tensor.changed(lambda x: np.ascontiguousarray(x.swapaxes(1, 2)), (experts, out, inp))

    def _latent(self, stem: str, tensor: Tensor) -> Iterator[tuple[str, Tensor]]:
        """Keys' projections have latents as outputs."""
        f, heads, rank = self.config.fields, self.config.heads, tensor.shape[-1]
        key, value = f.int("qk_nope_head_dim"), f.int("v_head_dim")

        def keys(x: np.ndarray) -> np.ndarray:
            return x.reshape(heads, key + value, rank)[:, :key].swapaxes(1, 2)

        def values(x: np.ndarray) -> np.ndarray:
            return x.reshape(heads, key + value, rank)[:, key:]

        yield f"{stem}.embed_q.weight", tensor.changed(keys, (heads, rank, key))
        yield f"{stem}.unembed_out.weight", tensor.changed(values, (heads, value, rank))

    def _delta_apart(self, stem: str, tensor: Tensor) -> Iterator[tuple[str, Tensor]]:
        """Qwen3-Next's: queries, keys, values and gates of one key head lie side by side."""
        f = self.config.fields
        heads, size = f.int("linear_num_key_heads"), f.int("linear_key_head_dim")
        wide = f.int("linear_num_value_heads") // heads * f.int("linear_value_head_dim")
        ends = [size, 2 * size, 2 * size + wide, 2 * size + 2 * wide]

        def taken(first: int, last: int) -> Change:
            def change(x: np.ndarray) -> np.ndarray:
                parts = np.split(x.reshape(heads, ends[-1], -1), ends[:-1], 1)[first:last]
                return np.concatenate([part.reshape(-1, x.shape[-1]) for part in parts])

            return change

        columns = tensor.shape[-1]
        yield f"{stem}.in_proj_qkv.weight", tensor.changed(taken(0, 3), (heads * ends[2], columns))
        yield f"{stem}.in_proj_z.weight", tensor.changed(taken(3, 4), (heads * wide, columns))

    def _changed(self, part: str, tensor: Tensor) -> Tensor:
        """`part` is the name within a layer."""
        c = self.config
        if part.endswith(("conv1d.weight", "conv.conv.weight")):
            tensor = tensor.shaped(tensor.shape[0], int(np.prod(tensor.shape[1:])))
        if part.endswith("moe_statics.e_score_correction_bias") or part == "mlp.shared_expert_gate.weight":
            return tensor.shaped(int(np.prod(tensor.shape)))
        if self.arch in PAIRED and part.startswith(("self_attn.q_proj", "self_attn.k_proj")):
            order = np.argsort(rotary_halves(tensor.shape[0], c.heads if "q_proj" in part else c.kv_heads))
            return tensor.changed(lambda x: x[order])
        if self.paired and part.startswith(("self_attn.q_proj", "self_attn.k_proj")):
            order = halves_of_pairs(tensor.shape[0], c.heads if "q_proj" in part else c.kv_heads, self.paired)
            return tensor.changed(lambda x: x[order])
        if self.arch in ("gemma3", "muse-glimmer") and part.endswith("norm.weight"):
            held = self.norms_hold_one or (self.arch == "muse-glimmer" and not part.endswith("layernorm.weight"))
            return tensor if held else tensor.changed(lambda x: x + 1)
        if self.arch in ("qwen35", "qwen35moe", "qwen3next"):
            return self._delta(part, tensor)
        if part.startswith(("mamba.", "mixer.")):
            return self._mamba(part.partition(".")[2], tensor)
        return tensor

    def _delta(self, part: str, tensor: Tensor) -> Tensor:
        if part.endswith("norm.weight") and part != "linear_attn.norm.weight":
            return tensor if self.norms_hold_one else tensor.changed(lambda x: x + 1)
        if not part.startswith("linear_attn."):
            return tensor
        f = self.config.fields
        key_heads, value_heads = f.int("linear_num_key_heads"), f.int("linear_num_value_heads")
        keys, dim = key_heads * f.int("linear_key_head_dim"), f.int("linear_value_head_dim")
        heads, channels = (np.argsort(grouped_heads(key_heads, value_heads, n)) for n in (1, dim))
        if self.arch == "qwen3next":  # whose heads stay grouped
            heads, channels = np.sort(heads), np.sort(channels)
        match part.removeprefix("linear_attn."):
            case "A_log":
                return tensor.changed(lambda x: -np.exp(x)[..., heads])
            case "dt_bias":
                return tensor.changed(lambda x: x[..., heads])
            case "in_proj_a.weight" | "in_proj_b.weight":
                return tensor.changed(lambda x: x[heads])
            case "in_proj_z.weight":
                return tensor.changed(lambda x: x[channels])
            case "in_proj_qkv.weight" | "conv1d.weight":
                return tensor.changed(lambda x: np.concatenate([x[: 2 * keys], x[2 * keys :][channels]]))
            case "out_proj.weight":
                return tensor.changed(lambda x: x[:, channels])
        return tensor

    def _mamba(self, part: str, tensor: Tensor) -> Tensor:
        """Heads, and groups of the norm, have an axis of their own."""
        groups = self.config.fields.int("mamba_n_groups", "n_groups", default=1)
        if part == "A_log":
            return tensor.changed(lambda x: -np.exp(x)).shaped(*tensor.shape, 1)
        if part == "D":
            return tensor.shaped(*tensor.shape, 1)
        return tensor.shaped(groups, tensor.shape[0] // groups) if part == "norm.weight" else tensor


def _gates_and_ups(stem: str, tensor: Tensor) -> Iterator[tuple[str, Tensor]]:
    gates, ups = tensor.halves()
    yield f"{stem}.gate_proj.weight", gates
    yield f"{stem}.up_proj.weight", ups


def _columns(taken: slice, x: np.ndarray) -> np.ndarray:
    made: np.ndarray = x[..., taken]
    return made


def _alternating(stem: str, part: str, tensor: Tensor) -> Iterator[tuple[str, Tensor]]:
    """gpt-oss's experts: gates and ups in turns, plain matrices with inputs first. In blocks outputs are first."""
    bias = part.endswith("_bias")
    end = "bias" if bias else "weight"
    if not bias and tensor.blocks is None:
        experts, inp, out = tensor.shape
        tensor = tensor.changed(lambda x: np.ascontiguousarray(x.swapaxes(1, 2)), (experts, out, inp))
    if part.startswith("down_proj"):
        yield f"{stem}.down_proj.{end}", tensor
        return
    for first, name in enumerate(("gate", "up")):
        taken = slice(first, None, 2)
        if bias:
            half = tensor.changed(partial(_columns, taken), (tensor.shape[0], tensor.shape[1] // 2))
        else:
            half = tensor.part(taken)
        yield f"{stem}.{name}_proj.{end}", half
