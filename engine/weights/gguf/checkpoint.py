"""A GGUF file opened as a checkpoint: config, tokenizer, chat template and tensors, all from the one file; those of an image encoder
from an `mmproj` file.

Offers what a checkpoint folder offers, so that loading does not care which of the two it was given.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from backends.base import Raw
from engine.text.tokenizer import Tokenizer
from engine.weights.gguf import config as configs
from engine.weights.gguf import tokenizer as tokenizers
from engine.weights.gguf.mmproj import MmprojFile
from engine.weights.gguf.reader import GgufFile, read
from engine.weights.gguf.source import GgufSource


class GgufCheckpoint:
    def __init__(self, file: GgufFile) -> None:
        self.file = file
        self.path = file.path
        self.where = str(file.path)
        self.config: dict[str, Any] = configs.read(file.metadata, file.tensors, self.where)
        self.source = GgufSource(self.where, self.architecture, file.tensors, self.config)
        self.mmproj: MmprojFile | None = None

    def fits(self, mmproj: MmprojFile) -> dict[str, Any]:
        """What an mmproj file adds to the config. Raises ConfigError for one of another model."""
        return mmproj.config(self.architecture, self.config, self._vocabulary.control if self.has_tokenizer else {})

    def see_with(self, mmproj: MmprojFile) -> None:
        self.config |= self.fits(mmproj)
        self.source.add(mmproj.tensors())
        self.mmproj = mmproj

    @property
    def architecture(self) -> str:
        """As GGUF calls it."""
        return str(self.file.metadata["general.architecture"])

    @property
    def tensors(self) -> Mapping[str, Raw]:
        """As they are stored, under GGUF's names."""
        return self.file.tensors if self.mmproj is None else {**self.file.tensors, **self.mmproj.file.tensors}

    @property
    def nbytes(self) -> int:
        return self.file.nbytes + (0 if self.mmproj is None else self.mmproj.file.nbytes)

    @cached_property
    def generation_config(self) -> dict[str, Any]:
        control = self._vocabulary.control if self.has_tokenizer else {}
        return configs.generation(self.file.metadata, control)

    def tokenizer(self, folder: Path | None = None) -> Tokenizer:
        """The file's own, or the one in a folder."""
        if folder is not None:
            return Tokenizer.from_folder(folder, self.config, self.generation_config)
        return tokenizers.build(self._vocabulary, self.architecture, self.config, self.generation_config)

    @cached_property
    def _vocabulary(self) -> tokenizers.Vocabulary:
        return tokenizers.Vocabulary(self.file.metadata, self.where)

    @property
    def has_tokenizer(self) -> bool:
        return "tokenizer.ggml.tokens" in self.file.metadata

    @property
    def template_source(self) -> str | None:
        return self.template_sources.get("default")

    @property
    def template_sources(self) -> dict[str, str]:
        """All chat templates by name; the one that is meant without a name is "default"."""
        prefix = "tokenizer.chat_template"
        found = {
            key.removeprefix(prefix).lstrip(".") or "default": value
            for key, value in self.file.metadata.items()
            if key == prefix or key.startswith(f"{prefix}.")
        }
        return {name: source for name, source in found.items() if isinstance(source, str)}


def open_gguf(path: str | Path) -> GgufCheckpoint:
    """Open a file, or any shard of one. Reads its header alone."""
    return GgufCheckpoint(read(Path(path).expanduser()))
