"""Random checkpoints of real shapes, made once and kept in `.grus-bench`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from tests.checkpoints import save_tokenizer

KEPT = Path(__file__).resolve().parents[2] / ".grus-bench"

SHAPES: dict[str, dict[str, Any]] = {
    "qwen3-0.6b": dict(
        hidden_size=1024,
        intermediate_size=3072,
        num_hidden_layers=28,
        num_attention_heads=16,
        num_key_value_heads=8,
        head_dim=128,
        vocab_size=151936,
    ),
    "qwen3-small": dict(
        hidden_size=256,
        intermediate_size=768,
        num_hidden_layers=6,
        num_attention_heads=8,
        num_key_value_heads=4,
        head_dim=32,
        vocab_size=4096,
    ),
}


def checkpoint(shape: str, dtype: str) -> Path:
    """A folder with a Qwen3 of this shape, tied, in F32 or BF16."""
    folder = KEPT / f"{shape}-{dtype.lower()}"
    if (folder / "config.json").exists():
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    config = dict(
        SHAPES[shape],
        model_type="qwen3",
        architectures=["Qwen3ForCausalLM"],
        max_position_embeddings=40960,
        rms_norm_eps=1e-6,
        rope_theta=1000000.0,
        rope_scaling=None,
        hidden_act="silu",
        attention_bias=False,
        tie_word_embeddings=True,
        torch_dtype={"F32": "float32", "BF16": "bfloat16"}[dtype],
    )
    _write(folder / "model.safetensors", tensors(config), dtype)
    save_tokenizer(folder)
    (folder / "config.json").write_text(json.dumps(config, indent=1))
    return folder


def tensors(c: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    """Names and shapes of a dense Qwen3's tensors."""
    h, f, d = c["hidden_size"], c["intermediate_size"], c["head_dim"]
    q, kv = c["num_attention_heads"] * d, c["num_key_value_heads"] * d
    found: dict[str, tuple[int, ...]] = {"model.embed_tokens.weight": (c["vocab_size"], h), "model.norm.weight": (h,)}
    for i in range(c["num_hidden_layers"]):
        layer = f"model.layers.{i}."
        found |= {
            f"{layer}self_attn.q_proj.weight": (q, h),
            f"{layer}self_attn.k_proj.weight": (kv, h),
            f"{layer}self_attn.v_proj.weight": (kv, h),
            f"{layer}self_attn.o_proj.weight": (h, q),
            f"{layer}self_attn.q_norm.weight": (d,),
            f"{layer}self_attn.k_norm.weight": (d,),
            f"{layer}mlp.gate_proj.weight": (f, h),
            f"{layer}mlp.up_proj.weight": (f, h),
            f"{layer}mlp.down_proj.weight": (h, f),
            f"{layer}input_layernorm.weight": (h,),
            f"{layer}post_attention_layernorm.weight": (h,),
        }
    return found


def _write(path: Path, shapes: dict[str, tuple[int, ...]], dtype: str) -> None:
    """Stream random tensors into a safetensors file, one at a time."""
    size = 4 if dtype == "F32" else 2
    header: dict[str, Any] = {}
    at = 0
    for name, shape in shapes.items():
        nbytes = int(np.prod(shape)) * size
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [at, at + nbytes]}
        at += nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    random = np.random.default_rng(0)
    unfinished = path.with_suffix(".part")
    with unfinished.open("wb") as out:
        out.write(len(text).to_bytes(8, "little") + text)
        for shape in shapes.values():
            if len(shape) == 1:
                values = np.ones(shape, np.float32)
            else:
                values = random.standard_normal(shape, np.float32) * np.float32(0.02)
            if dtype == "BF16":
                out.write((values.view(np.uint32) >> 16).astype(np.uint16).tobytes())
            else:
                out.write(values.tobytes())
    unfinished.rename(path)
