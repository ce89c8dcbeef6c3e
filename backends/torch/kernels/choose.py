"""What sampling asks of rows of f32 logits, on the kernels' threads: torch would wake its own for each.

All take `[rows, n]`.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from backends.base import Sampling
from backends.torch.kernels.library import Wish, available, library


def takes(logits: Tensor) -> bool:
    return logits.device.type == "cpu" and logits.dtype == torch.float32 and logits.numel() > 0 and available()


def best(x: Tensor) -> tuple[Tensor, Tensor]:
    """`x.max(-1)`, equals by the lower index, NaN where a row has one."""
    x = x.contiguous()
    values, places = x.new_empty(len(x)), torch.empty(len(x), dtype=torch.int64)
    library().grus_best(x.data_ptr(), *x.shape, values.data_ptr(), places.data_ptr(), torch.get_num_threads())
    return values, places


def top(x: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """The `k` best of each row in order, equals by the lower index: values and indices `[rows, k]`. No NaN."""
    x = x.contiguous()
    values, places = x.new_empty(len(x), k), torch.empty(len(x), k, dtype=torch.int64)
    library().grus_top(x.data_ptr(), *x.shape, k, values.data_ptr(), places.data_ptr(), torch.get_num_threads())
    return values, places


def mass(x: Tensor, best: Tensor, temperature: Tensor) -> Tensor:
    """The sum of `exp((x - best) / temperature)`, `[rows]`; `best` and `temperature` are `[rows]`."""
    x, best, temperature = x.contiguous(), best.contiguous(), temperature.contiguous()
    out = x.new_empty(len(x))
    library().grus_mass(
        x.data_ptr(), *x.shape, best.data_ptr(), temperature.data_ptr(), out.data_ptr(), torch.get_num_threads()
    )
    return out


def choose(x: Tensor, best: Tensor, ids: Tensor, params: Sequence[Sampling]) -> None:
    """Write into `ids` (int32 `[rows]`) what each row's parameters choose, but for greedy ones, those with `typical_p`, and rows
    of which `best`, the largest number, is not finite. See `sample.py`."""
    x = x.contiguous()
    wishes = (Wish * len(params))()
    for wish, p in zip(wishes, params):
        wish.temperature = 0 if p.typical_p < 1 else p.temperature
        wish.noise, wish.top_p, wish.min_p, wish.top_k = p.noise, p.top_p, p.min_p, p.top_k
    library().grus_choose(x.data_ptr(), *x.shape, best.data_ptr(), wishes, ids.data_ptr(), torch.get_num_threads())


def draw(x: Tensor, noise: Tensor, random: Tensor, temperature: float, k: int, top_p: float) -> Tensor:
    """See `backends.base.Ops.choose`; int32 `[rows]`."""
    x, random = x.contiguous(), random.contiguous().to(torch.int32)
    noise = noise.contiguous()
    ids = torch.empty(len(x), dtype=torch.int32)
    library().grus_draw(
        x.data_ptr(), *x.shape, noise.data_ptr(), random.data_ptr(), temperature, k, top_p, ids.data_ptr()
    )
    return ids
