"""Models that read pages: PP-OCRv6's detector and recognizer, and GLM-OCR's replies, against the reference library.

Of GLM-OCR's image encoder 2 of 24 layers are there: what is measured is the reply. Of PP-OCRv6 all is.
"""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

import numpy as np

from tests.bench.peers import Peer
from tests.bench.reading import together
from tests.bench.shapes import KEPT
from tests.bench.table import Row, paired
from tests.checkpoints import save_tokenizer

ROUNDS, REPLY = 3, 16
COUNTS = {"det": 1, "rec": 16}  # pages, and lines of one width, as the reader sends them
NAMES = {"det": "detector, pages of 960 x 704", "rec": "recognizer, 16 lines together"}


def line_rows() -> list[Row]:
    found = []
    for kind, count in COUNTS.items():
        folder = lines_checkpoint(kind)
        for dtype, aim, most in (("auto", ">= 1.5x", "<= 0.02"), ("f32", ">= 1x", "<= 0.001")):
            name = f"{NAMES[kind]}, {'by default' if dtype == 'auto' else dtype}"
            with Peer("grus-lines", folder, dtype) as ours, ours.rival("transformers-lines", folder, "f32") as peer:
                a, b = paired(ROUNDS, *(partial(side.ask, "images", count=count) for side in (ours, peer)))
                unit = "pages/s" if kind == "det" else "lines/s"
                found.append(Row(name, unit, count / a, count / b, "transformers", aim))
                with tempfile.TemporaryDirectory() as kept:
                    paths = [str(Path(kept) / f"{i}.npy") for i in range(2)]
                    for side, path in zip((ours, peer), paths):
                        side.ask("found", path=path)
                    apart = np.abs(np.load(paths[0]) - np.load(paths[1])).max()
                    found.append(Row(f"{name}: largest difference", "", float(apart), aim=most, more_is_better=False))
    return found


def glm_rows() -> list[Row]:
    folder, found = glm_checkpoint(), []
    for weights in ("f32", "q8_0"):
        with Peer("grus-glm", folder, weights) as ours, ours.rival("transformers-glm", folder, "f32") as peer:
            a, b = paired(ROUNDS, *(partial(side.ask, "decode", n=REPLY, batch=1) for side in (ours, peer)))
            name = "transformers" if weights == "f32" else "transformers, f32"
            found.append(Row(f"{weights} reply", "tokens/s", 1 / a, 1 / b, name, ">= 2x"))
            found += together(ours, weights)
    return found


def lines_checkpoint(kind: str) -> Path:
    folder = KEPT / f"pp-ocrv6-{kind}"
    if not (folder / "preprocessor_config.json").exists():
        from tests.ppocr_checkpoints import save

        folder.mkdir(parents=True, exist_ok=True)
        save(kind, folder, "published")
    return folder


def glm_checkpoint() -> Path:
    """In bf16, as it is published."""
    folder = KEPT / "glm-ocr-bf16"
    if not (folder / "tokenizer.json").exists():
        import torch
        from transformers import GlmOcrConfig, GlmOcrForConditionalGeneration

        rope = dict(rope_type="default", rope_theta=10000.0, mrope_section=[16, 24, 24], partial_rotary_factor=1.0)
        text = dict(hidden_size=1536, intermediate_size=4608, head_dim=128, rope_parameters=rope)
        config = GlmOcrConfig(text_config=text, vision_config=dict(depth=2), tie_word_embeddings=False)
        torch.manual_seed(1)
        with torch.device("cpu"):
            model = GlmOcrForConditionalGeneration(config).to(torch.bfloat16)
        model.save_pretrained(folder)
        save_tokenizer(folder)
    return folder
