"""Whole numbers of a few bits as compressed-tensors, GPTQ and AWQ hold them, in MLX's affine layout: `code * scale + bias`.

A weight is (code - zero) * scale. Under scales of 16 bits both products fit f32 exactly, so nothing is lost; a library that computes
in 16 bits rounds the same product once. Under scales of f32 a value may differ in its last bit from what the subtraction before the
product gives. Where the zero is in the middle for all weights, scales and biases keep the scale's own type; else they are f32.

* compressed-tensors, `pack-quantized`: `weight_packed` int32 `[out, in * bits / 32]`, a dense stream of bits, is the affine layout
  itself; signed codes are stored 2^(bits-1) higher. `weight_scale [out, in / group]`; `weight_zero_point` is packed likewise, along
  the outputs. `int-quantized`: `weight` int8 `[out, in]`, a scale for each row.
* GPTQ: `qweight` int32 `[in * bits / 32, out]`, a word holding neighbouring inputs; `scales [in / group, out]`; `qzeros` int32
  `[in / group, out * bits / 32]`, a word holding neighbouring outputs, of zeros that are one less than meant (as meant with
  `checkpoint_format: gptq_v2`); `g_idx [in]` the group of each input. Its transpose is the affine layout, unless inputs are in
  groups out of order (`desc_act`): such a matrix is made floats of the scale's type, or one in order where its inputs can be put so.
* AWQ (`gemm`): `qweight` int32 `[in, out / 8]`, `qzeros [in / group, out / 8]`, `scales [in / group, out]`. A word holds eight
  outputs, the first four of which are its even halves of bytes: 0, 2, 4, 6, 1, 3, 5, 7 from its lowest bits on. Zeros are as meant.
* BitNet: -1, 0 and 1, stored one higher. `weight` uint8 `[out / 4, in]`, a byte holding four outputs that are a quarter of the rows
  apart, from its lowest bits on; `weight_scale [1]`. Or the floats as they were trained, which are rounded to such by their mean.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from backends.base import Affine, Dense, Raw, Weight
from engine.weights import affine
from engine.weights.float_formats import WrongTensor
from engine.weights.gguf.blocks import decode
from engine.weights.gguf.encode import encode
from engine.weights.input_order import InputOrder
from engine.weights.made import Made

AWQ_PLACES = np.array([0, 4, 1, 5, 2, 6, 3, 7])  # where each of eight outputs is in its word
GROUPS = (128, 64, 32)  # that backends take
FLOATS = ("F32", "F16", "BF16")
WORDS = ("I32", "U32")


def packed_integers(parts: dict[str, Raw], shape: tuple[int, ...]) -> Weight:
    """compressed-tensors' `pack-quantized`."""
    rows, columns = shape
    packed, scale, zeros = parts["weight_packed"], _needed(parts, "weight_scale"), parts.get("weight_zero_point")
    meant = shape if "weight_shape" not in parts else stored_shape(parts["weight_shape"])
    bits = axes(packed)[1] * 32 // columns
    if (
        meant != shape
        or bits not in (2, 4, 8)
        or packed.shape != (rows, -(-columns * bits // 32))
        or packed.dtype not in WORDS
    ):
        raise WrongTensor(
            f"is packed as {packed.dtype} {list(packed.shape)}, which is no {list(shape)} in 2, 4 or 8 bits"
        )
    groups = _groups(scale, rows, columns)
    stored = None if zeros is None else _unpacked(_transposed(zeros, "weight_zero_point"), bits)[:, :rows].T
    if stored is not None and stored.shape != (rows, groups.shape[1]):
        raise WrongTensor("has a weight_zero_point for another number of rows or groups")
    order = parts.get("weight_g_idx")
    if columns * bits % 32 or not _in_order(order, groups.shape[1], columns):
        made = _plain(shape, scale, groups, stored, 1 << bits >> 1, order)
        return made(packed, lambda: _unpacked(_words(packed), bits)[:, :columns])
    return _affine(replace(packed, dtype="U32"), scale, groups, stored, bits, columns, packed)


def integers(parts: dict[str, Raw], shape: tuple[int, ...]) -> Weight:
    """compressed-tensors' `int-quantized`: a signed byte a weight."""
    rows, columns = shape
    weight, scale, zeros = parts["weight"], _needed(parts, "weight_scale"), parts.get("weight_zero_point")
    if weight.shape != shape:
        raise WrongTensor(f"has shape {list(weight.shape)}, should be {list(shape)}")
    groups = _groups(scale, rows, columns)
    if zeros is not None and (zeros.dtype != "I8" or zeros.nbytes != groups.size):
        raise WrongTensor("has a weight_zero_point for another number of rows or groups")
    stored = None if zeros is None else (np.frombuffer(zeros.buffer, np.uint8) ^ 128).reshape(groups.shape)

    def make() -> np.ndarray:
        return (np.frombuffer(weight.buffer, np.uint8) ^ 128).reshape(rows, columns)

    if columns % 32:
        return _plain(shape, scale, groups, stored, 128)(weight, make)
    words = Made(weight, "U32", (rows, columns // 4), weight.nbytes, make)
    return _affine(words, scale, groups, stored, 8, columns, weight)


def gptq(parts: dict[str, Raw], shape: tuple[int, ...], less: int = 1) -> Weight:
    """`less`: how much lower zeros are stored than they are meant."""
    rows, columns = shape
    packed, scale, zeros = parts["qweight"], _needed(parts, "scales"), _needed(parts, "qzeros")
    bits = axes(packed)[0] * 32 // columns
    if bits not in (2, 4, 8) or packed.shape != (columns * bits // 32, rows) or packed.dtype not in WORDS:
        raise WrongTensor(
            f"is packed as {packed.dtype} {list(packed.shape)}, which is no {list(shape)} in 2, 4 or 8 bits"
        )
    groups = _turned(scale, rows)
    if zeros.shape != (groups.shape[1], rows * bits // 32) or zeros.dtype not in WORDS:
        raise WrongTensor(f"has qzeros {zeros.dtype} {list(zeros.shape)}, for scales {list(scale.shape)}")
    stored = _unpacked(_words(zeros), bits).T.astype(np.int16) + less
    order = parts.get("g_idx")
    if not _in_order(order, groups.shape[1], columns):
        made = _plain(shape, scale, groups, stored, 0, order)
        return made(packed, lambda: _unpacked(np.ascontiguousarray(_words(packed).T), bits))
    words = Made(
        packed, "U32", (rows, columns * bits // 32), packed.nbytes, lambda: np.ascontiguousarray(_words(packed).T)
    )
    return _affine(words, scale, groups, stored, bits, columns, packed)


def gptq_in_order(parts: dict[str, Raw], shape: tuple[int, ...], less: int = 1) -> InputOrder | None:
    """A matrix of which `gptq` makes floats, with the inputs of each group side by side; None where that is no affine layout."""
    rows, columns = shape
    packed, scale, given = parts["qweight"], parts["scales"], parts.get("g_idx")
    bits, groups = axes(packed)[0] * 32 // columns, _turned(scale, rows)
    if given is None or _in_order(given, groups.shape[1], columns) or columns % groups.shape[1]:
        return None
    at = np.frombuffer(given.buffer, "<i4")
    if (np.bincount(at, minlength=groups.shape[1]) != columns // groups.shape[1]).any():
        return None
    order = np.argsort(at, kind="stable")

    def make() -> np.ndarray:
        codes = _unpacked(np.ascontiguousarray(_words(packed).T), bits)[:, order]
        return affine.pack(codes.reshape(-1, 8), bits)

    words = Made(packed, "U32", (rows, columns * bits // 32), packed.nbytes, make)
    stored = _unpacked(_words(parts["qzeros"]), bits).T.astype(np.int16) + less
    weight = _affine(words, scale, groups, stored, bits, columns, packed)
    return InputOrder(weight, order) if isinstance(weight, Affine) else None


def awq(parts: dict[str, Raw], shape: tuple[int, ...]) -> Weight:
    rows, columns = shape
    packed, scale, zeros = parts["qweight"], _needed(parts, "scales"), parts.get("qzeros")
    if packed.shape != (columns, rows // 8) or packed.dtype not in WORDS or rows % 8:
        raise WrongTensor(f"is packed as {packed.dtype} {list(packed.shape)}, which is no {list(shape)} in 4 bits")
    groups = _turned(scale, rows)
    if zeros is not None and (zeros.shape != (groups.shape[1], rows // 8) or zeros.dtype not in WORDS):
        raise WrongTensor(f"has qzeros {zeros.dtype} {list(zeros.shape)}, for scales {list(scale.shape)}")
    stored = None if zeros is None else _awq_codes(zeros).T

    def make() -> np.ndarray:
        return affine.pack(np.ascontiguousarray(_awq_codes(packed).T).reshape(-1, 8), 4)

    if columns % 32:
        return _plain(shape, scale, groups, stored, 8)(packed, lambda: _awq_codes(packed).T)
    words = Made(packed, "U32", (rows, columns // 8), packed.nbytes, make)
    return _affine(words, scale, groups, stored, 4, columns, packed)


def ternary(weight: Raw, scale: Raw | None, shape: tuple[int, ...], divide: bool) -> Weight:
    """`divide`: weights are divided by the scale."""
    if len(shape) != 2:
        raise WrongTensor(f"is one matrix, should be {list(shape)}")
    rows, columns = shape
    if weight.dtype != "U8":
        return _rounded(weight, shape)
    if weight.shape != (rows // 4, columns) or rows % 4:
        raise WrongTensor(f"is packed as U8 {list(weight.shape)}, which is no {list(shape)} in 2 bits")
    if scale is None or scale.nbytes == 0 or len(_groups(scale, 1, 1)) != 1 or np.prod(scale.shape) != 1:
        raise WrongTensor("has no weight_scale of one number")
    value = decode(scale.buffer, scale.dtype)

    def codes() -> np.ndarray:
        stored = np.frombuffer(weight.buffer, np.uint8).reshape(rows // 4, columns)
        return np.concatenate([stored >> shift & 3 for shift in (0, 2, 4, 6)])

    return ternary_codes(weight, codes, lambda: 1 / value if divide else value, "F32" if divide else scale.dtype, shape)


def _rounded(weight: Raw, shape: tuple[int, ...]) -> Weight:
    if weight.dtype not in FLOATS or weight.shape != shape:
        raise WrongTensor(f"is stored as {weight.dtype} {list(weight.shape)}, should be floats {list(shape)}")

    def whole() -> np.ndarray:
        return decode(weight.buffer, weight.dtype).reshape(shape)

    def mean() -> np.ndarray:
        return np.maximum(np.abs(whole()).mean(dtype=np.float32), np.float32(1e-5)).reshape(1)

    def codes() -> np.ndarray:
        return (np.clip(np.round(whole() / mean()), -1, 1) + 1).astype(np.uint8)

    return ternary_codes(weight, codes, mean, weight.dtype, shape)


def ternary_codes(
    origin: Raw, codes: Callable[[], np.ndarray], value: Callable[[], np.ndarray], dtype: str, shape: tuple[int, ...]
) -> Weight:
    """Codes 0, 1 and 2 `[rows, columns]`, and the one scale of all weights, which becomes this type."""
    rows, columns = shape
    size = next((n for n in GROUPS if columns % n == 0), None)
    wide = 4 if dtype == "F32" else 2
    if size is None:

        def floats() -> np.ndarray:
            return encode((codes().astype(np.float32) - 1) * value(), dtype)

        return Dense(Made(origin, dtype, shape, rows * columns * wide, floats))
    groups = (rows, columns // size)

    def part(times: int) -> Callable[[], np.ndarray]:
        return lambda: encode(np.full(groups, times * value(), np.float32), dtype)

    words = Made(
        origin, "U32", (rows, columns // 16), rows * columns // 4, lambda: affine.pack(codes().reshape(-1, 8), 2)
    )
    scales, biases = (Made(origin, dtype, groups, groups[0] * groups[1] * wide, part(times)) for times in (1, -1))
    return Affine(words, scales, biases, 2, size)


def _awq_codes(raw: Raw) -> np.ndarray:
    codes = _unpacked(_words(raw), 4)
    return codes.reshape(len(codes), -1, 8)[:, :, AWQ_PLACES].reshape(len(codes), -1)


def _affine(
    words: Raw, scale: Raw, groups: np.ndarray, zeros: np.ndarray | None, bits: int, columns: int, origin: Raw
) -> Weight:
    """`groups` and `zeros` `[rows, groups]`; without zeros they are in the middle."""
    middle = 1 << bits >> 1
    width = columns // groups.shape[1]
    size = next((n for n in GROUPS if width % n == 0), None)
    if size is None or columns % groups.shape[1]:
        made = _plain((len(groups), columns), scale, groups, zeros, middle)
        return made(origin, lambda: _unpacked(np.frombuffer(words.buffer, "<u4").reshape(words.shape), bits))
    same = zeros is None or bool((zeros == middle).all())
    dtype = scale.dtype if same else "F32"
    shape = (len(groups), columns // size)
    nbytes = shape[0] * shape[1] * (4 if dtype == "F32" else 2)

    def part(times: np.ndarray | int) -> Callable[[], np.ndarray]:
        def make() -> np.ndarray:
            values = np.repeat(groups * np.asarray(times, np.float32), width // size, axis=1)
            return encode(values, dtype)

        return make

    biases = -middle if zeros is None else -zeros.astype(np.float32)
    return Affine(
        words,
        Made(scale, dtype, shape, nbytes, part(1)),
        Made(scale, dtype, shape, nbytes, part(biases)),
        bits,
        size,
    )


def _plain(
    shape: tuple[int, ...],
    scale: Raw,
    groups: np.ndarray,
    zeros: np.ndarray | None,
    middle: int,
    order: Raw | None = None,
) -> Callable[[Raw, Callable[[], np.ndarray]], Weight]:
    """What makes codes `[rows, columns]` floats of the scale's type, rounded once, as the library does that made the file."""
    columns = shape[-1]
    at = np.arange(columns) // -(-columns // groups.shape[1]) if order is None else np.frombuffer(order.buffer, "<i4")
    if (at < 0).any() or (at >= groups.shape[1]).any():
        raise WrongTensor("has a g_idx that names groups which it has not")
    lower = np.full(groups.shape, middle, np.float32) if zeros is None else zeros.astype(np.float32)
    nbytes = shape[0] * columns * (4 if scale.dtype == "F32" else 2)

    def made(origin: Raw, codes: Callable[[], np.ndarray]) -> Weight:
        def make() -> np.ndarray:
            return encode((codes().astype(np.float32) - lower[:, at]) * groups[:, at], scale.dtype)

        return Dense(Made(origin, scale.dtype, shape, nbytes, make))

    return made


def _in_order(order: Raw | None, groups: int, columns: int) -> bool:
    """Whether inputs are in their groups one after the other."""
    if order is None:
        return True
    if order.dtype not in ("I32", "U32") or order.shape != (columns,):
        raise WrongTensor(f"has a g_idx {order.dtype} {list(order.shape)}, should be I32 [{columns}]")
    at = np.frombuffer(order.buffer, "<i4")
    return bool((at < 0).all()) or np.array_equal(at, np.arange(columns) // max(1, columns // groups))


def _groups(scale: Raw, rows: int, columns: int) -> np.ndarray:
    """Scales `[rows, groups]` as f32."""
    if scale.dtype not in FLOATS:
        raise WrongTensor(f"has a weight_scale stored as {scale.dtype}, should be {' or '.join(FLOATS)}")
    values = decode(scale.buffer, scale.dtype)
    if len(values) == 1:
        return np.repeat(values, rows)[:, None]
    if len(values) % rows or columns % (len(values) // rows):
        raise WrongTensor(f"has a weight_scale {list(scale.shape)}, which does not divide [{rows}, {columns}]")
    return values.reshape(rows, -1)


def _turned(scale: Raw, rows: int) -> np.ndarray:
    """Scales `[groups, rows]` as `[rows, groups]` f32."""
    if scale.dtype not in FLOATS or len(scale.shape) != 2 or scale.shape[1] != rows:
        raise WrongTensor(f"has scales {scale.dtype} {list(scale.shape)}, should be floats [groups, {rows}]")
    return np.ascontiguousarray(decode(scale.buffer, scale.dtype).reshape(scale.shape).T)


def _needed(parts: dict[str, Raw], name: str) -> Raw:
    if name not in parts:
        raise WrongTensor(f"has no {name}")
    return parts[name]


def axes(raw: Raw) -> tuple[int, int]:
    """Rows and columns of stored codes."""
    if len(raw.shape) != 2:
        raise WrongTensor(f"has codes of shape {list(raw.shape)}, should have two axes")
    return raw.shape[0], raw.shape[1]


def stored_shape(raw: Raw) -> tuple[int, ...]:
    """What compressed-tensors' `weight_shape` holds."""
    if raw.dtype not in ("I64", "I32") or raw.shape != (2,):
        raise WrongTensor(f"has a weight_shape {raw.dtype} {list(raw.shape)}, should be I64 [2]")
    rows, columns = np.frombuffer(raw.buffer, "<i8" if raw.dtype == "I64" else "<i4").tolist()
    return rows, columns


def _words(raw: Raw) -> np.ndarray:
    return np.frombuffer(raw.buffer, "<u4").reshape(raw.shape)


def _transposed(raw: Raw, name: str) -> np.ndarray:
    if raw.dtype not in WORDS or len(raw.shape) != 2:
        raise WrongTensor(f"has a {name} stored as {raw.dtype} {list(raw.shape)}")
    return np.ascontiguousarray(_words(raw).T)


def _unpacked(words: np.ndarray, bits: int) -> np.ndarray:
    """uint8 `[n, words * 32 / bits]`, from the lowest bits on."""
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    raw = np.ascontiguousarray(words).view(np.uint8)
    return ((raw[:, :, None] >> shifts) & np.uint8((1 << bits) - 1)).reshape(len(words), -1)
