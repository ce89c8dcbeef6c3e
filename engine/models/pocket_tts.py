"""Pocket-TTS: a decoder whose every step gives a frame of sound as numbers, by flow matching, and a sign that the speech ends.

One row holds the voice's latents, the words, and the frames made so far. The hidden state behind the last one conditions a small
network, the flow head, which turns noise into the next frame; that frame is the next input. The vocabulary of what is sampled is
two: 1 where the speech ends here. `engine/pipelines/speaking/pocket_tts.py` lays out prompts and ends a passage.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from backends.base import Array, Sampling, Step
from engine.errors import ConfigError
from engine.models.config import Fields, text_config
from engine.models.decoder import Attention, Traits
from engine.models.qwen3_tts import spread
from engine.models.rope import text_rope
from engine.weights.view import View

FLOW_STEPS, END_THRESHOLD, LEAST_FRAMES = 1, -4.0, 6  # where generation_config.json says nothing


class _Norm:
    def __init__(self, w: View, name: str, dim: int, eps: float, learned: bool = True) -> None:
        self.ops, self.eps = w.backend.ops, eps
        if learned:
            self.weight, self.bias = w.norm(name, dim), w.tensor(f"{name}.bias", (dim,))
        else:
            self.weight, self.bias = (self.ops.array(np.full(dim, x, np.float32), w.backend.dtype) for x in (1, 0))

    def __call__(self, x: Array) -> Array:
        return self.ops.layer_norm(x, self.weight, self.bias, self.eps)


class _Layer:
    def __init__(self, w: View, attention: Attention, hidden: int, ffn: int, eps: float) -> None:
        self.ops, self.attention = w.backend.ops, attention
        self.mixer_norm, self.mlp_norm = (
            _Norm(w, name, hidden, eps) for name in ("input_layernorm", "post_attention_layernorm")
        )
        self.up, self.down = w.linear(("mlp.fc1", ffn), inp=hidden), w.linear(("mlp.fc2", hidden), inp=ffn)

    def __call__(self, x: Array, step: Step, angles: Array) -> Array:
        x = x + self.attention(self.mixer_norm(x), step, angles)
        return x + self.down(self.ops.gelu_tanh(self.up(self.mlp_norm(x))))


class _Times:
    """Embeddings of a flow step's start and end, made on the host: they depend on nothing but the number of steps."""

    def __init__(self, w: View, f: Fields, inp: int, out: int) -> None:
        self.eps = f.float("rms_norm_eps", default=1e-5)
        shapes = {
            "freqs": (inp // 2,), "fc1.weight": (out, inp), "fc1.bias": (out,), "fc2.weight": (out, out), "fc2.bias": (out,),
            "norm.weight": (out,),
        }  # fmt: skip
        read = [w.tensor(name, shape, "f32") for name, shape in shapes.items()]
        self.weights = [] if w.dry else [w.backend.ops.numpy(part) for part in read]

    def __call__(self, time: float) -> np.ndarray:
        freqs, first, first_bias, second, second_bias, scale = self.weights
        angles = np.float32(time) * freqs
        x = first @ np.concatenate((np.cos(angles), np.sin(angles))) + first_bias
        x = second @ (x / (1 + np.exp(-x))) + second_bias
        return np.asarray(x * scale / np.sqrt(x.var(ddof=1) + self.eps), np.float32)


class FlowHead:
    """`[N, D]` noise -> `[N, D]` latents, as hidden states say. The residual blocks' scales and shifts depend on those alone, so one
    product makes them all."""

    def __init__(self, w: View, f: Fields, hidden: int, latent: int) -> None:
        self.ops = w.backend.ops
        self.dtype = w.backend.dtype
        if (activation := f.find("hidden_act", default="silu")) != "silu":
            raise ConfigError(f"{f.where}: hidden_act must be silu, not {activation!r}.")
        kind = f.find("flow_type", default="lsd")
        if kind not in ("lsd", "drifting"):
            raise ConfigError(f"{f.where}: flow_type must be lsd or drifting, not {kind!r}.")
        self.width = dim = f.int("hidden_size", default=512)
        self.count, eps = f.int("num_hidden_layers", default=6), f.float("layer_norm_eps", default=1e-6)
        self.steps = FLOW_STEPS if kind == "lsd" else 0
        frequencies = f.int("frequency_embedding_size", default=256)
        self.times = [
            _Times(w.sub(f"timestep_embeddings.{i}"), f, frequencies, dim) for i in range(2 if kind == "lsd" else 0)
        ]
        self.enter = w.linear(("input_proj", dim), inp=latent, bias=True)
        self.condition = w.linear(("cond_proj", dim), inp=hidden, bias=True)
        blocks = [(f"layers.{i}.adaln_proj", 3 * dim) for i in range(self.count)]
        self.adapt = w.linear(*blocks, ("final_layer.adaln_proj", 2 * dim), inp=dim, bias=True)
        self.blocks = []
        for i in range(self.count):
            v = w.sub(f"layers.{i}")
            up, down = (v.linear((name, dim), inp=dim, bias=True) for name in ("fc1", "fc2"))
            self.blocks.append((_Norm(v, "norm", dim, eps), up, down))
        self.last_norm = _Norm(w, "", dim, eps, learned=False)
        self.leave = w.linear(("final_layer.proj", latent), inp=dim, bias=True)
        self._step_times: dict[int, list[Array]] = {}

    def __call__(self, noise: Array, hidden: Array) -> Array:
        condition = self.condition(hidden)
        if not self.steps:
            return self._velocity(noise, condition)
        latents = noise
        for time in self._times():
            latents = latents + self._velocity(latents, condition + time) * (1 / self.steps)
        return latents

    def _times(self) -> list[Array]:
        """What each step's times add to the condition."""
        if self.steps not in self._step_times:
            start, end = self.times
            made = [(start(i / self.steps) + end((i + 1) / self.steps)) / 2 for i in range(self.steps)]
            self._step_times[self.steps] = [self.ops.array(time[None], self.dtype) for time in made]
        return self._step_times[self.steps]

    def _velocity(self, latents: Array, condition: Array) -> Array:
        ops, dim = self.ops, self.width
        adapted = ops.split(self.adapt(ops.silu(condition)), [dim] * (3 * self.count + 2), 1)
        x = self.enter(ops.cast(latents, self.dtype))
        for i, (norm, up, down) in enumerate(self.blocks):
            shift, scale, gate = adapted[3 * i : 3 * i + 3]
            x = x + gate * down(ops.silu(up(norm(x) * (scale + 1.0) + shift)))
        shift, scale = adapted[3 * self.count :]
        return ops.cast(self.leave(self.last_norm(x) * (scale + 1.0) + shift), "f32")


def gaussian(noise: Sequence[float], count: int) -> np.ndarray:
    """`[N, count]` draws of a normal distribution, from each row's noise alone."""
    first, second = np.split(spread(noise, 2 * count).astype(np.float64), 2, axis=1)
    return np.asarray(np.sqrt(-2 * np.log1p(-first)) * np.cos(2 * np.pi * second), np.float32)


class PocketTTSModel:
    """See `backends.base.Model`. A frame's codes are its latent, and behind it how surely the speech ends with it."""

    eos_ids: tuple[int, ...] = ()  # a passage ends some frames after the sign
    vocab = 2

    def __init__(self, w: View, config: Mapping[str, Any]) -> None:
        c = text_config(config, activations=("gelu_pytorch_tanh",))
        f = c.fields
        c = replace(c, eps=f.float("layer_norm_eps", default=1e-5))
        self.ops, self.dtype = w.backend.ops, w.backend.dtype
        self.hidden, self.latent = c.hidden, f.int("latent_dim", default=32)
        self.threshold, self.least = END_THRESHOLD, LEAST_FRAMES
        w.ignore(r"^loss_weighting\.", r"^latent_stats_num_updates$")  # training only
        inner, self.embedding_rows = w.sub("model"), c.vocab
        self.embedding = inner.embedding("embed_tokens", c.vocab, c.hidden)
        biased = f.flag("attention_bias")
        traits, self.rope = Traits(qkv_bias=biased, out_bias=biased), text_rope(c)
        self.layers = []
        for i in range(c.layers):
            v = inner.layer(i)
            self.layers.append(_Layer(v, Attention(v.sub("self_attn"), c, i, traits), c.hidden, c.ffn, c.eps))
        self.memory = [layer.attention.memory for layer in self.layers]
        self.norm = _Norm(inner, "norm", c.hidden, c.eps)
        self.voice, self.frame_input = (
            inner.linear((name, c.hidden), inp=self.latent) for name in ("audio_prompt_proj", "audio_latent_proj")
        )
        self.begin_latent = inner.tensor("bos_latent", (self.latent,), "f32")
        self.end = w.linear(("eos_head", 1), inp=c.hidden, bias=True)
        self.mean, self.spread = (w.tensor(name, (self.latent,), "f32") for name in ("latent_mean", "latent_std"))
        self.flow = FlowHead(w.sub("flow_head"), f.sub("flow_head_config"), c.hidden, self.latent)

    def choose_like(self, generation: Mapping[str, Any]) -> None:
        """Read how frames are made, and when a passage ends, from a generation_config."""
        f = Fields(generation, "generation_config.json")
        self.threshold = f.float("eos_threshold", default=END_THRESHOLD)
        self.least = f.int("min_frames_before_eos", default=LEAST_FRAMES, least=0)
        if self.flow.steps:
            self.flow.steps = f.int("num_flow_steps", default=FLOW_STEPS, most=1000)

    def embed(self, ids: Array) -> Array:
        return self.embedding.rows(ids)

    def __call__(self, step: Step) -> Array:
        angles, x = self.ops.angles(step.pos, self.rope), step.x
        for layer in self.layers:
            x = layer(x, step, angles)
        return self.norm(x)

    def logits(self, hidden: Array) -> Array:
        ends = self.end(hidden)
        return self.ops.cat([ends * 0.0, ends - self.threshold], 1)

    def frame(self, hidden: Array, ids: Array, params: Sequence[Sampling]) -> tuple[Array, Array]:
        scale = np.sqrt(np.array([[max(0.0, p.temperature)] for p in params], np.float32))
        noise = gaussian([p.noise for p in params], self.latent) * scale
        latents = self.flow(self.ops.array(noise, "f32"), hidden)
        codes = self.ops.cat([latents, self.ops.cast(self.end(hidden), "f32")], 1)
        return codes, self._input(latents)

    def reframe(self, codes: Array) -> Array:
        return self._input(codes[:, : self.latent])

    def prompt(self, ids: np.ndarray, at: int, voice: np.ndarray) -> np.ndarray:
        """Rows of a prompt: embeddings of `ids`, the voice's latents `[n, D]` before the one at `at`, and the beginning of the frames."""
        ops = self.ops
        rows = np.asarray(ops.numpy(self.embed(ops.array(np.asarray(ids, np.int32)))), np.float32)
        begin = self._input(self.begin_latent.reshape(1, self.latent))
        parts = [rows[:at], rows[at:], np.asarray(ops.numpy(begin), np.float32)]
        if len(voice):
            spoken = self.voice(ops.array(np.asarray(voice, np.float32), self.dtype))
            parts.insert(1, np.asarray(ops.numpy(spoken), np.float32))
        return np.concatenate(parts)

    def _input(self, latents: Array) -> Array:
        return self.frame_input(self.ops.cast(latents, self.dtype))


def pocket_tts(w: View, config: Mapping[str, Any]) -> PocketTTSModel:
    return PocketTTSModel(w, config)
