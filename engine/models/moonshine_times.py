"""When each token was said: from where the decoder looks in the sound while it writes it.

Cross attention with time itself in the place of values gives the mean of the times that a head looks at, and the mean of
their squares gives its spread. The heads that look most narrowly tell the time; the others are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.models.moonshine import EPS, MoonshineDecoder

_SHARE = 0.25  # of all heads, that are believed


def token_times(decoder: MoonshineDecoder, features: np.ndarray, ids: Sequence[int]) -> np.ndarray:
    """For each of `ids` (the start token first) when the *next* token is said, as a share of the sound; never falling."""
    looks = _looks(decoder, features, ids)  # [heads, T, 2]
    spread = np.maximum(looks[:, :, 1] - looks[:, :, 0] ** 2, 0.0).mean(1)
    trusted = np.argsort(spread, kind="stable")[: max(1, int(_SHARE * len(spread)))]
    times: np.ndarray = np.maximum.accumulate(looks[trusted, :, 0].mean(0))
    return times.clip(0.0, 1.0)


def _looks(decoder: MoonshineDecoder, features: np.ndarray, ids: Sequence[int]) -> np.ndarray:
    ops, n, frames = decoder.ops, len(ids), len(features)
    sound = ops.array(features, decoder.layers[0].dtype)
    at = (np.arange(frames, dtype=np.float32) + 0.5) / frames
    clock = np.zeros((1, frames, decoder.heads, decoder.dim), np.float32)
    clock[0, :, :, 0], clock[0, :, :, 1] = at[:, None], at[:, None] ** 2
    times = ops.array(clock, decoder.layers[0].dtype)
    angles = ops.angles(ops.arange(n), decoder.rope)
    x: Any = decoder.embed(ops.array(np.asarray(ids, np.int32)))
    looks = []
    for layer in decoder.layers:
        projected = layer.qkv(ops.layer_norm(x, layer.own_norm, None, EPS))
        q, k, v = ops.qkv(projected, layer.heads, layer.heads, layer.dim, angles)
        x = x + layer.own_out(ops.sdpa(q[None], k[None], v[None], layer.scale, causal=True).reshape(n, layer.width))
        q = layer.query(ops.layer_norm(x, layer.cross_norm, None, EPS)).reshape(1, n, layer.heads, layer.dim)
        k, v = (part[None] for part in layer.sound_memory(sound))
        looks.append(ops.numpy(ops.sdpa(q, k, times, layer.scale))[0, :, :, :2])
        x = x + layer.cross_out(ops.sdpa(q, k, v, layer.scale).reshape(n, layer.width))
        x = x + layer.down(ops.swiglu(layer.up(ops.layer_norm(x, layer.mlp_norm, None, EPS)), gate_last=True))
    return np.concatenate(looks, axis=1).transpose(1, 0, 2)
