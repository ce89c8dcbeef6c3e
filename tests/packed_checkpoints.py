"""Tiny checkpoints packed as other tools pack them, and the floats that each matrix stands for, both by the rules of the format."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from tests.checkpoints import save

Packed = tuple[dict[str, Tensor], Tensor]  # tensors by the last part of their names, and the floats
E2M1 = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6])


def fp8(w: Tensor) -> Packed:
    """Squares of 32."""
    rows, columns = w.shape
    padded = torch.zeros(-(-rows // 32) * 32, -(-columns // 32) * 32)
    padded[:rows, :columns] = w
    scale = padded.view(padded.shape[0] // 32, 32, -1, 32).abs().amax((1, 3)) / 448
    each = scale.repeat_interleave(32, 0).repeat_interleave(32, 1)[:rows, :columns]
    codes = (w / each).to(torch.float8_e4m3fn)
    return {"weight": codes, "weight_scale_inv": scale}, codes.float() * each


def int4(w: Tensor, group: int = 32) -> tuple[Tensor, Tensor, Tensor]:
    """Codes, and zeros and scales of each group."""
    groups = w.view(len(w), -1, group)
    low, high = groups.amin(-1), groups.amax(-1)
    scale = ((high - low) / 15).half().float()
    zero = torch.round(-low / scale).clamp(1, 15)
    codes = (torch.round(groups / scale[..., None]) + zero[..., None]).clamp(0, 15)
    return codes.view(w.shape).int(), zero.int(), scale


def values(codes: Tensor, zero: Tensor, scale: Tensor) -> Tensor:
    each = codes.shape[1] // zero.shape[1]
    return (codes - zero.repeat_interleave(each, 1)) * scale.repeat_interleave(each, 1)


def words(codes: Tensor) -> Tensor:
    """Eight codes of four bits along the last axis in an int32, the first in its lowest bits."""
    eight = codes.long().view(*codes.shape[:-1], -1, 8) << torch.arange(0, 32, 4)
    return eight.sum(-1).to(torch.uint32).view(torch.int32)


def gptq(w: Tensor) -> Packed:
    codes, zero, scale = int4(w)
    parts = {
        "qweight": words(codes).t().contiguous(),
        "qzeros": words(zero.t() - 1),
        "scales": scale.half().t().contiguous(),
        "g_idx": torch.arange(w.shape[1], dtype=torch.int32) // 32,
    }
    return parts, values(codes, zero, scale)


def awq(w: Tensor) -> Packed:
    order = torch.tensor([0, 2, 4, 6, 1, 3, 5, 7])

    def turned(codes: Tensor) -> Tensor:
        t = codes.t()
        return words(t.reshape(len(t), -1, 8)[:, :, order].reshape(len(t), -1))

    codes, zero, scale = int4(w)
    parts = {"qweight": turned(codes), "qzeros": turned(zero), "scales": scale.half().t().contiguous()}
    return parts, values(codes, zero, scale)


def pack_quantized(w: Tensor) -> Packed:
    codes, zero, scale = int4(w)
    parts = {
        "weight_packed": words(codes),
        "weight_scale": scale.half(),
        "weight_zero_point": words(zero.t()).t().contiguous(),
        "weight_shape": torch.tensor(w.shape),
    }
    return parts, values(codes, zero, scale)


def nvfp4(w: Tensor) -> Packed:
    groups = w.view(len(w), -1, 16)
    factor = w.abs().max() / (448 * 6)
    scale = (groups.abs().amax(-1) / 6 / factor).to(torch.float8_e4m3fn)
    whole = scale.float() * factor
    nearest = (groups.abs() / whole[..., None].clamp(min=1e-9))[..., None].sub(E2M1).abs().argmin(-1)
    negative = (groups < 0).int()
    codes = (nearest + 8 * negative).view(w.shape).to(torch.uint8)
    parts = {"weight": codes[:, ::2] | codes[:, 1::2] << 4, "weight_scale": scale, "weight_scale_2": factor}
    floats = (E2M1[nearest] * (1 - 2 * negative) * whole[..., None]).view(w.shape)
    return parts | {"input_scale": torch.tensor(1.0)}, floats


METHODS: dict[str, tuple[Callable[[Tensor], Packed], dict[str, Any]]] = {
    "fp8": (fp8, {"quant_method": "fp8", "weight_block_size": [32, 32]}),
    "gptq": (gptq, {"quant_method": "gptq", "bits": 4, "group_size": 32, "desc_act": False}),
    "awq": (awq, {"quant_method": "awq", "bits": 4, "group_size": 32, "version": "gemm", "zero_point": True}),
    "compressed-tensors": (pack_quantized, {"quant_method": "compressed-tensors", "format": "pack-quantized"}),
    "nvfp4": (nvfp4, {"quant_method": "modelopt", "quant_algo": "NVFP4"}),
}


def save_packed(name: str, folder: Path, method: str, **changes: Any) -> dict[str, Tensor]:
    """Save a tiny checkpoint with its projections packed. Returns their floats by name."""
    save(name, folder, "old", **changes)
    pack, section = METHODS[method]
    tensors, floats = {}, {}
    for key, tensor in load_file(folder / "model.safetensors").items():
        if not key.endswith("_proj.weight"):
            tensors[key] = tensor
            continue
        parts, floats[key] = pack(tensor.float())
        stem = key.removesuffix("weight")
        tensors |= {f"{stem}{part}": value for part, value in parts.items()}
    save_file(tensors, folder / "model.safetensors")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"quantization_config": section}))
    return floats
