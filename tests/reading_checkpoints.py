"""Tiny random checkpoints of the models that read pages, made by the reference library."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import tests.checkpoints  # noqa: F401  (sets the library offline before it is imported)

VOCAB = 160
IMAGE, VIDEO, START, END = 150, 151, 152, 153
PATCH, MERGE = 4, 2
THETA = 500000.0


@cache
def paddleocr_vl(seed: int = 0, spread: float = 0.2) -> Any:
    """The reference implementation, in f32."""
    import torch
    import transformers

    text = dict(
        vocab_size=VOCAB,
        hidden_size=64,
        intermediate_size=96,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=32,
        rms_norm_eps=1e-5,
        max_position_embeddings=512,
        rope_parameters=dict(rope_type="default", rope_theta=THETA, mrope_section=[4, 6, 6]),
        bos_token_id=1,
        eos_token_id=2,
        pad_token_id=0,
        use_bias=False,
        tie_word_embeddings=False,
    )
    vision = dict(
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_channels=3,
        image_size=5 * PATCH,
        patch_size=PATCH,
        spatial_merge_size=MERGE,
    )
    config = transformers.PaddleOCRVLConfig(
        text_config=text,
        vision_config=vision,
        image_token_id=IMAGE,
        video_token_id=VIDEO,
        vision_start_token_id=START,
        vision_end_token_id=END,
        tie_word_embeddings=False,
    )
    config._attn_implementation = "eager"
    model = transformers.PaddleOCRVLForConditionalGeneration(config).eval()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for p in model.parameters():
            noise = torch.randn(p.shape, generator=generator)
            if p.ndim == 1:
                p.add_(0.1 * noise)
            else:
                p.copy_(spread * noise)
    return model


def save_paddleocr_vl(folder: Path, spelling: str = "published") -> Path:
    """`published`: the flat config.json of the repositories; `nested`: what the library itself saves."""
    paddleocr_vl().save_pretrained(folder)
    if spelling == "published":
        path = folder / "config.json"
        path.write_text(json.dumps(published(json.loads(path.read_text())), indent=1))
    return folder


def published(config: dict[str, Any]) -> dict[str, Any]:
    text, vision = config.pop("text_config"), config["vision_config"]
    rope = text.pop("rope_parameters")
    text.pop("model_type")
    vision.pop("rope_parameters", None)
    vision |= dict(model_type="paddleocr_vl", temporal_patch_size=2, tokens_per_second=2)
    text |= dict(rope_theta=rope.pop("rope_theta"), rope_scaling=dict(rope, type="default"), tie_word_embeddings=False)
    return {**config, **text}
