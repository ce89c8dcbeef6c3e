"""Vectors of texts on a CPU: the shapes of all-MiniLM-L6 and of bge-m3, against sentence-transformers and llama.cpp.

Each row names both precisions: of Grus 8 bits, which is what a CPU gets by default, and f32; of sentence-transformers f32, its default; of
llama.cpp files of the same weights in Q8_0, F16 and F32. All of them are measured in turn. Of bge-m3's 24 layers 4 are there, and of both
vocabularies 64 words: the time of a text is that of its layers. Positions reach 2,304, so that both shapes read the longest texts.
"""

from __future__ import annotations

import ctypes
import importlib.util
import json
import os
import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from tests.bench.peers import Peer
from tests.bench.shapes import KEPT
from tests.bench.table import MOST_SECONDS, Row
from tests.encoder_checkpoints import VOCAB, save_modules, save_word_pieces
from tests.engine.weights.gguf.test_encoders import write

SHAPES: dict[str, dict[str, Any]] = {
    "MiniLM": dict(hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536),
    "bge-m3, 4 layers": dict(hidden_size=1024, num_hidden_layers=4, num_attention_heads=16, intermediate_size=4096),
}
POSITIONS, ROUNDS = 2304, 3
TEXTS = {32: 64, 256: 8, 2048: 1}  # as many tokens in all
OURS = ("8 bits", "f32")
SENTENCES, LLAMA_CPP = "sentence-transformers", "llama.cpp"
PACKAGES = {SENTENCES: "sentence_transformers", LLAMA_CPP: "llama_cpp"}
# a peer and its precision -> ours that it is compared with
PEERS = {
    (SENTENCES, "f32"): OURS,
    (LLAMA_CPP, "q8_0"): ("8 bits",),
    (LLAMA_CPP, "f16"): OURS,
    (LLAMA_CPP, "f32"): ("f32",),
}
FILE_TYPES = {"f16": 1, "q8_0": 7}  # llama.cpp's numbers of file types


def rows() -> list[Row]:
    here = {name for name, package in PACKAGES.items() if importlib.util.find_spec(package) is not None}
    for name in sorted(PACKAGES.keys() - here):
        print(f"{name} is left out: {PACKAGES[name]} is not installed.")
    pairs = {peer: ours for peer, ours in PEERS.items() if peer[0] in here}
    return [row for shape in SHAPES for row in _rows_of(shape, pairs)]


def _rows_of(shape: str, pairs: dict[tuple[str, str], Sequence[str]]) -> Iterator[Row]:
    folder = checkpoint(shape, LLAMA_CPP in {name for name, _ in pairs})
    with ExitStack() as stack:
        ours = {precision: stack.enter_context(Peer("grus-vectors", folder, precision)) for precision in OURS}
        kinds = {SENTENCES: SENTENCES, LLAMA_CPP: "llama.cpp-vectors"}
        theirs = {peer: stack.enter_context(Peer(kinds[peer[0]], folder, peer[1])) for peer in pairs}
        for tokens, texts in TEXTS.items():
            mine, other = medians([*ours.values()], [*theirs.values()], texts, tokens)
            for (name, kept), seconds in zip(theirs, other):
                for precision in pairs[name, kept]:
                    what = f"{shape}: texts of {tokens:,} tokens, {precision}"
                    rate = texts / mine[OURS.index(precision)]
                    yield Row(what, "texts/s", rate, texts / seconds, f"{name}, {kept}", ">= 1.5x")
        for peer, driven in theirs.items():
            for precision in pairs[peer]:
                a, b = (np.asarray(side.ask("vector", tokens=256)) for side in (ours[precision], driven))
                exact = precision == "f32" and peer[1] == "f32"
                what, aim = f"{shape}: cosine to the other's vector, {precision}", ">= 0.9999" if exact else ">= 0.999"
                yield Row(what, "", float(a @ b), None, f"{peer[0]}, {peer[1]}", aim)


def medians(ours: Sequence[Peer], theirs: Sequence[Peer], texts: int, tokens: int) -> tuple[list[float], list[float]]:
    """Seconds of each side, measured in turn after one unmeasured round."""
    sides = [*ours, *theirs]

    def once() -> list[float]:
        return [float(side.ask("vectors", texts=texts, tokens=tokens)) for side in sides]

    once()
    began, rounds = time.monotonic(), [once()]
    while len(rounds) < ROUNDS and time.monotonic() - began < MOST_SECONDS:
        rounds.append(once())
    made = [statistics.median(times) for times in zip(*rounds)]
    return made[: len(ours)], made[len(ours) :]


def checkpoint(shape: str, quantized: bool = False) -> Path:
    """A folder with what sentence-transformers reads, and files of the same weights for llama.cpp. `quantized`: of all precisions."""
    folder = KEPT / f"encoder-{shape.split(',')[0].lower()}"
    if not (folder / "model-f32.gguf").exists():
        import torch
        from transformers import BertConfig, BertModel

        folder.mkdir(parents=True, exist_ok=True)
        torch.manual_seed(1)
        model: Any = BertModel(BertConfig(vocab_size=VOCAB, max_position_embeddings=POSITIONS, **SHAPES[shape])).eval()
        model.save_pretrained(folder)
        save_word_pieces(folder)
        save_modules(folder)
        pooling = {"word_embedding_dimension": model.config.hidden_size, "pooling_mode_mean_tokens": True}
        (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
        write("bert", folder / "model-f32.gguf", model=model)
    for kind in FILE_TYPES if quantized else ():
        if not (folder / f"model-{kind}.gguf").exists():
            _quantize(folder, kind)
    return folder


def _quantize(folder: Path, kind: str) -> None:
    """By llama.cpp's own quantizer."""
    import llama_cpp

    unfinished = folder / f"{kind}.part"
    options = llama_cpp.llama_model_quantize_default_params()
    options.ftype, options.nthread = FILE_TYPES[kind], os.cpu_count() or 1
    source, target = os.fsencode(folder / "model-f32.gguf"), os.fsencode(unfinished)
    if llama_cpp.llama_model_quantize(source, target, ctypes.byref(options)):
        raise RuntimeError(f"llama.cpp could not make a file of {kind}")
    unfinished.rename(folder / f"model-{kind}.gguf")
