"""Qwen2.5-VL: Qwen2's decoder with positions on three axes, and a vision tower most of whose layers attend within windows.

A window is a square of merge blocks. Patches are put into the order of windows once, before the first layer; the merger's rows go back.
A few layers attend to whole pictures.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any

import numpy as np

from backends.base import Array, Rope
from engine.errors import ConfigError, WeightsError
from engine.models.config import Fields, text_config
from engine.models.decoder import Traits, nested_names, standard_decoder
from engine.models.encoder import Patched, Pieces, Work
from engine.models.qwen_vision import EPS, PLACES, THETA, block_places, tower_place
from engine.models.rope import frequencies, text_rope
from engine.models.vision_language import SeeingDecoder
from engine.models.windows import layer_windows
from engine.weights.view import View

WHOLE = (7, 15, 23, 31)  # layers that attend to whole pictures
WINDOW = 112  # pixels


def qwen2_5_vl(w: View, config: Mapping[str, Any]) -> SeeingDecoder:
    place = tower_place(w)
    if place is None:
        raise WeightsError(f"The checkpoint has no vision tower: {PLACES[0]}.patch_embed.proj.weight is missing.")
    c = text_config(config)
    body, head = nested_names(w)
    traits = Traits(qkv_bias=True, windows=layer_windows(c, used=False, first=80))
    decoder = standard_decoder(w, c, text_rope(c, default_theta=1e6), traits, body, head)
    vision = Fields(config).sub("vision_config")
    return SeeingDecoder(decoder, WindowedTower(w.sub(place), vision, c.hidden), c.hidden)


class WindowedBlock:
    def __init__(self, w: View, hidden: int, heads: int, ffn: int) -> None:
        self.ops, self.hidden, self.heads, self.dim = w.backend.ops, hidden, heads, hidden // heads
        self.norm1, self.norm2 = w.norm("norm1", hidden), w.norm("norm2", hidden)
        apart = w.has("attn.q.weight")  # as GGUF files have them
        parts = [(name, hidden) for name in "qkv"] if apart else [("qkv", 3 * hidden)]
        self.qkv = w.sub("attn").linear(*parts, inp=hidden, bias=True)
        self.out = w.sub("attn").linear(("proj", hidden), inp=hidden, bias=True)
        mlp = w.sub("mlp")
        self.gate_up = mlp.linear(("gate_proj", ffn), ("up_proj", ffn), inp=hidden, bias=True)
        self.down = mlp.linear(("down_proj", hidden), inp=ffn, bias=True)
        self.cost = float(3 * hidden * ffn)

    def __call__(self, x: Array, angles: Array, lens: Sequence[int], pieces: Pieces) -> Work:
        ops, square = self.ops, float(self.hidden**2)
        mixed = yield from pieces.rows(lambda part: self.qkv(ops.rms_norm(part, self.norm1, EPS)), x, 3 * square)
        q, k, v = ops.qkv(mixed, self.heads, self.heads, self.dim, angles)
        attended = yield from pieces.attend(q, k, v, lens, self.dim**-0.5)
        x = x + (yield from pieces.rows(self.out, attended.reshape(x.shape[0], self.hidden), square))
        return x + (yield from pieces.rows(self._mlp, x, self.cost))

    def _mlp(self, x: Array) -> Array:
        return self.down(self.ops.swiglu(self.gate_up(self.ops.rms_norm(x, self.norm2, EPS))))


class WindowedTower:
    taps: Mapping[int, object] = {}

    def __init__(self, w: View, f: Fields, width: int) -> None:
        """`width`: of the text model's embeddings."""
        self.ops, self.dtype = w.backend.ops, w.backend.dtype
        hidden, heads, depth = f.int("hidden_size"), f.int("num_heads"), f.int("depth", most=1 << 10)
        self.merge = f.int("spatial_merge_size", default=2)
        patch, temporal = f.int("patch_size", default=14), f.int("temporal_patch_size", default=2)
        channels = f.int("in_channels", "in_chans", default=3)
        self.window = f.int("window_size", default=WINDOW) // self.merge // patch
        whole = f.find("fullatt_block_indexes", default=WHOLE)
        _check(f, width, hidden, heads, self.window, whole)
        self.whole = frozenset(whole)
        self.patch_shape = (channels, temporal, patch, patch)
        last = (temporal, patch, patch, channels)
        self.channels_last = w.shape("patch_embed.proj.weight") == (hidden, *last) != (hidden, *self.patch_shape)
        self.embed = w.flattened("patch_embed.proj", (hidden, *(last if self.channels_last else self.patch_shape)))
        self.cost = float(hidden * channels * temporal * patch**2)
        self.blocks = [
            WindowedBlock(w.sub(f"blocks.{i}"), hidden, heads, f.int("intermediate_size")) for i in range(depth)
        ]
        merger, self.wide = w.sub("merger"), hidden * self.merge**2
        self.norm = merger.norm("ln_q", hidden)
        self.first = merger.linear(("mlp.0", self.wide), inp=self.wide, bias=True)
        self.second = merger.linear(("mlp.2", width), inp=self.wide, bias=True)
        inverse = tuple(frequencies(THETA, hidden // heads // 2))
        self.rope = Rope(hidden // heads, inverse + inverse, section=(0, len(inverse), len(inverse)))

    def __call__(
        self, pictures: Sequence[Patched], pieces: Pieces | None = None
    ) -> Generator[None, None, list[np.ndarray]]:
        """Rows of each picture, `[tokens, width]` in f32."""
        pieces = pieces or Pieces(self.ops)
        ops, grids = self.ops, [picture.grid for picture in pictures]
        order, windows = window_order(grids, self.merge, self.window)
        patches = np.concatenate([picture.patches for picture in pictures])
        if self.channels_last:  # as MLX's converter saves the kernel
            patches = patches.reshape(-1, *self.patch_shape).transpose(0, 2, 3, 4, 1).reshape(patches.shape)
        block = self.merge**2
        moved = (order[:, None] * block + np.arange(block)).reshape(-1)
        x = yield from pieces.rows(
            self.embed, ops.array(patches.reshape(len(patches), -1)[moved], self.dtype), self.cost
        )
        places = np.concatenate([np.tile(block_places(h, w, self.merge), (1, t)) for t, h, w in grids], axis=1)[
            :, moved
        ]
        angles = ops.angles(ops.array(np.concatenate([places[:1], places]).astype(np.int32)), self.rope)
        frames = [h * w for t, h, w in grids for _ in range(t)]
        for i, layer in enumerate(self.blocks):
            x = yield from layer(x, angles, frames if i in self.whole else windows, pieces)
        merged = yield from pieces.rows(self._merged, x.reshape(-1, self.wide), 2 * float(self.wide**2))
        rows = np.ascontiguousarray(ops.numpy(merged), np.float32)[np.argsort(order)]
        return np.split(rows, np.cumsum([t * h * w // block for t, h, w in grids])[:-1])

    def _merged(self, blocks: Array) -> Array:
        patches = blocks.reshape(-1, self.wide // self.merge**2)
        x = self.ops.rms_norm(patches, self.norm, EPS).reshape(-1, self.wide)
        return self.second(self.ops.gelu(self.first(x)))


def window_order(grids: Sequence[tuple[int, int, int]], merge: int, window: int) -> tuple[np.ndarray, list[int]]:
    """The merge blocks of all pictures in the order of windows of `window` x `window` blocks, and the patches of each window."""
    order, lens, before = [], [], 0
    for times, height, width in grids:
        rows, columns = height // merge, width // merge
        blocks = np.arange(rows * columns).reshape(rows, columns)
        for _ in range(times):
            for top in range(0, rows, window):
                for left in range(0, columns, window):
                    inside = blocks[top : top + window, left : left + window].reshape(-1)
                    order.append(before + inside)
                    lens.append(len(inside) * merge**2)
            before += rows * columns
    return np.concatenate(order), lens


def _check(f: Fields, width: int, hidden: int, heads: int, window: int, whole: object) -> None:
    if f.int("out_hidden_size", default=width) != width:
        raise ConfigError(f"{f.where}: out_hidden_size is not the text model's hidden_size, {width}.")
    if hidden % heads or (hidden // heads) % 4:
        raise ConfigError(f"{f.where}: hidden_size ({hidden}) must give each of {heads} heads a multiple of 4.")
    if window < 1:
        raise ConfigError(f"{f.where}: window_size must be as large as a merge block of patches.")
    if not (isinstance(whole, list | tuple) and all(isinstance(i, int) for i in whole)):
        raise ConfigError(f"{f.where}: fullatt_block_indexes must be numbers of layers, not {whole!r}.")
    activation = f.find("hidden_act", default="silu")
    if activation != "silu":
        raise ConfigError(f"{f.where}: hidden_act `{activation}` is not the one that this tower is known with.")
