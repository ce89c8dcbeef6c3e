"""`mmproj` files: llama.cpp keeps the image encoder of a model in a GGUF file of its own, beside the text model's.

Such a file has the architecture `clip`, and names its kind in `clip.projector_type`. Here it becomes what a checkpoint folder
has: the `vision_config`, the settings of the image processor, and tensors in the names that models use.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from backends.base import Raw
from engine.errors import ConfigError, UnsupportedArchitecture
from engine.models.config import TEXT_MODEL_TYPE
from engine.weights.gguf.blocks import dequantize
from engine.weights.gguf.keys import Keys
from engine.weights.gguf.mmproj_kinds import PATCHES, PROJECTORS, SECOND_FRAME
from engine.weights.gguf.mmproj_sound import SOUND_NAMES, SOUND_TOKENS, sound_config, sound_tensor
from engine.weights.gguf.names import translate
from engine.weights.gguf.orders import rotary_halves
from engine.weights.gguf.reader import GgufFile, read
from engine.weights.made import computed, reordered

ARCH = "clip"
PAIRED_ROWS = re.compile(r"v\.blk\.\d+\.attn_[qk]\.weight$")


class MmprojFile:
    """An opened file. Raises UnsupportedArchitecture for a kind that is not known."""

    def __init__(self, file: GgufFile) -> None:
        self.file, self.where = file, str(file.path)
        if file.metadata.get("general.architecture") != ARCH:
            raise ConfigError(f"{self.where} is no mmproj file: its architecture is not `{ARCH}`.")
        kind = file.metadata.get("clip.vision.projector_type") or file.metadata.get("clip.projector_type")
        if kind not in PROJECTORS:
            raise UnsupportedArchitecture(
                f"{self.where} is an mmproj file of the kind `{kind}`, which Grus does not read. "
                f"Supported: {', '.join(sorted(PROJECTORS))}."
            )
        self.keys = Keys(file.metadata, "clip.vision", self.where)
        self.projector = PROJECTORS[str(kind)]
        self.width = self.keys.int("projection_dim")
        self.vision = self.projector.vision(self.keys, file.tensors)
        self.sound = sound_config(file.metadata, file.tensors, self.where) if self.projector.with_sound else {}

    def config(self, arch: str, text: Mapping[str, Any], ids: Mapping[str, int]) -> dict[str, Any]:
        """What is added to the config of a text model of this architecture; `ids` are its control tokens."""
        if arch not in self.projector.texts:
            raise ConfigError(f"{self.where} sees for {', '.join(sorted(self.projector.texts))}, not for `{arch}`.")
        if text["hidden_size"] != self.width:
            raise ConfigError(
                f"{self.where} makes embeddings of {self.width:,} numbers, but the text model's have {text['hidden_size']:,}."
            )
        tokens = {**self.projector.tokens, **(SOUND_TOKENS if self.sound else {})}
        if absent := [token for token in tokens.values() if token not in ids]:
            raise ConfigError(f"The text model's vocabulary lacks {absent[0]}, which {self.where} needs.")
        return {
            "model_type": self.projector.texts[arch],
            "vision_config": self.vision,
            "image_processor": self.projector.processor(self.keys, self.vision),
            **({"audio_config": self.sound} if self.sound else {}),
            **{name: ids[token] for name, token in tokens.items()},
            TEXT_MODEL_TYPE: text["model_type"],
            **self.projector.more(self.keys, self.vision, ids),
        }

    def tensors(self) -> dict[str, tuple[str, Raw]]:
        """In the names that models use: the name in the file, and the tensor."""
        found, stored = {}, self.file.tensors
        for theirs, raw in stored.items():
            if theirs.startswith(self.projector.unused):
                continue
            if theirs.startswith(("a.", "mm.a.")):
                if self.sound:
                    found[translate(SOUND_NAMES, theirs) or theirs] = (theirs, sound_tensor(theirs, raw))
                continue
            raw = self.projector.reshaped(theirs, raw)
            name = translate(self.projector.names, self.projector.renumbered(theirs, self.vision))
            if theirs == SECOND_FRAME and name is None:
                continue  # joined with the first
            if theirs == PATCHES and SECOND_FRAME in stored:
                raw = _two_frames(raw, stored[SECOND_FRAME])
            if self.projector.paired and PAIRED_ROWS.match(theirs):
                raw = reordered(raw, rotary_halves(raw.shape[0], self.vision["num_attention_heads"]))
            found[name or theirs] = (theirs, raw)
        return found


def open_mmproj(path: str | Path) -> MmprojFile:
    return MmprojFile(read(Path(path).expanduser()))


def _two_frames(first: Raw, second: Raw) -> Raw:
    """Patches of two frames: `[out, channels, height, width]` each, together with an axis of time."""
    out, channels, *sides = first.shape

    def join() -> np.ndarray:
        return np.stack([dequantize(part).reshape(part.shape) for part in (first, second)], axis=2)

    return computed(first, (out, channels, 2, *sides), join)
