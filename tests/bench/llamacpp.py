"""llama.cpp as a peer of the benches, through `llama-cpp-python` (the `bench` extra).

Its low-level calls alone: no sampling but an argmax, as ours has none, and batches as its own server makes them.
"""

from __future__ import annotations

import ctypes
import os
import time
from typing import Any

import numpy as np

CONTEXT, SEQUENCES = 8 * 1024, 8
PIECE = 512  # tokens that it takes at once
ROOM = 512  # of a long conversation, for replies


class LlamaCpp:
    def __init__(self, path: str, dtype: str) -> None:
        began = time.perf_counter()
        import llama_cpp as c

        self.c = c
        silent = c.llama_log_callback(lambda *_: None)
        self._silent = silent  # called from C as long as the library lives
        c.llama_log_set(silent, ctypes.c_void_p(0))
        c.llama_backend_init()
        self.imported = time.perf_counter() - began
        self.began = time.perf_counter()
        self.model = c.llama_model_load_from_file(os.fsencode(path), c.llama_model_default_params())
        self.context = self._room_for(CONTEXT, SEQUENCES)
        self.vocab = c.llama_vocab_n_tokens(c.llama_model_get_vocab(self.model))
        self.batch = c.llama_batch_init(CONTEXT, 0, 1)

    def _room_for(self, tokens: int, sequences: int) -> Any:
        options = self.c.llama_context_default_params()
        options.n_threads = options.n_threads_batch = os.cpu_count() or 1
        options.n_ctx, options.n_seq_max, options.n_batch, options.n_ubatch = tokens, sequences, PIECE, PIECE
        made = self.c.llama_init_from_model(self.model, options)
        if not made:
            raise RuntimeError("llama.cpp cannot open this file")
        return made

    def _run(self, tokens: list[tuple[int, int, int, bool]]) -> None:
        """`(id, position, sequence, whether its logits are wanted)` each."""
        batch = self.batch
        batch.n_tokens = len(tokens)
        for i, (token, position, sequence, wanted) in enumerate(tokens):
            batch.token[i], batch.pos[i] = token, position
            batch.n_seq_id[i], batch.seq_id[i][0] = 1, sequence
            batch.logits[i] = wanted
        if self.c.llama_decode(self.context, batch):
            raise RuntimeError("llama.cpp could not decode")

    def _best(self, at: int) -> int:
        return int(np.ctypeslib.as_array(self.c.llama_get_logits_ith(self.context, at), (self.vocab,)).argmax())

    def _forget(self) -> None:
        self.c.llama_memory_clear(self.c.llama_get_memory(self.context), False)

    def prefill(self, n: int) -> float:
        self._forget()
        began = time.perf_counter()
        self._run([(5 + i, i, 0, i == n - 1) for i in range(n)])
        self._best(n - 1)
        return time.perf_counter() - began

    def _read(self, sequence: int, count: int) -> None:
        for first in range(0, count, PIECE):
            piece = range(first, min(count, first + PIECE))
            self._run([(5 + (sequence + i) % 1000, i, sequence, i == count - 1) for i in piece])

    def decode(self, n: int, batch: int, past: int) -> float:
        self._forget()
        last = []
        for sequence in range(batch):
            self._read(sequence, past)
            last.append(self._best((past - 1) % PIECE))
        began = time.perf_counter()
        for step in range(n):
            self._run([(last[s], past + step, s, True) for s in range(batch)])
            last = [self._best(s) for s in range(batch)]
        return (time.perf_counter() - began) / n

    def begin(self, behind: int) -> int:
        """From now on there is one conversation, whose prompt is read here: 16,384 tokens in a minute or more."""
        self.c.llama_free(self.context)
        self.context = self._room_for(behind + ROOM, 1)
        self._read(0, behind)
        self._length = behind
        return behind

    def go_on(self, behind: int, n: int) -> float:
        began = time.perf_counter()
        for position in range(self._length, self._length + n):
            self._run([(5, position, 0, True)])
            self._best(0)
        self._length += n
        return (time.perf_counter() - began) / n
