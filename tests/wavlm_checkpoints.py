"""A tiny random WavLM for x-vectors, made by the reference library, saved in either format that published ones lie in."""

from __future__ import annotations

import copy
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers


@cache
def voice_separating() -> Any:
    """The same with a last layer by hand: what the statistics of `voice`'s two kinds differ in becomes the first number, with a sign."""
    model = copy.deepcopy(reference())
    last, pooled = model.feature_extractor, []
    watch = last.register_forward_pre_hook(lambda _, given: pooled.append(given[0][0]))
    with torch.no_grad():
        for kind in ("low", "high"):
            for seed in range(20, 24):
                model(torch.from_numpy(voice(kind, 2.0, seed))[None])
        watch.remove()
        low, high = torch.stack(pooled[:4]), torch.stack(pooled[4:])
        middle, spread = (low.mean(0) + high.mean(0)) / 2, torch.cat((low - low.mean(0), high - high.mean(0))).std(0)
        way = (low.mean(0) - high.mean(0)) / (spread + 0.05).square()
        last.weight.mul_(0.001)
        last.bias.zero_()
        last.weight[0] = 2 * way / (way @ (low.mean(0) - high.mean(0)))
        last.bias[0] = -last.weight[0] @ middle
    return model


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
            if name.endswith(("rel_attn_embed.weight", "original0")) or name == "layer_weights":
                p.copy_(noise + (2.0 if name.endswith("original0") else 0.0))
            elif p.ndim > 1:
                p.copy_(noise * (1.5 / p[0].numel() ** 0.5))
            else:
                p.copy_(1.0 + 0.1 * noise if "norm" in name and name.endswith("weight") else 0.1 * noise)
    return model


def save_wavlm(folder: Path, weighted: bool = True, pickled: bool = False, separates_voices: bool = False) -> Path:
    """`pickled`: as pytorch_model.bin, with the names of weight norms that published ones have."""
    model = voice_separating() if separates_voices else reference(weighted)
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
    (folder / "preprocessor_config.json").write_text(json.dumps({"do_normalize": False, "sampling_rate": 16000}))
    return folder


RATE = 16000


def voice(kind: str, seconds: float, seed: int) -> np.ndarray:
    """A low one that hums, or a high one that hisses; what is said differs by seed."""
    random = np.random.default_rng(seed)
    t = np.arange(int(seconds * RATE)) / RATE
    hum = sum(a * np.sin(2 * np.pi * 110 * (i + 1) * t) for i, a in enumerate((1.0, 0.6, 0.4, 0.2)))
    hiss = random.standard_normal(len(t))
    loud = 0.8 + 0.2 * np.sin(2 * np.pi * random.uniform(3, 5) * t)
    return (0.2 * loud * (hum + 0.05 * hiss if kind == "low" else hiss)).astype(np.float32)
