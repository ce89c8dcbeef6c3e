"""Puts a trained model where Grus looks for it: `python packaging/starters/install.py FOLDER TARGET`."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

FILES = (
    "config.json",
    "generation_config.json",
    "model.safetensors",
    "preprocessor_config.json",  # of models that see
    "tokenizer.json",
    "tokenizer_config.json",
)


def install(folder: Path, target: Path) -> None:
    """What else lies in the target, its card above all, stays."""
    target.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        if (folder / name).is_file():
            shutil.copyfile(folder / name, target / name)
    print(f"The model of {folder} is in {target}. If its scores changed, say so in MODEL_CARD.md.")


if __name__ == "__main__":
    install(Path(sys.argv[1]), Path(sys.argv[2]))
