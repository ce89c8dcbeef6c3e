"""The operations that models are written over, with one meaning on every backend, and their parameter types.

The engine and the models import them from `base.py`. docs/ops.md says what implements each operation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np

Array: TypeAlias = Any  # an array of the current backend; opaque outside it
DType = Literal["f32", "f16", "bf16"]
LONG_TEXT = (
    1 << 24
)  # positions of a text that is longer than its model's trained length count from here, where `Rope.long` is given


@dataclass(frozen=True)
class FrameSampling:
    """Sampling parameters of a frame's codes after the first: see `Ops.choose`."""

    temperature: float
    top_k: int
    top_p: float


@dataclass
class Sampling:
    """Sampling parameters of one sequence for one step: plain numbers, fully resolved."""

    temperature: float = 0.0  # 0: the most likely token
    top_k: int = 0  # 0: off
    top_p: float = 1.0
    min_p: float = 0.0
    typical_p: float = 1.0
    noise: float = 0.5  # uniform in [0, 1): the same noise gives the same token on every backend
    repetition: float = 1.0
    presence: float = 0.0
    frequency: float = 0.0
    seen: Mapping[int, int] | None = None  # token -> count, for `presence` and `frequency`
    repeated: Sequence[int] | None = None  # tokens that `repetition` penalizes (prompt and output, in its window)
    bias: Mapping[int, float] | None = None  # added to logits; -inf bans
    mask: np.ndarray | None = None  # bool [vocabulary]: False is never chosen
    together_from: int | None = (
        None  # one of the tokens from here on is chosen, where together they are likelier than each other one
    )
    logprobs: int | None = None  # None: none; n: the chosen token's and the n most likely ones'
    approximate_logprobs: bool = False  # the chosen token's may be off by a hundredth, where that is faster


@dataclass(frozen=True)
class Rope:
    """How positions become angles. `inv` are the inverse frequencies, one a pair of dimensions (len == dims / 2)."""

    dims: int  # the first `dims` of each head are rotated, the rest pass
    inv: tuple[float, ...]
    scale: float = 1.0  # multiplies cos and sin (yarn's attention factor)
    section: tuple[int, int, int] | None = None  # multi-axis: how many frequencies each of t, h, w owns
    interleaved: bool = False  # with section: frequencies alternate t h w t h w ..., else lie in three runs
    pairs: bool = False  # rotate (0, 1), (2, 3), ... instead of (0, d/2), (1, d/2 + 1), ...
    dynamic: tuple[float, float, int] | None = None  # (base, factor, trained length): NTK by each token's position
    long: tuple[int, tuple[float, ...]] | None = None  # (trained length, the inverse frequencies of longer texts)


class Ops(Protocol):
    """Fixed meanings, the same on every backend. `f32 inside`: computed in f32, returned in the input's dtype.

    Arrays also understand `+ - * /`, unary minus, basic slicing, `.reshape`, `.shape`, `.ndim`, `.sum(axis)`-free
    arithmetic with Python numbers and broadcasting. Nothing else of an array library may appear in a model.
    """

    # text
    def angles(self, pos: Array, rope: Rope) -> Any:
        """cos and sin of every token and frequency, f32, made once a forward pass. Opaque."""

    def rope(self, x: Array, angles: Any) -> Array:
        """Rotate `x [T, H, D]`."""

    def qkv(
        self,
        x: Array,
        heads: int,
        kv_heads: int,
        dim: int,
        angles: Any,
        q_norm: Array | None = None,
        k_norm: Array | None = None,
        eps: float = 1e-6,
        norm_after_rope: bool = False,
    ) -> tuple[Array, Array, Array]:
        """Split `x [T, (H + 2K) * D]` into q, k, v `[T, heads, D]`; RMS-normalize q and k per head, rotate them."""

    def rms_norm(self, x: Array, w: Array | None, eps: float) -> Array:
        """f32 inside; `w` None: no scale."""

    def add_rms_norm(self, x: Array, residual: Array, w: Array, eps: float) -> tuple[Array, Array]:
        """`s = x + residual` and `rms_norm(s)`, in this order."""

    def layer_norm(self, x: Array, w: Array | None, b: Array | None, eps: float) -> Array: ...
    def group_norm(self, x: Array, groups: int, w: Array, b: Array, eps: float) -> Array:
        """`x [B, L, C]`: normalized over L and the channels of a group."""

    def swiglu(self, x: Array, gate_last: bool = False) -> Array:
        """`x [..., 2F]`, gate first unless said otherwise: `silu(gate) * up`."""

    def geglu(self, x: Array) -> Array:
        """`x [..., 2F]`, gate first: `gelu_tanh(gate) * up`."""

    def silu(self, x: Array) -> Array: ...
    def gelu(self, x: Array) -> Array: ...
    def gelu_tanh(self, x: Array) -> Array: ...
    def relu(self, x: Array) -> Array: ...
    def leaky_relu(self, x: Array, slope: float) -> Array:
        """`x`, below zero times `slope`, which is at most one."""

    def clamp(self, x: Array, low: float | None, high: float | None) -> Array:
        """None: no bound on this side."""

    def sigmoid(self, x: Array) -> Array: ...
    def softplus(self, x: Array) -> Array: ...
    def tanh(self, x: Array) -> Array: ...
    def exp(self, x: Array) -> Array: ...
    def sqrt(self, x: Array) -> Array: ...
    def sin(self, x: Array) -> Array: ...
    def softmax(self, x: Array) -> Array:
        """Over the last axis, f32 inside."""

    def l2norm(self, x: Array, eps: float = 1e-6) -> Array:
        """`x / sqrt(sum(x * x) + eps)` over the last axis, f32 inside."""

    def topk(self, x: Array, k: int) -> tuple[Array, Array]:
        """The k largest of the last axis, largest first, ties to the lower index; values and indices, whole numbers of 32 bits."""

    def pick(self, x: Array, ids: Array) -> Array:
        """Of each row of `x [T, N]` the numbers at `ids [T, k]`."""

    def likeliest(self, logits: Array) -> tuple[Array, Array]:
        """Of each row of `[N, V]` the largest of `softmax`, f32 inside, and its int32 index, the first of equals."""

    def choose(self, logits: Array, noise: Array, random: Array, temperature: float, top_k: int, top_p: float) -> Array:
        """`logits [N, V]` f32 -> ids `[N]`, int32: of the `top_k` largest and, of these, the first that hold `top_p` of the
        mass, the one where the running mass exceeds `noise [N]` of the whole. Where `random [N]` is 0, the largest."""

    # shape
    def cat(self, xs: Sequence[Array], axis: int) -> Array: ...
    def stack(self, xs: Sequence[Array], axis: int) -> Array: ...
    def split(self, x: Array, sizes: Sequence[int], axis: int) -> list[Array]:
        """By sizes, which must add up."""

    def take(self, x: Array, ids: Array, axis: int) -> Array:
        """Whole slices by index; indices must be in range."""

    def where(self, c: Array, a: Array, b: Array) -> Array: ...
    def pad(self, x: Array, widths: Sequence[tuple[int, int]], value: float = 0.0) -> Array: ...
    def permute(self, x: Array, axes: Sequence[int]) -> Array: ...
    def arange(self, n: int) -> Array:
        """int32"""

    def cast(self, x: Array, dtype: DType) -> Array: ...
    def sum(self, x: Array, axis: int) -> Array: ...

    # attention without a cache (encoders)
    def sdpa(
        self, q: Array, k: Array, v: Array, scale: float, *, causal: bool = False, mask: Array | None = None
    ) -> Array:
        """Dense, `q [B, L, H, D]`, `k`, `v` `[B, S, K, D]`; `mask` is added, broadcast to `[B, H, L, S]`."""

    def attend_window(self, q: Array, k: Array, v: Array, window: int, scale: float) -> Array:
        """Causal, `q [L, H, D]` the last of the tokens of `k`, `v` `[S, K, D]`: each sees the last `window`, its own among
        them."""

    def attend_varlen(self, q: Array, k: Array, v: Array, lens: Sequence[int], scale: float) -> Array:
        """Packed and not causal, `[T, H, D]`: each run of `lens` attends only to itself (several images at once)."""

    # signals: arrays [B, L, C] / [B, H, W, C]; weights as checkpoints of torch have them, prepared once by `conv_weight`
    def conv_weight(self, w: Array, transposed: bool = False) -> Array:
        """Bring `[out, in / groups, *kernel]` (transposed: `[in, out / groups, kernel]`) into the backend's layout."""

    def conv1d(
        self,
        x: Array,
        w: Array,
        b: Array | None = None,
        *,
        stride: int = 1,
        padding: int = 0,
        dilation: int = 1,
        groups: int = 1,
    ) -> Array: ...
    def conv_transpose1d(
        self,
        x: Array,
        w: Array,
        b: Array | None = None,
        *,
        stride: int = 1,
        padding: int = 0,
        output_padding: int = 0,
        groups: int = 1,
    ) -> Array: ...
    def conv2d(
        self,
        x: Array,
        w: Array,
        b: Array | None = None,
        *,
        stride: tuple[int, int] = (1, 1),
        padding: tuple[int, int] = (0, 0),
        groups: int = 1,
    ) -> Array: ...
    def image_weight(
        self,
        w: Array,
        b: Array,
        *,
        stride: tuple[int, int] = (1, 1),
        padding: tuple[int, int] = (0, 0),
        groups: int = 1,
        activation: Literal["relu", "gelu", "silu"] | None = None,
        rounded: bool = False,
    ) -> Any:
        """A convolution with the activation behind it as `image_conv` wants it: `w [out, in / groups, rows, columns]`. `rounded`:
        inputs and weights may be rounded to bf16 where this backend was not asked for f32 and that is faster; sums are f32."""

    def image_conv(self, x: Array, weight: Any, add: Array | None = None) -> Array:
        """`[B, H, W, C]` -> activation(convolution) + `add`, `[B, h, w, out]`."""

    def stream_weight(self, w: Array, b: Array, depthwise: bool = False, rounded: bool = False) -> Any:
        """`w [out, in, kernel]` (`depthwise`: `[out, 1, kernel]`, each channel alone) and its bias as `stream_conv` wants
        them. `rounded`: see `image_weight`."""

    def stream_conv(
        self,
        x: Array,
        weight: Any,
        lengths: Sequence[int],
        before: Sequence[Array | None],
        *,
        dilation: int = 1,
        snake: tuple[Array, Array] | None = None,
        add: Array | None = None,
    ) -> tuple[Array, list[Array]]:
        """A causal convolution of the next pieces of several streams, concatenated, with these `lengths`:
        `x [T, C]` -> `[T, out]`, plus `add`; and each stream's last `(kernel - 1) * dilation` inputs, which are `before` to
        its next piece (None: silence). With `snake` (rate, size) the input goes through `x + sin(x * rate) ** 2 * size`
        first (not with a depthwise weight, which adds nothing either). A stream's result does not depend on the other streams."""

    def same_conv(
        self,
        x: Array,
        weight: Any,
        *,
        dilation: int = 1,
        scale: tuple[Array, Array] | None = None,
        snake: tuple[Array, Array] | None = None,
        add: Array | None = None,
    ) -> Array:
        """A convolution of a whole signal that keeps its length, with silence at either end: `x [L, C]` -> `[L, out]`, plus `add`.
        `weight` is of `stream_weight`, with an odd kernel, and not depthwise. The input is `x * scale + shift` where these
        are given, through the snake of `stream_conv` where that is."""

    def channel_scale(self, x: Array, gain: Array, bias: Array, eps: float) -> tuple[Array, Array]:
        """The scale and shift `[C]` with which `x * scale + shift` is `group_norm` of `x [L, C]` by each channel; f32 inside."""

    def batch_norm(self, x: Array, mean: Array, var: Array, w: Array, b: Array, eps: float) -> Array:
        """Over the last axis, with the statistics of training."""

    def max_pool(
        self, x: Array, kernel: tuple[int, int], stride: tuple[int, int], padding: tuple[int, int] = (0, 0)
    ) -> Array: ...
    def interpolate(self, x: Array, size: tuple[int, int], mode: Literal["nearest", "bilinear"]) -> Array:
        """`[B, H, W, C]`, align_corners off."""

    def grid_sample(self, x: Array, grid: Array) -> Array:
        """`x [B, H, W, C]`, `grid [B, h, w, 2]` of (x, y) in [-1, 1]; bilinear, zeros outside, align_corners off."""

    def lstm(self, x: Array, w_ih: Array, w_hh: Array, b: Array, h: Array, c: Array) -> tuple[Array, Array, Array]:
        """`x [B, L, C]`, gates in the order i f g o, `b` the sum of both biases -> outputs, h, c."""

    def stft(self, x: Array, window: Array, hop: int) -> tuple[Array, Array]:
        """`x [B, L]`, no padding, frame = len(window) -> real and imaginary parts `[B, frames, n / 2 + 1]`."""

    def istft(self, re: Array, im: Array, window: Array, hop: int) -> Array:
        """The inverse by overlap-add, divided by the summed squared windows."""

    # the rest
    def sample(self, logits: Array, params: Sequence[Sampling]) -> tuple[Array, Any]:
        """One vectorized pass over `[N, V]`; pure: noise is in the parameters. -> ids `[N]` and opaque extras."""

    def all_reduce(self, x: Array) -> Array:
        """Sum over the ranks of tensor parallelism; the identity on one device."""

    def all_gather(self, x: Array, sizes: Sequence[int]) -> Array:
        """The ranks' arrays one behind the other along the last axis, of which rank i has `sizes[i]`; the identity on one device."""

    def fused(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        """One kernel for a function that computes element by element, whatever the shapes, or the function itself."""

    def compile(self, fn: Callable[..., Any], key: str) -> Callable[..., Any]:
        """A faster form of a pure function of arrays with fixed shapes, or the function itself."""

    # between devices
    def move(self, x: Array) -> Array:
        """An array of another device of the same library on this one, in the compute dtype."""

    # to and from the host
    def array(self, x: np.ndarray | Sequence[Any], dtype: DType | None = None) -> Array: ...
    def numpy(self, x: Array) -> np.ndarray:
        """On the host; f16 and bf16 come as f32."""


def repetition_entries(params: Sequence[Sampling], vocab: int) -> tuple[list[int], list[float]]:
    """Where the repetition penalty divides (or, below zero, multiplies), and by what."""
    at: list[int] = []
    by: list[float] = []
    for i, p in enumerate(params):
        if p.repetition != 1.0 and p.repeated:
            tokens = {t for t in p.repeated if 0 <= t < vocab}
            at.extend(i * vocab + t for t in tokens)
            by.extend([p.repetition] * len(tokens))
    return at, by


def additive_entries(params: Sequence[Sampling], vocab: int) -> tuple[list[int], list[float]]:
    """What presence and frequency penalties and the bias add, and where. A place may come twice: both count."""
    at: list[int] = []
    add: list[float] = []
    for i, p in enumerate(params):
        if p.seen and (p.presence or p.frequency):
            counts = {t: c for t, c in p.seen.items() if c > 0 and 0 <= t < vocab}
            at.extend(i * vocab + t for t in counts)
            add.extend(-p.presence - p.frequency * c for c in counts.values())
        if p.bias:
            bias = {t: b for t, b in p.bias.items() if 0 <= t < vocab}
            at.extend(i * vocab + t for t in bias)
            add.extend(float(b) for b in bias.values())
    return at, add


# ------------------------------------------------------------------------------------------ shared by implementations


BELOW_ONE = 1 - 1e-6  # keeps a bound below the whole mass however sums are rounded
SILENT = 1e-11  # below this the summed squared windows of `istft` count as "no frame reaches here"


def out_length(length: int, kernel: int, stride: int, padding: int, dilation: int = 1) -> int:
    """The output length of a convolution or pooling; zero when the kernel does not fit even once."""
    return max(0, (length + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1)


def axis_of_frequency(rope: Rope) -> list[int]:
    """The position axis (of three) of each frequency of a multi-axis rope."""
    section = rope.section
    if section is None:
        return [0] * len(rope.inv)
    if not rope.interleaved:
        return [axis for axis, count in enumerate(section) for _ in range(count)]
    axes = [0] * len(rope.inv)
    for axis in (1, 2):
        for i in range(axis, 3 * section[axis], 3):
            axes[i] = axis
    return axes
