"""The seam: what the engine and the models may ask of a backend, as protocols and plain data.

A model is written once, as a plain class over the operations of `ops.py` and over weights as files store them. A backend
implements both with its own best kernels. The operations are *inference sized* (a linear that hides its quantization,
attention over a KV cache, one gated delta rule), not array sized, so the abstraction costs nothing.

Ints, strings, bytes and numpy arrays cross the seam in both directions; backend arrays are opaque and only travel back to the
backend that made them. No file beside this one imports an array library but numpy.

    engine  ->  Segment, Sampling               one sequence's new tokens, and how its next token is sampled
    Runner  ->  Step                            the packed row of T tokens that the model sees
    TokenModel   ->  Cache                           reads and writes of the KV cache and of recurrent states
    Runner  ->  PendingStep -> SegmentOutput    the sampled tokens, keyed by slot
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np

# Declared in files of their own; imported from here by the engine.
from backends.adapters import Adapters as Adapters
from backends.grids import GRIDS as GRIDS
from backends.grids import INDICES as INDICES
from backends.grids import SIGNS as SIGNS
from backends.kv_cache import CrossSpec as CrossSpec
from backends.kv_cache import KVCache as KVCache
from backends.kv_cache import KVSnapshot as KVSnapshot
from backends.kv_cache import KVSpec as KVSpec
from backends.kv_cache import MemorySpec as MemorySpec
from backends.kv_cache import SharedKVSpec as SharedKVSpec
from backends.kv_cache import Slot as Slot
from backends.kv_cache import StateSpec as StateSpec
from backends.ops import Array as Array
from backends.ops import DType as DType
from backends.ops import FrameSampling as FrameSampling
from backends.ops import Ops as Ops
from backends.ops import Rope as Rope
from backends.ops import Sampling as Sampling
from backends.packed_file import PackedPlace as PackedPlace

_NO_SPAN: AbstractContextManager[None] = nullcontext()

# -------------------------------------------------------------------------------------------------------------- weights


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


@runtime_checkable
class Reordered(Protocol):
    """A `Raw` whose rows are stored in another order: row i is row `order[i]` of `origin`. Its buffer is built on first access;
    a backend that reads single rows never needs it."""

    origin: Raw
    order: np.ndarray  # int64


@dataclass(frozen=True)
class Dense:
    """A plain matrix `[out, in]` (or `[experts, out, in]`).

    With `quant` (Q8_0, Q4_0, Q4_K, Q6_K) the backend quantizes it to GGUF blocks of that type while it loads.
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
    factors: Raw | None = None  # of NVFP4, f32: of the matrix, or of each expert; its scales are multiplied with it
    divide: bool = False  # scales are divided by it instead

    def factor(self, expert: int = 0) -> float:
        if self.factors is None:
            return 1.0
        stored = np.frombuffer(self.factors.buffer, "<f4")[expert]
        with np.errstate(divide="ignore"):
            return float(np.float32(1) / stored if self.divide else stored)


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


class HeadMatrices(Protocol):
    """A matrix `[out, in]` for each head, that hides how they are stored. Results have the backend's compute dtype."""

    transposes: bool  # whether `transposed` may be asked for

    def part(self, start: int, stop: int) -> HeadMatrices:
        """Outputs `start .. stop - 1` of each."""

    def each(self, x: Array, transposed: bool = False) -> Array:
        """Each head's own input: `[T, H, in]` -> `[T, H, out]`; `transposed`: `[T, H, out]` -> `[T, H, in]`."""

    def every(self, x: Array, first: int, last: int, transposed: bool = False) -> Array:
        """One input for the heads `first .. last - 1`: `[T, in]` -> `[T, h, out]`; `transposed`: `[T, out]` -> `[T, h, in]`."""


# ------------------------------------------------------------------------------------------------------------- one step


@dataclass
class Segment:
    """The new tokens of one sequence in this step."""

    slot: Slot
    ids: Sequence[int] | None = None  # None: the one token sampled last for this slot (it may not be on the host yet)
    embeds: Array | np.ndarray | None = None  # [n, D] instead of ids (image features, talker frames)
    codes: np.ndarray | None = (
        None  # [n, groups] instead of ids: frames that this model made before (`TokenModel.reframe`)
    )
    add: Array | np.ndarray | None = None  # [n, D] added to the inputs (a talker's text track)
    pos: np.ndarray | None = None  # [n] or [3, n]; default slot.length .. slot.length + n
    sample: Sampling | None = None  # None: an unfinished prompt chunk
    samples: Sequence[Sampling] | None = None  # speculative decoding: one per draft token, then `sample` after the last
    draft: int = (
        0  # the last `draft` of `ids` are draft tokens: the longest prefix that sampling agrees with is accepted
    )
    want: range | None = None  # rows of this segment whose logits come back to the host; default none
    hidden: bool = False  # the hidden states of all its rows come back to the host
    adapter: str | None = None  # of the model's `Adapters`
    prompt: int | None = (
        None  # tokens of the sequence's prompt, which layers with `KVSpec.recent` keep; None: as before, or all
    )
    mutual: bool = False  # its tokens see one another in both directions, as those of a picture do in some models

    def __len__(self) -> int:
        if self.ids is not None:
            return len(self.ids)
        given = self.embeds if self.embeds is not None else self.codes
        return 1 if given is None else int(given.shape[0])

    @property
    def continues(self) -> bool:
        """Whether its one input is the token sampled last, which may still be on the device."""
        return self.ids is None and self.embeds is None and self.codes is None


@dataclass
class SegmentOutput:
    """The result of one segment: sampled tokens and what else was asked for."""

    ids: list[int]  # empty for an unfinished prompt chunk; several when a draft was accepted
    logprobs: list[float] | None = None  # of `ids`, before temperature, after penalties, bias and mask
    top: list[list[tuple[int, float]]] | None = None  # per id: the most likely tokens, best first
    logits: np.ndarray | None = None  # [len(want), vocabulary] f32
    hidden: np.ndarray | None = None  # [len(segment), D] f32, after the last norm
    codes: np.ndarray | None = None  # [groups] from `TokenModel.frame`
    accepted: int = 0  # draft tokens accepted
    nan: bool = False  # the logits were NaN or all -inf (nothing was sampled), or `hidden` was not finite


class PendingStep(Protocol):
    """A step that has been issued. On an asynchronous device it may still be running until `read` returns."""

    def read(self) -> dict[Slot, SegmentOutput]: ...


Profiler: TypeAlias = Callable[[str], AbstractContextManager[None]]


def unprofiled(name: str) -> AbstractContextManager[None]:
    """The default of a runner's `span`: does nothing."""
    return _NO_SPAN


class Runner(Protocol):
    """One model on one device with one KV cache. Called from one thread only."""

    span: Profiler  # wraps the named parts of a step ("sample"); a profiler replaces it

    def run(self, segments: Sequence[Segment]) -> PendingStep:
        """Issue one step. Grows no slot: every slot must have room for its tokens. Slots' lengths advance at once; when
        this raises, no slot has changed.

        Draft tokens (speculative decoding) are verified before `read` returns: the slot is then as long as if only the
        accepted ones had been given, recurrent states included."""

    def warm(self) -> None:
        """Run every captured or compiled path once, so that the first request pays nothing extra."""


@dataclass
class Step:
    """The model's input: T tokens of several sequences in one packed row. Only the cache knows where each sequence ends."""

    x: Array  # [T, D] inputs, already embedded
    pos: Array  # [T], or [3, T] for multi-axis rope
    cache: Cache


class Cache(Protocol):
    """One step's view of the KV cache and of recurrent states. The only place where sequences are distinguished."""

    def attend(
        self, layer: int, q: Array, k: Array | None, v: Array | None, scale: float, sinks: Array | None = None
    ) -> Array:
        """Write `k`, `v` `[T, K, D]`; causal attention of `q [T, H, D]` over each token's own sequence -> `[T, H, Dv]`. `k` and `v`
        are None in a layer with a `SharedKVSpec`: the layer it names has written them in this step. `sinks [H]`: a score of each
        head that takes part in the softmax and has no value."""

    def store(self, layer: int, k: Array, v: Array) -> None:
        """Write keys and values as `attend` does, without attending."""

    def store_latent(self, layer: int, rows: Array) -> None:
        """Write `rows` as `attend_latent` does, without attending."""

    def attend_latent(self, layer: int, q: Array, rows: Array, heads: LatentHeads, scale: float) -> Array:
        """Multi-head latent attention: write `rows [T, R + r]` (latents, and keys that all heads share); causal attention of
        `q [T, H, N + r]` -> `[T, H, Dv]`. One token attends to the rows as they are (`absorb`), a long prompt chunk to heads'
        own keys and values (`expand`), whichever is less work."""

    def cross(self, layer: int, q: Array, scale: float) -> Array:
        """Attention of `q [T, H, D]` over what `KVCache.write_cross` stored for each sequence."""

    def conv(self, layer: int, x: Array, w: Array, bias: Array | None = None) -> Array:
        """Causal depthwise convolution of `x [T, C]` with `w [C, kernel]` per sequence, carrying its last inputs."""

    def delta(self, layer: int, q: Array, k: Array, v: Array, g: Array, beta: Array) -> Array:
        """Gated delta rule. `q`, `k` `[T, Hk, Dk]` (normalized and scaled by the model), `v [T, Hv, Dv]`, `g [T, Hv]`
        the log decay (f32), `beta [T, Hv]`; value head j uses key head `j // (Hv // Hk)`.

            S = S * exp(g);  S = S + k (outer) (v - k @ S) * beta;  out = q @ S          -> [T, Hv, Dv]
        """

    def scan(self, layer: int, q: Array, k: Array, v: Array, g: Array) -> Array:
        """Gated linear attention, which is what Mamba-2's state space is (q, k, v are its C, B and x * dt). Shapes as in `delta`.

        S = S * exp(g);  S = S + k (outer) v;  out = q @ S                           -> [T, Hv, Dv]
        """


class LatentHeads(Protocol):
    """What lies between a latent of R numbers and the heads' keys (N numbers, beside r that all heads share) and values."""

    rank: int  # R
    expand_from: int  # tokens of a chunk from which `expand` is less work than attention over latents

    def absorb(self, q: Array) -> Array:
        """Queries `[T, H, N + r]` as queries of rows, `[T, H, R + r]`."""

    def expand(self, rows: Array, first: int, last: int) -> tuple[Array, Array]:
        """Keys `[S, h, N + r]` and values `[S, h, Dv]` of the heads `first .. last - 1` for rows `[S, R + r]`."""

    def values(self, attended: Array) -> Array:
        """What heads give, `[T, H, Dv]`, for weighted sums of latents `[T, H, R]`."""


class TokenModel(Protocol):
    """An architecture, built from a checkpoint view. It holds backend arrays and depends on no scheduler and no backend."""

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
    # inside the step, after sampling, with each row's Sampling (the other codes of the frame derive from its noise);
    # `codes` are returned in SegmentOutput and `embeds` is the slot's next input. Such a model also has
    # `reframe(codes [n, G]) -> [n, D]`, which recomputes those inputs.
    #
    # Optional: `adapters` (`Adapters`), which its linears ask in every step.
    #
    # Optional: `long_from`, the length of a text beyond which its positions count from `LONG_TEXT`; 0: never.
    #
    # Optional: `mutual_pictures`: tokens of one picture see one another in both directions (`Segment.mutual`).
    #
    # Optional: `encode(media) -> Generator`, which turns images or audio into `[tokens, D]` each, and for audio
    # `begin(kv, slot, features)`, which writes the cross-attention memory of a new sequence.


# -------------------------------------------------------------------------------------------- layers without a KV cache


@dataclass(frozen=True, eq=False)
class DistanceKeys:
    """The second part of attention scores by distance (Transformer-XL): queries times a key of how far they are from the token."""

    content: Array  # [H, D], added to queries that meet keys
    position: Array  # [H, D], added to queries that meet distances
    keys: Callable[[int], Array]  # [2 n - 1, H * D], of distances from n - 1 down to 1 - n


class EncoderAttention(Protocol):
    """What mixes the tokens of each sequence, as a layer of an `EncoderRunner` uses it."""

    def attend(self, q: Array, k: Array, v: Array, scale: float, window: tuple[int, int] | None = None) -> Array:
        """`[T, H, D]` each -> `[T, H, D]`. `window` (back, ahead): a token attends to `back` tokens up to and including itself,
        and to `ahead` tokens after it."""

    def attend_by_distance(self, q: Array, k: Array, v: Array, scale: float, distances: DistanceKeys) -> Array:
        """`[T, H, D]` each -> `[T, H, D]`, of all tokens."""

    def convolve(self, x: Array, w: Array, bias: Array, taps: int) -> Array:
        """Each column with its own kernel, `w` of `Ops.conv_weight`, whose odd number of `taps` is around the token; zeros before and behind a
        sequence."""


class EncoderRunner(Protocol):
    """An encoder's layers over complete sequences, without a cache. Made by `Backend.encoder`."""

    def run(self, x: Array, lens: Sequence[int]) -> Generator[None, None, Array]:
        """`x [sum(lens), D]`, sequences concatenated, through all layers. Yields between layers, so that other work can run."""


class FramePredictor(Protocol):
    """Completes a frame of codec codes from its first code (a code predictor's loop). Made by `Backend.frame_predictor`."""

    def __call__(
        self, hidden: Array, first: Array, ids: Array, noise: np.ndarray, random: np.ndarray, choice: FrameSampling
    ) -> tuple[Array, Array]:
        """`hidden [N, D]`, and `first [N, D]` the embeddings of the first codes `ids [N]` -> all codes `[N, G]`, and the
        sum of their embeddings. `noise [N, G - 1]` f32 in [0, 1); rows whose `random [N]` is 0 take the best codes."""


@dataclass(frozen=True)
class FramePredictorParts:
    """The weights of a code predictor: layers whose KV cache lasts one frame, and a head and an embedding for each code but the
    first."""

    layers: Callable[[Step], Array]
    specs: Sequence[KVSpec]
    heads: Sequence[Linear]
    embeddings: Sequence[Linear]
    narrow: Linear | None  # from an embedding's width to the layers'


# --------------------------------------------------------------------------------------------------- mixtures of experts


@dataclass(frozen=True)
class RoutingRule:
    """How experts are chosen by a router's raw scores, and what share each has in the result."""

    chosen: int  # experts of a token
    renormalize: bool = True  # the chosen experts' shares add up to one
    sigmoid: bool = False  # scores are sigmoids, not a softmax
    scale: float = 1.0  # of all shares
    softcap: float = 0.0  # raw scores are kept below it by a tangent; 0: they are not
    groups: int = 1  # of experts side by side: the best `kept` ones are searched
    kept: int = 1
    judged_by: int = 1  # a group is as good as the sum of its best scores: how many


Activation: TypeAlias = Literal["swiglu", "geglu", "clamped_swiglu", "relu_squared"]


@dataclass(frozen=True)
class MixtureParts:
    """The weights of a mixture. Tensors are f32, but for the biases, which have the compute dtype."""

    up: Linear  # of all experts: gates and ups, `[experts, 2 * ffn, in]`; ups alone where the activation has no gate
    down: Linear  # `[experts, out, ffn]`
    rule: RoutingRule
    activation: Activation = "swiglu"
    alternating: bool = False  # the rows of `up` are a gate and an up in turn, else all gates come first
    alpha: float = 1.702  # of clamped_swiglu: (up + 1) * gate * sigmoid(alpha * gate), with the gate at most `limit`
    limit: float = 7.0  # and the up at most so far from zero
    preferred: Array | None = None  # `[experts]`, added to scores where experts are chosen, and only there
    factors: Array | None = None  # `[experts]`, of each expert's share
    up_bias: Array | None = None  # `[experts, rows of up]`
    down_bias: Array | None = None


class Mixture(Protocol):
    """Each token goes through the experts that its router likes best. Made by `Backend.mixture`."""

    def __call__(self, x: Array, scores: Array) -> Array:
        """`x [T, in]`, and the router's raw scores `[T, experts]`, to `[T, out]` in the compute dtype."""


# -------------------------------------------------------------------------------------------------------------- backend


@dataclass(frozen=True)
class DeviceMemory:
    total: int  # bytes of the device (of the machine, on a CPU)
    free: int
    used: int  # by this process
    peak: int  # the most this process has used


@dataclass
class GroupActivity:
    """What a watchdog reads of a group from another thread."""

    count: int = 0  # operations done
    since: float | None = None  # when the present one began (time.monotonic)


class RankGroup(Protocol):
    """The ranks' operations on arrays. Made by `Backend.join`."""

    index: int
    count: int
    activity: GroupActivity

    def all_reduce(self, x: Array) -> Array: ...
    def all_gather(self, x: Array, sizes: Sequence[int]) -> Array: ...
    def broadcast(self, x: Array) -> Array: ...
    def abort(self) -> None: ...
    def close(self) -> None: ...


class Backend(Protocol):
    # `experts` made of blocks in a file are used where they lie, for good: memory has no room for them.
    experts_stay: bool
    experts_room: int  # bytes for packed copies of those that are used most

    @property
    def name(self) -> str:
        """torch, mlx"""

    @property
    def device(self) -> str:
        """cpu, cuda:0, metal"""

    @property
    def dtype(self) -> DType:
        """The compute dtype of unquantized weights."""

    @property
    def ops(self) -> Ops: ...

    def open_packed(self, place: PackedPlace) -> None:
        """Matrices that would have to be packed while a model is loaded are taken from the file there, if it has them. Such a backend
        is for one model."""

    def keep_packed(self) -> None:
        """The model is loaded: what had to be packed is written to that file, in the background."""

    def use_threads(self, count: int | None) -> None:
        """On this thread so many threads of the CPU compute from now on, or fewer where there are fewer; None: as many as at first."""

    @property
    def ranks_apart(self) -> bool:
        """Whether the first rank, too, needs a process of its own, because a process can `join` only once. Raises BackendMissing
        where there are no ranks."""

    def join(self, place: Path, index: int, count: int) -> RankGroup:
        """Become rank `index` of `count` that meet at the file `place`: `ops.all_reduce` and `ops.all_gather` go over all of them
        from now on, and runners made later follow or lead. Such a backend is for one model."""

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

    def mixture(self, parts: MixtureParts) -> Mixture: ...
    def head_matrices(self, weight: Weight, heads: int, plain: Dense | Affine) -> HeadMatrices:
        """`weight` is `[heads, out, in]`, or the same with heads one behind the other, `[heads * out, in]`. `plain`: the same
        without blocks, for whom cannot multiply by these."""

    def kv(self, specs: Sequence[MemorySpec], budget: int, bits: int = 32) -> KVCache:
        """`bits` 32 keeps keys and values as they are computed, 16 those of f32 in half precision, 8 and 4 quantized."""

    def kv_bits(self, model: TokenModel) -> int:
        """The default KV dtype's bits for quantized weights, whose rounding error is far greater than half precision's."""

    def runner(self, model: TokenModel, kv: KVCache, plain: bool = False) -> Runner:
        """`plain`: the model is called in every step, neither traced nor captured: part of it lies on another device."""

    def frame_predictor(self, parts: FramePredictorParts) -> FramePredictor: ...
    def encoder(
        self, layers: Sequence[Callable[[Array, Any, EncoderAttention], Array]], rope: Rope | Sequence[Rope] | None
    ) -> EncoderRunner:
        """A layer takes the output of the last one, the angles of `rope` (None without one, a list for several), and the
        attention."""

    def memory(self) -> DeviceMemory: ...
    def describe(self) -> str:
        """For people: 'Apple M3 Max (Metal)', 'NVIDIA H200 (CUDA)', 'AMD EPYC, 2 cores (CPU)'."""

    def release(self) -> None:
        """Give cached memory back to the system, after a model was dropped."""

    @property
    def foreign_library(self) -> str:
        """The library that runs architectures Grus does not implement: mlx-lm, transformers. Empty: none."""

    @property
    def foreign_note(self) -> str:
        """For people: what it costs to run through that library; without one, how to get it."""

    def reads_foreign(self, config: Mapping[str, Any]) -> bool:
        """Whether that library supports this config's architecture. Reads no weights."""

    def foreign(self, folder: Path, budget: int, floats: FloatTensors | None = None) -> Foreign:
        """Load a folder through the backend's own library of models. Raises BackendMissing for what that lacks. `floats`: the
        tensors of a folder in which another tool has packed some, which only a library that reads no such folder uses."""


FloatTensors = Mapping[str, Callable[[], np.ndarray]]  # tensors by name, as f32 when they are asked for


@dataclass(frozen=True)
class Foreign:
    """A model that runs through the backend's own model library, behind the same protocols."""

    model: Any  # has `vocab`
    kv: KVCache
    runner: Runner


class BackendMissing(Exception):
    """The requested backend or device is not available. The message is one sentence that says what to install."""
