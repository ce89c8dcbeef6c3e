"""Tiny random checkpoints of PP-OCRv6's detector and recognizer, made by the reference library, and their published shapes."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

LONG_KERNELS: dict[str, Any] = {
    "reduce_channel": [1, 1, 0],
    "return_channel": [1, 1, 0],
    **{
        f"{name}_{length}ratio": [
            [size if down else 1, size if across else 1],
            [1, 1],
            [size // 2 if down else 0, size // 2 if across else 0],
        ]
        for name, down, across in (
            ("vertical_long_to_small_conv", True, False),
            ("horizontal_small_to_long_conv", False, True),
            ("symmetric_conv_long", True, True),
        )
        for length, size in (("long", 7), ("mid", 5), ("short", 3))
    },
}
STAGES = ["stage1", "stage2", "stage3", "stage4"]
_TINY_DET: dict[str, Any] = {
    "backbone_config": dict(
        model_type="pp_lcnet_v4",
        stem_channels=[3, 8, 16],
        stem_type="large",
        block_configs=[
            [[3, 16, 16, 1, True], [3, 16, 16, 1, False]],
            [[3, 16, 24, 2, False], [5, 24, 24, 1, True]],
            [[3, 24, 32, 2, False]],
            [[3, 32, 40, 2, False], [3, 40, 40, 1, True]],
        ],
        out_features=STAGES,
    ),
    "neck_out_channels": 32,
}
_TINY_REC: dict[str, Any] = {
    "backbone_config": dict(
        model_type="pp_lcnet_v4",
        stem_channels=[3, 8, 16],
        stem_type="small",
        block_configs=[
            [[3, 16, 16, 1, True]],
            [[3, 16, 16, 1, False]],
            [[3, 16, 24, [2, 1], False], [5, 24, 24, 1, True]],
            [[3, 24, 32, [2, 1], False]],
        ],
        out_features=STAGES,
    ),
    "hidden_size": 24,
    "num_attention_heads": 8,
    "head_out_channels": 40,
}
_DET = {"intraclass_block_config": LONG_KERNELS, "scale_factor_list": [1, 2, 4, 8], "kernel_list": [3, 2, 2]}
SIZES: dict[str, dict[str, dict[str, Any]]] = {
    "tiny": {"det": _DET | _TINY_DET, "rec": _TINY_REC},
    "published": {
        "det": _DET
        | {
            "backbone_config": dict(
                model_type="pp_lcnet_v4",
                stem_channels=[3, 64, 128],
                stem_type="large",
                block_configs=[
                    [[3, 128, 128, 1, True], [3, 128, 128, 1, False]],
                    [[3, 128, 256, 2, False], [3, 256, 256, 1, True], [3, 256, 256, 1, False]],
                    [[3, 256, 512, 2, False], *[[3, 512, 512, 1, i % 2 == 0] for i in range(4)]],
                    [[3, 512, 896, 2, False], [3, 896, 896, 1, True], [3, 896, 896, 1, False]],
                ],
                out_features=STAGES,
            )
        },
        "rec": {"backbone_config": dict(model_type="pp_lcnet_v4", out_features=STAGES)},
    },
}
CLASSES = {
    "det": ("PPOCRV6MediumDetConfig", "PPOCRV6MediumDetForObjectDetection"),
    "rec": ("PPOCRV6SmallRecConfig", "PPOCRV6SmallRecForTextRecognition"),
}
CHARACTERS = ["blank", *(chr(33 + i) for i in range(38)), " "]


def made(kind: str, size: str = "tiny") -> Any:
    import transformers

    config_class, model_class = (getattr(transformers, name) for name in CLASSES[kind])
    config = config_class(**json.loads(json.dumps(SIZES[size][kind])))
    config._attn_implementation = "eager"
    return model_class(config).eval()


@cache
def reference(kind: str, size: str = "tiny") -> Any:
    """In f32, with random weights, whose norms keep what they are given near one."""
    import torch

    model = made(kind, size)
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for weight in model.parameters():
            noise = torch.randn(weight.shape, generator=generator)
            if weight.ndim == 1:
                weight.add_(0.1 * noise)
            else:
                weight.copy_(noise * weight[0].numel() ** -0.5)
        for name, buffer in model.named_buffers():
            if name.endswith("running_mean"):
                buffer.copy_(0.1 * torch.randn(buffer.shape, generator=generator))
            elif name.endswith("running_var"):
                buffer.copy_(1 + 0.5 * torch.rand(buffer.shape, generator=generator))
        if kind == "rec":  # without this, one character would be the likeliest everywhere
            model.head.head.weight.mul_(8)
            pixels = torch.randn(4, 3, 48, 320, generator=generator)
            mean = model(pixels).last_hidden_state.clamp(min=1e-20).log().mean((0, 1))
            model.head.head.bias.sub_(mean)
    return model


def save(kind: str, folder: Path, size: str = "tiny") -> Path:
    reference(kind, size).save_pretrained(folder)
    settings: dict[str, Any] = (
        dict(image_processor_type="PPOCRV5ServerDetImageProcessor", limit_side_len=960, limit_type="max")
        if kind == "det"
        else dict(image_processor_type="PPOCRV6SmallRecImageProcessor", character_list=CHARACTERS)
    )
    (folder / "preprocessor_config.json").write_text(json.dumps(settings))
    return folder
