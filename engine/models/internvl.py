"""InternVL 3 and 3.5: a decoder of Qwen, or Llama's, behind InternViT. A large picture is cut into tiles, and comes once more as a whole.

Each tile has a class token while the tower reads it. The projector makes one token of each square of patches, side by side;
patches come in the order of these squares.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from backends.base import Array
from engine.errors import ConfigError, WeightsError
from engine.models.config import TEXT_MODEL_TYPE, Fields, text_config, text_fields
from engine.models.decoder import Decoder, Traits, nested_names, standard_decoder
from engine.models.encoder import Patched, Pieces, Work
from engine.models.idefics3 import block_order
from engine.models.llama import llama
from engine.models.qwen3 import qwen3_decoder, qwen3_moe_decoder
from engine.models.rope import text_rope
from engine.models.siglip import SiglipNorm
from engine.models.vision_language import SeeingDecoder
from engine.models.windows import layer_windows
from engine.weights.view import View

TOWERS = ("vision_tower", "model.vision_tower")  # as published, as transformers has it in memory
PROJECTORS = ("multi_modal_projector", "model.multi_modal_projector")
PROJECTOR_EPS, QK_EPS = 1e-5, 1e-6


@dataclass(frozen=True)
class InternVitConfig:
    hidden: int
    ffn: int
    layers: int
    heads: int
    channels: int
    patch: int
    image: int  # pixels on a side of a tile
    merge: int  # patches that become one token, across and down
    eps: float
    bias: bool
    qk_norm: bool
    rms: bool

    @property
    def side(self) -> int:
        return self.image // self.patch


def internvit_config(f: Fields) -> InternVitConfig:
    """Of the whole config."""
    v = f.sub("vision_config")
    hidden, heads = v.int("hidden_size", default=1024), v.int("num_attention_heads", default=16)
    ratio = f.float("downsample_ratio", default=0.5, above=0)
    c = InternVitConfig(
        hidden=hidden,
        ffn=v.int("intermediate_size", default=4096),
        layers=v.int("num_hidden_layers", default=24, most=1 << 10),
        heads=heads,
        channels=v.int("num_channels", default=3),
        patch=_square(v, "patch_size", 14),
        image=_square(v, "image_size", 448),
        merge=round(1 / ratio),
        eps=v.float("layer_norm_eps", default=1e-6),
        bias=v.flag("attention_bias"),
        qk_norm=v.flag("use_qk_norm"),
        rms=_known(v, "norm_type", "layer_norm", "rms_norm") == "rms_norm",
    )
    if hidden % heads:
        raise ConfigError(f"{v.where}: hidden_size ({hidden}) must be a multiple of the {heads} heads.")
    if c.merge < 1 or abs(c.merge * ratio - 1) > 1e-6 or not c.side or c.side % c.merge:
        raise ConfigError(
            f"{f.where}: downsample_ratio ({ratio:g}) must divide {c.side}, the patches on a side of a tile."
        )
    _known(v, "hidden_act", "gelu")
    _known(f, "projector_hidden_act", "gelu")
    _known(f, "vision_feature_layer", -1)
    _known(f, "vision_feature_select_strategy", "default")
    if not v.flag("use_mean_pooling", True) or not v.flag("use_absolute_position_embeddings", True):
        raise ConfigError(
            f"{v.where}: use_mean_pooling and use_absolute_position_embeddings are supported as true only."
        )
    return c


def _square(v: Fields, name: str, default: int) -> int:
    """A number, or both sides of a square."""
    given = v.find(name, default=default)
    if isinstance(given, list | tuple) and len(set(given)) == 1:
        return Fields({name: given[0]}, v.where).int(name, most=1 << 13)
    return v.int(name, default=default, most=1 << 13)


def _known(f: Fields, name: str, *values: object) -> object:
    """The value of a field, the first of `values` where it is not there."""
    if (given := f.find(name, default=values[0])) not in values:
        raise ConfigError(f"{f.where}: {name} `{given}` is not one that this model is known with.")
    return given


def _qwen2(w: View, config: Mapping[str, Any]) -> Decoder:
    c = text_config(config)
    traits = Traits(qkv_bias=True, windows=layer_windows(c, used=False, first=28))
    return standard_decoder(w, c, text_rope(c), traits, *nested_names(w))


def _qwen3(w: View, config: Mapping[str, Any]) -> Decoder:
    return qwen3_decoder(w, text_config(config), 1e4, *nested_names(w))


def _qwen3_moe(w: View, config: Mapping[str, Any]) -> Decoder:
    body, head = nested_names(w)
    return qwen3_moe_decoder(w, text_config(config), 1e4, body=body, head=head)


TEXTS: dict[str, Callable[[View, Mapping[str, Any]], Decoder]] = {
    "llama": llama,
    "qwen2": _qwen2,
    "qwen3": _qwen3,
    "qwen3_moe": _qwen3_moe,
}


def text_kind(config: Mapping[str, Any]) -> str:
    if "text_config" not in config:
        return str(config.get(TEXT_MODEL_TYPE, "qwen2"))
    return str(Fields(config).sub("text_config").find("model_type", default="qwen2"))


def internvl(w: View, config: Mapping[str, Any]) -> SeeingDecoder:
    place = next((place for place in TOWERS if w.has(f"{place}.embeddings.cls_token")), None)
    if place is None:
        raise WeightsError(f"The checkpoint has no vision tower: {TOWERS[0]}.embeddings.cls_token is missing.")
    if (kind := text_kind(config)) not in TEXTS:
        raise ConfigError(
            f"The text model of this InternVL has the architecture `{kind}`. Supported: {', '.join(TEXTS)}."
        )
    projector = next((name for name in PROJECTORS if w.has(f"{name}.linear_1.weight")), PROJECTORS[0])
    width = text_fields(config).int("hidden_size")
    tower = InternVit(w.sub(place), w.sub(projector), internvit_config(Fields(config)), width)
    return SeeingDecoder(TEXTS[kind](w, config), tower, width)


class InternVitLayer:
    def __init__(self, w: View, c: InternVitConfig) -> None:
        self.ops, self.c = w.backend.ops, c
        attention, mlp = w.sub("attention"), w.sub("mlp")
        self.norm1, self.norm2 = _norm(w, "layernorm_before", c), _norm(w, "layernorm_after", c)
        each = [(f"{name}_proj", c.hidden) for name in "qkv"]
        self.qkv = attention.linear(*each, inp=c.hidden, bias=c.bias)
        self.qk_norm = [attention.norm(f"{name}_norm", c.hidden) for name in "qk"] if c.qk_norm else []
        self.out = attention.linear(("projection_layer", c.hidden), inp=c.hidden, bias=True)
        self.up = mlp.linear(("fc1", c.ffn), inp=c.hidden, bias=True)
        self.down = mlp.linear(("fc2", c.hidden), inp=c.ffn, bias=True)
        self.scale1, self.scale2 = (w.tensor(name, (c.hidden,)) for name in ("lambda_1", "lambda_2"))
        self.square, self.cost = float(c.hidden**2), float(2 * c.hidden * c.ffn)

    def __call__(self, x: Array, lens: Sequence[int], pieces: Pieces) -> Work:
        c, ops = self.c, self.ops
        mixed = yield from pieces.rows(lambda part: self.qkv(self.norm1(part)), x, 3 * self.square)
        if self.qk_norm:
            q, k, v = ops.split(mixed, [c.hidden] * 3, 1)
            q, k = (ops.rms_norm(part, weight, QK_EPS) for part, weight in zip((q, k), self.qk_norm))
            mixed = ops.cat([q, k, v], 1)
        q, k, v = ops.qkv(mixed, c.heads, c.heads, c.hidden // c.heads, None)
        attended = yield from pieces.attend(q, k, v, lens, (c.hidden // c.heads) ** -0.5)
        x = x + (yield from pieces.rows(self._out, attended.reshape(*x.shape), self.square))
        return x + (yield from pieces.rows(self._mlp, x, self.cost))

    def _out(self, attended: Array) -> Array:
        return self.out(attended) * self.scale1

    def _mlp(self, x: Array) -> Array:
        return self.down(self.ops.gelu(self.up(self.norm2(x)))) * self.scale2


def _norm(w: View, name: str, c: InternVitConfig) -> Callable[[Array], Array]:
    if not c.rms:
        return SiglipNorm(w, name, c.hidden, c.eps)
    weight, ops = w.norm(name, c.hidden), w.backend.ops
    return lambda x: ops.rms_norm(x, weight, c.eps)


class InternVit:
    taps: Mapping[int, object] = {}

    def __init__(self, tower: View, projector: View, c: InternVitConfig, width: int) -> None:
        """`width`: of the text model's embeddings."""
        self.ops, self.dtype, self.config = tower.backend.ops, tower.backend.dtype, c
        embeddings, name = tower.sub("embeddings"), "patch_embeddings.projection"
        shape, last = (c.hidden, c.channels, c.patch, c.patch), (c.hidden, c.patch, c.patch, c.channels)
        self.channels_last = embeddings.shape(f"{name}.weight") == last != shape
        self.embed = embeddings.flattened(name, last if self.channels_last else shape, bias=True)
        self.first = embeddings.tensor("cls_token", (1, 1, c.hidden))
        self.positions = embeddings.tensor("position_embeddings", (1, c.side**2 + 1, c.hidden), "f32")
        embeddings.ignore(r"(^|\.)mask_token$")  # of its training
        self.layers = [InternVitLayer(tower.sub(f"encoder.layer.{i}"), c) for i in range(c.layers)]
        self.wide = c.hidden * c.merge**2
        self.norm = SiglipNorm(projector, "layer_norm", self.wide, PROJECTOR_EPS)
        self.linear_1 = projector.linear(("linear_1", width), inp=self.wide, bias=True)
        self.linear_2 = projector.linear(("linear_2", width), inp=width, bias=True)
        self.cost = float(self.wide * width + width**2)
        self.order = np.concatenate([[0], 1 + block_order(c.side, c.merge)]).astype(np.int32)

    def __call__(
        self, pictures: Sequence[Patched], pieces: Pieces | None = None
    ) -> Generator[None, None, list[np.ndarray]]:
        """Rows of each picture, `[tokens, width]` in f32."""
        pieces, ops, c = pieces or Pieces(self.ops), self.ops, self.config
        patches = np.concatenate([picture.patches for picture in pictures])
        if self.channels_last:  # as MLX's converter saves the kernel
            patches = patches.transpose(0, 2, 3, 1)
        patches = patches.reshape(len(patches), -1)
        each, cost = c.side**2, float(c.hidden * patches.shape[1])
        tiles = len(patches) // each
        x = yield from pieces.rows(self.embed, ops.array(patches, self.dtype), cost)
        x = ops.cat([ops.cat([self.first] * tiles, 0), x.reshape(tiles, each, c.hidden)], 1)
        x = x + ops.cast(ops.take(self.positions, ops.array(self.order), 1), self.dtype)
        x = x.reshape(-1, c.hidden)
        for layer in self.layers:
            x = yield from layer(x, [each + 1] * tiles, pieces)
        blocks = x.reshape(tiles, each + 1, c.hidden)[:, 1:].reshape(-1, self.wide)
        rows = yield from pieces.rows(self._projected, blocks, self.cost)
        ends = np.cumsum([picture.grid[0] * each // c.merge**2 for picture in pictures])[:-1]
        return np.split(np.ascontiguousarray(ops.numpy(rows), np.float32), ends)

    def _projected(self, blocks: Array) -> Array:
        return self.linear_2(self.ops.gelu(self.linear_1(self.norm(blocks))))
