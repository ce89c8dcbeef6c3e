"""PP-DocLayoutV3's masks: features at a quarter of the page, and the box around what a query picks out of them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from backends.base import Array
from engine.models.config import Fields
from engine.models.convolution import Convolution, conv_norm
from engine.weights.view import View


class ScaleHead:
    """One scale brought to the finest one's size, doubling step by step."""

    def __init__(self, w: View, inp: int, out: int, doublings: int) -> None:
        self.ops, self.doubled = w.backend.ops, doublings > 0
        stride = 2 if self.doubled else 1  # every second layer is a doubling, which has no weights
        self.layers = [
            conv_norm(w.sub(f"layers.{i * stride}"), out if i else inp, out, 3, act="silu")
            for i in range(max(1, doublings))
        ]

    def __call__(self, x: Array) -> Array:
        for layer in self.layers:
            x = layer(x)
            if self.doubled:
                x = self.ops.interpolate(x, (2 * x.shape[1], 2 * x.shape[2]), "bilinear")
        return x


class MaskFeatures:
    def __init__(self, w: View, f: Fields, wide: int, fine: int, kinds: int) -> None:
        self.ops = w.backend.ops
        inner, out = f.find("mask_feature_channels", default=[64, 64])
        strides = f.find("feat_strides", default=[8, 16, 32])
        head = w.sub("mask_feature_head")
        self.scales: list[ScaleHead] = [
            ScaleHead(head.sub(f"scale_heads.{i}"), wide, inner, int(math.log2(stride / strides[0])))
            for i, stride in enumerate(strides)
        ]
        self.joined = conv_norm(head.sub("output_conv"), inner, out, 3, act="silu")
        self.lateral = conv_norm(w.sub("encoder_mask_lateral"), fine, out, 3, act="silu")
        self.base = conv_norm(w.sub("encoder_mask_output.base_conv"), out, out, 3, act="silu")
        last = w.sub("encoder_mask_output.conv")
        kernel, bias = last.tensor("weight", (kinds, out, 1, 1), "f32"), last.tensor("bias", (kinds,), "f32")
        self.last = Convolution(w, kernel, bias, 1, 1, 1, None)

    def __call__(self, fine: Array, maps: Sequence[Array]) -> Array:
        """`[1, H, W, kinds]`"""
        ops = self.ops
        x = self.scales[0](maps[0])
        for scale, own in zip(self.scales[1:], maps[1:]):
            x = x + ops.interpolate(scale(own), x.shape[1:3], "bilinear")
        x = self.joined(x)
        x = ops.interpolate(x, (2 * x.shape[1], 2 * x.shape[2]), "bilinear") + self.lateral(fine)
        return self.last(self.base(x))


def boxes_of_masks(queries: np.ndarray, features: np.ndarray) -> np.ndarray:
    """The smallest box around each mask `[Q, 4]`, as center and size in shares; an empty mask has an empty box."""
    height, width, kinds = features.shape
    masks = (queries @ features.reshape(-1, kinds).T > 0).reshape(-1, height, width)
    left, right = _span(masks.any(1))
    top, bottom = _span(masks.any(2))
    corners = np.stack([left / width, top / height, right / width, bottom / height], 1).astype(np.float32)
    low, high = corners[:, :2], corners[:, 2:]
    return np.concatenate([(low + high) / 2, high - low], 1)


def _span(used: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where a row of flags begins and ends; 0, 0 where none is set."""
    some = used.any(1)
    return used.argmax(1) * some, (used.shape[1] - used[:, ::-1].argmax(1)) * some
