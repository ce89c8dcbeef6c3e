"""A tiny random SNAC, saved as the codec is published: a config that names no type, and a pickle."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import torch
from snac import SNAC

TINY = dict(sampling_rate=24000, encoder_dim=8, encoder_rates=[2, 4, 8, 8], decoder_dim=64, decoder_rates=[8, 8, 4, 2],
            attn_window_size=None, codebook_size=64, codebook_dim=8, vq_strides=[4, 2, 1], noise=True,
            depthwise=True)  # fmt: skip


@cache
def reference(codes: int = 64) -> SNAC:
    torch.manual_seed(0)
    model = SNAC(**TINY | {"codebook_size": codes}).eval()
    with torch.no_grad():
        for name, p in model.named_parameters():
            if name.endswith("alpha"):
                p.copy_(0.5 + torch.rand(p.shape))
            elif name.endswith("original0"):
                p.mul_(1.3)
    return model


def save(folder: Path, codes: int = 64) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(TINY | {"codebook_size": codes}))
    torch.save(reference(codes).state_dict(), folder / "pytorch_model.bin")
    return folder
