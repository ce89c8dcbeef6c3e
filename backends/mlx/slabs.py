"""Keys and values in memory: for each capacity class and layer two slabs `(rows, heads, capacity, dim)`.

This layout is what Metal's attention reads without copying: a batch is a slice of rows, a length a slice of tokens. A
write happens in place only while nothing else holds the array, so nobody outside keeps one beyond a step. Knows no
sequence: who owns a row is `rows.RowTable`'s business, and what a step reads and writes is cache.py's.
"""

from __future__ import annotations

from collections.abc import Sequence

import mlx.core as mx

from backends.base import KVSpec
from backends.groups import COMMON, group_of

MOST_HALF = 65504.0  # beyond it half precision knows only infinity
Parts = list[mx.array]  # one array of plain rows, or three of quantized ones


class Plain:
    """Rows as they are computed, or halved."""

    def __init__(self, dtype: mx.Dtype, halved: bool = False) -> None:
        self.dtype = dtype
        self._halved = halved and dtype == mx.float32

    def encode(self, x: mx.array) -> Parts:
        if self._halved:
            return [mx.clip(x, -MOST_HALF, MOST_HALF).astype(mx.float16)]
        return [x if x.dtype == self.dtype else x.astype(self.dtype)]

    def decode(self, parts: Parts) -> mx.array:
        return parts[0].astype(self.dtype) if self._halved else parts[0]

    def widths(self, dim: int) -> list[tuple[int, mx.Dtype]]:
        return [(dim, mx.float16 if self._halved else self.dtype)]


class Quantized:
    """Rows in MLX's affine groups along the head's dimensions."""

    def __init__(self, dtype: mx.Dtype, bits: int, group: int) -> None:
        self.dtype, self.bits, self.group = dtype, bits, group

    def encode(self, x: mx.array) -> Parts:
        return list(mx.quantize(x.astype(self.dtype), group_size=self.group, bits=self.bits))

    def decode(self, parts: Parts) -> mx.array:
        packed, scales, biases = parts
        return mx.dequantize(packed, scales, biases, group_size=self.group, bits=self.bits)

    def product(self, x: mx.array, parts: Parts, transpose: bool) -> mx.array:
        """`x @ rows.T` or `x @ rows`, without unpacking."""
        packed, scales, biases = parts
        return mx.quantized_matmul(
            x, packed, scales, biases, transpose=transpose, group_size=self.group, bits=self.bits
        )

    def widths(self, dim: int) -> list[tuple[int, mx.Dtype]]:
        groups = dim // self.group
        return [(dim * self.bits // 32, mx.uint32), (groups, self.dtype), (groups, self.dtype)]


class Unpacked:
    """Rows in groups of a size that MLX's quantized kernels do not have: unpacked before attention reads them.

    `value = code * scale + least` for each group; 4-bit codes lie two in a byte."""

    def __init__(self, dtype: mx.Dtype, bits: int) -> None:
        self.dtype, self.bits = dtype, bits

    def encode(self, x: mx.array) -> Parts:
        grouped = mx.unflatten(x.astype(mx.float32), -1, (-1, group_of(x.shape[-1])))
        least = grouped.min(-1, keepdims=True).astype(self.dtype)
        top = (1 << self.bits) - 1
        # the codes are made against the rounded scale, so that its rounding costs nothing; not 0, which has no inverse
        scale = mx.maximum((grouped.max(-1, keepdims=True) - least) / top, 6e-8).astype(self.dtype)
        codes = mx.clip(mx.round((grouped - least) / scale), 0, top).astype(mx.uint8).flatten(-2)
        if self.bits == 4:
            codes = codes[..., 0::2] | (codes[..., 1::2] << 4)
        return [codes, scale.squeeze(-1), least.squeeze(-1)]

    def decode(self, parts: Parts) -> mx.array:
        codes, scale, least = parts
        if self.bits == 4:
            codes = mx.stack([codes & 15, codes >> 4], axis=-1).flatten(-2)
        grouped = mx.unflatten(codes.astype(self.dtype), -1, (scale.shape[-1], -1))
        return (grouped * scale[..., None] + least[..., None]).flatten(-2)

    def widths(self, dim: int) -> list[tuple[int, mx.Dtype]]:
        groups = dim // group_of(dim)
        return [(dim * self.bits // 8, mx.uint8), (groups, self.dtype), (groups, self.dtype)]


Format = Plain | Quantized | Unpacked


def make_format(dtype: mx.Dtype, bits: int, specs: Sequence[KVSpec]) -> Format:
    if bits in (32, 16):
        return Plain(dtype, halved=bits == 16)
    if bits not in (8, 4):
        raise ValueError(f"Keys and values can have 32, 16, 8 or 4 bits, not {bits}.")
    dims = [dim for s in specs for dim in (s.dim, s.v_dim or s.dim)]
    fitting = [size for size in COMMON if all(dim % size == 0 for dim in dims)]
    return Quantized(dtype, bits, fitting[0]) if fitting else Unpacked(dtype, bits)


def row_width(form: Format, spec: KVSpec) -> int:
    """Bytes of one token's keys and values in one layer."""
    widths = [*form.widths(spec.dim), *form.widths(spec.v_dim or spec.dim)]
    return spec.heads * sum(width * dtype.size for width, dtype in widths)


class Slabs:
    """One capacity class: for every attention layer the parts of its keys, then those of its values."""

    def __init__(self, capacity: int, specs: dict[int, KVSpec], form: Format) -> None:
        self.capacity = capacity
        self.rows = 0
        self.keys: dict[int, Parts] = {}
        self.values: dict[int, Parts] = {}
        self._specs = specs
        self._form = form

    def arrays(self) -> Parts:
        return [a for side in (self.keys, self.values) for parts in side.values() for a in parts]

    def fit(self, live: int) -> None:
        """Room for `live` rows. Steps of at most a half more, so that a join seldom copies and little is idle."""
        if self.rows // 2 < live <= self.rows:
            return
        rows = _roomy(live)
        if rows == self.rows:
            return
        for layer, spec in self._specs.items():
            self.keys[layer] = self._resized(self.keys.get(layer), rows, spec.heads, spec.dim)
            self.values[layer] = self._resized(self.values.get(layer), rows, spec.heads, spec.v_dim or spec.dim)
        self.rows = rows

    def _resized(self, parts: Parts | None, rows: int, heads: int, dim: int) -> Parts:
        def zeros(count: int, width: int, dtype: mx.Dtype) -> mx.array:
            return mx.zeros((count, heads, self.capacity, width), dtype)

        widths = self._form.widths(dim)
        if parts is None or self.rows == 0:
            return [zeros(rows, width, dtype) for width, dtype in widths]
        if rows < self.rows:
            return [copied(a[:rows]) for a in parts]
        return [mx.concatenate([a, zeros(rows - self.rows, *w)]) for a, w in zip(parts, widths, strict=True)]

    def read(self, row: int, length: int) -> Parts:
        """Copies of a row's first `length` tokens, `[1, heads, length, width]`, all layers. Evaluated, so that no read
        is still under way when the next write comes."""
        out = [copied(a[row : row + 1, :, :length]) for a in self.arrays()]
        mx.eval(out)
        return out

    def write(self, row: int, rows: Parts) -> None:
        """The inverse of `read`."""
        start = mx.array([row])
        left = iter(rows)
        for side in (self.keys, self.values):
            for parts in side.values():
                parts[:] = [mx.slice_update(a, next(left), start, (0,)) for a in parts]

    def clear(self, row: int) -> None:
        """Zeros: a NaN must not outlive its sequence, since a masked NaN still spoils a weighted sum."""
        self.write(row, [mx.zeros((1, *a.shape[1:]), a.dtype) for a in self.arrays()])


def copied(a: mx.array) -> mx.array:
    """A new buffer. A slice would keep the whole slab alive, and make its next write copy it."""
    return a * mx.array(1, a.dtype)


def _roomy(live: int) -> int:
    """The smallest 2^k or 3 * 2^k that is not below `live`."""
    if live <= 2:
        return live
    power = 1 << (live - 1).bit_length()
    return power * 3 // 4 if power * 3 // 4 >= live else power
