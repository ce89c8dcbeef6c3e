"""Tiny random vision checkpoints made by the reference library, in the published layout, with all that a chat needs."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from tests.checkpoints import DELTA, SPECIALS, fill, save_tokenizer

WORDS = ("<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>")
START, END, IMAGE, VIDEO = range(256 + len(SPECIALS), 256 + len(SPECIALS) + len(WORDS))
VOCAB = VIDEO + 1
PATCH, LEAST, MOST = 4, 256, 4096
SPREADS = {"qwen3_vl_moe": 0.35}  # else its replies repeat one token
SEED, SPREAD = 4, 0.2  # greedy output varies after every prompt of the tests

TEXT: dict[str, Any] = dict(
    vocab_size=VOCAB,
    hidden_size=64,
    intermediate_size=96,
    num_hidden_layers=3,
    num_attention_heads=4,
    num_key_value_heads=2,
    head_dim=32,
    rms_norm_eps=1e-6,
    max_position_embeddings=1024,
    bos_token_id=None,
    eos_token_id=len(SPECIALS) + 255,
    pad_token_id=None,
)
TOWER: dict[str, Any] = dict(
    depth=3,
    hidden_size=32,
    intermediate_size=48,
    num_heads=2,
    patch_size=PATCH,
    spatial_merge_size=2,
    temporal_patch_size=2,
    out_hidden_size=64,
    num_position_embeddings=16,
    in_channels=3,
)
IDS = dict(image_token_id=IMAGE, video_token_id=VIDEO, vision_start_token_id=START, vision_end_token_id=END)

# name -> (class prefix in transformers, text config, tower config)
MODELS: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "qwen3_vl": (
        "Qwen3VL",
        dict(
            TEXT,
            rope_parameters=dict(rope_type="default", rope_theta=5e6, mrope_section=[6, 5, 5], mrope_interleaved=True),
        ),
        dict(TOWER, deepstack_visual_indexes=[0, 2]),
    ),
    "qwen3_5": (
        "Qwen3_5",
        TEXT
        | DELTA
        | dict(
            rope_parameters=dict(
                rope_type="default",
                rope_theta=1e7,
                partial_rotary_factor=0.25,
                mrope_section=[2, 1, 1],
                mrope_interleaved=True,
            )
        ),
        TOWER,
    ),
}
MODELS["qwen2_5_vl"] = (
    "Qwen2_5_VL",
    {name: value for name, value in TEXT.items() if name != "head_dim"}
    | dict(hidden_size=64, rope_parameters=dict(rope_type="default", rope_theta=1e6, mrope_section=[2, 3, 3])),
    {name: value for name, value in TOWER.items() if name != "num_position_embeddings"}
    | dict(window_size=32, fullatt_block_indexes=[1], tokens_per_second=2),
)
_prefix, _text, _tower = MODELS["qwen3_5"]
MODELS["qwen3_5_moe"] = (
    "Qwen3_5Moe",
    _text | dict(moe_intermediate_size=32, num_experts=4, num_experts_per_tok=2, shared_expert_intermediate_size=32),
    _tower,
)
_prefix, _text, _tower = MODELS["qwen3_vl"]
MODELS["qwen3_vl_moe"] = (
    "Qwen3VLMoe",
    _text
    | dict(moe_intermediate_size=24, num_experts=4, num_experts_per_tok=2, decoder_sparse_step=1, mlp_only_layers=[]),
    _tower,
)
PREPROCESSOR: dict[str, Any] = dict(
    size=dict(shortest_edge=LEAST, longest_edge=MOST),
    patch_size=PATCH,
    temporal_patch_size=2,
    merge_size=2,
    image_mean=[0.5] * 3,
    image_std=[0.5] * 3,
    image_processor_type="Qwen2VLImageProcessorFast",
)
TEMPLATE = (
    "{%- for m in messages %}<|im_start|>{{ m.role }}\n"
    "{%- if m.content is string %}{{ m.content }}{%- else %}"
    "{%- for part in m.content %}"
    "{%- if part.type == 'image' %}<|vision_start|><|image_pad|><|vision_end|>"
    "{%- elif part.type == 'video' %}<|vision_start|><|video_pad|><|vision_end|>"
    "{%- else %}{{ part.text }}{%- endif %}"
    "{%- endfor %}{%- endif %}<|im_end|>\n"
    "{%- endfor %}{%- if add_generation_prompt %}<|im_start|>assistant\n{%- endif %}"
)


@cache
def reference(name: str) -> Any:
    """The reference implementation of a tiny model, in f32, with random weights."""
    import transformers

    prefix, text, tower = MODELS[name]
    config = getattr(transformers, f"{prefix}Config")(
        text_config=text, vision_config=tower, tie_word_embeddings=False, **IDS
    )
    config._attn_implementation = "eager"
    model = getattr(transformers, f"{prefix}ForConditionalGeneration")(config).eval()
    fill(model, SEED, SPREADS.get(name, SPREAD))
    return model


def save(name: str, folder: Path) -> Path:
    reference(name).save_pretrained(folder)
    path = folder / "config.json"
    path.write_text(json.dumps(published(name, json.loads(path.read_text())), indent=1))
    (folder / "preprocessor_config.json").write_text(json.dumps(PREPROCESSOR))
    video = PREPROCESSOR | dict(size=dict(shortest_edge=LEAST, longest_edge=4 * MOST))
    (folder / "video_preprocessor_config.json").write_text(json.dumps(video))
    (folder / "chat_template.jinja").write_text(TEMPLATE)
    save_tokenizer(folder, WORDS)
    return folder


def published(name: str, config: dict[str, Any]) -> dict[str, Any]:
    """config.json as the published repositories have it."""
    text, tower = config["text_config"], config["vision_config"]
    tower.pop("rope_parameters", None)
    tower["model_type"] = name
    if name.startswith("qwen3_5"):
        tower["deepstack_visual_indexes"] = []
        return config
    rope = text.pop("rope_parameters")
    text["rope_theta"] = rope.pop("rope_theta")
    text["rope_scaling"] = rope
    if name == "qwen2_5_vl":  # one object for the text model and the whole
        rope["type"] = rope["rope_type"] = "mrope"
        return {**text, **{key: value for key, value in config.items() if key != "text_config"}}
    return config
