"""GLM-OCR: GLM 4's decoder with positions on three axes, behind a vision transformer with norms on queries and keys.

A strided convolution makes one row of each block of 2 x 2 patches, and a gated MLP brings it to the decoder. Patches come in these blocks.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from backends.base import Array, Rope
from engine.errors import ConfigError, WeightsError
from engine.models.config import Fields, TextConfig, text_config
from engine.models.decoder import Attention, Decoder, Mlp, Traits, nested_names
from engine.models.encoder import Patched, Pieces, Work
from engine.models.glm4 import NORMS, ignore_prediction_layers
from engine.models.qwen_vision import PLACES, THETA, QwenVisionNorm, block_angles, patches_of, tower_place
from engine.models.rope import frequencies, text_rope
from engine.models.vision_language import SeeingDecoder
from engine.weights.gguf.orders import HALVES_TURN
from engine.weights.view import View

MERGER_EPS = 1e-5
SECTION = (8, 12, 12)  # of time, rows and columns, where a config does not say
PARTIAL = {"glm46v": 0.5, "glm4v": 0.5, "glm_ocr": 1.0}  # of a head that is turned, where a config does not say


def glm_ocr(w: View, config: Mapping[str, Any]) -> SeeingDecoder:
    place = tower_place(w)
    if place is None:
        raise WeightsError(f"The checkpoint has no vision tower: {PLACES[0]}.patch_embed.proj.weight is missing.")
    c = text_config(config)
    decoder = glm_decoder(w, c, Traits(), glm_rope(c, "glm_ocr"))
    return SeeingDecoder(decoder, GlmTower(w.sub(place), Fields(config).sub("vision_config"), c.hidden), c.hidden)


def glm_decoder(w: View, c: TextConfig, traits: Traits, rope: Rope) -> Decoder:
    """GLM 4's, with positions on three axes."""
    body, head = nested_names(w)
    ignore_prediction_layers(w, c, body)
    return Decoder(
        w,
        c,
        rope,
        mixer=lambda v, i: Attention(v.sub("self_attn"), c, i, traits),
        mlp=lambda v, i: Mlp(v.sub("mlp"), c.hidden, c.ffn, fused=True),
        body=body,
        head=head,
        norms=NORMS,
    )


def glm_rope(c: TextConfig, model_type: str) -> Rope:
    """On three axes. Neighbouring dimensions turn together."""
    rope = text_rope(c, default_partial=PARTIAL[model_type])
    if rope.section is None and 2 * sum(SECTION) != rope.dims:
        raise ConfigError(
            f"{c.fields.where}: rope lacks `mrope_section`, and heads of {rope.dims} are not the usual ones."
        )
    return replace(rope, section=rope.section or SECTION, pairs=not c.fields.flag(HALVES_TURN))


@dataclass(frozen=True)
class GlmTowerSizes:
    hidden: int
    heads: int
    depth: int
    ffn: int  # of a block
    wide: int  # of the merger's gates
    bias: (
        bool  # whether all projections of a block have one; else, where `qkv_bias` says so, those of attention's inputs
    )
    qkv_bias: bool
    normed: bool  # queries and keys


class GlmVisionBlock:
    def __init__(self, w: View, c: GlmTowerSizes, eps: float) -> None:
        hidden, heads, ffn, bias = c.hidden, c.heads, c.ffn, c.bias
        self.ops, self.hidden, self.heads, self.dim, self.eps = w.backend.ops, hidden, heads, hidden // heads, eps
        self.norm1, self.norm2 = w.norm("norm1", hidden), w.norm("norm2", hidden)
        attention, mlp = w.sub("attn"), w.sub("mlp")
        self.q_norm, self.k_norm = (attention.norm(f"{name}_norm", self.dim) if c.normed else None for name in "qk")
        self.qkv = attention.linear(("qkv", 3 * hidden), inp=hidden, bias=bias or c.qkv_bias)
        self.out = attention.linear(("proj", hidden), inp=hidden, bias=bias)
        self.gate_up = mlp.linear(("gate_proj", ffn), ("up_proj", ffn), inp=hidden, bias=bias)
        self.down = mlp.linear(("down_proj", hidden), inp=ffn, bias=bias)
        self.square, self.cost = float(hidden**2), float(3 * hidden * ffn)

    def __call__(self, x: Array, angles: Array, lens: Sequence[int], pieces: Pieces) -> Work:
        ops = self.ops
        mixed = yield from pieces.rows(
            lambda part: self.qkv(ops.rms_norm(part, self.norm1, self.eps)), x, 3 * self.square
        )
        q, k, v = ops.qkv(mixed, self.heads, self.heads, self.dim, angles, self.q_norm, self.k_norm, self.eps)
        attended = yield from pieces.attend(q, k, v, lens, self.dim**-0.5)
        x = x + (yield from pieces.rows(self.out, attended.reshape(x.shape[0], self.hidden), self.square))
        return x + (yield from pieces.rows(self._mlp, x, self.cost))

    def _mlp(self, x: Array) -> Array:
        return self.down(self.ops.swiglu(self.gate_up(self.ops.rms_norm(x, self.norm2, self.eps))))


class GlmTower:
    taps: Mapping[int, object] = {}

    def __init__(self, w: View, f: Fields, width: int) -> None:
        """`width`: of the text model's embeddings."""
        self.ops, self.dtype = w.backend.ops, w.backend.dtype
        self.eps = f.float("rms_norm_eps", default=1e-5, above=0)
        c = self.sizes(f, width)
        hidden, heads, wide, self.merge = c.hidden, c.heads, c.wide, f.int("spatial_merge_size", default=2, most=1 << 5)
        self.hidden = hidden
        _check(f, width, hidden, heads)
        patch, temporal = f.int("patch_size", default=14), f.int("temporal_patch_size", default=2)
        channels = f.int("in_channels", default=3)
        self.patch_shape = (channels, temporal, patch, patch)
        last = (temporal, patch, patch, channels)
        self.channels_last = w.shape("patch_embed.proj.weight") == (hidden, *last) != (hidden, *self.patch_shape)
        shape = (hidden, *(last if self.channels_last else self.patch_shape))
        self.embed = w.flattened("patch_embed.proj", shape, bias=True)
        self.cost = float(hidden * channels * temporal * patch**2)
        self.blocks = [GlmVisionBlock(w.sub(f"blocks.{i}"), c, self.eps) for i in range(c.depth)]
        self.norm = w.norm("post_layernorm", hidden)
        block, by_row = (width, hidden, self.merge, self.merge), (width, self.merge, self.merge, hidden)
        self.rows_first = w.shape("downsample.weight") == by_row != block
        self.downsample = w.flattened("downsample", by_row if self.rows_first else block, bias=True)
        merger = w.sub("merger")
        self.project = merger.linear(("proj", width), inp=width)
        self.merger_norm = QwenVisionNorm(merger, "post_projection_norm", width, MERGER_EPS)
        self.gate_up = merger.linear(("gate_proj", wide), ("up_proj", wide), inp=width)
        self.down = merger.linear(("down_proj", width), inp=wide)
        self.out_cost = float(width * (hidden * self.merge**2 + width + 3 * wide))
        inverse = tuple(frequencies(THETA, hidden // heads // 2))
        self.rope = Rope(hidden // heads, inverse + inverse, section=(0, len(inverse), len(inverse)))

    def __call__(
        self, pictures: Sequence[Patched], pieces: Pieces | None = None
    ) -> Generator[None, None, list[np.ndarray]]:
        """Rows of each picture, `[tokens, width]` in f32."""
        pieces = pieces or Pieces(self.ops)
        ops, grids = self.ops, [picture.grid for picture in pictures]
        patches = patches_of(pictures, self.patch_shape, self.channels_last)
        x = yield from pieces.rows(self.embed, ops.array(patches, self.dtype), self.cost)
        x = self.begun(x, grids)
        angles = block_angles(ops, self.rope, grids, self.merge)
        lens = [h * w for t, h, w in grids for _ in range(t)]
        for block in self.blocks:
            x = yield from block(x, angles, lens, pieces)
        blocks = ops.rms_norm(x, self.norm, self.eps).reshape(-1, self.merge**2, self.hidden)
        if not self.rows_first:
            blocks = ops.permute(blocks, (0, 2, 1))
        made = yield from pieces.rows(self._merged, blocks.reshape(-1, self.hidden * self.merge**2), self.out_cost)
        ends = np.cumsum([t * h * w // self.merge**2 for t, h, w in grids])[:-1]
        return np.split(np.ascontiguousarray(ops.numpy(made), np.float32), ends)

    def sizes(self, f: Fields, width: int) -> GlmTowerSizes:
        bias = f.flag("attention_bias", True)
        return GlmTowerSizes(
            hidden=f.int("hidden_size", default=1024),
            heads=f.int("num_heads", default=16),
            depth=f.int("depth", default=24, most=1 << 10),
            ffn=f.int("intermediate_size", default=4096),
            wide=width * f.int("in_channels", default=3),
            bias=bias,
            qkv_bias=bias,
            normed=True,
        )

    def begun(self, x: Array, grids: Sequence[tuple[int, int, int]]) -> Array:
        """What the first block gets of embedded patches."""
        return x

    def _merged(self, blocks: Array) -> Array:
        x = self.ops.gelu(self.merger_norm(self.project(self.downsample(blocks))))
        return self.down(self.ops.swiglu(self.gate_up(x)))


def _check(f: Fields, width: int, hidden: int, heads: int) -> None:
    if f.int("out_hidden_size", default=width) != width:
        raise ConfigError(f"{f.where}: out_hidden_size is not the text model's hidden_size, {width}.")
    if hidden % heads or (hidden // heads) % 4:
        raise ConfigError(f"{f.where}: hidden_size ({hidden}) must give each of {heads} heads a multiple of 4.")
    activation = f.find("hidden_act", default="silu")
    if activation != "silu":
        raise ConfigError(f"{f.where}: hidden_act `{activation}` is not the one that this tower is known with.")
