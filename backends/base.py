"""The seam between what Grus knows and how arrays are computed.

A model is written once, as a plain class over the operations that `ops.py` declares and over weights as files hold them
(`weights.py`); a backend implements both with its own best kernels. The operations are *inference sized* (a linear that
hides its quantization, attention over a cache, one gated delta rule), not array sized: that keeps the abstraction free.

What may pass this seam: ints, strings, bytes and numpy arrays in both directions, and opaque backend arrays that only
ever travel back to the backend that made them. None of these files imports an array library but numpy.

    engine  ->  Segment, Sampling           what to run next, per sequence, in any order
    Runner  ->  Step                    one packed row of T tokens, as the model sees it
    Model   ->  Cache                   all that must be remembered between steps goes through the cache
    Runner  ->  PendingStep -> SegmentOutput        what came out, keyed by slot
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np

from backends.kv_cache import CrossSpec as CrossSpec
from backends.kv_cache import KVCache as KVCache
from backends.kv_cache import KVSnapshot as KVSnapshot
from backends.kv_cache import KVSpec as KVSpec
from backends.kv_cache import MemorySpec as MemorySpec
from backends.kv_cache import Slot as Slot
from backends.kv_cache import StateSpec as StateSpec

# Declared in files of their own, and parts of the seam like all else: it has one name to be imported by.
from backends.ops import Array as Array
from backends.ops import DType as DType
from backends.ops import FrameSampling as FrameSampling
from backends.ops import Ops as Ops
from backends.ops import Rope as Rope
from backends.ops import Sampling as Sampling
from backends.passes import EncoderAttention as EncoderAttention
from backends.passes import EncoderRunner as EncoderRunner
from backends.passes import FramePredictor as FramePredictor
from backends.weights import Affine as Affine
from backends.weights import Blocks as Blocks
from backends.weights import Dense as Dense
from backends.weights import Raw as Raw
from backends.weights import Weight as Weight


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


# ------------------------------------------------------------------------------------------------------- one step


@dataclass
class Segment:
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
    want: range | None = None  # rows of this segment whose logits come back to the host; default none
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
class SegmentOutput:
    """What one sequence got from a step."""

    ids: list[int]  # empty for an unfinished prompt chunk; several when a draft was accepted
    logprobs: list[float] | None = None  # of `ids`, before temperature, after penalties, bias and mask
    top: list[list[tuple[int, float]]] | None = None  # per id: the most likely tokens, best first
    logits: np.ndarray | None = None  # [len(want), vocabulary] f32
    hidden: np.ndarray | None = None  # [len(segment), D] f32, after the last norm
    codes: np.ndarray | None = None  # [groups] from `Model.frame`
    accepted: int = 0  # draft tokens accepted
    nan: bool = (
        False  # the logits held NaN or only -inf (nothing was sampled), or `hidden` held a value that is no number
    )


class PendingStep(Protocol):
    """A step that has been issued. On an asynchronous device the work goes on until `read`."""

    def read(self) -> dict[Slot, SegmentOutput]: ...


Profiler: TypeAlias = Callable[[str], AbstractContextManager[None]]


def unprofiled(name: str) -> AbstractContextManager[None]:
    """What a runner's `span` is while nobody looks."""
    return _NO_SPAN


_NO_SPAN: AbstractContextManager[None] = nullcontext()


class Runner(Protocol):
    """One model on one device with one KV cache. Called from one thread only."""

    span: Profiler  # put around what a profile should name inside a step ("sample"); whoever profiles sets it

    def run(self, segments: Sequence[Segment]) -> PendingStep:
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
        """Attention of `q [T, H, D]` over what `KVCache.write_cross` stored for each sequence."""

    def conv(self, layer: int, x: Array, w: Array, bias: Array | None = None) -> Array:
        """Causal depthwise convolution of `x [T, C]` with `w [C, kernel]` per sequence, carrying its last inputs."""

    def delta(self, layer: int, q: Array, k: Array, v: Array, g: Array, beta: Array) -> Array:
        """Gated delta rule. `q`, `k` `[T, Hk, Dk]` (normalized and scaled by the model), `v [T, Hv, Dv]`, `g [T, Hv]`
        the log decay (f32), `beta [T, Hv]`; value head j uses key head `j // (Hv // Hk)`.

            S = S * exp(g);  S = S + k (outer) (v - k @ S) * beta;  out = q @ S          -> [T, Hv, Dv]
        """


@dataclass(frozen=True)
class FramePredictorParts:
    """What completes a frame of codes: layers that remember only within it, and a head and an embedding for each code but the
    first."""

    layers: Callable[[Step], Array]
    specs: Sequence[KVSpec]
    heads: Sequence[Linear]
    embeddings: Sequence[Linear]
    narrow: Linear | None  # from an embedding's width to the layers'


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
    # `codes` come back in SegmentOutput and `embeds` is the slot's next input. Such a model also has `reframe(codes [n, G]) ->
    # [n, D]`, which makes those inputs again.
    #
    # Optional: `encode(media) -> Generator`, which turns pictures or sounds into `[tokens, D]` each, in pieces, and for
    # sounds `begin(kv, slot, features)`, which gives a fresh sequence what it will attend to.


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

    def kv(self, specs: Sequence[MemorySpec], budget: int, bits: int = 32) -> KVCache:
        """`bits` 32 keeps keys and values as they are computed, 16 those of f32 in half precision, 8 and 4 quantized."""

    def kv_bits(self, model: Model) -> int:
        """How many suit quantized weights, whose own rounding is far greater than half precision's."""

    def runner(self, model: Model, kv: KVCache) -> Runner: ...
    def frame_predictor(self, parts: FramePredictorParts) -> FramePredictor: ...
    def encoder(
        self, layers: Sequence[Callable[[Array, Any, EncoderAttention], Array]], rope: Rope | None
    ) -> EncoderRunner:
        """A layer is given what the last one made, the angles of `rope` (None without one), and how to attend."""

    def memory(self) -> DeviceMemory: ...
    def describe(self) -> str:
        """For people: 'Apple M3 Max (Metal)', 'NVIDIA H200 (CUDA)', 'AMD EPYC, 2 cores (CPU)'."""

    def release(self) -> None:
        """Give cached memory back to the system, after a model was dropped."""

    @property
    def foreign_library(self) -> str:
        """What reads architectures that Grus has no file for: mlx-lm. Empty: nothing does."""

    def reads_foreign(self, config: Mapping[str, Any]) -> bool:
        """Whether that library knows this config's architecture. Reads no weights."""

    def foreign(self, folder: Path, budget: int) -> Foreign:
        """Load a folder through the backend's own library of models. Raises BackendMissing for what that lacks."""


@dataclass(frozen=True)
class Foreign:
    """An architecture that a backend reads through a library of its own, behind the same seam."""

    model: Any  # has `vocab`
    kv: KVCache
    runner: Runner


class BackendMissing(Exception):
    """A backend or device that was asked for is not here. The message is one sentence and says what installs it."""
