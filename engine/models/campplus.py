"""CAM++, a speaker encoder: from filterbank features to a vector of the voice.

Convolutions over time and bands, then densely connected layers over time, each gated by what is heard around it: the mean of the whole,
and that of its stretch of 100 frames.
"""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from backends.base import Array
from engine.models.yield_budget import YieldBudget
from engine.weights.view import View

MELS = 80
_DILATIONS = (1, 2, 2)  # of the blocks
_STRETCH = 100
_EPS = 1e-5


class _BatchNorm:
    def __init__(self, w: View, dim: int, learned: bool = True) -> None:
        ops = self.ops = w.backend.ops
        self.mean, self.variance = w.tensor("running_mean", (dim,), "f32"), w.tensor("running_var", (dim,), "f32")
        ones = ops.array(np.ones(dim, np.float32), "f32")
        self.gain = w.tensor("weight", (dim,), "f32") if learned else ones
        self.shift = w.tensor("bias", (dim,), "f32") if learned else ones * 0.0

    def __call__(self, x: Array) -> Array:
        return self.ops.batch_norm(x, self.mean, self.variance, self.gain, self.shift, _EPS)


class _Conv2d:
    def __init__(self, w: View, inp: int, out: int, size: int, stride: int) -> None:
        self.ops, self.stride, self.size = w.backend.ops, stride, size
        self.weight = self.ops.conv_weight(w.tensor("weight", (out, inp, size, size), "f32"))

    def __call__(self, x: Array) -> Array:
        edge = self.size // 2
        return self.ops.conv2d(x, self.weight, stride=(self.stride, 1), padding=(edge, edge))


class _Residual:
    """Two convolutions beside a shortcut; `stride`: of the bands."""

    def __init__(self, w: View, dim: int, stride: int) -> None:
        self.ops = w.backend.ops
        self.convs = _Conv2d(w.sub("conv1"), dim, dim, 3, stride), _Conv2d(w.sub("conv2"), dim, dim, 3, 1)
        self.norms = _BatchNorm(w.sub("bn1"), dim), _BatchNorm(w.sub("bn2"), dim)
        self.shortcut = None
        if stride > 1:
            self.shortcut = (
                _Conv2d(w.sub("shortcut.0"), dim, dim, 1, stride),
                _BatchNorm(w.sub("shortcut.1"), dim),
            )

    def __call__(self, x: Array) -> Array:
        y = self.norms[0](self.convs[0](x))
        y = self.norms[1](self.convs[1](self.ops.relu(y)))
        if self.shortcut is not None:
            conv, norm = self.shortcut
            x = norm(conv(x))
        return self.ops.relu(x + y)


class _Conv1d:
    def __init__(self, w: View, inp: int, out: int, size: int = 1, stride: int = 1, dilation: int = 1,
                 bias: bool = False) -> None:  # fmt: skip
        self.ops, self.stride, self.dilation = w.backend.ops, stride, dilation
        self.padding = size // 2 * dilation
        self.weight = self.ops.conv_weight(w.tensor("weight", (out, inp, size), "f32"))
        self.bias = w.tensor("bias", (out,), "f32") if bias else None

    def __call__(self, x: Array) -> Array:
        return self.ops.conv1d(
            x, self.weight, self.bias, stride=self.stride, padding=self.padding, dilation=self.dilation
        )


class _DenseLayer:
    """What one layer adds to the channels."""

    def __init__(self, w: View, inp: int, inner: int, out: int, dilation: int) -> None:
        self.ops = w.backend.ops
        self.norms = _BatchNorm(w.sub("nonlinear1.batchnorm"), inp), _BatchNorm(w.sub("nonlinear2.batchnorm"), inner)
        self.narrow = _Conv1d(w.sub("linear1"), inp, inner)
        own = w.sub("cam_layer")
        self.local = _Conv1d(own.sub("linear_local"), inner, out, 3, dilation=dilation)
        self.squeeze = _Conv1d(own.sub("linear1"), inner, inner // 2, bias=True)
        self.excite = _Conv1d(own.sub("linear2"), inner // 2, out, bias=True)

    def __call__(self, x: Array) -> Array:
        ops = self.ops
        x = ops.relu(self.norms[1](self.narrow(ops.relu(self.norms[0](x)))))
        around = ops.relu(self.squeeze(self._around(x)))
        return self.local(x) * ops.sigmoid(self.excite(around))

    def _around(self, x: Array) -> Array:
        """The mean of the whole, and that of each frame's stretch."""
        ops, n = self.ops, x.shape[1]
        pieces = [x[:, at : at + _STRETCH] for at in range(0, n, _STRETCH)]
        means = ops.stack([ops.sum(piece, 1) / piece.shape[1] for piece in pieces], 1)
        own = ops.take(means, ops.array(np.arange(n, dtype=np.int32) // _STRETCH), 1)
        return own + ops.sum(x, 1)[:, None] / n


class CampPlus:
    def __init__(self, w: View) -> None:
        self.ops = w.backend.ops
        head, own = w.sub("head"), w.sub("xvector")
        dim = (head.shape("conv1.weight") or (32,))[0]
        self.first, self.first_norm = _Conv2d(head.sub("conv1"), 1, dim, 3, 1), _BatchNorm(head.sub("bn1"), dim)
        self.residuals = [
            _Residual(head.sub(f"layer{i}.{j}"), dim, 2 if j == 0 else 1) for i in (1, 2) for j in range(2)
        ]
        self.last, self.last_norm = _Conv2d(head.sub("conv2"), dim, dim, 3, 2), _BatchNorm(head.sub("bn2"), dim)
        width = (own.shape("tdnn.linear.weight") or (128,))[0]
        self.tdnn = _Conv1d(own.sub("tdnn.linear"), dim * (MELS // 8), width, 5, stride=2)
        self.tdnn_norm = _BatchNorm(own.sub("tdnn.nonlinear.batchnorm"), width)
        self.blocks = []
        for i, dilation in enumerate(_DILATIONS, 1):
            block = own.sub(f"block{i}")
            grown, inner = (block.shape("tdnnd1.cam_layer.linear_local.weight") or (32, 128))[:2]
            count = max(1, sum(block.has(f"tdnnd{j}.linear1.weight") for j in range(1, 100)))
            layers = [
                _DenseLayer(block.sub(f"tdnnd{j + 1}"), width + j * grown, inner, grown, dilation) for j in range(count)
            ]
            width += count * grown
            transit = own.sub(f"transit{i}")
            norm = _BatchNorm(transit.sub("nonlinear.batchnorm"), width)
            self.blocks.append((layers, norm, _Conv1d(transit.sub("linear"), width, width // 2)))
            width //= 2
        self.out_norm = _BatchNorm(own.sub("out_nonlinear.batchnorm"), width)
        self.size = (own.shape("dense.linear.weight") or (192,))[0]
        self.dense = _Conv1d(own.sub("dense.linear"), 2 * width, self.size)
        self.dense_norm = _BatchNorm(own.sub("dense.nonlinear.batchnorm"), self.size, learned=False)

    def embed(self, features: np.ndarray) -> Generator[None, None, np.ndarray]:
        """`[frames, 80]`, each band with mean 0 -> `[size]`"""
        ops, budget = self.ops, YieldBudget(self.ops)
        x = ops.array(np.ascontiguousarray(features.T)[None, :, :, None], "f32")  # bands, then time
        x = ops.relu(self.first_norm(self.first(x)))
        for residual in self.residuals:
            x = residual(x)
            yield from budget.pause(x)
        x = ops.relu(self.last_norm(self.last(x)))
        bands, n, dim = x.shape[1:]
        x = ops.permute(x, (0, 2, 3, 1)).reshape(1, n, dim * bands)
        x = ops.relu(self.tdnn_norm(self.tdnn(x)))
        for layers, norm, transit in self.blocks:
            for layer in layers:
                x = ops.cat([x, layer(x)], 2)
                yield from budget.pause(x)
            x = transit(ops.relu(norm(x)))
        heard = ops.numpy(ops.relu(self.out_norm(x)))[0]
        spread = heard.std(0, ddof=1) if len(heard) > 1 else np.zeros_like(heard[0])
        statistics = np.concatenate((heard.mean(0), spread)).astype(np.float32)
        made: np.ndarray = ops.numpy(self.dense_norm(self.dense(ops.array(statistics[None, None], "f32"))))[0, 0]
        return made
