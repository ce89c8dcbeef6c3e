"""Sampling: chooses the next token of every row in one vectorized pass. Pure: the noise is among the parameters.

A row's logits go through penalties, bias and mask; then they are put in order, best first and ties to the lower index,
and the token is where the cumulative probability of what the filters keep first exceeds the noise. Only what is asked
for is paid for: all rows greedy is one argmax, and on a CPU, where sorting a vocabulary takes longer than many a layer,
a prefix of the order is enough whenever it provably holds the answer. The CPU kernels do it row by row in one call
(kernels/src/sample.cpp), all but `typical_p`: forty small operations of torch's take longer than the choice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from backends.base import Sampling
from backends.ops import additive_entries, repetition_entries
from backends.torch.kernels import fused
from backends.torch.tensors import upload_columns

PREFIX = 256  # tokens that are sorted first; the whole vocabulary only if these are not enough
UNREACHABLE = 2.0  # a bound on probability mass that rounding cannot reach: the filter is off


@dataclass
class TorchSamples:
    """The sampled tokens of a pass."""

    ids: Tensor  # int32 [N]
    best: Tensor  # [N] the largest logit of each row; not finite: nothing could be sampled
    logprob_rows: list[int]  # rows that asked for logprobs; the tensors below have one entry each
    chosen: Tensor | None = None  # [R]
    top_ids: Tensor | None = None  # [R, n], n the most that a row asked for
    top: Tensor | None = None  # [R, n]


def only_argmax(params: Sequence[Sampling]) -> bool:
    """Whether every row only needs the index of its largest unmodified logit and, approximately, its log probability."""
    if any(p.logprobs is not None and not (p.approximate_logprobs and p.logprobs == 0) for p in params):
        return False
    return all(p.temperature == 0 and leaves_logits(p) for p in params)


def leaves_logits(p: Sampling) -> bool:
    """Whether logits stay as they are: no penalty, bias or mask."""
    if not (p.mask is p.together_from is None) or p.bias:
        return False
    return not (p.repeated and p.repetition != 1.0) and not (p.seen and (p.presence or p.frequency))


def sample(logits: Tensor, params: Sequence[Sampling]) -> TorchSamples:
    """`logits [N, V]` are not written to."""
    logits = _processed(logits, params)
    best, first = _best(logits)
    ids = first.to(torch.int32)
    random = [i for i, p in enumerate(params) if p.temperature > 0]
    if random and fused.can_reduce(logits):
        fused.sample(logits, best, ids, params)
        random = [i for i in random if params[i].typical_p < 1]
    if random:
        some = len(random) < len(params)
        rows = torch.tensor(random, device=logits.device) if some else slice(None)
        ids[rows] = _drawn_ids(logits[rows], best[rows], [params[i] for i in random]).to(torch.int32)
    drawn = TorchSamples(ids, best, [i for i, p in enumerate(params) if p.logprobs is not None])
    if drawn.logprob_rows:
        _add_logprobs(drawn, logits, max(params[i].logprobs or 0 for i in drawn.logprob_rows))
    return drawn


def _best(logits: Tensor) -> tuple[Tensor, Tensor]:
    if fused.can_reduce(logits):
        return fused.argmax(logits)
    found = logits.max(-1)
    return found.values, found.indices


# -- penalties, bias, mask


def _processed(logits: Tensor, params: Sequence[Sampling]) -> Tensor:
    vocab = logits.shape[-1]
    divide_at, divisors = repetition_entries(params, vocab)
    add_at, addends = additive_entries(params, vocab)
    masks = [(i, p.mask) for i, p in enumerate(params) if p.mask is not None]
    together = [(i, p.together_from) for i, p in enumerate(params) if p.together_from is not None]
    if not (divide_at or add_at or masks or together):
        return logits
    device = logits.device
    logits = logits.to(torch.float32, copy=True)
    flat = logits.view(-1)
    if divide_at:
        at, by = torch.tensor(divide_at, device=device), torch.tensor(divisors, device=device)
        old = flat[at]
        flat[at] = torch.where(old > 0, old / by, old * by)
    if add_at:
        flat.index_add_(0, torch.tensor(add_at, device=device), torch.tensor(addends, device=device))
    for row, mask in masks:
        width = min(vocab, len(mask))
        banned = torch.from_numpy(~np.asarray(mask[:width], bool)).to(device)
        logits[row, :width].masked_fill_(banned, -torch.inf)
        logits[row, width:] = -torch.inf  # a padded vocabulary's tail is no token
    for row, first in together:
        others = logits[row, :first]
        others.masked_fill_(logits[row, first:].logsumexp(-1) > others.max(), -torch.inf)
    return logits


# -- the order


def _in_order(logits: Tensor) -> tuple[Tensor, Tensor]:
    return torch.sort(logits, dim=-1, descending=True, stable=True)


def _prefix(logits: Tensor, n: int) -> tuple[Tensor, Tensor, Tensor]:
    """The `n` best of each row in order, their indices, and `[N, 1]` how many of these are surely the right ones.

    `topk` chooses among equals as it likes: equals are put in order afterwards, but those that equal the last one may
    have been chosen over one with a lower index.
    """
    if fused.can_reduce(logits) and not fused.argmax(logits)[0].isnan().any():
        values, ids = fused.top_k(logits, n)
        return values, ids, ids.new_full((len(ids), 1), n)
    ids = logits.topk(n, sorted=False).indices.sort(-1).values
    values, places = _in_order(logits.gather(-1, ids))
    return values, ids.gather(-1, places), (values > values[:, -1:]).sum(-1, keepdim=True)


def _prefix_pays(logits: Tensor) -> bool:
    """CUDA sorts quickly and must not wait for the host to learn whether the prefix was enough."""
    return logits.device.type == "cpu" and logits.shape[-1] > 4 * PREFIX


# -- drawing a token


class _Settings:
    """The parameters of some rows as columns."""

    def __init__(self, params: Sequence[Sampling], device: torch.device) -> None:
        self.any_k = any(p.top_k for p in params)
        self.any_p = any(p.top_p < 1 for p in params)
        self.any_min = any(p.min_p > 0 for p in params)
        self.any_typical = any(p.typical_p < 1 for p in params)
        columns = [
            [p.temperature for p in params],
            [p.noise for p in params],
            [p.top_k or float("inf") for p in params],
            [p.top_p if p.top_p < 1 else UNREACHABLE for p in params],
            [p.min_p for p in params],
            [p.typical_p if p.typical_p < 1 else UNREACHABLE for p in params],
        ]
        whole = upload_columns(columns, torch.float32, device)[..., None]
        self.temperature, self.noise, self.top_k, self.top_p, self.min_p, self.typical_p = whole
        self.typical = self.typical_p <= 1
        self.filtered = (self.top_k < float("inf")) | (self.top_p <= 1) | (self.min_p > 0) | self.typical


def _drawn_ids(logits: Tensor, best: Tensor, params: Sequence[Sampling]) -> Tensor:
    """int64 `[N]`"""
    logits, best = logits.float(), best.float()[:, None]
    settings = _Settings(params, logits.device)
    if not _prefix_pays(logits):
        values, order = _in_order(logits)
        at, _ = _choose(_share(values, logits, best, settings), settings)
        return order.gather(-1, at)[:, 0]
    values, order, sure = _prefix(logits, PREFIX)
    at, decided = _choose(_share(values, logits, best, settings), settings, part=True)
    ids = order.gather(-1, at)[:, 0]
    open_rows = (~(decided & (at < sure)))[:, 0].nonzero()[:, 0].tolist()
    if open_rows:
        rows, settings = logits[open_rows], _Settings([params[i] for i in open_rows], logits.device)
        values, order = _in_order(rows)
        at, _ = _choose(_share(values, rows, best[open_rows], settings), settings)
        ids[open_rows] = order.gather(-1, at)[:, 0]
    return ids


def _share(values: Tensor, logits: Tensor, best: Tensor, settings: _Settings) -> Tensor:
    """The probabilities of logits `values [N, n]`, which are some of `logits [N, V]`."""
    # measured from the best logit, so that a tiny temperature underflows to zero instead of overflowing
    weight = torch.exp((values - best) / settings.temperature)
    if fused.can_reduce(logits):
        return weight / fused.softmax_mass(logits, best[:, 0], settings.temperature[:, 0])[:, None]
    return weight / torch.exp((logits - best) / settings.temperature).sum(-1, keepdim=True)


def _choose(p: Tensor, settings: _Settings, part: bool = False) -> tuple[Tensor, Tensor]:
    """Where in the order the choice falls, `[N, 1]`, for probabilities `p [N, n]` of all tokens, best first.

    With `part`, `p` is a prefix of the order, and the second result says for which rows that was enough: those whose
    filters keep nothing beyond it, and those without filters whose noise lies within it.
    """
    n = p.shape[-1]
    within = settings.top_k <= n
    place = torch.arange(n, device=p.device)
    if settings.any_k:
        p = torch.where(place < settings.top_k, p, 0.0)
    if settings.any_p:
        mass = p.cumsum(-1)
        whole = torch.where(within, mass[:, -1:], 1.0) if part else mass[:, -1:]
        bound = settings.top_p * whole
        within = within | (mass[:, -1:] >= bound)
        p = torch.where(mass - p < bound, p, 0.0)
    if settings.any_min:
        floor = settings.min_p * p[:, :1]
        within = within | (p[:, -1:] < floor)
        p = torch.where(p >= floor, p, 0.0)
    if settings.any_typical:
        p = torch.where(settings.typical, _typical(p, settings.typical_p), p)
        within = within & ~settings.typical
    mass = p.cumsum(-1)
    whole = torch.where(within, mass[:, -1:], 1.0) if part else mass[:, -1:]
    index = (mass <= settings.noise * whole).sum(-1, keepdim=True)
    # rounding at the end of a long sum must not reach what was filtered out
    last = torch.where(p > 0, place, 0).amax(-1, keepdim=True)
    decided = within | (~settings.filtered & (index < n))
    return torch.minimum(index, last), decided


def _typical(p: Tensor, typical_p: Tensor) -> Tensor:
    """Keep the tokens whose surprise is nearest to the expected one, until they hold `typical_p` of the mass."""
    share = p / p.sum(-1, keepdim=True)
    alive = share > 0
    surprise = torch.where(alive, -torch.log(torch.where(alive, share, 1.0)), 0.0)
    entropy = (share * surprise).sum(-1, keepdim=True)
    distance = torch.where(alive, (surprise - entropy).abs(), torch.inf)
    ranked, order = torch.sort(distance, dim=-1, stable=True)
    mass = share.gather(-1, order).cumsum(-1)
    last = (mass < typical_p).sum(-1, keepdim=True).clamp_max(p.shape[-1] - 1)
    return torch.where(distance <= ranked.gather(-1, last), p, 0.0)


def _add_logprobs(drawn: TorchSamples, logits: Tensor, most: int) -> None:
    rows = torch.tensor(drawn.logprob_rows, device=logits.device)
    logits, ids = logits.index_select(0, rows).float(), drawn.ids.index_select(0, rows).long()
    logprobs = torch.log_softmax(logits, -1)
    drawn.chosen = logprobs.gather(-1, ids[:, None])[:, 0]
    if most:
        order = None
        if _prefix_pays(logits) and most < PREFIX:
            _, order, sure = _prefix(logits, PREFIX)
            order = order if bool((sure >= most).all()) else None
        if order is None:
            _, order = _in_order(logits)
        drawn.top_ids = order[:, :most]
        drawn.top = logprobs.gather(-1, drawn.top_ids)
