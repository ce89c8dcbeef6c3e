"""Mixtures of experts from GGUF files, in Grus and in llama.cpp, in turn. A decode step reads its active experts alone, so a share of the
machine's bandwidth counts those."""

from __future__ import annotations

import time
from functools import partial

from tests.bench.kernels import bandwidth
from tests.bench.mixture_shapes import SHAPES, bytes_a_token, file_of
from tests.bench.peers import Peer
from tests.bench.table import Row, paired

PROMPT, REPLY, ROUNDS = 512, 12, 3
PACKED_AFTER = 20.0  # seconds, at most: until then experts are packed in the background


def rows() -> list[Row]:
    return [row for shape in SHAPES for row in _rows_of(shape)]


def _rows_of(shape: str) -> list[Row]:
    rows: list[Row] = []
    path = file_of(shape)
    moved = bytes_a_token(path)
    whole = path.stat().st_size
    rows.append(Row(f"{shape}: bytes moved a token", "MB", moved / 1e6, whole / 1e6, "the file", "", False))
    with Peer("grus-torch", path, "f32") as ours, ours.rival("llama.cpp", path, "f32") as theirs:
        began = time.monotonic()
        while time.monotonic() - began < PACKED_AFTER:
            ours.ask("decode", n=2, batch=1, past=8)
        a, b = paired(ROUNDS, partial(ours.ask, "prefill", n=PROMPT), partial(theirs.ask, "prefill", n=PROMPT))
        rows.append(Row(f"{shape}: prefill of {PROMPT}", "tokens/s", PROMPT / a, PROMPT / b, "llama.cpp", ">= 1.3x"))
        for batch, aim in ((1, ">= 1x"), (8, ">= 1.3x")):
            job = {"n": REPLY, "batch": batch, "past": 64}
            a, b = paired(ROUNDS, partial(ours.ask, "decode", **job), partial(theirs.ask, "decode", **job))
            what = f"{shape}: decode, {batch} together" if batch > 1 else f"{shape}: decode"
            rows.append(Row(what, "tokens/s", batch / a, batch / b, "llama.cpp", aim))
            if batch == 1:
                machine = bandwidth()
                share, their_share = (100 * moved / (seconds * machine) for seconds in (a, b))
                rows.append(Row(f"{what}: share of bandwidth", "%", share, their_share, "llama.cpp", ">= 90"))
        a, b = ours.ask("peak"), theirs.ask("peak")
        rows.append(Row(f"{shape}: peak memory", "MB", a / 1e6, b / 1e6, "llama.cpp", ">= 0.9x", False))
    return rows
