"""Against ik_llama.cpp, the fastest peer on CPUs: `python -m tests.bench ik --ik FOLDER`, with the folder of its source, in which `build` is.

Both sides take the same files and keep keys and values in half precision. Conversations of a length lie beside each other, so that decoding behind all
lengths is measured in turn. On both sides a long one is the rows of a short prompt, again and again: reading all its tokens would take minutes.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import statistics
import struct
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import torch

from backends.base import Sampling, Segment, Slot
from tests.bench.hybrid_shapes import qwen3_5_4b, qwen3_6_35b_a3b
from tests.bench.kernels import READ_SET
from tests.bench.mixture_shapes import bytes_a_token, bytes_kept_a_token
from tests.bench.peers import GrusTorch, Peer
from tests.bench.restart import made_up
from tests.bench.shapes import KEPT
from tests.bench.table import Row, paired

SOURCE = "GRUS_IK_LLAMA"  # environment: its folder
SHIM = Path(__file__).with_name("ik_peer.cpp")
PROMPT, REPLY = 2048, 16
ROUNDS = 25  # of a row of decoding
SHORT, LONG = 512, (16 << 10, 64 << 10)  # tokens behind
ROOM = 512  # of a conversation, for the replies of all rounds
PIECE = 512  # tokens that the peer takes at once: more were slower, or no faster
SHAPES = "qwen3.5-4b", "qwen3.6-35b-a3b"
KINDS = "Q4_K_M", "IQ4_XS", "Q8_0"


def library() -> ctypes.CDLL:
    """The peer behind calls of plain numbers, compiled against its headers when it is first needed."""
    source = Path(os.environ[SOURCE])
    digest = hashlib.sha256(SHIM.read_bytes() + str(source).encode()).hexdigest()[:16]
    made = KEPT / f"ik-{digest}.so"
    if not made.exists():
        KEPT.mkdir(parents=True, exist_ok=True)
        places = [source / "build" / "src", source / "build" / "ggml" / "src"]
        link = [option for place in places for option in (f"-L{place}", f"-Wl,-rpath,{place}")]
        include = [f"-I{source / part}" for part in ("include", "ggml/include")]
        command = ["c++", "-O2", "-std=c++17", "-shared", "-fPIC", *include, str(SHIM), "-o", str(made), *link]
        subprocess.run([*command, "-lllama", "-lggml"], check=True)
    loaded = ctypes.CDLL(str(made))
    for name in ("ik_open", "ik_begin"):
        getattr(loaded, name).restype = ctypes.c_void_p
    for name in ("ik_state", "ik_restore"):
        getattr(loaded, name).restype = ctypes.c_size_t
    return loaded


class IkLlamaCpp:
    def __init__(self, path: str, dtype: str) -> None:
        began = time.perf_counter()
        self._library = library()
        self.imported = time.perf_counter() - began
        self.began = time.perf_counter()
        self._model = ctypes.c_void_p(self._library.ik_open(os.fsencode(path)))
        if not self._model:
            raise RuntimeError(f"ik_llama.cpp cannot open {path}")
        self._vocab = self._library.ik_vocab(self._model)
        self._known: dict[int, tuple[ctypes.c_void_p, int]] = {}  # by tokens behind: a conversation, and its length

    def _conversation(self, capacity: int) -> ctypes.c_void_p:
        made = self._library.ik_begin(self._model, os.cpu_count() or 1, capacity, PIECE)
        if not made:
            raise RuntimeError(f"ik_llama.cpp gives no room for {capacity} tokens")
        return ctypes.c_void_p(made)

    def _read(self, conversation: ctypes.c_void_p, first: int, count: int) -> None:
        for at in range(first, first + count, PIECE):
            ids = [(5 + i) % self._vocab for i in range(at, min(at + PIECE, first + count))]
            if self._library.ik_read(conversation, (ctypes.c_int * len(ids))(*ids), len(ids), at):
                raise RuntimeError("ik_llama.cpp could not decode")

    def prefill(self, n: int) -> float:
        if 0 not in self._known:
            self._known[0] = self._conversation(max(n, PROMPT)), 0
        conversation, _ = self._known[0]
        self._library.ik_forget(conversation)
        began = time.perf_counter()
        self._read(conversation, 0, n)
        return time.perf_counter() - began

    def begin(self, behind: int) -> int:
        conversation = self._conversation(behind + ROOM)
        self._read(conversation, 0, min(behind, SHORT))
        if behind > SHORT:
            self._lengthen(conversation, behind)
        self._known[behind] = conversation, behind
        return behind

    def _lengthen(self, conversation: ctypes.c_void_p, behind: int) -> None:
        size = self._library.ik_state(conversation, None, ctypes.c_size_t(0))
        state = (ctypes.c_uint8 * size)()
        self._library.ik_state(conversation, state, ctypes.c_size_t(size))
        longer = lengthened(bytes(state), behind)
        self._library.ik_forget(conversation)
        if not self._library.ik_restore(conversation, longer, ctypes.c_size_t(len(longer))):
            raise RuntimeError("ik_llama.cpp has not taken a conversation's state")

    def go_on(self, behind: int, n: int) -> float:
        conversation, length = self._known[behind]
        self._known[behind] = conversation, length + n
        began = time.perf_counter()
        for at in range(length, length + n):
            self._read(conversation, at, 1)
        return (time.perf_counter() - began) / n


def lengthened(state: bytes, tokens: int) -> bytes:
    """A state of ik_llama.cpp with as many tokens: their keys and values are those of the given ones, again and again.

    A state is a count of tokens and each one's position and number of conversations, whether values are transposed, the number
    of layers; each layer's keys and then each one's values as type, bytes of a row and rows, where it has any; and what recurrent
    layers keep.
    """
    (count,) = struct.unpack_from("I", state)
    at = 4 + 8 * count
    transposed, layers = struct.unpack_from("II", state, at)
    if transposed:
        raise RuntimeError("ik_llama.cpp keeps its values in an order that is not known here")
    made = [
        struct.pack("I", tokens),
        *(struct.pack("iI", position, 0) for position in range(tokens)),
        state[at : at + 8],
    ]
    at += 8
    for _ in range(2 * layers):
        (row,) = struct.unpack_from("Q", state, at + 4)
        rows = state[at + 12 : at + 12 + count * row]
        made += [state[at : at + 12], rows * (tokens // count), rows[: tokens % count * row]]
        at += 12 + len(rows)
    return b"".join([*made, state[at:]])


class GrusConversations(GrusTorch):
    def __init__(self, path: str, dtype: str, bits: int | None = None) -> None:
        super().__init__(path, dtype, "torch", bits)
        self._known: dict[int, Slot] = {}
        self._read: torch.Tensor | None = None

    def begin(self, behind: int) -> int:
        from backends.torch.kernels import arena

        arena.wait()  # until the weights are packed
        rows, states = made_up(self.kv, self.runner, behind - 1)
        slot = self.kv.open(behind + ROOM)
        assert slot is not None
        self.kv.restore(slot, self.kv.import_snapshot(behind - 1, [*rows, *states]))
        self.runner.run([Segment(slot, [5], sample=Sampling())]).read()
        self._known[behind] = slot
        return behind

    def read_rate(self) -> float:
        """Bytes a second that all threads together read from memory, in a plain sum."""
        from backends.torch.kernels import arena

        if self._read is None:
            self._read = arena.zeros(READ_SET).view(torch.float32).fill_(1)
        rate = self._read.nbytes / statistics.median(timed(self._read.sum) for _ in range(3))
        time.sleep(0.05)  # torch's threads spin on for milliseconds after a sum, on the cores that a step wants
        return rate

    def go_on(self, behind: int, n: int) -> float:
        step = [Segment(self._known[behind], sample=Sampling())]
        began = time.perf_counter()
        for _ in range(n):
            self.runner.run(step).read()
        return (time.perf_counter() - began) / n


def timed(run: Callable[[], object]) -> float:
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


def short_file(shape: str, kind: str) -> Path:
    return qwen3_5_4b(kind, 16) if shape == "qwen3.5-4b" else qwen3_6_35b_a3b(kind)


def long_file(shape: str, kind: str) -> Path:
    """With fewer layers: a bench takes minutes, and long conversations lie beside one another."""
    return qwen3_5_4b(kind, 4) if shape == "qwen3.5-4b" else qwen3_6_35b_a3b(kind)


def cases(lengths: Sequence[int]) -> Iterator[tuple[str, Callable[[], list[Row]]]]:
    for shape in SHAPES:
        for kind in KINDS:
            yield f"{shape} {kind} short", partial(short_rows, shape, kind)
            yield f"{shape} {kind} long", partial(long_rows, shape, kind, lengths)


def rows(only: str = "", lengths: Sequence[int] = LONG) -> list[Row]:
    """`lengths`: tokens behind, of long rows."""
    return [row for name, measure in cases(lengths) if only.lower() in name.lower() for row in measure()]


def sides(path: Path) -> tuple[Peer, Peer]:
    return Peer("grus-conversations", path, "f32"), Peer("ik_llama.cpp", path, "f32")


def short_rows(shape: str, kind: str) -> list[Row]:
    path = short_file(shape, kind)
    ours, theirs = sides(path)
    with ours, theirs:
        begin(ours, theirs, SHORT)
        return [
            decode_row(f"{shape} {kind}", path, ours, theirs, SHORT, ">= 1x, 90 %"),
            prefill_row(f"{shape} {kind}", ours, theirs),
        ]


def long_rows(shape: str, kind: str, lengths: Sequence[int]) -> list[Row]:
    path = long_file(shape, kind)
    ours, theirs = sides(path)
    with ours, theirs:
        begin(ours, theirs, *lengths)
        return [decode_row(f"{shape} {kind}", path, ours, theirs, behind, ">= 1.2x") for behind in lengths]


def llama_cpp_rows() -> list[Row]:
    """Against llama.cpp, which reads its long conversations token by token."""
    made = []
    for shape in SHAPES:
        for kind in KINDS:
            path = long_file(shape, kind)
            with Peer("grus-conversations", path, "f32") as ours, Peer("llama.cpp", path, "f32") as theirs:
                begin(ours, theirs, LONG[0])
                made.append(decode_row(f"{shape} {kind}", path, ours, theirs, LONG[0], ">= 1.5x"))
    return made


def kv_bits_rows() -> list[Row]:
    """Keys and values in 8 and in 4 bits against half precision, of Grus itself."""
    made = []
    for shape in SHAPES:
        path = long_file(shape, "Q4_K_M")
        with Peer("grus-conversations", path, "f32") as half:
            half.ask("begin", behind=LONG[0])
            for bits, aim in ((8, ">= 1x"), (4, ">= 0.95x")):
                with Peer(f"grus-conversations-{bits}", path, "f32") as fewer:
                    fewer.ask("begin", behind=LONG[0])
                    a, b = paired(
                        ROUNDS, *(partial(side.ask, "go_on", behind=LONG[0], n=REPLY) for side in (fewer, half))
                    )
                what = f"{shape} Q4_K_M: decode behind {LONG[0]:,}, keys and values in {bits} bits"
                made.append(Row(what, "tokens/s", 1 / a, 1 / b, "half precision", aim))
    return made


def begin(ours: Peer, theirs: Peer, *lengths: int) -> None:
    for side in (theirs, ours):
        for behind in lengths:
            side.ask("begin", behind=behind)


def prefill_row(what: str, ours: Peer, theirs: Peer) -> Row:
    a, b = paired(2, partial(ours.ask, "prefill", n=PROMPT), partial(theirs.ask, "prefill", n=PROMPT))
    return Row(f"{what}: prefill of {PROMPT:,}", "tokens/s", PROMPT / a, PROMPT / b, "ik_llama.cpp", ">= 1.2x")


def decode_row(what: str, path: Path, ours: Peer, theirs: Peer, behind: int, aim: str) -> Row:
    """Each turn lies between two readings of the memory's rate, which others on the same server change within seconds."""
    weights, kept_a_token = bytes_a_token(path), bytes_kept_a_token(path)
    rates = [ours.ask("read_rate")]  # bytes a second, before the first turn and after each
    shares: tuple[list[float], list[float]] = [], []  # of that, of each side's turns

    def turn(side: Peer, made: list[float]) -> float:
        moved = weights + (behind + REPLY * len(made) + REPLY // 2) * kept_a_token  # conversations grow
        seconds = side.ask("go_on", behind=behind, n=REPLY)
        rates.append(ours.ask("read_rate"))
        made.append(moved / seconds / statistics.mean(rates[-2:]))
        return seconds

    a, b = paired(ROUNDS, *(partial(turn, side, made) for side, made in zip((ours, theirs), shares)))
    share, their_share = map(statistics.median, shares)
    memory = f"{share:.1%} of {min(rates) / 1e9:.0f} to {max(rates) / 1e9:.0f} GB/s, the peer {their_share:.1%}"
    return Row(f"{what}: decode behind {behind:,} ({memory})", "tokens/s", 1 / a, 1 / b, theirs.kind, aim)
