"""Attention over cached keys and values `[rows, heads, tokens, dim]`, for packed queries `[tokens, heads, dim]`."""

from __future__ import annotations

from typing import Any

import mlx.core as mx

from backends.mlx.slabs import Format, Parts, Quantized


def attend_one_token(
    q: mx.array, keys: Parts, values: Parts, form: Format, scale: float, mask: mx.array | None
) -> mx.array:
    """One query a row: `q [N, H, D]` -> `[N, H, Dv]`; `mask [N, 1, 1, S]` is True where a row may look."""
    if isinstance(form, Quantized):
        return _attend_quantized(q, keys, values, form, scale, mask)
    whole = form.decode(keys), form.decode(values)
    out = mx.fast.scaled_dot_product_attention(q[:, :, None], *whole, scale=scale, mask=mask)
    return out.squeeze(2)


def _attend_quantized(
    q: mx.array, keys: Parts, values: Parts, form: Quantized, scale: float, mask: mx.array | None
) -> mx.array:
    """Products with the quantized rows themselves: unpacking them first would read and write more than plain rows."""
    n, heads, dim = q.shape
    kv_heads = keys[0].shape[1]
    grouped = q.reshape(n, kv_heads, heads // kv_heads, dim) * scale
    scores = form.product(grouped, keys, transpose=True)
    if mask is not None:
        scores = mx.where(mask, scores, mx.finfo(scores.dtype).min)
    shares = mx.softmax(scores, axis=-1, precise=True)
    out = form.product(shares, values, transpose=False)
    return out.reshape(n, heads, -1).astype(q.dtype)


def attend_run(
    q: mx.array, keys: mx.array, values: mx.array, scale: float, window: int | None, causal: bool = True
) -> mx.array:
    """A run of one sequence's tokens, the last of which is the last key: `q [n, H, D]` -> `[n, H, Dv]`."""
    how: Any = None
    n, tokens = q.shape[0], keys.shape[2]
    if causal:
        how = "causal"
        if window is not None and tokens > window:
            last = mx.arange(tokens - n, tokens)[:, None]
            at = mx.arange(tokens)
            how = (at <= last) & (at > last - window)
    out = mx.fast.scaled_dot_product_attention(q.swapaxes(0, 1)[None], keys, values, scale=scale, mask=how)
    return out[0].swapaxes(0, 1)
