"""A tiny random Gemma 3 with an image encoder, made by the reference library, in the published layout, with all that a chat needs."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from tests.checkpoints import SPECIALS, fill, save_tokenizer

WORDS = ("<start_of_image>", "<end_of_image>", "<image_soft_token>")
START, END, IMAGE = range(256 + len(SPECIALS), 256 + len(SPECIALS) + len(WORDS))
SIDE, PATCH, TOKENS = 32, 4, 16  # of a picture; more tokens than the window has
SEED, SPREAD = 1, 0.3

TEXT: dict[str, Any] = dict(
    vocab_size=IMAGE + 1,
    hidden_size=64,
    intermediate_size=96,
    num_hidden_layers=4,
    num_attention_heads=4,
    num_key_value_heads=2,
    head_dim=32,
    query_pre_attn_scalar=32,
    sliding_window=10,
    layer_types=["sliding_attention", "full_attention", "sliding_attention", "full_attention"],
    max_position_embeddings=1024,
    tie_word_embeddings=False,
    bos_token_id=None,
    eos_token_id=len(SPECIALS) + 255,
    pad_token_id=None,
)
VISION: dict[str, Any] = dict(
    hidden_size=32,
    intermediate_size=48,
    num_hidden_layers=2,
    num_attention_heads=2,
    image_size=SIDE,
    patch_size=PATCH,
    vision_use_head=False,
)
PREPROCESSOR: dict[str, Any] = dict(
    do_convert_rgb=None,
    do_pan_and_scan=None,
    do_resize=True,
    image_mean=[0.5] * 3,
    image_std=[0.5] * 3,
    image_processor_type="Gemma3ImageProcessor",
    image_seq_length=TOKENS,
    resample=2,
    size=dict(height=SIDE, width=SIDE),
)
TEMPLATE = (
    "{%- for m in messages %}<|im_start|>{{ m.role }}\n"
    "{%- if m.content is string %}{{ m.content }}{%- else %}"
    "{%- for part in m.content %}"
    "{%- if part.type == 'image' %}<start_of_image>{%- else %}{{ part.text }}{%- endif %}"
    "{%- endfor %}{%- endif %}<|im_end|>\n"
    "{%- endfor %}{%- if add_generation_prompt %}<|im_start|>assistant\n{%- endif %}"
)


@cache
def reference() -> Any:
    """In f32, with random weights."""
    from transformers import Gemma3Config, Gemma3ForConditionalGeneration

    config = Gemma3Config(
        text_config=TEXT,
        vision_config=VISION,
        mm_tokens_per_image=TOKENS,
        boi_token_index=START,
        eoi_token_index=END,
        image_token_index=IMAGE,
        tie_word_embeddings=False,  # else greedy replies repeat one token
    )
    config._attn_implementation = "eager"
    model = Gemma3ForConditionalGeneration(config).eval()
    fill(model, SEED, SPREAD)
    return model


def save(folder: Path) -> Path:
    reference().save_pretrained(folder)
    path = folder / "config.json"
    config = json.loads(path.read_text())
    text = config["text_config"]
    text |= {"sliding_window_pattern": 2}
    for name in ("layer_types", "_sliding_window_pattern"):  # which published files do not have
        text.pop(name, None)
    path.write_text(json.dumps(config, indent=1))
    (folder / "preprocessor_config.json").write_text(json.dumps(PREPROCESSOR))
    (folder / "chat_template.jinja").write_text(TEMPLATE)
    save_tokenizer(folder, WORDS)
    return folder
