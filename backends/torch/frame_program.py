"""Frames of speech codec tokens, completed in one call: for each codebook a pass through the layers, its head, sampling, and the
embedding of the chosen code (src/codec/codec_frame.cpp).

Buffers are set up once for each number of sequences, since only the inputs change from frame to frame.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from backends.base import FrameSampling, KVSpec
from backends.torch.kernels.library import CodecFrame, ProgramStep, library
from backends.torch.kernels.linear import AnyMatrix
from backends.torch.program import Program

NUMBERS = 8  # of sequence counts whose buffers are kept


class FrameProgram:
    """`program` runs the layers; `turns(places)` returns the cosines and sines of its rotary embeddings, alternating."""

    def __init__(
        self,
        program: Program,
        turns: Callable[[Tensor], list[Tensor]],
        specs: Sequence[KVSpec],
        heads: Sequence[AnyMatrix],
        tables: Sequence[AnyMatrix],
        narrow: AnyMatrix | None,
    ) -> None:
        self.program, self.turns, self.specs, self.narrow = program, turns, list(specs), narrow
        self.heads, self.tables = list(heads), list(tables)
        self._addresses = [_addresses(heads), _addresses(tables)]
        self.buffers: dict[int, _FrameBuffers] = {}
        self._library = library()

    def run(
        self, hidden: Tensor, first: Tensor, ids: Tensor, noise: np.ndarray, random: np.ndarray, choice: FrameSampling
    ) -> tuple[Tensor, Tensor]:
        n, more = noise.shape
        codes = torch.empty(n, 1 + more, dtype=torch.int32)
        codes[:, 0] = ids
        total = first.to(torch.float32, copy=True, memory_format=torch.contiguous_format)
        hidden = hidden.float().contiguous()
        noise, random = np.ascontiguousarray(noise, np.float32), np.ascontiguousarray(random, np.int32)
        frame = self._buffers_for(n).frame
        frame.hidden, frame.total, frame.codes = hidden.data_ptr(), total.data_ptr(), codes.data_ptr()
        frame.noise, frame.random = noise.ctypes.data, random.ctypes.data
        frame.temperature, frame.top_k, frame.top_p = choice.temperature, choice.top_k, choice.top_p
        self._library.grus_codec_frame(ctypes.byref(frame), torch.get_num_threads())
        return codes, total

    def _buffers_for(self, n: int) -> _FrameBuffers:
        if n not in self.buffers:
            if len(self.buffers) == NUMBERS:
                self.buffers.pop(next(iter(self.buffers)))
            self.buffers[n] = _FrameBuffers(self, n)
        return self.buffers[n]

    def frame(self, n: int, passes: ctypes.Array[ProgramStep], x: Tensor, logits: Tensor) -> CodecFrame:
        return CodecFrame(
            passes=ctypes.addressof(passes),
            count=len(passes),
            sequences=n,
            width=self.tables[0].columns,
            vocab=self.heads[0].rows_each,
            input=self.program.input,
            output=self.program.output,
            narrow=None if self.narrow is None else ctypes.addressof(self.narrow.matrix),
            heads=self._addresses[0].ctypes.data,
            tables=self._addresses[1].ctypes.data,
            x=x.data_ptr(),
            logits=logits.data_ptr(),
        )


class _FrameBuffers:
    """Registers, KV cache, segments and rotary angles for `n` sequences. The first pass takes two tokens of each."""

    def __init__(self, owner: FrameProgram, n: int) -> None:
        count = len(owner.heads)
        self._x = torch.empty(2 * n, owner.tables[0].columns)
        self.logits = torch.empty(n, owner.heads[0].rows_each)
        self._registers = torch.empty(2 * n * sum(owner.program.widths))
        self._memory = torch.zeros(2 * n * sum(spec.heads * spec.dim for spec in owner.specs) * (count + 1))
        self._keep: list[object] = []
        memory = self._rows(owner.specs, n, count + 1)
        passes = [self._pass(owner, n, 0, 2, count + 1, memory)]
        passes += [self._pass(owner, n, 1 + i, 1, count + 1, memory) for i in range(1, count)]
        self._passes = (ProgramStep * count)(*passes)
        self.frame = owner.frame(n, self._passes, self._x, self.logits)

    def _pass(self, owner: FrameProgram, n: int, seen: int, each: int, longest: int, memory: np.ndarray) -> ProgramStep:
        spans = np.array([(i * each, each, seen, longest, 0) for i in range(n)], np.int64)
        place = torch.arange(seen, seen + each, dtype=torch.int32).repeat(n)
        angles = owner.turns(place)
        self._keep += [spans, angles, memory]
        return owner.program.step(self._registers, n * each, spans, memory, angles, self._keep)

    def _rows(self, specs: Sequence[KVSpec], n: int, longest: int) -> np.ndarray:
        """Where each sequence's keys and values lie, `[layers, n, 4]` as in src/program/program.hpp."""
        sizes = [spec.heads * longest * spec.dim for spec in specs]
        starts = np.cumsum([0, *(2 * n * size for size in sizes[:-1])])
        rows = [start + size * np.arange(2 * n).reshape(n, 2) for start, size in zip(starts, sizes)]
        made = np.zeros((len(specs), n, 4), np.int64)
        made[..., :2] = self._memory.data_ptr() + 4 * np.array(rows, np.int64)
        return made


def _addresses(matrices: Sequence[AnyMatrix]) -> np.ndarray:
    return np.array([ctypes.addressof(m.matrix) for m in matrices], np.int64)
