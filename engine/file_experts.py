"""Mixtures larger than memory: on a CPU, experts of a GGUF file can be used where they lie. The system keeps those in memory that are used
most, and reads the others from the disk."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from backends.base import Backend
from engine.model_files import GgufFiles, ModelFiles
from engine.models.registry import find_architecture
from engine.weights.view import survey

_FLOATS = ("F32", "F16", "BF16")  # of these experts are copied; blocks are used in their file


@dataclass(frozen=True)
class FileExperts:
    whole: int  # bytes of all weights
    nbytes: int  # of the experts, which stay in the file
    token_bytes: int  # of weights that a token reads
    room: int  # bytes that weights may take

    @property
    def copies(self) -> int:
        """Bytes for packed copies of those that are used most: half of what is left, since conversations have the other half."""
        return min(self.nbytes, (self.room - (self.whole - self.nbytes)) // 2)

    @property
    def memory(self) -> int:
        """Bytes of weights in memory: all but the experts, and the copies."""
        return self.whole - self.nbytes + self.copies

    def sentence(self, name: str, gigabytes: Callable[[int], str]) -> str:
        """For people, before it is loaded."""
        return (
            f"{name} takes {gigabytes(self.whole)} where {gigabytes(self.room)} may be used: its experts ({gigabytes(self.nbytes)}) stay "
            f"in the file, and memory keeps those that are used most. A token reads {gigabytes(self.token_bytes)} of weights, and what memory does not keep of them comes from the disk, so "
            "replies are as slow as that."
        )


def experts_in_file(name: str, opened: ModelFiles, backend: Backend, nbytes: int, room: int) -> FileExperts | None:
    """What stays in the file of a model whose weights take `nbytes`. None where all have room, or would not without the experts either."""
    usable = backend.name == "torch" and backend.device == "cpu" and backend.blocks
    if nbytes <= room or not usable or not isinstance(opened, GgufFiles):
        return None
    experts = sum(
        raw.nbytes for tensor, raw in opened.tensors.items() if "_exps." in tensor and raw.dtype not in _FLOATS
    )
    if not experts or nbytes - experts > room:
        return None
    make = find_architecture(opened.config, name)
    found = survey(lambda view: make(view, opened.config), opened.source)
    return FileExperts(nbytes, experts, found.weight_bytes - found.unread_bytes, room)
