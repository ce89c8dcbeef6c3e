"""SNAC: a codec with several code rates, from coarse to fine.

It is convolutional: samples depend on `Snac.reach` frames to either side. `decode_part` gives a part of the sound exactly as
in the whole. The decoder's noise comes from a fixed table by position, so that the same codes always give the same samples.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping, Sequence
from typing import Any

import numpy as np

from backends.base import Array, Ops
from engine.errors import BadRequest, ConfigError
from engine.models.config import Fields
from engine.weights.view import View

_KERNEL = 7
_DILATIONS = (1, 3, 9)
_NOISE = 1 << 16  # length of the noise table


class SnacConv:
    """A convolution with weight normalization, which is resolved at loading."""

    def __init__(self, w: View, inp: int, out: int, kernel: int = 1, *, stride: int = 1, dilation: int = 1,
                 padding: int | None = None, groups: int = 1, bias: bool = True) -> None:  # fmt: skip
        self.ops: Ops = w.backend.ops
        self.stride, self.dilation, self.groups = stride, dilation, groups
        self.padding = (kernel - 1) * dilation // 2 if padding is None else padding
        self.weight = self.ops.conv_weight(plain_weight(w, (out, inp // groups, kernel)))
        self.bias = w.tensor("bias", (out,), "f32") if bias else None

    def __call__(self, x: Array) -> Array:
        return self.ops.conv1d(x, self.weight, self.bias, stride=self.stride, padding=self.padding,
                               dilation=self.dilation, groups=self.groups)  # fmt: skip


class Transposed:
    """A transposed convolution that upsamples by `stride`."""

    def __init__(self, w: View, inp: int, out: int, kernel: int, stride: int, padding: int, extra: int = 0) -> None:
        self.ops: Ops = w.backend.ops
        self.stride, self.padding, self.extra = stride, padding, extra
        self.weight = self.ops.conv_weight(plain_weight(w, (inp, out, kernel)), transposed=True)
        self.bias = w.tensor("bias", (out,), "f32")

    def __call__(self, x: Array) -> Array:
        return self.ops.conv_transpose1d(x, self.weight, self.bias, stride=self.stride, padding=self.padding,
                                         output_padding=self.extra)  # fmt: skip


def plain_weight(w: View, shape: tuple[int, int, int]) -> Array:
    """`g * v / |v|` over each first index, under either of the names that torch has given the two, or as a converter has
    made it of them."""
    if w.has("weight"):
        return w.tensor("weight", shape, "f32")
    old = w.has("weight_g")
    g_name, v_name = (
        ("weight_g", "weight_v") if old else ("parametrizations.weight.original0", "parametrizations.weight.original1")
    )
    g, v = w.tensor(g_name, (shape[0], 1, 1), "f32"), w.tensor(v_name, shape, "f32")
    flat = w.backend.ops.l2norm(v.reshape(shape[0], shape[1] * shape[2]), eps=0.0)
    return flat.reshape(*shape) * g


class Snake:
    """`x + sin(alpha * x) ** 2 / alpha`"""

    def __init__(self, w: View, channels: int) -> None:
        self.ops: Ops = w.backend.ops
        self.alpha = w.tensor("alpha", (1, channels, 1), "f32").reshape(channels)
        self.size = 1.0 / (self.alpha + 1e-9)

    def __call__(self, x: Array) -> Array:
        wave = self.ops.sin(x * self.alpha)
        return x + wave * wave * self.size


class SnacResidual:
    def __init__(self, w: View, dim: int, dilation: int, groups: int) -> None:
        self.first, self.second = Snake(w.sub("block.0"), dim), Snake(w.sub("block.2"), dim)
        self.wide = SnacConv(w.sub("block.1"), dim, dim, _KERNEL, dilation=dilation, groups=groups)
        self.mix = SnacConv(w.sub("block.3"), dim, dim)

    def __call__(self, x: Array) -> Array:
        return x + self.mix(self.second(self.wide(self.first(x))))


class Noise:
    """Noise that follows the sound's own level."""

    def __init__(self, w: View, dim: int, seed: int) -> None:
        self.ops: Ops = w.backend.ops
        self.level = SnacConv(w.sub("linear"), dim, dim, bias=False)
        self.table = np.random.default_rng(seed).standard_normal(_NOISE, dtype=np.float32)

    def __call__(self, x: Array, start: int) -> Array:
        noise = np.take(self.table, np.arange(start, start + x.shape[1]), mode="wrap")
        return x + self.level(x) * self.ops.array(noise[None, :, None], "f32")


class _UpBlock:
    def __init__(self, w: View, inp: int, out: int, stride: int, noise: bool, groups: int, seed: int) -> None:
        self.stride = stride
        self.snake = Snake(w.sub("block.0"), inp)
        self.up = Transposed(w.sub("block.1"), inp, out, 2 * stride, stride, math.ceil(stride / 2), stride % 2)
        self.noise = Noise(w.sub("block.2"), out, seed) if noise else None
        first = 3 if noise else 2
        self.units = [SnacResidual(w.sub(f"block.{first + i}"), out, d, groups) for i, d in enumerate(_DILATIONS)]

    def __call__(self, x: Array, start: int) -> Array:
        x = self.up(self.snake(x))
        if self.noise is not None:
            x = self.noise(x, start * self.stride)
        for unit in self.units:
            x = unit(x)
        return x


class _DownBlock:
    def __init__(self, w: View, inp: int, out: int, stride: int, groups: int) -> None:
        self.units = [SnacResidual(w.sub(f"block.{i}"), inp, d, groups) for i, d in enumerate(_DILATIONS)]
        self.snake = Snake(w.sub("block.3"), inp)
        self.down = SnacConv(w.sub("block.4"), inp, out, 2 * stride, stride=stride, padding=math.ceil(stride / 2))

    def __call__(self, x: Array) -> Array:
        for unit in self.units:
            x = unit(x)
        return self.down(self.snake(x))


class _Quantizer:
    """One level: a small codebook in a few dimensions, at its own rate."""

    def __init__(self, w: View, dim: int, size: int, width: int, stride: int) -> None:
        self.ops: Ops = w.backend.ops
        self.stride, self.size = stride, size
        self.enter, self.leave = SnacConv(w.sub("in_proj"), dim, width), SnacConv(w.sub("out_proj"), width, dim)
        self.codebook = w.embedding("codebook", size, width)

    def quantize(self, z: Array) -> np.ndarray:
        """`z [1, L, D]` -> codes `[L / stride]`"""
        if self.stride > 1:
            n, dim = z.shape[1] // self.stride, z.shape[2]
            z = self.ops.sum(z.reshape(1, n, self.stride, dim), 2) / self.stride
        found = unit(self.ops.numpy(self.enter(z))[0])
        book = unit(self.ops.numpy(self.codebook.rows(self.ops.arange(self.size))))
        distance = (found**2).sum(1, keepdims=True) - 2 * found @ book.T + (book**2).sum(1)
        return np.argmin(distance, axis=1).astype(np.int32)

    def values(self, codes: np.ndarray) -> Array:
        """`[1, L, D]` at the finest rate."""
        made = self.leave(self.codebook.rows(self.ops.array(codes.astype(np.int32)))[None])
        if self.stride == 1:
            return made
        return self.ops.take(made, self.ops.array(np.repeat(np.arange(len(codes), dtype=np.int32), self.stride)), 1)


def unit(x: np.ndarray) -> np.ndarray:
    made: np.ndarray = x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-12)
    return made


class Snac:
    def __init__(self, w: View, config: Mapping[str, Any]) -> None:
        f = Fields(config)
        if f.find("attn_window_size", default=None) is not None:
            raise ConfigError(
                f"{f.where}: SNAC with attention (attn_window_size) is not supported; the 24 kHz kind has none."
            )
        self.ops: Ops = w.backend.ops
        self.rate, depthwise = f.int("sampling_rate"), f.flag("depthwise", True)
        first, down = f.int("encoder_dim"), list(f.find("encoder_rates"))
        channels, up = f.int("decoder_dim"), list(f.find("decoder_rates"))
        latent = f.int("latent_dim", default=first * 2 ** len(down))
        strides, size, width = list(f.find("vq_strides")), f.int("codebook_size"), f.int("codebook_dim")
        self.hop, self.up = math.prod(up), up
        self.frame = strides[0]  # steps of the finest level in one of the coarsest
        self.sizes = [self.frame // stride for stride in strides]  # codes of each level in a frame
        self.quantizers = [
            _Quantizer(w.sub(f"quantizer.quantizers.{i}"), latent, size, width, s) for i, s in enumerate(strides)
        ]
        self.codes = size
        self.encoder = self._encoder(w.sub("encoder.block"), first, down, latent, depthwise)
        self._decoder(w.sub("decoder.model"), latent, channels, up, depthwise, f.flag("noise", True))
        self.reach = self._reach()

    def _encoder(self, w: View, dim: int, rates: Sequence[int], latent: int, depthwise: bool) -> list[Any]:
        layers: list[Any] = [SnacConv(w.sub("0"), 1, dim, _KERNEL)]
        for i, stride in enumerate(rates):
            layers.append(_DownBlock(w.sub(f"{i + 1}"), dim, 2 * dim, stride, dim if depthwise else 1))
            dim *= 2
        return [*layers, SnacConv(w.sub(f"{len(rates) + 1}"), dim, latent, _KERNEL, groups=dim if depthwise else 1)]

    def _decoder(self, w: View, latent: int, channels: int, rates: Sequence[int], depthwise: bool, noise: bool) -> None:
        if depthwise:
            self.entry = [
                SnacConv(w.sub("0"), latent, latent, _KERNEL, groups=latent),
                SnacConv(w.sub("1"), latent, channels),
            ]
        else:
            self.entry = [SnacConv(w.sub("0"), latent, channels, _KERNEL)]
        at, self.blocks = len(self.entry), []
        for i, stride in enumerate(rates):
            inp, out = channels // 2**i, channels // 2 ** (i + 1)
            block = _UpBlock(w.sub(f"{at + i}"), inp, out, stride, noise, out if depthwise else 1, seed=i)
            self.blocks.append(block)
        at += len(rates)
        self.snake, self.exit = Snake(w.sub(f"{at}"), out), SnacConv(w.sub(f"{at + 1}"), out, 1, _KERNEL)

    def _reach(self) -> int:
        """Coarsest-level frames to either side that a frame's samples depend on."""
        samples, rate = _KERNEL // 2, 1  # from the last layer back to the first
        for stride in reversed(self.up):
            samples += rate * (_KERNEL // 2) * sum(_DILATIONS)
            rate *= stride
            samples += rate
        samples += rate * (_KERNEL // 2)
        return math.ceil(samples / (self.hop * self.frame))

    def encode(self, samples: np.ndarray) -> Generator[None, None, list[np.ndarray]]:
        """Codes of each level, coarsest first. The sound is padded to whole frames."""
        padded = np.pad(samples.astype(np.float32), (0, -len(samples) % (self.hop * self.frame)))
        if not len(padded):
            raise BadRequest("There is no sound to encode.", "file")
        x = self.ops.array(padded[None, :, None], "f32")
        for layer in self.encoder:
            x = layer(x)
            self.ops.numpy(x[:, :1, :1])  # makes a lazy backend compute it here
            yield
        codes = []
        for quantizer in self.quantizers:
            codes.append(quantizer.quantize(x))
            x = x - quantizer.values(codes[-1])
            yield
        return codes

    def decode(self, codes: Sequence[np.ndarray]) -> Generator[None, None, np.ndarray]:
        """Samples, f32, of all frames."""
        made: np.ndarray = yield from self.decode_part(codes, 0, len(codes[0]), 0)
        return made

    def decode_part(
        self, codes: Sequence[np.ndarray], start: int, stop: int, first: int
    ) -> Generator[None, None, np.ndarray]:
        """Samples of frames `start` to `stop`. `codes` start at frame `first` and include all frames that these depend on."""
        self._check(codes)
        z = self.quantizers[0].values(codes[0])
        for quantizer, level in zip(self.quantizers[1:], codes[1:]):
            z = z + quantizer.values(level)
        for layer in self.entry:
            z = layer(z)
        at = first * self.frame
        for block in self.blocks:
            z = block(z, at)
            at *= block.stride
            self.ops.numpy(z[:, :1, :1])
            yield
        made = self.ops.numpy(self.ops.tanh(self.exit(self.snake(z))))[0, :, 0]
        size = self.hop * self.frame
        return made[(start - first) * size : (stop - first) * size]

    def _check(self, codes: Sequence[np.ndarray]) -> None:
        counts = [len(level) for level in codes]
        if (
            len(counts) != len(self.sizes)
            or counts != [counts[0] * n // self.sizes[0] for n in self.sizes]
            or not counts[0]
        ):
            raise BadRequest(f"Codes of {counts} do not make whole frames of {self.sizes}.", "codes")
        if any(level.min() < 0 or level.max() >= self.codes for level in codes):
            raise BadRequest(f"Codes lie between 0 and {self.codes - 1}.", "codes")


class SnacStream:
    """A streaming decoder: a frame's samples come as soon as the frames that they depend on are there."""

    def __init__(self, snac: Snac) -> None:
        self._snac = snac
        self._codes = [np.zeros(0, np.int32) for _ in snac.sizes]
        self._first = 0  # index of the first frame in `_codes`
        self._done = 0  # frames whose samples have been returned

    @property
    def waits(self) -> bool:
        """True if samples of some frames are pending."""
        return self._first + len(self._codes[0]) // self._snac.sizes[0] > self._done

    def push(self, codes: Sequence[np.ndarray], last: bool = False) -> Generator[None, None, np.ndarray]:
        """Add frames and return the samples that they complete; with `last` all of them."""
        self._codes = [np.concatenate(pair) for pair in zip(self._codes, codes)]
        known = self._first + len(self._codes[0]) // self._snac.sizes[0]
        stop = known if last else max(self._done, known - self._snac.reach)
        if stop == self._done:
            return np.zeros(0, np.float32)
        made: np.ndarray = yield from self._snac.decode_part(self._codes, self._done, stop, self._first)
        self._done = stop
        drop = max(0, stop - self._snac.reach - self._first)
        self._codes = [level[drop * n :] for level, n in zip(self._codes, self._snac.sizes)]
        self._first += drop
        return made


def snac(w: View, config: Mapping[str, Any]) -> Snac:
    return Snac(w, config)
