"""Moonshine's streaming kind: frames of 5 ms, causal convolutions, and an encoder that looks a few frames ahead at most.

Every encoder layer sees a window of so many frames back and so many ahead, so what has been heard does not change when
more arrives, but for the last few frames.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping, Sequence
from typing import Any

import numpy as np

from backends.base import Array
from engine.errors import BadRequest, ConfigError
from engine.media.inputs import Sound
from engine.models.config import Fields
from engine.models.moonshine import EPS, EncoderLayer, MoonshineDecoder
from engine.weights.view import View

_KERNEL = 5  # of both causal convolutions, which halve the frames


class MoonshineStreaming(MoonshineDecoder):
    def __init__(self, w: View, config: Mapping[str, Any]) -> None:
        super().__init__(w, config, default_tied=False)
        outer = Fields(config)
        f, inner, decoder = outer.sub("encoder_config"), w.sub("model.encoder"), w.sub("model.decoder")
        hidden, heads = f.int("hidden_size"), f.int("num_attention_heads")
        dim, layers = f.int("head_dim", default=hidden // heads), f.int("num_hidden_layers")
        self.frame_samples = round(f.int("sample_rate", default=16000) * f.float("frame_ms", default=5.0) / 1000)
        self.windows = [tuple(window) for window in f.find("sliding_windows")]
        if len(self.windows) != layers or any(len(window) != 2 for window in self.windows):
            raise ConfigError(f"{f.where}: sliding_windows must be two numbers for each of {layers} layers.")
        if any(back < 1 for back, _ in self.windows):
            raise ConfigError(
                f"{f.where}: sliding_windows must let every frame see itself: its first number is 1 or more."
            )
        front = inner.sub("embedder")
        self.log_k = front.tensor("comp.log_k", (), "f32")
        self.linear = front.linear(("linear", hidden), inp=self.frame_samples)
        self.convs = [
            (
                self.ops.conv_weight(front.tensor(f"{name}.weight", (out, inp, _KERNEL))),
                front.tensor(f"{name}.bias", (out,)),
            )
            for name, out, inp in (("conv1", 2 * hidden, hidden), ("conv2", hidden, 2 * hidden))
        ]
        self.encoder = [
            EncoderLayer(
                inner.sub(f"layers.{i}"), hidden, heads, dim, f.int("intermediate_size"), ("gamma", 1.0),
                (back, max(0, ahead - 1)),
            )
            for i, (back, ahead) in enumerate(self.windows)
        ]  # fmt: skip
        self.whole = w.backend.encoder(self.encoder, None)
        self.encoder_norm = inner.tensor("final_norm.gamma", (hidden,)) + 1.0
        self.longest = outer.int("max_position_embeddings")
        self.places = decoder.embedding("pos_emb", self.longest, hidden)
        self.bridge = (
            decoder.linear(("proj", outer.int("hidden_size")), inp=hidden) if decoder.has("proj.weight") else None
        )

    def encode(self, sounds: Sequence[Sound]) -> Generator[None, None, list[np.ndarray]]:
        ops, rows = self.ops, []
        for sound in sounds:
            rows.append(self._frames(sound.samples))
            yield
        lens = [row.shape[0] for row in rows]
        x = yield from self.whole.run(ops.cat(rows, 0), lens)
        x = ops.layer_norm(x, self.encoder_norm, None, EPS)
        x = x + self.places.rows(ops.array(np.concatenate([np.arange(n) for n in lens])))
        made = ops.numpy(x if self.bridge is None else self.bridge(x))
        return np.split(made, np.cumsum(lens)[:-1])

    def _frames(self, samples: np.ndarray) -> Array:
        """`[S, D]`: fifty frames a second."""
        ops = self.ops
        count = len(samples) // self.frame_samples
        if not 0 < -(-count // 4) <= self.longest:
            raise BadRequest(
                f"The sound must have between {self.frame_samples} and {4 * self.longest * self.frame_samples} samples.",
                "file",
            )
        frames = samples[: count * self.frame_samples].astype(np.float32).reshape(count, self.frame_samples)
        frames = frames - frames.mean(1, keepdims=True)
        frames = frames / np.sqrt((frames * frames).mean(1, keepdims=True) + 1e-6)
        frames = np.arcsinh(math.exp(float(ops.numpy(self.log_k).reshape(()))) * frames)
        x = ops.silu(self.linear(ops.array(frames, self.layers[0].dtype)))[None]
        for i, (weight, bias) in enumerate(self.convs):
            x = ops.conv1d(ops.pad(x, [(0, 0), (_KERNEL - 1, 0), (0, 0)]), weight, bias, stride=2)
            x = ops.silu(x) if i == 0 else x
        return x[0]


def moonshine_streaming(w: View, config: Mapping[str, Any]) -> MoonshineStreaming:
    return MoonshineStreaming(w, config)
