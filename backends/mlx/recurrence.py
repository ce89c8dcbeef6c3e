"""Recurrences on MLX: the gated delta rule and the scan, of a run of tokens and of one.

The gated delta rule, with states `[B, Hv, Dv, Dk]` in f32:

    S = S * exp(g);  u = (v - S k) * beta;  S = S + u (outer) k;  out = S q

A loop over time would be too slow, so a long run is cut into chunks. Within a chunk the `u` of all tokens solve one triangular
system, whose inverse is built by doubling: the inverses of blocks on the diagonal give those of blocks twice as large. That is
as stable as substitution (powers of the whole matrix are not: equal keys make them overflow), and covers all chunks of all
heads at once. Only the state passes from chunk to chunk in sequence. Padding has no key, no beta and no decay, so it leaves
the state unchanged. A scan is the same without the correction: `u = v`, and no system to solve.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

import mlx.core as mx
import numpy as np

from backends.mlx.primitives import primitives

CHUNK = 64
Rule = Callable[..., tuple[mx.array, mx.array]]  # from inputs and a state to outputs and the new state


def delta_rule(
    q: mx.array, k: mx.array, v: mx.array, g: mx.array, beta: mx.array, state: mx.array, kernel: bool
) -> tuple[mx.array, mx.array]:
    """`q`, `k` `[B, T, Hk, Dk]`, `v [B, T, Hv, Dv]`, `g`, `beta` `[B, T, Hv]` -> `[B, T, Hv, Dv]` and the new state.

    `kernel`: use the device's fused kernel where it has one for these shapes.
    """
    if kernel and has_kernel(*q.shape[2:], *v.shape[2:]):
        return by_kernel(q, k, v, g, beta, state)
    if q.shape[1] == 1:
        out, state = delta_of_one(q[:, 0], k[:, 0], v[:, 0], g[:, 0], beta[:, 0], state)
        return out[:, None], state
    return _chunked(q, k, v, g, beta, state)


@cache
def has_kernel(key_heads: int, key_dim: int, heads: int, dim: int) -> bool:
    """Whether MLX has a kernel for these shapes. It has them for a few published models and silently unrolls all others over
    time, so a graph that is never run is inspected."""
    keys, values, gates = mx.zeros((1, 2, key_heads, key_dim)), mx.zeros((1, 2, heads, dim)), mx.zeros((1, 2, heads))
    _, state = by_kernel(keys, keys, values, gates, gates, mx.zeros((1, heads, dim, key_dim)))
    return "GatedDeltaUpdate" in primitives(state)


def by_kernel(
    q: mx.array, k: mx.array, v: mx.array, g: mx.array, beta: mx.array, state: mx.array
) -> tuple[mx.array, mx.array]:
    # The kernel reads everything but the state in the dtype of q, and a decay near one needs more than half precision.
    q, k, values, beta = (x.astype(mx.float32) for x in (q, k, v, beta))
    out, state = mx.fast.gated_delta_update(q, k, values, mx.exp(g), beta, state)
    return out.astype(v.dtype), state


def delta_of_one(
    q: mx.array, k: mx.array, v: mx.array, g: mx.array, beta: mx.array, state: mx.array
) -> tuple[mx.array, mx.array]:
    """`delta_rule` of a single token, without the axis of tokens."""
    batch, key_heads, key_dim = q.shape
    heads, dim = v.shape[1:]
    grouped = state.reshape(batch, key_heads, heads // key_heads, dim, key_dim)
    q, k = (x.astype(mx.float32).reshape(batch, key_heads, 1, key_dim, 1) for x in (q, k))
    values = v.reshape(batch, key_heads, heads // key_heads, dim, 1)
    g, beta = (x.reshape(batch, key_heads, heads // key_heads, 1, 1) for x in (g, beta))
    decayed = grouped * mx.exp(g)
    update = _correction(values, decayed @ k, beta)
    grouped = _outer_add(decayed, update, k.swapaxes(-1, -2))
    out = (grouped @ q).reshape(batch, heads, dim).astype(v.dtype)
    return out, grouped.reshape(state.shape)


def _correct(v: mx.array, predicted: mx.array, beta: mx.array) -> mx.array:
    return (v.astype(mx.float32) - predicted) * beta.astype(mx.float32)


_correction = mx.compile(_correct, shapeless=True)
_outer_add = mx.compile(lambda state, column, row: state + column * row, shapeless=True)


def _chunked(
    q: mx.array, k: mx.array, v: mx.array, g: mx.array, beta: mx.array, state: mx.array
) -> tuple[mx.array, mx.array]:
    batch, length, key_heads, key_dim = q.shape
    heads, dim = v.shape[2:]
    dtype = v.dtype
    group = heads // key_heads
    size = min(CHUNK, 1 << (length - 1).bit_length())
    chunks = -(-length // size)

    cut = partial(_cut, size=size, groups=key_heads)
    q, k = cut(q, key_dim), cut(k, key_dim)
    v, g, beta = cut(v, dim), cut(g)[..., None], cut(beta)[..., None]
    total = mx.cumsum(g, axis=-2)  # log decay since the chunk began

    at = mx.arange(size)
    earlier, not_later = at[:, None] > at, at[:, None] >= at
    fade = mx.exp(mx.where(not_later, total - total.swapaxes(-1, -2), -mx.inf))  # from token j on to token i
    inverse = _unit_lower_inverse(mx.where(earlier, (k @ k.swapaxes(-1, -2)) * fade * beta, 0.0), size)

    since_start = mx.exp(total)
    free = inverse @ (v * beta)  # the updates if the state were empty
    bound = inverse @ (k * (beta * since_start))  # what a state takes off them
    reads = (q @ k.swapaxes(-1, -2)) * fade
    from_state = q * since_start
    to_end = k * mx.exp(total[..., -1:, :] - total)
    through = since_start[..., -1:, :]

    carried = state.reshape(batch, key_heads, group, dim, key_dim).swapaxes(-1, -2)
    outs = []
    for c in range(chunks):
        update = free[c] - bound[c] @ carried
        outs.append(from_state[c] @ carried + reads[c] @ update)
        carried = carried * through[c] + to_end[c].swapaxes(-1, -2) @ update

    out = mx.stack(outs, axis=1).transpose(0, 1, 4, 2, 3, 5).reshape(batch, chunks * size, heads, dim)
    return out[:, :length].astype(dtype), carried.swapaxes(-1, -2).reshape(state.shape)


def scan(q: mx.array, k: mx.array, v: mx.array, g: mx.array, state: mx.array) -> tuple[mx.array, mx.array]:
    """As `delta_rule`, of a scan."""
    batch, length, groups, key_dim = q.shape
    heads, dim = v.shape[2:]
    if length == 1:
        out, state = scan_of_one(q[:, 0], k[:, 0], v[:, 0], g[:, 0], state)
        return out[:, None], state
    size = min(CHUNK, 1 << (length - 1).bit_length())
    chunks = -(-length // size)
    cut = partial(_cut, size=size, groups=groups)
    carried = state.reshape(batch, groups, heads // groups, dim, key_dim).swapaxes(-1, -2)
    values = cut(v, dim)
    decays = cut(g)[..., None]
    queries, keys = cut(q, key_dim), cut(k, key_dim)
    at = mx.arange(size)
    # From token j on to token i. Summed, not subtracted from one another: a strong decay before both would take the digits.
    between = mx.cumsum(mx.where(at[:, None] > at, decays, 0.0), axis=-2)
    fade = mx.exp(mx.where(at[:, None] >= at, between, -mx.inf))
    inner = ((queries @ keys.swapaxes(-1, -2)) * fade) @ values
    since_start = mx.exp(mx.cumsum(decays, axis=-2))
    through = since_start[..., -1:, :]
    left = keys.swapaxes(-1, -2) @ (values * fade[..., -1:, :].swapaxes(-1, -2))  # of a chunk's tokens at its end
    outs = []
    for c in range(chunks):
        outs.append(inner[c] + (queries[c] @ carried) * since_start[c])
        carried = carried * through[c] + left[c]
    out = mx.stack(outs, axis=1).transpose(0, 1, 4, 2, 3, 5).reshape(batch, chunks * size, heads, dim)
    return out[:, :length].astype(v.dtype), carried.swapaxes(-1, -2).reshape(state.shape)


def scan_of_one(q: mx.array, k: mx.array, v: mx.array, g: mx.array, state: mx.array) -> tuple[mx.array, mx.array]:
    """`scan` of a single token, without the axis of tokens."""
    batch, groups, key_dim = q.shape
    heads, dim = v.shape[1:]
    grouped = state.reshape(batch, groups, heads // groups, dim, key_dim)
    values, g = (x.reshape(batch, groups, heads // groups, -1, 1) for x in (v, g))
    grouped = _decay_add(grouped, g, values, k.reshape(batch, groups, 1, 1, key_dim))
    out = grouped @ q.astype(mx.float32).reshape(batch, groups, 1, key_dim, 1)
    return out.reshape(v.shape).astype(v.dtype), grouped.reshape(state.shape)


def _decayed_and_added(state: mx.array, g: mx.array, column: mx.array, row: mx.array) -> mx.array:
    return state * mx.exp(g.astype(mx.float32)) + column.astype(mx.float32) * row.astype(mx.float32)


_decay_add = mx.compile(_decayed_and_added, shapeless=True)


def _cut(x: mx.array, *tail: int, size: int, groups: int) -> mx.array:
    """`[B, T, heads...] -> [chunks, B, groups, heads of one, size, ...]`, padded with zeros, f32."""
    batch, length = x.shape[:2]
    x = mx.pad(x.astype(mx.float32), [(0, 0), (0, -length % size)] + [(0, 0)] * (x.ndim - 2))
    x = x.reshape(batch, -(-length // size), size, groups, -1, *tail)
    return x.transpose(1, 0, 3, 4, 2, *range(5, 5 + len(tail)))


def _unit_lower_inverse(below: mx.array, size: int) -> mx.array:
    """The inverse of `I + below`, `below` strictly lower triangular, `size` a power of two."""
    inverse = mx.broadcast_to(mx.eye(size), below.shape)
    width = 1
    while width < size:
        block = np.arange(size) // width
        joins = (block[:, None] == block + 1) & (block % 2 == 0)  # an odd block's rows, the columns of the one before
        inverse = inverse - inverse @ mx.where(mx.array(joins), below, 0.0) @ inverse
        width *= 2
    return inverse
