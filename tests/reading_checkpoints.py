"""Tiny random checkpoints of the models that read pages, made by the reference library."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from tests.checkpoints import SPECIALS, save_tokenizer

WORDS = ("<|IMAGE_START|>", "<|IMAGE_END|>", "<|IMAGE_PLACEHOLDER|>", "<|video_pad|>", "<|begin_of_sentence|>")
START, END, IMAGE, VIDEO, BEGIN = range(256 + len(SPECIALS), 256 + len(SPECIALS) + len(WORDS))
VOCAB = BEGIN + 1
PATCH, MERGE = 4, 2
THETA = 500000.0
PREPROCESSOR = dict(
    min_pixels=64,
    max_pixels=4096,
    patch_size=PATCH,
    merge_size=MERGE,
    temporal_patch_size=1,
    image_mean=[0.5] * 3,
    image_std=[0.5] * 3,
    image_processor_type="PaddleOCRVLImageProcessor",
)
TEMPLATE = (
    "<|begin_of_sentence|>{%- for m in messages %}{{ 'User: ' if m.role == 'user' else 'Assistant: ' }}"
    "{%- if m.content is string %}{{ m.content }}{%- else %}{%- for part in m.content %}"
    "{%- if part.type == 'image' %}<|IMAGE_START|><|IMAGE_PLACEHOLDER|><|IMAGE_END|>"
    "{%- else %}{{ part.text }}{%- endif %}{%- endfor %}{%- endif %}{{ '\n' }}"
    "{%- endfor %}{%- if add_generation_prompt %}Assistant: {%- endif %}"
)


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
        bos_token_id=None,
        eos_token_id=255 + len(SPECIALS),
        pad_token_id=None,
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
    """With all that reading needs. `published`: the repositories' flat config.json; `nested`: what the library saves."""
    paddleocr_vl().save_pretrained(folder)
    (folder / "preprocessor_config.json").write_text(json.dumps(PREPROCESSOR))
    (folder / "chat_template.jinja").write_text(TEMPLATE)
    save_tokenizer(folder, WORDS)
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


LABELS = ["title", "text", "table", "figure", "footer"]
_BACKBONE: dict[str, Any] = dict(
    model_type="hgnet_v2",
    embedding_size=8,
    hidden_sizes=[16, 24, 32, 40],
    stem_channels=[3, 8, 8],
    stage_in_channels=[8, 16, 24, 32],
    stage_mid_channels=[4, 8, 8, 8],
    stage_out_channels=[16, 24, 32, 40],
    stage_num_blocks=[1, 1, 2, 1],
    stage_numb_of_layers=[2, 2, 2, 2],
)
_DETECTOR: dict[str, Any] = dict(
    encoder_hidden_dim=32,
    encoder_in_channels=[24, 32, 40],
    encoder_ffn_dim=48,
    encoder_attention_heads=4,
    d_model=32,
    num_queries=20,
    decoder_in_channels=[32, 32, 32],
    decoder_ffn_dim=48,
    decoder_layers=2,
    decoder_attention_heads=4,
    decoder_n_points=2,
    num_denoising=0,
    id2label=dict(enumerate(LABELS)),
    label2id={name: i for i, name in enumerate(LABELS)},
)
_ORDER: dict[str, Any] = dict(
    hidden_size=24,
    num_attention_heads=4,
    intermediate_size=48,
    num_hidden_layers=2,
    coordinate_size=4,
    shape_size=4,
    num_classes=6,
    max_position_embeddings=40,
    global_pointer_head_size=8,
)
SIDE = 128


@cache
def pp_doclayout(version: int, seed: int = 0) -> Any:
    """A tiny detector whose batch norms are calibrated on `page`, so that it tells places apart."""
    import torch
    import transformers

    seed += version == 4  # else one of its pages has regions of one kind

    own: dict[str, Any]
    if version == 4:
        backbone = dict(_BACKBONE, out_features=["stage2", "stage3", "stage4"])
        own = dict(global_pointer_head_size=8)
    elif version == 2:
        backbone = dict(_BACKBONE, out_features=["stage2", "stage3", "stage4"])
        thresholds, order = [0.5, 0.55, 0.45, 0.5, 0.4], [0, 3, 1, 2, 5]
        own = dict(class_thresholds=thresholds, class_order=order, reading_order_config=_ORDER)
    else:
        backbone = dict(_BACKBONE, out_features=["stage1", "stage2", "stage3", "stage4"])
        own = dict(x4_feat_dim=16, mask_feature_channels=[16, 16], num_prototypes=8, global_pointer_head_size=8)
    config_class = getattr(transformers, f"PPDocLayoutV{version}Config")
    config = config_class(backbone_config=backbone, **own, **_DETECTOR)
    torch.manual_seed(seed)
    model = getattr(transformers, f"PPDocLayoutV{version}ForObjectDetection")(config).eval()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, p in model.named_parameters():
            noise = torch.randn(p.shape, generator=generator)
            if p.ndim >= 2:
                p.copy_(noise * ((2.5 if "mask" in name else 1.5) / p[0].numel() ** 0.5))
            elif "closure_weight" in name:
                p.fill_(1.5)
            elif "class" in name or "score_head" in name:
                p.zero_()
            else:
                p.copy_(p + 0.1 * noise if p.mean() > 0.5 else 0.02 * noise)
        for name, buffer in model.named_buffers():
            if name.endswith("running_mean"):
                buffer.copy_(0.05 * torch.randn(buffer.shape, generator=generator))
            elif name.endswith("running_var"):
                buffer.copy_(0.7 + 0.5 * torch.rand(buffer.shape, generator=generator))
        norms = [m for m in model.modules() if isinstance(m, torch.nn.BatchNorm2d)]
        for norm in norms:
            norm.momentum = 1.0
            norm.train()
        pixels = layout_pixels(page(), SIDE, rounded=version != 4)
        model(pixel_values=pixels)
        for norm in norms:
            norm.eval()
        # centred, so that classes differ from query to query, and low enough that only the better half is there
        head = model.model.decoder.class_embed
        head = head if version == 3 else head[-1]
        logits = model(pixel_values=pixels).logits[0]
        head.bias.sub_(
            logits.mean(0) + (logits - logits.mean(0)).max(-1).values.median() + (0.55 if version == 3 else 0.05)
        )
    return model


def page(height: int = 150, width: int = 100) -> Any:
    """Blocks of color on white."""
    import numpy as np

    image = np.full((height, width, 3), 255, np.uint8)
    image[10:40, 5:60] = (20, 40, 220)
    image[60 : height - 10, 40 : width - 5] = (230, 30, 10)
    image[70:80] = 0
    return image


def layout_pixels(image: Any, side: int, rounded: bool = True) -> Any:
    """The reference's preparation, without the library that it takes it from; version 4 is not `rounded`."""
    import torch

    planes = torch.from_numpy(image.copy()).permute(2, 0, 1)[None].float()
    scaled = torch.nn.functional.interpolate(planes, size=(side, side), mode="bicubic", align_corners=False)
    scaled = scaled.clamp(0, 255)
    return (scaled.round() if rounded else scaled) / 255


def save_pp_doclayout(version: int, folder: Path) -> Path:
    pp_doclayout(version).save_pretrained(folder)
    return folder
