"""Vectors of texts on a CPU: the shapes of all-MiniLM-L6 and of bge-m3, against sentence-transformers and llama.cpp.

Of bge-m3's 24 layers 4 are there, and of both vocabularies 64 words: the time of a text is that of its layers. Positions reach 2,304, so that
both shapes read the longest texts.
"""

from __future__ import annotations

import importlib.util
import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tests.bench.peers import Peer
from tests.bench.shapes import KEPT
from tests.bench.table import Row, paired
from tests.encoder_checkpoints import VOCAB, save_modules, save_word_pieces
from tests.engine.weights.gguf.test_encoders import write

SHAPES: dict[str, dict[str, Any]] = {
    "MiniLM": dict(hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536),
    "bge-m3, 4 layers": dict(hidden_size=1024, num_hidden_layers=4, num_attention_heads=16, intermediate_size=4096),
}
POSITIONS, ROUNDS = 2304, 3
TEXTS = {32: 32, 256: 8, 2048: 1}  # as many tokens in all
PEERS = {"sentence-transformers": "sentence_transformers", "llama.cpp-vectors": "llama_cpp"}


def rows() -> list[Row]:
    found = []
    for shape in SHAPES:
        folder = checkpoint(shape)
        with Peer("grus-vectors", folder, "f32") as ours:
            for kind, package in PEERS.items():
                if importlib.util.find_spec(package) is None:
                    print(f"{kind} is left out: {package} is not installed.")
                    continue
                with Peer(kind, folder, "f32") as peer:
                    name = kind.removesuffix("-vectors")
                    found += [compared(ours, peer, shape, name, tokens) for tokens in TEXTS]
                    a, b = (np.asarray(side.ask("vector", tokens=256)) for side in (ours, peer))
                    found.append(
                        Row(f"{shape}: cosine to the other's vector", "", float(a @ b), None, name, ">= 0.9999")
                    )
    return found


def compared(ours: Peer, peer: Peer, shape: str, name: str, tokens: int) -> Row:
    texts = TEXTS[tokens]
    a, b = paired(ROUNDS, *(partial(side.ask, "vectors", texts=texts, tokens=tokens) for side in (ours, peer)))
    return Row(f"{shape}: texts of {tokens:,} tokens", "texts/s", texts / a, texts / b, name, ">= 1.5x")


def checkpoint(shape: str) -> Path:
    """A folder with what sentence-transformers reads, and `model.gguf` with the same weights."""
    folder = KEPT / f"encoder-{shape.split(',')[0].lower()}"
    if not (folder / "model.gguf").exists():
        import torch
        from transformers import BertConfig, BertModel

        folder.mkdir(parents=True, exist_ok=True)
        torch.manual_seed(1)
        model: Any = BertModel(BertConfig(vocab_size=VOCAB, max_position_embeddings=POSITIONS, **SHAPES[shape])).eval()
        model.save_pretrained(folder)
        save_word_pieces(folder)
        save_modules(folder)
        pooling = {"word_embedding_dimension": model.config.hidden_size, "pooling_mode_mean_tokens": True}
        (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
        write("bert", folder / "model.gguf", model=model)
    return folder
