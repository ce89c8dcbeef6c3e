"""The same GGUF files in Grus and in llama.cpp, in turn: `pip install -e .[bench]` brings llama-cpp-python.

Files are made once, by llama.cpp's own quantizer, from a checkpoint of random weights. Shares of the machine's bandwidth count
what a decode step must read: every weight once.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable
from functools import partial
from pathlib import Path

from tests.bench import peers, random_gguf
from tests.bench.kernels import bandwidth
from tests.bench.peers import Peer
from tests.bench.shapes import KEPT, checkpoint
from tests.bench.table import Row, paired

FILES = {"Q8_0": 7, "Q4_0": 2, "Q4_K_M": 15, "BF16": 32}  # llama.cpp's numbers of file types
PROMPT, REPLY, ROUNDS = 512, 16, 5
BEHIND = 896  # tokens of a conversation: with the reply as many as llama.cpp, opened for eight, has room for


def file_of(shape: str, kind: str) -> Path:
    path = KEPT / f"{shape}-{kind.lower()}.gguf"
    if path.exists():
        return path
    unfinished = path.with_suffix(".part")
    if kind == "BF16":
        from engine.weights.convert import convert

        convert(checkpoint(shape, "BF16"), unfinished)
    else:
        import llama_cpp

        options = llama_cpp.llama_model_quantize_default_params()
        options.ftype, options.nthread = FILES[kind], os.cpu_count() or 1
        source, target = (os.fsencode(p) for p in (file_of(shape, "BF16"), unfinished))
        if llama_cpp.llama_model_quantize(source, target, ctypes.byref(options)):
            raise RuntimeError(f"llama.cpp could not make {path.name}")
    unfinished.rename(path)
    return path


def rows_of(shape: str, kinds: Iterable[str] = FILES) -> list[Row]:
    read = bandwidth()
    return [row for kind in kinds for row in _rows_of(shape, kind, read)]


def _rows_of(shape: str, kind: str, read: float) -> list[Row]:
    path, least = file_of(shape, kind), "50" if kind.startswith("Q4") else "60"
    return _rows_of_file(path, kind, path.stat().st_size, read, ">= 1.5x", ">= 1.5x", least)


def _rows_of_file(path: Path, kind: str, size: int, read: float, many: str, one: str, share: str) -> list[Row]:
    """`size`: bytes that a step reads; aims for many tokens at once, for one, and for its share of the bandwidth."""
    rows = []
    with Peer("grus-torch", path, "f32") as ours, ours.rival("llama.cpp", path, "f32") as theirs:
        a, b = paired(ROUNDS, partial(ours.ask, "prefill", n=PROMPT), partial(theirs.ask, "prefill", n=PROMPT))
        rows.append(Row(f"{kind} prefill of {PROMPT}", "tokens/s", PROMPT / a, PROMPT / b, "llama.cpp", many))
        for batch in (1, 8):
            job = {"n": REPLY, "batch": batch, "past": 64}
            a, b = paired(ROUNDS, partial(ours.ask, "decode", **job), partial(theirs.ask, "decode", **job))
            what = f"{kind} decode, {batch} together" if batch > 1 else f"{kind} decode"
            rows.append(Row(what, "tokens/s", batch / a, batch / b, "llama.cpp", many if batch > 1 else one))
            if batch == 1:
                mine, theirs_share = (100 * size / (seconds * read) for seconds in (a, b))
                name = f"{kind} decode: share of bandwidth"
                rows.append(Row(name, "%", mine, theirs_share, "llama.cpp", f">= {share}"))
        job = {"n": REPLY, "batch": 1, "past": BEHIND}
        a, b = paired(ROUNDS, partial(ours.ask, "decode", **job), partial(theirs.ask, "decode", **job))
        rows.append(Row(f"{kind} decode, {BEHIND} tokens behind", "tokens/s", 1 / a, 1 / b, "llama.cpp", one))
        a, b = ours.ask("peak"), theirs.ask("peak")
        rows.append(Row(f"{kind} peak memory", "MB", a / 1e6, b / 1e6, "llama.cpp", ">= 0.9x", False))
    other: tuple[str, Path | None] = ("grus-torch", peers.checkout) if peers.checkout else ("llama.cpp", None)
    loads = [(load(path, "grus-torch"), load(path, *other)) for _ in range(3)]
    a, b = (sorted(values)[1] for values in zip(*loads))
    rows.append(Row(f"{kind} load to first token", "s", a, b, "llama.cpp", ">= 1x", False))
    return rows


def load(path: Path, kind: str, root: Path | None = None) -> float:
    with Peer(kind, path, "f32", root) as peer:
        return float(peer.loaded["first_token"])


def rows() -> list[Row]:
    return rows_of("qwen3-0.6b")


def large_rows() -> list[Row]:
    return rows_of("llama-3b")


def gemma_rows() -> list[Row]:
    """Gemma 4 E4B's shape with fewer layers; of its table of per-layer embeddings a step reads one row."""
    path = random_gguf.gemma4_e4b()
    return _rows_of_file(path, "Q4_0", random_gguf.read_by_a_step(path), bandwidth(), ">= 1.3x", ">= 1x", "90")
