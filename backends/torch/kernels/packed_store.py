"""The packed matrices of one model, and the file in which they are kept (backends/packed_file.py), so that they are not packed again the next time.

What the file has is used from there, mapped: nothing is packed, and nothing read but what a product asks for. The background thread copies it
to huge pages (arena.py), and writes the file anew where something had to be packed. Matrices are found by what they are made of, and those
made of the same in the order in which they are asked for.
"""

from __future__ import annotations

import hashlib
import logging
import os
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache

from backends.base import Affine, Weight
from backends.packed_file import PackedPlace, read, write
from backends.torch.kernels import arena, build
from backends.torch.kernels.packed import PackedMatrix

log = logging.getLogger("grus.engine")

LEAST = 32 << 20  # bytes packed while loading; fewer are packed before a person notices


class PackedStore:
    def __init__(self, place: PackedPlace) -> None:
        self._place = replace(place, key=f"{place.key} {_code()}")
        self._found = read(place.file, self._place.key)
        self._matrices: list[tuple[str, weakref.ref[PackedMatrix]]] = []  # of this load, in order
        self._packed = 0  # bytes that had to be packed

    def fill(self, made: PackedMatrix, parts: Sequence[Weight], pack: Callable[[], None]) -> None:
        """`parts`: of its first expert."""
        what = _description(made, parts)
        kept = self._found[what]
        if kept and kept[0].nbytes == made.nbytes:
            made.use_packed(kept.popleft())
        else:
            pack()
            self._packed += made.nbytes
        self._matrices.append((what, weakref.ref(made)))
        made.store = self

    def keep(self) -> None:
        """Everything is loaded: write what had to be packed, in the background, if the model lives that long."""
        self._found.clear()
        if self._packed >= LEAST:
            arena.schedule(self)

    def move(self) -> None:
        matrices = [matrix() for _, matrix in self._matrices]
        sizes = [one.nbytes for one in matrices if one is not None]
        del matrices  # while the file is written the model may be unloaded
        if len(sizes) < len(self._matrices):
            return
        file = self._place.file
        try:
            if write(self._place, [what for what, _ in self._matrices], sizes, self._bytes_of, arena.ending):
                log.info("Packed weights are kept in %s.", file)
        except OSError as error:  # a full disk
            log.warning("Packed weights could not be kept in %s: %s.", file, error.strerror or error)

    def _bytes_of(self, index: int) -> memoryview | None:
        matrix = self._matrices[index][1]()
        return None if matrix is None else matrix.packed_bytes()


@cache
def _code() -> str:
    """A hash of the code that packs. A bundle has the kernels' digest alone."""
    digest = hashlib.sha256(build.digest().encode())
    for path in sorted(build.FOLDER.parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _description(made: PackedMatrix, parts: Sequence[Weight]) -> str:
    words = [bytes(made.matrix.format).hex(), f"{made.experts}x{made.rows_each}x{made.columns}"]
    for part in parts:
        for raw in (part.packed, part.scales, part.biases) if isinstance(part, Affine) else (part.data,):
            state = ""
            with suppress(OSError):
                stat = os.stat(raw.path)
                state = f"{stat.st_size} {stat.st_mtime_ns}"
            words.append(f"{raw.path} {state} {raw.name} {raw.offset} {raw.dtype} {raw.shape}")
    return ", ".join(words)
