"""The operations of text models on MLX: rotary positions, norms, activations, shapes, attention without a cache.

Elementwise chains are compiled into one kernel each and compute in f32, so half precision is rounded once. Attention over a
cache is in cache.py, convolutions and spectra in signal.py.

Rotary embedding has two forms. Metal has one kernel that takes a position per row, for the plain case. Everything else
(several axes, dynamic frequencies, a scale on part of a head) and the CPU, where that kernel is thirty primitives, uses cos
and sin that are computed once a pass: one slice and one fused multiply-add.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import accumulate, groupby
from typing import Any

import mlx.core as mx
import numpy as np

from backends.base import DType, Rope, Sampling
from backends.mlx.group import MlxGroup
from backends.mlx.sample import MlxSamples, largest, sample
from backends.ops import BELOW_ONE, LONG_TEXT, axis_of_frequency

DTYPES: dict[str, mx.Dtype] = {"f32": mx.float32, "f16": mx.float16, "bf16": mx.bfloat16}


class Frequencies:
    """The parts of a `Rope` that are the same in every step."""

    def __init__(self, rope: Rope) -> None:
        self.inverse = mx.array(np.asarray(rope.inv, np.float32))
        with np.errstate(divide="ignore"):  # dimensions that do not turn have an infinite period
            self.periods = mx.array(1.0 / np.asarray(rope.inv, np.float32))  # the kernel divides positions by these
        self.long = None if rope.long is None else mx.array(np.asarray(rope.long[1], np.float32))
        self.axes = None if rope.section is None else mx.array(np.asarray(axis_of_frequency(rope), np.int32))


class MlxAngles:
    """The result of `Ops.angles`. Both forms are computed on first use, so that a pass pays for one of them."""

    def __init__(self, pos: mx.array, rope: Rope, frequencies: Frequencies, kernel: bool) -> None:
        self.rope = rope
        self._pos = pos
        self._frequencies = frequencies
        plain = pos.ndim == 1 and rope.dynamic is None and rope.long is None and rope.scale == 1.0
        self.kernel = kernel and plain

    @cached_property
    def _radians(self) -> mx.array:
        """`[T, dims / 2]`, f32."""
        inverse, axes = self._frequencies.inverse, self._frequencies.axes
        pos = self._pos.astype(mx.float32)
        if self._frequencies.long is not None:
            place = self._pos if pos.ndim == 1 else self._pos[0]
            far = place >= LONG_TEXT
            place = mx.where(far, place - LONG_TEXT, place).astype(mx.float32)
            return place[:, None] * mx.where(far[:, None], self._frequencies.long, inverse)
        if self.rope.dynamic is not None:
            return _dynamic_radians(pos if pos.ndim == 1 else pos[0], self.rope, inverse)
        if pos.ndim == 1:
            return pos[:, None] * inverse
        if axes is None:
            return pos[0][:, None] * inverse
        return mx.take(pos.T, axes, axis=1) * inverse

    @cached_property
    def cos_sin(self) -> tuple[mx.array, mx.array]:
        """cos and sin, shaped to broadcast over a head split into its two rotated halves; sin carries each half's sign."""
        cos, sin = mx.cos(self._radians), mx.sin(self._radians)
        if self.rope.scale != 1.0:
            cos, sin = cos * self.rope.scale, sin * self.rope.scale
        axis = -1 if self.rope.pairs else -2
        cos, sin = mx.expand_dims(cos[:, None], axis), mx.expand_dims(sin[:, None], axis)
        return cos, mx.concatenate([-sin, sin], axis=axis)

    def rotate(self, x: mx.array) -> mx.array:
        """`[T, H, D] -> [T, H, D]`"""
        rope = self.rope
        if self.kernel:
            rotated = mx.fast.rope(
                x[:, :, None],
                rope.dims,
                traditional=rope.pairs,
                base=None,
                scale=1.0,
                offset=self._pos,
                freqs=self._frequencies.periods,
            )
            return rotated.squeeze(2)
        if rope.dims == x.shape[-1]:
            return self._rotate_whole(x)
        turned, passed = mx.split(x, [rope.dims], axis=-1)
        return mx.concatenate([self._rotate_whole(turned), passed], axis=-1)

    def _rotate_whole(self, x: mx.array) -> mx.array:
        t, h, d = x.shape
        cos, sin = self.cos_sin
        if self.rope.pairs:
            halves = x.reshape(t, h, d // 2, 2)
            swapped = halves[..., ::-1]
        else:
            halves = x.reshape(t, h, 2, d // 2)
            swapped = halves[:, :, ::-1]
        return _turn(halves, swapped, cos, sin).reshape(t, h, d)


def _turn(x: mx.array, swapped: mx.array, cos: mx.array, sin: mx.array) -> mx.array:
    return (x * cos + swapped * sin).astype(x.dtype)


_turn = mx.compile(_turn, shapeless=True)


def _dynamic_radians(pos: mx.array, rope: Rope, inv: mx.array) -> mx.array:
    """NTK scaling whose base grows with the position, beyond the trained length only."""
    assert rope.dynamic is not None
    base, factor, trained = rope.dynamic
    length = mx.maximum(pos + 1, float(trained))[:, None]
    growth = (factor * length / trained - (factor - 1)) ** (rope.dims / (rope.dims - 2))
    exponents = mx.array(-np.arange(0, rope.dims, 2, dtype=np.float32) / rope.dims)
    stretched = mx.power(base * growth, exponents)
    return pos[:, None] * mx.where(length > trained, stretched, inv)


def _fused(fn: Callable[..., mx.array]) -> Callable[..., mx.array]:
    """One kernel for an elementwise function; f32 inside, the first argument's dtype outside."""

    def in_f32(*xs: mx.array) -> mx.array:
        return fn(*(x.astype(mx.float32) for x in xs)).astype(xs[0].dtype)

    return mx.compile(in_f32, shapeless=True)


_silu = _fused(lambda x: x * mx.sigmoid(x))
_gated_silu = _fused(lambda gate, up: gate * mx.sigmoid(gate) * up)
_gelu = _fused(lambda x: 0.5 * x * (1 + mx.erf(x * 0.7071067811865476)))
_gelu_tanh = _fused(lambda x: 0.5 * x * (1 + mx.tanh(0.7978845608028654 * (x + 0.044715 * x * x * x))))
_gated_gelu = _fused(
    lambda gate, up: 0.5 * gate * (1 + mx.tanh(0.7978845608028654 * (gate + 0.044715 * gate * gate * gate))) * up
)
_softplus = _fused(lambda x: mx.logaddexp(x, 0.0))


def _as(x: mx.array, dtype: mx.Dtype) -> mx.array:
    return x if x.dtype == dtype else x.astype(dtype)


class MlxTextOps:
    """Implements `backends.ops.Ops` but for its signal part."""

    def __init__(self, device: str, dtype: DType) -> None:
        self.device = device
        self.dtype: DType = dtype
        self.group: MlxGroup | None = None  # the ranks of tensor parallelism
        self._frequencies: dict[Rope, Frequencies] = {}
        self._unit_scales: dict[tuple[int, mx.Dtype], mx.array] = {}

    # -- rotation

    def angles(self, pos: mx.array, rope: Rope) -> MlxAngles:
        if rope not in self._frequencies:
            self._frequencies[rope] = Frequencies(rope)
        return MlxAngles(pos, rope, self._frequencies[rope], kernel=self.device == "metal")

    def rope(self, x: mx.array, angles: MlxAngles) -> mx.array:
        return angles.rotate(x)

    def qkv(
        self,
        x: mx.array,
        heads: int,
        kv_heads: int,
        dim: int,
        angles: MlxAngles | None,
        q_norm: mx.array | None = None,
        k_norm: mx.array | None = None,
        eps: float = 1e-6,
        norm_after_rope: bool = False,
    ) -> tuple[mx.array, mx.array, mx.array]:
        x = x.reshape(x.shape[0], heads + 2 * kv_heads, dim)
        q, k, v = mx.split(x, [heads, heads + kv_heads], axis=1)

        def prepare(part: mx.array, norm: mx.array | None) -> mx.array:
            if norm is not None and not norm_after_rope:
                part = self.rms_norm(part, norm, eps)
            if angles is not None:
                part = angles.rotate(part)
            if norm is not None and norm_after_rope:
                part = self.rms_norm(part, norm, eps)
            return part

        return prepare(q, q_norm), prepare(k, k_norm), v

    # -- norms

    def rms_norm(self, x: mx.array, w: mx.array | None, eps: float) -> mx.array:
        return _as(mx.fast.rms_norm(x, w, eps), x.dtype)

    def add_rms_norm(self, x: mx.array, residual: mx.array, w: mx.array, eps: float) -> tuple[mx.array, mx.array]:
        total = x + residual
        return total, self.rms_norm(total, w, eps)

    def layer_norm(self, x: mx.array, w: mx.array | None, b: mx.array | None, eps: float) -> mx.array:
        return _as(mx.fast.layer_norm(x, w, b, eps), x.dtype)

    def group_norm(self, x: mx.array, groups: int, w: mx.array, b: mx.array, eps: float) -> mx.array:
        n, length, channels = x.shape
        width = channels // groups
        grouped = x.reshape(n, length, groups, width).transpose(0, 2, 1, 3)
        normed = mx.fast.layer_norm(grouped.reshape(n, groups, length * width), None, None, eps)
        normed = normed.reshape(n, groups, length, width).transpose(0, 2, 1, 3).reshape(n, length, channels)
        return _as(normed * w + b, x.dtype)

    def l2norm(self, x: mx.array, eps: float = 1e-6) -> mx.array:
        # RMS norm's mean and eps are this sum and eps over the width; the width's root goes into its weight.
        width = x.shape[-1]
        scale = self._unit_scales.get((width, x.dtype))
        if scale is None:
            scale = mx.full((width,), width**-0.5, dtype=x.dtype)
            self._unit_scales[width, x.dtype] = scale
        return mx.fast.rms_norm(x, scale, eps / width)

    # -- activations

    def swiglu(self, x: mx.array, gate_last: bool = False) -> mx.array:
        gate, up = mx.split(x, 2, axis=-1)[:: -1 if gate_last else 1]
        return _gated_silu(gate, up)

    def geglu(self, x: mx.array) -> mx.array:
        gate, up = mx.split(x, 2, axis=-1)
        return _gated_gelu(gate, up)

    def silu(self, x: mx.array) -> mx.array:
        return _silu(x)

    def gelu(self, x: mx.array) -> mx.array:
        return _gelu(x)

    def gelu_tanh(self, x: mx.array) -> mx.array:
        return _gelu_tanh(x)

    def relu(self, x: mx.array) -> mx.array:
        return mx.maximum(x, 0)

    def leaky_relu(self, x: mx.array, slope: float) -> mx.array:
        return mx.maximum(x, slope * x)

    def clamp(self, x: mx.array, low: float | None, high: float | None) -> mx.array:
        return mx.clip(x, low, high)

    def sigmoid(self, x: mx.array) -> mx.array:
        return mx.sigmoid(x)

    def softplus(self, x: mx.array) -> mx.array:
        return _softplus(x)

    def tanh(self, x: mx.array) -> mx.array:
        return mx.tanh(x)

    def exp(self, x: mx.array) -> mx.array:
        return mx.exp(x)

    def sqrt(self, x: mx.array) -> mx.array:
        return mx.sqrt(x)

    def sin(self, x: mx.array) -> mx.array:
        return mx.sin(x)

    def softmax(self, x: mx.array) -> mx.array:
        return mx.softmax(x, axis=-1, precise=True)

    def likeliest(self, logits: mx.array) -> tuple[mx.array, mx.array]:
        chances, ids = self.topk(self.softmax(logits), 1)
        return chances[..., 0], ids[..., 0]

    def topk(self, x: mx.array, k: int) -> tuple[mx.array, mx.array]:
        if k == 1 and x.size:
            ids = mx.argmax(x, axis=-1, keepdims=True)  # the first of equals
            return mx.take_along_axis(x, ids, axis=-1), ids.astype(mx.int32)
        ids = largest(x, k)
        return mx.take_along_axis(x, ids, axis=-1), ids

    def pick(self, x: mx.array, ids: mx.array) -> mx.array:
        return mx.take_along_axis(x, ids, axis=-1)

    # -- shape

    def cat(self, xs: Sequence[mx.array], axis: int) -> mx.array:
        return mx.concatenate(list(xs), axis=axis)

    def stack(self, xs: Sequence[mx.array], axis: int) -> mx.array:
        return mx.stack(list(xs), axis=axis)

    def split(self, x: mx.array, sizes: Sequence[int], axis: int) -> list[mx.array]:
        if sum(sizes) != x.shape[axis]:
            raise ValueError(f"split sizes {list(sizes)} do not add up to {x.shape[axis]}")
        return list(mx.split(x, list(accumulate(sizes))[:-1], axis=axis))

    def take(self, x: mx.array, ids: mx.array, axis: int) -> mx.array:
        return mx.take(x, ids, axis=axis)

    def where(self, c: mx.array, a: mx.array, b: mx.array) -> mx.array:
        return mx.where(c, a, b)

    def pad(self, x: mx.array, widths: Sequence[tuple[int, int]], value: float = 0.0) -> mx.array:
        return mx.pad(x, list(widths), constant_values=mx.array(value, x.dtype))

    def permute(self, x: mx.array, axes: Sequence[int]) -> mx.array:
        return x.transpose(*axes)

    def arange(self, n: int) -> mx.array:
        return mx.arange(n, dtype=mx.int32)

    def cast(self, x: mx.array, dtype: DType) -> mx.array:
        return _as(x, DTYPES[dtype])

    def sum(self, x: mx.array, axis: int) -> mx.array:
        if x.shape[axis] == 0:  # the CPU build takes minutes over an empty axis of a view
            return mx.zeros([n for i, n in enumerate(x.shape) if i != axis % x.ndim], x.dtype)
        if x.dtype in (mx.float16, mx.bfloat16):
            return x.astype(mx.float32).sum(axis).astype(x.dtype)
        return x.sum(axis)

    # -- attention without a cache

    def sdpa(
        self,
        q: mx.array,
        k: mx.array,
        v: mx.array,
        scale: float,
        *,
        causal: bool = False,
        mask: mx.array | None = None,
    ) -> mx.array:
        if causal and mask is not None:
            later = mx.arange(k.shape[1])[None] > mx.arange(k.shape[1] - q.shape[1], k.shape[1])[:, None]
            how: Any = mask + mx.where(later, -mx.inf, 0.0).astype(mask.dtype)
        else:
            how = "causal" if causal else mask
        if isinstance(how, mx.array) and how.dtype != mx.bool_:
            how = _as(how, q.dtype)
        out = mx.fast.scaled_dot_product_attention(
            q.transpose(0, 2, 1, 3), k.transpose(0, 2, 1, 3), v.transpose(0, 2, 1, 3), scale=scale, mask=how
        )
        return out.transpose(0, 2, 1, 3)

    def attend_window(self, q: mx.array, k: mx.array, v: mx.array, window: int, scale: float) -> mx.array:
        seen = k.shape[0] - q.shape[0]
        distance = np.arange(q.shape[0])[:, None] + seen - np.arange(k.shape[0])
        hidden = np.where((distance >= 0) & (distance < window), 0.0, -np.inf).astype(np.float32)
        return self.sdpa(q[None], k[None], v[None], scale, mask=self.array(hidden[None, None]))[0]

    def attend_varlen(self, q: mx.array, k: mx.array, v: mx.array, lens: Sequence[int], scale: float) -> mx.array:
        """Runs of equal length (pages cut alike) go through the kernel as one batch."""
        if not lens:
            return mx.zeros((0, q.shape[1], v.shape[2]), q.dtype)
        outs, start = [], 0
        for length, run in groupby(lens):
            count = len(list(run))
            stop = start + count * length
            qs, ks, vs = (x[start:stop].reshape(count, length, *x.shape[1:]) for x in (q, k, v))
            out = self.sdpa(qs, ks, vs, scale)
            outs.append(out.reshape(stop - start, *out.shape[2:]))
            start = stop
        return outs[0] if len(outs) == 1 else mx.concatenate(outs, axis=0)

    # -- the rest

    def sample(self, logits: mx.array, params: Sequence[Sampling]) -> tuple[mx.array, MlxSamples]:
        return sample(logits, params)

    def choose(
        self, logits: mx.array, noise: mx.array, random: mx.array, temperature: float, top_k: int, top_p: float
    ) -> mx.array:
        values, ids = self.topk(logits, top_k)
        ids = ids.astype(mx.int32)
        if temperature <= 0 or not logits.shape[0]:
            return ids[:, 0]
        p = mx.softmax((values - values[:, :1]) / temperature, axis=-1)
        p = mx.where(mx.cumsum(p, axis=-1) - p < top_p, p, 0.0)
        mass = mx.cumsum(p, axis=-1)
        at = (mass <= noise[:, None] * mass[:, -1:] * BELOW_ONE).sum(-1, keepdims=True)
        return mx.where(random != 0, mx.take_along_axis(ids, at, axis=1)[:, 0], ids[:, 0])

    def all_reduce(self, x: mx.array) -> mx.array:
        return x if self.group is None else self.group.all_reduce(x)

    def all_gather(self, x: mx.array, sizes: Sequence[int]) -> mx.array:
        return x if self.group is None else self.group.all_gather(x, sizes)

    def move(self, x: mx.array) -> mx.array:
        return x.astype(DTYPES[self.dtype])

    def fused(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        return mx.compile(fn, shapeless=True)

    def compile(self, fn: Callable[..., Any], key: str) -> Callable[..., Any]:
        return mx.compile(fn)

    def array(self, x: np.ndarray | Sequence[Any], dtype: DType | None = None) -> mx.array:
        made = mx.array(np.ascontiguousarray(x) if isinstance(x, np.ndarray) else list(x))
        if made.dtype == mx.float64:
            made = made.astype(mx.float32)
        elif made.dtype == mx.int64:
            made = made.astype(mx.int32)
        return made if dtype is None else _as(made, DTYPES[dtype])

    def numpy(self, x: mx.array) -> np.ndarray:
        if x.dtype in (mx.float16, mx.bfloat16):
            x = x.astype(mx.float32)
        return np.array(x)
