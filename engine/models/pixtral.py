"""Pixtral's image encoder, as Mistral 3, Ministral 3 and LightOnOCR have it: pictures of any shape, positions by a rope of rows and columns.

The projector makes one token of each square of patches. Patches come square by square.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any

import numpy as np

from backends.base import Array, Rope
from engine.errors import ConfigError
from engine.models.config import Fields
from engine.models.encoder import Patched, Pieces, Work
from engine.models.qwen_vision import block_places
from engine.models.rope import frequencies
from engine.weights.view import View

# as published, as transformers has it in memory; as LightOnOCR's files have it
TOWERS = ("vision_tower", "model.vision_tower", "model.vision_encoder", "vision_encoder")
PROJECTORS = (
    "multi_modal_projector",
    "model.multi_modal_projector",
    "model.vision_projection",
    "vision_projection",
)
EPS = 1e-5


def pixtral_tower(w: View, config: Mapping[str, Any], width: int, eps: float) -> PixtralTower | None:
    """None where the checkpoint has none. `width` and `eps`: of the text model."""
    place = next((place for place in TOWERS if w.has(f"{place}.patch_conv.weight")), None)
    if place is None or not isinstance(config.get("vision_config"), Mapping):
        return None
    projector = next((name for name in PROJECTORS if w.has(f"{name}.norm.weight")), PROJECTORS[0])
    return PixtralTower(w.sub(place), w.sub(projector), Fields(config), width, eps)


class PixtralLayer:
    def __init__(self, w: View, hidden: int, heads: int, ffn: int, silu: bool) -> None:
        self.ops, self.hidden, self.heads, self.dim, self.ffn = w.backend.ops, hidden, heads, hidden // heads, ffn
        self.norm1, self.norm2 = w.norm("attention_norm", hidden), w.norm("ffn_norm", hidden)
        attention, mlp = w.sub("attention"), w.sub("feed_forward")
        self.qkv = attention.linear(*((f"{name}_proj", hidden) for name in "qkv"), inp=hidden)
        self.out = attention.linear(("o_proj", hidden), inp=hidden)
        self.gate_up = mlp.linear(("gate_proj", ffn), ("up_proj", ffn), inp=hidden)
        self.down = mlp.linear(("down_proj", hidden), inp=ffn)
        self.silu, self.square, self.cost = silu, float(hidden**2), float(3 * hidden * ffn)

    def __call__(self, x: Array, angles: Array, lens: Sequence[int], pieces: Pieces) -> Work:
        ops = self.ops
        mixed = yield from pieces.rows(lambda part: self.qkv(ops.rms_norm(part, self.norm1, EPS)), x, 3 * self.square)
        q, k, v = ops.qkv(mixed, self.heads, self.heads, self.dim, angles)
        attended = yield from pieces.attend(q, k, v, lens, self.dim**-0.5)
        x = x + (yield from pieces.rows(self.out, attended.reshape(x.shape[0], self.hidden), self.square))
        return x + (yield from pieces.rows(self._mlp, x, self.cost))

    def _mlp(self, x: Array) -> Array:
        made = self.gate_up(self.ops.rms_norm(x, self.norm2, EPS))
        if self.silu:
            return self.down(self.ops.swiglu(made))
        gate, up = self.ops.split(made, [self.ffn, self.ffn], 1)
        return self.down(self.ops.gelu(gate) * up)


class PixtralTower:
    taps: Mapping[int, object] = {}

    def __init__(self, tower: View, projector: View, f: Fields, width: int, eps: float) -> None:
        self.ops, self.dtype, self.eps = tower.backend.ops, tower.backend.dtype, eps
        vision = f.sub("vision_config")
        hidden, heads = vision.int("hidden_size", default=1024), vision.int("num_attention_heads", default=16)
        self.hidden, self.patch, self.merge = hidden, patch_size(f), merge_size(f)
        channels, silu = vision.int("num_channels", default=3), _check(f, vision, hidden, heads)
        shape, last = (hidden, channels, self.patch, self.patch), (hidden, self.patch, self.patch, channels)
        self.channels, self.channels_last = channels, tower.shape("patch_conv.weight") == last != shape
        self.embed = tower.flattened("patch_conv", last if self.channels_last else shape)
        self.norm = tower.norm("ln_pre", hidden)
        ffn = vision.int("intermediate_size", default=4096)
        self.layers = [
            PixtralLayer(tower.sub(f"transformer.layers.{i}"), hidden, heads, ffn, silu)
            for i in range(vision.int("num_hidden_layers", default=24, most=1 << 10))
        ]
        self.cost = float(hidden * channels * self.patch**2)
        self.out_norm = projector.norm("norm", hidden)
        self.wide, bias = hidden * self.merge**2, f.flag("multimodal_projector_bias")
        self.merger = projector.sub("patch_merger").linear(("merging_layer", hidden), inp=self.wide)
        self.first = projector.linear(("linear_1", width), inp=hidden, bias=bias)
        self.second = projector.linear(("linear_2", width), inp=width, bias=bias)
        self.out_cost = float(self.wide * hidden + hidden * width + width * width)
        dims, rope = hidden // heads, vision
        if vision.find("rope_parameters", default=None) is not None:
            rope = vision.sub("rope_parameters")
        inverse = frequencies(rope.float("rope_theta", default=10000.0, above=0), dims)
        self.rope = Rope(dims, (*inverse[0::2], *inverse[1::2]), section=(0, dims // 4, dims // 4))

    def __call__(
        self, pictures: Sequence[Patched], pieces: Pieces | None = None
    ) -> Generator[None, None, list[np.ndarray]]:
        """Rows of each picture, `[tokens, width]` in f32."""
        pieces = pieces or Pieces(self.ops)
        ops, grids = self.ops, [picture.grid for picture in pictures]
        patches = np.concatenate([picture.patches for picture in pictures])
        if self.channels_last:  # as MLX's converter saves the kernel
            cut = patches.reshape(-1, self.channels, self.patch, self.patch)
            patches = cut.transpose(0, 2, 3, 1).reshape(patches.shape)
        x = yield from pieces.rows(self.embed, ops.array(patches, self.dtype), self.cost)
        x = ops.rms_norm(x, self.norm, EPS)
        places = np.concatenate([block_places(rows, columns, self.merge) for _, rows, columns in grids], axis=1)
        angles = ops.angles(ops.array(np.concatenate([places[:1], places]).astype(np.int32)), self.rope)
        lens = [rows * columns for _, rows, columns in grids]
        for layer in self.layers:
            x = yield from layer(x, angles, lens, pieces)
        blocks = ops.rms_norm(x, self.out_norm, self.eps).reshape(-1, self.merge**2, self.hidden)
        made = yield from pieces.rows(
            self._projected, ops.permute(blocks, (0, 2, 1)).reshape(-1, self.wide), self.out_cost
        )
        ends = np.cumsum([n // self.merge**2 for n in lens])[:-1]
        return np.split(np.ascontiguousarray(ops.numpy(made), np.float32), ends)

    def _projected(self, blocks: Array) -> Array:
        return self.second(self.ops.gelu(self.first(self.merger(blocks))))


def patch_size(f: Fields) -> int:
    return f.sub("vision_config").int("patch_size", default=16, most=1 << 10)


def merge_size(f: Fields) -> int:
    return f.int("spatial_merge_size", default=2, most=1 << 5)


def _check(f: Fields, vision: Fields, hidden: int, heads: int) -> bool:
    """Whether the MLP's gate is a SiLU; else it is a GELU."""
    if hidden % heads or (hidden // heads) % 4:
        raise ConfigError(f"{vision.where}: hidden_size ({hidden}) must give each of {heads} heads a multiple of 4.")
    if f.find("vision_feature_layer", default=-1) not in (-1, [-1]):
        raise ConfigError(f"{f.where}: vision_feature_layer is supported as -1 only, the last layer.")
    if (act := f.find("projector_hidden_act", default="gelu")) != "gelu":
        raise ConfigError(
            f"{f.where}: projector_hidden_act `{act}` is not the one this projector is known with (gelu)."
        )
    activation = vision.find("hidden_act", default="gelu")
    if activation not in ("gelu", "silu"):
        raise ConfigError(f"{vision.where}: hidden_act `{activation}` is not one that this encoder is known with.")
    return bool(activation == "silu")
