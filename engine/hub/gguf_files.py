"""The GGUF files of a repository as the models they hold: one model in several quantizations, each a file or its shards."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from engine.errors import ModelNotFound

_SHARD = re.compile(r"-(\d{5})-of-(\d{5})$")
_KIND = re.compile(
    r"(?:^|[-._/])((?:UD-)?(?:P?T?I?Q\d[A-Z0-9_]*|MXFP4[A-Z_]*|NVFP4|BF16|F16|FP16|F32))(?=$|[-._/])", re.IGNORECASE
)
# The usual trade of size against quality comes first. MXFP4 is how gpt-oss is published, beside a small draft model in Q8_0.
_CHOICE = ("Q4_K_M", "UD-Q4_K_M", "MXFP4", "Q4_K_S", "Q4_0", "Q5_K_M", "Q6_K", "Q8_0", "BF16", "F16")


def gguf_models(names: Iterable[str]) -> dict[str, list[str]]:
    """Files by quantization, in the repository's order, shards together; what sees for a model (mmproj) is left out.

    A file whose name tells no quantization goes by its stem, and so does a second one of the same quantization.
    """
    groups: dict[str, list[str]] = {}
    for name in names:
        if name.endswith(".gguf") and "mmproj" not in name.lower():
            groups.setdefault(_SHARD.sub("", name.removesuffix(".gguf")), []).append(name)
    models: dict[str, list[str]] = {}
    for stem, files in groups.items():
        kind = kind_of(stem)
        models[kind if kind and kind not in models else stem] = sorted(files)
    return models


def kind_of(name: str) -> str:
    """The quantization that a file's name tells; nothing where it tells none."""
    found = _KIND.findall(_SHARD.sub("", name.removesuffix(".gguf")))
    return str(found[-1]).upper() if found else ""


def chosen(models: dict[str, list[str]], quant: str | None, loosely: bool = True) -> str | None:
    """The key of what is asked for: a quantization, a file's name, or a part of one of these, in any case. None where
    nothing fits. Without a wish the usual choice.

    An exact name goes first, then one that has a word which begins so (`Q4_K` for `Q4_K_M`, not `F16` for `BF16`), then,
    if `loosely`, any that contains it. Raises ModelNotFound where several fit equally well.
    """
    if quant is None:
        return next((kind for kind in _CHOICE if kind in models), next(iter(models), None))
    wish = _SHARD.sub("", quant.lower().removesuffix(".gguf"))
    begins = re.compile(r"(?:^|[-._/ ])" + re.escape(wish))
    names = {kind: (kind.lower(), _stem(files[0])) for kind, files in models.items()}
    steps = [
        [kind for kind, (name, _) in names.items() if name == wish],
        [kind for kind, (_, stem) in names.items() if stem == wish],
        [kind for kind, (name, _) in names.items() if begins.search(name)],
        [kind for kind, (_, stem) in names.items() if begins.search(stem)],
        [kind for kind, both in names.items() if loosely and any(wish in name for name in both)],
    ]
    found = next(filter(None, steps), [])
    if len(found) > 1:
        raise ModelNotFound(f"{quant} fits several GGUF files: {', '.join(found)}. Name one of them.")
    return found[0] if found else None


def file_in(folder: Path, wish: str) -> Path:
    """The GGUF file of a folder on this machine that has this name or quantization, or a part of it; of several shards the
    first. Raises ModelNotFound, with what there is."""
    models = gguf_models(sorted(file.name for file in folder.glob("*.gguf")))
    kind = chosen(models, wish)
    if kind is None:
        there = f"It has: {', '.join(models)}" if models else "It holds no GGUF files"
        raise ModelNotFound(f"{folder} has no {wish}. {there}.")
    return folder / models[kind][0]


def missing_of(files: Iterable[str]) -> list[str]:
    """Shards of this one model that are not among its files."""
    there = set(files)
    wanted: set[str] = set()
    for name in there:
        if found := _SHARD.search(name.removesuffix(".gguf")):
            start, count = name[: found.start()], found[2]
            wanted |= (
                {f"{start}-{i:05}-of-{count}.gguf" for i in range(1, int(count) + 1)} if int(count) < 1000 else set()
            )
    return sorted(wanted - there)


def _stem(name: str) -> str:
    return _SHARD.sub("", name.rpartition("/")[2].lower().removesuffix(".gguf"))
