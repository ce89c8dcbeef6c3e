"""Which `mmproj` file belongs to a model's file: by its name, on disk and in a repository."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import takewhile
from pathlib import Path

from engine.errors import GrusError
from engine.weights.gguf.mmproj import MmprojFile, open_mmproj

NONE = "none"  # in place of a file: the text model alone
_BITS = re.compile(r"(?:^|[-._])(?:UD-)?(?:BF|FP|F|I?Q|TQ|MXFP|NVFP)(\d+)", re.IGNORECASE)
_USUAL_BITS = 16


def is_mmproj(name: str) -> bool:
    """Whether a file's name says that it sees for a model, as llama.cpp decides it."""
    return name.endswith(".gguf") and "mmproj" in name.rpartition("/")[2].lower()


def name_beside(model: Path) -> Path:
    """The name of the mmproj file that is written beside a model's file."""
    return model.with_name(f"mmproj-{model.stem}.gguf")


def by_preference(names: Iterable[str], model: str) -> list[str]:
    """The mmproj files among `names` that may belong to the file `model`, the likeliest first: those in the nearest folder, those whose
    names begin like the model's, those with the nearest number of bits. Files in other folders are left out."""
    folder, _, stem = model.rpartition("/")
    wanted = _bits(stem)

    def rank(name: str) -> tuple[int, int, int, str]:
        place, _, file = name.rpartition("/")
        plain = re.sub(r"mmproj[-._]?", "", file, flags=re.IGNORECASE).lower()
        alike = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(plain, stem.lower())))
        return -len(place), -alike, abs(_bits(file) - wanted), name

    def above(name: str) -> bool:
        place = name.rpartition("/")[0]
        return not place or folder == place or folder.startswith(f"{place}/")

    return sorted((name for name in names if is_mmproj(name) and above(name)), key=rank)


def _bits(name: str) -> int:
    found = _BITS.findall(name)
    return int(found[-1]) if found else _USUAL_BITS


def files_beside(model: Path) -> list[Path]:
    """mmproj files that lie beside a model's file, the likeliest first; in Hugging Face's cache those of its snapshot."""
    top = next(
        (place for place in model.absolute().parents if place.parent.name == "snapshots"), model.absolute().parent
    )
    inner = model.absolute().relative_to(top).as_posix()
    names = [path.relative_to(top).as_posix() for path in top.glob("*.gguf")]
    for place in model.absolute().parents:
        if place == top:
            break
        names += [path.relative_to(top).as_posix() for path in place.glob("*.gguf")]
    return [top / name for name in by_preference(names, inner)]


def find_mmproj(model: Path, fits: Callable[[MmprojFile], object]) -> MmprojFile | None:
    """The first file beside a model's that `fits` raises nothing for."""
    for path in files_beside(model):
        try:
            found = open_mmproj(path)
            fits(found)
        except (GrusError, OSError):
            continue
        return found
    return None
