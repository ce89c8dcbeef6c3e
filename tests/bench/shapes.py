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
    "llama-3b": dict(
        hidden_size=3072,
        intermediate_size=8192,
        num_hidden_layers=28,
        num_attention_heads=24,
        num_key_value_heads=8,
        head_dim=128,
        vocab_size=128256,
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
    """A folder with a model of this shape, tied, in F32 or BF16."""
    folder = KEPT / f"{shape}-{dtype.lower()}"
    if (folder / "config.json").exists():
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    config = dict(
        SHAPES[shape],
        model_type="llama" if shape.startswith("llama") else "qwen3",
        architectures=["LlamaForCausalLM" if shape.startswith("llama") else "Qwen3ForCausalLM"],
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


PADDLEOCR_VL: dict[str, Any] = dict(
    model_type="paddleocr_vl",
    architectures=["PaddleOCRVLForConditionalGeneration"],
    hidden_size=1024,
    intermediate_size=3072,
    num_hidden_layers=18,
    num_attention_heads=16,
    num_key_value_heads=2,
    head_dim=128,
    vocab_size=103424,
    max_position_embeddings=131072,
    rms_norm_eps=1e-5,
    rope_theta=500000.0,
    rope_scaling=dict(mrope_section=[16, 24, 24], rope_type="default", type="default"),
    hidden_act="silu",
    use_bias=False,
    tie_word_embeddings=False,
    image_token_id=100295,
    video_token_id=100296,
    vision_start_token_id=101305,
    vision_end_token_id=101306,
    torch_dtype="bfloat16",
    vision_config=dict(
        model_type="paddleocr_vl",
        hidden_size=1152,
        intermediate_size=4304,
        num_hidden_layers=27,
        num_attention_heads=16,
        num_channels=3,
        image_size=384,
        patch_size=14,
        spatial_merge_size=2,
        layer_norm_eps=1e-6,
        hidden_act="gelu_pytorch_tanh",
    ),
)


def reading_checkpoint() -> Path:
    """A folder with a PaddleOCR-VL of the published shape, as BF16."""
    folder = KEPT / "paddleocr-vl-bf16"
    if not (folder / "config.json").exists():
        folder.mkdir(parents=True, exist_ok=True)
        _write(folder / "model.safetensors", reading_tensors(PADDLEOCR_VL), "BF16")
        save_tokenizer(folder)
        (folder / "config.json").write_text(json.dumps(PADDLEOCR_VL, indent=1))
    return folder


def reading_tensors(c: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    """Names and shapes of PaddleOCR-VL's tensors."""
    v, hidden = c["vision_config"], c["hidden_size"]
    h, f = v["hidden_size"], v["intermediate_size"]
    found: dict[str, tuple[int, ...]] = {
        name: shape for name, shape in tensors(c).items() if not name.endswith(("q_norm.weight", "k_norm.weight"))
    }
    found["lm_head.weight"] = (c["vocab_size"], hidden)

    def linear(name: str, out: int, inp: int) -> None:
        found[f"{name}.weight"], found[f"{name}.bias"] = (out, inp), (out,)

    def norm(name: str) -> None:
        found[f"{name}.weight"] = found[f"{name}.bias"] = (h,)

    tower = "visual.vision_model."
    found[f"{tower}embeddings.patch_embedding.weight"] = (h, v["num_channels"], v["patch_size"], v["patch_size"])
    found[f"{tower}embeddings.patch_embedding.bias"] = (h,)
    found[f"{tower}embeddings.position_embedding.weight"] = ((v["image_size"] // v["patch_size"]) ** 2, h)
    for i in range(v["num_hidden_layers"]):
        layer = f"{tower}encoder.layers.{i}."
        for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
            linear(f"{layer}self_attn.{name}", h, h)
        linear(f"{layer}mlp.fc1", f, h)
        linear(f"{layer}mlp.fc2", h, f)
        norm(f"{layer}layer_norm1")
        norm(f"{layer}layer_norm2")
    norm(f"{tower}post_layernorm")
    norm("mlp_AR.pre_norm")
    linear("mlp_AR.linear_1", 4 * h, 4 * h)
    linear("mlp_AR.linear_2", hidden, 4 * h)
    return found


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
            f"{layer}mlp.gate_proj.weight": (f, h),
            f"{layer}mlp.up_proj.weight": (f, h),
            f"{layer}mlp.down_proj.weight": (h, f),
            f"{layer}input_layernorm.weight": (h,),
            f"{layer}post_attention_layernorm.weight": (h,),
        }
        if c.get("model_type", "qwen3") == "qwen3":
            found |= {f"{layer}self_attn.{part}_norm.weight": (d,) for part in "qk"}
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
