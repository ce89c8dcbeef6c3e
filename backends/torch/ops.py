"""The operations of text models on torch: norms, rotary positions, activations, shapes, attention without a cache.

Independent of sequences, caches and weight formats. Signals (convolutions, spectra) are in `signal.py`; `backend.py` joins
both into one `Ops`. A CPU runs these eagerly, so each is written as few torch calls as possible: at one token a step every
call costs some microseconds whatever it computes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from backends.base import DType, Rope, Sampling
from backends.ops import BELOW_ONE, LONG_TEXT, axis_of_frequency
from backends.torch.cuda_graphs import captured
from backends.torch.group import TorchGroup
from backends.torch.kernels import fused, library
from backends.torch.sample import TorchSamples, sample

FEW = 1 << 17  # elements up to which one thread is faster than waking torch's threads, which spin afterwards

DTYPES: dict[str, torch.dtype] = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
MOST_POSITIONS = 1 << 13  # cached positions, 8 MB for 128 dimensions; beyond them a step computes its own
FEWEST_POSITIONS = 256
MOST_PIECES = 16  # of as many later positions, for replies that are further


@dataclass(frozen=True)
class TorchAngles:
    """One forward pass's rotary angles, f32. `sin` carries the sign of each dimension's partner."""

    cos: Tensor  # [T, 1, dims]
    sin: Tensor  # [T, 1, dims]
    dims: int
    pairs: bool


class TorchTextOps:
    """Implements `backends.ops.Ops` except its signal operations."""

    def __init__(self, device: torch.device, dtype: DType) -> None:
        self.device = device
        self.dtype: DType = dtype
        self.group: TorchGroup | None = None  # the ranks of tensor parallelism
        self._frequencies: dict[Rope, tuple[Tensor, Tensor | None]] = {}
        self._long: dict[Rope, Tensor] = {}
        self._fused = device.type == "cpu" and library.available()

    def _small(self, x: Tensor) -> bool:
        """Whether to use the single-threaded CPU kernels, which are fastest for a few tokens. Long prompts use torch."""
        return self._fused and 0 < x.numel() <= FEW

    # ---------------------------------------------------------------------------------------------------- positions

    def angles(self, pos: Tensor, rope: Rope) -> TorchAngles:
        inv, owner = self._rope_tables(rope)
        if pos.ndim == 2 and owner is None:
            pos = pos[0]
        place = pos.to(torch.float32)
        if rope.long is not None:
            far = (pos if pos.ndim == 1 else pos[0]) >= LONG_TEXT
            place = torch.where(far, pos - LONG_TEXT, pos).to(torch.float32)
            inv = torch.where(far[:, None], self._long_table(rope), inv)
        if rope.dynamic is not None:
            inv = _stretched(place if place.ndim == 1 else place[0], rope)
        if place.ndim == 2:
            theta = place.index_select(0, owner).t() * inv
        else:
            theta = place[:, None] * inv
        cos, sin = theta.cos(), theta.sin()
        if rope.scale != 1.0:
            cos, sin = cos * rope.scale, sin * rope.scale
        if rope.pairs:
            cos = torch.stack((cos, cos), -1).flatten(-2)
            sin = torch.stack((-sin, sin), -1).flatten(-2)
        else:
            cos, sin = torch.cat((cos, cos), -1), torch.cat((-sin, sin), -1)
        return TorchAngles(cos[:, None], sin[:, None], rope.dims, rope.pairs)

    def _rope_tables(self, rope: Rope) -> tuple[Tensor, Tensor | None]:
        tables = self._frequencies.get(rope)
        if tables is None:
            owner = None if rope.section is None else torch.tensor(axis_of_frequency(rope), device=self.device)
            tables = torch.tensor(rope.inv, dtype=torch.float32, device=self.device), owner
            self._frequencies[rope] = tables
        return tables

    def _long_table(self, rope: Rope) -> Tensor:
        assert rope.long is not None
        if rope not in self._long:
            self._long[rope] = torch.tensor(rope.long[1], dtype=torch.float32, device=self.device)
        return self._long[rope]

    def rope(self, x: Tensor, angles: TorchAngles) -> Tensor:
        return _rotate(x.float(), angles).to(x.dtype)

    def qkv(
        self,
        x: Tensor,
        heads: int,
        kv_heads: int,
        dim: int,
        angles: TorchAngles | None,
        q_norm: Tensor | None = None,
        k_norm: Tensor | None = None,
        eps: float = 1e-6,
        norm_after_rope: bool = False,
    ) -> tuple[Tensor, Tensor, Tensor]:
        rotated = heads + kv_heads
        if x.dtype == torch.float32 and self._small(x) and q_norm is None and k_norm is None and angles is not None:
            shape = fused.HeadsParams(heads, kv_heads, dim, None, None, eps, angles.dims, angles.pairs, norm_after_rope)
            made = fused.heads(x, shape, angles.cos.contiguous(), angles.sin.contiguous())
            made = made.view(len(x), heads + 2 * kv_heads, dim)
            return made[:, :heads], made[:, heads:rotated], made[:, rotated:]
        every = x.reshape(x.shape[0], heads + 2 * kv_heads, dim)
        qk = every[:, :rotated].float()
        if angles is not None and norm_after_rope:
            qk = _rotate(qk, angles)
        if q_norm is not None or k_norm is not None:
            qk = _norm_heads(qk, heads, q_norm, k_norm, eps)
        if angles is not None and not norm_after_rope:
            qk = _rotate(qk, angles)
        qk = qk.to(x.dtype)
        return qk[:, :heads], qk[:, heads:], every[:, rotated:]

    # -------------------------------------------------------------------------------------------------------- norms

    def rms_norm(self, x: Tensor, w: Tensor | None, eps: float) -> Tensor:
        if w is not None and self._small(x):  # torch takes seven calls for it
            return fused.rms_norm(x, w, eps).to(x.dtype)
        if x.dtype == torch.float32:
            return F.rms_norm(x, x.shape[-1:], w, eps)
        return F.rms_norm(x.float(), x.shape[-1:], None if w is None else w.float(), eps).to(x.dtype)

    def add_rms_norm(self, x: Tensor, residual: Tensor, w: Tensor, eps: float) -> tuple[Tensor, Tensor]:
        if x.dtype == torch.float32 and self._small(x):
            return fused.add_rms_norm(x, residual, w, eps)
        s = x + residual
        return s, self.rms_norm(s, w, eps)

    def layer_norm(self, x: Tensor, w: Tensor | None, b: Tensor | None, eps: float) -> Tensor:
        if w is not None and b is not None and x.dtype == torch.float32 and self._small(x):
            return fused.layer_norm(x, w, b, eps)
        return F.layer_norm(x, x.shape[-1:], w, b, eps)

    def group_norm(self, x: Tensor, groups: int, w: Tensor, b: Tensor, eps: float) -> Tensor:
        if groups == x.shape[2] and x.dtype == torch.float32 and x.shape[1]:
            # a group of one channel each: torch walks over such an array a channel at a time
            centred = x - x.mean(1, keepdim=True)
            scale = w * torch.rsqrt((centred * centred).mean(1, keepdim=True) + eps)
            return torch.addcmul(b, centred, scale, out=centred)
        return F.group_norm(x.transpose(1, 2), groups, w, b, eps).transpose(1, 2)

    def l2norm(self, x: Tensor, eps: float = 1e-6) -> Tensor:
        wide = x.float()
        return (wide * torch.rsqrt(wide.square().sum(-1, keepdim=True).add_(eps))).to(x.dtype)

    # ------------------------------------------------------------------------------------------------- element by element

    def swiglu(self, x: Tensor, gate_last: bool = False) -> Tensor:
        if x.dtype == torch.float32 and self._small(x) and not gate_last:
            return fused.swiglu(x)
        gate, up = reversed(x.chunk(2, -1)) if gate_last else x.chunk(2, -1)
        return F.silu(gate).mul_(up)

    def geglu(self, x: Tensor) -> Tensor:
        gate, up = x.chunk(2, -1)
        return (F.gelu(gate.float(), approximate="tanh") * up.float()).to(x.dtype)

    def silu(self, x: Tensor) -> Tensor:
        return F.silu(x)

    def gelu(self, x: Tensor) -> Tensor:
        return fused.gelu(x) if self._fused and x.dtype == torch.float32 and x.numel() else F.gelu(x)

    def gelu_tanh(self, x: Tensor) -> Tensor:
        return F.gelu(x, approximate="tanh")

    def relu(self, x: Tensor) -> Tensor:
        return F.relu(x)

    def leaky_relu(self, x: Tensor, slope: float) -> Tensor:
        return F.leaky_relu(x, slope)

    def clamp(self, x: Tensor, low: float | None, high: float | None) -> Tensor:
        return x.clamp(low, high)

    def sigmoid(self, x: Tensor) -> Tensor:
        return torch.sigmoid(x)

    def softplus(self, x: Tensor) -> Tensor:
        return F.softplus(x)

    def tanh(self, x: Tensor) -> Tensor:
        return torch.tanh(x)

    def exp(self, x: Tensor) -> Tensor:
        return torch.exp(x)

    def sqrt(self, x: Tensor) -> Tensor:
        return torch.sqrt(x)

    def sin(self, x: Tensor) -> Tensor:
        return torch.sin(x)

    def softmax(self, x: Tensor) -> Tensor:
        return torch.softmax(x, -1, dtype=torch.float32).to(x.dtype)

    def likeliest(self, logits: Tensor) -> tuple[Tensor, Tensor]:
        if self._fused and logits.dtype == torch.float32 and logits.numel():
            best, ids = fused.argmax(logits)
            return 1.0 / fused.softmax_mass(logits, best, torch.ones_like(best)), ids.to(torch.int32)
        wide = logits.float()
        best, ids = wide.max(-1)
        return torch.exp(best - wide.logsumexp(-1)).to(logits.dtype), ids.to(torch.int32)

    def topk(self, x: Tensor, k: int) -> tuple[Tensor, Tensor]:
        if k == 1:
            values, ids = x.max(-1, keepdim=True)  # the first of equals
            return values, ids.to(torch.int32)
        # torch.topk breaks ties as it likes; a stable sort of the few experts or codes this is used for costs as much
        values, ids = torch.sort(x, dim=-1, descending=True, stable=True)
        return values[..., :k], ids[..., :k].to(torch.int32)

    def pick(self, x: Tensor, ids: Tensor) -> Tensor:
        return x.gather(-1, ids.long())

    # -------------------------------------------------------------------------------------------------------- shape

    def cat(self, xs: Sequence[Tensor], axis: int) -> Tensor:
        return torch.cat(tuple(xs), axis)

    def stack(self, xs: Sequence[Tensor], axis: int) -> Tensor:
        return torch.stack(tuple(xs), axis)

    def split(self, x: Tensor, sizes: Sequence[int], axis: int) -> list[Tensor]:
        return list(torch.split(x, list(sizes), axis))

    def take(self, x: Tensor, ids: Tensor, axis: int) -> Tensor:
        axis %= x.ndim
        if ids.ndim == 1:
            return x.index_select(axis, ids)
        return x.index_select(axis, ids.reshape(-1)).reshape(*x.shape[:axis], *ids.shape, *x.shape[axis + 1 :])

    def where(self, c: Tensor, a: Tensor, b: Tensor) -> Tensor:
        return torch.where(c, a, b)

    def pad(self, x: Tensor, widths: Sequence[tuple[int, int]], value: float = 0.0) -> Tensor:
        flat = [side for pair in reversed(widths) for side in pair]  # torch counts from the last axis
        return F.pad(x, flat, value=value)

    def permute(self, x: Tensor, axes: Sequence[int]) -> Tensor:
        return x.permute(*axes)

    def arange(self, n: int) -> Tensor:
        return torch.arange(n, dtype=torch.int32, device=self.device)

    def cast(self, x: Tensor, dtype: DType) -> Tensor:
        return x.to(DTYPES[dtype])

    def sum(self, x: Tensor, axis: int) -> Tensor:
        return x.sum(axis)

    # ---------------------------------------------------------------------------------------- attention without a cache

    def sdpa(
        self, q: Tensor, k: Tensor, v: Tensor, scale: float, *, causal: bool = False, mask: Tensor | None = None
    ) -> Tensor:
        length, total = q.shape[1], k.shape[1]
        if causal and (mask is not None or length != total):
            # torch aligns `is_causal` to the upper left; the queries are the last rows here
            later = torch.ones(length, total, dtype=torch.bool, device=q.device).triu(total - length + 1)
            hidden = torch.zeros(length, total, dtype=q.dtype, device=q.device).masked_fill_(later, -torch.inf)
            mask, causal = hidden if mask is None else mask.to(q.dtype) + hidden, False
        width = v.shape[3]
        if (
            width < q.shape[3] and v.device.type == "cpu"
        ):  # its kernel wants one width, and is many times faster than none
            v = F.pad(v, (0, q.shape[3] - width))
        out = F.scaled_dot_product_attention(
            q.transpose(1, 2),
            k.transpose(1, 2),
            v.transpose(1, 2),
            attn_mask=None if mask is None else mask.to(q.dtype),
            is_causal=causal,
            scale=scale,
            enable_gqa=q.shape[2] != k.shape[2],
        )
        return out[..., :width].transpose(1, 2)

    def attend_window(self, q: Tensor, k: Tensor, v: Tensor, window: int, scale: float) -> Tensor:
        if self._fused and q.dtype == torch.float32 and min(q.shape[2], v.shape[2]) >= fused.LEAST and q.shape[0]:
            return fused.attend_window(q, k, v, window, scale)
        seen = k.shape[0] - q.shape[0]
        distance = np.arange(q.shape[0])[:, None] + seen - np.arange(k.shape[0])
        hidden = np.where((distance >= 0) & (distance < window), 0.0, -np.inf).astype(np.float32)
        return self.sdpa(q[None], k[None], v[None], scale, mask=self.array(hidden[None, None]))[0]

    def attend_varlen(self, q: Tensor, k: Tensor, v: Tensor, lens: Sequence[int], scale: float) -> Tensor:
        if not q.shape[0]:
            return v.new_empty(0, q.shape[1], v.shape[2])
        if len(set(lens)) == 1:  # images of one size are one batch
            a, b, c = (x.reshape(len(lens), lens[0], *x.shape[1:]) for x in (q, k, v))
            return self.sdpa(a, b, c, scale).flatten(0, 1)
        runs = zip(*(x.split(list(lens)) for x in (q, k, v)))
        return torch.cat([self.sdpa(a[None], b[None], c[None], scale)[0] for a, b, c in runs])

    # --------------------------------------------------------------------------------------------------------- the rest

    def sample(self, logits: Tensor, params: Sequence[Sampling]) -> tuple[Tensor, TorchSamples]:
        drawn = sample(logits, params)
        return drawn.ids, drawn

    def choose(
        self, logits: Tensor, noise: Tensor, random: Tensor, temperature: float, top_k: int, top_p: float
    ) -> Tensor:
        if fused.can_reduce(logits):
            return fused.draw(logits, noise.float(), random, temperature, top_k, top_p)
        values, ids = self.topk(logits, top_k)
        first = ids[:, 0].to(torch.int32)
        if temperature <= 0 or not logits.shape[0]:
            return first
        p = torch.softmax((values - values[:, :1]) / temperature, -1)
        p = torch.where(p.cumsum(-1) - p < top_p, p, 0.0)
        mass = p.cumsum(-1)
        at = (mass <= noise[:, None] * mass[:, -1:] * BELOW_ONE).sum(-1, keepdim=True)
        return torch.where(random != 0, ids.gather(1, at)[:, 0].to(torch.int32), first)

    def all_reduce(self, x: Tensor) -> Tensor:
        return x if self.group is None else self.group.all_reduce(x)

    def all_gather(self, x: Tensor, sizes: Sequence[int]) -> Tensor:
        return x if self.group is None else self.group.all_gather(x, sizes)

    def move(self, x: Tensor) -> Tensor:
        return x.to(device=self.device, dtype=DTYPES[self.dtype])

    def fused(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        return fn

    def compile(self, fn: Callable[..., Any], key: str) -> Callable[..., Any]:
        return captured(fn) if self.device.type == "cuda" else fn

    def array(self, x: np.ndarray | Sequence[Any], dtype: DType | None = None) -> Tensor:
        host = np.asarray(x)
        if host.dtype == np.float64:
            host = host.astype(np.float32)
        elif host.dtype == np.int64:
            host = host.astype(np.int32)
        # torch.tensor copies: the caller may change or drop its array while the device still reads
        out = torch.tensor(host, device=self.device)
        return out if dtype is None else out.to(DTYPES[dtype])

    def numpy(self, x: Tensor) -> np.ndarray:
        host = x.detach().cpu()
        return (host.float() if host.dtype in (torch.float16, torch.bfloat16) else host).numpy()


def _stretched(pos: Tensor, rope: Rope) -> Tensor:
    """Inverse frequencies `[T, dims / 2]` under dynamic NTK: the base grows with each token's own position."""
    base, factor, trained = rope.dynamic or (1.0, 1.0, 1)
    length = (pos + 1).clamp_min(trained)
    grown = base * (factor * length / trained - (factor - 1)) ** (rope.dims / (rope.dims - 2))
    power = torch.arange(0, rope.dims, 2, dtype=torch.float32, device=pos.device) / rope.dims
    return grown[:, None] ** -power


def _rotate(x: Tensor, angles: TorchAngles) -> Tensor:
    """Rotate f32 `x [T, H, D]`. Does not modify its inputs."""
    dims = angles.dims
    head = x if dims == x.shape[-1] else x[..., :dims]
    if angles.pairs:
        partner = head.unflatten(-1, (dims // 2, 2)).flip(-1).flatten(-2)
    else:
        partner = torch.cat((head[..., dims // 2 :], head[..., : dims // 2]), -1)
    out = (head * angles.cos).addcmul_(partner, angles.sin)
    return out if dims == x.shape[-1] else torch.cat((out, x[..., dims:]), -1)


def _norm_heads(qk: Tensor, heads: int, q_norm: Tensor | None, k_norm: Tensor | None, eps: float) -> Tensor:
    """RMS-normalize each head; queries and keys in one pass, as both almost always are."""
    width = qk.shape[-1:]
    if q_norm is None or k_norm is None:
        q, k = qk[:, :heads], qk[:, heads:]
        q = q if q_norm is None else F.rms_norm(q, width, q_norm.float(), eps)
        k = k if k_norm is None else F.rms_norm(k, width, k_norm.float(), eps)
        return torch.cat((q, k), 1)
    out = F.rms_norm(qk, width, None, eps)
    out[:, :heads].mul_(q_norm)
    out[:, heads:].mul_(k_norm)
    return out


class PositionRows(NamedTuple):
    """A row for each of the positions from `first` on: of angles, or twice the same of a table of other numbers."""

    first: int
    cos: Tensor
    sin: Tensor


class RotaryCache:
    """The rotary angles of a rope's first positions, computed once and looked up by each step."""

    def __init__(self, ops: TorchTextOps, rope: Rope) -> None:
        self.ops, self.rope = ops, rope
        self._cos = self._sin = torch.empty(0)
        self._pieces: dict[int, PositionRows] = {}  # of later positions, by their first

    def around(self, position: int) -> PositionRows | None:
        """A table in which this position has a row; None where angles depend on more than the position."""
        if self.rope.dynamic is not None:
            return None
        if position < MOST_POSITIONS:
            self._cover(position)
            return PositionRows(0, self._cos, self._sin)
        first = position - position % FEWEST_POSITIONS
        if first not in self._pieces:
            if len(self._pieces) == MOST_PIECES:
                del self._pieces[next(iter(self._pieces))]
            self._pieces[first] = PositionRows(first, *self._angles(torch.arange(first, first + FEWEST_POSITIONS)))
        return self._pieces[first]

    def _cover(self, last: int) -> None:
        if last >= len(self._cos):
            self._cos, self._sin = self._angles(torch.arange(max(FEWEST_POSITIONS, 1 << last.bit_length())))

    def _angles(self, positions: Tensor) -> tuple[Tensor, Tensor]:
        found: TorchAngles = self.ops.angles(positions, self.rope)
        return found.cos.contiguous(), found.sin.contiguous()

    def at(self, pos: np.ndarray) -> tuple[Tensor, Tensor]:
        """cos and sin, without gaps, of positions `[T]`, or `[3, T]` where they have several axes."""
        if pos.ndim == 1 and len(pos) == 1 and 0 <= (at := int(pos[0])) < len(self._cos):  # one reply's next token
            return self._cos[at : at + 1], self._sin[at : at + 1]
        if (
            pos.ndim != 1
            or self.rope.dynamic is not None
            or not 0 <= int(pos.min()) <= (last := int(pos.max())) < MOST_POSITIONS
        ):
            return self._angles(torch.from_numpy(pos))
        self._cover(last)
        first = int(pos[0])
        if last - first + 1 == len(pos) and bool((np.diff(pos) == 1).all()):
            return self._cos[first : last + 1], self._sin[first : last + 1]
        rows = torch.from_numpy(pos)
        return self._cos.index_select(0, rows), self._sin.index_select(0, rows)
