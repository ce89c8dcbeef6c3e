"""Reductions and sampling over rows of f32 logits `[rows, n]` on the kernels' thread pool.

Torch would wake its own threads for each of these.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from backends.base import Sampling
from backends.torch.kernels.library import SamplerParams, available, library


def supports(logits: Tensor) -> bool:
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
