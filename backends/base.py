"""The seam between what Grus knows and how arrays are computed.

A model is written once, as a plain class over the operations declared here; a backend implements them with its own
best kernels. The operations are *inference sized* (a linear that hides its quantization, attention over a cache, one
gated delta rule), not array sized: that is what keeps the abstraction free.

What may pass this seam: ints, strings, bytes and numpy arrays in both directions, and opaque backend arrays that only
ever travel back to the backend that made them. Nothing in this file imports an array library but numpy.

    engine  ->  Seg, Sampling           what to run next, per sequence, in any order
    Runner  ->  Step                    one packed row of T tokens, as the model sees it
    Model   ->  Cache                   all that must be remembered between steps goes through the cache
    Runner  ->  Pending -> Token        what came out, keyed by slot
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np

Array: TypeAlias = Any  # an array of whichever backend is in use; opaque outside it
DType = Literal["f32", "f16", "bf16"]


# ---------------------------------------------------------------------------------------------------------- weights


@dataclass(frozen=True)
class Raw:
    """Bytes of one tensor inside a mapped file. Nothing is read until a backend asks for it."""

    name: str
    path: str
    offset: int
    nbytes: int
    dtype: str  # as safetensors spells it: F32, F16, BF16, I8, U8, U32, I64, ...
    shape: tuple[int, ...]
    buffer: memoryview  # read-only view of exactly these bytes; keeps the mapping alive


@dataclass(frozen=True)
class Dense:
    """A plain matrix `[out, in]` (or `[experts, out, in]`).

    With `quant` (Q8_0, Q4_0) it is to be kept in GGUF blocks of that type, which a backend that multiplies blocks makes
    itself while it loads.
    """

    data: Raw
    quant: str | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        return self.data.shape


@dataclass(frozen=True)
class Affine:
    """MLX's layout: `w = q * scale + bias` in groups along the input, `q` packed little-endian into uint32."""

    packed: Raw
    scales: Raw
    biases: Raw
    bits: int
    group: int

    @property
    def shape(self) -> tuple[int, ...]:
        return (*self.packed.shape[:-1], self.packed.shape[-1] * 32 // self.bits)


@dataclass(frozen=True)
class Blocks:
    """GGUF's layout: rows of fixed-size blocks of type `type` (Q8_0, Q4_K, ...); `shape` counts weights, not bytes."""

    data: Raw
    type: str
    shape: tuple[int, ...]


Weight: TypeAlias = Dense | Affine | Blocks


class Linear(Protocol):
    """A matrix that hides how it is stored. Results have the backend's compute dtype."""

    @property
    def shape(self) -> tuple[int, ...]:
        """(out, in), or (experts, out, in)"""

    def __call__(self, x: Array) -> Array:
        """`x @ w.T + bias` over the last axis."""

    def rows(self, ids: Array) -> Array:
        """Rows of the matrix, `[*ids.shape, in]`: an embedding lookup that dequantizes only what it reads."""

    def gather(self, x: Array, experts: Array) -> Array:
        """A mixture of experts: `x [T, in]` or `[T, k, in]`, `experts [T, k]` -> `[T, k, out]`."""


# ------------------------------------------------------------------------------------------------- what is remembered


@dataclass(frozen=True)
class KVSpec:
    """A softmax attention layer's memory: keys and values of every token (or of the last `window`)."""

    heads: int
    dim: int
    v_dim: int | None = None  # None: as `dim`
    window: int | None = None


@dataclass(frozen=True)
class StateSpec:
    """A recurrent layer's memory: a fixed number of bytes per sequence, whatever its length.

    The last `kernel - 1` inputs of a causal depthwise convolution over `channels`, and a delta rule's matrix
    `[heads, key_dim, value_dim]`, always kept in f32.
    """

    channels: int
    kernel: int
    heads: int
    key_dim: int
    value_dim: int


@dataclass(frozen=True)
class CrossSpec:
    """Encoder keys and values of a cross attention layer, written once a sequence by `KV.put`."""

    heads: int
    dim: int


MemorySpec: TypeAlias = KVSpec | StateSpec | CrossSpec


@dataclass(eq=False)
class Slot:
    """A sequence's place in a KV store. It knows its own length; where its rows lie is the store's secret."""

    id: int
    length: int = 0  # tokens whose memory is written
    capacity: int = 0  # tokens that fit without `KV.grow`
    place: Any = field(default=None, repr=False)  # the store's own bookkeeping
    open: bool = True


@dataclass(frozen=True)
class Snapshot:
    """A sequence's memory at one length, kept outside its slot.

    `rows` is None when only the recurrent states were taken: such a snapshot can rewind the slot it came from (whose
    rows up to `length` are still there) but cannot fill another one.
    """

    length: int
    nbytes: int
    rows: Any = field(repr=False, default=None)
    states: Any = field(repr=False, default=None)


class KV(Protocol):
    """Memory of all sequences of one model, under one budget in bytes."""

    @property
    def specs(self) -> Sequence[MemorySpec]: ...

    budget: int  # bytes that may be used; whoever shares the device out among models sets it anew

    @property
    def used(self) -> int:
        """Bytes in use by open slots (capacity, not length)."""

    def bytes_for(self, n: int) -> int:
        """Bytes that a slot with room for `n` tokens takes."""

    def open(self, n: int) -> Slot | None:
        """A slot with room for `n` tokens, or None when the budget does not allow it."""

    def grow(self, slot: Slot, n: int) -> bool:
        """Room for `n` tokens in all; False (and nothing changed) when the budget does not allow it."""

    def close(self, slot: Slot) -> None: ...

    def snapshot(self, slot: Slot, *, rows: bool = True) -> Snapshot:
        """A copy of the slot's memory at its present length (`rows=False`: of its recurrent states only)."""

    def restore(self, slot: Slot, snapshot: Snapshot) -> None:
        """Make the slot what it was at the snapshot: fill a fresh slot, or rewind the one it was taken from."""

    def copy(self, source: Slot, target: Slot, length: int) -> None:
        """Copy the first `length` rows of `source` into the fresh slot `target`. Only without recurrent memory."""

    def truncate(self, slot: Slot, length: int) -> None:
        """Forget all rows from `length` on. Only without recurrent memory (use `restore` there)."""

    def mark(self, slot: Slot) -> None:
        """Remember this point (recurrent states included) so that `rollback` can return to it."""

    def rollback(self, slot: Slot, keep: int = 0) -> int:
        """Undo all tokens since `mark` but the first `keep`. Returns how many were really kept: `keep` for a model
        that only attends, 0 for one with recurrent memory (whose caller runs the kept tokens again)."""

    def put(self, slot: Slot, layer: int, k: Array, v: Array) -> None:
        """Encoder keys and values `[S, H, D]` of a `CrossSpec` layer."""

    def export(self, snapshot: Snapshot) -> list[np.ndarray]:
        """The snapshot as host arrays, byte for byte (dtypes numpy lacks come as uint8/uint16 views)."""

    def adopt(self, length: int, arrays: Sequence[np.ndarray]) -> Snapshot:
        """The inverse of `export`."""


# ------------------------------------------------------------------------------------------------------- one step


@dataclass
class Sampling:
    """How to choose the next token of one sequence: plain numbers, already resolved for this very step."""

    temperature: float = 0.0  # 0: the most likely token
    top_k: int = 0  # 0: off
    top_p: float = 1.0
    min_p: float = 0.0
    typical_p: float = 1.0
    noise: float = 0.5  # uniform in [0, 1): the same noise gives the same token on every backend
    repetition: float = 1.0
    presence: float = 0.0
    frequency: float = 0.0
    seen: Mapping[int, int] | None = None  # token -> count among those that `presence` and `frequency` look at
    repeated: Sequence[int] | None = None  # tokens that `repetition` looks at (prompt and output, in its window)
    bias: Mapping[int, float] | None = None  # added to logits; -inf bans
    mask: np.ndarray | None = None  # bool [vocabulary]: False is never chosen
    logprobs: int | None = None  # None: none; n: the chosen token's and the n most likely ones'


@dataclass
class Seg:
    """The new tokens of one sequence in this step."""

    slot: Slot
    ids: Sequence[int] | None = None  # None: the one token sampled last for this slot (it may not be on the host yet)
    embeds: Array | np.ndarray | None = None  # [n, D] instead of ids (image features, talker frames)
    codes: np.ndarray | None = None  # [n, groups] instead of ids: frames that this model made before (`Model.reframe`)
    add: Array | np.ndarray | None = None  # [n, D] added to the inputs (a talker's text track)
    pos: np.ndarray | None = None  # [n] or [3, n]; default slot.length .. slot.length + n
    sample: Sampling | None = None  # None: an unfinished prompt chunk
    samples: Sequence[Sampling] | None = None  # speculation: one per draft token, and `sample` after the last
    draft: int = 0  # the last `draft` of `ids` are guesses: accept the longest prefix that sampling agrees with
    want: range | None = None  # rows of this seg whose logits come back to the host; default none
    hidden: bool = False  # the hidden states of all its rows come back to the host

    def __len__(self) -> int:
        if self.ids is not None:
            return len(self.ids)
        given = self.embeds if self.embeds is not None else self.codes
        return 1 if given is None else int(given.shape[0])

    @property
    def held(self) -> bool:
        """Is its one input what was sampled last, which only the device may know yet?"""
        return self.ids is None and self.embeds is None and self.codes is None


@dataclass
class Token:
    """What one sequence got from a step."""

    ids: list[int]  # empty for an unfinished prompt chunk; several when a draft was accepted
    logprobs: list[float] | None = None  # of `ids`, before temperature, after penalties, bias and mask
    top: list[list[tuple[int, float]]] | None = None  # per id: the most likely tokens, best first
    logits: np.ndarray | None = None  # [len(want), vocabulary] f32
    hidden: np.ndarray | None = None  # [len(seg), D] f32, after the last norm
    codes: np.ndarray | None = None  # [groups] from `Model.frame`
    accepted: int = 0  # draft tokens accepted
    nan: bool = (
        False  # the logits held NaN or only -inf (nothing was sampled), or `hidden` held a value that is no number
    )


class Pending(Protocol):
    """A step that has been issued. On an asynchronous device the work goes on until `read`."""

    def read(self) -> dict[Slot, Token]: ...


Profiler: TypeAlias = Callable[[str], AbstractContextManager[None]]


def unprofiled(name: str) -> AbstractContextManager[None]:
    """What a runner's `span` is while nobody looks."""
    return _NO_SPAN


_NO_SPAN: AbstractContextManager[None] = nullcontext()


class Runner(Protocol):
    """One model on one device with one KV store. Called from one thread only."""

    span: Profiler  # put around what a profile should name inside a step ("sample"); whoever profiles sets it

    def run(self, segs: Sequence[Seg]) -> Pending:
        """Issue one step. Grows no slot: every slot must have room for its tokens. Slots' lengths advance at once; when
        this raises, no slot has changed.

        A segment with a draft is verified before `read` returns: its slot is then as long as if only the accepted
        guesses had been given, recurrent states included (the runner rolls back and runs the accepted ones again)."""

    def warm(self) -> None:
        """Run every captured or compiled path once, so that the first request pays nothing extra."""


@dataclass
class Step:
    """What the model sees: T tokens in one packed row; only the cache knows where one sequence ends."""

    x: Array  # [T, D] inputs, already embedded
    pos: Array  # [T], or [3, T] for multi-axis rope
    cache: Cache


class Cache(Protocol):
    """The model's only way to remember and the only place where sequences are told apart. Bound to one step."""

    def attend(self, layer: int, q: Array, k: Array, v: Array, scale: float) -> Array:
        """Write `k`, `v` `[T, K, D]`; causal attention of `q [T, H, D]` over each token's own sequence -> `[T, H, Dv]`."""

    def cross(self, layer: int, q: Array, scale: float) -> Array:
        """Attention of `q [T, H, D]` over what `KV.put` stored for each sequence."""

    def conv(self, layer: int, x: Array, w: Array, bias: Array | None = None) -> Array:
        """Causal depthwise convolution of `x [T, C]` with `w [C, kernel]` per sequence, carrying its last inputs."""

    def delta(self, layer: int, q: Array, k: Array, v: Array, g: Array, beta: Array) -> Array:
        """Gated delta rule. `q`, `k` `[T, Hk, Dk]` (normalized and scaled by the model), `v [T, Hv, Dv]`, `g [T, Hv]`
        the log decay (f32), `beta [T, Hv]`; value head j uses key head `j // (Hv // Hk)`.

            S = S * exp(g);  S = S + k (outer) (v - k @ S) * beta;  out = q @ S          -> [T, Hv, Dv]
        """


class Brief(Protocol):
    """Layers that are run over short sequences of equal length and remember them only until the next ones begin: what
    happens inside of a step. Made by `Backend.brief`."""

    def begin(self, n: int) -> Callable[[Array], Array]:
        """`n` sequences of nothing. What is returned takes their next tokens `[n * m, D]`, sequence by sequence, and gives
        the hidden states, which are good until the next call."""


class Model(Protocol):
    """An architecture: built from a checkpoint view, holding backend arrays, knowing no scheduler and no backend."""

    @property
    def memory(self) -> Sequence[MemorySpec]:
        """One a layer, in the order of the `layer` argument of Cache."""

    @property
    def vocab(self) -> int: ...

    def embed(self, ids: Array) -> Array:
        """`[T] -> [T, D]`"""

    def __call__(self, step: Step) -> Array:
        """`[T, D]` hidden states after the last norm."""

    def logits(self, hidden: Array) -> Array:
        """`[N, D] -> [N, vocab]`"""

    # Optional: `frame(hidden [N, D], ids [N], params [N]) -> (codes [N, G], embeds [N, D])`. Where a model has it, it runs
    # inside the step after sampling with that same Sampling a row (so a frame's own choices can be made of its noise);
    # `codes` come back in Token and `embeds` is the slot's next input. Such a model also has `reframe(codes [n, G]) ->
    # [n, D]`, which makes those inputs again.
    #
    # Optional: `encode(media) -> Generator`, which turns pictures or sounds into `[tokens, D]` each, in pieces, and for
    # sounds `begin(kv, slot, features)`, which gives a fresh sequence what it will attend to.


# ------------------------------------------------------------------------------------------------------ operations


@dataclass(frozen=True)
class Rope:
    """How positions become angles. `inv` are the inverse frequencies, one a pair of dimensions (len == dims / 2)."""

    dims: int  # the first `dims` of each head are rotated, the rest pass
    inv: tuple[float, ...]
    scale: float = 1.0  # multiplies cos and sin (yarn's attention factor)
    section: tuple[int, int, int] | None = None  # multi-axis: how many frequencies each of t, h, w owns
    interleaved: bool = False  # with section: frequencies alternate t h w t h w ..., else lie in three runs
    pairs: bool = False  # rotate (0, 1), (2, 3), ... instead of (0, d/2), (1, d/2 + 1), ...
    dynamic: tuple[float, float, int] | None = None  # (base, factor, trained length): NTK by each token's position


class Ops(Protocol):
    """Fixed meanings, the same on every backend. `f32 inside`: computed in f32, returned in the input's dtype.

    Arrays also understand `+ - * /`, unary minus, basic slicing, `.reshape`, `.shape`, `.ndim`, `.sum(axis)`-free
    arithmetic with Python numbers and broadcasting. Nothing else of an array library may appear in a model.
    """

    # text
    def angles(self, pos: Array, rope: Rope) -> Any:
        """cos and sin of every token and frequency, f32, made once a forward pass. Opaque."""

    def rope(self, x: Array, angles: Any) -> Array:
        """Rotate `x [T, H, D]`."""

    def qkv(
        self,
        x: Array,
        heads: int,
        kv_heads: int,
        dim: int,
        angles: Any,
        q_norm: Array | None = None,
        k_norm: Array | None = None,
        eps: float = 1e-6,
        norm_after_rope: bool = False,
    ) -> tuple[Array, Array, Array]:
        """Split `x [T, (H + 2K) * D]` into q, k, v `[T, heads, D]`; RMS-normalize q and k per head, rotate them."""

    def rms_norm(self, x: Array, w: Array | None, eps: float) -> Array:
        """f32 inside; `w` None: no scale."""

    def add_rms_norm(self, x: Array, residual: Array, w: Array, eps: float) -> tuple[Array, Array]:
        """`s = x + residual` and `rms_norm(s)`, in this order."""

    def layer_norm(self, x: Array, w: Array | None, b: Array | None, eps: float) -> Array: ...
    def group_norm(self, x: Array, groups: int, w: Array, b: Array, eps: float) -> Array:
        """`x [B, L, C]`: normalized over L and the channels of a group."""

    def swiglu(self, x: Array) -> Array:
        """`x [..., 2F]`, gate first: `silu(gate) * up`."""

    def silu(self, x: Array) -> Array: ...
    def gelu(self, x: Array) -> Array: ...
    def gelu_tanh(self, x: Array) -> Array: ...
    def relu(self, x: Array) -> Array: ...
    def sigmoid(self, x: Array) -> Array: ...
    def softplus(self, x: Array) -> Array: ...
    def tanh(self, x: Array) -> Array: ...
    def exp(self, x: Array) -> Array: ...
    def sqrt(self, x: Array) -> Array: ...
    def sin(self, x: Array) -> Array: ...
    def softmax(self, x: Array) -> Array:
        """Over the last axis, f32 inside."""

    def l2norm(self, x: Array, eps: float = 1e-6) -> Array:
        """`x / sqrt(sum(x * x) + eps)` over the last axis, f32 inside."""

    def topk(self, x: Array, k: int) -> tuple[Array, Array]:
        """The k largest of the last axis, largest first, ties to the lower index; values and int32 indices."""

    def choose(self, logits: Array, noise: Array, random: Array, temperature: float, top_k: int, top_p: float) -> Array:
        """`logits [N, V]` f32 -> ids `[N]`, int32: of the `top_k` largest and, of these, the first that hold `top_p` of the
        mass, the one where the running mass exceeds `noise [N]` of the whole. Where `random [N]` is 0, the largest."""

    # shape
    def cat(self, xs: Sequence[Array], axis: int) -> Array: ...
    def stack(self, xs: Sequence[Array], axis: int) -> Array: ...
    def split(self, x: Array, sizes: Sequence[int], axis: int) -> list[Array]:
        """By sizes, which must add up."""

    def take(self, x: Array, ids: Array, axis: int) -> Array:
        """Whole slices by index; indices must be in range."""

    def where(self, c: Array, a: Array, b: Array) -> Array: ...
    def pad(self, x: Array, widths: Sequence[tuple[int, int]], value: float = 0.0) -> Array: ...
    def permute(self, x: Array, axes: Sequence[int]) -> Array: ...
    def arange(self, n: int) -> Array:
        """int32"""

    def cast(self, x: Array, dtype: DType) -> Array: ...
    def sum(self, x: Array, axis: int) -> Array: ...

    # attention without a cache (encoders)
    def sdpa(
        self, q: Array, k: Array, v: Array, scale: float, *, causal: bool = False, mask: Array | None = None
    ) -> Array:
        """Dense, `q [B, L, H, D]`, `k`, `v` `[B, S, K, D]`; `mask` is added, broadcast to `[B, H, L, S]`."""

    def attend_segs(self, q: Array, k: Array, v: Array, lens: Sequence[int], scale: float) -> Array:
        """Packed and not causal, `[T, H, D]`: each run of `lens` attends only to itself (several images at once)."""

    # signals: arrays [B, L, C] / [B, H, W, C]; weights as checkpoints of torch have them, prepared once by `conv_weight`
    def conv_weight(self, w: Array, transposed: bool = False) -> Array:
        """Bring `[out, in / groups, *kernel]` (transposed: `[in, out / groups, kernel]`) into the backend's layout."""

    def conv1d(
        self,
        x: Array,
        w: Array,
        b: Array | None = None,
        *,
        stride: int = 1,
        padding: int = 0,
        dilation: int = 1,
        groups: int = 1,
    ) -> Array: ...
    def conv_transpose1d(
        self,
        x: Array,
        w: Array,
        b: Array | None = None,
        *,
        stride: int = 1,
        padding: int = 0,
        output_padding: int = 0,
        groups: int = 1,
    ) -> Array: ...
    def conv2d(
        self,
        x: Array,
        w: Array,
        b: Array | None = None,
        *,
        stride: tuple[int, int] = (1, 1),
        padding: tuple[int, int] = (0, 0),
        groups: int = 1,
    ) -> Array: ...
    def stream_weight(self, w: Array, b: Array) -> Any:
        """`w [out, in, kernel]` and its bias as `stream_conv` wants them."""

    def stream_conv(
        self,
        x: Array,
        weight: Any,
        before: Array | None,
        *,
        dilation: int = 1,
        snake: tuple[Array, Array] | None = None,
        add: Array | None = None,
    ) -> tuple[Array, Array]:
        """A causal convolution of a further piece of a stream, `x [B, L, C]` -> `[B, L, out]`, plus `add`; and the last
        `(kernel - 1) * dilation` inputs, which are `before` to the next piece (None: silence). With `snake` (rate, size)
        the input goes through `x + sin(x * rate) ** 2 * size` first."""

    def batch_norm(self, x: Array, mean: Array, var: Array, w: Array, b: Array, eps: float) -> Array:
        """Over the last axis, with the statistics of training."""

    def max_pool(
        self, x: Array, kernel: tuple[int, int], stride: tuple[int, int], padding: tuple[int, int] = (0, 0)
    ) -> Array: ...
    def interpolate(self, x: Array, size: tuple[int, int], mode: Literal["nearest", "bilinear"]) -> Array:
        """`[B, H, W, C]`, align_corners off."""

    def grid_sample(self, x: Array, grid: Array) -> Array:
        """`x [B, H, W, C]`, `grid [B, h, w, 2]` of (x, y) in [-1, 1]; bilinear, zeros outside, align_corners off."""

    def lstm(self, x: Array, w_ih: Array, w_hh: Array, b: Array, h: Array, c: Array) -> tuple[Array, Array, Array]:
        """`x [B, L, C]`, gates in the order i f g o, `b` the sum of both biases -> outputs, h, c."""

    def stft(self, x: Array, window: Array, hop: int) -> tuple[Array, Array]:
        """`x [B, L]`, no padding, frame = len(window) -> real and imaginary parts `[B, frames, n / 2 + 1]`."""

    def istft(self, re: Array, im: Array, window: Array, hop: int) -> Array:
        """The inverse by overlap-add, divided by the summed squared windows."""

    # the rest
    def sample(self, logits: Array, params: Sequence[Sampling]) -> tuple[Array, Any]:
        """One vectorized pass over `[N, V]`; pure: noise is in the parameters. -> ids `[N]` and opaque extras."""

    def all_reduce(self, x: Array) -> Array:
        """Sum over the ranks of tensor parallelism; the identity on one device."""

    def compile(self, fn: Callable[..., Any], key: str) -> Callable[..., Any]:
        """A faster form of a pure function of arrays with fixed shapes, or the function itself."""

    # to and from the host
    def array(self, x: np.ndarray | Sequence[Any], dtype: DType | None = None) -> Array: ...
    def numpy(self, x: Array) -> np.ndarray:
        """On the host; f16 and bf16 come as f32."""


# ---------------------------------------------------------------------------------------------------------- backend


@dataclass(frozen=True)
class DeviceMemory:
    total: int  # bytes of the device (of the machine, on a CPU)
    free: int
    used: int  # by this process
    peak: int  # the most this process has used


class Backend(Protocol):
    @property
    def name(self) -> str:
        """torch, mlx"""

    @property
    def device(self) -> str:
        """cpu, cuda:0, metal"""

    @property
    def dtype(self) -> DType:
        """What unquantized weights are computed in."""

    @property
    def ops(self) -> Ops: ...

    @property
    def blocks(self) -> bool:
        """Whether `linear` takes `Blocks`, and `Dense` that is to be quantized."""

    def tensor(self, raw: Raw, dtype: DType | None = None) -> Array:
        """A float tensor in `dtype` (default the compute dtype), mapped where it can be, else copied."""

    def linear(self, parts: Sequence[Weight], bias: Sequence[Raw | None]) -> Linear:
        """One linear over matrices of one input, stacked along the output; `bias` has one entry a part."""

    def experts(self, parts: Sequence[Sequence[Weight]]) -> Linear:
        """`parts[expert]` lists matrices to be stacked along the output; a `[experts, out, in]` linear for `gather`.
        One inner list holding one three-axis weight is taken as it is."""

    def kv(self, specs: Sequence[MemorySpec], budget: int, bits: int = 16) -> KV:
        """`bits` 8 or 4 stores keys and values quantized."""

    def runner(self, model: Model, kv: KV) -> Runner: ...
    def brief(self, layers: Callable[[Step], Array], specs: Sequence[KVSpec], longest: int) -> Brief:
        """`specs` are what `layers` remember of at most `longest` tokens."""

    def memory(self) -> DeviceMemory: ...
    def describe(self) -> str:
        """For people: 'Apple M3 Max (Metal)', 'NVIDIA H200 (CUDA)', 'AMD EPYC, 2 cores (CPU)'."""

    def release(self) -> None:
        """Give cached memory back to the system, after a model was dropped."""

    @property
    def reads_foreign(self) -> bool:
        """Whether `foreign` can read architectures that Grus has no file for."""

    def foreign(self, folder: Path, budget: int) -> Foreign:
        """Load a folder through the backend's own library of models. Raises BackendMissing for what that lacks."""


@dataclass(frozen=True)
class Foreign:
    """An architecture that a backend reads through a library of its own, behind the same seam."""

    model: Any  # has `vocab`
    kv: KV
    runner: Runner


class BackendMissing(Exception):
    """A backend or device that was asked for is not here. The message is one sentence and says what installs it."""
