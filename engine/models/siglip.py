"""SigLIP's vision transformer: its layers, and the tower of pictures of one size, whose patches have learned positions.

PaddleOCR-VL has the same layers, with a rope.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from backends.base import Array
from engine.errors import ConfigError
from engine.models.config import Fields
from engine.models.encoder import Patched, Pieces, Work
from engine.weights.view import View


@dataclass(frozen=True)
class SiglipConfig:
    hidden: int
    ffn: int
    layers: int
    heads: int
    channels: int
    patch: int
    side: int  # of the square grid of learned positions
    merge: int
    eps: float
    theta: float

    @property
    def patch_values(self) -> int:
        return self.channels * self.patch * self.patch


def siglip_config(f: Fields) -> SiglipConfig:
    hidden, heads, patch = f.int("hidden_size"), f.int("num_attention_heads"), f.int("patch_size")
    if hidden % (4 * heads):
        raise ConfigError(f"{f.where}: hidden_size ({hidden}) must be a multiple of 4 times the {heads} heads.")
    activation = f.find("hidden_act", default="gelu_pytorch_tanh")
    if activation != "gelu_pytorch_tanh":
        raise ConfigError(f"{f.where}: hidden_act `{activation}` is not the one this encoder has (gelu_pytorch_tanh).")
    rope = f.sub("rope_parameters") if f.find("rope_parameters", default=None) is not None else f
    return SiglipConfig(
        hidden=hidden,
        ffn=f.int("intermediate_size"),
        layers=f.int("num_hidden_layers"),
        heads=heads,
        channels=f.int("num_channels", default=3),
        patch=patch,
        side=f.int("image_size", default=384) // patch,
        merge=f.int("spatial_merge_size", default=2),
        eps=f.float("layer_norm_eps", default=1e-6),
        theta=rope.float("rope_theta", default=10000.0),
    )


class SiglipNorm:
    def __init__(self, w: View, name: str, dim: int, eps: float) -> None:
        self.ops, self.eps = w.backend.ops, eps
        self.weight, self.bias = w.norm(name, dim), w.tensor(f"{name}.bias", (dim,))

    def __call__(self, x: Array) -> Array:
        return self.ops.layer_norm(x, self.weight, self.bias, self.eps)


class SiglipLayer:
    def __init__(self, w: View, c: SiglipConfig) -> None:
        self.ops, self.heads, self.dim = w.backend.ops, c.heads, c.hidden // c.heads
        attention, mlp = w.sub("self_attn"), w.sub("mlp")
        self.norm1, self.norm2 = (
            SiglipNorm(w, "layer_norm1", c.hidden, c.eps),
            SiglipNorm(w, "layer_norm2", c.hidden, c.eps),
        )
        each = [(name, c.hidden) for name in ("q_proj", "k_proj", "v_proj")]
        if attention.has("qkv_proj.weight"):  # as DeepSeek's CLIP has them
            each = [("qkv_proj", 3 * c.hidden)]
        self.qkv = attention.linear(*each, inp=c.hidden, bias=True)
        self.out = attention.linear(("out_proj", c.hidden), inp=c.hidden, bias=True)
        self.up = mlp.linear(("fc1", c.ffn), inp=c.hidden, bias=True)
        self.down = mlp.linear(("fc2", c.hidden), inp=c.ffn, bias=True)
        self.square, self.cost = float(c.hidden**2), float(2 * c.hidden * c.ffn)

    def __call__(self, x: Array, angles: Array | None, lens: Sequence[int], pieces: Pieces) -> Work:
        mixed = yield from pieces.rows(lambda part: self.qkv(self.norm1(part)), x, 3 * self.square)
        q, k, v = self.ops.qkv(mixed, self.heads, self.heads, self.dim, angles)
        attended = yield from pieces.attend(q, k, v, lens, self.dim**-0.5)
        x = x + (yield from pieces.rows(self.out, attended.reshape(*x.shape), self.square))
        return x + (yield from pieces.rows(self._mlp, x, self.cost))

    def _mlp(self, x: Array) -> Array:
        return self.down(self.ops.gelu_tanh(self.up(self.norm2(x))))


class SiglipTower:
    """Pictures of one size to what the last layer gives, `[pictures * patches, hidden]`. A picture may be several of that size."""

    def __init__(self, w: View, c: SiglipConfig) -> None:
        self.ops, self.dtype, self.config = w.backend.ops, w.backend.dtype, c
        embeddings = w.sub("embeddings")
        shape, last = (c.hidden, c.channels, c.patch, c.patch), (c.hidden, c.patch, c.patch, c.channels)
        self.channels_last = embeddings.shape("patch_embedding.weight") == last != shape
        self.embed = embeddings.flattened("patch_embedding", last if self.channels_last else shape, bias=True)
        self.positions = embeddings.tensor("position_embedding.weight", (c.side * c.side, c.hidden), "f32")
        self.layers = [SiglipLayer(w.sub(f"encoder.layers.{i}"), c) for i in range(c.layers)]
        self.norm = SiglipNorm(w, "post_layernorm", c.hidden, c.eps)
        w.ignore(r"(^|\.)head\.", r"embeddings\.position_ids$")  # what the original training used besides

    def __call__(self, pictures: Sequence[Patched], pieces: Pieces, places: np.ndarray | None = None) -> Work:
        """`places`: the learned position of each patch of a picture; None: patches come in their order."""
        ops, c = self.ops, self.config
        patches = np.concatenate([picture.patches for picture in pictures])
        if self.channels_last:  # as MLX's converter saves the kernel
            patches = patches.transpose(0, 2, 3, 1)
        patches = patches.reshape(len(patches), -1)
        x = yield from pieces.rows(self.embed, ops.array(patches, self.dtype), float(c.hidden * c.patch_values))
        positions = self.positions
        if places is not None:
            positions = ops.take(positions, ops.array(places.astype(np.int32)), 0)
        each = positions.shape[0]
        x = x + ops.cast(ops.cat([positions] * (len(patches) // each), 0), self.dtype)
        for layer in self.layers:
            x = yield from layer(x, None, [each] * (len(patches) // each), pieces)
        return self.norm(x)
