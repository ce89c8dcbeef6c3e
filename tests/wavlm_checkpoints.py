"""A tiny random WavLM for x-vectors, made by the reference library, saved in either format that published ones lie in."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import torch
import transformers


@cache
def reference(weighted: bool = True) -> Any:
    config = transformers.WavLMConfig(
        hidden_size=32, num_hidden_layers=3, num_attention_heads=4, intermediate_size=48, conv_dim=(16, 16, 16),
        conv_kernel=(10, 3, 3), conv_stride=(5, 8, 8), num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=4,
        num_buckets=20, max_bucket_distance=40, use_weighted_layer_sum=weighted, tdnn_dim=(24, 24, 40),
        tdnn_kernel=(5, 3, 1), tdnn_dilation=(1, 2, 1), xvector_output_dim=16, architectures=["WavLMForXVector"],
    )  # fmt: skip
    generator = torch.Generator().manual_seed(5)
    model = transformers.WavLMForXVector(config).eval()
    with torch.no_grad():
        for name, p in model.named_parameters():
            noise = torch.randn(p.shape, generator=generator)
            if name.endswith("rel_attn_embed.weight") or name == "layer_weights" or name.endswith("original0"):
                p.copy_(noise + (2.0 if name.endswith("original0") else 0.0))
            elif p.ndim > 1:
                p.copy_(noise * (1.5 / p[0].numel() ** 0.5))
            else:
                p.copy_(1.0 + 0.1 * noise if "norm" in name and name.endswith("weight") else 0.1 * noise)
    return model


def save_wavlm(folder: Path, weighted: bool = True, pickled: bool = False, do_normalize: bool = False) -> Path:
    """`pickled`: as pytorch_model.bin, with the names of weight norms that published ones have."""
    model = reference(weighted)
    model.save_pretrained(folder)
    if pickled:
        (folder / "model.safetensors").unlink()
        state = {
            name.replace("parametrizations.weight.original0", "weight_g").replace(
                "parametrizations.weight.original1", "weight_v"
            ): value
            for name, value in model.state_dict().items()
        }
        torch.save(state, folder / "pytorch_model.bin")
    (folder / "preprocessor_config.json").write_text(json.dumps({"do_normalize": do_normalize, "sampling_rate": 16000}))
    return folder
