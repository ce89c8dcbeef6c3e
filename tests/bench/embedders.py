"""Three makers of vectors that are compared: `grus.embed`, sentence-transformers, and llama.cpp, whose texts are tokens already."""

from __future__ import annotations

import ctypes
import os
import time
from pathlib import Path
from typing import Any

import numpy as np

from tests.encoder_checkpoints import WORDS

LONGEST = 2304  # tokens that llama.cpp can take at once: the longest text whole
TOGETHER = 512  # of shorter texts: its own default, since its attention counts all tokens of a batch with all

# What a precision is to Grus: the default of a CPU, or f32 because it was asked for.
PRECISIONS: dict[str, dict[str, str]] = {"8 bits": {}, "f32": {"dtype": "f32"}}
KNOWN = WORDS[1:]  # "a" is a letter too, with an id of its own


def text(tokens: int, seed: int) -> str:
    """Words of one token each; two more tokens stand around them."""
    return " ".join(np.random.default_rng(seed).choice(KNOWN, tokens - 2))


class GrusVectors:
    def __init__(self, folder: str, dtype: str) -> None:
        began = time.perf_counter()
        import grus

        self.embed = grus.embed
        self.imported = time.perf_counter() - began
        self.began = time.perf_counter()
        self.given: dict[str, Any] = dict(model=folder, options=dict(backend="torch", device="cpu") | PRECISIONS[dtype])

    def prefill(self, n: int) -> float:
        return self.vectors(1, n)

    def vectors(self, texts: int, tokens: int) -> float:
        given = [text(tokens, seed) for seed in range(texts)]
        began = time.perf_counter()
        made = self.embed(given, **self.given)
        took = time.perf_counter() - began
        assert len(made) == texts
        return took

    def vector(self, tokens: int) -> list[float]:
        found: list[float] = self.embed(text(tokens, 0), **self.given).tolist()
        return found


class SentenceTransformers(GrusVectors):
    def __init__(self, folder: str, dtype: str) -> None:
        began = time.perf_counter()
        from sentence_transformers import SentenceTransformer

        self.imported = time.perf_counter() - began
        self.began = time.perf_counter()
        self.embed = SentenceTransformer(folder, device="cpu").encode
        self.given = dict(normalize_embeddings=True)


class LlamaCppVectors:
    """`folder` holds a GGUF file of each precision, `model-f32.gguf` and so on. Texts are batched as its server does it."""

    def __init__(self, folder: str, dtype: str) -> None:
        began = time.perf_counter()
        import llama_cpp as c

        self.c = c
        self._silent = c.llama_log_callback(lambda *_: None)  # called from C as long as the library lives
        c.llama_log_set(self._silent, ctypes.c_void_p(0))
        c.llama_backend_init()
        self.imported = time.perf_counter() - began
        self.began = time.perf_counter()
        path = os.fsencode(Path(folder) / f"model-{dtype}.gguf")
        self.model = c.llama_model_load_from_file(path, c.llama_model_default_params())
        options = c.llama_context_default_params()
        options.n_threads = options.n_threads_batch = os.cpu_count() or 1
        options.n_ctx = options.n_batch = options.n_ubatch = LONGEST
        options.n_seq_max, options.embeddings, options.kv_unified = 64, True, True
        self.context = c.llama_init_from_model(self.model, options)
        if not self.context:
            raise RuntimeError(f"llama.cpp cannot open {folder}")
        self.width = c.llama_model_n_embd(self.model)
        self.batch = c.llama_batch_init(LONGEST, 0, 1)

    def prefill(self, n: int) -> float:
        return self.vectors(1, n)

    def vectors(self, texts: int, tokens: int) -> float:
        given = [_ids(text(tokens, seed)) for seed in range(texts)]
        began = time.perf_counter()
        made = self._made(given)
        took = time.perf_counter() - began
        assert len(made) == texts
        return took

    def vector(self, tokens: int) -> list[float]:
        found: list[float] = self._made([_ids(text(tokens, 0))])[0].tolist()
        return found

    def _made(self, texts: list[list[int]]) -> list[np.ndarray]:
        each = max(1, min(64, TOGETHER // len(texts[0])))
        return [row for at in range(0, len(texts), each) for row in self._encoded(texts[at : at + each])]

    def _encoded(self, texts: list[list[int]]) -> list[np.ndarray]:
        batch, at = self.batch, 0
        for sequence, ids in enumerate(texts):
            for position, token in enumerate(ids):
                batch.token[at], batch.pos[at] = token, position
                batch.n_seq_id[at], batch.seq_id[at][0] = 1, sequence
                batch.logits[at] = True
                at += 1
        batch.n_tokens = at
        if self.c.llama_encode(self.context, batch):
            raise RuntimeError("llama.cpp could not encode")
        rows = [
            np.ctypeslib.as_array(self.c.llama_get_embeddings_seq(self.context, i), (self.width,)).copy()
            for i in range(len(texts))
        ]
        return [row / np.linalg.norm(row) for row in rows]


def _ids(given: str) -> list[int]:
    """As the checkpoint's tokenizer has them: five marks, then the words."""
    return [2, *(5 + WORDS.index(word) for word in given.split()), 3]
