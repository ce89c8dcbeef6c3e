"""The gated delta rule: a matrix per head that forgets, and corrects what it answers to a key.

    S = S * exp(g);  d = (v - k @ S) * beta;  S = S + k (outer) d;  out = q @ S

`step` advances many sequences by one token each. `scan` takes one sequence by many tokens: within a chunk the
corrections `d` depend on each other linearly, so a triangular system gives all of them at once, and only the chunks
follow one another. All in f32. Key heads are shared by runs of value heads.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

CHUNK = 64


def step(new: Tensor, state: Tensor, q: Tensor, k: Tensor, v: Tensor, g: Tensor, beta: Tensor) -> Tensor:
    """`state [B, Hv, Dk, Dv]`; `q`, `k` `[B, Hk, Dk]`, `v [B, Hv, Dv]`, `g`, `beta` `[B, Hv]`. The next state goes to
    `new`, which may be `state` itself."""
    shared = v.shape[1] // q.shape[1]
    q, k = (x.float().repeat_interleave(shared, 1) if shared > 1 else x.float() for x in (q, k))
    decay = g.float().exp()[..., None]
    # both answers come from one pass over the old state, which is much larger than all else
    from_k, from_q = (torch.stack((k, q), 2) @ state).mul_(decay[..., None]).unbind(2)
    d = (v.float() - from_k) * beta.float()[..., None]
    torch.mul(state, decay[..., None], out=new).addcmul_(k[..., None], d[:, :, None])
    return from_q + (q * k).sum(-1, keepdim=True) * d


def scan(state: Tensor, q: Tensor, k: Tensor, v: Tensor, g: Tensor, beta: Tensor) -> Tensor:
    """`state [Hv, Dk, Dv]` is written to; the rest as for `step`, with T tokens instead of B. -> `[T, Hv, Dv]` f32"""
    tokens, heads = v.shape[:2]
    size = min(CHUNK, tokens)
    count = -(-tokens // size)
    missing = count * size - tokens

    def chunked(x: Tensor) -> Tensor:
        """`[T, H, ...]` -> `[Hv, chunks, size, ...]`; padding tokens write nothing and forget nothing."""
        x = x.float()
        if missing:
            x = F.pad(x, (0, 0) * (x.ndim - 1) + (0, missing))
        x = x.unflatten(0, (count, size)).movedim(2, 0)
        return x.repeat_interleave(heads // x.shape[0], 0) if x.shape[0] < heads else x

    q, k, v, g, beta = (chunked(x) for x in (q, k, v, g, beta))
    past = g.cumsum(-1)  # log decay since the chunk began
    later = torch.ones(size, size, dtype=torch.bool, device=v.device).triu(1)
    between = (past[..., :, None] - past[..., None, :]).masked_fill_(later, -torch.inf).exp_()
    strength = beta[..., None]
    system = (k @ k.mT).mul_(between).mul_(strength)  # its upper triangle and diagonal are not read
    told = torch.cat((v * strength, k * (strength * past.exp()[..., None])), -1)
    solved = torch.linalg.solve_triangular(system, told, upper=False, unitriangular=True)
    wanted, through_state = solved.split((v.shape[-1], k.shape[-1]), -1)
    seen = (q @ k.mT).mul_(between)
    q = q * past.exp()[..., None]
    whole = past[..., -1:]
    k = k * (whole - past).exp()[..., None]
    out = torch.empty_like(v)
    for i in range(count):
        d = wanted[:, i] - through_state[:, i] @ state
        out[:, i] = q[:, i] @ state + seen[:, i] @ d
        state.mul_(whole[:, i, :, None].exp()).add_(k[:, i].mT @ d)
    return out.flatten(1, 2).transpose(0, 1)[:tokens]
