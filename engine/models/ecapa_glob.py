"""ECAPA-TDNN as BiCodec has it: from a mel spectrogram to features of every frame, before they are pooled.

Beside `ecapa` the layers pad with zeros, a batch norm follows each activation, and the Res2 blocks pass their last part
through instead of the first. The pooled x-vector served training alone.
"""

from __future__ import annotations

from collections.abc import Generator

from backends.base import Array, Ops
from engine.models.turns import Turns
from engine.weights.view import View

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
        self.enter, self.leave = _ZeroPaddedTdnn(w.sub("0"), CHANNELS, CHANNELS), _ZeroPaddedTdnn(w.sub("2"), CHANNELS, CHANNELS)
        self.parts = [
            _ZeroPaddedTdnn(w.sub("1"), self.part, self.part, 3, dilation, (f"convs.{i}", f"bns.{i}")) for i in range(_SCALE - 1)
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

    def __call__(self, x: Array, turns: Turns) -> Generator[None, None, Array]:
        x = self.first(x)
        each = []
        for block in self.blocks:
            x = block(x)
            each.append(x)
            yield from turns.pause(x)
        return self.ops.relu(self.ops.conv1d(self.ops.cat(each, 2), self.weight, self.bias))
