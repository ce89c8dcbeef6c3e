"""Tiny random checkpoints of models that listen, made by the reference library."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tests.checkpoints import SPECIALS, VOCAB, publish, save_tokenizer

START, END = VOCAB - 3, VOCAB - 1  # of SPECIALS

_COMMON: dict[str, Any] = dict(
    vocab_size=VOCAB, intermediate_size=96, num_attention_heads=4, num_key_value_heads=4, bos_token_id=START,
    eos_token_id=END, pad_token_id=END, decoder_start_token_id=START, attention_bias=False,
)  # fmt: skip
MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "moonshine": (
        "Moonshine",
        dict(
            hidden_size=80,  # heads of 20, which are no whole registers, as the published ones of 36 and 52
            encoder_num_hidden_layers=3,
            decoder_num_hidden_layers=2,
            encoder_num_attention_heads=4,
            decoder_num_attention_heads=4,
            pad_head_dim_to_multiple_of=8,
            max_position_embeddings=194,
            rope_parameters=dict(rope_type="default", rope_theta=10000.0, partial_rotary_factor=0.9),
            tie_word_embeddings=True,
        ),
    ),
    "moonshine_streaming": (
        "MoonshineStreaming",
        dict(
            encoder_config=dict(
                hidden_size=48, intermediate_size=96, num_hidden_layers=4, num_attention_heads=4, num_key_value_heads=4,
                head_dim=12, sample_rate=16000, frame_ms=5.0, max_position_embeddings=512,
                sliding_windows=[[16, 4], [16, 0], [16, 0], [16, 4]],
            ),
            hidden_size=64,
            num_hidden_layers=2,
            head_dim=16,
            max_position_embeddings=512,
            rope_parameters=dict(rope_type="default", rope_theta=10000.0, partial_rotary_factor=0.8),
            tie_word_embeddings=False,
        ),
    ),
}  # fmt: skip


@cache
def reference(name: str, seed: int = 0, spread: float = 0.2) -> Any:
    """Words weigh little beside what is made of them, so that greedy output varies."""
    import torch
    import transformers

    prefix, fields = MODELS[name]
    config = getattr(transformers, f"{prefix}Config")(**{**_COMMON, **fields})
    config._attn_implementation = "eager"
    model = getattr(transformers, f"{prefix}ForConditionalGeneration")(config).eval()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for p in model.parameters():
            noise = torch.randn(p.shape, generator=generator)
            p.add_(0.1 * noise) if p.ndim <= 1 else p.copy_(spread * noise)
        model.model.decoder.embed_tokens.weight.mul_(0.1)
    return model


def save(name: str, folder: Path, **how: Any) -> Path:
    reference(name, **how).save_pretrained(folder)
    path = folder / "config.json"
    config = json.loads(path.read_text())
    path.write_text(json.dumps(publish(config) if name == "moonshine" else config, indent=1))
    save_tokenizer(folder)
    return folder


def sound(seconds: float, seed: int = 0) -> np.ndarray:
    """Something that changes all the time, at 16 kHz."""
    random = np.random.default_rng(seed)
    t = np.arange(int(seconds * 16000)) / 16000
    tone = sum(np.sin(2 * np.pi * f * t * (1 + 0.3 * np.sin(3 * t))) for f in random.uniform(100, 2000, 4))
    return (0.05 * tone + 0.05 * random.standard_normal(len(t))).astype(np.float32)


assert len(SPECIALS) == 3
