"""Gemma 4's encoder of sound (E2B and E4B): two convolutions that halve time and bands, then Conformer layers whose attention looks back.

A row is 40 ms. Attention sees the last few rows alone; its scores have a part by distance and a soft cap. Linears may have bounds
between which their inputs and outputs are held. Values beyond 1e10, which the reference cuts off, do not come up.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any

import numpy as np

from backends.base import Array
from engine.errors import BadRequest, ConfigError
from engine.media.inputs import HeardSound
from engine.models.config import MOST_LAYERS, Fields
from engine.models.encoder import Patched
from engine.models.gemma4_vision import HEARD, PLACES, BoundedLinear, Gemma4Tower, gemma4_tower, ignore_towers
from engine.models.yield_budget import YieldBudget
from engine.weights.view import View

MELS = 128  # bands of the spectrogram that the encoder reads
EPS = 1e-6  # of norms whose epsilon no config changes
_HIDDEN_SCORE = -1e9


def gemma4_hearing(
    w: View, config: Mapping[str, Any], width: int, behind: Callable[[], np.ndarray] | None
) -> Gemma4Hearing | None:
    """None where the checkpoint has no encoder of sound. The arguments are those of `gemma4_tower`."""
    place = next((one for one in PLACES if w.has(f"{one}audio_tower.output_proj.weight")), None)
    if place is None or not isinstance(config.get("audio_config"), Mapping):
        ignore_towers(w, HEARD)
        return None
    return Gemma4Hearing(w.sub(f"{place}audio_tower"), w.sub(f"{place}embed_audio"), Fields(config), width, behind)


class _Subsampling:
    """Convolutions over time and bands, each of which halves both."""

    def __init__(self, w: View, f: Fields, hidden: int) -> None:
        self.ops, self.eps = w.backend.ops, f.float("rms_norm_eps", default=EPS)
        channels = f.find("subsampling_conv_channels", default=[128, 32])
        if (
            not isinstance(channels, list | tuple)
            or len(channels) != 2
            or not all(isinstance(n, int) for n in channels)
        ):
            raise ConfigError(f"{f.where}: subsampling_conv_channels must be two numbers, not {channels!r}.")
        self.width = MELS // 4 * channels[1]
        self.convs = [
            self._conv(w.sub(f"layer{i}"), out, inp) for i, (inp, out) in enumerate(zip([1, *channels], channels))
        ]
        self.norms = [w.tensor(f"layer{i}.norm.weight", (out,)) for i, out in enumerate(channels)]
        self.out = w.linear(("input_proj_linear", hidden), inp=self.width)

    def _conv(self, w: View, out: int, inp: int) -> Array:
        ops, last = w.backend.ops, (out, 3, 3, inp)
        if inp != 3 and w.shape("conv.weight") == last:  # MLX's converter puts the input channels last
            return ops.conv_weight(ops.permute(w.tensor("conv.weight", last), (0, 3, 1, 2)))
        return ops.conv_weight(w.tensor("conv.weight", (out, inp, 3, 3)))

    def __call__(self, mel: Array) -> Array:
        """`[T, MELS]` -> `[T / 4, hidden]`."""
        ops, x = self.ops, mel[None, :, :, None]
        for conv, norm in zip(self.convs, self.norms):
            x = ops.relu(ops.layer_norm(ops.conv2d(x, conv, stride=(2, 2), padding=(1, 1)), norm, None, self.eps))
        return self.out(x.reshape(x.shape[1], self.width))


class _FeedForward:
    def __init__(self, w: View, f: Fields, hidden: int) -> None:
        self.ops, self.share = w.backend.ops, f.float("residual_weight", default=0.5)
        bounded = f.flag("use_clipped_linears", True)
        self.before, self.behind = w.norm("pre_layer_norm", hidden), w.norm("post_layer_norm", hidden)
        self.up = BoundedLinear(w, "ffw_layer_1", 4 * hidden, hidden, bounded)
        self.down = BoundedLinear(w, "ffw_layer_2", hidden, 4 * hidden, bounded)

    def __call__(self, x: Array) -> Array:
        ops = self.ops
        made = self.down(ops.silu(self.up(ops.rms_norm(x, self.before, EPS))))
        return x + ops.rms_norm(made, self.behind, EPS) * self.share


class _LocalAttention:
    """Each row with itself and those just before it."""

    def __init__(self, w: View, f: Fields, hidden: int) -> None:
        ops = self.ops = w.backend.ops
        self.dtype, self.hidden, self.heads = w.backend.dtype, hidden, f.int("num_attention_heads", default=8)
        if hidden % self.heads:
            raise ConfigError(f"{f.where}: hidden_size ({hidden}) does not go into {self.heads} heads.")
        self.dim = hidden // self.heads
        self.cap = f.float("attention_logit_cap", default=50.0, above=0)
        chunk, left = f.int("attention_chunk_size", default=12), f.int("attention_context_left", default=13)
        if f.int("attention_context_right", default=0, least=0):
            raise ConfigError(f"{f.where}: attention_context_right must be 0: rows that look ahead are not supported.")
        if left < 2 or left > chunk + 1:
            raise ConfigError(
                f"{f.where}: attention_context_left ({left}) must be 2 to {chunk + 1}, by the chunk's size."
            )
        self.reach = left - 1  # rows that one sees, itself among them
        # the reference numbers distances from the middle of a chunk with what is before it
        distances = np.arange(self.reach) + (chunk + left - 1) // 2 - (left - 1)
        self.distances = ops.array(_sinusoids(distances, hidden), self.dtype)
        bounded = f.flag("use_clipped_linears", True)
        self.q, self.k, self.v = (BoundedLinear(w, f"{name}_proj", hidden, hidden, bounded) for name in "qkv")
        self.out = BoundedLinear(w, "post", hidden, hidden, bounded)
        self.by_distance = w.linear(("relative_k_proj", hidden), inp=hidden)
        self.key_scale = math.log(1 + math.e) / math.log(2)
        self.query_scale = ops.softplus(w.tensor("per_dim_scale", (self.dim,), "f32")) * (self.dim**-0.5 / math.log(2))

    def __call__(self, x: Array) -> Array:
        ops, n, reach = self.ops, x.shape[0], self.reach
        q, k, v = (ops.cast(made(x), "f32").reshape(n, self.heads, self.dim) for made in (self.q, self.k, self.v))
        q, before = q * self.query_scale, [(reach - 1, 0), (0, 0), (0, 0)]
        k, v = ops.pad(k * self.key_scale, before), ops.pad(v, before)
        near = ops.cast(self.by_distance(self.distances), "f32").reshape(reach, self.heads, self.dim)

        def back(rows: Array, distance: int) -> Array:
            return rows[reach - 1 - distance : reach - 1 - distance + n]

        scores = ops.stack([ops.sum(q * (back(k, d) + near[d : d + 1]), 2) for d in range(reach)], 2)
        scores = ops.tanh(scores / self.cap) * self.cap + ops.array(self._hidden(n), "f32")
        shares = ops.softmax(scores)
        attended = shares[:, :, :1] * back(v, 0)
        for d in range(1, reach):
            attended = attended + shares[:, :, d : d + 1] * back(v, d)
        return self.out(ops.cast(attended.reshape(n, self.hidden), self.dtype))

    def _hidden(self, n: int) -> np.ndarray:
        """What is added to scores `[n, heads, reach]` of rows before the first."""
        hidden = np.arange(self.reach) > np.arange(n)[:, None]
        return np.where(hidden, _HIDDEN_SCORE, 0.0).astype(np.float32)[:, None]


class _Convolution:
    """Each channel with its own last rows, between a gate and a linear."""

    def __init__(self, w: View, f: Fields, hidden: int) -> None:
        self.ops, self.hidden, self.eps = w.backend.ops, hidden, f.float("rms_norm_eps", default=EPS)
        bounded, self.kernel = f.flag("use_clipped_linears", True), f.int("conv_kernel_size", default=5, most=1 << 10)
        self.widen = BoundedLinear(w, "linear_start", 2 * hidden, hidden, bounded)
        self.narrow = BoundedLinear(w, "linear_end", hidden, hidden, bounded)
        self.before, self.between = w.norm("pre_layer_norm", hidden), w.norm("conv_norm", hidden)
        name, mlx = "depthwise_conv1d.weight", (hidden, self.kernel, 1)  # of one input channel: the same numbers
        taps = w.tensor(name, mlx if w.shape(name) == mlx else (hidden, 1, self.kernel))
        self.taps = self.ops.conv_weight(taps.reshape(hidden, 1, self.kernel))

    def __call__(self, x: Array) -> Array:
        ops = self.ops
        wide, gate = ops.split(self.widen(ops.rms_norm(x, self.before, self.eps)), [self.hidden, self.hidden], 1)
        mixed = ops.pad(wide * ops.sigmoid(gate), [(self.kernel - 1, 0), (0, 0)])[None]
        mixed = ops.conv1d(mixed, self.taps, groups=self.hidden)[0]
        return x + self.narrow(ops.silu(ops.rms_norm(mixed, self.between, self.eps)))


class _Layer:
    def __init__(self, w: View, f: Fields, hidden: int) -> None:
        self.ops = w.backend.ops
        self.first, self.last = (_FeedForward(w.sub(f"feed_forward{i}"), f, hidden) for i in (1, 2))
        self.attention = _LocalAttention(w.sub("self_attn"), f, hidden)
        self.convolution = _Convolution(w.sub("lconv1d"), f, hidden)
        self.before, self.behind, self.norm = (
            w.norm(f"norm_{name}", hidden) for name in ("pre_attn", "post_attn", "out")
        )

    def __call__(self, x: Array) -> Array:
        ops = self.ops
        x = self.first(x)
        x = x + ops.rms_norm(self.attention(ops.rms_norm(x, self.before, EPS)), self.behind, EPS)
        return ops.rms_norm(self.last(self.convolution(x)), self.norm, EPS)


class Gemma4Hearing:
    """A spectrogram `[T, MELS]` of each sound to rows `[T / 4, width]`, and what lies behind them, in f32."""

    taps: Mapping[int, object] = {}

    def __init__(
        self, tower: View, embedder: View, config: Fields, width: int, behind: Callable[[], np.ndarray] | None
    ) -> None:
        self.ops, self.dtype, self._behind = tower.backend.ops, tower.backend.dtype, behind
        f = config.sub("audio_config")
        if (act := f.find("hidden_act", default="silu")) != "silu":
            raise ConfigError(f"{f.where}: hidden_act `{act}` is not the one that this encoder is known with.")
        hidden, made = f.int("hidden_size", default=1024), f.int("output_proj_dims", default=1536)
        if hidden % 2:
            raise ConfigError(f"{f.where}: hidden_size ({hidden}) must be even.")
        self.eps = f.float("rms_norm_eps", default=EPS)
        self.embed = _Subsampling(tower.sub("subsample_conv_projection"), f, hidden)
        count = f.int("num_hidden_layers", default=12, most=MOST_LAYERS)
        self.layers = [_Layer(tower.sub(f"layers.{i}"), f, hidden) for i in range(count)]
        self.out = tower.linear(("output_proj", made), inp=hidden, bias=True)
        self.project = embedder.linear(("embedding_projection", width), inp=made)
        if not f.flag("use_clipped_linears", True):  # some files hold bounds that nothing uses
            tower.ignore(r"\.(in|out)put_(min|max)$")

    def __call__(self, sounds: Sequence[Patched]) -> Generator[None, None, list[np.ndarray]]:
        made = [np.empty(0)] * len(sounds)
        for at, sound in enumerate(sounds):
            made[at] = yield from self._heard(sound.patches)
        return made

    def _heard(self, mel: np.ndarray) -> Generator[None, None, np.ndarray]:
        ops, budget = self.ops, YieldBudget(self.ops)
        x = self.embed(ops.array(mel, self.dtype))
        for layer in self.layers:
            x = layer(x)
            yield from budget.pause(x[None])
        rows = np.ascontiguousarray(ops.numpy(self.project(ops.rms_norm(self.out(x), None, self.eps))), np.float32)
        if self._behind is None:
            return rows
        behind = self._behind()
        return np.concatenate([rows, np.broadcast_to(behind, (len(rows), len(behind)))], axis=1)


def _sinusoids(distances: np.ndarray, dim: int) -> np.ndarray:
    """`[n, dim]`: sines, then cosines."""
    step = math.log(10000.0) / max(dim // 2 - 1, 1)
    angles = distances[:, None].astype(np.float32) * np.exp(np.arange(dim // 2, dtype=np.float32) * np.float32(-step))
    made: np.ndarray = np.concatenate([np.sin(angles), np.cos(angles)], 1).astype(np.float32)
    return made


class Gemma4Senses:
    """The encoders of pictures and of sound: each gets what is its own."""

    taps: Mapping[int, object] = {}

    def __init__(self, sight: Gemma4Tower | None, hearing: Gemma4Hearing | None) -> None:
        self.sight, self.hearing = sight, hearing

    def __call__(self, pictures: Sequence[Patched]) -> Generator[None, None, list[np.ndarray]]:
        made: dict[int, np.ndarray] = {}
        for encoder, heard in ((self.sight, False), (self.hearing, True)):
            places = [at for at, one in enumerate(pictures) if isinstance(one, HeardSound) == heard]
            if places:
                if encoder is None:
                    raise BadRequest(
                        "This model hears no sound." if heard else "This model sees no images.", "messages"
                    )
                made.update(zip(places, (yield from encoder([pictures[at] for at in places]))))
        return [made[at] for at in range(len(pictures))]


def gemma4_senses(
    w: View, config: Mapping[str, Any], width: int, behind: Callable[[], np.ndarray] | None, mutual: bool
) -> Gemma4Senses | None:
    """None where the checkpoint has neither encoder. `mutual`: the tokens of a picture see one another; the rest as of `gemma4_tower`."""
    sight, hearing = gemma4_tower(w, config, width, behind), gemma4_hearing(w, config, width, behind)
    if hearing is not None and mutual:
        where = Fields(config).where
        raise ConfigError(f"{where}: use_bidirectional_attention is not supported beside an encoder of sound.")
    return None if sight is None and hearing is None else Gemma4Senses(sight, hearing)
