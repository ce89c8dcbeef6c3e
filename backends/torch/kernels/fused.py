"""Small operations of a decode step in one call each: norms, the gate, attention of one new token a sequence.

At one token a step, torch's price is the number of calls. Results are f32; attention reads f32, f16 and bf16 slabs in place.
Norms and the gate use one thread unless told otherwise: what they do is shorter than waking a second one, and beside torch's
own threads, which spin between two products, a second pool makes both wait.
"""

from __future__ import annotations

import ctypes

import torch
from torch import Tensor

from backends.torch.kernels.library import AttendBlock, Heads, library

LEAST = 16  # dimensions of a head that `attend_window` reads


def _plain(x: Tensor) -> Tensor:
    return x.float().contiguous()


def rms_norm(x: Tensor, w: Tensor, eps: float, threads: int = 1) -> Tensor:
    """Over the last axis."""
    x, w = _plain(x), _plain(w)
    out = torch.empty_like(x)
    n = x.shape[-1]
    library().grus_rms_norm(x.data_ptr(), None, None, w.data_ptr(), eps, x.numel() // n, n, out.data_ptr(), threads)
    return out


def add_rms_norm(x: Tensor, residual: Tensor, w: Tensor, eps: float, threads: int = 1) -> tuple[Tensor, Tensor]:
    """`x + residual`, and its norm."""
    x, residual, w = _plain(x), _plain(residual), _plain(w)
    total, out = torch.empty_like(x), torch.empty_like(x)
    n = x.shape[-1]
    library().grus_rms_norm(
        x.data_ptr(),
        residual.data_ptr(),
        total.data_ptr(),
        w.data_ptr(),
        eps,
        x.numel() // n,
        n,
        out.data_ptr(),
        threads,
    )
    return total, out


def layer_norm(x: Tensor, w: Tensor, b: Tensor, eps: float, threads: int = 1) -> Tensor:
    """Over the last axis."""
    x, w, b = _plain(x), _plain(w), _plain(b)
    out = torch.empty_like(x)
    n = x.shape[-1]
    library().grus_layer_norm(x.data_ptr(), w.data_ptr(), b.data_ptr(), eps, x.numel() // n, n, out.data_ptr(), threads)
    return out


def gelu(x: Tensor) -> Tensor:
    x = _plain(x)
    out = torch.empty_like(x)
    library().grus_gelu(x.data_ptr(), x.numel(), out.data_ptr(), torch.get_num_threads())
    return out


def swiglu(x: Tensor, threads: int = 1) -> Tensor:
    """`silu(gate) * up` of `[..., gate | up]`."""
    x, n = _plain(x), x.shape[-1] // 2
    out = x.new_empty(*x.shape[:-1], n)
    library().grus_swiglu(x.data_ptr(), x.numel() // (2 * n), n, out.data_ptr(), threads)
    return out


def heads(x: Tensor, shape: Heads, cos: Tensor | None, sin: Tensor | None) -> Tensor:
    """`x [T, (H + 2K) * dim]` with the heads of queries and keys normalized and turned as `shape` says; `cos`, `sin`
    `[T, 1, turned]`."""
    x = _plain(x)
    out = torch.empty_like(x)
    turns = (None, None) if cos is None or sin is None else (cos.data_ptr(), sin.data_ptr())
    library().grus_heads(ctypes.byref(shape), x.data_ptr(), len(x), *turns, out.data_ptr(), torch.get_num_threads())
    return out


def attend_window(q: Tensor, k: Tensor, v: Tensor, window: int, scale: float) -> Tensor:
    """See `backends.base.Ops.attend_window`; f32, dimensions of 16 or more."""
    q, k, v = (x if x.stride()[1:] == (x.shape[2], 1) else x.contiguous() for x in (q, k, v))
    length, heads, dim = q.shape
    out = q.new_empty(length, heads, v.shape[2])
    block = AttendBlock(
        q.data_ptr(),
        q.stride(0),
        k.data_ptr(),
        v.data_ptr(),
        k.stride(0),
        v.stride(0),
        dim,
        v.shape[2],
        length,
        len(k) - length,
        window,
        0,
        len(k),
        scale,
        out.data_ptr(),
        out.stride(0),
    )
    library().grus_attend_recent(ctypes.byref(block), heads, k.shape[1], torch.get_num_threads())
    return out
