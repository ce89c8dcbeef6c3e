"""S3Gen, Chatterbox's second half: from speech tokens and a recording of the voice to mel frames, by flow matching, and to samples.

An encoder of attention by distance reads the recording's tokens and the new ones, and doubles their rate. A network moves noise to mel
frames in ten steps; it sees what the encoder gives, the speaker's vector and the recording's own mel frames. Each step is taken with
all of these and without (classifier-free guidance). `HiFT` (`engine/models/hift.py`) makes samples of the frames.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from backends.base import Array, EncoderAttention
from engine.models.fast_conformer import RelativeAttention, RelativeNames
from engine.models.hift import MELS, RATE, Hift
from engine.models.yield_budget import YieldBudget
from engine.weights.view import View

TOKENS = 6561
STEPS = 10
_GUIDANCE = 0.7
_LOOKAHEAD = 3  # tokens
_FADE = RATE // 50  # samples of silence at the start, and as many of a rise behind: there the recording would be heard
_HEAD = 64
_EPS, _LAYER_EPS = 1e-5, 1e-12
_NAMES = RelativeNames(
    norm="norm_mha",
    projections=("linear_q", "linear_k", "linear_v", "linear_out", "linear_pos"),
    biases=("pos_bias_u", "pos_bias_v"),
    eps=_LAYER_EPS,
)


@dataclass(frozen=True, eq=False)
class HeardVoice:
    """What S3Gen takes of a recording."""

    tokens: np.ndarray  # [n]
    mel: np.ndarray  # [2 n, 80]
    vector: np.ndarray  # of CAM++


class _Norm:
    def __init__(self, w: View, name: str, dim: int, eps: float = _EPS) -> None:
        self.ops, self.eps = w.backend.ops, eps
        self.gain, self.shift = w.tensor(f"{name}.weight", (dim,), "f32"), w.tensor(f"{name}.bias", (dim,), "f32")

    def __call__(self, x: Array) -> Array:
        return self.ops.layer_norm(x, self.gain, self.shift, self.eps)


class _Conv:
    """A convolution over time, with `before` and `behind` frames of silence."""

    def __init__(self, w: View, inp: int, out: int, size: int, before: int = 0, behind: int = 0) -> None:
        self.ops, self.edges = w.backend.ops, (before, behind)
        self.weight = self.ops.conv_weight(w.tensor("weight", (out, inp, size), "f32"))
        self.bias = w.tensor("bias", (out,), "f32")

    def __call__(self, x: Array) -> Array:
        """`[B, L, inp]`"""
        if any(self.edges):
            x = self.ops.pad(x, [(0, 0), self.edges, (0, 0)])
        return self.ops.conv1d(x, self.weight, self.bias)


class _Layer:
    """Attention by distance, then an MLP."""

    def __init__(self, w: View, dim: int, heads: int) -> None:
        self.ops = w.backend.ops
        self.attention = RelativeAttention(w, dim, heads, True, _NAMES)
        self.norm, own = _Norm(w, "norm_ff", dim, _LAYER_EPS), w.sub("feed_forward")
        inner = (own.shape("w_1.weight") or (4 * dim,))[0]
        self.up, self.down = (
            own.linear(("w_1", inner), inp=dim, bias=True),
            own.linear(("w_2", dim), inp=inner, bias=True),
        )

    def __call__(self, x: Array, angles: Any, among: EncoderAttention) -> Array:
        x = self.attention(x, among)
        return x + self.down(self.ops.silu(self.up(self.norm(x))))


class _Embedding:
    def __init__(self, w: View, dim: int) -> None:
        self.enter, self.norm = w.linear(("out.0", dim), inp=dim, bias=True), _Norm(w, "out.1", dim)
        self.scale = math.sqrt(dim)

    def __call__(self, x: Array) -> Array:
        return self.norm(self.enter(x)) * self.scale


class _Encoder:
    def __init__(self, w: View, dim: int) -> None:
        self.ops, self.dim = w.backend.ops, dim
        heads = (w.shape("encoders.0.self_attn.pos_bias_u") or (8,))[0]
        self.embed, self.up_embed = _Embedding(w.sub("embed"), dim), _Embedding(w.sub("up_embed"), dim)
        ahead = w.sub("pre_lookahead_layer")
        self.ahead = _Conv(ahead.sub("conv1"), dim, dim, _LOOKAHEAD + 1, behind=_LOOKAHEAD)
        self.around = _Conv(ahead.sub("conv2"), dim, dim, 3, before=2)
        self.up = _Conv(w.sub("up_layer.conv"), dim, dim, 5, before=4)
        self.stacks = []
        for name in ("encoders", "up_encoders"):
            count = max(1, sum(w.has(f"{name}.{j}.norm_ff.weight") for j in range(100)))
            layers = [_Layer(w.sub(f"{name}.{i}"), dim, heads) for i in range(count)]
            self.stacks.append(w.backend.encoder(layers, None))
        self.norm = _Norm(w, "after_norm", dim)
        w.ignore(r"\.pos_enc\.pe$")

    def __call__(self, x: Array) -> Generator[None, None, Array]:
        """`[L, D]` -> `[2 L, D]`"""
        ops, n = self.ops, x.shape[0]
        x = self.embed(x)
        x = x + self.around(ops.leaky_relu(self.ahead(x[None]), 0.01))[0]
        x = yield from self.stacks[0].run(x, [n])
        doubled = ops.stack([x, x], 1).reshape(2 * n, self.dim)
        x = yield from self.stacks[1].run(self.up_embed(self.up(doubled[None])[0]), [2 * n])
        return self.norm(x)


class _Transformer:
    def __init__(self, w: View, dim: int) -> None:
        self.ops, self.dim = w.backend.ops, dim
        self.norms, own = (_Norm(w, "norm1", dim), _Norm(w, "norm3", dim)), w.sub("attn1")
        self.inner = (own.shape("to_q.weight") or (8 * _HEAD,))[0]
        self.qkv = own.linear(*((f"to_{name}", self.inner) for name in "qkv"), inp=dim)
        self.out = own.linear(("to_out.0", dim), inp=self.inner, bias=True)
        wide = (w.shape("ff.net.0.proj.weight") or (4 * dim,))[0]
        self.up, self.down = (
            w.linear(("ff.net.0.proj", wide), inp=dim, bias=True),
            w.linear(("ff.net.2", dim), inp=wide, bias=True),
        )

    def __call__(self, x: Array) -> Array:
        """`[B, L, D]`"""
        ops, (many, n, _) = self.ops, x.shape
        heads = self.inner // _HEAD
        q, k, v = (
            part.reshape(many, n, heads, _HEAD) for part in ops.split(self.qkv(self.norms[0](x)), [self.inner] * 3, 2)
        )
        x = x + self.out(ops.sdpa(q, k, v, _HEAD**-0.5).reshape(many, n, self.inner))
        return x + self.down(ops.gelu(self.up(self.norms[1](x))))


class _Resnet:
    """Two causal convolutions beside a shortcut; the step's time is added between them."""

    def __init__(self, w: View, inp: int, out: int, time: int) -> None:
        self.ops = w.backend.ops
        self.convs = [_Conv(w.sub(f"block{i}.block.0"), size, out, 3, before=2) for i, size in ((1, inp), (2, out))]
        self.norms = [_Norm(w, f"block{i}.block.2", out) for i in (1, 2)]
        self.time = w.linear(("mlp.1", out), inp=time, bias=True)
        self.shortcut = _Conv(w.sub("res_conv"), inp, out, 1)

    def __call__(self, x: Array, time: Array) -> Array:
        y = mish(self.ops, self.norms[0](self.convs[0](x))) + self.time(time)[:, None]
        y = mish(self.ops, self.norms[1](self.convs[1](y)))
        return y + self.shortcut(x)


class _Stage:
    def __init__(self, w: View, inp: int, dim: int, time: int, leaves: bool) -> None:
        self.resnet = _Resnet(w.sub("0"), inp, dim, time)
        count = max(1, sum(w.has(f"1.{i}.norm1.weight") for i in range(100)))
        self.transformers = [_Transformer(w.sub(f"1.{i}"), dim) for i in range(count)]
        self.leave = _Conv(w.sub("2"), dim, dim, 3, before=2) if leaves else None

    def __call__(self, x: Array, time: Array, budget: YieldBudget) -> Generator[None, None, Array]:
        x = self.resnet(x, time)
        for transformer in self.transformers:
            x = transformer(x)
        yield from budget.pause(x)
        return x


class _Estimator:
    """Where the frames of a step are to move."""

    def __init__(self, w: View, dim: int) -> None:
        self.ops, self.inp = w.backend.ops, 4 * MELS
        time = (w.shape("time_mlp.linear_1.weight") or (4 * dim,))[0]
        own = w.sub("time_mlp")
        self.time = (
            own.linear(("linear_1", time), inp=self.inp, bias=True),
            own.linear(("linear_2", time), inp=time, bias=True),
        )
        self.down = _Stage(w.sub("down_blocks.0"), self.inp, dim, time, leaves=True)
        count = max(1, sum(w.has(f"mid_blocks.{i}.0.res_conv.weight") for i in range(100)))
        self.middle = [_Stage(w.sub(f"mid_blocks.{i}"), dim, dim, time, leaves=False) for i in range(count)]
        self.up = _Stage(w.sub("up_blocks.0"), 2 * dim, dim, time, leaves=True)
        self.last, self.norm = (
            _Conv(w.sub("final_block.block.0"), dim, dim, 3, before=2),
            _Norm(w, "final_block.block.2", dim),
        )
        self.project = _Conv(w.sub("final_proj"), dim, MELS, 1)

    def __call__(self, x: Array, at: float, budget: YieldBudget) -> Generator[None, None, Array]:
        """`[B, L, 320]` -> `[B, L, 80]`"""
        ops = self.ops
        time = self.time[1](ops.silu(self.time[0](ops.array(_time_embedding(at, self.inp), "f32"))))
        time = mish(ops, time)
        kept = yield from self.down(x, time, budget)
        assert self.down.leave is not None
        assert self.up.leave is not None
        x = self.down.leave(kept)
        for stage in self.middle:
            x = yield from stage(x, time, budget)
        x = yield from self.up(ops.cat([x, kept], 2), time, budget)
        x = self.up.leave(x)
        return self.project(mish(ops, self.norm(self.last(x))))


def mish(ops: Any, x: Array) -> Array:
    return x * ops.tanh(ops.softplus(x))


def _time_embedding(at: float, dim: int) -> np.ndarray:
    half = dim // 2
    angles = (
        1000.0 * np.float32(at) * np.exp(np.arange(half, dtype=np.float32) * np.float32(-math.log(10000) / (half - 1)))
    )
    made: np.ndarray = np.concatenate((np.sin(angles), np.cos(angles)))[None].astype(np.float32)
    return made


class S3Gen:
    rate = RATE

    def __init__(self, w: View, config: Mapping[str, Any]) -> None:
        w.ignore(r"^(t3|ve|gen|conds)\.", r"^s3gen\.(tokenizer|speaker_encoder|mel_extractor)\.", r"rand_noise$",
                 r"^s3gen\.trim_fade$", r"num_batches_tracked$")  # fmt: skip
        w = w.sub("s3gen")
        self.ops, flow = w.backend.ops, w.sub("flow")
        dim = (flow.shape("input_embedding.weight") or (TOKENS, 512))[1]
        self.vector = (flow.shape("spk_embed_affine_layer.weight") or (MELS, 192))[1]
        self.words = flow.embedding("input_embedding", TOKENS, dim)
        self.speaker = flow.linear(("spk_embed_affine_layer", MELS), inp=self.vector, bias=True)
        self.encoder = _Encoder(flow.sub("encoder"), dim)
        self.project = flow.linear(("encoder_proj", MELS), inp=dim, bias=True)
        own = flow.sub("decoder.estimator")
        self.estimator = _Estimator(own, (own.shape("final_proj.weight") or (MELS, 256))[1])
        self.vocoder = Hift(w.sub("mel2wav"))

    def frames(self, tokens: np.ndarray, voice: HeardVoice, noise: np.ndarray) -> Generator[None, None, Array]:
        """Mel frames `[1, 2 n, 80]` of tokens `[n]`. `noise`: of the frames of the recording and the new ones."""
        ops, budget = self.ops, YieldBudget(self.ops)
        given = np.concatenate((voice.tokens, tokens)).astype(np.int32)
        read = yield from self.encoder(self.words.rows(ops.array(given)))
        aim = self.project(read)
        count, before = aim.shape[0], len(voice.mel)
        vector = voice.vector / (np.linalg.norm(voice.vector) + 1e-8)
        known = np.zeros((count, MELS), np.float32)
        known[:before] = voice.mel
        speaker = self.speaker(ops.array(vector[None].astype(np.float32), "f32"))
        given_rows = ops.cat([aim, ops.cat([speaker] * count, 0), ops.array(known, "f32")], 1)
        both = ops.stack([given_rows, given_rows * 0.0], 0)
        x = ops.array(noise[None, :count].astype(np.float32), "f32")
        times = 1.0 - np.cos(np.linspace(0.0, 1.0, STEPS + 1) * 0.5 * math.pi)
        for at, after in itertools.pairwise(times):
            moved = yield from self.estimator(ops.cat([ops.cat([x, x], 0), both], 2), float(at), budget)
            x = x + (moved[:1] * (1.0 + _GUIDANCE) - moved[1:] * _GUIDANCE) * float(after - at)
        return x[:, before:]

    def speak(self, tokens: np.ndarray, voice: HeardVoice, seed: int = 0) -> Generator[None, None, np.ndarray]:
        """Samples of tokens. The same seed gives the same ones."""
        random = np.random.default_rng(seed)
        count = 2 * (len(tokens) + len(voice.tokens))
        mel = yield from self.frames(tokens, voice, random.standard_normal((count, MELS), dtype=np.float32))
        source = self.vocoder.source(self.vocoder.pitch(mel), random)
        samples = yield from self.vocoder.run(mel, source, YieldBudget(self.ops))
        rise = (np.cos(np.linspace(math.pi, 0.0, _FADE)) + 1) / 2
        fade = np.concatenate((np.zeros(_FADE), rise)).astype(np.float32)[: len(samples)]
        samples[: len(fade)] *= fade
        return samples


def s3gen(w: View, config: Mapping[str, Any]) -> S3Gen:
    return S3Gen(w, config)
