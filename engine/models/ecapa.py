"""ECAPA-TDNN speaker encoders: Qwen3-TTS's, which gives a speaker vector, and BiCodec's, which gives features of each frame."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any

import numpy as np

from backends.base import Array, Ops
from engine.errors import ConfigError
from engine.models.config import Fields
from engine.models.yield_budget import YieldBudget
from engine.weights.view import View

LEAST = 1e-12  # of a variance


class _MirroredConv:
    """As long as its input, which is mirrored at both ends."""

    def __init__(self, w: View, inp: int, out: int, kernel: int = 1, dilation: int = 1) -> None:
        self.ops: Ops = w.backend.ops
        self.dilation, self.reach = dilation, dilation * (kernel - 1) // 2
        self.w = self.ops.conv_weight(w.tensor("weight", (out, inp, kernel), "f32"))
        self.b = w.tensor("bias", (out,), "f32")

    def __call__(self, x: Array) -> Array:
        if self.reach:
            mirrored = np.pad(np.arange(x.shape[1], dtype=np.int32), self.reach, mode="reflect")
            x = self.ops.take(x, self.ops.array(mirrored), 1)
        return self.ops.conv1d(x, self.w, self.b, dilation=self.dilation)


class _MirroredTdnn:
    def __init__(self, w: View, inp: int, out: int, kernel: int = 1, dilation: int = 1) -> None:
        self.ops: Ops = w.backend.ops
        self.conv = _MirroredConv(w.sub("conv"), inp, out, kernel, dilation)

    def __call__(self, x: Array) -> Array:
        return self.ops.relu(self.conv(x))


class _MirroredBlock:
    """Res2Net between two pointwise layers, each channel then scaled by what the whole sound says of it."""

    def __init__(self, w: View, inp: int, out: int, kernel: int, dilation: int, scale: int, squeeze: int) -> None:
        self.ops: Ops = w.backend.ops
        self.scale, part = scale, out // scale
        self.enter, self.leave = _MirroredTdnn(w.sub("tdnn1"), inp, out), _MirroredTdnn(w.sub("tdnn2"), out, out)
        self.parts = [
            _MirroredTdnn(w.sub(f"res2net_block.blocks.{i}"), part, part, kernel, dilation) for i in range(scale - 1)
        ]
        self.squeeze = _MirroredConv(w.sub("se_block.conv1"), out, squeeze)
        self.excite = _MirroredConv(w.sub("se_block.conv2"), squeeze, out)

    def __call__(self, x: Array) -> Array:
        ops = self.ops
        y = self.enter(x)
        parts = ops.split(y, [y.shape[2] // self.scale] * self.scale, 2)
        out = [parts[0], self.parts[0](parts[1])]
        for part, layer in zip(parts[2:], self.parts[1:]):
            out.append(layer(part + out[-1]))
        y = self.leave(ops.cat(out, 2))
        mean = ops.sum(y, 1)[:, None] / y.shape[1]
        return x + y * ops.sigmoid(self.excite(ops.relu(self.squeeze(mean))))


class SpeakerEncoder:
    """`[frames, mels]` -> `[D]`"""

    rate = 24000

    def __init__(self, w: View, config: Mapping[str, Any]) -> None:
        f = Fields(config).sub("speaker_encoder_config")
        widths = f.find("enc_channels", default=[512, 512, 512, 512, 1536])
        kernels = f.find("enc_kernel_sizes", default=[5, 3, 3, 3, 1])
        dilations = f.find("enc_dilations", default=[1, 2, 3, 4, 1])
        if not len(widths) == len(kernels) == len(dilations) >= 3 or sum(widths[1:-1]) != widths[-1]:
            raise ConfigError(f"{f.where}: enc_channels, enc_kernel_sizes and enc_dilations do not fit together.")
        self.mels, self.dim = f.int("mel_dim", default=128), f.int("enc_dim", default=1024)
        scale, squeeze = f.int("enc_res2net_scale", default=8, least=2), f.int("enc_se_channels", default=128)
        attention = f.int("enc_attention_channels", default=128)
        w.ignore(r"^talker\.")  # a model of its own
        w = w.sub("speaker_encoder")
        self.ops: Ops = w.backend.ops
        self.first = _MirroredTdnn(w.sub("blocks.0"), self.mels, widths[0], kernels[0], dilations[0])
        self.blocks = [
            _MirroredBlock(w.sub(f"blocks.{i}"), widths[i - 1], widths[i], kernels[i], dilations[i], scale, squeeze)
            for i in range(1, len(widths) - 1)
        ]
        self.gather = _MirroredTdnn(w.sub("mfa"), widths[-1], widths[-1], kernels[-1], dilations[-1])
        self.look = _MirroredTdnn(w.sub("asp.tdnn"), 3 * widths[-1], attention)
        self.weigh = _MirroredConv(w.sub("asp.conv"), attention, widths[-1])
        self.last = _MirroredConv(w.sub("fc"), 2 * widths[-1], self.dim)

    def embed(self, mel: np.ndarray) -> Generator[None, None, np.ndarray]:
        """The voice's vector, f32."""
        ops, turns = self.ops, YieldBudget(self.ops)
        x = self.first(ops.array(mel[None]))
        each = []
        for block in self.blocks:
            x = block(x)
            each.append(x)
            yield from turns.pause(x)
        x = self.gather(ops.cat(each, 2))
        even = ops.array(np.full(x.shape, 1.0 / x.shape[1], np.float32))
        mean, deviation = self._statistics(x, even)
        ones = even * x.shape[1]
        seen = self.look(ops.cat([x, ones * mean, ones * deviation], 2))
        yield from turns.pause(seen)
        scores = self.weigh(ops.tanh(seen))
        weights = ops.permute(ops.softmax(ops.permute(scores, (0, 2, 1))), (0, 2, 1))
        return ops.numpy(self.last(ops.cat(list(self._statistics(x, weights)), 2)))[0, 0]

    def _statistics(self, x: Array, weights: Array) -> tuple[Array, Array]:
        """Mean and standard deviation over time, `[1, 1, C]` each."""
        mean = self.ops.sum(x * weights, 1)[:, None]
        away = x - mean
        variance = self.ops.numpy(self.ops.sum(away * away * weights, 1))
        return mean, self.ops.array(np.sqrt(np.maximum(variance, LEAST))[:, None])


def speaker_encoder(w: View, config: Mapping[str, Any]) -> SpeakerEncoder:
    return SpeakerEncoder(w, config)


CHANNELS = 512
FEATURES = 3 * CHANNELS
_SCALE = 8
_SQUEEZE = 128
_EPS = 1e-5


class _ZeroPaddedTdnn:
    """Convolution, activation, batch norm."""

    def __init__(self, w: View, inp: int, out: int, kernel: int = 1, dilation: int = 1,
                 names: tuple[str, str] = ("conv", "bn")) -> None:  # fmt: skip
        self.ops: Ops = w.backend.ops
        conv, norm = names
        self.dilation, self.padding = dilation, dilation * (kernel // 2)
        self.weight = self.ops.conv_weight(w.tensor(f"{conv}.weight", (out, inp, kernel), "f32"))
        self.bias = w.tensor(f"{conv}.bias", (out,), "f32")
        self.mean = w.tensor(f"{norm}.running_mean", (out,), "f32")
        self.variance = w.tensor(f"{norm}.running_var", (out,), "f32")
        self.gain, self.shift = w.tensor(f"{norm}.weight", (out,), "f32"), w.tensor(f"{norm}.bias", (out,), "f32")

    def __call__(self, x: Array) -> Array:
        x = self.ops.conv1d(x, self.weight, self.bias, padding=self.padding, dilation=self.dilation)
        return self.ops.batch_norm(self.ops.relu(x), self.mean, self.variance, self.gain, self.shift, _EPS)


class _ZeroPaddedBlock:
    """Res2Net between two pointwise layers, each channel then scaled by what the whole sound says of it."""

    def __init__(self, w: View, dilation: int) -> None:
        self.ops: Ops = w.backend.ops
        self.part = CHANNELS // _SCALE
        self.enter, self.leave = (
            _ZeroPaddedTdnn(w.sub("0"), CHANNELS, CHANNELS),
            _ZeroPaddedTdnn(w.sub("2"), CHANNELS, CHANNELS),
        )
        self.parts = [
            _ZeroPaddedTdnn(w.sub("1"), self.part, self.part, 3, dilation, (f"convs.{i}", f"bns.{i}"))
            for i in range(_SCALE - 1)
        ]
        self.squeeze = w.linear(("3.linear1", _SQUEEZE), inp=CHANNELS, bias=True)
        self.excite = w.linear(("3.linear2", CHANNELS), inp=_SQUEEZE, bias=True)

    def __call__(self, x: Array) -> Array:
        ops = self.ops
        parts = ops.split(self.enter(x), [self.part] * _SCALE, 2)
        made = [self.parts[0](parts[0])]
        for part, layer in zip(parts[1:], self.parts[1:]):
            made.append(layer(part + made[-1]))
        y = self.leave(ops.cat([*made, parts[-1]], 2))
        mean = ops.sum(y, 1) / y.shape[1]
        return x + y * ops.sigmoid(self.excite(ops.relu(self.squeeze(mean))))[:, None]


class Ecapa:
    """`[1, frames, mels]` -> `[1, frames, FEATURES]`"""

    def __init__(self, w: View, mels: int) -> None:
        self.ops: Ops = w.backend.ops
        self.first = _ZeroPaddedTdnn(w.sub("layer1"), mels, CHANNELS, 5)
        self.blocks = [_ZeroPaddedBlock(w.sub(f"layer{i}.se_res2block"), dilation=i) for i in (2, 3, 4)]
        self.weight = self.ops.conv_weight(w.tensor("conv.weight", (FEATURES, 3 * CHANNELS, 1), "f32"))
        self.bias = w.tensor("conv.bias", (FEATURES,), "f32")

    def __call__(self, x: Array, turns: YieldBudget) -> Generator[None, None, Array]:
        x = self.first(x)
        each = []
        for block in self.blocks:
            x = block(x)
            each.append(x)
            yield from turns.pause(x)
        return self.ops.relu(self.ops.conv1d(self.ops.cat(each, 2), self.weight, self.bias))
