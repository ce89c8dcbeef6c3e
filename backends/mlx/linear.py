"""Linear layers that hide how their matrices are stored: dense, MLX's own affine quantization, or its four-bit floats.

Several matrices of one input become one, stacked along the output, so that a step issues one product instead of three. Parts
with different quantizations stay separate and their results are concatenated. Everything is evaluated when it is made: memory
peaks at the weights and the one matrix that is being merged. Each tensor of a mapped file is copied once, so that the file can
be closed and moved.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import mlx.core as mx
import numpy as np

from backends.base import Affine, BackendMissing, Blocks, Dense, Linear, Raw, Weight

# How numpy reads each safetensors dtype, and what MLX then calls it (numpy has no bfloat16).
_KINDS: dict[str, tuple[type[np.generic], mx.Dtype]] = {
    "F64": (np.float64, mx.float64),
    "F32": (np.float32, mx.float32),
    "F16": (np.float16, mx.float16),
    "BF16": (np.uint16, mx.bfloat16),
    "I64": (np.int64, mx.int64),
    "I32": (np.int32, mx.int32),
    "I16": (np.int16, mx.int16),
    "I8": (np.int8, mx.int8),
    "U64": (np.uint64, mx.uint64),
    "U32": (np.uint32, mx.uint32),
    "U16": (np.uint16, mx.uint16),
    "U8": (np.uint8, mx.uint8),
    "BOOL": (np.bool_, mx.bool_),
}
SORT_FROM = 64  # expert rows from which sorting them by expert pays for itself


def from_raw(raw: Raw, dtype: mx.Dtype | None = None) -> mx.array:
    """The tensor, cast to `dtype` if one is given."""
    if raw.dtype not in _KINDS:
        raise ValueError(f"{raw.name}: MLX cannot read tensors of type {raw.dtype}.")
    host, device = _KINDS[raw.dtype]
    flat = np.frombuffer(raw.buffer, dtype=host)
    if raw.dtype == "F64":  # the GPU has no doubles
        flat, device = flat.astype(np.float32), mx.float32
    made = mx.array(flat.reshape(raw.shape))
    if made.dtype != device:
        made = made.view(device)
    return made if dtype is None or made.dtype == dtype else made.astype(dtype)


class DenseLinear:
    """A plain matrix, kept as the transposed view that products want."""

    def __init__(self, w: mx.array, bias: mx.array | None = None) -> None:
        self.shape = tuple(w.shape)
        self._w = w
        self._transposed = w.swapaxes(-1, -2)
        self._bias = bias
        mx.eval(self._w, self._transposed, *_present(bias))

    def __call__(self, x: mx.array) -> mx.array:
        if self._bias is None:
            return x @ self._transposed
        return mx.addmm(self._bias, x, self._transposed)

    def rows(self, ids: mx.array) -> mx.array:
        return mx.take(self._w, ids, axis=0)

    def gather(self, x: mx.array, experts: mx.array) -> mx.array:
        def product(x: mx.array, chosen: mx.array, is_sorted: bool) -> mx.array:
            if self._w.dtype != mx.float32 and mx.default_device() == mx.Device(mx.cpu):
                return x @ mx.take(self._transposed, chosen, axis=0)  # the CPU build's gather_mm knows f32 alone
            return mx.gather_mm(x, self._transposed, rhs_indices=chosen, sorted_indices=is_sorted)

        return _by_expert(product, x, experts)


class AffineLinear:
    """MLX's quantization, multiplied without unpacking."""

    def __init__(
        self,
        packed: mx.array,
        scales: mx.array,
        biases: mx.array,
        bits: int,
        group: int,
        dtype: mx.Dtype,
        bias: mx.array | None = None,
    ) -> None:
        self.shape = (*packed.shape[:-1], packed.shape[-1] * 32 // bits)
        self._packed, self._scales, self._biases = packed, scales, biases
        self._group, self._bits = group, bits
        self._dtype = dtype
        self._bias = bias
        mx.eval(packed, scales, biases, *_present(bias))

    def __call__(self, x: mx.array) -> mx.array:
        y = mx.quantized_matmul(
            x, self._packed, self._scales, self._biases, transpose=True, group_size=self._group, bits=self._bits
        )
        y = self._cast(y)
        return y if self._bias is None else y + self._bias

    def rows(self, ids: mx.array) -> mx.array:
        w, scales, biases = (mx.take(a, ids, axis=0) for a in (self._packed, self._scales, self._biases))
        return self._cast(mx.dequantize(w, scales, biases, group_size=self._group, bits=self._bits))

    def gather(self, x: mx.array, experts: mx.array) -> mx.array:
        def product(x: mx.array, chosen: mx.array, is_sorted: bool) -> mx.array:
            return mx.gather_qmm(
                x,
                self._packed,
                self._scales,
                self._biases,
                rhs_indices=chosen,
                transpose=True,
                sorted_indices=is_sorted,
                group_size=self._group,
                bits=self._bits,
            )

        return self._cast(_by_expert(product, x, experts))

    def _cast(self, y: mx.array) -> mx.array:
        return y if y.dtype == self._dtype else y.astype(self._dtype)


class ModeLinear:
    """Four-bit floats in one of MLX's modes, multiplied without unpacking. `factors`: of each row."""

    def __init__(
        self,
        packed: mx.array,
        scales: mx.array,
        mode: str,
        dtype: mx.Dtype,
        factors: mx.array | None,
        bias: mx.array | None = None,
    ) -> None:
        self.shape = (*packed.shape[:-1], packed.shape[-1] * 8)
        self._packed, self._scales, self._mode = packed, scales, mode
        self._dtype, self._factors, self._bias = dtype, factors, bias
        mx.eval(packed, scales, *_present(factors, bias))

    def __call__(self, x: mx.array) -> mx.array:
        y = mx.quantized_matmul(x, self._packed, self._scales, transpose=True, mode=self._mode)
        if self._factors is not None:
            y = y * self._factors
        y = y.astype(self._dtype)
        return y if self._bias is None else y + self._bias

    def rows(self, ids: mx.array) -> mx.array:
        w, scales = (mx.take(a, ids, axis=0) for a in (self._packed, self._scales))
        y = mx.dequantize(w, scales, mode=self._mode, dtype=mx.float32)
        if self._factors is not None:
            y = y * mx.take(self._factors, ids)[..., None]
        return y.astype(self._dtype)

    def gather(self, x: mx.array, experts: mx.array) -> mx.array:
        def product(x: mx.array, chosen: mx.array, is_sorted: bool) -> mx.array:
            return mx.gather_qmm(
                x,
                self._packed,
                self._scales,
                rhs_indices=chosen,
                transpose=True,
                mode=self._mode,
                sorted_indices=is_sorted,
            )

        y = _by_expert(product, x, experts)
        if self._factors is not None:
            y = y * self._factors[experts]
        return y.astype(self._dtype)


class StackedLinear:
    """Matrices of one input that could not be merged."""

    def __init__(self, parts: Sequence[Linear]) -> None:
        first = parts[0].shape
        self.shape = (*first[:-2], sum(p.shape[-2] for p in parts), first[-1])
        self._parts = parts

    def __call__(self, x: mx.array) -> mx.array:
        return mx.concatenate([part(x) for part in self._parts], axis=-1)

    def rows(self, ids: mx.array) -> mx.array:
        raise TypeError("rows of several matrices that are quantized differently cannot be looked up together")

    def gather(self, x: mx.array, experts: mx.array) -> mx.array:
        return mx.concatenate([part.gather(x, experts) for part in self._parts], axis=-1)


class MlxHeadMatrices:
    """Implements `backends.base.HeadMatrices`: plain matrices, or MLX's quantized ones as packed codes, scales and biases."""

    transposes = True

    def __init__(self, parts: Sequence[mx.array], dtype: mx.Dtype, packing: tuple[int, int] | None = None) -> None:
        """`parts` are `[heads, out, ...]`; `packing`: bits and group."""
        self._parts, self._dtype, self._packing = list(parts), dtype, packing

    def part(self, start: int, stop: int) -> MlxHeadMatrices:
        return MlxHeadMatrices([a[:, start:stop] for a in self._parts], self._dtype, self._packing)

    def each(self, x: mx.array, transposed: bool = False) -> mx.array:
        return self._product(x.swapaxes(0, 1), self._parts, transposed).swapaxes(0, 1)

    def every(self, x: mx.array, first: int, last: int, transposed: bool = False) -> mx.array:
        return self._product(x[None], [a[first:last] for a in self._parts], transposed).swapaxes(0, 1)

    def _product(self, x: mx.array, parts: list[mx.array], transposed: bool) -> mx.array:
        if self._packing is None:
            return x @ (parts[0] if transposed else parts[0].swapaxes(-1, -2))
        bits, group = self._packing
        y = mx.quantized_matmul(x, *parts, transpose=not transposed, group_size=group, bits=bits)
        return y if y.dtype == self._dtype else y.astype(self._dtype)


# -- making them


def make_linear(parts: Sequence[Weight], bias: Sequence[Raw | None], dtype: mx.Dtype) -> Linear:
    """One linear over `parts`, stacked along the output."""
    biases = [None if b is None else from_raw(b, dtype) for b in bias]
    if len({_kind(w) for w in parts}) == 1:
        return _merged([[w] for w in parts], _stacked_bias(parts, biases, dtype), dtype)
    return StackedLinear([_merged([[w]], b, dtype) for w, b in zip(parts, biases, strict=True)])


def make_experts(parts: Sequence[Sequence[Weight]], dtype: mx.Dtype) -> Linear:
    """`[experts, out, in]` from `parts[expert]`, or from three-axis weights in one inner list."""
    whole = len(parts) == 1 and len(parts[0][0].shape) == 3
    columns = list(zip(*parts, strict=True))  # columns[i][expert]: matrices that lie at the same output rows
    if len({_kind(w) for expert in parts for w in expert}) == 1:
        return _merged(columns, None, dtype, stack=not whole)
    if any(len({_kind(w) for w in column}) > 1 for column in columns):
        raise ValueError(f"{_name(columns[0][0])}: the experts of one layer are quantized differently.")
    return StackedLinear([_merged([column], None, dtype, stack=not whole) for column in columns])


def make_head_matrices(weight: Dense | Affine, heads: int, dtype: mx.Dtype) -> MlxHeadMatrices:
    if isinstance(weight, Affine):
        exact = _exact_dtype(weight.scales.dtype, dtype)
        parts = [from_raw(weight.packed), from_raw(weight.scales, exact), from_raw(weight.biases, exact)]
    else:
        parts = [from_raw(weight.data, dtype)]
    parts = [a.reshape(heads, -1, a.shape[-1]) for a in parts]
    mx.eval(parts)
    return MlxHeadMatrices(parts, dtype, (weight.bits, weight.group) if isinstance(weight, Affine) else None)


def _merged(columns: Sequence[Sequence[Weight]], bias: mx.array | None, dtype: mx.Dtype, stack: bool = False) -> Linear:
    """Columns are concatenated along the output; a column of several matrices is stacked along the experts."""

    def join(read: Callable[[Weight], mx.array]) -> mx.array:
        made = [mx.stack([read(w) for w in c]) if stack else read(c[0]) for c in columns]
        joined = made[0] if len(made) == 1 else mx.concatenate(made, axis=-2)
        mx.eval(joined)
        return joined

    first = columns[0][0]
    if isinstance(first, Affine):
        exact = _exact_dtype(first.scales.dtype, dtype)
        return AffineLinear(
            join(lambda w: from_raw(w.packed)),  # type: ignore[union-attr]
            join(lambda w: from_raw(w.scales, exact)),  # type: ignore[union-attr]
            join(lambda w: from_raw(w.biases, exact)),  # type: ignore[union-attr]
            first.bits,
            first.group,
            dtype,
            bias,
        )
    if isinstance(first, Blocks):
        return _of_mode(columns, first.type, bias, dtype, stack)
    return DenseLinear(join(lambda w: from_raw(w.data, dtype)), bias)  # type: ignore[union-attr]


def _of_mode(
    columns: Sequence[Sequence[Weight]], kind: str, bias: mx.array | None, dtype: mx.Dtype, stack: bool
) -> ModeLinear:
    made = [[native(w) for w in c if isinstance(w, Blocks)] for c in columns]
    parts = [
        mx.concatenate([mx.stack([w[i] for w in c]) if stack else c[0][i] for c in made], axis=-2) for i in range(2)
    ]
    each = None
    if any(isinstance(w, Blocks) and w.factors is not None for c in columns for w in c):
        rows = [[factors(w) for w in c if isinstance(w, Blocks)] for c in columns]
        each = mx.concatenate([mx.stack(c) if stack else c[0] for c in rows], axis=-1)
    return ModeLinear(parts[0], parts[1], MODES[kind], dtype, each, bias)


def _exact_dtype(stored: str, dtype: mx.Dtype) -> mx.Dtype:
    """Scales keep their value: they take the compute dtype only where that loses nothing."""
    own = {"BF16": mx.bfloat16, "F16": mx.float16}.get(stored, mx.float32)
    return dtype if dtype in (own, mx.float32) else mx.float32


def _kind(w: Weight) -> tuple[str, int, int, str]:
    """Weights of equal kind can be merged."""
    if isinstance(w, Affine):
        return "affine", w.bits, w.group, w.scales.dtype
    if isinstance(w, Dense):
        return "dense", 0, 0, ""
    if isinstance(w, Blocks) and w.type in MODES:
        return w.type, 0, 0, ""
    if isinstance(w, Blocks):
        raise BackendMissing(
            f"{w.data.name}: GGUF tensors run on the torch backend only; choose it with --backend torch."
        )
    raise TypeError(f"no such weight: {w!r}")


def _name(w: Weight) -> str:
    return w.packed.name if isinstance(w, Affine) else w.data.name


def _stacked_bias(parts: Sequence[Weight], biases: Sequence[mx.array | None], dtype: mx.Dtype) -> mx.array | None:
    if all(b is None for b in biases):
        return None
    each = [mx.zeros((w.shape[-2],), dtype) if b is None else b for w, b in zip(parts, biases, strict=True)]
    return mx.concatenate(each)


def _present(*arrays: mx.array | None) -> list[mx.array]:
    return [a for a in arrays if a is not None]


# -- mixtures of experts


def _by_expert(product: Callable[[mx.array, mx.array, bool], mx.array], x: mx.array, experts: mx.array) -> mx.array:
    """`x [T, in]` or `[T, k, in]`, `experts [T, k]` -> `[T, k, out]`; many rows are brought into expert order first."""
    tokens, k = experts.shape
    one_each = x.ndim == 2
    if tokens * k < SORT_FROM:
        x = mx.expand_dims(x, (1, 2) if one_each else 2)
        return product(x, experts, False).squeeze(-2)
    flat = experts.reshape(-1)
    order = mx.argsort(flat)
    rows = x[order // k] if one_each else x.reshape(tokens * k, -1)[order]
    y = product(rows[:, None], flat[order], True).squeeze(-2)
    return y[mx.argsort(order)].reshape(tokens, k, -1)


# -- blocks of four-bit floats in the layout of MLX's own modes: the same bits in another order. GGUF keeps half of a group in the low
# halves of its bytes and half in the high ones; MLX keeps neighbours together, and scales apart

MODES = {"MXFP4": "mxfp4", "NVFP4": "nvfp4"}


def native(weight: Blocks) -> tuple[mx.array, mx.array]:
    """Packed codes `[..., in / 8]` and scales `[..., in / group]`."""
    data = np.frombuffer(weight.data.buffer, np.uint8)
    if weight.type == "MXFP4":
        blocks = data.reshape(-1, 17)
        scales, codes = blocks[:, :1], blocks[:, 1:].reshape(-1, 1, 16)
    else:
        blocks = data.reshape(-1, 36)
        scales, codes = (blocks[:, :4] & 127).astype(np.uint8), blocks[:, 4:].reshape(-1, 4, 8)
        scales = np.where(scales == 127, np.zeros_like(scales), scales)  # not a number to MLX, zero to GGUF
    both = np.concatenate([codes & 15, codes >> 4], axis=2).reshape(*weight.shape[:-1], -1, 2)
    packed = np.ascontiguousarray(both[..., 0] | both[..., 1] << 4).view(np.uint32)
    return mx.array(packed), mx.array(scales.reshape(*weight.shape[:-1], -1))


def factors(weight: Blocks) -> mx.array:
    """f32 `[out]`, or `[experts, out]`: what the outputs of each row are multiplied with."""
    *experts, out, _ = weight.shape
    each = np.array([weight.factor(expert) for expert in range(experts[0] if experts else 1)], np.float32)
    return mx.array(np.repeat(each, out).reshape(*experts, out))
