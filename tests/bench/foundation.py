"""The text models alone, without an engine: torch against transformers, MLX against mlx-lm."""

from __future__ import annotations

import os
import time
from functools import partial
from pathlib import Path

from tests.bench.peers import Peer
from tests.bench.shapes import checkpoint
from tests.bench.table import Row, paired

PROMPT, REPLY, ROUNDS = 512, 16, 5


def torch_rows() -> list[Row]:
    rows = []
    for dtype, stored in (("f32", "F32"), ("bf16", "BF16")):
        folder = checkpoint("qwen3-0.6b", stored)
        reading = read_seconds(folder / "model.safetensors")
        with Peer("grus-torch", folder, dtype) as ours, ours.rival("transformers", folder, dtype) as theirs:
            a, b = paired(ROUNDS, partial(ours.ask, "prefill", n=PROMPT), partial(theirs.ask, "prefill", n=PROMPT))
            rows.append(
                Row(f"{dtype} prefill of {PROMPT}", "tokens/s", PROMPT / a, PROMPT / b, "transformers", ">= 1x")
            )
            for batch in (1, 8):
                job = {"n": REPLY, "batch": batch, "past": 64}
                a, b = paired(ROUNDS, partial(ours.ask, "decode", **job), partial(theirs.ask, "decode", **job))
                rows.append(
                    Row(f"{dtype} decode, batch {batch}", "tokens/s", batch / a, batch / b, "transformers", ">= 1x")
                )
            share = ours.ask("overhead", n=REPLY, past=64)
            rows.append(Row(f"{dtype} decode: outside of the program", "%", 100 * share, aim="< 10"))
            a, b = ours.ask("peak"), theirs.ask("peak")
            rows.append(Row(f"{dtype} peak memory", "MB", a / 1e6, b / 1e6, "transformers", more_is_better=False))
        loads = [load(folder, dtype) for _ in range(3)]
        first, imports = (sorted(values)[1] for values in zip(*loads))
        rows.append(Row(f"{dtype} load to first token", "s", first, reading, "reading the file", "<= 1.5 times", False))
        rows.append(Row(f"{dtype} imports", "s", imports))
    return rows


def load(folder: Path, dtype: str) -> tuple[float, float]:
    with Peer("grus-torch", folder, dtype) as peer:
        return peer.loaded["first_token"], peer.loaded["imports"]


def read_seconds(path: Path) -> float:
    """The median of three reads of the whole file into fresh memory, page cache warm."""
    times = []
    for _ in range(4):
        began = time.perf_counter()
        descriptor = os.open(path, os.O_RDONLY)
        size, at = os.fstat(descriptor).st_size, 0
        buffer = memoryview(bytearray(size))
        began = time.perf_counter()
        while at < size:
            at += os.preadv(descriptor, [buffer[at : at + (1 << 28)]], at)
        times.append(time.perf_counter() - began)
        os.close(descriptor)
    return sorted(times[1:])[1]


def mlx_rows() -> list[Row]:
    rows = []
    folder = checkpoint("qwen3-small", "F32")
    with Peer("grus-mlx", folder, "f32") as ours, ours.rival("mlx-lm", folder, "f32") as theirs:
        for batch in (1, 8):
            job = {"n": 32, "batch": batch, "past": 32}
            a, b = paired(ROUNDS, partial(ours.ask, "decode", **job), partial(theirs.ask, "decode", **job))
            rows.append(Row(f"decode step, batch {batch}", "ms", 1000 * a, 1000 * b, "mlx-lm", ">= 1x", False))
            a, b = ours.ask("primitives", batch=batch), theirs.ask("primitives", batch=batch)
            rows.append(Row(f"primitives in a step, batch {batch}", "", a, b, "mlx-lm", "<= theirs", False))
    return rows
