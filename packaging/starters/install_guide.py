"""Puts a trained Guide where Grus looks for it: `python packaging/starters/install_guide.py [FOLDER]`."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

TARGET = Path(__file__).resolve().parents[2] / "resources/starter/guide"
FILES = ("config.json", "generation_config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json")


def install(folder: Path) -> None:
    TARGET.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        shutil.copyfile(folder / name, TARGET / name)
    print(f"The Guide of {folder} is in {TARGET}. If its scores changed, say so in MODEL_CARD.md.")


if __name__ == "__main__":
    install(Path(sys.argv[1] if len(sys.argv) > 1 else "build/guide"))
