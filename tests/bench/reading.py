"""Reading one region of a page, 800 patches large: encoder, prompt and reply, against the reference library."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

import numpy as np

from tests.bench.peers import Peer
from tests.bench.shapes import reading_checkpoint
from tests.bench.table import Row, paired

REPLY, ROUNDS, TOGETHER = 8, 5, 8


def rows() -> list[Row]:
    folder, found = reading_checkpoint(), []
    with tempfile.TemporaryDirectory() as kept:
        f32, q8, theirs = (str(Path(kept) / f"{name}.npy") for name in ("f32", "q8", "theirs"))
        with Peer("grus-reading", folder, "f32") as ours, ours.rival("transformers-reading", folder, "f32") as peer:
            for what, question in (("encode", "encode"), ("encode, prompt and first token", "read")):
                a, b = paired(ROUNDS, partial(ours.ask, question), partial(peer.ask, question))
                found.append(Row(f"f32 {what}", "s", a, b, "transformers", ">= 1x", False))
            a, b = paired(ROUNDS, *(partial(side.ask, "decode", n=REPLY, batch=1) for side in (ours, peer)))
            found.append(Row("f32 reply", "tokens/s", 1 / a, 1 / b, "transformers", ">= 1x"))
            found.append(Row("f32 longest time without a pause", "s", ours.ask("pause"), aim="", more_is_better=False))
            found += together(ours, "f32")
            ours.ask("features", path=f32)
            peer.ask("features", path=theirs)
        found.append(Row("f32 features: cosine to the reference's", "", cosine(f32, theirs), aim=">= 0.999"))
        with Peer("grus-reading", folder, "q8_0") as ours, ours.rival("transformers-reading", folder, "f32") as peer:
            for what, question in (("encode", "encode"), ("encode, prompt and first token", "read")):
                a, b = paired(ROUNDS, partial(ours.ask, question), partial(peer.ask, question))
                found.append(Row(f"q8_0 {what}", "s", a, b, "transformers, f32", "> 1x", False))
            a, b = paired(ROUNDS, *(partial(side.ask, "decode", n=REPLY, batch=1) for side in (ours, peer)))
            found.append(Row("q8_0 reply", "tokens/s", 1 / a, 1 / b, "transformers, f32", "> 1x"))
            found += together(ours, "q8_0")
            ours.ask("features", path=q8)
        found.append(Row("q8_0 features: cosine to f32's", "", cosine(q8, f32), aim=">= 0.999"))
    return found


def together(ours: Peer, weights: str) -> list[Row]:
    """Replies of several regions in the same steps, against one region after the other."""
    one, many = paired(
        ROUNDS,
        partial(ours.ask, "decode", n=REPLY, batch=1),
        partial(ours.ask, "decode", n=REPLY, batch=TOGETHER),
    )
    name = f"{weights} replies of {TOGETHER} regions together"
    return [Row(name, "tokens/s", TOGETHER / many, 1 / one, "one by one", ">= 2x")]


def cosine(one: str, other: str) -> float:
    """The least of any row."""
    a, b = np.load(one).astype(np.float64), np.load(other).astype(np.float64)
    return float(((a * b).sum(1) / (np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1))).min())
