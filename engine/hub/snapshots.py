"""What of a cached snapshot can be opened: a folder, or one of the GGUF files that lie in it, and where a file's tokenizer is."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from engine.errors import GrusError
from engine.hub.cache import Snapshot, files_of, find, whole_quants
from engine.hub.gguf_files import chosen, gguf_models, missing_of
from engine.hub.naming import Named
from engine.weights.gguf.reader import read

_TOKENIZERS = (("tokenizer.json",), ("vocab.json", "merges.txt"))


def model_in(snapshot: Snapshot, quant: str | None = None, weights: str = "auto", loosely: bool = True) -> Path | None:
    """What to open: of GGUF files the first shard of the one that is wanted; None where it is not there, or not whole.

    `weights`: the format that is wanted (`safetensors`, `gguf`), where a snapshot holds both. `loosely`: see `chosen`.
    """
    if weights == "safetensors":
        here = any(name.endswith(".safetensors") for name in files_of(snapshot.path))
        return snapshot.path if here and snapshot.complete else None
    if quant is None and weights != "gguf" and not whole_quants(snapshot.path):
        return snapshot.path if snapshot.complete else None
    whole = {kind: parts for kind, parts in gguf_models(files_of(snapshot.path)).items() if not missing_of(parts)}
    kind = chosen(whole, quant, loosely)
    return snapshot.path / whole[kind][0] if kind else None


def tokenizer_of(file: Path) -> Path | None:
    """The folder with the tokenizer of a GGUF file that holds none: its own, else what the cache has of its base repository."""
    if _has_tokenizer(file.parent):
        return file.parent
    place = next((folder for folder in file.absolute().parents if folder.name.startswith("models--")), None)
    base = Named(place.name.removeprefix("models--").replace("--", "/")).base if place else None
    snapshot = find(base, None, place.parent) if place and base else None
    return snapshot.path if snapshot is not None and _has_tokenizer(snapshot.path) else None


def needs_tokenizer(file: Path) -> bool:
    """Whether a GGUF file holds no tokenizer and none lies here for it. A file that cannot be read says so when opened."""
    with suppress(GrusError):
        return "tokenizer.ggml.tokens" not in read(file).metadata and tokenizer_of(file) is None
    return False


def _has_tokenizer(folder: Path) -> bool:
    return any(all((folder / name).is_file() for name in names) for names in _TOKENIZERS)
