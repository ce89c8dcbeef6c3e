"""Small operations of a decode step in one call each: norms, SwiGLU, rotary embedding, windowed attention.

At one token a step, torch's cost is the number of calls. Results are f32. Norms and SwiGLU use one thread by default: the work is
shorter than waking a second thread, and torch's own threads, which spin between two products, would compete with a second pool.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import torch
from torch import Tensor

from backends.base import Sampling
from backends.torch.kernels.library import AttentionBlock, HeadsParams, SamplerParams, available, library

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


def heads(x: Tensor, shape: HeadsParams, cos: Tensor | None, sin: Tensor | None) -> Tensor:
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
    block = AttentionBlock(
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
        heads=1,
    )
    library().grus_attention_window(ctypes.byref(block), heads, k.shape[1], torch.get_num_threads())
    return out


# -- reductions and sampling over rows of f32 logits `[rows, n]` on the kernels' thread pool
#
# Torch would wake its own threads for each of these.


def can_reduce(logits: Tensor) -> bool:
    return logits.device.type == "cpu" and logits.dtype == torch.float32 and logits.numel() > 0 and available()


def argmax(x: Tensor) -> tuple[Tensor, Tensor]:
    """`x.max(-1)`, ties resolved to the lower index; NaN if a row contains one."""
    x = x.contiguous()
    values, places = x.new_empty(len(x)), torch.empty(len(x), dtype=torch.int64)
    library().grus_argmax(x.data_ptr(), *x.shape, values.data_ptr(), places.data_ptr(), torch.get_num_threads())
    return values, places


def top_k(x: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """The `k` largest of each row in order, ties by the lower index: values and indices `[rows, k]`. No NaN."""
    x = x.contiguous()
    values, places = x.new_empty(len(x), k), torch.empty(len(x), k, dtype=torch.int64)
    library().grus_top_k(x.data_ptr(), *x.shape, k, values.data_ptr(), places.data_ptr(), torch.get_num_threads())
    return values, places


def softmax_mass(x: Tensor, best: Tensor, temperature: Tensor) -> Tensor:
    """The sum of `exp((x - best) / temperature)`, `[rows]`; `best` and `temperature` are `[rows]`."""
    x, best, temperature = x.contiguous(), best.contiguous(), temperature.contiguous()
    out = x.new_empty(len(x))
    library().grus_softmax_mass(
        x.data_ptr(), *x.shape, best.data_ptr(), temperature.data_ptr(), out.data_ptr(), torch.get_num_threads()
    )
    return out


def sample(x: Tensor, best: Tensor, ids: Tensor, params: Sequence[Sampling]) -> None:
    """Sample a token of each row by its parameters, into `ids` (int32 `[rows]`). Greedy rows, rows with `typical_p`, and rows whose
    `best` (their maximum) is not finite are left unchanged. See `sample.py`."""
    x = x.contiguous()
    samplers = (SamplerParams * len(params))()
    for sampler, p in zip(samplers, params):
        sampler.temperature = 0 if p.typical_p < 1 else p.temperature
        sampler.noise, sampler.top_p, sampler.min_p, sampler.top_k = p.noise, p.top_p, p.min_p, p.top_k
    library().grus_sample(x.data_ptr(), *x.shape, best.data_ptr(), samplers, ids.data_ptr(), torch.get_num_threads())


def draw(x: Tensor, noise: Tensor, random: Tensor, temperature: float, k: int, top_p: float) -> Tensor:
    """See `backends.base.Ops.choose`; int32 `[rows]`."""
    x, random = x.contiguous(), random.contiguous().to(torch.int32)
    noise = noise.contiguous()
    ids = torch.empty(len(x), dtype=torch.int32)
    library().grus_draw(
        x.data_ptr(), *x.shape, noise.data_ptr(), random.data_ptr(), temperature, k, top_p, ids.data_ptr()
    )
    return ids
